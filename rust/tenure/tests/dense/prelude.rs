//! The names of the prelude.

/// A first program, of names that the prelude has and no others.
#[test]
fn a_first_program_needs_no_other_import() -> tenure::Result<()> {
    use tenure::prelude::*;

    let data = [1.0_f32, 2.0, 3.0, 4.0];
    let x = TensorView::from_slice(&data, [2, 2])?;
    let mut scores: Tensor<f32> = softmax(matmul(x, x.t())?, -1)?;
    ops::add_assign(&mut scores, 1.0)?;
    assert_eq!(sum(&scores, Axes::keep(-1))?, [[3.0], [3.0]]);
    let centred = (x - x.expr().mean(Axes::keep(-1))).eval()?;
    assert_eq!(centred.slice_axes(s![.., 0])?, [-0.5, -0.5]);
    let sparse: CsrMatrix<f32> = centred.to_csr()?;
    assert_eq!(sparse.nnz(), 4);
    let error: Error = x.index(0, 2).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    Ok(())
}

/// A glob import of many names hides where a name comes from, and collides with the reader's own.
#[test]
fn it_has_at_most_60_names() {
    let source = include_str!("../../src/prelude.rs");
    let code: String = source.lines().filter(|line| !line.starts_with("//")).collect();
    let names: usize = code
        .split(';')
        .filter_map(|statement| statement.trim().strip_prefix("pub use "))
        .map(|path| path.split_once('{').map_or(1, |(_, list)| list.matches(',').count() + 1))
        .sum();
    assert!((40..=60).contains(&names), "{names} names");
}
