//! `docs/` and README files against the source: each function, method, type and constant that they
//! write as code exists, and the dtypes that they name are those that calls take.

mod source;
mod support;
#[allow(dead_code, reason = "tests read the dtypes")]
#[path = "../../../tenure-sys/src/operations.rs"]
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use source::{Source, files, words};
use support::{Row, class, contradictions, documentation, named};
use table::{Kind, OPERATIONS};

/// Roots of paths, and identifiers, of other libraries and of systems.
const FOREIGN: [&str; 26] = [
    "ArrayView",
    "BertModel",
    "CMAKE_PREFIX_PATH",
    "File",
    "Fn",
    "FreeLibrary",
    "F_SEAL_SHRINK",
    "F_SEAL_WRITE",
    "Mut",
    "SMatrix",
    "__dlpack__",
    "as_mat",
    "collate_fn",
    "data_ptr",
    "find_package",
    "from_blob",
    "getauxval",
    "mem",
    "prefetch_factor",
    "sigaltstack",
    "std",
    "to_owned",
    "torch",
    "vdpbf16ps",
    "vpcompressb",
    "vpdpbusd",
];

/// Code of a page: text between backticks, or a line of a drawing.
struct Span<'p> {
    line: usize,
    text: &'p str,
    is_drawing: bool,
}

fn spans(page: &str) -> Vec<Span<'_>> {
    let (mut spans, mut block, mut foreign_cells) = (Vec::new(), None, 0);
    for (line, text) in page.lines().enumerate().map(|(line, text)| (line + 1, text)) {
        match (text.trim_start().strip_prefix("```"), block) {
            (Some(kind), None) => block = Some(kind),
            (Some(_), Some(_)) => block = None,
            (None, Some("text")) => spans.push(Span { line, text, is_drawing: true }),
            (None, Some(_)) => {}
            (None, None) => {
                // Cells in front of the column "Tenure" are of other libraries.
                let cells = text.split(" | ");
                match cells.clone().position(|cell| cell == "Tenure") {
                    Some(cell) => foreign_cells = cell,
                    None if !text.starts_with('|') => foreign_cells = 0,
                    None => {}
                }
                let own = cells.skip(foreign_cells);
                let code = own.flat_map(|cell| cell.split('`').skip(1).step_by(2));
                spans.extend(code.map(|text| Span { line, text, is_drawing: false }));
            }
        }
    }
    spans
}

/// The names of a span that the source does not have.
fn unknown(source: &Source, span: &Span<'_>) -> Vec<String> {
    let in_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let (mut unknown, mut rest, mut owner) = (Vec::new(), span.text, None);
    while let Some(start) = rest.find(|letter| in_word(letter) && !letter.is_ascii_digit()) {
        let before = &rest[..start];
        let (word, behind) = rest[start..]
            .split_at(rest[start..].find(|c| !in_word(c)).unwrap_or(rest.len() - start));
        rest = without_generics(behind);
        let is_foreign = FOREIGN.contains(&word) || owner.is_some_and(|of| FOREIGN.contains(&of));
        let name = match owner.filter(|_| before == "::") {
            Some(of) if !is_foreign && source.has_member(of, word) != Some(true) => {
                format!("{of}::{word}")
            }
            None if is_foreign || span.is_drawing || !rest.starts_with('(') => String::new(),
            None if !source.has_function(word, before.ends_with('.')) => format!("{word}()"),
            _ => String::new(),
        };
        if !name.is_empty() {
            unknown.push(name);
        }
        let is_abi = word.starts_with("tnr_") || word.starts_with("TNR_");
        let is_whole = is_abi || word == span.text;
        let is_pattern = word.ends_with('_') || behind.starts_with('*');
        if is_whole && !is_pattern && !is_foreign && !source.has_word(word) {
            unknown.push(word.to_owned());
        }
        owner = rest.starts_with("::").then_some(if is_foreign { FOREIGN[0] } else { word });
    }
    unknown
}

/// The text behind generic arguments, with `::` in front of them or not.
fn without_generics(text: &str) -> &str {
    let inner = text.strip_prefix("::").unwrap_or(text);
    if !inner.starts_with('<') {
        return text;
    }
    let mut depth = 0;
    let end = inner.find(|letter| {
        depth += i32::from(letter == '<') - i32::from(letter == '>');
        depth == 0
    });
    end.map_or(text, |end| &inner[end + 1..])
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

#[test]
fn names_in_pages_are_those_of_the_source() {
    let root = root();
    let source = Source::read(&root);
    let (mut pages, mut wrong) = (Vec::new(), Vec::new());
    files(&root, &[".md"], &mut pages);
    for path in pages.iter().filter(|path| !path.ends_with("CHANGELOG.md")) {
        let page = fs::read_to_string(path).unwrap();
        let name = path.strip_prefix(&root).unwrap().display();
        for span in spans(&page) {
            let unknown = unknown(&source, &span);
            wrong.extend(unknown.iter().map(|word| format!("{name}:{}: {word}", span.line)));
        }
    }
    assert!(wrong.is_empty(), "the source has none of these:\n{}", wrong.join("\n"));
}

#[test]
fn dtypes_in_the_table_of_operations_are_those_that_calls_take() {
    let page = text("docs/support.md");
    let rows = Row::all(&page);
    for operation in OPERATIONS {
        let function = match operation.kind {
            Kind::Unary => "tnr_unary",
            Kind::Binary => "tnr_binary",
            Kind::Ternary => "tnr_ternary",
            Kind::Compare => "tnr_compare",
            Kind::Reduce => "tnr_reduce",
            Kind::Normalize => "tnr_normalize",
            Kind::Scan => "tnr_scan",
        };
        let code = operation.name.to_uppercase();
        let is_it = |row: &&Row<'_>| row.function == function && row.codes.contains(&&*code);
        let row = rows.iter().find(is_it).unwrap_or_else(|| panic!("no {function} {code}"));
        let taken = (0..4).filter(|place| operation.dtypes.0 & 1 << place != 0);
        let taken = taken.flat_map(|place| class(Some(place))).collect();
        assert_eq!(row.dtypes(), taken, "{function} {code}");
    }
}

/// The table of `docs/operations.md` that is written by hand.
#[test]
fn dtypes_in_the_page_of_operations_are_those_that_calls_take() {
    let (page, support) = (text("docs/operations.md"), text("docs/support.md"));
    let rows = Row::all(&support);
    let lines = page.lines().skip_while(|line| !line.starts_with("| operation |"));
    for line in lines.take_while(|line| line.starts_with('|')).skip(2) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let said = (0..4).flat_map(|place| match cells[1 + place] {
            "-" => Default::default(),
            text if text.starts_with("yes") || text.starts_with("to ") => class(Some(place)),
            text => named(text),
        });
        let said: support::Dtypes = said.collect();
        let codes: Vec<&str> =
            words(cells[0]).filter(|word| *word == word.to_uppercase()).collect();
        for name in cells[0].split('`').skip(1).step_by(2) {
            let function = format!("tnr_{name}");
            let is_it = |row: &&Row<'_>| {
                let has_code = codes.iter().any(|code| row.codes.contains(code));
                row.function == function && (has_code || codes.is_empty() && row.codes.is_empty())
            };
            let found: Vec<_> = rows.iter().filter(is_it).collect();
            assert!(!found.is_empty(), "no call of {function} {codes:?}");
            for row in found {
                assert_eq!(said, row.dtypes(), "{line}");
            }
        }
    }
}

#[test]
fn documentation_of_functions_names_what_they_do_not_take() {
    let (abi, support) = (text("rust/tenure-sys/src/abi.rs"), text("docs/support.md"));
    let rows = Row::all(&support);
    let mut wrong = Vec::new();
    for (function, comment) in documentation(&abi) {
        let rows: Vec<_> = rows.iter().filter(|row| row.function == function).collect();
        if !rows.is_empty() {
            let found = contradictions(&comment, &rows);
            wrong.extend(found.iter().map(|what| format!("{function} {what}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
