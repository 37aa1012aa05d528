//! Output made from the table of counted operations, `rust/tenure-sys/src/counters.rs`.

use std::fmt::Write as _;

use crate::abi::Problem;
use crate::codes::wrapped;
use crate::counters_table::{COUNTERS, Counter};

const SOURCE: &str = "rust/tenure-sys/src/counters.rs";
/// The line of `abi.rs` that the constants replace.
const MARK: &str = "// The constants of the table counters.rs.";

fn doc_lines(row: &Counter) -> Vec<String> {
    wrapped(row.doc, 92)
}

fn constant(row: &Counter) -> String {
    format!("pub const {}: tnr_operation = tnr_operation({});", row.name, row.code)
}

/// The table by itself: the codes are 1 to n in the order of the rows.
pub fn check(table: &[Counter]) -> Vec<Problem> {
    let mut texts = Vec::new();
    for (row, code) in table.iter().zip(1..) {
        if row.code != code {
            texts.push(format!("{}: its code is {} but must be {code}", row.name, row.code));
        }
        let is_twice = |name: fn(&Counter) -> &str| {
            table.iter().filter(|other| name(other) == name(row)).count() != 1
        };
        if is_twice(|row| row.name) || is_twice(|row| row.rust) {
            texts.push(format!("{}: is in the table twice", row.name));
        }
        if row.doc.is_empty() || row.rust_doc.is_empty() {
            texts.push(format!("{}: has no documentation", row.name));
        }
    }
    texts.into_iter().map(|text| Problem { line: 1, text: format!("{SOURCE}: {text}") }).collect()
}

/// `abi.rs`, with the mark replaced by the constants, on the same line.
pub fn expanded(source: &str) -> String {
    let mut constants = "impl tnr_operation { ".to_owned();
    for row in COUNTERS {
        for line in doc_lines(row) {
            let _ = write!(constants, "#[doc = {:?}] ", format!(" {line}").trim_end());
        }
        let _ = write!(constants, "{} ", constant(row));
    }
    source.replace(MARK, &(constants + "}"))
}

/// The constants and the list in `rust/tenure-sys/src/codes.rs`.
pub fn rust() -> String {
    let mut text = "\nimpl crate::tnr_operation {\n".to_owned();
    for row in COUNTERS {
        for line in doc_lines(row) {
            let _ = writeln!(text, "    {}", format!("/// {line}").trim_end());
        }
        let _ = writeln!(
            text,
            "    pub const {}: crate::tnr_operation = crate::tnr_operation({});",
            row.name, row.code
        );
    }
    text.push_str(
        "}\n\n/// Passes each kind of operation that is counted, as `#[doc = \"..\"] Name = CONSTANT;`.\n\
         #[doc(hidden)]\n#[macro_export]\nmacro_rules! for_each_counter {\n    ($then:ident) => {\n        \
         $then! {\n",
    );
    for row in COUNTERS {
        let doc = format!(" {}", row.rust_doc);
        let _ = writeln!(text, "            #[doc = {doc:?}] {} = {};", row.rust, row.name);
    }
    text.push_str("        }\n    };\n}\n");
    text
}

/// The end of `capi/src/layout.cpp`: the core counts every kind.
pub fn cpp_assert() -> String {
    let last = COUNTERS.last().map_or("", |row| row.name);
    format!("\nstatic_assert(TNR_OPERATION_{last} == tnr_operation{{tenure::kOperationCount}});\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_each_code_and_name_once_in_order() {
        assert_eq!(check(COUNTERS), vec![]);
        let rejects = |change: &dyn Fn(&mut Vec<Counter>), expected: &str| {
            let mut table = COUNTERS.to_vec();
            change(&mut table);
            let found = check(&table);
            assert!(found.iter().any(|p| p.text.contains(expected)), "{expected:?}: {found:#?}");
        };
        rejects(&|table| table.swap(2, 3), "UNARY: its code is 4 but must be 3");
        rejects(&|table| table[1].rust = "Fill", "CAST: is in the table twice");
        rejects(&|table| table[1].doc = "", "CAST: has no documentation");
    }

    #[test]
    fn constants_keep_the_lines_of_the_source() {
        let source = format!("// One.\n{MARK}\n// Two.\n");
        let text = expanded(&source);
        assert_eq!(text.lines().count(), source.lines().count());
        assert!(text.contains("pub const EVALUATE: tnr_operation = tnr_operation(52);"));
    }
}
