//! One of two, element by element.

use super::results::{broadcast_shape, filled, refused};
use crate::dense::Tensor;
use crate::dtype::{Bool8, Element};
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::raw::operations;

/// `a` where `condition` is true, else `b`. A new row-major tensor of the shape that the three
/// broadcast to.
///
/// # Errors
///
/// `InvalidArgument`: the shapes do not broadcast. `OutOfMemory`.
///
/// ```
/// use tenure::ops::{lt, select};
///
/// let data = [3.0, -1.0, 2.0];
/// let clipped = select(&lt(&data, 0.0)?, 0.0, &data)?;
/// assert_eq!(clipped.to_vec(), [3.0, 0.0, 2.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[inline]
#[doc(alias = "where")]
pub fn select<T: Element>(
    condition: impl AsView<Bool8>,
    a: impl AsView<T>,
    b: impl AsView<T>,
) -> Result<Tensor<T>> {
    let (condition, a, b) = (condition.as_view(), a.as_view(), b.as_view());
    let shapes = [condition.shape(), a.shape(), b.shape()];
    let extents =
        broadcast_shape(shapes).map_err(|error| refused(error, "select", &shapes, None))?;
    let lent = (condition.lent(), a.lent(), b.lent());
    filled(extents.as_slice(), |out| operations::select(lent.0, lent.1, lent.2, out))
}

/// `a` where `condition` is true, else `b`. Written to `out`, to whose shape the three are
/// broadcast.
///
/// # Errors
///
/// `InvalidArgument`: `condition`, `a` or `b` does not broadcast to `out`.
///
/// ```
/// use tenure::{Bool8, ops::select_into};
///
/// let mut out = [0; 3];
/// select_into(&[true, false, true].map(Bool8::from), &[1, 2, 3], -1, &mut out)?;
/// assert_eq!(out, [1, -1, 3]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[inline]
pub fn select_into<T: Element>(
    condition: impl AsView<Bool8>,
    a: impl AsView<T>,
    b: impl AsView<T>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    let (condition, a, b) = (condition.as_view(), a.as_view(), b.as_view());
    operations::select(condition.lent(), a.lent(), b.lent(), out.as_view_mut().lent_mut())
}
