//! The counters of operations on sparse matrices. One test: no other code counts in this process.

use tenure::*;

/// The increments that `work` makes: calls, bytes read, bytes written.
fn added<R>(operation: Operation, work: impl FnOnce() -> Result<R>) -> [u64; 3] {
    let before = operation_stats(operation);
    work().unwrap();
    let after = operation_stats(operation);
    [
        after.calls - before.calls,
        after.read_bytes - before.read_bytes,
        after.written_bytes - before.written_bytes,
    ]
}

#[test]
fn operations_count_offsets_indices_and_values() {
    let dense = [[1.0_f32, 0.0, 2.0, 0.0], [0.0; 4], [3.0, 4.0, 0.0, 5.0]];
    const CSR: u64 = 16 + 20 + 20;
    const OTHER: u64 = 20 + 20 + 20; // COO, and CSC
    let to_csr = || sparse::sparsify(&dense).to_csr::<i32>();
    assert_eq!(added(Operation::SparseFromDense, to_csr), [1, 48, CSR]);
    let mut owned = to_csr().unwrap();
    let (mut sums, mut table) = ([0.0; 3], [[0.0; 4]; 3]);
    {
        let a = owned.view();
        assert_eq!(added(Operation::SparseToDense, || a.to_dense()), [1, CSR, 48]);
        assert_eq!(added(Operation::SparseConvert, || a.to_csc()), [1, CSR, OTHER]);
        assert_eq!(added(Operation::SparseCoalesce, || a.coalesce(Combine::Sum)), [1, CSR, CSR]);
        assert_eq!(added(Operation::SparsePrune, || a.prune(4.0)), [1, CSR, 16 + 8]);
        assert_eq!(added(Operation::SparsePrune, || a.top_k(1)), [1, CSR, 16 + 16]);
        let columns = a.to_csc().unwrap();
        let transposed = columns.view().t();
        assert_eq!(
            added(Operation::SparseProduct, || a.product(transposed)),
            [1, CSR + OTHER, 16 + 4 * 8]
        );
        let times = || a.matmul_into(&[1.0; 4], &mut sums);
        assert_eq!(added(Operation::SparseMatmul, times), [1, CSR + 16, 12]);
        let sampled = || a.sddmm(&[[1.0]; 3], &[[1.0; 4]]);
        assert_eq!(added(Operation::SparseSddmm, sampled), [1, CSR + 12 + 16, 20]);
        assert_eq!(added(Operation::SparseBinary, || a.add(a)), [1, 2 * CSR, CSR]);
        assert_eq!(added(Operation::SparseAccumulate, || a.add_to(&mut table)), [1, CSR + 48, 48]);
        assert_eq!(added(Operation::SparseReduce, || a.sum()), [1, CSR, 4]);
        assert_eq!(added(Operation::SparseReduce, || a.norm_1()), [1, CSR, 8]);
        assert_eq!(added(Operation::SparseReduce, || a.diagonal()), [1, CSR, 12]);
    }
    let mut a = owned.view_mut();
    assert_eq!(added(Operation::SparseScale, || a.scale_rows(&[1.0; 3])), [1, CSR + 12, 20]);
    assert_eq!(added(Operation::SparseSoftmax, || a.softmax_rows()), [1, CSR, 20]);
    // Four offsets of 8 bytes, three words and five values.
    let pack = || owned.view().pack();
    assert_eq!(added(Operation::SparsePack, pack), [1, CSR, 32 + 24 + 20]);
    let packed = pack().unwrap();
    let times = || packed.matmul_into(&[1.0; 4], &mut sums);
    assert_eq!(added(Operation::SparsePackedMatmul, times), [1, 76 + 16, 12]);
    // A range of rows counts only its own arrays.
    let last = owned.view().row_range(2..3).unwrap();
    let times = || last.matmul_into(&[1.0; 4], &mut sums[..1]);
    assert_eq!(added(Operation::SparseMatmul, times), [1, 8 + 24 + 16, 4]);

    let square = sparse::sparsify(&[[2.0_f64, 0.0], [1.0, 2.0]]).to_csr::<i32>().unwrap();
    let solve = || square.view().solve_triangular(Triangle::Lower, &[2.0, 2.0]);
    assert_eq!(added(Operation::SparseSolve, solve), [1, 12 + 12 + 24 + 16, 16]);

    start_timing();
    let before = operation_stats(Operation::SparseConvert).time;
    square.view().to_csc().unwrap();
    stop_timing();
    assert!(operation_stats(Operation::SparseConvert).time > before);
}
