//! The step that the demo trains by: preallocated, and with several threads.

use tenure::train::{AdamW, Optimizer};
use tenure::{Context, Result, Tensor};
use tenure_demo::learned;

const ROWS: [i64; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Images, labels, weights and states.
type State = (Tensor<u8>, Tensor<i64>, Vec<Tensor<f32>>, Vec<Tensor<f32>>);

fn state() -> Result<State> {
    let x = Tensor::from_fn([learned::BATCH, 64], |[i, j]| ((i * 7 + j * 3) % 17) as u8)?;
    let y = Tensor::from_fn([learned::BATCH], |[i]| (i % 10) as i64)?;
    let weights = learned::initial()?;
    let states = AdamW::new().zeros(&weights)?;
    Ok((x, y, weights, states))
}

#[test]
fn a_preallocated_step_has_the_bits_of_a_run() -> Result<()> {
    let step = learned::step()?;
    let (x, mut y, mut weights, mut states) = state()?;
    let (_, _, mut expected_weights, mut expected_states) = state()?;
    let mut loss = Tensor::zeros([])?;
    let bound = step.bind_preallocated(
        (&x, &y, &[0.0], &0, &ROWS, &ROWS, &mut weights, &mut states),
        &mut loss,
    )?;
    for number in 0..5 {
        let rate = [1e-3];
        let inputs = (&x, &y, &rate, &number, &ROWS, &ROWS, &mut weights, &mut states);
        bound.run(inputs, &mut loss)?;
        let (weights_of_run, states_of_run) = (&mut expected_weights, &mut expected_states);
        let inputs = (&x, &y, &rate, &number, &ROWS, &ROWS, weights_of_run, states_of_run);
        assert_eq!(loss, step.run(inputs)?);
    }
    assert_eq!(weights, expected_weights);
    assert_eq!(states, expected_states);

    // A label that is no class.
    y.as_mut_slice().unwrap()[7] = 10;
    let inputs = (&x, &y, &[1e-3], &9, &ROWS, &ROWS, &mut weights, &mut states);
    let refused = bound.run(inputs, &mut loss).unwrap_err();
    assert!(refused.to_string().contains("indices[7, 0] is 10"), "{refused}");
    assert_eq!(weights, expected_weights);
    assert_eq!(states, expected_states);
    Ok(())
}

#[test]
fn fewer_images_than_a_batch_are_bound() -> Result<()> {
    let step = learned::step()?;
    let (x, y, mut weights, mut states) = state()?;
    let (x, y) = (x.slice(0, ..28)?, y.slice(0, ..28)?);
    let (_, _, mut expected_weights, mut expected_states) = state()?;
    let mut loss = Tensor::zeros([])?;
    let inputs = (&x, &y, &[1e-3], &3, &ROWS, &ROWS, &mut weights, &mut states);
    let bound = step.bind_preallocated(inputs, &mut loss)?;
    let inputs = (&x, &y, &[1e-3], &3, &ROWS, &ROWS, &mut weights, &mut states);
    bound.run(inputs, &mut loss)?;
    let (weights_of_run, states_of_run) = (&mut expected_weights, &mut expected_states);
    let inputs = (&x, &y, &[1e-3], &3, &ROWS, &ROWS, weights_of_run, states_of_run);
    assert_eq!(loss, step.run(inputs)?);
    assert_eq!(weights, expected_weights);
    assert_eq!(states, expected_states);
    Ok(())
}

/// The loss of each of 40 steps, and the weights behind them.
fn trained(threads: usize) -> Result<(Vec<f32>, Vec<Tensor<f32>>)> {
    let step = learned::step()?;
    let (x, y, mut weights, mut states) = state()?;
    let mut losses = Vec::new();
    Context::with_threads(threads)?.install(|| {
        for number in 0..40 {
            let shift = (number % 3) as i64;
            let rows = ROWS.map(|row| row + shift);
            let inputs = (&x, &y, &[3e-3], &number, &rows, &ROWS, &mut weights, &mut states);
            losses.extend(step.run(inputs)?.item());
        }
        Ok((losses, weights))
    })
}

#[test]
fn the_bits_are_those_of_any_number_of_threads() -> Result<()> {
    let (losses, weights) = trained(1)?;
    assert!(losses.len() == 40 && losses[39] < 0.8 * losses[0], "{losses:?}");
    for threads in [2, 4] {
        let (others, other_weights) = trained(threads)?;
        assert_eq!(losses, others, "{threads} threads");
        assert_eq!(weights, other_weights, "{threads} threads");
    }
    Ok(())
}
