//! Output made from the table of the kinds of nodes, `rust/tenure-sys/src/node_kinds.rs`: the
//! constants of the ABI, and the lists that C++ and the crate have of it.

use std::fmt::Write as _;

use crate::abi::Problem;
use crate::codes::capitalized;
use crate::node_kinds::{Attributes, NODE_KINDS, NodeKind, Sets};

const SOURCE: &str = "rust/tenure-sys/src/node_kinds.rs";
/// The line of `abi.rs` that the constants replace.
const MARK: &str = "// The constants TNR_NODE_* of the table node_kinds.rs.";
const SHIFT: u32 = 16;
/// Characters of the documentation that fit a line, as a comment of C.
const MOST_WORDS: usize = 100 - "/**  */".len();
/// Kinds up to this code are of expressions too.
const LAST_OF_EXPRESSIONS: u16 = 8;

fn constant(kind: &NodeKind) -> String {
    format!("TNR_NODE_{}", kind.name.to_uppercase())
}

/// The line of the table that documents a kind.
fn doc(kind: &NodeKind) -> String {
    let mut text = format!("Operands ({})", kind.operands);
    if !kind.numbers.is_empty() {
        let _ = write!(text, "; numbers ({})", kind.numbers);
    }
    text.push_str(match kind.sets {
        Sets::Nothing => "",
        Sets::Axes => "; axes",
        Sets::Dtype => "; dtype",
    });
    if !kind.low_bits.is_empty() {
        let _ = write!(text, "; low bits: {}", kind.low_bits);
    }
    text.push('.');
    if !kind.result.is_empty() {
        let _ = write!(text, " {}", kind.result);
    }
    text
}

/// The least and the most names of a list such as `a, weight?, ...`; the most is None where the list
/// ends with `...`. An optional one before one that is required counts: it is given as no operand.
fn counts(list: &str) -> (usize, Option<usize>) {
    let names: Vec<&str> = list.split(", ").filter(|name| !name.is_empty()).collect();
    let is_required = |name: &&str| !name.ends_with(['?', '.']);
    let least = names.iter().rposition(is_required).map_or(0, |at| at + 1);
    (least, (!list.ends_with("...")).then_some(names.len()))
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
        if doc(kind).len() > MOST_WORDS {
            texts.push(format!("{}: its documentation does not fit one line", kind.name));
        }
    }
    texts.into_iter().map(|text| Problem { line: 1, text: format!("{SOURCE}: {text}") }).collect()
}

/// `abi.rs`, with the mark replaced by the constants, on the same line.
pub fn expanded(source: &str) -> String {
    let mut constants = String::new();
    for kind in NODE_KINDS {
        let _ = write!(constants, "#[doc = {:?}] ", format!(" {}", doc(kind)));
        let value = u32::from(kind.code) << SHIFT;
        let _ = write!(constants, "pub const {}: u32 = {value:#x}; ", constant(kind));
    }
    source.replace(MARK, constants.trim_end())
}

/// The constants and lists in `rust/tenure-sys/src/codes.rs`.
pub fn rust() -> String {
    let mut text = String::new();
    for kind in NODE_KINDS {
        let _ = writeln!(text, "\n/// {}", doc(kind));
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
         inline constexpr std::uint8_t kAnyCount = 0xff;\n\n\
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
    let count = |count: Option<usize>| match count {
        None => "kAnyCount".to_owned(),
        Some(count) => count.to_string(),
    };
    for kind in NODE_KINDS {
        let (least, most) = counts(kind.operands);
        let (fewest, numbers) = counts(kind.numbers);
        let _ = writeln!(
            text,
            "  {{{:?}, Computes::k{:?}, {}, {}, {}, AttributeKind::k{:?}, Sets::k{:?}, {}, {}, {}, DeviceDtypes::k{:?}}},",
            kind.name,
            kind.computes,
            least,
            count(most),
            count(numbers.filter(|numbers| *numbers == fewest)),
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
        let long =
            "a, factor, second_factor, third_factor, fourth_factor, fifth_factor, sixth_factor";
        rejects(
            |table| table[1].operands = long,
            "binary: its documentation does not fit one line",
        );
    }

    #[test]
    fn a_list_says_how_many_there_are() {
        assert_eq!(counts(""), (0, Some(0)));
        assert_eq!(counts("a, b"), (2, Some(2)));
        assert_eq!(counts("a, mean?, var, weight?"), (3, Some(4)));
        assert_eq!(counts("..."), (0, None));
        assert_eq!(counts("a, ..."), (1, None));
        assert_eq!(counts("shape..."), (0, None));
    }

    #[test]
    fn a_kind_is_documented_in_one_form() {
        let put = NODE_KINDS.iter().find(|kind| kind.name == "put").expect("it is in the table");
        let expected =
            "Operands (out, a, indices); numbers (axis); low bits: `tnr_binary_op`, 0 overwrites.";
        assert_eq!(doc(put), expected);
    }

    #[test]
    fn constants_keep_the_lines_of_the_source() {
        let source = format!("// One.\n{MARK}\n// Two.\n");
        let text = expanded(&source);
        assert_eq!(text.lines().count(), source.lines().count());
        assert!(text.contains("pub const TNR_NODE_MATMUL: u32 = 0x90000;"));
    }
}
