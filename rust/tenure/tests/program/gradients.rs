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

    // A message about a later node says where the gradients were asked for.
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
