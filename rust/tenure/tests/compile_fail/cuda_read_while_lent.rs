//@ error: E0502
//! What a stream writes is read when the scope has ended.
use tenure::cuda::{self, Stream};
use tenure::{Result, Tensor};

fn first(stream: &Stream, a: &cuda::Tensor<f32>, host: &mut Tensor<f32>) -> Result<f32> {
    let first = stream.scope(|scope| {
        scope.download_into(a, host.view_mut())?;
        #[cfg(bad)]
        return Ok(host[[0]]);
        #[cfg(not(bad))]
        Ok(0.0)
    })?;
    Ok(first + host[[0]])
}

fn main() {
    let _ = first;
}
