//@ error: E0502
//! An output of a kernel is none of its inputs; a kernel may read its outputs.
use tenure::Result;
use tenure::cuda::{Grid, Kernel, Stream, Tensor};

fn run(stream: &Stream, kernel: &Kernel, mut a: Tensor<f32>) -> Result<()> {
    let grid = Grid::covering([a.len()], [128]);
    #[cfg(bad)]
    stream.launch(kernel, grid, (&a, &mut a))?;
    #[cfg(not(bad))]
    stream.launch(kernel, grid, (&mut a,))?;
    Ok(())
}

fn main() {
    let _ = run;
}
