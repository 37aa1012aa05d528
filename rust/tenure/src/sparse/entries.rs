//! Iteration over entries.

use std::iter::FusedIterator;

use super::arrays::{Arrays, Form};
use crate::dtype::{Element, index::SparseIndex};

/// The entries of a matrix as `(row, column, &value)`, in the order in which they are stored.
///
/// ```
/// use tenure::CsrView;
///
/// let matrix = CsrView::new(2, 3, &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0])?;
/// let entries: Vec<_> = matrix.iter().map(|(row, col, &value)| (row, col, value)).collect();
/// assert_eq!(entries, [(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0)]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone)]
pub struct Entries<'a, T: Element, I: SparseIndex>(BlockEntries<'a, T, I>);

/// The blocks of a matrix as `(row of blocks, column of blocks, elements in row-major order)`.
///
/// ```
/// use tenure::BsrView;
///
/// let matrix = BsrView::new(4, 4, [2, 2], &[0, 0, 1], &[1], &[1, 2, 3, 4])?;
/// assert_eq!(matrix.iter().next(), Some((1, 1, &[1, 2, 3, 4][..])));
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone)]
pub struct BlockEntries<'a, T: Element, I: SparseIndex> {
    form: Form,
    major: &'a [I],
    minor: &'a [I],
    values: &'a [T],
    /// First offset: of a row range it is not 0.
    first: usize,
    /// The row of the next entry, or one before it, with none in between.
    row: usize,
    next: usize,
}

impl<'a, T: Element, I: SparseIndex> Entries<'a, T, I> {
    pub(super) fn new(arrays: Arrays<'a, T, I>) -> Self {
        Entries(BlockEntries::new(arrays))
    }
}

impl<'a, T: Element, I: SparseIndex> BlockEntries<'a, T, I> {
    pub(super) fn new(arrays: Arrays<'a, T, I>) -> Self {
        BlockEntries {
            form: arrays.form,
            major: arrays.major(),
            minor: arrays.minor(),
            values: arrays.values(),
            first: arrays.range().start,
            row: 0,
            next: 0,
        }
    }
}

impl<'a, T: Element, I: SparseIndex> Iterator for BlockEntries<'a, T, I> {
    type Item = (usize, usize, &'a [T]);

    fn next(&mut self) -> Option<Self::Item> {
        let BlockEntries { form, major, minor, values, first, next: at, .. } = *self;
        if at == minor.len() {
            return None;
        }
        self.next += 1;
        if form.is_coo() {
            self.row = major[at].to_usize();
        } else {
            while major[self.row + 1].to_usize() - first <= at {
                self.row += 1;
            }
        }
        let index = minor[at].to_usize();
        let (row, col) = if form.is_csc() { (index, self.row) } else { (self.row, index) };
        let len = form.block_len();
        Some((row, col, &values[at * len..(at + 1) * len]))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.minor.len() - self.next;
        (left, Some(left))
    }
}

impl<'a, T: Element, I: SparseIndex> Iterator for Entries<'a, T, I> {
    type Item = (usize, usize, &'a T);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(row, col, values)| (row, col, &values[0]))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T: Element, I: SparseIndex> ExactSizeIterator for BlockEntries<'_, T, I> {}
impl<T: Element, I: SparseIndex> FusedIterator for BlockEntries<'_, T, I> {}
impl<T: Element, I: SparseIndex> ExactSizeIterator for Entries<'_, T, I> {}
impl<T: Element, I: SparseIndex> FusedIterator for Entries<'_, T, I> {}
