//! The header that cbindgen wrote, cut into declarations.

/// The header in pieces that declare one name or none. A declaration starts with its comment, and
/// lines for C++ are a piece by themselves.
pub fn pieces(header: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let mut offset = 0;
    let mut follows_directive = false;
    for line in header.split_inclusive('\n') {
        let directive = line.starts_with("#if") || line.starts_with("#endif");
        if line.starts_with("/*") || (directive && !follows_directive) {
            starts.push(offset);
        }
        follows_directive = directive;
        offset += line.len();
    }
    starts.push(header.len());
    starts.windows(2).map(|pair| &header[pair[0]..pair[1]]).collect()
}

/// The name that a piece of the header declares.
pub fn declared(piece: &str) -> Option<&str> {
    let code = piece.rsplit_once("*/\n").map_or(piece, |(_, code)| code).trim_start();
    let whole = piece.split_once("*/\n").map_or(piece, |(_, code)| code).trim_start();
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
    // A function's macros are in capitals.
    code.match_indices('(').find_map(|(at, _)| {
        let name = code[..at].rsplit(|c: char| !is_word(c)).next()?;
        name.starts_with("tnr_").then_some(name)
    })
}

pub fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
