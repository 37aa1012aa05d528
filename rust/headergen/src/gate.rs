//! A program that asks for an older minor version sees no newer name: each declaration that is not
//! of the first version stands in `#if TNR_WANT_MINOR >= N`.

use std::collections::HashSet;

use crate::abi::{Abi, Problem};
use crate::pieces::{declared, is_word, pieces};
use crate::tags::{FIRST, Version};
use crate::types::Kind;

/// The header's text directly after its own version.
const WANT: &str = "\
/**
 * Minor version of the ABI that the program targets. The headers hide declarations that were added
 * later, and structs that grow keep the size that they had. Define it before the first include. The
 * default is the minor version of these headers.
 */
#if !defined(TNR_WANT_MINOR)
#define TNR_WANT_MINOR MINOR
#endif
#if TNR_WANT_MINOR < OLDEST || TNR_WANT_MINOR > MINOR
#error \"TNR_WANT_MINOR must be OLDEST to MINOR: this tenure.h is of ABI MAJOR.MINOR\"
#endif
";

/// The headers with their gates. Says which names of the source are in none of them, or twice.
pub fn gate(headers: &mut [(&str, String)], abi: &Abi) -> Vec<Problem> {
    let mut seen = HashSet::new();
    let mut problems = Vec::new();
    for (_, text) in headers {
        *text = gated(text, abi, &mut seen, &mut problems);
    }
    let names = abi.items.iter().map(|item| (&item.name, item.line));
    let names = names.chain(abi.functions.iter().map(|f| (&f.name, f.line)));
    for (name, line) in names.filter(|(name, _)| !seen.contains(*name)) {
        problems.push(Problem { line, text: format!("{name}: cbindgen dropped it") });
    }
    problems
}

fn gated(
    header: &str,
    abi: &Abi,
    seen: &mut HashSet<String>,
    problems: &mut Vec<Problem>,
) -> String {
    let mut text = String::new();
    let mut open = FIRST;
    for piece in pieces(header) {
        let name = declared(piece).filter(|name| abi.since(name).is_some());
        let since = name.and_then(|name| abi.since(name)).unwrap_or(FIRST);
        if since != open {
            close(&mut text, open);
            if since > FIRST {
                text.push_str(&format!("#if TNR_WANT_MINOR >= {}\n", since.1));
            }
            open = since;
        }
        let Some(name) = name else {
            text.push_str(piece);
            continue;
        };
        text.push_str(&with_gated_fields(piece, name, abi));
        if !seen.insert(name.to_owned()) {
            problems.push(Problem { line: 1, text: format!("{name}: the header has it twice") });
        }
        if name == "TNR_ABI_MINOR" {
            text.push_str(&wanted(abi.version));
        }
    }
    close(&mut text, open);
    text
}

fn wanted(version: Version) -> String {
    let (major, minor) = (version.0.to_string(), version.1.to_string());
    let text = WANT.replace("MAJOR.MINOR", &format!("{major}.{minor}"));
    let text = text.replace("OLDEST", &FIRST.1.to_string());
    // Not the end of TNR_WANT_MINOR.
    text.replace(" MINOR", &format!(" {minor}")) + "\n"
}

/// Writes the end of a gate directly after the text that it closes, before the empty line that
/// follows.
fn close(text: &mut String, open: Version) {
    if open == FIRST {
        return;
    }
    let empty_line = text.ends_with("\n\n");
    text.truncate(text.trim_end().len());
    text.push_str(if empty_line { "\n#endif\n\n" } else { "\n#endif\n" });
}

/// A struct whose newer fields are visible only to callers that ask for their version.
fn with_gated_fields(piece: &str, name: &str, abi: &Abi) -> String {
    let Some(item) = abi.items.iter().find(|item| item.name == name) else {
        return piece.to_owned();
    };
    let Kind::Struct(fields) = &item.kind else { return piece.to_owned() };
    let mut text = String::new();
    let mut open = item.since;
    // The comment of a field, until the field itself gives the version.
    let mut pending = String::new();
    for line in piece.split_inclusive('\n') {
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

#[cfg(test)]
mod tests;
