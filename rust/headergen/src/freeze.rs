//! The files in `tests/abi/frozen`: one folder for each version that was frozen.

use std::error::Error;
use std::path::Path;

use crate::abi::{Abi, Problem};
use crate::frozen::{Table, c_asserts};
use crate::generate::HEADERS;
use crate::tags::parse_version;

const FROZEN: &str = "tests/abi/frozen";
const TABLE: &str = "abi.txt";

/// The files of a frozen version: the headers as clients include them, every fact, and the facts
/// once more as a program for the compiler.
fn files(root: &Path, abi: &Abi) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let folder = format!("{FROZEN}/{}.{}", abi.version.0, abi.version.1);
    let mut files = vec![
        (format!("{folder}/{TABLE}"), Table::of(abi).written()),
        (format!("{folder}/abi.c"), c_asserts(abi)),
    ];
    for entry in std::fs::read_dir(root.join(HEADERS))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.ends_with(".h") {
            files.push((format!("{folder}/tenure/{name}"), std::fs::read_to_string(&path)?));
        }
    }
    Ok(files)
}

/// The breaks of frozen versions by the source, the oldest first. No version is frozen before the
/// first release.
pub fn check(root: &Path, abi: &Abi) -> Result<Vec<Problem>, Box<dyn Error>> {
    let today = Table::of(abi);
    let tables = tables(root)?;
    let mut broken = Vec::new();
    for table in tables {
        let mut problems = today.breaks(&table);
        problems.sort();
        broken.extend(problems);
    }
    Ok(broken)
}

/// Freezes the version of the source; `put` writes files. Breaks of the last freeze of the same
/// version are printed; older versions stay as they are, and the result is whether the source keeps
/// to them.
pub fn freeze(
    root: &Path,
    abi: &Abi,
    mut put: impl FnMut(&str, &str) -> Result<bool, Box<dyn Error>>,
) -> Result<bool, Box<dyn Error>> {
    let today = Table::of(abi);
    let (same, older): (Vec<Table>, Vec<Table>) =
        tables(root)?.into_iter().partition(|table| table.version == abi.version);
    let broken: Vec<Problem> = older.iter().flat_map(|table| today.breaks(table)).collect();
    if crate::report(&broken) {
        return Ok(false);
    }
    for problem in same.iter().flat_map(|table| today.breaks(table)) {
        eprintln!("frozen anew: {}", problem.text);
    }
    for (name, text) in files(root, abi)? {
        put(&name, &text)?;
    }
    Ok(true)
}

/// Every table that was frozen, the oldest first. Errors: one is no table.
fn tables(root: &Path) -> Result<Vec<Table>, Box<dyn Error>> {
    let mut tables = Vec::new();
    let Ok(folder) = std::fs::read_dir(root.join(FROZEN)) else { return Ok(tables) };
    for entry in folder {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(version) = parse_version(name) else { continue };
        let text = std::fs::read_to_string(path.join(TABLE))
            .map_err(|error| format!("{FROZEN}/{name}/{TABLE}: {error}"))?;
        let table = Table::parse(version, &text)
            .map_err(|line| format!("{FROZEN}/{name}/{TABLE}: no fact: {line}"))?;
        tables.push(table);
    }
    tables.sort_by_key(|table| table.version);
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "pub const TNR_ABI_MINOR: u32 = 1; pub const TNR_A: u32 = 1;";

    fn read(source: &str) -> Abi {
        crate::abi::read(source, &mut Vec::new()).expect("the source of a test is Rust")
    }

    /// Freezes it in `root`: the answer, and how many files were written.
    fn freeze_there(root: &Path, source: &str) -> (bool, usize) {
        let mut written = 0;
        let put = |name: &str, text: &str| -> Result<bool, Box<dyn Error>> {
            written += 1;
            crate::put(root, name, text, false)
        };
        (freeze(root, &read(source), put).expect("every table is one"), written)
    }

    #[test]
    fn a_version_may_be_frozen_anew_but_an_older_one_stays() {
        let folder = std::env::temp_dir().join(format!("headergen-freeze-{}", std::process::id()));
        std::fs::create_dir_all(folder.join(HEADERS)).expect("a folder");
        for name in ["tenure.h", "annotations.h"] {
            std::fs::write(folder.join(HEADERS).join(name), "header").expect("a file");
        }

        assert_eq!(check(&folder, &read(FIRST)).expect("nothing is frozen"), vec![]);
        assert_eq!(freeze_there(&folder, FIRST), (true, 4));
        assert_eq!(check(&folder, &read(FIRST)).expect("frozen"), vec![]);
        let changed = FIRST.replace("TNR_A: u32 = 1", "TNR_A: u32 = 2");
        assert_eq!(check(&folder, &read(&changed)).expect("frozen").len(), 1);
        assert_eq!(freeze_there(&folder, &changed), (true, 4));
        assert_eq!(check(&folder, &read(&changed)).expect("frozen"), vec![]);

        let later = FIRST.replace("MINOR: u32 = 1", "MINOR: u32 = 2");
        assert_eq!(freeze_there(&folder, &later), (false, 0));
        let said = check(&folder, &read(&later)).expect("frozen");
        assert_eq!(
            said[0].text,
            "constant TNR_A: was `uint32_t 2` and is `uint32_t 1` (frozen in ABI 0.1)"
        );
        let header = folder.join("tests/abi/frozen/0.1/tenure/tenure.h");
        assert_eq!(std::fs::read_to_string(header).expect("it was written"), "header");
        let _ = std::fs::remove_dir_all(&folder);
    }
}
