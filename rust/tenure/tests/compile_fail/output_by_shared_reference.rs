//@ error: E0308
//! An output is passed by `&mut`: a signature that takes `out: &Tensor` writes behind a promise.
use tenure::Tensor;

fn main() {
    let a = Tensor::<f32>::full([4], 1.0).unwrap();
    let mut out = Tensor::<f32>::zeros([4]).unwrap();
    #[cfg(bad)]
    tenure::ops::copy_into(&a, &out).unwrap();
    #[cfg(not(bad))]
    tenure::ops::copy_into(&a, &mut out).unwrap();
    out = a;
    println!("{out}");
}
