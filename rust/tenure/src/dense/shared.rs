//! Memory held together with others, which is never written.

use std::ops::Index;
use std::ptr::NonNull;
use std::sync::Arc;

use tenure_sys::{DLManagedTensorVersioned, tnr_view};

use crate::dense::Held;
use crate::dense::iter::Iter;
use crate::dense::{IntoShape, Tensor, TensorView};
use crate::dtype::Element;
use crate::error::{Rejected, Result};
use crate::layout::refusal;
use crate::tenure::Tenure;

/// A tensor that others may hold too, as an `Arc` does, and that is never written.
///
/// ```
/// use std::sync::Arc;
/// use tenure::SharedTensor;
///
/// let elements: Arc<[f32]> = Arc::from([1.0, 2.0, 3.0, 4.0]);
/// let shared = SharedTensor::from_arc(elements.clone(), [2, 2])?;
/// let clone = shared.clone();
/// std::thread::spawn(move || assert_eq!(clone[[1, 0]], 3.0)).join().unwrap();
/// assert_eq!(shared.view().as_ptr(), elements.as_ptr());
/// # Ok::<(), tenure::Error>(())
/// ```
// Clones are counted here and not by the library's retain, which can fail.
pub struct SharedTensor<T: Element> {
    held: Arc<Held<T>>,
}

impl<T: Element> Clone for SharedTensor<T> {
    fn clone(&self) -> Self {
        SharedTensor { held: Arc::clone(&self.held) }
    }
}

/// Construction.
impl<T: Element> SharedTensor<T> {
    pub(crate) fn new(held: Held<T>) -> Self {
        SharedTensor { held: Arc::new(held) }
    }

    /// Shares an `Arc<[T]>`, row-major, without a copy. The shape must have exactly as many
    /// elements.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another count of elements, or a rank over 8. `OutOfMemory`: the
    /// library's own record of it. The `Arc` comes back with the error.
    ///
    /// ```
    /// # use tenure::*;
    /// let arc: std::sync::Arc<[u8]> = [1, 2, 3, 4].into();
    /// let shared = SharedTensor::from_arc(arc.clone(), [2, 2])?;
    /// assert_eq!(shared.as_ptr(), arc.as_ptr());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_arc(arc: Arc<[T]>, shape: impl IntoShape) -> Result<Self, Rejected<Arc<[T]>>> {
        Self::from_owner(arc, shape)
    }

    /// Shares any owner of elements, row-major, without a copy. The owner is moved to an address
    /// that stays, asked for its elements once, and dropped when the last clone is.
    ///
    /// # Errors
    ///
    /// The errors of [`from_arc`](Self::from_arc); the owner comes back with the error.
    ///
    /// ```
    /// # use tenure::*;
    /// static TABLE: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
    /// let shared = SharedTensor::from_owner(&TABLE, [2, 2])?;
    /// assert_eq!(shared.as_ptr(), TABLE.as_ptr());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_owner<O>(owner: O, shape: impl IntoShape) -> Result<Self, Rejected<O>>
    where
        O: AsRef<[T]> + Send + Sync + 'static,
    {
        Ok(Self::new(Held::share_owner(owner, shape.extents())?))
    }

    /// Shares an owner of bytes, a mapped file for example: elements in native byte order,
    /// row-major, from `offset_bytes` on. Bytes after the last element are left alone. Where
    /// several tensors lie in one file, hold its bytes as a `SharedTensor<u8>` and hand its clones
    /// over (not an `Arc` of the map, which is no `AsRef<[u8]>`), or take
    /// [`safetensors::Shared`](crate::io::safetensors::Shared).
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: the elements leave the bytes or are not aligned for `T`, or a rank over
    /// 8. `OutOfMemory`: the library's own record of it. The owner comes back with the error.
    ///
    /// ```
    /// use tenure::SharedTensor;
    ///
    /// let file: Vec<u8> = vec![9, 9, 1, 2, 3, 4]; // two bytes of header
    /// let pixels = SharedTensor::<u8>::from_bytes(file, 2, [2, 2])?;
    /// assert_eq!(pixels.to_vec(), [1, 2, 3, 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn from_bytes<O>(
        owner: O,
        offset_bytes: usize,
        shape: impl IntoShape,
    ) -> Result<Self, Rejected<O>>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        Ok(Self::new(Held::share_bytes(owner, offset_bytes, shape.extents())?))
    }
}

/// Lending, and giving back.
impl<T: Element> SharedTensor<T> {
    #[inline]
    pub(crate) fn raw(&self) -> &tnr_view {
        self.held.raw()
    }

    /// The view with its owner, for a graph that holds on to it.
    pub(crate) fn owned_raw(&self) -> tnr_view {
        self.held.owned_raw()
    }

    /// A managed tensor that holds on to the memory.
    pub(crate) fn export(&self, is_read_only: bool) -> Result<NonNull<DLManagedTensorVersioned>> {
        self.held.export(is_read_only)
    }

    /// Lends the elements for reading.
    ///
    /// ```
    /// # use tenure::*;
    /// let shared = SharedTensor::from_owner(vec![1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(shared.view().t().to_vec(), [1, 3, 2, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn view(&self) -> TensorView<'_, T> {
        // SAFETY: `Held` keeps the elements alive, and memory is not written while it is shared.
        unsafe { TensorView::from_raw(*self.raw()) }
    }

    #[inline]
    pub(crate) fn view_ref(&self) -> &TensorView<'_, T> {
        // SAFETY: the raw view is dense over all of the blob's memory; `Held` keeps the elements
        // alive and initialised; memory is not written while it is shared.
        unsafe { TensorView::from_raw_ref(self.raw()) }
    }

    /// The `Vec` that was adopted before [`Tensor::into_shared`]: the same allocation, with its
    /// capacity. For the last holder only.
    ///
    /// # Errors
    ///
    /// The tensor itself, unchanged, where another holder exists, or no `Vec` was adopted, or it is
    /// not row-major.
    ///
    /// ```
    /// use tenure::Tensor;
    ///
    /// let shared = Tensor::from_vec(vec![1, 2, 3], [3])?.into_shared();
    /// let clone = shared.clone();
    /// let shared = shared.into_vec().err().unwrap(); // the clone holds it too
    /// drop(clone);
    /// assert_eq!(shared.into_vec().ok(), Some(vec![1, 2, 3]));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn into_vec(self) -> Result<Vec<T>, Self> {
        match Arc::try_unwrap(self.held) {
            Ok(held) => held.into_vec().map_err(Self::new),
            Err(held) => Err(SharedTensor { held }),
        }
    }

    /// The memory itself, for the last holder.
    #[cfg(feature = "ndarray")]
    pub(crate) fn into_held(self) -> Result<Held<T>, Self> {
        Arc::try_unwrap(self.held).map_err(|held| SharedTensor { held })
    }

    /// Copies the elements, in row-major order, into a new `Vec`.
    ///
    /// ```
    /// # use tenure::*;
    /// let shared = SharedTensor::from_owner(vec![1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(shared.to_vec(), [1, 2, 3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_vec(&self) -> Vec<T> {
        self.view().to_vec()
    }

    /// Copies the elements into a row-major tensor that may be written.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let shared = SharedTensor::from_owner(vec![1, 2, 3, 4], [2, 2])?;
    /// let mut tensor = shared.to_tensor()?;
    /// tensor[[0, 0]] = 10;
    /// assert_eq!((shared[[0, 0]], tensor[[0, 0]]), (1, 10));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_tensor(&self) -> Result<Tensor<T>> {
        self.view().to_tensor()
    }
}

/// Tenure of the memory.
impl<T: Element> SharedTensor<T> {
    /// [`Tenure::Shared`], or the tenure of the [`Tensor`] that it was made from.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(SharedTensor::from_owner([1, 2], 2)?.tenure(), Tenure::Shared);
    /// assert_eq!(Tensor::<u8>::zeros(2)?.into_shared().tenure(), Tenure::Allocated);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn tenure(&self) -> Tenure {
        self.held.tenure()
    }
}

/// Elements.
impl<T: Element> SharedTensor<T> {
    /// One element, or `None` where an index is outside its axis or the rank differs.
    ///
    /// ```
    /// # use tenure::*;
    /// let shared = SharedTensor::from_owner(vec![1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(shared.get([1, 0]), Some(&3));
    /// assert_eq!(shared.get([0, 2]), None);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn get<const N: usize>(&self, index: [usize; N]) -> Option<&T> {
        self.view().get(index)
    }

    /// The elements as a slice, where they are adjacent in row-major order.
    ///
    /// ```
    /// # use tenure::*;
    /// let shared = SharedTensor::from_owner(vec![1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(shared.as_slice(), Some(&[1, 2, 3, 4][..]));
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn as_slice(&self) -> Option<&[T]> {
        self.view().as_slice()
    }

    /// The elements in row-major order.
    ///
    /// ```
    /// # use tenure::*;
    /// let shared = SharedTensor::from_owner(vec![1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(shared.iter().sum::<i32>(), 10);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        self.view().iter()
    }
}

/// Panics as slices do where an index is outside; [`get`](SharedTensor::get) does not.
impl<T: Element, const N: usize> Index<[usize; N]> for SharedTensor<T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; N]) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => refusal::no_such_element(self.raw(), &index),
        }
    }
}

/// The elements as they lie in memory: in the order of the shape where the tensor is row-major.
///
/// So tensors of other dtypes can lie in a shared tensor of bytes, by
/// [`from_bytes`](SharedTensor::from_bytes), and hold on to it.
impl<T: Element> AsRef<[T]> for SharedTensor<T> {
    fn as_ref(&self) -> &[T] {
        self.held.elements()
    }
}
