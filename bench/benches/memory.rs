//! Memory that operations take in addition to their inputs and results: element-wise ones and a
//! normalization in place, into preallocated memory and into a new array, and conversions of sparse
//! matrices; a large conversion is followed over time.

use bench::memory::{Curve, Growth, curve_of, peak_of, write};
use bench::sparse::{Sizes, bytes_of, normals};
use bench::{Scale, available_bytes, figures};
use tenure::{CsrMatrix, LayerNorm, Result, Tensor, sparse::sparse_relu, stats};

fn main() {
    let scale = Scale::asked_for();
    let (large, count): (&[usize], usize) = match scale {
        Scale::Smoke => (&[256], 1 << 16),
        Scale::Quick => (&[16384], 1 << 26),
        Scale::Full => (&[16384, 32768], 1 << 26),
    };
    bench::print_machine();
    let mut rows = Vec::new();
    // First with small arrays: allocations at the first use are no part of a figure.
    element_wise(1 << 12, &mut Vec::new()).expect("there is room");
    conversions(Sizes::of(Scale::Smoke), &mut Vec::new()).expect("there is room");
    element_wise(count, &mut rows).expect("there is room");
    conversions(Sizes::of(scale), &mut rows).expect("there is room");
    large.iter().for_each(|side| rectified(*side, &mut rows));
    for row in &rows {
        println!("{}: {} bytes above the result of {}", row.operation, row.above(), row.output);
    }
    let name = "memory";
    write(&figures::folder(scale), name, &rows).expect("the target folder can be written");
    println!("\nWritten to {}/{name}.json", figures::folder(scale).display());
}

/// Existing arrays of `count` f32, and the growth of the process. The counter of allocated bytes
/// agrees: nothing, or the new array.
fn element_wise(count: usize, rows: &mut Vec<Growth>) -> Result<()> {
    let bytes = (count * 4) as u64;
    let filled = |number: f32| Tensor::from_vec(vec![number; count], [count / ROW, ROW]);
    let (mut a, b, mut out) = (filled(1.0)?, filled(2.0)?, filled(3.0)?);
    let mut add = |operation: &str, arrays: u64, output: u64, work: &mut dyn FnMut() -> Made| {
        let before = stats().allocated_bytes;
        let Some((made, peak)) = peak_of(work) else { return Ok(()) };
        let _new = made?;
        let allocated = stats().allocated_bytes - before;
        assert_eq!(allocated, output, "{operation} allocates");
        rows.push(grown(operation, arrays * bytes, output, peak, Vec::new()));
        Ok(())
    };
    let there = |done: Result<()>| done.map(|()| None);
    add("add, in place", 2, 0, &mut || there(tenure::ops::add_assign(&mut a, &b)))?;
    let into = "add, into memory that is there";
    add(into, 3, 0, &mut || there(tenure::ops::add_into(&a, &b, &mut out)))?;
    add("add, into a new array", 2, bytes, &mut || tenure::ops::add(&a, &b).map(Some))?;
    add("relu, in place", 1, 0, &mut || there(tenure::nn::relu_assign(&mut a)))?;
    let into = "relu, into memory that is there";
    add(into, 2, 0, &mut || there(tenure::nn::relu_into(&a, &mut out)))?;
    add("relu, into a new array", 1, bytes, &mut || tenure::nn::relu(&a).map(Some))?;

    let with = LayerNorm::new();
    let assigned = &mut || there(tenure::nn::layer_norm_assign(&mut a, 1, with));
    add("layer_norm of rows, in place", 1, 0, assigned)?;
    let into = "layer_norm of rows, into memory that is there";
    add(into, 2, 0, &mut || there(tenure::nn::layer_norm_into(&a, 1, with, &mut out)))?;
    let new = &mut || tenure::nn::layer_norm(&a, 1, with).map(Some);
    add("layer_norm of rows, into a new array", 1, bytes, new)
}

/// Elements of each row that is normalized.
const ROW: usize = 4096;

/// A new array, or none.
type Made = Result<Option<Tensor<f32>>>;

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
