//! Activations, element by element: those functions of the table of operations,
//! `tenure_sys::operations`, that are of `nn`.

use tenure_sys::{for_each_unary, tnr_unary_op};

use crate::dense::Tensor;
use crate::dtype::{Float, Number};
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::ops::elementwise::{unary, unary_assign, unary_functions, unary_into, unary_operations};
use crate::ops::results::refused;

macro_rules! of_module {
    (nn $($function:tt)*) => {
        unary_functions! { nn $($function)* }
    };
    (ops $($function:tt)*) => {};
}

for_each_unary!(unary_operations);
