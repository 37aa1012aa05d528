//! Functions of neural networks: activations, normalizations, convolutions, poolings.
//!
//! | functions | |
//! | --- | --- |
//! | [`relu`], [`gelu`], [`sigmoid`], [`silu`] and their like | activations, element by element |
//! | [`softmax`], [`log_softmax`], [`layer_norm`], [`rms_norm`] | normalizations over any axes |
//! | [`batch_norm`], [`fold_batch_norm`] | normalization by known statistics, and weights with it in them |
//! | [`conv2d`], [`conv2d_transposed`] | convolutions of images, of any strides, padding, dilations, groups |
//! | [`max_pool2d`], [`avg_pool2d`], [`global_avg_pool2d`] and their like | poolings of images |
//! | [`one_hot`] | vectors of class numbers |
//!
//! ```
//! use tenure::{Activation, Matmul, linalg, nn};
//!
//! let (x, weight) = ([[1.0_f32, -2.0]], [[0.5, -1.0], [1.0, 0.5]]);
//! let hidden = linalg::matmul_with(&x, &weight, Matmul::new().activation(Activation::Relu))?;
//! assert_eq!(hidden, nn::relu(linalg::matmul(&x, &weight)?)?);
//! assert_eq!(nn::softmax(&hidden, -1)?, [[0.5, 0.5]]);
//! # Ok::<(), tenure::Error>(())
//! ```
//!
//! Operands, forms (`_into`, `_assign`) and rules are those of [`ops`](crate::ops). A product with
//! a bias and an activation is one call of [`linalg::matmul_with`](crate::linalg::matmul_with).

pub(crate) mod activation;
mod activations;
pub(crate) mod batch_norm;
pub(crate) mod conv2d;
pub(crate) mod normalize;
mod one_hot;
pub(crate) mod pool2d;

pub use activations::*;
pub use batch_norm::{batch_norm, batch_norm_assign, batch_norm_into, fold_batch_norm};
pub use conv2d::{conv2d, conv2d_into, conv2d_transposed, conv2d_transposed_into};
pub use normalize::{
    layer_norm, layer_norm_assign, layer_norm_into, log_softmax, log_softmax_assign,
    log_softmax_into, rms_norm, rms_norm_assign, rms_norm_into, softmax, softmax_assign,
    softmax_into,
};
pub use one_hot::{one_hot, one_hot_into};
pub use pool2d::{
    adaptive_avg_pool2d, adaptive_avg_pool2d_into, adaptive_max_pool2d, adaptive_max_pool2d_into,
    avg_pool2d, avg_pool2d_into, global_avg_pool2d, global_avg_pool2d_into, max_pool2d,
    max_pool2d_into,
};
