//! Sentence embeddings: an encoder of BERT's layout as one program over the weights of a mapped
//! file, of which nothing is copied.
#![forbid(unsafe_code)]

mod error;
mod program;
mod weights;

pub use error::{Error, Result};
pub use program::Embedding;
pub use weights::Bert;
