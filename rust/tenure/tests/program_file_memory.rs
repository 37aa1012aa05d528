//! A file with 90 MB of constants that is mapped: it is loaded without its pages. Alone in its
//! program, because memory is measured of the process.
#![cfg(all(feature = "programs", target_os = "linux"))]

#[allow(dead_code, reason = "tests take what they need")]
#[path = "program_file/graphs.rs"]
mod graphs;

use std::fs::{self, File};
use std::time::Instant;

use memmap2::Mmap;
use tenure::Program;
use tenure::program::file::{GraphRecord, ProgramFile};
use tenure_sys::{TNR_NODE_MATMUL, tnr_binary_op};

/// Bytes of this process that are in memory, those of mapped files too.
fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// 64 products in a row, with a bias each.
fn write(path: &std::path::Path) {
    const LAYERS: usize = 64;
    const WIDTH: usize = 600;
    let mut b = graphs::Builder::new();
    let rows = b.extent("rows", 8);
    let mut value = b.input(graphs::dtype_of::<f32>(), &[rows, WIDTH as i64]);
    for layer in 0..LAYERS {
        let weights = vec![layer as f32 / 4096.0; WIDTH * WIDTH];
        let weights = b.constant(&weights, &[WIDTH as i64, WIDTH as i64]);
        let bias = b.constant(&vec![0.5_f32; WIDTH], &[WIDTH as i64]);
        value = b.node(TNR_NODE_MATMUL, &[value, weights, bias], &[]);
    }
    let two = b.scalar(2.0_f32);
    let code = tenure_sys::TNR_NODE_BINARY | tnr_binary_op::MUL.0 as u32;
    value = b.node(code, &[value, two], &[]);
    b.output(value);
    GraphRecord::of(&b.finish(), &[]).unwrap().save(File::create(path).unwrap()).unwrap();
}

#[test]
fn loading_reads_no_constant() {
    let path = std::env::temp_dir().join(format!("tenure-large-{}.tnrp", std::process::id()));
    write(&path);
    let size_bytes = fs::metadata(&path).unwrap().len();
    assert!(size_bytes > 90_000_000, "{size_bytes}");
    let mapped = || {
        let file = File::open(&path).unwrap();
        // SAFETY: no other code knows the file.
        ProgramFile::new(unsafe { Mmap::map(&file) }.unwrap()).unwrap()
    };
    let load = || mapped().build(Vec::new()).unwrap();
    // The second load does not pay for what the first allocates for good; the map of the first is
    // gone, and its pages with it.
    drop(load());
    let copied = tenure::stats().copied_bytes;
    let before = resident_bytes();
    let start = Instant::now();
    let graph = load();
    let elapsed = start.elapsed();
    let grown = resident_bytes().saturating_sub(before);
    println!(
        "{:.1} MB mapped and loaded in {:.3} ms, {} KiB more resident",
        size_bytes as f64 / 1e6,
        elapsed.as_secs_f64() * 1e3,
        grown / 1024
    );
    assert!(grown < 1 << 20, "{grown} bytes more are resident");
    let before = resident_bytes();
    let program = Program::<(f32,), f32>::from_file(&mapped(), Vec::new()).unwrap();
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 1 << 20, "a program: {grown} bytes more are resident");
    assert_eq!(tenure::stats().copied_bytes, copied);
    drop(program);
    // All of the file stays mapped for the graph, and nothing else has it open.
    let record = GraphRecord::of(&graph, &[]).unwrap();
    let constants = record.constants();
    let last = constants[constants.len() - 2].downcast::<f32>().unwrap();
    assert_eq!(last.get([599, 599]), Some(&(63.0 / 4096.0)));
    fs::remove_file(path).unwrap();
}
