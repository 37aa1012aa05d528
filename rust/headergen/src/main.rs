//! Generates files from the ABI source and the table of operations: `tenure.h`, `tenure.map`, the
//! layouts, and the lists of operations.
//!
//! `cargo run -p headergen` writes them; `-- --check` writes nothing and fails when a file on disk
//! differs from the generated one. Either way the source is checked first: by itself (`lint.rs`,
//! `layout.rs`), then against the frozen ABI (`frozen.rs`). `-- --freeze` freezes the present ABI
//! of the source, in `tests/abi/frozen`.

mod abi;
mod annotate;
mod codes;
mod counters;
mod declarations;
mod freeze;
mod frozen;
mod gate;
mod generate;
mod layout;
mod linker;
mod lint;
mod nodes;
mod pieces;
mod sections;
mod tags;
mod types;

/// The tables of operations, of counted operations and of the kinds of nodes, which the crate has
/// too.
#[path = "../../tenure-sys/src/counters.rs"]
mod counters_table;
#[path = "../../tenure-sys/src/node_kinds.rs"]
mod node_kinds;
#[path = "../../tenure-sys/src/operations.rs"]
mod table;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::generate::{Generated, SOURCE};

/// The use of the generated files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Write,
    Check,
    Freeze,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mode = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Mode::Write,
        ["--check"] => Mode::Check,
        ["--freeze"] => Mode::Freeze,
        _ => {
            eprintln!("usage: headergen [--check | --freeze]");
            return ExitCode::from(2);
        }
    };
    match run(&root(), mode) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("headergen: {error}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether all is well: the source passes, and with `Mode::Check` the files are up to date.
fn run(root: &Path, mode: Mode) -> Result<bool, Box<dyn Error>> {
    let Generated { abi, files, problems } = generate::generate(root)?;
    if report(&problems) {
        return Ok(false);
    }
    // They are written before the gate answers: a change that breaks the frozen ABI can be built
    // and tried, but not checked in.
    let mut fresh = true;
    for (name, text) in files {
        fresh &= put(root, &name, &text, mode == Mode::Check)?;
    }
    if mode == Mode::Freeze {
        return freeze::freeze(root, &abi, |name, text| put(root, name, text, false));
    }
    let broken = freeze::check(root, &abi)?;
    if report(&broken) {
        eprintln!("CONTRIBUTING.md says how the ABI grows, and when it is frozen anew");
    }
    Ok(fresh && broken.is_empty())
}

/// Prints the problems; whether there are any.
fn report(problems: &[abi::Problem]) -> bool {
    for problem in problems {
        eprintln!("{SOURCE}:{}: {}", problem.line, problem.text);
    }
    !problems.is_empty()
}

/// Whether a file was fresh, or is now.
fn put(root: &Path, name: &str, text: &str, check: bool) -> Result<bool, Box<dyn Error>> {
    let path = root.join(name);
    if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(true);
    }
    if check {
        eprintln!("{name} is stale: run `cargo run -p headergen` and commit what it writes");
        return Ok(false);
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{name}: {error}"))?;
    }
    std::fs::write(&path, text).map_err(|error| format!("{name}: {error}"))?;
    eprintln!("wrote {name}");
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_source_passes_every_rule() {
        assert_eq!(generate::generate(&root()).unwrap().problems, vec![]);
    }

    #[test]
    fn the_files_on_disk_are_what_would_be_written() {
        assert!(run(&root(), Mode::Check).unwrap());
    }

    #[test]
    fn the_header_carries_the_macros_of_the_tags() {
        let files = generate::generate(&root()).unwrap().files;
        let header: String = files
            .iter()
            .filter(|(name, _)| name.ends_with(".h"))
            .map(|(_, text)| text.as_str())
            .collect();
        for expected in [
            "TNR_API TNR_SPANS(1, 2) TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD\n\
             tnr_blob *tnr_blob_borrow_mut(void *data TNR_BORROWED TNR_LIFETIMEBOUND,",
            "TNR_API TNR_READS(2, 3) TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD\n\
             tnr_blob *tnr_blob_copy(",
            "TNR_API tnr_status tnr_blob_release(tnr_blob *blob TNR_OWNED) TNR_NOEXCEPT;",
        ] {
            assert!(header.contains(expected), "missing from the header:\n{expected}");
        }
    }
}
