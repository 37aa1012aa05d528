//! Layers of networks, as functions of the values of a [graph](crate::Graph).
//!
//! A layer that is one operation is a method of [`Traced`](crate::Traced):
//!
//! | layer | is |
//! | --- | --- |
//! | linear | `x.matmul(weight) + bias`, which is one operation; of a weight `[outputs, inputs]`, as PyTorch has it, `x.matmul(weight.t()) + bias` |
//! | convolution, pooling | [`conv2d`](crate::Traced::conv2d), [`conv2d_transposed`](crate::Traced::conv2d_transposed), [`max_pool2d`](crate::Traced::max_pool2d), [`avg_pool2d`](crate::Traced::avg_pool2d) |
//! | layer norm, RMS norm | [`layer_norm`](crate::Traced::layer_norm), [`rms_norm`](crate::Traced::rms_norm) |
//! | batch norm by known statistics | [`batch_norm`](crate::Traced::batch_norm) |
//! | activation | [`relu`](crate::Traced::relu), [`gelu`](crate::Traced::gelu), [`silu`](crate::Traced::silu) and others |
//!
//! Extents may be [named](crate::Graph::extent), gradients lead through all layers, and a program
//! with them is saved as any other.

mod attention;
mod conv;
mod distance;
mod embedding;
pub mod initial;
mod norms;
mod parameters;
mod recurrent;
mod regularize;
mod resize;

pub use attention::{Attention, attention};
pub use conv::{Conv, conv1d, conv3d};
pub use distance::cdist;
pub use embedding::{Pairs, Rotary, embedding, positions, rotary};
pub use norms::{batch_norm, group_norm};
pub use parameters::{constants, load, save};
pub use recurrent::{Recurrent, gru, lstm};
pub use regularize::dropout;
pub use resize::{Coordinates, Resize, resize, resize_by};
