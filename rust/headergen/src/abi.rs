//! The ABI source as the generator sees it. Read with `syn`, not through cbindgen, so that a
//! declaration that cbindgen drops silently is noticed.

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;

use crate::tags::{
    Around, Comment, FIRST, Tags, Transfer, Version, default_result, default_tags, default_threads,
    parse_comment,
};
use crate::types::{Field, Item, Kind, Signature, Values, c_type, signature, value_of};

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
    /// The name of the pointee of a data pointer.
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
    pub signature: Signature,
    pub comment: Comment,
}

/// Everything that the rules and the macros need to know.
#[derive(Clone, Debug, Default)]
pub struct Abi {
    /// `(TNR_ABI_MAJOR, TNR_ABI_MINOR)`.
    pub version: Version,
    /// Types and constants that reach the header, in the order of the source.
    pub items: Vec<Item>,
    /// Opaque structs: a pointer to such a type is a handle.
    pub handles: HashSet<String>,
    /// Structs that begin with `struct_size`.
    pub sized: HashSet<String>,
    pub functions: Vec<Function>,
    /// The number of `fn tnr_...` anywhere in the source, also inside macros.
    pub written_count: usize,
}

/// Something wrong with the source, at a line of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub line: usize,
    pub text: String,
}

impl Abi {
    /// The version that introduced a function, type or constant.
    pub fn since(&self, name: &str) -> Option<Version> {
        let function = || self.functions.iter().find(|f| f.name == name);
        let item = self.items.iter().find(|item| item.name == name).map(|item| item.since);
        item.or_else(|| function().map(|f| f.comment.since.unwrap_or(FIRST)))
    }

    /// The line of the source that declares a function, type or constant.
    pub fn line(&self, name: &str) -> Option<usize> {
        let item = self.items.iter().find(|item| item.name == name).map(|item| item.line);
        item.or_else(|| self.functions.iter().find(|f| f.name == name).map(|f| f.line))
    }
}

/// Reads the source text. Errors: the source is no Rust.
pub fn read(source: &str, problems: &mut Vec<Problem>) -> Result<Abi, syn::Error> {
    let file = syn::parse_file(source)?;
    let mut reader = Reader { abi: Abi::default(), values: Values::new(), problems };
    reader.abi.written_count = count_written(source.parse()?);
    // Lengths of arrays come first, callbacks before the functions that take them.
    for item in &file.items {
        if let syn::Item::Const(constant) = item {
            reader.constant(constant);
        }
    }
    for item in &file.items {
        reader.item(item);
    }
    for item in &file.items {
        if let syn::Item::ForeignMod(block) = item {
            for inner in &block.items {
                reader.foreign(inner);
            }
        }
    }
    Ok(reader.abi)
}

/// Fields without documentation, except those that mean the same in every struct.
pub fn undocumented(source: &str) -> Result<Vec<Problem>, syn::Error> {
    let mut problems = Vec::new();
    for item in syn::parse_file(source)?.items {
        let syn::Item::Struct(item) = item else { continue };
        for field in &item.fields {
            let Some(name) = &field.ident else { continue };
            let is_known = ["struct_size", "_opaque"].iter().any(|known| name == known)
                || name.to_string().starts_with("reserved");
            if !is_known && doc_lines(&field.attrs).is_empty() {
                let text = format!("{}.{name}: no sentence says what it is", item.ident);
                problems.push(Problem { line: line_of(field), text });
            }
        }
    }
    Ok(problems)
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

/// A source on its way into an `Abi`.
struct Reader<'a> {
    abi: Abi,
    values: Values,
    problems: &'a mut Vec<Problem>,
}

impl Reader<'_> {
    fn problem(&mut self, line: usize, text: String) {
        self.problems.push(Problem { line, text });
    }

    /// The version that a comment names, if any. Reports everything else that is wrong with its
    /// tags.
    fn since(&mut self, name: &str, line: usize, attrs: &[syn::Attribute]) -> Option<Version> {
        let mut texts = Vec::new();
        let comment = parse_comment(&doc_lines(attrs), &mut texts);
        if !comment.params.is_empty() || comment.result.is_some() || comment.threads.is_some() {
            texts.push("only a function has tags other than `@since`".to_owned());
        }
        for text in texts {
            self.problem(line, format!("{name}: {text}"));
        }
        comment.since
    }

    fn push(&mut self, name: String, line: usize, since: Option<Version>, kind: Kind) {
        self.abi.items.push(Item { name, line, since: since.unwrap_or(FIRST), kind });
    }

    fn constant(&mut self, constant: &syn::ItemConst) {
        let name = constant.ident.to_string();
        let line = line_of(&constant.ident);
        let Some(value) = value_of(&constant.expr, &self.values) else {
            return self.problem(line, format!("{name}: its value is no plain number"));
        };
        self.values.insert(name.clone(), value);
        match (name.as_str(), u32::try_from(value)) {
            ("TNR_ABI_MAJOR", Ok(major)) => self.abi.version.0 = major,
            ("TNR_ABI_MINOR", Ok(minor)) => self.abi.version.1 = minor,
            _ => {}
        }
        if doc_lines(&constant.attrs).iter().any(|text| text.trim() == "cbindgen:ignore") {
            return;
        }
        let since = self.since(&name, line, &constant.attrs);
        let ty = c_type(&constant.ty, &self.values).spelled();
        self.push(name, line, since, Kind::Constant(ty, value));
    }

    fn item(&mut self, item: &syn::Item) {
        match item {
            syn::Item::Struct(item) => self.structure(item),
            syn::Item::Impl(item) => self.constants_of(item),
            syn::Item::Enum(item) => {
                let text = "an enum cannot cross the boundary, use a transparent integer with \
                            constants";
                self.problem(line_of(&item.ident), format!("{}: {text}", item.ident));
            }
            syn::Item::Type(alias) => self.callback(alias),
            _ => {}
        }
    }

    fn structure(&mut self, item: &syn::ItemStruct) {
        let name = item.ident.to_string();
        let line = line_of(&item.ident);
        let since = self.since(&name, line, &item.attrs);
        let kind = match &item.fields {
            syn::Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                Kind::Number(c_type(&fields.unnamed[0].ty, &self.values))
            }
            fields if fields.iter().any(|f| f.ident.as_ref().is_some_and(|n| n == "_opaque")) => {
                self.abi.handles.insert(name.clone());
                Kind::Handle
            }
            fields => {
                if fields
                    .iter()
                    .next()
                    .and_then(|f| f.ident.as_ref())
                    .is_some_and(|n| n == "struct_size")
                {
                    self.abi.sized.insert(name.clone());
                }
                Kind::Struct(self.fields(&name, since.unwrap_or(FIRST), fields))
            }
        };
        self.push(name, line, since, kind);
    }

    fn fields(&mut self, name: &str, since: Version, fields: &syn::Fields) -> Vec<Field> {
        let mut read = Vec::new();
        for field in fields {
            let line = line_of(field);
            if name_of(&field.ty) == "bool" {
                let text = format!("{name}: a bool cannot cross the boundary, use u32");
                self.problem(line, text);
            }
            let field_name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
            let own = self.since(&format!("{name}.{field_name}"), line, &field.attrs);
            let ty = c_type(&field.ty, &self.values);
            read.push(Field { name: field_name, line, ty, since: own.unwrap_or(since) });
        }
        read
    }

    /// The constants of a number: in C their names begin with the type's.
    fn constants_of(&mut self, item: &syn::ItemImpl) {
        let ty = name_of(&item.self_ty);
        for inner in &item.items {
            let syn::ImplItem::Const(constant) = inner else { continue };
            let name = format!("{}_{}", ty.to_uppercase(), constant.ident);
            let line = line_of(&constant.ident);
            let Some(value) = value_of(&constant.expr, &self.values) else {
                self.problem(line, format!("{name}: its value is no plain number"));
                continue;
            };
            let since = self.since(&name, line, &constant.attrs).or_else(|| self.abi.since(&ty));
            self.push(name, line, since, Kind::Constant(ty.clone(), value));
        }
    }

    fn callback(&mut self, alias: &syn::ItemType) {
        let name = alias.ident.to_string();
        let line = line_of(&alias.ident);
        let Some(callback) = bare_fn(&alias.ty) else { return };
        if callback.inputs.iter().any(|input| input.name.is_none()) {
            self.problem(line, format!("{name}: a parameter has no name"));
        }
        let inputs = callback.inputs.iter().map(|input| &input.ty);
        let signature = signature(inputs, &callback.output, &self.values);
        let since = self.since(&name, line, &alias.attrs);
        self.push(name, line, since, Kind::Callback(signature));
    }

    fn foreign(&mut self, item: &syn::ForeignItem) {
        let syn::ForeignItem::Fn(function) = item else {
            let text =
                "only plain `pub fn` reach the header; `pub safe fn`, statics and macros do not";
            return self.problem(line_of(item), text.to_owned());
        };
        let name = function.sig.ident.to_string();
        let line = line_of(&function.sig);
        let mut texts = Vec::new();
        let mut comment = parse_comment(&doc_lines(&function.attrs), &mut texts);
        let callbacks: HashSet<String> = self.callbacks().collect();
        let mut params = read_params(&function.sig, &comment, &callbacks, &mut texts);
        let around = Around {
            function: &name,
            params: params.iter().map(|param| param.name.clone()).collect(),
            handles: &self.abi.handles,
            sized: &self.abi.sized,
        };
        for param in &mut params {
            let default = || default_tags(&param.name, &param.ty, &around);
            param.tags = completed(param.tags.take(), &param.ty, default);
        }
        let result = match &function.sig.output {
            syn::ReturnType::Default => Type::Void,
            syn::ReturnType::Type(_, ty) => classify(ty, &callbacks, &mut texts),
        };
        let default = || default_result(&result, &self.abi.handles);
        comment.result = completed(comment.result.take(), &result, default);
        comment.threads.get_or_insert_with(|| default_threads(&params));
        let inputs = function.sig.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(input) => Some(&*input.ty),
            syn::FnArg::Receiver(_) => None,
        });
        let signature = signature(inputs, &function.sig.output, &self.values);
        let must_use = function.attrs.iter().any(|attr| attr.path().is_ident("must_use"));
        for text in texts {
            self.problem(line, format!("{name}: {text}"));
        }
        let function = Function { name, line, must_use, params, result, signature, comment };
        self.abi.functions.push(function);
    }

    fn callbacks(&self) -> impl Iterator<Item = String> {
        let callbacks = self.abi.items.iter().filter(|i| matches!(i.kind, Kind::Callback(_)));
        callbacks.map(|item| item.name.clone())
    }
}

/// The tags of a comment, or the default ones where it has none. A pointer that has other tags stays
/// with the side that had it, unless a tag says that it does not.
fn completed(tags: Option<Tags>, ty: &Type, default: impl Fn() -> Option<Tags>) -> Option<Tags> {
    match tags {
        Some(tags) if !tags.is_empty() => {
            let stays = ty.pointee().map(|_| Transfer::None);
            Some(Tags { transfer: tags.transfer.or(stays), ..tags })
        }
        tags => default().or(tags),
    }
}

fn read_params(
    signature: &syn::Signature,
    comment: &Comment,
    callbacks: &HashSet<String>,
    texts: &mut Vec<String>,
) -> Vec<Param> {
    let mut params = Vec::new();
    for input in &signature.inputs {
        let syn::FnArg::Typed(input) = input else { continue };
        let syn::Pat::Ident(pattern) = &*input.pat else {
            texts.push("a parameter has no name".to_owned());
            continue;
        };
        let param = pattern.ident.to_string();
        let ty = classify(&input.ty, callbacks, texts);
        let tags = comment.params.iter().find(|(known, _)| *known == param);
        params.push(Param { tags: tags.map(|(_, tags)| tags.clone()), name: param, ty });
    }
    params
}

fn classify(ty: &syn::Type, callbacks: &HashSet<String>, texts: &mut Vec<String>) -> Type {
    match ty {
        syn::Type::Ptr(pointer) if pointer.mutability.is_some() => {
            if let syn::Type::Ptr(inner) = &*pointer.elem {
                return Type::HandlePointer(name_of(&inner.elem));
            }
            Type::MutPointer(name_of(&pointer.elem))
        }
        syn::Type::Ptr(pointer) => match &*pointer.elem {
            // An array of pointers, which is read as an array of their pointees.
            syn::Type::Ptr(inner) => Type::ConstPointer(name_of(&inner.elem)),
            pointee => Type::ConstPointer(name_of(pointee)),
        },
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

/// The last word of a path; empty for a type that is no path.
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

fn line_of(item: &impl Spanned) -> usize {
    item.span().start().line
}
