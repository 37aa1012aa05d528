//! The text of every file that is made from the ABI source.

use std::error::Error;
use std::path::Path;

use crate::abi::{self, Abi, Problem};
use crate::{annotate, gate, layout, linker, lint, sections};

pub const SOURCE: &str = "rust/tenure-sys/src/abi.rs";
const CONFIG: &str = "rust/tenure-sys/cbindgen.toml";
pub const HEADER: &str = "capi/include/tenure/tenure.h";
const MAP: &str = "capi/tenure.map";
const CPP_LAYOUT: &str = "capi/src/layout.cpp";
const RUST_LAYOUT: &str = "rust/tenure-sys/src/layout.rs";
const FIRST_SIZES: &str = "capi/src/first_sizes.hpp";

/// The result of generating from a source.
pub struct Generated {
    pub abi: Abi,
    /// Paths below the root, with their text.
    pub files: Vec<(&'static str, String)>,
    pub problems: Vec<Problem>,
}

/// The files of the source of `root`.
pub fn generate(root: &Path) -> Result<Generated, Box<dyn Error>> {
    generate_from(&root.join(SOURCE), &root.join(CONFIG))
}

/// The version that the library and the crates have together.
fn library_version() -> &'static str {
    let manifest = include_str!("../../../Cargo.toml");
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    version.and_then(|version| version.strip_suffix('"')).expect("the workspace has a version")
}

/// The files of a source anywhere.
pub fn generate_from(source: &Path, config: &Path) -> Result<Generated, Box<dyn Error>> {
    let text = std::fs::read_to_string(source)?;
    let mut problems = Vec::new();
    let abi = abi::read(&text, &mut problems).map_err(|error| format!("{SOURCE}: {error}"))?;
    let config = cbindgen::Config::from_file(config)?;
    let mut bindings = cbindgen::Builder::new().with_config(config).with_src(source).generate()?;
    let printed: Vec<String> =
        bindings.functions.iter().map(|function| function.path.name().to_owned()).collect();
    problems.extend(lint::check(&abi, &printed));
    problems.extend(layout::check(&abi));

    annotate::annotate(&mut bindings, &abi);
    let mut header = Vec::new();
    bindings.write(&mut header);
    // cbindgen gives the macro a line of its own.
    let header = String::from_utf8(header)?.replace("\nTNR_NOEXCEPT;", " TNR_NOEXCEPT;");
    let header = sections::arrange(&header, &text, &abi, &mut problems);
    let (header, lost) = gate::gate(&header, &abi);
    problems.extend(lost);
    problems.sort();
    problems.dedup();

    let note = format!("Generated from {SOURCE} by headergen. Do not edit.");
    let files = vec![
        (HEADER, header),
        (MAP, linker::script(&abi, &note, library_version())),
        (CPP_LAYOUT, layout::cpp_asserts(&abi, &note)),
        (RUST_LAYOUT, layout::rust_asserts(&abi, &note)),
        (FIRST_SIZES, layout::first_sizes(&abi, &note)),
    ];
    Ok(Generated { abi, files, problems })
}
