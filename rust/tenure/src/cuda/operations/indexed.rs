//! Elements and rows of a device by their indices along an axis.
//!
//! Whether all indices are inside is looked at first, and waited for.

use tenure_sys::tnr_binary_op;

use crate::cuda::{AsView, AsViewMut, Stream, Tensor, TensorView, TensorViewMut};
use crate::dtype::{Element, Number, index::SparseIndex};
use crate::error::Result;
use crate::layout::axis::Axis;
use crate::ops::concat::numbered;
use crate::ops::indexed::{AS_THEY_ARE, taken};
use crate::ops::results::named;
use crate::raw::movement::{self, Names};

impl Stream {
    fn take_by<T: Element, I: SparseIndex>(
        &self,
        names: Names,
        a: TensorView<'_, T>,
        axis: Axis,
        indices: TensorView<'_, I>,
        mut out: TensorViewMut<'_, T>,
    ) -> Result<()> {
        let at = numbered(axis, a.rank())? as u32;
        self.within(|| movement::take(names, a.lent(), at, indices.lent(), out.lent_mut()))
    }

    fn put_by<T: Element, I: SparseIndex>(
        &self,
        (names, op): (Names, tnr_binary_op),
        mut a: TensorViewMut<'_, T>,
        axis: Axis,
        indices: TensorView<'_, I>,
        values: TensorView<'_, T>,
    ) -> Result<()> {
        let at = numbered(axis, a.rank())? as u32;
        self.within(|| movement::put(names, op, values.lent(), at, indices.lent(), a.lent_mut()))
    }
}

/// Reading by index. Each waits for the stream: an index that is outside is found on the device.
impl Stream {
    /// Elements of `a` by their indices along an axis, which becomes the axes of `indices` (`i32`
    /// or `i64`): as [`tenure::ops::take`](crate::ops::take()). A new row-major tensor. Waits for
    /// the stream.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or an index that is negative or not below its extent, whose
    /// place the message has; a result of more than 8 axes. `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let table = stream.upload(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
    /// let rows = stream.take(&table, 0, &stream.upload(&[2, 0])?)?;
    /// assert_eq!(stream.to_vec(&rows)?, [5.0, 6.0, 1.0, 2.0]);
    ///
    /// let error = stream.take(&table, 0, &stream.upload(&[0, 3])?).unwrap_err();
    /// assert!(error.message().starts_with("take: indices[1] is 3 but must be at least 0"));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("index_select", "embedding", "gather_rows", "select_rows"))]
    pub fn take<T: Element, I: SparseIndex>(
        &self,
        a: impl AsView<T>,
        axis: impl Into<Axis>,
        indices: impl AsView<I>,
    ) -> Result<Tensor<T>> {
        named("take", || {
            let (a, indices) = (a.as_view(), indices.as_view());
            let at = numbered(axis.into(), a.rank())?;
            let extents = taken(a.shape(), at, indices.shape())?;
            self.filled(extents.as_slice(), |out| {
                movement::take(Names::Rows, a.lent(), at as u32, indices.lent(), out)
            })
        })
    }

    /// Writes the result of [`take`](Self::take) to `out`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, an index that is negative or not below its extent, or
    /// another shape of `out`. Nothing is written then. `DeviceError`.
    pub fn take_into<T: Element, I: SparseIndex>(
        &self,
        a: impl AsView<T>,
        axis: impl Into<Axis>,
        indices: impl AsView<I>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        named("take_into", || {
            let (a, indices, out) = (a.as_view(), indices.as_view(), out.as_view_mut());
            self.take_by(Names::Rows, a, axis.into(), indices, out)
        })
    }

    /// Elements of `a` by an index each along an axis: as
    /// [`tenure::ops::gather`](crate::ops::gather()). A new row-major tensor of the shape of
    /// `indices` (`i32` or `i64`). Waits for the stream.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, another axis of other extents than those of `indices`, or
    /// an index that is negative or not below its extent, whose place the message has.
    /// `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let scores = stream.upload(&[[0.5, 0.9, 0.1], [0.3, 0.2, 0.7]])?;
    /// let best = stream.gather(&scores, 1, &stream.upload(&[[1, 0], [2, 0]])?)?;
    /// assert_eq!(stream.to_vec(&best)?, [0.9, 0.5, 0.7, 0.3]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias = "take_along_axis")]
    pub fn gather<T: Element, I: SparseIndex>(
        &self,
        a: impl AsView<T>,
        axis: impl Into<Axis>,
        indices: impl AsView<I>,
    ) -> Result<Tensor<T>> {
        named("gather", || {
            let (a, indices) = (a.as_view(), indices.as_view());
            let at = numbered(axis.into(), a.rank())? as u32;
            self.filled(indices.shape(), |out| {
                movement::take(Names::Elements, a.lent(), at, indices.lent(), out)
            })
        })
    }

    /// Writes the result of [`gather`](Self::gather) to `out`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, shapes that do not agree, or an index that is negative or
    /// not below its extent. Nothing is written then. `DeviceError`.
    pub fn gather_into<T: Element, I: SparseIndex>(
        &self,
        a: impl AsView<T>,
        axis: impl Into<Axis>,
        indices: impl AsView<I>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        named("gather_into", || {
            let (a, indices, out) = (a.as_view(), indices.as_view(), out.as_view_mut());
            self.take_by(Names::Elements, a, axis.into(), indices, out)
        })
    }
}

/// The two forms of what writes by index.
macro_rules! put_methods {
    ($(
        $names:ident $op:expr, $bound:ident: $new:ident, $assign:ident;
        $does:literal, values $shape:literal, aliases [$($alias:literal),*];
    )*) => {
        /// Writing by index. Each waits for the stream: an index that is outside is found on the
        /// device.
        impl Stream {$(
            #[doc = concat!("A copy of `a` that ", $does, ".")]
            ///
            #[doc = concat!(
                "As [`tenure::ops::", stringify!($new), "`](fn@crate::ops::", stringify!($new),
                "), whose ",
                "bits it has. A new row-major tensor. Waits for the stream."
            )]
            ///
            /// # Errors
            ///
            #[doc = concat!(
                "`InvalidArgument`: no such axis, an index that is negative or not below its ",
                "extent, whose place the message has, or `values` of another shape than ", $shape,
                ". `OutOfMemory`. `DeviceError`."
            )]
            $(#[doc(alias = $alias)])*
            pub fn $new<T: $bound, I: SparseIndex>(
                &self,
                a: impl AsView<T>,
                axis: impl Into<Axis>,
                indices: impl AsView<I>,
                values: impl AsView<T>,
            ) -> Result<Tensor<T>> {
                named(stringify!($new), || {
                    let mut result = self.to_tensor(a)?;
                    let (a, by) = (result.view_mut(), (Names::$names, $op));
                    self.put_by(by, a, axis.into(), indices.as_view(), values.as_view())?;
                    Ok(result)
                })
            }

            #[doc = concat!(
                "As [`", stringify!($new), "`](Self::", stringify!($new), "), in `a` itself, ",
                "which ", $does, "."
            )]
            ///
            /// # Errors
            ///
            #[doc = concat!(
                "`InvalidArgument`: no such axis, an index that is negative or not below its ",
                "extent, or `values` of another shape than ", $shape, ". Nothing is written then. ",
                "`OutOfMemory`: for the order of the indices. `DeviceError`."
            )]
            pub fn $assign<T: $bound, I: SparseIndex>(
                &self,
                a: &mut (impl AsViewMut<T> + ?Sized),
                axis: impl Into<Axis>,
                indices: impl AsView<I>,
                values: impl AsView<T>,
            ) -> Result<()> {
                named(stringify!($assign), || {
                    let (a, by) = (a.as_view_mut(), (Names::$names, $op));
                    self.put_by(by, a, axis.into(), indices.as_view(), values.as_view())
                })
            }
        )*}
    };
}

put_methods! {
    Rows AS_THEY_ARE, Element: put, put_assign;
    "has `values` where `indices` along an axis say; of equal indices the last wins",
    values "that of `take` by these indices", aliases ["index_copy", "index_put"];
    Rows tnr_binary_op::ADD, Number: put_add, put_add_assign;
    "has `values` added where `indices` along an axis say",
    values "that of `take` by these indices", aliases ["index_add", "segment_sum"];
    Rows tnr_binary_op::MUL, Number: put_mul, put_mul_assign;
    "is multiplied by `values` where `indices` along an axis say",
    values "that of `take` by these indices", aliases [];
    Rows tnr_binary_op::MIN, Number: put_min, put_min_assign;
    "has the lesser of itself and `values` where `indices` along an axis say; NaN wins",
    values "that of `take` by these indices", aliases ["index_reduce"];
    Rows tnr_binary_op::MAX, Number: put_max, put_max_assign;
    "has the greater of itself and `values` where `indices` along an axis say; NaN wins",
    values "that of `take` by these indices", aliases ["index_reduce"];
    Elements AS_THEY_ARE, Element: scatter, scatter_assign;
    "has `values` where an index each along an axis says; of equal indices the last wins",
    values "that of `indices`", aliases ["put_along_axis"];
    Elements tnr_binary_op::ADD, Number: scatter_add, scatter_add_assign;
    "has `values` added where an index each along an axis says",
    values "that of `indices`", aliases [];
    Elements tnr_binary_op::MUL, Number: scatter_mul, scatter_mul_assign;
    "is multiplied by `values` where an index each along an axis says",
    values "that of `indices`", aliases ["scatter_reduce"];
    Elements tnr_binary_op::MIN, Number: scatter_min, scatter_min_assign;
    "has the lesser of itself and `values` where an index each along an axis says; NaN wins",
    values "that of `indices`", aliases ["scatter_reduce"];
    Elements tnr_binary_op::MAX, Number: scatter_max, scatter_max_assign;
    "has the greater of itself and `values` where an index each along an axis says; NaN wins",
    values "that of `indices`", aliases ["scatter_reduce"];
}
