//! Matrices of the crate `nalgebra`: lent both ways, handed over both ways, operands as they are.
//!
//! A matrix is lent in the strides that it has. A view becomes one only where its columns are
//! contiguous: the iterators of `nalgebra` count their way by strides, past the end of the memory
//! where rows lie apart, and out of it where a stride is 0.

use std::ptr::NonNull;

use ::nalgebra::{
    DMatrix, Dim, Dyn, IsContiguous, Matrix, RawStorage, Storage, StorageMut, U1, VecStorage,
    ViewStorage, ViewStorageMut,
};
use tenure_sys::tnr_view;

use crate::dense::{Tensor, TensorView, TensorViewMut};
use crate::dtype::Element;
use crate::error::{Error, Rejected, Result};
use crate::layout;
use crate::layout::order::Order;
use crate::operand::{AsView, AsViewMut};

// ---- from nalgebra ----

fn extents<T, R: Dim, C: Dim, S: RawStorage<T, R, C>>(matrix: &Matrix<T, R, C, S>) -> [usize; 2] {
    [matrix.nrows(), matrix.ncols()]
}

/// The elements of a matrix as they lie, at a pointer that may have more rights than its own.
fn laid<T: Element, R: Dim, C: Dim, S: RawStorage<T, R, C>>(
    data: *const T,
    matrix: &Matrix<T, R, C, S>,
) -> Result<tnr_view> {
    let (row, col) = matrix.strides();
    let [Ok(row), Ok(col)] = [row, col].map(isize::try_from) else {
        return Err(Error::invalid(format!(
            "strides are {row} and {col} but must be {} at most",
            isize::MAX
        )));
    };
    layout::around(data.cast(), T::DTYPE, &extents(matrix), &[row, col])
}

/// Lends a matrix or a vector, of any owner, in the strides that it has; a vector has a column, or
/// a row, as its other axis.
///
/// # Errors
///
/// `InvalidArgument`: a view of more than 2^59 - 1 elements, repeated by strides of 0.
///
/// ```
/// use nalgebra::{DMatrix, Matrix2};
/// use tenure::TensorView;
///
/// let points = DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// let view = TensorView::try_from(&points)?;
/// assert_eq!((view.strides(), view.as_ptr()), (&[1, 2][..], points.as_ptr()));
/// assert_eq!(view, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
/// assert_eq!(TensorView::try_from(&points.column(1))?, [[2.0], [5.0]]);
/// assert_eq!(TensorView::try_from(&Matrix2::new(1, 2, 3, 4))?.to_vec(), [1, 2, 3, 4]);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element, R: Dim, C: Dim, S: Storage<T, R, C>> TryFrom<&'a Matrix<T, R, C, S>>
    for TensorView<'a, T>
{
    type Error = Error;

    fn try_from(matrix: &'a Matrix<T, R, C, S>) -> Result<Self> {
        let raw = laid(matrix.as_ptr(), matrix)?;
        // SAFETY: checked, over elements that the matrix has for 'a: initialised, and not written.
        Ok(unsafe { TensorView::from_raw(raw) })
    }
}

/// Lends a matrix or a vector for writing.
///
/// # Errors
///
/// `Aliased`: strides, which only `unsafe` code gives a matrix, with which two indices may meet as
/// far as the library can tell.
///
/// ```
/// use nalgebra::DMatrix;
/// use tenure::TensorViewMut;
///
/// let mut matrix = DMatrix::<f32>::zeros(2, 3);
/// TensorViewMut::try_from(&mut matrix.columns_mut(1, 2))?.fill(7.0);
/// assert_eq!(matrix.as_slice(), [0.0, 0.0, 7.0, 7.0, 7.0, 7.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element, R: Dim, C: Dim, S: StorageMut<T, R, C>> TryFrom<&'a mut Matrix<T, R, C, S>>
    for TensorViewMut<'a, T>
{
    type Error = Error;

    fn try_from(matrix: &'a mut Matrix<T, R, C, S>) -> Result<Self> {
        let raw = laid(matrix.data.ptr_mut(), matrix)?;
        layout::check_distinct(&raw)?;
        // SAFETY: checked, over elements to which the matrix, borrowed for 'a, has exclusive
        // access: initialised, and touched by no other code.
        Ok(unsafe { TensorViewMut::from_raw(raw) })
    }
}

// Only matrices without gaps: others may repeat elements more often than can be counted.
impl<T: Element, R: Dim, C: Dim, S> AsView<T> for Matrix<T, R, C, S>
where
    S: Storage<T, R, C> + IsContiguous,
{
    fn as_view(&self) -> TensorView<'_, T> {
        TensorView::from_slice_in(self.as_slice(), extents(self), Order::ColumnMajor)
            .expect("as many elements as the matrix has")
    }
}

impl<T: Element, R: Dim, C: Dim, S> AsViewMut<T> for Matrix<T, R, C, S>
where
    S: StorageMut<T, R, C> + IsContiguous,
{
    fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
        let extents = extents(self);
        TensorViewMut::from_slice_in(self.as_mut_slice(), extents, Order::ColumnMajor)
            .expect("as many elements as the matrix has")
    }
}

// ---- to nalgebra ----

/// A number that the type `D` may have fixed.
fn dim<D: Dim>(number: usize, name: &str) -> Result<D> {
    match D::try_to_usize() {
        Some(fixed) if fixed != number => {
            Err(Error::invalid(format!("{name} is {number} but the matrix has {fixed}")))
        }
        _ => Ok(D::from_usize(number)),
    }
}

/// First element, rows and columns, and strides of a matrix.
type Parts<T, R, C> = (NonNull<T>, (R, C), (U1, Dyn));

fn parts<T: Element, R: Dim, C: Dim>(raw: &tnr_view) -> Result<Parts<T, R, C>> {
    let (extents, strides) = (layout::extents(raw), layout::strides(raw));
    let ([rows, cols], [row, col]) = match (extents, strides) {
        (&[rows, cols], &[row, col]) => ([rows, cols], [row, col]),
        (&[rows], &[row]) => ([rows, 1], [row, 1]),
        _ => {
            return Err(Error::invalid(format!(
                "rank is {} but a matrix has 2 axes, and a vector 1",
                extents.len()
            )));
        }
    };
    let shape = (dim(rows, "the number of rows")?, dim(cols, "the number of columns")?);
    let first = NonNull::new(raw.data.cast_mut().cast()).filter(|_| rows > 0 && cols > 0);
    let Some(first) = first else {
        return Ok((NonNull::dangling(), shape, (U1, Dyn(rows))));
    };
    if rows > 1 && row != 1 {
        return Err(Error::invalid(format!(
            "the stride of rows is {row} but must be 1, as in column-major order: lend the \
             transpose of a row-major view"
        )));
    }
    if cols <= 1 {
        return Ok((first, shape, (U1, Dyn(rows))));
    }
    let step = usize::try_from(col).ok().filter(|&step| step > 0);
    let Some(step) = step else {
        return Err(Error::invalid(format!(
            "the stride of columns is {col} but must be 1 or more"
        )));
    };
    Ok((first, shape, (U1, Dyn(step))))
}

/// Lends a view of rank 2 on as a matrix, or one of rank 1 as a column: of fixed or of any extents.
///
/// # Errors
///
/// `InvalidArgument`: another rank, other extents than the type has fixed, or rows whose stride is
/// not 1: of a row-major view lend the transpose.
///
/// ```
/// use nalgebra::{DMatrixView, DVectorView, Matrix2, MatrixView, U2};
/// use tenure::{Order, Tensor};
///
/// let tensor = Tensor::from_vec_in(vec![4.0, 1.0, 1.0, 3.0], [2, 2], Order::ColumnMajor)?;
/// let matrix = DMatrixView::try_from(tensor.view())?;
/// assert_eq!((matrix.determinant(), matrix.as_ptr()), (11.0, tensor.as_ptr()));
///
/// let rows = Tensor::from([[1, 2], [3, 4]]);
/// assert!(DMatrixView::try_from(rows.view()).is_err());
/// assert_eq!(MatrixView::<_, U2, U2, _, _>::try_from(rows.t())?, Matrix2::new(1, 3, 2, 4));
/// assert_eq!(DVectorView::try_from(rows.index(0, 1)?)?.sum(), 7);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element, R: Dim, C: Dim> TryFrom<TensorView<'a, T>>
    for Matrix<T, R, C, ViewStorage<'a, T, R, C, U1, Dyn>>
{
    type Error = Error;

    fn try_from(view: TensorView<'a, T>) -> Result<Self> {
        let (first, shape, strides) = parts(view.raw())?;
        // SAFETY: the elements of the view, lent for 'a: aligned, inside one allocation,
        // initialised, and not written; no element lies between those of a column.
        let storage = unsafe { ViewStorage::from_raw_parts(first.as_ptr(), shape, strides) };
        Ok(Matrix::from_data(storage))
    }
}

/// Lends a view on as a matrix, or a vector, for writing.
///
/// # Errors
///
/// The errors of a [`TensorView`]. Where the view is to be used after a refusal, reborrow it first,
/// by [`view_mut`](TensorViewMut::view_mut).
///
/// ```
/// use nalgebra::DMatrixViewMut;
/// use tenure::{Order, Tensor};
///
/// let mut tensor = Tensor::<f32>::zeros_in([2, 2], Order::ColumnMajor)?;
/// DMatrixViewMut::try_from(tensor.view_mut())?.fill_with_identity();
/// assert_eq!(tensor, [[1.0, 0.0], [0.0, 1.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element, R: Dim, C: Dim> TryFrom<TensorViewMut<'a, T>>
    for Matrix<T, R, C, ViewStorageMut<'a, T, R, C, U1, Dyn>>
{
    type Error = Error;

    fn try_from(view: TensorViewMut<'a, T>) -> Result<Self> {
        let (first, shape, strides) = parts(view.raw())?;
        // SAFETY: the elements are those of the view: aligned, inside one allocation and
        // initialised; no element lies between those of a column, and no two indices meet; the
        // view, which ends here, had exclusive access to them for 'a.
        let storage = unsafe { ViewStorageMut::from_raw_parts(first.as_ptr(), shape, strides) };
        Ok(Matrix::from_data(storage))
    }
}

// ---- handed over ----

/// Adopts a matrix, column-major; [`DMatrix::try_from`] gives it back.
///
/// # Errors
///
/// `OutOfMemory`: the library's own record of it. The matrix comes back with the error.
///
/// ```
/// use nalgebra::DMatrix;
/// use tenure::Tensor;
///
/// let matrix = DMatrix::from_row_slice(2, 2, &[1, 2, 3, 4]);
/// let address = matrix.as_ptr();
/// let tensor = Tensor::try_from(matrix)?;
/// assert_eq!((tensor.as_ptr(), &tensor), (address, &Tensor::from([[1, 2], [3, 4]])));
/// assert_eq!(DMatrix::try_from(tensor)?.as_ptr(), address);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<T: Element> TryFrom<DMatrix<T>> for Tensor<T> {
    type Error = Rejected<DMatrix<T>>;

    fn try_from(matrix: DMatrix<T>) -> Result<Self, Self::Error> {
        let extents = extents(&matrix);
        Tensor::from_vec_in(matrix.data.into(), extents, Order::ColumnMajor).map_err(|rejected| {
            let (error, vec) = rejected.into_parts();
            Rejected::new(error, of_columns(extents, vec))
        })
    }
}

fn of_columns<T: Element>([rows, cols]: [usize; 2], vec: Vec<T>) -> DMatrix<T> {
    DMatrix::from_vec_storage(VecStorage::new(Dyn(rows), Dyn(cols), vec))
}

/// Gives a `Vec` back that was adopted, as a matrix.
///
/// # Errors
///
/// `InvalidArgument`: another rank than 2, a tensor that is not column-major, or memory that is not
/// that of a `Vec`: results of operations are the library's memory. The tensor comes back with the
/// error.
///
/// ```
/// use nalgebra::DMatrix;
/// use tenure::Tensor;
///
/// let refused = DMatrix::try_from(Tensor::from([[1, 2], [3, 4]])).err().unwrap();
/// assert_eq!(
///     refused.error().message(),
///     "shape [2, 2] with strides [2, 1] is not column-major, which a matrix is"
/// );
/// # Ok::<(), tenure::Error>(())
/// ```
impl<T: Element> TryFrom<Tensor<T>> for DMatrix<T> {
    type Error = Rejected<Tensor<T>>;

    fn try_from(tensor: Tensor<T>) -> Result<Self, Self::Error> {
        let &[rows, cols] = tensor.shape() else {
            let error = format!("rank is {} but a matrix has 2 axes", tensor.rank());
            return Err(Rejected::new(Error::invalid(error), tensor));
        };
        if !tensor.is_contiguous(Order::ColumnMajor) {
            let error = format!(
                "shape {:?} with strides {:?} is not column-major, which a matrix is",
                tensor.shape(),
                tensor.strides()
            );
            return Err(Rejected::new(Error::invalid(error), tensor));
        }
        match tensor.into_held().reclaim_vec() {
            Ok((vec, _)) => Ok(of_columns([rows, cols], vec)),
            Err(held) => {
                let tenure = held.tenure();
                let error = format!("there is no Vec to give back: the memory is {tenure}");
                Err(Rejected::new(Error::invalid(error), Tensor::over(held)))
            }
        }
    }
}
