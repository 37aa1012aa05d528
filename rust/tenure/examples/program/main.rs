#![forbid(unsafe_code)]
//! A network learns the handwritten digits, tells what each step of it costs, and is saved as a
//! program, for any other program to run, with a picture of its steps: `./x demo` runs it in C.
//!
//! `cargo run --release --features programs --example program [FILE.tnrp]`

mod network;

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use tenure::{Program, Tensor};

fn main() -> Result<(), Box<dyn Error>> {
    let classify = network::learned(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data"))?;
    let report = classify.measure((&Tensor::zeros([64, 64])?,), 20)?;
    println!("64 digits, {} bytes between the steps at most", report.memory.peak_bytes);
    print!("{report}");
    if let Some(path) = env::args().nth(1) {
        save(&classify, &path)?;
        let picture = Path::new(&path).with_extension("svg");
        fs::write(&picture, report.to_svg())?;
        println!("saved as {path}, and a picture of its steps as {}", picture.display());
    }
    Ok(())
}

#[cfg(feature = "programs")]
fn save(classify: &Program<(u8,), i64>, path: &str) -> Result<(), Box<dyn Error>> {
    Ok(classify.save(path)?)
}

#[cfg(not(feature = "programs"))]
fn save(_: &Program<(u8,), i64>, path: &str) -> Result<(), Box<dyn Error>> {
    Err(format!("{path}: files of programs are the feature `programs`").into())
}
