//! Reductions and normalizations, as methods.

use std::panic::Location;

use tenure_sys::{for_each_normalize, for_each_reduce, tnr_normalize_op, tnr_reduce_op};

use super::place::sealed::Leaves;
use super::{Expr, Place, name};
use crate::raw::expression::Code;
use crate::raw::operations::Reducing;
use crate::{Axes, Bool8, Element, Error, Float, Number, Real};

impl<'a, T: Element, P: Place> Expr<'a, T, P> {
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
        $op:ident: $new:ident, $bound:ident => $result_type:ty,
        [$($field:ident: $field_type:ty)?];
        example $arguments:literal => $result:literal;
    )*) => {
        $(
            impl<'a, T: $bound, P: Place> Expr<'a, T, P> {
                #[doc = concat!("The function [`", stringify!($new), "`](fn@crate::", stringify!($new),
                    "), over axes of this.")]
                ///
                /// It is the last operation of an expression; or it is over the last axis, which
                /// [stays](Axes::keep), and others follow.
                ///
                /// ```
                /// use tenure::AsView;
                ///
                /// let a = [[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]];
                #[doc = concat!("let result = a.expr().", stringify!($new), "(", $arguments, ").eval()?;")]
                #[doc = concat!("assert_eq!(result, ", $result, ");")]
                /// # Ok::<(), tenure::Error>(())
                /// ```
                #[track_caller]
                pub fn $new(
                    self,
                    axes: impl Into<Axes>,
                    $($field: $field_type,)?
                ) -> Expr<'a, $result_type, P> {
                    let with = reductions!(@with $($field)?);
                    let code = const { Code::reduce::<$result_type>(tnr_reduce_op::$op) };
                    self.over(code, axes.into(), with)
                }
            }
        )*
        const REDUCTIONS: &[tnr_reduce_op] = &[$(tnr_reduce_op::$op),*];
    };
    (@with) => { None };
    (@with $field:ident) => { Some(Reducing { $field, ..Reducing::default() }) };
}

/// Calls a macro with the reductions: methods of expressions, and of values of graphs.
macro_rules! for_each_reduction {
    ($rows:ident) => {
        $rows! {
            SUM: sum, Number => T::Sum, []; example "1" => "[9.0, 9.0]";
            PROD: prod, Number => T::Sum, []; example "1" => "[12.0, 0.0]";
            MEAN: mean, Float => T, []; example "1" => "[3.0, 3.0]";
            VAR: var, Float => T, [ddof: u32]; example "0, 1" => "[0.5, 4.5, 2.0]";
            STD: std, Float => T, [ddof: u32]; example "0, 0" => "[0.5, 1.5, 1.0]";
            MIN: min, Number => T, []; example "1" => "[1.0, 0.0]";
            MAX: max, Number => T, []; example "1" => "[6.0, 5.0]";
            ARGMIN: argmin, Number => i64, []; example "1" => "[0, 0]";
            ARGMAX: argmax, Number => i64, []; example "1" => "[2, 1]";
            ANY: any, Real => Bool8, []; example "1" => "[true, true].map(tenure::Bool8::from)";
            ALL: all, Real => Bool8, []; example "1" => "[true, false].map(tenure::Bool8::from)";
            COUNT: count, Real => i64, []; example "1" => "[3, 2]";
            NORM: norm, Float => T, [power: f64]; example "1, 1.0" => "[9.0, 9.0]";
            LOGSUMEXP: logsumexp, Float => T, [];
            example "1" => "tenure::logsumexp(&a, 1)?";
            NAN_SUM: nan_sum, Float => T, []; example "1" => "[9.0, 9.0]";
            NAN_MEAN: nan_mean, Float => T, []; example "1" => "[3.0, 3.0]";
            NAN_MIN: nan_min, Float => T, []; example "1" => "[1.0, 0.0]";
            NAN_MAX: nan_max, Float => T, []; example "1" => "[6.0, 5.0]";
        }
    };
}
pub(crate) use for_each_reduction;

for_each_reduction!(reductions);

macro_rules! normalizations {
    ($(
        $op:ident: $new:ident $(, [$norm:ident])?;
        example $a:literal, $arguments:literal => $result:literal;
    )*) => {
        $(
            impl<'a, T: Float, P: Place> Expr<'a, T, P> {
                #[doc = concat!("The function [`", stringify!($new), "`](fn@crate::", stringify!($new),
                    "), over axes of this. It is the last operation of an expression.")]
                ///
                /// ```
                /// use tenure::AsView;
                ///
                #[doc = concat!("let result = ", $a, ".expr().", stringify!($new), "(", $arguments, ").eval()?;")]
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

/// A row of the table of operations without a method here does not compile.
macro_rules! require_reductions {
    ($($op:ident $name:literal: $new:ident;)*) => {
        const _: () = {$(
            let mut at = 0;
            while REDUCTIONS[at].0 != tnr_reduce_op::$op.0 {
                at += 1;
            }
        )*};
    };
}
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
for_each_reduce!(require_reductions);
for_each_normalize!(require_normalizations);
