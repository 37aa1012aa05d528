//! Sparse times dense, and dense times dense at a pattern, compared with a loop over the entries.
#![cfg(not(miri))] // calls the core

use tenure::*;

fn expected(matrix: CsrView<'_, f64>, b: &[f64], columns: usize) -> Vec<f64> {
    let mut out = vec![0.0; matrix.rows() * columns];
    for (row, col, value) in matrix {
        for j in 0..columns {
            out[row * columns + j] += value * b[col * columns + j];
        }
    }
    out
}

/// Whole numbers, whose sums are exact in any order.
fn numbers(len: usize) -> Vec<f64> {
    (0..len).map(|i| (i * 7919 % 23) as f64 - 11.0).collect()
}

fn example() -> (Vec<i32>, Vec<i32>, Vec<f64>) {
    let mut offsets = vec![0];
    let mut indices = Vec::new();
    for row in 0..50 {
        indices.extend((0..row).map(|i| (i * 3 + row) % 60));
        offsets.push(indices.len() as i32);
    }
    let values = numbers(indices.len());
    (offsets, indices, values)
}

#[test]
fn vectors_and_matrices() -> Result<()> {
    let (offsets, indices, values) = example();
    let a = CsrView::new(50, 60, &offsets, &indices, &values)?;
    for columns in [1, 3, 20] {
        let b = numbers(60 * columns);
        let dense = TensorView::from_slice(&b, [60, columns])?;
        let wanted = expected(a, &b, columns);
        let product = a.matmul(&dense)?;
        assert_eq!(product.shape(), [50, columns]);
        assert_eq!(product.to_vec(), wanted);
        // The transpose of the transpose, by columns.
        let mut out = Tensor::full([columns, 50], f64::NAN)?;
        a.t().t_matmul_into(&dense, &mut out.view_mut().t())?;
        assert_eq!(out.view().t().to_vec(), wanted);
    }
    let x = numbers(60);
    assert_eq!(a.matmul(&x)?.to_vec(), expected(a, &x, 1));
    Ok(())
}

#[test]
fn wrong_shapes_are_refused() -> Result<()> {
    let (offsets, indices, values) = example();
    let a = CsrView::new(50, 60, &offsets, &indices, &values)?;
    let error = a.matmul(&[1.0; 59]).err().unwrap();
    assert_eq!(error.message(), "b.shape[0] is 59 but must be 60, the columns of a");
    let error = a.matmul(&1.0).err().unwrap();
    assert_eq!(error.message(), "b.rank is 0 but must be 1 or 2");
    let mut short = [0.0; 49];
    let error = a.matmul_into(&[1.0; 60], &mut short).err().unwrap();
    assert_eq!(error.message(), "out.shape[0] is 49 but must be 50, the rows of a");
    Ok(())
}

#[test]
fn samples_of_a_dense_product() -> Result<()> {
    let (offsets, indices, values) = example();
    let a = CsrView::new(50, 60, &offsets, &indices, &values)?;
    let (x, y) = (numbers(50 * 7), numbers(7 * 60));
    let x = TensorView::from_slice(&x, [50, 7])?;
    let y = TensorView::from_slice(&y, [7, 60])?;
    let dot = |row: usize, col: usize| (0..7).map(|i| x[[row, i]] * y[[i, col]]).sum::<f64>();
    let wanted: Vec<f64> = a.iter().map(|(row, col, _)| dot(row, col)).collect();
    assert_eq!(a.sddmm(&x, &y)?.to_vec(), wanted);
    let wanted: Vec<f64> = a.iter().map(|(row, col, value)| value * dot(row, col)).collect();
    assert_eq!(a.t().sddmm_times_values(&y.t(), &x.t())?.to_vec(), wanted);
    assert_eq!(
        a.sddmm(&y, &x).err().unwrap().message(),
        "x.shape[0] is 7 but must be 50, the rows of a"
    );
    Ok(())
}
