//! Compiles the loop that calls the library from C.
use std::env;

fn main() {
    println!("cargo::rerun-if-changed=src/call.c");
    cc::Build::new()
        .file("src/call.c")
        .include(env::var_os("DEP_TENURE_INCLUDE").expect("set by tenure-sys"))
        .opt_level(3)
        .compile("tenure_bench_call");
}
