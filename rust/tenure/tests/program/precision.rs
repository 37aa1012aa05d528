//! Mixed precision: values and gradients, memory, messages; steps that are left out, loss scales.

use crate::{floats, said, traced};
use tenure::train::{AdamW, LossScale, Optimizer, all_finite, cross_entropy};
use tenure::*;

const TOKENS: usize = 64;
const HEADS: usize = 4;
const WIDTH: usize = 64;

/// Shapes of the weights of a transformer block.
const BLOCK: [&[usize]; 4] =
    [&[WIDTH, 3 * WIDTH], &[WIDTH, WIDTH], &[WIDTH, 4 * WIDTH], &[4 * WIDTH, WIDTH]];

/// A block of attention and a network of two layers, each behind a normalization.
fn block<'g>(x: Traced<'g, f32>, weights: &[Traced<'g, f32>]) -> Traced<'g, f32> {
    let batch = x.size(0);
    let normal = |x: Traced<'g, f32>| x.layer_norm(-1, None, None, LayerNorm::new());
    let both = normal(x).matmul(weights[0]).reshape((batch, TOKENS, 3, HEADS, WIDTH / HEADS));
    let heads = |i: usize| {
        both.slice(2, i, i + 1)
            .reshape((batch, TOKENS, HEADS, WIDTH / HEADS))
            .permute(&[0, 2, 1, 3])
    };
    let scores = heads(0).matmul(heads(1).transpose(-1, -2)) * 0.25;
    let mixed = scores.softmax(-1).matmul(heads(2)).permute(&[0, 2, 1, 3]);
    let x = x + mixed.reshape((batch, TOKENS, WIDTH)).matmul(weights[1]);
    x + normal(x).matmul(weights[2]).gelu().matmul(weights[3])
}

/// A program of an input and weights that gives a loss and its gradients by the weights.
type LossAndGradients = Program<(f32, Vec<f32>), (f32, Vec<f32>)>;

/// A step of two blocks, and its gradients, in f32 or in mixed precision.
fn blocks(
    lower: impl for<'g> Fn(Graph<'g>, Traced<'g, f32>) -> Traced<'g, f32>,
) -> Result<LossAndGradients> {
    let weights: Vec<Tensor<f32>> =
        (0..8).map(|i| Tensor::zeros(BLOCK[i % 4])).collect::<Result<_>>()?;
    Program::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("batch", 4), TOKENS, WIDTH));
        let weights = graph.inputs(&weights);
        let y = weights.chunks(4).fold(x, block);
        let loss = lower(graph, y.square().mean(..));
        let gradients = graph.gradients(loss, &weights);
        graph.program((x, weights), (loss, gradients))
    })
}

fn weights() -> Vec<Tensor<f32>> {
    let mut generator = random::Generator::new(3);
    (0..8).map(|i| generator.normal(0.0, 0.1, BLOCK[i % 4]).unwrap()).collect()
}

#[test]
fn a_transformer_block_needs_less_memory_and_gives_near_gradients() -> Result<()> {
    let wide = blocks(|_, loss| loss)?;
    let bf16 = blocks(|graph, loss| graph.mixed_precision::<bf16, _>(loss, &[]))?;
    let f16 = blocks(|graph, loss| graph.mixed_precision::<f16, _>(loss, &[]))?;
    let x = random::Generator::new(4).normal(0.0, 1.0, [3, TOKENS, WIDTH])?;
    let weights = weights();
    let peak = |program: &Program<_, _>| program.memory((&x, &weights)).map(|plan| plan.peak_bytes);
    let share = peak(&bf16)? as f64 / peak(&wide)? as f64;
    assert!(share < 0.72, "{share}");
    let (loss, gradients) = wide.run((&x, &weights))?;
    for (program, bound) in [(&bf16, 0.03), (&f16, 0.004)] {
        let (near_loss, near) = program.run((&x, &weights))?;
        let off = (near_loss.item().unwrap() / loss.item().unwrap() - 1.0).abs();
        assert!(f64::from(off) < bound, "{off}");
        for (a, b) in gradients.iter().zip(&near) {
            let off = ops::sum_all((a - b).square().eval()?)? / ops::sum_all((a * a).eval()?)?;
            assert!(off > 0.0 && f64::from(off.sqrt()) < bound, "{off}");
        }
    }
    Ok(())
}

#[test]
fn trees_keep_their_form_and_values_without_a_product_come_back() -> Result<()> {
    for program in traced(|graph| {
        let (x, w) = (graph.input::<f32>([2, 3]), graph.input::<f32>([3, 2]));
        let y = x.matmul(w);
        let (a, [b, c], d) =
            graph.mixed_precision::<f16, _>((y, [x, y.exp()], x.cast::<f64>()), &[]);
        graph.program((x, w), (a, b, c, d))
    }) {
        let (x, w) = ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[0.5, 0.0], [0.0, 2049.0], [0.0, 0.0]]);
        let (a, b, c, d) = program?.run((&x, &w))?;
        // 2049 is no f16: the nearest even one is 2048.
        assert_eq!(a, [[0.5, 4096.0], [2.0, 10240.0]]);
        assert_eq!(b, x);
        assert_eq!(c.get([0, 0]).copied(), Some(0.5_f32.exp()));
        assert_eq!(d.shape(), [2, 3]);
    }
    Ok(())
}

#[test]
fn refusals_name_the_call() {
    let refused = said(|graph| {
        let x = graph.input::<f32>([2, 2]);
        graph.program((x,), graph.mixed_precision::<f64, _>(x.matmul(x), &[]))
    });
    assert!(refused.starts_with("mixed_precision at "), "{refused}");
    assert!(refused.ends_with(": dtype is f64 but must be bf16 or f16"), "{refused}");
    let refused = said(|graph| {
        let x = graph.input::<f32>([2, 2]);
        graph.program((x,), graph.mixed_precision::<bf16, _>(x.matmul(x), &[x.exp()]))
    });
    assert!(refused.contains("keep[0] is value 2, which no value of `of` depends on"), "{refused}");
}

/// A run's refusal by an operation that was copied has the place of the operation in the source.
#[test]
fn messages_have_the_place_of_the_operation() {
    let program = Program::trace(|graph| {
        let (x, at) = (graph.input::<f32>([2, 2]), graph.input::<i64>([1]));
        let y = x.matmul(x).take(0, at);
        graph.program((x, at), graph.mixed_precision::<bf16, _>(y, &[]))
    })
    .unwrap();
    let error = program.run((&[[1.0_f32; 2]; 2], &[5_i64])).unwrap_err();
    assert!(error.message().starts_with("take at "), "{error}");
}

/// The parameter and the states after steps of these gradients, and the flags of the steps.
fn guarded(gradients: &[[f32; 2]]) -> Result<(Vec<Tensor<f32>>, Vec<bool>)> {
    let optimizer = AdamW::new();
    let mut w = vec![Tensor::from([1.0, -2.0])];
    let mut states = optimizer.zeros(&w)?;
    let step = Program::trace(|graph| {
        let gradient = graph.input::<f32>([2]);
        let (w, states) = (graph.inputs(&w), graph.inputs(&states));
        let finite = all_finite(&[gradient]).unwrap();
        let next = optimizer.step(0.1, &w, &[gradient], &states).only_if(finite);
        graph.program((gradient, next.parameters, next.states), finite)
    })?;
    let mut flags = Vec::new();
    for gradient in gradients {
        let finite = step.run((gradient, &mut w, &mut states))?;
        flags.push(finite.item() == Some(true.into()));
    }
    w.extend(states);
    Ok((w, flags))
}

#[test]
fn a_step_that_is_left_out_changes_no_bit() -> Result<()> {
    let (good, other) = ([0.5, -1.0], [2.0, 0.25]);
    let (plain, flags) = guarded(&[good, other])?;
    assert_eq!(flags, [true, true]);
    for bad in [[f32::NAN, 1.0], [1.0, f32::INFINITY], [f32::NEG_INFINITY, f32::NAN]] {
        let (guarded, flags) = guarded(&[bad, good, bad, bad, other, bad])?;
        assert_eq!(flags, [false, true, false, false, true, false]);
        assert_eq!(guarded, plain);
    }
    Ok(())
}

#[test]
fn a_loss_scale_grows_and_shrinks() -> Result<()> {
    let scaling = LossScale::new().first(8.0).growth(4.0).backoff(0.25).interval(2);
    let program = Program::trace(|graph| {
        let (scale, finite) = (graph.input::<f32>([2]), graph.input::<Bool8>(()));
        graph.program((scaling.next(scale, finite), finite), ())
    })?;
    let mut scale = scaling.first_state()?;
    let mut step = |finite: bool| {
        program.run((&mut scale, &Bool8::from(finite))).unwrap();
        scale.to_vec()
    };
    assert_eq!(step(true), [8.0, 1.0]);
    assert_eq!(step(true), [32.0, 0.0]);
    assert_eq!(step(true), [32.0, 1.0]);
    assert_eq!(step(false), [8.0, 0.0]);
    assert_eq!(step(false), [2.0, 0.0]);
    for _ in 0..80 {
        step(false);
    }
    assert_eq!(step(false), [f32::MIN_POSITIVE, 0.0]);
    for _ in 0..400 {
        step(true);
    }
    assert_eq!(step(true)[0], f32::MAX);
    Ok(())
}

#[test]
fn numbers_that_no_loss_scale_takes_are_refused() {
    for (scaling, message) in [
        (LossScale::new().first(0.0), "first is 0 but must be finite and above 0"),
        (LossScale::new().first(f32::INFINITY), "first is inf but must be finite and above 0"),
        (LossScale::new().growth(0.5), "growth is 0.5 but must be finite and at least 1"),
        (LossScale::new().backoff(1.5), "backoff is 1.5 but must be above 0 and at most 1"),
        (LossScale::new().backoff(f64::NAN), "backoff is NaN but must be above 0 and at most 1"),
        (LossScale::new().interval(0), "interval is 0 but must be 1 to 16777215"),
        (LossScale::new().interval(1 << 24), "interval is 16777216 but must be 1 to 16777215"),
    ] {
        assert_eq!(scaling.first_state().unwrap_err().message(), message);
        let refused = said(|graph| {
            let (scale, finite) = (graph.input::<f32>([2]), graph.input::<Bool8>(()));
            graph.program((scaling.next(scale, finite), finite), ())
        });
        assert!(refused.ends_with(message), "{refused}");
    }
}

/// Gradients that are 0 in f16 train a weight by a loss scale.
#[test]
fn a_loss_scale_lifts_gradients_that_f16_lacks() -> Result<()> {
    let scaling = LossScale::new();
    let program = Program::trace(|graph| {
        let (x, w) = (graph.input::<f32>([1, 2]), graph.input::<f32>([2, 1]));
        let scale = graph.input::<f32>([2]);
        let loss = graph.mixed_precision::<f16, _>(x.matmul(w).sum(..) * 1e-9, &[]);
        let plain = graph.gradients(loss, w);
        let [lifted] =
            scaling.unscaled(&[graph.gradients(scaling.scaled(loss, scale), w)], scale)[..]
        else {
            unreachable!("one gradient")
        };
        graph.program((x, w, scale), (plain, lifted))
    })?;
    let scale = scaling.first_state()?;
    let (plain, lifted) = program.run((&[[1.0, 2.0]], &[[1.0], [1.0]], &scale))?;
    assert_eq!(plain, [[0.0], [0.0]]);
    for (found, expected) in lifted.to_vec().into_iter().zip([1e-9, 2e-9]) {
        assert!((found / expected - 1.0).abs() < 1e-3, "{found}");
    }
    Ok(())
}

#[cfg(feature = "programs")]
#[test]
fn a_file_keeps_the_precision() -> Result<()> {
    let program = Program::trace(|graph| {
        let rows = graph.extent("rows", 16);
        let (x, labels) = (graph.input::<f32>((rows, 8)), graph.input::<i64>(rows));
        let w = graph.input::<f32>([8, 4]);
        let loss = cross_entropy(x.matmul(w).tanh().matmul(w.t()), labels);
        let loss = graph.mixed_precision::<bf16, _>(loss, &[]);
        graph.program((x, labels, w), (loss, graph.gradients(loss, w)))
    })?;
    let path = std::env::temp_dir().join(format!("tenure-precision-{}.tnrp", std::process::id()));
    program.save(&path)?;
    let again = Program::<(f32, i64, f32), (f32, f32)>::from_file(
        &program::file::ProgramFile::new(std::fs::read(&path).unwrap())?,
        Vec::new(),
    )?;
    std::fs::remove_file(&path).unwrap();
    let (x, labels, w) = (floats(1, [5, 8]), [0_i64, 1, 2, 3, 7], floats(2, [8, 4]));
    let inputs = (&x, &labels, &w);
    assert_eq!(program.run(inputs)?, again.run(inputs)?);
    Ok(())
}
