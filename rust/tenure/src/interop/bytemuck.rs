//! Plain data of the crate `bytemuck`: slices of structs as elements with an axis for their fields.

use ::bytemuck::{Pod, Zeroable};
use tenure_sys::TNR_MAX_RANK;

use crate::dense::{DynView, DynViewMut, IntoShape, TensorView, TensorViewMut};
use crate::dtype::{Bool8, DType, Element};
use crate::error::{Error, Result};
use crate::layout;
use crate::layout::refusal;

// SAFETY: a byte, and 0 is a value of it.
unsafe impl Zeroable for Bool8 {}
// SAFETY: a byte, transparently, and every byte is a value of it.
unsafe impl Pod for Bool8 {}

/// The shape of `len` structs, with the elements of one as the last axis.
fn with_fields<S>(extents: &[usize], len: usize, dtype: DType) -> Result<Vec<usize>> {
    if extents.len() == TNR_MAX_RANK {
        return Err(refusal::rank_too_high(TNR_MAX_RANK + 1));
    }
    let count = layout::element_count(extents)?;
    if count != len {
        return Err(refusal::wrong_count(extents, count, len));
    }
    Ok([extents, &[fields::<S>(dtype)?]].concat())
}

/// The number of elements of a struct.
fn fields<S>(dtype: DType) -> Result<usize> {
    let (size, element) = (size_of::<S>(), dtype.size_bytes());
    if size % element == 0 {
        return Ok(size / element);
    }
    Err(Error::invalid(format!(
        "a struct of {size} bytes is no whole number of {dtype} of {element}"
    )))
}

/// Structs of no bytes, one for each index of the axes in front of the last.
fn structs_of_no_bytes<'a, S: Pod>(shape: &[usize]) -> Result<&'a [S]> {
    assert_eq!(size_of::<S>(), 0);
    // The view has no element that would bound these axes.
    let count = layout::element_count(&shape[..shape.len() - 1])?;
    // SAFETY: a slice of any length has no byte, and no value of a `Pod` is invalid.
    Ok(unsafe { std::slice::from_raw_parts(std::ptr::NonNull::dangling().as_ptr(), count) })
}

/// Whether the last axis is the elements of a struct.
fn require_structs<S>(shape: &[usize], dtype: DType) -> Result<()> {
    let fields = fields::<S>(dtype)?;
    match shape.last() {
        Some(&last) if last == fields => Ok(()),
        Some(&last) => Err(Error::invalid(format!(
            "the last axis has extent {last} but a struct has {fields} elements of {dtype}"
        ))),
        None => Err(Error::invalid(format!(
            "rank is 0 but the last axis must be the {fields} elements of {dtype} of a struct"
        ))),
    }
}

#[cold]
fn not_adjacent(shape: &[usize], strides: &[isize]) -> Error {
    Error::invalid(format!(
        "shape {shape:?} with strides {strides:?} is not row-major, which a slice is"
    ))
}

#[cold]
fn not_cast(
    error: ::bytemuck::PodCastError,
    address: usize,
    size: usize,
    alignment: usize,
) -> Error {
    Error::invalid(format!(
        "{size} bytes, {} past a multiple of {alignment}, are no slice of structs: {error}",
        address % alignment
    ))
}

/// Plain data.
impl<'a, T: Element> TensorView<'a, T> {
    /// Lends structs of plain data as elements: the shape is that of the structs, and the elements
    /// of each are one more axis, the last.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another count of structs, structs of no whole number of elements or
    /// aligned for less, or a rank over 8 with the new axis.
    ///
    /// ```
    /// use bytemuck::{Pod, Zeroable};
    /// use tenure::TensorView;
    ///
    /// #[derive(Clone, Copy, Pod, Zeroable)]
    /// #[repr(C)]
    /// struct Point {
    ///     x: f32,
    ///     y: f32,
    /// }
    ///
    /// let points = [(1.0, 10.0), (2.0, 20.0), (3.0, 30.0)].map(|(x, y)| Point { x, y });
    /// let view = TensorView::<f32>::from_pods(&points, 3)?;
    /// assert_eq!((view.shape(), view[[1, 1]]), (&[3, 2][..], 20.0));
    /// assert_eq!(tenure::ops::mean(view, 0)?.to_vec(), [2.0, 20.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn from_pods<S: Pod>(structs: &'a [S], shape: impl IntoShape) -> Result<Self> {
        let shape = with_fields::<S>(shape.extents(), structs.len(), T::DTYPE)?;
        DynView::from_bytes(::bytemuck::cast_slice(structs), T::DTYPE, shape)?.downcast()
    }

    /// The structs that the elements of the last axis are, in row-major order: what
    /// [`from_pods`](Self::from_pods) was given, or any plain data of as many elements. Structs of
    /// no bytes are as many as the axes in front of the last have.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: an axis of another extent, a view that is not row-major, elements that
    /// are not aligned for the struct, or more structs of no bytes than an `i64` counts.
    ///
    /// ```
    /// use tenure::TensorView;
    ///
    /// let view = TensorView::from_slice(&[1_u8, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(view.as_pods::<[u8; 3]>()?, [[1, 2, 3], [4, 5, 6]]);
    ///
    /// let error = view.as_pods::<[u8; 2]>().err().unwrap();
    /// assert_eq!(
    ///     error.message(),
    ///     "the last axis has extent 3 but a struct has 2 elements of u8"
    /// );
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn as_pods<S: Pod>(&self) -> Result<&'a [S]> {
        require_structs::<S>(self.shape(), T::DTYPE)?;
        let bytes = self.as_elements::<u8>()?;
        let Some(bytes) = bytes.as_slice() else {
            return Err(not_adjacent(self.shape(), self.strides()));
        };
        if size_of::<S>() == 0 {
            return structs_of_no_bytes(self.shape());
        }
        if bytes.is_empty() {
            return Ok(&[]); // nothing is misaligned
        }
        ::bytemuck::try_cast_slice(bytes)
            .map_err(|error| not_cast(error, bytes.as_ptr().addr(), bytes.len(), align_of::<S>()))
    }
}

/// Plain data.
impl<'a, T: Element> TensorViewMut<'a, T> {
    /// Lends structs for writing, like [`TensorView::from_pods`].
    ///
    /// # Errors
    ///
    /// The errors of [`TensorView::from_pods`].
    ///
    /// ```
    /// use tenure::TensorViewMut;
    ///
    /// let mut pixels = [[0_u8; 3]; 4];
    /// TensorViewMut::<u8>::from_pods(&mut pixels, [2, 2])?.index(2, 1)?.fill(255);
    /// assert_eq!(pixels, [[0, 255, 0]; 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn from_pods<S: Pod>(structs: &'a mut [S], shape: impl IntoShape) -> Result<Self> {
        let shape = with_fields::<S>(shape.extents(), structs.len(), T::DTYPE)?;
        let bytes = ::bytemuck::cast_slice_mut(structs);
        Ok(DynViewMut::from_bytes(bytes, T::DTYPE, shape)?.downcast()?)
    }
}
