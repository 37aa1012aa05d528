//! Element by element: the functions of the table of operations, enqueued. Made of the rows that
//! the crate's functions are made of.

use tenure_sys::{
    for_each_binary, for_each_compare, for_each_ternary, for_each_unary, tnr_binary_op,
    tnr_compare_op, tnr_ternary_op, tnr_unary_op,
};

use crate::cuda::operand::Argument;
use crate::cuda::{AsView, AsViewMut, Operand, Stream, Tensor, TensorView, TensorViewMut};
use crate::dtype::{
    Arithmetic, Bool8, ComplexNumber, Element, Field, Float, Integer, Number, Real,
};
use crate::error::Result;
use crate::ops::results::{broadcast_shape, refused};
use crate::raw::{Input, LentMut, operations};

impl Stream {
    fn unary<T: Element, R: Element>(
        &self,
        op: tnr_unary_op,
        a: TensorView<'_, T>,
    ) -> Result<Tensor<R>> {
        self.filled(a.shape(), |out| operations::unary(op, a.lent().into(), out))
    }

    fn unary_into<T: Element, R: Element>(
        &self,
        op: tnr_unary_op,
        a: TensorView<'_, T>,
        out: &mut TensorViewMut<'_, R>,
    ) -> Result<()> {
        self.within(|| operations::unary(op, a.lent().into(), out.lent_mut()))
    }

    fn unary_assign<T: Element>(
        &self,
        op: tnr_unary_op,
        out: &mut TensorViewMut<'_, T>,
    ) -> Result<()> {
        self.within(|| operations::unary(op, Input::Output, out.lent_mut()))
    }

    /// `out = a op b`, in the stream's context.
    fn run_binary<T: Element>(
        &self,
        op: tnr_binary_op,
        a: Argument<'_, T>,
        b: Argument<'_, T>,
        out: LentMut<'_>,
    ) -> Result<()> {
        match (a, b) {
            (Argument::View(a), Argument::View(b)) => {
                operations::binary(op, a.lent().into(), b.lent().into(), out)
            }
            (Argument::Number(a), Argument::View(b)) => {
                operations::scalar_binary(op, a, b.lent(), out)
            }
            (a, Argument::Number(b)) => {
                let a = a.placed(self)?;
                operations::binary_scalar(op, a.as_view().lent().into(), b, out)
            }
        }
    }

    fn binary<T: Element>(
        &self,
        op: tnr_binary_op,
        a: Argument<'_, T>,
        b: Argument<'_, T>,
    ) -> Result<Tensor<T>> {
        let extents = broadcast_shape([a.shape(), b.shape()])?;
        self.filled(extents.as_slice(), |out| self.run_binary(op, a, b, out))
    }

    fn binary_into<T: Element>(
        &self,
        op: tnr_binary_op,
        a: Argument<'_, T>,
        b: Argument<'_, T>,
        out: &mut TensorViewMut<'_, T>,
    ) -> Result<()> {
        self.within(|| self.run_binary(op, a, b, out.lent_mut()))
    }

    fn binary_assign<T: Element>(
        &self,
        op: tnr_binary_op,
        out: &mut TensorViewMut<'_, T>,
        b: Argument<'_, T>,
    ) -> Result<()> {
        self.within(|| match b {
            Argument::View(b) => {
                operations::binary(op, Input::Output, b.lent().into(), out.lent_mut())
            }
            Argument::Number(b) => operations::binary_scalar(op, Input::Output, b, out.lent_mut()),
        })
    }

    fn ternary<T: Element>(
        &self,
        op: tnr_ternary_op,
        [a, b, c]: [Argument<'_, T>; 3],
    ) -> Result<Tensor<T>> {
        let extents = broadcast_shape([a.shape(), b.shape(), c.shape()])?;
        let (a, b, c) = (a.placed(self)?, b.placed(self)?, c.placed(self)?);
        let (a, b, c) = (a.as_view(), b.as_view(), c.as_view());
        self.filled(extents.as_slice(), |out| {
            operations::ternary(op, a.lent().into(), b.lent(), c.lent(), out)
        })
    }

    fn ternary_into<T: Element>(
        &self,
        op: tnr_ternary_op,
        [a, b, c]: [Argument<'_, T>; 3],
        out: &mut TensorViewMut<'_, T>,
    ) -> Result<()> {
        let (a, b, c) = (a.placed(self)?, b.placed(self)?, c.placed(self)?);
        let (a, b, c) = (a.as_view(), b.as_view(), c.as_view());
        self.within(|| operations::ternary(op, a.lent().into(), b.lent(), c.lent(), out.lent_mut()))
    }

    fn ternary_assign<T: Element>(
        &self,
        op: tnr_ternary_op,
        out: &mut TensorViewMut<'_, T>,
        [b, c]: [Argument<'_, T>; 2],
    ) -> Result<()> {
        let (b, c) = (b.placed(self)?, c.placed(self)?);
        let (b, c) = (b.as_view(), c.as_view());
        self.within(|| operations::ternary(op, Input::Output, b.lent(), c.lent(), out.lent_mut()))
    }

    /// `out = a op b`, in the stream's context. A number on the left is one on the right of the
    /// question put the other way round.
    fn ask<T: Element>(
        &self,
        op: tnr_compare_op,
        a: Argument<'_, T>,
        b: Argument<'_, T>,
        out: LentMut<'_>,
    ) -> Result<()> {
        match (a, b) {
            (Argument::View(a), Argument::View(b)) => {
                operations::compare(op, a.lent(), b.lent(), out)
            }
            (Argument::Number(a), Argument::View(b)) => {
                operations::compare_scalar(turned(op), b.lent(), a, out)
            }
            (a, Argument::Number(b)) => {
                let a = a.placed(self)?;
                operations::compare_scalar(op, a.as_view().lent(), b, out)
            }
        }
    }

    fn compare<T: Element>(
        &self,
        op: tnr_compare_op,
        a: Argument<'_, T>,
        b: Argument<'_, T>,
    ) -> Result<Tensor<Bool8>> {
        let extents = broadcast_shape([a.shape(), b.shape()])?;
        self.filled(extents.as_slice(), |out| self.ask(op, a, b, out))
    }
}

/// The question whose answer of (b, a) is that of (a, b).
fn turned(op: tnr_compare_op) -> tnr_compare_op {
    match op {
        tnr_compare_op::LT => tnr_compare_op::GT,
        tnr_compare_op::LE => tnr_compare_op::GE,
        tnr_compare_op::GT => tnr_compare_op::LT,
        tnr_compare_op::GE => tnr_compare_op::LE,
        same => same,
    }
}

/// The text before the errors of a method, that of the crate's function `$new`.
macro_rules! enqueued {
    ($module:ident $new:ident) => {
        concat!(
            "As [`tenure::",
            stringify!($module),
            "::",
            stringify!($new),
            "`](fn@crate::",
            stringify!($module),
            "::",
            stringify!($new),
            "), enqueued."
        )
    };
}

/// The three forms of an operation on one input; without the one in place, where the result is of
/// another type.
macro_rules! unary_methods {
    ($(
        $op:ident $name:literal $module:ident: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident;
        $what:literal, errors $also:literal, example $a:literal => $result:literal;
    )*) => {
        /// Operations on one input.
        impl Stream {$(
            unary_methods! { @$in -> $out $op $module: $new, $into, $assign, [$($generic)*]; $what }
        )*}
    };
    (@T -> Bool8 $op:ident $module:ident: $new:ident, $into:ident, $assign:ident, [$($generic:tt)*];
        $what:literal) => {
        unary_methods! { @gives Bool8, $op $module: $new, $into, [$($generic)*] T; $what }
    };
    (@T -> Part $op:ident $module:ident: $new:ident, $into:ident, $assign:ident, [$($generic:tt)*];
        $what:literal) => {
        unary_methods! { @gives T::Magnitude, $op $module: $new, $into, [$($generic)*] T; $what }
    };
    (@T -> Magnitude $op:ident $module:ident: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*]; $what:literal) => {
        unary_methods! { @gives T::Magnitude, $op $module: $new, $into, [$($generic)*] T; $what }
        unary_methods! { @in_place $op $module: $new, $assign, [T: Number] T; $what }
    };
    (@$in:ident -> $out:ident $op:ident $module:ident: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*]; $what:literal) => {
        unary_methods! { @gives $in, $op $module: $new, $into, [$($generic)*] $in; $what }
        unary_methods! { @in_place $op $module: $new, $assign, [$($generic)*] $in; $what }
    };
    (@gives $out:ty, $op:ident $module:ident: $new:ident, $into:ident, [$($generic:tt)*] $in:ident;
        $what:literal) => {
        #[doc = $what]
        ///
        #[doc = enqueued!($module $new)]
        /// A new row-major tensor of the shape of `a`.
        ///
        /// # Errors
        ///
        /// `OutOfMemory`. `Unsupported`: complex numbers. `DeviceError`.
        pub fn $new<$($generic)*>(&self, a: impl AsView<$in>) -> Result<Tensor<$out>> {
            self.unary(tnr_unary_op::$op, a.as_view())
        }

        #[doc = $what]
        ///
        #[doc = enqueued!($module $new)]
        /// Written to `out`, to whose shape `a` is broadcast.
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: `a` does not broadcast to `out`. `Unsupported`: complex numbers.
        /// `DeviceError`.
        pub fn $into<$($generic)*>(
            &self,
            a: impl AsView<$in>,
            out: &mut (impl AsViewMut<$out> + ?Sized),
        ) -> Result<()> {
            let (a, out) = (a.as_view(), &mut out.as_view_mut());
            self.unary_into(tnr_unary_op::$op, a, out).map_err(|error| {
                refused(error, stringify!($into), &[a.shape()], Some(out.shape()))
            })
        }
    };
    (@in_place $op:ident $module:ident: $new:ident, $assign:ident, [$($generic:tt)*] $in:ident;
        $what:literal) => {
        #[doc = $what]
        ///
        #[doc = enqueued!($module $new)]
        /// In place.
        ///
        /// # Errors
        ///
        /// `Unsupported`: complex numbers. `DeviceError`.
        pub fn $assign<$($generic)*>(
            &self,
            out: &mut (impl AsViewMut<$in> + ?Sized),
        ) -> Result<()> {
            self.unary_assign(tnr_unary_op::$op, &mut out.as_view_mut())
        }
    };
}

for_each_unary!(unary_methods);

/// The three forms of an operation on two inputs.
macro_rules! binary_methods {
    ($(
        $op:ident $name:literal: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident;
        $what:literal, errors $also:literal, example $a:literal, $b:literal => $result:literal;
    )*) => {
        /// Operations on two inputs. Each input may be a number.
        impl Stream {$(
            #[doc = $what]
            ///
            #[doc = enqueued!(ops $new)]
            /// A new row-major tensor of the shape that `a` and `b` broadcast to.
            ///
            /// # Errors
            ///
            #[doc = concat!("`InvalidArgument`: the shapes do not broadcast", $also, ".")]
            /// `OutOfMemory`. `Unsupported`: complex numbers. `DeviceError`.
            pub fn $new<$($generic)*>(
                &self,
                a: impl Operand<$in>,
                b: impl Operand<$in>,
            ) -> Result<Tensor<$in>> {
                let (a, b) = (a.argument(), b.argument());
                self.binary(tnr_binary_op::$op, a, b).map_err(|error| {
                    refused(error, stringify!($new), &[a.shape(), b.shape()], None)
                })
            }

            #[doc = $what]
            ///
            #[doc = enqueued!(ops $new)]
            /// Written to `out`, to whose shape `a` and `b` are broadcast.
            ///
            /// # Errors
            ///
            #[doc = concat!(
                "`InvalidArgument`: `a` or `b` does not broadcast to `out`", $also, "."
            )]
            /// `Unsupported`: complex numbers. `DeviceError`.
            pub fn $into<$($generic)*>(
                &self,
                a: impl Operand<$in>,
                b: impl Operand<$in>,
                out: &mut (impl AsViewMut<$in> + ?Sized),
            ) -> Result<()> {
                let (a, b, out) = (a.argument(), b.argument(), &mut out.as_view_mut());
                self.binary_into(tnr_binary_op::$op, a, b, out).map_err(|error| {
                    let inputs = [a.shape(), b.shape()];
                    refused(error, stringify!($into), &inputs, Some(out.shape()))
                })
            }

            #[doc = $what]
            ///
            #[doc = enqueued!(ops $new)]
            /// In place: `a` is `out` itself, and `b` is broadcast to its shape.
            ///
            /// # Errors
            ///
            #[doc = concat!("`InvalidArgument`: `b` does not broadcast to `out`", $also, ".")]
            /// `Unsupported`: complex numbers. `DeviceError`.
            pub fn $assign<$($generic)*>(
                &self,
                out: &mut (impl AsViewMut<$in> + ?Sized),
                b: impl Operand<$in>,
            ) -> Result<()> {
                let (b, out) = (b.argument(), &mut out.as_view_mut());
                self.binary_assign(tnr_binary_op::$op, out, b).map_err(|error| {
                    refused(error, stringify!($assign), &[b.shape()], Some(out.shape()))
                })
            }
        )*}
    };
}

for_each_binary!(binary_methods);

/// The three forms of an operation on three inputs.
macro_rules! ternary_methods {
    ($(
        $op:ident $name:literal: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident;
        $what:literal, errors $also:literal,
        example $a:literal, $b:literal, $c:literal => $result:literal;
    )*) => {
        /// Operations on three inputs. Each input may be a number.
        impl Stream {$(
            #[doc = $what]
            ///
            #[doc = enqueued!(ops $new)]
            /// A new row-major tensor of the shape that the three broadcast to.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: the shapes do not broadcast. `OutOfMemory`. `DeviceError`.
            pub fn $new<$($generic)*>(
                &self,
                a: impl Operand<$in>,
                b: impl Operand<$in>,
                c: impl Operand<$in>,
            ) -> Result<Tensor<$out>> {
                let (a, b, c) = (a.argument(), b.argument(), c.argument());
                self.ternary(tnr_ternary_op::$op, [a, b, c]).map_err(|error| {
                    refused(error, stringify!($new), &[a.shape(), b.shape(), c.shape()], None)
                })
            }

            #[doc = $what]
            ///
            #[doc = enqueued!(ops $new)]
            /// Written to `out`, to whose shape the three are broadcast.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: `a`, `b` or `c` does not broadcast to `out`. `OutOfMemory`: for a
            /// number. `DeviceError`.
            pub fn $into<$($generic)*>(
                &self,
                a: impl Operand<$in>,
                b: impl Operand<$in>,
                c: impl Operand<$in>,
                out: &mut (impl AsViewMut<$out> + ?Sized),
            ) -> Result<()> {
                let (a, b, c) = (a.argument(), b.argument(), c.argument());
                let out = &mut out.as_view_mut();
                self.ternary_into(tnr_ternary_op::$op, [a, b, c], out).map_err(|error| {
                    let inputs = [a.shape(), b.shape(), c.shape()];
                    refused(error, stringify!($into), &inputs, Some(out.shape()))
                })
            }

            #[doc = $what]
            ///
            #[doc = enqueued!(ops $new)]
            /// In place: `a` is `out` itself, and `b` and `c` are broadcast to its shape.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: `b` or `c` does not broadcast to `out`. `OutOfMemory`: for a
            /// number. `DeviceError`.
            pub fn $assign<$($generic)*>(
                &self,
                out: &mut (impl AsViewMut<$out> + ?Sized),
                b: impl Operand<$in>,
                c: impl Operand<$in>,
            ) -> Result<()> {
                let (b, c, out) = (b.argument(), c.argument(), &mut out.as_view_mut());
                self.ternary_assign(tnr_ternary_op::$op, out, [b, c]).map_err(|error| {
                    let inputs = [b.shape(), c.shape()];
                    refused(error, stringify!($assign), &inputs, Some(out.shape()))
                })
            }
        )*}
    };
}

for_each_ternary!(ternary_methods);

/// The two forms of a comparison.
macro_rules! comparison_methods {
    ($(
        $op:ident $name:literal: $new:ident, $into:ident, $bound:ident;
        $what:literal => $result:literal;
    )*) => {
        /// Comparisons. Each side may be a number.
        impl Stream {$(
            #[doc = concat!("Whether `", $what, "`.")]
            ///
            #[doc = enqueued!(ops $new)]
            /// A new row-major tensor of the shape that `a` and `b` broadcast to.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: the shapes do not broadcast. `OutOfMemory`. `Unsupported`:
            /// complex numbers. `DeviceError`.
            pub fn $new<T: $bound>(
                &self,
                a: impl Operand<T>,
                b: impl Operand<T>,
            ) -> Result<Tensor<Bool8>> {
                let (a, b) = (a.argument(), b.argument());
                self.compare(tnr_compare_op::$op, a, b).map_err(|error| {
                    refused(error, stringify!($new), &[a.shape(), b.shape()], None)
                })
            }

            #[doc = concat!("Whether `", $what, "`.")]
            ///
            #[doc = enqueued!(ops $new)]
            /// Written to `out`, to whose shape `a` and `b` are broadcast.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: `a` or `b` does not broadcast to `out`. `Unsupported`: complex
            /// numbers. `DeviceError`.
            pub fn $into<T: $bound>(
                &self,
                a: impl Operand<T>,
                b: impl Operand<T>,
                out: &mut (impl AsViewMut<Bool8> + ?Sized),
            ) -> Result<()> {
                let (a, b, out) = (a.argument(), b.argument(), &mut out.as_view_mut());
                let op = tnr_compare_op::$op;
                self.within(|| self.ask(op, a, b, out.lent_mut())).map_err(|error| {
                    let inputs = [a.shape(), b.shape()];
                    refused(error, stringify!($into), &inputs, Some(out.shape()))
                })
            }
        )*}
    };
}

for_each_compare!(comparison_methods);
