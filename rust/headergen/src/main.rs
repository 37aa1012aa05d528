//! Writes `capi/include/tenure/tenure.h` and `capi/tenure.map` from the ABI source.
//!
//! `cargo run -p headergen` writes both; `-- --check` writes nothing and fails when a file on disk
//! is not what would be written. Either way the source is checked first: see `lint.rs`.

mod abi;
mod annotate;
mod lint;
mod tags;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

const SOURCE: &str = "rust/tenure-sys/src/abi.rs";
const CONFIG: &str = "rust/tenure-sys/cbindgen.toml";
const HEADER: &str = "capi/include/tenure/tenure.h";
const MAP: &str = "capi/tenure.map";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--check"] => true,
        _ => {
            eprintln!("usage: headergen [--check]");
            return ExitCode::from(2);
        }
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    match run(&root, check) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("headergen: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all is well: the source passes, and with `check` the files are up to date.
fn run(root: &Path, check: bool) -> Result<bool, Box<dyn Error>> {
    let (files, problems) = generate(root)?;
    for problem in &problems {
        eprintln!("{SOURCE}:{}: {}", problem.line, problem.text);
    }
    if !problems.is_empty() {
        return Ok(false);
    }
    let mut fresh = true;
    for (name, text) in files {
        let path = root.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if check {
            eprintln!("{name} is stale: run `cargo run -p headergen` and commit what it writes");
            fresh = false;
        } else {
            std::fs::write(&path, text).map_err(|error| format!("{name}: {error}"))?;
            eprintln!("wrote {name}");
        }
    }
    Ok(fresh)
}

type Generated = (Vec<(&'static str, String)>, Vec<abi::Problem>);

/// The text of each generated file, and what is wrong with the source.
fn generate(root: &Path) -> Result<Generated, Box<dyn Error>> {
    let source = std::fs::read_to_string(root.join(SOURCE))?;
    let mut problems = Vec::new();
    let abi = abi::read(&source, &mut problems).map_err(|error| format!("{SOURCE}: {error}"))?;
    let config = cbindgen::Config::from_file(root.join(CONFIG))?;
    let mut bindings =
        cbindgen::Builder::new().with_config(config).with_src(root.join(SOURCE)).generate()?;
    let printed: Vec<String> =
        bindings.functions.iter().map(|function| function.path.name().to_owned()).collect();
    problems.extend(lint::check(&abi, &printed));
    problems.sort();

    annotate::annotate(&mut bindings, &abi);
    let mut header = Vec::new();
    bindings.write(&mut header);
    // cbindgen gives the macro a line of its own.
    let header = String::from_utf8(header)?.replace("\nTNR_NOEXCEPT;", " TNR_NOEXCEPT;");
    let files = vec![(HEADER, header), (MAP, linker_script(&abi))];
    Ok((files, problems))
}

/// Exports the functions by their exact names and nothing else.
fn linker_script(abi: &abi::Abi) -> String {
    let names: String =
        abi.functions.iter().map(|function| format!("        {};\n", function.name)).collect();
    let major = abi.version.0;
    format!(
        "# Generated from {SOURCE} by headergen. Do not edit.\n\
         TENURE_{major} {{\n    global:\n{names}    local: *;\n}};\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    #[test]
    fn the_real_source_passes_every_rule() {
        let (_, problems) = generate(&root()).unwrap();
        assert_eq!(problems, vec![]);
    }

    #[test]
    fn the_files_on_disk_are_what_would_be_written() {
        assert!(run(&root(), true).unwrap());
    }

    #[test]
    fn the_header_carries_the_macros_of_the_tags() {
        let (files, _) = generate(&root()).unwrap();
        let header = &files[0].1;
        for expected in [
            "TNR_API TNR_SPANS(1, 2) TNR_RETURNS_OWNED(tnr_blob_release)\nTNR_NODISCARD\n\
             struct tnr_blob *tnr_blob_borrow_mut(void *data TNR_BORROWED TNR_LIFETIMEBOUND,",
            "TNR_API TNR_READS(2, 3) TNR_RETURNS_OWNED(tnr_blob_release)\nTNR_NODISCARD\n\
             struct tnr_blob *tnr_blob_copy(",
            "TNR_API\ntnr_status tnr_blob_release(struct tnr_blob *blob TNR_OWNED) TNR_NOEXCEPT;",
        ] {
            assert!(header.contains(expected), "missing from the header:\n{expected}");
        }
    }
}
