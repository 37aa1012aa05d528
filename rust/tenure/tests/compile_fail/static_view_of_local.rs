//@ error: E0597
//! A local is not `'static`; a leaked Vec and a `static` are.
use tenure::TensorView;

#[cfg(not(bad))]
static DATA: [f32; 4] = [1.0; 4];

fn keep(_: TensorView<'static, f32>) {}

fn main() {
    #[cfg(bad)]
    let data = [1.0_f32; 4];
    #[cfg(bad)]
    keep(TensorView::from_slice(&data, [4]).unwrap());
    #[cfg(not(bad))]
    keep(TensorView::from_slice(&DATA, [4]).unwrap());
}
