//! Operators: `&a * &b + 1.0`.

use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};
use std::panic::Location;

use tenure_sys::{tnr_binary_op, tnr_unary_op};

use super::{Expr, Host, IntoExpr, MemorySpace};
use crate::dense::{SharedTensor, Tensor, TensorView, TensorViewMut};
use crate::dtype::{Arithmetic, Bool8, Element, Integer, Number};
use crate::raw::expression::{Code, GraphOperand};
use half::{bf16, f16};

/// An element that `&`, `|`, `^` and `!` of expressions take, as Rust's own do: integers by their
/// bits, and [`Bool8`] by its truth. Sealed.
///
/// ```
/// use tenure::{Bool8, Tensor};
///
/// let (a, b) = (Tensor::from([0b0110_u8, 0b0101]), Tensor::from([true, false].map(Bool8::from)));
/// assert_eq!((&a & 0b0011).eval()?, [0b0010, 0b0001]);
/// assert_eq!((!&b).eval()?, [false, true].map(Bool8::from));
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no bits for `&`, `|`, `^` and `!`",
    label = "neither an integer nor `Bool8`"
)]
pub trait Bits: Element + codes::OfBits {}

pub(crate) mod codes {
    use tenure_sys::{tnr_binary_op, tnr_unary_op};

    pub trait OfBits {
        const AND: tnr_binary_op;
        const OR: tnr_binary_op;
        const XOR: tnr_binary_op;
        const NOT: tnr_unary_op;
    }
}

impl<T: Integer> Bits for T {}
impl<T: Integer> codes::OfBits for T {
    const AND: tnr_binary_op = tnr_binary_op::BIT_AND;
    const OR: tnr_binary_op = tnr_binary_op::BIT_OR;
    const XOR: tnr_binary_op = tnr_binary_op::BIT_XOR;
    const NOT: tnr_unary_op = tnr_unary_op::BIT_NOT;
}

impl Bits for Bool8 {}
impl codes::OfBits for Bool8 {
    const AND: tnr_binary_op = tnr_binary_op::LOGICAL_AND;
    const OR: tnr_binary_op = tnr_binary_op::LOGICAL_OR;
    const XOR: tnr_binary_op = tnr_binary_op::LOGICAL_XOR;
    const NOT: tnr_unary_op = tnr_unary_op::LOGICAL_NOT;
}

/// The operator on references to tensors and views, and on views by value.
macro_rules! binary_of {
    ($trait:ident $method:ident $bound:ident $op:expr, $space:ident; $($left:ty),*) => {$(
        impl<'a, T: $bound, R: IntoExpr<'a, T, $space>> $trait<R> for $left {
            type Output = Expr<'a, T, $space>;
            #[inline(always)]
            #[track_caller]
            fn $method(self, right: R) -> Expr<'a, T, $space> {
                two(const { Code::binary::<T>($op) }, self, right)
            }
        }
    )*};
}
pub(crate) use binary_of;

/// The operator on a number and a lender of elements of its type.
macro_rules! number_and {
    ($trait:ident $method:ident $op:expr; $number:ty, $space:ident; $($right:ty),*) => {$(
        impl<'a> $trait<$right> for $number {
            type Output = Expr<'a, $number, $space>;
            #[inline(always)]
            #[track_caller]
            fn $method(self, right: $right) -> Expr<'a, $number, $space> {
                two(const { Code::binary::<$number>($op) }, self, right)
            }
        }
    )*};
}
pub(crate) use number_and;

/// The operator on a number and a lender of elements; a generic impl of it is not allowed.
macro_rules! binary_of_number {
    ($trait:ident $method:ident $op:expr; $($number:ty)*) => {$(
        number_and! {
            $trait $method $op; $number, Host;
            &'a Tensor<$number>, &'a SharedTensor<$number>, &'a TensorView<'_, $number>,
            &'a TensorViewMut<'_, $number>, TensorView<'a, $number>
        }
        impl<'a, P: MemorySpace> $trait<Expr<'a, $number, P>> for $number {
            type Output = Expr<'a, $number, P>;
            #[inline(always)]
            #[track_caller]
            fn $method(self, right: Expr<'a, $number, P>) -> Expr<'a, $number, P> {
                two(const { Code::binary::<$number>($op) }, self, right)
            }
        }
    )*};
}

macro_rules! binary_operators {
    ($($trait:ident $method:ident $bound:ident $op:expr, [$($number:ty)*];)*) => {$(
        impl<'a, T: $bound, P: MemorySpace, R: IntoExpr<'a, T, P>> $trait<R> for Expr<'a, T, P> {
            type Output = Expr<'a, T, P>;
            #[inline(always)]
            #[track_caller]
            fn $method(mut self, right: R) -> Expr<'a, T, P> {
                let code = const { Code::binary::<T>($op) };
                self.graph.binary(code, right.graph_operand(), Location::caller());
                self
            }
        }
        binary_of! {
            $trait $method $bound $op, Host;
            &'a Tensor<T>, &'a SharedTensor<T>, &'a TensorView<'_, T>, &'a TensorViewMut<'_, T>,
            TensorView<'a, T>
        }
        binary_of_number! { $trait $method $op; $($number)* }
    )*};
}

#[inline(always)]
#[track_caller]
pub(crate) fn two<'a, T: Element, P: MemorySpace>(
    code: Code,
    left: impl IntoExpr<'a, T, P>,
    right: impl IntoExpr<'a, T, P>,
) -> Expr<'a, T, P> {
    let graph = right.graph_operand().right_of(left.graph_operand(), code, Location::caller());
    Expr { graph, _result: PhantomData }
}

/// Calls a macro with the operators of two operands, the functions' codes, and the numbers that may
/// be on the left: of expressions, and of values of graphs.
macro_rules! for_each_operator {
    ($rows:ident) => {
        $rows! {
            Add add Arithmetic tnr_binary_op::ADD, [f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64];
            Sub sub Arithmetic tnr_binary_op::SUB, [f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64];
            Mul mul Arithmetic tnr_binary_op::MUL, [f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64];
            Div div Arithmetic tnr_binary_op::DIV, [f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64];
            Rem rem Number tnr_binary_op::REM, [f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64];
            BitAnd bitand Bits <T as codes::OfBits>::AND, [];
            BitOr bitor Bits <T as codes::OfBits>::OR, [];
            BitXor bitxor Bits <T as codes::OfBits>::XOR, [];
            Shl shl Integer tnr_binary_op::SHIFT_LEFT, [i8 i16 i32 i64 u8 u16 u32 u64];
            Shr shr Integer tnr_binary_op::SHIFT_RIGHT, [i8 i16 i32 i64 u8 u16 u32 u64];
        }
    };
}
pub(crate) use for_each_operator;

for_each_operator!(binary_operators);

/// The operator on references to tensors and views, and on views by value.
macro_rules! unary_of {
    ($trait:ident $method:ident $bound:ident $op:expr, $space:ident; $($of:ty),*) => {$(
        impl<'a, T: $bound> $trait for $of {
            type Output = Expr<'a, T, $space>;
            #[inline(always)]
            #[track_caller]
            fn $method(self) -> Expr<'a, T, $space> {
                self.into_expr().then(const { Code::unary::<T>($op) })
            }
        }
    )*};
}
pub(crate) use unary_of;

macro_rules! unary_operators {
    ($($trait:ident $method:ident $bound:ident $op:expr;)*) => {$(
        impl<'a, T: $bound, P: MemorySpace> $trait for Expr<'a, T, P> {
            type Output = Expr<'a, T, P>;
            #[inline(always)]
            #[track_caller]
            fn $method(self) -> Expr<'a, T, P> {
                self.then(const { Code::unary::<T>($op) })
            }
        }
        unary_of! {
            $trait $method $bound $op, Host;
            &'a Tensor<T>, &'a SharedTensor<T>, &'a TensorView<'_, T>, &'a TensorViewMut<'_, T>,
            TensorView<'a, T>
        }
    )*};
}

unary_operators! {
    Neg neg Arithmetic tnr_unary_op::NEG;
    Not not Bits <T as codes::OfBits>::NOT;
}
