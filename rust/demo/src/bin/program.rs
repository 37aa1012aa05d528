#![forbid(unsafe_code)]
//! A network learns the handwritten digits, reports the cost of each of its steps, and is saved as a
//! program for any other program to run, with pictures of its steps and of its losses: `./x demo`
//! runs it in C.
//!
//! `cargo run --release -p tenure-demo --bin program [FILE.tnrp]`

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use tenure::Tensor;
use tenure_demo::{DATA, learned};

fn main() -> Result<(), Box<dyn Error>> {
    let step = learned::step()?;
    let (classify, losses, _) = learned::learned_by(&step, learned::first_states(None)?, DATA)?;
    let report = classify.measure((&Tensor::zeros([64, 64])?,), 20)?;
    println!("64 digits, {} bytes between the steps at most", report.memory.peak_bytes);
    print!("{report}");
    if let Some(path) = env::args().nth(1) {
        classify.save(&path)?;
        let picture = Path::new(&path).with_extension("svg");
        fs::write(&picture, report.to_svg())?;
        step.save(Path::new(&path).with_extension("step.tnrp"))?;
        let curve = Path::new(&path).with_extension("losses.svg");
        learned::draw_losses(&curve, &losses)?;
        println!("saved as {path}, a picture of its steps as {}", picture.display());
        println!("and the losses of its training as {}", curve.display());
    }
    Ok(())
}
