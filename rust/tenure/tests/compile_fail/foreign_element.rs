//@ error: E0277
//@ says: Sealed
//! Only the crate says which types are elements: a wrong size or dtype would read out of bounds.
use tenure::{DType, Element, TensorView};

#[derive(Clone, Copy)]
struct Pair([f32; 2]);

// Even an `unsafe impl` is refused.
// SAFETY: none is claimed: it does not compile.
#[cfg(bad)]
unsafe impl Element for Pair {
    const DTYPE: DType = DType::F32;
}

fn dtype_of<T: Element>(_: &T) -> DType {
    T::DTYPE
}

fn main() {
    let pair = Pair([1.0, 2.0]);
    println!("{:?}", dtype_of(&pair.0[0]));
    TensorView::from_slice(&pair.0, [2]).unwrap();
}
