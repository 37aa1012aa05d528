//! The weights of a mapped file, shared by two threads and never copied.
//!
//! `cargo run --release --example shared_weights`

use std::fs::File;
use std::thread;

use tenure::{SharedTensor, Tensor, io::safetensors, linalg::matmul};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join(format!("tenure-{}.safetensors", std::process::id()));
    let weights = Tensor::from_fn([256, 64], |[row, col]| (row + col) as f32)?;
    safetensors::Writer::new().save(&path, &[("weights", (&weights).into())])?;

    // SAFETY: nobody else has this file, which is removed below, so that nothing changes it.
    let map = unsafe { memmap2::Mmap::map(&File::open(&path)?) }?;
    std::fs::remove_file(&path)?;
    let mapped = map.as_ptr_range();
    let shared: SharedTensor<f32> = safetensors::Shared::new(map)?.tensor("weights")?;
    assert!(mapped.contains(&shared.as_ptr().cast()));

    let copied = tenure::stats().copied_bytes;
    let sums = [0.5, 2.0].map(|value| {
        let weights = shared.clone(); // the same memory
        thread::spawn(move || {
            let batch = Tensor::full([8, 256], value)?;
            tenure::ops::sum_all(matmul(&batch, &weights)?)
        })
    });
    for sum in sums {
        println!("{}", sum.join().expect("it does not panic")?);
    }
    assert_eq!(tenure::stats().copied_bytes, copied);
    Ok(())
}
