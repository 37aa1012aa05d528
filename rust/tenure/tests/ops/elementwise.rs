//! Arithmetic on every number type, in every pair of layouts.

use tenure::nn::{relu, relu_assign, relu_into};
use tenure::ops::*;
use tenure::*;

use crate::layouts::{Samples, assert_same, inputs, outputs};

type IntoOutput<T> =
    fn(TensorView<'_, T>, TensorView<'_, T>, &mut TensorViewMut<'_, T>) -> Result<()>;

/// The three forms of a binary operation, without their generic operands.
struct Binary<T: Element> {
    name: &'static str,
    new: fn(TensorView<'_, T>, TensorView<'_, T>) -> Result<Tensor<T>>,
    into: IntoOutput<T>,
    assign: fn(&mut TensorViewMut<'_, T>, TensorView<'_, T>) -> Result<()>,
    naive: fn(T, T) -> T,
}

fn check_binary<T: Samples>(operation: &Binary<T>) {
    let (a_memory, b_memory) = (T::samples(1), T::samples(2));
    for a in inputs(&a_memory) {
        for b in inputs(&b_memory) {
            let expected: Vec<T> =
                a.iter().zip(b.iter()).map(|(x, y)| (operation.naive)(*x, *y)).collect();
            let what =
                format!("{} of {} {:?} {:?}", operation.name, T::DTYPE, a.strides(), b.strides());
            let new = (operation.new)(a, b).unwrap();
            assert_eq!(new.shape(), a.shape());
            assert!(new.is_row_major());
            assert_same(&new.to_vec(), &expected, &what);
            let filler = a_memory[0];
            let into = |out: &mut TensorViewMut<'_, T>| (operation.into)(a, b, out).unwrap();
            outputs(filler, into, |got| assert_same(&got, &expected, &what));
            let assign = |out: &mut TensorViewMut<'_, T>| {
                copy_into(a, out).unwrap();
                (operation.assign)(out, b).unwrap();
            };
            outputs(filler, assign, |got| assert_same(&got, &expected, &what));
        }
    }
}

/// The three forms of a unary operation.
struct Unary<T: Element> {
    name: &'static str,
    new: fn(TensorView<'_, T>) -> Result<Tensor<T>>,
    into: fn(TensorView<'_, T>, &mut TensorViewMut<'_, T>) -> Result<()>,
    assign: fn(&mut TensorViewMut<'_, T>) -> Result<()>,
    naive: fn(T) -> T,
}

fn check_unary<T: Samples>(operation: &Unary<T>) {
    let memory = T::samples(3);
    for a in inputs(&memory) {
        let expected: Vec<T> = a.iter().map(|x| (operation.naive)(*x)).collect();
        let what = format!("{} of {} {:?}", operation.name, T::DTYPE, a.strides());
        assert_same(&(operation.new)(a).unwrap().to_vec(), &expected, &what);
        let into = |out: &mut TensorViewMut<'_, T>| (operation.into)(a, out).unwrap();
        outputs(memory[0], into, |got| assert_same(&got, &expected, &what));
        let assign = |out: &mut TensorViewMut<'_, T>| {
            copy_into(a, out).unwrap();
            (operation.assign)(out).unwrap();
        };
        outputs(memory[0], assign, |got| assert_same(&got, &expected, &what));
    }
}

macro_rules! binary {
    ($type:ty: $($new:ident $into:ident $assign:ident => $naive:expr;)*) => {$(
        check_binary::<$type>(&Binary {
            name: stringify!($new),
            new: |a, b| $new(a, b),
            into: |a, b, out| $into(a, b, out),
            assign: |out, b| $assign(out, b),
            naive: $naive,
        });
    )*};
}

macro_rules! unary {
    ($type:ty: $($new:ident $into:ident $assign:ident => $naive:expr;)*) => {$(
        check_unary::<$type>(&Unary {
            name: stringify!($new),
            new: |a| $new(a),
            into: |a, out| $into(a, out),
            assign: |out| $assign(out),
            naive: $naive,
        });
    )*};
}

macro_rules! integers {
    ($($test:ident: $type:ty;)*) => {$(
        #[test]
        fn $test() {
            binary! { $type:
                add add_into add_assign => |a, b| a.wrapping_add(b);
                sub sub_into sub_assign => |a, b| a.wrapping_sub(b);
                mul mul_into mul_assign => |a, b| a.wrapping_mul(b);
                div div_into div_assign => |a, b| a.wrapping_div(b);
                minimum minimum_into minimum_assign => |a, b| a.min(b);
                maximum maximum_into maximum_assign => |a, b| a.max(b);
            }
            unary! { $type:
                neg neg_into neg_assign => |a| a.wrapping_neg();
                abs abs_into abs_assign => |a| if a < 1 { a.wrapping_neg() } else { a };
                relu relu_into relu_assign => |a| a.max(0);
            }
        }
    )*};
}

integers! {
    i8_arithmetic: i8;
    i16_arithmetic: i16;
    i32_arithmetic: i32;
    i64_arithmetic: i64;
    u8_arithmetic: u8;
    u16_arithmetic: u16;
    u32_arithmetic: u32;
    u64_arithmetic: u64;
}

/// The smaller by `less`, unless one is NaN: then that one, the first of two.
macro_rules! nan_wins {
    ($a:ident, $b:ident, $choose:expr) => {
        if $a.is_nan() {
            $a
        } else if $b.is_nan() {
            $b
        } else if $choose {
            $a
        } else {
            $b
        }
    };
}

macro_rules! floats {
    ($($test:ident: $type:ty, $wide:ty, $widen:expr, $narrow:expr;)*) => {$(
        #[test]
        fn $test() {
            binary! { $type:
                add add_into add_assign => |a, b| $narrow($widen(a) + $widen(b));
                sub sub_into sub_assign => |a, b| $narrow($widen(a) - $widen(b));
                mul mul_into mul_assign => |a, b| $narrow($widen(a) * $widen(b));
                div div_into div_assign => |a, b| $narrow($widen(a) / $widen(b));
                minimum minimum_into minimum_assign => |a, b| nan_wins!(a, b, a <= b);
                maximum maximum_into maximum_assign => |a, b| nan_wins!(a, b, a >= b);
            }
            unary! { $type:
                neg neg_into neg_assign => |a| -a;
                abs abs_into abs_assign => |a| $narrow(<$wide>::abs($widen(a)));
                sqrt sqrt_into sqrt_assign => |a| $narrow(<$wide>::sqrt($widen(a)));
                relu relu_into relu_assign => |a| {
                    if a < <$type>::default() { <$type>::default() } else { a }
                };
            }
        }
    )*};
}

floats! {
    f64_arithmetic: f64, f64, f64::from, f64::from;
    f32_arithmetic: f32, f32, f32::from, f32::from;
    f16_arithmetic: f16, f32, f16::to_f32, f16::from_f32;
    bf16_arithmetic: bf16, f32, bf16::to_f32, bf16::from_f32;
}

/// How far `exp` may be from the real value, in units of the value: a few roundings.
fn check_exp<T: Samples + Float>(tolerance: f64, to_f64: fn(T) -> f64) {
    let memory = T::samples(4);
    for a in inputs(&memory) {
        let check = |got: Vec<T>| {
            for (got, x) in got.iter().map(|y| to_f64(*y)).zip(a.iter().map(|x| to_f64(*x))) {
                let real = x.exp();
                let near = (got - real).abs() <= tolerance * real;
                assert!(near || same_special(got, real), "exp({x}) is {got}, not {real}");
            }
        };
        check(exp(a).unwrap().to_vec());
        outputs(memory[0], |out| exp_into(a, out).unwrap(), check);
        let assign = |out: &mut TensorViewMut<'_, T>| {
            copy_into(a, out).unwrap();
            exp_assign(out).unwrap();
        };
        outputs(memory[0], assign, check);
    }
}

fn same_special(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

#[test]
fn exp_is_near_the_real_value() {
    check_exp::<f64>(4.0 * f64::EPSILON, f64::from);
    check_exp::<f32>(4.0 * f64::from(f32::EPSILON), f64::from);
    check_exp::<f16>(f64::from(f16::EPSILON), f16::to_f64);
    check_exp::<bf16>(f64::from(bf16::EPSILON), bf16::to_f64);
}
