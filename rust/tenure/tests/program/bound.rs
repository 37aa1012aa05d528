//! Bound programs: the bits of the program, on any thread, of any number of inputs; refusals.

use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use super::*;
use tenure::Shapes;

fn scores(graph: Graph<'_>) -> Result<Program<(f32, f32), (f32, i64)>> {
    let n = graph.extent("n", 64);
    let (x, w) = (graph.input::<f32>((n, 24)), graph.input::<f32>([24, 10]));
    let scores = (x * 2.0 - x.mean(Axes::keep(1))).matmul(w).tanh().softmax(-1);
    graph.program((x, w), (scores, scores.argmax(1)))
}

/// A program that is bound in each way to these inputs and outputs.
macro_rules! each_way {
    ($program:expr, $inputs:expr, $outputs:expr) => {{
        let program = &$program;
        [
            program.bind($inputs, $outputs).unwrap(),
            program.bind_preallocated($inputs, $outputs).unwrap(),
        ]
    }};
}

#[test]
fn has_the_bits_of_its_program() {
    let program = Program::trace(scores).unwrap();
    let (x, w) = (floats(1, [30, 24]), floats(2, [24, 10]));
    let (expected, best) = program.run((&x, &w)).unwrap();
    let (mut got, mut at) =
        (Tensor::<f32>::zeros([30, 10]).unwrap(), Tensor::<i64>::zeros(30).unwrap());
    let ways = each_way!(program, (&x, &w), (&mut got, &mut at));
    assert_eq!(got, Tensor::<f32>::zeros([30, 10]).unwrap());
    drop(program);
    std::thread::spawn(move || {
        for bound in ways {
            for _ in 0..3 {
                bound.run((&x, &w), (&mut got, &mut at)).unwrap();
                assert_same(&got.try_clone(), &expected.try_clone(), "bound");
                assert_eq!(at, best);
            }
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
    for bound in each_way!(program, (x, &w), (&mut got, &mut at)) {
        bound.run((x, &w), (&mut got, &mut at)).unwrap();
        let copy = x.to_tensor().unwrap();
        let refused = bound.run((&copy, &w), (&mut got, &mut at)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
        let why = "inputs[0] is f32 with the strides [24, 1]";
        assert!(refused.message().contains(why), "{refused}");
        let error = tenure::Error::from(refused);
        assert!(error.message().contains("bound to f32 with [1, 30]"), "{error}");
    }
    let short = floats(5, [24, 9]);
    for refused in [
        program.bind((x, &short), (&mut got, &mut at)).unwrap_err(),
        program.bind_preallocated((x, &w), (&mut got, &mut [0; 29])).unwrap_err(),
    ] {
        assert_eq!(refused.kind(), ErrorKind::InvalidArgument, "{refused}");
    }
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
            |body, (y, _), ()| body.outputs(y.lt(100.0).all(0)),
            |body, (y, n), ()| body.outputs((y * 3.0, n + 1)),
        )?;
        graph.program((x, rises), (y, steps))
    })
    .unwrap();
    let x = Tensor::from([10.0_f32, 20.0, 30.0]);
    let flag = |rises: bool| Tensor::full([], Bool8::from(rises)).unwrap();
    let (mut y, mut steps) = ([0.0_f32; 3], Tensor::<i32>::zeros([]).unwrap());
    for bound in each_way!(program, (&x, &flag(true)), (&mut y, &mut steps)) {
        for rises in [true, false] {
            let rises = flag(rises);
            let (expected, count) = program.run((&x, &rises)).unwrap();
            bound.run((&x, &rises), (&mut y, &mut steps)).unwrap();
            assert_eq!((expected, count.item()), (Tensor::from(y), steps.item()));
        }
        // 4 iterations raise no element to 100.
        let small = Tensor::from([0.1_f32, 0.2, 0.3]);
        let refused = bound.run((&small, &flag(true)), (&mut y, &mut steps)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
        assert!(refused.message().contains("while: a loop that does not end"), "{refused}");
    }
}

#[test]
fn takes_many_inputs() {
    let program = Program::trace(|graph| {
        let inputs: [_; 20] = std::array::from_fn(|_| graph.input::<f64>([3]));
        graph.program(inputs, inputs.into_iter().reduce(|a, b| a + b).unwrap())
    })
    .unwrap();
    let mut out = [0.0; 3];
    let ways: [Bound<[f64; 20], f64>; 2] = each_way!(program, [&[1.0, 2.0, 3.0]; 20], &mut out);
    for bound in ways {
        out = [0.0; 3];
        bound.run([&[1.0, 2.0, 3.0]; 20], &mut out).unwrap();
        assert_eq!(out, [20.0, 40.0, 60.0]);
    }
}

#[test]
fn what_data_are_refused_for_is_said_in_a_run() {
    let program = Program::trace(|graph| {
        let (x, y) = (graph.input::<i32>([2]), graph.input::<i32>([2]));
        let (some, hits) = x.masked_select(x.gt(0), "some", 1);
        graph.program((x, y), (x / y, some.reshape(hits)))
    })
    .unwrap();
    let (mut quotients, mut some) = ([7; 2], [7]);
    for bound in each_way!(program, (&[0; 2], &[0; 2]), (&mut quotients, &mut some)) {
        (quotients, some) = ([7; 2], [7]);
        bound.run((&[6, -8], &[2, 4]), (&mut quotients, &mut some)).unwrap();
        assert_eq!((quotients, some), ([3, -2], [6]));
        for (x, y, why) in [
            ([1, -1], [1, 0], "an integer is divided by an element 0"),
            ([1, 2], [1, 1], "2 are found but some is at most 1"),
        ] {
            let refused = bound.run((&x, &y), (&mut quotients, &mut some)).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
            assert!(refused.message().contains(why), "{refused}");
            let error = program.run_into((&x, &y), (&mut quotients, &mut some)).unwrap_err();
            assert!(error.message().contains(why), "{error}");
            // With the place in the source, as that of the program.
            assert_eq!(tenure::Error::from(refused).message(), error.message());
        }
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
    let mut out = [[0.0; 2]; 2];
    let inputs = (&offsets, &columns, &values);
    let error = program.bind_preallocated(inputs, &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("to_dense at "), "{error}");
    program.bind(inputs, &mut out).unwrap().run(inputs, &mut out).unwrap();
    assert_eq!(out, [[0.0, 5.0], [0.0, 0.0]]);
}

#[test]
fn options_of_the_program_are_those_of_its_runs() {
    let program = Program::trace(|graph| {
        let x = graph.input::<f64>([100]);
        graph.program((x,), x.cumsum(0).cumsum(0))
    })
    .unwrap();
    let (x, mut out) = ([1.0; 100], [0.0; 100]);
    let needed = program.memory((&x,)).unwrap().peak_bytes;
    for fits in [true, false] {
        let budgeted = program.clone().with_budget(needed - usize::from(!fits));
        for bound in [budgeted.bind((&x,), &mut out), budgeted.bind_preallocated((&x,), &mut out)] {
            assert_eq!(
                bound.err().map(|error| error.kind()),
                (!fits).then_some(ErrorKind::OutOfMemory)
            );
        }
    }
    let checked = program.clone().checked();
    checked.bind((&x,), &mut out).unwrap().run((&x,), &mut out).unwrap();
    assert_eq!(out[99], 5050.0);
    let error = checked.bind_preallocated((&x,), &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("the program is checked"), "{error}");
}

/// Threads share one, also through a context; of a preallocated one some runs are refused.
#[test]
fn threads_share_one() {
    let program = Program::trace(scores).unwrap();
    let (x, w) = (floats(1, [30, 24]), floats(2, [24, 10]));
    let (expected, best) = program.run((&x, &w)).unwrap();
    let new = || (Tensor::<f32>::zeros([30, 10]).unwrap(), vec![0_i64; 30]);
    let (mut got, mut at) = new();
    let [plain, preallocated] = each_way!(program, (&x, &w), (&mut got, &mut at));
    let context = Context::with_threads(2).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (plain, preallocated, context) = (&plain, &preallocated, &context);
            let (x, w, expected, best) = (&x, &w, &expected, &best);
            scope.spawn(move || {
                let (mut got, mut at) = new();
                for _ in 0..50 {
                    let mut run = || plain.run((x, w), (&mut got, &mut at)).unwrap();
                    if thread % 2 == 0 {
                        context.install(run)
                    } else {
                        run()
                    }
                    assert_same(&got.try_clone(), &expected.try_clone(), "on a thread");
                    assert_eq!(&at[..], best.as_slice().unwrap());
                    match preallocated.run((x, w), (&mut got, &mut at)) {
                        Ok(()) => assert_same(&got.try_clone(), &expected.try_clone(), "alone"),
                        Err(refused) => {
                            assert_eq!(refused.kind(), ErrorKind::Busy);
                            assert!(refused.message().contains("another thread runs it"));
                        }
                    }
                }
            });
        }
    });
}

#[test]
fn inputs_by_number_and_of_several_types() {
    // Also where the program reads them in another order, twice, or not at all.
    let [a, b, c] = [1, 2, 3].map(|seed| floats(seed, [2, 3]));
    let program = Program::trace(|graph| {
        let inputs: [_; 3] = std::array::from_fn(|_| graph.input::<f32>([2, 3]));
        graph.program(inputs, inputs[2] - inputs[0] * inputs[2])
    })
    .unwrap();
    let mut out = Tensor::zeros([2, 3]).unwrap();
    for bound in each_way!(program, [&a, &b, &c], &mut out) {
        bound.run([&a, &b, &c], &mut out).unwrap();
        assert_same(&out.try_clone(), &(&c - &a * &c).eval(), "a, b, c");
        bound.run([&b, &c, &a], &mut out).unwrap();
        assert_same(&out.try_clone(), &(&a - &b * &a).eval(), "b, c, a");
        bound.run([&a, &a, &a], &mut out).unwrap();
        assert_same(&out.try_clone(), &(&a - &a * &a).eval(), "one for all");
    }

    let (pixels, mean, mask) = ([[0_u8, 128, 255]], [100.0_f32], [true, false, true]);
    let mask = Tensor::from(mask.map(Bool8::from));
    let program = Program::trace(|graph| {
        let (x, m) = (graph.input::<u8>([1, 3]), graph.input::<f32>([1]));
        let keep = graph.input::<Bool8>([3]);
        graph.program((x, m, keep), keep.select(x.cast::<f32>() - m, -1.0))
    })
    .unwrap();
    let mut out = [[0.0_f32; 3]];
    for bound in each_way!(program, (&pixels, &mean, &mask), &mut out) {
        bound.run((&pixels, &mean, &mask), &mut out).unwrap();
        assert_eq!(out, [[-100.0, -1.0, 155.0]]);
        bound.run((&[[1_u8, 2, 3]], &mean, &mask), &mut out).unwrap();
        assert_eq!(out, [[-99.0, -1.0, -97.0]]);
    }
}

#[test]
fn views_of_any_layout() {
    let wide = floats(5, [4, 6]);
    let (a, b) = (wide.slice_step(1, .., 2).unwrap(), wide.slice(1, 3..).unwrap());
    let program = Program::trace(|graph| {
        let (x, y) = (graph.input::<f32>([4, 3]), graph.input::<f32>([4, 3]));
        graph.program((x, y), x * y)
    })
    .unwrap();
    let expected = (a * b).eval().unwrap();
    let mut memory = vec![0.0; 24];
    let out = TensorViewMut::from_slice(&mut memory, [3, 8]).unwrap();
    let mut out = out.slice_step(1, .., 2).unwrap().t();
    for bound in each_way!(program, (&a, &b), &mut out) {
        out.fill(0.0);
        bound.run((&a, &b), &mut out).unwrap();
        assert!(out.view().iter().eq(expected.iter()));
        // Another order of the same shape is another layout.
        let refused = bound.run((&expected, &b), &mut out).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
        assert!(refused.message().contains("strides"), "{refused}");
        let mut plain = Tensor::zeros([4, 3]).unwrap();
        let refused = bound.run((&a, &b), &mut plain).unwrap_err();
        assert!(refused.message().contains("outputs[0]"), "{refused}");
    }
}

/// A run that begins within a run of a preallocated program, from an operation of its own.
#[test]
fn one_that_runs_is_busy() {
    let slot = Arc::<OnceLock<Weak<Bound<(f32,), f32>>>>::default();
    let inner = slot.clone();
    let operation = CustomOperation::new::<(f32,), f32>(
        "nested",
        |[x]| Ok(x.to_vec()),
        move |(x,), mut out| {
            if let Some(bound) = inner.get().and_then(Weak::upgrade) {
                let refused = bound.run((&[1.0],), &mut [0.0]).unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::Busy, "{refused}");
            }
            Ok(ops::neg_into(&x, &mut out)?)
        },
    )
    .unwrap();
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([1]);
        graph.program((x,), graph.custom(&operation, x))
    });
    let mut out = [0.0];
    let bound = Arc::new(program.unwrap().bind_preallocated((&[2.0],), &mut out).unwrap());
    slot.set(Arc::downgrade(&bound)).unwrap();
    bound.run((&[2.0],), &mut out).unwrap();
    assert_eq!(out, [-2.0]);
}

#[test]
fn shapes_of_other_programs_are_refused() {
    let one = Program::trace(|graph| {
        let x = graph.input::<i32>([5]);
        let (positive, _) = x.masked_select(x.gt(0), "positive", 3);
        graph.program((x,), positive)
    })
    .unwrap();
    let two = Program::trace(|graph| {
        let x = graph.input::<i32>([2]);
        graph.program((x,), (x + 1, x.sum(0)))
    })
    .unwrap();
    let (mut out, mut sum) = ([0; 3], Tensor::zeros([]).unwrap());
    let one = one.bind((&[0; 5],), &mut out).unwrap();
    let two = two.bind((&[0; 2],), (&mut [0; 2], &mut sum)).unwrap();
    let mut shapes: Shapes = two.shapes();
    assert_eq!(format!("{shapes:?}"), "[[2], []]");
    let refused = one.run_shapes((&[1; 5],), &mut out, &mut shapes).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    assert!(refused.message().contains("shapes are of other outputs"), "{refused}");
    let mut shapes = one.shapes();
    assert_eq!((shapes.get(0), shapes.get(1)), (Some(&[3][..]), None));
    one.run_shapes((&[1, 0, 0, 0, 2],), &mut out, &mut shapes).unwrap();
    assert_eq!((shapes.get(0), out), (Some(&[2][..]), [1, 2, 0]));
    // Refused in the data: they are as they were.
    one.run_shapes((&[1; 5],), &mut out, &mut shapes).unwrap_err();
    assert_eq!(shapes.get(0), Some(&[2][..]));
    assert!(format!("{one:?}").starts_with("Bound { shapes: [[3]], memory: MemoryPlan"), "{one:?}");
}

#[test]
fn is_sent_and_shared() {
    fn sent_and_shared<T: Send + Sync>() {}
    sent_and_shared::<Bound<(f32, program::Updated<Bool8>), Vec<i64>>>();
    sent_and_shared::<Bound<(f32,), f32, expr::OnDevice>>();
    sent_and_shared::<Bound<(f32,), f32, tenure::program::Captured>>();
    sent_and_shared::<Refused>();
}

/// A forgotten one keeps its memory, and nothing else. The static keeps a leak checker silent.
#[test]
fn one_may_be_forgotten() {
    type Scores = Bound<(f32, f32), (f32, i64)>;
    static FORGOTTEN: Mutex<Vec<ManuallyDrop<Scores>>> = Mutex::new(Vec::new());
    let program = Program::trace(scores).unwrap();
    let (x, w) = (floats(1, [30, 24]), floats(2, [24, 10]));
    let (mut got, mut at) = (Tensor::<f32>::zeros([30, 10]).unwrap(), vec![0; 30]);
    for bound in each_way!(program, (&x, &w), (&mut got, &mut at)) {
        bound.run((&x, &w), (&mut got, &mut at)).unwrap();
        FORGOTTEN.lock().unwrap().push(ManuallyDrop::new(bound));
    }
    drop((program, x, w));
    assert_eq!(got.shape(), [30, 10]);
}
