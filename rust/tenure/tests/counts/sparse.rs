//! Sparse matrices: extents, blocks, indices, counts of the kept entries; and every method on
//! matrices of any extent with hardly an entry.

use tenure::{
    BsrBatch, BsrBatchView, BsrBatchViewMut, BsrMatrix, BsrView, BsrViewMut, Combine, CooBatchView,
    CooMatrix, CooView, CooViewMut, CscBatch, CscBatchView, CscMatrix, CscView, CscViewMut,
    CsrBatchView, CsrBatchViewMut, CsrMatrix, CsrView, CsrViewMut, Ilu0, Jacobi, Krylov, Lsqr,
    SharedTensor, SparseIndex, Tensor, TensorView, Triangle, Triplets,
    io::matrix_market,
    linalg::{bicgstab, cg, lsqr},
    sparse::{block_diag, gallery, hstack, kron, sparsify, vstack},
};

use super::{Row, answered, done, each, shapes};

/// Extents with a count in each place.
fn extents(n: usize) -> [[usize; 2]; 6] {
    [[n, 1], [1, n], [n, n], [n, 0], [0, n], [2, n]]
}

fn small() -> CsrView<'static, f32> {
    CsrView::new(2, 3, &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0]).unwrap()
}

/// Coordinates of a matrix of any extents.
fn coos(n: usize, call: impl Fn(CooView<'_, f32, i64>)) {
    for [rows, cols] in extents(n) {
        CooView::new(rows, cols, &[], &[], &[]).into_iter().for_each(&call);
        let last = [0, rows.min(1 << 62) as i64 - 1];
        CooView::new(rows, cols, &last, &[0, 0], &[1.0, 2.0]).into_iter().for_each(&call);
    }
}

/// Compressed rows of any number of columns.
fn csrs(n: usize, call: impl Fn(CsrView<'_, f32, i64>)) {
    for (rows, offsets) in [(0, &[0][..]), (1, &[0, 0]), (2, &[0, 0, 1])] {
        let entries = rows / 2;
        let (columns, values) = (&[0][..entries], &[1.0][..entries]);
        let matrix = CsrView::new(rows, n, offsets, columns, values);
        matrix.and_then(CsrView::check_coalesced).into_iter().for_each(&call);
    }
}

fn blocks(n: usize) -> [[usize; 2]; 4] {
    [[n, 1], [1, n], [n, n], [2, 2]]
}

fn conversions<I: SparseIndex>(n: usize, a: CsrView<'_, f32, I>) {
    done(a.to_coo());
    done(a.to_csc());
    done(a.to_sorted());
    done(a.to_index::<i32>());
    done(a.coalesce(Combine::Sum));
    done(a.prune(0.0));
    each(blocks(n), |block| done(a.to_bsr(block)));
    done(a.t().to_csr());
    done(a.t().to_coo());
    each(blocks(n), |block| done(a.t().to_bsr(block)));
}

fn computations<I: SparseIndex>(a: CsrView<'_, f32, I>) {
    let turned = a.t();
    let ones = |count: usize| TensorView::from_ref(&1.0_f32).broadcast(count);
    done(a.sum());
    done(a.row_sums());
    done(a.col_sums());
    done(turned.row_sums());
    done(turned.col_maxes());
    done(turned.row_counts());
    done(a.norm_1());
    done(turned.norm_inf());
    for p in [1.0, 2.0, 3.0, f64::INFINITY] {
        done(a.row_norms(p));
        done(turned.row_norms(p));
    }
    done(a.diagonal());
    done(a.to_dense());
    done(turned.to_dense());
    done(a.tril(0));
    done(turned.triu(0));
    done(a.add(a));
    done(turned.mul(turned));
    let (in_csc, in_csr) = (a.to_csc(), turned.to_csr());
    if let (Ok(in_csc), Ok(in_csr)) = (&in_csc, &in_csr) {
        done(a.product(in_csr));
        done(in_csr.view().product(a));
        done(turned.product(in_csc));
        done(in_csc.view().product(turned));
        done(in_csr.view().product_masked(a, in_csr));
    }
    // More rows or columns than a dense view may have are no operand.
    if let (Ok(rows), Ok(cols)) = (ones(a.rows()), ones(a.cols())) {
        done(a.matmul(&cols));
        done(a.t_matmul(&rows));
        done(turned.matmul(&rows));
        done(turned.t_matmul(&cols));
        done(a.sddmm(&[[1.0], [1.0]], &cols.unsqueeze(0).unwrap()));
        done(turned.sddmm(&cols.unsqueeze(1).unwrap(), &[[1.0, 1.0]]));
        done(a.solve_triangular(Triangle::Lower, &rows));
        let how = Krylov::new().max_iterations(3);
        done(cg(&a, rows, how));
        done(bicgstab(&turned, cols, how));
        done(lsqr(&a, rows, Lsqr::new().max_iterations(3)));
        done(lsqr(&turned, cols, Lsqr::new().max_iterations(3)));
    }
    done(a.pack());
    done(Jacobi::new(a));
    done(Jacobi::of_columns(a));
    done(Jacobi::of_columns(turned));
    done(Ilu0::new(a));
    done(a.select_rows(&[I::default()]));
    done(a.select_cols(&[I::default()]));
    done(turned.select_rows(&[I::default()]));
    done(a.to_block(.., ..));
    done(turned.to_block(..1, ..));
    done(vstack([a, a]));
    done(hstack([a, a]));
    done(hstack([turned, turned]));
    done(vstack([turned, turned]));
    done(block_diag([a, a]));
    done(block_diag([turned, turned]));
    done(kron(a, a));
    done(kron(turned, turned));
    let _ = format!("{a} {a:?} {turned} {turned:?}");
    answered(matrix_market::Writer::new().write(&a, &mut Vec::new()));
    answered(matrix_market::Writer::new().write(&turned, &mut Vec::new()));
}

pub const ROWS: &[Row] = &[
    ("sparse/construct.rs", "new", |n| {
        for [rows, cols] in extents(n) {
            let mut triplets = Triplets::new(rows, cols);
            done(triplets.to_coo::<i32>());
            done(triplets.to_coo::<i64>());
            triplets.push(0, 0, 1.0);
            done(triplets.to_csr::<i32>());
            done(triplets.to_csr::<i64>());
            done(triplets.to_csc::<i64>());
        }
    }),
    ("sparse/construct.rs", "with_capacity", |n| {
        let mut triplets = Triplets::with_capacity(2, 2, n);
        triplets.push(1, 1, 2.0);
        assert_eq!(triplets.to_csr::<i32>().unwrap().values(), [2.0]);
        answered(Triplets::<u8>::with_capacity(n, n, n));
    }),
    ("sparse/construct.rs", "push", |n| {
        for [row, col] in extents(n) {
            let mut triplets = Triplets::new(n, n);
            triplets.push(row, col, 1.0);
            triplets.push(row.wrapping_sub(1), col.wrapping_sub(1), 1.0);
            done(triplets.to_coo::<i32>());
            done(triplets.to_csr::<i64>());
        }
    }),
    ("sparse/construct.rs", "eye", |n| {
        done(CsrMatrix::<f32, i32>::eye(n));
        done(CsrMatrix::<u8, i64>::eye(n));
    }),
    ("sparse/construct.rs", "from_diagonals", |n| {
        for [rows, cols] in extents(n) {
            done(CsrMatrix::<f32, i32>::from_diagonals(rows, cols, &[]));
            for number in [n as isize, -1, 0, 1, (n as isize).wrapping_neg(), isize::MIN] {
                done(CsrMatrix::<f32, i64>::from_diagonals(rows, cols, &[(number, &[])]));
                done(CsrMatrix::<f32, i32>::from_diagonals(rows, cols, &[(number, &[1.0])]));
            }
        }
    }),
    ("sparse/convert.rs", "to_bsr", |n| {
        coos(n, |a| {
            each(blocks(n), |block| done(a.to_bsr(block)));
        });
    }),
    ("sparse/convert.rs", "top_k_in_magnitude", |n| {
        done(small().top_k_in_magnitude(n));
        csrs(n, |a| done(a.top_k_in_magnitude(n)));
    }),
    ("sparse/convert.rs", "top_k", |n| {
        done(small().top_k(n));
        csrs(n, |a| done(a.top_k(1)));
    }),
    ("sparse/dense.rs", "to_bsr", |n| {
        let dense = Tensor::<f32>::ones([2, 4]).unwrap();
        each(blocks(n), |block| done(sparsify(&dense).to_bsr::<i32>(block)));
        for shape in [[n, 0], [0, n]] {
            let none = TensorView::<f32>::from_slice(&[], shape);
            none.into_iter().for_each(|none| done(sparsify(&none).to_bsr::<i64>([n, n])));
        }
    }),
    ("sparse/dense.rs", "to_bsr_batch", |n| {
        let dense = Tensor::<f32>::ones([3, 2, 4]).unwrap();
        each(blocks(n), |block| done(sparsify(&dense).to_bsr_batch::<i32>(block)));
        for shape in [[n, 0, 1], [0, n, 1], [1, n, 0], [1, 0, n]] {
            let none = TensorView::<f32>::from_slice(&[], shape);
            none.into_iter().for_each(|none| {
                done(sparsify(&none).to_bsr_batch::<i64>([1, 1]));
                done(sparsify(&none).to_csr_batch::<i64>());
                done(sparsify(&none).to_csc_batch::<i32>());
                done(sparsify(&none).to_coo_batch::<i32>());
            });
        }
    }),
    ("sparse/dense.rs", "sparse_top_k", |n| {
        done(tenure::sparse::sparse_top_k::<_, i32>(&[[1.0, 2.0], [3.0, 4.0]], n));
        for shape in [[n, 0], [0, n]] {
            let none = TensorView::<f32>::from_slice(&[], shape);
            none.into_iter()
                .for_each(|none| done(tenure::sparse::sparse_top_k::<_, i64>(&none, n)));
        }
    }),
    ("sparse/dense.rs", "sparse_top_k_in_magnitude", |n| {
        done(tenure::sparse::sparse_top_k_in_magnitude::<_, i64>(&[[1.0, 2.0], [3.0, 4.0]], n));
    }),
    ("sparse/dense.rs", "sparse_dropout", |n| {
        done(tenure::sparse::sparse_dropout::<_, i32>(&[[1.0, 2.0], [3.0, 4.0]], 0.5, n as u64));
    }),
    ("sparse/gallery.rs", "rmat", |n| {
        done(gallery::rmat::<f32, i32>(n as u32, 1, 1));
        done(gallery::rmat::<f32, i64>(n as u32, n, 1));
        done(gallery::rmat::<f32, i64>(3, n, n as u64));
        done(gallery::rmat::<f32, i64>(31, 0, 1));
    }),
    ("sparse/gallery.rs", "poisson", |n| {
        for shape in [[n, 1, 1], [1, 1, n], [n, n, 1], [0, n, n], [n, 0, n], [n, n, n]] {
            done(gallery::poisson::<f32, i32>(shape));
            done(gallery::poisson::<f32, i64>(shape));
        }
    }),
    ("sparse/gallery.rs", "banded", |n| {
        done(gallery::banded::<f32, i32>(n, 1, 0.5, 1));
        done(gallery::banded::<f32, i64>(n, n, 0.5, 1));
        done(gallery::banded::<f32, i64>(3, n, 0.5, 1));
    }),
    ("sparse/gallery.rs", "arrow", |n| {
        for (rows, width) in [(n, 0), (n, n), (3, n), (n, 2)] {
            done(gallery::arrow::<f32, i32>(rows, width, 1));
            done(gallery::arrow::<f32, i64>(rows, width, 1));
        }
    }),
    ("sparse/gallery.rs", "blocks", |n| {
        for (rows, cols, block, count) in [
            (n, 2, [1, 1], 1),
            (n, 2, [0, 1], 1),
            (2, n, [1, 1], 1),
            (2, n, [1, 1], n),
            (2, n, [1, 0], n),
            (2, n, [0, 1], n),
            (2, 2, [n, 1], 1),
            (2, 2, [1, n], 1),
            (2, 2, [1, n], 0),
            (n, n, [n, n], n),
        ] {
            done(gallery::blocks::<f32, i32>(rows, cols, block, count, 1));
            done(gallery::blocks::<f32, i64>(rows, cols, block, count, 1));
        }
    }),
    ("sparse/gallery.rs", "uniform", |n| {
        for ([rows, cols], density) in extents(n).into_iter().zip([0.0, 0.5, 1.0, 0.5, 0.5, 0.0]) {
            done(gallery::uniform::<f32, i32>(rows, cols, density, 1));
            done(gallery::uniform::<f32, i64>(rows, cols, density, 1));
        }
    }),
    ("dtype/index.rs", "from_usize", |n| {
        assert_eq!(i32::from_usize(n).is_some(), i32::try_from(n).is_ok());
        assert_eq!(<i64 as SparseIndex>::from_usize(n).is_some(), i64::try_from(n).is_ok());
    }),
    ("sparse/matrix.rs", "from_vecs", |n| {
        for [rows, cols] in extents(n) {
            done(CooMatrix::from_vecs(rows, cols, vec![0], vec![0], vec![1.0]));
            done(CsrMatrix::from_vecs(rows, cols, vec![0, 1], vec![0], vec![1.0]));
            done(CscMatrix::from_vecs(rows, cols, vec![0, 1], vec![0_i64], vec![1.0]));
            for block in blocks(n) {
                done(BsrMatrix::from_vecs(rows, cols, block, vec![0, 1], vec![0], vec![1.0]));
            }
        }
    }),
    ("sparse/matrix.rs", "from_parts", |n| {
        for [rows, cols] in extents(n) {
            let indices = |indices| SharedTensor::from_owner(indices, 2).unwrap();
            let values = Tensor::<f32>::zeros(2).unwrap();
            let (major, minor) = (indices(vec![0, 2]), indices(vec![0, 1]));
            done(CsrMatrix::from_parts(rows, cols, major, minor, values));
        }
    }),
    ("sparse/owners.rs", "get", |n| {
        let matrix = CsrMatrix::<f32>::eye(2).unwrap();
        each(extents(n), |[row, col]| answered(matrix.get(row, col).copied()));
    }),
    ("sparse/select.rs", "to_block", |n| {
        done(small().to_block(..n, n..));
        done(small().to_block(0..=n, ..));
        csrs(n, |a| {
            done(a.to_block(.., ..n));
            done(a.to_block(n.., n..=n));
        });
    }),
    ("sparse/select.rs", "tril", |n| {
        csrs(n, |a| done(a.tril(n as isize)));
        csrs(n, |a| done(a.t().tril((n as isize).wrapping_neg())));
    }),
    ("sparse/select.rs", "triu", |n| {
        csrs(n, |a| done(a.triu(n as isize)));
        csrs(n, |a| done(a.t().triu((n as isize).wrapping_neg())));
    }),
    ("linalg/krylov.rs", "max_iterations", |n| {
        let a = [[4.0, 1.0], [1.0, 3.0]];
        let a = TensorView::from_slice(a.as_flattened(), [2, 2]).unwrap();
        done(cg(a, &[6.0, 7.0], Krylov::new().max_iterations(n)));
        done(bicgstab(a, &[6.0, 7.0], Krylov::new().max_iterations(n)));
    }),
    ("linalg/krylov/lsqr.rs", "max_iterations", |n| {
        done(lsqr(small(), &[6.0, 7.0], Lsqr::new().max_iterations(n)));
    }),
    ("sparse/view.rs", "get", |n| {
        csrs(n, |a| each(extents(n), |[row, col]| answered(a.get(row, col))));
        coos(n, |a| each(extents(n), |[row, col]| answered(a.get(row, col))));
    }),
    ("sparse/view.rs", "new", |n| {
        for [rows, cols] in extents(n) {
            done(CooView::new(rows, cols, &[1], &[n as i64], &[1.0]));
            done(CooView::new(rows, cols, &[1], &[n as i32], &[1.0]));
            done(CsrView::new(rows, cols, &[0, n as i64], &[0], &[1.0]));
            done(CscView::new(rows, cols, &[0, 1], &[n as i64], &[1.0]));
            for block in blocks(n) {
                done(BsrView::new(rows, cols, block, &[0, 1], &[n as i64], &[1.0]));
                done(BsrView::<f32>::new(rows, cols, block, &[0], &[], &[]));
            }
        }
    }),
    ("sparse/view.rs", "block_row", |n| answered(bsr().block_row(n))),
    ("sparse/view.rs", "block_row_range", |n| {
        done(bsr().block_row_range(..n));
        done(bsr().block_row_range(n..));
        done(bsr().block_row_range(0..=n));
    }),
    ("sparse/view.rs", "row", |n| csrs(n, |a| answered(a.row(n)))),
    ("sparse/view.rs", "row_range", |n| {
        csrs(n, |a| {
            done(a.row_range(n..));
            done(a.row_range(0..=n));
        });
    }),
    ("sparse/view.rs", "col", |n| csrs(n, |a| answered(a.t().col(n)))),
    ("sparse/view.rs", "col_range", |n| csrs(n, |a| done(a.t().col_range(..n)))),
    ("sparse/view_mut.rs", "new", |n| {
        for [rows, cols] in extents(n) {
            done(CooViewMut::new(rows, cols, &[1], &[n as i64], &mut [1.0]));
            done(CsrViewMut::new(rows, cols, &[0, n as i64], &[0], &mut [1.0]));
            done(CscViewMut::new(rows, cols, &[0, 1], &[n as i64], &mut [1.0]));
            done(BsrViewMut::new(rows, cols, [n, 1], &[0, 1], &[0], &mut [1.0]));
        }
    }),
    ("sparse/view_mut.rs", "row_mut", |n| {
        let mut values = [1.0; 2];
        answered(CsrViewMut::new(2, 3, &[0, 1, 2], &[0, 2], &mut values).unwrap().row_mut(n));
    }),
    ("sparse/view_mut.rs", "split_at_row", |n| {
        done(CsrViewMut::new(2, 3, &[0, 1, 2], &[0, 2], &mut [1.0; 2]).unwrap().split_at_row(n));
    }),
    ("sparse/view_mut.rs", "col_mut", |n| {
        let mut values = [1.0; 2];
        answered(CscViewMut::new(3, 2, &[0, 1, 2], &[0, 2], &mut values).unwrap().col_mut(n));
    }),
    ("sparse/view_mut.rs", "split_at_col", |n| {
        done(CscViewMut::new(3, 2, &[0, 1, 2], &[0, 2], &mut [1.0; 2]).unwrap().split_at_col(n));
    }),
    ("sparse/view_mut.rs", "block_row_mut", |n| {
        let mut values = [1.0; 2];
        answered(
            BsrViewMut::new(2, 3, [2, 1], &[0, 1], &[0], &mut values).unwrap().block_row_mut(n),
        );
    }),
    ("sparse/view_mut.rs", "split_at_block_row", |n| {
        let mut values = [1.0; 2];
        let matrix = BsrViewMut::new(2, 3, [2, 1], &[0, 1], &[0], &mut values).unwrap();
        done(matrix.split_at_block_row(n));
    }),
    ("sparse/batch/compute.rs", "to_bsr_batch", |n| {
        let batch = CsrBatchView::new(2, 2, &[0, 1], &[0, 1, 1], &[0], &[1.0]).unwrap();
        each(blocks(n), |block| done(batch.to_bsr_batch(block)));
        let batch = CooBatchView::<f32, i64>::new(n, n, &[0, 0], &[], &[], &[]);
        batch.into_iter().for_each(|batch| {
            done(batch.to_bsr_batch([1, 1]));
            done(batch.to_csr_batch());
            done(batch.to_dense());
        });
    }),
    ("sparse/batch/held.rs", "from_vecs", |n| {
        for [rows, cols] in extents(n) {
            let (major, minor, values) = (vec![0, 1], vec![0], vec![1.0]);
            done(CscBatch::from_vecs(rows, cols, vec![0, 1], major, minor, values));
            let (major, minor, values) = (vec![0, 1], vec![0], vec![1.0]);
            done(BsrBatch::from_vecs(rows, cols, [n, 1], vec![0, n as i64], major, minor, values));
        }
    }),
    ("sparse/batch/held.rs", "from_parts", |n| {
        for [rows, cols] in extents(n) {
            let offsets = SharedTensor::from_owner(vec![0_i64, 2], 2).unwrap();
            let indices = SharedTensor::from_owner(vec![0_i32, 1], 2).unwrap();
            let values = Tensor::<f32>::zeros(2).unwrap();
            let (major, minor) = (indices.clone(), indices);
            done(CscBatch::from_parts(rows, cols, offsets, major, minor, values));
        }
    }),
    ("sparse/batch/view.rs", "get", |n| {
        let batch = CsrBatchView::new(1, 2, &[0, 1], &[0, 1], &[0], &[1.0]).unwrap();
        answered(batch.get(n));
    }),
    ("sparse/batch/view.rs", "new", |n| {
        for [rows, cols] in extents(n) {
            let offsets = [0, n as i64];
            done(CooBatchView::new(rows, cols, &offsets, &[0], &[0], &[1.0]));
            done(CsrBatchView::new(rows, cols, &offsets, &[0, 1], &[0], &[1.0]));
            done(CscBatchView::new(rows, cols, &[0; 3], &[0, 1], &[n as i64], &[1.0]));
            done(CscBatchView::<f32, i32>::new(rows, cols, &[0; 3], &[0; 2], &[], &[]));
            each(blocks(n), |block| {
                done(BsrBatchView::new(rows, cols, block, &offsets, &[0, 1], &[0], &[1.0]));
            });
        }
    }),
    ("sparse/batch/view_mut.rs", "get_mut", |n| {
        let mut values = [1.0];
        let batch = CsrBatchViewMut::new(1, 2, &[0, 1], &[0, 1], &[0], &mut values);
        answered(batch.unwrap().get_mut(n));
    }),
    ("sparse/batch/view_mut.rs", "new", |n| {
        for [rows, cols] in extents(n) {
            let offsets = [0, n as i64];
            done(CsrBatchViewMut::new(rows, cols, &offsets, &[0, 1], &[0], &mut [1.0]));
            done(BsrBatchViewMut::new(rows, cols, [n, n], &offsets, &[0, 1], &[0], &mut [1.0]));
        }
    }),
    ("", "coordinates of any extents", |n| {
        coos(n, |a| {
            done(a.to_csr());
            done(a.to_csc());
            done(a.to_sorted());
            done(a.to_index::<i32>());
            done(a.coalesce(Combine::Sum));
            done(a.to_dense());
            done(vstack([a, a]));
            done(hstack([a, a]));
            done(block_diag([a, a, a]));
            let _ = format!("{a} {a:?}");
            answered(matrix_market::Writer::new().write(&a, &mut Vec::new()));
        });
    }),
    ("", "conversions of compressed rows and columns", |n| csrs(n, |a| conversions(n, a))),
    ("", "computations of compressed rows and columns", |n| csrs(n, computations)),
    ("", "blocks of any extents", |n| {
        for [rows, cols] in [[0, n], [2, n / 2 * 2]] {
            let offsets = &[0, 0][..1 + rows / 2];
            let matrix = BsrView::<f32, i64>::new(rows, cols, [2, 2], offsets, &[], &[]);
            matrix.into_iter().for_each(|a| {
                done(a.to_csr());
                done(a.to_coo());
                done(a.to_csc());
                done(a.to_dense());
                let _ = format!("{a:?}");
            });
        }
        each(shapes(n), |shape| {
            done(Tensor::<u8>::zeros(shape).map(|a| sparsify(&a).to_coo::<i32>()))
        });
    }),
];

fn bsr() -> BsrView<'static, f32> {
    BsrView::new(4, 2, [2, 1], &[0, 0, 1], &[1], &[5.0, 6.0]).unwrap()
}
