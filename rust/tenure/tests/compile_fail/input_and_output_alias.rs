//@ error: E0502
//@ says: cannot borrow `tensor` as mutable because it is also borrowed as immutable
//! One tensor cannot be input and output of an `_into` operation; `_assign` is the in-place form.
use tenure::Tensor;

fn main() {
    let mut tensor = Tensor::<f32>::full([4], 1.0).unwrap();
    let other = Tensor::<f32>::full([4], 2.0).unwrap();
    #[cfg(bad)]
    tenure::ops::add_into(&tensor, &other, &mut tensor).unwrap();
    #[cfg(not(bad))]
    tenure::ops::add_assign(&mut tensor, &other).unwrap();
    println!("{tensor}");
}
