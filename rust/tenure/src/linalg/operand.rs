//! Operands of solvers: their shapes, that they are finite, and copies that factorisations
//! overwrite.

use faer::{MatMut, MatRef};

use crate::dense::{Tensor, TensorView};
use crate::dtype::NativeFloat;
use crate::dtype::backend::Range;
use crate::dtype::native::Arithmetic;
use crate::error::reserved;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::order::Order;

/// A matrix with at least one element, or without, by its name in messages.
pub(super) struct Matrix<'a, T: NativeFloat> {
    operation: &'static str,
    pub(super) view: TensorView<'a, T>,
    pub(super) extents: [usize; 2],
}

/// Which elements of a matrix a factorisation reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    All,
    Lower,
}

impl<'a, T: NativeFloat> Matrix<'a, T> {
    /// A matrix of any extents, whose elements are finite.
    pub(super) fn new(operation: &'static str, view: TensorView<'a, T>) -> Result<Self> {
        let matrix = Self::unread(operation, view)?;
        // One pass at the speed of memory; only where it overflows, each element is looked at.
        if !crate::ops::sum(matrix.view, ..)?.item().is_some_and(T::finite) {
            matrix.largest_by_element(Read::All)?;
        }
        Ok(matrix)
    }

    /// Does the same as [`new`](Self::new), and requires a square matrix.
    pub(super) fn square(operation: &'static str, view: TensorView<'a, T>) -> Result<Self> {
        Self::unread(operation, view)?.require_square()?;
        Self::new(operation, view)
    }

    /// The lower triangle of a square matrix; the elements above are never read.
    pub(super) fn lower(operation: &'static str, view: TensorView<'a, T>) -> Result<(Self, T)> {
        let matrix = Self::unread(operation, view)?;
        matrix.require_square()?;
        let largest = matrix.largest_by_element(Read::Lower)?;
        Ok((matrix, largest))
    }

    fn unread(operation: &'static str, view: TensorView<'a, T>) -> Result<Self> {
        let &[rows, cols] = view.shape() else { return Err(no_matrix(operation, view.shape())) };
        Ok(Matrix { operation, view, extents: [rows, cols] })
    }

    fn require_square(&self) -> Result<()> {
        let [rows, cols] = self.extents;
        if rows == cols { Ok(()) } else { Err(not_square(self.operation, self.extents)) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.extents.contains(&0)
    }

    /// The largest magnitude, 0 of none.
    pub(super) fn largest(&self) -> Result<T> {
        if self.is_empty() {
            return Ok(T::ZERO);
        }
        let extremes = [crate::ops::max(self.view, ..)?, crate::ops::min(self.view, ..)?];
        let [above, below] = extremes.map(|one| one.item().unwrap_or(T::ZERO).magnitude());
        Ok(if above > below { above } else { below })
    }

    fn largest_by_element(&self, read: Read) -> Result<T> {
        let elements = self.lent()?;
        let mut largest = T::ZERO;
        for row in 0..self.extents[0] {
            let end = if read == Read::Lower { row + 1 } else { self.extents[1] };
            for col in 0..end {
                let element = elements[(row, col)];
                if !element.finite() {
                    return Err(not_finite(self.operation, "a", &[row, col], element));
                }
                if element.magnitude() > largest {
                    largest = element.magnitude();
                }
            }
        }
        Ok(largest)
    }

    /// The matrix as it lies.
    pub(super) fn lent(&self) -> Result<MatRef<'a, T>> {
        MatRef::try_from(self.view)
    }

    /// Column-major, to be overwritten.
    pub(super) fn copied(&self) -> Result<Tensor<T>> {
        Tensor::working_copy(self.view, Order::ColumnMajor)
    }

    /// Where elements are so large or small that their squares are out of range, a copy that is
    /// multiplied by a power of two; and what results are to be multiplied by.
    pub(super) fn rescaled(&self, largest: T) -> Result<Option<(Tensor<T>, T)>> {
        if !is_far(largest) {
            return Ok(None);
        }
        let rescale = T::from_f64(T::RESCALE);
        let factor = if largest > T::ONE { T::ONE / rescale } else { rescale };
        let mut copy = self.copied()?;
        multiply(&mut copy, factor);
        Ok(Some((copy, T::ONE / factor)))
    }
}

/// Whether the square of a number can be out of the range of its type, where the number is not 0.
fn is_far<T: NativeFloat>(magnitude: T) -> bool {
    let large = T::from_f64(T::LARGE);
    magnitude > large || (magnitude > T::ZERO && magnitude * large < T::ONE)
}

/// A right side has a row for each of the matrix.
pub(super) fn require_right_side(operation: &str, a: &[usize], b: &[usize]) -> Result<()> {
    let &[rows, _] = a else { return Err(no_matrix(operation, a)) };
    if (1..=2).contains(&b.len()) && b[0] == rows {
        Ok(())
    } else {
        Err(no_right_side(operation, a, b))
    }
}

/// A copy of a right side, to be overwritten: row-major.
pub(super) fn right_side<T: NativeFloat>(
    operation: &str,
    a: [usize; 2],
    b: TensorView<'_, T>,
) -> Result<Tensor<T>> {
    require_right_side(operation, &a, b.shape())?;
    let copy = Tensor::working_copy(b, Order::RowMajor)?;
    if let Some(place) = copy.as_ref().iter().position(|&element| !element.finite()) {
        let cols = b.shape().get(1).copied().unwrap_or(1);
        let index = [place / cols, place % cols];
        return Err(not_finite(operation, "b", &index[..b.rank()], copy.as_ref()[place]));
    }
    Ok(copy)
}

/// The columns of a right side, or of a solution.
pub(super) fn columns<T: NativeFloat>(x: &mut Tensor<T>) -> Result<MatMut<'_, T>> {
    let is_vector = x.rank() == 1;
    let view = x.view_mut();
    MatMut::try_from(if is_vector { view.unsqueeze(1)? } else { view })
}

pub(super) fn lent<T: NativeFloat>(a: &Tensor<T>) -> Result<MatRef<'_, T>> {
    MatRef::try_from(a.view())
}

pub(super) fn lent_mut<T: NativeFloat>(a: &mut Tensor<T>) -> Result<MatMut<'_, T>> {
    MatMut::try_from(a.view_mut())
}

pub(super) fn multiply<T: NativeFloat>(a: &mut Tensor<T>, factor: T) {
    a.as_mut().iter_mut().for_each(|element| *element *= factor);
}

/// Indices from 0 on.
pub(super) fn indices(count: usize) -> Result<Vec<usize>> {
    let mut indices = reserved(count, "indices")?;
    indices.extend(0..count);
    Ok(indices)
}

/// Overwrites the elements of a column-major matrix on one side of its diagonal.
pub(super) fn clear_above_diagonal<T: NativeFloat>(a: &mut Tensor<T>) {
    let rows = a.shape()[0];
    for (col, column) in a.as_mut().chunks_exact_mut(rows.max(1)).enumerate() {
        column[..col.min(rows)].fill(T::ZERO);
    }
}

/// The other side.
pub(super) fn clear_below_diagonal<T: NativeFloat>(a: &mut Tensor<T>) {
    let rows = a.shape()[0];
    for (col, column) in a.as_mut().chunks_exact_mut(rows.max(1)).enumerate() {
        column[(col + 1).min(rows)..].fill(T::ZERO);
    }
}

/// The range of the upper triangle of a column-major matrix.
pub(super) fn range_above<T: NativeFloat>(a: &Tensor<T>) -> Range {
    let rows = a.shape()[0];
    let is_far = |element: &T| is_far(element.magnitude());
    let mut columns = a.as_ref().chunks_exact(rows.max(1)).enumerate();
    let is_wide = columns.any(|(col, column)| column[..(col + 1).min(rows)].iter().any(is_far));
    if is_wide { Range::Wide } else { Range::Narrow }
}

/// Sets the diagonal elements of a matrix.
pub(super) fn fill_diagonal<T: NativeFloat>(a: &mut Tensor<T>, value: T) {
    let count = a.shape().iter().copied().min().unwrap_or(0);
    let mut view = a.view_mut();
    (0..count).for_each(|place| view[[place, place]] = value);
}

/// Refuses factors that are out of the range of their type: of elements near its ends.
pub(super) fn require_in_range<T: NativeFloat>(operation: &str, factors: &Tensor<T>) -> Result<()> {
    let is_in_range = factors.as_ref().iter().fold(true, |so_far, one| so_far & one.finite());
    if is_in_range { Ok(()) } else { Err(out_of_range(operation)) }
}

#[cold]
fn out_of_range(operation: &str) -> Error {
    Error::invalid(format!("{operation}: factors of a are out of the range of their type"))
}

#[cold]
fn no_matrix(operation: &str, shape: &[usize]) -> Error {
    Error::invalid(format!("{operation}: a has shape {shape:?} but must be a matrix, of rank 2"))
}

#[cold]
fn not_square(operation: &str, extents: [usize; 2]) -> Error {
    Error::invalid(format!("{operation}: a has shape {extents:?} but must be square"))
}

#[cold]
fn no_right_side(operation: &str, a: &[usize], b: &[usize]) -> Error {
    let rows = a[0];
    Error::invalid(format!(
        "{operation}: b has shape {b:?} but a has shape {a:?}, so that b must be [{rows}] or \
         [{rows}, k]"
    ))
}

#[cold]
fn not_finite(operation: &str, name: &str, index: &[usize], element: impl Arithmetic) -> Error {
    let element = element.to_f64();
    Error::invalid(format!("{operation}: {name}{index:?} is {element} but must be finite"))
}

#[cold]
pub(super) fn singular(operation: &str, pivot: usize) -> Error {
    Error::invalid(format!("{operation}: a is singular: pivot {pivot} of its factorisation is 0"))
}

#[cold]
pub(super) fn endless(operation: &str, extents: [usize; 2]) -> Error {
    Error::new(
        ErrorKind::NoConvergence,
        format!("{operation}: the iteration for a of shape {extents:?} did not converge"),
    )
}
