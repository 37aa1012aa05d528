//! Texts to vectors, by a program that is run on batches.

use tenure::{Tensor, program::report::Report};

use crate::{Batch, Embedding, Result, Sequences};

/// The tokens of a batch, padding counted: enough rows for products to be fast, and few enough that
/// the data between products stays in caches.
const BATCH: usize = 1024;

/// The vectors of texts, in their order: `[texts, hidden]`. `done` is called with each batch.
///
/// # Errors
/// An id that is not of the model's vocabulary; memory that cannot be had.
pub fn vectors(
    program: &Embedding,
    texts: &Sequences,
    mut done: impl FnMut(&Batch),
) -> Result<Tensor<f32>> {
    let (no_tokens, no_counts) = padded(texts, &Batch::default())?;
    let hidden = program.output_shapes((&no_tokens, &no_counts))?[0][1];
    let lengths = texts.lengths();
    let mut vectors = vec![0.0; lengths.len() * hidden];
    for batch in Batch::of_lengths(&lengths, BATCH) {
        let (tokens, counts) = padded(texts, &batch)?;
        let of_batch = program.run((&tokens, &counts))?;
        for (row, &text) in batch.texts.iter().enumerate() {
            let vector = &mut vectors[text * hidden..][..hidden];
            vector.copy_from_slice(of_batch.view().index(0, row)?.as_slice().unwrap_or(&[]));
        }
        done(&batch);
    }
    Ok(Tensor::from_vec(vectors, [lengths.len(), hidden]).map_err(tenure::Error::from)?)
}

/// The work of each step of the first of these texts' batches, its least time in some runs.
///
/// # Errors
/// The errors of [`vectors`].
pub fn report(program: &Embedding, texts: &Sequences, runs: usize) -> Result<Report> {
    let first = Batch::of_lengths(&texts.lengths(), BATCH).into_iter().next();
    let (tokens, counts) = padded(texts, &first.unwrap_or_default())?;
    Ok(program.measure((&tokens, &counts), runs)?)
}

/// The inputs of a run: ids and counts. Padding is the first token, which every model has.
pub(crate) fn padded(texts: &Sequences, batch: &Batch) -> Result<(Tensor<i64>, Vec<i64>)> {
    let id = |[row, word]: [usize; 2]| *texts.ids(batch.texts[row]).get(word).unwrap_or(&0);
    let tokens = Tensor::from_fn([batch.texts.len(), batch.words], id)?;
    let counts = batch.texts.iter().map(|&text| texts.ids(text).len() as i64);
    Ok((tokens, counts.collect()))
}
