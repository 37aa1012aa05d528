//! Compiles the core and the C API with the sources that CMake uses too.
use std::path::PathBuf;

fn main() {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    // Where git could not make the links (core.symlinks=false) they are files: look beside.
    let root = if manifest.join("core").is_dir() { manifest } else { manifest.join("../..") };
    let list = std::fs::read_to_string(root.join("core/sources.txt")).expect("core/sources.txt");
    println!("cargo::rerun-if-changed={}", root.join("core").display());
    println!("cargo::rerun-if-changed={}", root.join("capi").display());
    cc::Build::new()
        .cpp(true)
        .std("c++20")
        .opt_level(3)
        .include(root.join("core/include"))
        .include(root.join("core/src"))
        .include(root.join("capi/include"))
        .files(list.lines().filter(|line| !line.is_empty()).map(|line| root.join(line)))
        .compile("tenure");
}
