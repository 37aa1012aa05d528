//@ error: E0515
//@ says: cannot return value referencing local variable `data`
//! A function cannot return a view of its own local.
use tenure::TensorView;

#[cfg(bad)]
fn lend<'a>() -> TensorView<'a, f32> {
    let data = vec![1.0_f32; 4];
    TensorView::from_slice(&data, [4]).unwrap()
}

#[cfg(not(bad))]
fn lend<'a>(data: &'a [f32]) -> TensorView<'a, f32> {
    TensorView::from_slice(data, [4]).unwrap()
}

fn main() {
    #[cfg(bad)]
    lend();
    #[cfg(not(bad))]
    lend(&[1.0; 4]);
}
