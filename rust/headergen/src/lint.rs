//! The rules of the ABI source: every pointer states its owner, and agrees with the name of its
//! function.

use std::collections::HashSet;

use crate::abi::{Abi, Function, Param, Problem, Type};
use crate::tags::{Scope, Tags, Threads, Transfer};

mod since;
#[cfg(test)]
mod tests;

/// Verbs whose result is a new handle, to be released once.
const CONSTRUCTORS: [&str; 12] = [
    "alloc",
    "alloc_pinned",
    "copy",
    "borrow",
    "borrow_mut",
    "adopt",
    "share",
    "retain",
    "create",
    "copy_subgraph",
    "import",
    "import_legacy",
];

/// Every problem of the source, in the order of its lines. `printed` names the functions that
/// cbindgen found.
pub fn check(abi: &Abi, printed: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut declared = HashSet::new();
    for function in &abi.functions {
        let mut texts = Vec::new();
        check_comment(function, &mut texts);
        for param in &function.params {
            check_param(abi, function, param, &mut texts);
        }
        check_result(abi, function, &declared, &mut texts);
        check_verb(abi, function, &mut texts);
        check_order(function, &mut texts);
        declared.insert(function.name.as_str());
        let place =
            |text| Problem { line: function.line, text: format!("{}: {text}", function.name) };
        problems.extend(texts.into_iter().map(place));
    }
    since::check(abi, &mut problems);
    check_count(abi, printed, &mut problems);
    problems
}

/// Nothing may be lost between the source and the header.
fn check_count(abi: &Abi, printed: &[String], problems: &mut Vec<Problem>) {
    if abi.written_count != abi.functions.len() {
        let text = format!(
            "{} functions are written but {} are declared plainly in an extern block",
            abi.written_count,
            abi.functions.len()
        );
        problems.push(Problem { line: 1, text });
    }
    for function in &abi.functions {
        if !printed.contains(&function.name) {
            let text = format!("{}: cbindgen dropped it", function.name);
            problems.push(Problem { line: function.line, text });
        }
    }
}

fn check_comment(function: &Function, texts: &mut Vec<String>) {
    if !function.comment.has_prose {
        texts.push("no sentence says what it does".to_owned());
    }
    for (name, _) in &function.comment.params {
        if !function.params.iter().any(|param| param.name == *name) {
            texts.push(format!("`@param {name}` names no parameter"));
        }
    }
    if let Some(Threads::Exclusive(name)) = &function.comment.threads {
        if !function.params.iter().any(|p| p.name == *name && p.ty.pointee().is_some()) {
            texts.push(format!("`@threads exclusive({name})` names no pointer parameter"));
        }
    }
}

fn check_param(abi: &Abi, function: &Function, param: &Param, texts: &mut Vec<String>) {
    let name = &param.name;
    let tags = param.tags.clone().unwrap_or_default();
    match &param.ty {
        Type::Value(_) | Type::Void => {
            if !tags.is_empty() {
                texts.push(format!("`{name}` is no pointer but has tags"));
            }
            return;
        }
        _ if param.tags.is_none() => {
            return texts.push(format!("pointer `{name}` is not documented by `@param {name}`"));
        }
        Type::Callback(_) => check_callback(name, &tags, texts),
        Type::ConstPointer(pointee) | Type::MutPointer(pointee) => {
            check_data_pointer(abi, name, &param.ty, pointee, &tags, texts);
        }
        Type::HandlePointer(pointee) => check_handle_pointer(abi, name, pointee, &tags, texts),
    }
    if let Some(count) = &tags.counted_by {
        let counts = |p: &Param| match &p.ty {
            Type::Value(ty) => p.name == *count && ["u32", "u64", "usize"].contains(&ty.as_str()),
            _ => false,
        };
        if !function.params.iter().any(counts) {
            texts.push(format!("`(counted-by {count})` of `{name}` names no unsigned parameter"));
        }
    }
    if tags.lifetimebound && function.result.pointee().is_none() {
        texts.push(format!("`{name}` is (lifetimebound), but the result is no pointer"));
    }
}

fn check_callback(name: &str, tags: &Tags, texts: &mut Vec<String>) {
    if tags.scope.is_none() {
        texts.push(format!("callback `{name}` lacks (scope call|notified)"));
    }
    let rest = Tags { scope: None, nullable: false, ..tags.clone() };
    if !rest.is_empty() {
        texts.push(format!("callback `{name}` takes no tags but (scope) and (nullable)"));
    }
}

/// A parameter that a handle is written to, for functions that give several handles.
fn check_handle_pointer(
    abi: &Abi,
    name: &str,
    pointee: &str,
    tags: &Tags,
    texts: &mut Vec<String>,
) {
    if !abi.handles.contains(pointee) {
        texts.push(format!("`{name}` points at a pointer that is no handle"));
    }
    let expected = Tags { transfer: Some(Transfer::Full), out: true, ..Tags::default() };
    if *tags != expected {
        texts.push(format!("`{name}` is written a handle, so its tags are (transfer full) (out)"));
    }
}

fn check_data_pointer(
    abi: &Abi,
    name: &str,
    ty: &Type,
    pointee: &str,
    tags: &Tags,
    texts: &mut Vec<String>,
) {
    if tags.transfer.is_none() {
        texts.push(format!("pointer `{name}` lacks (transfer none|full)"));
    }
    if tags.scope.is_some() {
        texts.push(format!("`{name}` is no callback but has (scope)"));
    }
    if (tags.out || tags.inout) && !matches!(ty, Type::MutPointer(_)) {
        texts.push(format!("`{name}` is written but const"));
    }
    if tags.out && tags.inout {
        texts.push(format!("`{name}` is both (out) and (inout)"));
    }
    let plain = pointee != "c_void" && !abi.handles.contains(pointee);
    if plain && tags.transfer == Some(Transfer::Full) {
        texts.push(format!("`{name}` is a plain value of {pointee}, which nobody can own"));
    }
    if plain && matches!(ty, Type::MutPointer(_)) && !tags.out && !tags.inout {
        texts.push(format!("`{name}` can be written but is neither (out) nor (inout)"));
    }
    if pointee == "c_void" && tags.counted_by.is_none() && !name.ends_with("_context") {
        texts.push(format!("memory `{name}` lacks (counted-by)"));
    }
}

fn check_result(abi: &Abi, function: &Function, declared: &HashSet<&str>, texts: &mut Vec<String>) {
    let tags = function.comment.result.clone().unwrap_or_default();
    let Some(pointee) = function.result.pointee() else {
        if !tags.is_empty() {
            texts.push("the result is no pointer but has tags".to_owned());
        }
        if function.result == Type::Value("tnr_status".to_owned())
            && function.must_use == function.name.ends_with("_release")
        {
            texts.push("a status is #[must_use], but for the one of a release".to_owned());
        }
        return;
    };
    if (Tags { transfer: None, nullable: false, ..tags.clone() }) != Tags::default() {
        texts.push("a result takes no tags but (transfer) and (nullable)".to_owned());
    }
    if tags.transfer == Some(Transfer::Full) {
        let release = format!("{pointee}_release");
        // The macro that is made of the tag names the function, so C must know it by then.
        if !abi.handles.contains(pointee) || !declared.contains(release.as_str()) {
            texts.push(format!("returns (transfer full), but {release} is not declared above it"));
        }
        if !function.must_use {
            texts.push("returns (transfer full) but is not #[must_use]".to_owned());
        }
        let says_so = is_operation(function)
            || noun_verb(abi, &function.name).is_some_and(|(_, verb)| CONSTRUCTORS.contains(&verb));
        if !says_so {
            texts.push("returns (transfer full), but its verb does not say so".to_owned());
        }
    }
}

/// Operations compute a new result. Their first parameter, a context, marks them.
fn is_operation(function: &Function) -> bool {
    let first = function.params.first();
    first.is_some_and(|first| first.ty == Type::MutPointer("tnr_context".to_owned()))
}

/// Functions that compute take a context, an operation code if they have one, inputs, attributes,
/// outputs.
fn check_order(function: &Function, texts: &mut Vec<String>) {
    let is_of = |noun| function.name.starts_with(noun);
    let others = ["tnr_blob_", "tnr_context_", "tnr_event_", "tnr_kernel_", "tnr_view_"];
    let computes = !others.into_iter().any(is_of);
    if !is_operation(function) || !computes {
        return;
    }
    for (at, param) in function.params.iter().enumerate() {
        if at != 1 && matches!(&param.ty, Type::Value(ty) if ty.starts_with("tnr_")) {
            texts.push(format!("`{}` is a code, which follows the context", param.name));
        }
    }
    let is_attributes = |param: &Param| {
        let pointee = param.ty.pointee().unwrap_or_default();
        ["_attributes", "_options", "_extension"].iter().any(|end| pointee.ends_with(end))
    };
    let Some(at) = function.params.iter().position(is_attributes) else {
        return texts.push("computes, but takes no attributes".to_owned());
    };
    // A new handle is returned. All other results are written to the parameters after the
    // attributes.
    let outputs = &function.params[at + 1..];
    let gives = !outputs.is_empty() || function.result.pointee().is_some();
    let counts = |count: &Param, param: &Param| {
        let tags = param.tags.as_ref();
        tags.is_some_and(|tags| tags.counted_by.as_ref() == Some(&count.name))
    };
    let is_of_outputs =
        |param: &Param| is_output(param) || outputs.iter().any(|output| counts(param, output));
    if !gives || !outputs.iter().all(is_of_outputs) {
        texts.push("its attributes are not between its inputs and its outputs".to_owned());
    }
    let attributes = &function.params[at];
    let is_nullable = attributes.tags.as_ref().is_some_and(|tags| tags.nullable);
    if attributes.name == "attributes" && !is_nullable {
        texts.push("`attributes` is not (nullable)".to_owned());
    }
}

fn is_output(param: &Param) -> bool {
    let is_out = param.tags.as_ref().is_some_and(|tags| tags.out);
    is_out || param.ty.pointee().is_some_and(|pointee| pointee.ends_with("view_mut"))
}

/// The verb of a noun function against its tags.
fn check_verb(abi: &Abi, function: &Function, texts: &mut Vec<String>) {
    let Some((noun, verb)) = noun_verb(abi, &function.name) else { return };
    let result = function.comment.result.clone().unwrap_or_default();
    if CONSTRUCTORS.contains(&verb)
        && (function.result != Type::MutPointer(noun.to_owned())
            || result.transfer != Some(Transfer::Full))
    {
        texts.push(format!("_{verb} must return *mut {noun} as (transfer full)"));
    }
    match verb {
        "copy" => expect_memory(function, verb, "none, unbound", texts),
        "adopt" => {
            expect_memory(function, verb, "full, unbound", texts);
            expect_callback(function, verb, texts);
        }
        "share" => {
            expect_memory(function, verb, "none, unbound", texts);
            expect_callback(function, verb, texts);
        }
        "borrow" | "borrow_mut" => expect_memory(function, verb, "none, lifetimebound", texts),
        "release" => expect_handle(function, noun, verb, Transfer::Full, texts),
        "retain" | "reclaim" | "end_borrow" => {
            expect_handle(function, noun, verb, Transfer::None, texts);
        }
        _ => {}
    }
    if verb != "release" {
        for param in &function.params {
            let taken = param.tags.as_ref().and_then(|tags| tags.transfer) == Some(Transfer::Full);
            if taken && param.ty.pointee() == Some(noun) {
                let name = &param.name;
                texts.push(format!(
                    "takes the handle `{name}` (transfer full), as only _release may"
                ));
            }
        }
    }
}

/// The first memory parameter is handed over as the verb requires.
fn expect_memory(function: &Function, verb: &str, expected: &str, texts: &mut Vec<String>) {
    let memory = function.params.iter().find(|p| p.ty.pointee() == Some("c_void"));
    let Some(tags) = memory.and_then(|p| p.tags.as_ref()) else {
        return texts.push(format!("_{verb} takes memory, but no void pointer is documented"));
    };
    let transfer = if tags.transfer == Some(Transfer::Full) { "full" } else { "none" };
    let bound = if tags.lifetimebound { "lifetimebound" } else { "unbound" };
    let found = format!("{transfer}, {bound}");
    if found != expected {
        texts.push(format!("_{verb} takes memory as ({expected}), not as ({found})"));
    }
}

fn expect_callback(function: &Function, verb: &str, texts: &mut Vec<String>) {
    let notified = |p: &Param| {
        matches!(p.ty, Type::Callback(_))
            && p.tags.as_ref().is_some_and(|tags| tags.scope == Some(Scope::Notified))
    };
    if !function.params.iter().any(notified) {
        texts.push(format!("_{verb} must take a callback of (scope notified)"));
    }
}

fn expect_handle(
    function: &Function,
    noun: &str,
    verb: &str,
    transfer: Transfer,
    texts: &mut Vec<String>,
) {
    let fits = function.params.first().is_some_and(|first| {
        first.ty == Type::MutPointer(noun.to_owned())
            && first.tags.as_ref().is_some_and(|tags| tags.transfer == Some(transfer))
    });
    if !fits {
        let word = if transfer == Transfer::Full { "full" } else { "none" };
        texts.push(format!("_{verb} must take *mut {noun} first, as (transfer {word})"));
    }
}

/// `tnr_blob_end_borrow` is ("tnr_blob", "end_borrow"); `tnr_copy` is an operation, of no noun.
fn noun_verb<'a>(abi: &'a Abi, name: &'a str) -> Option<(&'a str, &'a str)> {
    let strip =
        |noun: &'a String| Some((noun.as_str(), name.strip_prefix(noun)?.strip_prefix('_')?));
    abi.handles.iter().find_map(strip)
}
