//! Comparisons, element by element.

use tenure_sys::{for_each_compare, tnr_compare_op};

use super::results::{broadcast_shape, filled, refused};
use crate::dense::{Tensor, TensorView};
use crate::dtype::{Bool8, Element, Real};
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::raw::{LentMut, operations};

/// `out = a op b`. A single number on the right crosses by value, for which the library has a
/// shorter way.
#[inline(always)]
fn run<T: Element>(
    op: tnr_compare_op,
    a: &TensorView<'_, T>,
    b: &TensorView<'_, T>,
    out: LentMut<'_>,
) -> Result<()> {
    match b.get([]) {
        Some(&b) => operations::compare_scalar(op, a.lent(), b, out),
        None => operations::compare(op, a.lent(), b.lent(), out),
    }
}

#[inline]
fn compare<T: Element>(
    op: tnr_compare_op,
    a: &TensorView<'_, T>,
    b: &TensorView<'_, T>,
) -> Result<Tensor<Bool8>> {
    let extents = broadcast_shape([a.shape(), b.shape()])?;
    filled(extents.as_slice(), |out| run(op, a, b, out))
}

/// The two forms of a comparison.
macro_rules! comparisons {
    ($($op:ident $name:literal: $new:ident, $into:ident, $bound:ident; $what:literal => $result:literal;)*) => {$(
        #[doc = concat!(
            "Whether `", $what, "`. A new row-major tensor of the shape that `a` and `b` ",
            "broadcast to."
        )]
        ///
        #[doc = concat!("NaN compares as in Rust's `", $what, "`.")]
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: the shapes do not broadcast. `OutOfMemory`.
        ///
        /// ```
        #[doc = concat!("let result = tenure::ops::", stringify!($new), "(&[1, 2, 3], 2)?;")]
        #[doc = concat!("assert_eq!(result.to_vec(), ", $result, ".map(tenure::Bool8::from));")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $new<T: $bound>(a: impl AsView<T>, b: impl AsView<T>) -> Result<Tensor<Bool8>> {
            a.with_view(|a| {
                b.with_view(|b| {
                    compare(tnr_compare_op::$op, a, b).map_err(|error| {
                        refused(error, stringify!($new), &[a.shape(), b.shape()], None)
                    })
                })
            })
        }

        #[doc = concat!(
            "Whether `", $what, "`. Written to `out`, to whose shape `a` and `b` are broadcast."
        )]
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: `a` or `b` does not broadcast to `out`.
        ///
        /// ```
        /// let mut out = [tenure::Bool8::FALSE; 3];
        #[doc = concat!("tenure::ops::", stringify!($into), "(&[1, 2, 3], 2, &mut out)?;")]
        #[doc = concat!("assert_eq!(out, ", $result, ".map(tenure::Bool8::from));")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $into<T: $bound>(
            a: impl AsView<T>,
            b: impl AsView<T>,
            out: &mut (impl AsViewMut<Bool8> + ?Sized),
        ) -> Result<()> {
            let (a, b, out) = (&a.as_view(), &b.as_view(), &mut out.as_view_mut());
            run(tnr_compare_op::$op, a, b, out.lent_mut()).map_err(|error| {
                refused(error, stringify!($into), &[a.shape(), b.shape()], Some(out.shape()))
            })
        }
    )*};
}

for_each_compare!(comparisons);
