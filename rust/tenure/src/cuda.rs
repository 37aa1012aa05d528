//! Tensors on GPUs that CUDA's driver knows.
//!
//! A [`Stream`] is a queue of work on a [`Device`]. Its methods are the crate's operations, under
//! their names: each enqueues its work and returns before that is done.
//!
//! ```
//! #![forbid(unsafe_code)]
//! use tenure::cuda::Device;
//!
//! # fn main() -> tenure::Result<()> {
//! let device = match Device::new(0) {
//!     Ok(device) => device,
//!     // No driver, or one that is too old; no such device. The message says which.
//!     Err(error) => return Ok(println!("computing without a GPU: {error}")),
//! };
//! let stream = device.stream()?;
//!
//! // Copied to the device: the call returns when the memory here is its owner's again.
//! let table = stream.upload(&[[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
//!
//! // Enqueued, one after the other. Nobody waits.
//! let mut scaled = stream.mul(&table, 2.0)?;
//! stream.add_assign(&mut scaled, &stream.mean(&table, 0)?)?;
//! let columns = stream.sum(scaled.t(), 1)?;
//!
//! // And back: this waits for all of it.
//! assert_eq!(stream.to_vec(&columns)?, [15.0, 21.0, 27.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # What is on the device
//!
//! | | like | |
//! | --- | --- | --- |
//! | [`Tensor<T>`](Tensor) | [`tenure::Tensor<T>`](crate::Tensor) | the only holder of its memory, which is on the device |
//! | [`TensorView<'a, T>`](TensorView) | [`tenure::TensorView<'a, T>`](crate::TensorView) | `Copy`; a shape over it, for reading |
//! | [`TensorViewMut<'a, T>`](TensorViewMut) | [`tenure::TensorViewMut<'a, T>`](crate::TensorViewMut) | a shape over it, for writing |
//! | [`CsrMatrix<T, I>`](CsrMatrix) | [`tenure::CsrMatrix<T, I>`](crate::CsrMatrix) | a sparse matrix of three tensors |
//! | [`CsrView<'a, T, I>`](CsrView) | [`tenure::CsrView<'a, T, I>`](crate::CsrView) | `Copy`; one of three views, for reading |
//!
//! They are types of their own, and neither derefs to one of the host nor is made from one: what
//! reads elements here does not exist for them, and host memory is no operand of a stream's
//! operation. [`Stream::upload`] and [`Stream::download`] copy, and say so. A copy overlaps the
//! host's work where its memory is lent in a [`Stream::scope`] or moved into a [`Pending`]; a
//! [`Loader`] copies batches while the device works on the batches before them.
//!
//! # Order
//!
//! A stream runs its operations in the order in which it receives them. Tensors may be used on any
//! stream of their device, from any thread: an operation runs after all work that was enqueued
//! before it, on any stream, on the memory that it uses. Work on that memory that is enqueued later
//! runs after it. A tensor may be dropped while work on it is pending: its memory is free for
//! others after that work. [`Stream::follow`] is for work that the library does not know of.
//!
//! # Kernels of your own
//!
//! A [`Kernel`] is made of a fat binary, of PTX or of CUDA C++, and [`launched`](Stream::launch) on
//! tensors and views in the same order: making one is `unsafe`, a promise of what its code does.
//!
//! # Several operations at once
//!
//! Operators on references to tensors and views, and [`expr`](Tensor::expr), build an
//! [`Expr`](crate::Expr) as they do for the host; [`eval`](Stream::eval),
//! [`eval_into`](Stream::eval_into) and [`update`](Stream::update) compute it, in one launch where
//! it is no longer than that takes. [`bind`](Stream::bind) checks a program once, for many runs.
//!
//! # What waits
//!
//! [`wait`](Stream::wait), of a stream, an [`Event`] or a [`Pending`]; the end of a
//! [`scope`](Stream::scope); the copies between host and device; a [`Loader`] for the memory of a
//! copy; what gives a number ([`sum_all`](Stream::sum_all)); the drop of [adopted](Stream::adopt)
//! memory; and `div`, `rem` and `pow` of integers by a tensor, what reads or writes by index
//! ([`take`](Stream::take), [`put`](Stream::put)), and the making of a [`CsrView`] of the device's
//! own arrays, since they find on the data whether they fail; [`sparsify`](Stream::sparsify), for
//! how many entries there are; and the first [`run`](Stream::run) of a program, which copies its
//! constants. [`stats`](crate::stats()) counts. The next call that waits reports a failure of the
//! device.
//!
//! # Programs that the compiler refuses
//!
//! A view of host memory as an operand, E0277 "`tenure::TensorView<'_, f32>` is no operand on a
//! device":
//!
//! ```compile_fail,E0277
//! # use tenure::{TensorView, cuda::{Stream, Tensor}};
//! fn sum(stream: &Stream, a: &Tensor<f32>, b: TensorView<'_, f32>) {
//!     stream.add(a, b).unwrap();
//! }
//! ```
//!
//! An element of device memory, E0608 "cannot index into a value of type":
//!
//! ```compile_fail,E0608
//! fn first(tensor: &tenure::cuda::Tensor<f32>) -> f32 {
//!     tensor[[0]]
//! }
//! ```
//!
//! A view that outlives its tensor, E0505 "cannot move out of `tensor` because it is borrowed":
//!
//! ```compile_fail,E0505
//! fn escape(tensor: tenure::cuda::Tensor<f32>) -> usize {
//!     let view = tensor.view();
//!     drop(tensor);
//!     view.len()
//! }
//! ```
//!
//! An output that is one of the inputs, E0502 "cannot borrow `a` as mutable because it is also
//! borrowed as immutable":
//!
//! ```compile_fail,E0502
//! # use tenure::cuda::{Stream, Tensor};
//! fn double(stream: &Stream, mut a: Tensor<f32>) -> tenure::Result<()> {
//!     let view = a.view();
//!     stream.add_into(view, view, &mut a)
//! }
//! ```

mod device;
mod event;
#[allow(unsafe_code)]
mod exchange;
mod expression;
#[allow(unsafe_code)]
mod foreign;
#[allow(unsafe_code)]
mod kernel;
mod launch;
mod loader;
mod operand;
mod operations;
mod operators;
mod parts;
#[allow(unsafe_code)]
mod pending;
#[allow(unsafe_code)]
pub(crate) mod running;
#[allow(unsafe_code)]
mod scope;
#[allow(unsafe_code)]
mod sparse;
mod stream;
#[allow(unsafe_code)]
mod tensor;
#[allow(unsafe_code)]
mod transfer;
#[allow(unsafe_code)]
mod view;
#[allow(unsafe_code)]
mod view_mut;

pub use device::Device;
pub use event::Event;
pub use exchange::Imported;
pub use kernel::Kernel;
pub use launch::{Grid, KernelArgument, KernelArguments, Parameter, Ranks};
pub use loader::{Batches, HostBuffer, Loader};
pub use operand::{AsView, AsViewMut, Operand};
pub use operations::{BatchNorm, Conv2d, LayerNorm, Matmul, Ranked};
pub use pending::{Pending, PendingFuture};
pub use scope::Scope;
pub use sparse::{CooView, CsrMatrix, CsrView, Sparsify};
pub use stream::Stream;
pub use tensor::Tensor;
pub use view::TensorView;
pub use view_mut::TensorViewMut;
