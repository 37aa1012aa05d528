//@ error: E0499
//! Two threads cannot write one view; they can write its halves.
use tenure::TensorViewMut;

fn main() {
    let mut data = vec![1.0_f32; 4];
    let mut view = TensorViewMut::from_slice(&mut data, [2, 2]).unwrap();
    #[cfg(bad)]
    let (mut left, mut right) = (view.view_mut(), view.view_mut());
    #[cfg(not(bad))]
    let (mut left, mut right) = view.view_mut().split_at(1, 1).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| left.fill(0.0));
        scope.spawn(|| right.fill(1.0));
    });
    view.fill(2.0);
}
