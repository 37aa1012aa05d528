//! Activations, element by element: those functions of the table of operations,
//! `tenure_sys::operations`, that are of `nn`.

use tenure_sys::{for_each_unary, tnr_unary_op};

use crate::ops::elementwise::{unary, unary_assign, unary_functions, unary_into, unary_operations};
use crate::ops::results::refused;
use crate::{AsView, AsViewMut, Float, Number, Result, Tensor};

macro_rules! of_module {
    (nn $($function:tt)*) => {
        unary_functions! { nn $($function)* }
    };
    (ops $($function:tt)*) => {};
}

for_each_unary!(unary_operations);
