//@ error: E0277
//@ says: `bool` cannot be an element of a tensor
//! A kernel could leave a 2 in a `bool`; `Bool8` takes any byte.
#[cfg(not(bad))]
use tenure::Bool8;
use tenure::TensorView;

fn main() {
    #[cfg(bad)]
    let data = [true, false];
    #[cfg(not(bad))]
    let data = [Bool8::TRUE, Bool8::FALSE];
    TensorView::from_slice(&data, [2]).unwrap();
}
