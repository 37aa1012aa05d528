//! Makes a module of each page of docs/, whose documentation it is. Programs that use `?` and do
//! not say where it leads return here, which a reader need not see.
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Shows holes of other libraries, which are no programs.
const LEFT_OUT: &str = "soundness";

fn main() -> io::Result<()> {
    let pages = Path::new("../../docs");
    println!("cargo::rerun-if-changed={}", pages.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let mut modules = String::new();
    for page in fs::read_dir(pages)? {
        let path = page?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        if name == LEFT_OUT || path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let copy = out.join(name).with_extension("md");
        fs::write(&copy, with_results(&fs::read_to_string(&path)?))?;
        modules +=
            &format!("#[doc = include_str!({copy:?})]\npub mod {} {{}}\n", name.replace('-', "_"));
    }
    fs::write(out.join("pages.rs"), modules)
}

fn with_results(page: &str) -> String {
    let mut text = String::new();
    let (mut in_program, mut may_fail, mut has_main) = (false, false, false);
    for line in page.lines() {
        if line.starts_with("```") {
            if in_program && may_fail && !has_main {
                text += "# Ok::<(), Box<dyn std::error::Error>>(())\n";
            }
            (in_program, may_fail, has_main) = (line.starts_with("```rust"), false, false);
        }
        may_fail |= line.contains('?');
        has_main |= line.contains("fn main");
        text += line;
        text.push('\n');
    }
    text
}
