//! Arithmetic, element by element: the functions of the table of operations,
//! `tenure_sys::operations`.

use tenure_sys::{
    for_each_binary, for_each_ternary, for_each_unary, tnr_binary_op, tnr_ternary_op, tnr_unary_op,
};

use super::results::{broadcast_shape, filled, refused};
use crate::dense::{Tensor, TensorView, TensorViewMut};
use crate::dtype::{Arithmetic, Bool8, ComplexNumber, Element, Field, Float, Integer, Number};
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::raw::{Input, LentMut, operations};

// Views are passed by reference here: a move of one is a copy of 192 bytes, which a call on eight
// elements would feel.

/// `out = a op b`. A single number crosses by value, for which the library has a shorter way.
#[inline(always)]
fn run<T: Element>(
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
fn binary<T: Element>(
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
fn binary_into<T: Element>(
    op: tnr_binary_op,
    a: &TensorView<'_, T>,
    b: &TensorView<'_, T>,
    out: &mut TensorViewMut<'_, T>,
) -> Result<()> {
    run(op, a, b, out.lent_mut())
}

#[inline(always)]
fn binary_assign<T: Element>(
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
pub(crate) fn unary<T: Element, R: Element>(
    op: tnr_unary_op,
    a: &TensorView<'_, T>,
) -> Result<Tensor<R>> {
    filled(a.shape(), |out| operations::unary(op, a.lent().into(), out))
}

#[inline(always)]
pub(crate) fn unary_into<T: Element, R: Element>(
    op: tnr_unary_op,
    a: &TensorView<'_, T>,
    out: &mut TensorViewMut<'_, R>,
) -> Result<()> {
    operations::unary(op, a.lent().into(), out.lent_mut())
}

#[inline(always)]
pub(crate) fn unary_assign<T: Element>(
    op: tnr_unary_op,
    out: &mut TensorViewMut<'_, T>,
) -> Result<()> {
    operations::unary(op, Input::Output, out.lent_mut())
}

/// The three forms of an operation on two inputs. `$also` ends the list of errors.
macro_rules! binary_operations {
    ($(
        $op:ident $name:literal: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident;
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
        #[doc = concat!("let result = tenure::ops::", stringify!($new), "(&", $a, ", &", $b, ")?;")]
        #[doc = concat!("assert_eq!(result.to_vec(), ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $new<$($generic)*>(a: impl AsView<$in>, b: impl AsView<$in>) -> Result<Tensor<$in>> {
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
        #[doc = concat!("tenure::ops::", stringify!($into), "(&", $a, ", &", $b, ", &mut out)?;")]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $into<$($generic)*>(
            a: impl AsView<$in>,
            b: impl AsView<$in>,
            out: &mut (impl AsViewMut<$in> + ?Sized),
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
        #[doc = concat!("tenure::ops::", stringify!($assign), "(&mut out, &", $b, ")?;")]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $assign<$($generic)*>(
            out: &mut (impl AsViewMut<$in> + ?Sized),
            b: impl AsView<$in>,
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

/// The functions of `ops`. The module [`nn`](crate::nn) makes its own.
macro_rules! of_module {
    (ops $($function:tt)*) => {
        unary_functions! { ops $($function)* }
    };
    (nn $($function:tt)*) => {};
}

/// Each function of the table of operations, for the macro `of_module` where it is called.
macro_rules! unary_operations {
    ($(
        $op:ident $name:literal $module:ident: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident;
        $what:literal, errors $also:literal, example $a:literal => $result:literal;
    )*) => {$(
        of_module! {
            $module @$in -> $out $op: $new, $into, $assign, [$($generic)*]; $what, $a => $result
        }
    )*};
}
pub(crate) use unary_operations;

/// The three forms of an operation on one input; without the one in place, where the result is of
/// another type.
macro_rules! unary_functions {
    ($module:ident @T -> Bool8 $op:ident: $new:ident, $into:ident, $assign:ident, [$($generic:tt)*];
        $what:literal, $a:literal => $result:literal) => {
        #[doc = $what]
        ///
        /// A new row-major tensor of the shape of `a`.
        ///
        /// # Errors
        ///
        /// `OutOfMemory`.
        ///
        /// ```
        #[doc = concat!(
            "let result = tenure::", stringify!($module), "::", stringify!($new), "(&", $a, ")?;"
        )]
        #[doc = concat!("assert_eq!(result.to_vec(), ", $result, ".map(tenure::Bool8::from));")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $new<$($generic)*>(a: impl AsView<T>) -> Result<Tensor<Bool8>> {
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
        /// let mut out = [tenure::Bool8::FALSE; 3];
        #[doc = concat!(
            "tenure::", stringify!($module), "::", stringify!($into), "(&", $a, ", &mut out)?;"
        )]
        #[doc = concat!("assert_eq!(out, ", $result, ".map(tenure::Bool8::from));")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $into<$($generic)*>(
            a: impl AsView<T>,
            out: &mut (impl AsViewMut<Bool8> + ?Sized),
        ) -> Result<()> {
            a.with_view(|a| {
                out.with_view_mut(|out| {
                    unary_into(tnr_unary_op::$op, a, out).map_err(|error| {
                        refused(error, stringify!($into), &[a.shape()], Some(out.shape()))
                    })
                })
            })
        }
    };
    ($module:ident @T -> Part $op:ident: $new:ident, $into:ident, $assign:ident, [$($generic:tt)*];
        $what:literal, $a:literal => $result:literal) => {
        unary_functions! {
            $module @of_parts $op: $new, $into, [$($generic)*]; $what, $a => $result
        }
    };
    ($module:ident @T -> Magnitude $op:ident: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*]; $what:literal, $a:literal => $result:literal) => {
        unary_functions! {
            $module @of_parts $op: $new, $into, [$($generic)*]; $what, $a => $result
        }
        unary_functions! { $module @in_place $op: $assign, [T: Number] T; $what, $a => $result }
    };
    ($module:ident @of_parts $op:ident: $new:ident, $into:ident, [$($generic:tt)*];
        $what:literal, $a:literal => $result:literal) => {
        #[doc = $what]
        ///
        /// A new row-major tensor of the shape of `a`.
        ///
        /// # Errors
        ///
        /// `OutOfMemory`.
        ///
        /// ```
        #[doc = concat!(
            "let result = tenure::", stringify!($module), "::", stringify!($new), "(&", $a, ")?;"
        )]
        #[doc = concat!("assert_eq!(result.to_vec(), ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $new<$($generic)*>(a: impl AsView<T>) -> Result<Tensor<T::Magnitude>> {
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
        #[doc = concat!("let mut out = ", $result, ";")]
        /// tenure::ops::fill(&mut out, Default::default())?;
        #[doc = concat!(
            "tenure::", stringify!($module), "::", stringify!($into), "(&", $a, ", &mut out)?;"
        )]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $into<$($generic)*>(
            a: impl AsView<T>,
            out: &mut (impl AsViewMut<T::Magnitude> + ?Sized),
        ) -> Result<()> {
            a.with_view(|a| {
                out.with_view_mut(|out| {
                    unary_into(tnr_unary_op::$op, a, out).map_err(|error| {
                        refused(error, stringify!($into), &[a.shape()], Some(out.shape()))
                    })
                })
            })
        }
    };
    ($module:ident @in_place $op:ident: $assign:ident, [$($generic:tt)*] $in:ident;
        $what:literal, $a:literal => $result:literal) => {
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
        #[doc = concat!("tenure::", stringify!($module), "::", stringify!($assign), "(&mut out)?;")]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $assign<$($generic)*>(out: &mut (impl AsViewMut<$in> + ?Sized)) -> Result<()> {
            out.with_view_mut(|out| unary_assign(tnr_unary_op::$op, out))
        }
    };
    ($module:ident @$in:ident -> $out:ident $op:ident: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*]; $what:literal, $a:literal => $result:literal) => {
        #[doc = $what]
        ///
        /// A new row-major tensor of the shape of `a`.
        ///
        /// # Errors
        ///
        /// `OutOfMemory`.
        ///
        /// ```
        #[doc = concat!(
            "let result = tenure::", stringify!($module), "::", stringify!($new), "(&", $a, ")?;"
        )]
        #[doc = concat!("assert_eq!(result.to_vec(), ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $new<$($generic)*>(a: impl AsView<$in>) -> Result<Tensor<$in>> {
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
        #[doc = concat!(
            "tenure::", stringify!($module), "::", stringify!($into), "(&", $a, ", &mut out)?;"
        )]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $into<$($generic)*>(
            a: impl AsView<$in>,
            out: &mut (impl AsViewMut<$in> + ?Sized),
        ) -> Result<()> {
            a.with_view(|a| {
                out.with_view_mut(|out| {
                    unary_into(tnr_unary_op::$op, a, out).map_err(|error| {
                        refused(error, stringify!($into), &[a.shape()], Some(out.shape()))
                    })
                })
            })
        }

        unary_functions! {
            $module @in_place $op: $assign, [$($generic)*] $in; $what, $a => $result
        }
    };
}
pub(crate) use unary_functions;

for_each_unary!(unary_operations);

#[inline]
fn ternary<T: Element>(
    op: tnr_ternary_op,
    a: &TensorView<'_, T>,
    b: &TensorView<'_, T>,
    c: &TensorView<'_, T>,
) -> Result<Tensor<T>> {
    let extents = broadcast_shape([a.shape(), b.shape(), c.shape()])?;
    filled(extents.as_slice(), |out| {
        operations::ternary(op, a.lent().into(), b.lent(), c.lent(), out)
    })
}

/// The three forms of an operation on three inputs.
macro_rules! ternary_operations {
    ($(
        $op:ident $name:literal: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident;
        $what:literal, errors $also:literal,
        example $a:literal, $b:literal, $c:literal => $result:literal;
    )*) => {$(
        #[doc = $what]
        ///
        /// A new row-major tensor of the shape that the three broadcast to; each may be a number.
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: the shapes do not broadcast. `OutOfMemory`.
        ///
        /// ```
        #[doc = concat!("let result = tenure::ops::", stringify!($new), "(&", $a, ", &", $b, ", &",
            $c,
            ")?;")]
        #[doc = concat!("assert_eq!(result.to_vec(), ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $new<$($generic)*>(
            a: impl AsView<$in>,
            b: impl AsView<$in>,
            c: impl AsView<$in>,
        ) -> Result<Tensor<$out>> {
            let (a, b, c) = (&a.as_view(), &b.as_view(), &c.as_view());
            ternary(tnr_ternary_op::$op, a, b, c).map_err(|error| {
                refused(error, stringify!($new), &[a.shape(), b.shape(), c.shape()], None)
            })
        }

        #[doc = $what]
        ///
        /// Written to `out`, to whose shape the three are broadcast; each may be a number.
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: `a`, `b` or `c` does not broadcast to `out`.
        ///
        /// ```
        #[doc = concat!("let mut out = ", $a, ";")]
        #[doc = concat!("tenure::ops::", stringify!($into), "(&", $a, ", &", $b, ", &", $c,
            ", &mut out)?;")]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $into<$($generic)*>(
            a: impl AsView<$in>,
            b: impl AsView<$in>,
            c: impl AsView<$in>,
            out: &mut (impl AsViewMut<$out> + ?Sized),
        ) -> Result<()> {
            let (a, b, c) = (&a.as_view(), &b.as_view(), &c.as_view());
            let out = &mut out.as_view_mut();
            let op = tnr_ternary_op::$op;
            operations::ternary(op, a.lent().into(), b.lent(), c.lent(), out.lent_mut()).map_err(
                |error| {
                    let inputs = [a.shape(), b.shape(), c.shape()];
                    refused(error, stringify!($into), &inputs, Some(out.shape()))
                },
            )
        }

        #[doc = $what]
        ///
        /// In place: `a` is `out` itself, and `b` and `c` are broadcast to its shape.
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: `b` or `c` does not broadcast to `out`.
        ///
        /// ```
        #[doc = concat!("let mut out = ", $a, ";")]
        #[doc = concat!("tenure::ops::", stringify!($assign), "(&mut out, &", $b, ", &", $c, ")?;")]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $assign<$($generic)*>(
            out: &mut (impl AsViewMut<$out> + ?Sized),
            b: impl AsView<$in>,
            c: impl AsView<$in>,
        ) -> Result<()> {
            let (b, c) = (&b.as_view(), &c.as_view());
            let out = &mut out.as_view_mut();
            let op = tnr_ternary_op::$op;
            operations::ternary(op, Input::Output, b.lent(), c.lent(), out.lent_mut()).map_err(
                |error| {
                    let inputs = [b.shape(), c.shape()];
                    refused(error, stringify!($assign), &inputs, Some(out.shape()))
                },
            )
        }
    )*};
}

for_each_ternary!(ternary_operations);
