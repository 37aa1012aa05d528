#![forbid(unsafe_code)]
//! k-means and principal components of the handwritten digits.
//!
//! `cargo run --release --features linalg --example kmeans_pca`

use tenure::ops::{add_assign, div, max, maximum, mean, mul, mul_assign, sub};
use tenure::{
    Axes, Result, Tensor,
    io::npy,
    linalg::{self, matmul},
    ops::{argmin, eq, sum},
};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/digits");

pub(crate) fn main() -> Result<()> {
    let digits: Tensor<f32> = npy::read_as(format!("{DATA}.npy"))?;
    let labels: Tensor<i64> = npy::read_as(format!("{DATA}.labels.npy"))?;
    let classes = Tensor::arange(0..10_i64)?;

    // k-means: |x - c|^2 is least where |c|^2 - 2 x.c is.
    let mut centers = digits.slice(0, ..10)?.to_tensor()?;
    let mut members = Tensor::zeros([10, 1797])?;
    for _ in 0..20 {
        let mut distances = matmul(&digits, centers.t())?;
        mul_assign(&mut distances, -2.0)?;
        add_assign(&mut distances, sum(mul(&centers, &centers)?, 1)?)?;
        let nearest = argmin(distances, 1)?;
        members = eq(classes.unsqueeze(1)?, &nearest)?.cast()?;
        let counts = maximum(sum(&members, Axes::keep(1))?, 1.0)?;
        centers = div(matmul(&members, &digits)?, counts)?;
    }
    let truth = eq(labels.unsqueeze(1)?, &classes)?.cast::<f32>()?;
    let purity = tenure::ops::sum_all(max(matmul(&members, truth)?, 1)?)? / 1797.0;
    println!("of {:.1} % the cluster's digit is their own", 100.0 * purity);

    // PCA: eigenvectors of the covariance, the largest last.
    let centred = sub(&digits, mean(&digits, 0)?)?;
    let [values, vectors] = linalg::eigh(matmul(centred.t(), &centred)?)?;
    let plane = matmul(&centred, vectors.slice(1, 62..)?.flip(1)?)?;
    let explained = tenure::ops::sum_all(values.slice(0, 62..)?)? / tenure::ops::sum_all(&values)?;
    println!("{:.1} % of the variance is in a plane; the first digits there:", 100.0 * explained);
    println!("{:.2}", plane.slice(0, ..4)?);
    assert!(purity > 0.75 && (0.28..0.30).contains(&explained));
    Ok(())
}
