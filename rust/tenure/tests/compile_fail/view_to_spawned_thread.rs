//@ error: E0597
//! A spawned thread may outlive the local; a scoped one cannot.
use tenure::TensorView;

fn main() {
    let data = vec![1.0_f32; 4];
    let view = TensorView::from_slice(&data, [4]).unwrap();
    #[cfg(bad)]
    std::thread::spawn(move || view.len());
    #[cfg(not(bad))]
    std::thread::scope(|scope| scope.spawn(move || view.len()).join().unwrap());
}
