//! Programs that are bound to a device: the bits of the program, on other memory; and refusals.

use tenure::cuda::{self, Tensor};
use tenure::{Axes, Bool8, ErrorKind, Program, Refused};

use crate::{alone, has_fake_driver, stream};

fn numbers(seed: usize, count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 37 + seed * 11) % 101) as f32 / 8.0 - 6.0).collect()
}

#[test]
fn other_memory_of_the_same_layouts() {
    let stream = stream!();
    for shape in [[3, 5], [0, 4], [1, 1], [33, 64]] {
        let len = shape[0] * shape[1];
        let here = [1, 2, 3]
            .map(|seed| tenure::Tensor::copy_from_slice(&numbers(seed, len), shape).unwrap());
        let there = here.each_ref().map(|tensor| stream.upload(tensor).unwrap());
        let program = Program::trace(|graph| {
            let (x, y) = (graph.input::<f32>(shape), graph.input::<f32>(shape));
            graph.program((x, y), (x * y - 0.5).abs().sqrt())
        })
        .unwrap();
        let [a, b, _] = &there;
        let mut out = stream.full(shape, 9.0_f32).unwrap();
        let bound = stream.bind(&program, (a, b), &mut out).unwrap();
        assert_eq!(bound.shapes().get(0), Some(&shape[..]));
        assert_eq!(stream.to_vec(&out).unwrap(), vec![9.0; len]);
        for (x, y) in [(0, 1), (2, 0), (1, 1)] {
            let expected = program.run((&here[x], &here[y])).unwrap();
            bound.run((&there[x], there[y].view()), &mut out).unwrap();
            assert_eq!(stream.download(&out).unwrap(), expected);
        }
    }
}

#[test]
fn inputs_by_number_and_of_several_types() {
    let stream = stream!();
    let [a, b, c] = [[1, 2, 3], [10, 20, 30], [7, 5, 3]].map(|x| stream.upload(&x).unwrap());
    let program = Program::trace(|graph| {
        let inputs: [_; 3] = std::array::from_fn(|_| graph.input::<i32>([3]));
        graph.program(inputs, inputs[2] - inputs[0] * inputs[2])
    })
    .unwrap();
    let mut out = stream.zeros([3]).unwrap();
    let bound = stream.bind(&program, [&a, &b, &c], &mut out).unwrap();
    let mut run = |inputs: [&Tensor<i32>; 3]| {
        bound.run(inputs, &mut out).unwrap();
        stream.to_vec(&out).unwrap()
    };
    assert_eq!(run([&a, &b, &c]), [0, -5, -6]);
    assert_eq!(run([&b, &c, &a]), [-9, -38, -87]);

    let mask = stream.upload(&[true, false, true].map(Bool8::from)).unwrap();
    let (pixels, mean) = (stream.upload(&[0_u8, 128, 255]).unwrap(), stream.full([], 100.0_f32));
    let mean = mean.unwrap();
    let program = Program::trace(|graph| {
        let (x, m) = (graph.input::<u8>([3]), graph.input::<f32>(()));
        let keep = graph.input::<Bool8>([3]);
        graph.program((x, m, keep), keep.select(x.cast::<f32>() - m, -1.0))
    })
    .unwrap();
    let mut out = stream.zeros([3]).unwrap();
    let bound = stream.bind(&program, (&pixels, &mean, &mask), &mut out).unwrap();
    let other = stream.upload(&[1_u8, 2, 3]).unwrap();
    bound.run((&other, &mean, &mask), &mut out).unwrap();
    assert_eq!(stream.to_vec(&out).unwrap(), [-99.0, -1.0, -97.0]);
}

/// Reductions, and inputs and outputs of any layout.
#[test]
fn views_of_any_layout() {
    let stream = stream!();
    let a = stream.upload(&[[1.0_f64, 2.0], [3.0, 4.0]]).unwrap();
    let program = Program::trace(|graph| {
        let x = graph.input::<f64>([2, 2]);
        graph.program((x,), x - x.mean(Axes::keep(-1)))
    })
    .unwrap();
    let mut wide = stream.zeros::<f64>([2, 5]).unwrap();
    let mut out = wide.view_mut().slice(1, 1..3).unwrap();
    let bound = stream.bind(&program, (a.t(),), &mut out).unwrap();
    for _ in 0..2 {
        bound.run((a.t(),), &mut out).unwrap();
    }
    let expected = [0.0, -1.0, 1.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0];
    assert_eq!(stream.to_vec(&wide).unwrap(), expected);
}

#[test]
fn other_layouts_are_refused() {
    let stream = stream!();
    let a = stream.upload(&[[1, 2], [3, 4]]).unwrap();
    let program = Program::trace(|graph| {
        let x = graph.input::<i32>((2, graph.extent("n", 3)));
        graph.program((x,), x * 2)
    })
    .unwrap();
    let mut out = stream.full([2, 2], 9).unwrap();
    let bound = stream.bind(&program, (&a,), &mut out).unwrap();
    let refused = |refused: Refused, why: &str| {
        assert_eq!(refused.kind(), ErrorKind::InvalidArgument, "{refused}");
        assert!(refused.message().contains(why), "{refused}");
    };
    refused(bound.run((a.t(),), &mut out).unwrap_err(), "inputs[0] is i32 with the strides");
    let longer = stream.zeros::<i32>([2, 3]).unwrap();
    refused(bound.run((&longer,), &mut out).unwrap_err(), "inputs[0] is i32 with the shape [2, 3]");
    let mut turned = out.view_mut().t();
    refused(bound.run((&a,), &mut turned).unwrap_err(), "outputs[0] is i32 with the strides");
    assert_eq!(stream.to_vec(&out).unwrap(), [9; 4]);
    let error = stream.bind(&program, (&longer,), &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");

    // On the data, which is waited for: the error has the place in the source.
    let program = Program::trace(|graph| {
        let (x, y) = (graph.input::<i32>([2, 2]), graph.input::<i32>([2, 2]));
        graph.program((x, y), x / y)
    })
    .unwrap();
    let quotient = stream.bind(&program, (&a, &a), &mut out).unwrap();
    let zero = stream.zeros::<i32>([2, 2]).unwrap();
    let why = quotient.run((&a, &zero), &mut out).unwrap_err();
    refused(why.clone(), "an element 0");
    assert!(tenure::Error::from(why).message().contains("div at "));
    quotient.run((&a, &a), &mut out).unwrap();
    assert_eq!(stream.to_vec(&out).unwrap(), [1; 4]);
}

#[test]
fn a_run_is_one_launch() {
    if !alone("bound::a_run_is_one_launch", "TENURE_TEST_NONE", "1") {
        return;
    }
    let stream = stream!();
    let a = stream.full([100], 2.0_f32).unwrap();
    let mut out = stream.zeros([100]).unwrap();
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([100]);
        graph.program((x,), (x * 3.0 + 1.0).tanh() - x)
    })
    .unwrap();
    let before = tenure::stats();
    let bound = stream.bind(&program, (&a,), &mut out).unwrap();
    assert_eq!(tenure::stats().device_launches, before.device_launches);
    for count in 1..4 {
        bound.run((&a,), &mut out).unwrap();
        assert_eq!(tenure::stats().device_launches, before.device_launches + count);
    }
    assert_eq!(tenure::stats().device_waits, before.device_waits);
}

/// Streams are ordered by what a run reads, and its operands may end at once.
#[test]
fn threads_and_streams_share_one() {
    let stream = &stream!();
    let one = stream.full([1000], 1).unwrap();
    let program = &Program::trace(|graph| {
        let (x, y) = (graph.input::<i32>([1000]), graph.input::<i32>([1000]));
        graph.program((x, y), x * 2 + y)
    })
    .unwrap();
    let mut out = stream.zeros([1000]).unwrap();
    let shared = &stream.bind(program, (&one, &one), &mut out).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let one = &one;
            scope.spawn(move || {
                let own = stream.device().stream().unwrap();
                let mut y = own.zeros([1000]).unwrap();
                let of_own = own.bind(program, (one, one), &mut y).unwrap();
                for value in 0..10 {
                    for bound in [shared, &of_own] {
                        let x = stream.full([1000], value * thread).unwrap();
                        bound.run((&x, one), &mut y).unwrap();
                        drop(x);
                        stream.full([1000], -1).unwrap();
                        assert_eq!(own.to_vec(&y).unwrap(), [2 * value * thread + 1; 1000]);
                    }
                }
            });
        }
    });
}

#[test]
fn one_is_of_its_device() {
    if !has_fake_driver() || !alone("bound::one_is_of_its_device", "TENURE_FAKE_CUDA_DEVICES", "2")
    {
        return;
    }
    let stream = stream!();
    let other = cuda::Device::new(1).unwrap().stream().unwrap();
    let (here, there) = (stream.full([4], 1).unwrap(), other.full([4], 1).unwrap());
    let program = Program::trace(|graph| {
        let x = graph.input::<i32>([4]);
        graph.program((x,), x + 1)
    })
    .unwrap();
    let mut out = stream.zeros([4]).unwrap();
    let bound = stream.bind(&program, (&here,), &mut out).unwrap();
    let mut out_there = other.zeros([4]).unwrap();
    for refused in [
        bound.run((&there,), &mut out).unwrap_err(),
        bound.run((&here,), &mut out_there).unwrap_err(),
    ] {
        let message = refused.message();
        assert!(message.contains("cuda:1") && message.contains("cuda:0"), "{message}");
    }
    let error = stream.bind(&program, (&there,), &mut out).unwrap_err();
    assert!(error.message().contains("cuda:1"), "{error}");
    bound.run((&here,), &mut out).unwrap();
    assert_eq!(stream.to_vec(&out).unwrap(), [2; 4]);
}
