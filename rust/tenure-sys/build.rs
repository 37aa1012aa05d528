//! Compiles the core and the C API from the list of sources that CMake reads too, or finds an
//! installed library.
//!
//! `TENURE_NO_VENDOR=1`, or the feature `vendored` switched off: link what `pkg-config tenure`
//! names instead of compiling. With the feature `onednn` the core has oneDNN as an engine: that of
//! the prefix `TENURE_ONEDNN_PREFIX` or `DNNLROOT`, else what `pkg-config dnnl` or the compiler's own
//! folders have; with `onednn-src` the one that it compiles. Crates that depend on this one directly find the folder of
//! `tenure/tenure.h` in `DEP_TENURE_INCLUDE`.
//!
//! `TENURE_CUDA_FAT_BINARY=file` (an absolute path): embed this file of kernels for GPUs. Without the
//! variable the file is that of the published crate, or of `./x kernels` in the source tree.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{env, fs, process, thread};

const NO_COMPILER: &str = "\
error: tenure-sys compiles C++20 and found no working C++ compiler.
  It needs g++ 11, clang 16 or a newer one (Debian, Ubuntu: apt install g++).
  CXX=name chooses another compiler; TENURE_NO_VENDOR=1 links an installed libtenure instead.";

const NO_LIBRARY: &str = "\
error: tenure-sys was told to link an installed libtenure and pkg-config did not find one.
  Install it from the source tree (cmake --install), and put its folder of tenure.pc on
  PKG_CONFIG_PATH; or unset TENURE_NO_VENDOR and enable the feature `vendored` to compile it.";

const NO_ONEDNN: &str = "\
error: tenure-sys compiles the engine oneDNN (feature `onednn`) and found no oneDNN 3.
  TENURE_ONEDNN_PREFIX=folder names where its include/dnnl.h and lib/libdnnl.so are; the feature
  `onednn-src` of tenure-sys compiles its sources instead, which takes half an hour.";

const FAT_BINARY_VARIABLE: &str = "TENURE_CUDA_FAT_BINARY";

fn main() {
    for variable in
        ["TENURE_NO_VENDOR", "DOCS_RS", "TENURE_ONEDNN_PREFIX", "DNNLROOT", FAT_BINARY_VARIABLE]
    {
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
    let manifest = manifest_folder();
    if manifest.join("core").is_dir() { manifest } else { manifest.join("../..") }
}

fn manifest_folder() -> PathBuf {
    PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"))
}

/// Copies the headers to where they outlive this build script's view of the source tree.
fn publish_headers(root: &Path) {
    let include = out_dir().join("include");
    let to = include.join("tenure");
    fs::create_dir_all(&to).unwrap_or_else(|error| stop(&format!("{}: {error}", to.display())));
    let from = root.join("capi/include/tenure");
    let entries =
        fs::read_dir(&from).unwrap_or_else(|error| stop(&format!("{}: {error}", from.display())));
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|extension| extension == "h") {
            fs::copy(&path, to.join(path.file_name().expect("a file of a folder has a name")))
                .unwrap_or_else(|error| stop(&format!("{}: {error}", path.display())));
        }
    }
    println!("cargo::metadata=INCLUDE={}", include.display());
}

fn compile(root: &Path) {
    // Cargo watches a folder for any change below it. The folders above these hold documents.
    for watched in ["core/include", "core/src", "capi/include", "capi/src"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    let sources = read_list(root, "core/sources.txt");
    let has_onednn = is_set("CARGO_FEATURE_ONEDNN");
    let (kernels, rest): (Vec<_>, Vec<_>) = sources
        .lines()
        .filter(|source| match *source {
            "core/src/engine/no_onednn.cpp" => !has_onednn,
            source => has_onednn || !source.starts_with("core/src/onednn/"),
        })
        .partition(|source| source.starts_with("core/src/cpu/kernels/"));

    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++20")
        // Always: cc follows the user's profile, and kernels at -O0 make every debug build of a
        // dependent crate unusable.
        .opt_level(3)
        // Objects with debug information are 20 times as large. CXXFLAGS=-g asks for it.
        .debug(false)
        .define("NDEBUG", None)
        // The compiler may be newer than any we have seen; our own builds turn warnings on.
        .warnings(false)
        .flag_if_supported("-fvisibility=hidden")
        .flag_if_supported("-fvisibility-inlines-hidden")
        // CMakeLists.txt has the same, and the reason.
        .flag_if_supported("-fno-math-errno")
        .flag_if_supported("-ffp-contract=off")
        .include(root.join("core/include"))
        .include(root.join("core/src"))
        .include(root.join("capi/include"))
        .include(root.join("capi/src"));
    require_compiler(&build);
    if has_onednn {
        link_onednn(&mut build);
    }

    let folder_flags = read_list(root, "core/folder_flags.txt");
    let mut units = folders(&rest)
        .into_iter()
        .map(|(folder, sources)| {
            let mut of_folder = build.clone();
            // CMakeLists.txt has the same, and the reason.
            for flag in flags_of(&folder_flags, folder) {
                of_folder.flag(flag);
            }
            if folder == "core/src/cuda" && is_linux() {
                // CMakeLists.txt has the same, and the reason.
                if let Some(path) = fat_binary() {
                    of_folder.define("TENURE_CUDA_FAT_BINARY", &*literal(&path));
                }
            }
            if folder == "core/src/cuda/compiled" && is_linux() {
                of_folder.define("TENURE_CUDA_FOLDER", &*literal(&root.join("core/src/cuda")));
            }
            let paths = sources.iter().map(|source| root.join(source)).collect::<Vec<_>>();
            Unit::of_folder(&of_folder, &paths)
        })
        .collect::<Vec<_>>();
    for set in instruction_sets(root).lines() {
        let mut words = set.split_whitespace();
        let name = words.next().expect("no empty line");
        let mut of_set = build.clone();
        // CMakeLists.txt has the same, and the reason.
        of_set.define("TENURE_ISA", name).flag_if_supported("-fno-exceptions");
        for flag in words {
            of_set.flag(flag);
        }
        if is_windows_gnu() {
            // CMakeLists.txt has the same, and the reason.
            of_set.flag_if_supported("-Wa,-muse-unaligned-vector-move");
        }
        units.extend(kernels.iter().map(|kernel| Unit::of_kernel(&of_set, name, root, kernel)));
    }
    build.objects(compile_units(units));
    build.compile("tenure");
}

/// One run of the compiler.
struct Unit {
    command: process::Command,
    object: PathBuf,
    source_bytes: u64,
}

impl Unit {
    /// All sources of a folder as one, so that the headers they share are read once.
    fn of_folder(build: &cc::Build, sources: &[PathBuf]) -> Self {
        let folder = sources[0].parent().expect("a file is in a folder");
        let name = folder.components().rev().take(3).fold(String::new(), |name, part| {
            format!("{}_{name}", part.as_os_str().to_string_lossy())
        });
        let joined = out_dir().join(name).with_extension("cpp");
        let text = sources.iter().fold(String::new(), |text, source| {
            format!("{text}#include \"{}\"\n", source.display())
        });
        fs::write(&joined, text)
            .unwrap_or_else(|error| stop(&format!("{}: {error}", joined.display())));
        Self::new(build, &joined, sources)
    }

    fn of_kernel(build: &cc::Build, set: &str, root: &Path, source: &str) -> Self {
        let source = root.join(source);
        let mut unit = Self::new(build, &source, std::slice::from_ref(&source));
        // Two folders may have files of one name.
        let folder = source.parent().and_then(Path::file_name).expect("below core/src/cpu/kernels");
        let stem = source.file_stem().expect("a source has a name");
        let name = [set, &folder.to_string_lossy(), &stem.to_string_lossy()].join("_");
        unit.object = out_dir().join(name).with_extension("o");
        unit
    }

    fn new(build: &cc::Build, source: &Path, parts: &[PathBuf]) -> Self {
        let mut command = build.get_compiler().to_command();
        command.arg("-c").arg(source);
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |metadata| metadata.len());
        Self {
            command,
            object: source.with_extension("o"),
            source_bytes: parts.iter().map(size).sum(),
        }
    }

    fn run(mut self) {
        let output = self.command.arg("-o").arg(&self.object).output();
        let output = output.unwrap_or_else(|error| stop(&format!("{:?}: {error}", self.command)));
        if !output.status.success() {
            let messages = String::from_utf8_lossy(&output.stderr);
            stop(&format!(
                "error: a source of tenure did not compile:\n{:?}\n{messages}",
                self.command
            ));
        }
    }
}

/// Compiles the units in one queue, the larger ones first, and returns their objects. Without
/// barriers between instruction sets no processor waits for the last unit of one.
fn compile_units(mut units: Vec<Unit>) -> Vec<PathBuf> {
    units.sort_by_key(|unit| std::cmp::Reverse(unit.source_bytes));
    let objects = units.iter().map(|unit| unit.object.clone()).collect();
    let jobs = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1);
    let queue = Mutex::new(units.into_iter());
    let next = || queue.lock().expect("no thread panics").next();
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(unit) = next() {
                    unit.run();
                }
            });
        }
    });
    objects
}

/// The sources of each folder, in the order of the list.
fn folders<'a>(sources: &[&'a str]) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut folders = BTreeMap::<_, Vec<_>>::new();
    for source in sources {
        let (folder, _) = source.rsplit_once('/').expect("each source is in a folder");
        folders.entry(folder).or_default().push(*source);
    }
    folders
}

/// Those of the lines that name the folder or one above it; of two, the compiler takes the last.
fn flags_of<'a>(lines: &'a str, folder: &'a str) -> impl Iterator<Item = &'a str> {
    lines
        .lines()
        .filter(|line| {
            let named = line.split_whitespace().next().expect("no empty line");
            folder.strip_prefix(named).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
        .flat_map(|line| line.split_whitespace().skip(1))
}

/// The file with the kernels for GPUs that the library embeds. `cmake/FatBinary.cmake` has the same
/// rules, besides the one for published crates.
fn fat_binary() -> Option<PathBuf> {
    if let Some(named) = env::var_os(FAT_BINARY_VARIABLE).filter(|name| !name.is_empty()) {
        let path = PathBuf::from(named);
        println!("cargo::rerun-if-changed={}", path.display());
        if !path.is_absolute() || !path.is_file() {
            stop(&format!(
                "error: {FAT_BINARY_VARIABLE} is {} but must be the absolute path of a file",
                path.display()
            ));
        }
        return Some(path);
    }
    let manifest = manifest_folder();
    // A symbolic link in the source tree, where a copy for a package may be left over.
    if fs::symlink_metadata(manifest.join("core")).is_ok_and(|core| core.is_dir()) {
        return Some(manifest.join("kernels.fatbin")).filter(|path| path.is_file());
    }
    let tree = manifest.join("../..");
    let [binary, lock] =
        ["kernels.fatbin", "kernels.lock"].map(|name| tree.join("build/cuda").join(name));
    // Cargo would run this script at each build if it watched a file that there is not. `./x kernels`
    // touches core/src/cuda, which is watched.
    if !binary.is_file() || !lock.is_file() {
        return None;
    }
    for path in [&binary, &lock] {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let is_current = process::Command::new("sha256sum")
        .args(["--check", "--status", "build/cuda/kernels.lock"])
        .current_dir(&tree)
        .status()
        .is_ok_and(|status| status.success());
    if !is_current {
        println!(
            "cargo::warning=without kernels for GPUs: build/cuda/kernels.fatbin is not of these \
             sources (run ./x kernels)"
        );
    }
    is_current.then_some(binary)
}

/// A path as a string of C++.
fn literal(path: &Path) -> String {
    let path =
        path.canonicalize().unwrap_or_else(|error| stop(&format!("{}: {error}", path.display())));
    format!("{:?}", path.display().to_string())
}

fn is_linux() -> bool {
    env::var("CARGO_CFG_TARGET_OS").is_ok_and(|found| found == "linux")
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

fn link_onednn(build: &mut cc::Build) {
    let prefix = ["TENURE_ONEDNN_PREFIX", "DNNLROOT"].into_iter().find(|name| is_set(name));
    if let Ok(include) = env::var("DEP_DNNL_INCLUDE_PATH") {
        // The crate links its library, but not the OpenMP that this needs.
        build.include(include);
        println!("cargo::rustc-link-lib=gomp");
    } else if let Some(prefix) = prefix.and_then(env::var_os).map(PathBuf::from) {
        build.include(prefix.join("include"));
        println!("cargo::rustc-link-search=native={}", prefix.join("lib").display());
        println!("cargo::rustc-link-lib=dnnl");
    } else if let Ok(library) = pkg_config::Config::new().atleast_version("3").probe("dnnl") {
        build.includes(library.include_paths);
    } else {
        println!("cargo::rustc-link-lib=dnnl");
    }
    // For the functions of OpenMP, which are found by name.
    println!("cargo::rustc-link-lib=dl");
    let header = out_dir().join("onednn.cpp");
    let text = "#include <dnnl.h>\n#if DNNL_VERSION_MAJOR < 3\n#error\n#endif\n";
    fs::write(&header, text)
        .unwrap_or_else(|error| stop(&format!("{}: {error}", header.display())));
    if let Err(error) = build.clone().file(&header).try_expand() {
        stop(&format!("{NO_ONEDNN}\n{error}"));
    }
}

fn link_installed() {
    let version = env!("CARGO_PKG_VERSION");
    match pkg_config::Config::new().atleast_version(version).probe("tenure") {
        Ok(library) => {
            if let Some(include) = library.include_paths.first() {
                println!("cargo::metadata=INCLUDE={}", include.display());
            }
            // A static library is copied into this crate's: installed anew, it is copied anew.
            for folder in &library.link_paths {
                let archive = folder.join("libtenure.a");
                if archive.exists() {
                    println!("cargo::rerun-if-changed={}", archive.display());
                }
            }
        }
        Err(error) => stop(&format!("{NO_LIBRARY}\n{error}")),
    }
}

fn stop(message: &str) -> ! {
    eprintln!("{message}");
    process::exit(1)
}
