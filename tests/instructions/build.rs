//! Tells the program which compiler it was made by: counts of another one are no measure.
use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var_os("RUSTC").expect("set by cargo");
    let output = Command::new(rustc).arg("--version").output().expect("cargo has just run it");
    // "rustc 1.95.0 (59807616e 2026-04-14)"
    let line = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = line.split(" (").next().unwrap_or_default().trim();
    println!("cargo::rustc-env=INSTRUCTIONS_RUSTC={version}");
}
