//! A span of the crate `tracing` for each operation, named as the function that the user calls.
//!
//! The level is read first, in line: where nobody listens, that one load is all.

use tenure_sys::{tnr_binary_op, tnr_compare_op, tnr_reduce_op, tnr_unary_op, tnr_view};
use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing::span::EnteredSpan;

use crate::{DType, layout};

/// Held while the operation runs.
pub(super) type Traced = Option<EnteredSpan>;

/// An entered span. The view is what says how large the work is: the output, or the input of a
/// reduction.
macro_rules! span {
    ($name:literal, $view:expr) => {{
        let view: &tnr_view = $view;
        let dtype = DType::from_raw(view.dtype);
        tracing::span!(
            target: "tenure",
            Level::TRACE,
            $name,
            dtype = dtype.name(),
            shape = ?&view.shape[..view.rank as usize],
            bytes = dtype.size_bytes() * layout::count(view),
        )
        .entered()
    }};
}

/// A function that enters a span if anybody listens, for each family of operations: one that has
/// codes, or the only one of its kind.
macro_rules! families {
    ($($family:ident $(($codes:ident))?: $($($code:ident)? $name:literal)*;)*) => {$(
        #[inline]
        pub(super) fn $family($(op: $codes,)? view: &tnr_view) -> Traced {
            #[cold]
            #[inline(never)]
            fn enter($(op: $codes,)? view: &tnr_view) -> Traced {
                families!(@enter view $($codes op)?; $($($code)? $name)*)
            }
            if Level::TRACE <= LevelFilter::current() {
                enter($(families!(@first op $codes),)? view)
            } else {
                None
            }
        }
    )*};
    (@first $op:ident $codes:ident) => { $op };
    (@enter $view:ident; $name:literal) => { Some(span!($name, $view)) };
    (@enter $view:ident $codes:ident $op:ident; $($code:ident $name:literal)*) => {
        match $op {
            $($codes::$code => Some(span!($name, $view)),)*
            _ => None,
        }
    };
}

families! {
    copy: "copy";
    cast: "cast";
    fill: "fill";
    select: "select";
    unary(tnr_unary_op): NEG "neg" ABS "abs" SQRT "sqrt" EXP "exp" RELU "relu";
    binary(tnr_binary_op):
        ADD "add" SUB "sub" MUL "mul" DIV "div" MIN "minimum" MAX "maximum";
    compare(tnr_compare_op):
        EQ "equal" NE "not_equal" LT "less" LE "less_equal" GT "greater" GE "greater_equal";
    reduce(tnr_reduce_op):
        SUM "sum" PROD "prod" MEAN "mean" VAR "var" STD "std" MIN "min" MAX "max"
        ARGMIN "argmin" ARGMAX "argmax" ANY "any" ALL "all" COUNT "count";
}
