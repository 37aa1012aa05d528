//! Gradients of graphs: forms of variables, named extents, refusals, training steps.

use crate::{floats, said, traced};
use tenure::*;

#[test]
fn gradients_have_the_form_of_the_variables() -> Result<()> {
    let program = Program::trace(|graph| {
        let (x, w) = (graph.input::<f32>([2]), graph.input::<f64>([2]));
        let y = (x.cast::<f64>() * w).sum(0);
        let one = graph.gradients(y, w);
        let (by_x, by_w) = graph.gradients(y, (x, w));
        let [first, second] = graph.gradients(y, [w, w]);
        let many = graph.gradients(y, vec![x; 3]);
        graph.program((x, w), (one, by_x, by_w, first, second, many[2]))
    })?;
    let (one, by_x, by_w, first, second, third) = program.run((&[2.0, 3.0], &[5.0, 7.0]))?;
    assert_eq!(by_x, [5.0_f32, 7.0]);
    assert_eq!(third, by_x);
    for by_w in [one, by_w, first, second] {
        assert_eq!(by_w, [2.0, 3.0]);
    }
    Ok(())
}

#[test]
fn named_extents_decide_in_each_run_what_is_summed() -> Result<()> {
    for program in traced(|graph| {
        let n = graph.extent("n", 8);
        let m = graph.extent("m", 8);
        let (a, b) = (graph.input::<f64>((n, 3)), graph.input::<f64>((m, 3)));
        let loss = (a * b).square().mean(..);
        let (by_a, by_b) = graph.gradients(loss, (a, b));
        graph.program((a, b), (by_a, by_b))
    }) {
        let program = program?;
        // m is 1: the rows of b repeat.
        let (by_a, by_b) =
            program.run((&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &[[1.0, 1.0, 2.0]]))?;
        let scale = 2.0 / 6.0;
        assert_eq!(
            by_a,
            [[scale, 2.0 * scale, 12.0 * scale], [4.0 * scale, 5.0 * scale, 24.0 * scale]]
        );
        assert_eq!(by_b, [[17.0 * scale, 29.0 * scale, 90.0 * scale]]);
        // Both have 2 rows.
        let ones = [[1.0; 3]; 2];
        let (by_a, by_b) = program.run((&ones, &ones))?;
        assert_eq!((by_a, by_b), (Tensor::full([2, 3], scale)?, Tensor::full([2, 3], scale)?));
    }
    Ok(())
}

#[test]
fn reductions_broadcast_back_to_the_extents_of_a_run() -> Result<()> {
    for program in traced(|graph| {
        let n = graph.extent("n", 100);
        let x = graph.input::<f64>((2, n));
        let y = x.softmax(1) + x.layer_norm(1, None, None, LayerNorm::new());
        let loss = (y.cumsum(1) * x.std(Axes::keep(1), 0)).sum(..) + x.max(1).sum(0);
        graph.program((x,), graph.gradients(loss, x))
    }) {
        let program = program?;
        for n in [1, 2, 7] {
            let x = floats(7, [2, n]).view().cast::<f64>()?;
            let gradient = program.run((&x,))?;
            assert_eq!(gradient.shape(), [2, n]);
        }
    }
    Ok(())
}

#[test]
fn gradients_of_gradients() -> Result<()> {
    let program = Program::trace(|graph| {
        let x = graph.input::<f64>([3]);
        let slope = graph.gradients((x * x * x).sum(0), x);
        graph.program((x,), (slope, graph.gradients(slope.sum(0), x)))
    })?;
    let (slope, curvature) = program.run((&[1.0, 2.0, -3.0],))?;
    assert_eq!(
        (slope, curvature),
        (Tensor::from([3.0, 12.0, 27.0]), Tensor::from([6.0, 12.0, -18.0]))
    );
    Ok(())
}

#[test]
fn refusals_name_the_place() {
    let message = said(|graph| {
        let x = graph.input::<f32>([3]);
        let y = graph.gradients(x.exp(), x);
        graph.program((x,), y)
    });
    assert!(message.starts_with("gradients at "), "{message}");
    assert!(message.ends_with("more than one element needs a seed"), "{message}");

    let message = said(|graph| {
        let (x, n) = (graph.input::<f32>([3]), graph.input::<i32>([3]));
        let y = graph.gradients(x.sum(0), n);
        graph.program((x, n), y)
    });
    assert!(message.contains("of i32, but only floats and complex numbers have"), "{message}");

    // A message about a later node has the call of the gradients.
    let message = said(|graph| {
        let x = graph.input::<f32>([3]);
        let by_x = graph.gradients(x.square().sum(0), x);
        let y = by_x + graph.input::<f32>([4]);
        graph.program((x,), y)
    });
    assert!(message.contains("a is gradients at "), "{message}");
}

#[test]
fn a_step_trains_and_keeps_its_bits_with_threads_and_without_passes() -> Result<()> {
    let x = floats(1, [64, 8]);
    let labels = Tensor::from_vec((0..64).map(|i| i % 4).collect::<Vec<i64>>(), 64)?;
    let mut results = Vec::new();
    for passes in [Passes::DEFAULT, Passes::NONE] {
        for threads in [1, 2] {
            let step = Program::trace_with(passes, |graph| {
                let (x, labels) = (graph.input::<f32>([64, 8]), graph.input::<i64>([64]));
                let (w, b, v) = (
                    graph.input::<f32>([8, 16]),
                    graph.input::<f32>([16]),
                    graph.input::<f32>([16, 4]),
                );
                let scores = (x.matmul(w) + b).tanh().matmul(v).log_softmax(1);
                let taken = scores.gather(1, labels.reshape([64, 1]));
                let loss = -taken.mean(..);
                let (dw, db, dv) = graph.gradients(loss, (w, b, v));
                let updated = (
                    w.updated_by(w - dw * 0.5),
                    b.updated_by(b - db * 0.5),
                    v.updated_by(v - dv * 0.5),
                );
                graph.program((x, labels, updated.0, updated.1, updated.2), loss)
            })?;
            let (mut w, mut b, mut v) = (floats(2, [8, 16]), floats(3, [16]), floats(4, [16, 4]));
            let losses = Context::with_threads(threads)?.install(|| {
                (0..200)
                    .map(|_| {
                        step.run((&x, &labels, &mut w, &mut b, &mut v))
                            .map(|loss| loss.item().unwrap())
                    })
                    .collect::<Result<Vec<_>>>()
            })?;
            assert!(losses[199] < 0.5 * losses[0], "{} {}", losses[0], losses[199]);
            results.push((losses.last().copied(), w, b, v));
        }
    }
    for pair in results.windows(2).step_by(2) {
        assert_eq!(pair[0], pair[1]);
    }
    Ok(())
}

#[test]
fn branches_and_loops_have_gradients() -> Result<()> {
    for program in traced(|graph| {
        let n = graph.extent("n", 8);
        let (x, w) = (graph.input::<f64>([n]), graph.input::<f64>(()));
        let times = graph.input::<i64>(());
        let start = graph.copy_constant(&Tensor::full([], 0_i64)?);
        // x w^times, and its square where there is no iteration.
        let (_, y) = graph.while_loop(
            10,
            (start, x),
            (times, w),
            |body, (count, _), (times, _)| body.outputs(count.lt(times)),
            |body, (count, x), (_, w)| body.outputs((count + 1, x * w)),
        )?;
        let squared =
            graph.cond(times.eq(0), y, |body, y| body.outputs(y * y), |body, y| body.outputs(y))?;
        let (by_x, by_w) = graph.gradients(squared.sum(0), (x, w));
        graph.program((x, w, times), (by_x, by_w))
    }) {
        let program = program?;
        let w = Tensor::full([], 2.0)?;
        let run = |x: &[f64], times: i64| program.run((x, &w, &Tensor::full([], times)?));
        let (by_x, by_w) = run(&[1.0, 2.0, 3.0], 3)?;
        assert_eq!((by_x, by_w.item()), (Tensor::full([3], 8.0)?, Some(6.0 * 12.0)));
        let (by_x, by_w) = run(&[1.0, 2.0], 0)?;
        assert_eq!((by_x, by_w.item()), (tensor_of(&[2.0, 4.0])?, Some(0.0)));
    }
    Ok(())
}

fn tensor_of(elements: &[f64]) -> Result<Tensor<f64>> {
    Ok(Tensor::from_vec(elements.to_vec(), elements.len())?)
}

fn product() -> Result<CustomOperation> {
    CustomOperation::new::<(f64, f64, i64), f64>(
        "product",
        |[a, _, _]| Ok(a.to_vec()),
        |(a, b, times), mut out| {
            for ((out, a), b) in out.iter_mut().zip(a.iter()).zip(b.iter()) {
                *out = a * b * times[[]] as f64;
            }
            Ok(())
        },
    )
}

#[test]
fn custom_operations_bring_their_derivatives() -> Result<()> {
    let product =
        product()?.pure().derive::<(f64, f64, i64), f64>(|_, (a, b, times), _result, gradient| {
            let scaled = gradient * times.cast::<f64>();
            Ok((Some(b * scaled), Some(a * scaled), None))
        });
    for program in traced(|graph| {
        let (a, b) = (graph.input::<f64>([2]), graph.input::<f64>([2]));
        let times = graph.input::<i64>(());
        let y = graph.custom::<f64>(&product, (a, b, times));
        // Another graph calls it too, and an operation that was added before stays the same.
        let z = graph.cond(
            times.gt(2),
            (y, b, times),
            |body, values| body.outputs(body.custom::<f64>(&product, values)),
            |body, (y, _, _)| body.outputs(y),
        )?;
        let (by_a, by_b) = graph.gradients(z.sum(0), (a, b));
        let again = graph.custom::<f64>(&product, (a, b, times));
        graph.program((a, b, times), (by_a, by_b, again))
    }) {
        let program = program?;
        let (a, b) = ([1.0, 2.0], [5.0, 7.0]);
        let (by_a, by_b, again) = program.run((&a, &b, &Tensor::full([], 2_i64)?))?;
        assert_eq!((by_a, by_b), (tensor_of(&[10.0, 14.0])?, tensor_of(&[2.0, 4.0])?));
        assert_eq!(again, [10.0, 28.0]);
        // a b^2 9
        let (by_a, by_b, _) = program.run((&a, &b, &Tensor::full([], 3_i64)?))?;
        assert_eq!((by_a, by_b), (tensor_of(&[225.0, 441.0])?, tensor_of(&[90.0, 252.0])?));
    }
    Ok(())
}

#[test]
fn faults_of_derivatives_are_errors() -> Result<()> {
    fn failing(
        derive: impl for<'g> Fn(
            Graph<'g>,
            (Traced<'g, f64>, Traced<'g, f64>, Traced<'g, i64>),
            Traced<'g, f64>,
            Traced<'g, f64>,
        ) -> std::result::Result<
            (Option<Traced<'g, f64>>, Option<Traced<'g, f64>>, Option<Traced<'g, i64>>),
            Box<dyn std::error::Error + Send + Sync>,
        > + Send
        + Sync
        + 'static,
    ) -> Result<Error> {
        let product = product()?.derive::<(f64, f64, i64), f64>(derive);
        Ok(error_of(&product))
    }
    fn error_of(product: &CustomOperation) -> Error {
        let made = Program::trace(|graph| {
            let (a, times) = (graph.input::<f64>([3]), graph.input::<i64>(()));
            let y = graph.custom::<f64>(product, (a, a, times));
            let by_a = graph.gradients(y.sum(0), a);
            graph.program((a, times), by_a)
        });
        made.err().unwrap()
    }
    let error = error_of(&product()?);
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().ends_with("a custom operation without `derive`"), "{error}");
    let cases = [
        (failing(|_, _, _, _| panic!("no derivative today"))?, ErrorKind::Internal, "it panicked"),
        (failing(|_, _, _, _| Err("not yet".into()))?, ErrorKind::InvalidArgument, "not yet"),
        (
            failing(|_, (a, _, _), _, g| Ok((Some((a * g).sum(0)), None, None)))?,
            ErrorKind::InvalidArgument,
            "f64 of shape [] as the gradient of operand 0",
        ),
        (
            failing(|_, (_, _, times), _, _| Ok((None, None, Some(times))))?,
            ErrorKind::InvalidArgument,
            "operand 2, which has none",
        ),
        (
            failing(|graph, (a, b, _), _, _| {
                let _refused = a.matmul(graph.copy_constant(&Tensor::full([4], 1.0)?));
                Ok((Some(b), None, None))
            })?,
            ErrorKind::InvalidArgument,
            "matmul at ",
        ),
        (
            failing(|graph, (_, b, _), _, _| Ok((Some(graph.input::<f64>([3]) * b), None, None)))?,
            ErrorKind::InvalidArgument,
            "added an input",
        ),
    ];
    for (error, kind, message) in cases {
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains("derive of the custom operation product"), "{error}");
        assert!(error.message().contains(message), "{error}");
        assert!(error.message().contains("gradients.rs"), "{error}");
    }
    let narrow = product()?.derive::<(f32,), f32>(|_, (a,), _, _| Ok((Some(a),)));
    assert!(error_of(&narrow).message().contains("it takes 1 operands but is given 3"));
    let narrow = product()?.derive::<(f64, f32, i64), f64>(|_, _, _, _| Ok((None, None, None)));
    assert!(error_of(&narrow).message().contains("operand 1 is f64 but it takes f32"));
    Ok(())
}

#[test]
fn branches_repeat_pure_operations_only() -> Result<()> {
    let product = product()?.derive::<(f64, f64, i64), f64>(|_, (_, b, _), _, gradient| {
        Ok((Some(b * gradient), None, None))
    });
    let made = Program::trace(|graph| {
        let (a, times) = (graph.input::<f64>([3]), graph.input::<i64>(()));
        let y = graph.cond(
            times.gt(2),
            (a, times),
            |body, (a, times)| {
                let once = body.custom::<f64>(&product, (a, a, times));
                body.outputs(body.custom::<f64>(&product, (once, once, times)))
            },
            |body, (a, _)| body.outputs(a),
        )?;
        let by_a = graph.gradients(y.sum(0), a);
        graph.program((a, times), by_a)
    });
    let error = made.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("product would be called again"), "{error}");
    Ok(())
}
