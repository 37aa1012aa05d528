//@ error: E0499
//! Two exclusive views of one tensor.
use tenure::Tensor;

fn main() {
    let mut tensor = Tensor::<f32>::zeros([4]).unwrap();
    let mut first = tensor.view_mut();
    #[cfg(not(bad))]
    first.fill(0.0);
    let mut second = tensor.view_mut();
    second.fill(1.0);
    #[cfg(bad)]
    first.fill(0.0);
}
