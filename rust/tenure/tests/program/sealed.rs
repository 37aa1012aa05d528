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
fn operations_that_refuse_elements_are_named() {
    let program = Program::trace(|graph| {
        let (x, y) = (graph.input::<i32>([2]), graph.input::<i32>([2]));
        graph.program((x, y), x / y)
    })
    .unwrap();
    let error = program.seal((&[1, 2], &[1, 1]), &mut [0; 2]).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("div at "), "{error}");
}
