//! Texts that belong together: the heading and the sentences of a section of a page in Markdown.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use unicode_segmentation::UnicodeSegmentation;

/// Fewer words than this are no sentence: a label, or what a table leaves.
const FEWEST_WORDS: usize = 3;

/// The heading of a section, and then its sentences, without markup. Text before the first heading
/// is a section too.
pub type Section = Vec<String>;

/// The sections of a page, in their order. Blocks of code, tables and HTML are left out. Sentences
/// end as Unicode's annex 29 says, and have at least 3 words.
///
/// ```
/// let page = "# Memory\nIt is *lent* for a call. The caller keeps it.\n## Errors\n`x` is none.";
/// let sections = tenure_encoder::sections(page);
/// assert_eq!(sections[0], ["Memory", "It is lent for a call.", "The caller keeps it."]);
/// assert_eq!(sections[1], ["Errors", "x is none."]);
/// ```
pub fn sections(markdown: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = vec![Section::new()];
    let (mut text, mut left_out) = (String::new(), 0_usize);
    let options = pulldown_cmark::Options::ENABLE_TABLES;
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Text(part) | Event::Code(part) if left_out == 0 => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::Start(tag) if is_inline(&tag.to_end()) => {}
            Event::Start(tag) => {
                add_sentences(&mut sections, &mut text);
                match tag {
                    Tag::Heading { .. } => sections.push(Section::new()),
                    Tag::CodeBlock(_) | Tag::Table(_) | Tag::HtmlBlock => left_out += 1,
                    _ => {}
                }
            }
            Event::End(tag) if is_inline(&tag) => {}
            Event::End(TagEnd::Heading(_)) => {
                sections.pop();
                sections.push(vec![std::mem::take(&mut text)]);
            }
            Event::End(tag) => {
                add_sentences(&mut sections, &mut text);
                if matches!(tag, TagEnd::CodeBlock | TagEnd::Table | TagEnd::HtmlBlock) {
                    left_out -= 1;
                }
            }
            _ => {}
        }
    }
    sections.retain(|section| !section.is_empty());
    sections
}

fn is_inline(tag: &TagEnd) -> bool {
    use TagEnd::{Emphasis, Image, Link, Strikethrough, Strong};
    matches!(tag, Emphasis | Strong | Strikethrough | Link | Image)
}

/// Moves the sentences of a block to the last section.
fn add_sentences(sections: &mut [Section], text: &mut String) {
    let sentences = text.unicode_sentences().map(str::trim);
    let sentences = sentences.filter(|text| text.unicode_words().count() >= FEWEST_WORDS);
    if let Some(section) = sections.last_mut() {
        section.extend(sentences.map(str::to_owned));
    }
    text.clear();
}

#[cfg(test)]
mod tests {
    use super::sections;

    #[test]
    fn code_tables_and_html_are_left_out() {
        let page = "Before any heading it begins.\n\n# A [link](x.md) of `code`\n\n```\nfn f() {}\n\
            ```\n\n| a | b |\n| - | - |\n| one two three | four |\n\n<p>html of a page.</p>\n\nIt goes\n\
            on here. Yes.\n\n- an item of **three** words\n  - one below it, nested\n- the last of \
            all\n\n## Bare\n";
        let expected: [&[&str]; 3] = [
            &["Before any heading it begins."],
            &[
                "A link of code",
                "It goes on here.",
                "an item of three words",
                "one below it, nested",
                "the last of all",
            ],
            &["Bare"],
        ];
        assert_eq!(sections(page), expected);
        assert!(sections("").is_empty());
    }
}
