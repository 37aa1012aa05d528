//@ error: E0506
//! The owner of lent memory cannot write it while a view is in use.
use tenure::TensorView;

fn main() {
    let mut data = [1.0_f32; 4];
    let view = TensorView::from_slice(&data, [4]).unwrap();
    #[cfg(not(bad))]
    println!("{view}");
    data[0] = 2.0;
    #[cfg(bad)]
    println!("{view}");
    println!("{data:?}");
}
