//! Sparse matrices of values, as those of their views.

use super::*;

/// Entries in order; the count varies by row.
fn matrix() -> CsrMatrix<f32> {
    let cols = vec![1, 4, 0, 0, 2, 4, 3, 1];
    let values = floats(31, [8]).to_vec();
    let matrix = CsrMatrix::from_vecs(6, 5, vec![0, 2, 3, 3, 6, 7, 8], cols, values).unwrap();
    matrix.check_coalesced().unwrap()
}

/// The lower triangle with its diagonal is a solvable system.
fn triangle() -> CsrMatrix<f64, i64> {
    let (offsets, cols) = (vec![0, 1, 3, 5], vec![0, 0, 1, 1, 2]);
    CsrMatrix::from_vecs(3, 3, offsets, cols, vec![2.0, 1.0, -4.0, 3.0, 0.5]).unwrap()
}

/// One value of a matrix whose arrays are inputs, of one that is a constant, and of the call;
/// `dense` is an input too.
fn assert_as_call<T: Element + samples::Sample>(
    what: &str,
    dense: &Tensor<f32>,
    traced_as: impl for<'g> Fn(TracedCsr<'g, f32>, Traced<'g, f32>) -> Traced<'g, T>,
    expected: &Result<Tensor<T>>,
) {
    let a = matrix();
    for program in traced(|graph| {
        let a = graph.csr_input(6, 5, graph.extent("entries", 99)).assume_coalesced();
        let dense = graph.input(dense.shape());
        let inputs = (a.row_offsets(), a.col_indices(), a.values(), dense);
        graph.program(inputs, traced_as(a, dense))
    }) {
        let got = program.unwrap().run((a.row_offsets(), a.col_indices(), a.values(), dense));
        assert_same(&got, expected, what);
    }
    for program in traced(|graph| {
        let dense = graph.input(dense.shape());
        graph.program((dense,), traced_as(graph.csr_constant(&a), dense))
    }) {
        assert_same(&program.unwrap().run((dense,)), expected, what);
    }
}

fn number<T: Element>(of: Result<T>) -> Result<Tensor<T>> {
    Tensor::from_vec(vec![of?], [0; 0]).map_err(Error::from)
}

#[test]
fn products() {
    let (a, [by_cols, by_rows]) = (matrix(), [floats(32, [5, 3]), floats(33, [6, 3])]);
    let vector = floats(34, [5]);
    assert_as_call("matmul", &by_cols, |a, b| a.matmul(b), &a.matmul(&by_cols));
    assert_as_call("by a vector", &vector, |a, b| a.matmul(b), &a.matmul(&vector));
    // Its shape is known where the rows are.
    for program in traced(|graph| {
        let b = graph.input([6, 3]);
        graph.program((b,), graph.csr_constant(&matrix()).t_matmul(b))
    }) {
        assert_same(&program.unwrap().run((&by_rows,)), &a.t_matmul(&by_rows), "t_matmul");
    }
    let (x, y) = (&by_rows, floats(35, [3, 5]));
    for program in traced(|graph| {
        let (a, x, y) = (graph.csr_constant(&matrix()), graph.input([6, 3]), graph.input([3, 5]));
        let sampled = a.sddmm(x, y);
        let dense = a.with_values(sampled).to_dense();
        graph.program((x, y), [sampled, a.sddmm_times_values(x, y), dense])
    }) {
        let [sampled, times, dense] = program.unwrap().run((x, &y)).unwrap();
        let expected = a.sddmm(x, &y);
        let with_values = a.view().with_values(expected.as_ref().unwrap().as_slice().unwrap());
        assert_same(&Ok(dense), &with_values.unwrap().to_dense(), "with values");
        assert_same(&Ok(sampled), &expected, "sddmm");
        assert_same(&Ok(times), &a.sddmm_times_values(x, &y), "sddmm_times_values");
    }
}

#[test]
fn dense_and_reduced() {
    let (a, none) = (matrix(), floats(36, [1]));
    assert_as_call("to_dense", &none, |a, _| a.to_dense(), &a.to_dense());
    assert_as_call("diagonal", &none, |a, _| a.diagonal(), &a.view().diagonal());
    assert_as_call("sum", &none, |a, _| a.sum(), &number(a.sum()));
    assert_as_call("row_sums", &none, |a, _| a.row_sums(), &a.row_sums());
    assert_as_call("col_sums", &none, |a, _| a.col_sums(), &a.col_sums());
    assert_as_call("min", &none, |a, _| a.min(), &number(a.min()));
    assert_as_call("row_mins", &none, |a, _| a.row_mins(), &a.row_mins());
    assert_as_call("col_mins", &none, |a, _| a.col_mins(), &a.col_mins());
    assert_as_call("max", &none, |a, _| a.max(), &number(a.max()));
    assert_as_call("row_maxes", &none, |a, _| a.row_maxes(), &a.row_maxes());
    assert_as_call("col_maxes", &none, |a, _| a.col_maxes(), &a.col_maxes());
    assert_as_call("count", &none, |a, _| a.count_nonzero(), &number(a.count_nonzero()));
    assert_as_call("row_counts", &none, |a, _| a.row_counts(), &a.row_counts());
    assert_as_call("col_counts", &none, |a, _| a.col_counts(), &a.col_counts());
    assert_as_call("norm_1", &none, |a, _| a.norm_1(), &number(a.norm_1()));
    assert_as_call("norm_inf", &none, |a, _| a.norm_inf(), &number(a.norm_inf()));
    let norm = number(a.norm_frobenius());
    assert_as_call("norm_frobenius", &none, |a, _| a.norm_frobenius(), &norm);
}

#[test]
fn scaled_added_and_normalized() {
    let (cols, dense) = (floats(37, [5]), floats(38, [6, 5]));
    let changed = |change: &dyn Fn(&mut CsrViewMut<'_, f32>)| {
        let mut a = matrix();
        change(&mut a.view_mut());
        a.to_dense()
    };
    let by_cols = changed(&|a| a.scale_cols(&cols).unwrap());
    assert_as_call("scale_cols", &cols, |a, by| a.scale_cols(by).to_dense(), &by_cols);
    let normal = changed(&|a| a.softmax_rows().unwrap());
    assert_as_call("softmax_rows", &cols, |a, _| a.softmax_rows().to_dense(), &normal);
    let rows = floats(39, [6]);
    let by_rows = changed(&|a| a.scale_rows(&rows).unwrap());
    for program in traced(|graph| {
        let rows = graph.input([6]);
        graph.program((rows,), graph.csr_constant(&matrix()).scale_rows(rows).to_dense())
    }) {
        assert_same(&program.unwrap().run((&rows,)), &by_rows, "scale_rows");
    }
    let mut sum = dense.try_clone().unwrap();
    matrix().view().add_to(&mut sum).unwrap();
    for program in traced(|graph| {
        let dense = graph.input([6, 5]);
        graph.program((dense,), graph.csr_constant(&matrix()).add_to(dense))
    }) {
        assert_same(&program.unwrap().run((&dense,)), &Ok(sum.try_clone().unwrap()), "add_to");
    }
}

#[test]
fn triangular_systems() {
    let b = Tensor::from([[2.0, 9.0], [1.0, 0.5], [-3.0, 7.0]]);
    for which in [Triangle::Lower, Triangle::UnitLower, Triangle::UnitUpper] {
        for program in traced(|graph| {
            let b = graph.input([3, 2]);
            graph.program((b,), graph.csr_constant(&triangle()).solve_triangular(which, b))
        }) {
            let expected = triangle().view().solve_triangular(which, &b);
            assert_same(&program.unwrap().run((&b,)), &expected, "solve_triangular");
        }
    }
}

#[test]
fn what_is_refused() {
    let message = said(|graph| {
        let b = graph.input::<f32>([4]);
        graph.program((b,), graph.csr_constant(&matrix()).matmul(b))
    });
    assert!(message.starts_with("matmul at ") && message.contains("b has shape [4]"), "{message}");
    let message = said(|graph| {
        let a = graph.csr_input::<f32, i32>(usize::MAX, 5, 3);
        graph.program((a.row_offsets(), a.col_indices(), a.values()), a.to_dense())
    });
    assert!(message.contains("an extent is"), "{message}");
    // A run checks the arrays, whatever the graph assumes of their order.
    let program = Program::trace(|graph| {
        let a = graph.csr_input::<f32, i64>(2, 3, 2).assume_coalesced();
        let inputs = (a.row_offsets(), a.col_indices(), a.values());
        graph.program(inputs, (a.to_dense(), a.row_maxes(), a.softmax_rows().values()))
    });
    let program = program.unwrap();
    assert!(program.run((&[0, 1, 2], &[0, 2], &[1.0, 2.0])).is_ok());
    assert!(program.run((&[0, 2, 2], &[2, 0], &[1.0, 2.0])).is_ok());
    for (offsets, cols) in [
        ([0, 1, 3], [0, 2]),
        ([0, 2, 1], [0, 2]),
        ([0, 1, 2], [0, 3]),
        ([0, 1, 2], [-1, 0]),
        ([0, i64::MAX, 2], [0, 1]),
    ] {
        let error = program.run((&offsets, &cols, &[1.0, 2.0])).err();
        let error = error.unwrap_or_else(|| panic!("{offsets:?} {cols:?}"));
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    }
}
