#![forbid(unsafe_code)]
//! The paragraphs of a text that are nearest to a question, by tf-idf and the cosine.
//!
//! `cargo run --release --example tf_idf`

use std::collections::HashMap;
use tenure::{
    CsrMatrix, Result, Tensor, Triplets,
    ops::{add, add_assign, div, ln, norm_all, top_k},
};

const TEXT: &str = include_str!("../README.md");

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 2).map(str::to_lowercase)
}

pub(crate) fn main() -> Result<()> {
    let paragraphs: Vec<&str> = TEXT.split("\n\n").collect();
    let mut columns = HashMap::new();
    for word in words(TEXT) {
        let next = columns.len();
        columns.entry(word).or_insert(next);
    }

    // How often each paragraph has each word; triplets of one place are added up.
    let mut counts = Triplets::new(paragraphs.len(), columns.len());
    for (row, paragraph) in paragraphs.iter().enumerate() {
        words(paragraph).for_each(|word| counts.push(row, columns[&word], 1.0));
    }
    let mut weights: CsrMatrix<f32> = counts.to_csr()?;

    // Rare words weigh more, ln((1 + n) / (1 + n of the word)) + 1; rows get length 1.
    let having = weights.col_counts()?.cast::<f32>()?;
    let mut rarity = ln(div(1.0 + paragraphs.len() as f32, add(having, 1.0)?)?)?;
    add_assign(&mut rarity, 1.0)?;
    weights.view_mut().scale_cols(&rarity)?;
    weights.view_mut().normalize_rows(2.0)?;

    let mut question = Tensor::zeros([columns.len()])?;
    for word in words("Which memory is borrowed and never copied?") {
        if let Some(&column) = columns.get(&word) {
            question[[column]] += rarity[[column]];
        }
    }
    let cosines = weights.matmul(&div(&question, norm_all(&question, 2.0)?)?)?;
    let nearest = top_k(cosines, 3, 0)?;
    for (cosine, &row) in nearest.values.iter().zip(&nearest.indices) {
        println!("{cosine:.2}  {}", paragraphs[row as usize].replace('\n', " "));
    }
    assert!(paragraphs[nearest.indices[[0]] as usize].contains("memory"));
    Ok(())
}
