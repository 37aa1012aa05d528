//! Memory that conversions take beyond what goes in and what comes out, and how a large one grows.

use bench::memory::{Curve, Growth, curve_of, peak_of, write};
use bench::sparse::{Sizes, bytes_of, normals};
use bench::{Scale, available_bytes, figures};
use tenure::{CsrMatrix, Result, Tensor, sparse_relu};

fn main() {
    let scale = Scale::asked_for();
    let large: &[usize] = match scale {
        Scale::Smoke => &[256],
        Scale::Quick => &[16384],
        Scale::Full => &[16384, 32768],
    };
    bench::print_machine();
    let mut rows = Vec::new();
    // Once before, on little: what is made at the first use of all is no part of a figure.
    conversions(Sizes::of(Scale::Smoke), &mut Vec::new()).expect("there is room");
    conversions(Sizes::of(scale), &mut rows).expect("there is room");
    large.iter().for_each(|side| rectified(*side, &mut rows));
    for row in &rows {
        println!("{}: {} bytes above the result of {}", row.operation, row.above(), row.output);
    }
    let name = "memory";
    write(&figures::folder(scale), name, &rows).expect("the target folder can be written");
    println!("\nWritten to {}/{name}.json", figures::folder(scale).display());
}

fn conversions(sizes: Sizes, rows: &mut Vec<Growth>) -> Result<()> {
    let matrix = sizes.uniform(10)?;
    let dense = matrix.to_dense()?;
    let bytes = (sizes.side * sizes.side * 4) as u64;
    let mut add = |operation: &str, input, output, peak: Option<u64>| {
        let Some(peak) = peak else { return };
        rows.push(grown(operation, input, output, peak, Vec::new()));
    };
    let made = peak_of(|| dense.to_csr());
    add("dense to CSR, 10 %", bytes, bytes_of(&matrix), made.map(|(_, peak)| peak));
    let made = peak_of(|| dense.to_coo());
    add("dense to COO, 10 %", bytes, matrix.nnz() as u64 * 12, made.map(|(_, peak)| peak));
    let made = peak_of(|| dense.to_csc());
    add("dense to CSC, 10 %", bytes, bytes_of(&matrix), made.map(|(_, peak)| peak));
    drop(dense);
    let made = peak_of(|| matrix.to_dense());
    add("CSR to dense, 10 %", bytes_of(&matrix), bytes, made.map(|(_, peak)| peak));
    Ok(())
}

/// The positive half of normal random numbers, to compressed rows: the growth over time.
fn rectified(side: usize, rows: &mut Vec<Growth>) {
    let (bytes, available) = ((side * side * 4) as u64, available_bytes());
    if available < bytes * 5 / 2 {
        println!("skipped: relu of {bytes} bytes into as many, with {available} available");
        return;
    }
    let mut numbers = vec![0.0_f32; side * side];
    normals(&mut numbers, 50);
    let dense = Tensor::from_vec(numbers, [side; 2]).expect("as many elements");
    let made: Option<(Result<CsrMatrix<f32>>, _, _)> = curve_of(|| sparse_relu(&dense));
    let Some((made, peak, curve)) = made else { return };
    let output = bytes_of(&made.expect("there is room"));
    rows.push(grown(&format!("relu to CSR, {side}^2"), bytes, output, peak, curve));
}

fn grown(operation: &str, input: u64, output: u64, peak: u64, curve: Curve) -> Growth {
    let (operation, library) = (operation.to_owned(), "tenure".to_owned());
    Growth { operation, library, input, output, peak, curve }
}
