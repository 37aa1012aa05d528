//@ error: none
//@ says: lifetime may not live long enough
//! A view's lifetime shrinks but never grows.
use tenure::TensorView;

#[cfg(bad)]
fn convert<'short>(view: TensorView<'short, f32>) -> TensorView<'static, f32> {
    view
}

#[cfg(not(bad))]
fn convert<'short>(view: TensorView<'static, f32>) -> TensorView<'short, f32> {
    view
}

fn main() {
    convert(TensorView::from_slice(&[1.0], [1]).unwrap());
}
