//! The header and the archive, as a program in C has them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Names that follow `before`, up to the parenthesis.
fn functions(path: &str, is_declared: impl Fn(&str) -> bool) -> Vec<String> {
    let text = fs::read_to_string(here(path)).unwrap();
    let declared = text.lines().filter(|line| is_declared(line));
    let mut names: Vec<String> = declared
        .filter_map(|line| line.split('(').next()?.rsplit([' ', '*']).next())
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}

#[test]
fn the_header_has_the_functions_of_the_source() {
    let header = functions("include/tenure/program_file.h", |line| {
        line.contains("tnr_program_file_") && line.contains('(') && !line.starts_with([' ', '/'])
    });
    let source = functions("src/lib.rs", |line| line.contains("extern \"C\" fn"));
    assert_eq!(header, source);
    assert_eq!(header.len(), 3);
}

#[test]
#[cfg_attr(not(unix), ignore = "calls the system's C compiler as Unix has it")]
fn a_program_in_c_saves_and_loads() {
    // Cargo puts a test's archive beside the test's program, with the same hash for the same build:
    // the newest is that of this one.
    let folder = env::current_exe().unwrap().parent().unwrap().to_owned();
    let archives = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap()).filter(|entry| {
        let name = entry.file_name().into_string().unwrap_or_default();
        name.starts_with("libtenure_program_file") && name.ends_with(".a")
    });
    let archive = archives.max_by_key(|entry| entry.metadata().unwrap().modified().unwrap());
    let archive = archive.expect("cargo has made the archive").path();
    let program = folder.join("program_file_in_c");
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut words = compiler.split_whitespace();
    let mut compile = Command::new(words.next().unwrap());
    compile.args(words).args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread"]);
    for folder in ["include", "../../capi/include"] {
        compile.arg("-I").arg(here(folder));
    }
    compile.arg(here("tests/digits.c")).arg(&archive).arg("-o").arg(&program);
    // An archive without a core is linked beside a library that has it.
    if env::var_os("TENURE_NO_VENDOR").is_some() && env::var_os("TENURE_STATIC").is_none() {
        compile.arg("-ltenure");
    }
    compile.args(["-lstdc++", "-lm", "-ldl"]);
    assert!(compile.status().unwrap().success());
    let path = env::temp_dir().join(format!("tenure-in-c-{}.tnrp", std::process::id()));
    let output = Command::new(&program).arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!((said.trim(), output.status.code()), ("saved, loaded and run", Some(0)));
    fs::remove_file(path).unwrap();
}
