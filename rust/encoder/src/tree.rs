//! The weights of a model as one tree: of a file, of a graph, or of tensors that training updates.

use std::convert::Infallible;

use tenure::{Element, Leaves, Tree};

/// The two tensors of a `Linear` or of a `LayerNorm`, as PyTorch keeps them.
#[derive(Debug, Tree)]
pub struct Affine<L: Leaves> {
    /// `[out, in]` of a product, `[hidden]` of a norm.
    pub weight: L::Of<f32>,
    /// `[out]` of a product, `[hidden]` of a norm.
    pub bias: L::Of<f32>,
}

/// The weights of a layer, in the order of their use.
#[derive(Debug, Tree)]
pub struct Layer<L: Leaves> {
    /// `[hidden, hidden]`.
    pub query: Affine<L>,
    /// `[hidden, hidden]`.
    pub key: Affine<L>,
    /// `[hidden, hidden]`.
    pub value: Affine<L>,
    /// The product behind attention, `[hidden, hidden]`.
    pub mixed: Affine<L>,
    /// The norm behind attention.
    pub mixed_norm: Affine<L>,
    /// `[wide, hidden]`.
    pub wide: Affine<L>,
    /// `[hidden, wide]`.
    pub narrow: Affine<L>,
    /// The norm at the end.
    pub norm: Affine<L>,
}

/// The weights of a model in BERT's layout.
#[derive(Debug, Tree)]
pub struct Weights<L: Leaves> {
    /// `[vocabulary, hidden]`.
    pub words: L::Of<f32>,
    /// `[positions, hidden]`.
    pub places: L::Of<f32>,
    /// `[kinds, hidden]`.
    pub kinds: L::Of<f32>,
    /// The norm of embeddings.
    pub norm: Affine<L>,
    /// The layers, the first one first.
    pub layers: Vec<Layer<L>>,
}

impl<L: Leaves> Affine<L> {
    fn try_map<'a, M: Leaves, E>(
        &'a self,
        name: &str,
        f: &mut impl FnMut(&str, &'a L::Of<f32>) -> Result<M::Of<f32>, E>,
    ) -> Result<Affine<M>, E> {
        Ok(Affine {
            weight: f(&format!("{name}.weight"), &self.weight)?,
            bias: f(&format!("{name}.bias"), &self.bias)?,
        })
    }
}

impl<L: Leaves> Layer<L> {
    fn try_map<'a, M: Leaves, E>(
        &'a self,
        number: usize,
        f: &mut impl FnMut(&str, &'a L::Of<f32>) -> Result<M::Of<f32>, E>,
    ) -> Result<Layer<M>, E> {
        let mut of = |name: &str, affine: &'a Affine<L>| {
            affine.try_map(&format!("encoder.layer.{number}.{name}"), f)
        };
        Ok(Layer {
            query: of("attention.self.query", &self.query)?,
            key: of("attention.self.key", &self.key)?,
            value: of("attention.self.value", &self.value)?,
            mixed: of("attention.output.dense", &self.mixed)?,
            mixed_norm: of("attention.output.LayerNorm", &self.mixed_norm)?,
            wide: of("intermediate.dense", &self.wide)?,
            narrow: of("output.dense", &self.narrow)?,
            norm: of("output.LayerNorm", &self.norm)?,
        })
    }
}

/// Leaves of a tree that is made for a walk only.
struct Nothing;
impl Leaves for Nothing {
    type Of<T: Element> = ();
}

impl<L: Leaves> Weights<L> {
    /// Calls `f` with each weight and its name, as [`try_map`](Self::try_map) does.
    pub fn for_each<'a>(&'a self, mut f: impl FnMut(&str, &'a L::Of<f32>)) {
        let Ok(_) = self.try_map::<Nothing, Infallible>(|name, weight| {
            f(name, weight);
            Ok(())
        });
    }

    /// A tree of what `f` makes of each weight and its name, which is the one that Hugging Face's
    /// `BertModel` gives it.
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn try_map<'a, M: Leaves, E>(
        &'a self,
        mut f: impl FnMut(&str, &'a L::Of<f32>) -> Result<M::Of<f32>, E>,
    ) -> Result<Weights<M>, E> {
        let table = |name: &str| format!("embeddings.{name}_embeddings.weight");
        Ok(Weights {
            words: f(&table("word"), &self.words)?,
            places: f(&table("position"), &self.places)?,
            kinds: f(&table("token_type"), &self.kinds)?,
            norm: self.norm.try_map("embeddings.LayerNorm", &mut f)?,
            layers: (0..)
                .zip(&self.layers)
                .map(|(number, layer)| layer.try_map(number, &mut f))
                .collect::<Result<_, E>>()?,
        })
    }
}
