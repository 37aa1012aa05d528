//! The four formats, as types: each sparse type has one as its parameter.

mod sealed {
    use tenure_sys::tnr_sparse_format;

    pub trait Sealed: Copy + 'static {
        const FORMAT: tnr_sparse_format;
        /// The first part of the names of its types.
        const NAME: &'static str;
    }
}

/// A format of sparse matrices: [`Coo`], [`Csr`], [`Csc`] or [`Bsr`]. Sealed.
///
/// A function for any format takes matrices of each of them:
///
/// ```
/// use tenure::{CscView, CsrView, SparseFormat, SparseView};
///
/// fn density<F: SparseFormat>(matrix: SparseView<'_, F, f32>) -> f32 {
///     matrix.nnz() as f32 / (matrix.rows() * matrix.cols()) as f32
/// }
/// let by_rows = CsrView::new(1, 4, &[0, 1], &[2], &[0.5])?;
/// let by_columns = CscView::new(1, 2, &[0, 1, 1], &[0], &[0.5])?;
/// assert_eq!((density(by_rows), density(by_columns)), (0.25, 0.5));
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a format of sparse matrices",
    label = "not `Coo`, `Csr`, `Csc` or `Bsr`"
)]
pub trait SparseFormat: sealed::Sealed {}

/// A format whose entries are single elements: [`Coo`], [`Csr`] or [`Csc`]. The entries of [`Bsr`]
/// are blocks.
pub trait PointFormat: SparseFormat {}

/// A format that compresses the rows or the columns of single elements: [`Csr`] or [`Csc`].
pub trait CompressedFormat: PointFormat {}

/// Coordinates: the row and the column of each entry. See [`CooView`](crate::CooView).
#[derive(Clone, Copy)]
pub enum Coo {}

/// Compressed rows: where the entries of each row begin, and their columns. See
/// [`CsrView`](crate::CsrView).
#[derive(Clone, Copy)]
pub enum Csr {}

/// Compressed columns: where the entries of each column begin, and their rows. See
/// [`CscView`](crate::CscView).
#[derive(Clone, Copy)]
pub enum Csc {}

/// Compressed rows of dense blocks. See [`BsrView`](crate::BsrView).
#[derive(Clone, Copy)]
pub enum Bsr {}

macro_rules! formats {
    ($($format:ident is $raw:ident $(and $kind:ident)*;)*) => {$(
        impl sealed::Sealed for $format {
            const FORMAT: tenure_sys::tnr_sparse_format = tenure_sys::tnr_sparse_format::$raw;
            const NAME: &'static str = stringify!($format);
        }
        impl SparseFormat for $format {}
        $(impl $kind for $format {})*
    )*};
}

formats! {
    Coo is COO and PointFormat;
    Csr is CSR and PointFormat and CompressedFormat;
    Csc is CSC and PointFormat and CompressedFormat;
    Bsr is BSR;
}

/// Expands a macro for each format with what a type parameter cannot say: the names of its arrays,
/// which are those of arguments and methods; and with examples, of one matrix of two rows and three
/// columns, and of a batch of two such matrices with these values.
macro_rules! for_each_format {
    ($template:ident) => {
        $template! {
            Coo { row_indices, col_indices }, shape "2, 3", values "[1.5, 2.5, 3.5]",
            view "CooView::new(2, 3, &[0, 1], &[0, 2], &[1.5, 2.5])?",
            view_mut "CooViewMut::new(2, 3, &[0, 1], &[0, 2], &mut values)?",
            matrix "CooMatrix::from_vecs(2, 3, vec![0, 1], vec![0, 2], vec![1.5, 2.5])?",
            batch "CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &values)?",
            batch_mut "CooBatchViewMut::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &mut values)?";
            Csr { row_offsets, col_indices }, shape "2, 3", values "[1.5, 2.5, 3.5]",
            view "CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?",
            view_mut "CsrViewMut::new(2, 3, &[0, 1, 2], &[0, 2], &mut values)?",
            matrix "CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?",
            batch "CsrBatchView::new(2, 3, &[0, 1, 3], &[0, 1, 1, 0, 1, 2], &[0, 1, 2], &values)?",
            batch_mut "CsrBatchViewMut::new(2, 3, &[0, 1, 3], &[0, 1, 1, 0, 1, 2], &[0, 1, 2], &mut values)?";
            Csc { col_offsets, row_indices }, shape "2, 3", values "[1.5, 2.5, 3.5]",
            view "CscView::new(2, 3, &[0, 1, 1, 2], &[0, 1], &[1.5, 2.5])?",
            view_mut "CscViewMut::new(2, 3, &[0, 1, 1, 2], &[0, 1], &mut values)?",
            matrix "CscMatrix::from_vecs(2, 3, vec![0, 1, 1, 2], vec![0, 1], vec![1.5, 2.5])?",
            batch "CscBatchView::new(2, 3, &[0, 1, 3], &[0, 1, 1, 1, 0, 0, 1, 2], &[0, 0, 1], &values)?",
            batch_mut "CscBatchViewMut::new(2, 3, &[0, 1, 3], &[0, 1, 1, 1, 0, 0, 1, 2], &[0, 0, 1], &mut values)?";
            Bsr { row_offsets, col_indices, block }, shape "2, 3, [2, 1]", values "[1.5, 0.0, 2.5, 3.5]",
            view "BsrView::new(2, 3, [2, 1], &[0, 1], &[0], &[1.5, 2.5])?",
            view_mut "BsrViewMut::new(2, 3, [2, 1], &[0, 1], &[0], &mut values)?",
            matrix "BsrMatrix::from_vecs(2, 3, [2, 1], vec![0, 1], vec![0], vec![1.5, 2.5])?",
            batch "BsrBatchView::new(2, 3, [2, 1], &[0, 1, 2], &[0, 1, 0, 1], &[0, 2], &values)?",
            batch_mut "BsrBatchViewMut::new(2, 3, [2, 1], &[0, 1, 2], &[0, 1, 0, 1], &[0, 2], &mut values)?";
        }
    };
}
pub(crate) use for_each_format;
