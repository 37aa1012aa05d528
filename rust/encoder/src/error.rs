//! Why a model is refused.

use std::fmt;

/// The result of what may refuse a model.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a model is refused.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A refusal by the library: a tensor that is missing or of another dtype.
    Tenure(tenure::Error),
    /// A tensor that does not fit the others.
    Shape {
        /// The tensor's name in the file.
        name: String,
        /// The shape that it has.
        shape: Vec<usize>,
        /// The shape that the model needs: `None` for an extent that may be any.
        needed: Vec<Option<usize>>,
    },
    /// Attention splits vectors into parts of one length, which these do not.
    Heads {
        /// The length of a vector.
        hidden: usize,
        /// The count of parts.
        heads: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tenure(error) => error.fmt(f),
            Self::Shape { name, shape, needed } => {
                write!(f, "the tensor {name} has the shape {shape:?} and the model needs [")?;
                for (axis, extent) in needed.iter().enumerate() {
                    f.write_str(if axis == 0 { "" } else { ", " })?;
                    match extent {
                        Some(extent) => write!(f, "{extent}")?,
                        None => f.write_str("any")?,
                    }
                }
                f.write_str("]")
            }
            Self::Heads { hidden, heads } => {
                write!(f, "vectors of {hidden} elements cannot be split into {heads} heads")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Tenure(error) => Some(error),
            _ => None,
        }
    }
}

impl From<tenure::Error> for Error {
    fn from(error: tenure::Error) -> Self {
        Self::Tenure(error)
    }
}
