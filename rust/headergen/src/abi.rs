//! The ABI source as the generator sees it. Read with `syn`, not through cbindgen, so that what
//! cbindgen drops in silence is noticed.

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;

use crate::tags::{Comment, Tags, parse_comment};

/// The type of a parameter or result, as far as the rules ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number, or a struct or transparent integer by value.
    Value(String),
    /// `*const T` with the name of T.
    ConstPointer(String),
    /// `*mut T` with the name of T.
    MutPointer(String),
    /// `*mut *mut T` with the name of T: where a handle is written.
    HandlePointer(String),
    /// An alias of `Option<extern fn>`, by its name.
    Callback(String),
    /// No result.
    Void,
}

impl Type {
    /// The name of what a data pointer points at.
    pub fn pointee(&self) -> Option<&str> {
        match self {
            Type::ConstPointer(name) | Type::MutPointer(name) => Some(name),
            _ => None,
        }
    }
}

/// A parameter with its tags; `tags` is None where the comment does not mention it.
#[derive(Clone, Debug)]
pub struct Param {
    pub name: String,
    pub ty: Type,
    pub tags: Option<Tags>,
}

/// A function of the ABI.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub line: usize,
    pub must_use: bool,
    pub params: Vec<Param>,
    pub result: Type,
    pub comment: Comment,
}

/// Everything that the rules and the macros need to know.
#[derive(Clone, Debug, Default)]
pub struct Abi {
    /// `(TNR_ABI_MAJOR, TNR_ABI_MINOR)`.
    pub version: (u32, u32),
    /// Opaque structs: what a pointer of such a type is, is a handle.
    pub handles: HashSet<String>,
    pub functions: Vec<Function>,
    /// How many `fn tnr_...` stand anywhere in the source, also inside macros.
    pub written_count: usize,
}

/// Something wrong with the source, at a line of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub line: usize,
    pub text: String,
}

/// Reads the source text. Errors: the source is no Rust.
pub fn read(source: &str, problems: &mut Vec<Problem>) -> Result<Abi, syn::Error> {
    let file = syn::parse_file(source)?;
    let mut abi = Abi { written_count: count_written(source.parse()?), ..Abi::default() };
    let mut callbacks = HashSet::new();
    for item in &file.items {
        read_item(item, &mut abi, &mut callbacks, problems);
    }
    for item in &file.items {
        if let syn::Item::ForeignMod(block) = item {
            for inner in &block.items {
                read_foreign(inner, &callbacks, &mut abi, problems);
            }
        }
    }
    Ok(abi)
}

/// Counts `fn` followed by a name of ours, in code only: comments are no tokens.
fn count_written(tokens: TokenStream) -> usize {
    let mut count = 0;
    let mut after_fn = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) => count += count_written(group.stream()),
            TokenTree::Ident(name) => {
                count += usize::from(after_fn && name.to_string().starts_with("tnr_"));
                after_fn = name == "fn";
                continue;
            }
            _ => {}
        }
        after_fn = false;
    }
    count
}

fn read_item(
    item: &syn::Item,
    abi: &mut Abi,
    callbacks: &mut HashSet<String>,
    problems: &mut Vec<Problem>,
) {
    let mut problem = |text: String| problems.push(Problem { line: line_of(item), text });
    match item {
        syn::Item::Const(constant) => {
            match (constant.ident.to_string().as_str(), &*constant.expr) {
                ("TNR_ABI_MAJOR", value) => abi.version.0 = integer(value),
                ("TNR_ABI_MINOR", value) => abi.version.1 = integer(value),
                _ => {}
            }
        }
        syn::Item::Struct(item) => {
            let opaque = |field: &syn::Field| field.ident.as_ref().is_some_and(|n| n == "_opaque");
            if item.fields.iter().any(opaque) {
                abi.handles.insert(item.ident.to_string());
            }
            if item.fields.iter().any(|field| name_of(&field.ty) == "bool") {
                problem(format!("{}: a bool cannot cross the boundary, use u32", item.ident));
            }
        }
        syn::Item::Enum(item) => problem(format!(
            "{}: an enum cannot cross the boundary, use a transparent integer with constants",
            item.ident
        )),
        syn::Item::Type(alias) => {
            if let Some(callback) = bare_fn(&alias.ty) {
                callbacks.insert(alias.ident.to_string());
                if callback.inputs.iter().any(|input| input.name.is_none()) {
                    problem(format!("{}: a parameter has no name", alias.ident));
                }
            }
        }
        _ => {}
    }
}

fn read_foreign(
    item: &syn::ForeignItem,
    callbacks: &HashSet<String>,
    abi: &mut Abi,
    problems: &mut Vec<Problem>,
) {
    let line = line_of(item);
    let syn::ForeignItem::Fn(function) = item else {
        let text = "only plain `pub fn` reach the header; `pub safe fn`, statics and macros do not";
        return problems.push(Problem { line, text: text.to_owned() });
    };
    let name = function.sig.ident.to_string();
    let line = line_of(&function.sig);
    let mut texts = Vec::new();
    let comment = parse_comment(&doc_lines(&function.attrs), &mut texts);
    let mut params = Vec::new();
    for input in &function.sig.inputs {
        let syn::FnArg::Typed(input) = input else { continue };
        let syn::Pat::Ident(pattern) = &*input.pat else {
            texts.push("a parameter has no name".to_owned());
            continue;
        };
        let param = pattern.ident.to_string();
        let ty = classify(&input.ty, callbacks, &mut texts);
        let tags = comment.params.iter().find(|(known, _)| *known == param);
        params.push(Param { tags: tags.map(|(_, tags)| tags.clone()), name: param, ty });
    }
    let result = match &function.sig.output {
        syn::ReturnType::Default => Type::Void,
        syn::ReturnType::Type(_, ty) => classify(ty, callbacks, &mut texts),
    };
    let must_use = function.attrs.iter().any(|attr| attr.path().is_ident("must_use"));
    problems
        .extend(texts.into_iter().map(|text| Problem { line, text: format!("{name}: {text}") }));
    abi.functions.push(Function { name, line, must_use, params, result, comment });
}

fn classify(ty: &syn::Type, callbacks: &HashSet<String>, texts: &mut Vec<String>) -> Type {
    match ty {
        syn::Type::Ptr(pointer) if pointer.mutability.is_some() => {
            if let syn::Type::Ptr(inner) = &*pointer.elem {
                return Type::HandlePointer(name_of(&inner.elem));
            }
            Type::MutPointer(name_of(&pointer.elem))
        }
        syn::Type::Ptr(pointer) => Type::ConstPointer(name_of(&pointer.elem)),
        syn::Type::Path(_) if callbacks.contains(&name_of(ty)) => Type::Callback(name_of(ty)),
        syn::Type::Path(_) if name_of(ty) != "bool" && bare_fn(ty).is_none() => {
            Type::Value(name_of(ty))
        }
        _ => {
            texts.push(
                "a type here is neither a number, a struct, a raw pointer nor a named callback"
                    .to_owned(),
            );
            Type::Void
        }
    }
}

/// The last word of a path; empty for what is no path.
fn name_of(ty: &syn::Type) -> String {
    match ty {
        syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
    .unwrap_or_default()
}

/// The function type inside `Option<extern fn>` or by itself.
fn bare_fn(ty: &syn::Type) -> Option<&syn::TypeBareFn> {
    match ty {
        syn::Type::BareFn(function) => Some(function),
        syn::Type::Path(path) => match &path.path.segments.last()?.arguments {
            syn::PathArguments::AngleBracketed(inner) => match inner.args.first()? {
                syn::GenericArgument::Type(inner) => bare_fn(inner),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn doc_lines(attrs: &[syn::Attribute]) -> Vec<String> {
    let text = |attr: &syn::Attribute| match &attr.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    };
    attrs.iter().filter_map(text).collect()
}

fn integer(value: &syn::Expr) -> u32 {
    match value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(value), .. }) => {
            value.base10_parse().unwrap_or_default()
        }
        _ => 0,
    }
}

fn line_of(item: &impl Spanned) -> usize {
    item.span().start().line
}
