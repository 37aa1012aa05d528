//! The reading methods of sparse views, on the matrices that hold their arrays: each is that of
//! `view()`.

use std::ops::RangeBounds;

use super::{
    BlockEntries, BsrMatrix, BsrView, Combine, CompressedFormat, CooMatrix, CscMatrix, CscView,
    CsrMatrix, CsrView, Entries, PackedLayout, PackedMatrix, PointFormat, SparseFormat,
    SparseIndex, SparseMatrix, SparseView,
};
use crate::dense::Tensor;
use crate::dtype::triangle::Triangle;
use crate::dtype::{Element, Float, NativeFloat, Number, Real};
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};

/// A matrix where an operand is a view: `a.product(&b)`.
impl<'a, F: SparseFormat, T: Element, I: SparseIndex> From<&'a SparseMatrix<F, T, I>>
    for SparseView<'a, F, T, I>
{
    fn from(matrix: &'a SparseMatrix<F, T, I>) -> Self {
        matrix.view()
    }
}

/// Walks over the entries that a reference reaches: row, column and value.
///
/// ```
/// # use tenure::*;
/// let matrix = CsrMatrix::from_vecs(2, 2, vec![0, 1, 2], vec![0, 1], vec![1.5, 2.5])?;
/// for (row, col, value) in &matrix {
///     assert_eq!((row, *value), (col, 1.5 + row as f64));
/// }
/// # Ok::<(), Error>(())
/// ```
impl<'a, F: PointFormat, T: Element, I: SparseIndex> IntoIterator for &'a SparseMatrix<F, T, I> {
    type Item = (usize, usize, &'a T);
    type IntoIter = Entries<'a, T, I>;

    fn into_iter(self) -> Entries<'a, T, I> {
        self.iter()
    }
}

/// Methods of `$view`, each with an example that is true of `it`, a matrix `[1 0; 2 3]`.
macro_rules! readers {
    ($view:ident of $make:literal: $(
        fn $name:ident $([$($generic:tt)*])? ($($argument:ident: $type:ty),*) -> $result:ty:
        $example:literal;
    )*) => {$(
        #[doc = concat!("As [`", stringify!($view), "::", stringify!($name), "`].")]
        ///
        /// ```
        /// # use tenure::*;
        #[doc = concat!("let it = ", $make, ".check_coalesced()?;")]
        #[doc = concat!("assert_eq!(", $example, ");")]
        /// # Ok::<(), Error>(())
        /// ```
        pub fn $name $(<$($generic)*>)? (&self $(, $argument: $type)*) -> $result {
            self.view().$name($($argument),*)
        }
    )*};
}

/// Conversions, as those of [`view`](Self::view): copies.
impl<F: SparseFormat, T: Element, I: SparseIndex> SparseMatrix<F, T, I> {
    readers! {
        SparseView of
        "CsrMatrix::from_vecs(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0_f64, 2.0, 3.0])?":
        fn to_coo() -> Result<CooMatrix<T, I>>:
        "it.to_coo()?.row_indices(), [0, 1, 1]";
        fn to_csr() -> Result<CsrMatrix<T, I>>:
        "it.to_csr()?.row_offsets(), [0, 1, 3]";
        fn to_csc() -> Result<CscMatrix<T, I>>:
        "it.to_csc()?.col_offsets(), [0, 2, 3]";
        fn to_bsr(block: [usize; 2]) -> Result<BsrMatrix<T, I>>:
        "it.to_bsr([2, 2])?.values(), [1.0, 0.0, 2.0, 3.0]";
        fn to_sorted() -> Result<Self>:
        "it.to_sorted()?.values(), [1.0, 2.0, 3.0]";
        fn to_index [J: SparseIndex] () -> Result<SparseMatrix<F, T, J>>:
        "it.to_index::<i64>()?.col_indices(), [0_i64, 0, 1]";
    }
}

/// Knowledge of the entries.
impl<F: SparseFormat, T: Element, I: SparseIndex> SparseMatrix<F, T, I> {
    readers! {
        SparseView of
        "CsrMatrix::from_vecs(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0_f64, 2.0, 3.0])?":
        fn is_coalesced() -> bool:
        "it.is_coalesced(), true";
        fn is_sorted() -> bool:
        "it.is_sorted(), true";
    }
}

/// Entries.
impl<F: PointFormat, T: Element, I: SparseIndex> SparseMatrix<F, T, I> {
    readers! {
        SparseView of
        "CsrMatrix::from_vecs(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0_f64, 2.0, 3.0])?":
        fn iter() -> Entries<'_, T, I>:
        "it.iter().next(), Some((0, 0, &1.0))";
        fn coalesce(combine: Combine) -> Result<Self>:
        "it.coalesce(Combine::Sum)?.to_csr()?.values(), [1.0, 2.0, 3.0]";
    }
}

/// Single entries.
impl<F: PointFormat, T: Element, I: SparseIndex> SparseMatrix<F, T, I> {
    /// Does the same as [`SparseView::get`].
    pub fn get(&self, row: usize, col: usize) -> Option<&T> {
        self.view().get(row, col)
    }
}

/// Norms of rows.
impl<F: CompressedFormat, T: Float, I: SparseIndex> SparseMatrix<F, T, I> {
    /// Does the same as [`SparseView::row_norms`].
    pub fn row_norms(&self, p: f64) -> Result<Tensor<T>> {
        self.view().row_norms(p)
    }
}

/// Fewer entries, as those of [`view`](Self::view): copies.
impl<F: PointFormat, T: Number, I: SparseIndex> SparseMatrix<F, T, I> {
    readers! {
        SparseView of
        "CsrMatrix::from_vecs(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0_f64, 2.0, 3.0])?":
        fn prune(threshold: T) -> Result<Self>:
        "it.prune(1.5)?.values(), [2.0, 3.0]";
    }
}

/// Selections, as those of [`view`](Self::view): copies.
impl<F: CompressedFormat, T: Element, I: SparseIndex> SparseMatrix<F, T, I> {
    readers! {
        SparseView of
        "CsrMatrix::from_vecs(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0_f64, 2.0, 3.0])?":
        fn select_rows(rows: &(impl AsView<I> + ?Sized)) -> Result<Self>:
        "it.select_rows(&[1])?.values(), [2.0, 3.0]";
        fn select_cols(cols: &(impl AsView<I> + ?Sized)) -> Result<Self>:
        "it.select_cols(&[1])?.values(), [3.0]";
        fn to_block(rows: impl RangeBounds<usize>, cols: impl RangeBounds<usize>) -> Result<Self>:
        "it.to_block(1.., ..)?.values(), [2.0, 3.0]";
        fn tril(diagonal: isize) -> Result<Self>:
        "it.tril(-1)?.values(), [2.0]";
        fn triu(diagonal: isize) -> Result<Self>:
        "it.triu(0)?.values(), [1.0, 3.0]";
    }
}

/// Products, as those of [`view`](Self::view).
impl<F: SparseFormat, T: Number, I: SparseIndex> SparseMatrix<F, T, I> {
    readers! {
        SparseView of
        "CsrMatrix::from_vecs(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0_f64, 2.0, 3.0])?":
        fn matmul(b: &(impl AsView<T> + ?Sized)) -> Result<Tensor<T>>:
        "it.matmul(&[1.0, 1.0])?, [1.0, 5.0]";
        fn t_matmul(b: &(impl AsView<T> + ?Sized)) -> Result<Tensor<T>>:
        "it.t_matmul(&[1.0, 1.0])?, [3.0, 3.0]";
        fn matmul_into(
            b: &(impl AsView<T> + ?Sized),
            out: &mut (impl AsViewMut<T> + ?Sized)
        ) -> Result<()>:
        "it.matmul_into(&[1.0, 1.0], &mut [0.0; 2]).is_ok(), true";
        fn matmul_scaled_into(
            alpha: T,
            b: &(impl AsView<T> + ?Sized),
            beta: T,
            out: &mut (impl AsViewMut<T> + ?Sized)
        ) -> Result<()>:
        "it.matmul_scaled_into(2.0, &[1.0, 1.0], 0.0, &mut [0.0; 2]).is_ok(), true";
        fn t_matmul_into(
            b: &(impl AsView<T> + ?Sized),
            out: &mut (impl AsViewMut<T> + ?Sized)
        ) -> Result<()>:
        "it.t_matmul_into(&[1.0, 1.0], &mut [0.0; 2]).is_ok(), true";
        fn sddmm(x: &(impl AsView<T> + ?Sized), y: &(impl AsView<T> + ?Sized)) -> Result<Tensor<T>>:
        "it.sddmm(&[[1.0], [2.0]], &[[3.0, 4.0]])?, [3.0, 6.0, 8.0]";
        fn sddmm_times_values(
            x: &(impl AsView<T> + ?Sized),
            y: &(impl AsView<T> + ?Sized)
        ) -> Result<Tensor<T>>:
        "it.sddmm_times_values(&[[1.0], [2.0]], &[[3.0, 4.0]])?, [3.0, 12.0, 24.0]";
    }
}

/// Products of sparse matrices, as those of [`view`](Self::view).
impl<F: CompressedFormat, T: NativeFloat, I: SparseIndex> SparseMatrix<F, T, I> {
    readers! {
        SparseView of
        "CsrMatrix::from_vecs(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0_f64, 2.0, 3.0])?":
        fn product ['b] (b: impl Into<SparseView<'b, F, T, I>>) -> Result<Self>:
        "it.product(&it)?.values(), [1.0, 8.0, 9.0]";
        fn product_masked ['b, 'm, M: Element] (
            b: impl Into<SparseView<'b, F, T, I>>,
            mask: impl Into<SparseView<'m, F, M, I>>
        ) -> Result<Self>:
        "it.product_masked(&it, &it)?.values(), [1.0, 8.0, 9.0]";
    }
}

/// Arithmetic, as that of [`view`](Self::view).
impl<F: CompressedFormat, T: Number, I: SparseIndex> SparseMatrix<F, T, I> {
    readers! {
        SparseView of
        "CsrMatrix::from_vecs(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0_f64, 2.0, 3.0])?":
        fn add ['b] (b: impl Into<SparseView<'b, F, T, I>>) -> Result<Self>:
        "it.add(&it)?.values(), [2.0, 4.0, 6.0]";
        fn sub ['b] (b: impl Into<SparseView<'b, F, T, I>>) -> Result<Self>:
        "it.sub(&it)?.values(), [0.0, 0.0, 0.0]";
        fn mul ['b] (b: impl Into<SparseView<'b, F, T, I>>) -> Result<Self>:
        "it.mul(&it)?.values(), [1.0, 4.0, 9.0]";
        fn minimum ['b] (b: impl Into<SparseView<'b, F, T, I>>) -> Result<Self>:
        "it.minimum(&it)?.values(), [1.0, 2.0, 3.0]";
        fn maximum ['b] (b: impl Into<SparseView<'b, F, T, I>>) -> Result<Self>:
        "it.maximum(&it)?.values(), [1.0, 2.0, 3.0]";
        fn add_to(dense: &mut (impl AsViewMut<T> + ?Sized)) -> Result<()>:
        "it.add_to(&mut [[0.0; 2]; 2]).is_ok(), true";
        fn diagonal() -> Result<Tensor<T>>:
        "it.diagonal()?, [1.0, 3.0]";
    }
}

/// Sums and extremes, as those of [`view`](Self::view).
impl<F: CompressedFormat, T: Number, I: SparseIndex> SparseMatrix<F, T, I> {
    readers! {
        SparseView of
        "CsrMatrix::from_vecs(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0_f64, 2.0, 3.0])?":
        fn sum() -> Result<T::Sum>:
        "it.sum()?, 6.0";
        fn row_sums() -> Result<Tensor<T::Sum>>:
        "it.row_sums()?, [1.0, 5.0]";
        fn col_sums() -> Result<Tensor<T::Sum>>:
        "it.col_sums()?, [3.0, 3.0]";
        fn min() -> Result<T>:
        "it.min()?, 0.0";
        fn row_mins() -> Result<Tensor<T>>:
        "it.row_mins()?, [0.0, 2.0]";
        fn col_mins() -> Result<Tensor<T>>:
        "it.col_mins()?, [1.0, 0.0]";
        fn max() -> Result<T>:
        "it.max()?, 3.0";
        fn row_maxes() -> Result<Tensor<T>>:
        "it.row_maxes()?, [1.0, 3.0]";
        fn col_maxes() -> Result<Tensor<T>>:
        "it.col_maxes()?, [2.0, 3.0]";
    }
}

/// Counts, as those of [`view`](Self::view).
impl<F: CompressedFormat, T: Real, I: SparseIndex> SparseMatrix<F, T, I> {
    readers! {
        SparseView of
        "CsrMatrix::from_vecs(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0_f64, 2.0, 3.0])?":
        fn count_nonzero() -> Result<i64>:
        "it.count_nonzero()?, 3";
        fn row_counts() -> Result<Tensor<i64>>:
        "it.row_counts()?, [1, 2]";
        fn col_counts() -> Result<Tensor<i64>>:
        "it.col_counts()?, [2, 1]";
    }
}

/// Norms, as those of [`view`](Self::view).
impl<F: CompressedFormat, T: Float, I: SparseIndex> SparseMatrix<F, T, I> {
    readers! {
        SparseView of
        "CsrMatrix::from_vecs(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0_f64, 2.0, 3.0])?":
        fn norm_1() -> Result<f64>:
        "it.norm_1()?, 3.0";
        fn norm_inf() -> Result<f64>:
        "it.norm_inf()?, 5.0";
        fn norm_frobenius() -> Result<f64>:
        "it.norm_frobenius()?, 14.0_f64.sqrt()";
    }
}

/// Rows, as those of [`view`](Self::view): lent.
impl<T: Element, I: SparseIndex> CsrMatrix<T, I> {
    readers! {
        CsrView of
        "CsrMatrix::from_vecs(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0_f64, 2.0, 3.0])?":
        fn row(row: usize) -> Option<(&[I], &[T])>:
        "it.row(1), Some((&[0, 1][..], &[2.0, 3.0][..]))";
        fn row_range(rows: impl RangeBounds<usize>) -> Result<CsrView<'_, T, I>>:
        "it.row_range(1..)?.values(), [2.0, 3.0]";
        fn t() -> CscView<'_, T, I>:
        "it.t().col(1), it.row(1)";
    }
}

/// The best of each row, as of [`view`](Self::view): copies.
impl<T: Number, I: SparseIndex> CsrMatrix<T, I> {
    readers! {
        CsrView of
        "CsrMatrix::from_vecs(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0_f64, 2.0, 3.0])?":
        fn top_k(k: usize) -> Result<Self>:
        "it.top_k(1)?.values(), [1.0, 3.0]";
        fn top_k_in_magnitude(k: usize) -> Result<Self>:
        "it.top_k_in_magnitude(1)?.values(), [1.0, 3.0]";
    }
}

/// Triangular systems, and the packed form, as of [`view`](Self::view).
impl<T: Float, I: SparseIndex> CsrMatrix<T, I> {
    readers! {
        CsrView of
        "CsrMatrix::from_vecs(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0_f64, 2.0, 3.0])?":
        fn solve_triangular(triangle: Triangle, b: &(impl AsView<T> + ?Sized)) -> Result<Tensor<T>>:
        "it.solve_triangular(Triangle::Lower, &[1.0, 5.0])?, [1.0, 1.0]";
        fn solve_triangular_into(
            triangle: Triangle,
            b: &(impl AsView<T> + ?Sized),
            out: &mut (impl AsViewMut<T> + ?Sized)
        ) -> Result<()>:
        "it.solve_triangular_into(Triangle::Lower, &[1.0, 5.0], &mut [0.0; 2]).is_ok(), true";
        fn pack() -> Result<PackedMatrix<T>>:
        "it.pack()?.matmul(&[1.0, 1.0])?, [1.0, 5.0]";
        fn pack_as(layout: PackedLayout) -> Result<PackedMatrix<T>>:
        "it.pack_as(PackedLayout::Wide)?.nnz(), 3";
    }
}

/// Columns, as those of [`view`](Self::view): lent.
impl<T: Element, I: SparseIndex> CscMatrix<T, I> {
    readers! {
        CscView of
        "CscMatrix::from_vecs(2, 2, vec![0, 2, 3], vec![0, 1, 1], vec![1.0, 2.0, 3.0])?":
        fn col(col: usize) -> Option<(&[I], &[T])>:
        "it.col(0), Some((&[0, 1][..], &[1.0, 2.0][..]))";
        fn col_range(cols: impl RangeBounds<usize>) -> Result<CscView<'_, T, I>>:
        "it.col_range(1..)?.values(), [3.0]";
        fn t() -> CsrView<'_, T, I>:
        "it.t().row(0), it.col(0)";
    }
}

/// Blocks, as those of [`view`](Self::view): lent.
impl<T: Element, I: SparseIndex> BsrMatrix<T, I> {
    readers! {
        BsrView of
        "BsrMatrix::from_vecs(2, 2, [1, 2], vec![0, 1, 2], vec![0, 0], vec![1.0, 0.0, 2.0, 3.0])?":
        fn iter() -> BlockEntries<'_, T, I>:
        "it.iter().count(), 2";
        fn block() -> [usize; 2]:
        "it.block(), [1, 2]";
        fn block_row(row: usize) -> Option<(&[I], &[T])>:
        "it.block_row(1), Some((&[0][..], &[2.0, 3.0][..]))";
        fn block_row_range(rows: impl RangeBounds<usize>) -> Result<BsrView<'_, T, I>>:
        "it.block_row_range(1..)?.values(), [2.0, 3.0]";
    }
}
