//! Places in sorted vectors, the different elements, and how many there are of each.

use std::ops::RangeInclusive;

use tenure_sys::TNR_SEARCHSORTED_RIGHT;

use super::results::{filled, named};
use crate::dense::Tensor;
use crate::dtype::{Element, Number, Real};
use crate::error::{Error, Result};
use crate::operand::{AsView, AsViewMut};
use crate::raw;
use crate::raw::ordering::{self, Bins};

/// The two sides of equal elements.
macro_rules! searches {
    ($($flags:expr; $which:literal; $search:ident, $search_into:ident; $places:literal;)*) => {$(
        /// For each value the place in a sorted vector before which it would be inserted so that
        #[doc = concat!("this stays sorted: ", $which, ". NaN is greater than all numbers.")]
        ///
        /// A new row-major tensor of the shape of `values`. Where `a` is not sorted, each answer is
        /// some number from 0 to its length.
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: an `a` that is no vector. `OutOfMemory`.
        ///
        /// ```
        #[doc = concat!("use tenure::ops::", stringify!($search), ";")]
        ///
        #[doc = concat!("let places = ", stringify!($search), "(&[1, 3, 3, 5], &[0, 3, 9])?;")]
        #[doc = concat!("assert_eq!(places.to_vec(), ", $places, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[doc(alias("bisect", "binary_search", "partition_point", "bucketize", "digitize"))]
        pub fn $search<T: Real>(a: impl AsView<T>, values: impl AsView<T>) -> Result<Tensor<i64>> {
            named(stringify!($search), || {
                let (a, values) = (a.as_view(), values.as_view());
                filled(values.shape(), |out| {
                    ordering::searchsorted(a.lent(), values.lent(), $flags, out)
                })
            })
        }

        #[doc = concat!("As [`", stringify!($search), "`], into memory of the caller's.")]
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: an `a` that is no vector, or another shape of `out`.
        pub fn $search_into<T: Real>(
            a: impl AsView<T>,
            values: impl AsView<T>,
            out: &mut (impl AsViewMut<i64> + ?Sized),
        ) -> Result<()> {
            named(stringify!($search_into), || {
                let (a, values, mut out) = (a.as_view(), values.as_view(), out.as_view_mut());
                ordering::searchsorted(a.lent(), values.lent(), $flags, out.lent_mut())
            })
        }
    )*};
}

searches! {
    0; "the number of elements that are smaller";
    searchsorted, searchsorted_into; "[0, 1, 4]";
    TNR_SEARCHSORTED_RIGHT; "the number of elements that are not greater";
    searchsorted_right, searchsorted_right_into; "[0, 3, 4]";
}

/// The different elements of a tensor, and how often each occurs.
#[derive(Debug)]
#[non_exhaustive]
pub struct UniqueCounts<T: Real> {
    /// The elements, sorted.
    pub values: Tensor<T>,
    /// How often each occurs.
    pub counts: Tensor<i64>,
}

/// The different elements of a tensor, and which of them each element is.
#[derive(Debug)]
#[non_exhaustive]
pub struct UniqueInverse<T: Real> {
    /// The elements, sorted.
    pub values: Tensor<T>,
    /// The place of each element in them, in the shape of the input.
    pub inverse: Tensor<i64>,
}

/// The different elements, sorted: a new vector. NaN are one element, which is last, and -0.0 and
/// 0.0 are one; the first that occurs stands for both.
///
/// # Errors
///
/// `OutOfMemory`.
///
/// ```
/// use tenure::ops::unique;
///
/// assert_eq!(unique(&[[3, 1], [1, 3]])?.to_vec(), [1, 3]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("distinct", "dedup"))]
pub fn unique<T: Real>(a: impl AsView<T>) -> Result<Tensor<T>> {
    named("unique", || ordering::unique(a.as_view().lent(), None).map(Tensor::of_new))
}

/// Does the same as [`unique`], and counts how often each element occurs. Both results are copied
/// out of a common buffer.
///
/// # Errors
///
/// `OutOfMemory`.
///
/// ```
/// use tenure::ops::unique_counts;
///
/// let colors = unique_counts(&[7, 2, 7, 7])?;
/// assert_eq!(colors.values.to_vec(), [2, 7]);
/// assert_eq!(colors.counts.to_vec(), [1, 3]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias = "value_counts")]
pub fn unique_counts<T: Real>(a: impl AsView<T>) -> Result<UniqueCounts<T>> {
    named("unique_counts", || {
        ordering::unique_counts::<T, _>(a.as_view().lent(), |len, values, counts| {
            Ok(UniqueCounts {
                values: filled(&[len], |out| raw::copy(values, out))?,
                counts: filled(&[len], |out| raw::copy(counts, out))?,
            })
        })
    })
}

/// Does the same as [`unique`], and gives the index of each element in the result.
///
/// # Errors
///
/// `OutOfMemory`.
///
/// ```
/// use tenure::ops::unique_inverse;
///
/// let words = unique_inverse(&[7, 2, 7])?;
/// assert_eq!(words.values.to_vec(), [2, 7]);
/// assert_eq!(words.inverse.to_vec(), [1, 0, 1]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("factorize", "return_inverse"))]
pub fn unique_inverse<T: Real>(a: impl AsView<T>) -> Result<UniqueInverse<T>> {
    named("unique_inverse", || {
        let a = a.as_view();
        let mut values = None;
        let inverse = filled(a.shape(), |inverse| {
            values = Some(Tensor::of_new(ordering::unique(a.lent(), Some(inverse))?));
            Ok(())
        })?;
        let Some(values) = values else {
            unreachable!("an operation that succeeds has been called")
        };
        Ok(UniqueInverse { values, inverse })
    })
}

/// How often each whole number below `count` occurs: element i of the result is the number of
/// elements that are i. A new vector.
///
/// # Errors
///
/// `InvalidArgument`: a number that is negative or not below `count`, which is named with its
/// place. `Unsupported`: floats. `OutOfMemory`.
///
/// ```
/// use tenure::ops::bincount;
///
/// assert_eq!(bincount(&[0, 2, 2, 3], 5)?.to_vec(), [1, 0, 2, 1, 0]);
/// let error = bincount(&[0, -2], 5).err().unwrap();
/// assert!(error.message().contains("element 1 of a is -2"));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn bincount<T: Number>(a: impl AsView<T>, count: usize) -> Result<Tensor<i64>> {
    named("bincount", || {
        let a = a.as_view();
        filled(&[count], |out| ordering::bincount(a.lent(), None, out))
    })
}

/// Does the same as [`bincount`], into the caller's memory. The length of `out` is the count.
///
/// # Errors
///
/// The errors of [`bincount`], and `InvalidArgument` for an `out` that is no vector; it is
/// untouched then.
pub fn bincount_into<T: Number>(
    a: impl AsView<T>,
    out: &mut (impl AsViewMut<i64> + ?Sized),
) -> Result<()> {
    named("bincount_into", || {
        let (a, mut out) = (a.as_view(), out.as_view_mut());
        ordering::bincount(a.lent(), None, out.lent_mut())
    })
}

/// The sum of the weights that each whole number below `count` has: element i of the result is that
/// of the weights where `a` is i, added up in f64 in the order of the elements. A new vector.
///
/// # Errors
///
/// The errors of [`bincount`]; also `InvalidArgument` for weights of another shape, and for weights
/// that are neither `f32` nor `f64`.
///
/// ```
/// use tenure::ops::bincount_weighted;
///
/// let sums = bincount_weighted(&[0_u8, 2, 2], &[0.5, 1.0, 2.0], 3)?;
/// assert_eq!(sums.to_vec(), [0.5, 0.0, 3.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn bincount_weighted<T: Number, W: Element>(
    a: impl AsView<T>,
    weights: impl AsView<W>,
    count: usize,
) -> Result<Tensor<W>> {
    named("bincount_weighted", || {
        let (a, weights) = (a.as_view(), weights.as_view());
        filled(&[count], |out| ordering::bincount(a.lent(), Some(weights.lent()), out))
    })
}

/// How many elements lie in each of `bins` parts of a range, which are equally long: a new vector.
///
/// An element on the edge of two counts in the upper one, and one on the last edge in the last.
/// Others, and NaN, are not counted. The edges are those of NumPy's `linspace`, in f64.
///
/// # Errors
///
/// `InvalidArgument`: a range whose ends are not finite, or that does not rise. `OutOfMemory`.
///
/// ```
/// use tenure::ops::histogram;
///
/// let counts = histogram(&[0.1, 0.9, 1.0, 2.0, 7.0], 2, 0.0..=2.0)?;
/// assert_eq!(counts.to_vec(), [2, 2]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias = "histc")]
pub fn histogram<T: Real>(
    a: impl AsView<T>,
    bins: usize,
    range: RangeInclusive<f64>,
) -> Result<Tensor<i64>> {
    named("histogram", || {
        let a = a.as_view();
        let parts = Bins::Even { low: *range.start(), high: *range.end() };
        filled(&[bins], |out| ordering::histogram(a.lent(), parts, out))
    })
}

/// How many elements lie between each edge and the next: element i of the result is the number of x
/// with `edges[i] <= x < edges[i + 1]`, and in the last place also of those on the last edge. A new
/// vector. Others, and NaN, are not counted.
///
/// # Errors
///
/// `InvalidArgument`: edges that fall, that are NaN, that are no vector, or none. `OutOfMemory`.
///
/// ```
/// use tenure::ops::histogram_edges;
///
/// let counts = histogram_edges(&[1, 4, 5, 9, 12], &[0, 5, 9])?;
/// assert_eq!(counts.to_vec(), [2, 2]);
/// assert!(histogram_edges(&[1], &[5, 0]).is_err());
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn histogram_edges<T: Real>(a: impl AsView<T>, edges: impl AsView<T>) -> Result<Tensor<i64>> {
    named("histogram_edges", || {
        let (a, edges) = (a.as_view(), edges.as_view());
        let Some(bins) = edges.shape().first().copied().unwrap_or(0).checked_sub(1) else {
            return Err(Error::invalid("there are no edges but must be one at least"));
        };
        filled(&[bins], |out| ordering::histogram(a.lent(), Bins::Edges(edges.lent()), out))
    })
}
