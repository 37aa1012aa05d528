//! The encoder by plain loops.
// Each file of tests uses a part of it.
#![allow(dead_code)]

use crate::model::{HEADS, HIDDEN, Model};

/// Matrices, as rows.
type Rows = Vec<Vec<f64>>;

/// The reference implementation by loops, for one sequence without padding.
pub struct Plain<'a>(pub &'a Model);

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

    pub fn embedding(&self, tokens: &[i64]) -> Vec<f64> {
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

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
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
