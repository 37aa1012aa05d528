#![forbid(unsafe_code)]
//! Tenure on real data: 1797 handwritten digits, borrowed from the bytes of their file.
//!
//! `cargo run --release -p tenure-demo --bin digits [FILE.npy]`

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use tenure_demo::digits::tour;

fn main() -> ExitCode {
    let path = std::env::args_os().nth(1).map_or_else(tour::default_path, PathBuf::from);
    let mut out = io::stdout().lock();
    match tour::run(&path, &mut out).and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("digits: {}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}
