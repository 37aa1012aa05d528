//! Trains the network of the demo without dropout, and writes what another library needs to do the
//! same, with the loss of each step, as .npy files: `tests/interop/training_test.py` compares them.
//!
//! `curve FOLDER STEPS`
#![forbid(unsafe_code)]

use std::env;
use std::error::Error;
use std::path::Path;

use tenure::train::{AdamW, Optimizer};
use tenure::{Tensor, io::npy, random::Generator};
use tenure_demo::learned::{self, BATCH, LEARNED};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    let [_, folder, steps] = &arguments[..] else { return Err("curve FOLDER STEPS".into()) };
    let (folder, steps): (_, usize) = (Path::new(folder), steps.parse()?);
    let data = tenure_demo::DATA;
    let pixels: Tensor<u8> = npy::read_as(format!("{data}/digits.npy"))?;
    let labels: Tensor<i64> = npy::read_as(format!("{data}/digits.labels.npy"))?;
    let mut generator = Generator::new(3);
    // Each sample once before any a second time.
    let mut samples = Vec::new();
    while samples.len() < steps * BATCH {
        samples.extend(generator.permutation(LEARNED)?.to_vec());
    }
    let step = learned::step_keeping(1.0)?;
    let mut weights = learned::initial()?;
    for (i, weight) in weights.iter().enumerate() {
        npy::save(folder.join(format!("weights{i}.npy")), weight)?;
    }
    let mut states = AdamW::new().zeros(&weights)?;
    let (mut rates, mut losses) = (Vec::new(), Vec::new());
    for (number, batch) in samples.chunks_exact(BATCH).take(steps).enumerate() {
        let (x, y) = (tenure::ops::take(&pixels, 0, batch)?, tenure::ops::take(&labels, 0, batch)?);
        let rate = [3e-3 * (1.0 - number as f32 / steps as f32)];
        // Where the image is in one that is padded by a pixel.
        let [rows, columns] = [number % 3, number / 3 % 3]
            .map(|from| std::array::from_fn::<_, 8, _>(|i| (from + i) as i64));
        let number = number as u64;
        let inputs = (&x, &y, &rate, &number, &rows, &columns, &mut weights, &mut states);
        losses.extend(step.run(inputs)?.item());
        rates.extend(rate);
    }
    samples.truncate(steps * BATCH);
    npy::save(folder.join("samples.npy"), &Tensor::from_vec(samples, [steps, BATCH])?)?;
    npy::save(folder.join("rates.npy"), &Tensor::from_vec(rates, [steps])?)?;
    npy::save(folder.join("losses.npy"), &Tensor::from_vec(losses, [steps])?)?;
    Ok(())
}
