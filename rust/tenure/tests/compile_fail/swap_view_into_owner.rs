//@ error: E0308
//! A view cannot be swapped for an owner: they are unrelated types.
use tenure::Tensor;

fn main() {
    let mut inner = Tensor::<f32>::zeros([4]).unwrap();
    let mut outer = Tensor::<f32>::zeros([8]).unwrap();
    #[cfg(bad)]
    std::mem::swap(&mut outer, &mut inner.view_mut());
    #[cfg(not(bad))]
    std::mem::swap(&mut outer, &mut inner);
}
