//! Writes the loss of pairs of texts and its gradients by all weights of a model, for a comparison
//! with other implementations (`tests/interop/embed_test.py`).
//!
//! `gradients MODEL_FOLDER FILE.txt OUT.safetensors`, where each two lines of the text are a pair.
#![forbid(unsafe_code)]

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use tenure::{DynView, io::safetensors};
use tenure_encoder::{Bert, Pair, Tokens, TooLong, heads, tokens_of};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    let [_, folder, texts, out] = &arguments[..] else { return Err("which model?".into()) };
    let folder = Path::new(folder);
    let file = tenure::io::read(folder.join("model.safetensors"))?.into_shared();
    let heads = heads(&fs::read_to_string(folder.join("config.json"))?)?;
    let bert = Bert::new(&safetensors::Shared::new(file)?, heads)?;
    let tokens = Tokens::read(&folder.join("tokenizer.json"), &bert, TooLong::Cut)?;

    let texts = tokens.sequences(fs::read_to_string(texts)?.lines())?;
    let count = texts.lengths().len() / 2;
    let pair = |section| Pair { section, texts: [2 * section, 2 * section + 1] };
    let (tokens, counts) = tokens_of(&texts, &(0..count).map(pair).collect::<Vec<_>>())?;
    let program = bert.gradients(count, tokens.shape()[2])?;
    let (loss, gradients) = program.run((&tokens, &counts, &bert.tensors()?))?;

    let mut named = vec![("loss".to_owned(), DynView::from(&loss))];
    gradients.for_each(|name, gradient| named.push((name.to_owned(), gradient.into())));
    let tensors: Vec<_> = named.iter().map(|(name, view)| (&name[..], *view)).collect();
    Ok(safetensors::Writer::new().save(out, &tensors)?)
}
