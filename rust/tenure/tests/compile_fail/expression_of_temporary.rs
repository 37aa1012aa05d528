//@ error: E0716
//! A view in a temporary ends with its statement, and so must the expression made of it.
#[cfg(not(bad))]
use tenure::Expr;
use tenure::Tensor;

fn main() {
    let a = Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]);
    #[cfg(bad)]
    let turned = &a.t() * 2.0;
    #[cfg(not(bad))]
    let turned = Expr::from(a.t()) * 2.0;
    turned.eval().unwrap();
}
