//! Memory of other libraries, lent both ways.
//!
//! | feature | arrays of | are |
//! | --- | --- | --- |
//! | | DLPack, in [`dlpack`] | lent, taken and handed over: PyTorch, JAX, CuPy, NumPy |
//! | `arrow` | `arrow-array` | lent and shared, both ways |
//! | `bytemuck` | structs of plain data | lent as elements with an axis for their fields |
//! | `faer` | `faer`, dense and sparse | lent both ways, operands |
//! | `image` | `image` | lent, handed over, operands and outputs |
//! | `nalgebra` | `nalgebra` | lent both ways, handed over, operands and outputs |
//! | `ndarray` | `ndarray` | lent both ways, handed over, shared, operands and outputs |
//!
//! All but DLPack are implementations of `TryFrom`, [`AsView`](crate::AsView) and
//! [`AsViewMut`](crate::AsViewMut), so that their arrays are operands as they are. The features
//! `approx` and `serde` implement the traits of those crates for tensors.
//!
//! ```
//! use tenure::interop::dlpack;
//! use tenure::Tensor;
//!
//! let tensor = Tensor::from_vec(vec![1.0_f32, 2.0, 3.0], 3)?;
//! // A function of another library gets the address, the shape and the dtype, for one call.
//! let rank = dlpack::lend(tensor.view(), |lent| lent.ndim);
//! assert_eq!(rank, 1);
//! # Ok::<(), tenure::Error>(())
//! ```

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
