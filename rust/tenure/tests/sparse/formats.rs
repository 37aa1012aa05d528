//! Each sparse type is one type with its format as a parameter: code that is generic in the format
//! runs for each of them, and the names by which users know the types are aliases.
#![cfg(not(miri))]

use std::fmt::{Debug, Display};
use std::panic::{RefUnwindSafe, UnwindSafe};

use tenure::{
    Bsr, BsrBatch, BsrBatchView, BsrBatchViewMut, BsrMatrix, BsrView, BsrViewMut, Combine,
    CompressedFormat, Coo, CooBatch, CooBatchView, CooBatchViewMut, CooMatrix, CooView, CooViewMut,
    Csc, CscBatch, CscBatchView, CscBatchViewMut, CscMatrix, CscView, CscViewMut, Csr, CsrBatch,
    CsrBatchView, CsrBatchViewMut, CsrMatrix, CsrView, CsrViewMut, Element, PointFormat, Result,
    SparseBatch, SparseBatchView, SparseBatchViewMut, SparseFormat, SparseIndex, SparseMatrix,
    SparseView, SparseViewMut, Tensor, sparse::sparsify,
};

const DENSE: [[f64; 3]; 2] = [[1.5, 0.0, 0.0], [0.0, 0.0, 2.5]];

fn flat() -> Vec<f64> {
    DENSE.as_flattened().to_vec()
}

/// Every method that all formats have, on `DENSE`.
fn any_format<F: SparseFormat>(mut matrix: SparseMatrix<F, f64>, name: &str) -> Result<()> {
    let view = matrix.view();
    assert_eq!((view.rows(), view.cols(), view.nnz()), (2, 3, view.values().len()));
    assert_eq!((matrix.rows(), matrix.cols(), matrix.nnz()), (2, 3, view.nnz()));
    assert_eq!(view.check_coalesced()?.is_sorted(), view.assume_coalesced().is_coalesced());
    let negated: Vec<_> = view.values().iter().map(|value| -value).collect();
    let negated = view.with_values(&negated)?;
    assert_eq!(negated.to_dense()?.to_vec(), flat().iter().map(|x| -x).collect::<Vec<_>>());
    let shown = [format!("{view:?}"), format!("{matrix:?}")];
    assert!(shown[0].starts_with(&format!("{name}View(2 x 3, ")), "{shown:?}");
    assert!(shown[1].starts_with(&format!("{name}Matrix(2 x 3, ")), "{shown:?}");
    assert!(format!("{view}").contains("\n  (0, 0)  "));

    // To each format and back.
    for dense in [
        view.to_coo()?.to_dense()?,
        view.to_csr()?.to_dense()?,
        view.to_csc()?.to_dense()?,
        view.to_bsr([1, 3])?.to_dense()?,
        view.to_sorted()?.to_dense()?,
        view.to_index::<i64>()?.to_dense()?,
        matrix.to_dense()?,
    ] {
        assert_eq!(dense.to_vec(), flat());
    }
    let mut out = [[9.0; 3]; 2];
    view.to_dense_into(&mut out)?;
    assert_eq!(out, DENSE);

    // Products.
    let mut product = [0.0; 2];
    view.matmul_into(&[1.0, 2.0, 4.0], &mut product)?;
    assert_eq!((view.matmul(&[1.0, 2.0, 4.0])?.to_vec(), product), (vec![1.5, 10.0], [1.5, 10.0]));
    view.matmul_scaled_into(2.0, &[1.0, 2.0, 4.0], 10.0, &mut product)?;
    assert_eq!(product, [18.0, 120.0]);
    let mut product = [9.0; 3];
    view.t_matmul_into(&[2.0, 1.0], &mut product)?;
    assert_eq!(view.t_matmul(&[2.0, 1.0])?.to_vec(), product);
    assert_eq!(product, [3.0, 0.0, 2.5]);
    let (x, y) = ([[1.0], [2.0]], [[3.0, 4.0, 5.0]]);
    let sampled = view.sddmm(&x, &y)?;
    let sampled = view.with_values(sampled.as_slice().unwrap())?.to_dense()?;
    assert_eq!((sampled.to_vec()[0], sampled.to_vec()[5]), (3.0, 10.0));
    let sampled = view.sddmm_times_values(&x, &y)?;
    let sampled = view.with_values(sampled.as_slice().unwrap())?.to_dense()?;
    assert_eq!(sampled.to_vec(), [4.5, 0.0, 0.0, 0.0, 0.0, 25.0]);

    // Functions of entries.
    let found = matrix.neg()?.abs()?.relu()?.sqrt()?.mul_scalar(2.0)?.to_dense()?.to_vec();
    assert_eq!((found[0], found[5]), (2.0 * 1.5_f64.sqrt(), 2.0 * 2.5_f64.sqrt()));

    // Writing.
    let clone = matrix.try_clone()?;
    matrix.values_mut()[0] = 7.0;
    let mut view = matrix.view_mut();
    assert_eq!((view.rows(), view.cols(), view.values()[0]), (2, 3, 7.0));
    assert!(format!("{view:?}").starts_with(&format!("{name}ViewMut(2 x 3, ")));
    view.view_mut().values_mut()[0] += 1.0;
    assert_eq!((view.view().values()[0], view.into_view().values()[0]), (8.0, 8.0));
    assert_eq!(clone.check_coalesced()?.to_dense()?.to_vec(), flat());
    let (_, _, values) = matrix.into_parts();
    assert_eq!(values.view().to_vec()[0], 8.0);
    Ok(())
}

fn point_format<F: PointFormat>(matrix: SparseView<'_, F, f64>) -> Result<()> {
    assert_eq!(matrix.iter().collect::<Vec<_>>(), [(0, 0, &1.5), (1, 2, &2.5)]);
    assert!(matrix.into_iter().eq(matrix.iter()));
    assert_eq!(matrix.coalesce(Combine::Sum)?.to_dense()?.to_vec(), flat());
    assert_eq!(matrix.prune(2.0)?.values(), [2.5]);
    Ok(())
}

fn compressed_format<F: CompressedFormat>(mut matrix: SparseMatrix<F, f64>) -> Result<()> {
    matrix.view_mut().scale_rows(&[2.0, 4.0])?;
    matrix.view_mut().scale_cols(&[0.5, 1.0, 0.25])?;
    let a = matrix.view().check_coalesced()?;
    for (found, factor) in
        [(a.add(a)?, 2.0), (a.sub(a)?, 0.0), (a.minimum(a)?, 1.0), (a.maximum(a)?, 1.0)]
    {
        let wanted: Vec<_> = flat().iter().map(|x| x * factor).collect();
        assert_eq!(found.to_dense()?.to_vec(), wanted);
    }
    assert_eq!(a.mul(a)?.values(), [2.25, 6.25]);
    let mut sum = DENSE;
    a.add_to(&mut sum)?;
    assert_eq!(sum, [[3.0, 0.0, 0.0], [0.0, 0.0, 5.0]]);
    let wide = a.select_rows(&[0, 1, 1])?;
    let square = wide.view().product(wide.view())?;
    assert_eq!(square.to_dense()?.to_vec(), [2.25, 0.0, 0.0, 0.0, 0.0, 6.25, 0.0, 0.0, 6.25]);
    let masked = wide.view().product_masked(wide.view(), wide.view())?;
    assert_eq!(masked.values().iter().sum::<f64>(), 14.75);
    assert_eq!(a.select_cols(&[2, 0])?.to_dense()?.to_vec(), [0.0, 1.5, 2.5, 0.0]);
    assert_eq!(a.to_block(.., 1..)?.to_dense()?.to_vec(), [0.0, 0.0, 0.0, 2.5]);
    assert_eq!((a.sum()?, a.min()?, a.max()?, a.count_nonzero()?), (4.0, 0.0, 2.5, 2));
    assert_eq!(
        (a.row_sums()?.to_vec(), a.col_sums()?.to_vec()),
        (vec![1.5, 2.5], vec![1.5, 0.0, 2.5])
    );
    assert_eq!((a.row_mins()?.to_vec(), a.col_mins()?.to_vec()), (vec![0.0; 2], vec![0.0; 3]));
    assert_eq!(a.row_maxes()?.to_vec(), a.row_sums()?.to_vec());
    assert_eq!(a.col_maxes()?.to_vec(), a.col_sums()?.to_vec());
    assert_eq!((a.row_counts()?.to_vec(), a.col_counts()?.to_vec()), (vec![1, 1], vec![1, 0, 1]));
    assert_eq!((a.norm_1()?, a.norm_inf()?), (2.5, 2.5));
    assert_eq!(a.norm_frobenius()?, 8.5_f64.sqrt());
    assert_eq!(a.diagonal()?.to_vec(), [1.5, 0.0]);
    Ok(())
}

/// Every method that batches of all formats have, on two of `DENSE`.
fn any_batch<F: SparseFormat>(mut batch: SparseBatch<F, f64>, name: &str) -> Result<()> {
    let view = batch.view();
    assert_eq!((view.len(), view.is_empty(), view.rows(), view.cols()), (2, false, 2, 3));
    assert_eq!((view.nnz(), view.batch_offsets()[0]), (view.values().len(), 0));
    assert!(view.check_coalesced()?.is_coalesced());
    assert!(view.get(2).is_none());
    for matrix in view.iter().chain(view.get(1)) {
        assert_eq!(matrix.to_dense()?.to_vec(), flat());
    }
    assert!(format!("{view:?}").starts_with(&format!("{name}BatchView(2 of 2 x 3, ")));
    assert!(format!("{batch:?}").starts_with(&format!("{name}Batch(2 of 2 x 3, ")));
    let both = [flat(), flat()].concat();
    for dense in [
        view.to_dense()?,
        view.to_coo_batch()?.view().to_dense()?,
        view.to_csr_batch()?.view().to_dense()?,
        view.to_csc_batch()?.view().to_dense()?,
        view.to_bsr_batch([1, 3])?.view().to_dense()?,
        view.to_sorted()?.view().to_dense()?,
        view.to_index::<i64>()?.view().to_dense()?,
    ] {
        assert_eq!(dense.to_vec(), both);
    }
    let mut out = [[[9.0; 3]; 2]; 2];
    view.to_dense_into(&mut out)?;
    assert_eq!(out, [DENSE; 2]);
    let mut out = [[0.0; 2]; 2];
    view.matmul_into(&[1.0, 2.0, 4.0], &mut out)?;
    assert_eq!(view.matmul(&[1.0, 2.0, 4.0])?.to_vec(), out.as_flattened());
    let mut out = [[0.0; 3]; 2];
    view.t_matmul_into(&[2.0, 1.0], &mut out)?;
    assert_eq!(view.t_matmul(&[2.0, 1.0])?.to_vec(), out.as_flattened());
    let found = batch.neg()?.abs()?.relu()?.mul_scalar(2.0)?.view().to_dense()?;
    assert_eq!(found.to_vec(), both.iter().map(|x| x * 2.0).collect::<Vec<_>>());
    assert_eq!(batch.sqrt()?.view().values()[0], 1.5_f64.sqrt());

    batch.values_mut()[0] = 7.0;
    let mut view = batch.view_mut();
    assert_eq!((view.len(), view.is_empty()), (2, false));
    assert!(format!("{view:?}").starts_with(&format!("{name}BatchViewMut(2 of 2 x 3, ")));
    view.values_mut()[0] += 1.0;
    assert!(view.get_mut(2).is_none());
    view.get_mut(1).unwrap().values_mut()[0] = 3.0;
    view.iter_mut().for_each(|mut matrix| matrix.values_mut()[0] += 1.0);
    view.view_mut().values_mut()[0] += 1.0;
    let firsts: Vec<_> = view.view().iter().map(|matrix| matrix.values()[0]).collect();
    assert_eq!((firsts, view.into_view().values()[0]), (vec![10.0, 4.0], 10.0));
    let (_, _, _, values) = batch.into_parts();
    assert_eq!(values.view().to_vec()[0], 10.0);
    Ok(())
}

#[test]
fn each_format_has_every_method() -> Result<()> {
    any_format(sparsify(&DENSE).to_coo()?, "Coo")?;
    any_format(sparsify(&DENSE).to_csr()?, "Csr")?;
    any_format(sparsify(&DENSE).to_csc()?, "Csc")?;
    any_format(sparsify(&DENSE).to_bsr([2, 1])?, "Bsr")?;
    point_format(sparsify(&DENSE).to_coo::<i32>()?.view())?;
    point_format(sparsify(&DENSE).to_csr::<i32>()?.view())?;
    point_format(sparsify(&DENSE).to_csc::<i32>()?.view())?;
    compressed_format::<Csr>(sparsify(&DENSE).to_csr()?)?;
    compressed_format::<Csc>(sparsify(&DENSE).to_csc()?)
}

#[test]
fn batches_of_each_format_have_every_method() -> Result<()> {
    let two = [DENSE; 2];
    any_batch(sparsify(&two).to_coo_batch()?, "Coo")?;
    any_batch(sparsify(&two).to_csr_batch()?, "Csr")?;
    any_batch(sparsify(&two).to_csc_batch()?, "Csc")?;
    any_batch(sparsify(&two).to_bsr_batch([2, 1])?, "Bsr")
}

/// Views are as covariant as the slices they are made of, for any format.
#[expect(clippy::type_complexity, reason = "these are the types in question")]
#[expect(dead_code, reason = "that it compiles is the test")]
fn lives_are_shortened<'short, 'long: 'short, F: SparseFormat, T: Element, I: SparseIndex>(
    (view, batch): (SparseView<'long, F, T, I>, SparseBatchView<'long, F, T, I>),
    (view_mut, batch_mut): (SparseViewMut<'long, F, T, I>, SparseBatchViewMut<'long, F, T, I>),
) -> (
    (SparseView<'short, F, T, I>, SparseBatchView<'short, F, T, I>),
    (SparseViewMut<'short, F, T, I>, SparseBatchViewMut<'short, F, T, I>),
) {
    ((view, batch), (view_mut, batch_mut))
}

#[test]
fn threads_take_what_they_take_of_slices() {
    fn shared<T: Copy + Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug>() {}
    fn written<T: Send + Sync + Unpin + RefUnwindSafe + Debug>() {}
    fn held<T: Send + Sync + Unpin + Debug + 'static>() {}
    fn shown<T: Display>() {}
    // For any format: nothing need be known of it.
    fn any<F: SparseFormat>() {
        shared::<(SparseView<'_, F, f32>, SparseBatchView<'_, F, f32>)>();
        written::<(SparseViewMut<'_, F, f32>, SparseBatchViewMut<'_, F, f32>)>();
        held::<(SparseMatrix<F, f32>, SparseBatch<F, f32>)>();
        shown::<SparseView<'_, F, f32>>();
        shown::<SparseViewMut<'_, F, f32>>();
        shown::<SparseMatrix<F, f32>>();
    }
    any::<Coo>();
    any::<Csr>();
    any::<Csc>();
    any::<Bsr>();
    assert_eq!(size_of::<CsrView<'_, f32>>(), size_of::<BsrView<'_, f64, i64>>());
    assert_eq!(size_of::<SparseMatrix<Csr, f32>>(), size_of::<BsrMatrix<f64, i64>>());
}

/// The public names have indices of `i32` by default.
#[test]
fn names_are_those_of_the_format_and_the_loan() {
    fn same<T: ?Sized>(_: fn(&T), _: fn(&T)) {}
    fn matrix<F: SparseFormat>(_: &SparseMatrix<F, f32>) {}
    same::<CooMatrix<f32>>(matrix::<Coo>, |_: &CooMatrix<f32, i32>| ());
    same::<CsrMatrix<f32>>(matrix::<Csr>, |_: &CsrMatrix<f32, i32>| ());
    same::<CscMatrix<f32>>(matrix::<Csc>, |_: &CscMatrix<f32, i32>| ());
    same::<BsrMatrix<f32>>(matrix::<Bsr>, |_: &BsrMatrix<f32, i32>| ());
    fn batch<F: SparseFormat>(_: &SparseBatch<F, f32>) {}
    same::<CooBatch<f32>>(batch::<Coo>, |_: &CooBatch<f32, i32>| ());
    same::<CsrBatch<f32>>(batch::<Csr>, |_: &CsrBatch<f32, i32>| ());
    same::<CscBatch<f32>>(batch::<Csc>, |_: &CscBatch<f32, i32>| ());
    same::<BsrBatch<f32>>(batch::<Bsr>, |_: &BsrBatch<f32, i32>| ());
    fn lent<F: SparseFormat>(
        _: SparseView<'_, F, f32>,
        _: SparseViewMut<'_, F, f32>,
        _: SparseBatchView<'_, F, f32>,
        _: SparseBatchViewMut<'_, F, f32>,
    ) {
    }
    let _: fn(CooView<f32>, CooViewMut<f32>, CooBatchView<f32>, CooBatchViewMut<f32>) = lent;
    let _: fn(CsrView<f32>, CsrViewMut<f32>, CsrBatchView<f32>, CsrBatchViewMut<f32>) = lent;
    let _: fn(CscView<f32>, CscViewMut<f32>, CscBatchView<f32>, CscBatchViewMut<f32>) = lent;
    let _: fn(BsrView<f32>, BsrViewMut<f32>, BsrBatchView<f32>, BsrBatchViewMut<f32>) = lent;
}

/// Arguments that are named are inferred as those of a struct are.
#[test]
fn aliases_stand_where_types_stood() -> Result<()> {
    let view = CooView::<u16>::new(2, 3, &[], &[], &[])?;
    assert_eq!(view.row_indices(), [0_i32; 0]);
    let made: fn(usize, usize, Vec<i64>, Vec<i64>, Vec<f32>) -> _ = CsrMatrix::from_vecs;
    let matrix = made(1, 1, vec![0, 1], vec![0], vec![0.5])?;
    struct Graph<'a> {
        edges: CsrView<'a, f32, i64>,
    }
    impl<'a> From<CsrView<'a, f32, i64>> for Graph<'a> {
        fn from(edges: CsrView<'a, f32, i64>) -> Self {
            Graph { edges }
        }
    }
    assert_eq!(Graph::from(matrix.view()).edges.t().col(0).unwrap().1, [0.5]);
    let values = Tensor::from_vec(vec![1.0_f32], [1])?;
    let (offsets, indices, _) = matrix.into_parts();
    assert_eq!(CscMatrix::from_parts(1, 1, offsets, indices, values)?.col_offsets(), [0, 1]);
    Ok(())
}
