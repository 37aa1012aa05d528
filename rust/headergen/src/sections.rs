//! The headers: each with an overview, and sections in the order of concepts, each with its constants,
//! types and functions. cbindgen writes all constants first, then all types, then all functions.
//!
//! The source names the sections: a line `// ==== title ====` begins one, and the comment lines
//! after its first mention describe it. `// ==== NAME.h: title ====` begins a header too, which
//! includes the one before it. The overviews are the parts of the source's documentation after
//! `# NAME.h`; that of `tenure.h`, which includes all others, has the contents.

use crate::abi::{Abi, Problem};
use crate::pieces::{declared, pieces};

/// The header that includes all others.
pub const ALL: &str = "tenure.h";

struct Section<'a> {
    title: &'a str,
    about: Vec<&'a str>,
    text: String,
}

struct Header<'a> {
    name: &'a str,
    sections: Vec<Section<'a>>,
}

/// The headers that cbindgen wrote as one, as pairs of name and text. `note` is their first line.
pub fn arrange<'a>(
    header: &str,
    source: &'a str,
    abi: &Abi,
    note: &str,
    problems: &mut Vec<Problem>,
) -> Vec<(&'a str, String)> {
    let (mut headers, starts) = sections(source);
    let section_of = |name: &str| {
        let line = abi.line(name)?;
        starts.iter().rev().find(|(start, _)| *start < line).map(|&(_, section)| section)
    };
    for piece in pieces(header) {
        // Guards, includes and lines for C++ declare nothing: each header has its own.
        let Some(name) = declared(piece).filter(|name| abi.line(name).is_some()) else { continue };
        match section_of(name) {
            Some((header, section)) => {
                headers[header].sections[section].text.push_str(piece);
            }
            None => problems.push(Problem {
                line: abi.line(name).unwrap_or(1),
                text: format!("{name}: stands in no section"),
            }),
        }
    }
    let mut before =
        "#include <stddef.h>\n#include <stdint.h>\n\n#include \"tenure/annotations.h\"\n"
            .to_owned();
    let mut texts = Vec::new();
    for header in &headers {
        let overview = comment(&overview(source, header.name));
        let mut text = format!("{}{before}\n{overview}{OPENING}", opening(note, header.name));
        for section in &header.sections {
            let about = section.about.join("\n");
            let heading = format!("{}\n\n{about}", capitalized(section.title));
            text.push_str(&comment(&format!("{RULE}\n{heading}")));
            text.push_str(&section.text);
        }
        texts.push((header.name, format!("{}\n\n{CLOSING}#endif\n", text.trim_end())));
        before = format!("#include \"tenure/{}\"\n", header.name);
    }
    let includes = headers.iter().map(|header| format!("#include \"tenure/{}\"\n", header.name));
    let overview = comment(&format!("{}\n{}", overview(source, ALL), contents(&headers)));
    let opening = opening(note, ALL);
    texts.push((ALL, format!("{opening}{overview}{}\n#endif\n", includes.collect::<String>())));
    texts
}

const RULE: &str = "------------------------------------------------------------------------------";
const OPENING: &str = "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
const CLOSING: &str = "#ifdef __cplusplus\n}\n#endif\n\n";

/// The note and the guard of a header.
fn opening(note: &str, name: &str) -> String {
    let guard = format!("TENURE_{}", name.to_uppercase().replace('.', "_"));
    format!("/* {note} */\n\n#ifndef {guard}\n#define {guard}\n\n")
}

/// The headers with their sections in their order, and the lines that begin a section, with the
/// numbers of its header and of itself.
type Start = (usize, (usize, usize));
fn sections(source: &str) -> (Vec<Header<'_>>, Vec<Start>) {
    let mut headers = Vec::<Header>::new();
    let mut starts = Vec::new();
    let mut lines = source.lines().enumerate().peekable();
    while let Some((i, line)) = lines.next() {
        let heading = line.trim().strip_prefix("// ==== ");
        let Some(title) = heading.and_then(|title| title.strip_suffix(" ====")) else { continue };
        let (name, title) = match title.split_once(".h: ") {
            Some((name, of_header)) => (Some(&title[..name.len() + 2]), of_header),
            None => (None, title),
        };
        if let Some(name) = name {
            headers.push(Header { name, sections: Vec::new() });
        }
        let known = headers.iter().enumerate().find_map(|(i, header)| {
            let section = header.sections.iter().position(|section| section.title == title)?;
            Some((i, section))
        });
        let Some(last) = headers.len().checked_sub(1) else { continue };
        let at = known.unwrap_or_else(|| {
            let section = Section { title, about: Vec::new(), text: String::new() };
            headers[last].sections.push(section);
            (last, headers[last].sections.len() - 1)
        });
        while let Some((_, line)) = lines.next_if(|(_, line)| is_about(line)) {
            headers[at.0].sections[at.1]
                .about
                .push(line[2..].strip_prefix(' ').unwrap_or_default());
        }
        starts.push((i + 1, at));
    }
    (headers, starts)
}

/// Whether a line is a comment that documents no declaration.
fn is_about(line: &str) -> bool {
    line == "//" || line.starts_with("// ")
}

/// The part of the source's documentation after `# name`, up to the next such line.
fn overview(source: &str, name: &str) -> String {
    let lines = source.lines().take_while(|line| line.starts_with("//!"));
    let lines = lines.map(|line| line.trim_start_matches("//!"));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let own = lines.skip_while(|line| *line != format!("# {name}")).skip(2);
    own.take_while(|line| !line.starts_with("# ")).map(|line| format!("{line}\n")).collect()
}

fn contents(headers: &[Header]) -> String {
    let lines = headers.iter().map(|header| {
        let titles: Vec<&str> = header.sections.iter().map(|section| section.title).collect();
        format!("  {:10} {}\n", header.name, titles.join(", "))
    });
    format!("Contents:\n\n{}", lines.collect::<String>())
}

/// A comment that documents no declaration.
fn comment(text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let line =
        |line: &str| if line.is_empty() { " *\n".to_owned() } else { format!(" * {line}\n") };
    format!("/*\n{} */\n\n", text.trim_end().lines().map(line).collect::<String>())
}

fn capitalized(title: &str) -> String {
    let (first, rest) = title.split_at(1);
    first.to_uppercase() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi;

    const SOURCE: &str = "\
//! Words.
//!
//! # tenure.h
//!
//! Introduction.
//!
//! # one.h
//!
//! About one.
//!
//! # two.h
//!
//! About two.

// ==== one.h: first ====
// About the first.

/// One.
pub const TNR_ABI_MAJOR: u32 = 0;
/// Two.
pub const TNR_ABI_MINOR: u32 = 1;

// ==== two.h: second ====
// About the second.

/// Three.
pub const TNR_THREE: u32 = 3;

unsafe extern \"C\" {
    // ==== first ====
    /// F.
    ///
    /// @threads any
    /// @since 0.1
    pub fn tnr_f();
}
";

    const HEADER: &str = "\
#include <stddef.h>

/**
 * One.
 */
#define TNR_ABI_MAJOR 0

/**
 * Three.
 */
#define TNR_THREE 3

#ifdef __cplusplus
extern \"C\" {
#endif // __cplusplus

/**
 * F.
 */
TNR_API
void tnr_f(void);

#ifdef __cplusplus
}  // extern \"C\"
#endif  // __cplusplus

#endif  /* GUARD */
";

    #[test]
    fn a_section_has_its_constants_and_its_functions() {
        let mut problems = Vec::new();
        let abi = abi::read(SOURCE, &mut problems).unwrap();
        let texts = arrange(HEADER, SOURCE, &abi, "Note.", &mut problems);
        assert_eq!(problems, []);
        let expected = [
            (
                "one.h",
                &[
                    "/* Note. */",
                    "#ifndef TENURE_ONE_H",
                    "annotations.h",
                    "About one.",
                    "extern \"C\"",
                    "First",
                    "About the first.",
                    "#define TNR_ABI_MAJOR 0",
                    "tnr_f",
                    "}\n#endif",
                ][..],
            ),
            ("two.h", &["tenure/one.h", "About two.", "About the second.", "TNR_THREE"][..]),
            (
                "tenure.h",
                &["Introduction.", "one.h      first", "two.h      second", "tenure/two.h"],
            ),
        ];
        for ((name, text), (expected_name, places)) in texts.iter().zip(expected) {
            assert_eq!(*name, expected_name);
            let found: Vec<_> = places.iter().map(|place| text.find(place).expect(place)).collect();
            assert!(found.is_sorted(), "{text}");
        }
        assert!(!texts[0].1.contains("TNR_THREE"));
    }

    #[test]
    fn a_declaration_before_the_first_section_is_a_problem() {
        let source = SOURCE.replacen("// ==== one.h: first ====\n", "", 1);
        let source = source.replacen("    // ==== first ====\n", "", 1);
        let mut problems = Vec::new();
        let abi = abi::read(&source, &mut problems).unwrap();
        arrange(HEADER, &source, &abi, "Note.", &mut problems);
        assert_eq!(problems[0].text, "TNR_ABI_MAJOR: stands in no section");
    }
}
