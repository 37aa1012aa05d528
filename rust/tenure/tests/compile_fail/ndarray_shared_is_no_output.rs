//@ error: E0277
//@ says: cannot be written as
//@ feature: ndarray
//! An array that is shared would be copied before it is written; it is no output.
use ndarray::{ArcArray2, Array2};

fn main() {
    #[cfg(bad)]
    let mut out = ArcArray2::<f32>::zeros((2, 3));
    #[cfg(not(bad))]
    let mut out = Array2::<f32>::zeros((2, 3));
    let _ = tenure::ops::fill(&mut out, 1.0_f32);
}
