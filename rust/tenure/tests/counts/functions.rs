//! The public functions of the crate, as its source has them.

use std::fs;
use std::path::Path;

pub struct Function {
    /// In the folder `src`.
    pub file: String,
    /// The name in the source: `$name` in a macro.
    pub name: String,
    /// Whether a parameter is a number or a shape.
    pub takes_count: bool,
}

/// Types of parameters that count something.
const COUNTS: &[&str] = &[
    "usize",
    "isize",
    "u64",
    "i64",
    "u32",
    "u16",
    "IntoIndex",
    "IntoShape",
    "IntoReshape",
    "IntoSizes",
    "IntoSlice",
    "Size",
    "Slice",
    "Range",
    "RangeBounds",
    "RangeInclusive",
    "Position",
];

/// Public functions, and those of public traits, in all files below a folder.
pub fn public(source: &Path) -> Vec<Function> {
    let (mut functions, mut folders) = (Vec::new(), vec![source.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let file = path.strip_prefix(source).unwrap().to_str().unwrap().to_owned();
                of_file(&file, &fs::read_to_string(&path).unwrap(), &mut functions);
            }
        }
    }
    assert!(functions.len() > 500, "{} functions were found", functions.len());
    functions
}

fn of_file(file: &str, text: &str, functions: &mut Vec<Function>) {
    let (text, _) = text.split_once("#[cfg(test)]\nmod tests").unwrap_or((text, ""));
    let lines = text.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    let code: String = lines.flat_map(|line| [line, "\n"]).collect();
    let mut trait_end = 0;
    for (at, _) in code.match_indices("fn ") {
        let line_start = code[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = code[line_start..at].trim_start();
        if let Some(start) = code[..at].rfind("pub trait ").filter(|start| *start >= trait_end) {
            let body = start + code[start..].find('{').unwrap();
            trait_end = body + closed(&code[body..], '{', '}');
        }
        let words = line.split_whitespace();
        let is_plain = words.clone().all(|word| ["pub", "const", "unsafe"].contains(&word));
        if !is_plain || !(line.starts_with("pub ") || at < trait_end) {
            continue;
        }
        let rest = &code[at + "fn ".len()..];
        let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let name_end = rest.find(|c| !is_of_name(c)).unwrap();
        // Elements of an output are no counts.
        let parameters = parameters(&rest[name_end..]).replace("AsViewMut<i64>", "");
        let mut words = parameters.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        functions.push(Function {
            file: file.to_owned(),
            name: rest[..name_end].to_owned(),
            takes_count: words.any(|word| COUNTS.contains(&word)),
        });
    }
}

/// The text in the parentheses after a function's name and its generic parameters.
fn parameters(text: &str) -> &str {
    let mut depth = 0;
    let mut before = ' ';
    let start = text.find(|c| {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        before = c;
        c == '(' && depth == 0
    });
    let start = start.unwrap();
    &text[start..start + closed(&text[start..], '(', ')')]
}

/// The length up to the end of what the first character opens.
fn closed(text: &str, open: char, close: char) -> usize {
    let mut depth = 0;
    let end = text.find(|c| {
        depth += i32::from(c == open) - i32::from(c == close);
        depth == 0
    });
    end.unwrap() + 1
}
