//! Activations of products and convolutions.

use tenure_sys::tnr_unary_op;

/// Applied to each element of a product or a convolution, where it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Activation {
    /// The function [`relu`](crate::nn::relu).
    Relu,
    /// The function [`tanh`](crate::ops::tanh).
    Tanh,
    /// The function [`sigmoid`](crate::nn::sigmoid).
    Sigmoid,
    /// The function [`silu`](crate::nn::silu).
    Silu,
    /// The function [`gelu`](crate::nn::gelu).
    Gelu,
    /// The function [`gelu_tanh`](crate::nn::gelu_tanh).
    GeluTanh,
    /// The function [`softplus`](crate::nn::softplus).
    Softplus,
    /// The function [`hardswish`](crate::nn::hardswish).
    Hardswish,
    /// The function [`elu`](crate::nn::elu).
    Elu,
    /// The function [`leaky_relu`](crate::nn::leaky_relu).
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
