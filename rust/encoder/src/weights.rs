//! The weights of a model, each in the memory of its file.

use std::convert::Infallible;
use std::path::Path;

use tenure::tree::Tensors;
use tenure::{
    CsrMatrix, DynView, Element, Graph, Leaves, SharedTensor, Traced, TracedCsr, bf16,
    io::safetensors, ops::cast, sparse::sparse_top_k_in_magnitude,
};

use crate::tree::{Affine, Layer, Weights};
use crate::{Error, Result};

/// A weight of a model.
#[derive(Debug)]
pub(crate) enum Weight<T: Element> {
    /// The tensor of the file.
    Whole(SharedTensor<T>),
    /// Replaces the weight of a product.
    Half(SharedTensor<bf16>),
    /// Replaces the weight of a product.
    Pruned(Box<CsrMatrix<T>>),
}

/// A weight in a graph.
#[derive(Debug)]
pub(crate) enum Value<'g, T: Element> {
    Whole(Traced<'g, T>),
    Half(Traced<'g, bf16>),
    Pruned(TracedCsr<'g, T>),
}

/// Leaves that are weights of a model.
#[derive(Debug)]
pub(crate) struct Stored;
impl Leaves for Stored {
    type Of<T: Element> = Weight<T>;
}

/// Leaves that are weights in a graph.
#[derive(Debug)]
pub(crate) struct Values<'g>(std::marker::PhantomData<Graph<'g>>);
impl<'g> Leaves for Values<'g> {
    type Of<T: Element> = Value<'g, T>;
}

/// Leaves that are the shapes which weights need.
struct Needed;
impl Leaves for Needed {
    type Of<T: Element> = Vec<Option<usize>>;
}

/// The weights of a model in BERT's layout, lent by their file.
pub struct Bert {
    pub(crate) heads: usize,
    pub(crate) weights: Weights<Stored>,
    vocabulary: usize,
    positions: usize,
    hidden: usize,
}

impl Bert {
    /// The weights in a file, by the names that Hugging Face's `BertModel` gives them. Attention
    /// splits vectors into `heads` parts; the file does not have this number.
    ///
    /// # Errors
    /// [`Error::Tenure`]: a tensor is missing or is not of `f32`. [`Error::Shape`]: one does not
    /// fit the others. [`Error::Heads`].
    pub fn new(file: &safetensors::Shared, heads: usize) -> Result<Self> {
        let [words, places] =
            ["word", "position"].map(|name| format!("embeddings.{name}_embeddings.weight"));
        let [vocabulary, hidden] = matrix(file, &words)?;
        if heads == 0 || hidden % heads != 0 {
            return Err(Error::Heads { hidden, heads });
        }
        let [positions, _] = matrix(file, &places)?;
        let weights = needed(file, hidden)?
            .try_map(|name, needed| tensor(file, name, needed).map(Weight::Whole))?;
        Ok(Self { heads, weights, vocabulary, positions, hidden })
    }

    /// The model without `percent` % of the weights of products: for each element of a result, the
    /// smallest of its weights are left out. The remaining weights are copied. For one text it pays
    /// from 80 % on, for many from 90; vectors are then near to those of the model only if it was
    /// trained for that.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn pruned(self, percent: u8) -> Result<Self> {
        self.with_products(|weight| {
            let kept = weight.shape()[1] * (100 - usize::from(percent.min(100))) / 100;
            Ok(Weight::Pruned(sparse_top_k_in_magnitude(weight, kept)?.into()))
        })
    }

    /// The model with the weights of products, and their other factors, rounded to `bf16`: half the
    /// bytes, and cosines of 0.9999 and more with this one.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn halved(self) -> Result<Self> {
        self.with_products(|weight| Ok(Weight::Half(cast(weight)?.into_shared())))
    }

    fn with_products(self, f: impl Fn(&SharedTensor<f32>) -> Result<Weight<f32>>) -> Result<Self> {
        let weights = self.weights.try_map(|name, weight| {
            let weight = weight.whole()?;
            match name.starts_with("encoder.") && weight.rank() == 2 {
                true => f(&weight),
                false => Ok(Weight::Whole(weight)),
            }
        })?;
        Ok(Self { weights, ..self })
    }

    /// Copies of all weights, which training updates.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn tensors(&self) -> Result<Weights<Tensors>> {
        self.weights.try_map(|_, weight| Ok(weight.whole()?.to_tensor()?))
    }

    /// The weights as constants of a graph, which share their memory.
    pub(crate) fn constants<'g>(&self, graph: Graph<'g>) -> Weights<Values<'g>> {
        let Ok(values) = self.weights.try_map(|_, weight| {
            Ok::<_, Infallible>(match weight {
                Weight::Whole(weight) => Value::Whole(graph.constant(weight)),
                Weight::Half(weight) => Value::Half(graph.constant(weight)),
                Weight::Pruned(weight) => Value::Pruned(graph.csr_constant(&**weight)),
            })
        });
        values
    }

    /// The count of parts that attention splits vectors into.
    pub fn heads(&self) -> usize {
        self.heads
    }

    /// The length of a vector.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// The most tokens that a sequence may have.
    pub fn positions(&self) -> usize {
        self.positions
    }

    /// The count of different tokens.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary
    }
}

impl Weight<f32> {
    /// The weight as a tensor of its own dtype: shared where it is one.
    fn whole(&self) -> Result<SharedTensor<f32>> {
        Ok(match self {
            Weight::Whole(weight) => weight.clone(),
            Weight::Half(weight) => cast(weight)?.into_shared(),
            Weight::Pruned(weight) => weight.to_dense()?.into_shared(),
        })
    }
}

impl Weights<Tensors> {
    /// Writes a file that [`Bert::new`] reads.
    ///
    /// # Errors
    /// Errors of writing the file.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut named = Vec::new();
        self.for_each(|name, tensor| named.push((name.to_owned(), DynView::from(tensor))));
        let tensors: Vec<_> = named.iter().map(|(name, view)| (&name[..], *view)).collect();
        // The key by which the package `transformers` knows the format.
        Ok(safetensors::Writer::new().metadata("format", "pt").save(path, &tensors)?)
    }
}

/// The shapes that the weights in a file need for vectors of this length.
fn needed(file: &safetensors::Shared, hidden: usize) -> Result<Weights<Needed>> {
    let table = || vec![None, Some(hidden)];
    let norm = || Affine { weight: vec![Some(hidden)], bias: vec![Some(hidden)] };
    let product = |rows: usize, columns: usize| Affine {
        weight: vec![Some(rows), Some(columns)],
        bias: vec![Some(rows)],
    };
    let has = |layer: &usize| {
        let prefix = format!("encoder.layer.{layer}.");
        file.tensors().iter().any(|tensor| tensor.name().starts_with(&prefix))
    };
    let layer = |number: usize| {
        let name = format!("encoder.layer.{number}.intermediate.dense.weight");
        let [wide, _] = matrix(file, &name)?;
        let square = || product(hidden, hidden);
        Ok(Layer {
            query: square(),
            key: square(),
            value: square(),
            mixed: square(),
            mixed_norm: norm(),
            wide: product(wide, hidden),
            narrow: product(hidden, wide),
            norm: norm(),
        })
    };
    Ok(Weights {
        words: table(),
        places: table(),
        kinds: table(),
        norm: norm(),
        layers: (0..).take_while(has).map(layer).collect::<Result<_>>()?,
    })
}

/// The extents of a matrix.
fn matrix(file: &safetensors::Shared, name: &str) -> Result<[usize; 2]> {
    let tensor = tensor(file, name, &[None, None])?;
    Ok([tensor.shape()[0], tensor.shape()[1]])
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
