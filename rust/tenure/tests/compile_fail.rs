//! Each program in `compile_fail/` is two: with `--cfg bad` rustc must refuse it, with exactly the
//! error codes its first line names and nothing else; without, the corrected form must compile.
//!
//! Doctests marked `compile_fail` accept any error on a stable compiler, a typing mistake too.
//! Here rustc is called directly and its JSON is read, so a program cannot fail for another
//! reason than the one it shows. A program about arrays of another crate says so by
//! `//@ feature: NAME`; it is judged where that feature is on.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// The features with crates of others that this run has, and the crates that programs of theirs
/// use.
const NEIGHBOURS: &[(&str, &[&str])] = &[
    #[cfg(feature = "arrow")]
    ("arrow", &["arrow_array"]),
    #[cfg(feature = "bytemuck")]
    ("bytemuck", &[]),
    #[cfg(feature = "derive")]
    ("derive", &[]),
    #[cfg(feature = "ndarray")]
    ("ndarray", &["ndarray"]),
];

/// The crate as this run built it, never a stale file in the same folder.
struct Library {
    /// Names and files: the crate, and neighbours of it.
    crates: Vec<(String, PathBuf)>,
    /// Where its dependencies are, and the macros they use, which are built for the host.
    dependencies: [PathBuf; 2],
}

impl Library {
    /// Asks cargo, with this test's target folder, target and profile: usually nothing is built.
    fn build() -> Library {
        // TARGET_DIR [/ TRIPLE] / PROFILE / deps / this program
        let exe = std::env::current_exe().unwrap();
        let profile_dir = exe.ancestors().nth(2).unwrap();
        let profile = name_of(profile_dir);
        let above = profile_dir.parent().unwrap();
        let (target_dir, triple) = match name_of(above) {
            name if is_target(name) => (above.parent().unwrap(), Some(name)),
            _ => (above, None),
        };
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["build", "--quiet", "--offline", "--lib", "--message-format=json"])
            .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
            .args(["--profile", if profile == "debug" { "dev" } else { profile }])
            .arg("--target-dir")
            .arg(target_dir)
            .args(triple.iter().flat_map(|triple| ["--target", triple]))
            .args(NEIGHBOURS.iter().flat_map(|(feature, _)| ["--features", feature]));
        let output = cargo.stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "{cargo:?} failed");
        let named = ["tenure"]
            .into_iter()
            .chain(NEIGHBOURS.iter().flat_map(|(_, names)| names.iter().copied()));
        let crates = named.map(|name| (name.to_owned(), rlib_of(name, &output.stdout))).collect();
        let host_deps = target_dir.join(profile).join("deps");
        Library { crates, dependencies: [profile_dir.join("deps"), host_deps] }
    }

    /// Compiles a program; finds each error's code, "none" where it has none, and everything that
    /// rustc printed.
    fn check(&self, program: &Path, cfg: &[&str]) -> Found {
        let externs = self.crates.iter().map(|(name, file)| {
            let mut extern_crate = OsString::from(format!("{name}="));
            extern_crate.push(file);
            extern_crate
        });
        let search = self.dependencies.iter().map(|folder| {
            let mut search = OsString::from("-Ldependency=");
            search.push(folder);
            search
        });
        let output = rustc()
            .args(["--edition", "2024", "--crate-type", "bin", "--emit", "metadata", "-o"])
            // A metadata file per call: two calls run at a time.
            .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
                "{}{}.rmeta",
                program.file_stem().unwrap().to_str().unwrap(),
                cfg.join("")
            )))
            .args(["--error-format", "json", "--cap-lints", "allow"])
            // With the flags of the library build: a sanitizer, for example, does not mix with code
            // without it.
            .args(std::env::var("RUSTFLAGS").unwrap_or_default().split_whitespace())
            .args(cfg.iter().flat_map(|cfg| ["--cfg", cfg]))
            .args(externs.flat_map(|extern_crate| ["--extern".into(), extern_crate]))
            .args(search)
            .arg(program)
            .output()
            .unwrap();
        let mut found = Found { codes: BTreeSet::new(), text: String::new() };
        for line in json_lines(&output.stderr).filter(|line| line["level"] == "error") {
            let text = line["message"].as_str().unwrap();
            // Its closing line counts the errors; it is none of them.
            if !text.starts_with("aborting due to") {
                found.codes.insert(line["code"]["code"].as_str().unwrap_or("none").to_owned());
            }
            found.text += line["rendered"].as_str().unwrap();
        }
        assert_eq!(output.status.success(), found.codes.is_empty(), "{program:?}: {output:?}");
        found
    }
}

/// The library file of a crate that cargo has built, from cargo's messages `said`.
fn rlib_of(name: &str, said: &[u8]) -> PathBuf {
    let artifact = json_lines(said)
        .find(|line| line["reason"] == "compiler-artifact" && line["target"]["name"] == name)
        .unwrap_or_else(|| panic!("cargo named no artifact of {name}"));
    artifact["filenames"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| PathBuf::from(name.as_str().unwrap()))
        .find(|name| name.extension().is_some_and(|extension| extension == "rlib"))
        .expect("cargo built no rlib")
}

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

fn name_of(folder: &Path) -> &str {
    folder.file_name().unwrap().to_str().unwrap()
}

/// Whether rustc has a target of this name. With such a target cargo uses a separate folder.
fn is_target(name: &str) -> bool {
    let output = rustc().args(["--print", "target-list"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().any(|target| target == name)
}

#[derive(Debug)]
struct Found {
    codes: BTreeSet<String>,
    text: String,
}

fn json_lines(bytes: &[u8]) -> impl Iterator<Item = Value> {
    bytes
        .split(|&byte| byte == b'\n')
        .filter(|line| line.starts_with(b"{"))
        .map(|line| serde_json::from_slice(line).unwrap())
}

/// The directives in a program's first lines: `//@ error: CODE CODE` once, `//@ says: TEXT` any
/// number of times, `//@ feature: NAME` at most once.
#[derive(Debug)]
struct Expected {
    codes: BTreeSet<String>,
    says: Vec<String>,
    feature: Option<String>,
}

impl Expected {
    fn read(source: &str) -> Result<Expected, String> {
        let codes = source
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("//@ error: "))
            .ok_or("its first line is not `//@ error: CODE`")?;
        let says = source.lines().filter_map(|line| line.strip_prefix("//@ says: "));
        let feature = source.lines().find_map(|line| line.strip_prefix("//@ feature: "));
        Ok(Expected {
            feature: feature.map(str::to_owned),
            codes: codes.split_whitespace().map(str::to_owned).collect(),
            says: says.map(str::to_owned).collect(),
        })
    }
}

/// Checks one program and its corrected form; an error where they do not behave as declared.
fn verdict(library: &Library, program: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(program).unwrap();
    let expected = Expected::read(&source)?;
    let is_there = |feature| NEIGHBOURS.iter().any(|(name, _)| name == feature);
    if !expected.feature.as_ref().is_none_or(is_there) {
        return Ok(());
    }
    let bad = library.check(program, &["bad"]);
    if bad.codes != expected.codes {
        return Err(format!(
            "expected {:?}, rustc says {:?}\n{}",
            expected.codes, bad.codes, bad.text
        ));
    }
    if let Some(missing) = expected.says.iter().find(|text| !bad.text.contains(*text)) {
        return Err(format!("rustc does not say {missing:?}\n{}", bad.text));
    }
    let twin = library.check(program, &[]);
    if !twin.codes.is_empty() {
        return Err(format!("its twin does not compile: {:?}\n{}", twin.codes, twin.text));
    }
    Ok(())
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail");
    let mut programs: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    programs.sort();
    programs
}

#[test]
fn programs_fail_as_they_say_and_their_twins_compile() {
    let library = Library::build();
    let programs = programs();
    assert!(programs.len() >= 30, "only {} programs", programs.len());
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = verdict(&library, program) {
                        let name = program.file_name().unwrap().to_string_lossy();
                        failures.lock().unwrap().push(format!("{name}: {why}"));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let count = failures.len();
    assert!(failures.is_empty(), "{count} of {}\n{}", programs.len(), failures.join("\n"));
}

/// `docs/soundness.md` names the programs and tests that show each rule: they must exist.
#[test]
fn names_on_the_soundness_page_exist() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(crate_folder.join("../../docs/soundness.md")).unwrap();
    let mut count = 0;
    for shown in page.split("**Shown by** ").skip(1) {
        let names = shown.split("\n\n").next().unwrap().split('`').skip(1).step_by(2);
        for name in names {
            let exists = match name.split_once("::") {
                None => crate_folder.join(format!("tests/compile_fail/{name}.rs")).exists(),
                Some((file, test)) => {
                    let path = crate_folder.join(format!("tests/{file}.rs"));
                    let text = std::fs::read_to_string(path);
                    text.is_ok_and(|text| text.contains(&format!("fn {test}()")))
                }
            };
            assert!(exists, "the page names `{name}`, which is not there");
            count += 1;
        }
    }
    assert!(count >= 40, "only {count} names found in the page");
}

/// The runner itself, on programs that do not behave as declared.
#[test]
fn runner_notices_what_is_wrong() {
    let library = Library::build();
    let judge = |name: &str, source: &str| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).with_extension("rs");
        std::fs::write(&file, source).unwrap();
        verdict(&library, &file)
    };
    let pair = |error: &str, bad: &str, twin: &str| {
        format!("//@ error: {error}\nfn main() {{ #[cfg(bad)] {bad} #[cfg(not(bad))] {twin} }}")
    };
    let mistyped = "let x: u8 = \"\";";
    let undeclared = "undeclared();";
    judge("right", &pair("E0308", mistyped, "{}")).unwrap();

    let refused = |name: &str, source: &str, why: &str| {
        let told = judge(name, source).unwrap_err();
        assert!(told.contains(why), "{name}: {told:?} does not contain {why:?}");
    };
    refused("compiles", &pair("E0308", "{}", "{}"), "rustc says {}");
    refused("other_code", &pair("E0308", undeclared, "{}"), "rustc says {\"E0425\"}");
    refused("one_more", &pair("E0308", "{ undeclared(); let x: u8 = \"\"; }", "{}"), "E0425");
    refused("bad_twin", &pair("E0308", mistyped, undeclared), "its twin does not compile");
    refused("no_header", "fn main() {}", "its first line is not");
    let wordless = pair("E0308\n//@ says: of other things", mistyped, "{}");
    refused("wordless", &wordless, "rustc does not say \"of other things\"");
}
