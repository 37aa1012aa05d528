//! Learning rates by the number of a step, from 0: plain numbers, for an input of each run.
//!
//! ```
//! use tenure::train::schedules::{cosine, warmup};
//!
//! let rate = |step| 1e-3 * warmup(step, 100) * cosine(step, 1000);
//! assert!(rate(0) < rate(50) && rate(50) < rate(99));
//! assert!(rate(999) < 1e-7);
//! ```

use std::f64::consts::PI;

/// Rises from `1 / steps` to 1, and stays there.
pub fn warmup(step: usize, steps: usize) -> f64 {
    ((step as f64 + 1.0) / steps.max(1) as f64).min(1.0)
}

/// Falls from 1 to 0 along half a cosine, and stays there (Loshchilov and Hutter, 2017).
pub fn cosine(step: usize, steps: usize) -> f64 {
    0.5 * (1.0 + (PI * (step as f64 / steps.max(1) as f64).min(1.0)).cos())
}

/// Falls from 1 to 0 along a line, and stays there.
pub fn linear(step: usize, steps: usize) -> f64 {
    1.0 - (step as f64 / steps.max(1) as f64).min(1.0)
}

/// Multiplies by `factor` every `steps` steps.
pub fn staircase(step: usize, steps: usize, factor: f64) -> f64 {
    factor.powf((step / steps.max(1)) as f64)
}

/// Multiplies by `factor` with each step.
pub fn exponential(step: usize, factor: f64) -> f64 {
    factor.powf(step as f64)
}
