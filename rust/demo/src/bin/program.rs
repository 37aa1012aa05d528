#![forbid(unsafe_code)]
//! A network learns the handwritten digits, tells what each step of it costs, and is saved as a
//! program, for any other program to run, with a picture of its steps: `./x demo` runs it in C.
//!
//! `cargo run --release -p tenure-demo --bin program [FILE.tnrp]`

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use tenure::Tensor;
use tenure_demo::{DATA, learned};

fn main() -> Result<(), Box<dyn Error>> {
    let classify = learned::learned(DATA)?;
    let report = classify.measure((&Tensor::zeros([64, 64])?,), 20)?;
    println!("64 digits, {} bytes between the steps at most", report.memory.peak_bytes);
    print!("{report}");
    if let Some(path) = env::args().nth(1) {
        classify.save(&path)?;
        let picture = Path::new(&path).with_extension("svg");
        fs::write(&picture, report.to_svg())?;
        println!("saved as {path}, and a picture of its steps as {}", picture.display());
    }
    Ok(())
}
