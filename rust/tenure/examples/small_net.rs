#![forbid(unsafe_code)]
//! A network of two layers learns the handwritten digits by gradients written out.
//!
//! `cargo run --release --example small_net`

use tenure::{
    Activation, Loader, Matmul, Result, Tensor,
    io::npy,
    ops::{argmax, eq, gt},
};
use tenure::{
    linalg::{matmul, matmul_with},
    ops::{div, mean_all, mul_assign, sub, sub_assign, sum},
};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/digits");

fn layer(from: usize, to: usize) -> Result<Tensor<f32>> {
    let scale = (from as f32).sqrt();
    Tensor::from_fn([from, to], |[row, col]| {
        (1.0 + (row * to + col) as f32 * 12.9898).sin() / scale
    })
}

fn step(weights: &mut Tensor<f32>, mut gradient: Tensor<f32>) -> Result<()> {
    mul_assign(&mut gradient, 0.01)?;
    sub_assign(weights, gradient)
}

pub(crate) fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let pixels = div(npy::read_as::<f32>(format!("{DATA}.npy"))?, 16.0)?;
    let labels: Tensor<i64> = npy::read_as(format!("{DATA}.labels.npy"))?;
    let classes = Tensor::arange(0..10_i64)?;
    let [mut w1, mut w2] = [layer(64, 32)?, layer(32, 10)?];
    let [mut b1, mut b2] = [Tensor::zeros(32)?, Tensor::zeros(10)?];

    let (train, test) = (pixels.slice(0, ..1500)?, pixels.slice(0, 1500..)?);
    let mut batches = Loader::new((train, labels.slice(0, ..1500)?), 32)?.shuffle(1).serial()?;
    for _epoch in 0..40 {
        while let Some(batch) = batches.next() {
            let batch = batch?;
            let (x, y) = batch.views();
            let relu = Matmul::new().bias(&b1).activation(Activation::Relu);
            let hidden = matmul_with(x, &w1, relu)?;
            let sigmoid = Matmul::new().bias(&b2).activation(Activation::Sigmoid);
            let output = matmul_with(&hidden, &w2, sigmoid)?;
            // Cross-entropy of a sigmoid: its gradient before the sigmoid is a difference.
            let wanted = eq(y.unsqueeze(1)?, &classes)?.cast::<f32>()?;
            let d_output = sub(output, wanted)?;
            let mut d_hidden = matmul(&d_output, w2.t())?;
            mul_assign(&mut d_hidden, gt(&hidden, 0.0)?.cast::<f32>()?)?;
            step(&mut w2, matmul(hidden.t(), &d_output)?)?;
            step(&mut b2, sum(&d_output, 0)?)?;
            step(&mut w1, matmul(x.t(), &d_hidden)?)?;
            step(&mut b1, sum(&d_hidden, 0)?)?;
        }
    }

    let relu = Matmul::new().bias(&b1).activation(Activation::Relu);
    let scores = matmul_with(matmul_with(test, &w1, relu)?, &w2, Matmul::new().bias(&b2))?;
    let right = eq(argmax(scores, 1)?, labels.slice(0, 1500..)?)?.cast::<f32>()?;
    let accuracy = mean_all(right)?;
    println!("{:.1} % of 297 digits that it has not seen", 100.0 * accuracy);
    assert!(accuracy > 0.9);
    Ok(())
}
