//! The linker script: the functions by their exact names, in one node for each minor version. A
//! program that was linked with a newer library is then refused by the loader, not at the first
//! call.

use std::collections::BTreeSet;

use crate::abi::Abi;
use crate::tags::{FIRST, Version};

/// The functions of `rust/tenure-sys/src/private.rs`. They are no part of the ABI, and only for the
/// build that the node is named after.
const PRIVATE: [&str; 1] = ["tenure_private_sparse_voucher"];

/// `capi/tenure.map`, of a library of this version.
pub fn script(abi: &Abi, note: &str, library: &str) -> String {
    let since = |function: &crate::abi::Function| function.comment.since.unwrap_or(FIRST);
    let minors: BTreeSet<Version> = abi.functions.iter().map(since).collect();
    let mut text = format!("# {note}\n");
    let mut older = None;
    for version in minors {
        let names: String = abi
            .functions
            .iter()
            .filter(|function| since(function) == version)
            .map(|function| format!("        {};\n", function.name))
            .collect();
        // All other symbols are local: said once, in the first node.
        let local = if older.is_none() { "    local: *;\n" } else { "" };
        let node = format!("TENURE_{}.{}", version.0, version.1);
        let inherits = older.map(|older| format!(" {older}")).unwrap_or_default();
        text.push_str(&format!("{node} {{\n    global:\n{names}{local}}}{inherits};\n"));
        older = Some(node);
    }
    let names: String = PRIVATE.iter().map(|name| format!("        {name};\n")).collect();
    text.push_str(&format!("TENURE_PRIVATE_{library} {{\n    global:\n{names}}};\n"));
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_minor_has_a_node_that_inherits_the_one_before() {
        let source =
            "unsafe extern { /// @since 0.1\npub fn tnr_a(); /// @since 0.4\npub fn tnr_c();
                      /// @since 0.1\npub fn tnr_b(); }";
        let abi = crate::abi::read(source, &mut Vec::new()).expect("the source of a test is Rust");
        let expected = "# note\n\
            TENURE_0.1 {\n    global:\n        tnr_a;\n        tnr_b;\n    local: *;\n};\n\
            TENURE_0.4 {\n    global:\n        tnr_c;\n} TENURE_0.1;\n\
            TENURE_PRIVATE_1.2.3 {\n    global:\n        tenure_private_sparse_voucher;\n};\n";
        assert_eq!(super::script(&abi, "note", "1.2.3"), expected);
    }
}
