//@ error: E0515
//! A matrix that is lent does not leave the function that has its values.
use tenure::CsrView;

#[cfg(bad)]
fn ones<'a>(offsets: &'a [i32], indices: &'a [i32]) -> CsrView<'a, f32> {
    let values = vec![1.0; indices.len()];
    CsrView::new(1, 1, offsets, indices, &values).unwrap()
}
#[cfg(not(bad))]
fn ones<'a>(offsets: &'a [i32], indices: &'a [i32], values: &'a [f32]) -> CsrView<'a, f32> {
    CsrView::new(1, 1, offsets, indices, values).unwrap()
}

fn main() {
    #[cfg(bad)]
    println!("{}", ones(&[0, 1], &[0]));
    #[cfg(not(bad))]
    println!("{}", ones(&[0, 1], &[0], &[1.0]));
}
