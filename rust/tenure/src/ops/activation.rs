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
    /// As [`sigmoid`](crate::sigmoid).
    Sigmoid,
    /// As [`silu`](crate::silu).
    Silu,
    /// As [`gelu`](crate::gelu).
    Gelu,
    /// As [`gelu_tanh`](crate::gelu_tanh).
    GeluTanh,
    /// As [`softplus`](crate::softplus).
    Softplus,
    /// As [`hardswish`](crate::hardswish).
    Hardswish,
    /// As [`elu`](crate::elu).
    Elu,
    /// As [`leaky_relu`](crate::leaky_relu).
    LeakyRelu,
}

impl Activation {
    /// For the library, to which a 0 says nothing.
    pub(crate) fn code(this: Option<Activation>) -> tnr_unary_op {
        match this {
            None => tnr_unary_op(0),
            Some(Activation::Relu) => tnr_unary_op::RELU,
            Some(Activation::Tanh) => tnr_unary_op::TANH,
            Some(Activation::Sigmoid) => tnr_unary_op::SIGMOID,
            Some(Activation::Silu) => tnr_unary_op::SILU,
            Some(Activation::Gelu) => tnr_unary_op::GELU,
            Some(Activation::GeluTanh) => tnr_unary_op::GELU_TANH,
            Some(Activation::Softplus) => tnr_unary_op::SOFTPLUS,
            Some(Activation::Hardswish) => tnr_unary_op::HARDSWISH,
            Some(Activation::Elu) => tnr_unary_op::ELU,
            Some(Activation::LeakyRelu) => tnr_unary_op::LEAKY_RELU,
        }
    }
}
