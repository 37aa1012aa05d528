//! Tags become macros: what the comment says to people, the header says to compilers.

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
        // gcc takes NULL beside a count that is not 0 for a mistake; where NULL means something
        // of its own, nothing can be told to it.
        if tags.nullable {
            continue;
        }
        let Some(count) =
            function.params.iter().position(|p| Some(&p.name) == tags.counted_by.as_ref())
        else {
            continue;
        };
        // What is handed over to be written later need not be initialised yet.
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

/// The macros behind a parameter. A plain value of the caller's gets none: nobody can own it.
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
