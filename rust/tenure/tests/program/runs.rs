//! Runs: on threads, in contexts, of any layout, into any memory, and their memory use.

use super::*;

fn mixed(graph: Graph<'_>) -> Result<Program<(f32, f32), (f32, i64)>> {
    let (n, m) = (graph.extent("n", 512), 24);
    let (x, w) = (graph.input::<f32>((n, m)), graph.input::<f32>([24, 10]));
    let scores = (x * 2.0 - x.mean(Axes::keep(1))).matmul(w).tanh().softmax(-1);
    graph.program((x, w), (scores, scores.argmax(1)))
}

fn one_by_one(x: &Tensor<f32>, w: &Tensor<f32>) -> Result<(Tensor<f32>, Tensor<i64>)> {
    let centred =
        tenure::ops::sub(tenure::ops::mul(x, 2.0)?, tenure::ops::mean(x, Axes::keep(1))?)?;
    let scores = tenure::nn::softmax(tenure::ops::tanh(tenure::linalg::matmul(centred, w)?)?, -1)?;
    let best = tenure::ops::argmax(&scores, 1)?;
    Ok((scores, best))
}

#[test]
fn threads_share_a_program() {
    let program = Program::trace(mixed).unwrap();
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let program = program.clone();
            scope.spawn(move || {
                for n in [1, 30, 64] {
                    let (x, w) = (floats(seed, [n, 24]), floats(seed + 9, [24, 10]));
                    let expected = one_by_one(&x, &w).unwrap();
                    for _ in 0..20 {
                        let (scores, best) = program.run((&x, &w)).unwrap();
                        assert_same(&Ok(scores), &expected.0.try_clone(), "on a thread");
                        assert_eq!(best, expected.1);
                    }
                }
            });
        }
    });
}

#[test]
fn any_number_of_threads_at_work() {
    let program = Program::trace(mixed).unwrap();
    let (x, w) = (floats(1, [512, 24]), floats(2, [24, 10]));
    let expected = program.run((&x, &w)).unwrap();
    for thread_count in [1, 2, 3] {
        let context = Context::with_threads(thread_count).unwrap();
        let got = context.install(|| program.run((&x, &w))).unwrap();
        assert_same(&Ok(got.0), &expected.0.try_clone(), "in a context");
        assert_eq!(got.1, expected.1);
    }
}

#[test]
fn any_layout() {
    let program = Program::trace(mixed).unwrap();
    let (wide, w) = (floats(3, [24, 60]), floats(4, [10, 24]));
    let (x, w) = (wide.t(), w.t());
    let x = x.slice_step(0, .., 2).unwrap();
    let copies = (x.to_tensor().unwrap(), w.to_tensor().unwrap());
    let expected = one_by_one(&copies.0, &copies.1).unwrap();
    let got = program.run((&x, &w)).unwrap();
    assert_same(&Ok(got.0), &expected.0.try_clone(), "views");

    let (mut memory, mut best) = (vec![0.0_f32; 600], [0_i64; 30]);
    let out = TensorViewMut::from_slice(&mut memory, [20, 30]).unwrap();
    let mut out = out.slice_step(0, .., 2).unwrap().t();
    program.run_into((x, w), (&mut out, &mut best)).unwrap();
    assert!(out.view().iter().eq(expected.0.iter()));
    assert!(best.iter().eq(expected.1.iter()));
}

#[test]
fn every_form_of_inputs_and_outputs() {
    let program = Program::trace(|graph| {
        let inputs = [graph.input::<i32>([2]), graph.input([2]), graph.input([2])];
        graph.program(inputs, inputs.map(|input| input + 1))
    })
    .unwrap();
    let [a, b, c] = program.run([&[1, 2], &[3, 4], &[5, 6]]).unwrap();
    assert_eq!((a, b, c), (Tensor::from([2, 3]), Tensor::from([4, 5]), Tensor::from([6, 7])));
    let mut outs = [[0; 2]; 3];
    let [x, y, z] = &mut outs;
    program.run_into([&[0, 0]; 3], [x, y, z]).unwrap();
    assert_eq!(outs, [[1, 1]; 3]);

    let program = Program::trace(|graph| {
        let x = graph.copy_constant(&[1.0, 2.0]);
        graph.program((), vec![x, x * 2.0])
    })
    .unwrap();
    assert_eq!(program.run(()).unwrap()[1], [2.0, 4.0]);
    let mut outs = vec![[0.0; 2]; 2];
    program.run_into((), &mut outs[..]).unwrap();
    assert_eq!(outs, [[1.0, 2.0], [2.0, 4.0]]);
    let refused = program.run_into((), &mut outs[..1]).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);

    // More than there is room for on the stack.
    let program = Program::trace(|graph| {
        let inputs: [_; 40] = std::array::from_fn(|_| graph.input::<f64>([] as [usize; 0]));
        let sum = inputs.into_iter().reduce(|a, b| a + b).unwrap();
        graph.program(inputs, vec![sum; 20])
    })
    .unwrap();
    let outputs = program.run([1.5; 40]).unwrap();
    assert!(outputs.len() == 20 && outputs.iter().all(|output| output.item() == Some(60.0)));
}

#[test]
fn an_input_may_be_an_output() {
    let program = Program::trace(|graph| {
        let x = graph.input::<i32>([2, 2]);
        graph.program((x,), (x, x.t(), x))
    })
    .unwrap();
    let (same, turned, again) = program.run((&[[1, 2], [3, 4]],)).unwrap();
    assert_eq!((&same, turned), (&Tensor::from([[1, 2], [3, 4]]), Tensor::from([[1, 3], [2, 4]])));
    assert_eq!(same, again);
}

#[test]
fn memory_and_budget() {
    let chain = |passes| {
        Program::trace_with(passes, |graph| {
            let x = graph.input::<f32>([graph.extent("n", 1 << 40)]);
            let far = (0..6).fold(x, |value, _| value.cumsum(0) * 0.5);
            graph.program((x,), far)
        })
        .unwrap()
    };
    let x = floats(1, [1000]);
    let (best, none) = (chain(Passes::DEFAULT), chain(Passes::NONE));
    let (planned, apart) = (best.memory((&x,)).unwrap(), none.memory((&x,)).unwrap());
    assert!(planned.peak_bytes < apart.peak_bytes, "{planned:?} {apart:?}");
    // Each begins on a line of the cache.
    assert!(apart.peak_bytes >= apart.total_bytes);
    assert!(planned.live_bytes <= planned.peak_bytes && planned.steps <= apart.steps);
    let enough = none.clone().with_budget(apart.peak_bytes);
    assert_same(&enough.run((&x,)), &best.run((&x,)), "the passes");
    for budget in [0, 1, apart.peak_bytes - 1] {
        let refused = none.clone().with_budget(budget).run((&x,)).err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::OutOfMemory);
        let (needed, message) = (apart.peak_bytes, refused.message());
        let wanted = format!("intermediate values take {needed} bytes but the budget is {budget}");
        assert_eq!(message, wanted);
    }
    assert_eq!(best.with_budget(0).run((&x,)).is_ok(), planned.peak_bytes == 0);
}

#[test]
fn debug() {
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([graph.extent("n", 3)]);
        assert_eq!(format!("{x:?}"), "Traced<f32>(0)");
        let out = x.exp() + 1.0;
        assert_eq!(format!("{graph:?}"), "Graph(exp, add)");
        graph.program((x,), out)
    });
    assert_eq!(format!("{:?}", program.unwrap()), "Program(exp, add)");
}

#[test]
fn is_sent_and_shared() {
    fn sent_and_shared<T: Send + Sync + Clone>() {}
    sent_and_shared::<Program<(f32, program::Updated<Bool8>), Vec<i64>>>();
}
