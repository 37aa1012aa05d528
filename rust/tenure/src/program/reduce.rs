//! Reductions, normalizations and scans, as methods of values.

use std::panic::Location;

use tenure_sys::{
    TNR_NODE_KEEP_AXES, TNR_NODE_SCAN, TNR_NODE_SUM_TO, TNR_OPERAND_NONE, for_each_reduce_of_reals,
    for_each_scan, tnr_normalize_attributes, tnr_normalize_op, tnr_reduce_attributes,
    tnr_reduce_op, tnr_scan_op,
};

use super::Traced;
use super::state::Step;
use crate::dtype::{Bool8, Element, Float, Number, Real};
use crate::layout::axis::Axis;
use crate::nn::normalize::LayerNorm;
use crate::ops::axes::Axes;
use crate::raw::expression::Code;
use crate::raw::operations::{Reducing, reducing};

/// The names of the operands of normalizations.
const NORMALIZED: &[&str] = &["a", "weight", "bias"];

impl<'g, T: Element> Traced<'g, T> {
    fn over<R: Element>(
        self,
        code: Code,
        axes: Axes,
        with: Option<Reducing>,
        at: &'static Location<'static>,
    ) -> Traced<'g, R> {
        let mask = match axes.mask(self.rank()) {
            Ok(mask) => mask,
            Err(error) => return self.graph().refuse(crate::expr::name::of(code), at, error),
        };
        let kept = if axes.are_kept() { TNR_NODE_KEEP_AXES } else { 0 };
        let operands = [self.value()];
        let step = Step::of(code, &operands).flags(mask | kept);
        match with {
            Some(Reducing { ddof, power }) => {
                let struct_size = size_of::<tnr_reduce_attributes>() as u64;
                let given = tnr_reduce_attributes { struct_size, ddof, reserved: 0, power };
                self.graph().step(at, &step.with(&given))
            }
            None => self.graph().step(at, &step),
        }
    }
}

macro_rules! reductions {
    ($(
        $op:ident $name:literal: $new:ident, $into:ident, [$($generic:tt)*] => $result_type:ty
            $(, [$field:ident: $field_type:ty])?;
        $what:literal, errors $also:literal, example $a:literal, $arguments:literal
            => $result:literal;
    )*) => {$(
        impl<'g, $($generic)*> Traced<'g, T> {
            #[doc = concat!("The function [`", stringify!($new), "`](fn@crate::ops::",
                stringify!($new),
                "), over axes of this.")]
            #[track_caller]
            pub fn $new(
                self,
                axes: impl Into<Axes>,
                $($field: $field_type,)?
            ) -> Traced<'g, $result_type> {
                let with = reducing!($($field)?);
                let code = Code::reduce::<$result_type>(tnr_reduce_op::$op);
                self.over(code, axes.into(), with, Location::caller())
            }
        }
    )*};
}

for_each_reduce_of_reals!(reductions);

impl<'g, T: Number> Traced<'g, T> {
    /// The sum over the axes that would broadcast `like` to the shape of this: of a gradient of the
    /// larger shape, that of the smaller one. Where both shapes are equal, this value. Only the
    /// shape of `like` is read, which a run may decide.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let (x, bias) = (graph.input::<f32>([2, 3]), graph.input::<f32>([3]));
    ///     graph.program((x, bias), x.sum_to(bias))
    /// })?;
    /// let x = [[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    /// assert_eq!(program.run((&x, &[0.0_f32; 3]))?.to_vec(), [5.0, 7.0, 9.0]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The trace fails with `InvalidArgument` if `like` does not broadcast to the shape of this.
    #[track_caller]
    pub fn sum_to<U: Element>(self, like: Traced<'g, U>) -> Traced<'g, T::Sum> {
        let operands = [self.value(), like.value()];
        let step = Step::new("sum_to", TNR_NODE_SUM_TO, &operands).named(&["a", "like"]);
        self.graph().step(Location::caller(), &step)
    }
}

impl<'g, T: Float> Traced<'g, T> {
    fn normalized(
        self,
        op: tnr_normalize_op,
        axes: Axes,
        [weight, bias]: [Option<Traced<'g, T>>; 2],
        norm: LayerNorm<'_, T>,
        at: &'static Location<'static>,
    ) -> Traced<'g, T> {
        let code = Code::normalize::<T>(op);
        let (mask, eps) = match (axes.mask(self.rank()), norm.of_node()) {
            (Ok(mask), Ok(eps)) => (mask, eps),
            (Err(error), _) | (_, Err(error)) => {
                return self.graph().refuse(crate::expr::name::of(code), at, error);
            }
        };
        let operands = [self.value(), value_or_none(weight), value_or_none(bias)];
        let given = tnr_normalize_attributes {
            struct_size: size_of::<tnr_normalize_attributes>() as u64,
            eps,
            weight: std::ptr::null(),
            bias: std::ptr::null(),
        };
        let step = Step::of(code, &operands).named(NORMALIZED).flags(mask);
        match op {
            tnr_normalize_op::LAYER_NORM | tnr_normalize_op::RMS_NORM => {
                self.graph().step(at, &step.with(&given))
            }
            _ => self.graph().step(at, &step),
        }
    }

    /// The function [`softmax`](fn@crate::nn::softmax), over axes of this.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f64>([2, 2]);
    ///     graph.program((x,), x.softmax(-1))
    /// })?;
    /// assert_eq!(program.run((&[[3.0, 3.0], [0.0, f64::NEG_INFINITY]],))?, [[0.5, 0.5], [1.0, 0.0]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn softmax(self, axes: impl Into<Axes>) -> Traced<'g, T> {
        let (op, norm) = (tnr_normalize_op::SOFTMAX, LayerNorm::new());
        self.normalized(op, axes.into(), [None; 2], norm, Location::caller())
    }

    /// The function [`log_softmax`](fn@crate::nn::log_softmax), over axes of this.
    #[track_caller]
    pub fn log_softmax(self, axes: impl Into<Axes>) -> Traced<'g, T> {
        let (op, norm) = (tnr_normalize_op::LOG_SOFTMAX, LayerNorm::new());
        self.normalized(op, axes.into(), [None; 2], norm, Location::caller())
    }

    /// The function [`layer_norm`](fn@crate::nn::layer_norm), over axes of this. The weight and the
    /// bias are values here, of the extents of the axes; `norm` has the `eps`, and lends none.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let (x, weight) = (graph.input::<f64>([2, 2]), graph.copy_constant(&[1.0, 10.0]));
    ///     graph.program((x,), x.layer_norm(-1, Some(weight), None, LayerNorm::new().eps(0.0)))
    /// })?;
    /// assert_eq!(program.run((&[[1.0, 3.0], [0.0, 2.0]],))?, [[-1.0, 10.0], [-1.0, 10.0]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn layer_norm(
        self,
        axes: impl Into<Axes>,
        weight: Option<Traced<'g, T>>,
        bias: Option<Traced<'g, T>>,
        norm: LayerNorm<'_, T>,
    ) -> Traced<'g, T> {
        let op = tnr_normalize_op::LAYER_NORM;
        self.normalized(op, axes.into(), [weight, bias], norm, Location::caller())
    }

    /// The function [`rms_norm`](fn@crate::nn::rms_norm), over axes of this. The weight is a value
    /// here, of the extents of the axes; `norm` has the `eps`, and lends none.
    #[track_caller]
    pub fn rms_norm(
        self,
        axes: impl Into<Axes>,
        weight: Option<Traced<'g, T>>,
        norm: LayerNorm<'_, T>,
    ) -> Traced<'g, T> {
        let op = tnr_normalize_op::RMS_NORM;
        self.normalized(op, axes.into(), [weight, None], norm, Location::caller())
    }
}

/// The operand that an optional value is.
pub(super) fn value_or_none<T: Element>(value: Option<Traced<'_, T>>) -> u32 {
    value.map_or(TNR_OPERAND_NONE, Traced::value)
}

macro_rules! scans {
    ($($op:ident: $new:ident => $result_type:ty;)*) => {
        impl<'g, T: Number> Traced<'g, T> {$(
            #[doc = concat!("The function [`", stringify!($new), "`](fn@crate::ops::",
                stringify!($new),
                "), along an axis of this.")]
            #[track_caller]
            pub fn $new(self, axis: impl Into<Axis>) -> Traced<'g, $result_type> {
                let at = Location::caller();
                match self.axis(axis.into()) {
                    Ok(axis) => {
                        let code = TNR_NODE_SCAN | tnr_scan_op::$op.0 as u32;
                        let (operands, numbers) = ([self.value()], [axis]);
                        let step = Step::new(stringify!($new), code, &operands);
                        self.graph().step(at, &step.numbers(&numbers))
                    }
                    Err(error) => self.graph().refuse(stringify!($new), at, error),
                }
            }
        )*}
        const SCANS: &[tnr_scan_op] = &[$(tnr_scan_op::$op),*];
    };
}

scans! {
    SUM: cumsum => T::Sum;
    PROD: cumprod => T::Sum;
    MIN: cummin => T;
    MAX: cummax => T;
}

/// A row of the table of operations without a method here does not compile.
macro_rules! require_scans {
    ($($op:ident $name:literal: $new:ident;)*) => {
        const _: () = {$(
            let mut at = 0;
            while SCANS[at].0 != tnr_scan_op::$op.0 {
                at += 1;
            }
        )*};
    };
}
for_each_scan!(require_scans);
