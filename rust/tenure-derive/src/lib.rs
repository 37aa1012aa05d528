//! `#[derive(Tree)]` of the crate `tenure`, with its feature `derive`: see `tenure::tree`.
//!
//! It has no dependencies: of a struct it reads only the names and types of the fields, and the
//! parameters.

mod parse;

use std::fmt::Write;

use parse::Struct;
use proc_macro::TokenStream;

/// Makes a struct with named fields a tree whose branches are the fields: see `tenure::tree`.
///
/// The struct has one type parameter, bounded by `Leaves`, and may have const parameters. The type
/// of a leaf is `L::Of<T>`.
#[proc_macro_derive(Tree)]
pub fn tree(item: TokenStream) -> TokenStream {
    let code = match Struct::parse(item) {
        Ok(parsed) => implemented(&parsed),
        Err(why) => format!("::core::compile_error!({why:?});"),
    };
    code.parse().unwrap_or_default()
}

/// Where the crate has the traits.
const TREE: &str = "::tenure::tree::derived";

/// Leaves that values in a graph, and types of inputs, have.
const IN_GRAPH: &str = "::tenure::tree::InGraph<'__g>";
const UPDATES: &str = "::tenure::tree::Updates<'__g>";
const TYPES: &str = "::tenure::tree::Types";
const UPDATED_TYPES: &str = "::tenure::tree::UpdatedTypes";

fn implemented(tree: &Struct) -> String {
    let mut code = String::new();
    for (leaves, types) in [(IN_GRAPH, TYPES), (UPDATES, UPDATED_TYPES)] {
        values(&mut code, tree, leaves, types);
        input_types(&mut code, tree, types);
        borrowed(&mut code, tree, &UNIQUE, types);
    }
    graph(&mut code, tree);
    like(&mut code, tree);
    output_types(&mut code, tree);
    borrowed(&mut code, tree, &SHARED, TYPES);
    whole(&mut code, tree, &FILL, TYPES);
    code.replace("\n        impl<", "\n        #[automatically_derived] impl<")
}

// It is written to a `String`.
macro_rules! emit {
    ($code:ident, $($format:tt)*) => { let _ = write!($code, $($format)*); };
}

/// Code for each field, in order.
fn each(tree: &Struct, of: impl Fn(usize, &str) -> String) -> String {
    tree.fields.iter().enumerate().map(|(nth, field)| of(nth, &field.name)).collect()
}

/// A name without the mark of a raw identifier.
fn shown(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

fn values(code: &mut String, tree: &Struct, leaves: &str, types: &str) {
    let (this, consts) = (tree.with(leaves), &tree.consts);
    let walk = each(tree, |_, name| format!("walk.field({:?}, &self.{name});", shown(name)));
    let made = each(tree, |_, name| format!("{name}: {TREE}::Made::made(parts),"));
    let types = tree.with(types);
    emit! { code, "
        impl<'__g, {consts}> {TREE}::Walked<'__g> for {this} {{
            fn walk(&self, walk: &mut {TREE}::Walk<'__g>) {{ {walk} }}
        }}
        impl<'__g, {consts}> {TREE}::Made<'__g> for {this} {{
            fn made(parts: &mut {TREE}::Parts<'_, '__g>) -> Self {{ Self {{ {made} }} }}
        }}
        impl<'__g, {consts}> {TREE}::Inputs<'__g> for {this} {{ type Types = {types}; }}
    " }
}

fn graph(code: &mut String, tree: &Struct) {
    let (this, updating, consts) = (tree.with(IN_GRAPH), tree.with(UPDATES), &tree.consts);
    let bounds = each(tree, |nth, _| {
        format!("{}: {TREE}::TreeOf<'__g, __T>,", tree.fields[nth].with(IN_GRAPH))
    });
    emit! { code, "
        impl<'__g, {consts}> {TREE}::Tree<'__g> for {this} {{ type Updating = {updating}; }}
        impl<'__g, __T: ::tenure::Element, {consts}> {TREE}::TreeOf<'__g, __T> for {this}
            where {bounds} {{}}
    " }
}

fn like(code: &mut String, tree: &Struct) {
    let (this, values) = (tree.with("__L"), tree.with(IN_GRAPH));
    let Struct { bounds, consts, .. } = tree;
    let fields = each(tree, |nth, _| {
        let (field, values) = (tree.fields[nth].with("__L"), tree.fields[nth].with(IN_GRAPH));
        format!("{field}: {TREE}::Like<'__g, Values = {values}>,")
    });
    let walk = each(tree, |_, name| format!("walk.field({:?}, &self.{name});", shown(name)));
    emit! { code, "
        impl<'__g, __L: {bounds}, {consts}> {TREE}::Like<'__g> for {this} where {fields} {{
            type Values = {values};
            fn walk_like(&self, walk: &mut {TREE}::LikeWalk<'__g>) {{ {walk} }}
        }}
    " }
}

fn input_types(code: &mut String, tree: &Struct, types: &str) {
    let (this, consts) = (tree.with(types), &tree.consts);
    let [tensors, views, views_mut] =
        ["DeviceTensors", "DeviceViews<'__a>", "DeviceViewsMut<'__a>"]
            .map(|leaves| tree.with(&format!("::tenure::tree::{leaves}")));
    let of = |nth: usize| format!("<{} as {TREE}::InputTypes>", tree.fields[nth].with(types));
    let expect = each(tree, |nth, name| {
        format!("expected.field::<{}>({:?});", tree.fields[nth].with(types), shown(name))
    });
    let view = each(tree, |nth, name| format!("{name}: {}::views(&tensors.{name}),", of(nth)));
    let view_mut =
        each(tree, |nth, name| format!("{name}: {}::views_mut(&mut tensors.{name}),", of(nth)));
    let name = &tree.name;
    emit! { code, "
        impl<{consts}> {TREE}::InputTypes for {this} {{
            type DeviceTensors = {tensors};
            type Views<'__a> = {views};
            type ViewsMut<'__a> = {views_mut};
            fn expect(expected: &mut {TREE}::Expected<'_>) {{ {expect} }}
            fn views(tensors: &Self::DeviceTensors) -> Self::Views<'_> {{ {name} {{ {view} }} }}
            fn views_mut(tensors: &mut Self::DeviceTensors) -> Self::ViewsMut<'_> {{
                {name} {{ {view_mut} }}
            }}
        }}
    " }
}

/// A run makes the fields as pairs of pairs.
fn output_types(code: &mut String, tree: &Struct) {
    let (this, consts, name) = (tree.with(TYPES), &tree.consts, &tree.name);
    let (tensors, values) = (tree.with("::tenure::tree::Tensors"), tree.with(IN_GRAPH));
    let of = |nth: usize| format!("<{} as {TREE}::OutputTypes>", tree.fields[nth].with(TYPES));
    let (mut fresh, mut pattern) = (String::from("()"), String::from("()"));
    for nth in (0..tree.fields.len()).rev() {
        fresh = format!("({}::Fresh, {fresh})", of(nth));
        pattern = format!("(__f{nth}, {pattern})");
    }
    let made = each(tree, |nth, name| format!("{name}: {}::tensors(__f{nth}),", of(nth)));
    let on_device =
        each(tree, |nth, name| format!("{name}: {}::device_tensors(__f{nth}),", of(nth)));
    emit! { code, "
        impl<{consts}> {TREE}::OutputTypes for {this} {{
            type Tensors = {tensors};
            type Values<'__g> = {values};
            type Fresh = {fresh};
            fn tensors(
                {pattern}: <Self::Fresh as {TREE}::Fresh<{TREE}::Host>>::Made,
            ) -> Self::Tensors {{ {name} {{ {made} }} }}
            fn device_tensors(
                {pattern}: <Self::Fresh as {TREE}::Fresh<{TREE}::OnDevice>>::Made,
            ) -> Self::DeviceTensors {{ {name} {{ {on_device} }} }}
        }}
    " }
}

/// A role of a tree that a run is lent, with its method and how that takes the tree.
struct Role {
    name: &'static str,
    method: &'static str,
    is_exclusive: bool,
}

const SHARED: Role = Role { name: "LendShared", method: "lend_shared", is_exclusive: false };
const UNIQUE: Role = Role { name: "LendUnique", method: "lend_unique", is_exclusive: true };
const FILL: Role = Role { name: "Fill", method: "lend_filled", is_exclusive: true };

/// Lends all fields.
fn whole(code: &mut String, tree: &Struct, role: &Role, types: &str) {
    let Struct { bounds, consts, .. } = tree;
    let this = tree.with("__L");
    let Role { name, method, is_exclusive } = role;
    let mutable = if *is_exclusive { "mut " } else { "" };
    let fields = each(tree, |nth, _| {
        let (field, types) = (tree.fields[nth].with("__L"), tree.fields[nth].with(types));
        format!("{field}: {TREE}::{name}<{types}, __P>,")
    });
    let lend = each(tree, |nth, field| {
        let types = tree.fields[nth].with(types);
        format!("{TREE}::{name}::<{types}, __P>::{method}(&{mutable}self.{field}, call);")
    });
    let types = tree.with(types);
    emit! { code, "
        impl<__P, __L: {bounds}, {consts}> {TREE}::{name}<{types}, __P> for {this}
            where {fields}
        {{
            fn {method}<'s>(&'s {mutable}self, call: &mut {TREE}::ProgramCall<'_, 's>) {{ {lend} }}
        }}
    " }
}

/// Lends all fields as inputs, where the tree is borrowed.
fn borrowed(code: &mut String, tree: &Struct, role: &Role, types: &str) {
    whole(code, tree, role, types);
    let Struct { bounds, consts, .. } = tree;
    let (this, types) = (tree.with("__L"), tree.with(types));
    let Role { name, method, is_exclusive } = role;
    let mutable = if *is_exclusive { "mut " } else { "" };
    emit! { code, "
        impl<__P, __L: {bounds}, {consts}> {TREE}::LendAs<{types}, __P>
            for &{mutable}{this}
            where {this}: {TREE}::{name}<{types}, __P>
        {{
            fn lend<'s>(&'s mut self, call: &mut {TREE}::ProgramCall<'_, 's>) {{
                {TREE}::{name}::<{types}, __P>::{method}(&{mutable}**self, call);
            }}
        }}
    " }
}
