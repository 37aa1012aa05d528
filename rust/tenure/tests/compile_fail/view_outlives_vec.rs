//@ error: E0505
//! A Vec cannot be dropped while a view of it is in use.
use tenure::TensorView;

fn main() {
    let data = vec![1.0_f32; 4];
    let view = TensorView::from_slice(&data, [2, 2]).unwrap();
    #[cfg(bad)]
    drop(data);
    println!("{view}");
}
