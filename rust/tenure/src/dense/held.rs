//! Memory held through a blob, with one dense shape over all of it. A `Tensor` is its only holder;
//! the clones of a `SharedTensor` hold it together.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::ptr::NonNull;

use tenure_sys::{DLManagedTensorVersioned, TNR_VIEW_EXCLUSIVE, tnr_view, tnr_view_mut};

use crate::dtype::Element;
use crate::error::{Error, Rejected, Result};
use crate::layout;
use crate::layout::{order::Order, refusal};
use crate::owner::{Boxed, VecParts};
use crate::raw::{self, BlobHandle, LentMut, operations};
use crate::tenure::Tenure;

// The invariant: `raw` is a dense view of exactly the blob's memory, whose elements are
// initialised, and written only by the holder (shared memory: never).
pub(crate) struct Held<T: Element> {
    raw: tnr_view,
    blob: BlobHandle,
    /// The context that goes with an adopted `Vec`: a `Boxed<VecParts<T>>`.
    vec: Option<NonNull<c_void>>,
    _elements: PhantomData<T>,
}

// SAFETY: it holds elements, as a `Vec<T>` does, and an owner that is Send by the bounds of the
// constructors and is touched once more, when the last holder drops it.
unsafe impl<T: Element + Send> Send for Held<T> {}
// SAFETY: through `&Held` elements are read and nothing else happens; the owner is not touched.
unsafe impl<T: Element + Sync> Sync for Held<T> {}

/// Why memory was not taken, and the owner.
type Refusal<O> = (Error, Boxed<O>);

impl<T: Element> Held<T> {
    #[inline(always)]
    fn over(raw: tnr_view, blob: BlobHandle) -> Self {
        Held { raw, blob, vec: None, _elements: PhantomData }
    }

    /// Takes memory that the library has allocated.
    ///
    /// # Safety
    ///
    /// - `raw` is a dense view of exactly the blob's memory, of elements of type `T`, all written.
    /// - Nobody else reads or writes it.
    pub(crate) unsafe fn made(raw: tnr_view, blob: BlobHandle) -> Self {
        Held::over(raw, blob)
    }

    /// New memory.
    ///
    /// # Safety
    ///
    /// - Every element is written before it is read and before the result is shown to anybody.
    pub(crate) unsafe fn uninitialised(extents: &[usize], order: Order) -> Result<Self> {
        let mut raw = layout::blank(T::DTYPE, extents.len());
        let blob = Self::place_new(&mut raw, extents, order)?;
        Ok(Held::over(raw, blob))
    }

    /// Shapes a blank view, and puts it onto new memory of undefined bytes.
    #[inline(always)]
    fn place_new(raw: &mut tnr_view, extents: &[usize], order: Order) -> Result<BlobHandle> {
        let size_bytes = layout::set_shape(raw, T::DTYPE, extents, order)? * size_of::<T>();
        let mut blob = BlobHandle::alloc(size_bytes)?;
        layout::place(raw, blob.data_mut(), size_bytes);
        Ok(blob)
    }

    /// New memory, initialised by `write` through the view that it gets.
    ///
    /// # Safety
    ///
    /// - When `write` answers Ok, it has written every element of the view, and read none before.
    // The view is made once, in place, and copied once, after the call: a copy of 192 bytes right
    // after writes of single words waits for them, and there were six of them.
    #[inline(always)]
    pub(crate) unsafe fn written_by(
        extents: &[usize],
        order: Order,
        write: impl FnOnce(LentMut<'_>) -> Result<()>,
    ) -> Result<Self> {
        let mut out = tnr_view_mut { view: layout::blank(T::DTYPE, extents.len()) };
        let blob = Self::place_new(&mut out.view, extents, order)?;
        out.view.flags = TNR_VIEW_EXCLUSIVE;
        // SAFETY: a dense view of memory that nothing else refers to.
        write(unsafe { LentMut::new(&out) })?;
        // `write` has written every element, or the memory was dropped unseen.
        Ok(Held::over(tnr_view { flags: 0, ..out.view }, blob))
    }

    /// New memory, whose bytes `write` writes.
    ///
    /// # Safety
    ///
    /// - When `write` answers Ok, it has written every byte.
    pub(crate) unsafe fn filled_by(
        extents: &[usize],
        order: Order,
        write: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<()>,
    ) -> Result<Self> {
        // SAFETY: `write` writes every element, or the memory is dropped unseen.
        let held = unsafe { Self::uninitialised(extents, order) }?;
        let mut spare: &mut [MaybeUninit<u8>] = &mut [];
        if held.raw.size_bytes > 0 {
            let (data, len) = (held.raw.base.cast_mut().cast(), held.raw.size_bytes as usize);
            // SAFETY: the blob has that many bytes, and nothing else refers to them.
            spare = unsafe { std::slice::from_raw_parts_mut(data, len) };
        }
        write(spare)?;
        Ok(held)
    }

    /// The elements as they lie in memory, whatever the shape says of their order.
    pub(crate) fn elements(&self) -> &[T] {
        if self.raw.size_bytes == 0 {
            return &[];
        }
        let len = self.raw.size_bytes as usize / size_of::<T>();
        // SAFETY: the type's invariant; nothing writes while `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.raw.base.cast(), len) }
    }

    /// The elements as they lie in memory, to be written.
    pub(crate) fn elements_mut(&mut self) -> &mut [T] {
        if self.raw.size_bytes == 0 {
            return &mut [];
        }
        let len = self.raw.size_bytes as usize / size_of::<T>();
        // SAFETY: the type's invariant, and a `Tensor` is the only holder of its memory and may
        // write it; `&mut self` keeps everybody else away.
        unsafe { std::slice::from_raw_parts_mut(self.raw.base.cast_mut().cast(), len) }
    }

    /// Gives the memory another dtype and shape, which must take all of it.
    pub(crate) fn into_elements<U: Element>(
        self,
        extents: &[usize],
        order: Order,
    ) -> Result<Held<U>> {
        let (size_bytes, element_bytes) = (self.raw.size_bytes as usize, size_of::<U>());
        let (mut raw, count) = layout::shaped(U::DTYPE, extents, order)?;
        if count * element_bytes != size_bytes {
            return Err(refusal::wrong_count(extents, count, size_bytes / element_bytes));
        }
        layout::place(&mut raw, self.raw.base, size_bytes);
        if count > 0 {
            layout::check_aligned(&raw)?;
        }
        // Any initialised bytes are elements. An adopted `Vec` was of another type: it stays with
        // the blob, and is not given back.
        Ok(Held::over(raw, self.blob))
    }

    /// New memory of zeros.
    pub(crate) fn zeros(extents: &[usize], order: Order) -> Result<Self> {
        if raw::has_context() {
            // SAFETY: bytes of 0 are a value of every element type.
            return Self::full(extents, order, unsafe { mem::zeroed() });
        }
        // On one thread nothing is faster than the C library.
        // SAFETY: all elements are written in the next statement.
        let held = unsafe { Self::uninitialised(extents, order) }?;
        Ok(held.cleared())
    }

    /// New row-major memory of zeros, which `allocate` gets by its size.
    pub(crate) fn zeros_by(
        extents: &[usize],
        allocate: impl FnOnce(usize) -> Result<BlobHandle>,
    ) -> Result<Self> {
        let (mut raw, count) = layout::shaped(T::DTYPE, extents, Order::RowMajor)?;
        let size_bytes = count * size_of::<T>();
        let mut blob = allocate(size_bytes)?;
        layout::place(&mut raw, blob.data_mut(), size_bytes);
        Ok(Held::over(raw, blob).cleared())
    }

    /// With 0 in every byte of memory that is new, and the host's.
    fn cleared(self) -> Self {
        if self.raw.size_bytes > 0 {
            let bytes = self.raw.base.cast_mut().cast::<u8>();
            // SAFETY: the blob has that many bytes, and nothing else refers to them. Bytes of 0 are
            // a value of every element type.
            unsafe { bytes.write_bytes(0, self.raw.size_bytes as usize) };
        }
        self
    }

    /// New memory with `value` in every element.
    pub(crate) fn full(extents: &[usize], order: Order, value: T) -> Result<Self> {
        // SAFETY: a fill that answers Ok has written every element, and reads none.
        unsafe { Self::written_by(extents, order, |out| operations::fill(value, out)) }
    }

    /// New memory that holds a copy of `data`.
    pub(crate) fn copy(data: &[T], extents: &[usize], order: Order) -> Result<Self> {
        let source = data.as_ptr().cast::<c_void>();
        let mut raw = layout::dense(source, data.len(), T::DTYPE, extents, order)?;
        // SAFETY: a slice is readable and initialised over its length.
        let mut blob = unsafe { BlobHandle::copy(source, size_of_val(data)) }?;
        layout::place(&mut raw, blob.data_mut(), size_of_val(data));
        Ok(Held::over(raw, blob))
    }

    /// Copies the elements into new memory, under the same strides.
    pub(crate) fn duplicate(&self) -> Result<Self> {
        let size_bytes = self.raw.size_bytes as usize;
        // SAFETY: the blob's memory is readable and initialised, by the type's invariant.
        let mut blob = unsafe { BlobHandle::copy(self.raw.base, size_bytes) }?;
        let mut raw = self.raw;
        layout::place(&mut raw, blob.data_mut(), size_bytes);
        Ok(Held::over(raw, blob))
    }

    /// Takes a `Vec` over, to be given back by [`into_vec`](Self::into_vec).
    pub(crate) fn adopt_vec(
        vec: Vec<T>,
        extents: &[usize],
        order: Order,
    ) -> Result<Self, Rejected<Vec<T>>> {
        let mut parts = Boxed::new(VecParts::new(vec));
        let elements = parts.ask(|parts| (parts.data(), parts.len()));
        // SAFETY: these are the elements of the `Vec`, which goes along as the owner.
        match unsafe { Self::adopt(elements, extents, order, parts) } {
            Ok((mut held, context)) => {
                held.vec = NonNull::new(context);
                Ok(held)
            }
            Err((error, parts)) => Err(Rejected::new(error, parts.into_inner().into_vec())),
        }
    }

    /// Adopts a `Vec`; `raw` is a dense shape over some of its elements, from number `offset` on.
    /// [`reclaim_vec`](Self::reclaim_vec) gives the `Vec` back only where the shape covers all
    /// elements.
    #[cfg(feature = "ndarray")]
    pub(crate) fn adopt_vec_laid(
        vec: Vec<T>,
        offset: usize,
        mut raw: tnr_view,
    ) -> Result<Self, Rejected<Vec<T>>> {
        let mut parts = Boxed::new(VecParts::new(vec));
        let (data, len) = parts.ask(|parts| (parts.data(), parts.len()));
        let count = layout::count(&raw);
        debug_assert!(layout::is_dense(&raw) && offset + count <= len);
        let data = data.wrapping_add(offset);
        layout::place(&mut raw, data.cast(), count * size_of::<T>());
        let taken = parts.hand_over(|release, context| {
            // SAFETY: these are elements of the `Vec`, which goes along as the owner; `release`
            // drops it, and does not unwind.
            unsafe { BlobHandle::adopt(data.cast(), raw.size_bytes as usize, release, context) }
        });
        match taken {
            Ok((blob, context)) => {
                let mut held = Held::over(raw, blob);
                held.vec = NonNull::new(context).filter(|_| count == len);
                Ok(held)
            }
            Err((error, parts)) => Err(Rejected::new(error, parts.into_inner().into_vec())),
        }
    }

    /// Takes an owner over, whose elements the holder may write.
    pub(crate) fn adopt_owner<O: AsMut<[T]> + Send + 'static>(
        owner: O,
        extents: &[usize],
    ) -> Result<Self, Rejected<O>> {
        let mut owner = Boxed::new(owner);
        let elements = owner.ask(|owner| {
            let elements = owner.as_mut();
            (elements.as_mut_ptr(), elements.len())
        });
        // SAFETY: the owner has lent these elements exclusively, at an address that stays, and
        // nothing touches it until it is dropped.
        match unsafe { Self::adopt(elements, extents, Order::RowMajor, owner) } {
            Ok((held, _)) => Ok(held),
            Err((error, owner)) => Err(Rejected::new(error, owner.into_inner())),
        }
    }

    /// # Safety
    ///
    /// - `elements` are valid, and only the holder uses them, until `owner` is dropped, on any
    ///   thread.
    unsafe fn adopt<O>(
        (data, len): (*mut T, usize),
        extents: &[usize],
        order: Order,
        owner: Boxed<O>,
    ) -> Result<(Self, *mut c_void), Refusal<O>> {
        let raw = match layout::dense(data.cast(), len, T::DTYPE, extents, order) {
            Ok(raw) => raw,
            Err(error) => return Err((error, owner)),
        };
        let (blob, context) = owner.hand_over(|release, context| {
            // SAFETY: by this function's contract; `release` drops the owner, and does not unwind.
            unsafe { BlobHandle::adopt(data.cast(), raw.size_bytes as usize, release, context) }
        })?;
        Ok((Held::over(raw, blob), context))
    }

    /// Takes a share in an owner. Its elements are never written.
    pub(crate) fn share_owner<O: AsRef<[T]> + Send + Sync + 'static>(
        owner: O,
        extents: &[usize],
    ) -> Result<Self, Rejected<O>> {
        let mut owner = Boxed::new(owner);
        let (data, len) = owner.ask(|owner| {
            let elements = (*owner).as_ref();
            (elements.as_ptr(), elements.len())
        });
        let laid = layout::dense(data.cast(), len, T::DTYPE, extents, Order::RowMajor);
        // SAFETY: the owner has lent these elements, at an address that stays, and nothing touches
        // it until it is dropped.
        unsafe { Self::share(laid, owner) }
    }

    /// Takes a share in an owner of bytes.
    pub(crate) fn share_bytes<O: AsRef<[u8]> + Send + Sync + 'static>(
        owner: O,
        offset_bytes: usize,
        extents: &[usize],
    ) -> Result<Self, Rejected<O>> {
        let mut owner = Boxed::new(owner);
        let (bytes, size_bytes) = owner.ask(|owner| {
            let bytes = (*owner).as_ref();
            (bytes.as_ptr(), bytes.len())
        });
        let laid = layout::dense_in_bytes(bytes, size_bytes, offset_bytes, T::DTYPE, extents);
        // SAFETY:
        // - lent: the owner has lent these bytes, at an address that stays.
        // - not touched: the owner is used by nothing until it is dropped, and is Send and Sync.
        // - a dense view inside the bytes, aligned: `dense_in_bytes` checks that.
        // - of elements of `T`: any bytes are, by the contract of `Element`.
        unsafe { Self::share(laid, owner) }
    }

    /// Takes a share in an owner that has lent its elements before.
    ///
    /// # Safety
    ///
    /// - The view is dense, and of elements of `T`.
    /// - Its elements stay where they are when the owner is moved. They are valid, and not written,
    ///   until it is dropped, on any thread.
    #[cfg(feature = "ndarray")]
    pub(crate) unsafe fn share_laid<O: Send + Sync + 'static>(
        laid: Result<tnr_view>,
        owner: O,
    ) -> Result<Self, Rejected<O>> {
        // SAFETY: by this function's contract.
        unsafe { Self::share(laid, Boxed::new(owner)) }
    }

    /// # Safety
    ///
    /// - The elements of the view are valid, and not written, until `owner` is dropped, on any
    ///   thread.
    unsafe fn share<O>(laid: Result<tnr_view>, owner: Boxed<O>) -> Result<Self, Rejected<O>> {
        let shared = match laid {
            Ok(raw) => owner
                .hand_over(|release, context| {
                    // SAFETY: by this function's contract; `release` drops the owner, and does not
                    // unwind.
                    unsafe {
                        BlobHandle::share(raw.base, raw.size_bytes as usize, release, context)
                    }
                })
                .map(|(blob, _)| Held::over(raw, blob)),
            Err(error) => Err((error, owner)),
        };
        shared.map_err(|(error, owner)| Rejected::new(error, owner.into_inner()))
    }

    /// Ends the holding and gives an adopted `Vec` back, if it is one and the shape still says its
    /// elements in their order.
    #[expect(clippy::result_large_err, reason = "the refused holder goes back, by value")]
    pub(crate) fn into_vec(self) -> Result<Vec<T>, Self> {
        if layout::is_row_major(&self.raw) { Ok(self.reclaim_vec()?.0) } else { Err(self) }
    }

    /// Ends the holding and gives an adopted `Vec` back, if it is one, and the shape over it.
    #[expect(clippy::result_large_err, reason = "the refused holder goes back, by value")]
    pub(crate) fn reclaim_vec(self) -> Result<(Vec<T>, tnr_view), Self> {
        let Some(context) = self.vec else {
            return Err(self);
        };
        let Held { raw, blob, vec, _elements } = self;
        match blob.reclaim(context.as_ptr()) {
            Ok(()) => {
                // SAFETY: the context is the one that `adopt_vec` handed over; the library has
                // forgotten it, and `vec` is not used again.
                let parts = unsafe { Boxed::<VecParts<T>>::from_context(context.as_ptr()) };
                Ok((parts.into_inner().into_vec(), raw))
            }
            Err(blob) => Err(Held { raw, blob, vec, _elements }),
        }
    }

    #[inline]
    pub(crate) fn raw(&self) -> &tnr_view {
        &self.raw
    }

    /// The view with its owner, for a caller that holds on to the owner.
    pub(crate) fn owned_raw(&self) -> tnr_view {
        self.blob.owned(&self.raw)
    }

    /// A managed tensor that holds on to the memory.
    pub(crate) fn export(&self, is_read_only: bool) -> Result<NonNull<DLManagedTensorVersioned>> {
        self.blob.export(&self.raw, is_read_only)
    }

    pub(crate) fn tenure(&self) -> Tenure {
        self.blob.tenure()
    }
}
