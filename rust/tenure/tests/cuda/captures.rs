//! Programs that are captured on a device, compared with plain runs.

use tenure::program::Captured;
use tenure::*;

use crate::{alone, has_fake_driver, stream};

/// Counts of waits are those of a process.
const NONE: (&str, &str) = ("TENURE_TEST_NONE", "1");

fn network() -> Program<(f32,), (f32, f32)> {
    let weights = Tensor::from_fn([6, 5], |[row, col]| row as f32 * 0.5 - col as f32).unwrap();
    let weights = weights.into_shared();
    Program::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("batch", 64), 6));
        let hidden = (x.matmul(graph.constant(&weights)) * 0.125).tanh();
        graph.program((x,), (hidden.softmax(1), hidden.sum(0)))
    })
    .unwrap()
}

type Layers<T> = Vec<(T, [T; 1])>;

type Inputs = (Layers<program::Updated<f32>>, f32);

/// A step that updates the parameters, and gives them as they were.
fn step() -> Program<Inputs, (f32, Layers<f32>)> {
    Program::trace(|graph| {
        let layer = || (graph.input::<f32>([2, 2]), [graph.input::<f32>([2])]);
        let (layers, x) = (vec![layer(), layer()], graph.input::<f32>([3, 2]));
        let y = layers.iter().fold(x, |x, (weight, [bias])| (x.matmul(*weight) + *bias).tanh());
        let [next] = graph.map_trees([&layers], |[p]| [p * 0.5]);
        let [before] = graph.map_trees([&layers], |[p]| [p + 0.0]);
        graph.program((layers.updated_by(next), x), (y, before))
    })
    .unwrap()
}

#[test]
fn trees_of_tensors() {
    let stream = stream!();
    let layers = |value: f32| -> Layers<cuda::Tensor<f32>> {
        let layer = || (stream.full([2, 2], value).unwrap(), [stream.full([2], value).unwrap()]);
        vec![layer(), layer()]
    };
    let (program, x) = (step(), || stream.full([3, 2], 2.0_f32).unwrap());
    let mut parameters = layers(0.5);
    let (y, before) = stream.run(&program, (&mut parameters, &x())).unwrap();
    let y = stream.to_vec(&y).unwrap();
    assert_eq!(stream.to_vec(&before[1].1[0]).unwrap(), [0.5, 0.5]);
    assert_eq!(stream.to_vec(&parameters[1].1[0]).unwrap(), [0.25, 0.25]);

    let outputs = (stream.zeros([3, 2]).unwrap(), layers(0.0));
    let mut captured = stream.capture(&program, (layers(0.5), x()), outputs).unwrap();
    captured.run().unwrap();
    assert_eq!(stream.to_vec(captured.outputs().0).unwrap(), y);
    assert_eq!(stream.to_vec(captured.outputs().1[1].0).unwrap(), [0.5; 4]);
    assert_eq!(stream.to_vec(captured.inputs().0[0].1[0]).unwrap(), [0.25, 0.25]);
    stream.fill(&mut captured.inputs_mut().0[1].0, 4.0).unwrap();
    captured.run().unwrap();
    assert_eq!(stream.to_vec(captured.outputs().1[1].0).unwrap(), [4.0; 4]);

    let mut whole = (stream.zeros([3, 2]).unwrap(), layers(0.0));
    let bound = stream.bind(&program, (&mut parameters, &x()), &mut whole).unwrap();
    bound.run((&mut parameters, &x()), &mut whole).unwrap();
    assert_eq!(stream.to_vec(&whole.1[0].0).unwrap(), [0.25; 4]);
}

fn batch(rows: usize, round: usize) -> Tensor<f32> {
    Tensor::from_fn([rows, 6], |[row, col]| (row + round) as f32 * 0.25 - col as f32).unwrap()
}

#[test]
fn runs_have_the_bits_of_the_program() {
    let stream = stream!();
    let program = network();
    for rows in [0, 1, 40] {
        let outputs = (stream.zeros([rows, 5]).unwrap(), stream.zeros([5]).unwrap());
        let x = stream.zeros([rows, 6]).unwrap();
        let mut captured = stream.capture(&program, (x,), outputs).unwrap();
        for round in 0..3 {
            stream.upload_into(&batch(rows, round), &mut captured.inputs_mut().0).unwrap();
            captured.run().unwrap();
            let x = stream.upload(&batch(rows, round)).unwrap();
            let (soft, sums) = stream.run(&program, (&x,)).unwrap();
            let bits = |of: Vec<f32>| of.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            let (soft_out, sums_out) = captured.outputs();
            let soft_out = stream.to_vec(soft_out).unwrap();
            assert_eq!(bits(soft_out), bits(stream.to_vec(&soft).unwrap()));
            let sums_out = stream.to_vec(sums_out).unwrap();
            assert_eq!(bits(sums_out), bits(stream.to_vec(&sums).unwrap()));
        }
    }
}

#[test]
fn a_run_is_one_launch_and_does_not_wait() {
    if !alone("captures::a_run_is_one_launch_and_does_not_wait", NONE.0, NONE.1) {
        return;
    }
    let stream = stream!();
    let program = network();
    let outputs = (stream.zeros([8, 5]).unwrap(), stream.zeros([5]).unwrap());
    let x = stream.full([8, 6], 0.5_f32).unwrap();
    let mut captured = stream.capture(&program, (x,), outputs).unwrap();
    drop(program);
    let before = stats();
    for _ in 0..10 {
        captured.run().unwrap();
    }
    assert_eq!(stats().device_launches, before.device_launches + 10);
    let (_, (_, sums)) = captured.into_parts(); // the work goes on
    assert_eq!(stats().device_waits, before.device_waits);
    assert_eq!(stream.to_vec(&sums).unwrap().len(), 5);
}

#[test]
fn all_forms_of_inputs_and_outputs() {
    let stream = stream!();
    let one = || stream.full([2], 1.0_f32).unwrap();
    let sums = Program::trace(|graph| {
        let x = [graph.input::<f32>([2]), graph.input::<f32>([2])];
        graph.program(x, [x[0] + x[1], x[0] - x[1]])
    })
    .unwrap();
    let mut captured = stream.capture(&sums, [one(), one()], [one(), one()]).unwrap();
    let [_, b] = &mut captured.inputs_mut();
    stream.fill(b, 3.0).unwrap();
    captured.run().unwrap();
    assert_eq!(captured.inputs().len(), 2);
    let found = captured.outputs().map(|out| stream.to_vec(out).unwrap());
    assert_eq!(found, [[4.0, 4.0], [-2.0, -2.0]]);

    let many = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        graph.program((x,), vec![x, x * 2.0, x * 3.0])
    })
    .unwrap();
    let mut captured = stream.capture(&many, (one(),), vec![one(), one(), one()]).unwrap();
    captured.run().unwrap();
    let found: Vec<f32> =
        captured.outputs().into_iter().map(|out| stream.to_vec(out).unwrap()[1]).collect();
    assert_eq!(found, [1.0, 2.0, 3.0]);
    // Fewer tensors than outputs are refused, not missed.
    let error = stream.capture(&many, (one(),), vec![one()]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");

    let step = Program::trace(|graph| {
        let w = graph.input::<f32>([2]);
        graph.program((w.updated_by(w * 2.0),), ())
    })
    .unwrap();
    let mut captured = stream.capture(&step, (one(),), ()).unwrap();
    for _ in 0..4 {
        captured.run().unwrap();
    }
    assert_eq!(stream.to_vec(captured.inputs().0).unwrap(), [16.0, 16.0]);
}

#[test]
fn what_cannot_be_captured_has_its_place() {
    let stream = stream!();
    let program = Program::trace(|graph| {
        let (a, b) = (graph.input::<i32>([2]), graph.input::<i32>([2]));
        graph.program((a, b), (a + 1) / b)
    })
    .unwrap();
    let new = || stream.full([2], 1_i32).unwrap();
    let error = stream.capture(&program, (new(), new()), new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let message = error.message();
    assert!(message.contains("div at ") && message.contains("captures.rs"), "{message}");
    let budgeted = network().with_budget(4);
    let outputs = (stream.zeros([8, 5]).unwrap(), stream.zeros([5]).unwrap());
    let error = stream.capture(&budgeted, (stream.zeros([8, 6]).unwrap(),), outputs).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
}

/// Other streams use the tensors between runs, and no call waits for them.
#[test]
fn streams_are_in_order() {
    let stream = stream!();
    let other = stream.device().stream().unwrap();
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([1000]);
        graph.program((x,), (x + 1.0).sqrt())
    })
    .unwrap();
    let x = other.zeros([1000]).unwrap();
    let mut captured = stream.capture(&program, (x,), other.zeros([1000]).unwrap()).unwrap();
    for round in 0..20 {
        let value = (round * round - 1) as f32;
        other.fill(&mut captured.inputs_mut().0, value).unwrap();
        captured.run().unwrap();
        // The elements that the run reads are overwritten behind it.
        other.fill(&mut captured.inputs_mut().0, -7.0).unwrap();
        let copy = other.to_tensor(captured.outputs()).unwrap();
        assert_eq!(other.to_vec(&copy).unwrap(), [round as f32; 1000]);
    }
}

#[test]
fn one_goes_to_another_thread_and_may_be_forgotten() {
    let stream = stream!();
    let program = network();
    let new = || {
        let outputs = (stream.zeros([8, 5]).unwrap(), stream.zeros([5]).unwrap());
        stream.capture(&program, (stream.zeros([8, 6]).unwrap(),), outputs).unwrap()
    };
    let mut captured: Bound<_, _, Captured> = new();
    std::thread::scope(|scope| scope.spawn(move || captured.run().unwrap()).join().unwrap());
    let mut forgotten = new();
    forgotten.run().unwrap();
    std::mem::forget(forgotten);
    stream.wait().unwrap();
}

#[test]
fn a_driver_without_graphs_is_named() {
    if !has_fake_driver()
        || !alone(
            "captures::a_driver_without_graphs_is_named",
            "TENURE_FAKE_CUDA_LACKS",
            "cuStreamBeginCapture",
        )
    {
        return;
    }
    let stream = stream!();
    let program = network();
    let outputs = (stream.zeros([8, 5]).unwrap(), stream.zeros([5]).unwrap());
    let error = stream.capture(&program, (stream.zeros([8, 6]).unwrap(),), outputs).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("the driver has no cuStreamBeginCapture"), "{error}");
    let x = stream.zeros([8, 6]).unwrap();
    stream.run(&program, (&x,)).unwrap();
}
