//! Memory of other libraries, lent both ways.

#[cfg(feature = "approx")]
mod approx;
#[cfg(feature = "arrow")]
#[allow(unsafe_code)]
mod arrow;
#[cfg(feature = "bytemuck")]
#[allow(unsafe_code)]
mod bytemuck;
#[allow(unsafe_code)]
pub mod dlpack;
#[cfg(feature = "faer")]
#[allow(unsafe_code)]
mod faer;
#[cfg(feature = "image")]
mod image;
#[cfg(feature = "nalgebra")]
#[allow(unsafe_code)]
mod nalgebra;
#[cfg(feature = "ndarray")]
#[allow(unsafe_code)]
mod ndarray;
#[cfg(feature = "serde")]
mod serde;
