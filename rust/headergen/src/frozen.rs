//! Compares the ABI of the source with the frozen one: everything that a program compiled with an
//! older header relies on exists, with the same meaning.
//!
//! Each fact is one line: its subject, the version that introduced it, and its value.

use std::collections::BTreeMap;

use crate::abi::{Abi, Problem};
use crate::layout;
use crate::tags::{FIRST, Version, parse_version};
use crate::types::Kind;

mod asserts;
pub use asserts::c_asserts;

/// The facts of the ABI at a version of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Table {
    pub version: Version,
    /// By subject: `function tnr_fill`, `field tnr_view.data`.
    facts: BTreeMap<String, Fact>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fact {
    since: Version,
    value: Value,
    /// The line of the source that states it.
    line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    /// Stays, to the letter.
    Exact(String),
    /// A struct, which may get fields at its end when it starts with its size.
    Struct { grows: bool, size: u64, align: u64 },
    /// A field's offset and type.
    Field { offset: u64, ty: String },
}

impl Value {
    fn written(&self) -> String {
        match self {
            Value::Exact(text) => text.clone(),
            Value::Struct { grows, size, align } => {
                let how = if *grows { "grows" } else { "fixed" };
                format!("{how} {size} bytes aligned to {align}")
            }
            Value::Field { offset, ty } => format!("at {offset} {ty}"),
        }
    }

    fn parse(kind: &str, text: &str) -> Option<Value> {
        match kind {
            "struct" => {
                let words: Vec<&str> = text.split(' ').collect();
                let [how, size, "bytes", "aligned", "to", align] = words[..] else { return None };
                let (size, align) = (size.parse().ok()?, align.parse().ok()?);
                Some(Value::Struct { grows: how == "grows", size, align })
            }
            "field" => {
                let (offset, ty) = text.strip_prefix("at ")?.split_once(' ')?;
                Some(Value::Field { offset: offset.parse().ok()?, ty: ty.to_owned() })
            }
            _ => Some(Value::Exact(text.to_owned())),
        }
    }
}

impl Table {
    /// The facts that the source states today.
    pub fn of(abi: &Abi) -> Table {
        let mut table = Table { version: abi.version, ..Table::default() };
        for function in &abi.functions {
            let since = function.comment.since.unwrap_or(FIRST);
            let value = Value::Exact(function.signature.spelled(""));
            table.add("function", &function.name, since, function.line, value);
        }
        for item in &abi.items {
            let (kind, value) = match &item.kind {
                // It rises with each version, on purpose.
                Kind::Constant(..) if item.name == "TNR_ABI_MINOR" => continue,
                Kind::Constant(ty, value) => ("constant", format!("{ty} {value}")),
                Kind::Number(inner) => ("number", inner.spelled()),
                Kind::Handle => ("handle", "opaque".to_owned()),
                Kind::Callback(signature) => ("callback", signature.spelled("(*)")),
                Kind::Struct(_) => continue,
            };
            table.add(kind, &item.name, item.since, item.line, Value::Exact(value));
        }
        for laid in layout::structs(abi) {
            let since = abi.since(laid.name).unwrap_or(FIRST);
            let (size, align, grows) = (laid.layout.size, laid.layout.align, laid.grows);
            let value = Value::Struct { grows, size, align };
            table.add("struct", laid.name, since, laid.line, value);
            for (field, &offset) in laid.fields.iter().zip(&laid.layout.offsets) {
                let name = format!("{}.{}", laid.name, field.name);
                let value = Value::Field { offset, ty: field.ty.spelled() };
                table.add("field", &name, field.since, field.line, value);
            }
        }
        table
    }

    fn add(&mut self, kind: &str, name: &str, since: Version, line: usize, value: Value) {
        self.facts.insert(format!("{kind} {name}"), Fact { since, value, line });
    }

    /// The text of the file.
    pub fn written(&self) -> String {
        let (major, minor) = self.version;
        let mut text = format!(
            "# ABI {major}.{minor}, by headergen. A line has its subject, its version and its \
             value.\n"
        );
        for (about, Fact { since: (major, minor), value, .. }) in &self.facts {
            text.push_str(&format!("{about} {major}.{minor} {}\n", value.written()));
        }
        text
    }

    /// Reads the text that `written()` wrote. Errors: the line that is something else.
    pub fn parse(version: Version, text: &str) -> Result<Table, String> {
        let mut table = Table { version, ..Table::default() };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.splitn(4, ' ').collect();
            let [kind, name, since, value] = words[..] else { return Err(line.to_owned()) };
            let since = parse_version(since).ok_or_else(|| line.to_owned())?;
            let value = Value::parse(kind, value).ok_or_else(|| line.to_owned())?;
            table.add(kind, name, since, 0, value);
        }
        Ok(table)
    }

    /// The facts of a frozen table that this one breaks.
    pub fn breaks(&self, frozen: &Table) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.version.0 != frozen.version.0 {
            return problems;
        }
        let mut problem = |line: usize, about: &str, text: String| {
            let (major, minor) = frozen.version;
            let text = format!("{about}: {text} (frozen in ABI {major}.{minor})");
            problems.push(Problem { line, text });
        };
        for (about, was) in &frozen.facts {
            match self.facts.get(about) {
                None => problem(1, about, "is gone".to_owned()),
                Some(is) => {
                    changes(was, is).into_iter().for_each(|text| problem(is.line, about, text))
                }
            }
        }
        for (about, is) in self.facts.iter().filter(|(about, _)| !frozen.facts.contains_key(*about))
        {
            let text = addition(about, is, frozen);
            text.into_iter().for_each(|text| problem(is.line, about, text));
        }
        problems
    }
}

/// The differences between a fact and its frozen form.
fn changes(was: &Fact, is: &Fact) -> Vec<String> {
    let mut texts = Vec::new();
    if was.since != is.since {
        let (was, is) = (was.since, is.since);
        texts.push(format!("was @since {}.{} and is @since {}.{}", was.0, was.1, is.0, is.1));
    }
    let larger = match (&was.value, &is.value) {
        (
            Value::Struct { grows: true, size: was, align: was_align },
            Value::Struct { grows: true, size: is, align },
        ) => is >= was && align == was_align,
        _ => false,
    };
    if was.value != is.value && !larger {
        texts.push(format!("was `{}` and is `{}`", was.value.written(), is.value.written()));
    }
    texts
}

/// The mistake in a fact that the frozen table does not have.
fn addition(about: &str, is: &Fact, frozen: &Table) -> Option<String> {
    if is.since <= frozen.version {
        let (major, minor) = is.since;
        return Some(format!(
            "is new but @since {major}.{minor}: raise TNR_ABI_MINOR, and say which version has it"
        ));
    }
    let Value::Field { offset, .. } = is.value else { return None };
    let of = about.strip_prefix("field ")?.split_once('.')?.0;
    match frozen.facts.get(&format!("struct {of}"))?.value {
        Value::Struct { grows: false, .. } => {
            Some(format!("is new, but {of} has no struct_size and cannot grow"))
        }
        Value::Struct { size, .. } if offset < size => Some(format!(
            "is new at {offset}, but a struct grows behind the {size} bytes that it has"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
