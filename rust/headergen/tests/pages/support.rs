//! The dtypes and formats that calls take, by `docs/support.md`, and other texts about them.

use std::collections::{BTreeMap, BTreeSet};

use super::source::words;

pub type Dtypes = BTreeSet<&'static str>;

const CLASSES: [(&str, &[&str]); 4] = [
    ("floats", &["f64", "f32", "f16", "bf16"]),
    ("integers", &["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]),
    ("bool8", &["bool8"]),
    ("complex", &["c64", "c128"]),
];

const FORMATS: [&str; 4] = ["COO", "CSR", "CSC", "BSR"];

/// The members of a class of dtypes, by its place among them; every dtype without one.
pub fn class(place: Option<usize>) -> Dtypes {
    let classes =
        CLASSES.iter().enumerate().filter(|(at, _)| place.is_none_or(|place| place == *at));
    classes.flat_map(|(_, (_, members))| members.iter().copied()).collect()
}

/// The dtypes that a text names, by themselves or by their classes.
pub fn named(text: &str) -> Dtypes {
    let of_word = |word: &str| -> Dtypes {
        match CLASSES.iter().position(|(name, _)| *name == word) {
            Some(place) => class(Some(place)),
            None => class(None).into_iter().filter(|dtype| *dtype == word).collect(),
        }
    };
    words(text).flat_map(of_word).collect()
}

/// A line of the page: a function, with some codes or with none.
pub struct Row<'p> {
    pub function: &'p str,
    pub codes: Vec<&'p str>,
    /// By format; under "" for dense operands.
    taken: BTreeMap<&'p str, Dtypes>,
}

impl<'p> Row<'p> {
    pub fn dtypes(&self) -> Dtypes {
        self.taken.values().flatten().copied().collect()
    }

    fn is_dense(&self) -> bool {
        self.taken.contains_key("")
    }

    fn takes_format(&self, format: &str) -> bool {
        self.taken.get(format).is_some_and(|dtypes| !dtypes.is_empty())
    }

    pub fn all(page: &'p str) -> Vec<Row<'p>> {
        let mut columns = Vec::new();
        let mut rows = Vec::new();
        for line in page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix('|')) {
            let mut cells = line.split('|').map(str::trim);
            let call = cells.next().unwrap();
            if call == "call" {
                columns = cells.collect();
                continue;
            }
            let Some((function, codes)) =
                call.strip_prefix('`').and_then(|call| call.split_once('`'))
            else {
                continue;
            };
            let mut taken = BTreeMap::<_, Dtypes>::new();
            for (column, cell) in columns.iter().zip(cells) {
                // Dense: a mark under a dtype. Sparse: dtypes under a format.
                let of_dense = named(column);
                let (format, dtypes) = match (of_dense.is_empty(), cell) {
                    (true, "all") => (*column, class(None)),
                    (true, _) => (*column, named(cell)),
                    (false, "x") => ("", of_dense),
                    (false, _) => ("", Dtypes::new()),
                };
                taken.entry(format).or_default().extend(dtypes);
            }
            rows.push(Row { function, codes: words(codes).collect(), taken });
        }
        rows
    }
}

/// Each function of the ABI with its documentation in one line.
pub fn documentation(abi: &str) -> Vec<(&str, String)> {
    let (mut found, mut comment) = (Vec::new(), String::new());
    for line in abi.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment += text;
        } else if let Some(name) = line.strip_prefix("pub fn ") {
            found.push((words(name).next().unwrap(), std::mem::take(&mut comment)));
        } else if !line.starts_with("#[") {
            comment.clear();
        }
    }
    found
}

/// How a documentation's words about UNSUPPORTED differ from what calls of the function answer.
pub fn contradictions(documentation: &str, rows: &[&Row<'_>]) -> Vec<String> {
    let Some((_, clause)) = documentation.split_once("UNSUPPORTED:") else { return Vec::new() };
    let clause = clause.split(". ").next().unwrap_or_default();
    let taken: Dtypes = rows.iter().flat_map(|row| row.dtypes()).collect();
    let (mut said, mut wrong) = (Dtypes::new(), Vec::new());
    for part in clause.split(';') {
        let dtypes = refused(part);
        let is_only =
            ["other than", "other dtypes than", "no floats"].iter().any(|of| part.contains(of));
        if is_only && dtypes != taken
            || !is_only && !is_qualified(part) && !taken.is_disjoint(&dtypes)
        {
            wrong.push(format!("takes {taken:?}, but its words are '{part}'"));
        }
        let names_all =
            is_only || ["does not take", "other", "as `tnr_"].iter().any(|of| part.contains(of));
        said.extend(if names_all { class(None) } else { dtypes });
        let formats = words(part).filter(|word| FORMATS.contains(word) && !part.contains("format"));
        let taken = formats.filter(|format| rows.iter().any(|row| row.takes_format(format)));
        wrong.extend(taken.map(|format| format!("takes {format}, but its words are '{part}'")));
    }
    let silent: Dtypes = &(&class(None) - &taken) - &said;
    // Words that name no dtype, of dense operands, leave them to the page of operations.
    let says_none = said.is_empty() && rows[0].is_dense();
    if !silent.is_empty() && !says_none {
        wrong.push(format!("does not take {silent:?}, but its words are '{clause}'"));
    }
    wrong
}

/// The dtypes that a part of such words names.
fn refused(part: &str) -> Dtypes {
    if part.contains("integers of 64 bits") {
        return &(&named(part) - &class(Some(1))) | &named("i64 u64");
    }
    let mut dtypes = named(part);
    dtypes.extend(part.contains("16 bytes").then_some("c128"));
    dtypes
}

/// Whether words are about some codes, or some uses, and not about the function.
fn is_qualified(part: &str) -> bool {
    let is_code = |word: &str| {
        let is_upper = word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
        word.len() > 2 && is_upper && !FORMATS.contains(&word)
    };
    part.contains(" in ") || words(part).any(is_code)
}
