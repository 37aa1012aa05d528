//! Elements and rows by their indices along an axis.

use tenure_sys::{TNR_MAX_RANK, tnr_binary_op};

use super::concat::numbered;
use super::results::{Extents, filled, named};
use crate::dense::{Tensor, TensorView};
use crate::dtype::{Element, Number, index::SparseIndex};
use crate::error::{Error, Result};
use crate::layout::{axis::Axis, order::Order};
use crate::operand::{AsIndices, AsView, AsViewMut};
use crate::raw::movement::{self, Names};

/// The shape of the result of [`take`]: that of `a` with one axis replaced by those of the indices.
pub(crate) fn taken(shape: &[usize], at: usize, indices: &[usize]) -> Result<Extents> {
    let rank = shape.len() - 1 + indices.len();
    if rank > TNR_MAX_RANK {
        return Err(Error::invalid(format!(
            "the result would have rank {rank} but the most is {TNR_MAX_RANK}"
        )));
    }
    let mut extents = Extents { values: [0; TNR_MAX_RANK], rank };
    let parts = shape[..at].iter().chain(indices).chain(&shape[at + 1..]);
    for (extent, &part) in extents.values.iter_mut().zip(parts) {
        *extent = part;
    }
    Ok(extents)
}

/// Elements of `a` by their indices along an axis, which becomes the axes of `indices` (`i32`,
/// `i64` or `usize`). A new row-major tensor.
///
/// Indices along the first axis of a matrix name its rows: an embedding.
///
/// # Errors
///
/// `InvalidArgument`: no such axis, or an index that is negative or not below its extent, whose
/// place the message has; a result of more than 8 axes. `OutOfMemory`.
///
/// ```
/// use tenure::ops::take;
///
/// let table = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// assert_eq!(take(&table, 0, &[2, 0])?.to_vec(), [5.0, 6.0, 1.0, 2.0]);
/// assert_eq!(take(&table, 1, &[1])?.to_vec(), [2.0, 4.0, 6.0]);
///
/// let error = take(&table, 0, &[0, 3]).unwrap_err();
/// assert!(error.message().starts_with("take: indices[1] is 3 but must be at least 0 and less than 3"));
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("index_select", "embedding", "gather_rows", "select_rows"))]
pub fn take<T: Element, I: SparseIndex>(
    a: impl AsView<T>,
    axis: impl Into<Axis>,
    indices: impl AsIndices<I>,
) -> Result<Tensor<T>> {
    named("take", || {
        let (a, indices) = (a.as_view(), indices.as_indices());
        let at = numbered(axis.into(), a.rank())?;
        let extents = taken(a.shape(), at, indices.shape())?;
        filled(extents.as_slice(), |out| {
            movement::take(Names::Rows, a.lent(), at as u32, indices.lent(), out)
        })
    })
}

/// Elements of `a` by their indices along an axis, as [`take`] gives them, into `out`.
///
/// # Errors
///
/// `InvalidArgument`: no such axis, an index that is negative or not below its extent, or another
/// shape of `out`. Nothing is written then.
///
/// ```
/// use tenure::ops::take_into;
///
/// let mut rows = [[0; 2]; 2];
/// take_into(&[[1, 2], [3, 4], [5, 6]], 0, &[1, 1], &mut rows)?;
/// assert_eq!(rows, [[3, 4], [3, 4]]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn take_into<T: Element, I: SparseIndex>(
    a: impl AsView<T>,
    axis: impl Into<Axis>,
    indices: impl AsIndices<I>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    named("take_into", || {
        let (a, indices, mut out) = (a.as_view(), indices.as_indices(), out.as_view_mut());
        let at = numbered(axis.into(), a.rank())? as u32;
        movement::take(Names::Rows, a.lent(), at, indices.lent(), out.lent_mut())
    })
}

/// Elements of `a` by an index each along an axis: for axis 0, `out[i, j] = a[indices[i, j], j]`. A
/// new row-major tensor of the shape of `indices` (`i32`, `i64` or `usize`).
///
/// # Errors
///
/// `InvalidArgument`: no such axis, another axis of other extents than those of `indices`, or an
/// index that is negative or not below its extent, whose place the message has. `OutOfMemory`.
///
/// ```
/// use tenure::ops::gather;
///
/// let scores = [[0.5, 0.9, 0.1], [0.3, 0.2, 0.7]];
/// let best = [[1, 0], [2, 0]];
/// assert_eq!(gather(&scores, 1, &best)?.to_vec(), [0.9, 0.5, 0.7, 0.3]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias = "take_along_axis")]
pub fn gather<T: Element, I: SparseIndex>(
    a: impl AsView<T>,
    axis: impl Into<Axis>,
    indices: impl AsIndices<I>,
) -> Result<Tensor<T>> {
    named("gather", || {
        let (a, indices) = (a.as_view(), indices.as_indices());
        let at = numbered(axis.into(), a.rank())?;
        filled(indices.shape(), |out| {
            movement::take(Names::Elements, a.lent(), at as u32, indices.lent(), out)
        })
    })
}

/// Elements of `a` by an index each along an axis, as [`gather`] gives them, into `out`.
///
/// # Errors
///
/// `InvalidArgument`: no such axis, shapes that do not agree, or an index that is negative or not
/// below its extent. Nothing is written then.
///
/// ```
/// use tenure::ops::gather_into;
///
/// let mut out = [0; 3];
/// gather_into(&[10, 20, 30], 0, &[2, 2, 0], &mut out)?;
/// assert_eq!(out, [30, 30, 10]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn gather_into<T: Element, I: SparseIndex>(
    a: impl AsView<T>,
    axis: impl Into<Axis>,
    indices: impl AsIndices<I>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    named("gather_into", || {
        let (a, indices, mut out) = (a.as_view(), indices.as_indices(), out.as_view_mut());
        let at = numbered(axis.into(), a.rank())? as u32;
        movement::take(Names::Elements, a.lent(), at, indices.lent(), out.lent_mut())
    })
}

/// The code that puts values as they are.
pub(crate) const AS_THEY_ARE: tnr_binary_op = tnr_binary_op(0);

pub(crate) fn put_assign_by<T: Element, I: SparseIndex>(
    names: Names,
    op: tnr_binary_op,
    a: &mut (impl AsViewMut<T> + ?Sized),
    axis: Axis,
    indices: &TensorView<'_, I>,
    values: &TensorView<'_, T>,
) -> Result<()> {
    let mut a = a.as_view_mut();
    let at = numbered(axis, a.rank())? as u32;
    movement::put(names, op, values.lent(), at, indices.lent(), a.lent_mut())
}

/// The two forms of what writes by index.
macro_rules! puts {
    ($(
        $names:ident $op:expr, $bound:ident: $new:ident, $assign:ident;
        $does:literal, values $shape:literal, aliases [$($alias:literal),*],
        example $indices:literal, $values:literal => $result:literal;
    )*) => {$(
        #[doc = concat!("A copy of `a` that ", $does, ".")]
        ///
        /// Indices (`i32`, `i64` or `usize`) are looked at in their order, so that results are the same for
        /// any number of threads. A new row-major tensor.
        ///
        /// # Errors
        ///
        #[doc = concat!(
            "`InvalidArgument`: no such axis, an index that is negative or not below its extent, ",
            "whose place the message has, or `values` of another shape than ", $shape,
            ". `OutOfMemory`."
        )]
        ///
        /// ```
        /// let a = [10, 20, 30];
        #[doc = concat!(
            "let result = tenure::ops::", stringify!($new), "(&a, 0, &", $indices, ", &", $values,
            ")?;"
        )]
        #[doc = concat!("assert_eq!(result.to_vec(), ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        $(#[doc(alias = $alias)])*
        pub fn $new<T: $bound, I: SparseIndex>(
            a: impl AsView<T>,
            axis: impl Into<Axis>,
            indices: impl AsIndices<I>,
            values: impl AsView<T>,
        ) -> Result<Tensor<T>> {
            named(stringify!($new), || {
                let mut result = Tensor::working_copy(a.as_view(), Order::RowMajor)?;
                let (indices, values) = (indices.as_indices(), values.as_view());
                let (axis, out) = (axis.into(), &mut result);
                put_assign_by(Names::$names, $op, out, axis, &indices, &values)?;
                Ok(result)
            })
        }

        #[doc = concat!("As [`", stringify!($new), "`], in `a` itself, which ", $does, ".")]
        ///
        /// # Errors
        ///
        #[doc = concat!(
            "`InvalidArgument`: no such axis, an index that is negative or not below its extent, ",
            "or `values` of another shape than ", $shape, ". Nothing is written then."
        )]
        ///
        /// ```
        /// let mut a = [10, 20, 30];
        #[doc = concat!(
            "tenure::ops::", stringify!($assign), "(&mut a, 0, &", $indices, ", &", $values, ")?;"
        )]
        #[doc = concat!("assert_eq!(a, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $assign<T: $bound, I: SparseIndex>(
            a: &mut (impl AsViewMut<T> + ?Sized),
            axis: impl Into<Axis>,
            indices: impl AsIndices<I>,
            values: impl AsView<T>,
        ) -> Result<()> {
            named(stringify!($assign), || {
                let (indices, values) = (indices.as_indices(), values.as_view());
                put_assign_by(Names::$names, $op, a, axis.into(), &indices, &values)
            })
        }
    )*};
}

puts! {
    Rows AS_THEY_ARE, Element: put, put_assign;
    "has `values` where `indices` along an axis say; of equal indices the last wins",
    values "that of `take` by these indices", aliases ["index_copy", "index_put"],
    example "[2, 0, 2]", "[1, 2, 3]" => "[2, 20, 3]";
    Rows tnr_binary_op::ADD, Number: put_add, put_add_assign;
    "has `values` added where `indices` along an axis say",
    values "that of `take` by these indices", aliases ["index_add", "segment_sum"],
    example "[2, 0, 2]", "[1, 2, 3]" => "[12, 20, 34]";
    Rows tnr_binary_op::MUL, Number: put_mul, put_mul_assign;
    "is multiplied by `values` where `indices` along an axis say",
    values "that of `take` by these indices", aliases [],
    example "[2, 0, 2]", "[1, 2, 3]" => "[20, 20, 90]";
    Rows tnr_binary_op::MIN, Number: put_min, put_min_assign;
    "has the lesser of itself and `values` where `indices` along an axis say; NaN wins",
    values "that of `take` by these indices", aliases ["index_reduce"],
    example "[2, 0, 2]", "[1, 2, 3]" => "[2, 20, 1]";
    Rows tnr_binary_op::MAX, Number: put_max, put_max_assign;
    "has the greater of itself and `values` where `indices` along an axis say; NaN wins",
    values "that of `take` by these indices", aliases ["index_reduce"],
    example "[2, 0, 2]", "[1, 99, 3]" => "[99, 20, 30]";
    Elements AS_THEY_ARE, Element: scatter, scatter_assign;
    "has `values` where an index each along an axis says; of equal indices the last wins",
    values "that of `indices`", aliases ["put_along_axis"],
    example "[2, 0, 2]", "[1, 2, 3]" => "[2, 20, 3]";
    Elements tnr_binary_op::ADD, Number: scatter_add, scatter_add_assign;
    "has `values` added where an index each along an axis says",
    values "that of `indices`", aliases [],
    example "[2, 0, 2]", "[1, 2, 3]" => "[12, 20, 34]";
    Elements tnr_binary_op::MUL, Number: scatter_mul, scatter_mul_assign;
    "is multiplied by `values` where an index each along an axis says",
    values "that of `indices`", aliases ["scatter_reduce"],
    example "[2, 0, 2]", "[1, 2, 3]" => "[20, 20, 90]";
    Elements tnr_binary_op::MIN, Number: scatter_min, scatter_min_assign;
    "has the lesser of itself and `values` where an index each along an axis says; NaN wins",
    values "that of `indices`", aliases ["scatter_reduce"],
    example "[2, 0, 2]", "[1, 2, 3]" => "[2, 20, 1]";
    Elements tnr_binary_op::MAX, Number: scatter_max, scatter_max_assign;
    "has the greater of itself and `values` where an index each along an axis says; NaN wins",
    values "that of `indices`", aliases ["scatter_reduce"],
    example "[2, 0, 2]", "[1, 99, 3]" => "[99, 20, 30]";
}
