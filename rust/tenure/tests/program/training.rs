//! Losses, optimisers and the clipping of gradients, compared with plain formulas step by step.

use crate::said;
use tenure::train::{self, Adam, AdamW, Lion, Optimizer, Sgd};
use tenure::*;

/// The parameter after three steps on gradients that do not depend on it.
fn three_steps(rule: &impl Optimizer, gradients: [f64; 3]) -> Result<f64> {
    let step = Program::trace(|graph| {
        let (w, g, rate) =
            (graph.input::<f64>([1]), graph.input::<f64>([1]), graph.input::<f64>([1]));
        let states = rule.states(graph, &[w]);
        let next = rule.step(rate, &[w], &[g], &states);
        let [w] = next.parameters[..] else { unreachable!("one parameter") };
        let mut states = next.states.into_iter();
        let unused = || graph.input::<f64>([1]);
        let (a, b, c) = match states.len() {
            1 => (states.next(), None, None),
            3 => (states.next(), states.next(), states.next()),
            count => unreachable!("{count} states"),
        };
        let b = b.unwrap_or_else(|| {
            let x = unused();
            x.updated_by(x)
        });
        let c = c.unwrap_or_else(|| {
            let x = unused();
            x.updated_by(x)
        });
        graph.program((w, g, rate, a.unwrap(), b, c), ())
    })?;
    let mut w = Tensor::from([1.0]);
    let mut states = rule.zeros([&w])?;
    while states.len() < 3 {
        states.push(Tensor::zeros(1)?);
    }
    for gradient in gradients {
        let [a, b, c] = &mut states[..] else { unreachable!("three states") };
        step.run((&mut w, &[gradient], &[0.1], a, b, c))?;
    }
    Ok(*w.get([0]).unwrap())
}

fn assert_near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} {b}");
}

#[test]
fn sgd_with_momentum_and_decay() -> Result<()> {
    let (mut w, mut v) = (1.0_f64, 0.0);
    for g in [0.5, -1.0, 2.0] {
        v = 0.9 * v + g + 0.01 * w;
        w -= 0.1 * v;
    }
    assert_near(three_steps(&Sgd::new().momentum(0.9).weight_decay(0.01), [0.5, -1.0, 2.0])?, w);
    Ok(())
}

#[test]
fn adam_and_adamw() -> Result<()> {
    for (decay, is_decoupled) in [(0.0, false), (0.1, false), (0.1, true)] {
        let (mut w, mut m, mut v) = (1.0_f64, 0.0, 0.0);
        for (t, g) in [0.5, -1.0, 2.0].into_iter().enumerate() {
            let t = t as i32 + 1;
            let g = if is_decoupled { g } else { g + decay * w };
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            let (m_hat, v_hat) = (m / (1.0 - 0.9_f64.powi(t)), v / (1.0 - 0.999_f64.powi(t)));
            w -= 0.1 * (m_hat / (v_hat.sqrt() + 1e-8) + if is_decoupled { decay * w } else { 0.0 });
        }
        let gradients = [0.5, -1.0, 2.0];
        let found = match is_decoupled {
            true => three_steps(&AdamW::new().weight_decay(decay), gradients)?,
            false => three_steps(&Adam::new().weight_decay(decay), gradients)?,
        };
        assert!((found - w).abs() < 1e-10, "{found} {w}");
    }
    Ok(())
}

#[test]
fn lion() -> Result<()> {
    let (mut w, mut m) = (1.0_f64, 0.0);
    for g in [0.5, -1.0, 2.0] {
        w -= 0.1 * (0.9_f64 * m + 0.1 * g).signum() + 0.1 * 0.02 * w;
        m = 0.99 * m + 0.01 * g;
    }
    assert_near(three_steps(&Lion::new().weight_decay(0.02), [0.5, -1.0, 2.0])?, w);
    Ok(())
}

#[test]
fn gradients_are_clipped_together() -> Result<()> {
    let program = Program::trace(|graph| {
        let (a, b) = (graph.input::<f32>([2]), graph.input::<f32>([1]));
        let (clipped, norm) = train::clip_by_global_norm(&[a, b], 2.5);
        graph.program((a, b), (clipped[0], clipped[1], norm.unwrap()))
    })?;
    let (a, b, norm) = program.run((&[3.0, 0.0], &[4.0]))?;
    assert_eq!(norm.item(), Some(5.0));
    assert!((a.get([0]).unwrap() - 1.5).abs() < 1e-5 && (b.get([0]).unwrap() - 2.0).abs() < 1e-5);
    let (a, b, _) = program.run((&[0.3, 0.0], &[0.4]))?;
    assert_eq!((a, b), (Tensor::from([0.3, 0.0]), Tensor::from([0.4])));
    Ok(())
}

#[test]
fn numbers_that_no_rule_takes_are_refused() {
    fn refused(rule: impl Optimizer, rate: f64) -> String {
        said(|graph| {
            let (w, g) = (graph.input::<f32>([1]), graph.input::<f32>([1]));
            let states = rule.states(graph, &[w]);
            let next = rule.step(rate, &[w], &[g], &states);
            graph.program((w, g), next.parameters.len() as f32 + w)
        })
    }
    assert!(refused(Sgd::new(), f64::NAN).ends_with("the rate is NaN but must be finite"));
    assert!(refused(Sgd::new(), f64::INFINITY).ends_with("the rate is inf but must be finite"));
    assert!(
        refused(Sgd::new().momentum(1.0), 0.1)
            .ends_with("momentum is 1 but must be at least 0 and below 1")
    );
    assert!(refused(Adam::new().eps(f64::NAN), 0.1).contains("eps is NaN"));
    assert!(refused(AdamW::new().betas(0.9, -0.1), 0.1).contains("beta2 is -0.1"));
    assert!(refused(Lion::new().weight_decay(f64::INFINITY), 0.1).contains("weight_decay is inf"));
}
