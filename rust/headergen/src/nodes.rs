//! Output made from the table of the kinds of nodes, `rust/tenure-sys/src/node_kinds.rs`: the
//! constants of the ABI, and the lists that C++ and the crate have of it.

use std::fmt::Write as _;

use crate::abi::Problem;
use crate::codes::{capitalized, wrapped};
use crate::node_kinds::{ANY, Attributes, NODE_KINDS, NodeKind};

const SOURCE: &str = "rust/tenure-sys/src/node_kinds.rs";
/// The line of `abi.rs` that the constants replace.
const MARK: &str = "// The constants TNR_NODE_* of the table node_kinds.rs.";
const SHIFT: u32 = 16;
/// Kinds up to this code are of expressions too.
const LAST_OF_EXPRESSIONS: u16 = 8;

fn constant(kind: &NodeKind) -> String {
    format!("TNR_NODE_{}", kind.name.to_uppercase())
}

fn doc_lines(kind: &NodeKind) -> Vec<String> {
    let of = if kind.code > LAST_OF_EXPRESSIONS { " of graphs" } else { "" };
    let plus = if kind.plus.is_empty() { String::new() } else { format!(", plus {}", kind.plus) };
    wrapped(&format!("Kind of a node{of}{plus}: {}", kind.doc), 92)
}

/// The table by itself: the codes are 1 to n in the order of the rows.
pub fn check(table: &[NodeKind]) -> Vec<Problem> {
    let mut texts = Vec::new();
    for (kind, code) in table.iter().zip(1..) {
        if kind.code != code {
            texts.push(format!("{}: its code is {} but must be {code}", kind.name, kind.code));
        }
        if table.iter().filter(|other| other.name == kind.name).count() != 1 {
            texts.push(format!("{}: stands in the table twice", kind.name));
        }
        let (least, most) = kind.operands;
        if kind.doc.is_empty() || least > most {
            texts.push(format!("{}: has no documentation or no number of operands", kind.name));
        }
    }
    texts.into_iter().map(|text| Problem { line: 1, text: format!("{SOURCE}: {text}") }).collect()
}

/// `abi.rs`, with the mark replaced by the constants, on the same line.
pub fn expanded(source: &str) -> String {
    let mut constants = String::new();
    for kind in NODE_KINDS {
        for line in doc_lines(kind) {
            let _ = write!(constants, "#[doc = {:?}] ", format!(" {line}").trim_end());
        }
        let value = u32::from(kind.code) << SHIFT;
        let _ = write!(constants, "pub const {}: u32 = {value:#x}; ", constant(kind));
    }
    source.replace(MARK, constants.trim_end())
}

/// The constants and lists in `rust/tenure-sys/src/codes.rs`.
pub fn rust() -> String {
    let mut text = String::new();
    for kind in NODE_KINDS {
        text.push('\n');
        for line in doc_lines(kind) {
            let _ = writeln!(text, "{}", format!("/// {line}").trim_end());
        }
        let value = u32::from(kind.code) << SHIFT;
        let _ = writeln!(
            text,
            "pub const {}: u32 = 0x{:04x}_{:04x};",
            constant(kind),
            value >> SHIFT,
            value & 0xffff
        );
    }
    text.push_str(
        "\n/// Passes each struct of attributes with the kinds that take it, as\n\
         /// `KIND | KIND: Name(struct),`.\n#[doc(hidden)]\n#[macro_export]\n\
         macro_rules! for_each_node_attributes {\n    ($then:ident) => {\n        $then! {\n",
    );
    let mut done: Vec<Attributes> = vec![Attributes::None];
    for kind in NODE_KINDS {
        let attributes = kind.attributes;
        if done.contains(&attributes) {
            continue;
        }
        done.push(attributes);
        let kinds = NODE_KINDS.iter().filter(|other| other.attributes == attributes);
        let kinds = kinds.map(constant).collect::<Vec<_>>().join(" | ");
        let name = format!("{attributes:?}");
        let ty = format!("tnr_{}_attributes", snake(&name));
        let _ = writeln!(text, "            {kinds}: {name}({ty}),");
    }
    text.push_str("        }\n    };\n}\n");
    text
}

/// `TwoWords` as `two_words`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    for (i, letter) in name.chars().enumerate() {
        if letter.is_uppercase() && i != 0 {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// `core/src/base/node_kinds.hpp`.
pub fn cpp(note: &str) -> String {
    let codes = |last: u16| -> String {
        let kinds = NODE_KINDS.iter().filter(|kind| kind.code <= last);
        kinds.map(|kind| format!("  k{} = {},\n", capitalized(kind.name), kind.code)).collect()
    };
    let mut text = format!(
        "// {note}\n// The kinds of nodes: their codes, and what their functions do not say.\n#pragma once\n\n\
         #include <cstdint>\n\n#include \"tenure/program.hpp\"\n\nnamespace tenure {{\n\n\
         // clang-format off\nenum class NodeKind : std::uint8_t {{\n{}}};\n\
         inline constexpr unsigned kNodeKindCount = {};\n\
         // Bits of a node's code below its kind.\ninline constexpr unsigned kNodeKindShift = {SHIFT};\n\n\
         // The kinds that expressions have.\nenum class ExpressionKind : std::uint8_t {{\n{}}};\n",
        codes(u16::MAX),
        NODE_KINDS.len(),
        codes(LAST_OF_EXPRESSIONS)
    );
    let _ = write!(
        text,
        "\n// How a kind is computed: by a node of an expression, by the last node of an expression or a\n\
         // call, as a view of the operand, by a call, or by graphs of its own.\n\
         enum class Computes : std::uint8_t {{ kElementwise, kReduction, kView, kCall, kControl }};\n\n\
         // The fields that a node sets in addition to operands, numbers and attributes.\n\
         enum class Sets : std::uint8_t {{ kNothing, kAxes, kDtype }};\n\n\
         // The dtypes of operands on which devices compute a kind; kReal has all but complex numbers.\n\
         enum class DeviceDtypes : std::uint8_t {{ kNone, kFloats, kReal, kAll }};\n\n\
         // As many numbers as there are axes, or as many operands as are given.\n\
         inline constexpr std::uint8_t kAnyCount = {ANY:#x};\n\n\
         struct NodeKindRow {{\n  \
         const char* name;  // in messages, where no table of operations has one\n  \
         Computes computes;\n  \
         std::uint8_t least_operands;\n  \
         std::uint8_t most_operands;  // or kAnyCount\n  \
         std::uint8_t number_count;   // or kAnyCount\n  \
         AttributeKind attributes;\n  \
         Sets sets;\n  \
         bool in_place;       // whether the result may be exactly the first operand\n  \
         bool is_row_major;   // the result, as calls write no other one\n  \
         bool throws_values;  // what it refuses of elements, an index out of bounds say, else noted\n  \
         DeviceDtypes device;\n\
         }};\n\ninline constexpr NodeKindRow kNodeKindRows[] = {{\n"
    );
    let count = |count: u8| match count {
        ANY => "kAnyCount".to_owned(),
        _ => count.to_string(),
    };
    for kind in NODE_KINDS {
        let _ = writeln!(
            text,
            "  {{{:?}, Computes::k{:?}, {}, {}, {}, AttributeKind::k{:?}, Sets::k{:?}, {}, {}, {}, DeviceDtypes::k{:?}}},",
            kind.name,
            kind.computes,
            count(kind.operands.0),
            count(kind.operands.1),
            count(kind.numbers),
            kind.attributes,
            kind.sets,
            kind.in_place,
            kind.row_major,
            kind.throws,
            kind.device
        );
    }
    text.push_str("};\n// clang-format on\n\n}  // namespace tenure\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn rejects(change: impl Fn(&mut Vec<NodeKind>), expected: &str) {
        let mut table = NODE_KINDS.to_vec();
        change(&mut table);
        let found = check(&table);
        assert!(found.iter().any(|p| p.text.contains(expected)), "{expected:?}: {found:#?}");
    }

    #[test]
    fn a_table_has_each_code_and_name_once_in_order() {
        assert_eq!(check(NODE_KINDS), vec![]);
        rejects(|table| table.swap(2, 3), "compare: its code is 4 but must be 3");
        rejects(|table| table[1].name = "unary", "unary: stands in the table twice");
        rejects(|table| table[1].operands = (3, 2), "binary: has no documentation or no number");
    }

    #[test]
    fn constants_keep_the_lines_of_the_source() {
        let source = format!("// One.\n{MARK}\n// Two.\n");
        let text = expanded(&source);
        assert_eq!(text.lines().count(), source.lines().count());
        assert!(text.contains("pub const TNR_NODE_MATMUL: u32 = 0x90000;"));
    }
}
