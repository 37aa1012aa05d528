//! Settings of an import: bounds of extents, and inputs that are constants.

use prost::bytes::Bytes;

use super::tensor::{Constant, ElementType};
use super::{Dimension, Model};
use crate::dense::DynView;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::io::payload::shown;
use crate::program::Passes;

/// Settings of [`Model::program`]: bounds of open extents, inputs that are the same in each run, and
/// passes.
///
/// ```
/// use tenure::onnx::Settings;
///
/// let settings = Settings::new().extent("batch", 1).extent_up_to("sequence", 128);
/// # let _ = settings;
/// ```
#[derive(Clone, Debug)]
#[must_use = "it is handed to a model"]
pub struct Settings {
    extents: Vec<(String, Maximum)>,
    constants: Vec<(String, GivenConstant)>,
    pub(super) passes: Passes,
    pub(super) widens: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Maximum {
    Fixed(usize),
    UpTo(usize),
}

#[derive(Clone, Debug)]
pub(super) struct GivenConstant {
    dtype: DType,
    shape: Vec<usize>,
    /// `None`: the view is not row-major.
    data: Option<Bytes>,
}

impl GivenConstant {
    pub(super) fn checked(&self, of: ElementType) -> Result<Constant> {
        let (given, wanted) = (self.dtype, of.dtype);
        if given != wanted {
            return Err(Error::invalid(format!("the constant is {given} but must be {wanted}")));
        }
        let data = self.data.clone();
        let data = data.ok_or_else(|| Error::invalid("the constant is not row-major"))?;
        Constant::new(of, self.shape.clone(), data)
    }
}

impl Default for Settings {
    fn default() -> Self {
        let (extents, constants) = (Vec::new(), Vec::new());
        Settings { extents, constants, passes: Passes::DEFAULT, widens: true }
    }
}

impl Settings {
    /// No extents, no constants, and [`Passes::DEFAULT`].
    pub fn new() -> Settings {
        Settings::default()
    }

    /// Fixes an extent by its name in the model, or by `input[axis]` where it has none.
    pub fn extent(mut self, name: &str, extent: usize) -> Settings {
        self.extents.push((name.to_owned(), Maximum::Fixed(extent)));
        self
    }

    /// Leaves an extent to each run, which may have any one up to this.
    pub fn extent_up_to(mut self, name: &str, maximum: usize) -> Settings {
        self.extents.push((name.to_owned(), Maximum::UpTo(maximum)));
        self
    }

    /// Makes an input a constant, which is copied: a shape, say, that nodes are built for. A run is
    /// not given this input.
    pub fn constant<'a>(mut self, name: &str, elements: impl Into<DynView<'a>>) -> Settings {
        let view = elements.into();
        let given = GivenConstant {
            dtype: view.dtype(),
            shape: view.shape().to_vec(),
            data: view.as_bytes().map(Bytes::copy_from_slice),
        };
        self.constants.push((name.to_owned(), given));
        self
    }

    /// Leaves constants of integers as they are, so that each run makes floats of them: a quarter of
    /// the memory, and more time. Else they become floats once, when the program is made.
    pub fn keep_integers(self) -> Settings {
        Settings { widens: false, ..self }
    }

    /// The passes of the program.
    pub fn passes(self, passes: Passes) -> Settings {
        Settings { passes, ..self }
    }

    pub(super) fn maximum_of(&self, name: &str) -> Option<Maximum> {
        self.extents.iter().rev().find(|(known, _)| known == name).map(|(_, maximum)| *maximum)
    }

    pub(super) fn constant_of(&self, name: &str) -> Option<&GivenConstant> {
        self.constants.iter().rev().find(|(known, _)| known == name).map(|(_, given)| given)
    }

    /// Refuses extents without a bound, and names that the model does not have.
    pub(super) fn require_known(&self, model: &Model) -> Result<()> {
        let named = |dimension: &Dimension, name: &str| match dimension {
            Dimension::Named(has) => has == name,
            Dimension::Known(_) => false,
        };
        for (name, _) in &self.extents {
            let mut dimensions = model.inputs.iter().flat_map(|input| &input.dimensions);
            if !dimensions.any(|dimension| named(dimension, name)) {
                let why = format!("the model has no open extent named {}", shown(name));
                return Err(Error::invalid(why));
            }
        }
        for (name, _) in &self.constants {
            if !model.inputs.iter().any(|input| input.name == *name) {
                let why = format!("the model has no input named {}", shown(name));
                return Err(Error::invalid(why));
            }
        }
        let given = model.inputs.iter().filter(|input| self.constant_of(&input.name).is_none());
        let mut open: Vec<String> = Vec::new();
        for dimension in given.flat_map(|input| &input.dimensions) {
            match dimension {
                Dimension::Named(name) if self.maximum_of(name).is_none() => open.push(shown(name)),
                _ => {}
            }
        }
        open.sort();
        open.dedup();
        let Some(first) = open.first() else { return Ok(()) };
        Err(Error::invalid(format!(
            "extents without a bound: {}; Settings::extent(\"{first}\", n) fixes one, and \
             Settings::extent_up_to(\"{first}\", n) leaves it to each run",
            open.join(", ")
        )))
    }
}
