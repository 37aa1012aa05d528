#![forbid(unsafe_code)]
//! An array of `ndarray` through the library to a file of NumPy and back, copied by nobody.
//!
//! `cargo run --release --features ndarray --example ndarray_numpy`

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};
use tenure::{Tensor, TensorView, io::npy};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut table = Array2::from_shape_fn((4, 3), |(row, col)| (3 * row + col) as f64);
    let means = tenure::ops::mean(&table, 0)?; // an operand as it is
    tenure::ops::sub_assign(&mut table, &means)?; // and an output

    let path = std::env::temp_dir().join(format!("tenure-{}.npy", std::process::id()));
    npy::save(&path, TensorView::try_from(table.t())?)?; // numpy.load(path)
    let mut read: Tensor<f64> = npy::read(&path)?;
    std::fs::remove_file(&path)?;
    ArrayViewMut2::try_from(read.view_mut())?.row_mut(0).fill(1.0);
    let columns = ArrayView2::try_from(read.view())?;
    println!("{columns}");
    assert_eq!(columns.sum_axis(Axis(1)).to_vec(), [4.0, 0.0, 0.0]);
    Ok(())
}
