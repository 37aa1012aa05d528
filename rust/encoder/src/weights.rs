//! The weights of a model, each in the memory of its file.

use tenure::{
    CsrMatrix, SharedTensor, bf16, io::safetensors, ops::cast, sparse::sparse_top_k_in_magnitude,
};

use crate::{Error, Result};

/// The two tensors of a `Linear` or of a `LayerNorm`, as PyTorch keeps them.
pub(crate) struct Affine {
    /// `[out, in]` of a product, `[hidden]` of a norm.
    pub weight: SharedTensor<f32>,
    pub bias: SharedTensor<f32>,
    /// Replaces the weight in products, in a model that is made of this one.
    pub instead: Option<Instead>,
}

pub(crate) enum Instead {
    Pruned(Box<CsrMatrix<f32>>),
    Half(SharedTensor<bf16>),
}

pub(crate) struct Layer {
    /// Products of queries, keys and values, behind attention, and the wide and the narrow one.
    pub products: [Affine; 6],
    /// Behind attention, and at the end.
    pub norms: [Affine; 2],
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
    /// splits vectors into `heads` parts; the file does not have this number.
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

    /// The model without `percent` % of the weights of products: for each element of a result, the
    /// smallest of its weights are left out. The remaining weights are copied. For one text it pays
    /// from 80 % on, for many from 90; vectors are then near to those of the model only if it was
    /// trained for that.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn pruned(mut self, percent: u8) -> Result<Self> {
        for weights in self.products() {
            let kept = weights.weight.shape()[1] * (100 - usize::from(percent.min(100))) / 100;
            let pruned = sparse_top_k_in_magnitude(&weights.weight, kept)?;
            weights.instead = Some(Instead::Pruned(pruned.into()));
        }
        Ok(self)
    }

    /// The model with the weights of products, and their other factors, rounded to `bf16`: half the
    /// bytes, and cosines of 0.9999 and more with this one.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn halved(mut self) -> Result<Self> {
        for weights in self.products() {
            weights.instead = Some(Instead::Half(cast(&weights.weight)?.into_shared()));
        }
        Ok(self)
    }

    fn products(&mut self) -> impl Iterator<Item = &mut Affine> {
        self.layers.iter_mut().flat_map(|layer| &mut layer.products)
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
    let narrow = affine(file, &name("output.dense"), &[Some(hidden), Some(width)])?;
    let [query, key, value] =
        ["query", "key", "value"].map(|x| square(&format!("attention.self.{x}")));
    let mixed = square("attention.output.dense")?;
    let behind = |part: &str| norm(file, &name(part), hidden);
    Ok(Layer {
        products: [query?, key?, value?, mixed, wide, narrow],
        norms: [behind("attention.output")?, behind("output")?],
    })
}

/// A weight and a bias of as many elements as the weight has in its first axis.
fn affine(file: &safetensors::Shared, name: &str, shape: &[Option<usize>]) -> Result<Affine> {
    let weight = tensor(file, &format!("{name}.weight"), shape)?;
    let bias = tensor(file, &format!("{name}.bias"), &[Some(weight.shape()[0])])?;
    Ok(Affine { weight, bias, instead: None })
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
