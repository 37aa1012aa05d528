//! The order of the header: an overview, contents, and sections in the order of concepts, each with
//! its constants, types and functions. cbindgen writes all constants first, then all types, then
//! all functions.
//!
//! The source names the sections: a line `// ==== title ====` begins one, and the comment lines
//! after its first mention describe it. The overview is the part of the source's documentation
//! after `# Overview`.

use crate::abi::{Abi, Problem};
use crate::pieces::{declared, pieces};

struct Section<'a> {
    title: &'a str,
    about: Vec<&'a str>,
    text: String,
}

/// The header that cbindgen wrote, in the order of the source's sections.
pub fn arrange(header: &str, source: &str, abi: &Abi, problems: &mut Vec<Problem>) -> String {
    let (mut sections, starts) = sections(source);
    let section_of = |name: &str| {
        let line = abi.line(name)?;
        starts.iter().rev().find(|(start, _)| *start < line).map(|&(_, section)| section)
    };
    let mut before = String::new();
    let mut after = String::new();
    let pieces = pieces(header);
    let name_of = |piece| declared(piece).filter(|name| abi.line(name).is_some());
    let last = pieces.iter().rposition(|piece| name_of(piece).is_some());
    for (i, piece) in pieces.into_iter().enumerate() {
        match name_of(piece).map(|name| (name, section_of(name))) {
            Some((_, Some(section))) => sections[section].text.push_str(piece),
            Some((name, None)) => problems.push(Problem {
                line: abi.line(name).unwrap_or(1),
                text: format!("{name}: stands in no section"),
            }),
            None if Some(i) > last => after.push_str(piece),
            // `extern "C"` is after the constants and types, which are moved into it.
            None => before.push_str(piece),
        }
    }
    let (opening, extern_c) = before.split_at(before.find("#ifdef __cplusplus").unwrap_or(0));
    let mut text = format!("{opening}{}", comment(&overview(source)));
    text.push_str(&comment(&contents(&sections)));
    text.push_str(extern_c);
    for (i, section) in sections.iter().enumerate() {
        let about = section.about.join("\n");
        let heading = format!("{}. {}\n\n{about}", i + 1, capitalized(section.title));
        text.push_str(&comment(&format!("{RULE}\n{heading}")));
        text.push_str(&section.text);
    }
    text + &after
}

const RULE: &str = "------------------------------------------------------------------------------";

/// The sections in their order, and the lines that begin one, with its number.
fn sections(source: &str) -> (Vec<Section<'_>>, Vec<(usize, usize)>) {
    let mut sections = Vec::<Section>::new();
    let mut starts = Vec::new();
    let mut lines = source.lines().enumerate().peekable();
    while let Some((i, line)) = lines.next() {
        let heading = line.trim().strip_prefix("// ==== ");
        let Some(title) = heading.and_then(|title| title.strip_suffix(" ====")) else { continue };
        let number = sections.iter().position(|section| section.title == title);
        let number = number.unwrap_or_else(|| {
            sections.push(Section { title, about: Vec::new(), text: String::new() });
            sections.len() - 1
        });
        while let Some((_, line)) = lines.next_if(|(_, line)| line.starts_with("// ")) {
            sections[number].about.push(&line[3..]);
        }
        starts.push((i + 1, number));
    }
    (sections, starts)
}

fn overview(source: &str) -> String {
    let documentation = source.lines().take_while(|line| line.starts_with("//!"));
    let overview = documentation.skip_while(|line| *line != "//! # Overview").skip(2);
    let lines = overview.map(|line| line.trim_start_matches("//!"));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
    lines.map(|line| format!("{line}\n")).collect()
}

fn contents(sections: &[Section]) -> String {
    let titles = sections.iter().enumerate();
    let lines = titles.map(|(i, section)| format!("{:4}. {}\n", i + 1, capitalized(section.title)));
    format!("Contents\n\n{}", lines.collect::<String>())
}

/// A comment that documents no declaration.
fn comment(text: &str) -> String {
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
//! # Overview
//!
//! Introduction.

// ==== first ====
// About the first.

/// One.
pub const TNR_ABI_MAJOR: u32 = 0;
/// Two.
pub const TNR_ABI_MINOR: u32 = 1;

// ==== second ====
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
        let text = arrange(HEADER, SOURCE, &abi, &mut problems);
        assert_eq!(problems, []);
        let places = [
            "Introduction.",
            "1. First",
            "2. Second",
            "extern \"C\"",
            "About the first.",
            "TNR_ABI_MAJOR",
            "tnr_f",
            "About the second.",
            "TNR_THREE",
            "}  // extern",
            "GUARD",
        ];
        let found: Vec<_> = places.iter().map(|place| text.find(place).expect(place)).collect();
        assert!(found.is_sorted(), "{text}");
        assert_eq!(text.matches("TNR_THREE").count(), 1);
    }

    #[test]
    fn a_declaration_before_the_first_section_is_a_problem() {
        let source = SOURCE.replacen("// ==== first ====\n", "", 1);
        let mut problems = Vec::new();
        let abi = abi::read(&source, &mut problems).unwrap();
        arrange(HEADER, &source, &abi, &mut problems);
        assert_eq!(problems[0].text, "TNR_ABI_MAJOR: stands in no section");
    }
}
