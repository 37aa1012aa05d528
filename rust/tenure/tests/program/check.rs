//! Gradients compared with central differences.

use half::{bf16, f16};
use tenure::train::{GradientCheck, Verdict, check_gradients, cross_entropy};

use super::*;

/// The square, with `slope` times `x * gradient` for its gradient.
fn square(slope: f64) -> Result<CustomOperation> {
    let square = CustomOperation::new::<(f64,), f64>(
        "square",
        |[x]| Ok(x.to_vec()),
        |(x,), mut out| {
            out.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = x * x);
            Ok(())
        },
    )?;
    Ok(square.derive::<(f64,), f64>(move |_, (x,), _, gradient| Ok((Some(x * gradient * slope),))))
}

#[test]
fn right_gradients_agree() -> Result<()> {
    let mut generator = tenure::random::Generator::new(3);
    let x: Tensor<f64> = generator.normal(0.0, 1.0, [4, 3])?;
    let weights: Vec<Tensor<f64>> =
        vec![generator.normal(0.0, 0.5, [3, 5])?, generator.normal(0.0, 0.5, [5, 3])?];
    let labels = Tensor::from([0_i64, 2, 1, 0]);
    let inputs = (x, weights, labels);
    let square = square(2.0)?;
    let report = check_gradients(&inputs, |graph, (x, weights, labels)| {
        let hidden = graph.custom::<f64>(&square, x.matmul(weights[0]).tanh());
        cross_entropy(hidden.matmul(weights[1]), labels)
    })?;
    assert!(report.agrees(), "{report}");
    let names: Vec<_> = report.inputs.iter().map(|it| (&it.name[..], it.compared)).collect();
    assert_eq!(names, [("0", 12), ("1.0", 15), ("1.1", 15)]);
    assert!(report.inputs.iter().all(|it| it.relative_error < 1e-6), "{report}");
    assert_eq!(report.wrong_node, None);
    assert!(report.to_string().starts_with("input  type "), "{report}");
    Ok(())
}

#[test]
fn a_wrong_derivative_is_named() -> Result<()> {
    let wrong = square(2.0 + 1e-3)?;
    let line = line!();
    let x = Tensor::from([[0.5, -1.5, 2.0], [0.25, 3.0, -0.5]]);
    for check in [GradientCheck::new(), GradientCheck::new().directions(3)] {
        let report = check.run(&x, |graph, x| {
            let y = x.exp().sqrt();
            let z = graph.custom::<f64>(&wrong, y + 1.0); // 5 lines below
            (z + y).ln()
        })?;
        assert_eq!(report.inputs[0].verdict, Verdict::Differs, "{report}");
        let node = report.wrong_node.as_ref().unwrap();
        let name = format!("the custom operation square, custom at {}:{}:", file!(), line + 5);
        assert!(node.name.starts_with(&name), "{report}");
        assert_eq!(node.operand, 0);
        let ratio = node.gradient / node.difference;
        assert!((ratio - (1.0 + 0.5e-3)).abs() < 1e-6, "{report}");
        assert!(report.to_string().contains("square"), "{report}");
    }
    Ok(())
}

#[test]
fn kinks_are_no_errors() -> Result<()> {
    let x = Tensor::from([-1.0, 0.0, 2.0, 0.0]);
    let report = check_gradients(&x, |_, x| x.relu() + x.abs() + x.maximum(x * x))?;
    assert_eq!(report.inputs[0].verdict, Verdict::AgreesExceptKinks, "{report}");
    assert_eq!((report.inputs[0].kinks, report.inputs[0].compared), (2, 4), "{report}");
    // Near a kink, a smaller step is on one side of it.
    let report = check_gradients(&Tensor::from([1e-6]), |_, x| x.relu())?;
    assert_eq!(report.inputs[0].verdict, Verdict::Agrees, "{report}");
    // At the end of the domain there is no slope on one side.
    let report = check_gradients(&Tensor::from([0.0, 1.0]), |_, x| x.sqrt())?;
    assert_eq!(report.inputs[0].verdict, Verdict::AgreesExceptKinks, "{report}");
    // A slope that is on neither side is wrong, and so is a NaN.
    let report = check_gradients(&Tensor::from([0.0]), |graph, x| {
        graph.custom::<f64>(&square(2.0).unwrap(), x.abs()) + x.abs() * 1.0 + (x * 0.0).sqrt() * 0.0
    })?;
    assert_eq!(report.inputs[0].verdict, Verdict::Differs, "{report}");
    assert!(report.inputs[0].worst.as_ref().unwrap().gradient.is_nan(), "{report}");
    Ok(())
}

#[test]
fn loops_and_branches() -> Result<()> {
    let x = Tensor::from([0.5, 1.25]);
    let wrong = square(1.0)?.pure();
    for (operation, agrees) in [(square(2.0)?.pure(), true), (wrong, false)] {
        let report = check_gradients(&x, |graph, x| {
            let state = (x, graph.copy_constant(&0_i64));
            let looped = graph.while_loop(
                4,
                state,
                (),
                |body, (_, n), ()| body.outputs(n.lt(3)),
                |body, (x, n), ()| body.outputs((body.custom::<f64>(&operation, x) * 0.75, n + 1)),
            );
            looped.unwrap().0 + x
        })?;
        assert_eq!(report.agrees(), agrees, "{report}");
        let name = report.wrong_node.map(|node| node.name);
        assert_eq!(name.is_some_and(|name| name.starts_with("while")), !agrees);
    }
    Ok(())
}

#[test]
fn floats_agree_in_their_digits() -> Result<()> {
    macro_rules! check {
        ($($type:ty)*) => {$({
            let x = DynTensor::from(Tensor::from([0.5, -0.25, 1.0, 1.5])).cast_to::<$type>()?;
            let report = check_gradients(&x, |_, x| (x.exp() * x.sin()).softmax(0).cast::<f32>())?;
            assert!(report.agrees(), "{report}");
            assert_eq!(report.inputs[0].dtype, <$type>::DTYPE);
        })*};
    }
    check!(f32 f64 f16 bf16);
    Ok(())
}

#[test]
fn sparse_and_empty_inputs() -> Result<()> {
    let values = Tensor::from([1.0, -2.0, 0.5]);
    let dense = Tensor::from([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]]);
    let report = check_gradients(&(values, dense), |graph, (values, dense)| {
        let offsets = graph.copy_constant(&[0_i64, 2, 3]);
        let indices = graph.copy_constant(&[0_i64, 2, 1]);
        TracedCsr::new(2, 3, offsets, indices, values).matmul(dense).tanh()
    })?;
    assert!(report.agrees(), "{report}");
    let empty = (Tensor::<f64>::zeros([0, 3])?, Tensor::from([1.0, 2.0, 3.0]));
    for check in [GradientCheck::new(), GradientCheck::new().directions(2)] {
        let report = check.run(&empty, |_, (a, b)| (a * b).sum(..) + b.square().sum(..))?;
        assert!(report.agrees(), "{report}");
        assert_eq!(report.inputs[0].compared, 0);
    }
    Ok(())
}

#[test]
fn refusals() -> Result<()> {
    let x = Tensor::from([1.0, -1.0]);
    let message = |report: Result<train::GradientReport>, kind| {
        let error = report.err().unwrap();
        assert_eq!(error.kind(), kind, "{error}");
        error.message().to_owned()
    };
    let invalid = ErrorKind::InvalidArgument;
    let run = |check: GradientCheck| message(check.run(&x, |_, x| x.exp()), invalid);
    assert_eq!(run(GradientCheck::new().directions(0)), "directions is 0 but must be at least 1");
    let of_nan = run(GradientCheck::new().tolerance(f64::NAN));
    assert_eq!(of_nan, "tolerance is NaN but must be finite and not negative");
    let text = message(check_gradients(&x, |_, x| x.ln()), invalid);
    assert!(text.starts_with("the result is NaN at [1]"), "{text}");
    let labels = Tensor::from([1_i64, 2]);
    let text = message(check_gradients(&labels, |_, x| x.cast::<f64>()), invalid);
    assert!(text.starts_with("no input is a float"), "{text}");
    let complex = Tensor::from([num_complex::Complex::new(1.0, 2.0)]);
    let text = message(check_gradients(&complex, |_, x| x.abs()), ErrorKind::Unsupported);
    assert!(text.starts_with("input 0 is complex"), "{text}");
    let text = message(check_gradients(&x, |graph, x| x + graph.input::<f64>([2])), invalid);
    assert!(text.contains("1 inputs but the graph has 2"), "{text}");
    Ok(())
}
