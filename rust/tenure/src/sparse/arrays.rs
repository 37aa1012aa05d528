//! Parts that all sparse types share: three arrays, their meaning, and the check that they have it.

use std::ops::{Bound, Range, RangeBounds};

use tenure_sys::{TNR_SPARSE_MAX_BLOCK, TNR_SPARSE_SORTED, TNR_SPARSE_UNIQUE, tnr_sparse_format};

use crate::dtype::{Element, index::SparseIndex};
use crate::error::{Error, ErrorKind, Result};
use crate::sparse::calls::{LentArrays, LentSparse, LentSparseMut, SparseForm};
use crate::sparse::format::SparseFormat;

/// The properties of a matrix besides its arrays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) format: tnr_sparse_format,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Rows and columns of a block; 1 and 1 for formats without.
    pub(crate) block: [usize; 2],
    /// `TNR_SPARSE_SORTED`, `TNR_SPARSE_UNIQUE`: the known properties of the entries.
    pub(super) flags: u32,
}

pub(super) const COALESCED: u32 = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;

impl Form {
    pub(crate) fn new<F: SparseFormat>(rows: usize, cols: usize) -> Form {
        Form { format: F::FORMAT, rows, cols, block: [1, 1], flags: 0 }
    }

    pub(super) fn with_blocks(mut self, block: [usize; 2]) -> Form {
        self.block = block;
        self
    }

    /// The form of a matrix that the library has made.
    pub(crate) fn of(form: SparseForm) -> Form {
        let SparseForm { format, flags, rows, cols, block } = form;
        let block = block.map(|extent| extent as usize);
        Form { format, rows: rows as usize, cols: cols as usize, block, flags }
    }

    /// As C says it.
    pub(crate) fn raw(&self) -> SparseForm {
        let Form { format, rows, cols, block, flags } = *self;
        let block = block.map(|extent| extent as i64);
        SparseForm { format, flags, rows: rows as i64, cols: cols as i64, block }
    }

    pub(crate) fn is_coo(&self) -> bool {
        self.format == tnr_sparse_format::COO
    }

    pub(super) fn is_csc(&self) -> bool {
        self.format == tnr_sparse_format::CSC
    }

    /// CSR becomes CSC, and CSC CSR.
    pub(super) fn transposed(mut self) -> Form {
        self.format = if self.is_csc() { tnr_sparse_format::CSR } else { tnr_sparse_format::CSC };
        (self.rows, self.cols) = (self.cols, self.rows);
        self
    }

    /// Elements of one entry.
    pub(super) fn block_len(&self) -> usize {
        self.block[0] * self.block[1]
    }

    /// Rows that have offsets: of CSC columns, of BSR rows of blocks.
    pub(super) fn major_count(&self) -> usize {
        if self.is_csc() { self.cols } else { self.rows / self.block[0] }
    }

    /// Whether the flags say that entries are ordered.
    pub(super) fn is_sorted(&self) -> bool {
        self.flags & TNR_SPARSE_SORTED != 0
    }

    /// Whether the flags say that no position has two entries, too.
    pub(crate) fn is_coalesced(&self) -> bool {
        self.flags & COALESCED == COALESCED
    }

    /// The names of offsets and indices.
    pub(super) fn names(&self) -> (&'static str, &'static str) {
        match self.format {
            tnr_sparse_format::COO => ("row_indices", "col_indices"),
            tnr_sparse_format::CSC => ("col_offsets", "row_indices"),
            _ => ("row_offsets", "col_indices"),
        }
    }

    fn check(&self) -> Result<()> {
        for (extent, name) in [(self.rows, "rows"), (self.cols, "cols")] {
            // One less than the highest number, so that rows + 1 is one too.
            if extent >= i64::MAX as usize {
                return Err(Error::invalid(format!(
                    "{name} is {extent} but must be at most {}",
                    i64::MAX - 1
                )));
            }
        }
        for (extent, block, name) in [
            (self.rows, self.block[0], "rows of a block"),
            (self.cols, self.block[1], "columns of a block"),
        ] {
            if block == 0 || block > TNR_SPARSE_MAX_BLOCK as usize {
                let kind =
                    if block == 0 { ErrorKind::InvalidArgument } else { ErrorKind::Unsupported };
                let message = format!("{name}: {block}, but must be 1 to {TNR_SPARSE_MAX_BLOCK}");
                return Err(Error::new(kind, message));
            }
            if extent % block != 0 {
                return Err(Error::invalid(format!(
                    "{name}: {block}, but must divide the {extent} of the matrix"
                )));
            }
        }
        Ok(())
    }

    /// The form with `count` of the rows; of the columns for CSC, of the rows of blocks for BSR.
    pub(crate) fn with_major_count(mut self, count: usize) -> Form {
        let extent = count * self.block[0];
        *(if self.is_csc() { &mut self.cols } else { &mut self.rows }) = extent;
        self
    }

    pub(crate) fn check_lengths(&self, major: usize, minor: usize, values: usize) -> Result<()> {
        self.check()?;
        let (wanted, why) = match self.format {
            tnr_sparse_format::COO => (minor, "as many as col_indices"),
            tnr_sparse_format::CSR => (self.rows + 1, "rows + 1"),
            tnr_sparse_format::CSC => (self.cols + 1, "cols + 1"),
            _ => (self.major_count() + 1, "a row of blocks each, and one more"),
        };
        if major != wanted {
            let name = self.names().0;
            return Err(Error::invalid(format!(
                "{name} has {major} elements but must have {wanted}: {why}"
            )));
        }
        self.check_values(minor, values)
    }

    /// Does the same as `check_lengths`, for a batch of `matrices` matrices.
    pub(super) fn check_batch_lengths(
        &self,
        matrices: usize,
        [major, minor, values]: [usize; 3],
    ) -> Result<()> {
        self.check()?;
        let wanted = if self.is_coo() {
            Some(minor)
        } else {
            (self.major_count() + 1).checked_mul(matrices)
        };
        if Some(major) != wanted {
            let name = self.names().0;
            let wanted = if self.is_coo() {
                format!("{minor}: as many as col_indices")
            } else {
                format!("{} for each of {matrices} matrices", self.major_count() + 1)
            };
            return Err(Error::invalid(format!(
                "{name} has {major} elements but must have {wanted}"
            )));
        }
        self.check_values(minor, values)
    }

    fn check_values(&self, minor: usize, values: usize) -> Result<()> {
        let minor_name = self.names().1;
        if minor.checked_mul(self.block_len()) != Some(values) {
            let block = if self.block_len() == 1 { "one" } else { "a block" };
            return Err(Error::invalid(format!(
                "values has {values} elements but must have {block} for each of the {minor} of \
                 {minor_name}"
            )));
        }
        Ok(())
    }
}

/// Which entries the rows have: from the first offset to the last; of COO all.
fn covered<I: SparseIndex>(form: &Form, major: &[I], minor: &[I]) -> Range<usize> {
    match (major.first(), major.last()) {
        (Some(first), Some(last)) if !form.is_coo() => first.to_usize()..last.to_usize(),
        _ => 0..minor.len(),
    }
}

/// Where the values of these entries are.
fn scaled(entries: Range<usize>, block_len: usize) -> Range<usize> {
    entries.start * block_len..entries.end * block_len
}

/// The arrays of a matrix, lent for reading. A range of a matrix consists of its entries: the
/// indices and values from the first offset to the last. The arrays may hold more, but only this
/// module accesses the rest.
// The invariant, but between making and checking: offsets and indices are right.
#[derive(Clone, Copy)]
pub(crate) struct Arrays<'a, T: Element, I: SparseIndex> {
    pub(crate) form: Form,
    major: &'a [I],
    /// The whole array as lent: offsets count from its first element.
    stored_minor: &'a [I],
    stored_values: &'a [T],
    /// The entry that the first of `stored_values` belongs to: 0, or that which a range began with
    /// when it was given values of its own.
    first_stored: usize,
}

impl<'a, T: Element, I: SparseIndex> Arrays<'a, T, I> {
    /// Checks everything.
    pub(super) fn checked(
        form: Form,
        major: &'a [I],
        minor: &'a [I],
        values: &'a [T],
    ) -> Result<Self> {
        form.check_lengths(major.len(), minor.len(), values.len())?;
        LentArrays::new(form.raw(), major, minor, values).check()?;
        Ok(Arrays::over(form, major, minor, values))
    }

    /// From arrays that have been checked.
    pub(super) fn over(form: Form, major: &'a [I], minor: &'a [I], values: &'a [T]) -> Self {
        Arrays { form, major, stored_minor: minor, stored_values: values, first_stored: 0 }
    }

    /// Adds the flags, where a check finds the arrays to be as they say.
    pub(super) fn with_flags(mut self, flags: u32) -> Result<Self> {
        self.form.flags |= flags;
        self.lend().check()?;
        Ok(self)
    }

    /// That no entry is left out before the first row or after the last.
    pub(super) fn require_whole(self) -> Result<Self> {
        let (Some(first), Some(last)) = (self.major.first(), self.major.last()) else {
            return Ok(self);
        };
        let (name, len) = (self.form.names().0, self.stored_minor.len());
        if self.form.is_coo() || (first.to_usize() == 0 && last.to_usize() == len) {
            return Ok(self);
        }
        if first.to_usize() != 0 {
            return Err(Error::invalid(format!("{name}[0] is {first} but must be 0")));
        }
        let place = self.major.len() - 1;
        Err(Error::invalid(format!(
            "{name}[{place}] is {last} but must be {len}, the number of entries, because it is the \
             last"
        )))
    }

    /// As C sees it.
    fn lend(&self) -> LentArrays<'a> {
        let form = self.form.raw();
        if self.first_stored != 0 {
            let offsets = self.offsets_from_zero().collect();
            return LentArrays::with_own_offsets(form, offsets, self.minor(), self.values());
        }
        // Offsets count the entries before the range too, but none after it.
        let end = self.range().end;
        let (minor, values) =
            (&self.stored_minor[..end], &self.stored_values[..end * self.form.block_len()]);
        LentArrays::new(form, self.major, minor, values)
    }

    /// Offsets with the indices and values that they count: those in front of a range too.
    #[cfg(feature = "faer")]
    pub(crate) fn counted(&self) -> Result<(&'a [I], &'a [I], &'a [T])> {
        if self.first_stored != 0 {
            return Err(Error::invalid(format!(
                "{}[0] is {} but must be 0 of a range with values of its own: nobody has values for \
                 what lies in front of it",
                self.form.names().0,
                self.first_stored
            )));
        }
        let end = self.range().end;
        let values = &self.stored_values[..end * self.form.block_len()];
        Ok((self.major, &self.stored_minor[..end], values))
    }

    /// The form in which operations take the arrays.
    pub(crate) fn lent(&self) -> LentSparse<'a> {
        // SAFETY: offsets and indices are right, by the type's invariant, and `&'a [I]` keeps them
        // so.
        unsafe { self.lend().checked() }
    }

    /// Offsets, which count from `major()[0]`; of COO row indices.
    pub(crate) fn major(&self) -> &'a [I] {
        self.major
    }

    /// The indices of the entries.
    pub(crate) fn minor(&self) -> &'a [I] {
        &self.stored_minor[self.range()]
    }

    /// The values of the entries.
    pub(crate) fn values(&self) -> &'a [T] {
        let Range { start, end } = self.range();
        let range = start - self.first_stored..end - self.first_stored;
        &self.stored_values[scaled(range, self.form.block_len())]
    }

    /// Where the entries of the rows begin and end, as the offsets count.
    pub(crate) fn range(&self) -> Range<usize> {
        covered(&self.form, self.major, self.stored_minor)
    }

    /// The offsets, counted from the first; of COO row indices as they are.
    pub(crate) fn offsets_from_zero(&self) -> impl ExactSizeIterator<Item = I> + use<'a, T, I> {
        let first = self.range().start;
        self.major.iter().map(move |offset| {
            // A smaller number than one that fits.
            I::from_usize(offset.to_usize() - first).unwrap_or_default()
        })
    }

    /// The entries of one row: indices and values.
    pub(super) fn row(&self, row: usize) -> Option<(&'a [I], &'a [T])> {
        let &[begin, end] = self.major.get(row..row.checked_add(2)?)? else { return None };
        let (begin, end) = (begin.to_usize(), end.to_usize());
        let values = begin - self.first_stored..end - self.first_stored;
        let values = &self.stored_values[scaled(values, self.form.block_len())];
        Some((&self.stored_minor[begin..end], values))
    }

    /// The part of a range of rows: their offsets and their entries.
    pub(super) fn rows(mut self, rows: impl RangeBounds<usize>) -> Result<Self> {
        let Range { start, end } = range_below(rows, self.form.major_count())?;
        self.major = &self.major[start..=end];
        self.form = self.form.with_major_count(end - start);
        Ok(self)
    }

    /// The transpose of CSR and CSC: the same arrays under the other name.
    pub(super) fn transposed(mut self) -> Self {
        self.form = self.form.transposed();
        self
    }

    /// Gives the entries other values.
    pub(super) fn with_values<'b, U: Element>(self, values: &'b [U]) -> Result<Arrays<'b, U, I>>
    where
        'a: 'b,
    {
        let Arrays { form, major, stored_minor, .. } = self;
        let Range { start, end } = self.range();
        form.check_values(end - start, values.len())?;
        Ok(Arrays {
            form,
            major,
            stored_minor: &stored_minor[..end],
            stored_values: values,
            first_stored: start,
        })
    }
}

/// A range of numbers below `count`; refused where it leaves them.
pub(crate) fn range_below(range: impl RangeBounds<usize>, count: usize) -> Result<Range<usize>> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => count,
    };
    if start > end || end > count {
        return Err(Error::invalid(format!("range is {start}..{end} but must lie in 0..{count}")));
    }
    Ok(start..end)
}

/// The arrays of a matrix, lent with values to be written.
// The invariant is that of `Arrays`, and ranges are defined as there.
pub(super) struct ArraysMut<'a, T: Element, I: SparseIndex> {
    pub(super) form: Form,
    major: &'a [I],
    stored_minor: &'a [I],
    stored_values: &'a mut [T],
    /// The field of the same name in `Arrays`; for the part behind a split, the first entry of that
    /// part.
    first_stored: usize,
}

impl<'a, T: Element, I: SparseIndex> ArraysMut<'a, T, I> {
    /// From arrays that have been checked.
    pub(super) fn over(
        form: Form,
        major: &'a [I],
        minor: &'a [I],
        values: &'a mut [T],
    ) -> ArraysMut<'a, T, I> {
        ArraysMut { form, major, stored_minor: minor, stored_values: values, first_stored: 0 }
    }

    /// For reading.
    pub(super) fn as_arrays(&self) -> Arrays<'_, T, I> {
        let ArraysMut { form, major, stored_minor, ref stored_values, first_stored } = *self;
        Arrays { form, major, stored_minor, stored_values, first_stored }
    }

    /// For reading from now on.
    pub(super) fn into_arrays(self) -> Arrays<'a, T, I> {
        let ArraysMut { form, major, stored_minor, stored_values, first_stored } = self;
        Arrays { form, major, stored_minor, stored_values, first_stored }
    }

    /// For a shorter time.
    pub(super) fn reborrow(&mut self) -> ArraysMut<'_, T, I> {
        let ArraysMut { form, major, stored_minor, ref mut stored_values, first_stored } = *self;
        ArraysMut { form, major, stored_minor, stored_values, first_stored }
    }

    /// The form in which operations take the arrays.
    pub(super) fn lent(self) -> LentSparseMut<'a> {
        let form = self.form.raw();
        if self.first_stored != 0 {
            let offsets = self.as_arrays().offsets_from_zero().collect();
            let (minor, values) = (self.minor(), self.into_values());
            // SAFETY: as below; offsets that are counted from the first of them are as right.
            return unsafe { LentSparseMut::with_own_offsets(form, offsets, minor, values) };
        }
        let Range { end, .. } = covered(&self.form, self.major, self.stored_minor);
        let (minor, block_len) = (&self.stored_minor[..end], self.form.block_len());
        let values = &mut self.stored_values[..end * block_len];
        // SAFETY: offsets and indices are right, by the type's invariant, and `&'a [I]` keeps them
        // so.
        unsafe { LentSparseMut::new(form, self.major, minor, values) }
    }

    /// Offsets, which count from `major()[0]`; of COO row indices.
    pub(super) fn major(&self) -> &'a [I] {
        self.major
    }

    /// The indices of the entries.
    pub(super) fn minor(&self) -> &'a [I] {
        &self.stored_minor[covered(&self.form, self.major, self.stored_minor)]
    }

    /// Where the values of these entries are.
    fn stored(&self, entries: Range<usize>) -> Range<usize> {
        let range = entries.start - self.first_stored..entries.end - self.first_stored;
        scaled(range, self.form.block_len())
    }

    /// The values of the entries, for writing.
    pub(super) fn values_mut(&mut self) -> &mut [T] {
        self.reborrow().into_values()
    }

    /// The same, for as long as they are lent.
    pub(super) fn into_values(self) -> &'a mut [T] {
        let range = self.stored(covered(&self.form, self.major, self.stored_minor));
        &mut self.stored_values[range]
    }

    /// The entries of one row: indices, and values for writing.
    pub(super) fn row(self, row: usize) -> Option<(&'a [I], &'a mut [T])> {
        let &[begin, end] = self.major.get(row..row.checked_add(2)?)? else { return None };
        let range = begin.to_usize()..end.to_usize();
        let values = self.stored(range.clone());
        Some((&self.stored_minor[range], &mut self.stored_values[values]))
    }

    /// The rows before one, and the others: their offsets and their entries.
    pub(super) fn split_at(self, row: usize) -> Result<(Self, Self)> {
        let row = range_below(..row, self.form.major_count())?.end;
        let border = self.major[row].to_usize();
        let place = self.stored(border..border).start;
        let ArraysMut { form, major, stored_minor, stored_values, first_stored } = self;
        let (before, behind) = stored_values.split_at_mut(place);
        let part = |rows: &'a [I], stored_values, first_stored| {
            let form = form.with_major_count(rows.len() - 1);
            ArraysMut { form, major: rows, stored_minor, stored_values, first_stored }
        };
        Ok((part(&major[..=row], before, first_stored), part(&major[row..], behind, border)))
    }
}
