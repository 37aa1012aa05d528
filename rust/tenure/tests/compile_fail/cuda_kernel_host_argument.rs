//@ error: E0277
//! A kernel takes device memory and numbers, and no host memory.
use tenure::Result;
use tenure::cuda::{Grid, Kernel, Stream, Tensor};

fn run(
    stream: &Stream,
    kernel: &Kernel,
    a: &Tensor<f32>,
    host: &tenure::Tensor<f32>,
) -> Result<()> {
    let grid = Grid::covering([a.len()], [128]);
    #[cfg(bad)]
    stream.launch(kernel, grid, (host, 1.0_f32))?;
    #[cfg(not(bad))]
    stream.launch(kernel, grid, (a, 1.0_f32))?;
    let _ = host;
    Ok(())
}

fn main() {
    let _ = run;
}
