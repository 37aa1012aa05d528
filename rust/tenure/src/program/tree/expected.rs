//! The leaves that the type of a program asks of a file.

use super::InputTypes;
use super::names::{Name, Part, Path};
use crate::dtype::DType;

/// The leaves of a type, with as many elements of each `Vec` as the names in a file say.
#[cfg_attr(not(feature = "programs"), allow(dead_code, reason = "files are checked"))]
pub struct Expected<'f> {
    path: Path,
    /// Names of the leaves in the file.
    found: &'f [String],
    pub(crate) leaves: Vec<ExpectedLeaf>,
    pub(crate) lens: Vec<usize>,
}

#[cfg_attr(not(feature = "programs"), allow(dead_code, reason = "files are checked"))]
pub(crate) struct ExpectedLeaf {
    pub(crate) name: Name,
    pub(crate) dtype: DType,
    pub(crate) is_updated: bool,
}

impl<'f> Expected<'f> {
    #[cfg_attr(not(feature = "programs"), allow(dead_code, reason = "files are checked"))]
    pub(crate) fn of<I: InputTypes>(found: &'f [String]) -> Self {
        let mut expected =
            Expected { path: Path::default(), found, leaves: Vec::new(), lens: Vec::new() };
        I::expect(&mut expected);
        expected
    }

    fn part<I: InputTypes>(&mut self, part: Part<'_>) {
        let from = self.path.enter(part);
        I::expect(self);
        self.path.leave(from);
    }

    /// An element of a tuple or array.
    #[doc(hidden)]
    pub fn place<I: InputTypes>(&mut self, number: usize) {
        self.part::<I>(Part::Place(number));
    }

    /// A field of a struct.
    #[doc(hidden)]
    pub fn field<I: InputTypes>(&mut self, name: &str) {
        self.part::<I>(Part::Field(name));
    }

    pub(super) fn leaf(&mut self, dtype: DType, is_updated: bool) {
        self.leaves.push(ExpectedLeaf { name: self.path.name(), dtype, is_updated });
    }

    /// The elements of a `Vec`, up to the last one that the file has leaves of.
    pub(super) fn elements<I: InputTypes>(&mut self) {
        /// More than a graph has values.
        const MOST: usize = tenure_sys::TNR_MAX_VALUES;
        let at = self.lens.len();
        self.lens.push(0);
        let mut len = 0;
        while let Some(next) = self.found.get(self.leaves.len()) {
            let is_further = |element: &usize| (len..MOST).contains(element);
            if self.path.element_of(next).filter(is_further).is_none() {
                break;
            }
            self.part::<I>(Part::Element(len));
            len += 1;
        }
        self.lens[at] = len;
    }
}
