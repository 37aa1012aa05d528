//! The tags that end a doc comment: the ownership of each pointer, said to machines.
//!
//! ```text
//! @param NAME (tag)... prose      the tags come first
//! @return (tag)... prose
//! @threads any | exclusive(NAME)
//! @since MAJOR.MINOR             on additions after the first version
//!
//! (transfer none)        the other side keeps it; the default where a tag is given
//! (transfer full)        whoever gets it must give it back
//! (nullable)             NULL may be passed or returned, whatever else is
//! (lifetimebound)        the result is good only while this memory is
//! (counted-by NAME)      points at NAME elements (bytes for void); may be NULL when NAME is 0
//! (out)                  written, never read
//! (inout)                read, then written
//! (scope call|notified)  a callback runs during the call, or once, later
//! ```

//! Where the comment gives no tag, the type and the name do (`default_tags`, `default_threads`).

use std::collections::HashSet;

use crate::abi::{Param, Type};

/// `(MAJOR, MINOR)` of the ABI.
pub type Version = (u32, u32);

/// The version of items without `@since`: types and constants that were there from the start.
pub const FIRST: Version = (0, 1);

/// The side that has to give the pointer back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// The side that had it before the call.
    None,
    /// The side that gets it.
    Full,
}

/// When a callback runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Only before the call returns.
    Call,
    /// Once, at some later time.
    Notified,
}

/// The tags of one parameter or result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    pub transfer: Option<Transfer>,
    pub nullable: bool,
    pub lifetimebound: bool,
    pub counted_by: Option<String>,
    pub out: bool,
    pub inout: bool,
    pub scope: Option<Scope>,
}

impl Tags {
    /// Whether nothing was tagged, so that a number can have a `@param` line of plain prose.
    pub fn is_empty(&self) -> bool {
        *self == Tags::default()
    }
}

/// The function of a parameter, as far as default tags depend on it.
pub struct Around<'a> {
    pub function: &'a str,
    /// The names of all parameters.
    pub params: Vec<String>,
    pub handles: &'a HashSet<String>,
    /// The structs that begin with `struct_size`.
    pub sized: &'a HashSet<String>,
}

/// The tags of a parameter whose comment has none, where its type and its name decide them: a
/// context and attributes may be NULL, a number or a struct is written, a release takes its handle,
/// an import its tensor, and an array has the count that is named after it.
pub fn default_tags(name: &str, ty: &Type, around: &Around) -> Option<Tags> {
    let none = Tags { transfer: Some(Transfer::None), ..Tags::default() };
    match ty {
        Type::ConstPointer(pointee) if pointee != "c_void" => Some(Tags {
            nullable: ["attributes", "strides"].contains(&name),
            counted_by: count_of(name, &around.params),
            ..none
        }),
        // Constant memory is read during the call.
        Type::ConstPointer(_) if around.params.iter().any(|param| param == "size_bytes") => {
            Some(Tags { counted_by: Some("size_bytes".to_owned()), ..none })
        }
        Type::HandlePointer(_) => {
            Some(Tags { transfer: Some(Transfer::Full), out: true, ..Tags::default() })
        }
        Type::MutPointer(pointee) if around.handles.contains(pointee) => {
            let is_release = around.function == format!("{pointee}_release");
            let is_taken = is_release || name == "tensor";
            let transfer = if is_taken { Transfer::Full } else { Transfer::None };
            let nullable = is_release || (pointee == "tnr_context" && name == "context");
            Some(Tags { transfer: Some(transfer), nullable, ..Tags::default() })
        }
        Type::MutPointer(pointee) if pointee != "c_void" => {
            let inout = around.sized.contains(pointee);
            Some(Tags { out: !inout, inout, ..none })
        }
        Type::MutPointer(_) if name == "release_context" => {
            Some(Tags { transfer: Some(Transfer::Full), nullable: true, ..Tags::default() })
        }
        Type::Callback(_) if name == "release" => {
            Some(Tags { scope: Some(Scope::Notified), nullable: true, ..Tags::default() })
        }
        _ => None,
    }
}

/// The parameter that counts the elements of an array: `rank` of shapes, strides and axes, and
/// `part_count` of `parts`.
fn count_of(name: &str, params: &[String]) -> Option<String> {
    let count = match name {
        "shape" | "strides" | "axes" => "rank".to_owned(),
        _ => format!("{}_count", name.strip_suffix('s')?),
    };
    params.contains(&count).then_some(count)
}

/// The tags of a returned pointer whose comment has none: a new handle, or NULL on failure; else
/// memory of the library.
pub fn default_result(ty: &Type, handles: &HashSet<String>) -> Option<Tags> {
    let pointee = ty.pointee()?;
    let is_handle = handles.contains(pointee) && matches!(ty, Type::MutPointer(_));
    let transfer = if is_handle { Transfer::Full } else { Transfer::None };
    Some(Tags { transfer: Some(transfer), nullable: is_handle, ..Tags::default() })
}

/// The threads of a function whose comment does not name them: no other call may use the memory of
/// `out`, or the graph, at the same time.
pub fn default_threads(params: &[Param]) -> Threads {
    let exclusive = params.iter().find(|param| match param.ty.pointee() {
        Some("tnr_view_mut") => param.name == "out",
        Some("tnr_graph") => param.name == "graph",
        _ => false,
    });
    exclusive.map_or(Threads::Any, |param| Threads::Exclusive(param.name.clone()))
}

/// In which threads a function may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Any thread, also at the same time as any other call.
    Any,
    /// Nobody else may use the bytes of this parameter during the call.
    Exclusive(String),
}

/// The `@` lines of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comment {
    pub params: Vec<(String, Tags)>,
    pub result: Option<Tags>,
    pub threads: Option<Threads>,
    pub since: Option<Version>,
    pub has_prose: bool,
}

/// Parses the lines of a doc comment. Lines that do not follow the grammar go to `problems`.
pub fn parse_comment(lines: &[String], problems: &mut Vec<String>) -> Comment {
    let mut comment = Comment::default();
    let mut in_entry = false;
    for line in lines.iter().map(|line| line.trim()) {
        if let Some(entry) = line.strip_prefix('@') {
            in_entry = true;
            let (word, rest) = split_word(entry);
            parse_entry(word, rest, &mut comment, problems);
        } else if in_entry {
            reject_late_tags(line, problems);
        } else {
            comment.has_prose |= !line.is_empty();
        }
    }
    comment
}

fn parse_entry(word: &str, rest: &str, comment: &mut Comment, problems: &mut Vec<String>) {
    match word {
        "param" => {
            let (name, rest) = split_word(rest);
            if comment.params.iter().any(|(known, _)| known == name) {
                problems.push(format!("`@param {name}` stands twice"));
            }
            comment.params.push((name.to_owned(), parse_tags(rest, problems)));
        }
        "return" => {
            if comment.result.replace(parse_tags(rest, problems)).is_some() {
                problems.push("`@return` stands twice".to_owned());
            }
        }
        "threads" => match parse_threads(rest) {
            Some(threads) => comment.threads = Some(threads),
            None => problems.push(format!("`@threads {rest}` is neither any nor exclusive(name)")),
        },
        "since" => match parse_version(rest) {
            Some(version) => comment.since = Some(version),
            None => problems.push(format!("`@since {rest}` is no MAJOR.MINOR")),
        },
        _ => problems.push(format!("unknown entry `@{word}`")),
    }
}

fn parse_tags(text: &str, problems: &mut Vec<String>) -> Tags {
    let mut tags = Tags::default();
    let mut rest = text.trim_start();
    while let Some((inside, after)) = rest.strip_prefix('(').and_then(|open| open.split_once(')')) {
        if let Err(problem) = apply_tag(inside, &mut tags) {
            problems.push(problem);
        }
        rest = after.trim_start();
    }
    reject_late_tags(rest, problems);
    tags
}

fn apply_tag(inside: &str, tags: &mut Tags) -> Result<(), String> {
    let twice = match split_word(inside) {
        ("transfer", "none") => tags.transfer.replace(Transfer::None).is_some(),
        ("transfer", "full") => tags.transfer.replace(Transfer::Full).is_some(),
        ("nullable", "") => std::mem::replace(&mut tags.nullable, true),
        ("lifetimebound", "") => std::mem::replace(&mut tags.lifetimebound, true),
        ("counted-by", name) if !name.is_empty() => {
            tags.counted_by.replace(name.to_owned()).is_some()
        }
        ("out", "") => std::mem::replace(&mut tags.out, true),
        ("inout", "") => std::mem::replace(&mut tags.inout, true),
        ("scope", "call") => tags.scope.replace(Scope::Call).is_some(),
        ("scope", "notified") => tags.scope.replace(Scope::Notified).is_some(),
        _ => return Err(format!("unknown tag `({inside})`")),
    };
    if twice { Err(format!("tag `({inside})` contradicts or repeats another")) } else { Ok(()) }
}

/// Refuses a tag after prose, which only people would read.
fn reject_late_tags(prose: &str, problems: &mut Vec<String>) {
    for inside in prose.split('(').skip(1).filter_map(|open| open.split_once(')')) {
        if apply_tag(inside.0, &mut Tags::default()).is_ok() {
            problems
                .push(format!("tag `({})` stands behind prose, where nothing reads it", inside.0));
        }
    }
}

fn parse_threads(text: &str) -> Option<Threads> {
    if text == "any" {
        return Some(Threads::Any);
    }
    let name = text.strip_prefix("exclusive(")?.strip_suffix(')')?;
    Some(Threads::Exclusive(name.to_owned()))
}

pub fn parse_version(text: &str) -> Option<Version> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (text, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Comment, Vec<String>) {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut problems = Vec::new();
        let comment = parse_comment(&lines, &mut problems);
        (comment, problems)
    }

    #[test]
    fn reads_every_tag() {
        let (comment, problems) = parse(
            "Prose.\n\n@param a (transfer full) (nullable) (lifetimebound) (counted-by n) words\n\
             @param b (transfer none) (out)\n@param c (inout)\n\
             @param d (scope notified) and\nmore\n\
             @return (transfer none) words\n@threads exclusive(a)\n@since 1.20",
        );
        assert_eq!(problems, Vec::<String>::new());
        assert!(comment.has_prose);
        let a = Tags {
            transfer: Some(Transfer::Full),
            nullable: true,
            lifetimebound: true,
            counted_by: Some("n".to_owned()),
            ..Tags::default()
        };
        assert_eq!(comment.params[0], ("a".to_owned(), a));
        assert!(comment.params[1].1.out && comment.params[2].1.inout);
        assert_eq!(comment.params[3].1.scope, Some(Scope::Notified));
        assert_eq!(comment.result.unwrap().transfer, Some(Transfer::None));
        assert_eq!(comment.threads, Some(Threads::Exclusive("a".to_owned())));
        assert_eq!(comment.since, Some((1, 20)));
    }

    #[test]
    fn types_and_names_decide_where_no_tag_does() {
        let handles = HashSet::from(["tnr_blob".to_owned()]);
        let sized = HashSet::from(["tnr_info".to_owned()]);
        let params = ["parts", "part_count", "rank", "size_bytes"].map(str::to_owned).to_vec();
        let around =
            Around { function: "tnr_blob_release", params, handles: &handles, sized: &sized };
        let tags = |name: &str, ty: Type| default_tags(name, &ty, &around);
        let read = |ty: &str| Type::ConstPointer(ty.to_owned());
        let written = |ty: &str| Type::MutPointer(ty.to_owned());
        let counted = |name: &str| {
            let ty = if name == "base" { "c_void" } else { "i64" };
            tags(name, read(ty)).and_then(|tags| tags.counted_by)
        };
        assert_eq!(counted("parts").as_deref(), Some("part_count"));
        assert_eq!(counted("shape").as_deref(), Some("rank"));
        assert_eq!(counted("base").as_deref(), Some("size_bytes"));
        assert_eq!(counted("inputs"), None);
        let is_nullable = |name: &str, ty: Type| tags(name, ty).is_some_and(|tags| tags.nullable);
        assert!(is_nullable("strides", read("i64")) && !is_nullable("shape", read("i64")));
        assert!(is_nullable("blob", written("tnr_blob")));
        assert!(is_nullable("release_context", written("c_void")));
        assert!(tags("value", written("u32")).is_some_and(|tags| tags.out && !tags.inout));
        assert!(tags("out", written("tnr_info")).is_some_and(|tags| tags.inout && !tags.out));
        let release = tags("release", Type::Callback("tnr_release_fn".to_owned()));
        assert_eq!(release.and_then(|tags| tags.scope), Some(Scope::Notified));
        assert_eq!(tags("data", written("c_void")), None);
    }

    #[test]
    fn names_what_is_outside_the_grammar() {
        for (text, expected) in [
            ("@param a (transfer some)", "unknown tag `(transfer some)`"),
            ("@param a (owned)", "unknown tag `(owned)`"),
            ("@param a (counted-by)", "unknown tag `(counted-by)`"),
            ("@param a (out) (out)", "tag `(out)` contradicts or repeats another"),
            ("@param a (transfer none) (transfer full)", "contradicts or repeats"),
            ("@param a words (nullable)", "stands behind prose"),
            ("@param a words\nmore (transfer full)", "stands behind prose"),
            ("@param a\n@param a", "`@param a` stands twice"),
            ("@return x\n@return y", "`@return` stands twice"),
            ("@returns x", "unknown entry `@returns`"),
            ("@threads none", "neither any nor exclusive(name)"),
            ("@since 1", "no MAJOR.MINOR"),
        ] {
            let (_, problems) = parse(text);
            assert_eq!(problems.len(), 1, "{text}: {problems:?}");
            assert!(problems[0].contains(expected), "{text}: {problems:?}");
        }
    }
}
