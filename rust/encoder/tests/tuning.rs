//! Training on pairs: gradients compared with central differences of a reference implementation in
//! plain `f64`, and steps that lower the loss.
#![forbid(unsafe_code)]

mod model;
mod plain;

use std::collections::HashSet;

use model::{HEADS, Model, POSITIONS, model, opened};
use plain::{Plain, dot};
use tenure::{Context, ErrorKind, random::Generator};
use tenure_encoder::{Bert, Error, Pair, Sequences, Tuning, batches, pairs, tokens_of};

/// Pairs of sequences of unequal lengths.
const TEXTS: [&[i64]; 6] =
    [&[2, 4, 5, 3], &[2, 6, 7, 3], &[2, 9, 3], &[2, 10, 8, 4, 3], &[2, 5, 3], &[2, 1, 9, 9, 7, 3]];
const PAIRS: [Pair; 3] = [
    Pair { section: 0, texts: [0, 1] },
    Pair { section: 1, texts: [2, 3] },
    Pair { section: 2, texts: [4, 5] },
];

fn texts() -> Sequences {
    TEXTS.into_iter().collect()
}

/// The loss by its formula.
fn plain_loss(model: &Model) -> f64 {
    let vectors: Vec<Vec<f64>> = TEXTS.iter().map(|text| Plain(model).embedding(text)).collect();
    let loss = |row: &Pair| {
        let scores = PAIRS.map(|pair| 20.0 * dot(&vectors[row.texts[0]], &vectors[pair.texts[1]]));
        let own = 20.0 * dot(&vectors[row.texts[0]], &vectors[row.texts[1]]);
        scores.map(f64::exp).iter().sum::<f64>().ln() - own
    };
    PAIRS.iter().map(loss).sum::<f64>() / PAIRS.len() as f64
}

#[test]
fn gradients_of_all_weights_are_those_of_plain_loops() {
    const STEP: f32 = 1.0 / 4096.0;
    let bert = Bert::new(&opened(&model()), HEADS).unwrap();
    let (tokens, counts) = tokens_of(&texts(), &PAIRS).unwrap();
    let program = bert.gradients(PAIRS.len(), POSITIONS).unwrap();
    let (loss, gradients) = program.run((&tokens, &counts, &bert.tensors().unwrap())).unwrap();
    let expected = plain_loss(&model());
    assert!((f64::from(loss.item().unwrap()) - expected).abs() < 1e-5, "{loss}, {expected}");

    let mut checked = 0;
    gradients.for_each(|name, gradient| {
        // Some elements of each weight, which differ between them.
        let count = gradient.len();
        for at in [0, count / 2, count - 1] {
            let mut losses = [STEP, -STEP].map(|step| {
                let mut moved = model();
                moved.get_mut(name).unwrap().as_mut()[at] += step;
                plain_loss(&moved)
            });
            losses[0] -= losses[1];
            let expected = losses[0] / f64::from(2.0 * STEP);
            let found = f64::from(gradient.to_vec()[at]);
            // The step is rounded with the weight.
            let bound = 1e-5 + 3e-4 * expected.abs();
            assert!((found - expected).abs() < bound, "{name}[{at}]: {found}, {expected}");
            checked += usize::from(expected.abs() > 1e-3);
        }
    });
    assert!(checked > 20, "{checked} gradients that are not near 0");
}

#[test]
fn steps_lower_the_loss_with_the_same_bits_by_any_threads_and_budget() {
    let bert = Bert::new(&opened(&model()), HEADS).unwrap();
    let trained = |threads: usize, budget: Option<usize>| {
        Context::with_threads(threads).unwrap().install(|| {
            let mut tuning = Tuning::new(&bert, PAIRS.len(), POSITIONS, budget).unwrap();
            let planned = tuning.memory().unwrap().peak_bytes;
            let step = |_| tuning.step(1e-2, &texts(), &PAIRS).unwrap();
            (planned, (0..30).map(step).collect::<Vec<_>>())
        })
    };
    let (planned, losses) = trained(1, None);
    assert!(losses[29] < 0.5 * losses[0], "{losses:?}");
    assert_eq!(trained(2, None).1, losses);
    let budget = planned * 9 / 10;
    let (bounded, of_budget) = trained(1, Some(budget));
    assert!(bounded <= budget, "{bounded} of {budget}");
    assert_eq!(of_budget, losses);

    let refused = Tuning::new(&bert, PAIRS.len(), POSITIONS, Some(1000)).err().unwrap();
    let Error::Tenure(refused) = refused else { panic!("{refused}") };
    assert_eq!(refused.kind(), ErrorKind::OutOfMemory);
}

#[test]
fn a_trained_model_is_a_file_that_is_read_as_a_model() {
    let bert = Bert::new(&opened(&model()), HEADS).unwrap();
    let mut tuning = Tuning::new(&bert, PAIRS.len(), POSITIONS, None).unwrap();
    tuning.step(1e-2, &texts(), &PAIRS).unwrap();
    let folder = model::Folder::of_model(&model());
    let path = folder.path("trained.safetensors");
    tuning.weights.save(&path).unwrap();
    let file = tenure::io::read(&path).unwrap().into_shared();
    let file = tenure::io::safetensors::Shared::new(file).unwrap();
    assert_eq!(file.tensors().len(), model().len());
    let read = Bert::new(&file, HEADS).unwrap().tensors().unwrap();
    assert_eq!(read.words, tuning.weights.words);
    assert_eq!(read.layers[1].norm.bias, tuning.weights.layers[1].norm.bias);
    assert_ne!(read.words, model()["embeddings.word_embeddings.weight"]);
}

#[test]
fn batches_have_every_pair_once_and_no_section_twice() {
    let mut generator = Generator::new(3);
    let sections: Vec<Vec<String>> =
        [5, 0, 1, 8, 2, 30].map(|texts| vec!["text".to_owned(); texts]).to_vec();
    let pairs = pairs(&sections);
    assert_eq!(pairs.len(), 2 + 4 + 1 + 15);
    assert_eq!(pairs[2], Pair { section: 3, texts: [6, 7] });
    for most in [1, 2, 3, 100] {
        let batches = batches(&pairs, most, &mut generator).unwrap();
        let mut all: Vec<_> = batches.concat();
        for batch in batches {
            let sections: HashSet<_> = batch.iter().map(|pair| pair.section).collect();
            assert!(sections.len() == batch.len() && batch.len() <= most, "{batch:?}");
        }
        all.sort_by_key(|pair| pair.texts);
        assert_eq!(all, pairs);
    }
    assert!(batches(&[], 4, &mut generator).unwrap().is_empty());
}

#[test]
fn batches_that_are_larger_than_was_said_are_refused() {
    let bert = Bert::new(&opened(&model()), HEADS).unwrap();
    let mut tuning = Tuning::new(&bert, 2, 5, None).unwrap();
    let before = tuning.weights.words.to_vec();
    let error = tuning.step(0.1, &texts(), &PAIRS).unwrap_err().to_string();
    assert!(error.contains("is 3") && error.contains("pairs"), "{error}");
    let error = tuning.step(0.1, &texts(), &PAIRS[2..]).unwrap_err().to_string();
    assert!(error.contains("is 6") && error.contains("words"), "{error}");
    assert_eq!(tuning.weights.words.to_vec(), before);
    let one = tuning.step(0.1, &texts(), &PAIRS[..1]).unwrap();
    assert_eq!(one, 0.0, "one pair has no negative");
    tuning.step(0.1, &texts(), &[]).unwrap();
}
