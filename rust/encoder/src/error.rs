//! Why a model or a text is refused.

/// The result of what may refuse a model or a text.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a model or a text is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A refusal by the library: a tensor that is missing or of another dtype.
    #[error(transparent)]
    Tenure(#[from] tenure::Error),
    /// A tensor that does not fit the others.
    #[error("the tensor {name} has the shape {shape:?} and the model needs {}", extents(.needed))]
    Shape {
        /// The tensor's name in the file.
        name: String,
        /// The shape that it has.
        shape: Vec<usize>,
        /// The shape that the model needs: `None` for an extent that may be any.
        needed: Vec<Option<usize>>,
    },
    /// Attention splits vectors into parts of one length, which these do not.
    #[error("vectors of {hidden} elements cannot be split into {heads} heads")]
    Heads {
        /// The length of a vector.
        hidden: usize,
        /// The count of parts.
        heads: usize,
    },
    /// A `config.json` that is none, or that describes another kind of model.
    #[error("{0}")]
    Config(String),
    /// A file or a text that the crate `tokenizers` refuses.
    #[error(transparent)]
    Tokenizer(tokenizers::Error),
    /// Tokens that are those of another model.
    #[error("there are {tokens} tokens but the model has vectors of {vectors}")]
    Vocabulary {
        /// One more than the greatest id.
        tokens: usize,
        /// How many the model has a vector of.
        vectors: usize,
    },
    /// A text of no tokens or of too many.
    #[error("text {text} has {tokens} tokens but the model takes 1 to {most}")]
    Length {
        /// Its index.
        text: usize,
        /// How many it has.
        tokens: usize,
        /// How many the model takes.
        most: usize,
    },
}

fn extents(needed: &[Option<usize>]) -> String {
    let extent = |extent: &Option<usize>| extent.map_or("any".into(), |n| n.to_string());
    format!("[{}]", needed.iter().map(extent).collect::<Vec<_>>().join(", "))
}
