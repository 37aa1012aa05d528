#![forbid(unsafe_code)]
//! A network learns the handwritten digits and is saved as a program, for any other program to run:
//! `./x demo` runs it in C.
//!
//! `cargo run --release --features programs --example program [FILE.tnrp]`

mod network;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let classify = network::learned(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data"))?;
    if let Some(path) = std::env::args().nth(1) {
        save(&classify, &path)?;
    }
    Ok(())
}

#[cfg(feature = "programs")]
fn save(classify: &tenure::Program<(u8,), i64>, path: &str) -> Result<(), Box<dyn Error>> {
    classify.save(path)?;
    println!("saved as {path}");
    Ok(())
}

#[cfg(not(feature = "programs"))]
fn save(_: &tenure::Program<(u8,), i64>, path: &str) -> Result<(), Box<dyn Error>> {
    Err(format!("{path}: files of programs are the feature `programs`").into())
}
