//! Sizes and offsets of the ABI's structs, by the rules of C on the 64-bit targets that there are.
//! Both compilers check them: as literals in C++ and in Rust.

use std::fmt::Write;

use crate::abi::{Abi, Problem};
use crate::types::{CType, Field, Kind};

/// No struct is larger, so that a `struct_size` above it is one that was never set. The library has
/// the same number in `capi/src/boundary.hpp`.
const MAX_STRUCT_BYTES: u64 = 4096;

/// Size, alignment and field offsets of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub size: u64,
    pub align: u64,
    /// Offset of each field, in their order.
    pub offsets: Vec<u64>,
}

/// A struct with its layout.
pub struct Laid<'a> {
    pub name: &'a str,
    pub line: usize,
    pub fields: &'a [Field],
    pub layout: Layout,
    /// It starts with its `struct_size`, or is a struct that does: it may get fields at its end.
    pub grows: bool,
}

/// Every struct, in the order of the source; those whose layout is not known are left out.
pub fn structs(abi: &Abi) -> Vec<Laid<'_>> {
    let laid = abi.items.iter().filter_map(|item| {
        let Kind::Struct(fields) = &item.kind else { return None };
        let layout = layout_of(abi, fields)?;
        let grows = grows(abi, fields);
        Some(Laid { name: &item.name, line: item.line, fields, layout, grows })
    });
    laid.collect()
}

/// Whether the struct starts with its own size, so that its writer and its reader may know more or
/// fewer of its fields. So does a struct whose only field does.
fn grows(abi: &Abi, fields: &[Field]) -> bool {
    match fields {
        [only] if only.name != "struct_size" => embedded(abi, only).is_some_and(|f| grows(abi, f)),
        [first, ..] => first.name == "struct_size" && first.ty.root() == "u64",
        [] => false,
    }
}

/// The fields of the struct that a field is, or an array of.
fn embedded<'a>(abi: &'a Abi, field: &Field) -> Option<&'a [Field]> {
    if matches!(field.ty, CType::Pointer(..)) {
        return None;
    }
    match &abi.items.iter().find(|item| item.name == field.ty.root())?.kind {
        Kind::Struct(fields) => Some(fields),
        _ => None,
    }
}

/// Bytes of a sized struct when it was introduced, which every client has.
fn first_size(abi: &Abi, laid: &Laid<'_>) -> Option<u64> {
    let since = abi.since(laid.name)?;
    let first: Vec<Field> = laid.fields.iter().filter(|f| f.since <= since).cloned().collect();
    Some(layout_of(abi, &first)?.size)
}

fn layout_of(abi: &Abi, fields: &[Field]) -> Option<Layout> {
    let mut layout = Layout { size: 0, align: 1, offsets: Vec::new() };
    for field in fields {
        let (size, align) = size_and_align(abi, &field.ty)?;
        let offset = layout.size.next_multiple_of(align);
        layout.offsets.push(offset);
        layout.size = offset + size;
        layout.align = layout.align.max(align);
    }
    layout.size = layout.size.next_multiple_of(layout.align);
    Some(layout)
}

fn size_and_align(abi: &Abi, ty: &CType) -> Option<(u64, u64)> {
    let name = match ty {
        CType::Void => return None,
        CType::Pointer(..) => return Some((8, 8)),
        CType::Array(element, length) => {
            let (size, align) = size_and_align(abi, element)?;
            return Some((size * length, align));
        }
        CType::Named(name) => name,
    };
    match name.as_str() {
        "i8" | "u8" | "c_char" | "bool" => Some((1, 1)),
        "i16" | "u16" => Some((2, 2)),
        "i32" | "u32" | "f32" => Some((4, 4)),
        "i64" | "u64" | "usize" | "f64" => Some((8, 8)),
        _ => match &abi.items.iter().find(|item| item.name == *name)?.kind {
            Kind::Number(inner) => size_and_align(abi, inner),
            Kind::Callback(_) => Some((8, 8)),
            Kind::Struct(fields) => {
                layout_of(abi, fields).map(|layout| (layout.size, layout.align))
            }
            Kind::Handle | Kind::Constant(..) => None,
        },
    }
}

/// Problems of the structs by themselves.
pub fn check(abi: &Abi) -> Vec<Problem> {
    let mut problems = Vec::new();
    let all = structs(abi);
    for item in abi.items.iter().filter(|item| matches!(item.kind, Kind::Struct(_))) {
        if !all.iter().any(|laid| laid.name == item.name) {
            let text = format!("{}: the layout of a field's type is not known", item.name);
            problems.push(Problem { line: item.line, text });
        }
    }
    for laid in &all {
        let texts = check_padding(abi, laid).into_iter();
        let texts = texts.chain(check_growth(abi, laid)).chain(check_embedded(abi, laid));
        let place = |text| Problem { line: laid.line, text: format!("{}: {text}", laid.name) };
        problems.extend(texts.map(place));
    }
    problems
}

/// Refuses bytes between fields: they would be copied but never set.
fn check_padding(abi: &Abi, laid: &Laid<'_>) -> Option<String> {
    let mut end = 0;
    for (field, offset) in laid.fields.iter().zip(&laid.layout.offsets) {
        if end != *offset {
            return Some(format!("{} bytes before `{}` have no name", offset - end, field.name));
        }
        end = offset + size_and_align(abi, &field.ty)?.0;
    }
    let unnamed = laid.layout.size - end;
    (unnamed != 0).then(|| format!("{unnamed} bytes at the end have no name"))
}

/// A struct that grows cannot have anything after it.
fn check_embedded(abi: &Abi, laid: &Laid<'_>) -> Option<String> {
    let grown = |field: &&Field| embedded(abi, field).is_some_and(|fields| grows(abi, fields));
    let field = laid.fields.iter().find(grown).filter(|_| laid.fields.len() > 1)?;
    Some(format!("`{}` is of a struct that grows, and must be the only field", field.name))
}

fn check_growth(abi: &Abi, laid: &Laid<'_>) -> Option<String> {
    if laid.layout.size > MAX_STRUCT_BYTES {
        return Some(format!("{} bytes are over {MAX_STRUCT_BYTES}", laid.layout.size));
    }
    let mut last = abi.since(laid.name)?;
    for field in laid.fields {
        let (name, (major, minor)) = (&field.name, field.since);
        if field.since < last {
            return Some(format!("`{name}` @since {major}.{minor} stands behind a newer field"));
        }
        if field.since > last && !laid.grows {
            return Some(format!(
                "`{name}` is newer than the struct, which has no `struct_size` and cannot grow"
            ));
        }
        last = field.since;
    }
    None
}

/// `capi/src/layout.cpp`.
pub fn cpp_asserts(abi: &Abi, note: &str) -> String {
    let mut text = format!(
        "// {note}\n\
         // The layouts of the ABI as literals, as the C++ compiler sees them.\n\
         #include <cstddef>\n\n#include \"tenure/counters.hpp\"\n#include \"tenure/tenure.h\"\n\n\
         static_assert(sizeof(void*) == 8, \"handles are 64-bit tokens\");\n\
         static_assert(sizeof(std::size_t) == 8);\n"
    );
    for (name, size) in scalars(abi) {
        let _ = writeln!(text, "static_assert(sizeof({name}) == {size});");
    }
    for Laid { name, fields, layout, .. } in structs(abi) {
        let (size, align) = (layout.size, layout.align);
        let [size, align] =
            [format!("sizeof({name}) == {size}"), format!("alignof({name}) == {align}")];
        let is_short = "static_assert( && );".len() + size.len() + align.len() <= 100;
        let between = if is_short { " " } else { "\n              " };
        let _ = write!(text, "\nstatic_assert({size} &&{between}{align});");
        for (field, offset) in fields.iter().zip(&layout.offsets) {
            let _ = write!(text, "\nstatic_assert(offsetof({name}, {}) == {offset});", field.name);
        }
        text.push('\n');
    }
    text
}

/// `rust/tenure-sys/src/layout.rs`.
pub fn rust_asserts(abi: &Abi, note: &str) -> String {
    let mut text = format!(
        "// {note}\n\
         //! The layouts of the ABI as literals, as the Rust compiler sees them.\n\n\
         use core::mem::{{align_of, offset_of, size_of}};\n\n\
         use crate::abi::*;\n\n\
         const _: () = assert!(size_of::<usize>() == 8, \"handles are 64-bit tokens\");\n\n\
         const _: () = {{\n"
    );
    for (name, size) in scalars(abi) {
        let _ = writeln!(text, "    assert!(size_of::<{name}>() == {size});");
    }
    text.push_str("};\n");
    for Laid { name, fields, layout, .. } in structs(abi) {
        let _ = write!(
            text,
            "\nconst _: () = {{\n    assert!(size_of::<{name}>() == {});\n    \
             assert!(align_of::<{name}>() == {});\n",
            layout.size, layout.align
        );
        for (field, offset) in fields.iter().zip(&layout.offsets) {
            let _ = writeln!(text, "    assert!(offset_of!({name}, {}) == {offset});", field.name);
        }
        text.push_str("};\n");
    }
    text
}

/// `capi/src/first_sizes.hpp`.
pub fn first_sizes(abi: &Abi, note: &str) -> String {
    let mut text = format!(
        "// {note}\n\
         // Bytes that each struct with a struct_size had when it was introduced: what every client\n\
         // has of it. 0 for a type that has none.\n\
         #pragma once\n\n#include <cstddef>\n\n#include \"tenure/tenure.h\"\n\n\
         namespace tenure::capi {{\n\n\
         template <class Sized>\ninline constexpr std::size_t kFirstSizeBytes = 0;\n"
    );
    for laid in
        structs(abi).iter().filter(|laid| laid.grows && laid.fields[0].name == "struct_size")
    {
        let size = first_size(abi, laid).unwrap_or_default();
        let _ = writeln!(
            text,
            "template <>\ninline constexpr std::size_t kFirstSizeBytes<{}> = {size};",
            laid.name
        );
    }
    text.push_str("\n}  // namespace tenure::capi\n");
    text
}

/// Numbers with a type of their own, and callbacks: a callback is one pointer, NULL is None.
fn scalars(abi: &Abi) -> Vec<(&str, u64)> {
    let size = |name: &str| size_and_align(abi, &CType::Named(name.to_owned()));
    let scalars = abi.items.iter().filter_map(|item| match item.kind {
        Kind::Number(_) | Kind::Callback(_) => Some((item.name.as_str(), size(&item.name)?.0)),
        _ => None,
    });
    scalars.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(structs: &str) -> Abi {
        let source = format!("pub const TNR_ABI_MINOR: u32 = 3; pub const N: usize = 3; {structs}");
        let mut problems = Vec::new();
        let abi = crate::abi::read(&source, &mut problems).expect("the source of a test is Rust");
        assert_eq!(problems, vec![]);
        abi
    }

    #[test]
    fn fields_lie_where_c_puts_them() {
        let abi = read(
            "#[repr(transparent)] pub struct tnr_n(pub i16);
             pub type tnr_f = Option<unsafe extern fn(n: u32)>;
             #[repr(C)] pub struct tnr_in { pub a: u8, pub b: [tnr_n; N] }
             #[repr(C)] pub struct tnr_out { pub a: tnr_in, pub b: *const u8, pub c: tnr_f }",
        );
        let all = structs(&abi);
        let (inner, outer) = (&all[0].layout, &all[1].layout);
        assert_eq!(*inner, Layout { size: 8, align: 2, offsets: vec![0, 2] });
        assert_eq!(*outer, Layout { size: 24, align: 8, offsets: vec![0, 8, 16] });
        assert_eq!(scalars(&abi), [("tnr_n", 2), ("tnr_f", 8)]);
    }

    #[test]
    fn a_struct_that_grew_has_a_first_size() {
        let abi = read(
            "#[repr(C)] pub struct tnr_s { pub struct_size: u64, pub a: u64,
             /// @since 0.3
             pub b: u64 }
             #[repr(C)] pub struct tnr_s_mut { pub s: tnr_s }",
        );
        assert_eq!(structs(&abi)[0].layout.size, 24);
        assert!(structs(&abi).iter().all(|laid| laid.grows));
        let sizes = first_sizes(&abi, "note");
        assert!(sizes.contains("kFirstSizeBytes<tnr_s> = 16;") && !sizes.contains("tnr_s_mut"));
        assert_eq!(check(&abi), vec![]);
    }

    #[test]
    fn rules() {
        for (structs, expected) in [
            (
                "pub struct tnr_s { pub a: u8, pub b: u32 }",
                "tnr_s: 3 bytes before `b` have no name",
            ),
            (
                "pub struct tnr_s { pub b: u32, pub a: u8 }",
                "tnr_s: 3 bytes at the end have no name",
            ),
            ("pub struct tnr_s { pub a: [u8; 4097] }", "tnr_s: 4097 bytes are over 4096"),
            ("pub struct tnr_s { pub a: tnr_t }", "the layout of a field's type is not known"),
            (
                "pub struct tnr_s { pub a: u64,\n/// @since 0.3\npub b: u64 }",
                "`b` is newer than the struct, which has no `struct_size` and cannot grow",
            ),
            (
                "pub struct tnr_s { pub struct_size: u64,\n/// @since 0.3\npub a: u64, pub b: u64 }",
                "`b` @since 0.1 stands behind a newer field",
            ),
            (
                "pub struct tnr_s { pub struct_size: u64, pub a: u64 }
                 pub struct tnr_t { pub a: u64, pub s: [tnr_s; 2] }",
                "tnr_t: `s` is of a struct that grows, and must be the only field",
            ),
        ] {
            let found = check(&read(structs));
            assert_eq!(found.len(), 1, "{structs}: {found:?}");
            assert!(found[0].text.contains(expected), "{structs}: {found:?}");
        }
    }
}
