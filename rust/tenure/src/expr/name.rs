//! The names of operations, as messages have them: those of the functions.

use tenure_sys as sys;
use tenure_sys::{
    for_each_binary, for_each_compare, for_each_normalize, for_each_reduce, for_each_ternary,
    for_each_unary, tnr_binary_op, tnr_compare_op, tnr_normalize_op, tnr_reduce_op, tnr_ternary_op,
    tnr_unary_op,
};

use crate::raw::expression::Code;

/// The name of one family's operation.
macro_rules! family {
    ($function:ident $codes:ident $($op:ident $name:literal)*) => {
        fn $function(op: i32) -> &'static str {
            match $codes(op) {
                $($codes::$op => $name,)*
                _ => "an operation",
            }
        }
    };
}
macro_rules! unary {
    ($($op:ident $name:literal $module:ident: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident; $what:literal, errors $also:literal,
        example $($a:literal),+ => $result:literal;)*) => {
        family! { unary tnr_unary_op $($op $name)* }
    };
}
macro_rules! binary {
    ($($op:ident $name:literal: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident; $what:literal, errors $also:literal,
        example $($a:literal),+ => $result:literal;)*) => {
        family! { binary tnr_binary_op $($op $name)* }
    };
}
macro_rules! ternary {
    ($($op:ident $name:literal: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident; $what:literal, errors $also:literal,
        example $($a:literal),+ => $result:literal;)*) => {
        family! { ternary tnr_ternary_op $($op $name)* }
    };
}
macro_rules! compare {
    ($($op:ident $name:literal: $new:ident, $into:ident, $bound:ident;
        $what:literal => $result:literal;)*) => {
        family! { compare tnr_compare_op $($op $name)* }
    };
}
macro_rules! reduce {
    ($($op:ident $name:literal: $new:ident, $into:ident, [$($generic:tt)*] => $result_type:ty
        $(, [$field:ident: $field_type:ty])?; $what:literal, errors $also:literal,
        example $a:literal, $arguments:literal => $result:literal;)*) => {
        family! { reduce tnr_reduce_op $($op $name)* }
    };
}
macro_rules! normalize {
    ($($op:ident $name:literal: $new:ident;)*) => {
        family! { normalize tnr_normalize_op $($op $name)* }
    };
}
for_each_unary!(unary);
for_each_binary!(binary);
for_each_ternary!(ternary);
for_each_compare!(compare);
for_each_reduce!(reduce);
for_each_normalize!(normalize);

/// The function's name.
pub(crate) fn of(code: Code) -> &'static str {
    let op = code.op();
    match code.kind() {
        sys::TNR_NODE_UNARY => unary(op),
        sys::TNR_NODE_BINARY => binary(op),
        sys::TNR_NODE_TERNARY => ternary(op),
        sys::TNR_NODE_COMPARE => compare(op),
        sys::TNR_NODE_REDUCE => reduce(op),
        sys::TNR_NODE_NORMALIZE => normalize(op),
        sys::TNR_NODE_SELECT => "select",
        _ => "cast",
    }
}
