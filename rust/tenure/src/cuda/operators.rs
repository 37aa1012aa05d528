//! Operators on tensors and views of a device: `&a * &b + 1.0`.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

use half::{bf16, f16};
use tenure_sys::{tnr_binary_op, tnr_unary_op};

use crate::cuda::{Tensor, TensorView, TensorViewMut};
use crate::dtype::{Arithmetic, Integer, Number};
use crate::expr::operators::{
    Bits, binary_of, codes, for_each_operator, number_and, two, unary_of,
};
use crate::expr::{Expr, IntoExpr, OnDevice};
use crate::raw::expression::Code;

macro_rules! binary_operators {
    ($($trait:ident $method:ident $bound:ident $op:expr, [$($number:ty)*];)*) => {$(
        binary_of! {
            $trait $method $bound $op, OnDevice;
            &'a Tensor<T>, &'a TensorView<'_, T>, &'a TensorViewMut<'_, T>, TensorView<'a, T>
        }
        $(number_and! {
            $trait $method $op; $number, OnDevice;
            &'a Tensor<$number>, &'a TensorView<'_, $number>, &'a TensorViewMut<'_, $number>,
            TensorView<'a, $number>
        })*
    )*};
}

for_each_operator!(binary_operators);

unary_of! {
    Neg neg Arithmetic tnr_unary_op::NEG, OnDevice;
    &'a Tensor<T>, &'a TensorView<'_, T>, &'a TensorViewMut<'_, T>, TensorView<'a, T>
}
unary_of! {
    Not not Bits <T as codes::OfBits>::NOT, OnDevice;
    &'a Tensor<T>, &'a TensorView<'_, T>, &'a TensorViewMut<'_, T>, TensorView<'a, T>
}
