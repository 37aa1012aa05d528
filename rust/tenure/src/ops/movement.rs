//! Elements moved, converted, set.

use super::results::{filled, refused};
use crate::dense::{SharedTensor, Tensor, TensorView, TensorViewMut};
use crate::dtype::{Element, Real};
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::raw::{self, operations};

/// Copies the elements of `a`, broadcast, into `out`.
///
/// [`stats`](crate::stats) does not count these bytes as copied, because they are the result of an
/// operation.
///
/// # Errors
///
/// `InvalidArgument`: `a` does not broadcast to `out`.
///
/// ```
/// use tenure::{TensorView, ops::copy_into};
///
/// let table = [[1, 2, 3], [4, 5, 6]];
/// let mut columns = [[0; 2]; 3];
/// copy_into(TensorView::from_slice(table.as_flattened(), [2, 3])?.t(), &mut columns)?;
/// assert_eq!(columns, [[1, 4], [2, 5], [3, 6]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[inline]
pub fn copy_into<T: Element>(
    a: impl AsView<T>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    let (a, mut out) = (a.as_view(), out.as_view_mut());
    raw::copy(a.lent(), out.lent_mut())
        .map_err(|error| refused(error, "copy_into", &[a.shape()], Some(out.shape())))
}

/// Converts the elements of `a`. A new row-major tensor of the shape of `a`.
///
/// Converts as Rust's `as` does: floats to integers saturate and NaN gives 0, integers to narrower
/// ones wrap. To f16 and bf16 it rounds once, to nearest even; to [`Bool8`](crate::Bool8) it gives
/// whether the value is not 0.
///
/// # Errors
///
/// `OutOfMemory`.
///
/// ```
/// use tenure::{Tensor, ops::cast};
///
/// let rounded: Tensor<u8> = cast(&[1.9_f32, -1.0, 300.0])?;
/// assert_eq!(rounded.to_vec(), [1, 0, 255]);
/// assert_eq!(cast::<f64, _>(&rounded)?.to_vec(), [1.0, 0.0, 255.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[inline]
#[doc(alias("astype", "to_dtype"))]
pub fn cast<U: Real, T: Real>(a: impl AsView<T>) -> Result<Tensor<U>> {
    let a = a.as_view();
    filled(a.shape(), |out| operations::cast(a.lent(), out))
}

/// Converts the elements of `a`, broadcast, into `out`, as [`cast`] does.
///
/// # Errors
///
/// `InvalidArgument`: `a` does not broadcast to `out`.
///
/// ```
/// use tenure::ops::cast_into;
///
/// let mut pixels = [0.0_f32; 3];
/// cast_into(&[0_u8, 128, 255], &mut pixels)?;
/// assert_eq!(pixels, [0.0, 128.0, 255.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[inline]
#[doc(alias = "astype")]
pub fn cast_into<T: Real, U: Real>(
    a: impl AsView<T>,
    out: &mut (impl AsViewMut<U> + ?Sized),
) -> Result<()> {
    let (a, mut out) = (a.as_view(), out.as_view_mut());
    operations::cast(a.lent(), out.lent_mut())
        .map_err(|error| refused(error, "cast_into", &[a.shape()], Some(out.shape())))
}

/// Sets every element of `out` to `value`.
///
/// # Errors
///
/// None from a safe caller: the library checks the view and finds it good.
///
/// ```
/// use tenure::{TensorViewMut, ops::fill};
///
/// let mut table = [[0; 3]; 2];
/// let view = TensorViewMut::from_slice(table.as_flattened_mut(), [2, 3])?;
/// fill(&mut view.slice(1, 1..)?, 7)?;
/// assert_eq!(table, [[0, 7, 7], [0, 7, 7]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[inline]
pub fn fill<T: Element>(out: &mut (impl AsViewMut<T> + ?Sized), value: T) -> Result<()> {
    operations::fill(value, out.as_view_mut().lent_mut())
}

/// [`cast`] as a method.
macro_rules! cast_method {
    ($type:ty, [$($lifetime:lifetime)?], $make:literal) => {
        impl<$($lifetime,)? T: Real> $type {
            /// The elements as another type: [`cast`](crate::ops::cast) as a method, so that only
            /// the new type is named.
            ///
            /// # Errors
            ///
            /// `OutOfMemory`.
            ///
            /// ```
            /// # use tenure::*;
            /// # let mut data = [7];
            #[doc = concat!("let it = ", $make, ";")]
            /// assert_eq!(it.cast::<f64>()?.item(), Some(7.0));
            /// # Ok::<(), Error>(())
            /// ```
            #[doc(alias("astype", "to_dtype", "mapv"))]
            pub fn cast<U: Real>(&self) -> Result<Tensor<U>> {
                cast(self)
            }
        }
    };
}

cast_method!(Tensor<T>, [], "Tensor::from([7])");
cast_method!(SharedTensor<T>, [], "Tensor::from([7]).into_shared()");
cast_method!(TensorView<'a, T>, ['a], "TensorView::from_slice(&data, 1)?");
cast_method!(TensorViewMut<'a, T>, ['a], "TensorViewMut::from_slice(&mut data, 1)?");
