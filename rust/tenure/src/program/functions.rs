//! The functions of the table of operations, as methods of values.

use std::panic::Location;

use tenure_sys::{
    for_each_binary, for_each_compare, for_each_ternary, for_each_unary, tnr_binary_op,
    tnr_compare_op, tnr_ternary_op, tnr_unary_op,
};

use super::state::Step;
use super::{Graph, IntoTraced, Traced};
use crate::dtype::{
    Arithmetic, Bool8, ComplexNumber, Element, Field, Float, Integer, Number, Real,
};
use crate::expr::functions::output;
use crate::raw::expression::Code;

impl<'g> Graph<'g> {
    /// The result of an operation of the table.
    pub(super) fn operation<T: Element>(
        self,
        code: Code,
        operands: &[u32],
        at: &'static Location<'static>,
    ) -> Traced<'g, T> {
        self.step(at, &Step::of(code, operands))
    }
}

macro_rules! unary_methods {
    ($(
        $op:ident $name:literal $module:ident: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident;
        $what:literal, errors $also:literal, example $a:literal => $result:literal;
    )*) => {$(
        impl<'g, $($generic)*> Traced<'g, $in> {
            #[doc = $what]
            ///
            #[doc = concat!(
                "The function [`", stringify!($new), "`](fn@crate::", stringify!($module), "::",
                stringify!($new), ")."
            )]
            #[track_caller]
            #[allow(clippy::should_implement_trait, reason = "operators are there too")]
            pub fn $new(self) -> Traced<'g, output!($in $out)> {
                let code = Code::unary::<output!($in $out)>(tnr_unary_op::$op);
                self.graph().operation(code, &[self.value()], Location::caller())
            }
        }
    )*};
}

for_each_unary!(unary_methods);

macro_rules! binary_methods {
    ($(
        $op:ident $name:literal: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident;
        $what:literal, errors $also:literal, example $a:literal, $b:literal => $result:literal;
    )*) => {$(
        impl<'g, $($generic)*> Traced<'g, $in> {
            #[doc = $what]
            ///
            #[doc = concat!(
                "The function [`", stringify!($new), "`](fn@crate::ops::", stringify!($new), "), of"
            )]
            /// this and `b`.
            #[track_caller]
            #[allow(clippy::should_implement_trait, reason = "operators are there too")]
            pub fn $new(self, b: impl IntoTraced<'g, $in>) -> Traced<'g, $out> {
                let operands = [self.value(), b.operand(self.graph())];
                let code = Code::binary::<$out>(tnr_binary_op::$op);
                self.graph().operation(code, &operands, Location::caller())
            }
        }
    )*};
}

for_each_binary!(binary_methods);

macro_rules! ternary_methods {
    ($(
        $op:ident $name:literal: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident;
        $what:literal, errors $also:literal,
        example $a:literal, $b:literal, $c:literal => $result:literal;
    )*) => {$(
        impl<'g, $($generic)*> Traced<'g, $in> {
            #[doc = $what]
            ///
            #[doc = concat!(
                "The function [`", stringify!($new), "`](fn@crate::ops::", stringify!($new), "), of"
            )]
            /// this, `b` and `c`.
            #[track_caller]
            pub fn $new(
                self,
                b: impl IntoTraced<'g, $in>,
                c: impl IntoTraced<'g, $in>,
            ) -> Traced<'g, $out> {
                let graph = self.graph();
                let operands = [self.value(), b.operand(graph), c.operand(graph)];
                let code = Code::ternary::<$out>(tnr_ternary_op::$op);
                graph.operation(code, &operands, Location::caller())
            }
        }
    )*};
}

for_each_ternary!(ternary_methods);

macro_rules! compare_methods {
    ($($op:ident $name:literal: $new:ident, $into:ident, $bound:ident;
        $what:literal => $result:literal;)*) => {$(
        impl<'g, T: $bound> Traced<'g, T> {
            #[doc = concat!("Whether `", $what, "`.")]
            ///
            #[doc = concat!(
                "The function [`", stringify!($new), "`](fn@crate::ops::", stringify!($new), "), of"
            )]
            /// this and `b`.
            #[track_caller]
            #[allow(clippy::should_implement_trait, reason = "comparisons here give elements")]
            pub fn $new(self, b: impl IntoTraced<'g, T>) -> Traced<'g, Bool8> {
                let operands = [self.value(), b.operand(self.graph())];
                let code = Code::compare(tnr_compare_op::$op);
                self.graph().operation(code, &operands, Location::caller())
            }
        }
    )*};
}

for_each_compare!(compare_methods);

impl<'g> Traced<'g, Bool8> {
    /// `a` where this is true, else `b`.
    ///
    /// The function [`select`](fn@crate::ops::select), of this, `a` and `b`.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([3]);
    ///     graph.program((x,), x.lt(0.0).select(0.0, x))
    /// })?;
    /// assert_eq!(program.run((&[3.0, -1.0, 2.0],))?, [3.0, 0.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias = "where")]
    pub fn select<T: Element>(
        self,
        a: impl IntoTraced<'g, T>,
        b: impl IntoTraced<'g, T>,
    ) -> Traced<'g, T> {
        let graph = self.graph();
        let operands = [self.value(), a.operand(graph), b.operand(graph)];
        let step = Step::of(Code::select::<T>(), &operands).named(&["condition", "a", "b"]);
        graph.step(Location::caller(), &step)
    }
}

impl<'g, T: Real> Traced<'g, T> {
    /// The elements as another type.
    ///
    /// The function [`cast`](fn@crate::ops::cast).
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let pixels = graph.input::<u8>([3]);
    ///     graph.program((pixels,), pixels.cast::<f32>() * 0.5)
    /// })?;
    /// assert_eq!(program.run((&[0, 128, 255],))?, [0.0, 64.0, 127.5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("astype", "to_dtype"))]
    pub fn cast<U: Real>(self) -> Traced<'g, U> {
        let operands = [self.value()];
        let step = Step::of(Code::cast::<U>(), &operands).cast(U::DTYPE);
        self.graph().step(Location::caller(), &step)
    }
}
