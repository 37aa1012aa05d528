//! The layout of declarations: comments of one line, and functions that fill their lines.

use crate::pieces::pieces;

/// The constants that are lines of one table: each comment stands above, and no line is empty.
const TABLE: &str = "#define TNR_NODE_";
/// Columns of a line.
const WIDTH: usize = 100;

/// A header whose comments of one line stand on one line, behind a field or a constant where there is
/// room, and whose functions fill their lines.
pub fn laid_out(header: &str) -> String {
    let mut text = String::new();
    let mut pieces = pieces(header).into_iter().peekable();
    while let Some(piece) = pieces.next() {
        let piece = piece_laid_out(piece);
        let within =
            piece.contains(TABLE) && pieces.peek().is_some_and(|next| next.contains(TABLE));
        text.push_str(if within { piece.trim_end() } else { &piece });
        text.push_str(if within { "\n" } else { "" });
    }
    text
}

fn piece_laid_out(piece: &str) -> String {
    let text = with_short_comments(piece);
    // A typedef has no name of a struct before it; the types of DLPack have no typedef here.
    let text = text.split("typedef struct tnr_").map(|part| part.replace("struct tnr_", "tnr_"));
    let text = text.collect::<Vec<_>>().join("typedef struct tnr_");
    let start =
        if text.starts_with("TNR_API") { Some(0) } else { text.find("\nTNR_API").map(|at| at + 1) };
    match start {
        Some(start) => {
            let (comment, function) = text.split_at(start);
            let (function, rest) = function.split_at(function.find(';').map_or(0, |end| end + 1));
            format!("{comment}{}{rest}", filled(function))
        }
        None => text,
    }
}

fn with_short_comments(piece: &str) -> String {
    let mut text = String::new();
    let mut lines = piece.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let mut rest = lines.clone();
        let Some(short) = (line.trim() == "/**").then(|| short_comment(line, &mut rest)).flatten()
        else {
            text.push_str(line);
            continue;
        };
        lines = rest.clone();
        match rest.next().and_then(|declaration| with_comment_behind(declaration, &short)) {
            Some(both) => {
                text.push_str(&both);
                lines = rest;
            }
            None => text.push_str(&short),
        }
    }
    text
}

/// A field or a constant with its comment behind it, if both fit on one line.
fn with_comment_behind(declaration: &str, comment: &str) -> Option<String> {
    let is_field = declaration.starts_with("  ") && declaration.trim_end().ends_with(';');
    let is_constant = declaration.starts_with("#define TNR_") && !declaration.starts_with(TABLE);
    if !is_field && !is_constant {
        return None;
    }
    let declaration = declaration.trim_end();
    let line = format!("{declaration}  {}", comment.trim().replacen("/**", "/**<", 1));
    (line.len() <= WIDTH).then(|| line + "\n")
}

/// The comment that `opening` opens, if it has one line that fits.
fn short_comment<'a>(opening: &str, rest: &mut impl Iterator<Item = &'a str>) -> Option<String> {
    let indent = &opening[..opening.len() - opening.trim_start().len()];
    let words = rest.next()?.trim().trim_start_matches('*').trim();
    let short = format!("{indent}/** {words} */");
    let ends = rest.next()?.trim() == "*/";
    (ends && short.len() <= WIDTH).then(|| short + "\n")
}

/// A function on one line, or with its macros on a line of their own and its parameters on lines that
/// are filled.
fn filled(function: &str) -> String {
    let words: Vec<&str> = function.split_whitespace().collect();
    let line = words.join(" ");
    if line.len() <= WIDTH {
        return line;
    }
    let is_of_macro = |word: &&&str| {
        word.starts_with("TNR_")
            || word.ends_with("),")
            || word.ends_with(')') && !word.contains("tnr_")
    };
    let macros = words.iter().take_while(is_of_macro).count();
    let mut text = words[..macros].join(" ") + "\n";
    let mut column = 0;
    let mut chunk = String::new();
    for (i, word) in words.iter().enumerate().skip(macros) {
        chunk.push_str(word);
        // The type, the name and the first parameter stay together.
        if i + 1 != words.len() && !word.ends_with(',') {
            chunk.push(' ');
            continue;
        }
        if column != 0 && column + 1 + chunk.len() > WIDTH {
            text.push_str("\n    ");
            column = 4;
        } else if column != 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(&chunk);
        column += chunk.len();
        chunk.clear();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_one_line_stand_behind_what_they_describe() {
        let piece = "/**\n * One.\n */\ntypedef struct tnr_a {\n  /**\n   * Two.\n   */\n  int b;\n  /**\n   \
                     * Three,\n   * four.\n   */\n  int c;\n} tnr_a;\n";
        let expected = "/** One. */\ntypedef struct tnr_a {\n  int b;  /**< Two. */\n  /**\n   * Three,\n   \
                        * four.\n   */\n  int c;\n} tnr_a;\n";
        assert_eq!(laid_out(piece), expected);
    }

    #[test]
    fn the_kinds_of_nodes_are_lines_of_a_table() {
        let piece =
            |name: &str| format!("/**\n * Operands (a).\n */\n#define TNR_NODE_{name} 1\n\n");
        let expected = "/** Operands (a). */\n#define TNR_NODE_A 1\n/** Operands (a). */\n#define TNR_NODE_B 1\n\n";
        assert_eq!(laid_out(&(piece("A") + &piece("B"))), expected);
    }

    #[test]
    fn functions_fill_their_lines() {
        let piece = "/**\n * F.\n */\nTNR_API TNR_READS(1, 2)\nTNR_NODISCARD\nstruct tnr_blob *tnr_f(const \
                     void *data TNR_BORROWED,\n    size_t size_bytes,\n    const struct tnr_view_mut *out) \
                     TNR_NOEXCEPT;\n\n";
        let expected = "/** F. */\nTNR_API TNR_READS(1, 2) TNR_NODISCARD\ntnr_blob *tnr_f(const void *data \
                        TNR_BORROWED, size_t size_bytes,\n    const tnr_view_mut *out) TNR_NOEXCEPT;\n\n";
        assert_eq!(laid_out(piece), expected);
    }
}
