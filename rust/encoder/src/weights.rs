//! The weights of a model, each of which is memory of its file.

use tenure::{CsrMatrix, SharedTensor, safetensors, sparse_top_k_in_magnitude};

use crate::{Error, Result};

/// The two tensors of a `Linear` or of a `LayerNorm`, as PyTorch keeps them.
pub(crate) struct Affine {
    /// `[out, in]` of a product, `[hidden]` of a norm.
    pub weight: SharedTensor<f32>,
    pub bias: SharedTensor<f32>,
    /// What is used of the weight instead, in a model that is pruned.
    pub pruned: Option<CsrMatrix<f32>>,
}

pub(crate) struct Layer {
    pub query: Affine,
    pub key: Affine,
    pub value: Affine,
    pub mixed: Affine,
    pub mixed_norm: Affine,
    pub wide: Affine,
    pub narrow: Affine,
    pub narrow_norm: Affine,
}

/// The weights of a model in BERT's layout, lent by their file.
pub struct Bert {
    pub(crate) heads: usize,
    pub(crate) words: SharedTensor<f32>,
    pub(crate) places: SharedTensor<f32>,
    pub(crate) kinds: SharedTensor<f32>,
    pub(crate) norm: Affine,
    pub(crate) layers: Vec<Layer>,
}

impl Bert {
    /// The weights in a file, by the names that Hugging Face's `BertModel` gives them. Attention
    /// splits vectors into `heads` parts, of which the file says nothing.
    ///
    /// # Errors
    /// [`Error::Tenure`]: a tensor is missing or is not of `f32`. [`Error::Shape`]: one does not
    /// fit the others. [`Error::Heads`].
    pub fn new(file: &safetensors::Shared, heads: usize) -> Result<Self> {
        let words = tensor(file, "embeddings.word_embeddings.weight", &[None, None])?;
        let hidden = words.shape()[1];
        if heads == 0 || hidden % heads != 0 {
            return Err(Error::Heads { hidden, heads });
        }
        let table = |name: &str| {
            let name = format!("embeddings.{name}_embeddings.weight");
            tensor(file, &name, &[None, Some(hidden)])
        };
        let has = |layer: &usize| {
            let prefix = format!("encoder.layer.{layer}.");
            file.tensors().iter().any(|tensor| tensor.name().starts_with(&prefix))
        };
        Ok(Self {
            heads,
            words,
            places: table("position")?,
            kinds: table("token_type")?,
            norm: norm(file, "embeddings", hidden)?,
            layers: (0..).take_while(has).map(|n| layer(file, n, hidden)).collect::<Result<_>>()?,
        })
    }

    /// The model without these percent of the weights of products: of those of each element of a
    /// result, the smallest. What is left is copied. It pays from 80 % on; vectors are then near to
    /// those of the model only if it was trained for that.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn pruned(mut self, percent: u8) -> Result<Self> {
        for layer in &mut self.layers {
            let Layer { query, key, value, mixed, wide, narrow, .. } = layer;
            for weights in [query, key, value, mixed, wide, narrow] {
                let kept = weights.weight.shape()[1] * (100 - usize::from(percent.min(100))) / 100;
                weights.pruned = Some(sparse_top_k_in_magnitude(&weights.weight, kept)?);
            }
        }
        Ok(self)
    }

    /// The length of a vector.
    pub fn hidden(&self) -> usize {
        self.words.shape()[1]
    }

    /// The most tokens that a sequence may have.
    pub fn positions(&self) -> usize {
        self.places.shape()[0]
    }

    /// The count of different tokens.
    pub fn vocabulary(&self) -> usize {
        self.words.shape()[0]
    }
}

fn layer(file: &safetensors::Shared, number: usize, hidden: usize) -> Result<Layer> {
    let name = |part: &str| format!("encoder.layer.{number}.{part}");
    let square = |part: &str| affine(file, &name(part), &[Some(hidden), Some(hidden)]);
    let wide = affine(file, &name("intermediate.dense"), &[None, Some(hidden)])?;
    let width = wide.weight.shape()[0];
    Ok(Layer {
        query: square("attention.self.query")?,
        key: square("attention.self.key")?,
        value: square("attention.self.value")?,
        mixed: square("attention.output.dense")?,
        mixed_norm: norm(file, &name("attention.output"), hidden)?,
        wide,
        narrow: affine(file, &name("output.dense"), &[Some(hidden), Some(width)])?,
        narrow_norm: norm(file, &name("output"), hidden)?,
    })
}

/// A weight and a bias of as many elements as the weight has in its first axis.
fn affine(file: &safetensors::Shared, name: &str, shape: &[Option<usize>]) -> Result<Affine> {
    let weight = tensor(file, &format!("{name}.weight"), shape)?;
    let bias = tensor(file, &format!("{name}.bias"), &[Some(weight.shape()[0])])?;
    Ok(Affine { weight, bias, pruned: None })
}

fn norm(file: &safetensors::Shared, name: &str, hidden: usize) -> Result<Affine> {
    affine(file, &format!("{name}.LayerNorm"), &[Some(hidden)])
}

fn tensor(
    file: &safetensors::Shared,
    name: &str,
    needed: &[Option<usize>],
) -> Result<SharedTensor<f32>> {
    let tensor = file.tensor::<f32>(name)?;
    let shape = tensor.shape();
    let fits = |(extent, needed): (&usize, &Option<usize>)| needed.is_none_or(|n| n == *extent);
    if shape.len() != needed.len() || !shape.iter().zip(needed).all(fits) {
        let (name, shape) = (name.to_string(), shape.to_vec());
        return Err(Error::Shape { name, shape, needed: needed.to_vec() });
    }
    Ok(tensor)
}
