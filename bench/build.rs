//! Compiles the C of the benches: the loops that call the library, and the kernels of the roofs
//! once per instruction set.
use std::env;

/// Name, bytes of a vector, flags of the compiler.
type Set = (&'static str, &'static str, &'static [&'static str]);

const PLAIN: Set = ("plain", "16", &[]);
const AVX2: Set = ("avx2", "32", &["-mavx2", "-mfma"]);
const AVX512: Set = ("avx512", "64", &["-mavx512f", "-mfma"]);

fn main() {
    println!("cargo::rerun-if-changed=src");
    optimised()
        .files(["src/call.c", "src/dlpack.c"])
        .include(env::var_os("DEP_TENURE_INCLUDE").expect("set by tenure-sys"))
        .compile("tenure_bench_call");

    let x86 = env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|name| name == "x86_64");
    for (set, width, flags) in if x86 { vec![PLAIN, AVX2, AVX512] } else { vec![PLAIN] } {
        optimised()
            .file("src/roofs/kernels.c")
            .define("SET", set)
            .define("WIDTH", width)
            .flags(flags)
            .flag("-ffp-contract=fast")
            // A loop that copies stays a loop: memcpy chooses its stores by itself.
            .flag("-fno-builtin")
            .flag_if_supported("-fno-tree-loop-distribute-patterns")
            .compile(&format!("tenure_roofs_{set}"));
    }
    if x86 {
        optimised()
            .file("src/roofs/products.c")
            .flags(["-mavx512f", "-mavx512bw", "-mavx512vnni", "-mavx512bf16"])
            .compile("tenure_roofs_products");
    }
}

/// Optimised in every profile: a figure of anything else says nothing.
fn optimised() -> cc::Build {
    let mut build = cc::Build::new();
    build.opt_level(3);
    build
}
