//@ error: E0502
//! A push could move the elements away under the view.
use tenure::TensorView;

fn main() {
    let mut data = vec![1.0_f32; 4];
    let view = TensorView::from_slice(&data, [4]).unwrap();
    #[cfg(not(bad))]
    println!("{view}");
    data.push(5.0);
    #[cfg(bad)]
    println!("{view}");
}
