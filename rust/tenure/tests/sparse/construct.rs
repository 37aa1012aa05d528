//! Matrices from triplets and diagonals, single entries, and norms of rows.

use tenure::random::Generator;
use tenure::{
    CooView, CscView, CsrMatrix, CsrView, CsrViewMut, ErrorKind, Result, Tensor, Triplets,
};

/// Triplets of small integers, some at one position, and their sums as a dense matrix.
fn drawn(rows: usize, cols: usize, count: usize, seed: u64) -> (Triplets<f64>, Vec<f64>) {
    let mut random = Generator::new(seed);
    let mut triplets = Triplets::with_capacity(rows, cols, count);
    let mut dense = vec![0.0; rows * cols];
    for _ in 0..count {
        let [row, col] = [rows, cols].map(|extent| random.next_u32() as usize % extent);
        let value = f64::from(random.next_u32() % 9) - 4.0;
        triplets.push(row, col, value);
        dense[row * cols + col] += value;
    }
    (triplets, dense)
}

#[test]
fn triplets_of_one_position_add_up() -> Result<()> {
    for (rows, cols, count) in [(1, 1, 0), (1, 1, 5), (7, 3, 40), (20, 30, 100)] {
        let (triplets, dense) = drawn(rows, cols, count, 1);
        assert_eq!((triplets.len(), triplets.is_empty()), (count, count == 0));
        let csr = triplets.to_csr::<i32>()?;
        assert!(csr.view().is_coalesced());
        assert_eq!(csr.to_dense()?.to_vec(), dense);
        let csc = triplets.to_csc::<i64>()?;
        assert!(csc.view().is_coalesced());
        assert_eq!(csc.to_dense()?.to_vec(), dense);
        assert_eq!(triplets.to_coo::<i32>()?.nnz(), count);
    }
    let mut two = Triplets::new(3, 3);
    two.extend([(0, 1, 1_u8), (2, 2, 5)]);
    assert_eq!(two.to_csr::<i32>()?.values(), [1, 5]);
    two.push(1, 3, 0);
    let error = two.to_csr::<i32>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.message(), "triplet 2 is at (1, 3) but the matrix is 3 by 3");
    let mut far = Triplets::new(1 << 40, 1);
    far.push(1 << 35, 0, 1.0);
    assert!(far.to_coo::<i32>().unwrap_err().message().contains("use i64"));
    assert_eq!(far.to_coo::<i64>()?.row_indices(), [1 << 35]);
    Ok(())
}

#[test]
fn get_finds_what_iteration_does() -> Result<()> {
    let (triplets, dense) = drawn(13, 9, 50, 2);
    let csr = triplets.to_csr::<i32>()?;
    let (csc, coo) = (csr.to_csc()?, csr.to_coo()?);
    // A view of these arrays without known properties.
    let plain = CsrView::new(13, 9, csr.row_offsets(), csr.col_indices(), csr.values())?;
    for row in 0..14 {
        for col in 0..10 {
            let entry = csr.view().iter().find(|entry| (entry.0, entry.1) == (row, col));
            let value = entry.map(|entry| entry.2);
            assert_eq!(csr.view().get(row, col), value);
            assert_eq!(plain.get(row, col), value);
            assert_eq!(csc.view().get(row, col), value);
            assert_eq!(coo.view().get(row, col), value);
            if let Some(value) = value {
                assert_eq!(*value, dense[row * 9 + col]);
            }
        }
    }
    let twice = CooView::new(1, 1, &[0, 0], &[0, 0], &[1, 2])?;
    assert_eq!(twice.get(0, 0), Some(&1));
    let part = CscView::new(2, 2, &[0, 1, 2], &[1, 0], &[1, 2])?.col_range(1..)?;
    assert_eq!((part.get(0, 0), part.get(1, 0), part.get(0, 1)), (Some(&2), None, None));
    Ok(())
}

#[test]
fn diagonals_are_where_their_numbers_say() -> Result<()> {
    for (rows, cols) in [(4, 4), (3, 6), (6, 3), (1, 5)] {
        let mut dense = vec![0.0; rows * cols];
        let mut diagonals = Vec::new();
        for number in [2_isize, -1, 0] {
            let places: Vec<_> = (0..rows)
                .filter_map(|row| Some((row, row.checked_add_signed(number)?)))
                .filter(|(_, col)| *col < cols)
                .collect();
            if places.is_empty() {
                continue;
            }
            let elements: Vec<_> = (1..=places.len()).map(|i| i as f64 + 0.5).collect();
            for (&(row, col), element) in places.iter().zip(&elements) {
                dense[row * cols + col] = *element;
            }
            diagonals.push((number, elements));
        }
        let given: Vec<_> = diagonals.iter().map(|(number, all)| (*number, &all[..])).collect();
        let matrix = CsrMatrix::<f64, i64>::from_diagonals(rows, cols, &given)?;
        assert!(matrix.view().is_coalesced());
        assert_eq!(matrix.to_dense()?.to_vec(), dense);
    }
    assert_eq!(CsrMatrix::<i8>::eye(0)?.nnz(), 0);
    assert_eq!(CsrMatrix::<f32>::eye(3)?.to_dense()?, Tensor::eye(3)?);
    let refused = |diagonals: &[(isize, &[f64])], words: &str| {
        let error = CsrMatrix::<f64>::from_diagonals(2, 3, diagonals).unwrap_err();
        assert!(error.message().contains(words), "{error}");
    };
    refused(&[(0, &[1.0; 3])], "diagonal 0 has 2 elements but 3 are given");
    refused(&[(3, &[])], "diagonal 3 is none of a matrix of 2 by 3");
    refused(&[(-2, &[])], "diagonal -2 is none");
    refused(&[(isize::MIN, &[])], "is none");
    refused(&[(1, &[1.0; 2]), (1, &[1.0; 2])], "diagonal 1 is given twice");
    Ok(())
}

#[test]
fn norms_of_rows_are_those_of_their_elements() -> Result<()> {
    let (triplets, dense) = drawn(11, 6, 30, 3);
    let csr = triplets.to_csr::<i32>()?;
    for p in [1.0, 2.0, 3.0, 0.5, f64::INFINITY] {
        let expected: Vec<f64> = dense
            .chunks(6)
            .map(|row| match p {
                f64::INFINITY => row.iter().fold(0.0, |most, x| x.abs().max(most)),
                _ => row.iter().map(|x| x.abs().powf(p)).sum::<f64>().powf(1.0 / p),
            })
            .collect();
        for norms in [csr.view().row_norms(p)?, csr.to_csc()?.view().row_norms(p)?] {
            for (norm, expected) in norms.iter().zip(&expected) {
                assert!((norm - expected).abs() <= 1e-12 * expected, "{p}: {norm}, {expected}");
            }
        }
        let mut matrix = csr.try_clone()?;
        matrix.view_mut().normalize_rows(p)?;
        for norm in matrix.view().row_norms(p)?.iter() {
            assert!(*norm == 0.0 || (norm - 1.0).abs() < 1e-12, "{p}: {norm}");
        }
    }
    // At the ends of the range.
    for far in [1e200_f64, 1e-200, 1e300, 1e-310] {
        let values = vec![3.0 * far, -4.0 * far, 0.0, 0.0];
        let matrix = CsrMatrix::from_vecs(3, 3, vec![0, 2, 3, 4], vec![0, 2, 1, 1], values)?;
        let mut matrix = matrix.check_coalesced()?;
        assert!((matrix.view().row_norms(2.0)?[[0]] / far - 5.0).abs() < 1e-6, "{far}");
        assert!((matrix.view().row_norms(40.0)?[[0]] / far - 4.0).abs() < 1e-3, "{far}");
        matrix.view_mut().normalize_rows(2.0)?;
        let values = matrix.values();
        assert!((values[0] - 0.6_f64).abs() < 1e-6 && (values[1] + 0.8).abs() < 1e-6, "{values:?}");
    }
    let mut values = [1.0, f64::NAN, 2.0];
    let mut matrix = CsrViewMut::new(1, 3, &[0, 3], &[0, 1, 2], &mut values)?;
    let error = matrix.normalize_rows(2.0).unwrap_err();
    assert!(error.message().contains("coalesced"), "{error}");
    let known = matrix.view().check_coalesced()?;
    for p in [1.0, 2.0, f64::INFINITY] {
        assert!(known.row_norms(p)?.iter().all(|norm| norm.is_nan()));
    }
    for p in [0.0, -1.0, f64::NAN] {
        assert_eq!(known.row_norms(p).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    Ok(())
}
