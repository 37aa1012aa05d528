//! The modules of the crate `tenure` import one way: each uses only modules that come before it in
//! `ORDER`, and names them by the modules that define them, not by the root of the crate.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The modules of `rust/tenure/src`, from the lowest to the highest.
const ORDER: [&str; 27] = [
    "error",
    "split_mix",
    "owner",
    "dtype",
    "layout",
    "tenure",
    "raw",
    "stats",
    "context",
    "dense",
    "operand",
    "ops",
    "nn",
    "sparse",
    "io",
    "interop",
    "linalg",
    "quantize",
    "methods",
    "random",
    "expr",
    "cuda",
    "program",
    "layers",
    "train",
    "loader",
    "prelude",
];

/// Exported macros, which are at the root wherever they are defined.
const MACROS: [&str; 1] = ["s"];

/// A path that begins at the root of the crate.
struct Import {
    line: usize,
    /// The first name after the root: of a module, or of an item of the root.
    first: String,
}

fn word(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(word)) => Some(word.to_string()),
        _ => None,
    }
}

fn is_punct(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// Whether `::` is at this index.
fn is_path(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':')
}

/// Adds the paths of a file, or of a group in it. `depth` is the number of modules around it: as
/// many times `super` lead to the root.
fn imports(tokens: TokenStream, depth: usize, found: &mut Vec<Import>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        let is_within =
            at > 0 && (is_punct(tokens.get(at - 1), '$') || at > 1 && is_path(&tokens, at - 2));
        let mut end = at;
        let mut supers = 0;
        match word(tokens.get(at)).as_deref() {
            Some("crate") if !is_within => end = at + 1,
            Some("super") if !is_within => {
                supers = 1;
                end = at + 1;
                while is_path(&tokens, end) && word(tokens.get(end + 2)).as_deref() == Some("super")
                {
                    supers += 1;
                    end += 3;
                }
            }
            _ => {}
        }
        let is_root = end > at && (supers == 0 || supers == depth);
        if is_root && is_path(&tokens, end) {
            roots(tokens.get(end + 2), found);
        }
        if let TokenTree::Group(group) = &tokens[at] {
            let is_module = at > 1
                && group.delimiter() == Delimiter::Brace
                && word(tokens.get(at - 2)).as_deref() == Some("mod");
            imports(group.stream(), depth + usize::from(is_module), found);
        }
        at += 1;
    }
}

/// Adds the name that follows `crate::`, or each name of a group.
fn roots(token: Option<&TokenTree>, found: &mut Vec<Import>) {
    match token {
        Some(TokenTree::Ident(word)) => {
            let line = word.span().start().line;
            found.push(Import { line, first: word.to_string() });
        }
        Some(TokenTree::Group(group)) => {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            inner
                .split(|token| is_punct(Some(token), ','))
                .for_each(|part| roots(part.first(), found));
        }
        _ => {}
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false if path.extension().is_some_and(|ending| ending == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The modules of a file.
fn modules(source: &Path, file: &Path) -> Vec<String> {
    let path = file.strip_prefix(source).unwrap().with_extension("");
    path.iter().map(|part| part.to_str().unwrap().to_owned()).collect()
}

#[test]
fn modules_import_one_way() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tenure/src");
    let (mut paths, mut wrong, mut seen, mut count) = (Vec::new(), Vec::new(), BTreeSet::new(), 0);
    files(&source, &mut paths);
    for path in paths.iter().filter(|path| !path.ends_with("src/lib.rs")) {
        let modules = modules(&source, path);
        let place = |name: &str| ORDER.iter().position(|known| *known == name);
        let Some(own) = place(&modules[0]) else {
            wrong.push(format!("{}: is not in the order of this test", modules[0]));
            continue;
        };
        seen.insert(ORDER[own]);
        let mut found = Vec::new();
        let text = fs::read_to_string(path).unwrap();
        imports(text.parse().unwrap(), modules.len(), &mut found);
        count += found.len();
        for Import { line, first } in found {
            let where_from = format!("{}.rs:{line}", modules.join("/"));
            match place(&first) {
                None if MACROS.contains(&first.as_str()) => {}
                None => wrong.push(format!("{where_from}: crate::{first} is not a module")),
                Some(other) if other > own => {
                    wrong.push(format!("{where_from}: {} imports {first}", modules[0]));
                }
                Some(_) => {}
            }
        }
    }
    let missing = ORDER.iter().filter(|module| !seen.contains(*module));
    wrong.extend(missing.map(|module| format!("{module}: is in the order and has no file")));
    assert!(wrong.is_empty(), "{} lines:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 500, "only {count} imports were found: the pattern is wrong");
}

#[test]
fn paths_to_the_root_are_found() {
    let text = "use crate::{a::b, c}; use super::{d}; use super::super::e; mod inner { use super::f; \
                use super::super::super::g; } macro_rules! m { () => { $crate::h; crate::i::j() } }";
    let mut found = Vec::new();
    imports(text.parse().unwrap(), 2, &mut found);
    let names: Vec<&str> = found.iter().map(|import| import.first.as_str()).collect();
    assert_eq!(names, ["a", "c", "e", "g", "i"]);
}
