//! Reductions of tensors of a device. Made of the rows that the crate's functions are made of.

use tenure_sys::{for_each_reduce, tnr_reduce_op};

use crate::cuda::{AsView, AsViewMut, Stream, Tensor, TensorView, TensorViewMut};
use crate::dense;
use crate::dtype::{Arithmetic, Bool8, Element, Field, Float, Number, Real};
use crate::error::Result;
use crate::ops::axes::Axes;
use crate::ops::reduce::for_each_number_reduction;
use crate::ops::results::named;
use crate::raw::operations::{self, Reducing, reducing};

impl Stream {
    fn reduce<T: Element, R: Element>(
        &self,
        op: tnr_reduce_op,
        a: TensorView<'_, T>,
        axes: Axes,
        with: Option<Reducing>,
    ) -> Result<Tensor<R>> {
        let mask = axes.mask(a.rank())?;
        let extents = axes.reduced(a.shape(), mask);
        self.filled(extents.as_slice(), |out| operations::reduce(op, a.lent(), mask, with, out))
    }

    fn reduce_into<T: Element, R: Element>(
        &self,
        op: tnr_reduce_op,
        a: TensorView<'_, T>,
        axes: Axes,
        with: Option<Reducing>,
        mut out: TensorViewMut<'_, R>,
    ) -> Result<()> {
        let mask = axes.mask(a.rank())?;
        self.within(|| operations::reduce(op, a.lent(), mask, with, out.lent_mut()))
    }

    /// The reduction of all elements, brought to the host.
    fn reduce_all<T: Element, R: Element>(
        &self,
        op: tnr_reduce_op,
        a: TensorView<'_, T>,
        with: Option<Reducing>,
    ) -> Result<R> {
        let reduced = self.reduce(op, a, Axes::from(..), with)?;
        let mut result = R::default();
        self.bring(reduced.view(), &mut dense::TensorViewMut::from_mut(&mut result))?;
        Ok(result)
    }
}

/// The two forms of a reduction.
macro_rules! reduction_methods {
    ($(
        $op:ident $name:literal: $new:ident, $into:ident, [$($generic:tt)*] => $result_type:ty
            $(, [$field:ident: $field_type:ty])?;
        $what:literal, errors $also:literal, example $a:literal, $arguments:literal
            => $result:literal;
    )*) => {
        /// Reductions over axes.
        impl Stream {$(
            #[doc = $what]
            ///
            #[doc = concat!(
                "As [`tenure::ops::", stringify!($new), "`](fn@crate::ops::", stringify!($new),
                "), enqueued."
            )]
            /// A new row-major tensor with the axes that are not reduced, or with all of them where
            /// they are given by [`Axes::keep`].
            ///
            /// # Errors
            ///
            #[doc = concat!("`InvalidArgument`: no such axis", $also, ".")]
            /// `OutOfMemory`. `Unsupported`: complex numbers. `DeviceError`.
            pub fn $new<$($generic)*>(
                &self,
                a: impl AsView<T>,
                axes: impl Into<Axes>,
                $($field: $field_type,)?
            ) -> Result<Tensor<$result_type>> {
                named(stringify!($new), || {
                    let with = reducing!($($field)?);
                    self.reduce(tnr_reduce_op::$op, a.as_view(), axes.into(), with)
                })
            }

            #[doc = $what]
            ///
            #[doc = concat!(
                "As [`tenure::ops::", stringify!($into), "`](fn@crate::ops::", stringify!($into),
                "), enqueued."
            )]
            /// Written to `out`, which has the axes that are not reduced, or all of them with the
            /// reduced ones of extent 1.
            ///
            /// # Errors
            ///
            #[doc = concat!(
                "`InvalidArgument`: no such axis, or another shape of `out`", $also, "."
            )]
            /// `Unsupported`: complex numbers. `OutOfMemory`: for partial results. `DeviceError`.
            pub fn $into<$($generic)*>(
                &self,
                a: impl AsView<T>,
                axes: impl Into<Axes>,
                $($field: $field_type,)?
                out: &mut (impl AsViewMut<$result_type> + ?Sized),
            ) -> Result<()> {
                named(stringify!($into), || {
                    let with = reducing!($($field)?);
                    let (a, out) = (a.as_view(), out.as_view_mut());
                    self.reduce_into(tnr_reduce_op::$op, a, axes.into(), with, out)
                })
            }
        )*}
    };
}

for_each_reduce!(reduction_methods);

/// Reductions of all elements to a number of the host.
macro_rules! methods_of_all {
    ($(
        $op:ident: $all:ident, $bound:ident => $result_type:ty $(, [$field:ident: $field_type:ty])?;
        $what:literal, errors $errors:literal, example $arguments:literal => $result:literal;
    )*) => {
        /// Reductions of all elements to a number, which is copied to the host: each waits.
        impl Stream {$(
            #[doc = $what]
            ///
            #[doc = concat!(
                "As [`tenure::ops::", stringify!($all), "`](fn@crate::ops::", stringify!($all),
                "). Waits for the stream."
            )]
            ///
            /// # Errors
            ///
            #[doc = $errors]
            /// Besides: `OutOfMemory`. `Unsupported`: complex numbers. `DeviceError`.
            pub fn $all<T: $bound>(
                &self,
                a: impl AsView<T>,
                $($field: $field_type,)?
            ) -> Result<$result_type> {
                named(stringify!($all), || {
                    let with = reducing!($($field)?);
                    self.reduce_all(tnr_reduce_op::$op, a.as_view(), with)
                })
            }
        )*}
    };
}

for_each_number_reduction!(methods_of_all);
