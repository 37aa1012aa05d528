//! Constructors of Rust on arrays with some wrong numbers: views, views for writing, matrices that
//! are held, and batches. Accepted arrays are used; refused ones come back.

use tenure::*;

use super::{Random, fuzz};

fn index<I: SparseIndex + TryFrom<i64>>(number: i64) -> I {
    I::try_from(number).unwrap_or_default()
}

/// An extent that is mostly as it should be.
fn extent(plain: usize, random: &mut Random) -> usize {
    match random.below(8) {
        0 => random.number() as usize,
        _ => plain,
    }
}

/// Writes a number somewhere, or makes an array longer or shorter.
fn spoil<N>(array: &mut Vec<N>, wrong: N, random: &mut Random) {
    match random.below(4) {
        0 => array.push(wrong),
        1 => drop(array.pop()),
        _ if array.is_empty() => {}
        _ => {
            let at = random.below(array.len());
            array[at] = wrong;
        }
    }
}

/// Offsets, indices and sizes: valid, except for some numbers.
pub fn arrays<I: SparseIndex + TryFrom<i64>>(
    random: &mut Random,
) -> (usize, usize, Vec<I>, Vec<I>) {
    // Mostly few; of more, vectors and chunks are full.
    let (most, longest) = if random.below(16) == 0 { (60, 70) } else { (7, 4) };
    let (rows, cols) = (random.below(most), 1 + random.below(7));
    let mut offsets: Vec<I> = vec![index(0)];
    let mut count = 0;
    for _ in 0..rows {
        count += random.below(longest);
        offsets.push(index(count as i64));
    }
    let mut indices: Vec<I> = (0..count).map(|_| index(random.below(cols) as i64)).collect();
    for _ in 0..random.below(3) {
        let array = if random.below(2) == 0 { &mut offsets } else { &mut indices };
        spoil(array, index(random.number()), random);
    }
    (extent(rows, random), extent(cols, random), offsets, indices)
}

fn within((row, col): (usize, usize), size: (usize, usize)) {
    assert!(row < size.0 && col < size.1);
}

/// Each format on one set of arrays.
fn construct<I: SparseIndex + TryFrom<i64>>(random: &mut Random) {
    let (rows, cols, offsets, indices) = arrays::<I>(random);
    let mut values: Vec<f32> = (0..indices.len()).map(|value| value as f32).collect();
    if let Ok(csr) = CsrView::new(rows, cols, &offsets, &indices, &values) {
        csr.iter().for_each(|(row, col, _)| within((row, col), (rows, cols)));
        let _ = csr.check_coalesced();
        let parts =
            CsrMatrix::from_vecs(rows, cols, offsets.clone(), indices.clone(), values.clone());
        match parts {
            Ok(matrix) => assert_eq!(matrix.nnz(), values.len()),
            // Lent offsets may leave entries out; held ones may not.
            Err(rejected) => assert_eq!(rejected.into_data().1, indices),
        }
    }
    if let Ok(mut csr) = CsrViewMut::new(rows, cols, &offsets, &indices, &mut values) {
        csr.softmax_rows().unwrap();
        csr.view().iter().for_each(|(_, _, value)| assert!((0.0..=1.0).contains(value)));
    }
    if let Ok(csc) = CscView::new(rows, cols, &offsets, &indices, &values) {
        csc.iter().for_each(|(row, col, _)| within((row, col), (rows, cols)));
        let held =
            CscMatrix::from_vecs(rows, cols, offsets.clone(), indices.clone(), values.clone());
        assert!(held.is_ok() || csc.nnz() < values.len());
    }
    let rows_of_entries = &offsets[..offsets.len().min(indices.len())];
    if let Ok(coo) = CooView::new(rows, cols, rows_of_entries, &indices, &values) {
        coo.iter().for_each(|(row, col, _)| within((row, col), (rows, cols)));
        let _ = coo.check_coalesced();
        let major = rows_of_entries.to_vec();
        CooMatrix::from_vecs(rows, cols, major, indices.clone(), values.clone()).unwrap();
    }
    let block = [1 + random.below(3), 1 + random.below(18)];
    let elements = vec![1_u8; indices.len().saturating_mul(block[0] * block[1])];
    let (rows, cols) = (rows.wrapping_mul(block[0]), cols.wrapping_mul(block[1]));
    if let Ok(bsr) = BsrView::new(rows, cols, block, &offsets, &indices, &elements) {
        bsr.iter().for_each(|(row, col, _)| {
            within((row * block[0], col * block[1]), (rows, cols));
        });
        let whole = bsr.nnz() == elements.len();
        let held = BsrMatrix::from_vecs(rows, cols, block, offsets, indices, elements);
        assert!(held.is_ok() || !whole);
    }
}

#[test]
fn constructors() {
    fuzz(6_000, |random| {
        construct::<i32>(random);
        construct::<i64>(random);
    });
}

/// A batch in compressed rows, or by coordinates, lent to read and to write, and held.
fn construct_batches<I: SparseIndex + TryFrom<i64>>(random: &mut Random) {
    let (count, rows, cols) = (random.below(5), random.below(4), 1 + random.below(5));
    let is_coo = random.below(2) == 0;
    let (mut begins, mut major, mut minor) = (vec![0_i64], Vec::<I>::new(), Vec::<I>::new());
    for _ in 0..count {
        let mut entries = 0;
        let mut offsets: Vec<I> = vec![index(0)];
        for row in 0..rows {
            let of_row = random.below(4);
            entries += of_row;
            offsets.push(index(entries as i64));
            if is_coo {
                major.extend(vec![index::<I>(row as i64); of_row]);
            }
        }
        if !is_coo {
            major.extend(offsets);
        }
        minor.extend((0..entries).map(|_| index::<I>(random.below(cols) as i64)));
        begins.push(minor.len() as i64);
    }
    for _ in 0..random.below(3) {
        let wrong = random.number();
        match random.below(3) {
            0 => spoil(&mut begins, wrong, random),
            1 => spoil(&mut major, index(wrong), random),
            _ => spoil(&mut minor, index(wrong), random),
        }
    }
    let (rows, cols) = (extent(rows, random), extent(cols, random));
    let mut values = vec![1.0_f32; minor.len()];
    if is_coo {
        if let Ok(batch) = CooBatchView::new(rows, cols, &begins, &major, &minor, &values) {
            let entries = batch.iter().flat_map(|matrix| matrix.iter());
            entries.for_each(|(row, col, _)| within((row, col), (rows, cols)));
        }
        return;
    }
    let lent = CsrBatchView::new(rows, cols, &begins, &major, &minor, &values);
    let taken = lent.as_ref().is_ok_and(|batch| {
        let entries = batch.iter().flat_map(|matrix| matrix.iter());
        entries.for_each(|(row, col, _)| within((row, col), (rows, cols)));
        let _ = batch.check_coalesced();
        true
    });
    let mut written = 0;
    match CsrBatchViewMut::new(rows, cols, &begins, &major, &minor, &mut values) {
        Ok(mut batch) => {
            assert!(taken);
            for mut matrix in batch.iter_mut() {
                written += matrix.values_mut().len();
                matrix.values_mut().iter_mut().for_each(|value| *value += 1.0);
            }
        }
        Err(_) => assert!(!taken),
    }
    // Each value once.
    assert!(values.iter().all(|value| *value <= 2.0));
    assert_eq!(values.iter().filter(|value| **value == 2.0).count(), written);
    fn shared<E: Element>(vec: Vec<E>) -> SharedTensor<E> {
        let len = vec.len();
        Tensor::from_vec(vec, len).unwrap().into_shared()
    }
    let len = values.len();
    let values = Tensor::from_vec(values, len).unwrap();
    let parts = (shared(begins), shared(major), shared(minor), values);
    match CsrBatch::from_parts(rows, cols, parts.0, parts.1, parts.2, parts.3) {
        Ok(batch) => assert!(taken && batch.view().nnz() == len),
        Err(rejected) => assert_eq!(rejected.into_data().3.len(), len),
    }
}

#[test]
fn constructors_of_batches() {
    fuzz(4_000, |random| {
        construct_batches::<i32>(random);
        construct_batches::<i64>(random);
    });
}
