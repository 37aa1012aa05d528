//! Sentence embeddings: an encoder of BERT's layout as one program over the weights of a mapped
//! file, which are not copied.
#![forbid(unsafe_code)]

mod batches;
mod config;
mod error;
mod program;
mod tokens;
mod vectors;
mod weights;

pub use batches::Batch;
pub use config::heads;
pub use error::{Error, Result};
pub use program::Embedding;
pub use tokens::{Sequences, Tokens, TooLong};
pub use vectors::{report, vectors};
pub use weights::Bert;
