//! Structs, as far as a tree needs them.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// A struct with named fields.
pub(crate) struct Struct {
    pub(crate) name: String,
    /// Its parameters in their order; `None` for that of the leaves.
    arguments: Vec<Option<String>>,
    /// The bounds of the leaves, for `__L`.
    pub(crate) bounds: String,
    /// Const parameters, as an `impl` declares them.
    pub(crate) consts: String,
    pub(crate) fields: Vec<Field>,
}

/// A field, and its type.
pub(crate) struct Field {
    pub(crate) name: String,
    leaves: String,
    of: TokenStream,
}

impl Struct {
    /// The struct with other leaves.
    pub(crate) fn with(&self, leaves: &str) -> String {
        let argument = |argument: &Option<String>| argument.clone().unwrap_or(leaves.to_owned());
        let arguments: Vec<_> = self.arguments.iter().map(argument).collect();
        format!("{}<{}>", self.name, arguments.join(", "))
    }

    pub(crate) fn parse(item: TokenStream) -> Result<Struct, String> {
        let mut tokens = item.into_iter().peekable();
        let is_struct = |token: &TokenTree| token.to_string() == "struct";
        tokens
            .by_ref()
            .find(is_struct)
            .ok_or("a tree is a struct with named fields, not an enum or a union")?;
        let name = tokens.next().map(|name| name.to_string()).unwrap_or_default();
        let (mut parameters, mut depth) = (Vec::new(), 0);
        for token in tokens.by_ref() {
            match &token {
                TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
                TokenTree::Punct(punct) if punct.as_char() == '>' => depth -= 1,
                TokenTree::Group(group) if depth == 0 => {
                    if group.delimiter() != Delimiter::Brace {
                        return Err("the fields of a tree have names".to_owned());
                    }
                    return Struct::of(name, parameters, group);
                }
                _ if depth == 0 => {
                    return Err(
                        "a tree has no `where` clause: write bounds at the parameter".into()
                    );
                }
                _ => {}
            }
            parameters.push(token);
        }
        Err("a tree has at least one field".to_owned())
    }

    /// `parameters` are in angle brackets.
    fn of(name: String, parameters: Vec<TokenTree>, fields: &Group) -> Result<Struct, String> {
        let inner = parameters.len().max(2) - 1;
        let parameters = parameters.get(1..inner).unwrap_or_default();
        let (mut arguments, mut consts, mut leaves) = (Vec::new(), String::new(), None);
        let mut bounds = String::new();
        for parameter in split(parameters.iter().cloned()) {
            let is_default = |token: &TokenTree| token.to_string() == "=";
            let end = parameter.iter().position(is_default).unwrap_or(parameter.len());
            let parameter = &parameter[..end];
            let word = |nth: usize| parameter.get(nth).map(ToString::to_string).unwrap_or_default();
            if word(0) == "const" {
                arguments.push(Some(word(1)));
                consts += &format!("{},", text_of(parameter));
            } else if word(0) != "'" && leaves.is_none() {
                arguments.push(None);
                leaves = Some(word(0));
                let given = parameter.get(2..).unwrap_or_default();
                replace(&mut bounds, given.iter().cloned().collect(), &word(0), "__L");
            } else {
                return Err("a tree has one type parameter, and const parameters".to_owned());
            }
        }
        let leaves = leaves.ok_or("a tree has a type parameter: `L: Leaves`")?;
        let fields = split(fields.stream()).into_iter().map(|field| Field::of(&leaves, field));
        Ok(Struct { name, arguments, bounds, consts, fields: fields.collect::<Result<_, _>>()? })
    }
}

impl Field {
    /// Attributes, visibility, name, colon and type.
    fn of(leaves: &str, tokens: Vec<TokenTree>) -> Result<Field, String> {
        let is_colon =
            |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ':');
        // Attributes and `pub(in path)` have theirs in groups.
        let colon = tokens.iter().position(is_colon).filter(|colon| *colon > 0);
        let colon = colon.ok_or("the fields of a tree have names")?;
        let of = tokens[colon + 1..].iter().cloned().collect();
        Ok(Field { name: tokens[colon - 1].to_string(), leaves: leaves.to_owned(), of })
    }

    /// The type with other leaves.
    pub(crate) fn with(&self, leaves: &str) -> String {
        let mut text = String::new();
        replace(&mut text, self.of.clone(), &self.leaves, leaves);
        text
    }
}

/// At commas that are not in brackets of any kind.
fn split(tokens: impl IntoIterator<Item = TokenTree>) -> Vec<Vec<TokenTree>> {
    let (mut parts, mut part, mut depth) = (Vec::new(), Vec::new(), 0);
    let mut before = ' ';
    for token in tokens {
        let punct = match &token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match punct {
            '<' => depth += 1,
            // Not that of an arrow.
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        before = punct;
        match punct {
            ',' if depth == 0 => parts.push(std::mem::take(&mut part)),
            _ => part.push(token),
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

fn text_of(tokens: &[TokenTree]) -> String {
    tokens.iter().cloned().collect::<TokenStream>().to_string()
}

/// Writes a type with `leaves` for the parameter `name`.
fn replace(text: &mut String, tokens: TokenStream, name: &str, leaves: &str) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                replace(text, group.stream(), name, leaves);
                text.push_str(close);
            }
            TokenTree::Ident(ident) if ident.to_string() == name => {
                // `L::Of<T>` is an associated type of the parameter.
                let is_path =
                    matches!(tokens.peek(), Some(TokenTree::Punct(p)) if p.as_char() == ':');
                match is_path {
                    true => *text += &format!("<{leaves} as ::tenure::Leaves>"),
                    false => *text += leaves,
                }
                text.push(' ');
            }
            TokenTree::Punct(punct) => text.push(punct.as_char()),
            token => *text += &format!("{token} "),
        }
    }
}
