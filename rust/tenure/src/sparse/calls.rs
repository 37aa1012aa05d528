//! Sparse matrices: views lent to one call, and the handles that calls return.

use std::any::Any;
use std::marker::PhantomData;
use std::ptr;

use tenure_sys as sys;
use tenure_sys::private::tenure_private_sparse_voucher;
use tenure_sys::{
    tnr_blob, tnr_sparse, tnr_sparse_combine, tnr_sparse_format, tnr_sparse_join, tnr_sparse_order,
    tnr_sparse_predicate, tnr_sparse_view, tnr_sparse_view_mut, tnr_triangle,
};

pub(crate) mod algebra;
pub(crate) mod matmul;
pub(crate) mod packed;

use crate::dense::{SharedTensor, Tensor, TensorView};
use crate::dtype::{Bool8, DType, Element, index::SparseIndex};
use crate::error::{Error, ErrorKind, Result};
use crate::layout;
use crate::layout::refusal;
use crate::raw::context::current;
use crate::raw::operations::{Epilogue, scalar};
use crate::raw::{BlobHandle, Lent, LentMut, check, entered, last_failure, traced};
use crate::tenure::Tenure;

/// The form of a matrix, besides its arrays, as the ABI has it.
#[derive(Clone, Copy)]
pub(crate) struct SparseForm {
    pub(crate) format: tnr_sparse_format,
    pub(crate) flags: u32,
    pub(crate) rows: i64,
    pub(crate) cols: i64,
    pub(crate) block: [i64; 2],
}

/// A sparse view over slices, which are alive and not written while `'a` lasts. Their contents may
/// be wrong.
pub(crate) struct LentArrays<'a> {
    view: tnr_sparse_view,
    /// Offsets that were made for it, as the view points at them.
    _offsets: Option<Box<dyn Any>>,
    _lent: PhantomData<&'a ()>,
}

impl<'a> LentArrays<'a> {
    pub(crate) fn new<T: Element, I: SparseIndex>(
        form: SparseForm,
        major: &'a [I],
        minor: &'a [I],
        values: &'a [T],
    ) -> Self {
        let SparseForm { format, flags, rows, cols, block } = form;
        let [block_rows, block_cols] = block;
        let value_shape = [minor.len(), block_rows as usize, block_cols as usize];
        let value_rank = if format == tnr_sparse_format::BSR { 3 } else { 1 };
        let value_shape = &value_shape[..value_rank];
        let view = tnr_sparse_view {
            struct_size: size_of::<tnr_sparse_view>() as u64,
            owner: 0,
            format,
            flags,
            rows,
            cols,
            block_rows,
            block_cols,
            major: layout::exact(major.as_ptr().cast(), major.len(), I::DTYPE, &[major.len()]),
            minor: layout::exact(minor.as_ptr().cast(), minor.len(), I::DTYPE, &[minor.len()]),
            values: layout::exact(values.as_ptr().cast(), values.len(), T::DTYPE, value_shape),
            batch_offsets: NO_VIEW,
        };
        LentArrays { view, _offsets: None, _lent: PhantomData }
    }

    /// Makes a view like `new`, over three arrays of a device.
    pub(crate) fn on_device(form: SparseForm, [major, minor, values]: [Lent<'a>; 3]) -> Self {
        let mut lent = LentArrays::new::<u8, i32>(form, &[], &[], &[]);
        (lent.view.major, lent.view.minor, lent.view.values) =
            (*major.raw(), *minor.raw(), *values.raw());
        lent
    }

    /// Makes a view like `new`, with offsets that are kept as long as the view.
    pub(crate) fn with_own_offsets<T: Element, I: SparseIndex>(
        form: SparseForm,
        offsets: Vec<I>,
        minor: &'a [I],
        values: &'a [T],
    ) -> Self {
        // The view is of the heap, where the offsets stay when the Vec is moved.
        let view = LentArrays::new(form, &offsets, minor, values).view;
        LentArrays { view, _offsets: Some(Box::new(offsets)), _lent: PhantomData }
    }

    /// Says that the arrays are those of a batch, whose matrices begin at these entries.
    pub(crate) fn in_batch(mut self, offsets: &'a [i64]) -> Self {
        let data = offsets.as_ptr().cast();
        self.view.batch_offsets = layout::exact(data, offsets.len(), DType::I64, &[offsets.len()]);
        self
    }

    /// Checks offsets, indices and flags.
    pub(crate) fn check(&self) -> Result<()> {
        entered()?;
        // SAFETY: the view is over slices, which are readable and initialised.
        check(unsafe { sys::tnr_sparse_check(&self.view) })
    }

    /// Checks like [`check`](Self::check), and also that no entry is left out before the first row
    /// or after the last. The parts have owners.
    pub(crate) fn check_whole(&self) -> Result<()> {
        entered()?;
        // SAFETY: the view is over arrays that are alive. The handle that the library makes to
        // check it is released at once.
        let matrix = unsafe { sys::tnr_sparse_create(&self.view) };
        if matrix.is_null() {
            return Err(last_failure());
        }
        drop(SparseHandle(matrix));
        Ok(())
    }

    /// Tells the library that [`check`](Self::check) was passed.
    ///
    /// # Safety
    ///
    /// - It was, by these offsets and indices, and they have not been written since.
    pub(crate) unsafe fn checked(mut self) -> LentSparse<'a> {
        self.view.owner = tenure_private_sparse_voucher();
        LentSparse(self)
    }

    /// The library checks it as the call goes.
    pub(crate) fn unchecked(self) -> LentSparse<'a> {
        LentSparse(self)
    }
}

/// A sparse view to be read by one call, which was checked, or whose owner says that it was not.
pub(crate) struct LentSparse<'a>(LentArrays<'a>);

impl LentSparse<'_> {
    pub(super) fn as_ptr(&self) -> *const tnr_sparse_view {
        &self.0.view
    }

    /// For the fields of a span.
    #[cfg(feature = "tracing")]
    pub(super) fn view(&self) -> &tnr_sparse_view {
        &self.0.view
    }
}

/// A sparse view whose values are to be written by one call, checked.
pub(crate) struct LentSparseMut<'a> {
    view: tnr_sparse_view_mut,
    /// Offsets that were made for it, as in `LentArrays`.
    _offsets: Option<Box<dyn Any>>,
    _lent: PhantomData<&'a mut ()>,
}

impl<'a> LentSparseMut<'a> {
    /// Offsets and indices as they are, with values to be written.
    ///
    /// # Safety
    ///
    /// - `LentArrays` of these passed its `check`, except for the values.
    pub(crate) unsafe fn new<T: Element, I: SparseIndex>(
        form: SparseForm,
        major: &'a [I],
        minor: &'a [I],
        values: &'a mut [T],
    ) -> Self {
        let mut view = LentArrays::new(form, major, minor, values).view;
        view.owner = tenure_private_sparse_voucher();
        if !values.is_empty() {
            view.values.data = values.as_mut_ptr().cast();
            view.values.base = view.values.data;
        }
        LentSparseMut { view: tnr_sparse_view_mut { view }, _offsets: None, _lent: PhantomData }
    }

    /// Makes a view like `new`, with offsets that are kept as long as the view.
    ///
    /// # Safety
    ///
    /// - The conditions of `new`.
    pub(crate) unsafe fn with_own_offsets<T: Element, I: SparseIndex>(
        form: SparseForm,
        offsets: Vec<I>,
        minor: &'a [I],
        values: &'a mut [T],
    ) -> Self {
        // The view is of the heap, where the offsets stay when the Vec is moved.
        // SAFETY: by this function's contract.
        let view = unsafe { LentSparseMut::new(form, &offsets, minor, values) }.view;
        LentSparseMut { view, _offsets: Some(Box::new(offsets)), _lent: PhantomData }
    }

    pub(super) fn as_ptr(&self) -> *const tnr_sparse_view_mut {
        &self.view
    }

    /// For the fields of a span.
    #[cfg(feature = "tracing")]
    pub(super) fn view(&self) -> &tnr_sparse_view {
        &self.view.view
    }
}

/// The view of an operand that is not given: zeros.
const NO_VIEW: sys::tnr_view = sys::tnr_view {
    data: ptr::null(),
    base: ptr::null(),
    size_bytes: 0,
    owner: 0,
    dtype: sys::tnr_dtype(0),
    rank: 0,
    device: sys::tnr_device { kind: sys::tnr_device_kind(0), index: 0 },
    flags: 0,
    bit_offset: 0,
    reserved: 0,
    shape: [0; sys::TNR_MAX_RANK],
    strides: [0; sys::TNR_MAX_RANK],
};

/// A threshold that is not given.
const NO_SCALAR: sys::tnr_scalar =
    sys::tnr_scalar { dtype: sys::tnr_dtype(0), reserved: 0, bytes: [0; 16] };

/// One handle on a sparse matrix; dropping it releases it.
struct SparseHandle(*mut tnr_sparse);

impl Drop for SparseHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again.
        unsafe { sys::tnr_sparse_release(self.0) };
    }
}

/// Offsets, indices and values, as a matrix holds them.
pub(crate) type HeldParts<T, I> = (SharedTensor<I>, SharedTensor<I>, Tensor<T>);

/// A matrix that an operation has made, out of its handle: the view and its blobs. Each part of the
/// view is over all of the blob of the same name, which no other code holds.
pub(crate) struct Made {
    pub(crate) view: tnr_sparse_view,
    pub(crate) major: BlobHandle,
    pub(crate) minor: BlobHandle,
    pub(crate) values: BlobHandle,
    /// Only batches have them.
    pub(crate) batch_offsets: Option<BlobHandle>,
}

impl Made {
    /// Takes the parts out of what an operation returned: the thread's last error for NULL.
    ///
    /// # Safety
    ///
    /// - `matrix` is NULL, of a call that has just failed, or the only handle of a matrix whose
    ///   blobs the library has allocated for it. It is not used again.
    pub(crate) unsafe fn take(matrix: *mut tnr_sparse) -> Result<Made> {
        if matrix.is_null() {
            return Err(last_failure());
        }
        let matrix = SparseHandle(matrix);
        let empty = SparseForm {
            format: tnr_sparse_format::COO,
            flags: 0,
            rows: 0,
            cols: 0,
            block: [1, 1],
        };
        let mut view = LentArrays::new::<u8, i32>(empty, &[], &[], &[]).view;
        // SAFETY: the handle is alive, and `view` is writable as far as its `struct_size` says.
        check(unsafe { sys::tnr_sparse_view_of(matrix.0, &mut view) })?;
        let mut parts: [*mut tnr_blob; 3] = [ptr::null_mut(); 3];
        let [major, minor, values] = &mut parts;
        // SAFETY: the handle is alive, and the places are writable.
        check(unsafe { sys::tnr_sparse_parts(matrix.0, major, minor, values) })?;
        // SAFETY: the call gave three handles on allocated blobs, which are ours to release.
        let handle = |token| unsafe { BlobHandle::from_token(token, Tenure::Allocated) };
        let [major, minor, values] = parts.map(handle);
        let mut batch_offsets = None;
        if view.batch_offsets.rank != 0 {
            let mut token = ptr::null_mut();
            // SAFETY: the handle is alive; `token` is a writable local, to which the library writes
            // a handle that the caller has to release.
            check(unsafe { sys::tnr_sparse_batch_offsets(matrix.0, &mut token) })?;
            batch_offsets = Some(handle(token));
        }
        // Each handle is an owner now; that of the matrix ends, and its seals with it.
        drop(matrix);
        view.owner = 0;
        for part in [&mut view.major, &mut view.minor, &mut view.values, &mut view.batch_offsets] {
            part.owner = 0;
        }
        Ok(Made { view, major, minor, values, batch_offsets })
    }

    /// Takes the parts of a batch like [`into_parts`](Self::into_parts), and the offsets where the
    /// entries of each matrix begin. `Internal` for one matrix.
    pub(crate) fn into_batch<T: Element, I: SparseIndex>(
        mut self,
    ) -> Result<(SparseForm, SharedTensor<i64>, HeldParts<T, I>)> {
        let Some(offsets) = self.batch_offsets.take() else {
            let message = "the library made one matrix but was asked for a batch";
            return Err(Error::new(ErrorKind::Internal, message));
        };
        // SAFETY: over all of its blob, which no other code holds, and of that type; the library
        // has written every element.
        let offsets = unsafe { Tensor::made(self.view.batch_offsets, offsets).into_shared() };
        let (form, parts) = self.into_parts()?;
        Ok((form, offsets, parts))
    }

    /// The form of one matrix. `Internal` where its types are not these.
    pub(crate) fn form<T: Element, I: SparseIndex>(&self) -> Result<SparseForm> {
        let view = &self.view;
        if self.batch_offsets.is_some() {
            let message = "the library made a batch but was asked for one matrix";
            return Err(Error::new(ErrorKind::Internal, message));
        }
        let found = [view.major.dtype, view.minor.dtype, view.values.dtype];
        if found != [I::DTYPE, I::DTYPE, T::DTYPE].map(DType::raw) {
            let message = format!(
                "the library made a matrix of {:?} but was asked for {} and {}",
                found.map(DType::from_raw),
                I::DTYPE,
                T::DTYPE
            );
            return Err(Error::new(ErrorKind::Internal, message));
        }
        Ok(SparseForm {
            format: view.format,
            flags: view.flags,
            rows: view.rows,
            cols: view.cols,
            block: [view.block_rows, view.block_cols],
        })
    }

    /// The form of the matrix, and its parts as owners. `Internal` where their types are not these.
    pub(crate) fn into_parts<T: Element, I: SparseIndex>(
        self,
    ) -> Result<(SparseForm, HeldParts<T, I>)> {
        let form = self.form::<T, I>()?;
        let Made { view, major, minor, values, .. } = self;
        // SAFETY: each part is over all of its blob, which no other code holds, and of that type;
        // the library has written every element.
        unsafe {
            let major = Tensor::made(view.major, major).into_shared();
            let minor = Tensor::made(view.minor, minor).into_shared();
            Ok((form, (major, minor, Tensor::made(view.values, values))))
        }
    }
}

// ---- from dense, and to it ----

/// The format of a matrix that is made, and attributes of the operations that make it. A mask is
/// lent while `'a` lasts.
pub(crate) struct SparseOptions<'a> {
    format: tnr_sparse_format,
    raw: sys::tnr_sparse_from_dense_attributes,
    mask: Option<sys::tnr_view>,
    _mask: PhantomData<&'a ()>,
}

impl<'a> SparseOptions<'a> {
    /// COO of the elements that are not zero.
    pub(crate) fn new() -> Self {
        let raw = sys::tnr_sparse_from_dense_attributes {
            struct_size: size_of::<sys::tnr_sparse_from_dense_attributes>() as u64,
            index_dtype: i32::DTYPE.raw(),
            predicate: tnr_sparse_predicate::NON_ZERO,
            flags: 0,
            reserved: 0,
            block_rows: 0,
            block_cols: 0,
            threshold: NO_SCALAR,
            mask: ptr::null(),
        };
        SparseOptions { format: tnr_sparse_format::COO, raw, mask: None, _mask: PhantomData }
    }

    pub(crate) fn set_format<I: SparseIndex>(&mut self, format: tnr_sparse_format) {
        self.format = format;
        self.raw.index_dtype = I::DTYPE.raw();
    }

    pub(crate) fn set_block(&mut self, [rows, cols]: [usize; 2]) -> Result<()> {
        self.raw.block_rows = refusal::counted(&"block[0]", rows)?;
        self.raw.block_cols = refusal::counted(&"block[1]", cols)?;
        Ok(())
    }

    pub(crate) fn set_flags(&mut self, flags: u32) {
        self.raw.flags |= flags;
    }

    pub(crate) fn set_threshold<T: Element>(
        &mut self,
        predicate: tnr_sparse_predicate,
        threshold: T,
    ) {
        self.raw.predicate = predicate;
        self.raw.threshold = scalar(threshold);
    }

    /// Sets a mask like `set_mask`, from a mask that is on a device with the elements.
    pub(crate) fn set_lent_mask(&mut self, mask: Lent<'a>) {
        self.raw.predicate = tnr_sparse_predicate::MASK;
        self.mask = Some(*mask.raw());
    }

    pub(crate) fn set_mask(&mut self, mask: &TensorView<'a, Bool8>) {
        self.raw.predicate = tnr_sparse_predicate::MASK;
        // The elements are lent for `'a`, not for as long as the view is borrowed here.
        self.mask = Some(*mask.lent().raw());
    }
}

/// The entries of a dense matrix.
pub(crate) fn from_dense(dense: Lent<'_>, options: &SparseOptions<'_>) -> Result<Made> {
    entered()?;
    traced!(from_dense(options.format, dense.raw()));
    let mask = options.mask.as_ref().map_or(ptr::null(), ptr::from_ref);
    let attributes = sys::tnr_sparse_from_dense_attributes { mask, ..options.raw };
    // SAFETY: `Lent` guarantees the requirements on views; a mask is one that is still lent, and
    // `options` holds its view. The result is taken at once: the library has just made its blobs.
    unsafe {
        Made::take(sys::tnr_sparse_from_dense(current(), options.format, dense.raw(), &attributes))
    }
}

/// The largest elements of each row of a dense matrix, with indices of `I`.
pub(crate) fn from_dense_top_k<I: SparseIndex>(
    dense: Lent<'_>,
    k: usize,
    order: tnr_sparse_order,
) -> Result<Made> {
    entered()?;
    traced!(from_dense_top_k(order, dense.raw()));
    let index = I::DTYPE.raw();
    // SAFETY: `dense` is a checked view of memory that is alive and not written during the call;
    // the attributes are a temporary that lives until the call returns; a returned handle is the
    // only one of a new matrix, and `take` gets it at once.
    unsafe {
        Made::take(sys::tnr_sparse_from_dense_top_k(
            current(),
            order,
            dense.raw(),
            refusal::counted(&"k", k)?,
            &sys::tnr_sparse_top_k_attributes {
                struct_size: size_of::<sys::tnr_sparse_top_k_attributes>() as u64,
                index_dtype: index,
                reserved: 0,
            },
        ))
    }
}

/// A dense matrix after dropout, with indices of `I`.
pub(crate) fn from_dense_dropout<I: SparseIndex>(
    dense: Lent<'_>,
    probability: f64,
    seed: u64,
) -> Result<Made> {
    entered()?;
    traced!(dropout(dense.raw()));
    let index = I::DTYPE.raw();
    // SAFETY: `dense` is a checked view of memory that is alive and not written during the call;
    // the attributes are a temporary that lives until the call returns; a returned handle is the
    // only one of a new matrix, and `take` gets it at once.
    unsafe {
        Made::take(sys::tnr_sparse_from_dense_dropout(
            current(),
            dense.raw(),
            probability,
            seed,
            &sys::tnr_sparse_dropout_attributes {
                struct_size: size_of::<sys::tnr_sparse_dropout_attributes>() as u64,
                index_dtype: index,
                reserved: 0,
            },
        ))
    }
}

/// The entries of a product that are not zero, as CSR with indices of `I`.
pub(crate) fn from_matmul<I: SparseIndex>(
    a: Lent<'_>,
    b: Lent<'_>,
    with: Epilogue<'_>,
) -> Result<Made> {
    if with.clamp.is_some() {
        return Err(Error::new(ErrorKind::Unsupported, "from matmul takes no clamp"));
    }
    entered()?;
    traced!(from_matmul(a.raw()));
    let one = scalar(1_u8);
    // SAFETY: `a`, `b` and the bias are checked views of memory that is alive and not written
    // during the call; `one` and the attributes live until the call returns; a returned handle is
    // the only one of a new matrix, and `take` gets it at once.
    unsafe {
        Made::take(sys::tnr_sparse_from_matmul(
            current(),
            &one,
            a.raw(),
            b.raw(),
            &sys::tnr_sparse_from_matmul_attributes {
                struct_size: size_of::<sys::tnr_sparse_from_matmul_attributes>() as u64,
                bias: with.bias.map_or(ptr::null(), |bias| ptr::from_ref(bias.raw())),
                activation: with.activation,
                index_dtype: I::DTYPE.raw(),
                predicate: tnr_sparse_predicate::NON_ZERO,
                flags: 0,
                threshold: NO_SCALAR,
            },
        ))
    }
}

/// Writes every element of `out`, unless it fails.
pub(crate) fn to_dense(a: &LentSparse<'_>, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(to_dense(a.view()));
    // SAFETY: `LentSparse` and `LentMut` guarantee the requirements on views.
    check(unsafe { sys::tnr_sparse_to_dense(current(), a.as_ptr(), ptr::null(), out.raw()) })
}

// ---- from sparse to sparse ----

/// The entries of `a` as the options want them.
pub(crate) fn convert(a: &LentSparse<'_>, options: &SparseOptions<'_>) -> Result<Made> {
    entered()?;
    traced!(convert(options.format, a.view()));
    let attributes = sys::tnr_sparse_convert_attributes {
        struct_size: size_of::<sys::tnr_sparse_convert_attributes>() as u64,
        index_dtype: options.raw.index_dtype,
        flags: options.raw.flags,
        block_rows: options.raw.block_rows,
        block_cols: options.raw.block_cols,
    };
    // SAFETY: `LentSparse` guarantees the requirements on views. The result is taken at once: the
    // library has just made its blobs.
    unsafe {
        Made::take(sys::tnr_sparse_convert(current(), options.format, a.as_ptr(), &attributes))
    }
}

/// One entry for each position.
pub(crate) fn coalesce(a: &LentSparse<'_>, combine: tnr_sparse_combine) -> Result<Made> {
    entered()?;
    traced!(coalesce(a.view()));
    // SAFETY: the arrays of `a` are alive and not written during the call; the library checks
    // offsets and indices that were not checked before; the attributes may be NULL; a returned
    // handle is the only one of a new matrix, and `take` gets it at once.
    unsafe { Made::take(sys::tnr_sparse_coalesce(current(), combine, a.as_ptr(), ptr::null())) }
}

/// The entries that the options' predicate names; their format is that of `a`.
pub(crate) fn prune(a: &LentSparse<'_>, options: &SparseOptions<'_>) -> Result<Made> {
    entered()?;
    traced!(prune(a.view()));
    let attributes = sys::tnr_sparse_prune_attributes {
        struct_size: size_of::<sys::tnr_sparse_prune_attributes>() as u64,
        predicate: options.raw.predicate,
        flags: options.raw.flags,
        threshold: options.raw.threshold,
    };
    // SAFETY: the arrays of `a` are alive and not written during the call; the library checks
    // offsets and indices that were not checked before; `attributes` is a local that lives until
    // the call returns; a returned handle is the only one of a new matrix, and `take` gets it at
    // once.
    unsafe { Made::take(sys::tnr_sparse_prune(current(), a.as_ptr(), &attributes)) }
}

/// The largest entries of each row.
pub(crate) fn top_k(a: &LentSparse<'_>, k: usize, order: tnr_sparse_order) -> Result<Made> {
    entered()?;
    traced!(top_k(order, a.view()));
    // SAFETY: the arrays of `a` are alive and not written during the call; the library checks
    // offsets and indices that were not checked before; the attributes may be NULL; a returned
    // handle is the only one of a new matrix, and `take` gets it at once.
    unsafe {
        Made::take(sys::tnr_sparse_top_k(
            current(),
            order,
            a.as_ptr(),
            refusal::counted(&"k", k)?,
            ptr::null(),
        ))
    }
}

/// Rows and columns that are listed; `None`: all.
pub(crate) fn select(
    a: &LentSparse<'_>,
    rows: Option<Lent<'_>>,
    cols: Option<Lent<'_>>,
) -> Result<Made> {
    entered()?;
    traced!(sparse_select(a.view()));
    let pointer =
        |list: Option<Lent<'_>>| list.map_or(ptr::null(), |list| ptr::from_ref(list.raw()));
    // SAFETY: the arrays of `a` and the lists are alive and not written during the call; the
    // library checks offsets and indices that were not checked before; a list and the attributes
    // may be NULL; a returned handle is the only one of a new matrix, and `take` gets it at once.
    unsafe {
        Made::take(sys::tnr_sparse_select(
            current(),
            a.as_ptr(),
            pointer(rows),
            pointer(cols),
            ptr::null(),
        ))
    }
}

/// A block: the first row and how many, the first column and how many.
pub(crate) fn slice(a: &LentSparse<'_>, rows: [usize; 2], cols: [usize; 2]) -> Result<Made> {
    entered()?;
    traced!(slice(a.view()));
    // Within the extents of a matrix, which are `i64`.
    let [[row, row_count], [col, col_count]] = [rows, cols].map(|range| range.map(|at| at as i64));
    // SAFETY: the arrays of `a` are alive and not written during the call; the library checks
    // offsets and indices that were not checked before; the attributes may be NULL; a returned
    // handle is the only one of a new matrix, and `take` gets it at once.
    unsafe {
        Made::take(sys::tnr_sparse_slice(
            current(),
            a.as_ptr(),
            row,
            row_count,
            col,
            col_count,
            ptr::null(),
        ))
    }
}

/// Matrices one after the other.
pub(crate) fn concat(join: tnr_sparse_join, parts: &[LentSparse<'_>]) -> Result<Made> {
    entered()?;
    let views: Vec<_> = parts.iter().map(LentSparse::as_ptr).collect();
    let Ok(count) = u32::try_from(views.len()) else {
        return Err(Error::invalid(format!("{} parts are more than a u32 counts", views.len())));
    };
    if count == 0 {
        return Err(Error::invalid("there are no parts"));
    }
    traced!(sparse_concat(join, parts[0].view()));
    // SAFETY: `views` has `count` pointers to views that live until the call returns; their arrays
    // are not written during it; the library checks offsets and indices that were not checked
    // before; the attributes may be NULL; a returned handle is the only one of a new matrix, and
    // `take` gets it at once.
    unsafe {
        Made::take(sys::tnr_sparse_concat(current(), join, views.as_ptr(), count, ptr::null()))
    }
}

/// The Kronecker product.
pub(crate) fn kron(a: &LentSparse<'_>, b: &LentSparse<'_>) -> Result<Made> {
    entered()?;
    traced!(kron(a.view()));
    // SAFETY: the arrays of `a` and `b` are alive and not written during the call; the library
    // checks offsets and indices that were not checked before; the attributes may be NULL; a
    // returned handle is the only one of a new matrix, and `take` gets it at once.
    unsafe { Made::take(sys::tnr_sparse_kron(current(), a.as_ptr(), b.as_ptr(), ptr::null())) }
}

/// The entries of a triangle.
pub(crate) fn triangular(part: tnr_triangle, a: &LentSparse<'_>, diagonal: i64) -> Result<Made> {
    entered()?;
    traced!(sparse_triangular(part, a.view()));
    let struct_size = size_of::<sys::tnr_triangle_attributes>() as u64;
    let with = sys::tnr_triangle_attributes { struct_size, diagonal };
    // SAFETY: the arrays of `a` are alive and not written during the call; the library checks
    // offsets and indices that were not checked before; `with` is a local that lives until the call
    // returns; a returned handle is the only one of a new matrix, and `take` gets it at once.
    unsafe { Made::take(sys::tnr_sparse_triangular(current(), part, a.as_ptr(), &with)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csr(format: tnr_sparse_format) -> SparseForm {
        SparseForm { format, flags: 0, rows: 2, cols: 3, block: [1, 1] }
    }

    #[test]
    fn only_checked_views_say_so() {
        let lent =
            LentArrays::new(csr(tnr_sparse_format::CSR), &[0, 1, 2], &[2, 0], &[0.5_f32, 1.5]);
        lent.check().unwrap();
        // SAFETY: it was.
        let checked = unsafe { lent.checked() };
        // SAFETY: readable; a checked view says only to operations that it was checked.
        let (flags, owner) = unsafe { ((*checked.as_ptr()).flags, (*checked.as_ptr()).owner) };
        assert_eq!((flags, owner), (0, tenure_private_sparse_voucher()));
    }

    #[test]
    #[cfg_attr(miri, ignore = "calls the core")]
    fn a_handle_is_taken_apart() {
        let before = crate::raw::stats();
        let arrays: [&[i32]; 3] = [&[0, 1, 2], &[2, 0], &[7, 8]];
        let mut view =
            LentArrays::new(csr(tnr_sparse_format::CSR), arrays[0], arrays[1], arrays[2]).view;
        let blobs = arrays.map(|array| {
            // SAFETY: a slice is readable and initialised over its length.
            unsafe { BlobHandle::copy(array.as_ptr().cast(), size_of_val(array)) }.unwrap()
        });
        for (part, blob) in
            [&mut view.major, &mut view.minor, &mut view.values].into_iter().zip(&blobs)
        {
            part.owner = blob.token().addr() as u64;
            // SAFETY: the handle is alive.
            part.base = unsafe { sys::tnr_blob_data(blob.token()) };
            part.data = part.base;
        }
        // SAFETY: the view is of the blobs.
        let matrix = unsafe { sys::tnr_sparse_create(&view) };
        drop(blobs);
        // SAFETY: the only handle, of blobs that no other code holds any more.
        let made = unsafe { Made::take(matrix) }.unwrap();
        assert_eq!((made.view.rows, made.view.cols), (2, 3));
        assert_eq!(made.view.minor.data, view.minor.data);
        // SAFETY: a stale handle is what the library is made to refuse.
        let stale = unsafe { sys::tnr_sparse_release(matrix) };
        assert_eq!(stale, sys::tnr_status::STALE_HANDLE);
        let (form, (major, minor, mut values)) = made.into_parts::<i32, i32>().unwrap();
        assert_eq!((form.rows, form.cols, form.block), (2, 3, [1, 1]));
        assert_eq!((major.to_vec(), minor.to_vec()), (vec![0, 1, 2], vec![2, 0]));
        values.as_mut_slice().unwrap()[0] = 9;
        assert_eq!(values.to_vec(), [9, 8]);
        drop((major, minor, values));
        let after = crate::raw::stats();
        assert!(after.blobs_finished >= before.blobs_finished + 3);
    }

    #[test]
    #[cfg_attr(miri, ignore = "calls the core")]
    fn parts_of_other_types_are_no_parts() {
        let part = || BlobHandle::alloc(0).unwrap();
        let form = csr(tnr_sparse_format::COO);
        let view = LentArrays::new::<f32, i32>(form, &[], &[], &[]).view;
        let made = |batch_offsets| Made {
            view,
            major: part(),
            minor: part(),
            values: part(),
            batch_offsets,
        };
        let error = made(None).into_parts::<f32, i64>().err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(error.message().contains("[i32, i32, f32] but was asked for i64 and f32"));
        let error = made(None).into_batch::<f32, i32>().err().unwrap();
        assert!(error.message().contains("asked for a batch"));
        let error = made(Some(part())).into_parts::<f32, i32>().err().unwrap();
        assert!(error.message().contains("asked for one matrix"));
    }

    #[test]
    #[cfg_attr(miri, ignore = "calls the core")]
    fn null_is_the_last_error() {
        let view =
            LentArrays::new(csr(tnr_sparse_format(9)), &[0_i32; 3], &[0; 0], &[0_u8; 0]).view;
        // SAFETY: the view is refused; the returned pointer is taken at once.
        let error = unsafe { Made::take(sys::tnr_sparse_create(&view)) }.err().unwrap();
        assert_eq!(error.message(), "format is 9, which names no format");
    }
}
