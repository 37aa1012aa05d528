//! Output made from the table of operations, `rust/tenure-sys/src/operations.rs`: the codes of the
//! ABI, and the lists that C++, Rust, Python and the documentation have of it.

use std::fmt::Write as _;

use crate::abi::Problem;
use crate::table::{Attribute, Device, Dtypes, Error, Gives, Kind, Module, OPERATIONS, Operation};

const SOURCE: &str = "rust/tenure-sys/src/operations.rs";
const KINDS: [Kind; 7] = [
    Kind::Unary,
    Kind::Binary,
    Kind::Ternary,
    Kind::Compare,
    Kind::Reduce,
    Kind::Normalize,
    Kind::Scan,
];

/// The kind as in its names.
fn stem(kind: Kind) -> &'static str {
    match kind {
        Kind::Unary => "unary",
        Kind::Binary => "binary",
        Kind::Ternary => "ternary",
        Kind::Compare => "compare",
        Kind::Reduce => "reduce",
        Kind::Normalize => "normalize",
        Kind::Scan => "scan",
    }
}

/// The rows of a kind, in the order of their codes.
fn rows(table: &[Operation], kind: Kind) -> Vec<&Operation> {
    let mut rows: Vec<&Operation> = table.iter().filter(|row| row.kind == kind).collect();
    rows.sort_by_key(|row| row.code);
    rows
}

fn constant(row: &Operation) -> String {
    row.name.to_uppercase()
}

/// `two_words` as `TwoWords`.
pub fn capitalized(name: &str) -> String {
    let words = name.split('_').map(|word| word.split_at(1));
    words.map(|(first, rest)| first.to_uppercase() + rest).collect()
}

/// The table by itself: codes of a kind are 1 to n, each once, in whatever order the rows are,
/// since the core's tables are by code.
pub fn check(table: &[Operation]) -> Vec<Problem> {
    let mut texts = Vec::new();
    for kind in KINDS {
        let rows = rows(table, kind);
        for (row, code) in rows.iter().zip(1..) {
            if row.code != code {
                texts.push(format!("{}: its code is {} but must be {code}", row.name, row.code));
            }
            let same = |other: &&&Operation| other.name == row.name || other.rust == row.rust;
            if rows.iter().filter(same).count() != 1 {
                texts.push(format!("{}: stands in the table twice", row.name));
            }
        }
    }
    for row in table {
        let has_choice = matches!(row.kind, Kind::Unary | Kind::Binary);
        let is_fused = row.device == Device::FusedFunction;
        if (has_choice == (row.device == Device::OfKind)) || (is_fused && row.kind != Kind::Unary) {
            texts.push(format!("{}: no device has such kernels of its kind", row.name));
        }
        if row.doc.is_empty() || row.numpy.is_empty() || row.dtypes == Dtypes(0) {
            texts.push(format!("{}: has no documentation, oracle or dtypes", row.name));
        }
        let is_made = matches!(row.kind, Kind::Unary | Kind::Binary | Kind::Compare | Kind::Reduce);
        if row.rust.is_empty() || (is_made && row.rust_doc.is_empty()) {
            texts.push(format!("{}: has no name in Rust", row.name));
        }
        let has_module = matches!(row.kind, Kind::Unary | Kind::Normalize);
        if !has_module && row.module != Module::Ops {
            texts.push(format!("{}: the functions of its kind are in `ops`", row.name));
        }
        if row.kind == Kind::Reduce && row.example.inputs.len() != 2 {
            texts.push(format!("{}: its example is not an array and arguments", row.name));
        }
        if row.kind != Kind::Reduce && row.attribute != Attribute::None {
            texts.push(format!("{}: only reductions have attributes", row.name));
        }
    }
    texts.into_iter().map(|text| Problem { line: 1, text: format!("{SOURCE}: {text}") }).collect()
}

/// `abi.rs` with the codes after their types, on the same lines.
pub fn expanded(source: &str) -> String {
    let mut text = source.to_owned();
    for kind in KINDS {
        let ty = format!("tnr_{}_op", stem(kind));
        let declaration = format!("pub struct {ty}(pub i32);");
        let mut codes = format!("{declaration} impl {ty} {{");
        for row in rows(OPERATIONS, kind) {
            let (name, code) = (constant(row), row.code);
            let _ = write!(codes, " #[doc = {:?}]", format!(" {}", row.doc));
            let _ = write!(codes, " pub const {name}: {ty} = {ty}({code});");
        }
        text = text.replace(&declaration, &(codes + " }"));
    }
    text
}

/// The generic parameters of a function of the crate, and its types of inputs and result.
fn types(row: &Operation) -> String {
    let bound = match row.dtypes {
        Dtypes::BOOL8 => return "[] Bool8 -> Bool8".to_owned(),
        Dtypes::FLOATS => "Float",
        Dtypes::INTEGERS => "Integer",
        Dtypes::COMPLEX => "ComplexNumber",
        Dtypes::FIELD => "Field",
        Dtypes::ARITHMETIC => "Arithmetic",
        _ => "Number",
    };
    // A part of a number that is not complex is the number itself, which may be changed in place.
    let result = match row.gives {
        Gives::Truth => "Bool8",
        Gives::Part if row.dtypes == Dtypes::COMPLEX => "Part",
        Gives::Part => "Magnitude",
        _ => "T",
    };
    format!("[T: {bound}] T -> {result}")
}

/// The types of a reduction, as `types` writes them, and the parameter after its axes.
fn reduction_types(row: &Operation) -> String {
    let bound = match row.dtypes {
        Dtypes::FLOATS => "Float",
        Dtypes::FIELD => "Field",
        Dtypes::ARITHMETIC => "Arithmetic",
        Dtypes::REAL => "Real",
        _ => "Number",
    };
    let result = match row.gives {
        Gives::Wide => "T::Sum",
        Gives::Truth => "Bool8",
        Gives::Index => "i64",
        Gives::Operand | Gives::Part => "T",
    };
    let parameter = match row.attribute {
        Attribute::None => "",
        Attribute::Ddof => ", [ddof: u32]",
        Attribute::Power => ", [power: f64]",
    };
    format!("[T: {bound}] => {result}{parameter}")
}

/// `rust/tenure-sys/src/codes.rs`.
pub fn rust(note: &str) -> String {
    let mut text = format!(
        "// {note}\n//! The codes of operations, and lists of them for macros.\n\n\
         use crate::{{\n    tnr_binary_op, tnr_compare_op, tnr_normalize_op, tnr_reduce_op, tnr_scan_op, \
         tnr_ternary_op,\n    tnr_unary_op,\n}};\n"
    );
    for kind in KINDS {
        let ty = format!("tnr_{}_op", stem(kind));
        let _ = writeln!(text, "\nimpl {ty} {{");
        for row in rows(OPERATIONS, kind) {
            for line in wrapped(row.doc, 92) {
                let _ = writeln!(text, "    /// {line}");
            }
            let _ = writeln!(text, "    pub const {}: {ty} = {ty}({});", constant(row), row.code);
        }
        text.push_str("}\n");
    }
    text.push_str("\n// Each passes its rows to the macro that it is given.\n");
    for kind in KINDS {
        let lines = rows(OPERATIONS, kind).into_iter().map(|row| rust_row(kind, row));
        text.push_str(&list(&format!("for_each_{}", stem(kind)), lines));
    }
    // The operations that sparse matrices of real numbers take. The result has the dtype of the
    // values.
    let keeps = |row: &Operation| {
        row.keeps_zero
            && row.dtypes != Dtypes::COMPLEX
            && matches!(row.gives, Gives::Operand | Gives::Part)
    };
    let of_numbers = |row: &Operation| match row.gives {
        Gives::Part => Operation { gives: Gives::Operand, dtypes: Dtypes::NUMBERS, ..*row },
        _ => *row,
    };
    let kept = rows(OPERATIONS, Kind::Unary).into_iter().filter(|row| keeps(row));
    let lines = kept.map(|row| rust_row(Kind::Unary, &of_numbers(row)));
    text.push_str(&list("for_each_unary_of_zero", lines));
    // Expressions and graphs have no reductions of complex numbers.
    let of_reals = |row: &Operation| {
        let dtypes = Dtypes(row.dtypes.0 & !Dtypes::COMPLEX.0);
        rust_row(Kind::Reduce, &Operation { dtypes, ..*row })
    };
    let lines = rows(OPERATIONS, Kind::Reduce).into_iter().map(of_reals);
    text.push_str(&list("for_each_reduce_of_reals", lines));
    text
}

fn list(name: &str, rows: impl Iterator<Item = String>) -> String {
    let rows: String = rows.map(|row| format!("            {row}\n")).collect();
    format!(
        "\n#[doc(hidden)]\n#[macro_export]\nmacro_rules! {name} {{\n    ($then:ident) => {{\n        \
         $then! {{\n{rows}        }}\n    }};\n}}\n"
    )
}

/// A row as `ops/` and the spans of the crate `tenure` take it.
fn rust_row(kind: Kind, row: &Operation) -> String {
    let (op, rust, doc) = (constant(row), row.rust, row.rust_doc);
    let (inputs, gives) = (row.example.inputs, row.example.gives);
    match kind {
        Kind::Unary | Kind::Binary | Kind::Ternary => {
            let inputs: Vec<String> = inputs.iter().map(|input| format!("{input:?}")).collect();
            // All others are functions of `ops`.
            let module = match (kind, row.module) {
                (Kind::Unary, Module::Ops) => " ops",
                (Kind::Unary, Module::Nn) => " nn",
                _ => "",
            };
            format!(
                "{op} {rust:?}{module}: {rust}, {rust}_into, {rust}_assign, {}; {doc:?}, errors {:?}, \
                 example {} => {gives:?};",
                types(row),
                row.rust_errors,
                inputs.join(", ")
            )
        }
        Kind::Compare => {
            let bound = if row.dtypes == Dtypes::ALL { "Element" } else { "Real" };
            format!("{op} {rust:?}: {rust}, {rust}_into, {bound}; {doc:?} => {gives:?};")
        }
        Kind::Reduce => format!(
            "{op} {rust:?}: {rust}, {rust}_into, {}; {doc:?}, errors {:?}, example {:?}, {:?} => \
             {gives:?};",
            reduction_types(row),
            row.rust_errors,
            inputs[0],
            inputs[1]
        ),
        Kind::Normalize | Kind::Scan => format!("{op} {rust:?}: {rust};"),
    }
}

/// The words of a text in lines of at most `width` characters.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        if !last.is_empty() && last.len() + 1 + word.len() > width {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

/// `core/src/cpu/operations.hpp`.
pub fn cpp(note: &str) -> String {
    let mut text = format!(
        "// {note}\n// The operations: their codes, names and properties, by code.\n#pragma once\n\n\
         #include <stdint.h>\n\n// clang-format off\n"
    );
    for kind in KINDS {
        let _ = writeln!(
            text,
            "\n// X(name of the enumerator, in capitals), in the order of the codes.\n\
             #define TENURE_{}_OPERATIONS(X) \\",
            stem(kind).to_uppercase()
        );
        let rows = rows(OPERATIONS, kind);
        let lines =
            rows.iter().map(|row| format!("  X({}, {})", capitalized(row.name), constant(row)));
        let _ = writeln!(text, "{}", lines.collect::<Vec<_>>().join(" \\\n"));
    }
    text.push_str("\nnamespace tenure::kernels {\n");
    for kind in KINDS {
        let rows = rows(OPERATIONS, kind);
        let codes = rows.iter().map(|row| format!("k{} = {}", capitalized(row.name), row.code));
        let kind = capitalized(stem(kind));
        let _ = writeln!(
            text,
            "\nenum class {kind} : uint8_t {{ {} }};\n\
             inline constexpr unsigned k{kind}Count = {};",
            codes.collect::<Vec<_>>().join(", "),
            rows.len()
        );
    }
    text.push_str(&device_sets());
    text.push_str(
        "\n// Sets of dtypes, by bits.\n\
         enum DtypeSet : uint8_t { kNoDtypes = 0, kFloats = 1, kIntegers = 2, kTruths = 4, kComplex = 8 };\n\n\
         // The dtype of the result: the operands', or 64 bits for integers, or bool8, or i64, or that of\n\
         // the parts of complex numbers.\n\
         enum class Gives : uint8_t { kOperand, kWide, kTruth, kIndex, kPart };\n\n\
         // How exact results of f32 and f64 are.\n\
         inline constexpr double kExact = 0;\n\
         inline constexpr double kRounded = 0.5;\n\
         inline constexpr double kGrows = -1;  // with the number of elements\n\n\
         // An argument of a reduction in addition to its axes.\n\
         enum class Attribute : uint8_t { kNone, kDdof, kPower };\n\n\
         struct OperationRow {\n  const char* name;\n  uint8_t dtypes;  // a DtypeSet\n  Gives gives;\n  \
         Attribute attribute;\n  bool needs_element;  // whether a reduction of no element is an error\n  Device device;\n  \
         bool keeps_zero;     // whether it gives 0 where all inputs are\n  \
         double last_places;  // of the largest error, or kGrows\n};\n",
    );
    for kind in KINDS {
        let _ = writeln!(
            text,
            "\ninline constexpr OperationRow k{}Rows[] = {{",
            capitalized(stem(kind))
        );
        for row in rows(OPERATIONS, kind) {
            let gives = match row.gives {
                Gives::Operand => "kOperand",
                Gives::Wide => "kWide",
                Gives::Truth => "kTruth",
                Gives::Index => "kIndex",
                Gives::Part => "kPart",
            };
            let places = match row.error {
                Error::Exact => "kExact".to_owned(),
                Error::Rounded => "kRounded".to_owned(),
                Error::Places(places) | Error::OfInputs(places) => places.to_string(),
                Error::Grows => "kGrows".to_owned(),
            };
            let _ = writeln!(
                text,
                "  {{{:?}, {}, Gives::{gives}, Attribute::k{:?}, {}, Device::k{:?}, {}, {places}}},",
                row.name,
                dtype_set(row.dtypes),
                row.attribute,
                row.needs_element,
                row.device,
                row.keeps_zero
            );
        }
        text.push_str("};\n");
    }
    text.push_str("\n}  // namespace tenure::kernels\n\n// clang-format on\n");
    text
}

/// The enumerations whose members each have a case in a kernel of a device, with the codes of the
/// operations.
fn device_sets() -> String {
    use Device::{Angle, Function, FusedFunction, None, Number, OfKind, Question, Words};
    type IsMember = fn(&Operation) -> bool;
    let has_words: IsMember = |row| {
        let takes = |part| row.dtypes.contains(part);
        row.device == Words || takes(Dtypes::INTEGERS) || takes(Dtypes::BOOL8)
    };
    let is_number: IsMember = |row| row.device == Number;
    let is_function: IsMember = |row| matches!(row.device, Function | FusedFunction);
    let sets: [(&str, Kind, &str, IsMember); 8] = [
        ("UnaryWords", Kind::Unary, "words", has_words),
        ("UnaryQuestion", Kind::Unary, "questions", |row| row.device == Question),
        ("UnaryNumber", Kind::Unary, "numbers", is_number),
        ("UnaryAngle", Kind::Unary, "angles", |row| row.device == Angle),
        ("UnaryFunction", Kind::Unary, "functions", is_function),
        ("BinaryWords", Kind::Binary, "words", has_words),
        ("BinaryNumber", Kind::Binary, "numbers", is_number),
        ("BinaryFunction", Kind::Binary, "functions", is_function),
    ];
    let mut text = String::from(
        "\n// The kernels with which a device computes an operation on floats. Kernels of words compute it\n\
         // on integers and truth values.\n",
    );
    let devices = [None, OfKind, Words, Question, Number, Angle, Function, FusedFunction];
    let names = devices.map(|device| format!("k{device:?}"));
    let _ = writeln!(text, "enum class Device : uint8_t {{ {} }};", names.join(", "));
    for (name, kind, what, is_member) in sets {
        let members = rows(OPERATIONS, kind).into_iter().filter(|row| is_member(row));
        let codes = members.map(|row| format!("k{} = {}", capitalized(row.name), row.code));
        let codes = codes.collect::<Vec<_>>().join(", ");
        let kind = stem(kind);
        let _ = writeln!(
            text,
            "\n// The {kind} operations of the kernels of {what}.\nenum class {name} : uint8_t {{ {codes} }};"
        );
    }
    let fused = rows(OPERATIONS, Kind::Unary).into_iter().filter(|row| row.device == FusedFunction);
    let fused = fused.map(|row| format!("  X({})", capitalized(row.name)));
    let _ = writeln!(
        text,
        "\n// X(name of the enumerator): the functions that the kernel of expressions has.\n\
         #define TENURE_FUSED_FUNCTIONS(X) \\\n{}",
        fused.collect::<Vec<_>>().join(" \\\n")
    );
    text
}

const PARTS: [(Dtypes, &str, &str); 4] = [
    (Dtypes::FLOATS, "kFloats", "f64 f32 f16 bf16"),
    (Dtypes::INTEGERS, "kIntegers", "i8 to i64, u8 to u64"),
    (Dtypes::BOOL8, "kTruths", "bool8"),
    (Dtypes::COMPLEX, "kComplex", "c64 c128"),
];

fn dtype_set(dtypes: Dtypes) -> String {
    let parts = PARTS.iter().filter(|(part, ..)| dtypes.contains(*part));
    parts.map(|&(_, name, _)| name).collect::<Vec<_>>().join(" | ")
}

/// `tests/interop/operations.py`.
pub fn python(note: &str) -> String {
    let mut text = format!(
        "# {note}\n\"\"\"The codes of operations, and what NumPy calls them.\"\"\"\n\n\
         import collections\n\n\
         # `places` bounds the error of f32 and f64, in units in the last place; None: it grows.\n\
         Row = collections.namedtuple(\n    \"Row\", \"code numpy dtypes places attribute\", \
         defaults=[None])\n"
    );
    for kind in KINDS {
        let _ = writeln!(text, "\n{} = {{", stem(kind).to_uppercase());
        for row in rows(OPERATIONS, kind) {
            let name = if kind == Kind::Compare { row.rust } else { row.name };
            let dtypes = PARTS.iter().zip(["float", "integer", "bool", "complex"]);
            let dtypes = dtypes.filter(|((part, ..), _)| row.dtypes.contains(*part));
            let dtypes: Vec<&str> = dtypes.map(|(_, name)| name).collect();
            let places = match row.error {
                Error::Exact => "0".to_owned(),
                Error::Rounded => "0.5".to_owned(),
                Error::Places(places) | Error::OfInputs(places) => places.to_string(),
                Error::Grows => "None".to_owned(),
            };
            let attribute = match row.attribute {
                Attribute::None => "",
                Attribute::Ddof => ", \"ddof\"",
                Attribute::Power => ", \"power\"",
            };
            let _ = writeln!(
                text,
                "    {name:?}: Row({}, {:?}, {:?}, {places}{attribute}),",
                row.code,
                row.numpy,
                dtypes.join(" ")
            );
        }
        text.push_str("}\n");
    }
    text
}

const BEGIN: &str = "<!-- operations: written by headergen -->\n";
const END: &str = "<!-- operations: end -->\n";

/// `docs/operations.md` with the table between its marks; None where they are missing.
pub fn docs(old: &str) -> Option<String> {
    let start = old.find(BEGIN)? + BEGIN.len();
    let end = start + old[start..].find(END)?;
    Some(format!("{}{}{}", &old[..start], docs_table(), &old[end..]))
}

fn docs_table() -> String {
    let mut text = String::from("| operation |");
    for (_, _, heading) in PARTS {
        let _ = write!(text, " {heading} |");
    }
    text.push_str(" result | 0 of zeros | error, in last places |\n|");
    text.push_str(&" --- |".repeat(PARTS.len() + 4));
    text.push('\n');
    for kind in KINDS {
        for row in rows(OPERATIONS, kind) {
            text.push_str(&docs_row(row));
        }
    }
    text
}

fn docs_row(row: &Operation) -> String {
    let name = if row.kind == Kind::Reduce { row.name } else { row.rust };
    let over = match row.kind {
        Kind::Reduce | Kind::Normalize => " over axes",
        Kind::Scan => " along an axis",
        _ => "",
    };
    let mut text = format!("| `{name}`{over} |");
    for (part, ..) in PARTS {
        text.push_str(if row.dtypes.contains(part) { " yes |" } else { " - |" });
    }
    let gives = match row.gives {
        Gives::Operand => "the operands' dtype",
        Gives::Wide => "the operand's; i64 or u64 for integers",
        Gives::Truth => "bool8",
        Gives::Index => "i64",
        Gives::Part => "the operand's; of complex numbers that of their parts",
    };
    let zero = match row.kind {
        Kind::Reduce | Kind::Normalize | Kind::Scan => "",
        _ if row.keeps_zero => "yes",
        _ => "no",
    };
    let error = match row.error {
        Error::Exact => "exact".to_owned(),
        Error::Rounded => "0.5".to_owned(),
        Error::Places(places) => places.to_string(),
        Error::Grows => "grows with the count, see below".to_owned(),
        Error::OfInputs(places) => format!("{places} of the largest input"),
    };
    let _ = writeln!(text, " {gives} | {zero} | {error} |");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn rejects(change: impl Fn(&mut Vec<Operation>), expected: &str) {
        let mut table = OPERATIONS.to_vec();
        change(&mut table);
        let found = check(&table);
        assert!(found.iter().any(|p| p.text.contains(expected)), "{expected:?}: {found:#?}");
    }

    #[test]
    fn a_table_has_each_code_and_name_once() {
        assert_eq!(check(OPERATIONS), vec![]);
        rejects(|table| table[0].code = 99, "its code is 99 but must be");
        rejects(|table| table[1].code = 1, "abs: its code is 1 but must be 2");
        rejects(|table| table[1].name = "neg", "neg: stands in the table twice");
        rejects(|table| table[1].rust = "neg", "abs: stands in the table twice");
        rejects(|table| table[2].numpy = "", "sqrt: has no documentation, oracle or dtypes");
        rejects(|table| table[2].rust = "", "sqrt: has no name in Rust");
        rejects(|table| table[2].device = Device::OfKind, "sqrt: no device has such kernels");
        rejects(|table| table[2].attribute = Attribute::Ddof, "sqrt: only reductions have");
        let sum = OPERATIONS.iter().position(|row| row.kind == Kind::Reduce).unwrap();
        rejects(|table| table[sum].example.inputs = &["1"], "sum: its example is not an array");
        rejects(|table| table[sum].rust_doc = "", "sum: has no name in Rust");
    }

    #[test]
    fn the_order_of_rows_says_nothing() {
        let mut table = OPERATIONS.to_vec();
        table.reverse();
        assert_eq!(check(&table), vec![]);
        assert_eq!(rows(&table, Kind::Unary)[0].name, "neg");
    }

    #[test]
    fn codes_keep_the_lines_of_the_source() {
        let source = "// One.\npub struct tnr_unary_op(pub i32);\n// Two.\n";
        let text = expanded(source);
        assert_eq!(text.lines().count(), source.lines().count());
        assert!(text.contains("pub const NEG: tnr_unary_op = tnr_unary_op(1);"));
    }
}
