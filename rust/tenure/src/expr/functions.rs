//! The functions of the table of operations, as methods.

use std::panic::Location;

use tenure_sys::{
    for_each_binary, for_each_compare, for_each_ternary, for_each_unary, tnr_binary_op,
    tnr_compare_op, tnr_ternary_op, tnr_unary_op,
};

use super::{Expr, IntoExpr, MemorySpace};
use crate::dtype::{
    Arithmetic, Bool8, ComplexNumber, Element, Field, Float, Integer, Number, Real,
};
use crate::raw::expression::Code;

/// Comparisons of results: as lists of the examples say them.
macro_rules! result {
    (Bool8 $result:literal T) => {
        concat!("assert_eq!(result, ", $result, ".map(tenure::Bool8::from));")
    };
    ($out:ident $result:literal $in:ident) => {
        concat!("assert_eq!(result, ", $result, ");")
    };
}

/// The type of results.
macro_rules! output {
    ($in:ident Part) => {
        $in::Magnitude
    };
    ($in:ident Magnitude) => {
        $in::Magnitude
    };
    ($in:ident $out:ident) => {
        $out
    };
}
pub(crate) use output;

macro_rules! unary_methods {
    ($(
        $op:ident $name:literal $module:ident: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident;
        $what:literal, errors $also:literal, example $a:literal => $result:literal;
    )*) => {$(
        impl<'a, P: MemorySpace, $($generic)*> Expr<'a, $in, P> {
            #[doc = $what]
            ///
            #[doc = concat!(
                "The function [`", stringify!($new), "`](fn@crate::", stringify!($module), "::",
                stringify!($new), ")."
            )]
            ///
            /// ```
            /// use tenure::AsView;
            ///
            #[doc = concat!("let result = ", $a, ".expr().", stringify!($new), "().eval()?;")]
            #[doc = result!($out $result $in)]
            /// # Ok::<(), tenure::Error>(())
            /// ```
            #[inline]
            #[track_caller]
            #[allow(clippy::should_implement_trait, reason = "operators are there too")]
            pub fn $new(self) -> Expr<'a, output!($in $out), P> {
                self.then(const { Code::unary::<output!($in $out)>(tnr_unary_op::$op) })
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
        impl<'a, P: MemorySpace, $($generic)*> Expr<'a, $in, P> {
            #[doc = $what]
            ///
            #[doc = concat!(
                "The function [`", stringify!($new), "`](fn@crate::ops::", stringify!($new), "), of"
            )]
            /// this and `b`.
            ///
            /// ```
            /// use tenure::AsView;
            ///
            #[doc = concat!(
                "let result = ", $a, ".expr().", stringify!($new), "(&", $b, ").eval()?;"
            )]
            #[doc = result!($out $result $in)]
            /// # Ok::<(), tenure::Error>(())
            /// ```
            #[inline]
            #[track_caller]
            #[allow(clippy::should_implement_trait, reason = "operators are there too")]
            pub fn $new(self, b: impl IntoExpr<'a, $in, P>) -> Expr<'a, $out, P> {
                let code = const { Code::binary::<$out>(tnr_binary_op::$op) };
                self.then_with(code, b.graph_operand())
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
        impl<'a, P: MemorySpace, $($generic)*> Expr<'a, $in, P> {
            #[doc = $what]
            ///
            #[doc = concat!(
                "The function [`", stringify!($new), "`](fn@crate::ops::", stringify!($new), "), of"
            )]
            /// this, `b` and `c`.
            ///
            /// ```
            /// use tenure::AsView;
            ///
            #[doc = concat!(
                "let result = ", $a, ".expr().", stringify!($new), "(&", $b, ", &", $c, ").eval()?;"
            )]
            #[doc = result!($out $result $in)]
            /// # Ok::<(), tenure::Error>(())
            /// ```
            #[inline]
            #[track_caller]
            pub fn $new(
                mut self,
                b: impl IntoExpr<'a, $in, P>,
                c: impl IntoExpr<'a, $in, P>,
            ) -> Expr<'a, $out, P> {
                let code = const { Code::ternary::<$out>(tnr_ternary_op::$op) };
                self.graph.ternary(code, b.graph_operand(), c.graph_operand(), Location::caller());
                self.typed()
            }
        }
    )*};
}

for_each_ternary!(ternary_methods);

macro_rules! compare_methods {
    ($($op:ident $name:literal: $new:ident, $into:ident, $bound:ident;
        $what:literal => $result:literal;)*) => {$(
        impl<'a, T: $bound, P: MemorySpace> Expr<'a, T, P> {
            #[doc = concat!("Whether `", $what, "`.")]
            ///
            #[doc = concat!(
                "The function [`", stringify!($new), "`](fn@crate::ops::", stringify!($new), "), of"
            )]
            /// this and `b`.
            ///
            /// ```
            /// use tenure::AsView;
            ///
            #[doc = concat!("let result = [1, 2, 3].expr().", stringify!($new), "(2).eval()?;")]
            #[doc = concat!("assert_eq!(result, ", $result, ".map(tenure::Bool8::from));")]
            /// # Ok::<(), tenure::Error>(())
            /// ```
            #[inline]
            #[track_caller]
            #[allow(clippy::should_implement_trait, reason = "comparisons here give elements")]
            pub fn $new(self, b: impl IntoExpr<'a, T, P>) -> Expr<'a, Bool8, P> {
                self.then_with(const { Code::compare(tnr_compare_op::$op) }, b.graph_operand())
            }
        }
    )*};
}

for_each_compare!(compare_methods);

impl<'a, P: MemorySpace> Expr<'a, Bool8, P> {
    /// `a` where this is true, else `b`.
    ///
    /// The function [`select`](fn@crate::ops::select), of this, `a` and `b`.
    ///
    /// ```
    /// # use tenure::*;
    /// let a = Tensor::from([3.0, -1.0, 2.0]);
    /// assert_eq!(a.expr().lt(0.0).select(0.0, &a).eval()?, [3.0, 0.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    #[track_caller]
    #[doc(alias = "where")]
    pub fn select<T: Element>(
        mut self,
        a: impl IntoExpr<'a, T, P>,
        b: impl IntoExpr<'a, T, P>,
    ) -> Expr<'a, T, P> {
        let code = const { Code::select::<T>() };
        self.graph.ternary(code, a.graph_operand(), b.graph_operand(), Location::caller());
        self.typed()
    }
}

impl<'a, T: Real, P: MemorySpace> Expr<'a, T, P> {
    /// The elements as another type.
    ///
    /// The function [`cast`](fn@crate::ops::cast).
    ///
    /// ```
    /// # use tenure::*;
    /// let (pixels, gain) = (Tensor::from([0_u8, 128, 255]), 0.5);
    /// assert_eq!((pixels.expr().cast::<f32>() * gain).eval()?, [0.0, 64.0, 127.5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    #[track_caller]
    #[doc(alias("astype", "to_dtype"))]
    pub fn cast<U: Real>(self) -> Expr<'a, U, P> {
        self.then(const { Code::cast::<U>() })
    }
}
