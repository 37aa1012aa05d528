//! Reductions and normalizations, as methods.

use std::panic::Location;

use tenure_sys::{for_each_normalize, for_each_reduce_of_reals, tnr_normalize_op, tnr_reduce_op};

use super::memory_space::sealed::Leaves;
use super::{Expr, MemorySpace, name};
use crate::dtype::{Bool8, Element, Float, Number, Real};
use crate::error::Error;
use crate::ops::axes::Axes;
use crate::raw::expression::Code;
use crate::raw::operations::{Reducing, reducing};

impl<'a, T: Element, P: MemorySpace> Expr<'a, T, P> {
    #[track_caller]
    fn over<R: Element>(
        mut self,
        code: Code,
        axes: Axes,
        with: Option<Reducing>,
    ) -> Expr<'a, R, P> {
        let at = Location::caller();
        match axes.mask(self.graph.rank()) {
            Ok(mask) => self.graph.reduce(code, mask, axes.are_kept(), with, at),
            Err(error) => self.graph.fail(no_such_axis(error, code, at)),
        }
        self.typed()
    }

    #[track_caller]
    fn normalized(mut self, code: Code, axes: Axes, norm: Option<P::LayerNorm<'a, T>>) -> Self
    where
        T: Float,
    {
        let at = Location::caller();
        match axes.mask(self.graph.rank()) {
            Ok(mask) => self.graph.normalize(code, mask, norm.map(Leaves::leaves), at),
            Err(error) => self.graph.fail(no_such_axis(error, code, at)),
        }
        self
    }
}

#[cold]
fn no_such_axis(error: Error, code: Code, at: &Location<'_>) -> Error {
    error.prefixed(&format!("{} at {at}: ", name::of(code)))
}

macro_rules! reductions {
    ($(
        $op:ident $name:literal: $new:ident, $into:ident, [$($generic:tt)*] => $result_type:ty
            $(, [$field:ident: $field_type:ty])?;
        $what:literal, errors $also:literal, example $a:literal, $arguments:literal
            => $result:literal;
    )*) => {
        $(
            impl<'a, $($generic)*, P: MemorySpace> Expr<'a, T, P> {
                #[doc = concat!("The function [`", stringify!($new), "`](fn@crate::ops::",
                    stringify!($new),
                    "), over axes of this.")]
                ///
                /// It is the last operation of an expression; or it is over the last axis, which
                /// [stays](Axes::keep), and others follow.
                ///
                /// ```
                /// use tenure::AsView;
                ///
                #[doc = concat!("let a = ", $a, ";")]
                #[doc = concat!(
                    "let result = a.expr().", stringify!($new), "(", $arguments, ").eval()?;"
                )]
                #[doc = concat!("assert_eq!(result, ", $result, ");")]
                /// # Ok::<(), tenure::Error>(())
                /// ```
                #[track_caller]
                pub fn $new(
                    self,
                    axes: impl Into<Axes>,
                    $($field: $field_type,)?
                ) -> Expr<'a, $result_type, P> {
                    let with = reducing!($($field)?);
                    let code = const { Code::reduce::<$result_type>(tnr_reduce_op::$op) };
                    self.over(code, axes.into(), with)
                }
            }
        )*
    };
}

for_each_reduce_of_reals!(reductions);

macro_rules! normalizations {
    ($(
        $op:ident: $new:ident $(, [$norm:ident])?;
        example $a:literal, $arguments:literal => $result:literal;
    )*) => {
        $(
            impl<'a, T: Float, P: MemorySpace> Expr<'a, T, P> {
                #[doc = concat!("The function [`", stringify!($new), "`](fn@crate::nn::",
                    stringify!($new),
                    "), over axes of this. It is the last operation of an expression.")]
                ///
                /// ```
                /// use tenure::AsView;
                ///
                #[doc = concat!(
                    "let result = ", $a, ".expr().", stringify!($new), "(", $arguments, ").eval()?;"
                )]
                #[doc = concat!("assert_eq!(result, ", $result, ");")]
                /// # Ok::<(), tenure::Error>(())
                /// ```
                #[track_caller]
                pub fn $new(
                    self,
                    axes: impl Into<Axes>,
                    $($norm: P::LayerNorm<'a, T>,)?
                ) -> Self {
                    let norm = normalizations!(@norm $($norm)?);
                    self.normalized(const { Code::normalize::<T>(tnr_normalize_op::$op) }, axes.into(), norm)
                }
            }
        )*
        const NORMALIZATIONS: &[tnr_normalize_op] = &[$(tnr_normalize_op::$op),*];
    };
    (@norm) => { None };
    (@norm $norm:ident) => { Some($norm) };
}

normalizations! {
    SOFTMAX: softmax;
    example "[3.0, f64::NEG_INFINITY, 3.0]", "0" => "[0.5, 0.0, 0.5]";
    LOG_SOFTMAX: log_softmax; example "[-1000.0, 0.0]", "0" => "[-1000.0, 0.0]";
    LAYER_NORM: layer_norm, [norm];
    example "[1.0, 3.0]", "0, tenure::LayerNorm::new().eps(0.0)" => "[-1.0, 1.0]";
    RMS_NORM: rms_norm, [norm];
    example "[2.0, -2.0]", "0, tenure::LayerNorm::new().eps(0.0)" => "[1.0, -1.0]";
}

/// A normalization of the table of operations without a method here does not compile.
macro_rules! require_normalizations {
    ($($op:ident $name:literal: $new:ident;)*) => {
        const _: () = {$(
            let mut at = 0;
            while NORMALIZATIONS[at].0 != tnr_normalize_op::$op.0 {
                at += 1;
            }
        )*};
    };
}
for_each_normalize!(require_normalizations);
