//! The rules of `@since`: no item has a future version, and no item mentions a newer one, so that
//! the header of each minor version is complete.

use crate::abi::{Abi, Problem};
use crate::tags::{FIRST, Version};
use crate::types::Kind;

/// Every problem of the versions of types, constants and functions.
pub fn check(abi: &Abi, problems: &mut Vec<Problem>) {
    for item in &abi.items {
        let mut uses: Vec<(Version, &str, String)> = Vec::new();
        match &item.kind {
            Kind::Handle => {}
            Kind::Constant(ty, _) => uses.push((item.since, ty, item.name.clone())),
            Kind::Number(inner) => uses.push((item.since, inner.root(), item.name.clone())),
            Kind::Callback(signature) => {
                uses.extend(signature.roots().map(|root| (item.since, root, item.name.clone())));
            }
            Kind::Struct(fields) => uses.extend(fields.iter().map(|field| {
                (field.since, field.ty.root(), format!("{}.{}", item.name, field.name))
            })),
        }
        // A struct without fields has a version too.
        uses.push((item.since, "", item.name.clone()));
        check_uses(abi, item.line, &uses, problems);
    }
    for function in &abi.functions {
        let since = function.comment.since.unwrap_or(FIRST);
        let uses: Vec<_> =
            function.signature.roots().map(|root| (since, root, function.name.clone())).collect();
        check_uses(abi, function.line, &uses, problems);
    }
}

fn check_uses(
    abi: &Abi,
    line: usize,
    uses: &[(Version, &str, String)],
    problems: &mut Vec<Problem>,
) {
    let mut texts = Vec::new();
    for (since, used, name) in uses {
        let (major, minor) = abi.version;
        if *since > abi.version {
            let (later, than) = since;
            texts.push(format!("{name}: `@since {later}.{than}` is later than {major}.{minor}"));
        } else if let Some(newer) = abi.since(used).filter(|newer| newer > since) {
            let (major, minor) = newer;
            texts.push(format!("{name}: mentions {used}, which is newer: @since {major}.{minor}"));
        }
    }
    texts.sort();
    texts.dedup();
    problems.extend(texts.into_iter().map(|text| Problem { line, text }));
}
