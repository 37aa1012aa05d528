//@ error: E0308
//! Memory is lent with its own type: bits of one are not read as another.
use tenure::TensorView;

fn main() {
    let data = [1_u32, 2, 3, 4];
    #[cfg(bad)]
    let view: TensorView<f32> = TensorView::from_slice(&data, [4]).unwrap();
    #[cfg(not(bad))]
    let view: TensorView<u32> = TensorView::from_slice(&data, [4]).unwrap();
    println!("{view}");
}
