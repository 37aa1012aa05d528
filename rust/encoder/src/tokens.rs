//! Texts as ids of tokens.

use std::path::Path;

use tokenizers::{Tokenizer, TruncationParams};

use crate::{Bert, Error, Result};

/// Handling of a text of more tokens than a model has positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLong {
    /// Its first tokens are taken, as many as there are positions.
    Cut,
    /// It is an error.
    Refused,
}

/// The tokens that a model was trained with.
pub struct Tokens {
    tokenizer: Tokenizer,
    positions: usize,
}

/// The ids of some texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequences {
    ids: Vec<i64>,
    /// By text, where its ids end in `ids`.
    ends: Vec<usize>,
    /// The texts that were cut, in their order.
    pub cut: Vec<usize>,
}

/// Ids of texts that are tokens already.
impl<'t> FromIterator<&'t [i64]> for Sequences {
    fn from_iter<I: IntoIterator<Item = &'t [i64]>>(texts: I) -> Self {
        let mut sequences = Sequences::default();
        texts.into_iter().for_each(|ids| sequences.push(ids.iter().copied()));
        sequences
    }
}

impl Sequences {
    fn push(&mut self, ids: impl Iterator<Item = i64>) {
        self.ids.extend(ids);
        self.ends.push(self.ids.len());
    }

    /// The ids of one text.
    ///
    /// # Panics
    /// There is no such text.
    pub fn ids(&self, text: usize) -> &[i64] {
        let start = if text == 0 { 0 } else { self.ends[text - 1] };
        &self.ids[start..self.ends[text]]
    }

    /// The count of ids of each text.
    pub fn lengths(&self) -> Vec<usize> {
        (0..self.ends.len()).map(|text| self.ids(text).len()).collect()
    }
}

impl Tokens {
    /// The tokens in a `tokenizer.json`, which must be those of the model. The file's padding and
    /// truncation are ignored: the model's positions decide.
    ///
    /// # Errors
    /// [`Error::Tokenizer`]: it cannot be read. [`Error::Vocabulary`]: it has more or fewer tokens
    /// than the model has vectors of.
    pub fn read(path: &Path, model: &Bert, too_long: TooLong) -> Result<Self> {
        let mut tokenizer = Tokenizer::from_file(path).map_err(Error::Tokenizer)?;
        let last = tokenizer.get_vocab(true).into_values().max();
        let tokens = last.map_or(0, |id| id as usize + 1);
        if tokens != model.vocabulary() {
            return Err(Error::Vocabulary { tokens, vectors: model.vocabulary() });
        }
        let positions = model.positions();
        let cut = (too_long == TooLong::Cut)
            .then(|| TruncationParams { max_length: positions, ..TruncationParams::default() });
        tokenizer.with_padding(None).with_truncation(cut).map_err(Error::Tokenizer)?;
        Ok(Self { tokenizer, positions })
    }

    /// The ids of texts, with those that the model expects around each; an empty text has only
    /// these.
    ///
    /// # Errors
    /// [`Error::Length`]: a text of no tokens, or of too many where that is refused.
    pub fn sequences<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Result<Sequences> {
        let mut sequences = Sequences::default();
        for (text, line) in texts.into_iter().enumerate() {
            let encoding = self.tokenizer.encode_fast(line, true).map_err(Error::Tokenizer)?;
            let (tokens, most) = (encoding.len(), self.positions);
            if tokens == 0 || tokens > most {
                return Err(Error::Length { text, tokens, most });
            }
            if !encoding.get_overflowing().is_empty() {
                sequences.cut.push(text);
            }
            sequences.push(encoding.get_ids().iter().map(|&id| i64::from(id)));
        }
        Ok(sequences)
    }
}
