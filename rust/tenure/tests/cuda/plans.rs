//! Plans on a device: the bits of what they were made of, on other memory; and what they refuse.

use tenure::cuda::{self, Tensor};
use tenure::{Axes, Bool8, ErrorKind, Expr, OnDevice, Plan};

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
        let plan_here = Plan::new((&here[0], &here[1]), |(x, y)| (x * y - 0.5).abs().sqrt());
        let plan_here = plan_here.unwrap();
        let [a, b, _] = &there;
        let plan = stream.plan((a, b), |(x, y)| (x * y - 0.5).abs().sqrt()).unwrap();
        assert_eq!(plan.shape(), shape);
        for (x, y) in [(0, 1), (2, 0), (1, 1)] {
            let expected = plan_here.run((&here[x], &here[y])).unwrap();
            let computed = stream.run_plan(&plan, (&there[x], there[y].view())).unwrap();
            assert_eq!(stream.download(&computed).unwrap(), expected);
        }
    }
}

#[test]
fn inputs_by_number_and_of_several_types() {
    let stream = stream!();
    let [a, b, c] = [[1, 2, 3], [10, 20, 30], [7, 5, 3]].map(|x| stream.upload(&x).unwrap());
    let plan = stream.plan([&a, &b, &c], |[x, _, z]| z.clone() - x * z).unwrap();
    let run = |inputs: [&Tensor<i32>; 3]| {
        stream.to_vec(&stream.run_plan(&plan, inputs).unwrap()).unwrap()
    };
    assert_eq!(run([&a, &b, &c]), [0, -5, -6]);
    assert_eq!(run([&b, &c, &a]), [-9, -38, -87]);
    let same = stream.plan((&a,), |(x,)| x).unwrap();
    assert_eq!(stream.to_vec(&stream.run_plan(&same, (&b,)).unwrap()).unwrap(), [10, 20, 30]);

    let mask = stream.upload(&[true, false, true].map(Bool8::from)).unwrap();
    let (pixels, mean) = (stream.upload(&[0_u8, 128, 255]).unwrap(), stream.full([], 100.0_f32));
    let mean = mean.unwrap();
    type Inputs = (Expr<'static, u8, OnDevice>, Expr<'static, f32, OnDevice>, Truth);
    type Truth = Expr<'static, Bool8, OnDevice>;
    let centred = |(x, m, keep): Inputs| keep.select(x.cast::<f32>() - m, -1.0);
    let plan = stream.plan((&pixels, &mean, &mask), centred).unwrap();
    let other = stream.upload(&[1_u8, 2, 3]).unwrap();
    let computed = stream.run_plan(&plan, (&other, &mean, &mask)).unwrap();
    assert_eq!(stream.to_vec(&computed).unwrap(), [-99.0, -1.0, -97.0]);
}

/// What an expression reads beside its inputs, reductions, and outputs of any layout.
#[test]
fn operands_that_stay() {
    let stream = stream!();
    let a = stream.upload(&[[1.0_f64, 2.0], [3.0, 4.0]]).unwrap();
    let scale = stream.upload(&[10.0, 100.0]).unwrap();
    let plan = stream.plan((&a,), |(x,)| x * &a + Expr::from(scale.view().flip(0).unwrap()));
    let plan = plan.unwrap();
    let computed = stream.run_plan(&plan, (&stream.full([2, 2], 2.0).unwrap(),)).unwrap();
    assert_eq!(stream.to_vec(&computed).unwrap(), [102.0, 14.0, 106.0, 18.0]);

    let centred = |(x,): (Expr<'static, f64, OnDevice>,)| x.clone() - x.mean(Axes::keep(-1));
    let mut wide = stream.zeros::<f64>([2, 5]).unwrap();
    let mut out = wide.view_mut().slice(1, 1..3).unwrap();
    let plan = stream.plan_with_output((a.t(),), &mut out, centred).unwrap();
    for _ in 0..2 {
        stream.run_plan_into(&plan, (a.t(),), &mut out).unwrap();
    }
    let expected = [0.0, -1.0, 1.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0];
    assert_eq!(stream.to_vec(&wide).unwrap(), expected);
}

#[test]
fn other_layouts_are_refused() {
    let stream = stream!();
    let a = stream.upload(&[[1, 2], [3, 4]]).unwrap();
    let plan = stream.plan((&a,), |(x,)| x * 2).unwrap();
    let refused = |error: tenure::Error, why: &str| {
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert!(error.message().contains(why), "{error}");
    };
    refused(stream.run_plan(&plan, (a.t(),)).unwrap_err(), "strides");
    let longer = stream.zeros::<i32>([2, 3]).unwrap();
    refused(stream.run_plan(&plan, (&longer,)).unwrap_err(), "3");
    let mut out = stream.full([2, 2], 9).unwrap();
    let mut turned = out.view_mut().t();
    refused(stream.run_plan_into(&plan, (&a,), &mut turned).unwrap_err(), "out");
    assert_eq!(stream.to_vec(&out).unwrap(), [9; 4]);

    // Where it is made: the place in the source, and an argument of another call.
    let error = stream.plan((&a, &longer), |(x, y)| x + y).unwrap_err();
    refused(error, "plans.rs:");
    let mut escaped = None;
    stream
        .plan((&a,), |(x,)| {
            escaped = Some(x.clone());
            x + 1
        })
        .unwrap();
    let error = stream.plan((&a,), |(x,)| x + escaped.unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnboundArgument);
    let weight = stream.full([2], 2.0_f32).unwrap();
    let x = stream.full([2, 2], 1.0_f32).unwrap();
    let norm = cuda::LayerNorm::new().weight(&weight);
    let error = stream.plan((&x,), |(x,)| x.layer_norm(-1, norm)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);

    // On the data, which is waited for.
    let quotient = stream.plan((&a, &a), |(x, y)| x / y).unwrap();
    let zero = stream.zeros::<i32>([2, 2]).unwrap();
    refused(stream.run_plan(&quotient, (&a, &zero)).unwrap_err(), "divided by an element 0");
    assert_eq!(stream.to_vec(&stream.run_plan(&quotient, (&a, &a)).unwrap()).unwrap(), [1; 4]);
}

#[test]
fn a_run_is_one_launch() {
    if !alone("plans::a_run_is_one_launch", "TENURE_TEST_NONE", "1") {
        return;
    }
    let stream = stream!();
    let (a, b) = (stream.full([100], 2.0_f32).unwrap(), stream.full([100], 3.0_f32).unwrap());
    let mut out = stream.zeros([100]).unwrap();
    let before = tenure::stats();
    let plan = stream.plan((&a,), |(x,)| (x.clone() * &b + 1.0).tanh() - x).unwrap();
    assert_eq!(tenure::stats().device_launches, before.device_launches);
    for count in 1..4 {
        stream.run_plan_into(&plan, (&a,), &mut out).unwrap();
        assert_eq!(tenure::stats().device_launches, before.device_launches + count);
    }
    assert_eq!(tenure::stats().device_waits, before.device_waits);
}

/// Streams are ordered by what a run reads, and its operands may end at once.
#[test]
fn threads_and_streams_share_a_plan() {
    let stream = &stream!();
    let one = stream.full([1000], 1).unwrap();
    let plan = &stream.plan((&one,), |(x,)| x * 2 + &one).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let own = stream.device().stream().unwrap();
                for value in 0..10 {
                    let x = stream.full([1000], value * thread).unwrap();
                    let y = own.run_plan(plan, (&x,)).unwrap();
                    drop(x);
                    stream.full([1000], -1).unwrap();
                    assert_eq!(own.to_vec(&y).unwrap(), [2 * value * thread + 1; 1000]);
                }
            });
        }
    });
}

#[test]
fn a_plan_is_of_its_device() {
    if !has_fake_driver()
        || !alone("plans::a_plan_is_of_its_device", "TENURE_FAKE_CUDA_DEVICES", "2")
    {
        return;
    }
    let stream = stream!();
    let other = cuda::Device::new(1).unwrap().stream().unwrap();
    let (here, there) = (stream.full([4], 1).unwrap(), other.full([4], 1).unwrap());
    let plan = stream.plan((&here,), |(x,)| x + 1).unwrap();
    for (stream, x) in [(&other, &there), (&stream, &there), (&other, &here)] {
        let error = stream.run_plan(&plan, (x,)).unwrap_err();
        let message = error.message();
        assert!(message.contains("cuda:1") && message.contains("cuda:0"), "{message}");
    }
    let error = stream.plan((&there,), |(x,)| x + 1).unwrap_err();
    assert!(error.message().contains("cuda:1"), "{error}");
    assert_eq!(stream.to_vec(&stream.run_plan(&plan, (&here,)).unwrap()).unwrap(), [2; 4]);
}
