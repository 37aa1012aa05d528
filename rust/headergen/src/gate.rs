//! A program that asks for an older minor version sees no newer name: each declaration that is not
//! of the first version stands in `#if TNR_WANT_MINOR >= N`.

use std::collections::HashSet;

use crate::abi::{Abi, Problem};
use crate::tags::{FIRST, Version};
use crate::types::Kind;

/// What the header says right behind its own version.
const WANT: &str = "\
/**
 * Minor version of the ABI that the program is written for: names that are newer are not declared,
 * and structs that grow have the size that they had. Define it before the first include; otherwise
 * it is that of this header.
 */
#if !defined(TNR_WANT_MINOR)
#define TNR_WANT_MINOR MINOR
#endif
#if TNR_WANT_MINOR < OLDEST || TNR_WANT_MINOR > MINOR
#error \"TNR_WANT_MINOR must be OLDEST to MINOR: this tenure.h is of ABI MAJOR.MINOR\"
#endif
";

/// The header with its gates. Says which names of the source are not in it, or twice.
pub fn gate(header: &str, abi: &Abi) -> (String, Vec<Problem>) {
    let mut text = String::new();
    let mut seen = HashSet::new();
    let mut problems = Vec::new();
    let mut open = FIRST;
    for chunk in chunks(header) {
        let name = declared(chunk).filter(|name| abi.since(name).is_some());
        let since = name.and_then(|name| abi.since(name)).unwrap_or(FIRST);
        if since != open {
            close(&mut text, open);
            if since > FIRST {
                text.push_str(&format!("#if TNR_WANT_MINOR >= {}\n", since.1));
            }
            open = since;
        }
        let Some(name) = name else {
            text.push_str(chunk);
            continue;
        };
        text.push_str(&with_gated_fields(chunk, name, abi));
        if !seen.insert(name) {
            problems.push(Problem { line: 1, text: format!("{name}: the header has it twice") });
        }
        if name == "TNR_ABI_MINOR" {
            text.push_str(&wanted(abi.version));
        }
    }
    close(&mut text, open);
    let names = abi.items.iter().map(|item| (&item.name, item.line));
    let names = names.chain(abi.functions.iter().map(|f| (&f.name, f.line)));
    for (name, line) in names.filter(|(name, _)| !seen.contains(name.as_str())) {
        problems.push(Problem { line, text: format!("{name}: cbindgen dropped it") });
    }
    (text, problems)
}

fn wanted(version: Version) -> String {
    let (major, minor) = (version.0.to_string(), version.1.to_string());
    let text = WANT.replace("MAJOR.MINOR", &format!("{major}.{minor}"));
    let text = text.replace("OLDEST", &FIRST.1.to_string());
    // Not the end of TNR_WANT_MINOR.
    text.replace(" MINOR", &format!(" {minor}")) + "\n"
}

/// The end of a gate stands right behind what it closes, not behind the empty line that follows.
fn close(text: &mut String, open: Version) {
    if open == FIRST {
        return;
    }
    let empty_line = text.ends_with("\n\n");
    text.truncate(text.trim_end().len());
    text.push_str(if empty_line { "\n#endif\n\n" } else { "\n#endif\n" });
}

/// The header in pieces, each of which declares one name or none: a declaration starts with its
/// comment, and what is about C++ stands by itself.
fn chunks(header: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let mut offset = 0;
    let mut follows_directive = false;
    for line in header.split_inclusive('\n') {
        let directive = line.starts_with("#if") || line.starts_with("#endif");
        if line.starts_with("/**") || (directive && !follows_directive) {
            starts.push(offset);
        }
        follows_directive = directive;
        offset += line.len();
    }
    starts.push(header.len());
    starts.windows(2).map(|pair| &header[pair[0]..pair[1]]).collect()
}

/// The name that a piece of the header declares.
fn declared(chunk: &str) -> Option<&str> {
    let code = chunk.rsplit_once("*/\n").map_or(chunk, |(_, code)| code).trim_start();
    let whole = chunk.split_once("*/\n").map_or(chunk, |(_, code)| code).trim_start();
    if let Some(rest) = code.strip_prefix("#define ") {
        return rest.split_whitespace().next();
    }
    if let Some(typedef) = whole.strip_prefix("typedef ") {
        let end = typedef.trim_end().trim_end_matches(';');
        if end.ends_with(')') {
            return end.split_once("(*")?.1.split(')').next();
        }
        return end.rsplit(|c: char| !is_word(c)).next();
    }
    // Of a function's macros none is in small letters.
    code.match_indices('(').find_map(|(at, _)| {
        let name = code[..at].rsplit(|c: char| !is_word(c)).next()?;
        name.starts_with("tnr_").then_some(name)
    })
}

/// A struct whose newer fields are seen by those who ask for them.
fn with_gated_fields(chunk: &str, name: &str, abi: &Abi) -> String {
    let Some(item) = abi.items.iter().find(|item| item.name == name) else {
        return chunk.to_owned();
    };
    let Kind::Struct(fields) = &item.kind else { return chunk.to_owned() };
    let mut text = String::new();
    let mut open = item.since;
    // The comment of a field, until the field itself tells how old it is.
    let mut pending = String::new();
    for line in chunk.split_inclusive('\n') {
        let inside = line.starts_with("  ");
        pending.push_str(line);
        let field = line.trim_end().trim_end_matches(';').split('[').next().unwrap_or_default();
        let field = field.rsplit(|c: char| !is_word(c)).next();
        let declares = inside && line.trim_end().ends_with(';') && !line.starts_with("   *");
        let since = fields.iter().find(|f| declares && Some(f.name.as_str()) == field);
        let since = since.map(|field| field.since);
        let ends = line.starts_with('}');
        let Some(since) = since.or(ends.then_some(item.since)) else {
            if !inside {
                text.push_str(&std::mem::take(&mut pending));
            }
            continue;
        };
        if since != open {
            text.push_str(if open == item.since { "" } else { "#endif\n" });
            if since != item.since {
                text.push_str(&format!("#if TNR_WANT_MINOR >= {}\n", since.1));
            }
            open = since;
        }
        text.push_str(&std::mem::take(&mut pending));
    }
    text + &pending
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests;
