//! Sparse matrices whose parts are values of a graph.

mod tree;

use std::fmt;
use std::panic::Location;

use tenure_sys as sys;
use tenure_sys::{
    TNR_NODE_SPARSE_ACCUMULATE, TNR_NODE_SPARSE_DIAGONAL, TNR_NODE_SPARSE_MATMUL,
    TNR_NODE_SPARSE_NORM, TNR_NODE_SPARSE_REDUCE, TNR_NODE_SPARSE_SCALE, TNR_NODE_SPARSE_SDDMM,
    TNR_NODE_SPARSE_SOFTMAX, TNR_NODE_SPARSE_SOLVE, TNR_NODE_SPARSE_TO_DENSE,
    TNR_SDDMM_TIMES_VALUES, tnr_orientation, tnr_reduce_op, tnr_sparse_format,
    tnr_sparse_node_attributes, tnr_sparse_norm_kind,
};

use super::state::Step;
use super::{Graph, Size, Traced};
use crate::dtype::{Element, Float, Number, Real, index::SparseIndex, triangle::Triangle};
use crate::error::Result;
use crate::sparse::view::CsrView;
pub use tree::UpdatingCsr;

/// A CSR matrix, like [`CsrView`], with three arrays that are values of a [`Graph`].
///
/// Among the inputs and outputs of a program it is the [tree](super::tree) of its arrays, of the
/// types `(I, I, T)`: a run is lent a CSR matrix or view for it, or the three arrays. Values that a
/// run [updates](Self::updated_by) are lent as `&mut` of a matrix. Each operation of each run checks
/// offsets and indices, and refuses those that are out of bounds.
///
/// ```
/// use tenure::{CsrView, Program};
///
/// let program = Program::trace(|graph| {
///     let entries = graph.extent("entries", 100);
///     let a = graph.csr_input::<f64, i32>(2, 3, entries);
///     let x = graph.input([3]);
///     graph.program((a, x), a.matmul(x))
/// })?;
/// let a = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?; // [1.5 0 0; 0 0 2.5]
/// assert_eq!(program.run((a, &[1.0, 2.0, 4.0]))?, [1.5, 10.0]);
/// let parts = (a.row_offsets(), a.col_indices(), a.values());
/// assert_eq!(program.run((parts, &[1.0, 2.0, 4.0]))?, [1.5, 10.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub struct TracedCsr<'g, T: Element, I: SparseIndex = i32> {
    rows: Size<'g>,
    cols: Size<'g>,
    row_offsets: Traced<'g, I>,
    col_indices: Traced<'g, I>,
    values: Traced<'g, T>,
    is_coalesced: bool,
}

impl<T: Element, I: SparseIndex> Clone for TracedCsr<'_, T, I> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Element, I: SparseIndex> Copy for TracedCsr<'_, T, I> {}

/// Sparse matrices.
impl<'g> Graph<'g> {
    /// A matrix of `rows` rows, `cols` columns and `entries` entries. Its arrays are inputs: the
    /// row offsets, the column indices and the values, made in this order. If the number of rows
    /// differs from run to run, it is an extent that another input has too, because there is one
    /// offset more than rows.
    #[track_caller]
    pub fn csr_input<T: Element, I: SparseIndex>(
        self,
        rows: impl Into<Size<'g>>,
        cols: impl Into<Size<'g>>,
        entries: impl Into<Size<'g>>,
    ) -> TracedCsr<'g, T, I> {
        let (rows, cols, entries) = (rows.into(), cols.into(), entries.into());
        let offsets = rows.next(Location::caller());
        let (row_offsets, col_indices) = (self.input([offsets]), self.input([entries]));
        TracedCsr::new(rows, cols, row_offsets, col_indices, self.input([entries]))
    }

    /// A matrix whose arrays are constants: copies of these.
    ///
    /// ```
    /// # use tenure::*;
    /// let a = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?; // [1.5 0 0; 0 0 2.5]
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f64>([3]);
    ///     graph.program((x,), graph.csr_constant(a).matmul(x))
    /// })?;
    /// assert_eq!(program.run((&[1.0, 2.0, 4.0],))?, [1.5, 10.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn csr_constant<'a, T: Element, I: SparseIndex>(
        self,
        matrix: impl Into<CsrView<'a, T, I>>,
    ) -> TracedCsr<'g, T, I> {
        let a = matrix.into();
        let made = TracedCsr::new(
            a.rows(),
            a.cols(),
            self.copy_constant(a.row_offsets()),
            self.copy_constant(a.col_indices()),
            self.copy_constant(a.values()),
        );
        TracedCsr { is_coalesced: a.is_coalesced(), ..made }
    }
}

/// Parts.
impl<'g, T: Element, I: SparseIndex> TracedCsr<'g, T, I> {
    /// A matrix of these rows and columns: offsets, one more than there are rows, and an index and
    /// a value for each entry.
    pub fn new(
        rows: impl Into<Size<'g>>,
        cols: impl Into<Size<'g>>,
        row_offsets: Traced<'g, I>,
        col_indices: Traced<'g, I>,
        values: Traced<'g, T>,
    ) -> Self {
        let (rows, cols) = (rows.into(), cols.into());
        TracedCsr { rows, cols, row_offsets, col_indices, values, is_coalesced: false }
    }

    /// The offsets of rows.
    pub fn row_offsets(self) -> Traced<'g, I> {
        self.row_offsets
    }

    /// The indices of columns.
    pub fn col_indices(self) -> Traced<'g, I> {
        self.col_indices
    }

    /// The values.
    pub fn values(self) -> Traced<'g, T> {
        self.values
    }

    /// A matrix with the same positions of entries and other values, one for each.
    pub fn with_values<U: Element>(self, values: Traced<'g, U>) -> TracedCsr<'g, U, I> {
        let TracedCsr { rows, cols, row_offsets, col_indices, is_coalesced, .. } = self;
        TracedCsr { rows, cols, row_offsets, col_indices, values, is_coalesced }
    }

    /// Marks the entries as coalesced without a check: ordered in each row, and no position has
    /// two. If this is not true, results are wrong, without any other effect.
    pub fn assume_coalesced(self) -> Self {
        TracedCsr { is_coalesced: true, ..self }
    }

    fn node<R: Element>(
        self,
        name: &'static str,
        code: u32,
        more: &[u32],
        with: With,
        at: &'static Location<'static>,
    ) -> Traced<'g, R> {
        let graph = self.values.graph();
        let numbers = || -> Result<_> { Ok([self.rows.number()?, self.cols.number()?]) };
        let numbers = match numbers() {
            Ok(numbers) => numbers,
            Err(error) => return graph.refuse(name, at, error),
        };
        let known = sys::TNR_SPARSE_SORTED | sys::TNR_SPARSE_UNIQUE;
        let given = tnr_sparse_node_attributes {
            struct_size: size_of::<tnr_sparse_node_attributes>() as u64,
            format: tnr_sparse_format::CSR,
            flags: if self.is_coalesced { known } else { 0 },
            orientation: with.orientation,
            call_flags: with.call_flags,
            block_rows: 0,
            block_cols: 0,
        };
        let parts = [self.row_offsets.value(), self.col_indices.value(), self.values.value()];
        let operands: Vec<u32> = parts.iter().chain(more).copied().collect();
        let step = Step::new(name, code, &operands).named(with.names).numbers(&numbers);
        graph.step(at, &step.flags(with.axes).with(&given))
    }
}

/// Parameters of operations on sparse matrices.
#[derive(Clone, Copy)]
struct With {
    names: &'static [&'static str],
    orientation: tnr_orientation,
    call_flags: u32,
    axes: u32,
}

impl With {
    /// Nothing.
    const PLAIN: With = With::named(&["row_offsets", "col_indices", "values"]);

    const fn named(names: &'static [&'static str]) -> With {
        With { names, orientation: tnr_orientation(0), call_flags: 0, axes: 0 }
    }
}

const BY_B: With = With::named(&["row_offsets", "col_indices", "values", "b"]);
const BY_XY: With = With::named(&["row_offsets", "col_indices", "values", "x", "y"]);
const BY_FACTORS: With = With::named(&["row_offsets", "col_indices", "values", "factors"]);
const TO_DENSE: With = With::named(&["row_offsets", "col_indices", "values", "dense"]);

impl<'g, T: Element, I: SparseIndex> TracedCsr<'g, T, I> {
    /// Computes [`to_dense`](crate::SparseView::to_dense).
    #[track_caller]
    #[doc(alias("todense", "toarray"))]
    pub fn to_dense(self) -> Traced<'g, T> {
        self.node("to_dense", TNR_NODE_SPARSE_TO_DENSE, &[], With::PLAIN, Location::caller())
    }
}

/// Products, sums, scaling and the diagonal.
impl<'g, T: Number, I: SparseIndex> TracedCsr<'g, T, I> {
    /// Computes [`matmul`](crate::SparseView::matmul) by a dense vector or matrix.
    #[track_caller]
    #[doc(alias("spmm", "spmv"))]
    pub fn matmul(self, b: Traced<'g, T>) -> Traced<'g, T> {
        self.node("matmul", TNR_NODE_SPARSE_MATMUL, &[b.value()], BY_B, Location::caller())
    }

    /// Computes [`t_matmul`](crate::SparseView::t_matmul) by a dense vector or matrix.
    #[track_caller]
    pub fn t_matmul(self, b: Traced<'g, T>) -> Traced<'g, T> {
        let with = With { orientation: tnr_orientation::TRANSPOSED, ..BY_B };
        self.node("t_matmul", TNR_NODE_SPARSE_MATMUL, &[b.value()], with, Location::caller())
    }

    /// Computes [`sddmm`](crate::SparseView::sddmm): new values, for
    /// [`with_values`](Self::with_values).
    ///
    /// ```
    /// # use tenure::*;
    /// let a = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// let program = Program::trace(|graph| {
    ///     let (x, y) = (graph.input::<f64>([2, 1]), graph.input::<f64>([1, 3]));
    ///     graph.program((x, y), graph.csr_constant(a).sddmm(x, y))
    /// })?;
    /// assert_eq!(program.run((&[[1.0], [2.0]], &[[3.0, 4.0, 5.0]]))?, [3.0, 10.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias = "sampled_addmm")]
    pub fn sddmm(self, x: Traced<'g, T>, y: Traced<'g, T>) -> Traced<'g, T> {
        let more = [x.value(), y.value()];
        self.node("sddmm", TNR_NODE_SPARSE_SDDMM, &more, BY_XY, Location::caller())
    }

    /// Computes [`sddmm_times_values`](crate::SparseView::sddmm_times_values).
    #[track_caller]
    pub fn sddmm_times_values(self, x: Traced<'g, T>, y: Traced<'g, T>) -> Traced<'g, T> {
        let (name, more) = ("sddmm_times_values", [x.value(), y.value()]);
        let with = With { call_flags: TNR_SDDMM_TIMES_VALUES, ..BY_XY };
        self.node(name, TNR_NODE_SPARSE_SDDMM, &more, with, Location::caller())
    }

    /// Computes [`scale_rows`](crate::SparseViewMut::scale_rows) on a copy of the values.
    #[track_caller]
    pub fn scale_rows(self, factors: Traced<'g, T>) -> Self {
        let (code, more) = (TNR_NODE_SPARSE_SCALE, [factors.value()]);
        self.with_values(self.node("scale_rows", code, &more, BY_FACTORS, Location::caller()))
    }

    /// Computes [`scale_cols`](crate::SparseViewMut::scale_cols) on a copy of the values.
    #[track_caller]
    pub fn scale_cols(self, factors: Traced<'g, T>) -> Self {
        let (code, more) = (TNR_NODE_SPARSE_SCALE | 1, [factors.value()]);
        self.with_values(self.node("scale_cols", code, &more, BY_FACTORS, Location::caller()))
    }

    /// Computes [`add_to`](crate::SparseView::add_to): `dense` with the entries added.
    #[track_caller]
    pub fn add_to(self, dense: Traced<'g, T>) -> Traced<'g, T> {
        let (code, more) = (TNR_NODE_SPARSE_ACCUMULATE, [dense.value()]);
        self.node("add_to", code, &more, TO_DENSE, Location::caller())
    }

    /// Computes [`diagonal`](crate::SparseView::diagonal).
    #[track_caller]
    pub fn diagonal(self) -> Traced<'g, T> {
        self.node("diagonal", TNR_NODE_SPARSE_DIAGONAL, &[], With::PLAIN, Location::caller())
    }
}

macro_rules! reductions {
    ($($op:ident $axes:literal $name:ident, $bound:ident => $result:ty;)*) => {$(
        impl<'g, T: $bound, I: SparseIndex> TracedCsr<'g, T, I> {
            #[doc = concat!("As [`", stringify!($name), "`](crate::SparseView::",
                stringify!($name), ").")]
            #[track_caller]
            pub fn $name(self) -> Traced<'g, $result> {
                let code = TNR_NODE_SPARSE_REDUCE | tnr_reduce_op::$op.0 as u32;
                let with = With { axes: $axes, ..With::PLAIN };
                self.node(stringify!($name), code, &[], with, Location::caller())
            }
        }
    )*};
}

// The axes that are summed over: 1 for rows, 2 for columns.
reductions! {
    SUM 3 sum, Number => T::Sum;
    SUM 2 row_sums, Number => T::Sum;
    SUM 1 col_sums, Number => T::Sum;
    MIN 3 min, Number => T;
    MIN 2 row_mins, Number => T;
    MIN 1 col_mins, Number => T;
    MAX 3 max, Number => T;
    MAX 2 row_maxes, Number => T;
    MAX 1 col_maxes, Number => T;
    COUNT 3 count_nonzero, Real => i64;
    COUNT 2 row_counts, Real => i64;
    COUNT 1 col_counts, Real => i64;
}

/// Norms, a softmax and triangular systems.
impl<'g, T: Float, I: SparseIndex> TracedCsr<'g, T, I> {
    fn norm(
        self,
        name: &'static str,
        kind: tnr_sparse_norm_kind,
        at: &'static Location<'static>,
    ) -> Traced<'g, f64> {
        self.node(name, TNR_NODE_SPARSE_NORM | kind.0 as u32, &[], With::PLAIN, at)
    }

    /// Computes [`norm_1`](crate::SparseView::norm_1).
    #[track_caller]
    pub fn norm_1(self) -> Traced<'g, f64> {
        self.norm("norm_1", tnr_sparse_norm_kind::ONE, Location::caller())
    }

    /// Computes [`norm_inf`](crate::SparseView::norm_inf).
    #[track_caller]
    pub fn norm_inf(self) -> Traced<'g, f64> {
        self.norm("norm_inf", tnr_sparse_norm_kind::INFINITY, Location::caller())
    }

    /// Computes [`norm_frobenius`](crate::SparseView::norm_frobenius).
    #[track_caller]
    pub fn norm_frobenius(self) -> Traced<'g, f64> {
        self.norm("norm_frobenius", tnr_sparse_norm_kind::FROBENIUS, Location::caller())
    }

    /// Computes [`softmax_rows`](crate::SparseViewMut::softmax_rows) on a copy of the values.
    #[track_caller]
    pub fn softmax_rows(self) -> Self {
        let code = TNR_NODE_SPARSE_SOFTMAX;
        self.with_values(self.node("softmax_rows", code, &[], With::PLAIN, Location::caller()))
    }

    /// Computes [`solve_triangular`](crate::SparseView::solve_triangular).
    #[track_caller]
    pub fn solve_triangular(self, triangle: Triangle, b: Traced<'g, T>) -> Traced<'g, T> {
        let (name, code) = ("solve_triangular", TNR_NODE_SPARSE_SOLVE);
        let with = With { call_flags: triangle.flags(), ..BY_B };
        self.node(name, code, &[b.value()], with, Location::caller())
    }
}

impl<T: Element, I: SparseIndex> fmt::Debug for TracedCsr<'_, T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TracedCsr { rows, cols, row_offsets, col_indices, values, .. } = self;
        write!(f, "TracedCsr({rows:?}, {cols:?}, {row_offsets:?}, {col_indices:?}, {values:?})")
    }
}
