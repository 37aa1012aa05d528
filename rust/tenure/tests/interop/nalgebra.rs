//! Matrices of the crate `nalgebra`: the same elements at the same addresses.
#![cfg(feature = "nalgebra")]

use nalgebra::{
    DMatrix, DMatrixView, DMatrixViewMut, DVector, DVectorView, Matrix3, MatrixView, U2, U3,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tenure::{Complex, ErrorKind, Order, Tensor, TensorView, TensorViewMut};

fn message<T>(result: Result<T, impl Into<tenure::Error>>) -> String {
    let error = result.err().expect("a refusal").into();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    error.message().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 })
    })]

    #[test]
    fn matrices_of_any_strides_are_lent(
        shape in [0_usize..5, 0_usize..5],
        steps in [0_usize..3, 0_usize..3],
    ) {
        let matrix = DMatrix::from_fn(12, 12, |row, col| (row * 12 + col) as i32);
        let part = matrix.view_with_steps((0, 0), (shape[0], shape[1]), (steps[0], steps[1]));
        let view = TensorView::try_from(&part).unwrap();
        prop_assert_eq!(view.shape(), shape);
        for (row, col) in (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |col| (row, col))) {
            prop_assert_eq!(view[[row, col]], part[(row, col)]);
        }
    }

    #[test]
    fn views_of_adjacent_rows_become_matrices(
        rows in [0_usize..6, 0_usize..6],
        cols in [0_usize..6, 0_usize..6],
        step in 1_isize..4,
    ) {
        let tensor = Tensor::from_iter(0..36).into_vec().ok().unwrap();
        let mut tensor = Tensor::from_vec_in(tensor, [6, 6], Order::ColumnMajor).unwrap();
        let (rows, cols) = (rows[0].min(rows[1])..6, cols[0].min(cols[1])..6);
        let view = tensor.slice(0, rows.clone()).unwrap();
        let view = view.slice_step(1, cols.clone(), step).unwrap();
        let matrix = DMatrixView::try_from(view).unwrap();
        prop_assert_eq!([matrix.nrows(), matrix.ncols()], view.shape());
        // Column by column, as the iterators of nalgebra walk.
        prop_assert!(matrix.iter().eq(view.t().iter()));
        prop_assert!(matrix.iter().rev().eq(view.t().iter().rev()));
        let sum: i32 = view.iter().sum();
        let mut exclusive =
            tensor.view_mut().slice(0, rows).unwrap().slice_step(1, cols, step).unwrap();
        DMatrixViewMut::try_from(exclusive.view_mut()).unwrap().add_scalar_mut(1);
        let count = exclusive.len() as i32;
        prop_assert_eq!(exclusive.view().iter().sum::<i32>(), sum + count);
        prop_assert_eq!(tensor.iter().sum::<i32>(), 35 * 36 / 2 + count);
    }
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn matrices_are_operands_and_outputs() {
    let matrix = DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(tenure::ops::sum(&matrix, 0).unwrap(), [5.0, 7.0, 9.0]);
    let mut out = DMatrix::zeros(2, 3);
    tenure::ops::mul_into(&matrix, 2.0, &mut out).unwrap();
    assert_eq!(out, &matrix * 2.0);
    let product = tenure::linalg::matmul(&matrix, DVector::from_element(3, 1.0)).unwrap();
    assert_eq!(product, [[6.0], [15.0]]);
    assert_eq!(tenure::ops::max(Matrix3::<f32>::identity(), 0).unwrap(), [1.0; 3]);
    assert_eq!(tenure::ops::sum(matrix.column(1), ..).unwrap().item(), Some(7.0));
    let part = matrix.columns(1, 2); // of which the type does not say that it has no gaps
    assert_eq!(tenure::ops::sum(TensorView::try_from(&part).unwrap(), 1).unwrap(), [5.0, 11.0]);
}

#[test]
fn matrices_go_to_and_fro_without_a_copy() {
    let mut matrix = DMatrix::from_element(3, 2, Complex::new(1.0_f32, -1.0));
    let address = matrix.as_ptr();
    let view = TensorView::try_from(&matrix).unwrap();
    assert_eq!((view.as_ptr(), DMatrixView::try_from(view).unwrap().as_ptr()), (address, address));
    let mut view = TensorViewMut::try_from(&mut matrix).unwrap();
    view[[2, 1]] = Complex::new(7.0, 0.0);
    assert_eq!(matrix[(2, 1)].re, 7.0);

    let tensor = Tensor::try_from(matrix).unwrap();
    assert_eq!((tensor.as_ptr(), tensor.strides()), (address, &[1, 3][..]));
    assert_eq!(DMatrix::try_from(tensor).unwrap().as_ptr(), address);
}

#[test]
fn fixed_and_no_extents_are_taken() {
    let tensor = Tensor::from([[1, 2], [3, 4], [5, 6]]);
    let fixed = MatrixView::<i32, U2, U3, _, _>::try_from(tensor.t()).unwrap();
    assert_eq!(fixed.column(2).sum(), 11);
    assert_eq!(
        message(MatrixView::<i32, U3, U3, _, _>::try_from(tensor.t())),
        "the number of rows is 2 but the matrix has 3"
    );
    for shape in [[0, 3], [3, 0], [0, 0]] {
        let none = Tensor::<f64>::zeros(shape).unwrap();
        let matrix = DMatrixView::try_from(none.view()).unwrap();
        assert_eq!((matrix.nrows(), matrix.ncols()), (shape[0], shape[1]));
        assert_eq!(matrix.iter().count(), 0);
    }
}

#[test]
fn vectors_are_columns() {
    let vector = DVector::from_vec(vec![1.0, 2.0, 3.0]);
    assert_eq!(TensorView::try_from(&vector).unwrap(), [[1.0], [2.0], [3.0]]);
    assert_eq!(TensorView::try_from(&vector.transpose()).unwrap(), [[1.0, 2.0, 3.0]]);
    let data = [1.0, 2.0, 3.0];
    assert_eq!(DVectorView::try_from(TensorView::from(&data[..])).unwrap(), vector);
}

#[test]
fn what_nalgebra_would_walk_out_of_is_refused() {
    let tensor = Tensor::from([[1, 2], [3, 4]]);
    assert_eq!(
        message(DMatrixView::try_from(tensor.view())),
        "the stride of rows is 2 but must be 1, as in column-major order: lend the transpose of a \
         row-major view"
    );
    let backwards = tensor.flip(0).unwrap().t();
    assert_eq!(
        message(DMatrixView::try_from(backwards)),
        "the stride of columns is -2 but must be 1 or more"
    );
    let repeated = TensorView::from_ref(&1).broadcast([2, 3]).unwrap();
    assert!(message(DMatrixView::try_from(repeated)).starts_with("the stride of rows is 0"));
    assert_eq!(
        message(DMatrixView::try_from(repeated.unsqueeze(0).unwrap())),
        "rank is 3 but a matrix has 2 axes, and a vector 1"
    );
    let allocated = Tensor::<f64>::zeros_in([2, 2], Order::ColumnMajor).unwrap();
    assert_eq!(
        message(DMatrix::try_from(allocated)),
        "there is no Vec to give back: the memory is allocated"
    );
    assert_eq!(message(DMatrix::try_from(Tensor::from([1]))), "rank is 1 but a matrix has 2 axes");
}
