//! Whether the test was compiled with a sanitizer.

/// A sanitizer brings a malloc of its own, linked into the program: no preloaded one replaces it,
/// and the core takes all of its memory from there.
pub fn owns_malloc() -> bool {
    option_env!("RUSTFLAGS").is_some_and(|flags| flags.contains("sanitizer"))
}
