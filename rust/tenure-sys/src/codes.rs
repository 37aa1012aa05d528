// Generated from rust/tenure-sys/src/operations.rs by headergen. Do not edit.
//! The codes of operations, and lists of them for macros.

use crate::{
    tnr_binary_op, tnr_compare_op, tnr_normalize_op, tnr_reduce_op, tnr_scan_op, tnr_unary_op,
};

impl tnr_unary_op {
    /// `-x`; wraps on integers.
    pub const NEG: tnr_unary_op = tnr_unary_op(1);
    /// `|x|`; wraps on integers.
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
    /// Product, with the dtypes of SUM. Empty: 1.
    pub const PROD: tnr_reduce_op = tnr_reduce_op(2);
    /// Arithmetic mean; floats only. Empty: NaN.
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
            NEG "neg": neg, neg_into, neg_assign, Number; "`-a`; integers wrap.", example "[1, -2, 3]" => "[-1, 2, -3]";
            ABS "abs": abs, abs_into, abs_assign, Number; "The magnitude of `a`; the lowest integer wraps to itself.", example "[1, -2, -128_i8]" => "[1, 2, -128]";
            SQRT "sqrt": sqrt, sqrt_into, sqrt_assign, Float; "The square root of `a`; NaN below zero.", example "[1.0, 4.0, 9.0]" => "[1.0, 2.0, 3.0]";
            EXP "exp": exp, exp_into, exp_assign, Float; "e to the power `a`.", example "[0.0, f64::NEG_INFINITY]" => "[1.0, 0.0]";
            RELU "relu": relu, relu_into, relu_assign, Number; "The larger of `a` and zero; NaN stays NaN.", example "[-1.5, 0.0, 2.5]" => "[0.0, 0.0, 2.5]";
            TANH "tanh": tanh, tanh_into, tanh_assign, Float; "The hyperbolic tangent of `a`.", example "[0.0, f64::INFINITY]" => "[0.0, 1.0]";
            SIGMOID "sigmoid": sigmoid, sigmoid_into, sigmoid_assign, Float; "`1 / (1 + e^-a)`, the logistic function.", example "[0.0, f64::INFINITY]" => "[0.5, 1.0]";
            SILU "silu": silu, silu_into, silu_assign, Float; "`a / (1 + e^-a)`, also called swish.", example "[0.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            GELU "gelu": gelu, gelu_into, gelu_assign, Float; "`a` times the standard normal distribution's integral up to `a`: `a (1 + erf(a / sqrt(2))) / 2`.", example "[0.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            GELU_TANH "gelu_tanh": gelu_tanh, gelu_tanh_into, gelu_tanh_assign, Float; "`a (1 + tanh(sqrt(2 / pi) (a + 0.044715 a^3))) / 2`, close to [`gelu`](fn@crate::gelu).", example "[0.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            SOFTPLUS "softplus": softplus, softplus_into, softplus_assign, Float; "`ln(1 + e^a)`.", example "[f64::NEG_INFINITY, 1000.0]" => "[0.0, 1000.0]";
            HARDSWISH "hardswish": hardswish, hardswish_into, hardswish_assign, Float; "`a min(max(a + 3, 0), 6) / 6`.", example "[-4.0, 0.0, 3.0, 5.0]" => "[-0.0, 0.0, 3.0, 5.0]";
            ELU "elu": elu, elu_into, elu_assign, Float; "`a`, or `e^a - 1` where it is negative.", example "[f64::NEG_INFINITY, 2.5]" => "[-1.0, 2.5]";
            LEAKY_RELU "leaky_relu": leaky_relu, leaky_relu_into, leaky_relu_assign, Float; "`a`, or `0.01 a` where it is negative.", example "[-100.0, 2.5]" => "[-1.0, 2.5]";
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! for_each_binary {
    ($then:ident) => {
        $then! {
            ADD "add": add, add_into, add_assign; "`a + b`; integers wrap.", errors "", example "[1.5, 2.0, 3.0]", "[10.0, 20.0, 30.0]" => "[11.5, 22.0, 33.0]";
            SUB "sub": sub, sub_into, sub_assign; "`a - b`; integers wrap.", errors "", example "[10_u8, 20, 0]", "[1, 2, 1]" => "[9, 18, 255]";
            MUL "mul": mul, mul_into, mul_assign; "`a * b`; integers wrap.", errors "", example "[1, 2, 3]", "[10]" => "[10, 20, 30]";
            DIV "div": div, div_into, div_assign; "`a / b`; integers truncate, and `MIN / -1` wraps.", errors ", or an integer is divided by zero, after some elements may have been written", example "[7, -7, 9]", "[2]" => "[3, -3, 4]";
            MIN "minimum": minimum, minimum_into, minimum_assign; "The smaller of `a` and `b`; NaN wins.", errors "", example "[1.0, 5.0, -3.0]", "[2.0]" => "[1.0, 2.0, -3.0]";
            MAX "maximum": maximum, maximum_into, maximum_assign; "The larger of `a` and `b`; NaN wins.", errors "", example "[1.0, 5.0, -3.0]", "[2.0]" => "[2.0, 5.0, 2.0]";
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! for_each_compare {
    ($then:ident) => {
        $then! {
            EQ "equal": equal, equal_into; "a == b" => "[false, true, false]";
            NE "not_equal": not_equal, not_equal_into; "a != b" => "[true, false, true]";
            LT "less": less, less_into; "a < b" => "[true, false, false]";
            LE "less_equal": less_equal, less_equal_into; "a <= b" => "[true, true, false]";
            GT "greater": greater, greater_into; "a > b" => "[false, false, true]";
            GE "greater_equal": greater_equal, greater_equal_into; "a >= b" => "[false, true, true]";
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! for_each_reduce {
    ($then:ident) => {
        $then! {
            SUM "sum": sum;
            PROD "prod": prod;
            MEAN "mean": mean;
            VAR "var": var;
            STD "std": std;
            MIN "min": min;
            MAX "max": max;
            ARGMIN "argmin": argmin;
            ARGMAX "argmax": argmax;
            ANY "any": any;
            ALL "all": all;
            COUNT "count": count;
            NORM "norm": norm;
            LOGSUMEXP "logsumexp": logsumexp;
            NAN_SUM "nan_sum": nan_sum;
            NAN_MEAN "nan_mean": nan_mean;
            NAN_MIN "nan_min": nan_min;
            NAN_MAX "nan_max": nan_max;
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
            NEG "neg": neg, neg_into, neg_assign, Number; "`-a`; integers wrap.", example "[1, -2, 3]" => "[-1, 2, -3]";
            ABS "abs": abs, abs_into, abs_assign, Number; "The magnitude of `a`; the lowest integer wraps to itself.", example "[1, -2, -128_i8]" => "[1, 2, -128]";
            SQRT "sqrt": sqrt, sqrt_into, sqrt_assign, Float; "The square root of `a`; NaN below zero.", example "[1.0, 4.0, 9.0]" => "[1.0, 2.0, 3.0]";
            RELU "relu": relu, relu_into, relu_assign, Number; "The larger of `a` and zero; NaN stays NaN.", example "[-1.5, 0.0, 2.5]" => "[0.0, 0.0, 2.5]";
            TANH "tanh": tanh, tanh_into, tanh_assign, Float; "The hyperbolic tangent of `a`.", example "[0.0, f64::INFINITY]" => "[0.0, 1.0]";
            SILU "silu": silu, silu_into, silu_assign, Float; "`a / (1 + e^-a)`, also called swish.", example "[0.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            GELU "gelu": gelu, gelu_into, gelu_assign, Float; "`a` times the standard normal distribution's integral up to `a`: `a (1 + erf(a / sqrt(2))) / 2`.", example "[0.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            GELU_TANH "gelu_tanh": gelu_tanh, gelu_tanh_into, gelu_tanh_assign, Float; "`a (1 + tanh(sqrt(2 / pi) (a + 0.044715 a^3))) / 2`, close to [`gelu`](fn@crate::gelu).", example "[0.0, f64::INFINITY]" => "[0.0, f64::INFINITY]";
            HARDSWISH "hardswish": hardswish, hardswish_into, hardswish_assign, Float; "`a min(max(a + 3, 0), 6) / 6`.", example "[-4.0, 0.0, 3.0, 5.0]" => "[-0.0, 0.0, 3.0, 5.0]";
            ELU "elu": elu, elu_into, elu_assign, Float; "`a`, or `e^a - 1` where it is negative.", example "[f64::NEG_INFINITY, 2.5]" => "[-1.0, 2.5]";
            LEAKY_RELU "leaky_relu": leaky_relu, leaky_relu_into, leaky_relu_assign, Float; "`a`, or `0.01 a` where it is negative.", example "[-100.0, 2.5]" => "[-1.0, 2.5]";
        }
    };
}
