//! Sealed programs: the bits of the program, on any thread, of any number of inputs; refusals.

use super::*;
use tenure::SealedProgram;

fn scores(graph: Graph<'_>) -> Result<Program<(f32, f32), (f32, i64)>> {
    let n = graph.extent("n", 64);
    let (x, w) = (graph.input::<f32>((n, 24)), graph.input::<f32>([24, 10]));
    let scores = (x * 2.0 - x.mean(Axes::keep(1))).matmul(w).tanh().softmax(-1);
    graph.program((x, w), (scores, scores.argmax(1)))
}

#[test]
fn has_the_bits_of_its_program() {
    let program = Program::trace(scores).unwrap();
    let (x, w) = (floats(1, [30, 24]), floats(2, [24, 10]));
    let (expected, best) = program.run((&x, &w)).unwrap();
    let (mut got, mut at) =
        (Tensor::<f32>::zeros([30, 10]).unwrap(), Tensor::<i64>::zeros(30).unwrap());
    let mut sealed = program.seal((&x, &w), (&mut got, &mut at)).unwrap();
    assert_eq!(got, Tensor::<f32>::zeros([30, 10]).unwrap());
    drop(program);
    std::thread::spawn(move || {
        for _ in 0..3 {
            sealed.run_into((&x, &w), (&mut got, &mut at)).unwrap();
            assert_same(&got.try_clone(), &expected.try_clone(), "sealed");
            assert_eq!(at, best);
        }
    })
    .join()
    .unwrap();
}

#[test]
fn is_of_layouts() {
    let program = Program::trace(scores).unwrap();
    let (wide, w) = (floats(3, [24, 30]), floats(4, [24, 10]));
    let x = wide.t();
    let (mut got, mut at) = (Tensor::<f32>::zeros([30, 10]).unwrap(), vec![0; 30]);
    let mut sealed = program.seal((x, &w), (&mut got, &mut at)).unwrap();
    sealed.run_into((x, &w), (&mut got, &mut at)).unwrap();
    let copy = x.to_tensor().unwrap();
    let refused = sealed.run_into((&copy, &w), (&mut got, &mut at)).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    assert!(refused.message().contains("inputs[0] is f32 with the strides [24, 1]"), "{refused}");
    let error = tenure::Error::from(refused);
    assert!(error.message().contains("sealed for f32 with [1, 30]"), "{error}");
}

#[test]
fn runs_branches_and_loops() {
    let program = Program::trace(|graph| {
        let (x, rises) = (graph.input::<f32>([3]), graph.input::<Bool8>(()));
        let scaled = graph.cond(
            rises,
            (x,),
            |body, (x,)| body.outputs(x * 2.0),
            |body, (x,)| body.outputs(x.cumsum(0)),
        )?;
        let zero = graph.copy_constant(&Tensor::full([], 0)?);
        let (y, steps) = graph.while_loop(
            4,
            (scaled, zero),
            (),
            |body, (y, _), ()| body.outputs(y.less(100.0).all(0)),
            |body, (y, n), ()| body.outputs((y * 3.0, n + 1)),
        )?;
        graph.program((x, rises), (y, steps))
    })
    .unwrap();
    let x = Tensor::from([10.0_f32, 20.0, 30.0]);
    let flag = |rises: bool| Tensor::full([], Bool8::from(rises)).unwrap();
    let (mut y, mut steps) = ([0.0_f32; 3], Tensor::<i32>::zeros([]).unwrap());
    let mut sealed = program.seal((&x, &flag(true)), (&mut y, &mut steps)).unwrap();
    for rises in [true, false] {
        let rises = flag(rises);
        let (expected, count) = program.run((&x, &rises)).unwrap();
        sealed.run_into((&x, &rises), (&mut y, &mut steps)).unwrap();
        assert_eq!((expected, count.item()), (Tensor::from(y), steps.item()));
    }
    // 4 iterations raise no element to 100.
    let small = Tensor::from([0.1_f32, 0.2, 0.3]);
    let refused = sealed.run_into((&small, &flag(true)), (&mut y, &mut steps)).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    assert!(refused.message().contains("while: a loop that does not end"), "{refused}");
}

#[test]
fn takes_many_inputs() {
    let program = Program::trace(|graph| {
        let inputs: [_; 20] = std::array::from_fn(|_| graph.input::<f64>([3]));
        graph.program(inputs, inputs.into_iter().reduce(|a, b| a + b).unwrap())
    })
    .unwrap();
    let mut out = [0.0; 3];
    let mut sealed: SealedProgram<[f64; 20], f64> =
        program.seal([&[1.0, 2.0, 3.0]; 20], &mut out).unwrap();
    sealed.run_into([&[1.0, 2.0, 3.0]; 20], &mut out).unwrap();
    assert_eq!(out, [20.0, 40.0, 60.0]);
}

#[test]
fn what_data_are_refused_for_is_said_in_a_run() {
    let program = Program::trace(|graph| {
        let (x, y) = (graph.input::<i32>([2]), graph.input::<i32>([2]));
        let (some, hits) = x.masked_select(x.greater(0), "some", 1);
        graph.program((x, y), (x / y, some.reshape(hits)))
    })
    .unwrap();
    let (mut quotients, mut some) = ([7; 2], [7]);
    let mut sealed = program.seal((&[0; 2], &[0; 2]), (&mut quotients, &mut some)).unwrap();
    assert_eq!((quotients, some), ([7; 2], [7]));
    sealed.run_into((&[6, -8], &[2, 4]), (&mut quotients, &mut some)).unwrap();
    assert_eq!((quotients, some), ([3, -2], [6]));
    for (x, y, why) in [
        ([1, -1], [1, 0], "an integer is divided by an element 0"),
        ([1, 2], [1, 1], "2 are found but some is at most 1"),
    ] {
        let refused = sealed.run_into((&x, &y), (&mut quotients, &mut some)).err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
        assert!(refused.message().contains(why), "{refused}");
        let error = program.run_into((&x, &y), (&mut quotients, &mut some)).err().unwrap();
        assert!(error.message().contains(why), "{error}");
    }
}

#[test]
fn operations_that_throw_are_named() {
    let program = Program::trace(|graph| {
        let a = graph.csr_input::<f32, i32>(2, 2, 1);
        graph.program((a.row_offsets(), a.col_indices(), a.values()), a.to_dense())
    })
    .unwrap();
    let (offsets, columns, values) = ([0, 1, 1], [1], [5.0]);
    let error = program.seal((&offsets, &columns, &values), &mut [[0.0; 2]; 2]).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("to_dense at "), "{error}");
}
