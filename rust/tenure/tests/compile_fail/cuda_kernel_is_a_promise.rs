//@ error: E0133
//! Nobody can check the code of a kernel, so making one takes `unsafe`; launching it does not.
use tenure::Result;
use tenure::cuda::{Grid, Kernel, Stream, Tensor};

fn run(stream: &Stream, image: &[u8], tensor: &mut Tensor<f32>) -> Result<()> {
    #[cfg(bad)]
    let kernel = Kernel::load(stream, image, "scale", &[])?;
    #[cfg(not(bad))]
    // SAFETY: no code calls this function.
    let kernel = unsafe { Kernel::load(stream, image, "scale", &[]) }?;
    stream.launch(&kernel, Grid::covering([1], [1]), (tensor,))
}

fn main() {
    let _ = run;
}
