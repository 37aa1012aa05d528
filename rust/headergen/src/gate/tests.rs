//! The gates of a source with items of several versions, and the effect of the gates in a compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::generate::generate_from;

/// Items of three versions, in an order that opens and closes gates of every kind.
const SOURCE: &str = r#"
use core::ffi::c_void;
// ==== all.h: all ====
/// Major.
pub const TNR_ABI_MAJOR: u32 = 0;
/// Minor.
pub const TNR_ABI_MINOR: u32 = 3;
/// From the start.
pub const TNR_OLD: u32 = 1;
/// Added later.
///
/// @since 0.3
pub const TNR_NEWER: u32 = 2;
/// A number.
#[repr(transparent)]
pub struct tnr_number(pub i32);
impl tnr_number {
    /// From the start.
    pub const A: tnr_number = tnr_number(1);
    /// Added later.
    ///
    /// @since 0.2
    pub const B: tnr_number = tnr_number(2);
}
/// A handle added later.
///
/// @since 0.2
#[cfg_attr(all(), repr(C))]
pub struct tnr_thing {
    _opaque: [u8; 0],
}
/// A callback added later; its comment has a (*pointer) in it.
///
/// @since 0.2
pub type tnr_call_fn = Option<unsafe extern "C" fn(user: *mut c_void)>;
/// A struct that grew twice; its comment has a (*pointer) in it.
#[repr(C)]
pub struct tnr_sized {
    /// `sizeof(tnr_sized)`.
    pub struct_size: u64,
    /// From the start (*always);
    pub a: [u32; 2],
    /// Added later.
    ///
    /// @since 0.2
    pub b: *const c_void,
    /// Added later.
    ///
    /// @since 0.3
    pub c: u64,
    /// Added later.
    ///
    /// @since 0.3
    pub d: [u64; 2],
}
unsafe extern "C" {
    /// Gives it up.
    /// @param thing (transfer full) (nullable)
    /// @threads any
    /// @since 0.2
    pub fn tnr_thing_release(thing: *mut tnr_thing) -> tnr_number;
    /// Makes one.
    /// @return (transfer full)
    /// @threads any
    /// @since 0.3
    #[must_use]
    pub fn tnr_thing_create() -> *mut tnr_thing;
    /// Calls it.
    /// @param call (nullable) (scope call)
    /// @threads any
    /// @since 0.2
    pub fn tnr_call(call: tnr_call_fn) -> tnr_number;
    /// Does it.
    /// @param sized (transfer none) (inout)
    /// @threads any
    /// @since 0.1
    pub fn tnr_old(sized: *mut tnr_sized) -> tnr_number;
}
"#;

/// A folder of this test's own, with the header of SOURCE in it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("headergen-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("tenure")).expect("the temporary folder takes a folder");
        let folder = Folder(path);
        let root = crate::root();
        let config = root.join("rust/tenure-sys/cbindgen.toml");
        let generated = generate_from(SOURCE, &config).expect("the source of a test is Rust");
        assert_eq!(generated.problems, vec![]);
        let annotations = root.join("capi/include/tenure/annotations.h");
        std::fs::copy(annotations, folder.0.join("tenure/annotations.h")).expect("copied");
        for (name, text) in generated.files.iter().filter(|(name, _)| name.ends_with(".h")) {
            let name = Path::new(name).file_name().expect("a header has a name");
            std::fs::write(folder.0.join("tenure").join(name), text).expect("written");
        }
        folder
    }

    fn header(&self) -> String {
        std::fs::read_to_string(self.0.join("tenure/all.h")).expect("it was written")
    }

    /// Compiles a program that asks for `minor`; the compiler's messages on failure. None: no
    /// compiler was found.
    fn compile(&self, minor: &str, program: &str) -> Option<Result<(), String>> {
        let file: &Path = &self.0.join("program.c");
        let text = format!("#include <tenure/tenure.h>\n{program}\n");
        std::fs::write(file, text).expect("the folder takes a file");
        let output = Command::new("cc")
            .args(["-std=c11", "-Wall", "-Wextra", "-pedantic-errors", "-Werror", "-fsyntax-only"])
            .arg(format!("-DTNR_WANT_MINOR={minor}"))
            .arg("-I")
            .arg(&self.0)
            .arg(file)
            .output()
            .ok()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Some(if output.status.success() { Ok(()) } else { Err(said) })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn newer_declarations_stand_in_gates() {
    let header = Folder::new("gates").header();
    for expected in [
        "#define TNR_OLD 1  /**< From the start. */\n\n#if TNR_WANT_MINOR >= 3\n/**\n * Added later.\n *\n * @since 0.3\n */\n\
         #define TNR_NEWER 2\n#endif\n",
        "#define TNR_NUMBER_A 1  /**< From the start. */\n#if TNR_WANT_MINOR >= 2\n",
        "  uint32_t a[2];  /**< From the start (*always); */\n#if TNR_WANT_MINOR >= 2\n  /**\n   * Added later.\n",
        "  const void *b;\n#endif\n#if TNR_WANT_MINOR >= 3\n  /**\n",
        "  uint64_t d[2];\n#endif\n} tnr_sized;\n",
        "tnr_number tnr_thing_release(tnr_thing *thing TNR_OWNED) TNR_NOEXCEPT;\n#endif\n\n\
         #if TNR_WANT_MINOR >= 3\n/**\n * Makes one.",
        "#define TNR_WANT_MINOR 3\n#endif\n#if TNR_WANT_MINOR < 1 || TNR_WANT_MINOR > 3\n\
         #error \"TNR_WANT_MINOR must be 1 to 3: this tenure.h is of ABI 0.3\"\n#endif\n",
    ] {
        assert!(header.contains(expected), "missing:\n{expected}\nfrom:\n{header}");
    }
    let opened = header.lines().filter(|line| line.starts_with("#if")).count();
    let closed = header.lines().filter(|line| line.starts_with("#endif")).count();
    assert_eq!(opened, closed);
}

#[test]
fn a_program_that_asks_for_an_older_minor_sees_no_newer_name() {
    let folder = Folder::new("programs");
    if folder.compile("3", "int a;").is_none() {
        println!("skipped: there is no C compiler");
        return;
    }
    for (since, name, program) in [
        (1, "TNR_OLD", "int a = TNR_OLD;"),
        (3, "TNR_NEWER", "int a = TNR_NEWER;"),
        (1, "TNR_NUMBER_A", "tnr_number a = TNR_NUMBER_A;"),
        (2, "TNR_NUMBER_B", "tnr_number a = TNR_NUMBER_B;"),
        (2, "tnr_thing", "tnr_thing *a;"),
        (2, "tnr_call_fn", "tnr_call_fn a;"),
        (1, "a", "uint32_t f(tnr_sized *s) { return s->a[0]; }"),
        (2, "b", "const void *f(tnr_sized *s) { return s->b; }"),
        (3, "d", "uint64_t f(tnr_sized *s) { return s->d[0]; }"),
        (1, "tnr_old", "tnr_number f(tnr_sized *s) { return tnr_old(s); }"),
        (2, "tnr_thing_release", "tnr_number f(void) { return tnr_thing_release(0); }"),
        (3, "tnr_thing_create", "int f(void) { return tnr_thing_create() == 0; }"),
    ] {
        for minor in [since - 1, since].into_iter().filter(|minor| *minor > 0) {
            let said = folder.compile(&minor.to_string(), program).expect("there was a compiler");
            match said {
                Ok(()) => assert!(minor >= since, "{name} is seen by one who asks for {minor}"),
                Err(said) => {
                    assert!(
                        minor < since,
                        "{name} is not seen by one who asks for {minor}: {said}"
                    );
                    assert!(said.contains(name), "{said}");
                }
            }
        }
    }
    for (minor, size) in [("1", 16), ("2", 24), ("3", 48)] {
        let program = format!("_Static_assert(sizeof(tnr_sized) == {size}, \"\");");
        assert_eq!(folder.compile(minor, &program), Some(Ok(())));
    }
    for minor in ["0", "4"] {
        let said = folder.compile(minor, "int a;").expect("there was a compiler");
        assert!(said.expect_err("no such minor").contains("this tenure.h is of ABI 0.3"));
    }
}

#[test]
fn the_examples_of_the_headers_compile() {
    let headers = crate::root().join("capi/include");
    let mut count = 0;
    for entry in std::fs::read_dir(headers.join("tenure")).expect("the headers are there") {
        let path = entry.expect("it can be read").path();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let Some((_, example)) = text.split_once("\n * ```c\n") else { continue };
        let (example, _) = example.split_once("\n * ```\n").expect("the example ends");
        let lines = example.lines().map(|line| line.trim_start_matches(" *"));
        let name = path.file_name().and_then(|name| name.to_str()).expect("a header has a name");
        let program = format!(
            "#include <stdio.h>\n#include <tenure/{name}>\nvoid example(void);\nvoid example(void) {{\n{}\n}}\n",
            lines.collect::<Vec<_>>().join("\n")
        );
        let file = std::env::temp_dir().join(format!("headergen-{}-{name}.c", std::process::id()));
        std::fs::write(&file, program).expect("the temporary folder takes a file");
        let output = Command::new("cc")
            .args(["-std=c99", "-Wall", "-Wextra", "-Wno-missing-field-initializers"])
            .args(["-Wno-unused-but-set-variable", "-Werror", "-fsyntax-only", "-I"])
            .arg(&headers)
            .arg(&file)
            .output();
        let _ = std::fs::remove_file(&file);
        let Ok(output) = output else {
            println!("skipped: there is no C compiler");
            return;
        };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "the example of {name}: {said}");
        count += 1;
    }
    assert_eq!(count, 6);
}
