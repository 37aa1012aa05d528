//! One number of many: sums, extremes, counts, norms; diagonals; and triangular systems.

use tenure_sys::{tnr_reduce_op, tnr_sparse_norm_kind};

use super::arrays::Arrays;
use super::{CompressedFormat, CsrView, SparseView};
use crate::dense::Tensor;
use crate::dtype::triangle::Triangle;
use crate::dtype::{Element, Float, Number, Real, index::SparseIndex};
use crate::error::reserved;
use crate::error::{Error, Result};
use crate::operand::{AsView, AsViewMut};
use crate::sparse::calls::algebra as raw;

const OVER_ROWS: u32 = 1;
const OVER_COLS: u32 = 2;

fn reduce<T: Element, I: SparseIndex, R: Element>(
    op: tnr_reduce_op,
    a: Arrays<'_, T, I>,
    axes: u32,
) -> Result<Tensor<R>> {
    let extent = if axes == OVER_ROWS { a.form.cols } else { a.form.rows };
    let rank = if axes == OVER_ROWS | OVER_COLS { 0 } else { 1 };
    // SAFETY: a reduction that answers Ok has written every element, and reads none of its output.
    unsafe { Tensor::written_by(&[extent][..rank], |out| raw::reduce(op, &a.lent(), axes, out)) }
}

fn reduce_all<T: Element, I: SparseIndex, R: Element>(
    op: tnr_reduce_op,
    a: Arrays<'_, T, I>,
) -> Result<R> {
    let result = reduce::<T, I, R>(op, a, OVER_ROWS | OVER_COLS)?;
    // There is one element.
    Ok(result.as_slice().unwrap_or_default()[0])
}

macro_rules! reductions {
    ($(
        $op:ident => $all:ident, $rows:ident, $cols:ident, $bound:ident, $result:ty;
        $what:literal, errors $errors:literal,
        example $all_result:literal, $row_result:literal, $col_result:literal;
    )*) => {$(
        #[doc = concat!("# ", $what, "\n\nOf CSR and CSC.")]
        impl<F: CompressedFormat, T: $bound, I: SparseIndex> SparseView<'_, F, T, I> {
            #[doc = concat!($what, ", of all elements.")]
            ///
            /// # Errors
            ///
            #[doc = $errors]
            ///
            /// ```
            /// # use tenure::*;
            /// # let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5_f64, 2.5])?;
            /// let matrix = matrix.check_coalesced()?; // [1.5 0 0; 0 0 2.5]
            #[doc = concat!("assert_eq!(matrix.", stringify!($all), "()?, ", $all_result, ");")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn $all(&self) -> Result<$result> {
                reduce_all(tnr_reduce_op::$op, self.arrays())
            }

            #[doc = concat!($what, ", of each row.")]
            ///
            /// # Errors
            ///
            #[doc = $errors]
            ///
            /// ```
            /// # use tenure::*;
            /// # let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5_f64, 2.5])?;
            /// let matrix = matrix.check_coalesced()?; // [1.5 0 0; 0 0 2.5]
            #[doc = concat!("assert_eq!(matrix.", stringify!($rows), "()?.to_vec(), ",
                $row_result, ");")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn $rows(&self) -> Result<Tensor<$result>> {
                reduce(tnr_reduce_op::$op, self.arrays(), OVER_COLS)
            }

            #[doc = concat!($what, ", of each column.")]
            ///
            /// # Errors
            ///
            #[doc = $errors]
            ///
            /// ```
            /// # use tenure::*;
            /// # let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5_f64, 2.5])?;
            /// let matrix = matrix.check_coalesced()?; // [1.5 0 0; 0 0 2.5]
            #[doc = concat!("assert_eq!(matrix.", stringify!($cols), "()?.to_vec(), ",
                $col_result, ");")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn $cols(&self) -> Result<Tensor<$result>> {
                reduce(tnr_reduce_op::$op, self.arrays(), OVER_ROWS)
            }
        }
    )*};
}

reductions! {
    SUM => sum, row_sums, col_sums, Number, T::Sum;
    "The sum; of `f32` accumulated in `f64`",
    errors "`Unsupported`: elements other than `f32`, `f64`, `i32` and `i64`. `OutOfMemory`.",
    example "4.0", "[1.5, 2.5]", "[1.5, 0.0, 2.5]";
    MIN => min, row_mins, col_mins, Number, T;
    "The smallest element, a zero that is no entry among them; NaN wins",
    errors "`InvalidArgument`: there is none; entries that are not known to be coalesced. \
        `Unsupported`: as sums. `OutOfMemory`.",
    example "0.0", "[0.0, 0.0]", "[0.0, 0.0, 0.0]";
    MAX => max, row_maxes, col_maxes, Number, T;
    "The largest element, a zero that is no entry among them; NaN wins",
    errors "`InvalidArgument`: there is none; entries that are not known to be coalesced. \
        `Unsupported`: as sums. `OutOfMemory`.",
    example "2.5", "[1.5, 2.5]", "[1.5, 0.0, 2.5]";
    COUNT => count_nonzero, row_counts, col_counts, Real, i64;
    "How many elements are not 0",
    errors "`InvalidArgument`: entries that are not known to be coalesced. `Unsupported`: as \
        sums. `OutOfMemory`.",
    example "2", "[1, 1]", "[1, 0, 1]";
}

/// Norms of CSR and CSC, computed in `f64`. NaN where an entry is.
///
/// All err with `InvalidArgument` where entries are not known to be coalesced, `Unsupported` for
/// elements other than `f32` and `f64`, `OutOfMemory`.
impl<F: CompressedFormat, T: Float, I: SparseIndex> SparseView<'_, F, T, I> {
    /// The largest sum of magnitudes of a column.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5_f64, 2.5])?.check_coalesced()?;
    /// assert_eq!(matrix.norm_1()?, 2.5);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn norm_1(&self) -> Result<f64> {
        raw::norm(tnr_sparse_norm_kind::ONE, &self.arrays().lent())
    }

    /// The largest sum of magnitudes of a row.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5_f64, 2.5])?.check_coalesced()?;
    /// assert_eq!(matrix.norm_inf()?, 2.5);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn norm_inf(&self) -> Result<f64> {
        raw::norm(tnr_sparse_norm_kind::INFINITY, &self.arrays().lent())
    }

    /// The square root of the sum of squares.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5_f64, 2.5])?.check_coalesced()?;
    /// assert_eq!(matrix.norm_frobenius()?, 8.5_f64.sqrt());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn norm_frobenius(&self) -> Result<f64> {
        raw::norm(tnr_sparse_norm_kind::FROBENIUS, &self.arrays().lent())
    }
}

/// Norms of rows, of CSR and CSC.
impl<F: CompressedFormat, T: Float, I: SparseIndex> SparseView<'_, F, T, I> {
    /// The p-norm of each row: for 1 the sum of magnitudes, for 2 the root of the sum of squares,
    /// for infinity the largest magnitude, else the p-th root of the sum of their p-th powers. Added
    /// up in f64 in the order of the entries; NaN where one is.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: entries that are not known to be coalesced; a `p` that is not above 0.
    /// `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 2, 3], &[0, 2, 1], &[3.0, -4.0, 5.0])?;
    /// let matrix = matrix.check_coalesced()?; // [3 0 -4; 0 5 0]
    /// assert_eq!(matrix.row_norms(2.0)?.to_vec(), [5.0, 5.0]);
    /// assert_eq!(matrix.row_norms(1.0)?.to_vec(), [7.0, 5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn row_norms(&self, p: f64) -> Result<Tensor<T>> {
        if p.is_nan() || p <= 0.0 {
            return Err(Error::invalid(format!("p is {p} but must be above 0")));
        }
        if !self.is_coalesced() {
            return Err(Error::invalid("entries must be known to be coalesced: see coalesce()"));
        }
        let is_of_powers = p != 1.0 && !p.is_infinite();
        let mut units = reserved(self.rows(), "units of rows")?;
        units.resize(self.rows(), 1.0);
        let mut sums =
            if p.is_infinite() { self.largest_of_rows()? } else { self.power_sums(p, &units)? };
        // Where powers left the range on the way, rows are measured by their largest magnitude.
        let is_exact = |sum: f64| (1e-270..f64::INFINITY).contains(&sum);
        if is_of_powers && !sums.iter().all(|&sum| is_exact(sum)) {
            for (row, largest) in self.largest_of_rows()?.into_iter().enumerate() {
                if !is_exact(sums[row]) && largest > 0.0 && largest.is_finite() {
                    units[row] = largest;
                }
            }
            sums = self.power_sums(p, &units)?;
        }
        let mut norms = Tensor::<T>::zeros([sums.len()])?;
        for ((norm, sum), unit) in norms.view_mut().iter_mut().zip(sums).zip(units) {
            *norm = T::of_double(if p == 2.0 {
                unit * sum.sqrt()
            } else if is_of_powers {
                unit * sum.powf(p.recip())
            } else {
                sum
            });
        }
        Ok(norms)
    }

    /// The largest magnitude of each row; a NaN is kept, and taken in.
    fn largest_of_rows(&self) -> Result<Vec<f64>> {
        let mut largest = reserved(self.rows(), "largest magnitudes of rows")?;
        largest.resize(self.rows(), 0.0_f64);
        for (row, _, value) in self.iter() {
            let (magnitude, so_far) = (value.to_double().abs(), &mut largest[row]);
            if !(magnitude <= *so_far || so_far.is_nan()) {
                *so_far = magnitude;
            }
        }
        Ok(largest)
    }

    /// The sums of the p-th powers of magnitudes, each divided by the unit of its row.
    fn power_sums(&self, p: f64, units: &[f64]) -> Result<Vec<f64>> {
        let mut sums = reserved(units.len(), "sums of rows")?;
        sums.resize(units.len(), 0.0);
        for (row, _, value) in self.iter() {
            let magnitude = value.to_double().abs() / units[row];
            sums[row] += match p {
                1.0 => magnitude,
                2.0 => magnitude * magnitude,
                _ => magnitude.powf(p),
            };
        }
        Ok(sums)
    }
}

/// The diagonal of CSR and CSC.
impl<F: CompressedFormat, T: Number, I: SparseIndex> SparseView<'_, F, T, I> {
    /// The elements at equal row and column, as many as the shorter axis has.
    ///
    /// # Errors
    ///
    /// `Unsupported`: elements other than `f32`, `f64`, `i32` and `i64`. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5_f64, 2.5])?;
    /// assert_eq!(matrix.diagonal()?.to_vec(), [1.5, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn diagonal(&self) -> Result<Tensor<T>> {
        let extent = self.rows().min(self.cols());
        // SAFETY: what answers Ok has written every element, and reads none of its output.
        unsafe { Tensor::written_by(&[extent], |out| raw::diagonal(&self.arrays().lent(), out)) }
    }
}

/// Triangular systems.
impl<T: Float, I: SparseIndex> CsrView<'_, T, I> {
    /// The x of `self` x = b, by substitution; `b` is `[n]`, or `[n, k]` for k systems at once.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a matrix that is not square; another shape of `b`; a diagonal that is 0
    /// or has no entry in a row, which is named. `Unsupported`: elements other than `f32` and
    /// `f64`. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?; // [2 0; 1 4]
    /// assert_eq!(a.solve_triangular(Triangle::Lower, &[2.0, 9.0])?.to_vec(), [1.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn solve_triangular(
        &self,
        triangle: Triangle,
        b: &(impl AsView<T> + ?Sized),
    ) -> Result<Tensor<T>> {
        b.with_view(|b| {
            // SAFETY: a solution that answers Ok has every element written, and it is not read
            // before.
            unsafe {
                Tensor::written_by(b.shape(), |out| {
                    raw::solve(triangle.flags(), &self.arrays().lent(), b.lent(), out)
                })
            }
        })
    }

    /// Does the same as [`solve_triangular`](Self::solve_triangular), into the caller's memory.
    ///
    /// # Errors
    ///
    /// As that. Where a diagonal is 0, `out` holds a mixture.
    ///
    /// ```
    /// # use tenure::*;
    /// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
    /// let mut x = [0.0; 2];
    /// a.solve_triangular_into(Triangle::UnitLower, &[2.0, 9.0], &mut x)?;
    /// assert_eq!(x, [2.0, 7.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn solve_triangular_into(
        &self,
        triangle: Triangle,
        b: &(impl AsView<T> + ?Sized),
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        b.with_view(|b| {
            out.with_view_mut(|out| {
                raw::solve(triangle.flags(), &self.arrays().lent(), b.lent(), out.lent_mut())
            })
        })
    }
}
