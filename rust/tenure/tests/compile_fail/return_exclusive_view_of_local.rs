//@ error: E0515
//! A constructor with a lifetime of its own choice would hand out a `'static` view of a local.
//! The exclusive constructor takes its lifetime from the `&mut [T]`, as the shared one does.
use tenure::TensorViewMut;

#[cfg(bad)]
fn lend() -> TensorViewMut<'static, f32> {
    let mut data = vec![1.0_f32; 4];
    TensorViewMut::from_slice(&mut data, [4]).unwrap()
}

#[cfg(not(bad))]
fn lend() -> TensorViewMut<'static, f32> {
    let data = vec![1.0_f32; 4];
    TensorViewMut::from_slice(data.leak(), [4]).unwrap()
}

fn main() {
    lend().fill(0.0);
}
