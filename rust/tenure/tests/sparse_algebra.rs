//! What is computed from sparse matrices, through Rust: the numbers are tested in C++.

use tenure::gallery::{banded, poisson, rmat};
use tenure::{Context, CsrMatrix, CsrView, CsrViewMut, ErrorKind, Result, Tensor, Triangle};

fn dense_of(matrix: CsrView<'_, f64>) -> Vec<f64> {
    let mut dense = vec![0.0; matrix.rows() * matrix.cols()];
    for (row, col, value) in matrix {
        dense[row * matrix.cols() + col] += value;
    }
    dense
}

#[test]
fn a_product_is_that_of_the_dense_matrices() -> Result<()> {
    let a: CsrMatrix<f64> = rmat(6, 4, 1)?;
    let b: CsrMatrix<f64> = poisson([4, 4, 4])?;
    let product = a.view().product(b.view())?;
    assert!(product.view().is_coalesced());
    let (left, right, found) = (dense_of(a.view()), dense_of(b.view()), dense_of(product.view()));
    for row in 0..64 {
        for col in 0..64 {
            let sum: f64 = (0..64).map(|k| left[row * 64 + k] * right[k * 64 + col]).sum();
            assert_eq!(found[row * 64 + col], sum);
        }
    }
    // The transposes, in the other order, as CSC.
    let transposed = b.view().t().product(a.view().t())?;
    assert_eq!(transposed.values(), product.values());
    Ok(())
}

#[test]
fn threads_change_no_bit() -> Result<()> {
    let a: CsrMatrix<f32> = rmat(11, 8, 3)?;
    let alone = a.view().product(a.view())?;
    let shared = Context::builder().threads(3).build()?.install(|| a.view().product(a.view()))?;
    assert_eq!(alone.row_offsets(), shared.row_offsets());
    assert_eq!(alone.col_indices(), shared.col_indices());
    assert_eq!(alone.values(), shared.values());
    Ok(())
}

#[test]
fn what_keeps_the_pattern_shares_it() -> Result<()> {
    let a: CsrMatrix<f64, i64> = poisson([5, 5, 5])?;
    let relu = a.relu()?;
    assert_eq!(relu.col_indices().as_ptr(), a.col_indices().as_ptr());
    assert_eq!(relu.row_offsets().as_ptr(), a.row_offsets().as_ptr());
    assert!(relu.values().iter().zip(a.values()).all(|(new, old)| *new == old.max(0.0)));
    drop(a);
    assert_eq!(relu.view().max()?, 6.0);
    Ok(())
}

#[test]
fn shapes_and_order_are_looked_at() -> Result<()> {
    let a = CsrView::new(1, 2, &[0, 2], &[1, 0], &[1.0, 2.0])?;
    let error = a.product(a).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.message(), "a.cols is 2 but b.rows is 1");
    assert!(a.add(a).err().unwrap().message().contains("coalesce"));
    assert!(a.max().err().unwrap().message().contains("UNIQUE"));
    let halves = [half::f16::ONE; 2];
    let error = CsrView::new(2, 2, &[0, 1, 2], &[0, 1], &halves)?;
    assert_eq!(error.product(error).err().unwrap().kind(), ErrorKind::Unsupported);
    Ok(())
}

#[test]
fn triangles_are_solved_and_named() -> Result<()> {
    let a: CsrMatrix<f64> = banded(40, 3, 1.0, 5)?;
    let mut values = a.values().to_vec();
    for (value, (row, col, _)) in values.iter_mut().zip(a.view()) {
        *value = if row == col { 8.0 } else { *value };
    }
    let a = CsrView::new(40, 40, a.row_offsets(), a.col_indices(), &values)?;
    let b = Tensor::from_vec((0..80).map(f64::from).collect(), [40, 2])?;
    let x = a.solve_triangular(Triangle::Upper, &b)?;
    let dense = dense_of(a);
    for row in 0..40 {
        for col in 0..2 {
            let sum: f64 = (row..40).map(|k| dense[row * 40 + k] * x.view()[[k, col]]).sum();
            assert!((sum - b.view()[[row, col]]).abs() < 1e-9);
        }
    }
    let hole = CsrView::new(2, 2, &[0, 1, 2], &[0, 0], &[1.0, 1.0])?;
    let error = hole.solve_triangular(Triangle::Lower, &[1.0, 1.0]).err().unwrap();
    assert!(error.message().contains("row 1"), "{}", error.message());
    Ok(())
}

#[test]
fn rows_and_columns_are_scaled_in_place() -> Result<()> {
    let mut values = [1.0_f32, 2.0, 3.0];
    let mut matrix = CsrViewMut::new(2, 2, &[0, 2, 3], &[0, 1, 1], &mut values)?;
    matrix.scale_rows(&[10.0, 1.0])?;
    matrix.scale_cols(&[1.0, 2.0])?;
    assert_eq!(matrix.scale_rows(&[1.0]).err().unwrap().kind(), ErrorKind::InvalidArgument);
    assert_eq!(values, [10.0, 40.0, 6.0]);
    Ok(())
}
