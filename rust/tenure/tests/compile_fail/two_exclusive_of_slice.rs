//@ error: E0499
//@ says: cannot borrow `data` as mutable more than once at a time
//! Two exclusive views of one slice; `split_at` is how two parts are written at once.
use tenure::TensorViewMut;

fn main() {
    let mut data = vec![1.0_f32; 4];
    #[cfg(bad)]
    let mut first = TensorViewMut::from_slice(&mut data, [4]).unwrap();
    #[cfg(bad)]
    let mut second = TensorViewMut::from_slice(&mut data, [4]).unwrap();
    #[cfg(not(bad))]
    let (mut first, mut second) =
        TensorViewMut::from_slice(&mut data, [4]).unwrap().split_at(0, 2).unwrap();
    first.fill(0.0);
    second.fill(1.0);
}
