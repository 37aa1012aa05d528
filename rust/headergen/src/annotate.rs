//! Turns tags into macros: the header expresses for compilers what a comment states for people.

use cbindgen::ir::AnnotationValue;

use crate::abi::{Abi, Function, Param, Type};
use crate::tags::Transfer;

/// Puts the macros on every function that is about to be printed.
pub fn annotate(bindings: &mut cbindgen::Bindings, abi: &Abi) {
    for printed in &mut bindings.functions {
        // cbindgen writes attributes on definitions only; the word `extern` adds nothing in C.
        printed.extern_decl = false;
        let Some(function) = abi.functions.iter().find(|f| f.name == printed.path.name()) else {
            continue;
        };
        let prefix = AnnotationValue::Atom(Some(function_macros(function).join(" ")));
        printed.annotations.add_default("prefix", prefix);
        for (argument, param) in printed.args.iter_mut().zip(&function.params) {
            let mut words = vec![param.name.clone()];
            words.extend(param_macros(abi, param).iter().map(|&word| word.to_owned()));
            argument.name = Some(words.join(" "));
        }
    }
}

/// The macros before a declaration.
fn function_macros(function: &Function) -> Vec<String> {
    let mut macros = vec!["TNR_API".to_owned()];
    for (index, param) in function.params.iter().enumerate() {
        let tags = param.tags.clone().unwrap_or_default();
        // gcc reports NULL with a count that is not 0 as a mistake. A parameter where NULL has a
        // meaning therefore gets no attribute.
        if tags.nullable {
            continue;
        }
        let Some(count) =
            function.params.iter().position(|p| Some(&p.name) == tags.counted_by.as_ref())
        else {
            continue;
        };
        // Memory for output need not be initialised yet.
        let word = match param.ty {
            Type::ConstPointer(_) => "TNR_READS",
            _ if tags.out => "TNR_WRITES",
            _ => "TNR_SPANS",
        };
        macros.push(format!("{word}({}, {})", index + 1, count + 1));
    }
    let result = function.comment.result.as_ref().and_then(|tags| tags.transfer);
    if let (Some(pointee), Some(Transfer::Full)) = (function.result.pointee(), result) {
        macros.push(format!("TNR_RETURNS_OWNED({pointee}_release)"));
    }
    macros
}

/// The macros after a parameter. A plain value of the caller's gets none: it has no owner.
fn param_macros(abi: &Abi, param: &Param) -> Vec<&'static str> {
    let mut macros = Vec::new();
    let (Some(pointee), Some(tags)) = (param.ty.pointee(), &param.tags) else { return macros };
    if pointee == "c_void" || abi.handles.contains(pointee) {
        macros.push(match tags.transfer {
            Some(Transfer::Full) => "TNR_OWNED",
            _ => "TNR_BORROWED",
        });
    }
    if tags.lifetimebound {
        macros.push("TNR_LIFETIMEBOUND");
    }
    macros
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(functions: &str) -> Abi {
        let source = format!(
            "#[cfg_attr(all(), repr(C))] pub struct tnr_blob {{ _opaque: [u8; 0] }}\n\
             unsafe extern {{ {functions} }}"
        );
        let mut problems = Vec::new();
        let abi = crate::abi::read(&source, &mut problems).expect("the source of a test is Rust");
        assert_eq!(problems, vec![]);
        abi
    }

    #[test]
    fn function_macros_follow_the_tags() {
        for (comment, pointer, expected) in [
            ("(transfer none) (counted-by n)", "*const u32", "TNR_API TNR_READS(1, 2)"),
            ("(transfer none) (counted-by n)", "*mut c_void", "TNR_API TNR_SPANS(1, 2)"),
            ("(transfer none) (counted-by n) (out)", "*mut u32", "TNR_API TNR_WRITES(1, 2)"),
            ("(transfer none) (counted-by n) (nullable)", "*const u32", "TNR_API"),
            ("(transfer none)", "*const u32", "TNR_API"),
        ] {
            let abi = read(&format!("/// @param p {comment}\npub fn tnr_x(p: {pointer}, n: u32);"));
            assert_eq!(function_macros(&abi.functions[0]).join(" "), expected, "{comment}");
        }
        let abi = read("/// @return (transfer full)\npub fn tnr_x() -> *mut tnr_blob;");
        let expected = ["TNR_API", "TNR_RETURNS_OWNED(tnr_blob_release)"];
        assert_eq!(function_macros(&abi.functions[0]), expected);
    }

    #[test]
    fn parameter_macros_stand_where_somebody_can_own() {
        for (comment, pointer, expected) in [
            ("(transfer none)", "*const tnr_blob", "TNR_BORROWED"),
            ("(transfer full)", "*mut tnr_blob", "TNR_OWNED"),
            ("(transfer full)", "*mut c_void", "TNR_OWNED"),
            ("(transfer none) (lifetimebound)", "*const c_void", "TNR_BORROWED TNR_LIFETIMEBOUND"),
            ("(transfer none)", "*const tnr_view", ""),
        ] {
            let abi = read(&format!("/// @param p {comment}\npub fn tnr_x(p: {pointer});"));
            let macros = param_macros(&abi, &abi.functions[0].params[0]);
            assert_eq!(macros.join(" "), expected, "{comment} {pointer}");
        }
    }
}
