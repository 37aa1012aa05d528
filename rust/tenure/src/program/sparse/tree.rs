//! CSR matrices as [trees](crate::program::tree) of their three arrays.

use super::TracedCsr;
use crate::dtype::{Element, index::SparseIndex};
use crate::expr::Host;
use crate::operand::{AsView, AsViewMut};
use crate::program::calls::ProgramCall;
use crate::program::tree::{Inputs, LendAs, LendShared, LendUnique, Updated, Walk, Walked};
use crate::program::{Traced, Updating};
use crate::sparse::format::Csr;
use crate::sparse::{SparseMatrix, SparseView, SparseViewMut};

/// A CSR matrix of inputs and the values that a run gives its entries: see
/// [`TracedCsr::updated_by`].
#[derive(Clone, Copy, Debug)]
#[must_use = "it is to stand among the inputs of the program"]
pub struct UpdatingCsr<'g, T: Element, I: SparseIndex = i32> {
    row_offsets: Traced<'g, I>,
    col_indices: Traced<'g, I>,
    values: Updating<'g, T>,
}

impl<'g, T: Element, I: SparseIndex> TracedCsr<'g, T, I> {
    /// Marks the values of this matrix of inputs as updated by each run, by `values`, one for each
    /// entry; see [`Traced::updated_by`]. A run takes `&mut` of a matrix for it, reads offsets and
    /// indices, and writes the values in their place.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut matrix = CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?;
    /// let step = Program::trace(|graph| {
    ///     let a = graph.csr_input::<f64, i32>(2, 3, matrix.nnz());
    ///     let x = graph.input([3]);
    ///     let loss = a.matmul(x).square().sum(..);
    ///     let gradient = graph.gradients(loss, a.values()); // one number for each entry
    ///     graph.program((a.updated_by(a.values() - gradient * 0.25), x), loss)
    /// })?;
    /// let loss = step.run((&mut matrix, &[1.0, 2.0, 1.0]))?;
    /// assert_eq!((loss.item(), matrix.values()), (Some(8.5), &[0.75, 1.25][..]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn updated_by(self, values: Traced<'g, T>) -> UpdatingCsr<'g, T, I> {
        UpdatingCsr {
            row_offsets: self.row_offsets(),
            col_indices: self.col_indices(),
            values: self.values().updated_by(values),
        }
    }
}

impl<'g, T: Element, I: SparseIndex> Walked<'g> for TracedCsr<'g, T, I> {
    fn walk(&self, walk: &mut Walk<'g>) {
        walk.field("row_offsets", &self.row_offsets());
        walk.field("col_indices", &self.col_indices());
        walk.field("values", &self.values());
    }
}
/// The offsets of rows, the indices of columns and the values.
impl<'g, T: Element, I: SparseIndex> Inputs<'g> for TracedCsr<'g, T, I> {
    type Types = (I, I, T);
}

impl<'g, T: Element, I: SparseIndex> Walked<'g> for UpdatingCsr<'g, T, I> {
    fn walk(&self, walk: &mut Walk<'g>) {
        walk.field("row_offsets", &self.row_offsets);
        walk.field("col_indices", &self.col_indices);
        walk.field("values", &self.values);
    }
}
impl<'g, T: Element, I: SparseIndex> Inputs<'g> for UpdatingCsr<'g, T, I> {
    type Types = (I, I, Updated<T>);
}

/// Lends the arrays as they are. Offsets of a range of rows count from the first entry of the whole
/// matrix: a run refuses those that do not begin with 0.
fn lend_parts<'s, T: Element, I: SparseIndex>(
    of: SparseView<'s, Csr, T, I>,
    call: &mut ProgramCall<'_, 's>,
) {
    call.input(of.row_offsets().leaf());
    call.input(of.col_indices().leaf());
    call.input(of.values().leaf());
}

fn lend_parts_mut<'s, T: Element, I: SparseIndex>(
    of: SparseViewMut<'s, Csr, T, I>,
    call: &mut ProgramCall<'_, 's>,
) {
    let (row_offsets, col_indices, values) = of.into_parts();
    call.input(row_offsets.leaf());
    call.input(col_indices.leaf());
    call.updated_of(values.leaf_mut());
}

impl<T: Element, I: SparseIndex> LendAs<(I, I, T), Host> for SparseView<'_, Csr, T, I> {
    #[inline]
    fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        lend_parts(*self, call);
    }
}

macro_rules! lent {
    ($($type:ty: $view:expr;)*) => {$(
        impl<T: Element, I: SparseIndex> LendShared<(I, I, T), Host> for $type {
            #[inline]
            fn lend_shared<'s>(&'s self, call: &mut ProgramCall<'_, 's>) {
                let view: fn(&'s Self) -> SparseView<'s, Csr, T, I> = $view;
                lend_parts(view(self), call);
            }
        }
        impl<T: Element, I: SparseIndex> LendUnique<(I, I, T), Host> for $type {
            #[inline]
            fn lend_unique<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
                self.lend_shared(call);
            }
        }
    )*};
}
lent! {
    SparseView<'_, Csr, T, I>: |view| *view;
    SparseViewMut<'_, Csr, T, I>: |matrix| matrix.view();
    SparseMatrix<Csr, T, I>: |matrix| matrix.view();
}

macro_rules! updated {
    ($($type:ty)*) => {$(
        impl<T: Element, I: SparseIndex> LendUnique<(I, I, Updated<T>), Host> for $type {
            #[inline]
            fn lend_unique<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
                lend_parts_mut(self.view_mut(), call);
            }
        }
    )*};
}
updated! { SparseViewMut<'_, Csr, T, I> SparseMatrix<Csr, T, I> }
