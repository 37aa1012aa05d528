//! Counters of the library's operations and memory, and facts about its build.

use std::time::Duration;

use tenure_sys::tnr_operation;

use crate::raw;

/// Totals of this process since its start, ended threads included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Bytes allocated for tensors.
    pub allocated_bytes: u64,
    /// Bytes duplicated from memory that already held them, by what is called `to_` or `copy_`.
    /// The result of an operation is no copy, [`copy_into`](crate::copy_into)'s included.
    pub copied_bytes: u64,
    /// Blobs made: memory held for a tensor, whoever allocated it.
    pub blobs_made: u64,
    /// Blobs whose memory has been freed or given back.
    pub blobs_finished: u64,
    /// Bytes of tensors that ended, held back to be used again by the next large ones: what there
    /// is now, not a total. [`trim`] gives them back.
    pub cached_bytes: u64,
    /// Operations that succeeded.
    pub calls: u64,
    /// Bytes of the elements that operations read, as [`OperationStats`] counts them.
    pub read_bytes: u64,
    /// Bytes of the elements that operations wrote.
    pub written_bytes: u64,
    /// Kernels that were enqueued on devices: [`cuda`](crate::cuda).
    pub device_launches: u64,
    /// Times that a thread waited for a device.
    pub device_waits: u64,
}

/// Reads the totals. Other threads may be adding to them.
///
/// ```
/// use tenure::{Tensor, TensorView, stats};
///
/// let data = vec![1.0_f32; 1000];
/// let before = stats();
/// let view = TensorView::from_slice(&data, [10, 100])?; // lends
/// assert_eq!(stats().copied_bytes - before.copied_bytes, 0);
///
/// let tensor = Tensor::copy_from_slice(&data, [10, 100])?; // copies, and says so
/// assert_eq!(stats().copied_bytes - before.copied_bytes, 4000);
///
/// tenure::sum(&tensor, 0)?;
/// let after = stats();
/// assert_eq!(after.calls - before.calls, 1);
/// assert_eq!(after.read_bytes - before.read_bytes, 4000);
/// assert_eq!(after.written_bytes - before.written_bytes, 400);
/// # drop((view, tensor));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn stats() -> Stats {
    let totals = raw::stats();
    Stats {
        allocated_bytes: totals.allocated_bytes,
        copied_bytes: totals.copied_bytes,
        blobs_made: totals.blobs_made,
        blobs_finished: totals.blobs_finished,
        cached_bytes: totals.cached_bytes,
        calls: totals.calls,
        read_bytes: totals.read_bytes,
        written_bytes: totals.written_bytes,
        device_launches: totals.device_launches,
        device_waits: totals.device_waits,
    }
}

/// A kind of operation, as [`operation_stats`] counts them.
///
/// ```
/// use tenure::{Operation, operation_stats};
///
/// for operation in Operation::ALL {
///     println!("{operation:?}: {} calls", operation_stats(*operation).calls);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// [`copy_into`](crate::copy_into), and the `to_` methods of what is not contiguous. It is not
    /// called as the trait of the prelude is, which compilers would then spell out in messages.
    CopyInto,
    /// [`cast`](crate::cast).
    Cast,
    /// [`fill`](crate::fill()), [`full`](crate::Tensor::full), and inside a context
    /// [`zeros`](crate::Tensor::zeros).
    Fill,
    /// Arithmetic on one input: [`exp`](crate::exp) and its like; on the entries of a sparse matrix
    /// too.
    Unary,
    /// Arithmetic on two inputs: [`add`](crate::add) and its like.
    Binary,
    /// Comparisons: [`less`](crate::less) and its like.
    Compare,
    /// [`fma`](crate::fma), [`clamp`](crate::clamp) and the other operations on three inputs.
    Ternary,
    /// [`select`](crate::select()).
    Select,
    /// Reductions: [`sum`](crate::sum) and its like.
    Reduce,
    /// From dense to sparse: [`Sparsify`](crate::Sparsify), [`sparse_relu`](crate::sparse_relu),
    /// `to_csr` and their like.
    SparseFromDense,
    /// [`to_dense`](crate::CsrView::to_dense) of sparse matrices.
    SparseToDense,
    /// Among sparse formats, [`to_csc`](crate::CsrView::to_csc) and its like; parts of matrices,
    /// [`to_block`](crate::CsrView::to_block) and its like.
    SparseConvert,
    /// [`coalesce`](crate::CsrView::coalesce).
    SparseCoalesce,
    /// [`prune`](crate::CsrView::prune) and [`top_k`](crate::CsrView::top_k).
    SparsePrune,
    /// [`product`](crate::CsrView::product) of two sparse matrices, masked or not.
    SparseProduct,
    /// Sparse times dense: [`matmul`](crate::CsrView::matmul) and its like.
    SparseMatmul,
    /// [`sddmm`](crate::CsrView::sddmm).
    SparseSddmm,
    /// Arithmetic on two sparse matrices: [`add`](crate::CsrView::add) and its like.
    SparseBinary,
    /// [`add_to`](crate::CsrView::add_to) dense memory.
    SparseAccumulate,
    /// [`scale_rows`](crate::CsrViewMut::scale_rows),
    /// [`scale_cols`](crate::CsrViewMut::scale_cols).
    SparseScale,
    /// [`softmax_rows`](crate::CsrViewMut::softmax_rows).
    SparseSoftmax,
    /// Reductions of sparse matrices, their norms and their diagonal.
    SparseReduce,
    /// [`solve_triangular`](crate::CsrView::solve_triangular).
    SparseSolve,
    /// [`pack`](crate::CsrView::pack).
    SparsePack,
    /// [`matmul`](crate::PackedMatrix::matmul) of packed matrices.
    SparsePackedMatmul,
    /// [`matmul`](crate::matmul) of dense matrices.
    Matmul,
    /// [`conv2d`](crate::conv2d) of images.
    Conv2d,
    /// [`einsum`](crate::einsum): its calls. The bytes are those of the operations that it is made
    /// of, which count their calls too.
    Einsum,
    /// [`conv2d_transposed`](crate::conv2d_transposed) of images.
    Conv2dTransposed,
    /// [`max_pool2d`](crate::max_pool2d), [`avg_pool2d`](crate::avg_pool2d) and those of any size.
    Pool2d,
    /// [`batch_norm`](crate::batch_norm).
    BatchNorm,
    /// [`pack`](crate::PackedFactor::pack) of a right factor.
    FactorPack,
    /// [`matmul_packed`](crate::matmul_packed).
    FactorMatmul,
    /// [`matmul_csr`](crate::matmul_csr).
    SparseFromMatmul,
    /// [`concat`](crate::concat) and [`stack`](crate::stack).
    Concat,
    /// [`pad`](crate::pad), [`tile`](crate::tile) and [`roll`](crate::roll).
    Pad,
    /// [`take`](crate::take), [`gather`](crate::gather) and [`repeat`](crate::repeat).
    Take,
    /// [`put`](crate::put), [`scatter`](crate::scatter), their like and
    /// [`one_hot`](crate::one_hot).
    Put,
    /// [`nonzero`](crate::nonzero) and [`masked_select`](crate::masked_select).
    Nonzero,
    /// [`tril`](crate::tril) and [`triu`](crate::triu).
    Triangular,
    /// Tensors of random numbers: [`uniform`](crate::random::Generator::uniform) and its like.
    Random,
    /// [`sort`](crate::sort), [`top_k`](crate::top_k), [`partition`](crate::partition),
    /// [`quantile`](crate::quantile) and those alike.
    Sort,
    /// [`searchsorted`](crate::searchsorted).
    Searchsorted,
    /// [`unique`](crate::unique).
    Unique,
    /// [`bincount`](crate::bincount), [`histogram`](crate::histogram).
    Histogram,
    /// [`softmax`](crate::softmax), [`layer_norm`](crate::layer_norm) and others over axes.
    Normalize,
    /// [`cumsum`](crate::cumsum) and others along an axis.
    Scan,
    /// [`moments`](crate::moments).
    Moments,
    /// [`vstack`](crate::vstack), [`hstack`](crate::hstack) and
    /// [`block_diag`](crate::block_diag).
    SparseConcat,
    /// [`kron`](crate::kron).
    SparseKron,
    /// [`tril`](crate::CsrView::tril) and [`triu`](crate::CsrView::triu) of sparse matrices.
    SparseTriangular,
    /// Expressions: [`eval`](crate::Expr::eval), [`eval_into`](crate::Expr::eval_into) and
    /// [`update`](crate::Tensor::update).
    Evaluate,
}

impl Operation {
    /// Every kind that there is.
    pub const ALL: &[Operation] = &[
        Operation::CopyInto,
        Operation::Cast,
        Operation::Fill,
        Operation::Unary,
        Operation::Binary,
        Operation::Compare,
        Operation::Ternary,
        Operation::Select,
        Operation::Reduce,
        Operation::SparseFromDense,
        Operation::SparseToDense,
        Operation::SparseConvert,
        Operation::SparseCoalesce,
        Operation::SparsePrune,
        Operation::SparseProduct,
        Operation::SparseMatmul,
        Operation::SparseSddmm,
        Operation::SparseBinary,
        Operation::SparseAccumulate,
        Operation::SparseScale,
        Operation::SparseSoftmax,
        Operation::SparseReduce,
        Operation::SparseSolve,
        Operation::SparsePack,
        Operation::SparsePackedMatmul,
        Operation::Matmul,
        Operation::Conv2d,
        Operation::Einsum,
        Operation::Conv2dTransposed,
        Operation::Pool2d,
        Operation::BatchNorm,
        Operation::FactorPack,
        Operation::FactorMatmul,
        Operation::SparseFromMatmul,
        Operation::Concat,
        Operation::Pad,
        Operation::Take,
        Operation::Put,
        Operation::Nonzero,
        Operation::Triangular,
        Operation::Random,
        Operation::Sort,
        Operation::Searchsorted,
        Operation::Unique,
        Operation::Histogram,
        Operation::Normalize,
        Operation::Scan,
        Operation::Moments,
        Operation::SparseConcat,
        Operation::SparseKron,
        Operation::SparseTriangular,
        Operation::Evaluate,
    ];

    fn raw(self) -> tnr_operation {
        match self {
            Operation::CopyInto => tnr_operation::COPY,
            Operation::Cast => tnr_operation::CAST,
            Operation::Fill => tnr_operation::FILL,
            Operation::Unary => tnr_operation::UNARY,
            Operation::Binary => tnr_operation::BINARY,
            Operation::Compare => tnr_operation::COMPARE,
            Operation::Ternary => tnr_operation::TERNARY,
            Operation::Select => tnr_operation::SELECT,
            Operation::Reduce => tnr_operation::REDUCE,
            Operation::SparseFromDense => tnr_operation::SPARSE_FROM_DENSE,
            Operation::SparseToDense => tnr_operation::SPARSE_TO_DENSE,
            Operation::SparseConvert => tnr_operation::SPARSE_CONVERT,
            Operation::SparseCoalesce => tnr_operation::SPARSE_COALESCE,
            Operation::SparsePrune => tnr_operation::SPARSE_PRUNE,
            Operation::SparseProduct => tnr_operation::SPARSE_PRODUCT,
            Operation::SparseMatmul => tnr_operation::SPARSE_MATMUL,
            Operation::SparseSddmm => tnr_operation::SPARSE_SDDMM,
            Operation::SparseBinary => tnr_operation::SPARSE_BINARY,
            Operation::SparseAccumulate => tnr_operation::SPARSE_ACCUMULATE,
            Operation::SparseScale => tnr_operation::SPARSE_SCALE,
            Operation::SparseSoftmax => tnr_operation::SPARSE_SOFTMAX,
            Operation::SparseReduce => tnr_operation::SPARSE_REDUCE,
            Operation::SparseSolve => tnr_operation::SPARSE_SOLVE,
            Operation::SparsePack => tnr_operation::SPARSE_PACK,
            Operation::SparsePackedMatmul => tnr_operation::SPARSE_PACKED_MATMUL,
            Operation::Matmul => tnr_operation::MATMUL,
            Operation::Conv2d => tnr_operation::CONV2D,
            Operation::Einsum => tnr_operation::EINSUM,
            Operation::Conv2dTransposed => tnr_operation::CONV2D_TRANSPOSED,
            Operation::Pool2d => tnr_operation::POOL2D,
            Operation::BatchNorm => tnr_operation::BATCH_NORM,
            Operation::FactorPack => tnr_operation::FACTOR_PACK,
            Operation::FactorMatmul => tnr_operation::FACTOR_MATMUL,
            Operation::SparseFromMatmul => tnr_operation::SPARSE_FROM_MATMUL,
            Operation::Concat => tnr_operation::CONCAT,
            Operation::Pad => tnr_operation::PAD,
            Operation::Take => tnr_operation::TAKE,
            Operation::Put => tnr_operation::PUT,
            Operation::Nonzero => tnr_operation::NONZERO,
            Operation::Triangular => tnr_operation::TRIANGULAR,
            Operation::Random => tnr_operation::RANDOM,
            Operation::Sort => tnr_operation::SORT,
            Operation::Searchsorted => tnr_operation::SEARCHSORTED,
            Operation::Unique => tnr_operation::UNIQUE,
            Operation::Histogram => tnr_operation::HISTOGRAM,
            Operation::Normalize => tnr_operation::NORMALIZE,
            Operation::Scan => tnr_operation::SCAN,
            Operation::Moments => tnr_operation::MOMENTS,
            Operation::SparseConcat => tnr_operation::SPARSE_CONCAT,
            Operation::SparseKron => tnr_operation::SPARSE_KRON,
            Operation::SparseTriangular => tnr_operation::SPARSE_TRIANGULAR,
            Operation::Evaluate => tnr_operation::EVALUATE,
        }
    }
}

/// Totals of one kind of operation since the process started, ended threads included. Calls that
/// fail count nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationStats {
    /// Calls that succeeded.
    pub calls: u64,
    /// Bytes of the elements of the inputs; of a sparse one its offsets, indices and values. An
    /// element that is repeated by broadcasting counts once, a single number not at all, and
    /// nothing counts where there was nothing to do.
    pub read_bytes: u64,
    /// Bytes of the elements of the outputs.
    pub written_bytes: u64,
    /// Time from start to end of the calls that began between [`start_timing`] and [`stop_timing`],
    /// by the clock of their callers: calls at the same moment add up, the threads within one do
    /// not.
    pub time: Duration,
}

/// Reads the totals of one kind of operation. Other threads may be adding to them.
///
/// ```
/// use tenure::{Operation, operation_stats};
///
/// let before = operation_stats(Operation::Binary);
/// tenure::add(&[1.0_f64; 1000], &[2.0; 1000])?;
/// let after = operation_stats(Operation::Binary);
/// assert_eq!(after.calls - before.calls, 1);
/// assert_eq!(after.read_bytes - before.read_bytes, 16_000);
/// assert_eq!(after.written_bytes - before.written_bytes, 8_000);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn operation_stats(operation: Operation) -> OperationStats {
    let totals = raw::operation_stats(operation.raw());
    OperationStats {
        calls: totals.calls,
        read_bytes: totals.read_bytes,
        written_bytes: totals.written_bytes,
        time: Duration::from_nanos(totals.nanoseconds),
    }
}

/// From here on the time of each operation is taken, on every thread, which costs two readings of
/// the clock for each call, some 50 ns. Off until asked for.
///
/// ```
/// use tenure::{Operation, operation_stats, start_timing, stop_timing};
///
/// start_timing();
/// let before = operation_stats(Operation::Reduce).time;
/// tenure::sum(&vec![1.0_f32; 100_000], ..)?;
/// let time = operation_stats(Operation::Reduce).time - before;
/// stop_timing();
/// assert!(!time.is_zero());
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn start_timing() {
    raw::start_timing()
}

/// Operations that begin from here on are not timed. Counts so far stay.
///
/// See [`start_timing`].
pub fn stop_timing() {
    raw::stop_timing()
}

/// Gives the memory of ended tensors that the library holds back to the system; returns how many
/// bytes. Tensors that live are not touched.
///
/// Tensors of 1 MiB and more are recycled, because fresh memory costs several times the operation
/// that writes it. The environment variable `TENURE_CACHE_BYTES`, read once, sets how much may be
/// held back (512 MiB unless it says otherwise; 0 switches it off).
///
/// ```
/// use tenure::{Tensor, trim};
///
/// drop(Tensor::<f32>::zeros([1024, 1024])?); // 4 MiB, which the next such tensor would get
/// println!("{} bytes given back", trim());
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn trim() -> usize {
    raw::trim()
}

/// One line that says how the library was built (version, compiler, options, instruction sets) and
/// which instruction set is in use.
///
/// ```
/// println!("{}", tenure::build_info());
/// assert!(tenure::build_info().starts_with("tenure "));
/// ```
pub fn build_info() -> &'static str {
    raw::build_info()
}
