//! Tensors over memory you already have: lent to a C++ core without a copy and without `unsafe`,
//! checked by the Rust compiler.
//!
//! The crate has two concepts. A **view** is a shape over memory: a plain value that borrows it. A
//! **tenure** is the ownership mode of memory: it defines who frees the memory, who may write it, and
//! when that ends.
//!
//! ```
//! #![forbid(unsafe_code)]
//! use std::sync::Arc;
//! use tenure::{SharedTensor, Tensor, TensorView, TensorViewMut, ops};
//!
//! # fn main() -> tenure::Result<()> {
//! // Lend what you have. A view is a shape over your slice, and lives no longer than it.
//! let readings = vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let table = TensorView::from_slice(&readings, [2, 3])?;
//! assert_eq!(table.as_ptr(), readings.as_ptr());
//! assert_eq!(table[[1, 0]], 4.0);
//!
//! // Slice, transpose, reshape, split: arithmetic on the shape, nothing is copied.
//! let columns = table.t();
//! assert_eq!((columns.shape(), columns.strides()), (&[3, 2][..], &[1, 3][..]));
//! let (first, rest) = table.split_at(1, 1)?;
//! assert_eq!((first.to_vec(), rest.shape()), (vec![1.0, 4.0], &[2, 2][..]));
//!
//! // Operations are functions over anything that lends a view: tensors, slices, arrays, numbers.
//! let means = ops::mean(&table, 0)?;
//! assert_eq!(means.to_vec(), [2.5, 3.5, 4.5]);
//! // The most common ones are methods of tensors and views too.
//! assert_eq!(table.mean(0)?, means);
//! let doubled = ops::mul(&table, 2.0)?;
//! assert_eq!(doubled[[1, 2]], 12.0);
//!
//! // Arithmetic operators build an expression. `eval` computes it in one pass, without temporaries.
//! let (doubled, means) = (&doubled, &means);
//! assert_eq!(((doubled - means) / 2.0).eval()?[[0, 0]], -0.25);
//!
//! // Lend memory to be written: nobody else sees it until the loan ends.
//! let mut scores = [[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
//! ops::sub_assign(&mut scores, means)?;
//! TensorViewMut::from_slice(scores.as_flattened_mut(), [2, 3])?.index(1, 2)?.fill(0.0);
//! assert_eq!(scores, [[-1.5, -1.5, 0.0], [1.5, 1.5, 0.0]]);
//!
//! // Hand a `Vec` over, and get the same allocation back.
//! let address = readings.as_ptr();
//! let tensor = Tensor::from_vec(readings, [2, 3])?;
//! let readings = tensor.into_vec().ok().expect("it came from a Vec");
//! assert_eq!(readings.as_ptr(), address);
//!
//! // Share what others hold too.
//! let weights: Arc<[f32]> = Arc::from(readings);
//! let shared = SharedTensor::from_arc(Arc::clone(&weights), [3, 2])?;
//! let clone = shared.clone();
//! let total = std::thread::spawn(move || clone.iter().sum::<f32>()).join().unwrap();
//! assert_eq!(total, 21.0);
//! # Ok(())
//! # }
//! ```
//!
//! # Who frees, who writes, when it ends
//!
//! | tenure | in Rust | who frees | who may write | ends |
//! | --- | --- | --- | --- | --- |
//! | allocated | [`Tensor::zeros`], [`io::read`], results of operations | the library | the holder | drop |
//! | copied | [`Tensor::copy_from_slice`], `to_tensor` | the library | the holder | drop |
//! | adopted | [`Tensor::from_vec`], [`Tensor::from_owner_mut`] | the owner, dropped once, or no one after [`Tensor::into_vec`] | the holder | drop or `into_vec` |
//! | shared | [`SharedTensor::from_arc`], [`from_owner`](SharedTensor::from_owner), [`from_bytes`](SharedTensor::from_bytes) | the owner, dropped once | nobody | the last clone's drop |
//! | borrowed | [`TensorView`] | the lender | nobody | with `'a` |
//! | borrowed mutably | [`TensorViewMut`] | the lender | only the borrower | with `'a` |
//!
//! # Programs that the compiler refuses
//!
//! A view that outlives its memory, E0597 "`data` does not live long enough":
//!
//! ```compile_fail,E0597
//! let view = {
//!     let data = vec![1.0_f32; 6];
//!     tenure::TensorView::from_slice(&data, [2, 3]).unwrap()
//! };
//! println!("{}", view[[0, 0]]);
//! ```
//!
//! A view that leaves the function that owns the memory, E0515 "cannot return value referencing
//! local variable `data`":
//!
//! ```compile_fail,E0515
//! fn escape() -> tenure::Result<tenure::TensorView<'static, f32>> {
//!     let data = vec![1.0_f32; 6];
//!     tenure::TensorView::from_slice(&data, [2, 3])
//! }
//! ```
//!
//! Memory that is given back while a view is held, E0505 "cannot move out of `tensor` because it is
//! borrowed":
//!
//! ```compile_fail,E0505
//! let tensor = tenure::Tensor::from_vec(vec![1.0_f32; 6], [2, 3]).unwrap();
//! let view = tensor.view();
//! let vec = tensor.into_vec();
//! println!("{}", view[[0, 0]]);
//! ```
//!
//! Memory written while a view reads it, E0502 "cannot borrow `data` as mutable because it is also
//! borrowed as immutable". The compiler also rejects an output that is one of the inputs:
//!
//! ```compile_fail,E0502
//! let mut data = vec![1.0_f32; 6];
//! let view = tenure::TensorView::from_slice(&data, [2, 3]).unwrap();
//! tenure::ops::add_into(&view, &view, &mut data).unwrap();
//! ```
//!
//! Two exclusive views of the same memory, E0499 "cannot borrow `data` as mutable more than once at
//! a time":
//!
//! ```compile_fail,E0499
//! let mut data = vec![1.0_f32; 6];
//! let mut one = tenure::TensorViewMut::from_slice(&mut data, [2, 3]).unwrap();
//! let mut two = tenure::TensorViewMut::from_slice(&mut data, [3, 2]).unwrap();
//! one.fill(0.0);
//! two.fill(1.0);
//! ```
//!
//! Memory written through a view for reading, E0594 "cannot assign to data in an index of
//! `TensorView<'_, f32>`":
//!
//! ```compile_fail,E0594
//! let data = vec![1.0_f32; 6];
//! let mut view = tenure::TensorView::from_slice(&data, [2, 3]).unwrap();
//! view[[0, 0]] = 2.0;
//! ```
//!
//! A view of a local sent to a thread that may outlive it, E0597 again (scoped threads take it):
//!
//! ```compile_fail,E0597
//! let data = vec![1.0_f32; 6];
//! let view = tenure::TensorView::from_slice(&data, [2, 3]).unwrap();
//! std::thread::spawn(move || println!("{}", view[[0, 0]]));
//! ```
//!
//! Elements that lent memory could break, and owners that a thread could, E0277 "`bool` cannot be
//! an element of a tensor" and "`Rc<[f32]>` cannot be sent between threads safely":
//!
//! ```compile_fail,E0277
//! let view = tenure::TensorView::from_slice(&[true, false], [2]);
//! ```
//!
//! ```compile_fail,E0277
//! let rc: std::rc::Rc<[f32]> = std::rc::Rc::from([1.0, 2.0]);
//! let shared = tenure::SharedTensor::from_owner(rc, [2]);
//! ```
//!
//! # Sparse matrices
//!
//! Three arrays and their meaning, lent or held as dense memory is; offsets and indices are checked
//! once, and no type gives them out for writing. They are `i32` or `i64`.
//!
//! | format | lent | lent, values for writing | held | arrays |
//! | --- | --- | --- | --- | --- |
//! | coordinates | [`CooView`] | [`CooViewMut`] | [`CooMatrix`] | `row_indices`, `col_indices`, `values` |
//! | compressed rows | [`CsrView`] | [`CsrViewMut`] | [`CsrMatrix`] | `row_offsets`, `col_indices`, `values` |
//! | compressed columns | [`CscView`] | [`CscViewMut`] | [`CscMatrix`] | `col_offsets`, `row_indices`, `values` |
//! | blocks | [`BsrView`] | [`BsrViewMut`] | [`BsrMatrix`] | `row_offsets`, `col_indices`, `values` of blocks |
//! | any `F` | [`SparseView`] | [`SparseViewMut`] | [`SparseMatrix`] | |
//!
//! The types of the last row are generic, and the others are names of them for one format each.
//! Error messages use the generic types, and so do functions for matrices of any format
//! ([`SparseFormat`]).
//!
//! ```
//! use tenure::{CsrMatrix, CsrView};
//!
//! # fn main() -> tenure::Result<()> {
//! // Lend what you have.
//! let (offsets, columns, values) = (vec![0, 2, 3], vec![0, 2, 1], vec![1.0_f32, 2.0, 3.0]);
//! let matrix = CsrView::new(2, 3, &offsets, &columns, &values)?;
//! let entries: Vec<_> = matrix.iter().collect();
//! assert_eq!(entries, [(0, 0, &1.0), (0, 2, &2.0), (1, 1, &3.0)]);
//!
//! // Or hand it over: a matrix owns two shared tensors of indices and a tensor of values.
//! let mut matrix = CsrMatrix::from_vecs(2, 3, offsets, columns, values)?;
//! matrix.values_mut()[0] = 10.0;
//!
//! // And take it apart again: the same allocations.
//! let (_, _, values) = matrix.into_parts();
//! assert_eq!(values.into_vec().ok(), Some(vec![10.0, 2.0, 3.0]));
//! # Ok(())
//! # }
//! ```
//!
//! # Modules
//!
//! | module | functions |
//! | --- | --- |
//! | [`ops`] | element-wise, reductions, scans, order, movement |
//! | [`linalg`] | products of matrices, `einsum`, iterative solvers; factorisations, with the feature `linalg` |
//! | [`nn`] | activations, softmax, normalizations, convolutions, poolings |
//! | [`sparse`] | sparse matrices of dense ones and of others |
//! | [`random`] | random numbers from a seed and an offset |
//! | [`io`] | files: NumPy's, safetensors, Matrix Market |
//! | [`expr`] | several operations in one pass |
//! | [`program`] | graphs that are traced once and run often |
//! | [`layers`] | layers of networks as values of a graph, first weights, files of parameters |
//! | [`train`] | losses, optimisers, schedules |
//! | [`cuda`] | GPUs |
//! | [`interop`] | memory of other libraries |
//!
//! Types and traits are at the root; [`prelude`] has the names that most programs use.
//!
//! # Files
//!
//! [`io`] reads a file once into memory that tensors use in place, and documents why mapping a file
//! is unsafe. Its modules [`npy`](io::npy) and `npz` are NumPy's files: lent from the bytes, in
//! either order of memory, and copied only where [`CopyMode`] allows it;
//! [`safetensors`](io::safetensors) are files of named tensors, the same way.
//! [`matrix_market`](io::matrix_market) and SciPy's part of `npz` are those of sparse matrices.
//!
//! # GPUs
//!
//! [`cuda`] has tensors in memory of a GPU and the streams that compute with them. The driver is
//! opened while the program runs: where there is none, asking for a device is an error.
//!
//! # Guarantees
//!
//! - **No copy is silent.** Functions that copy say so in their names (`to_`, `copy_`,
//!   `try_clone`), and [`stats`] counts the bytes.
//! - **Nothing panics on its input**, with one exception: `Index` panics as slices do; `get` does
//!   not. Every other invalid input returns an error whose message names the value and the bound. A
//!   size too large to allocate also returns an error. (`to_vec`, `collect` and [`Triplets::push`]
//!   allocate a `Vec`: if that fails, the process aborts, as with any `Vec`.)
//! - **Nothing is lost.** Refused values come back ([`Rejected`]), and a call that is refused
//!   leaves its output untouched.
//! - **Only the calling thread computes,** until a [`Context`] adds threads: its own, Rayon's or an
//!   executor's. The engine oneDNN ([`Engine::OneDnn`], or the variable `TENURE_ENGINE`) has threads
//!   of its own.
//!
//! # Features
//!
//! | feature | |
//! | --- | --- |
//! | `npz` | `io::npz`: NumPy's archives of arrays, and SciPy's of sparse matrices |
//! | `sealed` | `io::Sealed`: mapped memory that no process can change, on Linux |
//! | `vendored` (default) | compile the C++ core; without it an installed library is linked |
//! | `approx` | `AbsDiffEq`, `RelativeEq` and `UlpsEq` of `approx` 0.5: of tensors, views and arrays |
//! | `arrow` | arrays of `arrow-array` 59, values lent or shared, nulls as a mask, and tensors as arrays, without a copy |
//! | `bytemuck` | slices of structs of plain data as elements, with an axis for their fields, and back |
//! | `faer` | matrices of `faer` 0.24, dense and sparse, `TryFrom` converts borrowed matrices in both directions; a `Mat` is an operand |
//! | `image` | images of `image` 0.25 as `[height, width, channels]`: lent, handed over, operands and outputs |
//! | `linalg` | in [`linalg`]: Cholesky, LDLᵀ, LU and QR factorisations, eigenvalues, singular values and linear solves, by `faer` |
//! | `nalgebra` | matrices of `nalgebra` 0.33: lent both ways, handed over, operands and outputs |
//! | `ndarray` | arrays of `ndarray` 0.17 are operands, and go to and fro by `TryFrom`: lent, handed over and shared, without a copy |
//! | `onednn` | oneDNN, where it is installed, as an [`Engine`] of products of dense matrices; `onednn-src` of `tenure-sys` compiles its sources, which takes half an hour |
//! | `derive` | `#[derive(Tree)]`: structs of tensors as inputs and outputs of programs: [`tree`] |
//! | `plugins` | `program::load_plugin`: operations of shared libraries that are loaded while the program runs, by `libloading` |
//! | `onnx` | `onnx`: programs of ONNX models, by `prost` |
//! | `programs` | `program::file`: files of graphs with their constants, lent from a map, by `prost` |
//! | `rand` | the traits of `rand_core` 0.9 for [`random::Generator`] |
//! | `rayon` | `Context::with_rayon` and `RayonExecutor`: Rayon's threads work at operations |
//! | `serde` | tensors and sparse matrices in any format of `serde` 1, checked on the way in |
//! | `tracing` | a span at level TRACE and target `tenure` for each operation, named as the function is, with the dtype, shape and bytes of its output (for a reduction, of its input; for sparse operands, of those) |
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("Tenure's ABI is for 64-bit targets");

mod context;
pub mod cuda;
mod dense;
#[allow(unsafe_code)]
mod dtype;
mod error;
pub mod expr;
pub mod interop;
pub mod io;
pub mod layers;
#[allow(unsafe_code)]
mod layout;
pub mod linalg;
// Unsafe code is only in its module `gather`.
mod loader;
mod methods;
pub mod nn;
mod operand;
pub mod ops;
#[allow(unsafe_code)]
mod owner;
pub mod prelude;
pub mod program;
pub mod quantize;
pub mod random;
#[allow(unsafe_code)]
mod raw;
pub mod sparse;
mod split_mix;
mod stats;
mod tenure;
pub mod train;

#[cfg(feature = "rayon")]
pub use context::RayonExecutor;
pub use context::{Allocator, Context, ContextBuilder, Engine, Executor, Task};
pub use dense::{
    AxisIter, AxisIterMut, Chunks, ChunksMut, CopyMode, DynTensor, DynView, DynViewMut, IntoExtent,
    IntoIndex, IntoReshape, IntoShape, IntoSlice, Iter, IterMut, NewAxis, Rows, RowsMut,
    SharedTensor, Slice, SplitInto, SplitIntoMut, Tensor, TensorView, TensorViewMut,
};
pub use dtype::index::SparseIndex;
pub use dtype::triangle::Triangle;
pub use dtype::{
    Arithmetic, Bool8, ComplexNumber, DType, Element, Factor, Field, Float, Integer, NativeFloat,
    Number, Real,
};
pub use error::{Error, ErrorKind, Rejected, Result};
pub use expr::{Expr, IntoExpr};
pub use half::{bf16, f16};
pub use io::loaded::Loaded;
pub use layout::axis::Axis;
pub use layout::order::Order;
pub use linalg::krylov::{Ilu0, Jacobi, Krylov, LinearOperator, Lsqr, Solution, Unsolved};
pub use linalg::matmul::Matmul;
pub use linalg::packed_factor::PackedFactor;
pub use loader::{Batch, BatchError, Batches, Dataset, Loader, Position};
pub use nn::activation::Activation;
pub use nn::batch_norm::BatchNorm;
pub use nn::conv2d::Conv2d;
pub use nn::normalize::LayerNorm;
pub use nn::pool2d::Pool2d;
pub use num_complex::Complex;
pub use operand::contiguous::Contiguous;
pub use operand::{AsIndices, AsView, AsViewMut, AsViews};
pub use ops::axes::Axes;
pub use ops::close::Tolerance;
pub use ops::order::Ranked;
pub use ops::pad::PadMode;
pub use ops::search::{UniqueCounts, UniqueInverse};
pub use program::calls::custom::CustomOperation;
#[cfg(feature = "onnx")]
pub use program::onnx;
pub use program::tree::{self, Leaves, Tree};
pub use program::{
    Body, Bound, BoundIn, Extent, Graph, MemoryPlan, Passes, Program, Refused, Shapes, Traced,
    TracedCsr, TracedGenerator,
};
pub use sparse::batch::{
    BsrBatch, BsrBatchView, BsrBatchViewMut, CooBatch, CooBatchView, CooBatchViewMut, CscBatch,
    CscBatchView, CscBatchViewMut, CsrBatch, CsrBatchView, CsrBatchViewMut, SparseBatch,
    SparseBatchView, SparseBatchViewMut,
};
pub use sparse::construct::Triplets;
pub use sparse::convert::Combine;
pub use sparse::dense::Sparsify;
pub use sparse::entries::{BlockEntries, Entries};
pub use sparse::format::{Bsr, CompressedFormat, Coo, Csc, Csr, PointFormat, SparseFormat};
pub use sparse::matrix::{BsrMatrix, CooMatrix, CscMatrix, CsrMatrix, SparseMatrix};
pub use sparse::packed::{PackedLayout, PackedMatrix};
pub use sparse::view::{BsrView, CooView, CscView, CsrView, SparseView};
pub use sparse::view_mut::{BsrViewMut, CooViewMut, CscViewMut, CsrViewMut, SparseViewMut};
pub use stats::{
    Operation, OperationStats, Stats, build_info, operation_stats, start_timing, stats,
    stop_timing, trim,
};
pub use tenure::Tenure;

/// The programs in README.md are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
