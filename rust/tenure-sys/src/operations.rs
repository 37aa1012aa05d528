//! The table of operations: one row for each, and the only list of them.
//!
//! `rust/headergen` generates from it: the codes and their documentation (`src/codes.rs`,
//! `tenure.h`), the names, dtypes and properties that the core reads
//! (`core/src/cpu/operations.hpp`), the oracle of `tests/interop`, and the table of
//! `docs/operations.md`. The crate `tenure` makes its functions and spans of the macros in
//! `codes.rs`. A kernel or a reference without a rule for a row does not compile.
//!
//! Codes are those of the ABI: frozen, never reused, the next one for a new row, and independent of
//! the position of the row.

/// The function of the ABI that takes the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `tnr_unary`, `tnr_sparse_unary`.
    Unary,
    /// `tnr_binary`, with a number too, `tnr_sparse_binary`.
    Binary,
    /// `tnr_ternary`.
    Ternary,
    /// `tnr_compare`, `tnr_compare_scalar`.
    Compare,
    /// `tnr_reduce`, `tnr_sparse_reduce`.
    Reduce,
    /// `tnr_normalize`.
    Normalize,
    /// `tnr_scan`.
    Scan,
}

/// A set of dtypes, by bits. Dtypes that an operation does not take are UNSUPPORTED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dtypes(pub u32);

impl Dtypes {
    /// f64, f32, f16, bf16.
    pub const FLOATS: Dtypes = Dtypes(1);
    /// i8 to i64, u8 to u64.
    pub const INTEGERS: Dtypes = Dtypes(2);
    /// Truth values.
    pub const BOOL8: Dtypes = Dtypes(4);
    /// c64, c128.
    pub const COMPLEX: Dtypes = Dtypes(8);
    /// Dtypes of arithmetic.
    pub const NUMBERS: Dtypes = Dtypes(1 | 2);
    /// Floats and complex numbers, which have quotients.
    pub const FIELD: Dtypes = Dtypes(1 | 8);
    /// Dtypes that add and multiply.
    pub const ARITHMETIC: Dtypes = Dtypes(1 | 2 | 8);
    /// Dtypes that are equal or not.
    pub const ALL: Dtypes = Dtypes(1 | 2 | 4 | 8);
    /// Dtypes of comparisons and counts.
    pub const REAL: Dtypes = Dtypes(1 | 2 | 4);

    /// Whether all of `part` are in the set.
    pub const fn contains(self, part: Dtypes) -> bool {
        self.0 & part.0 == part.0
    }
}

/// The dtype of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// The dtype of the operands.
    Operand,
    /// The dtype of the operand for floats; i64 and u64 for integers.
    Wide,
    /// bool8.
    Truth,
    /// i64.
    Index,
    /// The dtype of the operand; for complex numbers that of their parts.
    Part,
}

/// How far a result of f32 or f64 may be from the exact one. Results of f16 and bf16 are computed
/// in f32 and rounded once more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Error {
    /// It is exact.
    Exact,
    /// It is the nearest number of the dtype.
    Rounded,
    /// It is within this number of units in the last place.
    Places(u32),
    /// The bound depends on the number of elements, and is in `docs/operations.md`.
    Grows,
    /// It is within this number of units in the last place of the largest input, which may be far
    /// larger than the result.
    OfInputs(u32),
}

/// The kernels with which a device computes an operation on floats. Kernels of words compute it on
/// integers and truth values. Each set of the unary and binary operations is an enumeration in C++,
/// and a kernel without a case for one of its members does not compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// No device computes it: UNSUPPORTED.
    None,
    /// All operations of the kind have the same kernels.
    OfKind,
    /// On the bits, as integers.
    Words,
    /// On the bits; the answer is a truth value.
    Question,
    /// A few instructions.
    Number,
    /// A function of an angle, which is reduced first.
    Angle,
    /// A function of many instructions.
    Function,
    /// A function that the kernel of expressions has too, for f32, f16 and bf16. Its code is then
    /// there twice.
    FusedFunction,
}

/// An argument of a reduction in addition to its axes: a field of `tnr_reduce_attributes`, and a
/// parameter of its Rust functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// It takes none.
    None,
    /// The count less this is the divisor. It is always given.
    Ddof,
    /// The power of a norm, above 0.
    Power,
}

/// The public module of the crate `tenure` that has the functions of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// `tenure::ops`.
    Ops,
    /// `tenure::nn`: activations and normalizations.
    Nn,
}

/// A call of the Rust function and its result, both as Rust; the example of its documentation.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The inputs.
    pub inputs: &'static [&'static str],
    /// The elements of the result.
    pub gives: &'static str,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Which function takes it.
    pub kind: Kind,
    /// In messages, and in capitals the constant of the ABI.
    pub name: &'static str,
    /// Code in the ABI.
    pub code: i32,
    /// Doc comment in the ABI.
    pub doc: &'static str,
    /// The function of the crate `tenure`; the others that write or work in place are named after
    /// it.
    pub rust: &'static str,
    /// The module of that function.
    pub module: Module,
    /// Doc comment in the crate.
    pub rust_doc: &'static str,
    /// Errors in addition to those of every operation, as the end of a sentence.
    pub rust_errors: &'static str,
    /// Example in the crate. For a reduction the last input is the arguments after the array.
    pub example: Example,
    /// The function of NumPy that it is compared with, as Python.
    pub numpy: &'static str,
    /// Dtypes of the operands.
    pub dtypes: Dtypes,
    /// Dtype of the result.
    pub gives: Gives,
    /// The attribute of a reduction.
    pub attribute: Attribute,
    /// Whether a reduction of no element is an error.
    pub needs_element: bool,
    /// Whether the result is 0 where all inputs are. Only such operations take sparse matrices.
    pub keeps_zero: bool,
    /// How exact it is.
    pub error: Error,
    /// How a device computes it.
    pub device: Device,
}

const fn example(inputs: &'static [&'static str], gives: &'static str) -> Example {
    Example { inputs, gives }
}

/// The defaults of a row: the least that an operation takes, gives and promises.
const ROW: Operation = Operation {
    kind: Kind::Unary,
    name: "",
    code: 0,
    doc: "",
    rust: "",
    module: Module::Ops,
    rust_doc: "",
    rust_errors: "",
    example: example(&[], ""),
    numpy: "",
    dtypes: Dtypes(0),
    gives: Gives::Operand,
    attribute: Attribute::None,
    needs_element: false,
    keeps_zero: false,
    error: Error::Exact,
    device: Device::None,
};
/// A row of a kind whose operations have the same kernels on a device.
const OF_KIND: Operation = Operation { device: Device::OfKind, ..ROW };
const REDUCTION: Operation = Operation { kind: Kind::Reduce, error: Error::Grows, ..OF_KIND };
const NORMALIZATION: Operation = Operation {
    kind: Kind::Normalize,
    module: Module::Nn,
    dtypes: Dtypes::FLOATS,
    error: Error::Grows,
    ..OF_KIND
};
const SCAN: Operation = Operation { kind: Kind::Scan, dtypes: Dtypes::NUMBERS, ..OF_KIND };
const COMPARISON: Operation =
    Operation { kind: Kind::Compare, dtypes: Dtypes::REAL, gives: Gives::Truth, ..OF_KIND };

/// The array of the examples of reductions.
const TABLE: &str = "[[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]]";
/// The array with a row of NaN in addition.
const GAPS: &str = "[[1.0, 2.0, 6.0], [f64::NAN; 3], [0.0, 5.0, 4.0]]";

/// Every operation.
pub const OPERATIONS: &[Operation] = &[
    // ---- of one input ----
    Operation {
        name: "neg",
        code: 1,
        doc: "`-x`; wraps on integers.",
        rust: "neg",
        rust_doc: "`-a`; integers wrap.",
        example: example(&["[1, -2, 3]"], "[-1, 2, -3]"),
        numpy: "np.negative",
        dtypes: Dtypes::ARITHMETIC,
        keeps_zero: true,
        device: Device::Words,
        ..ROW
    },
    Operation {
        name: "abs",
        code: 2,
        doc: "`|x|`; wraps on integers, and of complex numbers gives the dtype of their parts.",
        rust: "abs",
        rust_doc: "The magnitude of `a`; the lowest integer wraps to itself. Of complex numbers it is real.",
        example: example(&["[1, -2, -128_i8]"], "[1, 2, -128]"),
        numpy: "np.abs",
        dtypes: Dtypes::ARITHMETIC,
        gives: Gives::Part,
        keeps_zero: true,
        device: Device::Words,
        ..ROW
    },
    Operation {
        name: "sqrt",
        code: 3,
        doc: "Square root; floats only.",
        rust: "sqrt",
        rust_doc: "The square root of `a`; NaN below zero.",
        example: example(&["[1.0, 4.0, 9.0]"], "[1.0, 2.0, 3.0]"),
        numpy: "np.sqrt",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Rounded,
        device: Device::Number,
        ..ROW
    },
    Operation {
        name: "exp",
        code: 4,
        doc: "e to the x; floats only.",
        rust: "exp",
        rust_doc: "e to the power `a`.",
        example: example(&["[0.0, f64::NEG_INFINITY]"], "[1.0, 0.0]"),
        numpy: "np.exp",
        dtypes: Dtypes::FLOATS,
        error: Error::Places(1),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "relu",
        code: 5,
        doc: "`max(x, 0)`; NaN stays NaN.",
        rust: "relu",
        module: Module::Nn,
        rust_doc: "The larger of `a` and zero; NaN stays NaN.",
        example: example(&["[-1.5, 0.0, 2.5]"], "[0.0, 0.0, 2.5]"),
        numpy: "relu",
        dtypes: Dtypes::NUMBERS,
        keeps_zero: true,
        device: Device::Words,
        ..ROW
    },
    Operation {
        name: "tanh",
        code: 6,
        doc: "Hyperbolic tangent; floats only.",
        rust: "tanh",
        rust_doc: "The hyperbolic tangent of `a`.",
        example: example(&["[0.0, f64::INFINITY]"], "[0.0, 1.0]"),
        numpy: "np.tanh",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(1),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "sigmoid",
        code: 7,
        doc: "`1 / (1 + e^-x)`; floats only.",
        rust: "sigmoid",
        module: Module::Nn,
        rust_doc: "`1 / (1 + e^-a)`, the logistic function.",
        example: example(&["[0.0, f64::INFINITY]"], "[0.5, 1.0]"),
        numpy: "sigmoid",
        dtypes: Dtypes::FLOATS,
        error: Error::Places(1),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "silu",
        code: 8,
        doc: "`x / (1 + e^-x)`; floats only.",
        rust: "silu",
        module: Module::Nn,
        rust_doc: "`a / (1 + e^-a)`, also called swish.",
        example: example(&["[0.0, f64::INFINITY]"], "[0.0, f64::INFINITY]"),
        numpy: "silu",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(2),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "gelu",
        code: 9,
        doc: "x times the standard normal distribution's integral up to x: `x (1 + erf(x / sqrt(2))) / 2`; floats only.",
        rust: "gelu",
        module: Module::Nn,
        rust_doc: "`a` times the standard normal distribution's integral up to `a`: `a (1 + erf(a / sqrt(2))) / 2`.",
        example: example(&["[0.0, f64::INFINITY]"], "[0.0, f64::INFINITY]"),
        numpy: "gelu",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(4),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "gelu_tanh",
        code: 10,
        doc: "`x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2`, close to GELU; floats only.",
        rust: "gelu_tanh",
        module: Module::Nn,
        rust_doc: "`a (1 + tanh(sqrt(2 / pi) (a + 0.044715 a^3))) / 2`, close to [`gelu`](fn@crate::nn::gelu).",
        example: example(&["[0.0, f64::INFINITY]"], "[0.0, f64::INFINITY]"),
        numpy: "gelu_tanh",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(3),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "softplus",
        code: 11,
        doc: "`ln(1 + e^x)`; floats only.",
        rust: "softplus",
        module: Module::Nn,
        rust_doc: "`ln(1 + e^a)`.",
        example: example(&["[f64::NEG_INFINITY, 1000.0]"], "[0.0, 1000.0]"),
        numpy: "softplus",
        dtypes: Dtypes::FLOATS,
        error: Error::Places(2),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "hardswish",
        code: 12,
        doc: "`x min(max(x + 3, 0), 6) / 6`; floats only.",
        rust: "hardswish",
        module: Module::Nn,
        rust_doc: "`a min(max(a + 3, 0), 6) / 6`.",
        example: example(&["[-4.0, 0.0, 3.0, 5.0]"], "[-0.0, 0.0, 3.0, 5.0]"),
        numpy: "hardswish",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(2),
        device: Device::Number,
        ..ROW
    },
    Operation {
        name: "elu",
        code: 13,
        doc: "x, or `e^x - 1` where x is negative; floats only.",
        rust: "elu",
        module: Module::Nn,
        rust_doc: "`a`, or `e^a - 1` where it is negative.",
        example: example(&["[f64::NEG_INFINITY, 2.5]"], "[-1.0, 2.5]"),
        numpy: "elu",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(1),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "leaky_relu",
        code: 14,
        doc: "x, or `0.01 x` where x is negative; floats only.",
        rust: "leaky_relu",
        module: Module::Nn,
        rust_doc: "`a`, or `0.01 a` where it is negative.",
        example: example(&["[-100.0, 2.5]"], "[-1.0, 2.5]"),
        numpy: "leaky_relu",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(1),
        device: Device::Number,
        ..ROW
    },
    Operation {
        name: "square",
        code: 15,
        doc: "`x * x`; wraps on integers.",
        rust: "square",
        rust_doc: "`a * a`; integers wrap.",
        example: example(&["[1, -2, 3]"], "[1, 4, 9]"),
        numpy: "np.square",
        dtypes: Dtypes::ARITHMETIC,
        keeps_zero: true,
        error: Error::Rounded,
        device: Device::Number,
        ..ROW
    },
    Operation {
        name: "reciprocal",
        code: 16,
        doc: "`1 / x`; floats and complex numbers.",
        rust: "reciprocal",
        rust_doc: "`1 / a`.",
        example: example(&["[2.0, f64::INFINITY]"], "[0.5, 0.0]"),
        numpy: "np.reciprocal",
        dtypes: Dtypes::FIELD,
        error: Error::Rounded,
        device: Device::Number,
        ..ROW
    },
    Operation {
        name: "rsqrt",
        code: 17,
        doc: "`1 / sqrt(x)`; floats only.",
        rust: "rsqrt",
        rust_doc: "One over the square root of `a`; NaN below zero.",
        example: example(&["[4.0, f64::INFINITY]"], "[0.5, 0.0]"),
        numpy: "rsqrt",
        dtypes: Dtypes::FLOATS,
        error: Error::Places(1),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "floor",
        code: 18,
        doc: "The largest whole number that is not above x; floats only.",
        rust: "floor",
        rust_doc: "The largest whole number that is not above `a`.",
        example: example(&["[-1.5, 2.5]"], "[-2.0, 2.0]"),
        numpy: "np.floor",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        device: Device::Number,
        ..ROW
    },
    Operation {
        name: "ceil",
        code: 19,
        doc: "The smallest whole number that is not below x; floats only.",
        rust: "ceil",
        rust_doc: "The smallest whole number that is not below `a`.",
        example: example(&["[-1.5, 2.5]"], "[-1.0, 3.0]"),
        numpy: "np.ceil",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        device: Device::Number,
        ..ROW
    },
    Operation {
        name: "round",
        code: 20,
        doc: "The nearest whole number, of two the even one; floats only.",
        rust: "round",
        rust_doc: "The nearest whole number, of two the even one.",
        example: example(&["[-1.5, 2.5]"], "[-2.0, 2.0]"),
        numpy: "np.rint",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        device: Device::Number,
        ..ROW
    },
    Operation {
        name: "trunc",
        code: 21,
        doc: "x without its fraction; floats only.",
        rust: "trunc",
        rust_doc: "`a` without its fraction.",
        example: example(&["[-1.5, 2.5]"], "[-1.0, 2.0]"),
        numpy: "np.trunc",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        device: Device::Number,
        ..ROW
    },
    Operation {
        name: "sign",
        code: 22,
        doc: "-1, 0 or 1; zeros and NaN stay what they are.",
        rust: "sign",
        rust_doc: "-1, 0 or 1 as `a` is below, at or above zero; zeros and NaN stay what they are.",
        example: example(&["[-3, 0, 5]"], "[-1, 0, 1]"),
        numpy: "np.sign",
        dtypes: Dtypes::NUMBERS,
        keeps_zero: true,
        device: Device::Number,
        ..ROW
    },
    Operation {
        name: "is_nan",
        code: 23,
        doc: "Whether x is NaN, as bool8; floats only.",
        rust: "is_nan",
        rust_doc: "Whether `a` is NaN.",
        example: example(&["[1.0, f64::NAN, f64::INFINITY]"], "[false, true, false]"),
        numpy: "np.isnan",
        dtypes: Dtypes::FLOATS,
        gives: Gives::Truth,
        keeps_zero: true,
        device: Device::Question,
        ..ROW
    },
    Operation {
        name: "is_inf",
        code: 24,
        doc: "Whether x is infinite, as bool8; floats only.",
        rust: "is_inf",
        rust_doc: "Whether `a` is infinite.",
        example: example(&["[1.0, f64::NAN, f64::INFINITY]"], "[false, false, true]"),
        numpy: "np.isinf",
        dtypes: Dtypes::FLOATS,
        gives: Gives::Truth,
        keeps_zero: true,
        device: Device::Question,
        ..ROW
    },
    Operation {
        name: "is_finite",
        code: 25,
        doc: "Whether x is neither infinite nor NaN, as bool8; floats only.",
        rust: "is_finite",
        rust_doc: "Whether `a` is neither infinite nor NaN.",
        example: example(&["[1.0, f64::NAN, f64::INFINITY]"], "[true, false, false]"),
        numpy: "np.isfinite",
        dtypes: Dtypes::FLOATS,
        gives: Gives::Truth,
        device: Device::Question,
        ..ROW
    },
    Operation {
        name: "logical_not",
        code: 26,
        doc: "Whether x is false; bool8 only.",
        rust: "logical_not",
        rust_doc: "Whether `a` is false.",
        example: example(
            &["[true, false].map(tenure::Bool8::from)"],
            "[false, true].map(tenure::Bool8::from)",
        ),
        numpy: "np.logical_not",
        dtypes: Dtypes::BOOL8,
        device: Device::Words,
        ..ROW
    },
    Operation {
        name: "nan_to_num",
        code: 27,
        doc: "0 in the place of NaN, the largest and lowest finite numbers in that of infinities; floats only.",
        rust: "nan_to_num",
        rust_doc: "Zero in the place of NaN, and the largest and lowest finite numbers in that of infinities.",
        example: example(&["[1.5, f64::NAN, f64::INFINITY]"], "[1.5, 0.0, f64::MAX]"),
        numpy: "np.nan_to_num",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        device: Device::Words,
        ..ROW
    },
    Operation {
        name: "bit_not",
        code: 28,
        doc: "Every bit of x the other way; integers only.",
        rust: "bitwise_not",
        rust_doc: "Every bit of `a` the other way.",
        example: example(&["[0_u8, 5, 255]"], "[255, 250, 0]"),
        numpy: "np.invert",
        dtypes: Dtypes::INTEGERS,
        device: Device::Words,
        ..ROW
    },
    Operation {
        name: "exp2",
        code: 29,
        doc: "2 to the x; floats only.",
        rust: "exp2",
        rust_doc: "2 to the power `a`.",
        example: example(&["[3.0, f64::NEG_INFINITY]"], "[8.0, 0.0]"),
        numpy: "np.exp2",
        dtypes: Dtypes::FLOATS,
        error: Error::Places(1),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "expm1",
        code: 30,
        doc: "`e^x - 1`, also where x is small; floats only.",
        rust: "expm1",
        rust_doc: "`e^a - 1`, also where `a` is small.",
        example: example(&["[0.0, f64::NEG_INFINITY]"], "[0.0, -1.0]"),
        numpy: "np.expm1",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(2),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "ln",
        code: 31,
        doc: "Natural logarithm; floats only.",
        rust: "ln",
        rust_doc: "The natural logarithm of `a`; NaN below zero.",
        example: example(&["[1.0, 0.0]"], "[0.0, f64::NEG_INFINITY]"),
        numpy: "np.log",
        dtypes: Dtypes::FLOATS,
        error: Error::Places(1),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "log2",
        code: 32,
        doc: "Logarithm to base 2; floats only.",
        rust: "log2",
        rust_doc: "The logarithm of `a` to base 2; NaN below zero.",
        example: example(&["[8.0, 0.0]"], "[3.0, f64::NEG_INFINITY]"),
        numpy: "np.log2",
        dtypes: Dtypes::FLOATS,
        error: Error::Places(1),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "log10",
        code: 33,
        doc: "Logarithm to base 10; floats only.",
        rust: "log10",
        rust_doc: "The logarithm of `a` to base 10; NaN below zero.",
        example: example(&["[1000.0, 0.0]"], "[3.0, f64::NEG_INFINITY]"),
        numpy: "np.log10",
        dtypes: Dtypes::FLOATS,
        error: Error::Places(1),
        device: Device::Function,
        ..ROW
    },
    Operation {
        name: "log1p",
        code: 34,
        doc: "`ln(1 + x)`, also where x is small; floats only.",
        rust: "log1p",
        rust_doc: "`ln(1 + a)`, also where `a` is small; NaN below -1.",
        example: example(&["[0.0, -1.0]"], "[0.0, f64::NEG_INFINITY]"),
        numpy: "np.log1p",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(1),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "erf",
        code: 35,
        doc: "Error function; floats only.",
        rust: "erf",
        rust_doc: "The error function of `a`.",
        example: example(&["[0.0, f64::INFINITY]"], "[0.0, 1.0]"),
        numpy: "erf",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(2),
        device: Device::FusedFunction,
        ..ROW
    },
    Operation {
        name: "erfc",
        code: 36,
        doc: "1 less the error function, also where it is small; floats only.",
        rust: "erfc",
        rust_doc: "1 less the error function of `a`, also where that is small.",
        example: example(&["[0.0, f64::INFINITY]"], "[1.0, 0.0]"),
        numpy: "erfc",
        dtypes: Dtypes::FLOATS,
        error: Error::Places(3),
        device: Device::Function,
        ..ROW
    },
    Operation {
        name: "sin",
        code: 37,
        doc: "Sine, of the whole range; floats only.",
        rust: "sin",
        rust_doc: "The sine of `a`, of the whole range.",
        example: example(&["[0.0, f64::MIN_POSITIVE]"], "[0.0, f64::MIN_POSITIVE]"),
        numpy: "np.sin",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(1),
        device: Device::Angle,
        ..ROW
    },
    Operation {
        name: "cos",
        code: 38,
        doc: "Cosine, of the whole range; floats only.",
        rust: "cos",
        rust_doc: "The cosine of `a`, of the whole range.",
        example: example(&["[0.0, f64::MIN_POSITIVE]"], "[1.0, 1.0]"),
        numpy: "np.cos",
        dtypes: Dtypes::FLOATS,
        error: Error::Places(1),
        device: Device::Angle,
        ..ROW
    },
    Operation {
        name: "tan",
        code: 39,
        doc: "Tangent, of the whole range; floats only.",
        rust: "tan",
        rust_doc: "The tangent of `a`, of the whole range.",
        example: example(&["[0.0, f64::MIN_POSITIVE]"], "[0.0, f64::MIN_POSITIVE]"),
        numpy: "np.tan",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(2),
        device: Device::Angle,
        ..ROW
    },
    Operation {
        name: "asin",
        code: 40,
        doc: "Arc sine; floats only.",
        rust: "asin",
        rust_doc: "The arc sine of `a`; NaN beyond 1.",
        example: example(&["[0.0, 1.0]"], "[0.0, std::f64::consts::FRAC_PI_2]"),
        numpy: "np.arcsin",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(1),
        device: Device::Function,
        ..ROW
    },
    Operation {
        name: "acos",
        code: 41,
        doc: "Arc cosine; floats only.",
        rust: "acos",
        rust_doc: "The arc cosine of `a`; NaN beyond 1.",
        example: example(&["[1.0, -1.0]"], "[0.0, std::f64::consts::PI]"),
        numpy: "np.arccos",
        dtypes: Dtypes::FLOATS,
        error: Error::Places(1),
        device: Device::Function,
        ..ROW
    },
    Operation {
        name: "atan",
        code: 42,
        doc: "Arc tangent; floats only.",
        rust: "atan",
        rust_doc: "The arc tangent of `a`.",
        example: example(&["[0.0, f64::INFINITY]"], "[0.0, std::f64::consts::FRAC_PI_2]"),
        numpy: "np.arctan",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(2),
        device: Device::Function,
        ..ROW
    },
    Operation {
        name: "sinh",
        code: 43,
        doc: "Hyperbolic sine; floats only.",
        rust: "sinh",
        rust_doc: "The hyperbolic sine of `a`.",
        example: example(&["[0.0, f64::NEG_INFINITY]"], "[0.0, f64::NEG_INFINITY]"),
        numpy: "np.sinh",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(2),
        device: Device::Function,
        ..ROW
    },
    Operation {
        name: "cosh",
        code: 44,
        doc: "Hyperbolic cosine; floats only.",
        rust: "cosh",
        rust_doc: "The hyperbolic cosine of `a`.",
        example: example(&["[0.0, f64::NEG_INFINITY]"], "[1.0, f64::INFINITY]"),
        numpy: "np.cosh",
        dtypes: Dtypes::FLOATS,
        error: Error::Places(2),
        device: Device::Function,
        ..ROW
    },
    Operation {
        name: "asinh",
        code: 45,
        doc: "Inverse hyperbolic sine; floats only.",
        rust: "asinh",
        rust_doc: "The inverse hyperbolic sine of `a`.",
        example: example(&["[0.0, f64::INFINITY]"], "[0.0, f64::INFINITY]"),
        numpy: "np.arcsinh",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(2),
        device: Device::Function,
        ..ROW
    },
    Operation {
        name: "acosh",
        code: 46,
        doc: "Inverse hyperbolic cosine; floats only.",
        rust: "acosh",
        rust_doc: "The inverse hyperbolic cosine of `a`; NaN below 1.",
        example: example(&["[1.0, f64::INFINITY]"], "[0.0, f64::INFINITY]"),
        numpy: "np.arccosh",
        dtypes: Dtypes::FLOATS,
        error: Error::Places(2),
        device: Device::Function,
        ..ROW
    },
    Operation {
        name: "atanh",
        code: 47,
        doc: "Inverse hyperbolic tangent; floats only.",
        rust: "atanh",
        rust_doc: "The inverse hyperbolic tangent of `a`; NaN beyond 1.",
        example: example(&["[0.0, 1.0]"], "[0.0, f64::INFINITY]"),
        numpy: "np.arctanh",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(2),
        device: Device::Function,
        ..ROW
    },
    Operation {
        name: "cbrt",
        code: 48,
        doc: "Cube root; floats only.",
        rust: "cbrt",
        rust_doc: "The cube root of `a`.",
        example: example(&["[8.0, -27.0]"], "[2.0, -3.0]"),
        numpy: "np.cbrt",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(1),
        device: Device::Function,
        ..ROW
    },
    Operation {
        name: "conj",
        code: 49,
        doc: "The complex conjugate; complex numbers only.",
        rust: "conj",
        rust_doc: "The complex conjugate of `a`: its imaginary part with the other sign.",
        example: example(
            &["[tenure::Complex::new(1.0, 2.0)]"],
            "[tenure::Complex::new(1.0, -2.0)]",
        ),
        numpy: "np.conjugate",
        dtypes: Dtypes::COMPLEX,
        keeps_zero: true,
        ..ROW
    },
    Operation {
        name: "arg",
        code: 50,
        doc: "The angle of a complex number from the positive real axis, from -pi to pi, in the dtype of its parts; complex numbers only.",
        rust: "arg",
        rust_doc: "The angle of a complex number from the positive real axis, from -pi to pi.",
        example: example(
            &["[tenure::Complex::new(2.0, 0.0), tenure::Complex::new(0.0, 1.0)]"],
            "[0.0, std::f64::consts::FRAC_PI_2]",
        ),
        numpy: "np.angle",
        dtypes: Dtypes::COMPLEX,
        gives: Gives::Part,
        keeps_zero: true,
        error: Error::Places(2),
        ..ROW
    },
    Operation {
        name: "softsign",
        code: 51,
        doc: "`x / (1 + |x|)`; floats only.",
        rust: "softsign",
        module: Module::Nn,
        rust_doc: "`a / (1 + |a|)`.",
        example: example(&["[-1.0, 0.0, 3.0, f64::INFINITY]"], "[-0.5, 0.0, 0.75, 1.0]"),
        numpy: "softsign",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(2),
        device: Device::Number,
        ..ROW
    },
    // ---- of two inputs ----
    Operation {
        kind: Kind::Binary,
        name: "add",
        code: 1,
        doc: "`a + b`; wraps on integers.",
        rust: "add",
        rust_doc: "`a + b`; integers wrap.",
        example: example(&["[1.5, 2.0, 3.0]", "[10.0, 20.0, 30.0]"], "[11.5, 22.0, 33.0]"),
        numpy: "np.add",
        dtypes: Dtypes::ARITHMETIC,
        keeps_zero: true,
        error: Error::Rounded,
        device: Device::Number,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "sub",
        code: 2,
        doc: "`a - b`; wraps on integers.",
        rust: "sub",
        rust_doc: "`a - b`; integers wrap.",
        example: example(&["[10_u8, 20, 0]", "[1, 2, 1]"], "[9, 18, 255]"),
        numpy: "np.subtract",
        dtypes: Dtypes::ARITHMETIC,
        keeps_zero: true,
        error: Error::Rounded,
        device: Device::Number,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "mul",
        code: 3,
        doc: "`a * b`; wraps on integers.",
        rust: "mul",
        rust_doc: "`a * b`; integers wrap.",
        example: example(&["[1, 2, 3]", "[10]"], "[10, 20, 30]"),
        numpy: "np.multiply",
        dtypes: Dtypes::ARITHMETIC,
        keeps_zero: true,
        error: Error::Rounded,
        device: Device::Number,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "div",
        code: 4,
        doc: "`a / b`; integers truncate, MIN / -1 wraps, a zero divisor is an error found on the \
              data.",
        rust: "div",
        rust_doc: "`a / b`; integers truncate, and `MIN / -1` wraps.",
        rust_errors: ", or an integer is divided by zero, after some elements may have been written",
        example: example(&["[7, -7, 9]", "[2]"], "[3, -3, 4]"),
        numpy: "np.divide",
        dtypes: Dtypes::ARITHMETIC,
        error: Error::Rounded,
        device: Device::Number,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "min",
        code: 5,
        doc: "The smaller; NaN wins.",
        rust: "minimum",
        rust_doc: "The smaller of `a` and `b`; NaN wins.",
        example: example(&["[1.0, 5.0, -3.0]", "[2.0]"], "[1.0, 2.0, -3.0]"),
        numpy: "np.minimum",
        dtypes: Dtypes::NUMBERS,
        keeps_zero: true,
        device: Device::Number,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "max",
        code: 6,
        doc: "The larger; NaN wins.",
        rust: "maximum",
        rust_doc: "The larger of `a` and `b`; NaN wins.",
        example: example(&["[1.0, 5.0, -3.0]", "[2.0]"], "[2.0, 5.0, 2.0]"),
        numpy: "np.maximum",
        dtypes: Dtypes::NUMBERS,
        keeps_zero: true,
        device: Device::Number,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "rem",
        code: 7,
        doc: "The remainder of `a / b`, of the sign of a: of floats exact, as `fmod` of C. An integer divisor of zero is an error found on the data.",
        rust: "rem",
        rust_doc: "The remainder of `a / b`, of the sign of `a`: as Rust's `%`, exact for floats.",
        rust_errors: ", or an integer is divided by zero, after some elements may have been written",
        example: example(&["[7, -7, 9]", "[4]"], "[3, -3, 1]"),
        numpy: "np.fmod",
        dtypes: Dtypes::NUMBERS,
        device: Device::Function,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "logical_and",
        code: 8,
        doc: "Whether both are true; bool8 only.",
        rust: "logical_and",
        rust_doc: "Whether both are true.",
        example: example(
            &[
                "[true, true, false].map(tenure::Bool8::from)",
                "[true, false, false].map(tenure::Bool8::from)",
            ],
            "[true, false, false].map(tenure::Bool8::from)",
        ),
        numpy: "np.logical_and",
        dtypes: Dtypes::BOOL8,
        keeps_zero: true,
        device: Device::Words,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "logical_or",
        code: 9,
        doc: "Whether either is true; bool8 only.",
        rust: "logical_or",
        rust_doc: "Whether either is true.",
        example: example(
            &[
                "[true, true, false].map(tenure::Bool8::from)",
                "[true, false, false].map(tenure::Bool8::from)",
            ],
            "[true, true, false].map(tenure::Bool8::from)",
        ),
        numpy: "np.logical_or",
        dtypes: Dtypes::BOOL8,
        keeps_zero: true,
        device: Device::Words,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "logical_xor",
        code: 10,
        doc: "Whether one of the two is true; bool8 only.",
        rust: "logical_xor",
        rust_doc: "Whether one of the two is true.",
        example: example(
            &[
                "[true, true, false].map(tenure::Bool8::from)",
                "[true, false, false].map(tenure::Bool8::from)",
            ],
            "[false, true, false].map(tenure::Bool8::from)",
        ),
        numpy: "np.logical_xor",
        dtypes: Dtypes::BOOL8,
        keeps_zero: true,
        device: Device::Words,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "bit_and",
        code: 11,
        doc: "The bits that both have; integers only.",
        rust: "bitwise_and",
        rust_doc: "The bits that both have.",
        example: example(&["[6, 5]", "[3, 4]"], "[2, 4]"),
        numpy: "np.bitwise_and",
        dtypes: Dtypes::INTEGERS,
        keeps_zero: true,
        device: Device::Words,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "bit_or",
        code: 12,
        doc: "The bits that either has; integers only.",
        rust: "bitwise_or",
        rust_doc: "The bits that either has.",
        example: example(&["[6, 5]", "[3, 4]"], "[7, 5]"),
        numpy: "np.bitwise_or",
        dtypes: Dtypes::INTEGERS,
        keeps_zero: true,
        device: Device::Words,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "bit_xor",
        code: 13,
        doc: "The bits that one of the two has; integers only.",
        rust: "bitwise_xor",
        rust_doc: "The bits that one of the two has.",
        example: example(&["[6, 5]", "[3, 4]"], "[5, 1]"),
        numpy: "np.bitwise_xor",
        dtypes: Dtypes::INTEGERS,
        keeps_zero: true,
        device: Device::Words,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "shift_left",
        code: 14,
        doc: "`a` times 2 to the b, which wraps; 0 where b is not below the width or is negative. Integers only.",
        rust: "shift_left",
        rust_doc: "The bits of `a` moved up by `b`; 0 where `b` is at least their number, or negative.",
        example: example(&["[1_u8, 3, 1]", "[4, 7, 8]"], "[16, 128, 0]"),
        numpy: "np.left_shift",
        dtypes: Dtypes::INTEGERS,
        keeps_zero: true,
        device: Device::Words,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "shift_right",
        code: 15,
        doc: "`a` over 2 to the b, rounded down; where b is not below the width or is negative, 0 or, of negative numbers, -1. Integers only.",
        rust: "shift_right",
        rust_doc: "The bits of `a` moved down by `b`, with copies of its sign; where `b` is at least their number, or negative, 0 or, of negative numbers, -1.",
        example: example(&["[16, -5, -5]", "[4, 1, 99]"], "[1, -3, -1]"),
        numpy: "np.right_shift",
        dtypes: Dtypes::INTEGERS,
        keeps_zero: true,
        device: Device::Words,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "pow",
        code: 16,
        doc: "`a` to the power b, which of integers wraps and must not be negative, an error found on the data.",
        rust: "pow",
        rust_doc: "`a` to the power `b`, with the special cases of C: `pow(x, 0)` and `pow(1, y)` are 1, also of NaN. Integers wrap.",
        rust_errors: ", or an integer has a negative power, after some elements may have been written",
        example: example(&["[2.0, 9.0, -2.0]", "[10.0, 0.5, 3.0]"], "[1024.0, 3.0, -8.0]"),
        numpy: "np.power",
        dtypes: Dtypes::NUMBERS,
        error: Error::Places(1),
        device: Device::Function,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "atan2",
        code: 17,
        doc: "The angle of the point (b, a), from -pi to pi; floats only.",
        rust: "atan2",
        rust_doc: "The angle of the point (`b`, `a`), from -pi to pi.",
        example: example(&["[0.0, 1.0]", "[1.0, 0.0]"], "[0.0, std::f64::consts::FRAC_PI_2]"),
        numpy: "np.arctan2",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(2),
        device: Device::Function,
        ..ROW
    },
    Operation {
        kind: Kind::Binary,
        name: "hypot",
        code: 18,
        doc: "`sqrt(a^2 + b^2)`, which overflows only where it is too large itself; floats only.",
        rust: "hypot",
        rust_doc: "`sqrt(a^2 + b^2)`, which overflows only where it is too large itself.",
        example: example(&["[3.0, f64::INFINITY]", "[4.0, f64::NAN]"], "[5.0, f64::INFINITY]"),
        numpy: "np.hypot",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::Places(1),
        device: Device::Function,
        ..ROW
    },
    // ---- of three inputs ----
    Operation {
        kind: Kind::Ternary,
        name: "fma",
        code: 1,
        doc: "`a * b + c`, rounded once; wraps on integers.",
        rust: "fma",
        rust_doc: "`a * b + c`, rounded once; integers wrap.",
        example: example(&["[1.5, 2.0]", "[2.0, 3.0]", "[0.5]"], "[3.5, 6.5]"),
        numpy: "fma",
        dtypes: Dtypes::NUMBERS,
        keeps_zero: true,
        error: Error::Rounded,
        ..OF_KIND
    },
    Operation {
        kind: Kind::Ternary,
        name: "lerp",
        code: 2,
        doc: "`a + c (b - a)`: exactly a where c is 0 or b is equal, and b where c is 1; floats only.",
        rust: "lerp",
        rust_doc: "`a + c (b - a)`, linear interpolation: exactly `a` where `c` is 0 or `b` is equal, and `b` where `c` is 1.",
        example: example(&["[1.0, 2.0]", "[3.0, 10.0]", "[0.5]"], "[2.0, 6.0]"),
        numpy: "lerp",
        dtypes: Dtypes::FLOATS,
        keeps_zero: true,
        error: Error::OfInputs(1),
        ..OF_KIND
    },
    Operation {
        kind: Kind::Ternary,
        name: "clamp",
        code: 3,
        doc: "`min(max(a, b), c)`: a from b to c, and c where b is above it; NaN wins.",
        rust: "clamp",
        rust_doc: "`min(max(a, b), c)`: `a`, but not below `b` nor above `c`, and `c` where `b` is above it; NaN wins.",
        example: example(&["[1.0, 5.0, -3.0]", "[0.0]", "[2.0]"], "[1.0, 2.0, 0.0]"),
        numpy: "np.clip",
        dtypes: Dtypes::NUMBERS,
        keeps_zero: true,
        ..OF_KIND
    },
    // ---- comparisons ----
    Operation {
        name: "eq",
        code: 1,
        doc: "`a == b`.",
        rust: "eq",
        rust_doc: "a == b",
        example: example(&["[1, 2, 3]", "2"], "[false, true, false]"),
        numpy: "np.equal",
        dtypes: Dtypes::ALL,
        ..COMPARISON
    },
    Operation {
        name: "ne",
        code: 2,
        doc: "`a != b`.",
        rust: "ne",
        rust_doc: "a != b",
        example: example(&["[1, 2, 3]", "2"], "[true, false, true]"),
        numpy: "np.not_equal",
        dtypes: Dtypes::ALL,
        keeps_zero: true,
        ..COMPARISON
    },
    Operation {
        name: "lt",
        code: 3,
        doc: "`a < b`.",
        rust: "lt",
        rust_doc: "a < b",
        example: example(&["[1, 2, 3]", "2"], "[true, false, false]"),
        numpy: "np.less",
        keeps_zero: true,
        ..COMPARISON
    },
    Operation {
        name: "le",
        code: 4,
        doc: "`a <= b`.",
        rust: "le",
        rust_doc: "a <= b",
        example: example(&["[1, 2, 3]", "2"], "[true, true, false]"),
        numpy: "np.less_equal",
        ..COMPARISON
    },
    Operation {
        name: "gt",
        code: 5,
        doc: "`a > b`.",
        rust: "gt",
        rust_doc: "a > b",
        example: example(&["[1, 2, 3]", "2"], "[false, false, true]"),
        numpy: "np.greater",
        keeps_zero: true,
        ..COMPARISON
    },
    Operation {
        name: "ge",
        code: 6,
        doc: "`a >= b`.",
        rust: "ge",
        rust_doc: "a >= b",
        example: example(&["[1, 2, 3]", "2"], "[false, true, true]"),
        numpy: "np.greater_equal",
        ..COMPARISON
    },
    // ---- reductions ----
    Operation {
        name: "sum",
        rust: "sum",
        code: 1,
        doc: "Sum. Floats keep their dtype (f16 and bf16 accumulate in f32); integers give i64 or \
              u64. Empty: 0.",
        rust_doc: "The sum: floats and complex numbers keep their type (f16 and bf16 add in f32), integers give i64 or u64 and wrap; 0 of no elements.",
        example: example(&[TABLE, "1"], "[9.0, 9.0]"),
        numpy: "np.sum",
        dtypes: Dtypes::ARITHMETIC,
        gives: Gives::Wide,
        ..REDUCTION
    },
    Operation {
        name: "prod",
        rust: "prod",
        code: 2,
        doc: "Product, with the dtypes of SUM; floats multiply in f64. Empty: 1.",
        rust_doc: "The product: floats keep their type and multiply in f64, integers give i64 or u64 and wrap; 1 of no elements. No product on the way overflows or underflows.",
        example: example(&[TABLE, "1"], "[12.0, 0.0]"),
        numpy: "np.prod",
        dtypes: Dtypes::NUMBERS,
        gives: Gives::Wide,
        ..REDUCTION
    },
    Operation {
        name: "mean",
        rust: "mean",
        code: 3,
        doc: "Arithmetic mean; floats and complex numbers. Empty: NaN.",
        rust_doc: "The arithmetic mean; NaN of no elements.",
        example: example(&[TABLE, "1"], "[3.0, 3.0]"),
        numpy: "np.mean",
        dtypes: Dtypes::FIELD,
        ..REDUCTION
    },
    Operation {
        name: "var",
        rust: "var",
        code: 4,
        doc: "Variance with the attribute `ddof`; floats only. NaN where the count is not above \
              `ddof`.",
        rust_doc: "The variance: the squared deviations from the mean, divided by the count less `ddof` (0 for a whole population, 1 for a sample); NaN where the count is not above `ddof`.",
        example: example(&[TABLE, "0, 1"], "[0.5, 4.5, 2.0]"),
        numpy: "np.var",
        dtypes: Dtypes::FLOATS,
        attribute: Attribute::Ddof,
        ..REDUCTION
    },
    Operation {
        name: "std",
        rust: "std",
        code: 5,
        doc: "Standard deviation with the attribute `ddof`; floats only.",
        rust_doc: "The standard deviation: the square root of [`var`](fn@crate::ops::var), with the same `ddof`.",
        example: example(&[TABLE, "0, 0"], "[0.5, 1.5, 1.0]"),
        numpy: "np.std",
        dtypes: Dtypes::FLOATS,
        attribute: Attribute::Ddof,
        ..REDUCTION
    },
    Operation {
        name: "min",
        rust: "min",
        code: 6,
        doc: "Smallest element; NaN wins. Empty: an error.",
        rust_doc: "The smallest element; NaN wins.",
        rust_errors: ", or no elements to choose from",
        needs_element: true,
        example: example(&[TABLE, "1"], "[1.0, 0.0]"),
        numpy: "np.min",
        dtypes: Dtypes::NUMBERS,
        error: Error::Exact,
        ..REDUCTION
    },
    Operation {
        name: "max",
        rust: "max",
        code: 7,
        doc: "Largest element; NaN wins. Empty: an error.",
        rust_doc: "The largest element; NaN wins.",
        rust_errors: ", or no elements to choose from",
        needs_element: true,
        example: example(&[TABLE, "1"], "[6.0, 5.0]"),
        numpy: "np.max",
        dtypes: Dtypes::NUMBERS,
        error: Error::Exact,
        ..REDUCTION
    },
    Operation {
        name: "argmin",
        rust: "argmin",
        code: 8,
        doc: "Index (i64) of the smallest element: of the one axis, or row-major over all. The \
              first wins.",
        rust_doc: "The index of the smallest element, along one axis, or in row-major order over all; the first of equals, and the first NaN before any number.",
        rust_errors: ", no elements to choose from, or some of several axes",
        needs_element: true,
        example: example(&[TABLE, "1"], "[0, 0]"),
        numpy: "np.argmin",
        dtypes: Dtypes::NUMBERS,
        gives: Gives::Index,
        error: Error::Exact,
        ..REDUCTION
    },
    Operation {
        name: "argmax",
        rust: "argmax",
        code: 9,
        doc: "Index (i64) of the largest element: of the one axis, or row-major over all. The first \
              wins.",
        rust_doc: "The index of the largest element, along one axis, or in row-major order over all; the first of equals, and the first NaN before any number.",
        rust_errors: ", no elements to choose from, or some of several axes",
        needs_element: true,
        example: example(&[TABLE, "1"], "[2, 1]"),
        numpy: "np.argmax",
        dtypes: Dtypes::NUMBERS,
        gives: Gives::Index,
        error: Error::Exact,
        ..REDUCTION
    },
    Operation {
        name: "any",
        rust: "any",
        code: 10,
        doc: "Whether any element is not zero, as bool8. Empty: false.",
        rust_doc: "Whether any element is not 0; false of no elements.",
        example: example(&[TABLE, "1"], "[true, true].map(tenure::Bool8::from)"),
        numpy: "np.any",
        dtypes: Dtypes::REAL,
        gives: Gives::Truth,
        error: Error::Exact,
        ..REDUCTION
    },
    Operation {
        name: "all",
        rust: "all",
        code: 11,
        doc: "Whether every element is not zero, as bool8. Empty: true.",
        rust_doc: "Whether every element is not 0; true of no elements.",
        example: example(&[TABLE, "1"], "[true, false].map(tenure::Bool8::from)"),
        numpy: "np.all",
        dtypes: Dtypes::REAL,
        gives: Gives::Truth,
        error: Error::Exact,
        ..REDUCTION
    },
    Operation {
        name: "count",
        rust: "count",
        code: 12,
        doc: "How many elements are not zero, as i64. Empty: 0.",
        rust_doc: "How many elements are not 0.",
        example: example(&[TABLE, "1"], "[3, 2]"),
        numpy: "np.count_nonzero",
        dtypes: Dtypes::REAL,
        gives: Gives::Index,
        error: Error::Exact,
        ..REDUCTION
    },
    Operation {
        name: "norm",
        rust: "norm",
        code: 13,
        doc: "p-norm with the attribute `power`, p: the sum of `|x|^p` to the power `1 / p`, or where \
              it is infinite the largest `|x|`; floats only. Empty: 0.",
        rust_doc: "The p-norm for a `power` p above 0: the sum of `|a|^p` to the power `1 / p`, or where it is infinite the largest `|a|`. It is 1 for the sum of magnitudes and 2 for the length of a vector, whose squares add in f64; 0 of no elements.",
        rust_errors: ", or a `power` that is not above 0",
        example: example(&[TABLE, "1, 1.0"], "[9.0, 9.0]"),
        numpy: "norm",
        dtypes: Dtypes::FLOATS,
        attribute: Attribute::Power,
        ..REDUCTION
    },
    Operation {
        name: "logsumexp",
        rust: "logsumexp",
        code: 14,
        doc: "`ln(sum of e^x)`, without overflow; floats only. Empty: minus infinity.",
        rust_doc: "The logarithm of the sum of `e^a`, without overflow; minus infinity of no elements.",
        example: example(
            &["[[1000.0, 1000.0], [0.0, f64::NEG_INFINITY]]", "1"],
            "[1000.0 + 2.0_f64.ln(), 0.0]",
        ),
        numpy: "logsumexp",
        dtypes: Dtypes::FLOATS,
        ..REDUCTION
    },
    Operation {
        name: "nan_sum",
        rust: "nan_sum",
        code: 15,
        doc: "SUM of the elements that are not NaN; floats only. None: 0.",
        rust_doc: "The [`sum`](fn@crate::ops::sum) of the elements that are not NaN.",
        example: example(&[TABLE, "1"], "[9.0, 9.0]"),
        numpy: "np.nansum",
        dtypes: Dtypes::FLOATS,
        ..REDUCTION
    },
    Operation {
        name: "nan_mean",
        rust: "nan_mean",
        code: 16,
        doc: "MEAN of the elements that are not NaN; floats only. None: NaN.",
        rust_doc: "The [`mean`](fn@crate::ops::mean) of the elements that are not NaN; NaN of none.",
        example: example(&[TABLE, "1"], "[3.0, 3.0]"),
        numpy: "np.nanmean",
        dtypes: Dtypes::FLOATS,
        ..REDUCTION
    },
    Operation {
        name: "nan_min",
        rust: "nan_min",
        code: 17,
        doc: "Smallest of the elements that are not NaN; floats only. All are NaN: NaN. Empty: an \
              error.",
        rust_doc: "The smallest of the elements that are not NaN; NaN where all are.",
        rust_errors: ", or no elements to choose from",
        needs_element: true,
        example: example(&[TABLE, "1"], "[1.0, 0.0]"),
        numpy: "np.nanmin",
        dtypes: Dtypes::FLOATS,
        error: Error::Exact,
        ..REDUCTION
    },
    Operation {
        name: "nan_max",
        rust: "nan_max",
        code: 18,
        doc: "Largest of the elements that are not NaN; floats only. All are NaN: NaN. Empty: an \
              error.",
        rust_doc: "The largest of the elements that are not NaN; NaN where all are.",
        rust_errors: ", or no elements to choose from",
        needs_element: true,
        example: example(&[TABLE, "1"], "[6.0, 5.0]"),
        numpy: "np.nanmax",
        dtypes: Dtypes::FLOATS,
        error: Error::Exact,
        ..REDUCTION
    },
    Operation {
        name: "nan_var",
        rust: "nan_var",
        code: 19,
        doc: "VAR of the elements that are not NaN, with the attribute `ddof`; floats only. NaN \
              where their count is not above `ddof`.",
        rust_doc: "The variance ([`var`](fn@crate::ops::var)) of the elements that are not NaN, with the same `ddof`; NaN where their count is not above it.",
        example: example(&[GAPS, "0, 1"], "[0.5, 4.5, 2.0]"),
        numpy: "np.nanvar",
        dtypes: Dtypes::FLOATS,
        attribute: Attribute::Ddof,
        ..REDUCTION
    },
    Operation {
        name: "nan_std",
        rust: "nan_std",
        code: 20,
        doc: "The square root of NAN_VAR, with the attribute `ddof`; floats only.",
        rust_doc: "The standard deviation of the elements that are not NaN: the square root of [`nan_var`](fn@crate::ops::nan_var), with the same `ddof`.",
        example: example(&[GAPS, "0, 0"], "[0.5, 1.5, 1.0]"),
        numpy: "np.nanstd",
        dtypes: Dtypes::FLOATS,
        attribute: Attribute::Ddof,
        ..REDUCTION
    },
    // ---- normalizations ----
    Operation {
        name: "softmax",
        rust: "softmax",
        code: 1,
        doc: "`e^x` over the sum of all `e^x`. NaN where an element is NaN or plus infinity, or all \
              are minus infinity.",
        numpy: "softmax",
        ..NORMALIZATION
    },
    Operation {
        name: "log_softmax",
        rust: "log_softmax",
        code: 2,
        doc: "The logarithm of SOFTMAX: x less `ln(sum of e^x)`. NaN where SOFTMAX is.",
        numpy: "log_softmax",
        ..NORMALIZATION
    },
    Operation {
        name: "layer_norm",
        rust: "layer_norm",
        code: 3,
        doc: "`(x - mean) / sqrt(variance + eps)`, with the variance of ddof 0, times `weight` plus \
              `bias`. NaN where variance and `eps` are 0.",
        numpy: "layer_norm",
        ..NORMALIZATION
    },
    Operation {
        name: "rms_norm",
        rust: "rms_norm",
        code: 4,
        doc: "`x / sqrt(mean of the squares + eps)`, times `weight`. NaN where all are 0 and `eps` \
              is.",
        numpy: "rms_norm",
        ..NORMALIZATION
    },
    // ---- scans ----
    Operation {
        name: "sum",
        rust: "cumsum",
        code: 1,
        doc: "Cumulative sum, with the dtypes of the reduction; f32 accumulates in f64.",
        numpy: "np.cumsum",
        gives: Gives::Wide,
        error: Error::Grows,
        ..SCAN
    },
    Operation {
        name: "prod",
        rust: "cumprod",
        code: 2,
        doc: "Cumulative product, with the dtypes of the reduction; f32 accumulates in f64.",
        numpy: "np.cumprod",
        gives: Gives::Wide,
        error: Error::Grows,
        ..SCAN
    },
    Operation {
        name: "min",
        rust: "cummin",
        code: 3,
        doc: "The smallest so far; NaN wins.",
        numpy: "np.minimum.accumulate",
        ..SCAN
    },
    Operation {
        name: "max",
        rust: "cummax",
        code: 4,
        doc: "The largest so far; NaN wins.",
        numpy: "np.maximum.accumulate",
        ..SCAN
    },
];
