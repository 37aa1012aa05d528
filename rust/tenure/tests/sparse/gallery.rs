//! Matrices of `tenure::sparse::gallery`: checks the promises of every function in plain loops.

use tenure::*;

/// Invariants of every test matrix: coalesced, with small exact values.
fn check(matrix: &CsrMatrix<f32>) {
    assert!(matrix.view().is_coalesced());
    assert!(matrix.values().iter().all(|value| *value != 0.0 && (value * 64.0).fract() == 0.0));
    for row in 0..matrix.rows() {
        let (cols, _) = matrix.view().row(row).unwrap();
        assert!(cols.is_sorted_by(|a, b| a < b), "row {row}: {cols:?}");
    }
}

/// All bits of a matrix in one number: FNV-1a.
fn digest(matrix: &CsrMatrix<f32>) -> u64 {
    let offsets = matrix.row_offsets().iter().map(|offset| *offset as u32);
    let indices = matrix.col_indices().iter().map(|index| *index as u32);
    let values = matrix.values().iter().map(|value| value.to_bits());
    offsets.chain(indices).chain(values).fold(0xcbf2_9ce4_8422_2325, |digest, word| {
        (digest ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn message<T: Element, I: SparseIndex>(refused: Result<CsrMatrix<T, I>>) -> String {
    refused.expect_err("it is refused").message().to_owned()
}

fn has(matrix: &CsrMatrix<f32>, row: usize, col: usize) -> bool {
    matrix.view().row(row).unwrap().0.contains(&(col as i32))
}

#[test]
fn a_seed_gives_the_same_matrix_everywhere() -> Result<()> {
    // Digests recorded once, so that later measurements use the same matrices. `uniform` has none:
    // its logarithms depend on the machine.
    type Make = fn(u64) -> Result<CsrMatrix<f32>>;
    let make: [(&str, Make, u64); 4] = [
        ("rmat", |seed| sparse::gallery::rmat(9, 6, seed), 0x50cd_ec3d_770a_00cc),
        ("banded", |seed| sparse::gallery::banded(300, 12, 0.4, seed), 0xec38_79de_d49d_b99f),
        ("arrow", |seed| sparse::gallery::arrow(200, 3, seed), 0x7a96_0777_70d1_cdff),
        ("blocks", |seed| sparse::gallery::blocks(20, 30, [3, 2], 5, seed), 0x8ffb_277f_fbba_e93f),
    ];
    let mut found = Vec::new();
    for (name, make, _) in make {
        let matrix = make(7)?;
        check(&matrix);
        assert_ne!(digest(&matrix), digest(&make(8)?), "{name}");
        found.push(format!("{name} {:#x}", digest(&matrix)));
    }
    assert_eq!(found, make.map(|(name, _, wanted)| format!("{name} {wanted:#x}")));
    Ok(())
}

#[test]
fn graphs_have_few_long_rows_and_many_short() -> Result<()> {
    let graph: CsrMatrix<f32> = sparse::gallery::rmat(12, 8, 3)?;
    check(&graph);
    let mut lengths: Vec<i32> =
        graph.row_offsets().windows(2).map(|ends| ends[1] - ends[0]).collect();
    lengths.sort_unstable();
    assert!(lengths[4095] > 100, "the longest row: {}", lengths[4095]);
    assert!(lengths[2048] <= 3, "the median: {}", lengths[2048]);
    let first: i32 = graph.row_offsets()[2048];
    assert!(first.abs_diff(graph.nnz() as i32 / 2) < graph.nnz() as u32 / 20, "rows are shuffled");
    let one: CsrMatrix<f32> = sparse::gallery::rmat(0, 5, 3)?;
    assert_eq!((one.rows(), one.nnz()), (1, 1));
    let none: CsrMatrix<f32> = sparse::gallery::rmat(3, 0, 3)?;
    assert_eq!((none.rows(), none.nnz()), (8, 0));
    Ok(())
}

#[test]
fn grids_are_symmetric_and_their_rows_end_at_the_border() -> Result<()> {
    for extents in [[3, 4, 5], [1, 6, 7], [1, 1, 9], [2, 1, 3], [0, 3, 3], [3, 3, 0]] {
        let grid: CsrMatrix<f32> = sparse::gallery::poisson(extents)?;
        let points: usize = extents.iter().product();
        assert_eq!((grid.rows(), grid.cols()), (points, points));
        check(&grid);
        for (row, col, value) in grid.view().iter() {
            let distance: usize = place(row, extents)
                .iter()
                .zip(place(col, extents))
                .map(|(a, b)| a.abs_diff(b))
                .sum();
            assert_eq!((distance, *value), if row == col { (0, 6.0) } else { (1, -1.0) });
        }
        // All neighbours, since their number is right and all are neighbours.
        let links: usize = extents.map(|n| points - points / n.max(1)).iter().sum();
        assert_eq!(grid.nnz(), points + 2 * links, "{extents:?}");
    }
    Ok(())
}

fn place(point: usize, [_, height, width]: [usize; 3]) -> [usize; 3] {
    [point / width / height, point / width % height, point % width]
}

#[test]
fn bands_keep_to_the_diagonal() -> Result<()> {
    for (rows, half_width, fill) in [(50, 3, 1.0), (50, 3, 0.5), (50, 0, 0.0), (5, 100, 1.0)] {
        let band: CsrMatrix<f32> = sparse::gallery::banded(rows, half_width, fill, 1)?;
        check(&band);
        for row in 0..rows {
            assert!(has(&band, row, row));
            for col in 0..rows {
                let inside = row.abs_diff(col) <= half_width;
                assert!(inside || !has(&band, row, col));
                assert!(!inside || fill < 1.0 || has(&band, row, col));
            }
        }
    }
    let half: CsrMatrix<f32> = sparse::gallery::banded(1000, 10, 0.5, 1)?;
    assert!((10_500..11_500).contains(&half.nnz()), "{}", half.nnz());
    Ok(())
}

#[test]
fn arrows_point_at_the_first_element() -> Result<()> {
    for (rows, width) in [(0, 0), (1, 1), (9, 0), (9, 2), (9, 9)] {
        let arrow: CsrMatrix<f32> = sparse::gallery::arrow(rows, width, 1)?;
        check(&arrow);
        for (row, col) in (0..rows).flat_map(|row| (0..rows).map(move |col| (row, col))) {
            let wanted = row == col || row < width || col < width;
            assert_eq!(has(&arrow, row, col), wanted, "row {row}, column {col} of {width}");
        }
    }
    Ok(())
}

#[test]
fn blocks_are_dense_and_where_blocks_are() -> Result<()> {
    let matrix: CsrMatrix<f32> = sparse::gallery::blocks(7, 11, [3, 4], 5, 1)?;
    check(&matrix);
    assert_eq!((matrix.rows(), matrix.cols()), (21, 44));
    for row in 0..matrix.rows() {
        let (cols, _) = matrix.view().row(row).unwrap();
        assert_eq!(cols, matrix.view().row(row / 3 * 3).unwrap().0);
        let blocks: Vec<_> = cols.chunks(4).map(|block| block[0] / 4).collect();
        assert_eq!(blocks.len(), 5);
        for (block, first) in cols.chunks(4).zip(blocks) {
            assert!(block.iter().copied().eq(first * 4..first * 4 + 4));
        }
    }
    let all: CsrMatrix<f32> = sparse::gallery::blocks(2, 3, [1, 1], 3, 1)?;
    assert_eq!(all.nnz(), 6);
    Ok(())
}

#[test]
fn uniform_matrices_have_the_density_that_is_asked_for() -> Result<()> {
    for density in [0.0, 1e-300, 0.001, 0.1, 0.5, 0.9, 1.0] {
        let matrix: CsrMatrix<f32> = sparse::gallery::uniform(300, 500, density, 1)?;
        check(&matrix);
        let (wanted, spread) = (150_000.0 * density, 150_000.0 * density * (1.0 - density));
        let off = (matrix.nnz() as f64 - wanted).abs();
        assert!(off <= 5.0 * spread.sqrt(), "{} of {wanted}", matrix.nnz());
        let left = matrix.col_indices().iter().filter(|col| **col < 250).count() as f64;
        assert!((left - wanted / 2.0).abs() <= 5.0 * spread.sqrt(), "{left} on the left");
    }
    for (rows, cols) in [(0, 5), (5, 0), (0, 0), (1, 1)] {
        let matrix: CsrMatrix<f32> = sparse::gallery::uniform(rows, cols, 1.0, 1)?;
        assert_eq!((matrix.rows(), matrix.cols(), matrix.nnz()), (rows, cols, rows * cols));
    }
    Ok(())
}

#[test]
fn every_float_holds_the_same_values() -> Result<()> {
    let wide: CsrMatrix<f64, i64> = sparse::gallery::rmat(7, 5, 2)?;
    let narrow: CsrMatrix<f16> = sparse::gallery::rmat(7, 5, 2)?;
    let brain: CsrMatrix<bf16> = sparse::gallery::rmat(7, 5, 2)?;
    for (place, value) in wide.values().iter().enumerate() {
        assert_eq!(narrow.values()[place].to_f64(), *value);
        assert_eq!(brain.values()[place].to_f64(), *value);
        assert_eq!(i64::from(narrow.col_indices()[place]), wide.col_indices()[place]);
    }
    Ok(())
}

#[test]
fn impossible_parameters_are_refused() {
    let refused: [(Result<CsrMatrix<f32>>, &str); 9] = [
        (sparse::gallery::rmat(32, 1, 1), "scale is 32 but must be at most 31"),
        (sparse::gallery::rmat(31, 1, 1), "2147483648 is more than i32 can count: use i64"),
        (sparse::gallery::rmat(20, 4096, 1), "4294967296 is more than i32 can count: use i64"),
        (
            sparse::gallery::poisson([2048, 2048, 2048]),
            "8589934592 is more than i32 can count: use i64",
        ),
        (sparse::gallery::banded(5, 1, 1.5, 1), "fill is 1.5 but must be from 0 to 1"),
        (sparse::gallery::banded(5, 1, f64::NAN, 1), "fill is NaN but must be from 0 to 1"),
        (sparse::gallery::arrow(5, 6, 1), "width is 6 but must be at most 5: rows"),
        (
            sparse::gallery::blocks(5, 5, [2, 2], 6, 1),
            "blocks_per_row is 6 but must be at most 5: cols",
        ),
        (sparse::gallery::uniform(5, 5, -0.1, 1), "density is -0.1 but must be from 0 to 1"),
    ];
    for (matrix, wanted) in refused {
        assert_eq!(message(matrix), wanted);
    }
    let huge: Result<CsrMatrix<f32, i64>> = sparse::gallery::poisson([1 << 40, 1 << 40, 1]);
    assert_eq!(huge.err().unwrap().kind(), ErrorKind::OutOfMemory);
    let wide: Result<CsrMatrix<f32, i64>> =
        sparse::gallery::blocks(1, usize::MAX / 2, [1, 4], 1, 1);
    assert_eq!(wide.err().unwrap().kind(), ErrorKind::OutOfMemory);
}
