//@ error: E0505
//! An owner and a view of it cannot be moved into one struct; keep the owner and ask again.
use tenure::{Tensor, TensorView};

#[expect(unused)]
struct Pair<'a> {
    tensor: Tensor<f32>,
    view: Option<TensorView<'a, f32>>,
}

fn main() {
    let tensor = Tensor::<f32>::zeros([4]).unwrap();
    #[cfg(bad)]
    let view = Some(tensor.view());
    #[cfg(not(bad))]
    let view = None;
    Pair { tensor, view };
}
