//! Operators of values: `a * b + 1.0`.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};
use std::panic::Location;

use tenure_sys::{tnr_binary_op, tnr_unary_op};

use super::traced::sealed::Operand;
use super::{IntoTraced, Traced};
use crate::dtype::{Arithmetic, Integer, Number};
use crate::expr::Bits;
use crate::expr::operators::{codes, for_each_operator};
use crate::raw::expression::Code;
use half::{bf16, f16};

macro_rules! binary_operators {
    ($($trait:ident $method:ident $bound:ident $op:expr, [$($number:ty)*];)*) => {$(
        impl<'g, T: $bound, R: IntoTraced<'g, T>> $trait<R> for Traced<'g, T> {
            type Output = Traced<'g, T>;
            #[track_caller]
            fn $method(self, right: R) -> Traced<'g, T> {
                let operands = [self.value(), right.operand(self.graph())];
                self.graph().operation(Code::binary::<T>($op), &operands, Location::caller())
            }
        }
        binary_operators! { @$trait $method $op; $($number)* }
    )*};
    // Numbers as the left operand. Rust does not allow a generic impl for them.
    (@$trait:ident $method:ident $op:expr; $($number:ty)*) => {$(
        impl<'g> $trait<Traced<'g, $number>> for $number {
            type Output = Traced<'g, $number>;
            #[track_caller]
            fn $method(self, right: Traced<'g, $number>) -> Traced<'g, $number> {
                let graph = right.graph();
                let operands = [self.operand(graph), right.value()];
                graph.operation(Code::binary::<$number>($op), &operands, Location::caller())
            }
        }
    )*};
}

for_each_operator!(binary_operators);

macro_rules! unary_operators {
    ($($trait:ident $method:ident $bound:ident $op:expr;)*) => {$(
        impl<'g, T: $bound> $trait for Traced<'g, T> {
            type Output = Traced<'g, T>;
            #[track_caller]
            fn $method(self) -> Traced<'g, T> {
                let code = Code::unary::<T>($op);
                self.graph().operation(code, &[self.value()], Location::caller())
            }
        }
    )*};
}

unary_operators! {
    Neg neg Arithmetic tnr_unary_op::NEG;
    Not not Bits <T as codes::OfBits>::NOT;
}
