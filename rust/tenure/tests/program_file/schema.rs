//! `docs/design/program.proto` says what the source of the reader says.

use std::fs;
use std::path::Path;

/// `(message, field, type, number)` of each field, and of each member of a `oneof`.
type Field = (String, String, String, u32);

fn text(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn of_proto() -> Vec<Field> {
    let (mut message, mut fields) = (String::new(), Vec::new());
    for line in text("../../docs/design/program.proto").lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("message ") {
            message = name.trim_end_matches(" {").to_owned();
        }
        let Some((left, number)) = line.split_once(" = ").filter(|_| !line.starts_with("//"))
        else {
            continue;
        };
        let Ok(number) = number.trim_end_matches(';').parse() else { continue };
        let (kind, name) = left.rsplit_once(' ').unwrap();
        fields.push((message.clone(), name.to_owned(), kind.to_owned(), number));
    }
    fields
}

/// The attribute in front of a field, and the field's own line.
fn of_source() -> Vec<Field> {
    let source = text("src/program/file/schema.rs");
    let (mut message, mut attribute, mut fields) = (String::new(), String::new(), Vec::new());
    for line in source.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("pub(super) struct ") {
            message = rest.trim_end_matches(" {").to_owned();
        } else if let Some(rest) = line.strip_prefix("pub(super) enum ") {
            // Members of a `oneof` are fields of the message that has it.
            let name = rest.trim_end_matches(" {");
            message = if name == "StoredSource" { "Value" } else { "Node" }.to_owned();
        } else if let Some(rest) = line.strip_prefix("#[prost(") {
            attribute = rest.trim_end_matches(")]").to_owned();
        } else if !attribute.is_empty() && !line.starts_with("//") {
            let (words, number) = attribute.split_once("tag = \"").unwrap_or((&attribute, ""));
            if let Ok(number) = number.trim_end_matches('"').parse() {
                let words: Vec<&str> =
                    words.split(", ").map(|word| word.split(' ').next().unwrap()).collect();
                let line = line.trim_start_matches("pub(super) ").trim_end_matches(',');
                let (name, rust) = line.split_once(": ").unwrap_or_else(|| {
                    let (name, rust) = line.split_once('(').unwrap();
                    (name, rust.trim_end_matches(')'))
                });
                let inner = rust.rsplit('<').next().unwrap().trim_end_matches('>');
                let kind = if words[0] == "message" { inner } else { words[0] };
                let label =
                    ["repeated", "optional"].into_iter().find(|label| words.contains(label));
                let kind = match label {
                    // Messages are optional as they are.
                    Some("optional") if words[0] == "message" => kind.to_owned(),
                    Some(label) => format!("{label} {kind}"),
                    None => kind.to_owned(),
                };
                fields.push((message.clone(), snake(name), kind, number));
            }
            attribute.clear();
        }
    }
    fields
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[test]
fn is_that_of_the_source() {
    let (mut proto, mut source) = (of_proto(), of_source());
    assert!(source.len() > 50, "{source:#?}");
    proto.sort();
    source.sort();
    assert_eq!(proto, source);
}
