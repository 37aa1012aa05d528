//@ error: E0277
//@ says: cannot be lent as a view of `f32` elements
//! Dtypes never mix by themselves: a cast is written out.
use tenure::Tensor;

fn main() {
    let a = Tensor::<f32>::zeros([4]).unwrap();
    let b = Tensor::<f64>::zeros([4]).unwrap();
    #[cfg(bad)]
    tenure::ops::add(&a, &b).unwrap();
    #[cfg(not(bad))]
    tenure::ops::add(tenure::ops::cast::<f64, _>(&a).unwrap(), &b).unwrap();
}
