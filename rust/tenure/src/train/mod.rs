//! Training: losses, optimisers, schedules of learning rates and the clipping of gradients, as
//! functions of the values of a [graph](crate::Graph).
//!
//! A training step is a program: [`Graph::gradients`](crate::Graph::gradients) gives the gradients
//! of a loss, an optimiser gives the next parameters, and each parameter is an input that is
//! [updated](crate::Traced::updated_by). The compiler sees that nothing else borrows a parameter
//! while the step runs. A step can be saved, and C programs and devices run it as any other program.

mod check;
mod loss_scale;
mod losses;
mod optimizers;
pub mod schedules;

pub use check::{
    Compared, GradientCheck, GradientReport, InputGradient, Verdict, WrongNode, check_gradients,
};
pub use loss_scale::{LossScale, all_finite};
pub use losses::{bce_with_logits, cross_entropy, huber, mse};
pub use optimizers::{
    Adam, AdamW, Lion, Optimizer, Rate, Sgd, Stepped, clip_by_global_norm, global_norm,
};
