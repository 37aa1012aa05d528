//! Compiles the core and the C API from the list of sources that CMake reads too, or finds an
//! installed library.
//!
//! `TENURE_NO_VENDOR=1`, or the feature `vendored` switched off: link what `pkg-config tenure`
//! names instead of compiling. Crates that depend on this one directly find the folder of
//! `tenure/tenure.h` in `DEP_TENURE_INCLUDE`.
use std::path::{Path, PathBuf};
use std::{env, fs, process};

const NO_COMPILER: &str = "\
error: tenure-sys compiles C++20 and found no working C++ compiler.
  It needs g++ 11, clang 16 or a newer one (Debian, Ubuntu: apt install g++).
  CXX=name chooses another compiler; TENURE_NO_VENDOR=1 links an installed libtenure instead.";

const NO_LIBRARY: &str = "\
error: tenure-sys was told to link an installed libtenure and pkg-config did not find one.
  Install it from the source tree (cmake --install), and put its folder of tenure.pc on
  PKG_CONFIG_PATH; or unset TENURE_NO_VENDOR and enable the feature `vendored` to compile it.";

fn main() {
    for variable in ["TENURE_NO_VENDOR", "DOCS_RS"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    if is_set("TENURE_NO_VENDOR") || !is_set("CARGO_FEATURE_VENDORED") {
        // Neither documentation nor Miri links anything.
        if !is_set("DOCS_RS") && env::var_os("CARGO_CFG_MIRI").is_none() {
            link_installed();
        }
        return;
    }
    let root = source_root();
    publish_headers(&root);
    if !is_set("DOCS_RS") && env::var_os("CARGO_CFG_MIRI").is_none() {
        compile(&root);
    }
}

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty() && value != "0")
}

/// The folder that holds `core/` and `capi/`: this crate's own, where they are symbolic links in
/// the source tree and plain folders in a published crate. A checkout without symbolic links
/// (`core.symlinks=false`) has text files in their place, so there it is the repository's root.
fn source_root() -> PathBuf {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    if manifest.join("core").is_dir() { manifest } else { manifest.join("../..") }
}

/// Copies the headers to where they outlive this build script's view of the source tree.
fn publish_headers(root: &Path) {
    let include = out_dir().join("include");
    let to = include.join("tenure");
    fs::create_dir_all(&to).unwrap_or_else(|error| stop(&format!("{}: {error}", to.display())));
    for name in ["tenure.h", "annotations.h"] {
        let from = root.join("capi/include/tenure").join(name);
        fs::copy(&from, to.join(name))
            .unwrap_or_else(|error| stop(&format!("{}: {error}", from.display())));
    }
    println!("cargo::metadata=INCLUDE={}", include.display());
}

fn compile(root: &Path) {
    // Cargo watches a folder for any change below it. The folders above these hold documents.
    for watched in ["core/include", "core/src", "capi/include", "capi/src"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    let sources = read_list(root, "core/sources.txt");
    let (kernels, rest): (Vec<_>, Vec<_>) =
        sources.lines().partition(|source| source.starts_with("core/src/cpu/kernels/"));

    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++20")
        // Always: cc follows the user's profile, and kernels at -O0 make every debug build of a
        // dependent crate unusable. Debug information still follows the profile.
        .opt_level(3)
        .define("NDEBUG", None)
        // The compiler may be newer than any we have seen; our own builds turn warnings on.
        .warnings(false)
        .flag_if_supported("-fvisibility=hidden")
        .flag_if_supported("-fvisibility-inlines-hidden")
        // As in CMakeLists.txt, which says why.
        .flag_if_supported("-fno-math-errno")
        .flag_if_supported("-ffp-contract=off")
        .include(root.join("core/include"))
        .include(root.join("core/src"))
        .include(root.join("capi/include"));
    require_compiler(&build);
    for set in instruction_sets(root).lines() {
        let mut words = set.split_whitespace();
        let name = words.next().expect("no empty line");
        let mut of_set = build.clone();
        of_set
            .define("TENURE_ISA", name)
            // As in CMakeLists.txt, which says why.
            .flag_if_supported("-fno-exceptions")
            .files(kernels.iter().map(|source| root.join(source)))
            // Objects of one source have one name.
            .out_dir(out_dir().join(name));
        for flag in words {
            of_set.flag(flag);
        }
        if is_windows_gnu() {
            // As in CMakeLists.txt, which says why.
            of_set.flag_if_supported("-Wa,-muse-unaligned-vector-move");
        }
        let objects = of_set.compile_intermediates();
        build.objects(objects);
    }
    build.files(rest.iter().map(|source| root.join(source)));
    build.compile("tenure");
}

fn is_windows_gnu() -> bool {
    let is = |variable: &str, value: &str| env::var(variable).is_ok_and(|found| found == value);
    is("CARGO_CFG_TARGET_OS", "windows") && is("CARGO_CFG_TARGET_ENV", "gnu")
}

/// The sets that the kernels are compiled for: a line each, of a name and compiler flags.
fn instruction_sets(root: &Path) -> String {
    let sets = read_list(root, "core/instruction_sets.txt");
    let target = env::var("CARGO_CFG_TARGET_ARCH").expect("set by cargo");
    if target == "x86_64" { sets } else { "baseline".to_owned() }
}

fn read_list(root: &Path, name: &str) -> String {
    let path = root.join(name);
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(&path).unwrap_or_else(|error| stop(&format!("{}: {error}", path.display())))
}

fn out_dir() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"))
}

/// Says what is missing before cc says which of many commands failed.
fn require_compiler(build: &cc::Build) {
    let runs = build.try_get_compiler().is_ok_and(|compiler| {
        compiler.to_command().arg("--version").output().is_ok_and(|output| output.status.success())
    });
    if !runs {
        stop(NO_COMPILER);
    }
}

fn link_installed() {
    let version = env!("CARGO_PKG_VERSION");
    match pkg_config::Config::new().atleast_version(version).probe("tenure") {
        Ok(library) => {
            if let Some(include) = library.include_paths.first() {
                println!("cargo::metadata=INCLUDE={}", include.display());
            }
        }
        Err(error) => stop(&format!("{NO_LIBRARY}\n{error}")),
    }
}

fn stop(message: &str) -> ! {
    eprintln!("{message}");
    process::exit(1)
}
