//! Programs on a device, compared with the host's runs of them.

use tenure::*;

use crate::{alone, has_fake_driver, stream};

/// Counts of waits are those of a process.
const NONE: (&str, &str) = ("TENURE_TEST_NONE", "1");

fn network() -> Program<(f32,), (f32, i64)> {
    let weights = Tensor::from([[1.0_f32, -1.0, 0.5], [0.5, 2.0, -2.0]]).into_shared();
    let bias = Tensor::from([0.25_f32, -0.5, 1.0]).into_shared();
    Program::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("batch", 64), 2));
        let scores = (x.matmul(graph.constant(&weights)) + graph.constant(&bias)).relu();
        graph.program((x,), (scores * 2.0, scores.argmax(1)))
    })
    .unwrap()
}

#[test]
fn a_program_runs_on_both() {
    let stream = stream!();
    let program = network();
    for rows in [0, 1, 5, 64] {
        let x = Tensor::from_fn([rows, 2], |[row, col]| row as f32 * 0.25 - col as f32).unwrap();
        let (scores, best) = program.run((&x,)).unwrap();
        let there = stream.upload(&x).unwrap();
        let (scores_there, best_there) = stream.run(&program, (&there,)).unwrap();
        assert_eq!(scores_there.shape(), [rows, 3]);
        assert_eq!(stream.download(&scores_there).unwrap(), scores);
        assert_eq!(stream.download(&best_there).unwrap(), best);
    }
    let x = stream.zeros::<f32>([65, 2]).unwrap();
    let error = stream.run(&program, (&x,)).unwrap_err();
    assert!(error.message().contains("batch"), "{error}");
}

#[test]
fn runs_enqueue_and_do_not_wait() {
    if !alone("programs::runs_enqueue_and_do_not_wait", NONE.0, NONE.1) {
        return;
    }
    let stream = stream!();
    let program = network();
    let x = stream.full([4, 2], 1.0_f32).unwrap();
    let (mut scores, mut best) = (stream.zeros([4, 3]).unwrap(), stream.zeros([4]).unwrap());
    // The constants are copied.
    stream.run_into(&program, (&x,), (&mut scores, &mut best)).unwrap();
    let before = stats();
    for _ in 0..3 {
        stream.run_into(&program, (&x,), (&mut scores, &mut best)).unwrap();
    }
    drop(stream.run(&program, (x.view(),)).unwrap());
    assert_eq!(stats().device_waits, before.device_waits);
    // A product with its bias and bounds, and two more.
    assert_eq!(stats().device_launches, before.device_launches + 4 * 3);
    drop(program); // the constants end behind the work
    assert_eq!(stream.to_vec(&best).unwrap(), [0; 4]);
}

#[test]
fn inputs_are_updated() {
    let stream = stream!();
    let step = Program::trace(|graph| {
        let (w, gradient) = (graph.input::<f32>([2, 2]), graph.input::<f32>([2, 2]));
        graph.program([w.updated_by(w - gradient * 0.5), gradient.updated_by(gradient * 0.0)], ())
    })
    .unwrap();
    let mut w = stream.upload(&[[1.0_f32, 2.0], [3.0, 4.0]]).unwrap();
    let mut gradient = stream.full([2, 2], 2.0_f32).unwrap();
    stream.run_into(&step, [&mut w, &mut gradient], ()).unwrap();
    stream.run(&step, [&mut w, &mut gradient]).unwrap();
    assert_eq!(stream.to_vec(&w).unwrap(), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(stream.to_vec(&gradient).unwrap(), [0.0; 4]);
}

/// Every form of inputs and outputs.
#[test]
fn inputs_and_outputs_have_forms() {
    let stream = stream!();
    let a = stream.upload(&[[1.0_f32, 2.0], [3.0, 4.0]]).unwrap();
    let of_none =
        Program::trace(|graph| graph.program((), graph.copy_constant(&[1.0_f32, 2.0]) + 1.0))
            .unwrap();
    assert_eq!(stream.to_vec(&stream.run(&of_none, ()).unwrap()).unwrap(), [2.0, 3.0]);

    let of_array = Program::trace(|graph| {
        let [x, y] = [graph.input::<f32>([2, 2]), graph.input::<f32>([2, 2])];
        graph.program([x, y], [x + y, x - y])
    })
    .unwrap();
    let [sum, difference] = stream.run(&of_array, [a.view(), a.t()]).unwrap();
    assert_eq!(stream.to_vec(&sum).unwrap(), [2.0, 5.0, 5.0, 8.0]);
    assert_eq!(stream.to_vec(&difference).unwrap(), [0.0, -1.0, 1.0, 0.0]);
    let mut outs = [stream.zeros([2, 2]).unwrap(), stream.zeros([2, 2]).unwrap()];
    stream.run_into(&of_array, [&a, &a], outs.each_mut()).unwrap();
    assert_eq!(stream.to_vec(&outs[0]).unwrap(), [2.0, 4.0, 6.0, 8.0]);

    let of_vec = Program::trace(|graph| {
        let x = graph.input::<f32>([2, 2]);
        graph.program((x,), vec![x * 2.0, x.t() * 3.0])
    })
    .unwrap();
    let made = stream.run(&of_vec, (&a,)).unwrap();
    assert_eq!(made.len(), 2);
    assert_eq!(stream.to_vec(&made[1]).unwrap(), [3.0, 9.0, 6.0, 12.0]);
    stream.run_into(&of_vec, (&a,), &mut outs[..]).unwrap();
    assert_eq!(stream.to_vec(&outs[0]).unwrap(), [2.0, 4.0, 6.0, 8.0]);
    stream.run_into(&of_vec, (&a,), Vec::from(outs.each_mut())).unwrap();

    // Into a part of other memory, of any strides.
    let mut wide = stream.zeros::<f32>([2, 5]).unwrap();
    let of_one = Program::trace(|graph| {
        let x = graph.input::<f32>([2, 2]);
        graph.program((x,), x.t().exp2())
    })
    .unwrap();
    let mut part = wide.view_mut().slice(1, 1..3).unwrap();
    stream.run_into(&of_one, (&a,), &mut part).unwrap();
    let expected = [0.0, 2.0, 8.0, 0.0, 0.0, 0.0, 4.0, 16.0, 0.0, 0.0];
    assert_eq!(stream.to_vec(&wide).unwrap(), expected);
    let outs = vec![&mut wide];
    assert!(stream.run_into(&of_vec, (&a,), outs).is_err(), "two outputs");
}

#[test]
fn what_no_device_computes_has_its_place() {
    let stream = stream!();
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([3]);
        graph.program((x,), (x + 1.0).partition(1, 0))
    })
    .unwrap();
    let x = stream.full([3], 1.0_f32).unwrap();
    let error = stream.run(&program, (&x,)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    let message = error.message();
    assert!(message.contains("partition at ") && message.contains("programs.rs:"), "{message}");
    assert!(message.contains("cuda:0"), "{message}");
    assert_eq!(program.run((&[1.0, 1.0, 1.0],)).unwrap(), [2.0, 2.0, 2.0]);
}

#[test]
fn a_budget_holds() {
    let stream = stream!();
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([1000]);
        graph.program((x,), (x + 1.0).softmax(0).sum(0))
    })
    .unwrap()
    .with_budget(100);
    let x = stream.zeros::<f32>([1000]).unwrap();
    let error = stream.run(&program, (&x,)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
}

#[test]
fn operands_are_on_the_streams_device() {
    if !has_fake_driver()
        || !alone("programs::operands_are_on_the_streams_device", "TENURE_FAKE_CUDA_DEVICES", "2")
    {
        return;
    }
    let program = network();
    let stream = stream!();
    let other = cuda::Device::new(1).unwrap().stream().unwrap();
    let x = other.full([4, 2], 1.0_f32).unwrap();
    let error = stream.run(&program, (&x,)).unwrap_err();
    let message = error.message();
    assert!(message.contains("cuda:1") && message.contains("cuda:0"), "{message}");
    // Each device has the constants.
    let here = stream.full([4, 2], 1.0_f32).unwrap();
    let (scores, _) = other.run(&program, (&x,)).unwrap();
    let (expected, _) = stream.run(&program, (&here,)).unwrap();
    assert_eq!(other.to_vec(&scores).unwrap(), stream.to_vec(&expected).unwrap());
}

#[test]
fn threads_share_a_program() {
    let stream = &stream!();
    let program = &network();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let own = stream.device().stream().unwrap();
                let x = own.full([8, 2], thread as f32).unwrap();
                for stream in [&own, stream] {
                    let (scores, _) = stream.run(program, (&x,)).unwrap();
                    let expected = program.run((&Tensor::full([8, 2], thread as f32).unwrap(),));
                    assert_eq!(own.download(&scores).unwrap(), expected.unwrap().0);
                }
            });
        }
    });
}

#[test]
fn memory_and_steps_are_known_before() {
    if !alone("programs::memory_and_steps_are_known_before", NONE.0, NONE.1) {
        return;
    }
    let stream = stream!();
    let program = network();
    let x = stream.full([4, 2], 1.0_f32).unwrap();
    let before = stats();
    let plan = stream.memory(&program, (&x,)).unwrap();
    let report = stream.report(&program, (&x,)).unwrap();
    assert_eq!(report.memory, plan);
    assert_eq!(report.steps.len(), plan.steps);
    let names: Vec<_> = report.steps.iter().map(|step| &step.name[..]).collect();
    assert!(names[0].contains("matmul"), "{names:?}");
    let after = stats();
    assert_eq!(after.device_launches, before.device_launches);
    assert_eq!(after.device_waits, before.device_waits);
    // It is what a run takes, which a budget tells.
    assert!(plan.peak_bytes >= 4 * 3 * 4, "{plan:?}");
    let exact = program.clone().with_budget(plan.peak_bytes);
    stream.run(&exact, (&x,)).unwrap();
    let short = program.clone().with_budget(plan.peak_bytes - 1);
    assert_eq!(stream.run(&short, (&x,)).unwrap_err().kind(), ErrorKind::OutOfMemory);
    // The device stores the operand of a sum, and the host does not.
    let summed = Program::trace(|graph| {
        let x = graph.input::<f32>([4, 2]);
        graph.program((x,), (x * 2.0 + 1.0).sum(0))
    })
    .unwrap();
    let here = summed.memory((&[[1.0; 2]; 4],)).unwrap();
    let there = stream.memory(&summed, (&x,)).unwrap();
    assert!(there.peak_bytes >= 4 * 2 * 4 && there.peak_bytes > here.peak_bytes, "{there:?}");

    let error = stream.memory(&program, (&stream.zeros::<f32>([65, 2]).unwrap(),)).unwrap_err();
    assert!(error.message().contains("batch"), "{error}");
}

#[test]
fn steps_are_measured() {
    let stream = stream!();
    let program = network();
    let x = stream.full([4, 2], 1.0_f32).unwrap();
    let report = stream.measure(&program, (&x,), 2).unwrap();
    assert!(report.steps.iter().all(|step| step.nanoseconds.is_some()));
    assert_eq!(report.count_of(Passes::EPILOGUES), epilogues_here(&program));
    let updated = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        graph.program([x.updated_by(x + 1.0)], ())
    })
    .unwrap();
    let mut state = stream.zeros::<f32>([2]).unwrap();
    stream.measure(&updated, [&mut state], 3).unwrap();
    assert_eq!(stream.to_vec(&state).unwrap(), [3.0; 2]);
}

/// The epilogues of the same program on the host: tracing rewrites the graph.
fn epilogues_here(program: &Program<(f32,), (f32, i64)>) -> u64 {
    program.report((&[[1.0_f32; 2]; 4],)).unwrap().count_of(Passes::EPILOGUES)
}
