//! Operations of streams on dense tensors.

mod along;
mod batch_norm;
mod elementwise;
mod images;
mod indexed;
mod matmul;
mod movement;
mod normalize;
mod reduce;

pub use along::Ranked;
pub use batch_norm::BatchNorm;
pub use images::Conv2d;
pub use matmul::Matmul;
pub use normalize::LayerNorm;
