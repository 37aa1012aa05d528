//! Sparse matrices as inputs whose values a run updates, and the memory of their gradients.

use std::collections::BTreeSet;

use super::*;
use tenure::program::Updated;
use tenure::train::{AdamW, Optimizer, Sgd};

type Step<T, I> = Program<((I, I, Updated<T>), T), T>;

/// Takes the gradient of the sum of `a x` from the values of `a`.
fn step<T: Float, I: SparseIndex>(rows: usize, cols: usize) -> Step<T, I> {
    let program = Program::trace(|graph| {
        let a = graph.csr_input::<T, I>(rows, cols, graph.extent("entries", 100));
        let x = graph.input::<T>((cols, graph.extent("columns", 100)));
        let products = a.matmul(x);
        let gradient = graph.gradients(products.sum(..), a.values());
        graph.program((a.updated_by(a.values() - gradient), x), products)
    });
    program.unwrap()
}

#[test]
fn values_are_updated_in_their_place() -> Result<()> {
    let mut matrix = CsrMatrix::from_vecs(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0])?;
    let step = step::<f64, i32>(2, 3);
    assert_eq!(step.input_names(), ["0.row_offsets", "0.col_indices", "0.values", "1"]);
    let x = [[1.0, 0.5], [2.0, 0.25], [3.0, 0.125]];
    let address = matrix.values().as_ptr();
    assert_eq!(step.run((&mut matrix, &x))?, [[7.0, 0.75], [6.0, 0.75]]);
    assert_eq!((matrix.values(), matrix.values().as_ptr()), (&[-0.5, -1.125, 0.75][..], address));
    // Views and arrays are lent too.
    step.run((&mut matrix.view_mut(), &x))?;
    let (offsets, columns, values) = matrix.view_mut().into_parts();
    step.run(((offsets, columns, values), &x))?;
    assert_eq!(matrix.values(), [-3.5, -7.375, -3.75]);
    Ok(())
}

#[test]
fn trees_have_matrices() -> Result<()> {
    let matrix = |value: f32| CsrMatrix::from_vecs(1, 2, vec![0, 1], vec![1], vec![value]).unwrap();
    let mut layers = vec![(matrix(2.0), Tensor::from([1.0])), (matrix(3.0), Tensor::from([0.5]))];
    let step = Program::trace(|graph| {
        let next = |(a, bias): &(CsrMatrix<f32>, Tensor<f32>)| {
            let (a, bias) = (graph.csr_input::<f32, i32>(1, 2, a.nnz()), graph.inputs(bias));
            (a.updated_by(a.values() * bias), bias)
        };
        graph.program(layers.iter().map(next).collect::<Vec<_>>(), ())
    })?;
    step.run(&mut layers)?;
    assert_eq!((layers[0].0.values(), layers[1].0.values()), (&[2.0][..], &[1.5][..]));
    let read = Program::trace(|graph| {
        let a = graph.csr_input::<f32, i32>(1, 2, graph.extent("entries", 9));
        graph.program((a, graph.input::<f32>([1])), a) // an output is its arrays
    })?;
    let (a, x) = (&layers[1].0, [0.0]);
    for (offsets, columns, values) in [read.run((a, &x))?, read.run((a.view(), &x))?] {
        assert_eq!((offsets, columns), (Tensor::from([0, 1]), Tensor::from([1])));
        assert_eq!(values, [1.5]);
    }
    Ok(())
}

#[test]
fn any_entries() -> Result<()> {
    // Entries of one position, and rows without any.
    let (offsets, columns) = (vec![0_i64, 0, 3, 3], vec![1_i64, 1, 0]);
    let mut matrix = CsrMatrix::from_vecs(3, 2, offsets, columns, vec![1.0_f32, 2.0, 3.0])?;
    let products = step::<f32, i64>(3, 2).run((&mut matrix, &[[4.0], [5.0]]))?;
    assert_eq!(
        (products, matrix.values()),
        (Tensor::from([[0.0], [27.0], [0.0]]), &[-4.0, -3.0, -1.0][..])
    );
    // None.
    let mut none = CsrMatrix::<f64>::from_vecs(3, 2, vec![0; 4], vec![], vec![])?;
    assert_eq!(step::<f64, i32>(3, 2).run((&mut none, &[[4.0], [5.0]]))?, [[0.0]; 3]);
    let mut empty = CsrMatrix::<f64>::from_vecs(0, 0, vec![0], vec![], vec![])?;
    step::<f64, i32>(0, 0).run((&mut empty, &Tensor::zeros([0, 5])?))?;
    // No column of x.
    step::<f32, i64>(3, 2).run((&mut matrix, &Tensor::zeros([2, 0])?))?;
    assert_eq!(matrix.values(), [-4.0, -3.0, -1.0]);
    // Narrow floats.
    let bf = bf16::from_f32;
    let mut narrow = CsrMatrix::from_vecs(1, 2, vec![0, 2], vec![0, 1], vec![bf(1.0), bf(2.0)])?;
    step::<bf16, i32>(1, 2).run((&mut narrow, &[[bf(0.5)], [bf(4.0)]]))?;
    assert_eq!(narrow.values(), [bf(0.5), bf(-2.0)]);
    Ok(())
}

#[test]
fn wrong_indices_update_nothing() {
    let step = step::<f64, i32>(2, 3);
    let x = [[1.0], [1.0], [1.0]];
    for (offsets, columns) in
        [([0, 2, 3], [0, 1, 3]), ([0, 2, 3], [-1, 1, 2]), ([0, 4, 3], [0, 1, 2])]
    {
        let mut values = [1.0, 2.0, 3.0];
        let run = step.run(((&offsets, &columns, &mut values), &x));
        let Err(error) = run else { panic!("{offsets:?} {columns:?}") };
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert_eq!(values, [1.0, 2.0, 3.0]);
    }
    // A range of rows: its offsets count from the first entry of the whole matrix.
    let matrix = CsrMatrix::from_vecs(3, 3, vec![0, 1, 2, 3], vec![0, 1, 2], vec![1.0; 3]).unwrap();
    let read = Program::trace(|graph| {
        let a = graph.csr_input::<f64, i32>(2, 3, graph.extent("entries", 9));
        let x = graph.input([3]);
        graph.program((a, x), a.matmul(x))
    });
    let error = read.unwrap().run((matrix.view().row_range(1..).unwrap(), &[1.0; 3])).err();
    assert_eq!(error.unwrap().kind(), ErrorKind::InvalidArgument);
}

const N: usize = 1500;

/// The bytes of the plan of the gradients of `of` by the values and by `others`, and of the scratch
/// memory of a run.
fn gradient_bytes(
    others: &[Tensor<f64>],
    seed: &Tensor<f64>,
    of: impl for<'g> Fn(TracedCsr<'g, f64>, &[Traced<'g, f64>]) -> Traced<'g, f64>,
) -> Result<usize> {
    // The diagonal, and an entry next to it in each row.
    let offsets = (0..=N).map(|row| (2 * row).saturating_sub(1) as i32).collect();
    let columns = (0..N as i32).flat_map(|row| [row - 1, row]).skip(1).collect();
    let values = (0..2 * N - 1).map(|k| 1.0 + (k % 7) as f64).collect();
    let matrix = CsrMatrix::from_vecs(N, N, offsets, columns, values)?;
    let others = others.iter().map(Tensor::try_clone).collect::<Result<Vec<_>>>()?;
    let program = Program::trace(|graph| {
        let a = graph.csr_input::<f64, i32>(N, N, matrix.nnz()).assume_coalesced();
        let (others, seed) = (graph.inputs(&others), graph.inputs(seed));
        let by = [vec![a.values()], others.clone()];
        let gradients = graph.gradients_with_seed(of(a, &others), seed, &by);
        graph.program((a, others, seed), gradients)
    })?;
    program.run((&matrix, &others, seed))?;
    let memory = program.memory((&matrix, &others, seed))?;
    Ok(memory.peak_bytes + memory.scratch_bytes)
}

/// A dense matrix has N * N elements of a byte at least, in the plan of any kind of node.
#[test]
fn gradients_take_no_dense_matrix() -> Result<()> {
    let full = |shape: &[usize]| Tensor::<f64>::full(shape, 0.5);
    let [number, vector, columns, rows] = [full(&[])?, full(&[N])?, full(&[N, 2])?, full(&[2, N])?];
    let square = full(&[N, N])?;
    let mut kinds = BTreeSet::new();
    let mut check = |kind, bytes: Result<usize>| -> Result<()> {
        let bytes = bytes?;
        assert!(bytes < N * N, "{kind}: {bytes} bytes");
        kinds.insert(kind);
        Ok(())
    };
    macro_rules! check {
        ($($kind:literal, $others:expr, $seed:expr, $of:expr;)*) => {
            $(check($kind, gradient_bytes(&$others, &$seed, $of))?;)*
        };
    }
    check! {
        "to_dense", [], square, |a, _| a.to_dense();
        // The gradient by the dense operand is the seed.
        "accumulate", [], square, |a, _| a.add_to(a.to_dense());
        "matmul", [columns.try_clone()?], columns, |a, b| a.matmul(b[0]);
        "matmul", [columns.try_clone()?], columns, |a, b| a.t_matmul(b[0]);
        "matmul", [vector.try_clone()?], vector, |a, b| a.matmul(b[0]);
        "sddmm", [columns.try_clone()?, rows.try_clone()?], full(&[2 * N - 1])?,
            |a, b| a.sddmm_times_values(b[0], b[1]);
        "scale", [vector.try_clone()?], full(&[2 * N - 1])?, |a, b| a.scale_rows(b[0]).values();
        "scale", [vector.try_clone()?], full(&[2 * N - 1])?, |a, b| a.scale_cols(b[0]).values();
        "softmax", [], full(&[2 * N - 1])?, |a, _| a.softmax_rows().values();
        "reduce", [], number, |a, _| a.sum();
        "reduce", [], vector, |a, _| a.row_sums();
        "reduce", [], vector, |a, _| a.col_sums();
        "reduce", [], number, |a, _| a.max();
        "reduce", [], vector, |a, _| a.row_mins();
        "reduce", [], vector, |a, _| a.col_maxes();
        "norm", [], number, |a, _| a.norm_1();
        "norm", [], number, |a, _| a.norm_inf();
        "norm", [], number, |a, _| a.norm_frobenius();
        "diagonal", [], vector, |a, _| a.diagonal();
        "solve", [columns.try_clone()?], columns, |a, b| a.solve_triangular(Triangle::Lower, b[0]);
    };
    let source = include_str!("../../../tenure-sys/src/node_kinds.rs");
    let named = source.split("name: \"sparse_").skip(1).filter_map(|text| text.split('"').next());
    assert_eq!(kinds, named.collect(), "a kind of node without a case");
    Ok(())
}

/// `waves` of `tests/interop/torch_sparse_training_test.py`.
fn waves<const R: usize>(shape: [usize; R], step: f64) -> Tensor<f64> {
    let count = shape.iter().product::<usize>();
    Tensor::from_vec((0..count).map(|k| (k as f64 * step + 0.5).sin()).collect(), shape).unwrap()
}

/// The loss of each seventh of 50 steps.
fn losses(optimizer: impl Optimizer, rate: f64) -> Result<Vec<f64>> {
    const ROWS: usize = 12;
    const COLS: usize = 10;
    let kept = |row: usize| (0..COLS).filter(move |col| (7 * row + 3 * col) % 4 == 0);
    let columns: Vec<i32> = (0..ROWS).flat_map(kept).map(|col| col as i32).collect();
    let ends = (0..ROWS).scan(0, |end, row| {
        *end += kept(row).count() as i32;
        Some(*end)
    });
    let offsets = std::iter::once(0).chain(ends).collect();
    let values = waves([columns.len()], 0.7).to_vec();
    let mut matrix = CsrMatrix::from_vecs(ROWS, COLS, offsets, columns, values)?;
    let mut weight = waves([3, ROWS], 1.3);
    let (x, target) = (waves([COLS, 6], 0.3), waves([3, 6], 0.9));
    let mut states = optimizer.zeros([TensorView::from(matrix.values()), weight.view()].iter())?;
    let step = Program::trace(|graph| {
        let a = graph.csr_input::<f64, i32>(ROWS, COLS, matrix.nnz());
        let (w, x, target) = (graph.inputs(&weight), graph.inputs(&x), graph.inputs(&target));
        let states = graph.inputs(&states);
        let loss = train::mse(w.matmul(a.matmul(x).tanh()), target);
        let parameters = [a.values(), w];
        let gradients = graph.gradients(loss, parameters);
        let next = optimizer.step(rate, &parameters, &gradients, &states);
        let (values, w) = (next.parameters[0].value(), next.parameters[1]);
        graph.program((a.updated_by(values), w, x, target, next.states), loss)
    })?;
    let mut losses = Vec::new();
    for _ in 0..50 {
        let loss = step.run((&mut matrix, &mut weight, &x, &target, &mut states))?;
        losses.extend(loss.item());
    }
    Ok(losses.into_iter().step_by(7).collect())
}

// `python tests/interop/torch_sparse_training_test.py --print`
#[rustfmt::skip]
const SGD: [f64; 8] = [0.78978083, 0.37435312, 0.32835002, 0.25126681, 0.24478291, 0.22155112, 0.21267323, 0.20129062];
#[rustfmt::skip]
const ADAMW: [f64; 8] = [0.78978083, 0.35742853, 0.30569047, 0.25701441, 0.24459863, 0.23181198, 0.21577199, 0.19934912];

#[test]
fn losses_are_those_of_pytorch() -> Result<()> {
    let sgd = losses(Sgd::new().momentum(0.9).weight_decay(0.01), 0.05)?;
    let adamw = losses(AdamW::new().weight_decay(0.01), 0.02)?;
    for (found, expected) in sgd.iter().zip(&SGD).chain(adamw.iter().zip(&ADAMW)) {
        assert!((found - expected).abs() < 1e-7, "{sgd:?} {adamw:?}");
    }
    Ok(())
}
