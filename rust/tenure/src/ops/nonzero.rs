//! Elements by a condition: their places, the elements, and others in their place.

use super::results::refused;
use super::select::{select, select_into};
use crate::dense::Tensor;
use crate::dtype::{Bool8, Element, Real};
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::raw::movement::{self, Made};

/// All of a blob that an operation has made.
///
/// The elements are of type `T`, as `raw::movement` says of the call.
#[allow(unsafe_code)]
fn of_made<T: Element>((blob, view): Made) -> Tensor<T> {
    // SAFETY: by this function's contract, which its callers below keep; the library has written
    // every element, and nothing else refers to the blob.
    unsafe { Tensor::made(view, blob) }
}

/// The places of the elements that are not 0, in row-major order: a row for each, with an index for
/// each axis. NaN is not 0.
///
/// # Errors
///
/// `OutOfMemory`.
///
/// ```
/// use tenure::ops::nonzero;
///
/// let places = nonzero(&[[0.0, 3.0], [5.0, 0.0], [0.0, 1.0]])?;
/// assert_eq!(places.shape(), [3, 2]);
/// assert_eq!(places.to_vec(), [0, 1, 1, 0, 2, 1]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("argwhere", "flatnonzero", "where"))]
pub fn nonzero<T: Real>(a: impl AsView<T>) -> Result<Tensor<i64>> {
    movement::nonzero(a.as_view().lent()).map(of_made)
}

/// The elements of `a` where the mask is true, in row-major order: a vector.
///
/// # Errors
///
/// `InvalidArgument`: the mask does not broadcast to `a`. `OutOfMemory`.
///
/// ```
/// use tenure::ops::{gt, masked_select};
///
/// let a = [[0.5, 3.0], [5.0, 0.1]];
/// assert_eq!(masked_select(&a, &gt(&a, 1.0)?)?.to_vec(), [3.0, 5.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("boolean_mask", "compress", "extract"))]
pub fn masked_select<T: Element>(a: impl AsView<T>, mask: impl AsView<Bool8>) -> Result<Tensor<T>> {
    let (a, mask) = (a.as_view(), mask.as_view());
    let made = movement::masked_select(a.lent(), mask.lent())
        .map_err(|error| refused(error, "masked_select", &[a.shape(), mask.shape()], None))?;
    Ok(of_made(made))
}

/// `value` where the mask is true, else `a`. A new row-major tensor of the shape that the three
/// broadcast to.
///
/// # Errors
///
/// `InvalidArgument`: the shapes do not broadcast. `OutOfMemory`.
///
/// ```
/// use tenure::ops::{lt, masked_fill};
///
/// let a = [3.0, -1.0, 2.0];
/// assert_eq!(masked_fill(&a, &lt(&a, 0.0)?, 0.0)?.to_vec(), [3.0, 0.0, 2.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn masked_fill<T: Element>(
    a: impl AsView<T>,
    mask: impl AsView<Bool8>,
    value: impl AsView<T>,
) -> Result<Tensor<T>> {
    select(mask, value, a)
}

/// `value` where the mask is true, else `a`, into `out`.
///
/// # Errors
///
/// `InvalidArgument`: `a`, `mask` or `value` does not broadcast to `out`.
///
/// ```
/// use tenure::{Bool8, ops::masked_fill_into};
///
/// let mut out = [0; 3];
/// masked_fill_into(&[1, 2, 3], &[true, false, true].map(Bool8::from), -1, &mut out)?;
/// assert_eq!(out, [-1, 2, -1]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn masked_fill_into<T: Element>(
    a: impl AsView<T>,
    mask: impl AsView<Bool8>,
    value: impl AsView<T>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    select_into(mask, value, a, out)
}

/// Sets the elements of `a` where the mask is true to `value`.
///
/// # Errors
///
/// `InvalidArgument`: `mask` or `value` does not broadcast to `a`.
///
/// ```
/// use tenure::ops::masked_fill_assign;
///
/// let mut a = [1.0, f64::NAN, 3.0];
/// let missing = tenure::ops::ne(&a, &a)?;
/// masked_fill_assign(&mut a, &missing, 0.0)?;
/// assert_eq!(a, [1.0, 0.0, 3.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias = "putmask")]
pub fn masked_fill_assign<T: Element>(
    a: &mut (impl AsViewMut<T> + ?Sized),
    mask: impl AsView<Bool8>,
    value: impl AsView<T>,
) -> Result<()> {
    let (mask, value) = (mask.as_view(), value.as_view());
    movement::masked_fill(mask.lent(), value.lent(), a.as_view_mut().lent_mut())
}
