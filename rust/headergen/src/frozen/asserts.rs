//! A frozen ABI as a C program that compiles with a later header if and only if it holds there:
//! the header's own text is checked, and by a compiler.

use std::fmt::Write;

use crate::abi::Abi;
use crate::layout;
use crate::types::Kind;

/// The text of the program, which no one runs.
pub fn c_asserts(abi: &Abi) -> String {
    let (major, minor) = abi.version;
    let mut text = format!(
        "/* ABI {major}.{minor} as it was frozen: see abi.txt. A compiler says whether a header \
         keeps to it. */\n#include <tenure/tenure.h>\n\n\
         #define FROZEN(what) _Static_assert(what, #what)\n\
         #define IS(what, ...) _Generic(what, __VA_ARGS__ : 1, default : 0)\n\n"
    );
    for item in &abi.items {
        let name = &item.name;
        let _ = match &item.kind {
            Kind::Constant(..) if name == "TNR_ABI_MINOR" => {
                writeln!(text, "FROZEN({name} >= {minor});")
            }
            Kind::Constant(_, value) => writeln!(text, "FROZEN({name} == {value});"),
            Kind::Number(inner) => {
                writeln!(text, "FROZEN(IS(({name}){{0}}, {}));", inner.spelled())
            }
            Kind::Callback(signature) => {
                writeln!(text, "FROZEN(IS(({name}){{0}}, {}));", signature.spelled("(*)"))
            }
            Kind::Handle => writeln!(text, "FROZEN(IS(({name} *)0, struct {name} *));"),
            Kind::Struct(_) => Ok(()),
        };
    }
    for laid in layout::structs(abi) {
        let name = laid.name;
        let compared = if laid.grows { ">=" } else { "==" };
        let _ = writeln!(text, "\nFROZEN(sizeof({name}) {compared} {});", laid.layout.size);
        for (field, offset) in laid.fields.iter().zip(&laid.layout.offsets) {
            let (field, pointer) = (&field.name, field.ty.pointer_spelled());
            let _ = writeln!(text, "FROZEN(offsetof({name}, {field}) == {offset});");
            let _ = writeln!(text, "FROZEN(IS(&(({name} *)0)->{field}, {pointer}));");
        }
    }
    text.push('\n');
    for function in &abi.functions {
        let pointer = function.signature.spelled("(*)");
        let _ = writeln!(text, "FROZEN(IS(&{}, {pointer}));", function.name);
    }
    text
}
