//! Algebra of sparse matrices through Rust: the numbers are tested in C++.

use std::collections::HashSet;

use tenure::sparse::gallery::{banded, poisson, rmat};
use tenure::{
    BsrMatrix, Combine, Context, CooMatrix, CsrMatrix, CsrView, CsrViewMut, ErrorKind, Result,
    Tensor, Triangle,
    sparse::{block_diag, hstack, kron, vstack},
};

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
fn a_masked_product_is_a_part_of_the_product() -> Result<()> {
    let a: CsrMatrix<f64> = rmat(8, 6, 1)?;
    let mask: CsrMatrix<f32> = rmat(8, 3, 2)?;
    let (whole, mask) = (a.view().product(a.view())?, mask.view().coalesce(Combine::Sum)?);
    let masked = a.view().product_masked(a.view(), mask.view())?;
    let wanted: HashSet<_> = mask.view().iter().map(|(row, col, _)| (row, col)).collect();
    let expected: Vec<_> =
        whole.view().iter().filter(|(row, col, _)| wanted.contains(&(*row, *col))).collect();
    assert!(expected.len() > 20);
    assert_eq!(masked.view().iter().collect::<Vec<_>>(), expected);
    assert!(masked.view().is_coalesced());
    let transposed = a.view().t().product_masked(a.view().t(), mask.view().t())?;
    assert_eq!(transposed.values(), masked.values());
    let error = a.view().product_masked(a.view(), mask.view().row_range(1..)?).err().unwrap();
    assert_eq!(error.message(), "mask.rows is 255 but a.rows is 256");
    Ok(())
}

#[test]
fn selections_are_copies_of_what_is_listed() -> Result<()> {
    let a: CsrMatrix<f64> = rmat(7, 5, 4)?;
    let dense = a.view().to_dense()?;
    let (rows, cols) = ([5_i32, 0, 127, 5], [3_i32, 3, 90, 1]);
    let some = a.view().select_rows(&rows)?.view().select_cols(&cols)?;
    assert_eq!((some.rows(), some.cols()), (4, 4));
    let some = some.to_dense()?;
    let block = a.view().to_block(3..=20, 100..)?.to_dense()?;
    let columns = a.view().t().select_rows(&cols)?.to_dense()?;
    for (i, row) in rows.into_iter().enumerate() {
        for (j, col) in cols.into_iter().enumerate() {
            let element = dense.view()[[row as usize, col as usize]];
            assert_eq!(some.view()[[i, j]], element);
            assert_eq!(columns.view()[[j, row as usize]], element);
        }
    }
    assert_eq!(block.shape(), [18, 28]);
    assert_eq!(block.view()[[2, 1]], dense.view()[[5, 101]]);
    let error = a.view().select_cols(&[0, 128]).err().unwrap();
    assert!(error.message().starts_with("cols[1] is 128"), "{}", error.message());
    let error = a.view().to_block(.., 100..129).err().unwrap();
    assert_eq!(error.message(), "range is 100..129 but must lie in 0..128");
    Ok(())
}

#[test]
fn joined_matrices_are_taken_apart_again() -> Result<()> {
    let a: CsrMatrix<f64> = rmat(7, 5, 4)?;
    let b: CsrMatrix<f64> = rmat(7, 3, 5)?;
    let below = vstack([&a, &b])?;
    assert_eq!((below.rows(), below.cols()), (256, 128));
    assert_eq!(below.to_block(..128, ..)?.values(), a.values());
    assert_eq!(below.to_block(128.., ..)?.col_indices(), b.col_indices());
    let beside = hstack([a.view(), b.view()])?;
    assert_eq!(beside.to_block(.., 128..)?.row_offsets(), b.row_offsets());
    let along = block_diag(&[a.try_clone()?, b.try_clone()?])?;
    assert_eq!(along.to_block(128.., 128..)?.values(), b.values());
    assert_eq!(along.to_block(128.., ..128)?.values(), []);
    let columns = hstack([a.view().t(), b.view().t()])?;
    assert_eq!(columns.values(), below.values());
    let coordinates = vstack([&a.to_coo()?, &b.to_coo()?])?;
    assert_eq!(coordinates.to_csr()?.row_offsets(), below.row_offsets());
    let error = vstack([a.view(), CsrView::new(1, 2, &[0, 0], &[], &[])?]).err().unwrap();
    assert_eq!(error.message(), "parts[1].cols is 2 but parts[0].cols is 128");
    assert_eq!(
        hstack(Vec::<tenure::CsrView<f64>>::new()).err().unwrap().message(),
        "there are no parts"
    );
    Ok(())
}

#[test]
fn a_kronecker_product_has_a_block_for_each_entry() -> Result<()> {
    let a = CsrView::new(2, 2, &[0, 1, 3], &[1, 0, 1], &[2.0, 3.0, 5.0])?; // [0 2; 3 5]
    let b: CsrMatrix<f64> = rmat(5, 3, 6)?;
    let product = kron(a, &b)?;
    for (row, col, value) in a.iter() {
        let block = product.to_block(32 * row..32 * row + 32, 32 * col..32 * col + 32)?;
        assert_eq!(block.col_indices(), b.col_indices());
        assert!(block.values().iter().zip(b.values()).all(|(found, b)| *found == value * b));
    }
    let error = kron(a, CsrView::new(1, 1 << 30, &[0, 0], &[], &[])?).err();
    assert!(error.is_none(), "2^31 columns have numbers up to the greatest i32");
    let error = kron(a, CsrView::new(0, (1 << 30) + 1, &[0], &[], &[])?).err().unwrap();
    assert!(error.message().starts_with("cols of the result reach 2147483649"), "{error}");
    Ok(())
}

#[test]
fn triangles_are_the_matrix() -> Result<()> {
    let a: CsrMatrix<f64> = rmat(7, 5, 4)?;
    for diagonal in [isize::MIN, -128, -3, 0, 7, 127, isize::MAX - 1] {
        let (lower, upper) = (a.tril(diagonal)?, a.triu(diagonal + 1)?);
        let kept = |row: usize, col: usize| col as isize - row as isize <= diagonal;
        let expected: Vec<_> = a.iter().filter(|(row, col, _)| kept(*row, *col)).collect();
        assert_eq!(lower.iter().collect::<Vec<_>>(), expected);
        assert_eq!(lower.values().len() + upper.values().len(), a.values().len());
        let columns = a.view().t().triu(diagonal.saturating_neg())?;
        assert_eq!(columns.values(), lower.values());
    }
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
fn results_of_the_same_pattern_share_it() -> Result<()> {
    let a: CsrMatrix<f64, i64> = poisson([5, 5, 5])?;
    let relu = a.relu()?;
    assert_eq!(relu.col_indices().as_ptr(), a.col_indices().as_ptr());
    assert_eq!(relu.row_offsets().as_ptr(), a.row_offsets().as_ptr());
    assert!(relu.values().iter().zip(a.values()).all(|(new, old)| *new == old.max(0.0)));
    drop(a);
    assert_eq!(relu.view().max()?, 6.0);
    let coo = CooMatrix::from_vecs(2, 3, vec![1, 0], vec![2, 0], vec![4.0_f32, 9.0])?;
    let roots = coo.sqrt()?;
    assert_eq!(roots.row_indices().as_ptr(), coo.row_indices().as_ptr());
    assert_eq!(
        (roots.col_indices().as_ptr(), roots.values()),
        (coo.col_indices().as_ptr(), &[2.0, 3.0][..])
    );
    let bsr = BsrMatrix::from_vecs(2, 4, [2, 2], vec![0, 1], vec![1], vec![1, -2, 3, -4])?;
    let tripled = bsr.mul_scalar(3)?;
    assert_eq!((tripled.view().block(), tripled.values()), ([2, 2], &[3, -6, 9, -12][..]));
    assert_eq!(tripled.col_indices().as_ptr(), bsr.col_indices().as_ptr());
    Ok(())
}

#[test]
fn shapes_and_order_are_looked_at() -> Result<()> {
    let a = CsrView::new(1, 2, &[0, 2], &[1, 0], &[1.0, 2.0])?;
    let error = a.product(a).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.message(), "a.cols is 2 but b.rows is 1");
    // Flags as C has them: not the one by which Rust says that it has checked the indices.
    assert_eq!(
        a.add(a).err().unwrap().message(),
        "a.flags is 0x0 but must have SORTED and UNIQUE, because rows are merged: coalesce it"
    );
    assert_eq!(
        a.max().err().unwrap().message(),
        "a.flags is 0x0 but must have UNIQUE, because entries of one position count together: \
         coalesce it"
    );
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

#[test]
fn owners_read_as_their_views_do_and_are_operands() -> Result<()> {
    let coo = CooMatrix::from_vecs(2, 2, vec![1, 0, 1], vec![0, 0, 0], vec![1.0, 2.0, 3.0])?;
    let csr = coo.coalesce(Combine::Sum)?.to_csr()?;
    assert_eq!(csr.to_dense()?, [[2.0, 0.0], [4.0, 0.0]]);
    let view = csr.view();
    assert_eq!(csr.product(&csr)?.values(), view.product(view)?.values());
    assert_eq!(csr.product(view)?.values(), view.product(&csr)?.values());
    assert_eq!(csr.matmul(&[1.0, 1.0])?, [2.0, 4.0]);
    assert_eq!(csr.t_matmul(&[1.0, 1.0])?, [6.0, 0.0]);
    let known = csr.to_csr()?.check_coalesced()?;
    let sum = view.check_coalesced()?.add(&known)?;
    assert_eq!(sum.values(), [4.0, 8.0]);
    assert_eq!(csr.to_block(1.., ..)?.values(), csr.select_rows(&[1])?.values());
    Ok(())
}
