//! Activations of products and convolutions.

use tenure_sys::tnr_unary_op;

/// Applied to each element of a product or a convolution, where it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Activation {
    /// As [`relu`](crate::relu).
    Relu,
    /// As [`tanh`](crate::tanh).
    Tanh,
}

impl Activation {
    /// For the library, to which a 0 says nothing.
    pub(super) fn code(this: Option<Activation>) -> tnr_unary_op {
        match this {
            None => tnr_unary_op(0),
            Some(Activation::Relu) => tnr_unary_op::RELU,
            Some(Activation::Tanh) => tnr_unary_op::TANH,
        }
    }
}
