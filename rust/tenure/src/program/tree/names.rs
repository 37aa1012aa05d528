//! Names of leaves: their paths.

use std::fmt::Write;

use crate::error::{Error, Result};
use crate::io::payload::shown;

/// The name of a leaf.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub(crate) text: String,
    /// Whether its last part is the number of a place in a tuple or array, for which a name may
    /// stand that is given by hand.
    is_place: bool,
}

impl Name {
    /// With a name given by hand instead of a number.
    pub(crate) fn given(self, given: Option<&str>) -> String {
        match given {
            Some(given) if self.is_place => {
                let parent = self.text.rfind('.').map_or("", |dot| &self.text[..=dot]);
                format!("{parent}{given}")
            }
            _ => self.text,
        }
    }

    /// Whether a leaf with the name `other` may have this place.
    #[cfg_attr(not(feature = "programs"), allow(dead_code, reason = "names in files are compared"))]
    pub(crate) fn accepts(&self, other: &str) -> bool {
        let parent = |text: &str| text.rfind('.').map(|dot| text[..dot].to_owned());
        self.text == other || self.is_place && parent(&self.text) == parent(other)
    }
}

/// Checks a name that is given by hand.
pub(crate) fn require_given(name: &str) -> Result<()> {
    let is_number = name.starts_with(|first: char| first.is_ascii_digit());
    match name.is_empty() || is_number || name.contains(['.', '\0']) {
        false => Ok(()),
        true => Err(Error::invalid(format!(
            "the name '{}' is empty, has a dot or a byte of 0, or begins with a digit",
            shown(name)
        ))),
    }
}

/// The path to a part of a tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    text: String,
    is_place: bool,
}

/// A step from a tree to a part of it.
#[derive(Clone, Copy)]
pub(crate) enum Part<'n> {
    /// In a tuple or array.
    Place(usize),
    /// In a `Vec`.
    Element(usize),
    #[allow(dead_code, reason = "structs have fields")]
    Field(&'n str),
}

impl Path {
    /// Goes on to a part, and returns the path to come back to.
    pub(crate) fn enter(&mut self, part: Part<'_>) -> (usize, bool) {
        let from = (self.text.len(), self.is_place);
        if !self.text.is_empty() {
            self.text.push('.');
        }
        // It is written to a `String`.
        let _ = match part {
            Part::Place(number) | Part::Element(number) => write!(self.text, "{number}"),
            Part::Field(name) => write!(self.text, "{name}"),
        };
        self.is_place = matches!(part, Part::Place(_));
        from
    }

    pub(crate) fn leave(&mut self, (length, is_place): (usize, bool)) {
        self.text.truncate(length);
        self.is_place = is_place;
    }

    /// The name of a leaf here. One that is the whole tree has the name of the first of a tuple.
    pub(crate) fn name(&self) -> Name {
        match self.text.is_empty() {
            true => Name { text: "0".to_owned(), is_place: true },
            false => Name { text: self.text.clone(), is_place: self.is_place },
        }
    }

    /// The number of the element of this `Vec` that a leaf of this name is in.
    pub(crate) fn element_of(&self, name: &str) -> Option<usize> {
        let rest = match self.text.is_empty() {
            true => name,
            false => name.strip_prefix(&self.text[..])?.strip_prefix('.')?,
        };
        let number = rest.split('.').next()?;
        let parsed = number.parse::<usize>().ok()?;
        // Without a sign, and without zeros before other digits.
        (parsed.to_string() == number).then_some(parsed)
    }
}
