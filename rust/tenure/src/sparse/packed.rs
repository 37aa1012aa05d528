//! Matrices in a layout of the library's own, for many products.

use std::fmt;
use std::marker::PhantomData;

use tenure_sys::tnr_packed_layout;

use super::{CsrView, SparseIndex};
use crate::dense::Tensor;
use crate::dtype::{Float, Number};
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::sparse::calls::matmul::PLAIN;
use crate::sparse::calls::packed::PackedHandle;

/// How a [`PackedMatrix`] keeps the columns of its entries.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PackedLayout {
    /// Numbers of 32 bits: no smaller than `i32` indices, half of `i64` ones.
    Wide,
    /// Numbers of 16 bits, counted from a column that 64 rows have in common.
    Narrow,
    /// A bit for every element, set where it has an entry.
    Bitmap,
    /// A number of 32 bits for each block of adjacent rows and columns. Every element of such a
    /// block has an entry.
    Blocks,
}

impl PackedLayout {
    fn raw(self) -> tnr_packed_layout {
        match self {
            PackedLayout::Wide => tnr_packed_layout::WIDE,
            PackedLayout::Narrow => tnr_packed_layout::NARROW,
            PackedLayout::Bitmap => tnr_packed_layout::BITMAP,
            PackedLayout::Blocks => tnr_packed_layout::BLOCKS,
        }
    }
}

/// A sparse matrix in a layout of the library's own, for products with many vectors: such products
/// are as fast as memory, and this is less of it. By [`CsrView::pack`]. It owns a copy of the
/// entries; the source may be written, or end.
///
/// ```
/// use tenure::{CsrView, PackedLayout};
///
/// let matrix = CsrView::new(2, 3, &[0, 1, 3], &[0, 1, 2], &[1.5, 2.0, 2.5])?;
/// let packed = matrix.pack()?;
/// assert_eq!(packed.layout(), PackedLayout::Bitmap);
/// assert_eq!(packed.matmul(&[1.0, 2.0, 4.0])?.to_vec(), [1.5, 14.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub struct PackedMatrix<T> {
    handle: PackedHandle,
    _values: PhantomData<T>,
}

/// For products with many vectors.
impl<T: Float, I: SparseIndex> CsrView<'_, T, I> {
    /// Copies the entries into the layout that the matrix speaks for: blocks, where all entries are
    /// in blocks of one shape (8x8, 4x4, 2x2, 8x1, 4x1, 1x8 or 1x4) that begin at multiples of it;
    /// a bitmap where a fifth of the elements or more have entries and columns rise within each
    /// row; else numbers of 16 bits for columns that lie near each other, and of 32 bits for
    /// others. Where both blocks and a bitmap are possible, the one that takes fewer bytes.
    ///
    /// Errs with `Unsupported` where 64 rows one after the other have columns in more than 64
    /// ranges of 2^31; `OutOfMemory`.
    pub fn pack(&self) -> Result<PackedMatrix<T>> {
        PackedMatrix::create(self, tnr_packed_layout::AUTO)
    }

    /// Packs as [`pack`](Self::pack) does, into a layout of the caller's choice.
    ///
    /// ```
    /// use tenure::{CsrView, PackedLayout};
    ///
    /// let matrix = CsrView::new(2, 3, &[0, 1, 3], &[0, 1, 2], &[1.5, 2.0, 2.5])?;
    /// let packed = matrix.pack_as(PackedLayout::Narrow)?;
    /// assert_eq!(packed.layout(), PackedLayout::Narrow);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    ///
    /// Also errs with `InvalidArgument` for a bitmap of rows whose columns do not rise, and
    /// `Unsupported` for blocks where some entries are in none, and where 64 rows one after the
    /// other have columns in more than 64 ranges of what the layout can count.
    pub fn pack_as(&self, layout: PackedLayout) -> Result<PackedMatrix<T>> {
        PackedMatrix::create(self, layout.raw())
    }
}

impl<T: Number> PackedMatrix<T> {
    fn create<I: SparseIndex>(a: &CsrView<'_, T, I>, layout: tnr_packed_layout) -> Result<Self> {
        let handle = PackedHandle::create(&a.arrays().lent(), layout)?;
        Ok(PackedMatrix { handle, _values: PhantomData })
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.handle.info().rows as usize
    }

    /// Columns.
    pub fn cols(&self) -> usize {
        self.handle.info().cols as usize
    }

    /// Stored entries.
    pub fn nnz(&self) -> usize {
        self.handle.info().nnz as usize
    }

    /// How columns are kept.
    pub fn layout(&self) -> PackedLayout {
        match self.handle.info().layout {
            tnr_packed_layout::BITMAP => PackedLayout::Bitmap,
            tnr_packed_layout::BLOCKS => PackedLayout::Blocks,
            tnr_packed_layout::NARROW => PackedLayout::Narrow,
            _ => PackedLayout::Wide,
        }
    }

    /// Rows and columns of a block; 1 and 1 in other layouts than [`PackedLayout::Blocks`].
    ///
    /// ```
    /// use tenure::{PackedLayout, sparse::gallery};
    ///
    /// let matrix = gallery::blocks::<f32, i32>(16, 64, [4, 4], 3, 1)?;
    /// let packed = matrix.view().pack()?;
    /// assert_eq!(packed.layout(), PackedLayout::Blocks);
    /// assert_eq!(packed.block_shape(), [4, 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn block_shape(&self) -> [usize; 2] {
        let info = self.handle.info();
        [info.block_rows as usize, info.block_cols as usize]
    }

    /// Bytes that a product reads of the packed matrix.
    pub fn size_bytes(&self) -> usize {
        self.handle.info().size_bytes as usize
    }

    /// Bytes that a product read of the original matrix: offsets, indices and values.
    pub fn source_bytes(&self) -> usize {
        self.handle.info().source_bytes as usize
    }

    /// Products after which packing has moved fewer bytes than it saved; `None`: never. Counted,
    /// not measured: the source read, the result fetched and written, and for a bitmap a mark of
    /// one byte cleared and read for each element and set for each entry, over the difference of
    /// the sizes.
    ///
    /// ```
    /// use tenure::{PackedLayout, sparse::gallery};
    ///
    /// let matrix = gallery::uniform::<f32, i32>(256, 256, 0.05, 1)?;
    /// let packed = matrix.view().pack()?;
    /// assert!(packed.size_bytes() < packed.source_bytes());
    /// assert!(packed.break_even().is_some_and(|products| products < 20));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn break_even(&self) -> Option<u64> {
        u64::try_from(self.handle.info().break_even).ok()
    }

    /// The product of this matrix `[m, k]` and a dense `b`, `[k]` or `[k, n]`: `[m]` or `[m, n]`,
    /// row-major. Columns are multiplied one after the other; for more than a few of them
    /// [`CsrView::matmul`] is faster. The bits are the same for any number of threads.
    ///
    /// Errs with `InvalidArgument` where shapes do not agree, `OutOfMemory`.
    #[doc(alias("spmv", "mv"))]
    pub fn matmul(&self, b: &(impl AsView<T> + ?Sized)) -> Result<Tensor<T>> {
        b.with_view(|b| {
            let extents = [self.rows(), b.shape().get(1).copied().unwrap_or(1)];
            let rank = b.rank().clamp(1, 2);
            // SAFETY: a product that answers Ok has written every element; with a beta of 0 it
            // reads none.
            unsafe {
                Tensor::written_by(&extents[..rank], |out| self.handle.matmul(PLAIN, b.lent(), out))
            }
        })
    }

    /// Does the same as [`matmul`](Self::matmul), into the caller's memory.
    ///
    /// ```
    /// use tenure::CsrView;
    ///
    /// let packed = CsrView::new(2, 3, &[0, 1, 3], &[0, 1, 2], &[1.5, 2.0, 2.5])?.pack()?;
    /// let mut out = [0.0; 2];
    /// packed.matmul_into(&[1.0, 2.0, 4.0], &mut out)?;
    /// assert_eq!(out, [1.5, 14.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn matmul_into(
        &self,
        b: &(impl AsView<T> + ?Sized),
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        b.with_view(|b| {
            out.with_view_mut(|out| self.handle.matmul(PLAIN, b.lent(), out.lent_mut()))
        })
    }

    /// `out = alpha * self b + beta * out`; `out` is not read where `beta` is 0.
    ///
    /// ```
    /// use tenure::CsrView;
    ///
    /// let packed = CsrView::new(2, 3, &[0, 1, 3], &[0, 1, 2], &[1.5, 2.0, 2.5])?.pack()?;
    /// let mut out = [1.0, 1.0];
    /// packed.matmul_scaled_into(2.0, &[1.0, 2.0, 4.0], 10.0, &mut out)?;
    /// assert_eq!(out, [13.0, 38.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn matmul_scaled_into(
        &self,
        alpha: T,
        b: &(impl AsView<T> + ?Sized),
        beta: T,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        b.with_view(|b| {
            out.with_view_mut(|out| self.handle.matmul([alpha, beta], b.lent(), out.lent_mut()))
        })
    }
}

impl<T: Number> fmt::Debug for PackedMatrix<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, cols, entries) = (self.rows(), self.cols(), self.nnz());
        write!(f, "PackedMatrix({rows} x {cols}, {entries} entries, dtype={}", T::DTYPE)?;
        write!(
            f,
            ", layout={:?}, {} bytes of {})",
            self.layout(),
            self.size_bytes(),
            self.source_bytes()
        )
    }
}
