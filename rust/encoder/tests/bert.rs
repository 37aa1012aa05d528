//! The program of a random model of two layers, compared with a reference implementation in plain
//! `f64`; and files that hold no model.
#![forbid(unsafe_code)]

mod model;

use model::{HEADS, HIDDEN, Model, POSITIONS, VOCABULARY, WIDE, model, opened};
use tenure::{ErrorKind, Passes, Tensor, sparse::sparse_top_k_in_magnitude};
use tenure_encoder::{Bert, Error};

/// Matrices, as rows.
type Rows = Vec<Vec<f64>>;

/// The reference implementation by loops, for one sequence without padding.
struct Plain<'a>(&'a Model);

impl Plain<'_> {
    fn rows(&self, name: &str) -> Rows {
        let tensor = &self.0[name];
        let cols = tensor.shape()[tensor.shape().len() - 1];
        let elements: Vec<f64> = tensor.to_vec().into_iter().map(f64::from).collect();
        elements.chunks(cols).map(<[f64]>::to_vec).collect()
    }

    fn linear(&self, name: &str, x: &Rows) -> Rows {
        let (weight, bias) =
            (self.rows(&format!("{name}.weight")), self.rows(&format!("{name}.bias")));
        let product =
            |row: &Vec<f64>| weight.iter().zip(&bias[0]).map(|(w, b)| dot(row, w) + b).collect();
        x.iter().map(product).collect()
    }

    fn norm(&self, name: &str, x: &Rows) -> Rows {
        let [weight, bias] =
            ["weight", "bias"].map(|part| self.rows(&format!("{name}.LayerNorm.{part}")));
        let normed = |row: &Vec<f64>| {
            let count = row.len() as f64;
            let mean = row.iter().sum::<f64>() / count;
            let var = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
            let scale = (var + 1e-12).sqrt().recip();
            let scaled = row.iter().zip(&weight[0]).zip(&bias[0]);
            scaled.map(|((x, w), b)| (x - mean) * scale * w + b).collect()
        };
        x.iter().map(normed).collect()
    }

    fn layer(&self, name: &str, x: &Rows) -> Rows {
        let part = |part| self.linear(&format!("{name}.attention.self.{part}"), x);
        let [query, key, value] = ["query", "key", "value"].map(part);
        let width = HIDDEN / HEADS;
        let mut mixed = vec![vec![0.0; HIDDEN]; x.len()];
        for head in 0..HEADS {
            let of = head * width..(head + 1) * width;
            for (row, q) in query.iter().enumerate() {
                let score = |k: &Vec<f64>| dot(&q[of.clone()], &k[of.clone()]);
                let root = (width as f64).sqrt();
                let shares: Vec<f64> = key.iter().map(|k| (score(k) / root).exp()).collect();
                let all: f64 = shares.iter().sum();
                for col in of.clone() {
                    let products = shares.iter().zip(&value).map(|(share, v)| share * v[col]);
                    mixed[row][col] = products.sum::<f64>() / all;
                }
            }
        }
        let output = format!("{name}.attention.output");
        let mixed = self.linear(&format!("{output}.dense"), &mixed);
        let x = self.norm(&output, &sum(&mixed, x));
        let mut wide = self.linear(&format!("{name}.intermediate.dense"), &x);
        let gelu = |x: &mut f64| *x *= 0.5 * (1.0 + erf(*x / std::f64::consts::SQRT_2));
        wide.iter_mut().flatten().for_each(gelu);
        let narrow = self.linear(&format!("{name}.output.dense"), &wide);
        self.norm(&format!("{name}.output"), &sum(&narrow, &x))
    }

    fn embedding(&self, tokens: &[i64]) -> Vec<f64> {
        let table = |name: &str| self.rows(&format!("embeddings.{name}_embeddings.weight"));
        let (words, places, kinds) = (table("word"), table("position"), table("token_type"));
        let rows = |(place, &token): (usize, &i64)| {
            let parts = [&words[token as usize], &places[place], &kinds[0]];
            (0..HIDDEN).map(|col| parts.iter().map(|row| row[col]).sum()).collect()
        };
        let mut x: Rows = tokens.iter().enumerate().map(rows).collect();
        x = self.norm("embeddings", &x);
        for layer in 0..2 {
            x = self.layer(&format!("encoder.layer.{layer}"), &x);
        }
        let sums: Vec<f64> = (0..HIDDEN).map(|col| x.iter().map(|row| row[col]).sum()).collect();
        let length = dot(&sums, &sums).sqrt();
        sums.iter().map(|sum| sum / length).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn sum(a: &Rows, b: &Rows) -> Rows {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
}

/// By its series around 0, for the arguments of a small model.
fn erf(x: f64) -> f64 {
    assert!(x.abs() < 5.0, "{x}");
    let (mut term, mut all) = (x, x);
    for n in 1..150 {
        term *= -x * x / f64::from(n);
        all += term / f64::from(2 * n + 1);
    }
    all * std::f64::consts::FRAC_2_SQRT_PI
}

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
