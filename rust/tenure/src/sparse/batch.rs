//! Batches: matrices of one format and one size, one after the other in the same arrays.

mod compute;
mod held;
mod view;
mod view_mut;

use std::fmt;
use std::ops::Range;

pub use held::{BsrBatch, CooBatch, CscBatch, CsrBatch, SparseBatch};
pub use view::{BsrBatchView, CooBatchView, CscBatchView, CsrBatchView, SparseBatchView};
pub use view_mut::{
    BsrBatchViewMut, CooBatchViewMut, CscBatchViewMut, CsrBatchViewMut, SparseBatchViewMut,
};

use super::arrays::{Arrays, COALESCED, Form};
use super::format::SparseFormat;
use crate::dtype::{Element, index::SparseIndex};
use crate::error::{Error, Result};
use crate::sparse::calls::{LentArrays, LentSparse};

/// The arrays of a batch, lent for reading.
// The invariant, but between making and checking: offsets and indices are right.
#[derive(Clone, Copy)]
struct BatchArrays<'a, T: Element, I: SparseIndex> {
    form: Form,
    /// Where the entries of each matrix begin, and the last one's end.
    offsets: &'a [i64],
    major: &'a [I],
    minor: &'a [I],
    values: &'a [T],
}

impl<'a, T: Element, I: SparseIndex> BatchArrays<'a, T, I> {
    /// Checks everything.
    fn checked(self) -> Result<Self> {
        let Some(matrices) = self.offsets.len().checked_sub(1) else {
            return Err(Error::invalid(
                "batch_offsets has 0 elements but must have one more than there are matrices"
                    .to_owned(),
            ));
        };
        let lengths = [self.major.len(), self.minor.len(), self.values.len()];
        self.form.check_batch_lengths(matrices, lengths)?;
        self.lend().check()?;
        Ok(self)
    }

    /// Adds the flags of coalesced matrices, where a check finds each matrix to be coalesced.
    fn check_coalesced(mut self) -> Result<Self> {
        self.form.flags |= COALESCED;
        self.lend().check()?;
        Ok(self)
    }

    /// That no entry is left out, of the batch or of any matrix.
    fn require_whole(self) -> Result<Self> {
        let (first, last) = (self.offsets[0], self.offsets[self.len()]);
        if first != 0 || last as usize != self.minor.len() {
            return Err(Error::invalid(format!(
                "batch_offsets go from {first} to {last} but must go from 0 to {}, the number of \
                 entries",
                self.minor.len()
            )));
        }
        for (place, matrix) in self.iter().enumerate() {
            matrix.require_whole().map_err(|error| {
                Error::new(error.kind(), format!("matrix {place}: {}", error.message()))
            })?;
        }
        Ok(self)
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn get(&self, matrix: usize) -> Option<Arrays<'a, T, I>> {
        let ranges = MatrixRanges::of(&self.form, self.offsets, matrix)?;
        let (major, minor) = (&self.major[ranges.major], &self.minor[ranges.minor]);
        Some(Arrays::over(self.form, major, minor, &self.values[ranges.values]))
    }

    fn iter(self) -> impl ExactSizeIterator<Item = Arrays<'a, T, I>> {
        // Each is there.
        (0..self.len()).map(move |matrix| self.get(matrix).unwrap())
    }

    /// Where the entries of all matrices are.
    fn range(&self) -> Range<usize> {
        covered(self.offsets)
    }

    /// Offsets of all matrices; of COO the row indices of their entries.
    fn covered_major(&self) -> &'a [I] {
        if self.form.is_coo() { &self.major[self.range()] } else { self.major }
    }

    /// The indices of all matrices.
    fn covered_minor(&self) -> &'a [I] {
        &self.minor[self.range()]
    }

    /// The values of all matrices.
    fn covered_values(&self) -> &'a [T] {
        &self.values[covered_values(&self.form, self.offsets)]
    }

    /// As C sees it, checked or not.
    fn lend(&self) -> LentArrays<'a> {
        LentArrays::new(self.form.raw(), self.major, self.minor, self.values).in_batch(self.offsets)
    }

    /// The form in which operations take the arrays.
    fn lent(&self) -> LentSparse<'a> {
        // SAFETY: offsets and indices are right, by the type's invariant, and `&'a [I]` keeps them
        // so.
        unsafe { self.lend().checked() }
    }

    /// Writes the type's name, which is `name` behind that of the format, and a summary of the
    /// batch.
    fn debug<F: SparseFormat>(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (form, len) = (self.form, self.len());
        let entries = self.range().len();
        write!(f, "{}{name}({len} of {} x {}", F::NAME, form.rows, form.cols)?;
        match form.block {
            [1, 1] => write!(f, ", {entries} entries")?,
            [rows, cols] => write!(f, ", {entries} blocks of {rows} x {cols}")?,
        }
        write!(f, ", dtype={}, index={})", T::DTYPE, I::DTYPE)
    }
}

/// The entries of all matrices: none that lies before the first or behind the last.
fn covered(offsets: &[i64]) -> Range<usize> {
    offsets[0] as usize..offsets[offsets.len() - 1] as usize
}

/// Where their values are.
fn covered_values(form: &Form, offsets: &[i64]) -> Range<usize> {
    let Range { start, end } = covered(offsets);
    start * form.block_len()..end * form.block_len()
}

/// Where one matrix of a batch lies in each array.
struct MatrixRanges {
    major: Range<usize>,
    minor: Range<usize>,
    values: Range<usize>,
}

impl MatrixRanges {
    /// None where there is no such matrix.
    fn of(form: &Form, offsets: &[i64], matrix: usize) -> Option<MatrixRanges> {
        let &[begin, end] = offsets.get(matrix..matrix.checked_add(2)?)? else { return None };
        let (minor, own) = (begin as usize..end as usize, form.major_count() + 1);
        let major = match form.is_coo() {
            true => minor.clone(),
            false => matrix * own..(matrix + 1) * own,
        };
        let values = minor.start * form.block_len()..minor.end * form.block_len();
        Some(MatrixRanges { major, minor, values })
    }
}
