//! The program of a random model of two layers, compared with a reference implementation in plain
//! `f64`; and files that hold no model.
#![forbid(unsafe_code)]

mod model;
mod plain;

use model::{HEADS, HIDDEN, Model, POSITIONS, VOCABULARY, WIDE, model, model_of, opened};
use plain::Plain;
use tenure::{ErrorKind, Passes, Tensor, sparse::sparse_top_k_in_magnitude};
use tenure_encoder::{Bert, Error};

#[test]
fn vectors_are_those_of_plain_loops_whatever_the_padding_holds() {
    let model = model();
    let bert = Bert::new(&opened(&model), HEADS).unwrap();
    let program = bert.program(Passes::DEFAULT).unwrap();
    let packed = bert.program(Passes::DEFAULT.with(Passes::PACKING)).unwrap();
    let lent = bert.program_packed(&packed.packed().unwrap().into_shared()).unwrap();
    let texts: [&[i64]; 4] = [&[1, 10, 3, 4, 5, 2], &[7], &[0, 0, 9], &[6, 8, 6, 8]];
    for padding in [0, 10] {
        let counts = texts.map(|text| text.len() as i64);
        let token = |[row, col]: [usize; 2]| *texts[row].get(col).unwrap_or(&padding);
        let tokens = Tensor::from_fn([texts.len(), POSITIONS], token).unwrap();
        let vectors = program.run((&tokens, &counts)).unwrap().to_vec();
        assert_eq!(vectors, packed.run((&tokens, &counts)).unwrap().to_vec());
        assert_eq!(vectors, lent.run((&tokens, &counts)).unwrap().to_vec());
        for (text, vector) in texts.iter().zip(vectors.chunks(HIDDEN)) {
            let expected = Plain(&model).embedding(text);
            for (a, b) in vector.iter().zip(&expected) {
                assert!((f64::from(*a) - b).abs() < 2e-6, "{text:?}: {vector:?}, {expected:?}");
            }
        }
    }
}

#[test]
fn a_pruned_model_is_the_model_with_zeros() {
    let tokens = Tensor::from([[1, 2, 3, 0], [4, 5, 6, 7], [10, 0, 0, 0]]);
    let vectors = |model: &Model, percent| {
        let bert = Bert::new(&opened(model), HEADS).unwrap().pruned(percent).unwrap();
        bert.program(Passes::DEFAULT).unwrap().run((&tokens, &[3, 4, 1])).unwrap()
    };
    for (percent, kept) in [(0, [HIDDEN, WIDE]), (50, [4, 6]), (80, [1, 2]), (100, [0, 0])] {
        let mut zeroed = model();
        for (name, weights) in &mut zeroed {
            if name.starts_with("encoder") && weights.rank() == 2 {
                let kept = kept[usize::from(weights.shape()[1] == WIDE)];
                *weights =
                    sparse_top_k_in_magnitude::<_, i32>(weights, kept).unwrap().to_dense().unwrap();
            }
        }
        let dense = Bert::new(&opened(&zeroed), HEADS).unwrap().program(Passes::DEFAULT).unwrap();
        let expected = dense.run((&tokens, &[3, 4, 1])).unwrap().to_vec();
        for (a, b) in vectors(&model(), percent).to_vec().iter().zip(expected) {
            assert!((a - b).abs() < 2e-6, "{percent} %: {a}, {b}");
        }
    }
}

#[test]
fn a_model_of_integers_is_near_to_the_model() {
    let bert = Bert::new(&opened(&model_of(64, 128)), HEADS).unwrap();
    let exact = bert.program(Passes::DEFAULT).unwrap();
    let quantized = bert.quantized_program(Passes::DEFAULT).unwrap();
    let packed = bert.quantized_program(Passes::DEFAULT.with(Passes::PACKING)).unwrap();
    let lent = bert.quantized_program_packed(&packed.packed().unwrap().into_shared()).unwrap();
    let count = 200;
    let mut numbers = tenure::random::Generator::new(5);
    let tokens = numbers.integers(0..VOCABULARY as i64, [count, POSITIONS]).unwrap();
    let counts =
        Tensor::from_fn([count], |[text]: [usize; 1]| 1 + (text % POSITIONS) as i64).unwrap();
    let [a, b, c, d] = [exact, quantized, packed, lent]
        .map(|program| program.run((&tokens, &counts)).unwrap().to_vec());
    assert_ne!(a, b);
    assert_eq!((&b, &b), (&c, &d));
    let cosines: Vec<f32> = a
        .chunks(64)
        .zip(b.chunks(64))
        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum())
        .collect();
    let worst = cosines.iter().copied().fold(1.0, f32::min);
    let mean = cosines.iter().sum::<f32>() / count as f32;
    assert!(mean >= 0.998 && worst >= 0.995, "{mean}, {worst}");
    // Weights of 8 columns save nothing in integers.
    let small = Bert::new(&opened(&model()), HEADS).unwrap();
    let refused = small.quantized_program(Passes::DEFAULT).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn a_model_of_four_bits_has_the_same_bits_packed() {
    let bert = Bert::new(&opened(&model_of(64, 128)), HEADS).unwrap();
    let exact = bert.program(Passes::DEFAULT).unwrap();
    let plain = bert.four_bit_program(Passes::DEFAULT).unwrap();
    let packed = bert.four_bit_program(Passes::DEFAULT.with(Passes::PACKING)).unwrap();
    let bytes = packed.packed().unwrap().into_shared();
    let lent = bert.four_bit_program_packed(&bytes).unwrap();
    let of_eight = bert.quantized_program(Passes::DEFAULT.with(Passes::PACKING)).unwrap();
    assert!(bytes.len() < of_eight.packed().unwrap().len());
    // Bytes of one kind of weights are not those of another.
    assert!(bert.quantized_program_packed(&bytes).is_err());
    let (tokens, counts) = (Tensor::from([[1, 2, 3, 0], [4, 5, 6, 7]]), [3, 4]);
    let [a, b, c, d] = [exact, plain, packed, lent]
        .map(|program| program.run((&tokens, &counts)).unwrap().to_vec());
    assert_eq!((&b, &b), (&c, &d));
    for (a, b) in a.chunks(64).zip(b.chunks(64)) {
        let cosine: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
        assert!(cosine > 0.9 && cosine < 0.99999, "{cosine}");
    }
}

#[test]
fn a_model_of_half_the_bytes_is_near_to_the_model() {
    let (tokens, counts) = (Tensor::from([[1, 2, 3, 0], [4, 5, 6, 7]]), [3, 4]);
    let vectors = |bert: Bert| {
        bert.program(Passes::DEFAULT).unwrap().run((&tokens, &counts)).unwrap().to_vec()
    };
    let bert = || Bert::new(&opened(&model()), HEADS).unwrap();
    let (whole, half) = (vectors(bert()), vectors(bert().halved().unwrap()));
    assert_ne!(whole, half);
    for (a, b) in whole.iter().zip(half) {
        assert!((a - b).abs() < 0.05, "{a}, {b}");
    }
}

#[test]
fn a_sequence_of_padding_alone_has_no_vector_and_the_others_have_theirs() {
    let program = Bert::new(&opened(&model()), HEADS).unwrap().program(Passes::DEFAULT).unwrap();
    let tokens = Tensor::from([[1, 2, 3], [4, 5, 6], [1, 2, 3]]);
    let vectors = program.run((&tokens, &[3, 0, 3])).unwrap().to_vec();
    let [first, none, last] = [0, 1, 2].map(|row| &vectors[row * HIDDEN..][..HIDDEN]);
    assert!(none.iter().all(|x| x.is_nan()), "{none:?}");
    assert!(first == last && first.iter().all(|x| x.is_finite()), "{first:?}, {last:?}");
}

fn refused(change: impl FnOnce(&mut Model), heads: usize) -> Error {
    let mut model = model();
    change(&mut model);
    Bert::new(&opened(&model), heads).err().expect("it is no model")
}

#[test]
fn files_that_hold_no_model() {
    let key = "encoder.layer.1.attention.self.key.weight";
    let error = refused(|model| drop(model.remove(key)), HEADS);
    assert!(error.to_string().contains(key), "{error}");
    let Error::Tenure(error) = error else { panic!("{error}") };
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");

    let narrow = || Tensor::zeros([HIDDEN, HIDDEN - 1]).unwrap();
    let error = refused(|model| drop(model.insert(key.into(), narrow())), HEADS);
    assert_eq!(
        error.to_string(),
        format!("the tensor {key} has the shape [8, 7] and the model needs [8, 8]")
    );
    let bias = "encoder.layer.0.intermediate.dense.bias";
    let error = refused(|model| drop(model.insert(bias.into(), narrow())), HEADS);
    assert!(matches!(&error, Error::Shape { name, .. } if name == bias), "{error}");

    for heads in [0, 3] {
        let error = refused(|_| {}, heads);
        assert!(matches!(error, Error::Heads { hidden: HIDDEN, .. }), "{error}");
    }
}

#[test]
fn tokens_and_sequences_that_the_model_has_not() {
    let program = Bert::new(&opened(&model()), HEADS).unwrap().program(Passes::DEFAULT).unwrap();
    let run = |tokens: Tensor<i64>| {
        let counts = Tensor::full([tokens.shape()[0]], tokens.shape()[1] as i64).unwrap();
        program.run((&tokens, &counts)).map(|vectors| vectors.to_vec())
    };
    for token in [-12, VOCABULARY as i64, i64::MAX] {
        run(Tensor::full([1, 2], token).unwrap()).unwrap_err();
    }
    run(Tensor::zeros([1, POSITIONS + 1]).unwrap()).unwrap_err();
    assert!(run(Tensor::zeros([0, 3]).unwrap()).unwrap().is_empty());
}
