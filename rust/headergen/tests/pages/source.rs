//! The names that the source declares.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{ImplItem, Item, TraitItem, Type, UseTree};

/// The files below a folder with one of these endings, except those that are built or frozen.
pub fn files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    const LEFT_OUT: [&str; 4] = ["build", "target", "frozen", "corpus"];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap();
        if path.is_dir() && !name.starts_with('.') && !LEFT_OUT.contains(&name) {
            files(&path, endings, found);
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
}

/// The identifiers of a text.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let in_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.split(move |letter| !in_word(letter)).filter(|word| !word.is_empty())
}

#[derive(Default)]
pub struct Source {
    /// Members of types, traits and modules of Rust.
    members: HashMap<String, HashSet<String>>,
    /// Other types and modules that have the members of one: by another name, or through a glob.
    others: HashMap<String, Vec<String>>,
    /// Whether the file is a test: names that it imports are no members of its module.
    is_test: bool,
    functions: HashSet<String>,
    methods: HashSet<String>,
    /// Functions in the bodies of macros, with a receiver or without.
    in_macros: HashSet<String>,
    /// Identifiers that macros are given: names of functions and types that they declare.
    arguments: HashSet<String>,
    /// Identifiers of files of every kind, and the names of the files.
    words: HashSet<String>,
    /// Identifiers of C and C++, those of the public headers, and those that a parenthesis follows.
    cpp: HashSet<String>,
    cpp_header: HashSet<String>,
    cpp_functions: HashSet<String>,
}

impl Source {
    pub fn read(root: &Path) -> Source {
        let (mut source, mut paths) = (Source::default(), Vec::new());
        files(&root.join("rust"), &[".rs"], &mut paths);
        for path in &paths {
            // Programs that must not compile are no source.
            let Ok(file) = syn::parse_file(&fs::read_to_string(path).unwrap()) else { continue };
            source.is_test = path.iter().any(|part| part == "tests");
            let folder = path.parent().unwrap();
            let module = match path.file_stem().unwrap().to_str().unwrap() {
                "lib" => folder.parent().unwrap().file_name().unwrap().to_str().unwrap(),
                stem => stem,
            };
            source.items(&module.replace('-', "_"), &file.items);
        }
        paths.clear();
        files(root, &[".rs", ".py", ".sh", ".cmake", ".txt", ".json", ".toml", "/x"], &mut paths);
        paths.iter().for_each(|path| source.words(path, &fs::read_to_string(path).unwrap()));
        paths.clear();
        files(root, &[".h", ".hpp", ".c", ".cpp", ".cu", ".cuh"], &mut paths);
        for path in &paths {
            let text = fs::read_to_string(path).unwrap();
            source.cpp(&text);
            if path.starts_with(root.join("capi/include")) {
                source.cpp_header.extend(words(&text).map(str::to_owned));
            }
            source.words(path, &text);
        }
        source
    }

    /// Whether a function is declared, or a method where it has a receiver.
    pub fn has_function(&self, name: &str, has_receiver: bool) -> bool {
        let is_free = self.functions.contains(name) || self.members.contains_key(name);
        // Macros are given names of methods too; functions with an output have no receiver.
        let is_given = self.arguments.contains(name) && !(has_receiver && name.ends_with("_into"));
        let found_in = [&self.methods, &self.in_macros, &self.cpp_functions];
        is_given || !has_receiver && is_free || found_in.iter().any(|names| names.contains(name))
    }

    /// Whether a type, trait or module has the member; `None` where there is no such owner.
    pub fn has_member(&self, owner: &str, member: &str) -> Option<bool> {
        const MOST_OTHERS: usize = 4; // each through the one before: globs may lead in circles
        let has_both =
            |names: &HashSet<String>| names.contains(owner).then(|| names.contains(member));
        match self.has_member_through(MOST_OTHERS, owner, member) {
            None => has_both(&self.cpp),
            Some(in_rust) => Some(in_rust || has_both(&self.cpp_header) == Some(true)),
        }
    }

    fn has_member_through(&self, left: usize, owner: &str, member: &str) -> Option<bool> {
        let left = left.checked_sub(1)?;
        let in_rust = self.members.get(owner).map(|members| {
            // Macros declare functions in a module, and constants and functions of a type.
            let is_given = matches!(owner, "ops" | "nn")
                || member.chars().all(|letter| !letter.is_lowercase());
            members.contains(member)
                || self.in_macros.contains(member)
                || is_given && self.arguments.contains(member)
        });
        let others = self.others.get(owner).into_iter().flatten();
        let in_others = others.map(|other| self.has_member_through(left, other, member));
        in_others.chain([in_rust]).flatten().reduce(|a, b| a || b)
    }

    /// Whether the identifier is in a file or is its name; whether one ends in it, of an ending.
    pub fn has_word(&self, word: &str) -> bool {
        self.words.contains(word)
            || word.starts_with('_') && self.words.iter().any(|known| known.ends_with(word))
    }

    fn declare(&mut self, owner: &str, member: &Ident) {
        self.members.entry(owner.to_owned()).or_default().insert(member.to_string());
    }

    fn function(&mut self, owner: &str, signature: &syn::Signature) {
        self.declare(owner, &signature.ident);
        let has_receiver = signature.receiver().is_some();
        let kind = if has_receiver { &mut self.methods } else { &mut self.functions };
        kind.insert(signature.ident.to_string());
    }

    fn items(&mut self, module: &str, items: &[Item]) {
        items.iter().for_each(|item| self.item(module, item));
    }

    fn item(&mut self, module: &str, item: &Item) {
        match item {
            Item::Fn(item) => self.function(module, &item.sig),
            Item::Const(item) => self.declare(module, &item.ident),
            Item::Static(item) => self.declare(module, &item.ident),
            Item::Struct(item) => {
                self.declare(module, &item.ident);
                let fields = item.fields.iter().filter_map(|field| field.ident.as_ref());
                self.owner(&item.ident, fields);
            }
            Item::Enum(item) => {
                self.declare(module, &item.ident);
                self.owner(&item.ident, item.variants.iter().map(|variant| &variant.ident));
            }
            Item::Trait(item) => {
                self.declare(module, &item.ident);
                self.owner(&item.ident, []);
                let owner = item.ident.to_string();
                for item in &item.items {
                    match item {
                        TraitItem::Fn(item) => self.function(&owner, &item.sig),
                        TraitItem::Const(item) => self.declare(&owner, &item.ident),
                        TraitItem::Type(item) => self.declare(&owner, &item.ident),
                        _ => {}
                    }
                }
            }
            Item::Impl(item) => {
                let Some(owner) = last_of(&item.self_ty) else { return };
                for item in &item.items {
                    match item {
                        ImplItem::Fn(item) => self.function(&owner, &item.sig),
                        ImplItem::Const(item) => self.declare(&owner, &item.ident),
                        ImplItem::Type(item) => self.declare(&owner, &item.ident),
                        ImplItem::Macro(item) => self.macro_tokens(item.mac.tokens.clone()),
                        _ => {}
                    }
                }
            }
            Item::Type(item) => {
                self.declare(module, &item.ident);
                if let Some(target) = last_of(&item.ty) {
                    self.others.entry(item.ident.to_string()).or_default().push(target);
                }
            }
            Item::Mod(item) => {
                self.declare(module, &item.ident);
                self.owner(&item.ident, []);
                let inner = item.content.as_ref().map_or(&[][..], |(_, items)| items);
                self.items(&item.ident.to_string(), inner);
            }
            Item::Macro(item) => {
                if let Some(name) = &item.ident {
                    self.declare(module, name);
                    self.functions.insert(name.to_string());
                }
                self.macro_tokens(item.mac.tokens.clone());
            }
            Item::Use(item) => self.used(module, &item.tree),
            Item::ForeignMod(item) => {
                for item in &item.items {
                    if let syn::ForeignItem::Fn(item) = item {
                        self.function(module, &item.sig);
                    }
                }
            }
            _ => {}
        }
    }

    fn owner<'a>(&mut self, owner: &Ident, members: impl IntoIterator<Item = &'a Ident>) {
        let members = members.into_iter().map(Ident::to_string);
        self.members.entry(owner.to_string()).or_default().extend(members);
    }

    fn used(&mut self, module: &str, tree: &UseTree) {
        match tree {
            UseTree::Path(path) if matches!(*path.tree, UseTree::Glob(_)) && !self.is_test => {
                self.others.entry(module.to_owned()).or_default().push(path.ident.to_string());
            }
            UseTree::Path(path) => self.used(module, &path.tree),
            UseTree::Name(name) => self.declare(module, &name.ident),
            UseTree::Rename(name) => {
                self.declare(module, &name.rename);
                let other = self.others.entry(name.rename.to_string()).or_default();
                other.push(name.ident.to_string());
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.used(module, tree)),
            UseTree::Glob(_) => {}
        }
    }

    fn macro_tokens(&mut self, tokens: TokenStream) {
        let mut is_function = false;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if is_function {
                        self.in_macros.insert(name.to_string());
                    }
                    self.arguments.insert(name.to_string());
                    is_function = name == "fn";
                }
                TokenTree::Group(group) => self.macro_tokens(group.stream()),
                _ => is_function = false,
            }
        }
    }

    fn words(&mut self, path: &Path, text: &str) {
        self.words.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
        code(text).for_each(|line| self.words.extend(words(line).map(str::to_owned)));
    }

    fn cpp(&mut self, text: &str) {
        for line in code(text) {
            self.cpp.extend(words(line).map(str::to_owned));
            for (at, _) in line.match_indices('(') {
                let name = words(&line[..at]).last().filter(|name| line[..at].ends_with(name));
                self.cpp_functions.extend(name.map(str::to_owned));
            }
        }
    }
}

/// Lines without the comments at their ends.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split("//").next().unwrap_or_default())
}

/// The last segment of a path to a type.
fn last_of(of: &Type) -> Option<String> {
    match of {
        Type::Path(of) => of.path.segments.last().map(|segment| segment.ident.to_string()),
        Type::Reference(of) => last_of(&of.elem),
        _ => None,
    }
}
