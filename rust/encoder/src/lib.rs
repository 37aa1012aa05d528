//! Sentence embeddings: an encoder of BERT's layout as one program over the weights of a mapped
//! file, which are not copied.
#![forbid(unsafe_code)]

mod batches;
mod config;
mod error;
mod program;
mod ranking;
mod sections;
mod tokens;
mod tree;
mod tuning;
mod vectors;
mod weights;

pub use batches::Batch;
pub use config::heads;
pub use error::{Error, Result};
pub use program::{Embedding, Texts};
pub use ranking::{Ranking, ranking, ranking_loss};
pub use sections::{Section, sections};
pub use tokens::{Sequences, Tokens, TooLong};
pub use tree::{Affine, Layer, Weights};
pub use tuning::{Gradients, Pair, Tuning, batches, pairs, tokens_of};
pub use vectors::{report, vectors};
pub use weights::Bert;
