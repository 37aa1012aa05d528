//@ error: E0716
//! A view cannot be taken of a Vec that dies with the statement.
use tenure::TensorView;

fn main() {
    #[cfg(not(bad))]
    let data = vec![1.0_f32];
    #[cfg(bad)]
    let view = TensorView::from_slice(&Vec::from([1.0_f32]), [1]).unwrap();
    #[cfg(not(bad))]
    let view = TensorView::from_slice(&data, [1]).unwrap();
    println!("{view}");
}
