#![forbid(unsafe_code)]
//! The network of the digits in `f32`, in integers of 8 bits and in `bf16`, as one table: `./x demo
//! quantize`.
//!
//! `cargo run --release -p tenure-demo --bin quantize [PICTURE.svg]`

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use tenure_demo::{DATA, quantized};

fn main() -> Result<(), Box<dyn Error>> {
    let table = quantized::table(DATA)?;
    print!("{table}");
    if let Some(path) = env::args_os().nth(1).map(PathBuf::from) {
        fs::write(&path, table.report.to_svg())?;
        println!("a picture of it is {}", path.display());
    }
    Ok(())
}
