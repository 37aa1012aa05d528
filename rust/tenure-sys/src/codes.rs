// Generated from rust/tenure-sys/src/{counters,operations,node_kinds}.rs by headergen. Do not edit.
//! The codes of operations, and lists of them for macros.

use crate::{
    tnr_binary_op, tnr_compare_op, tnr_normalize_op, tnr_reduce_op, tnr_scan_op, tnr_ternary_op,
    tnr_unary_op,
};

impl tnr_unary_op {
    /// `-x`; wraps on integers.
    pub const NEG: tnr_unary_op = tnr_unary_op(1);
    /// `|x|`; wraps on integers, and of complex numbers gives the dtype of their parts.
    pub const ABS: tnr_unary_op = tnr_unary_op(2);
    /// Square root; floats only.
    pub const SQRT: tnr_unary_op = tnr_unary_op(3);
    /// e to the x; floats only.
    pub const EXP: tnr_unary_op = tnr_unary_op(4);
    /// `max(x, 0)`; NaN stays NaN.
    pub const RELU: tnr_unary_op = tnr_unary_op(5);
    /// Hyperbolic tangent; floats only.
    pub const TANH: tnr_unary_op = tnr_unary_op(6);
    /// `1 / (1 + e^-x)`; floats only.
    pub const SIGMOID: tnr_unary_op = tnr_unary_op(7);
    /// `x / (1 + e^-x)`; floats only.
    pub const SILU: tnr_unary_op = tnr_unary_op(8);
    /// x times the standard normal distribution's integral up to x: `x (1 + erf(x / sqrt(2))) / 2`;
    /// floats only.
    pub const GELU: tnr_unary_op = tnr_unary_op(9);
    /// `x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2`, close to GELU; floats only.
    pub const GELU_TANH: tnr_unary_op = tnr_unary_op(10);
    /// `ln(1 + e^x)`; floats only.
    pub const SOFTPLUS: tnr_unary_op = tnr_unary_op(11);
    /// `x min(max(x + 3, 0), 6) / 6`; floats only.
    pub const HARDSWISH: tnr_unary_op = tnr_unary_op(12);
    /// x, or `e^x - 1` where x is negative; floats only.
    pub const ELU: tnr_unary_op = tnr_unary_op(13);
    /// x, or `0.01 x` where x is negative; floats only.
    pub const LEAKY_RELU: tnr_unary_op = tnr_unary_op(14);
    /// `x * x`; wraps on integers.
    pub const SQUARE: tnr_unary_op = tnr_unary_op(15);
    /// `1 / x`; floats and complex numbers.
    pub const RECIPROCAL: tnr_unary_op = tnr_unary_op(16);
    /// `1 / sqrt(x)`; floats only.
    pub const RSQRT: tnr_unary_op = tnr_unary_op(17);
    /// The largest whole number that is not above x; floats only.
    pub const FLOOR: tnr_unary_op = tnr_unary_op(18);
    /// The smallest whole number that is not below x; floats only.
    pub const CEIL: tnr_unary_op = tnr_unary_op(19);
    /// The nearest whole number, of two the even one; floats only.
    pub const ROUND: tnr_unary_op = tnr_unary_op(20);
    /// x without its fraction; floats only.
    pub const TRUNC: tnr_unary_op = tnr_unary_op(21);
    /// -1, 0 or 1; zeros and NaN stay what they are.
    pub const SIGN: tnr_unary_op = tnr_unary_op(22);
    /// Whether x is NaN, as bool8; floats only.
    pub const IS_NAN: tnr_unary_op = tnr_unary_op(23);
    /// Whether x is infinite, as bool8; floats only.
    pub const IS_INF: tnr_unary_op = tnr_unary_op(24);
    /// Whether x is neither infinite nor NaN, as bool8; floats only.
    pub const IS_FINITE: tnr_unary_op = tnr_unary_op(25);
    /// Whether x is false; bool8 only.
    pub const LOGICAL_NOT: tnr_unary_op = tnr_unary_op(26);
    /// 0 in the place of NaN, the largest and lowest finite numbers in that of infinities; floats
    /// only.
    pub const NAN_TO_NUM: tnr_unary_op = tnr_unary_op(27);
    /// Every bit of x the other way; integers only.
    pub const BIT_NOT: tnr_unary_op = tnr_unary_op(28);
    /// 2 to the x; floats only.
    pub const EXP2: tnr_unary_op = tnr_unary_op(29);
    /// `e^x - 1`, also where x is small; floats only.
    pub const EXPM1: tnr_unary_op = tnr_unary_op(30);
    /// Natural logarithm; floats only.
    pub const LN: tnr_unary_op = tnr_unary_op(31);
    /// Logarithm to base 2; floats only.
    pub const LOG2: tnr_unary_op = tnr_unary_op(32);
    /// Logarithm to base 10; floats only.
    pub const LOG10: tnr_unary_op = tnr_unary_op(33);
    /// `ln(1 + x)`, also where x is small; floats only.
    pub const LOG1P: tnr_unary_op = tnr_unary_op(34);
    /// Error function; floats only.
    pub const ERF: tnr_unary_op = tnr_unary_op(35);
    /// 1 less the error function, also where it is small; floats only.
    pub const ERFC: tnr_unary_op = tnr_unary_op(36);
    /// Sine, of the whole range; floats only.
    pub const SIN: tnr_unary_op = tnr_unary_op(37);
    /// Cosine, of the whole range; floats only.
    pub const COS: tnr_unary_op = tnr_unary_op(38);
    /// Tangent, of the whole range; floats only.
    pub const TAN: tnr_unary_op = tnr_unary_op(39);
    /// Arc sine; floats only.
    pub const ASIN: tnr_unary_op = tnr_unary_op(40);
    /// Arc cosine; floats only.
    pub const ACOS: tnr_unary_op = tnr_unary_op(41);
    /// Arc tangent; floats only.
    pub const ATAN: tnr_unary_op = tnr_unary_op(42);
    /// Hyperbolic sine; floats only.
    pub const SINH: tnr_unary_op = tnr_unary_op(43);
    /// Hyperbolic cosine; floats only.
    pub const COSH: tnr_unary_op = tnr_unary_op(44);
    /// Inverse hyperbolic sine; floats only.
    pub const ASINH: tnr_unary_op = tnr_unary_op(45);
    /// Inverse hyperbolic cosine; floats only.
    pub const ACOSH: tnr_unary_op = tnr_unary_op(46);
    /// Inverse hyperbolic tangent; floats only.
    pub const ATANH: tnr_unary_op = tnr_unary_op(47);
    /// Cube root; floats only.
    pub const CBRT: tnr_unary_op = tnr_unary_op(48);
    /// The complex conjugate; complex numbers only.
    pub const CONJ: tnr_unary_op = tnr_unary_op(49);
    /// The angle of a complex number from the positive real axis, from -pi to pi, in the dtype of
    /// its parts; complex numbers only.
    pub const ARG: tnr_unary_op = tnr_unary_op(50);
    /// `x / (1 + |x|)`; floats only.
    pub const SOFTSIGN: tnr_unary_op = tnr_unary_op(51);
}

impl tnr_binary_op {
    /// `a + b`; wraps on integers.
    pub const ADD: tnr_binary_op = tnr_binary_op(1);
    /// `a - b`; wraps on integers.
    pub const SUB: tnr_binary_op = tnr_binary_op(2);
    /// `a * b`; wraps on integers.
    pub const MUL: tnr_binary_op = tnr_binary_op(3);
    /// `a / b`; integers truncate, MIN / -1 wraps, a zero divisor is an error found on the data.
    pub const DIV: tnr_binary_op = tnr_binary_op(4);
    /// The smaller; NaN wins.
    pub const MIN: tnr_binary_op = tnr_binary_op(5);
    /// The larger; NaN wins.
    pub const MAX: tnr_binary_op = tnr_binary_op(6);
    /// The remainder of `a / b`, of the sign of a: of floats exact, as `fmod` of C. An integer
    /// divisor of zero is an error found on the data.
    pub const REM: tnr_binary_op = tnr_binary_op(7);
    /// Whether both are true; bool8 only.
    pub const LOGICAL_AND: tnr_binary_op = tnr_binary_op(8);
    /// Whether either is true; bool8 only.
    pub const LOGICAL_OR: tnr_binary_op = tnr_binary_op(9);
    /// Whether one of the two is true; bool8 only.
    pub const LOGICAL_XOR: tnr_binary_op = tnr_binary_op(10);
    /// The bits that both have; integers only.
    pub const BIT_AND: tnr_binary_op = tnr_binary_op(11);
    /// The bits that either has; integers only.
    pub const BIT_OR: tnr_binary_op = tnr_binary_op(12);
    /// The bits that one of the two has; integers only.
    pub const BIT_XOR: tnr_binary_op = tnr_binary_op(13);
    /// `a` times 2 to the b, which wraps; 0 where b is not below the width or is negative. Integers
    /// only.
    pub const SHIFT_LEFT: tnr_binary_op = tnr_binary_op(14);
    /// `a` over 2 to the b, rounded down; where b is not below the width or is negative, 0 or, of
    /// negative numbers, -1. Integers only.
    pub const SHIFT_RIGHT: tnr_binary_op = tnr_binary_op(15);
    /// `a` to the power b, which of integers wraps and must not be negative, an error found on the
    /// data.
    pub const POW: tnr_binary_op = tnr_binary_op(16);
    /// The angle of the point (b, a), from -pi to pi; floats only.
    pub const ATAN2: tnr_binary_op = tnr_binary_op(17);
    /// `sqrt(a^2 + b^2)`, which overflows only where it is too large itself; floats only.
    pub const HYPOT: tnr_binary_op = tnr_binary_op(18);
}

impl tnr_ternary_op {
    /// `a * b + c`, rounded once; wraps on integers.
    pub const FMA: tnr_ternary_op = tnr_ternary_op(1);
    /// `a + c (b - a)`: exactly a where c is 0 or b is equal, and b where c is 1; floats only.
    pub const LERP: tnr_ternary_op = tnr_ternary_op(2);
    /// `min(max(a, b), c)`: a from b to c, and c where b is above it; NaN wins.
    pub const CLAMP: tnr_ternary_op = tnr_ternary_op(3);
}

impl tnr_compare_op {
    /// `a == b`.
    pub const EQ: tnr_compare_op = tnr_compare_op(1);
    /// `a != b`.
    pub const NE: tnr_compare_op = tnr_compare_op(2);
    /// `a < b`.
    pub const LT: tnr_compare_op = tnr_compare_op(3);
    /// `a <= b`.
    pub const LE: tnr_compare_op = tnr_compare_op(4);
    /// `a > b`.
    pub const GT: tnr_compare_op = tnr_compare_op(5);
    /// `a >= b`.
    pub const GE: tnr_compare_op = tnr_compare_op(6);
}

impl tnr_reduce_op {
    /// Sum. Floats keep their dtype (f16 and bf16 accumulate in f32); integers give i64 or u64.
    /// Empty: 0.
    pub const SUM: tnr_reduce_op = tnr_reduce_op(1);
    /// Product, with the dtypes of SUM; floats multiply in f64. Empty: 1.
    pub const PROD: tnr_reduce_op = tnr_reduce_op(2);
    /// Arithmetic mean; floats and complex numbers. Empty: NaN.
    pub const MEAN: tnr_reduce_op = tnr_reduce_op(3);
    /// Variance with the attribute `ddof`; floats only. NaN where the count is not above `ddof`.
    pub const VAR: tnr_reduce_op = tnr_reduce_op(4);
    /// Standard deviation with the attribute `ddof`; floats only.
    pub const STD: tnr_reduce_op = tnr_reduce_op(5);
    /// Smallest element; NaN wins. Empty: an error.
    pub const MIN: tnr_reduce_op = tnr_reduce_op(6);
    /// Largest element; NaN wins. Empty: an error.
    pub const MAX: tnr_reduce_op = tnr_reduce_op(7);
    /// Index (i64) of the smallest element: of the one axis, or row-major over all. The first wins.
    pub const ARGMIN: tnr_reduce_op = tnr_reduce_op(8);
    /// Index (i64) of the largest element: of the one axis, or row-major over all. The first wins.
    pub const ARGMAX: tnr_reduce_op = tnr_reduce_op(9);
    /// Whether any element is not zero, as bool8. Empty: false.
    pub const ANY: tnr_reduce_op = tnr_reduce_op(10);
    /// Whether every element is not zero, as bool8. Empty: true.
    pub const ALL: tnr_reduce_op = tnr_reduce_op(11);
    /// How many elements are not zero, as i64. Empty: 0.
    pub const COUNT: tnr_reduce_op = tnr_reduce_op(12);
    /// p-norm with the attribute `power`, p: the sum of `|x|^p` to the power `1 / p`, or where it
    /// is infinite the largest `|x|`; floats only. Empty: 0.
    pub const NORM: tnr_reduce_op = tnr_reduce_op(13);
    /// `ln(sum of e^x)`, without overflow; floats only. Empty: minus infinity.
    pub const LOGSUMEXP: tnr_reduce_op = tnr_reduce_op(14);
    /// SUM of the elements that are not NaN; floats only. None: 0.
    pub const NAN_SUM: tnr_reduce_op = tnr_reduce_op(15);
    /// MEAN of the elements that are not NaN; floats only. None: NaN.
    pub const NAN_MEAN: tnr_reduce_op = tnr_reduce_op(16);
    /// Smallest of the elements that are not NaN; floats only. All are NaN: NaN. Empty: an error.
    pub const NAN_MIN: tnr_reduce_op = tnr_reduce_op(17);
    /// Largest of the elements that are not NaN; floats only. All are NaN: NaN. Empty: an error.
    pub const NAN_MAX: tnr_reduce_op = tnr_reduce_op(18);
    /// VAR of the elements that are not NaN, with the attribute `ddof`; floats only. NaN where
    /// their count is not above `ddof`.
    pub const NAN_VAR: tnr_reduce_op = tnr_reduce_op(19);
    /// The square root of NAN_VAR, with the attribute `ddof`; floats only.
    pub const NAN_STD: tnr_reduce_op = tnr_reduce_op(20);
}

impl tnr_normalize_op {
    /// `e^x` over the sum of all `e^x`. NaN where an element is NaN or plus infinity, or all are
    /// minus infinity.
    pub const SOFTMAX: tnr_normalize_op = tnr_normalize_op(1);
    /// The logarithm of SOFTMAX: x less `ln(sum of e^x)`. NaN where SOFTMAX is.
    pub const LOG_SOFTMAX: tnr_normalize_op = tnr_normalize_op(2);
    /// `(x - mean) / sqrt(variance + eps)`, with the variance of ddof 0, times `weight` plus
    /// `bias`. NaN where variance and `eps` are 0.
    pub const LAYER_NORM: tnr_normalize_op = tnr_normalize_op(3);
    /// `x / sqrt(mean of the squares + eps)`, times `weight`. NaN where all are 0 and `eps` is.
    pub const RMS_NORM: tnr_normalize_op = tnr_normalize_op(4);
}

impl tnr_scan_op {
    /// Cumulative sum, with the dtypes of the reduction; f32 accumulates in f64.
    pub const SUM: tnr_scan_op = tnr_scan_op(1);
    /// Cumulative product, with the dtypes of the reduction; f32 accumulates in f64.
    pub const PROD: tnr_scan_op = tnr_scan_op(2);
    /// The smallest so far; NaN wins.
    pub const MIN: tnr_scan_op = tnr_scan_op(3);
    /// The largest so far; NaN wins.
    pub const MAX: tnr_scan_op = tnr_scan_op(4);
}

// Each passes its rows to the macro that it is given.

#[doc(hidden)]
#[macro_export]
macro_rules! for_each_unary {
    ($then:ident) => {
        $then! {
            NEG "neg" ops: neg, neg_into, neg_assign, [T: Arithmetic] T -> T; "`-a`; integers wrap.", errors "", example "[1, -2, 3]" => "[-1, 2, -3]";
            ABS "abs" ops: abs, abs_into, abs_assign, [T: Arithmetic] T -> Magnitude; "The magnitude of `a`; the lowest integer wraps to itself. Of complex numbers it is real.", errors "", example "[1, -2, -128_i8]" => "[1, 2, -128]";
            SQRT "sqrt" ops: sqrt, sqrt_into, sqrt_assign, [T: Float] T -> T; "The square root of `a`; NaN below zero.", errors "", example "[1.0, 4.0, 9.0]" => "[1.0, 2.0, 3.0]";
            EXP "exp" ops: exp, exp_into, exp_assign, [T: Float] T -> T; "e to the power `a`.", errors "", example "[0.0, f64::NEG_INFINITY]" => "[1.0, 0.0]";
            RELU "relu" nn: relu, relu_into, relu_assign, [T: Number] T -> T; "The larger of `a` and zero; NaN stays NaN.", errors "", example "[-1.5, 0.0, 2.5]" => "[0.0, 0.0, 2.5]";
            TANH "tanh" ops: tanh, tanh_into, tanh_assign, [T: Float] T -> T; "The hyperbolic tangent of `a`.", errors "", example "[0.0, f64::INFINITY]" => "[0.0, 1.0]";
            SIGMOID "sigmoid" nn: sigmoid, sigmoid_into, sigmoid_assign, [T: Float] T -> T; "`1 / (1 + e^-a)`, the logistic function.", errors "", example "[0.0, f64::INFINITY]" => "[0.5, 1.0]";
            SILU "silu" nn: silu, silu_into, silu_assign, [T: Float] T -> T; "`a / (1 + e^-a)`, also called swish.", errors "", example "[0.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            GELU "gelu" nn: gelu, gelu_into, gelu_assign, [T: Float] T -> T; "`a` times the standard normal distribution's integral up to `a`: `a (1 + erf(a / sqrt(2))) / 2`.", errors "", example "[0.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            GELU_TANH "gelu_tanh" nn: gelu_tanh, gelu_tanh_into, gelu_tanh_assign, [T: Float] T -> T; "`a (1 + tanh(sqrt(2 / pi) (a + 0.044715 a^3))) / 2`, close to [`gelu`](fn@crate::nn::gelu).", errors "", example "[0.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            SOFTPLUS "softplus" nn: softplus, softplus_into, softplus_assign, [T: Float] T -> T; "`ln(1 + e^a)`.", errors "", example "[f64::NEG_INFINITY, 1000.0]" => "[0.0, 1000.0]";
            HARDSWISH "hardswish" nn: hardswish, hardswish_into, hardswish_assign, [T: Float] T -> T; "`a min(max(a + 3, 0), 6) / 6`.", errors "", example "[-4.0, 0.0, 3.0, 5.0]" => "[-0.0, 0.0, 3.0, 5.0]";
            ELU "elu" nn: elu, elu_into, elu_assign, [T: Float] T -> T; "`a`, or `e^a - 1` where it is negative.", errors "", example "[f64::NEG_INFINITY, 2.5]" => "[-1.0, 2.5]";
            LEAKY_RELU "leaky_relu" nn: leaky_relu, leaky_relu_into, leaky_relu_assign, [T: Float] T -> T; "`a`, or `0.01 a` where it is negative.", errors "", example "[-100.0, 2.5]" => "[-1.0, 2.5]";
            SQUARE "square" ops: square, square_into, square_assign, [T: Arithmetic] T -> T; "`a * a`; integers wrap.", errors "", example "[1, -2, 3]" => "[1, 4, 9]";
            RECIPROCAL "reciprocal" ops: reciprocal, reciprocal_into, reciprocal_assign, [T: Field] T -> T; "`1 / a`.", errors "", example "[2.0, f64::INFINITY]" => "[0.5, 0.0]";
            RSQRT "rsqrt" ops: rsqrt, rsqrt_into, rsqrt_assign, [T: Float] T -> T; "One over the square root of `a`; NaN below zero.", errors "", example "[4.0, f64::INFINITY]" => "[0.5, 0.0]";
            FLOOR "floor" ops: floor, floor_into, floor_assign, [T: Float] T -> T; "The largest whole number that is not above `a`.", errors "", example "[-1.5, 2.5]" => "[-2.0, 2.0]";
            CEIL "ceil" ops: ceil, ceil_into, ceil_assign, [T: Float] T -> T; "The smallest whole number that is not below `a`.", errors "", example "[-1.5, 2.5]" => "[-1.0, 3.0]";
            ROUND "round" ops: round, round_into, round_assign, [T: Float] T -> T; "The nearest whole number, of two the even one.", errors "", example "[-1.5, 2.5]" => "[-2.0, 2.0]";
            TRUNC "trunc" ops: trunc, trunc_into, trunc_assign, [T: Float] T -> T; "`a` without its fraction.", errors "", example "[-1.5, 2.5]" => "[-1.0, 2.0]";
            SIGN "sign" ops: sign, sign_into, sign_assign, [T: Number] T -> T; "-1, 0 or 1 as `a` is below, at or above zero; zeros and NaN stay what they are.", errors "", example "[-3, 0, 5]" => "[-1, 0, 1]";
            IS_NAN "is_nan" ops: is_nan, is_nan_into, is_nan_assign, [T: Float] T -> Bool8; "Whether `a` is NaN.", errors "", example "[1.0, f64::NAN, f64::INFINITY]" => "[false, true, false]";
            IS_INF "is_inf" ops: is_inf, is_inf_into, is_inf_assign, [T: Float] T -> Bool8; "Whether `a` is infinite.", errors "", example "[1.0, f64::NAN, f64::INFINITY]" => "[false, false, true]";
            IS_FINITE "is_finite" ops: is_finite, is_finite_into, is_finite_assign, [T: Float] T -> Bool8; "Whether `a` is neither infinite nor NaN.", errors "", example "[1.0, f64::NAN, f64::INFINITY]" => "[true, false, false]";
            LOGICAL_NOT "logical_not" ops: logical_not, logical_not_into, logical_not_assign, [] Bool8 -> Bool8; "Whether `a` is false.", errors "", example "[true, false].map(tenure::Bool8::from)" => "[false, true].map(tenure::Bool8::from)";
            NAN_TO_NUM "nan_to_num" ops: nan_to_num, nan_to_num_into, nan_to_num_assign, [T: Float] T -> T; "Zero in the place of NaN, and the largest and lowest finite numbers in that of infinities.", errors "", example "[1.5, f64::NAN, f64::INFINITY]" => "[1.5, 0.0, f64::MAX]";
            BIT_NOT "bitwise_not" ops: bitwise_not, bitwise_not_into, bitwise_not_assign, [T: Integer] T -> T; "Every bit of `a` the other way.", errors "", example "[0_u8, 5, 255]" => "[255, 250, 0]";
            EXP2 "exp2" ops: exp2, exp2_into, exp2_assign, [T: Float] T -> T; "2 to the power `a`.", errors "", example "[3.0, f64::NEG_INFINITY]" => "[8.0, 0.0]";
            EXPM1 "expm1" ops: expm1, expm1_into, expm1_assign, [T: Float] T -> T; "`e^a - 1`, also where `a` is small.", errors "", example "[0.0, f64::NEG_INFINITY]" => "[0.0, -1.0]";
            LN "ln" ops: ln, ln_into, ln_assign, [T: Float] T -> T; "The natural logarithm of `a`; NaN below zero.", errors "", example "[1.0, 0.0]" => "[0.0, f64::NEG_INFINITY]";
            LOG2 "log2" ops: log2, log2_into, log2_assign, [T: Float] T -> T; "The logarithm of `a` to base 2; NaN below zero.", errors "", example "[8.0, 0.0]" => "[3.0, f64::NEG_INFINITY]";
            LOG10 "log10" ops: log10, log10_into, log10_assign, [T: Float] T -> T; "The logarithm of `a` to base 10; NaN below zero.", errors "", example "[1000.0, 0.0]" => "[3.0, f64::NEG_INFINITY]";
            LOG1P "log1p" ops: log1p, log1p_into, log1p_assign, [T: Float] T -> T; "`ln(1 + a)`, also where `a` is small; NaN below -1.", errors "", example "[0.0, -1.0]" => "[0.0, f64::NEG_INFINITY]";
            ERF "erf" ops: erf, erf_into, erf_assign, [T: Float] T -> T; "The error function of `a`.", errors "", example "[0.0, f64::INFINITY]" => "[0.0, 1.0]";
            ERFC "erfc" ops: erfc, erfc_into, erfc_assign, [T: Float] T -> T; "1 less the error function of `a`, also where that is small.", errors "", example "[0.0, f64::INFINITY]" => "[1.0, 0.0]";
            SIN "sin" ops: sin, sin_into, sin_assign, [T: Float] T -> T; "The sine of `a`, of the whole range.", errors "", example "[0.0, f64::MIN_POSITIVE]" => "[0.0, f64::MIN_POSITIVE]";
            COS "cos" ops: cos, cos_into, cos_assign, [T: Float] T -> T; "The cosine of `a`, of the whole range.", errors "", example "[0.0, f64::MIN_POSITIVE]" => "[1.0, 1.0]";
            TAN "tan" ops: tan, tan_into, tan_assign, [T: Float] T -> T; "The tangent of `a`, of the whole range.", errors "", example "[0.0, f64::MIN_POSITIVE]" => "[0.0, f64::MIN_POSITIVE]";
            ASIN "asin" ops: asin, asin_into, asin_assign, [T: Float] T -> T; "The arc sine of `a`; NaN beyond 1.", errors "", example "[0.0, 1.0]" => "[0.0, std::f64::consts::FRAC_PI_2]";
            ACOS "acos" ops: acos, acos_into, acos_assign, [T: Float] T -> T; "The arc cosine of `a`; NaN beyond 1.", errors "", example "[1.0, -1.0]" => "[0.0, std::f64::consts::PI]";
            ATAN "atan" ops: atan, atan_into, atan_assign, [T: Float] T -> T; "The arc tangent of `a`.", errors "", example "[0.0, f64::INFINITY]" => "[0.0, std::f64::consts::FRAC_PI_2]";
            SINH "sinh" ops: sinh, sinh_into, sinh_assign, [T: Float] T -> T; "The hyperbolic sine of `a`.", errors "", example "[0.0, f64::NEG_INFINITY]" => "[0.0, f64::NEG_INFINITY]";
            COSH "cosh" ops: cosh, cosh_into, cosh_assign, [T: Float] T -> T; "The hyperbolic cosine of `a`.", errors "", example "[0.0, f64::NEG_INFINITY]" => "[1.0, f64::INFINITY]";
            ASINH "asinh" ops: asinh, asinh_into, asinh_assign, [T: Float] T -> T; "The inverse hyperbolic sine of `a`.", errors "", example "[0.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            ACOSH "acosh" ops: acosh, acosh_into, acosh_assign, [T: Float] T -> T; "The inverse hyperbolic cosine of `a`; NaN below 1.", errors "", example "[1.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            ATANH "atanh" ops: atanh, atanh_into, atanh_assign, [T: Float] T -> T; "The inverse hyperbolic tangent of `a`; NaN beyond 1.", errors "", example "[0.0, 1.0]" => "[0.0, f64::INFINITY]";
            CBRT "cbrt" ops: cbrt, cbrt_into, cbrt_assign, [T: Float] T -> T; "The cube root of `a`.", errors "", example "[8.0, -27.0]" => "[2.0, -3.0]";
            CONJ "conj" ops: conj, conj_into, conj_assign, [T: ComplexNumber] T -> T; "The complex conjugate of `a`: its imaginary part with the other sign.", errors "", example "[tenure::Complex::new(1.0, 2.0)]" => "[tenure::Complex::new(1.0, -2.0)]";
            ARG "arg" ops: arg, arg_into, arg_assign, [T: ComplexNumber] T -> Part; "The angle of a complex number from the positive real axis, from -pi to pi.", errors "", example "[tenure::Complex::new(2.0, 0.0), tenure::Complex::new(0.0, 1.0)]" => "[0.0, std::f64::consts::FRAC_PI_2]";
            SOFTSIGN "softsign" nn: softsign, softsign_into, softsign_assign, [T: Float] T -> T; "`a / (1 + |a|)`.", errors "", example "[-1.0, 0.0, 3.0, f64::INFINITY]" => "[-0.5, 0.0, 0.75, 1.0]";
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! for_each_binary {
    ($then:ident) => {
        $then! {
            ADD "add": add, add_into, add_assign, [T: Arithmetic] T -> T; "`a + b`; integers wrap.", errors "", example "[1.5, 2.0, 3.0]", "[10.0, 20.0, 30.0]" => "[11.5, 22.0, 33.0]";
            SUB "sub": sub, sub_into, sub_assign, [T: Arithmetic] T -> T; "`a - b`; integers wrap.", errors "", example "[10_u8, 20, 0]", "[1, 2, 1]" => "[9, 18, 255]";
            MUL "mul": mul, mul_into, mul_assign, [T: Arithmetic] T -> T; "`a * b`; integers wrap.", errors "", example "[1, 2, 3]", "[10]" => "[10, 20, 30]";
            DIV "div": div, div_into, div_assign, [T: Arithmetic] T -> T; "`a / b`; integers truncate, and `MIN / -1` wraps.", errors ", or an integer is divided by zero, after some elements may have been written", example "[7, -7, 9]", "[2]" => "[3, -3, 4]";
            MIN "minimum": minimum, minimum_into, minimum_assign, [T: Number] T -> T; "The smaller of `a` and `b`; NaN wins.", errors "", example "[1.0, 5.0, -3.0]", "[2.0]" => "[1.0, 2.0, -3.0]";
            MAX "maximum": maximum, maximum_into, maximum_assign, [T: Number] T -> T; "The larger of `a` and `b`; NaN wins.", errors "", example "[1.0, 5.0, -3.0]", "[2.0]" => "[2.0, 5.0, 2.0]";
            REM "rem": rem, rem_into, rem_assign, [T: Number] T -> T; "The remainder of `a / b`, of the sign of `a`: as Rust's `%`, exact for floats.", errors ", or an integer is divided by zero, after some elements may have been written", example "[7, -7, 9]", "[4]" => "[3, -3, 1]";
            LOGICAL_AND "logical_and": logical_and, logical_and_into, logical_and_assign, [] Bool8 -> Bool8; "Whether both are true.", errors "", example "[true, true, false].map(tenure::Bool8::from)", "[true, false, false].map(tenure::Bool8::from)" => "[true, false, false].map(tenure::Bool8::from)";
            LOGICAL_OR "logical_or": logical_or, logical_or_into, logical_or_assign, [] Bool8 -> Bool8; "Whether either is true.", errors "", example "[true, true, false].map(tenure::Bool8::from)", "[true, false, false].map(tenure::Bool8::from)" => "[true, true, false].map(tenure::Bool8::from)";
            LOGICAL_XOR "logical_xor": logical_xor, logical_xor_into, logical_xor_assign, [] Bool8 -> Bool8; "Whether one of the two is true.", errors "", example "[true, true, false].map(tenure::Bool8::from)", "[true, false, false].map(tenure::Bool8::from)" => "[false, true, false].map(tenure::Bool8::from)";
            BIT_AND "bitwise_and": bitwise_and, bitwise_and_into, bitwise_and_assign, [T: Integer] T -> T; "The bits that both have.", errors "", example "[6, 5]", "[3, 4]" => "[2, 4]";
            BIT_OR "bitwise_or": bitwise_or, bitwise_or_into, bitwise_or_assign, [T: Integer] T -> T; "The bits that either has.", errors "", example "[6, 5]", "[3, 4]" => "[7, 5]";
            BIT_XOR "bitwise_xor": bitwise_xor, bitwise_xor_into, bitwise_xor_assign, [T: Integer] T -> T; "The bits that one of the two has.", errors "", example "[6, 5]", "[3, 4]" => "[5, 1]";
            SHIFT_LEFT "shift_left": shift_left, shift_left_into, shift_left_assign, [T: Integer] T -> T; "The bits of `a` moved up by `b`; 0 where `b` is at least their number, or negative.", errors "", example "[1_u8, 3, 1]", "[4, 7, 8]" => "[16, 128, 0]";
            SHIFT_RIGHT "shift_right": shift_right, shift_right_into, shift_right_assign, [T: Integer] T -> T; "The bits of `a` moved down by `b`, with copies of its sign; where `b` is at least their number, or negative, 0 or, of negative numbers, -1.", errors "", example "[16, -5, -5]", "[4, 1, 99]" => "[1, -3, -1]";
            POW "pow": pow, pow_into, pow_assign, [T: Number] T -> T; "`a` to the power `b`, with the special cases of C: `pow(x, 0)` and `pow(1, y)` are 1, also of NaN. Integers wrap.", errors ", or an integer has a negative power, after some elements may have been written", example "[2.0, 9.0, -2.0]", "[10.0, 0.5, 3.0]" => "[1024.0, 3.0, -8.0]";
            ATAN2 "atan2": atan2, atan2_into, atan2_assign, [T: Float] T -> T; "The angle of the point (`b`, `a`), from -pi to pi.", errors "", example "[0.0, 1.0]", "[1.0, 0.0]" => "[0.0, std::f64::consts::FRAC_PI_2]";
            HYPOT "hypot": hypot, hypot_into, hypot_assign, [T: Float] T -> T; "`sqrt(a^2 + b^2)`, which overflows only where it is too large itself.", errors "", example "[3.0, f64::INFINITY]", "[4.0, f64::NAN]" => "[5.0, f64::INFINITY]";
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! for_each_ternary {
    ($then:ident) => {
        $then! {
            FMA "fma": fma, fma_into, fma_assign, [T: Number] T -> T; "`a * b + c`, rounded once; integers wrap.", errors "", example "[1.5, 2.0]", "[2.0, 3.0]", "[0.5]" => "[3.5, 6.5]";
            LERP "lerp": lerp, lerp_into, lerp_assign, [T: Float] T -> T; "`a + c (b - a)`, linear interpolation: exactly `a` where `c` is 0 or `b` is equal, and `b` where `c` is 1.", errors "", example "[1.0, 2.0]", "[3.0, 10.0]", "[0.5]" => "[2.0, 6.0]";
            CLAMP "clamp": clamp, clamp_into, clamp_assign, [T: Number] T -> T; "`min(max(a, b), c)`: `a`, but not below `b` nor above `c`, and `c` where `b` is above it; NaN wins.", errors "", example "[1.0, 5.0, -3.0]", "[0.0]", "[2.0]" => "[1.0, 2.0, 0.0]";
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! for_each_compare {
    ($then:ident) => {
        $then! {
            EQ "eq": eq, eq_into, Element; "a == b" => "[false, true, false]";
            NE "ne": ne, ne_into, Element; "a != b" => "[true, false, true]";
            LT "lt": lt, lt_into, Real; "a < b" => "[true, false, false]";
            LE "le": le, le_into, Real; "a <= b" => "[true, true, false]";
            GT "gt": gt, gt_into, Real; "a > b" => "[false, false, true]";
            GE "ge": ge, ge_into, Real; "a >= b" => "[false, true, true]";
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! for_each_reduce {
    ($then:ident) => {
        $then! {
            SUM "sum": sum, sum_into, [T: Arithmetic] => T::Sum; "The sum: floats and complex numbers keep their type (f16 and bf16 add in f32), integers give i64 or u64 and wrap; 0 of no elements.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[9.0, 9.0]";
            PROD "prod": prod, prod_into, [T: Number] => T::Sum; "The product: floats keep their type and multiply in f64, integers give i64 or u64 and wrap; 1 of no elements. No product on the way overflows or underflows.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[12.0, 0.0]";
            MEAN "mean": mean, mean_into, [T: Field] => T; "The arithmetic mean; NaN of no elements.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[3.0, 3.0]";
            VAR "var": var, var_into, [T: Float] => T, [ddof: u32]; "The variance: the squared deviations from the mean, divided by the count less `ddof` (0 for a whole population, 1 for a sample); NaN where the count is not above `ddof`.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "0, 1" => "[0.5, 4.5, 2.0]";
            STD "std": std, std_into, [T: Float] => T, [ddof: u32]; "The standard deviation: the square root of [`var`](fn@crate::ops::var), with the same `ddof`.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "0, 0" => "[0.5, 1.5, 1.0]";
            MIN "min": min, min_into, [T: Number] => T; "The smallest element; NaN wins.", errors ", or no elements to choose from", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[1.0, 0.0]";
            MAX "max": max, max_into, [T: Number] => T; "The largest element; NaN wins.", errors ", or no elements to choose from", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[6.0, 5.0]";
            ARGMIN "argmin": argmin, argmin_into, [T: Number] => i64; "The index of the smallest element, along one axis, or in row-major order over all; the first of equals, and the first NaN before any number.", errors ", no elements to choose from, or some of several axes", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[0, 0]";
            ARGMAX "argmax": argmax, argmax_into, [T: Number] => i64; "The index of the largest element, along one axis, or in row-major order over all; the first of equals, and the first NaN before any number.", errors ", no elements to choose from, or some of several axes", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[2, 1]";
            ANY "any": any, any_into, [T: Real] => Bool8; "Whether any element is not 0; false of no elements.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[true, true].map(tenure::Bool8::from)";
            ALL "all": all, all_into, [T: Real] => Bool8; "Whether every element is not 0; true of no elements.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[true, false].map(tenure::Bool8::from)";
            COUNT "count": count, count_into, [T: Real] => i64; "How many elements are not 0.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[3, 2]";
            NORM "norm": norm, norm_into, [T: Float] => T, [power: f64]; "The p-norm for a `power` p above 0: the sum of `|a|^p` to the power `1 / p`, or where it is infinite the largest `|a|`. It is 1 for the sum of magnitudes and 2 for the length of a vector, whose squares add in f64; 0 of no elements.", errors ", or a `power` that is not above 0", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1, 1.0" => "[9.0, 9.0]";
            LOGSUMEXP "logsumexp": logsumexp, logsumexp_into, [T: Float] => T; "The logarithm of the sum of `e^a`, without overflow; minus infinity of no elements.", errors "", example "[[1000.0, 1000.0], [0.0, f64::NEG_INFINITY]]", "1" => "[1000.0 + 2.0_f64.ln(), 0.0]";
            NAN_SUM "nan_sum": nan_sum, nan_sum_into, [T: Float] => T; "The [`sum`](fn@crate::ops::sum) of the elements that are not NaN.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[9.0, 9.0]";
            NAN_MEAN "nan_mean": nan_mean, nan_mean_into, [T: Float] => T; "The [`mean`](fn@crate::ops::mean) of the elements that are not NaN; NaN of none.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[3.0, 3.0]";
            NAN_MIN "nan_min": nan_min, nan_min_into, [T: Float] => T; "The smallest of the elements that are not NaN; NaN where all are.", errors ", or no elements to choose from", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[1.0, 0.0]";
            NAN_MAX "nan_max": nan_max, nan_max_into, [T: Float] => T; "The largest of the elements that are not NaN; NaN where all are.", errors ", or no elements to choose from", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[6.0, 5.0]";
            NAN_VAR "nan_var": nan_var, nan_var_into, [T: Float] => T, [ddof: u32]; "The variance ([`var`](fn@crate::ops::var)) of the elements that are not NaN, with the same `ddof`; NaN where their count is not above it.", errors "", example "[[1.0, 2.0, 6.0], [f64::NAN; 3], [0.0, 5.0, 4.0]]", "0, 1" => "[0.5, 4.5, 2.0]";
            NAN_STD "nan_std": nan_std, nan_std_into, [T: Float] => T, [ddof: u32]; "The standard deviation of the elements that are not NaN: the square root of [`nan_var`](fn@crate::ops::nan_var), with the same `ddof`.", errors "", example "[[1.0, 2.0, 6.0], [f64::NAN; 3], [0.0, 5.0, 4.0]]", "0, 0" => "[0.5, 1.5, 1.0]";
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! for_each_normalize {
    ($then:ident) => {
        $then! {
            SOFTMAX "softmax": softmax;
            LOG_SOFTMAX "log_softmax": log_softmax;
            LAYER_NORM "layer_norm": layer_norm;
            RMS_NORM "rms_norm": rms_norm;
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! for_each_scan {
    ($then:ident) => {
        $then! {
            SUM "cumsum": cumsum;
            PROD "cumprod": cumprod;
            MIN "cummin": cummin;
            MAX "cummax": cummax;
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! for_each_unary_of_zero {
    ($then:ident) => {
        $then! {
            NEG "neg" ops: neg, neg_into, neg_assign, [T: Arithmetic] T -> T; "`-a`; integers wrap.", errors "", example "[1, -2, 3]" => "[-1, 2, -3]";
            ABS "abs" ops: abs, abs_into, abs_assign, [T: Number] T -> T; "The magnitude of `a`; the lowest integer wraps to itself. Of complex numbers it is real.", errors "", example "[1, -2, -128_i8]" => "[1, 2, -128]";
            SQRT "sqrt" ops: sqrt, sqrt_into, sqrt_assign, [T: Float] T -> T; "The square root of `a`; NaN below zero.", errors "", example "[1.0, 4.0, 9.0]" => "[1.0, 2.0, 3.0]";
            RELU "relu" nn: relu, relu_into, relu_assign, [T: Number] T -> T; "The larger of `a` and zero; NaN stays NaN.", errors "", example "[-1.5, 0.0, 2.5]" => "[0.0, 0.0, 2.5]";
            TANH "tanh" ops: tanh, tanh_into, tanh_assign, [T: Float] T -> T; "The hyperbolic tangent of `a`.", errors "", example "[0.0, f64::INFINITY]" => "[0.0, 1.0]";
            SILU "silu" nn: silu, silu_into, silu_assign, [T: Float] T -> T; "`a / (1 + e^-a)`, also called swish.", errors "", example "[0.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            GELU "gelu" nn: gelu, gelu_into, gelu_assign, [T: Float] T -> T; "`a` times the standard normal distribution's integral up to `a`: `a (1 + erf(a / sqrt(2))) / 2`.", errors "", example "[0.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            GELU_TANH "gelu_tanh" nn: gelu_tanh, gelu_tanh_into, gelu_tanh_assign, [T: Float] T -> T; "`a (1 + tanh(sqrt(2 / pi) (a + 0.044715 a^3))) / 2`, close to [`gelu`](fn@crate::nn::gelu).", errors "", example "[0.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            HARDSWISH "hardswish" nn: hardswish, hardswish_into, hardswish_assign, [T: Float] T -> T; "`a min(max(a + 3, 0), 6) / 6`.", errors "", example "[-4.0, 0.0, 3.0, 5.0]" => "[-0.0, 0.0, 3.0, 5.0]";
            ELU "elu" nn: elu, elu_into, elu_assign, [T: Float] T -> T; "`a`, or `e^a - 1` where it is negative.", errors "", example "[f64::NEG_INFINITY, 2.5]" => "[-1.0, 2.5]";
            LEAKY_RELU "leaky_relu" nn: leaky_relu, leaky_relu_into, leaky_relu_assign, [T: Float] T -> T; "`a`, or `0.01 a` where it is negative.", errors "", example "[-100.0, 2.5]" => "[-1.0, 2.5]";
            SQUARE "square" ops: square, square_into, square_assign, [T: Arithmetic] T -> T; "`a * a`; integers wrap.", errors "", example "[1, -2, 3]" => "[1, 4, 9]";
            FLOOR "floor" ops: floor, floor_into, floor_assign, [T: Float] T -> T; "The largest whole number that is not above `a`.", errors "", example "[-1.5, 2.5]" => "[-2.0, 2.0]";
            CEIL "ceil" ops: ceil, ceil_into, ceil_assign, [T: Float] T -> T; "The smallest whole number that is not below `a`.", errors "", example "[-1.5, 2.5]" => "[-1.0, 3.0]";
            ROUND "round" ops: round, round_into, round_assign, [T: Float] T -> T; "The nearest whole number, of two the even one.", errors "", example "[-1.5, 2.5]" => "[-2.0, 2.0]";
            TRUNC "trunc" ops: trunc, trunc_into, trunc_assign, [T: Float] T -> T; "`a` without its fraction.", errors "", example "[-1.5, 2.5]" => "[-1.0, 2.0]";
            SIGN "sign" ops: sign, sign_into, sign_assign, [T: Number] T -> T; "-1, 0 or 1 as `a` is below, at or above zero; zeros and NaN stay what they are.", errors "", example "[-3, 0, 5]" => "[-1, 0, 1]";
            NAN_TO_NUM "nan_to_num" ops: nan_to_num, nan_to_num_into, nan_to_num_assign, [T: Float] T -> T; "Zero in the place of NaN, and the largest and lowest finite numbers in that of infinities.", errors "", example "[1.5, f64::NAN, f64::INFINITY]" => "[1.5, 0.0, f64::MAX]";
            EXPM1 "expm1" ops: expm1, expm1_into, expm1_assign, [T: Float] T -> T; "`e^a - 1`, also where `a` is small.", errors "", example "[0.0, f64::NEG_INFINITY]" => "[0.0, -1.0]";
            LOG1P "log1p" ops: log1p, log1p_into, log1p_assign, [T: Float] T -> T; "`ln(1 + a)`, also where `a` is small; NaN below -1.", errors "", example "[0.0, -1.0]" => "[0.0, f64::NEG_INFINITY]";
            ERF "erf" ops: erf, erf_into, erf_assign, [T: Float] T -> T; "The error function of `a`.", errors "", example "[0.0, f64::INFINITY]" => "[0.0, 1.0]";
            SIN "sin" ops: sin, sin_into, sin_assign, [T: Float] T -> T; "The sine of `a`, of the whole range.", errors "", example "[0.0, f64::MIN_POSITIVE]" => "[0.0, f64::MIN_POSITIVE]";
            TAN "tan" ops: tan, tan_into, tan_assign, [T: Float] T -> T; "The tangent of `a`, of the whole range.", errors "", example "[0.0, f64::MIN_POSITIVE]" => "[0.0, f64::MIN_POSITIVE]";
            ASIN "asin" ops: asin, asin_into, asin_assign, [T: Float] T -> T; "The arc sine of `a`; NaN beyond 1.", errors "", example "[0.0, 1.0]" => "[0.0, std::f64::consts::FRAC_PI_2]";
            ATAN "atan" ops: atan, atan_into, atan_assign, [T: Float] T -> T; "The arc tangent of `a`.", errors "", example "[0.0, f64::INFINITY]" => "[0.0, std::f64::consts::FRAC_PI_2]";
            SINH "sinh" ops: sinh, sinh_into, sinh_assign, [T: Float] T -> T; "The hyperbolic sine of `a`.", errors "", example "[0.0, f64::NEG_INFINITY]" => "[0.0, f64::NEG_INFINITY]";
            ASINH "asinh" ops: asinh, asinh_into, asinh_assign, [T: Float] T -> T; "The inverse hyperbolic sine of `a`.", errors "", example "[0.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            ATANH "atanh" ops: atanh, atanh_into, atanh_assign, [T: Float] T -> T; "The inverse hyperbolic tangent of `a`; NaN beyond 1.", errors "", example "[0.0, 1.0]" => "[0.0, f64::INFINITY]";
            CBRT "cbrt" ops: cbrt, cbrt_into, cbrt_assign, [T: Float] T -> T; "The cube root of `a`.", errors "", example "[8.0, -27.0]" => "[2.0, -3.0]";
            SOFTSIGN "softsign" nn: softsign, softsign_into, softsign_assign, [T: Float] T -> T; "`a / (1 + |a|)`.", errors "", example "[-1.0, 0.0, 3.0, f64::INFINITY]" => "[-0.5, 0.0, 0.75, 1.0]";
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! for_each_reduce_of_reals {
    ($then:ident) => {
        $then! {
            SUM "sum": sum, sum_into, [T: Number] => T::Sum; "The sum: floats and complex numbers keep their type (f16 and bf16 add in f32), integers give i64 or u64 and wrap; 0 of no elements.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[9.0, 9.0]";
            PROD "prod": prod, prod_into, [T: Number] => T::Sum; "The product: floats keep their type and multiply in f64, integers give i64 or u64 and wrap; 1 of no elements. No product on the way overflows or underflows.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[12.0, 0.0]";
            MEAN "mean": mean, mean_into, [T: Float] => T; "The arithmetic mean; NaN of no elements.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[3.0, 3.0]";
            VAR "var": var, var_into, [T: Float] => T, [ddof: u32]; "The variance: the squared deviations from the mean, divided by the count less `ddof` (0 for a whole population, 1 for a sample); NaN where the count is not above `ddof`.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "0, 1" => "[0.5, 4.5, 2.0]";
            STD "std": std, std_into, [T: Float] => T, [ddof: u32]; "The standard deviation: the square root of [`var`](fn@crate::ops::var), with the same `ddof`.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "0, 0" => "[0.5, 1.5, 1.0]";
            MIN "min": min, min_into, [T: Number] => T; "The smallest element; NaN wins.", errors ", or no elements to choose from", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[1.0, 0.0]";
            MAX "max": max, max_into, [T: Number] => T; "The largest element; NaN wins.", errors ", or no elements to choose from", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[6.0, 5.0]";
            ARGMIN "argmin": argmin, argmin_into, [T: Number] => i64; "The index of the smallest element, along one axis, or in row-major order over all; the first of equals, and the first NaN before any number.", errors ", no elements to choose from, or some of several axes", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[0, 0]";
            ARGMAX "argmax": argmax, argmax_into, [T: Number] => i64; "The index of the largest element, along one axis, or in row-major order over all; the first of equals, and the first NaN before any number.", errors ", no elements to choose from, or some of several axes", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[2, 1]";
            ANY "any": any, any_into, [T: Real] => Bool8; "Whether any element is not 0; false of no elements.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[true, true].map(tenure::Bool8::from)";
            ALL "all": all, all_into, [T: Real] => Bool8; "Whether every element is not 0; true of no elements.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[true, false].map(tenure::Bool8::from)";
            COUNT "count": count, count_into, [T: Real] => i64; "How many elements are not 0.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[3, 2]";
            NORM "norm": norm, norm_into, [T: Float] => T, [power: f64]; "The p-norm for a `power` p above 0: the sum of `|a|^p` to the power `1 / p`, or where it is infinite the largest `|a|`. It is 1 for the sum of magnitudes and 2 for the length of a vector, whose squares add in f64; 0 of no elements.", errors ", or a `power` that is not above 0", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1, 1.0" => "[9.0, 9.0]";
            LOGSUMEXP "logsumexp": logsumexp, logsumexp_into, [T: Float] => T; "The logarithm of the sum of `e^a`, without overflow; minus infinity of no elements.", errors "", example "[[1000.0, 1000.0], [0.0, f64::NEG_INFINITY]]", "1" => "[1000.0 + 2.0_f64.ln(), 0.0]";
            NAN_SUM "nan_sum": nan_sum, nan_sum_into, [T: Float] => T; "The [`sum`](fn@crate::ops::sum) of the elements that are not NaN.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[9.0, 9.0]";
            NAN_MEAN "nan_mean": nan_mean, nan_mean_into, [T: Float] => T; "The [`mean`](fn@crate::ops::mean) of the elements that are not NaN; NaN of none.", errors "", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[3.0, 3.0]";
            NAN_MIN "nan_min": nan_min, nan_min_into, [T: Float] => T; "The smallest of the elements that are not NaN; NaN where all are.", errors ", or no elements to choose from", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[1.0, 0.0]";
            NAN_MAX "nan_max": nan_max, nan_max_into, [T: Float] => T; "The largest of the elements that are not NaN; NaN where all are.", errors ", or no elements to choose from", example "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]", "1" => "[6.0, 5.0]";
            NAN_VAR "nan_var": nan_var, nan_var_into, [T: Float] => T, [ddof: u32]; "The variance ([`var`](fn@crate::ops::var)) of the elements that are not NaN, with the same `ddof`; NaN where their count is not above it.", errors "", example "[[1.0, 2.0, 6.0], [f64::NAN; 3], [0.0, 5.0, 4.0]]", "0, 1" => "[0.5, 4.5, 2.0]";
            NAN_STD "nan_std": nan_std, nan_std_into, [T: Float] => T, [ddof: u32]; "The standard deviation of the elements that are not NaN: the square root of [`nan_var`](fn@crate::ops::nan_var), with the same `ddof`.", errors "", example "[[1.0, 2.0, 6.0], [f64::NAN; 3], [0.0, 5.0, 4.0]]", "0, 0" => "[0.5, 1.5, 1.0]";
        }
    };
}

/// Operands (a); low bits: `tnr_unary_op`.
pub const TNR_NODE_UNARY: u32 = 0x0001_0000;

/// Operands (a, b); low bits: `tnr_binary_op`.
pub const TNR_NODE_BINARY: u32 = 0x0002_0000;

/// Operands (a, b, c); low bits: `tnr_ternary_op`.
pub const TNR_NODE_TERNARY: u32 = 0x0003_0000;

/// Operands (a, b); low bits: `tnr_compare_op`.
pub const TNR_NODE_COMPARE: u32 = 0x0004_0000;

/// Operands (condition, a, b).
pub const TNR_NODE_SELECT: u32 = 0x0005_0000;

/// Operands (a); dtype. Both dtypes are real.
pub const TNR_NODE_CAST: u32 = 0x0006_0000;

/// Operands (a); axes; low bits: `tnr_reduce_op`.
pub const TNR_NODE_REDUCE: u32 = 0x0007_0000;

/// Operands (a, weight?, bias?); axes; low bits: `tnr_normalize_op`.
pub const TNR_NODE_NORMALIZE: u32 = 0x0008_0000;

/// Operands (a, b, bias?).
pub const TNR_NODE_MATMUL: u32 = 0x0009_0000;

/// Operands (a, weight, bias?).
pub const TNR_NODE_CONV2D: u32 = 0x000a_0000;

/// Operands (a); numbers (rows?, cols?); low bits: MAX or MEAN of `tnr_reduce_op`.
pub const TNR_NODE_POOL2D: u32 = 0x000b_0000;

/// Operands (a, mean?, var, weight?, bias?).
pub const TNR_NODE_BATCH_NORM: u32 = 0x000c_0000;

/// Operands (a); numbers (shape...). A copy if strides cannot express it.
pub const TNR_NODE_RESHAPE: u32 = 0x000d_0000;

/// Operands (a); numbers (axes...).
pub const TNR_NODE_PERMUTE: u32 = 0x000e_0000;

/// Operands (a); numbers (shape...).
pub const TNR_NODE_BROADCAST: u32 = 0x000f_0000;

/// Operands (a); numbers (axis, start, stop, step).
pub const TNR_NODE_SLICE: u32 = 0x0010_0000;

/// Operands (a, ...); numbers (axis).
pub const TNR_NODE_CONCAT: u32 = 0x0011_0000;

/// Operands (a); numbers (shape...); low bits: `tnr_pad_mode`.
pub const TNR_NODE_PAD: u32 = 0x0012_0000;

/// Operands (a, indices); numbers (axis).
pub const TNR_NODE_TAKE: u32 = 0x0013_0000;

/// Operands (a, indices); numbers (axis).
pub const TNR_NODE_GATHER: u32 = 0x0014_0000;

/// Operands (a); low bits: `tnr_triangle`.
pub const TNR_NODE_TRIANGULAR: u32 = 0x0015_0000;

/// Operands (a); numbers (axis); low bits: `tnr_scan_op`.
pub const TNR_NODE_SCAN: u32 = 0x0016_0000;

/// Operands (...); numbers (...); low bits: index of `tnr_graph_add_custom`.
pub const TNR_NODE_CUSTOM: u32 = 0x0017_0000;

/// Operands (a, weight, bias?); numbers (rows?, cols?).
pub const TNR_NODE_CONV2D_TRANSPOSED: u32 = 0x0018_0000;

/// Operands (a, ...).
pub const TNR_NODE_EINSUM: u32 = 0x0019_0000;

/// Operands (a); numbers (axis); low bits: `tnr_order_result`.
pub const TNR_NODE_SORT: u32 = 0x001a_0000;

/// Operands (a); numbers (axis, k); low bits: `tnr_order_result`.
pub const TNR_NODE_TOP_K: u32 = 0x001b_0000;

/// Operands (a); numbers (axis, kth); low bits: `tnr_order_result`.
pub const TNR_NODE_PARTITION: u32 = 0x001c_0000;

/// Operands (a, q); axes.
pub const TNR_NODE_QUANTILE: u32 = 0x001d_0000;

/// Operands (a, values).
pub const TNR_NODE_SEARCHSORTED: u32 = 0x001e_0000;

/// Operands (a, weights?); numbers (extent).
pub const TNR_NODE_BINCOUNT: u32 = 0x001f_0000;

/// Operands (a, edges?); numbers (extent).
pub const TNR_NODE_HISTOGRAM: u32 = 0x0020_0000;

/// Operands (out, a, indices); numbers (axis); low bits: `tnr_binary_op`, 0 overwrites.
pub const TNR_NODE_PUT: u32 = 0x0021_0000;

/// Operands (out, a, indices); numbers (axis); low bits: `tnr_binary_op`, 0 overwrites.
pub const TNR_NODE_SCATTER: u32 = 0x0022_0000;

/// Operands (seed, offset); numbers (shape...); dtype; low bits: `tnr_random_distribution`.
pub const TNR_NODE_RANDOM: u32 = 0x0023_0000;

/// Operands (seed, offset); numbers (extent); dtype.
pub const TNR_NODE_RANDOM_PERMUTATION: u32 = 0x0024_0000;

/// Operands (major, minor, values); numbers (rows, cols).
pub const TNR_NODE_SPARSE_TO_DENSE: u32 = 0x0025_0000;

/// Operands (major, minor, values, b); numbers (rows, cols).
pub const TNR_NODE_SPARSE_MATMUL: u32 = 0x0026_0000;

/// Operands (major, minor, values, x, y); numbers (rows, cols). Gives values.
pub const TNR_NODE_SPARSE_SDDMM: u32 = 0x0027_0000;

/// Operands (major, minor, values, factors); numbers (rows, cols); low bits: axis. Gives values.
pub const TNR_NODE_SPARSE_SCALE: u32 = 0x0028_0000;

/// Operands (major, minor, values); numbers (rows, cols). Gives values.
pub const TNR_NODE_SPARSE_SOFTMAX: u32 = 0x0029_0000;

/// Operands (major, minor, values); numbers (rows, cols); axes; low bits: `tnr_reduce_op`.
pub const TNR_NODE_SPARSE_REDUCE: u32 = 0x002a_0000;

/// Operands (major, minor, values); numbers (rows, cols); low bits: `tnr_sparse_norm_kind`.
pub const TNR_NODE_SPARSE_NORM: u32 = 0x002b_0000;

/// Operands (major, minor, values); numbers (rows, cols).
pub const TNR_NODE_SPARSE_DIAGONAL: u32 = 0x002c_0000;

/// Operands (major, minor, values, b); numbers (rows, cols).
pub const TNR_NODE_SPARSE_SOLVE: u32 = 0x002d_0000;

/// Operands (major, minor, values, out); numbers (rows, cols).
pub const TNR_NODE_SPARSE_ACCUMULATE: u32 = 0x002e_0000;

/// Operands (condition, ...); numbers (subgraph, other subgraph).
pub const TNR_NODE_COND: u32 = 0x002f_0000;

/// Operands (a, ...); numbers (condition, body, most iterations).
pub const TNR_NODE_WHILE: u32 = 0x0030_0000;

/// Operands (a); numbers (extent).
pub const TNR_NODE_NONZERO: u32 = 0x0031_0000;

/// Operands (a, mask); numbers (extent).
pub const TNR_NODE_MASKED_SELECT: u32 = 0x0032_0000;

/// Operands (a, b). `a`, summed over the axes that broadcast the shape of `b` to it.
pub const TNR_NODE_SUM_TO: u32 = 0x0033_0000;

/// Operands (); numbers (number); dtype. The number, as an array of rank 0 of the node's dtype.
pub const TNR_NODE_EXTENT: u32 = 0x0034_0000;

/// Operands (a, gradient); low bits: MAX or MEAN of `tnr_reduce_op`.
pub const TNR_NODE_POOL2D_GRADIENT: u32 = 0x0035_0000;

/// Operands (a, gradient); numbers (kernel rows, kernel columns).
pub const TNR_NODE_CONV2D_FILTERS: u32 = 0x0036_0000;

/// Operands (a, scales, zeros?); dtype.
pub const TNR_NODE_QUANTIZE: u32 = 0x0037_0000;

/// Operands (a); numbers (shape...); dtype; low bits: `tnr_quantize_result`.
pub const TNR_NODE_QUANTIZE_DYNAMIC: u32 = 0x0038_0000;

/// Operands (a, scales, zeros?); dtype.
pub const TNR_NODE_DEQUANTIZE: u32 = 0x0039_0000;

/// Operands (a, b, a_scales?, b_scales, a_zeros?, b_zeros?, bias?, scale?, zero?); dtype.
pub const TNR_NODE_QUANTIZED_MATMUL: u32 = 0x003a_0000;

/// Operands (a, weight, a_scale?, scales, a_zero?, zeros?, bias?, out_scale?, out_zero?); dtype.
pub const TNR_NODE_QUANTIZED_CONV2D: u32 = 0x003b_0000;

/// Passes each struct of attributes with the kinds that take it, as
/// `KIND | KIND: Name(struct),`.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_node_attributes {
    ($then:ident) => {
        $then! {
            TNR_NODE_REDUCE: Reduce(tnr_reduce_attributes),
            TNR_NODE_NORMALIZE: Normalize(tnr_normalize_attributes),
            TNR_NODE_MATMUL | TNR_NODE_QUANTIZED_MATMUL: Matmul(tnr_matmul_attributes),
            TNR_NODE_CONV2D | TNR_NODE_CONV2D_TRANSPOSED | TNR_NODE_CONV2D_FILTERS | TNR_NODE_QUANTIZED_CONV2D: Conv2d(tnr_conv2d_attributes),
            TNR_NODE_POOL2D | TNR_NODE_POOL2D_GRADIENT: Pool2d(tnr_pool2d_attributes),
            TNR_NODE_BATCH_NORM: BatchNorm(tnr_batch_norm_attributes),
            TNR_NODE_PAD: Pad(tnr_pad_attributes),
            TNR_NODE_TRIANGULAR: Triangle(tnr_triangle_attributes),
            TNR_NODE_EINSUM: EinsumNode(tnr_einsum_node_attributes),
            TNR_NODE_SORT | TNR_NODE_TOP_K | TNR_NODE_QUANTILE | TNR_NODE_SEARCHSORTED: Sort(tnr_sort_attributes),
            TNR_NODE_HISTOGRAM: Histogram(tnr_histogram_attributes),
            TNR_NODE_RANDOM: Random(tnr_random_attributes),
            TNR_NODE_SPARSE_TO_DENSE | TNR_NODE_SPARSE_MATMUL | TNR_NODE_SPARSE_SDDMM | TNR_NODE_SPARSE_SCALE | TNR_NODE_SPARSE_SOFTMAX | TNR_NODE_SPARSE_REDUCE | TNR_NODE_SPARSE_NORM | TNR_NODE_SPARSE_DIAGONAL | TNR_NODE_SPARSE_SOLVE | TNR_NODE_SPARSE_ACCUMULATE: SparseNode(tnr_sparse_node_attributes),
        }
    };
}

impl crate::tnr_operation {
    /// `tnr_copy`.
    pub const COPY: crate::tnr_operation = crate::tnr_operation(1);
    /// `tnr_cast`.
    pub const CAST: crate::tnr_operation = crate::tnr_operation(2);
    /// `tnr_fill`.
    pub const FILL: crate::tnr_operation = crate::tnr_operation(3);
    /// `tnr_unary`.
    pub const UNARY: crate::tnr_operation = crate::tnr_operation(4);
    /// `tnr_binary`, `tnr_binary_scalar`, `tnr_scalar_binary`.
    pub const BINARY: crate::tnr_operation = crate::tnr_operation(5);
    /// `tnr_compare`, `tnr_compare_scalar`.
    pub const COMPARE: crate::tnr_operation = crate::tnr_operation(6);
    /// `tnr_select`.
    pub const SELECT: crate::tnr_operation = crate::tnr_operation(7);
    /// `tnr_reduce`.
    pub const REDUCE: crate::tnr_operation = crate::tnr_operation(8);
    /// `tnr_sparse_from_dense`, and with top k or dropout.
    pub const SPARSE_FROM_DENSE: crate::tnr_operation = crate::tnr_operation(9);
    /// `tnr_sparse_to_dense`.
    pub const SPARSE_TO_DENSE: crate::tnr_operation = crate::tnr_operation(10);
    /// `tnr_sparse_convert`, `tnr_sparse_select`, `tnr_sparse_slice`.
    pub const SPARSE_CONVERT: crate::tnr_operation = crate::tnr_operation(11);
    /// `tnr_sparse_coalesce`.
    pub const SPARSE_COALESCE: crate::tnr_operation = crate::tnr_operation(12);
    /// `tnr_sparse_prune`, `tnr_sparse_top_k`.
    pub const SPARSE_PRUNE: crate::tnr_operation = crate::tnr_operation(13);
    /// `tnr_sparse_product`, `tnr_sparse_product_masked`.
    pub const SPARSE_PRODUCT: crate::tnr_operation = crate::tnr_operation(14);
    /// `tnr_sparse_matmul`.
    pub const SPARSE_MATMUL: crate::tnr_operation = crate::tnr_operation(15);
    /// `tnr_sparse_sddmm`.
    pub const SPARSE_SDDMM: crate::tnr_operation = crate::tnr_operation(16);
    /// `tnr_sparse_binary`.
    pub const SPARSE_BINARY: crate::tnr_operation = crate::tnr_operation(17);
    /// `tnr_sparse_accumulate`.
    pub const SPARSE_ACCUMULATE: crate::tnr_operation = crate::tnr_operation(18);
    /// `tnr_sparse_scale`.
    pub const SPARSE_SCALE: crate::tnr_operation = crate::tnr_operation(19);
    /// `tnr_sparse_softmax`.
    pub const SPARSE_SOFTMAX: crate::tnr_operation = crate::tnr_operation(20);
    /// `tnr_sparse_reduce`, `tnr_sparse_norm`, `tnr_sparse_diagonal`.
    pub const SPARSE_REDUCE: crate::tnr_operation = crate::tnr_operation(21);
    /// `tnr_sparse_solve`.
    pub const SPARSE_SOLVE: crate::tnr_operation = crate::tnr_operation(22);
    /// `tnr_packed_create`.
    pub const SPARSE_PACK: crate::tnr_operation = crate::tnr_operation(23);
    /// `tnr_packed_matmul`.
    pub const SPARSE_PACKED_MATMUL: crate::tnr_operation = crate::tnr_operation(24);
    /// `tnr_matmul`.
    pub const MATMUL: crate::tnr_operation = crate::tnr_operation(25);
    /// `tnr_conv2d`.
    pub const CONV2D: crate::tnr_operation = crate::tnr_operation(26);
    /// `tnr_einsum`. Its bytes are counted by the operations that it is made of.
    pub const EINSUM: crate::tnr_operation = crate::tnr_operation(27);
    /// `tnr_conv2d_transposed`.
    pub const CONV2D_TRANSPOSED: crate::tnr_operation = crate::tnr_operation(28);
    /// `tnr_pool2d`.
    pub const POOL2D: crate::tnr_operation = crate::tnr_operation(29);
    /// `tnr_batch_norm`.
    pub const BATCH_NORM: crate::tnr_operation = crate::tnr_operation(30);
    /// `tnr_factor_create`.
    pub const FACTOR_PACK: crate::tnr_operation = crate::tnr_operation(31);
    /// `tnr_factor_matmul`.
    pub const FACTOR_MATMUL: crate::tnr_operation = crate::tnr_operation(32);
    /// `tnr_sparse_from_matmul`.
    pub const SPARSE_FROM_MATMUL: crate::tnr_operation = crate::tnr_operation(33);
    /// `tnr_ternary`.
    pub const TERNARY: crate::tnr_operation = crate::tnr_operation(34);
    /// `tnr_concat`.
    pub const CONCAT: crate::tnr_operation = crate::tnr_operation(35);
    /// `tnr_pad`.
    pub const PAD: crate::tnr_operation = crate::tnr_operation(36);
    /// `tnr_take`, `tnr_gather`.
    pub const TAKE: crate::tnr_operation = crate::tnr_operation(37);
    /// `tnr_put`, `tnr_scatter`.
    pub const PUT: crate::tnr_operation = crate::tnr_operation(38);
    /// `tnr_nonzero`, `tnr_masked_select`.
    pub const NONZERO: crate::tnr_operation = crate::tnr_operation(39);
    /// `tnr_triangular`.
    pub const TRIANGULAR: crate::tnr_operation = crate::tnr_operation(40);
    /// `tnr_normalize`.
    pub const NORMALIZE: crate::tnr_operation = crate::tnr_operation(41);
    /// `tnr_scan`.
    pub const SCAN: crate::tnr_operation = crate::tnr_operation(42);
    /// `tnr_moments`.
    pub const MOMENTS: crate::tnr_operation = crate::tnr_operation(43);
    /// `tnr_sort`, `tnr_top_k`, `tnr_partition`, `tnr_quantile`.
    pub const SORT: crate::tnr_operation = crate::tnr_operation(44);
    /// `tnr_searchsorted`.
    pub const SEARCHSORTED: crate::tnr_operation = crate::tnr_operation(45);
    /// `tnr_unique`.
    pub const UNIQUE: crate::tnr_operation = crate::tnr_operation(46);
    /// `tnr_bincount`, `tnr_histogram`.
    pub const HISTOGRAM: crate::tnr_operation = crate::tnr_operation(47);
    /// `tnr_random`, `tnr_random_permutation`.
    pub const RANDOM: crate::tnr_operation = crate::tnr_operation(48);
    /// `tnr_sparse_concat`.
    pub const SPARSE_CONCAT: crate::tnr_operation = crate::tnr_operation(49);
    /// `tnr_sparse_kron`.
    pub const SPARSE_KRON: crate::tnr_operation = crate::tnr_operation(50);
    /// `tnr_sparse_triangular`.
    pub const SPARSE_TRIANGULAR: crate::tnr_operation = crate::tnr_operation(51);
    /// `tnr_evaluate`, and element-wise steps of programs.
    pub const EVALUATE: crate::tnr_operation = crate::tnr_operation(52);
    /// `tnr_pool2d_gradient`.
    pub const POOL2D_GRADIENT: crate::tnr_operation = crate::tnr_operation(53);
    /// `tnr_conv2d_filters`.
    pub const CONV2D_FILTERS: crate::tnr_operation = crate::tnr_operation(54);
    /// `tnr_quantize`, `tnr_quantize_dynamic`.
    pub const QUANTIZE: crate::tnr_operation = crate::tnr_operation(55);
    /// `tnr_dequantize`.
    pub const DEQUANTIZE: crate::tnr_operation = crate::tnr_operation(56);
    /// `tnr_quantized_matmul`, `tnr_factor_quantized_matmul`.
    pub const QUANTIZED_MATMUL: crate::tnr_operation = crate::tnr_operation(57);
    /// `tnr_quantized_conv2d`.
    pub const QUANTIZED_CONV2D: crate::tnr_operation = crate::tnr_operation(58);
}

/// Passes each kind of operation that is counted, as `#[doc = ".."] Name = CONSTANT;`.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_counter {
    ($then:ident) => {
        $then! {
            #[doc = " [`copy_into`](crate::ops::copy_into), and the `to_` methods of what is not contiguous. It is not called as the trait of the prelude is, which compilers would then spell out in messages."] CopyInto = COPY;
            #[doc = " [`cast`](crate::ops::cast)."] Cast = CAST;
            #[doc = " [`fill`](crate::ops::fill()), [`full`](crate::Tensor::full), and inside a context [`zeros`](crate::Tensor::zeros)."] Fill = FILL;
            #[doc = " Arithmetic on one input: [`exp`](crate::ops::exp) and its like; on the entries of a sparse matrix too."] Unary = UNARY;
            #[doc = " Arithmetic on two inputs: [`add`](crate::ops::add) and its like."] Binary = BINARY;
            #[doc = " Comparisons: [`lt`](crate::ops::lt) and its like."] Compare = COMPARE;
            #[doc = " [`select`](crate::ops::select())."] Select = SELECT;
            #[doc = " Reductions: [`sum`](crate::ops::sum) and its like."] Reduce = REDUCE;
            #[doc = " From dense to sparse: [`Sparsify`](crate::Sparsify), [`sparse_relu`](crate::sparse::sparse_relu), `to_csr` and their like."] SparseFromDense = SPARSE_FROM_DENSE;
            #[doc = " [`to_dense`](crate::CsrView::to_dense) of sparse matrices."] SparseToDense = SPARSE_TO_DENSE;
            #[doc = " Among sparse formats, [`to_csc`](crate::CsrView::to_csc) and its like; parts of matrices, [`to_block`](crate::CsrView::to_block) and its like."] SparseConvert = SPARSE_CONVERT;
            #[doc = " [`coalesce`](crate::CsrView::coalesce)."] SparseCoalesce = SPARSE_COALESCE;
            #[doc = " [`prune`](crate::CsrView::prune) and [`top_k`](crate::CsrView::top_k)."] SparsePrune = SPARSE_PRUNE;
            #[doc = " [`product`](crate::CsrView::product) of two sparse matrices, masked or not."] SparseProduct = SPARSE_PRODUCT;
            #[doc = " Sparse times dense: [`matmul`](crate::CsrView::matmul) and its like."] SparseMatmul = SPARSE_MATMUL;
            #[doc = " [`sddmm`](crate::CsrView::sddmm)."] SparseSddmm = SPARSE_SDDMM;
            #[doc = " Arithmetic on two sparse matrices: [`add`](crate::CsrView::add) and its like."] SparseBinary = SPARSE_BINARY;
            #[doc = " [`add_to`](crate::CsrView::add_to) dense memory."] SparseAccumulate = SPARSE_ACCUMULATE;
            #[doc = " [`scale_rows`](crate::CsrViewMut::scale_rows), [`scale_cols`](crate::CsrViewMut::scale_cols)."] SparseScale = SPARSE_SCALE;
            #[doc = " [`softmax_rows`](crate::CsrViewMut::softmax_rows)."] SparseSoftmax = SPARSE_SOFTMAX;
            #[doc = " Reductions of sparse matrices, their norms and their diagonal."] SparseReduce = SPARSE_REDUCE;
            #[doc = " [`solve_triangular`](crate::CsrView::solve_triangular)."] SparseSolve = SPARSE_SOLVE;
            #[doc = " [`pack`](crate::CsrView::pack)."] SparsePack = SPARSE_PACK;
            #[doc = " [`matmul`](crate::PackedMatrix::matmul) of packed matrices."] SparsePackedMatmul = SPARSE_PACKED_MATMUL;
            #[doc = " [`matmul`](crate::linalg::matmul) of dense matrices."] Matmul = MATMUL;
            #[doc = " [`conv2d`](crate::nn::conv2d) of images."] Conv2d = CONV2D;
            #[doc = " [`einsum`](crate::linalg::einsum): its calls. The bytes are those of the operations that it is made of, which count their calls too."] Einsum = EINSUM;
            #[doc = " [`conv2d_transposed`](crate::nn::conv2d_transposed) of images."] Conv2dTransposed = CONV2D_TRANSPOSED;
            #[doc = " [`max_pool2d`](crate::nn::max_pool2d), [`avg_pool2d`](crate::nn::avg_pool2d) and those of any size."] Pool2d = POOL2D;
            #[doc = " [`batch_norm`](crate::nn::batch_norm)."] BatchNorm = BATCH_NORM;
            #[doc = " [`pack`](crate::PackedFactor::pack) of a right factor."] FactorPack = FACTOR_PACK;
            #[doc = " [`matmul_packed`](crate::linalg::matmul_packed)."] FactorMatmul = FACTOR_MATMUL;
            #[doc = " [`matmul_csr`](crate::linalg::matmul_csr)."] SparseFromMatmul = SPARSE_FROM_MATMUL;
            #[doc = " [`fma`](crate::ops::fma), [`clamp`](crate::ops::clamp) and the other operations on three inputs."] Ternary = TERNARY;
            #[doc = " [`concat`](crate::ops::concat) and [`stack`](crate::ops::stack)."] Concat = CONCAT;
            #[doc = " [`pad`](crate::ops::pad), [`tile`](crate::ops::tile) and [`roll`](crate::ops::roll)."] Pad = PAD;
            #[doc = " [`take`](crate::ops::take), [`gather`](crate::ops::gather) and [`repeat`](crate::ops::repeat)."] Take = TAKE;
            #[doc = " [`put`](crate::ops::put), [`scatter`](crate::ops::scatter), their like and [`one_hot`](crate::nn::one_hot)."] Put = PUT;
            #[doc = " [`nonzero`](crate::ops::nonzero) and [`masked_select`](crate::ops::masked_select)."] Nonzero = NONZERO;
            #[doc = " [`tril`](crate::ops::tril) and [`triu`](crate::ops::triu)."] Triangular = TRIANGULAR;
            #[doc = " [`softmax`](crate::nn::softmax), [`layer_norm`](crate::nn::layer_norm) and others over axes."] Normalize = NORMALIZE;
            #[doc = " [`cumsum`](crate::ops::cumsum) and others along an axis."] Scan = SCAN;
            #[doc = " [`moments`](crate::ops::moments)."] Moments = MOMENTS;
            #[doc = " [`sort`](crate::ops::sort), [`top_k`](crate::ops::top_k), [`partition`](crate::ops::partition), [`quantile`](crate::ops::quantile) and those alike."] Sort = SORT;
            #[doc = " [`searchsorted`](crate::ops::searchsorted)."] Searchsorted = SEARCHSORTED;
            #[doc = " [`unique`](crate::ops::unique)."] Unique = UNIQUE;
            #[doc = " [`bincount`](crate::ops::bincount), [`histogram`](crate::ops::histogram)."] Histogram = HISTOGRAM;
            #[doc = " Tensors of random numbers: [`uniform`](crate::random::Generator::uniform) and its like."] Random = RANDOM;
            #[doc = " [`vstack`](crate::sparse::vstack), [`hstack`](crate::sparse::hstack) and [`block_diag`](crate::sparse::block_diag)."] SparseConcat = SPARSE_CONCAT;
            #[doc = " [`kron`](crate::sparse::kron)."] SparseKron = SPARSE_KRON;
            #[doc = " [`tril`](crate::CsrView::tril) and [`triu`](crate::CsrView::triu) of sparse matrices."] SparseTriangular = SPARSE_TRIANGULAR;
            #[doc = " Expressions: [`eval`](crate::Expr::eval), [`eval_into`](crate::Expr::eval_into) and [`update`](crate::Tensor::update)."] Evaluate = EVALUATE;
            #[doc = " Gradients of poolings."] Pool2dGradient = POOL2D_GRADIENT;
            #[doc = " Gradients of the filters of convolutions."] Conv2dFilters = CONV2D_FILTERS;
            #[doc = " Rounding to integers with scales."] Quantize = QUANTIZE;
            #[doc = " Numbers of integers with scales."] Dequantize = DEQUANTIZE;
            #[doc = " Products of quantized factors."] QuantizedMatmul = QUANTIZED_MATMUL;
            #[doc = " Convolutions of quantized images."] QuantizedConv2d = QUANTIZED_CONV2D;
        }
    };
}
