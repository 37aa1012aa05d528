//! Arithmetic, element by element: the functions of the table of operations,
//! `tenure_sys::operations`.

use tenure_sys::{for_each_binary, for_each_unary, tnr_binary_op, tnr_unary_op};

use super::{broadcast_shape, filled, refused};
use crate::raw::{Input, LentMut, operations};
use crate::{AsView, AsViewMut, Float, Number, Result, Tensor, TensorView, TensorViewMut};

// Views are passed by reference here: a move of one is a copy of 192 bytes, which a call on eight
// elements would feel.

/// `out = a op b`. A single number crosses by value, for which the library has a shorter way.
#[inline(always)]
fn run<T: Number>(
    op: tnr_binary_op,
    a: &TensorView<'_, T>,
    b: &TensorView<'_, T>,
    out: LentMut<'_>,
) -> Result<()> {
    if let Some(&b) = b.get([]) {
        operations::binary_scalar(op, a.lent().into(), b, out)
    } else if let Some(&a) = a.get([]) {
        operations::scalar_binary(op, a, b.lent(), out)
    } else {
        operations::binary(op, a.lent().into(), b.lent().into(), out)
    }
}

#[inline]
fn binary<T: Number>(
    op: tnr_binary_op,
    a: &TensorView<'_, T>,
    b: &TensorView<'_, T>,
) -> Result<Tensor<T>> {
    if a.shape() == b.shape() {
        return filled(a.shape(), |out| run(op, a, b, out));
    }
    let extents = broadcast_shape([a.shape(), b.shape()])?;
    filled(extents.as_slice(), |out| run(op, a, b, out))
}

#[inline(always)]
fn binary_into<T: Number>(
    op: tnr_binary_op,
    a: &TensorView<'_, T>,
    b: &TensorView<'_, T>,
    out: &mut TensorViewMut<'_, T>,
) -> Result<()> {
    run(op, a, b, out.lent_mut())
}

#[inline(always)]
fn binary_assign<T: Number>(
    op: tnr_binary_op,
    out: &mut TensorViewMut<'_, T>,
    b: &TensorView<'_, T>,
) -> Result<()> {
    match b.get([]) {
        Some(&b) => operations::binary_scalar(op, Input::Output, b, out.lent_mut()),
        None => operations::binary(op, Input::Output, b.lent().into(), out.lent_mut()),
    }
}

#[inline]
fn unary<T: Number>(op: tnr_unary_op, a: &TensorView<'_, T>) -> Result<Tensor<T>> {
    filled(a.shape(), |out| operations::unary(op, a.lent().into(), out))
}

#[inline(always)]
fn unary_into<T: Number>(
    op: tnr_unary_op,
    a: &TensorView<'_, T>,
    out: &mut TensorViewMut<'_, T>,
) -> Result<()> {
    operations::unary(op, a.lent().into(), out.lent_mut())
}

#[inline(always)]
fn unary_assign<T: Number>(op: tnr_unary_op, out: &mut TensorViewMut<'_, T>) -> Result<()> {
    operations::unary(op, Input::Output, out.lent_mut())
}

/// The three forms of an operation on two inputs. `$also` ends the list of errors.
macro_rules! binary_operations {
    ($(
        $op:ident $name:literal: $new:ident, $into:ident, $assign:ident;
        $what:literal, errors $also:literal, example $a:literal, $b:literal => $result:literal;
    )*) => {$(
        #[doc = $what]
        ///
        /// A new row-major tensor of the shape that `a` and `b` broadcast to.
        ///
        /// # Errors
        ///
        #[doc = concat!(
            "`InvalidArgument`: the shapes do not broadcast", $also, ". `OutOfMemory`."
        )]
        ///
        /// ```
        #[doc = concat!("let result = tenure::", stringify!($new), "(&", $a, ", &", $b, ")?;")]
        #[doc = concat!("assert_eq!(result.to_vec(), ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $new<T: Number>(a: impl AsView<T>, b: impl AsView<T>) -> Result<Tensor<T>> {
            a.with_view(|a| {
                b.with_view(|b| {
                    binary(tnr_binary_op::$op, a, b).map_err(|error| {
                        refused(error, stringify!($new), &[a.shape(), b.shape()], None)
                    })
                })
            })
        }

        #[doc = $what]
        ///
        /// Written to `out`, to whose shape `a` and `b` are broadcast.
        ///
        /// # Errors
        ///
        #[doc = concat!(
            "`InvalidArgument`: `a` or `b` does not broadcast to `out`", $also, "."
        )]
        ///
        /// ```
        #[doc = concat!("let mut out = ", $a, ";")]
        #[doc = concat!("tenure::", stringify!($into), "(&", $a, ", &", $b, ", &mut out)?;")]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $into<T: Number>(
            a: impl AsView<T>,
            b: impl AsView<T>,
            out: &mut (impl AsViewMut<T> + ?Sized),
        ) -> Result<()> {
            a.with_view(|a| {
                b.with_view(|b| {
                    out.with_view_mut(|out| {
                        binary_into(tnr_binary_op::$op, a, b, out).map_err(|error| {
                            let inputs = [a.shape(), b.shape()];
                            refused(error, stringify!($into), &inputs, Some(out.shape()))
                        })
                    })
                })
            })
        }

        #[doc = $what]
        ///
        /// In place: `a` is `out` itself, and `b` is broadcast to its shape.
        ///
        /// # Errors
        ///
        #[doc = concat!("`InvalidArgument`: `b` does not broadcast to `out`", $also, ".")]
        ///
        /// ```
        #[doc = concat!("let mut out = ", $a, ";")]
        #[doc = concat!("tenure::", stringify!($assign), "(&mut out, &", $b, ")?;")]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $assign<T: Number>(
            out: &mut (impl AsViewMut<T> + ?Sized),
            b: impl AsView<T>,
        ) -> Result<()> {
            b.with_view(|b| {
                out.with_view_mut(|out| {
                    binary_assign(tnr_binary_op::$op, out, b).map_err(|error| {
                        refused(error, stringify!($assign), &[b.shape()], Some(out.shape()))
                    })
                })
            })
        }
    )*};
}

for_each_binary!(binary_operations);

/// The three forms of an operation on one input.
macro_rules! unary_operations {
    ($(
        $op:ident $name:literal: $new:ident, $into:ident, $assign:ident, $bound:ident;
        $what:literal, example $a:literal => $result:literal;
    )*) => {$(
        #[doc = $what]
        ///
        /// A new row-major tensor of the shape of `a`.
        ///
        /// # Errors
        ///
        /// `OutOfMemory`.
        ///
        /// ```
        #[doc = concat!("let result = tenure::", stringify!($new), "(&", $a, ")?;")]
        #[doc = concat!("assert_eq!(result.to_vec(), ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $new<T: $bound>(a: impl AsView<T>) -> Result<Tensor<T>> {
            a.with_view(|a| unary(tnr_unary_op::$op, a))
        }

        #[doc = $what]
        ///
        /// Written to `out`, to whose shape `a` is broadcast.
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: `a` does not broadcast to `out`.
        ///
        /// ```
        #[doc = concat!("let mut out = ", $a, ";")]
        #[doc = concat!("tenure::", stringify!($into), "(&", $a, ", &mut out)?;")]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $into<T: $bound>(
            a: impl AsView<T>,
            out: &mut (impl AsViewMut<T> + ?Sized),
        ) -> Result<()> {
            a.with_view(|a| {
                out.with_view_mut(|out| {
                    unary_into(tnr_unary_op::$op, a, out).map_err(|error| {
                        refused(error, stringify!($into), &[a.shape()], Some(out.shape()))
                    })
                })
            })
        }

        #[doc = $what]
        ///
        /// In place.
        ///
        /// # Errors
        ///
        /// None from a safe caller: the library checks the view and finds it good.
        ///
        /// ```
        #[doc = concat!("let mut out = ", $a, ";")]
        #[doc = concat!("tenure::", stringify!($assign), "(&mut out)?;")]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $assign<T: $bound>(out: &mut (impl AsViewMut<T> + ?Sized)) -> Result<()> {
            out.with_view_mut(|out| unary_assign(tnr_unary_op::$op, out))
        }
    )*};
}

for_each_unary!(unary_operations);
