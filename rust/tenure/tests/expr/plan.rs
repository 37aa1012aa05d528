//! Plans: the bits of what they were made of, on other memory; and what they refuse.

use super::*;

fn samples(seed: u64, shape: [usize; 2]) -> Tensor<f32> {
    tensor(&mut Random::new(seed), shape, f32::small)
}

#[test]
fn other_memory_of_the_same_layouts() {
    let [a, b, c, d] = [1, 2, 3, 4].map(|seed| samples(seed, [3, 5]));
    let plan = Plan::new((&a, &b), |(x, y)| (x.clone() * y - 0.5 + x.sum(Axes::keep(-1))).max(-1))
        .unwrap();
    assert_eq!(plan.shape(), [3]);
    for (x, y) in [(&a, &b), (&c, &d), (&a, &a)] {
        let expected = (x * y - 0.5 + x.expr().sum(Axes::keep(-1))).max(-1).eval();
        assert_same(&plan.run((x, y)), &expected, "a plan");
    }
}

#[test]
fn inputs_by_number() {
    // Also where the expression names them in another order, twice, or not at all.
    let [a, b, c] = [1, 2, 3].map(|seed| samples(seed, [2, 3]));
    let plan = Plan::new((&a, &b, &c), |(x, _, z)| z.clone() - x * z).unwrap();
    assert_same(&plan.run((&a, &b, &c)), &(&c - &a * &c).eval(), "a, b, c");
    assert_same(&plan.run((&b, &c, &a)), &(&a - &b * &a).eval(), "b, c, a");
    let plan = Plan::new([&a, &b, &c], |[x, y, z]| x / y + z).unwrap();
    assert_same(&plan.run([&c, &b, &a]), &(&c / &b + &a).eval(), "an array");
    let plan = Plan::new((&a,), |(x,)| x).unwrap();
    assert_same(&plan.run((&b,)), &Ok(b.try_clone().unwrap()), "the input itself");
}

/// A plan of `N` inputs that are added up.
fn sum_of<const N: usize>(a: &Tensor<f32>) -> Result<Plan<'static, [f32; N], f32>> {
    Plan::new([a; N], |inputs| inputs.into_iter().reduce(|sum, input| sum + input).unwrap())
}

#[test]
fn any_number_of_inputs() {
    let a = Tensor::from([1.0_f32, 2.0]);
    assert_eq!(sum_of::<1>(&a).unwrap().run([&a; 1]).unwrap(), [1.0, 2.0]);
    assert_eq!(sum_of::<31>(&a).unwrap().run([&a; 31]).unwrap(), [31.0, 62.0]);
    assert_eq!(sum_of::<32>(&a).unwrap().run([&a; 32]).unwrap(), [32.0, 64.0]);
    let refused = [sum_of::<33>(&a).err(), sum_of::<40>(&a).err(), sum_of::<1000>(&a).err()];
    for (refused, count) in refused.into_iter().zip([33, 40, 1000]) {
        let error = refused.unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        let why = format!("a plan of {count} inputs but it takes at most 32");
        assert_eq!(error.message(), why);
    }
    // Other views count, too.
    let none = Plan::new([&a; 0], |[]: [Expr<'_, f32>; 0]| Expr::from(&a) * 2.0).unwrap();
    assert_eq!(none.run([&a; 0]).unwrap(), [2.0, 4.0]);
    let beside = Plan::new([&a; 32], |[first, ..]: [Expr<'_, f32>; 32]| first + &a);
    assert_eq!(beside.err().unwrap().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn inputs_of_several_types() {
    let (pixels, mean, mask) = ([[0_u8, 128, 255]], [100.0_f32], [true, false, true]);
    let mask = Tensor::from(mask.map(Bool8::from));
    let centred = |(x, m, keep): (Expr<'static, u8>, Expr<'static, f32>, Expr<'static, Bool8>)| {
        keep.select(x.cast::<f32>() - m, -1.0)
    };
    let plan = Plan::new((&pixels, &mean, &mask), centred).unwrap();
    assert_eq!(plan.run((&pixels, &mean, &mask)).unwrap(), [[-100.0, -1.0, 155.0]]);
    assert_eq!(plan.run((&[[1_u8, 2, 3]], &mean, &mask)).unwrap(), [[-99.0, -1.0, -97.0]]);
}

/// What an expression reads beside its inputs is what it was, also where it is what an input was.
#[test]
fn operands_that_stay() {
    let [a, b] = [1, 2].map(|seed| samples(seed, [2, 3]));
    let (by_value, slice) = (a.view().t(), [3.0_f32; 3]);
    let plan = Plan::new((&a,), |(x,)| {
        x * &a + &slice - 2.0 + Expr::from(by_value).sum(Axes::keep(-1)).sum(0)
    });
    // The reduction amid others is of another axis.
    assert_eq!(plan.err().unwrap().kind(), ErrorKind::InvalidArgument);
    let plan = Plan::new((&a,), |(x,)| x * &a + &slice - Expr::from(by_value.t())).unwrap();
    let expected = (&b * &a + &slice - &a).eval();
    assert_same(&plan.run((&b,)), &expected, "the same tensor as an input and beside");
}

#[test]
fn views_of_any_layout() {
    let wide = samples(5, [4, 6]);
    let (a, b) = (wide.slice_step(1, .., 2).unwrap(), wide.slice(1, 3..).unwrap());
    let mut memory = vec![0.0; 24];
    let out = TensorViewMut::from_slice(&mut memory, [3, 8]).unwrap();
    let mut out = out.slice_step(1, .., 2).unwrap().t();
    let plan = Plan::with_output((&a,), &mut out, |(x,)| x * &b).unwrap();
    plan.run_into((&a,), &mut out).unwrap();
    let expected = (&a * &b).eval().unwrap();
    assert!(out.view().iter().eq(expected.iter()));
    // Another order of the same shape is another layout.
    let refused = plan.run_into((&expected,), &mut out).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    assert!(refused.message().contains("strides"), "{refused}");
    assert_eq!(plan.run((&a,)).err().unwrap().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn threads_share_a_plan() {
    let [a, b] = [1, 2].map(|seed| samples(seed, [7, 9]));
    let plan = Plan::new((&a, &b), |(x, y)| (x * y).tanh().softmax(-1)).unwrap();
    let expected = (&a * &b).tanh().softmax(-1).eval();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut out = Tensor::zeros([7, 9]).unwrap();
                for _ in 0..100 {
                    plan.run_into((&a, &b), &mut out).unwrap();
                }
                assert_same(&Ok(out), &expected, "on a thread");
            });
        }
    });
}

#[test]
fn another_shape_is_refused() {
    let (a, b) = (samples(1, [2, 3]), samples(2, [3, 2]));
    let plan = Plan::new((&a,), |(x,)| x + 1.0).unwrap();
    for refused in
        [plan.run((&b,)).err(), plan.run_into((&a,), &mut Tensor::zeros([3, 2]).unwrap()).err()]
    {
        let refused = refused.unwrap();
        assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
        assert!(refused.message().contains("the plan was made for"), "{refused}");
    }
}

#[test]
fn shapes_that_do_not_broadcast_name_inputs() {
    let (a, b) = (samples(1, [2, 3]), samples(2, [2, 4]));
    let error = Plan::new((&a, &b), |(x, y)| x + y).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let expected =
        "a is input 0 of shape [2, 3] and b is input 1 of shape [2, 4]: axis 1 is 3 and 4";
    assert!(error.message().ends_with(expected), "{error}");
}

#[test]
fn arguments_stand_for_nothing_elsewhere() {
    let a = samples(1, [2, 3]);
    let mut escaped = None;
    let plan = Plan::new((&a,), |(x,)| escaped.insert(x).clone() + 1.0).unwrap();
    assert_same(&plan.run((&a,)), &(&a + 1.0).eval(), "the plan itself");
    let escaped: Expr<'_, f32> = escaped.unwrap();
    let mut updated = samples(2, [2, 3]);
    let mut argument = None;
    updated.update(|x| argument.insert(x).clone()).unwrap();
    for error in [
        escaped.eval().err(),
        (&a + escaped.clone()).eval().err(),
        escaped.eval_into(&mut [[0.0; 3]; 2]).err(),
        Plan::new((&a,), |(x,)| x + escaped.clone()).err(),
        Plan::new((&a,), |_| escaped.clone()).err(),
        Plan::new((&a,), |(x,)| x + argument.clone().unwrap()).err(),
        Plan::new((&a,), |_| argument.clone().unwrap()).err(),
        updated.update(|x| x * escaped.clone()).err(),
    ] {
        assert_eq!(error.unwrap().kind(), ErrorKind::UnboundArgument);
    }
}

#[test]
fn what_a_plan_does_not_keep() {
    let (a, weight) = (samples(1, [2, 3]), [1.0_f32; 3]);
    let error = Plan::new((&a,), |(x,)| x.layer_norm(-1, LayerNorm::new().weight(&weight)));
    assert_eq!(error.err().unwrap().kind(), ErrorKind::Unsupported);
    let zeros = Plan::new((&[1, 2, 3],), |(x,)| x / 0).err().unwrap();
    assert_eq!(zeros.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn results_that_fit_no_memory() {
    let long = TensorView::from_slice(&[1.0_f64], 1).unwrap();
    let (rows, cols) = (long.broadcast([1 << 31, 1]).unwrap(), long.broadcast([1 << 31]).unwrap());
    let error = Plan::new((&rows, &cols), |(x, y)| x + y).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains("fits no memory"), "{error}");
}
