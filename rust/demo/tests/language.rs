//! The transformer of bytes, with a tiny network.

use std::path::Path;

use tenure::{Context, layers};
use tenure_demo::language::network::{Model, Sizes};
use tenure_demo::language::{Options, Text, bits_per_byte, sampled, trained};

fn tiny(dropout: f64) -> Options {
    let sizes = Sizes { width: 24, heads: 2, blocks: 2, window: 16, batch: 8, dropout };
    Options { sizes, steps: 60, rate: 1e-2, temperature: 0.5, top_k: 3, sample: 24 }
}

/// A text that is foretold from a few bytes.
fn text() -> Text {
    let bytes = |words: &[&str], count: usize| words.concat().repeat(count).into_bytes();
    Text {
        learned: bytes(&["lent ", "and ", "held. "], 200),
        held_out: bytes(&["held. ", "lent ", "and "], 20),
    }
}

#[test]
fn losses_fall_with_the_same_bits_by_any_number_of_threads() {
    for dropout in [0.0, 0.1] {
        let losses = |threads| {
            let train = || trained(&tiny(dropout), &text()).unwrap().losses;
            Context::with_threads(threads).unwrap().install(train)
        };
        let of_one = losses(1);
        assert!((of_one[0] - 256.0_f32.ln()).abs() < 0.5, "{of_one:?}");
        assert!(of_one[59] < 0.35 * of_one[0], "{of_one:?}");
        assert_eq!(losses(2), of_one);
    }
}

#[test]
fn a_trained_model_foretells_and_writes_the_text_also_from_a_file() {
    let (options, text) = (tiny(0.0), text());
    let mut model = trained(&options, &text).unwrap().model;
    let bits = bits_per_byte(&options, &model, &text).unwrap();
    assert!(f64::from(bits) < 0.6 * text.bits_of_single_bytes(), "{bits}");
    let written = sampled(&options, &model, "lent and", 3).unwrap();
    assert_eq!(written.len(), 8 + 24);
    assert!(written.contains("held. lent"), "{written}");
    assert_eq!(sampled(&options, &model, "lent and", 3).unwrap(), written);

    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tiny.safetensors");
    layers::save(&path, &model).unwrap();
    let mut read = Model::zeros(options.sizes).unwrap();
    layers::load(&path, &mut read).unwrap();
    assert_eq!(sampled(&options, &read, "lent and", 3).unwrap(), written);
    // Another one writes another text.
    model.norm.view_mut().fill(0.0);
    assert_ne!(sampled(&options, &model, "lent and", 3).unwrap(), written);
}

#[test]
fn texts_of_the_repository_are_in_both_parts() {
    let text = Text::of_repository().unwrap();
    assert!(text.learned.len() > 8 * text.held_out.len() / 2 && text.held_out.len() > 10_000);
    let bits = text.bits_of_single_bytes();
    assert!((4.0..6.0).contains(&bits), "{bits}");
    assert!(trained(&tiny(0.0), &Text::default()).is_err());
    let weights = Sizes { width: 24, heads: 2, blocks: 2, window: 1, batch: 1, dropout: 0.0 };
    assert_eq!(weights.weights(), 256 * 24 + 24 + 2 * (2 * 24 + 4 * 24 * 24 + 3 * 24 * 64));
}
