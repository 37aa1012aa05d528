//! Each rule rejects a source that breaks it, and nothing else.

use crate::abi::{self, Problem};
use crate::tags::{Tags, Threads, Transfer};

const PREAMBLE: &str = r"
pub const TNR_ABI_MAJOR: u32 = 0;
pub const TNR_ABI_MINOR: u32 = 1;
#[cfg_attr(all(), repr(C))]
pub struct tnr_blob { _opaque: [u8; 0] }
#[repr(C)]
pub struct tnr_view { pub rank: u32 }
pub type tnr_release_fn = Option<unsafe extern fn(release_context: *mut c_void)>;
unsafe extern {
    /// Gives up a handle.
    /// @param blob (transfer full) (nullable)
    /// @threads any
    /// @since 0.1
    pub fn tnr_blob_release(blob: *mut tnr_blob) -> tnr_status;
";

/// The problems of the preamble followed by `functions`, if cbindgen prints `printed`.
fn problems_when_printed(
    functions: &str,
    printed: impl Fn(&[String]) -> Vec<String>,
) -> Vec<Problem> {
    let source = format!("{PREAMBLE}{functions}}}");
    let mut problems = Vec::new();
    let abi = abi::read(&source, &mut problems).expect("the source of a test is Rust");
    let names: Vec<String> = abi.functions.iter().map(|f| f.name.clone()).collect();
    problems.extend(super::check(&abi, &printed(&names)));
    problems
}

fn problems(functions: &str) -> Vec<Problem> {
    problems_when_printed(functions, <[String]>::to_vec)
}

#[track_caller]
fn rejects(functions: &str, expected: &str) {
    let found = problems(functions);
    assert_eq!(found.len(), 1, "one problem is seeded, found {found:#?}");
    assert!(found[0].text.contains(expected), "expected {expected:?}, found {:?}", found[0].text);
}

/// A function whose comment has the lines given here, and is complete otherwise.
fn with_tail(lines: &str, declaration: &str) -> String {
    format!("/// Does it.\n{lines}\n/// @threads any\n/// @since 0.1\n{declaration}\n")
}

const ADOPT: &str = "/// @param data (transfer full) (counted-by n)
    /// @param release (nullable) (scope notified)
    /// @param release_context (transfer full) (nullable)
    /// @return (transfer full) (nullable)";
const ADOPT_DECLARATION: &str = "#[must_use] pub fn tnr_blob_adopt(data: *mut c_void, n: usize, \
    release: tnr_release_fn, release_context: *mut c_void) -> *mut tnr_blob;";

#[test]
fn accepts_what_follows_the_rules() {
    assert_eq!(problems(""), vec![]);
    assert_eq!(problems(&with_tail(ADOPT, ADOPT_DECLARATION)), vec![]);
    // No noun precedes this verb: it is an operation.
    let copy = "#[must_use] pub fn tnr_copy(a: *const tnr_view, n: u32) -> tnr_status;";
    assert_eq!(problems(&with_tail("/// @param a (transfer none)", copy)), vec![]);
}

#[test]
fn says_at_which_line() {
    let found = problems("\n\n/// @since 0.1\n/// @threads any\npub fn tnr_x() -> u32;\n");
    assert_eq!(found[0].line, PREAMBLE.lines().count() + 5);
    assert_eq!(found[0].text, "tnr_x: no sentence says what it does");
}

#[test]
fn comments() {
    rejects("/// @threads any\n/// @since 0.1\npub fn tnr_x();", "no sentence says what it does");
    rejects(
        "/// Does it.\n/// @threads any\n/// @since 0.2\npub fn tnr_x();",
        "`@since 0.2` is later than 0.1",
    );
    rejects(
        "/// Does it.\n/// @threads exclusive(n)\n/// @since 0.1\npub fn tnr_x(n: u32);",
        "`@threads exclusive(n)` names no pointer parameter",
    );
    rejects(&with_tail("/// @param m", "pub fn tnr_x(n: u32);"), "`@param m` names no parameter");
    rejects(&with_tail("/// @note hm", "pub fn tnr_x(n: u32);"), "unknown entry `@note`");
}

#[test]
fn versions() {
    let newer = |item: &str| format!("}} /// @since 0.2\n{item}\nunsafe extern {{");
    rejects(&newer("pub struct tnr_n(pub i32);"), "tnr_n: `@since 0.2` is later than 0.1");
    rejects(&newer("pub const TNR_N: u32 = 1;"), "TNR_N: `@since 0.2` is later than 0.1");
    rejects(
        "} impl tnr_n { /// @since 0.2\npub const A: tnr_n = tnr_n(1); } unsafe extern {",
        "TNR_N_A: `@since 0.2` is later than 0.1",
    );
    rejects(
        "} pub struct tnr_s { /// @since 0.2\npub a: u32 } unsafe extern {",
        "tnr_s.a: `@since 0.2` is later than 0.1",
    );
    rejects(
        "} /// @threads any\npub struct tnr_n(pub i32); unsafe extern {",
        "other than `@since`",
    );
    rejects("} /// @sins 0.1\npub struct tnr_n(pub i32); unsafe extern {", "unknown entry `@sins`");

    let two = PREAMBLE.replace("TNR_ABI_MINOR: u32 = 1", "TNR_ABI_MINOR: u32 = 2");
    for (user, expected) in [
        ("/// Does it.\n/// @threads any\n/// @since 0.1\npub fn tnr_x() -> tnr_n;", "tnr_x"),
        ("} pub type tnr_f = Option<unsafe extern fn(n: tnr_n)>; unsafe extern {", "tnr_f"),
        ("} pub struct tnr_s { pub a: tnr_n } unsafe extern {", "tnr_s.a"),
    ] {
        let source = format!("{two}{user} }} /// @since 0.2\npub struct tnr_n(pub i32);");
        let mut problems = Vec::new();
        let abi = abi::read(&source, &mut problems).expect("the source of a test is Rust");
        let names: Vec<String> = abi.functions.iter().map(|f| f.name.clone()).collect();
        problems.extend(super::check(&abi, &names));
        let expected = format!("{expected}: mentions tnr_n, which is newer: @since 0.2");
        assert_eq!(problems.len(), 1, "{user}: {problems:?}");
        assert_eq!(problems[0].text, expected);
    }
}

#[test]
fn pointers() {
    let view = "pub fn tnr_x(view: *const tnr_view);";
    let memory = "pub fn tnr_x(data: *const c_void, n: usize);";
    rejects(&with_tail("///", memory), "pointer `data` is not documented by `@param data`");
    let found = problems(&with_tail("/// @param data hm", memory));
    let lacks = "pointer `data` lacks (transfer none|full)";
    assert!(found.iter().any(|problem| problem.text.contains(lacks)), "{found:#?}");
    rejects(&with_tail("/// @param view (transfer none) (owned)", view), "unknown tag `(owned)`");
    rejects(&with_tail("/// @param view (transfer full)", view), "which nobody can own");
    rejects(
        &with_tail("/// @param view (transfer none) (out)", view),
        "`view` is written but const",
    );
    rejects(
        &with_tail("/// @param view (transfer none) (scope call)", view),
        "`view` is no callback but has (scope)",
    );
    rejects(
        &with_tail("/// @param view (transfer none) (lifetimebound)", view),
        "`view` is (lifetimebound), but the result is no pointer",
    );
    let out = "pub fn tnr_x(out: *mut tnr_view);";
    rejects(&with_tail("/// @param out (transfer none)", out), "neither (out) nor (inout)");
    rejects(
        &with_tail("/// @param out (transfer none) (out) (inout)", out),
        "both (out) and (inout)",
    );
    rejects(
        &with_tail("/// @param n (nullable)", "pub fn tnr_x(n: u32);"),
        "no pointer but has tags",
    );
    rejects(
        &with_tail("/// @param p (transfer none)", "pub fn tnr_x(p: *const c_void, n: usize);"),
        "memory `p` lacks (counted-by)",
    );
}

/// Names and types give the tags that a comment leaves out.
#[test]
fn defaults() {
    let functions = "/// Does it.
        #[must_use] pub fn tnr_blob_alloc(context: *mut tnr_context, a: *const tnr_view,
            attributes: *const tnr_view, out: *mut tnr_view) -> *mut tnr_blob;
        /// Does it.
        pub fn tnr_x(graph: *mut tnr_graph, parts: *mut *mut tnr_blob);
        /// Does it.
        pub fn tnr_y(a: *const tnr_view, out: *const tnr_view_mut);";
    let handles = "#[cfg_attr(all(), repr(C))] pub struct tnr_context { _opaque: [u8; 0] }
        #[cfg_attr(all(), repr(C))] pub struct tnr_graph { _opaque: [u8; 0] }";
    let source = format!("{PREAMBLE}{functions}}}{handles}");
    let source = source.replace("/// @param blob (transfer full) (nullable)", "///");
    let mut problems = Vec::new();
    let abi = abi::read(&source, &mut problems).expect("the source of a test is Rust");
    assert_eq!(problems, vec![]);
    let none = Tags { transfer: Some(Transfer::None), ..Tags::default() };
    let nullable = Tags { nullable: true, ..none.clone() };
    let full = Tags { transfer: Some(Transfer::Full), ..Tags::default() };
    let tags = |function: usize| -> Vec<Tags> {
        abi.functions[function].params.iter().map(|p| p.tags.clone().unwrap_or_default()).collect()
    };
    let out = Tags { out: true, ..none.clone() };
    let released = Tags { nullable: true, ..full.clone() };
    assert_eq!(tags(0), std::slice::from_ref(&released));
    assert_eq!(tags(1), [nullable.clone(), none.clone(), nullable, out]);
    assert_eq!(abi.functions[1].comment.result, Some(released));
    assert_eq!(tags(2), [none.clone(), Tags { out: true, ..full }]);
    assert_eq!(tags(3), [none.clone(), none]);
    let threads = abi.functions.iter().map(|function| function.comment.threads.clone());
    let exclusive = |name: &str| Some(Threads::Exclusive(name.to_owned()));
    let expected = [Some(Threads::Any), Some(Threads::Any), exclusive("graph"), exclusive("out")];
    assert_eq!(threads.collect::<Vec<_>>(), expected);
}

#[test]
fn pointers_to_handles() {
    let parts = "pub fn tnr_x(blob: *mut *mut tnr_blob);";
    assert_eq!(problems(&with_tail("/// @param blob (transfer full) (out)", parts)), vec![]);
    assert_eq!(problems(&with_tail("///", parts)), vec![]);
    for tags in ["(transfer none) (out)", "(transfer full)", "(transfer full) (out) (nullable)"] {
        let expected = "so its tags are (transfer full) (out)";
        rejects(&with_tail(&format!("/// @param blob {tags}"), parts), expected);
    }
    let views = "pub fn tnr_x(view: *mut *mut tnr_view);";
    rejects(&with_tail("/// @param view (transfer full) (out)", views), "that is no handle");
}

#[test]
fn operations_make_what_they_return() {
    let comment = "/// @param context (transfer none) (nullable)\n/// @return (transfer full)";
    let product = |first: &str| {
        let handles = "#[cfg_attr(all(), repr(C))] pub struct tnr_context { _opaque: [u8; 0] }";
        let function =
            format!("#[must_use] pub fn tnr_blob_product(context: *mut {first}) -> *mut tnr_blob;");
        let source = format!("{PREAMBLE}{}}}{handles}", with_tail(comment, &function));
        let mut problems = Vec::new();
        let abi = abi::read(&source, &mut problems).expect("the source of a test is Rust");
        let names: Vec<String> = abi.functions.iter().map(|f| f.name.clone()).collect();
        super::check(&abi, &names)
    };
    assert_eq!(product("tnr_context"), vec![]);
    assert!(product("tnr_blob")[0].text.contains("its verb does not say so"));
}

#[test]
fn counts() {
    for declaration in [
        "pub fn tnr_x(p: *const c_void, m: usize);",
        "pub fn tnr_x(p: *const c_void, n: i64);",
        "pub fn tnr_x(p: *const c_void);",
    ] {
        rejects(
            &with_tail("/// @param p (transfer none) (counted-by n)", declaration),
            "`(counted-by n)` of `p` names no unsigned parameter",
        );
    }
}

#[test]
fn callbacks() {
    let declaration = "pub fn tnr_x(release: tnr_release_fn);";
    rejects(
        &with_tail("/// @param release (nullable)", declaration),
        "lacks (scope call|notified)",
    );
    rejects(
        &with_tail("/// @param release (scope call) (transfer full)", declaration),
        "takes no tags but (scope) and (nullable)",
    );
    let unnamed =
        "} pub type tnr_other_fn = Option<unsafe extern fn(*mut c_void)>; unsafe extern {";
    rejects(unnamed, "tnr_other_fn: a parameter has no name");
}

#[test]
fn types() {
    rejects(&with_tail("///", "pub fn tnr_x(_: u32);"), "a parameter has no name");
    let neither = "neither a number, a struct, a raw pointer nor a named callback";
    rejects(&with_tail("///", "pub fn tnr_x(a: bool);"), neither);
    rejects(&with_tail("///", "pub fn tnr_x(a: &u32);"), neither);
    rejects(&with_tail("///", "pub fn tnr_x(a: Option<extern fn(n: u32)>);"), neither);
    rejects("} pub struct tnr_s { pub a: bool } unsafe extern {", "tnr_s: a bool cannot cross");
    rejects("} pub enum tnr_e { A } unsafe extern {", "tnr_e: an enum cannot cross");
}

#[test]
fn results() {
    let view = "pub fn tnr_x() -> *const tnr_view;";
    assert_eq!(problems(&with_tail("///", view)), vec![]);
    rejects(&with_tail("/// @return (transfer none) (out)", view), "a result takes no tags but");
    rejects(&with_tail("/// @return (nullable)", "pub fn tnr_x() -> u32;"), "but has tags");
    rejects(&with_tail("///", "pub fn tnr_x() -> tnr_status;"), "a status is #[must_use]");
    let alloc = "pub fn tnr_blob_alloc() -> *mut tnr_blob;";
    rejects(&with_tail("/// @return (transfer full)", alloc), "but is not #[must_use]");
    let make = "#[must_use] pub fn tnr_blob_make() -> *mut tnr_blob;";
    rejects(&with_tail("/// @return (transfer full)", make), "but its verb does not say so");
}

#[test]
fn a_release_stands_above_what_it_releases() {
    let handle = "} pub struct tnr_pool { _opaque: [u8; 0] } unsafe extern {";
    let alloc = "#[must_use] pub fn tnr_pool_alloc() -> *mut tnr_pool;";
    let function = with_tail("/// @return (transfer full)", alloc);
    rejects(&format!("{handle}{function}"), "tnr_pool_release is not declared above it");
}

#[test]
fn constructors_return_a_handle() {
    for verb in super::CONSTRUCTORS {
        let declaration = format!("#[must_use] pub fn tnr_blob_{verb}(n: u32) -> tnr_status;");
        let found = problems(&with_tail("///", &declaration));
        let expected = format!("_{verb} must return *mut tnr_blob as (transfer full)");
        assert!(found.iter().any(|problem| problem.text.contains(&expected)), "{found:#?}");
        let declaration = format!("#[must_use] pub fn tnr_blob_{verb}(n: u32) -> *mut tnr_blob;");
        let found = problems(&with_tail("/// @return (transfer none)", &declaration));
        assert!(found.iter().any(|problem| problem.text.contains(&expected)), "{found:#?}");
    }
}

#[test]
fn verbs_that_take_memory() {
    for (verb, tags, expected) in [
        (
            "copy",
            "(transfer full)",
            "_copy takes memory as (none, unbound), not as (full, unbound)",
        ),
        ("copy", "(transfer none) (lifetimebound)", "not as (none, lifetimebound)"),
        ("borrow", "(transfer none)", "_borrow takes memory as (none, lifetimebound)"),
        ("borrow", "(transfer full) (lifetimebound)", "not as (full, lifetimebound)"),
        ("borrow_mut", "(transfer none)", "_borrow_mut takes memory as (none, lifetimebound)"),
    ] {
        let tail = format!("/// @param p {tags} (counted-by n)\n/// @return (transfer full)");
        let declaration = format!(
            "#[must_use] pub fn tnr_blob_{verb}(p: *mut c_void, n: usize) -> *mut tnr_blob;"
        );
        rejects(&with_tail(&tail, &declaration), expected);
    }
    let borrow = "#[must_use] pub fn tnr_blob_borrow(n: u32) -> *mut tnr_blob;";
    rejects(&with_tail("/// @return (transfer full)", borrow), "no void pointer is documented");
}

#[test]
fn verbs_that_take_a_callback() {
    let kept = ADOPT.replace("@param data (transfer full)", "@param data (transfer none)");
    rejects(&with_tail(&kept, ADOPT_DECLARATION), "_adopt takes memory as (full, unbound)");
    let share = ADOPT_DECLARATION.replace("tnr_blob_adopt", "tnr_blob_share");
    rejects(&with_tail(ADOPT, &share), "_share takes memory as (none, unbound)");
    for (verb, tail) in [("adopt", ADOPT), ("share", kept.as_str())] {
        let declaration = ADOPT_DECLARATION.replace("tnr_blob_adopt", &format!("tnr_blob_{verb}"));
        let early = tail.replace("notified", "call");
        rejects(&with_tail(&early, &declaration), "must take a callback of (scope notified)");
    }
}

#[test]
fn verbs_that_take_a_handle() {
    let handle = "} pub struct tnr_pool { _opaque: [u8; 0] } unsafe extern {";
    for (verb, transfer) in [("release", "full"), ("reclaim", "none"), ("end_borrow", "none")] {
        let must_use = if verb == "release" { "" } else { "#[must_use]" };
        let wrong = if transfer == "full" { "none" } else { "full" };
        let declaration =
            format!("{must_use} pub fn tnr_pool_{verb}(pool: *mut tnr_pool) -> tnr_status;");
        let tail = format!("/// @param pool (transfer {wrong})");
        let found = problems(&format!("{handle}{}", with_tail(&tail, &declaration)));
        let expected = format!("_{verb} must take *mut tnr_pool first, as (transfer {transfer})");
        assert!(found.iter().any(|problem| problem.text.contains(&expected)), "{found:#?}");
    }
    let retain = "#[must_use] pub fn tnr_blob_retain(blob: *const tnr_blob) -> *mut tnr_blob;";
    let tail = "/// @param blob (transfer none)\n/// @return (transfer full)";
    rejects(&with_tail(tail, retain), "_retain must take *mut tnr_blob first, as (transfer none)");
    let data = "pub fn tnr_blob_data(blob: *mut tnr_blob);";
    rejects(&with_tail("/// @param blob (transfer full)", data), "as only _release may");
}

#[test]
fn functions_are_counted_in_and_out() {
    // cbindgen drops each of these without a word.
    for item in ["pub safe fn tnr_x();", "make! { pub fn tnr_x(); }"] {
        let found = problems(item);
        let has = |text: &str| found.iter().any(|problem| problem.text.contains(text));
        assert!(has("only plain `pub fn` reach the header"), "{item}: {found:#?}");
        assert!(has("2 functions are written but 1 are declared"), "{item}: {found:#?}");
    }
    rejects("static tnr_x: u32;", "only plain `pub fn` reach the header");
    rejects("} make! { pub fn tnr_x(); } unsafe extern {", "2 functions are written but 1");
    let function = with_tail("///", "pub fn tnr_x();");
    let found = problems_when_printed(&function, |names| names[..1].to_vec());
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].text, "tnr_x: cbindgen dropped it");
}

const PREAMBLE_OF_OPERATIONS: &str = "} #[cfg_attr(all(), repr(C))]
    pub struct tnr_context { _opaque: [u8; 0] }
    pub struct tnr_op(pub i32);
    #[repr(C)]
    pub struct tnr_x_attributes { pub struct_size: u64 }
    unsafe extern {";

/// An operation with these parameters after its context. Each pointer is documented.
fn operation(params: &[&str], attributes: &str) -> String {
    let lines: String = params
        .iter()
        .filter(|param| param.contains("*const") && !param.starts_with("attributes"))
        .map(|param| format!("/// @param {} (transfer none)\n", param.split(':').next().unwrap()))
        .collect();
    let tail = format!("/// @param context (transfer none) (nullable)\n{lines}{attributes}");
    let declaration = format!(
        "#[must_use] pub fn tnr_x(context: *mut tnr_context, {}) -> tnr_status;",
        params.join(", ")
    );
    format!("{PREAMBLE_OF_OPERATIONS}{}", with_tail(&tail, &declaration))
}

#[test]
fn order_of_arguments() {
    let nullable = "/// @param attributes (transfer none) (nullable)";
    let (op, a, out) = ("op: tnr_op", "a: *const tnr_view", "out: *const tnr_view_mut");
    let attributes = "attributes: *const tnr_x_attributes";
    assert_eq!(problems(&operation(&[op, a, attributes, out], nullable)), vec![]);
    rejects(&operation(&[a, op, attributes, out], nullable), "`op` is a code, which follows");
    let several = |tag: &str| {
        let tail = format!(
            "/// @param context (transfer none) (nullable)\n{nullable}\n\
             /// @param outs (transfer none){tag}"
        );
        let declaration = format!(
            "#[must_use] pub fn tnr_x(context: *mut tnr_context, {op}, {attributes}, \
             outs: *const *const tnr_view_mut, n: u32) -> tnr_status;"
        );
        format!("{PREAMBLE_OF_OPERATIONS}{}", with_tail(&tail, &declaration))
    };
    assert_eq!(problems(&several(" (counted-by n)")), vec![]);
    rejects(&several(""), "not between its inputs and");
    rejects(&operation(&[op, a, out], ""), "computes, but takes no attributes");
    rejects(&operation(&[op, a, out, attributes], nullable), "not between its inputs and");
    rejects(&operation(&[op, attributes, a, out], nullable), "not between its inputs and");
    rejects(
        &operation(&[op, a, attributes, out], "/// @param attributes (transfer none)"),
        "`attributes` is not (nullable)",
    );
}
