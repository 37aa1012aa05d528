//@ error: E0502
//! A run writes the outputs that a captured program holds, so that no view of them is alive.
use tenure::Bound;
use tenure::cuda::Stream;
use tenure::program::Captured;

fn run(stream: &Stream, mut captured: Bound<(f32,), f32, Captured>) -> tenure::Result<Vec<f32>> {
    #[cfg(bad)]
    let out = captured.outputs();
    captured.run()?;
    #[cfg(not(bad))]
    let out = captured.outputs();
    stream.to_vec(out)
}

fn main() {
    let _ = run;
}
