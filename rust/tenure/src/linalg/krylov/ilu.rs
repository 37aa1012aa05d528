//! Incomplete factors.

use super::LinearOperator;
use crate::dense::Tensor;
use crate::dtype::{NativeFloat, index::SparseIndex};
use crate::error::reserved;
use crate::error::{Error, Result};
use crate::sparse::view::CsrView;

/// The incomplete factorisation `a ≈ L U` that has entries where `a` has: the preconditioner
/// ILU(0). (Meijerink, van der Vorst, "An iterative solution method for linear systems of which the
/// coefficient matrix is a symmetric M-matrix", 1977; row by row, algorithm 10.4 of Saad,
/// "Iterative methods for sparse linear systems", 2003.)
///
/// Offsets and indices are those of `a`, which stays lent; values are its own. It is applied by two
/// substitutions in one thread, since each row needs the results of the rows before it.
///
/// ```
/// use tenure::{CsrMatrix, Ilu0, Krylov, linalg::bicgstab, sparse::gallery};
///
/// let a: CsrMatrix<f64> = gallery::poisson([10, 10, 16])?;
/// let ilu = Ilu0::new(a.view().check_coalesced()?)?;
/// let plain = bicgstab(&a, &vec![1.0; 1600], Krylov::new())?;
/// let solution = bicgstab(&a, &vec![1.0; 1600], Krylov::new().preconditioner(&ilu))?;
/// assert!(solution.iterations < plain.iterations);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Debug)]
pub struct Ilu0<'a, T: NativeFloat, I: SparseIndex = i32> {
    row_offsets: &'a [I],
    col_indices: &'a [I],
    /// The values of each row: of `L` below its unit diagonal, the reciprocal of `U`'s diagonal,
    /// and the rest of `U`.
    values: Tensor<T>,
    /// The entry on the diagonal of each row.
    diagonals: Vec<usize>,
}

/// No entry has this index.
const NONE: usize = usize::MAX;

impl<'a, T: NativeFloat, I: SparseIndex> Ilu0<'a, T, I> {
    /// Factorises a copy of the values.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a matrix that is not square, or not known to be coalesced; a row without
    /// an entry on its diagonal; a pivot that is 0 or not finite, with its row. `OutOfMemory`.
    pub fn new(a: CsrView<'a, T, I>) -> Result<Self> {
        let extents @ [rows, cols] = a.extents();
        if rows != cols {
            return Err(Error::invalid(format!(
                "ilu0: a has shape {extents:?} but must be square"
            )));
        }
        if !a.is_coalesced() {
            return Err(Error::invalid(
                "ilu0: a is not known to be coalesced: check_coalesced() looks, coalesce() makes it so",
            ));
        }
        let mut factors = Ilu0 {
            row_offsets: a.row_offsets(),
            col_indices: a.col_indices(),
            values: Tensor::copy_from_slice(a.values(), a.nnz())?,
            diagonals: filled(rows)?,
        };
        factors.factorise()?;
        Ok(factors)
    }

    fn order(&self) -> usize {
        self.diagonals.len()
    }

    /// The entries of a row.
    fn entries(&self, row: usize) -> std::ops::Range<usize> {
        // The offsets of a range of rows count from its first.
        let first = self.row_offsets[0].to_usize();
        let [begin, end] = [row, row + 1].map(|row| self.row_offsets[row].to_usize() - first);
        begin..end
    }

    fn col(&self, entry: usize) -> usize {
        self.col_indices[entry].to_usize()
    }

    fn factorise(&mut self) -> Result<()> {
        // The entry of each column in the row at hand.
        let mut places = filled(self.order())?;
        for row in 0..self.order() {
            let entries = self.entries(row);
            entries.clone().for_each(|entry| places[self.col(entry)] = entry);
            let Some(diagonal) = Some(places[row]).filter(|&entry| entry != NONE) else {
                return Err(Error::invalid(format!(
                    "ilu0: a has no entry on the diagonal in row {row}"
                )));
            };
            for entry in entries.start..diagonal {
                let above = self.col(entry);
                let of_above = self.diagonals[above]..self.entries(above).end;
                let values: &mut [T] = self.values.as_mut();
                let factor = values[entry] * values[of_above.start];
                values[entry] = factor;
                for other in of_above.skip(1) {
                    let place = places[self.col_indices[other].to_usize()];
                    if place != NONE {
                        let product = factor * values[other];
                        values[place] -= product;
                    }
                }
            }
            let pivot = &mut AsMut::<[T]>::as_mut(&mut self.values)[diagonal];
            let reciprocal = T::ONE / *pivot;
            if !(pivot.finite() && reciprocal.finite()) {
                return Err(Error::invalid(format!(
                    "ilu0: the pivot of row {row} is {}, which has no finite reciprocal",
                    *pivot
                )));
            }
            *pivot = reciprocal;
            self.diagonals[row] = diagonal;
            entries.for_each(|entry| places[self.col(entry)] = NONE);
        }
        Ok(())
    }

    /// Pairs of the columns and values of entries.
    fn pairs(&self, entries: std::ops::Range<usize>) -> impl Iterator<Item = (usize, T)> {
        let values: &[T] = self.values.as_ref();
        let columns = self.col_indices[entries.clone()].iter().map(|column| column.to_usize());
        columns.zip(values[entries].iter().copied())
    }
}

/// Indices that are none.
fn filled(count: usize) -> Result<Vec<usize>> {
    let mut indices = reserved(count, "indices")?;
    indices.resize(count, NONE);
    Ok(indices)
}

impl<T: NativeFloat, I: SparseIndex> LinearOperator<T> for Ilu0<'_, T, I> {
    fn extents(&self) -> [usize; 2] {
        [self.order(); 2]
    }

    fn apply_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        for (row, &diagonal) in self.diagonals.iter().enumerate() {
            let below = self.pairs(self.entries(row).start..diagonal);
            out[row] = below.fold(x[row], |left, (col, value)| left - value * out[col]);
        }
        let values: &[T] = self.values.as_ref();
        for (row, &diagonal) in self.diagonals.iter().enumerate().rev() {
            let above = self.pairs(diagonal + 1..self.entries(row).end);
            let left = above.fold(out[row], |left, (col, value)| left - value * out[col]);
            out[row] = left * values[diagonal];
        }
        Ok(())
    }

    fn apply_transposed_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        out.copy_from_slice(x);
        let values: &[T] = self.values.as_ref();
        for (row, &diagonal) in self.diagonals.iter().enumerate() {
            out[row] *= values[diagonal];
            let known = out[row];
            for (col, value) in self.pairs(diagonal + 1..self.entries(row).end) {
                out[col] -= value * known;
            }
        }
        for (row, &diagonal) in self.diagonals.iter().enumerate().rev() {
            let known = out[row];
            for (col, value) in self.pairs(self.entries(row).start..diagonal) {
                out[col] -= value * known;
            }
        }
        Ok(())
    }
}
