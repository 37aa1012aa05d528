//! The text of every file that is made from the ABI source.

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::abi::{self, Abi, Problem};
use crate::frozen::Table;
use crate::{annotate, codes, counters, declarations, gate, layout, linker, lint, nodes, sections};

pub const SOURCE: &str = "rust/tenure-sys/src/abi.rs";
const CONFIG: &str = "rust/tenure-sys/cbindgen.toml";
pub const HEADERS: &str = "capi/include/tenure";
/// The facts of the ABI, one a line, which tests read.
const TABLE: &str = "tests/abi/abi.txt";
const MAP: &str = "capi/tenure.map";
const CPP_LAYOUT: &str = "capi/src/layout.cpp";
const RUST_LAYOUT: &str = "rust/tenure-sys/src/layout.rs";
const FIRST_SIZES: &str = "capi/src/first_sizes.hpp";
const OPERATIONS: &str = "rust/tenure-sys/src/operations.rs";
const RUST_CODES: &str = "rust/tenure-sys/src/codes.rs";
const CPP_OPERATIONS: &str = "core/src/cpu/operations.hpp";
const NODE_KINDS: &str = "rust/tenure-sys/src/node_kinds.rs";
const ALL_TABLES: &str = "rust/tenure-sys/src/{counters,operations,node_kinds}.rs";
const CPP_NODE_KINDS: &str = "core/src/base/node_kinds.hpp";
const PYTHON_OPERATIONS: &str = "tests/interop/operations.py";
const DOCS: &str = "docs/operations.md";

/// The result of generating from a source.
pub struct Generated {
    pub abi: Abi,
    /// Paths below the root, with their text.
    pub files: Vec<(String, String)>,
    pub problems: Vec<Problem>,
}

/// The files of the source of `root`.
pub fn generate(root: &Path) -> Result<Generated, Box<dyn Error>> {
    let source = expanded(&std::fs::read_to_string(root.join(SOURCE))?);
    let mut generated = generate_from(&source, &root.join(CONFIG))?;
    generated.problems.extend(codes::check(crate::table::OPERATIONS));
    generated.problems.extend(nodes::check(crate::node_kinds::NODE_KINDS));
    generated.problems.extend(counters::check(crate::counters_table::COUNTERS));
    let docs = codes::docs(&std::fs::read_to_string(root.join(DOCS))?)
        .ok_or("docs/operations.md has no marks for the table of operations")?;
    let note = format!("Generated from {OPERATIONS} by headergen. Do not edit.");
    generated.files.extend(named([
        (
            RUST_CODES,
            codes::rust(&note.replace(OPERATIONS, ALL_TABLES)) + &nodes::rust() + &counters::rust(),
        ),
        (CPP_NODE_KINDS, nodes::cpp(&note.replace(OPERATIONS, NODE_KINDS))),
        (CPP_OPERATIONS, codes::cpp(&note)),
        (PYTHON_OPERATIONS, codes::python(&note)),
        (DOCS, docs),
    ]));
    Ok(generated)
}

fn named<const N: usize>(files: [(&str, String); N]) -> impl Iterator<Item = (String, String)> {
    files.into_iter().map(|(name, text)| (name.to_owned(), text))
}

/// `abi.rs` with the constants of all tables, on the same lines.
pub fn expanded(source: &str) -> String {
    counters::expanded(&nodes::expanded(&codes::expanded(source)))
}

/// The bindings that cbindgen makes of a text. It reads only files, so the text is written to one.
fn bindings(text: &str, config: cbindgen::Config) -> Result<cbindgen::Bindings, Box<dyn Error>> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("headergen-{}-{number}.rs", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text)?;
    let bindings = cbindgen::Builder::new().with_config(config).with_src(&path).generate();
    std::fs::remove_file(&path)?;
    Ok(bindings?)
}

/// The version that the library and the crates have together.
fn library_version() -> &'static str {
    let manifest = include_str!("../../../Cargo.toml");
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    version.and_then(|version| version.strip_suffix('"')).expect("the workspace has a version")
}

/// The files of the text of a source.
pub fn generate_from(text: &str, config: &Path) -> Result<Generated, Box<dyn Error>> {
    let mut problems = Vec::new();
    let abi = abi::read(text, &mut problems).map_err(|error| format!("{SOURCE}: {error}"))?;
    let config = cbindgen::Config::from_file(config)?;
    let mut bindings = bindings(text, config)?;
    let printed: Vec<String> =
        bindings.functions.iter().map(|function| function.path.name().to_owned()).collect();
    problems.extend(lint::check(&abi, &printed));
    problems.extend(layout::check(&abi));
    problems.extend(abi::undocumented(text)?);

    annotate::annotate(&mut bindings, &abi);
    let mut header = Vec::new();
    bindings.write(&mut header);
    // cbindgen gives the macro a line of its own.
    let header = String::from_utf8(header)?.replace("\nTNR_NOEXCEPT;", " TNR_NOEXCEPT;");
    let note = format!("Generated from {SOURCE} by headergen. Do not edit.");
    let mut headers = sections::arrange(&header, text, &abi, &note, &mut problems);
    problems.extend(gate::gate(&mut headers, &abi));
    for (_, text) in &mut headers {
        *text = declarations::laid_out(text);
    }
    problems.sort();
    problems.dedup();

    let mut files: Vec<(String, String)> =
        headers.into_iter().map(|(name, text)| (format!("{HEADERS}/{name}"), text)).collect();
    files.extend(named([
        (TABLE, Table::of(&abi).written()),
        (MAP, linker::script(&abi, &note, library_version())),
        (CPP_LAYOUT, layout::cpp_asserts(&abi, &note) + &counters::cpp_assert()),
        (RUST_LAYOUT, layout::rust_asserts(&abi, &note)),
        (FIRST_SIZES, layout::first_sizes(&abi, &note)),
    ]));
    Ok(Generated { abi, files, problems })
}
