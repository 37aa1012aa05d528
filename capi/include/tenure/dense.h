/* Generated from rust/tenure-sys/src/abi.rs by headergen. Do not edit. */

#ifndef TENURE_DENSE_H
#define TENURE_DENSE_H

#include "tenure/view.h"

/*
 * Operations on dense views. Inputs broadcast to the shape of the output as in NumPy; outputs
 * never broadcast.
 *
 * Every operation returns INVALID_ARGUMENT for a malformed view, an axis beyond the rank, or a
 * shape or dtype that does not fit, UNSUPPORTED for a dtype or device that it does not take, and
 * ALIASED where an output shares bytes with another operand. The comments name further errors, and
 * inputs that `out` may be exactly. Indices are of i32 or i64.
 *
 * ```c
 * // out = a + b
 * float a[3] = {1, 2, 3}, b[3] = {4, 5, 6}, sums[3];
 * const int64_t shape[1] = {3};
 * tnr_view left, right;
 * tnr_view_mut out;
 * if (tnr_view_lend(a, sizeof a, 0, TNR_DTYPE_F32, 1, shape, NULL, &left) != TNR_STATUS_OK ||
 *     tnr_view_lend(b, sizeof b, 0, TNR_DTYPE_F32, 1, shape, NULL, &right) != TNR_STATUS_OK ||
 *     tnr_view_lend_mut(sums, sizeof sums, 0, TNR_DTYPE_F32, 1, shape, NULL, &out) !=
 *         TNR_STATUS_OK ||
 *     tnr_binary(NULL, TNR_BINARY_OP_ADD, &left, &right, NULL, &out) != TNR_STATUS_OK) {
 *   fprintf(stderr, "%s\n", tnr_last_error()->message);
 * }
 * ```
 */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ------------------------------------------------------------------------------
 * Operations
 *
 * Element-wise operations, reductions, products, convolutions and poolings.
 */

/**
 * Flag of the attributes of products and convolutions: after bias and activation, each element of
 * the result is at least `low` and at most `high`; NaN stays NaN. ReLU6 is this from 0 to 6.
 */
#define TNR_EPILOGUE_CLAMP 1

/**
 * Flag of `tnr_quantized_matmul_attributes`, and of the attributes of `TNR_NODE_QUANTIZED_MATMUL`:
 * the rows of an `a` of numbers are quantized with zero points, to u8. The error of rows that are
 * not symmetric about 0 is up to half as large.
 */
#define TNR_QUANTIZE_AFFINE_ROWS 2

/** Flag of a MEAN of `tnr_pool2d`: the padding counts as elements, zeros. */
#define TNR_POOL2D_COUNT_PADDING 1

/**
 * Flag of `tnr_pool2d`: the windows cover `a` as evenly as the extents of `out` allow. The window
 * of row y begins at row `y * height / out_height`, rounded down, and ends before
 * `(y + 1) * height / out_height`, rounded up; so do the columns.
 */
#define TNR_POOL2D_ADAPTIVE 2

/**
 * Flag of `tnr_pool2d`: the extents of `out` are rounded up, as PyTorch and ONNX round them. The
 * last window may end beyond the padded image, where it has no elements and no padding. It begins
 * in the image or in the padding before it: a window that would begin after the image is left out.
 */
#define TNR_POOL2D_CEIL 4

/** Reserved for options of later versions: pass NULL. */
typedef struct tnr_extension {
  uint64_t struct_size;
} tnr_extension;

/** An operation on one input. */
typedef int32_t tnr_unary_op;
#define TNR_UNARY_OP_NEG 1  /**< `-x`; wraps on integers. */
/** `|x|`; wraps on integers, and of complex numbers gives the dtype of their parts. */
#define TNR_UNARY_OP_ABS 2
#define TNR_UNARY_OP_SQRT 3  /**< Square root; floats only. */
#define TNR_UNARY_OP_EXP 4  /**< e to the x; floats only. */
#define TNR_UNARY_OP_RELU 5  /**< `max(x, 0)`; NaN stays NaN. */
#define TNR_UNARY_OP_TANH 6  /**< Hyperbolic tangent; floats only. */
#define TNR_UNARY_OP_SIGMOID 7  /**< `1 / (1 + e^-x)`; floats only. */
#define TNR_UNARY_OP_SILU 8  /**< `x / (1 + e^-x)`; floats only. */
/**
 * x times the standard normal distribution's integral up to x: `x (1 + erf(x / sqrt(2))) / 2`; floats only.
 */
#define TNR_UNARY_OP_GELU 9
/** `x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2`, close to GELU; floats only. */
#define TNR_UNARY_OP_GELU_TANH 10
#define TNR_UNARY_OP_SOFTPLUS 11  /**< `ln(1 + e^x)`; floats only. */
#define TNR_UNARY_OP_HARDSWISH 12  /**< `x min(max(x + 3, 0), 6) / 6`; floats only. */
#define TNR_UNARY_OP_ELU 13  /**< x, or `e^x - 1` where x is negative; floats only. */
#define TNR_UNARY_OP_LEAKY_RELU 14  /**< x, or `0.01 x` where x is negative; floats only. */
#define TNR_UNARY_OP_SQUARE 15  /**< `x * x`; wraps on integers. */
#define TNR_UNARY_OP_RECIPROCAL 16  /**< `1 / x`; floats and complex numbers. */
#define TNR_UNARY_OP_RSQRT 17  /**< `1 / sqrt(x)`; floats only. */
#define TNR_UNARY_OP_FLOOR 18  /**< The largest whole number that is not above x; floats only. */
#define TNR_UNARY_OP_CEIL 19  /**< The smallest whole number that is not below x; floats only. */
#define TNR_UNARY_OP_ROUND 20  /**< The nearest whole number, of two the even one; floats only. */
#define TNR_UNARY_OP_TRUNC 21  /**< x without its fraction; floats only. */
#define TNR_UNARY_OP_SIGN 22  /**< -1, 0 or 1; zeros and NaN stay what they are. */
#define TNR_UNARY_OP_IS_NAN 23  /**< Whether x is NaN, as bool8; floats only. */
#define TNR_UNARY_OP_IS_INF 24  /**< Whether x is infinite, as bool8; floats only. */
/** Whether x is neither infinite nor NaN, as bool8; floats only. */
#define TNR_UNARY_OP_IS_FINITE 25
#define TNR_UNARY_OP_LOGICAL_NOT 26  /**< Whether x is false; bool8 only. */
/**
 * 0 in the place of NaN, the largest and lowest finite numbers in that of infinities; floats only.
 */
#define TNR_UNARY_OP_NAN_TO_NUM 27
#define TNR_UNARY_OP_BIT_NOT 28  /**< Every bit of x the other way; integers only. */
#define TNR_UNARY_OP_EXP2 29  /**< 2 to the x; floats only. */
#define TNR_UNARY_OP_EXPM1 30  /**< `e^x - 1`, also where x is small; floats only. */
#define TNR_UNARY_OP_LN 31  /**< Natural logarithm; floats only. */
#define TNR_UNARY_OP_LOG2 32  /**< Logarithm to base 2; floats only. */
#define TNR_UNARY_OP_LOG10 33  /**< Logarithm to base 10; floats only. */
#define TNR_UNARY_OP_LOG1P 34  /**< `ln(1 + x)`, also where x is small; floats only. */
#define TNR_UNARY_OP_ERF 35  /**< Error function; floats only. */
/** 1 less the error function, also where it is small; floats only. */
#define TNR_UNARY_OP_ERFC 36
#define TNR_UNARY_OP_SIN 37  /**< Sine, of the whole range; floats only. */
#define TNR_UNARY_OP_COS 38  /**< Cosine, of the whole range; floats only. */
#define TNR_UNARY_OP_TAN 39  /**< Tangent, of the whole range; floats only. */
#define TNR_UNARY_OP_ASIN 40  /**< Arc sine; floats only. */
#define TNR_UNARY_OP_ACOS 41  /**< Arc cosine; floats only. */
#define TNR_UNARY_OP_ATAN 42  /**< Arc tangent; floats only. */
#define TNR_UNARY_OP_SINH 43  /**< Hyperbolic sine; floats only. */
#define TNR_UNARY_OP_COSH 44  /**< Hyperbolic cosine; floats only. */
#define TNR_UNARY_OP_ASINH 45  /**< Inverse hyperbolic sine; floats only. */
#define TNR_UNARY_OP_ACOSH 46  /**< Inverse hyperbolic cosine; floats only. */
#define TNR_UNARY_OP_ATANH 47  /**< Inverse hyperbolic tangent; floats only. */
#define TNR_UNARY_OP_CBRT 48  /**< Cube root; floats only. */
#define TNR_UNARY_OP_CONJ 49  /**< The complex conjugate; complex numbers only. */
/**
 * The angle of a complex number from the positive real axis, from -pi to pi, in the dtype of its parts; complex numbers only.
 */
#define TNR_UNARY_OP_ARG 50
#define TNR_UNARY_OP_SOFTSIGN 51  /**< `x / (1 + |x|)`; floats only. */

/** An operation on two inputs of one dtype. */
typedef int32_t tnr_binary_op;
#define TNR_BINARY_OP_ADD 1  /**< `a + b`; wraps on integers. */
#define TNR_BINARY_OP_SUB 2  /**< `a - b`; wraps on integers. */
#define TNR_BINARY_OP_MUL 3  /**< `a * b`; wraps on integers. */
/** `a / b`; integers truncate, MIN / -1 wraps, a zero divisor is an error found on the data. */
#define TNR_BINARY_OP_DIV 4
#define TNR_BINARY_OP_MIN 5  /**< The smaller; NaN wins. */
#define TNR_BINARY_OP_MAX 6  /**< The larger; NaN wins. */
/**
 * The remainder of `a / b`, of the sign of a: of floats exact, as `fmod` of C. An integer divisor of zero is an error found on the data.
 */
#define TNR_BINARY_OP_REM 7
#define TNR_BINARY_OP_LOGICAL_AND 8  /**< Whether both are true; bool8 only. */
#define TNR_BINARY_OP_LOGICAL_OR 9  /**< Whether either is true; bool8 only. */
#define TNR_BINARY_OP_LOGICAL_XOR 10  /**< Whether one of the two is true; bool8 only. */
#define TNR_BINARY_OP_BIT_AND 11  /**< The bits that both have; integers only. */
#define TNR_BINARY_OP_BIT_OR 12  /**< The bits that either has; integers only. */
#define TNR_BINARY_OP_BIT_XOR 13  /**< The bits that one of the two has; integers only. */
/**
 * `a` times 2 to the b, which wraps; 0 where b is not below the width or is negative. Integers only.
 */
#define TNR_BINARY_OP_SHIFT_LEFT 14
/**
 * `a` over 2 to the b, rounded down; where b is not below the width or is negative, 0 or, of negative numbers, -1. Integers only.
 */
#define TNR_BINARY_OP_SHIFT_RIGHT 15
/**
 * `a` to the power b, which of integers wraps and must not be negative, an error found on the data.
 */
#define TNR_BINARY_OP_POW 16
#define TNR_BINARY_OP_ATAN2 17  /**< The angle of the point (b, a), from -pi to pi; floats only. */
/** `sqrt(a^2 + b^2)`, which overflows only where it is too large itself; floats only. */
#define TNR_BINARY_OP_HYPOT 18

/**
 * A comparison of two inputs of one dtype; its result is bool8, and false where NaN takes part
 * (NE: true).
 */
typedef int32_t tnr_compare_op;
#define TNR_COMPARE_OP_EQ 1  /**< `a == b`. */
#define TNR_COMPARE_OP_NE 2  /**< `a != b`. */
#define TNR_COMPARE_OP_LT 3  /**< `a < b`. */
#define TNR_COMPARE_OP_LE 4  /**< `a <= b`. */
#define TNR_COMPARE_OP_GT 5  /**< `a > b`. */
#define TNR_COMPARE_OP_GE 6  /**< `a >= b`. */

/** An operation on three inputs of one dtype. */
typedef int32_t tnr_ternary_op;
#define TNR_TERNARY_OP_FMA 1  /**< `a * b + c`, rounded once; wraps on integers. */
/** `a + c (b - a)`: exactly a where c is 0 or b is equal, and b where c is 1; floats only. */
#define TNR_TERNARY_OP_LERP 2
/** `min(max(a, b), c)`: a from b to c, and c where b is above it; NaN wins. */
#define TNR_TERNARY_OP_CLAMP 3

/** A reduction over axes. */
typedef int32_t tnr_reduce_op;
/**
 * Sum. Floats keep their dtype (f16 and bf16 accumulate in f32); integers give i64 or u64. Empty: 0.
 */
#define TNR_REDUCE_OP_SUM 1
/** Product, with the dtypes of SUM; floats multiply in f64. Empty: 1. */
#define TNR_REDUCE_OP_PROD 2
#define TNR_REDUCE_OP_MEAN 3  /**< Arithmetic mean; floats and complex numbers. Empty: NaN. */
/** Variance with the attribute `ddof`; floats only. NaN where the count is not above `ddof`. */
#define TNR_REDUCE_OP_VAR 4
#define TNR_REDUCE_OP_STD 5  /**< Standard deviation with the attribute `ddof`; floats only. */
#define TNR_REDUCE_OP_MIN 6  /**< Smallest element; NaN wins. Empty: an error. */
#define TNR_REDUCE_OP_MAX 7  /**< Largest element; NaN wins. Empty: an error. */
/** Index (i64) of the smallest element: of the one axis, or row-major over all. The first wins. */
#define TNR_REDUCE_OP_ARGMIN 8
/** Index (i64) of the largest element: of the one axis, or row-major over all. The first wins. */
#define TNR_REDUCE_OP_ARGMAX 9
#define TNR_REDUCE_OP_ANY 10  /**< Whether any element is not zero, as bool8. Empty: false. */
#define TNR_REDUCE_OP_ALL 11  /**< Whether every element is not zero, as bool8. Empty: true. */
#define TNR_REDUCE_OP_COUNT 12  /**< How many elements are not zero, as i64. Empty: 0. */
/**
 * p-norm with the attribute `power`, p: the sum of `|x|^p` to the power `1 / p`, or where it is infinite the largest `|x|`; floats only. Empty: 0.
 */
#define TNR_REDUCE_OP_NORM 13
/** `ln(sum of e^x)`, without overflow; floats only. Empty: minus infinity. */
#define TNR_REDUCE_OP_LOGSUMEXP 14
/** SUM of the elements that are not NaN; floats only. None: 0. */
#define TNR_REDUCE_OP_NAN_SUM 15
/** MEAN of the elements that are not NaN; floats only. None: NaN. */
#define TNR_REDUCE_OP_NAN_MEAN 16
/** Smallest of the elements that are not NaN; floats only. All are NaN: NaN. Empty: an error. */
#define TNR_REDUCE_OP_NAN_MIN 17
/** Largest of the elements that are not NaN; floats only. All are NaN: NaN. Empty: an error. */
#define TNR_REDUCE_OP_NAN_MAX 18
/**
 * VAR of the elements that are not NaN, with the attribute `ddof`; floats only. NaN where their count is not above `ddof`.
 */
#define TNR_REDUCE_OP_NAN_VAR 19
/** The square root of NAN_VAR, with the attribute `ddof`; floats only. */
#define TNR_REDUCE_OP_NAN_STD 20

/** Attributes of `tnr_reduce` and `tnr_sparse_reduce`. */
typedef struct tnr_reduce_attributes {
  uint64_t struct_size;
  /** Delta degrees of freedom: variances divide by the count less this. 0 for all others. */
  uint32_t ddof;
  uint32_t reserved;
  double power;  /**< The p of NORM, above 0. 0 for all others. */
} tnr_reduce_attributes;

/** Attributes of `tnr_matmul`. */
typedef struct tnr_matmul_attributes {
  uint64_t struct_size;
  /** `[n]`, of the dtype of `out`: added to each row of the result. NULL: nothing is. */
  const tnr_view *bias;
  tnr_unary_op activation;  /**< Applied to each element of the result, after that; 0: none. */
  uint32_t flags;  /**< `TNR_EPILOGUE_CLAMP`, or 0. */
  /** With the flag: the least that an element of the result is; not NaN. Without it 0. */
  double low;
  double high;  /**< With the flag: the greatest; not below `low`. Without it 0. */
} tnr_matmul_attributes;

/**
 * Attributes of `tnr_conv2d` and `tnr_conv2d_transposed`. For the latter, `a` below means `out`.
 */
typedef struct tnr_conv2d_attributes {
  uint64_t struct_size;
  /** Elements of `a` from one position of the kernel to the next: down and right. 0 means 1. */
  int64_t strides[2];
  /** Zeros around each image: rows above and below, columns left and right. */
  int64_t padding[4];
  /** Elements of `a` from one element of the kernel to the next: down and right. 0 means 1. */
  int64_t dilations[2];
  /**
   * Number of groups that channels and filters are split into: a filter reads only the channels
   * of its group. 0 means 1.
   */
  int64_t groups;
  tnr_unary_op activation;  /**< Applied to each element of the result; 0: none. */
  uint32_t flags;  /**< `TNR_EPILOGUE_CLAMP`, or 0. */
  /** With the flag: the least that an element of the result is; not NaN. Without it 0. */
  double low;
  double high;  /**< With the flag: the greatest; not below `low`. Without it 0. */
} tnr_conv2d_attributes;

/** Attributes of `tnr_pool2d`. */
typedef struct tnr_pool2d_attributes {
  uint64_t struct_size;
  int64_t kernel[2];  /**< Rows and columns of a window. 0 means all those of `a`. */
  /** Elements of `a` from one window to the next: down and right. 0 means those of the kernel. */
  int64_t strides[2];
  /**
   * Around each image, rows above and below, columns left and right: no element of it is a
   * maximum, nor part of a MEAN.
   */
  int64_t padding[4];
  /** Elements of `a` from one element of a window to the next: down and right. 0 means 1. */
  int64_t dilations[2];
  /**
   * `TNR_POOL2D_COUNT_PADDING`, `TNR_POOL2D_CEIL`, both or 0; or `TNR_POOL2D_ADAPTIVE`, without
   * a kernel, strides, padding and dilations.
   */
  uint32_t flags;
  uint32_t reserved;
} tnr_pool2d_attributes;

/** Attributes of `tnr_batch_norm`. */
typedef struct tnr_batch_norm_attributes {
  uint64_t struct_size;
  double eps;  /**< Added to each variance: finite and not negative. */
} tnr_batch_norm_attributes;

/**
 * Copies elements, which keep their dtype. `out` may be exactly `a`. Between the CPU and the
 * context's device the shapes are equal, and the call waits for the device. Between two
 * devices the shapes are equal too, one device is the context's, and the call does not wait.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_copy(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Copies elements as `tnr_copy` does, except that between the CPU and the context's device it
 * enqueues the copy and returns. The CPU's memory is in use until the copy is done, as
 * `tnr_context_wait` or an event made later shows: its owner is in use as during a call, and
 * memory without an owner is kept by the caller. The caller orders other accesses to it in the
 * meantime. Pinned memory is copied while the CPU goes on.
 *
 * INVALID_ARGUMENT: also elements of the CPU with gaps between them, or in another order than
 * row-major and that of the device's view.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_copy_async(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Converts elements to `out`'s dtype: floats to integers saturate and NaN gives 0; to f16 and
 * bf16 rounds once, to nearest even; to bool8 gives whether the value is not 0. A real number
 * becomes a complex one with an imaginary part of 0; complex converts to complex only. `out`
 * may be exactly `a`.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_cast(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Sets every element to `value`.
 *
 * @param value representable in `out`'s dtype
 */
TNR_API TNR_NODISCARD
tnr_status tnr_fill(tnr_context *context TNR_BORROWED, const tnr_scalar *value,
    const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = op(a)`, of the dtype that `op` gives of `a`'s. Where that is `a`'s, `out` may be
 * exactly `a`.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_unary(tnr_context *context TNR_BORROWED, tnr_unary_op op, const tnr_view *a,
    const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = a op b`, all of one dtype. `out` may be exactly `a`, `b` or both.
 *
 * INVALID_ARGUMENT also for an integer division by zero. A divisor of 0 that is a number is
 * refused before any work. A zero in the data is found during the work, and `out` then holds a
 * mixture of results, zeros and its earlier elements.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_binary(tnr_context *context TNR_BORROWED, tnr_binary_op op, const tnr_view *a,
    const tnr_view *b, const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = a op b` with a number on the right; otherwise as `tnr_binary`.
 *
 * @param b representable in `a`'s dtype
 */
TNR_API TNR_NODISCARD
tnr_status tnr_binary_scalar(tnr_context *context TNR_BORROWED, tnr_binary_op op, const tnr_view *a,
    const tnr_scalar *b, const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = a op b` with a number on the left; otherwise as `tnr_binary`.
 *
 * @param a representable in `b`'s dtype
 */
TNR_API TNR_NODISCARD
tnr_status tnr_scalar_binary(tnr_context *context TNR_BORROWED, tnr_binary_op op,
    const tnr_scalar *a, const tnr_view *b, const tnr_extension *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/** `out = a op b` as bool8, `a` and `b` of one dtype. `out` may be exactly an input of bool8. */
TNR_API TNR_NODISCARD
tnr_status tnr_compare(tnr_context *context TNR_BORROWED, tnr_compare_op op, const tnr_view *a,
    const tnr_view *b, const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = a op b` as bool8, with a number on the right; otherwise as `tnr_compare`.
 *
 * @param b representable in `a`'s dtype
 */
TNR_API TNR_NODISCARD
tnr_status tnr_compare_scalar(tnr_context *context TNR_BORROWED, tnr_compare_op op,
    const tnr_view *a, const tnr_scalar *b, const tnr_extension *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = condition ? a : b`, element by element; `a`, `b` and `out` of one dtype. `out` may be
 * exactly any input.
 *
 * @param condition of bool8, broadcast to `out`'s shape
 */
TNR_API TNR_NODISCARD
tnr_status tnr_select(tnr_context *context TNR_BORROWED, const tnr_view *condition,
    const tnr_view *a, const tnr_view *b, const tnr_extension *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/** `out = op(a, b, c)`, all of one dtype. `out` may be exactly any input. */
TNR_API TNR_NODISCARD
tnr_status tnr_ternary(tnr_context *context TNR_BORROWED, tnr_ternary_op op, const tnr_view *a,
    const tnr_view *b, const tnr_view *c, const tnr_extension *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Reduces the axes whose bits are set in `axes` (bit i: axis i). `out` has the other axes, or
 * all of them with the reduced ones of extent 1; its dtype is the one `op` states.
 *
 * A product, a sum, a mean, a variance or a norm of finite floats overflows or underflows only
 * where the result does, not on the way to it.
 *
 * INVALID_ARGUMENT also for attributes that `op` does not take, ARGMIN and ARGMAX over some
 * but neither one nor all axes, and an empty MIN, MAX, ARGMIN or ARGMAX.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_reduce(tnr_context *context TNR_BORROWED, tnr_reduce_op op, const tnr_view *a,
    uint32_t axes, const tnr_reduce_attributes *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = activation(alpha * a b + beta * out + bias)`: the product of dense matrices of any
 * strides. Where `beta` is 0 `out` is not read, so it may hold anything, NaN included; the sum
 * of no products (k is 0) is 0. 0 times NaN or an infinity is NaN, also by an `alpha` of 0.
 *
 * `a`, `b` and `out` are of one dtype, f64, f32, f16, bf16, c64 or c128; or `a` and `b` of u8
 * or i8 each, and `out` of i32. f16 and bf16 are computed in f32 and rounded once, `alpha` and
 * `beta` too. Sums of bytes are exact up to k = 33,025, and wrap beyond 2^31, as all whole
 * numbers do. An activation is any operation of one operand that takes real sums and does not
 * give bool8.
 *
 * Axes before the last two are a batch: those of `a` and of `b` broadcast to those of `out`. A
 * vector, of rank 1, is a row as `a` and a column as `b`, and has no axis in `out`: of two
 * vectors `out` has rank 0.
 *
 * An element of the result is a sum over k, in order, by fused multiplication and addition
 * where the instruction set has it; 512 products are one sum (256 of complex numbers), and
 * these sums, each times `alpha`, are added to `beta * out` in their order. A complex product
 * is two of real numbers for each part. So the bits depend neither on the number of threads,
 * nor on strides, nor on the other elements of the result; under two instruction sets they
 * differ by the error bound at most, which is `(k + 4) * eps` times the same expression of
 * magnitudes, eps being the distance from 1 to the next number of the dtype that is computed
 * in (complex: `(2 k + 8) * eps`, for each part, times that of the magnitudes of all parts),
 * and one rounding of f16 and bf16. Where the processor multiplies bf16, 1024 products are one
 * sum, the bound is that of complex numbers, and subnormal factors and sums count as 0.
 *
 * Factors are copied into scratch memory, a part at a time: at most 4 MiB (8 bytes a number:
 * 8) for `b`, and about 1 MiB for each thread. Sums of f16 and bf16, and of complex numbers
 * where those of `out` are not adjacent or `alpha` or `beta` is not real, take at most 8 MiB
 * (16). Where threads share the products of a batch, each thread takes all of this.
 *
 * INVALID_ARGUMENT also for rank 0, for an `alpha` or `beta` that the dtype cannot represent,
 * and an activation that names no operation. UNSUPPORTED: other dtypes, and an activation that
 * does not take the dtype of the sums, gives another one, or has sums that are not real.
 *
 * @param a `[..., m, k]` or `[k]`
 * @param b `[..., k, n]` or `[k]`
 * @param out `[..., m, n]`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_matmul(tnr_context *context TNR_BORROWED, const tnr_scalar *alpha, const tnr_view *a,
    const tnr_view *b, const tnr_scalar *beta, const tnr_matmul_attributes *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Cross-correlation of images with filters, as in neural networks: element `(n, f, y, x)` of
 * `out` is the sum, over the channels c of f's group and the elements (i, j) of the kernel, of
 * `weight[f, c, i, j]` times `a[n, c, y * strides[0] + i * dilations[0] - padding[0], x *
 * strides[1] + j * dilations[1] - padding[2]]`, which is 0 outside of the image; then
 * `bias[f]` is added, and the activation and the bounds are applied. All are of one dtype, a
 * float, and of any strides: NHWC is a view of the shape `[n, channels, height, width]` whose
 * channels are adjacent. One dimension is a height of 1.
 *
 * The channels of a group are split into blocks: a block has as many channels as give at most
 * 512 products, and at least one. A block's products are one sum, in the order of i, j and c,
 * in the dtype itself, by fused multiplication and addition where the instruction set has it;
 * the blocks' sums are added up in their order. Bits and the error bound before the activation
 * are as those of `tnr_matmul`, for k products.
 *
 * Nothing is unrolled as a whole: pixels and weights are copied into scratch memory a part at
 * a time, at most 4 MiB (f64: 8) of weights, and 0.5 MiB (1) of pixels for each thread. Only
 * kernels of 4096 elements and more take more, because the pixels and the filters of a tile
 * have to fit.
 *
 * f16 and bf16 are computed in f32 and rounded once, after the bounds. This takes copies in
 * f32 of the weights, and of 8 MiB of images and results, or of one image and its result where
 * that is more.
 *
 * INVALID_ARGUMENT also for groups that do not divide the channels or the filters, a kernel
 * that exceeds the padded image, an extent of `out` other than
 * `(height + padding - (kernel - 1) * dilation - 1) / stride + 1`.
 *
 * @param a `[images, channels, height, width]`
 * @param weight `[filters, channels / groups, kernel height, kernel width]`
 * @param bias (nullable) `[filters]`
 * @param out `[images, filters, out height, out width]`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_conv2d(tnr_context *context TNR_BORROWED, const tnr_view *a, const tnr_view *weight,
    const tnr_view *bias, const tnr_conv2d_attributes *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Sums of products by Einstein's convention, in NumPy's notation: a term of labels for each
 * operand, separated by commas, one label for each of its axes, then `->` and the labels of
 * `out`, as in `"ij,jk->ik"`. All elements whose labels have the same indices are multiplied,
 * and summed over the labels that `out` does not have. All operands have one dtype, which is
 * also that of `out`. The exception is a sum of one operand: `out` then has the dtype of SUM,
 * i64 or u64 for integers.
 *
 * Labels are letters; upper and lower case are different labels. Spaces are ignored. A label
 * that occurs twice in one term is the diagonal of these axes. One `...` in a term means any
 * number of axes, which are aligned at the last and broadcast; the term of `out` must have it
 * where an operand has such axes. An axis of extent 1 is repeated to the extent that its label
 * has elsewhere. Without `->`, `out` has the axes of `...`, then, in the order of ASCII, the
 * labels that occur once in all terms.
 *
 * Two operands are multiplied by `tnr_matmul` on views. An operand is copied first where its
 * summed axes do not form a single axis, or where a copy is faster to read. Where nothing is
 * summed, MUL multiplies the operands. Where they have the same labels and the sums are long,
 * MUL makes the products and SUM adds them. Three and more operands are multiplied in pairs.
 * For up to 8 operands, dynamic programming over subsets finds the order with the fewest
 * multiplications (Pfeifer, Haegeman and Verstraete, Physical Review E 90, 033315, 2014). For
 * more, each step takes the pair with the least growth: the elements of its product less those
 * of both factors. One operand is copied, or summed by SUM. UNSUPPORTED: dtypes that these do
 * not take, sums of products of bytes, and calls in which every possible product has over 8
 * labels that are needed later.
 *
 * The order depends only on the spec and the shapes, and the bits do not depend on strides,
 * except for SUM.
 *
 * INVALID_ARGUMENT also for a malformed `spec` (the message names the byte), terms and
 * operands of different number, and a term without one label for each axis. UNSUPPORTED also:
 * more than 32 operands, an `out` of more than 8 axes. OUT_OF_MEMORY.
 */
TNR_API TNR_READS(3, 4) TNR_NODISCARD
tnr_status tnr_einsum(tnr_context *context TNR_BORROWED, const char *spec, const tnr_view *operands,
    uint32_t operand_count, const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The shape that `tnr_einsum` requires of `out`, with its errors of the spec, shapes and
 * dtypes. No element is read.
 */
TNR_API TNR_READS(2, 3) TNR_NODISCARD
tnr_status tnr_einsum_shape(const char *spec, const tnr_view *operands, uint32_t operand_count,
    uint32_t *rank, int64_t *shape) TNR_NOEXCEPT;

/**
 * The transpose of `tnr_conv2d`, which is its derivative by the images: each element of `a`,
 * times a filter, is added to `out` at the window that a convolution of `out` with the same
 * attributes would have read there. So element `(n, c, i, j)` of `a` times
 * `weight[c, f, k, l]` goes to `out[n, f, i * strides[0] + k * dilations[0] - padding[0], j *
 * strides[1] + l * dilations[1] - padding[2]]`, or nowhere where that lies outside; then
 * `bias[f]` is added, and the activation applied.
 *
 * The smallest extent of `out` is `(height - 1) * stride + (kernel - 1) * dilation + 1 -
 * padding`; the greatest is one less than the stride or the dilation, whichever is greater,
 * above it: PyTorch's `output_padding` is the rest.
 *
 * Dtypes, the order of a sum, its bound, bits and memory are those of `tnr_conv2d`.
 *
 * Errors as `tnr_conv2d`, except for the extents of `out`.
 *
 * @param a `[images, channels, height, width]`
 * @param weight `[channels, filters / groups, kernel height, kernel width]`
 * @param bias (nullable) `[filters]`
 * @param out `[images, filters, out height, out width]`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_conv2d_transposed(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_view *weight, const tnr_view *bias, const tnr_conv2d_attributes *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The maximum or the mean of each window of each channel of images: `op` is MAX or MEAN. The
 * window of `out[n, c, y, x]` has the existing elements among
 * `a[n, c, y * strides[0] + i * dilations[0] - padding[0], x * strides[1] + j * dilations[1] -
 * padding[2]]`, for each (i, j) of the kernel; without attributes it is the whole image. NaN
 * is a maximum, as in MAX elsewhere. Both views are floats of any strides, as in `tnr_conv2d`.
 *
 * A MEAN is a sum in the dtype itself, divided by the number of elements
 * (TNR_POOL2D_COUNT_PADDING: including those in the padding). A kernel of at most 64 elements
 * adds them in the order of i and j. A larger one adds runs of 64 elements, and the runs with
 * their rounding errors, so that the error does not grow with the kernel. Where one window is
 * the whole image, the mean is that of `tnr_reduce`. f16 and bf16 are computed in f32, as in
 * `tnr_conv2d`. So the bits depend neither on strides nor on the instruction set.
 *
 * INVALID_ARGUMENT also for a kernel that exceeds the padded image (with TNR_POOL2D_CEIL: by a
 * stride or more), a window without elements, an extent of `out` other than
 * `(height + padding - (kernel - 1) * dilation - 1) / stride +
 * 1`, rounded down or as TNR_POOL2D_CEIL has it. UNSUPPORTED: other dtypes and reductions.
 *
 * @param a `[images, channels, height, width]`
 * @param out `[images, channels, out height, out width]`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_pool2d(tnr_context *context TNR_BORROWED, tnr_reduce_op op, const tnr_view *a,
    const tnr_pool2d_attributes *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The gradient of the images of a pooling. Each element of `g`, the gradient of the result of
 * `tnr_pool2d` of `a` by the same `op` and attributes, is added to elements of its window in
 * `out`: for MAX to the first greatest element in row-major order, which is the first NaN where
 * the window has one; for MEAN to every element, after the division by the number that the mean
 * is divided by. Elements in no window are 0. MEAN reads only the shape of `a`.
 *
 * The views have one dtype and any strides, as in `tnr_pool2d`; `out` shares no byte with the
 * others. An element of `out` is a sum in the order of its windows, row by row. f16 and bf16
 * are computed in f32 and rounded once. The bits depend neither on threads, nor on strides, nor
 * on the instruction set.
 *
 * INVALID_ARGUMENT also for shapes, dtypes and attributes that do not agree, as in
 * `tnr_pool2d`. UNSUPPORTED: other dtypes and reductions. ALIASED. OUT_OF_MEMORY: of f16 and
 * bf16 only.
 *
 * @param a `[images, channels, height, width]`
 * @param g `[images, channels, out height, out width]`
 * @param out as `a`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_pool2d_gradient(tnr_context *context TNR_BORROWED, tnr_reduce_op op,
    const tnr_view *a, const tnr_view *g, const tnr_pool2d_attributes *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The gradient of the filters of a convolution. `g` is the gradient of the result of
 * `tnr_conv2d` of `a` by filters of the shape of `out` with the same attributes:
 * `out[f, c, k, l]` is the sum over all images and positions of `g[n, f, i, j] *
 * a[n, c, i * strides[0] + k * dilations[0] - padding[0], j * strides[1] + l * dilations[1] -
 * padding[2]]`, where `c` counts the channels of the group of `f`, and elements in the padding
 * are 0. The gradient of the filters of `tnr_conv2d_transposed` is this operation with the
 * gradient of its result as `a`, and its images as `g`: the extents of `a` may exceed those
 * that `g` needs as there.
 *
 * Dtypes are those of `tnr_conv2d`; f16 and bf16 are computed in f32 and rounded once. A sum
 * takes the products in the order of images, rows and columns, in runs of up to 512 pixels that
 * depend on shapes only; the runs are added. So its bits depend neither on threads nor on
 * strides.
 *
 * INVALID_ARGUMENT also for shapes and dtypes that do not agree, and for an activation, flags
 * and bounds in the attributes. UNSUPPORTED: other dtypes. ALIASED. OUT_OF_MEMORY; `out` is then
 * untouched.
 *
 * @param a `[images, channels, height, width]`
 * @param g `[images, filters, out height, out width]`
 * @param out `[filters, channels / groups, kernel height, kernel width]`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_conv2d_filters(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_view *g, const tnr_conv2d_attributes *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Batch normalization by known statistics, as in trained networks: with
 * `scale = weight / sqrt(var + eps)`, of each channel, `out = (a - mean) * scale + bias`. Axis
 * 1 has the channels. All are of one dtype, f32 or f64, and of any strides; `out` is exactly
 * `a` or shares no byte with the others.
 *
 * The scale is computed in f64 and rounded to the dtype. The difference, the product and the
 * sum are rounded one after the other, so that the bits are the same under every set, and an
 * element that is the mean gives the bias.
 *
 * @param a `[n, channels, ...]`
 * @param mean (nullable) `[channels]`; without it 0
 * @param var `[channels]`
 * @param weight (nullable) `[channels]`; without it 1
 * @param bias (nullable) `[channels]`; without it 0
 * @param out as `a`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_batch_norm(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_view *mean, const tnr_view *var, const tnr_view *weight, const tnr_view *bias,
    const tnr_batch_norm_attributes *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Quantized numbers
 *
 * Integers of 8 bits with scales and zero points next to them: a number is `(value - zero) * scale`.
 * Scales are f32, zero points are of the dtype of the integers. Both have the shape of the integers,
 * with an extent of 1 where one scale serves the whole axis, or an extent that divides that of the
 * integers, where one serves a group of adjacent ones. Leading axes may be missing.
 */

/** Attributes of `tnr_quantize_dynamic`. */
typedef struct tnr_quantize_dynamic_attributes {
  uint64_t struct_size;
  uint32_t bits;  /**< Bits of the integers: 8, or 4 of an i8 without zeros; 0 means 8. */
  uint32_t reserved;
} tnr_quantize_dynamic_attributes;

/** Attributes of `tnr_quantized_matmul`. */
typedef struct tnr_quantized_matmul_attributes {
  uint64_t struct_size;
  /** `[n]`, f32: added to each row of the product. NULL: nothing is. */
  const tnr_view *bias;
  /** Scale of an `out` of i8 or u8, f32, of one element; else NULL. */
  const tnr_view *out_scale;
  /** Zero point of `out`, of its dtype and one element. NULL: 0. */
  const tnr_view *out_zero;
  /** Applied to each number of the result in f32, after that; 0: none. */
  tnr_unary_op activation;
  uint32_t flags;  /**< `TNR_EPILOGUE_CLAMP`, `TNR_QUANTIZE_AFFINE_ROWS`, or 0. */
  /** With `TNR_EPILOGUE_CLAMP`: the least number of the result; not NaN. Without it 0. */
  double low;
  double high;  /**< With it: the greatest; not below `low`. Without it 0. */
} tnr_quantized_matmul_attributes;

/** Attributes of `tnr_quantized_conv2d`. */
typedef struct tnr_quantized_conv2d_attributes {
  uint64_t struct_size;
  /** Elements of `a` from one position of the kernel to the next: down and right. 0 means 1. */
  int64_t strides[2];
  /** Zero points around each image: rows above and below, columns left and right. */
  int64_t padding[4];
  /** Elements of `a` from one element of the kernel to the next: down and right. 0 means 1. */
  int64_t dilations[2];
  /**
   * Number of groups that channels and filters are split into: a filter reads only the channels
   * of its group. 0 means 1.
   */
  int64_t groups;
  /** One number for each filter, f32: added to each of its pixels. NULL: nothing is. */
  const tnr_view *bias;
  /** Scale of an `out` of i8 or u8, f32, of one element; else NULL. */
  const tnr_view *out_scale;
  /** Zero point of `out`, of its dtype and one element. NULL: 0. */
  const tnr_view *out_zero;
  /** Applied to each number of the result in f32, after that; 0: none. */
  tnr_unary_op activation;
  uint32_t flags;  /**< `TNR_EPILOGUE_CLAMP`, or 0. */
  double low;  /**< With the flag: the least number of the result; not NaN. Without it 0. */
  double high;  /**< With the flag: the greatest; not below `low`. Without it 0. */
} tnr_quantized_conv2d_attributes;

/**
 * Rounds numbers to integers: `out = a / scale`, rounded to nearest, ties to even, plus `zero`,
 * and the nearest integer that the dtype has. The quotient is that of f32. NaN becomes the
 * zero point.
 *
 * INVALID_ARGUMENT also for a scale that is not finite or not above 0.
 *
 * @param a f32, f16 or bf16, of any shape
 * @param zeros (nullable) of the shape of `scales`; without them 0
 * @param out i8 or u8, as `a`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_quantize(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_view *scales, const tnr_view *zeros, const tnr_extension *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Chooses scales from the numbers that each is of, and rounds by them as `tnr_quantize` does.
 * The shape of `scales` says which numbers share one: with `[m, 1]` each row of a matrix has
 * its own.
 *
 * Without `zeros` the scale is the greatest magnitude divided by 127, and integers are -127 to
 * 127. With `zeros` all integers are used: the scale is the range, which includes 0, divided by
 * 255, and the number 0 has an integer of its own, the zero point. Ranges are those of finite
 * numbers; infinities become the integers at the ends. The scale of zeros is 1.
 *
 * With 4 bits, of `attributes->bits`, the scale is the greatest magnitude divided by 7, and
 * integers are -7 to 7: the weights that `tnr_factor_create` packs by their `group_scales`.
 *
 * @param a f32, f16 or bf16, of any shape
 * @param scales
 * @param zeros (nullable) of the shape of `scales`; required for an `out` of u8
 * @param out i8 or u8, as `a`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_quantize_dynamic(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_quantize_dynamic_attributes *attributes, const tnr_view_mut *scales,
    const tnr_view_mut *zeros, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Numbers of integers: `out = (a - zero) * scale`, rounded once to f32, and to the dtype of
 * `out`.
 *
 * INVALID_ARGUMENT also for a scale that is not finite or not above 0.
 *
 * @param a i8 or u8, of any shape
 * @param zeros (nullable) of the shape of `scales`; without them 0
 * @param out f32, f16 or bf16, as `a`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_dequantize(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_view *scales, const tnr_view *zeros, const tnr_extension *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `out = activation(a b + bias)` of quantized factors: sums of integers are exact, and become
 * numbers by the scales. An element is, in f32 and with each operation rounded by itself,
 * `sum * (a_scale * b_scale) + bias`; the sum is converted to f32, which rounds it beyond 2^24.
 * So the bits are the same under every instruction set.
 *
 * `a` is i8 or u8 with scales of its rows; or f32, f16 or bf16 without scales: each row is then
 * quantized by its own, as by `tnr_quantize_dynamic` without zeros, or to u8 with them where
 * `attributes->flags` has `TNR_QUANTIZE_AFFINE_ROWS`. `out` is f32, f16 or bf16,
 * rounded once; or i8 or u8 by `attributes->out_scale`, as by `tnr_quantize`.
 *
 * With `b_scales` `[k / group, n]`, of groups of 32, 64 or 128 rows, `b` has weights of 4 bits,
 * i8 values from -8 to 7 without zero points. `a` is then of numbers, which are quantized to i8
 * by a scale for each group of a row, and an element is the sum of `sum * (a_scale * b_scale)`
 * over the groups, in their order and each addition rounded, `+ bias`. k may be any.
 *
 * INVALID_ARGUMENT also for k above 33,025, beyond which sums may not be exact, and a scale
 * that is not finite or not above 0.
 *
 * @param a `[..., m, k]` or `[k]`
 * @param a_scales (nullable) `[..., m, 1]`, or a shape that broadcasts to it
 * @param a_zeros (nullable) of the shape of `a_scales`; without them 0
 * @param b i8 or u8, `[k, n]`
 * @param b_scales `[n]`, or a shape that broadcasts to it; or `[k / group, n]`
 * @param b_zeros (nullable) of the shape of `b_scales`; without them 0
 * @param out `[..., m, n]` or `[n]`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_quantized_matmul(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_view *a_scales, const tnr_view *a_zeros, const tnr_view *b, const tnr_view *b_scales,
    const tnr_view *b_zeros, const tnr_quantized_matmul_attributes *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Convolutions of quantized images, `[images, channels, height, width]`, with the shapes of
 * `tnr_conv2d`: exact sums of integers, which become numbers as those of
 * `tnr_quantized_matmul`. The padding is the zero point of `a`, the number 0. `a` and `weight`
 * are i8 or u8 in any combination; `out` has the dtypes that `out` has there.
 *
 * Views have any strides. Adjacent channels (NHWC) are fastest.
 *
 * INVALID_ARGUMENT also for filters of more than 33,025 elements, beyond which sums may not be
 * exact, and a scale that is not finite or not above 0.
 *
 * @param a `[images, channels, height, width]`
 * @param a_scale of one element
 * @param a_zero (nullable) of the shape of `a_scale`; without it 0
 * @param weight `[filters, channels / groups, kernel_height, kernel_width]`
 * @param weight_scales `[filters, 1, 1, 1]`, or a shape that broadcasts to it
 * @param weight_zeros (nullable) of the shape of `weight_scales`; without them 0
 * @param out `[images, filters, out_height, out_width]`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_quantized_conv2d(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_view *a_scale, const tnr_view *a_zero, const tnr_view *weight,
    const tnr_view *weight_scales, const tnr_view *weight_zeros,
    const tnr_quantized_conv2d_attributes *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Movement of elements
 *
 * Elements keep their bits and go by width, whatever their dtype.
 */

/** The elements of `tnr_pad` outside `a`. */
typedef int32_t tnr_pad_mode;
#define TNR_PAD_MODE_CONSTANT 0  /**< The attributes' value. */
#define TNR_PAD_MODE_EDGE 1  /**< The nearest element of `a`. */
/** `a` mirrored at its first and last element, which are not repeated: `c b | a b c | b a`. */
#define TNR_PAD_MODE_REFLECT 2
#define TNR_PAD_MODE_SYMMETRIC 3  /**< `a` mirrored at its edges: `b a | a b c | c b`. */
#define TNR_PAD_MODE_WRAP 4  /**< `a` again and again: `b c | a b c | a b`. */

/** Attributes of `tnr_pad`. */
typedef struct tnr_pad_attributes {
  uint64_t struct_size;
  /**
   * Elements of `out` before those of `a`, on each axis: its element i is that of `a` at
   * `i - before`, where there is one. It has any sign; 0 beyond the rank.
   */
  int64_t before[8];
  /** For CONSTANT: representable in the dtype; zeros mean 0 bytes. Zeros for other modes. */
  tnr_scalar value;
} tnr_pad_attributes;

/** A triangle of a matrix, including its diagonal. */
typedef int32_t tnr_triangle;
#define TNR_TRIANGLE_LOWER 1  /**< Elements (i, j) with `j - i <= diagonal`. */
#define TNR_TRIANGLE_UPPER 2  /**< Elements (i, j) with `j - i >= diagonal`. */

/** Attributes of `tnr_triangular`. */
typedef struct tnr_triangle_attributes {
  uint64_t struct_size;
  /** The diagonal on which the triangle ends: 0 is the main one, those above are positive. */
  int64_t diagonal;
} tnr_triangle_attributes;

/**
 * Joins arrays along an axis, one after the other; they agree in dtype and all other extents.
 *
 * INVALID_ARGUMENT also for no part.
 */
TNR_API TNR_READS(2, 3) TNR_NODISCARD
tnr_status tnr_concat(tnr_context *context TNR_BORROWED, const tnr_view *parts, uint32_t part_count,
    uint32_t axis, const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Copies `a` into `out` and fills the elements around it by the mode; the attributes give the
 * position of `a`. The caller chooses the extents of `out`: TNR_PAD_MODE_WRAP with an `out` of
 * several times the extents repeats `a`, and with one of the same extents rolls it by
 * `before`.
 *
 * INVALID_ARGUMENT also for an empty axis of `a` from which `out` needs elements.
 *
 * @param out of the rank of `a`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_pad(tnr_context *context TNR_BORROWED, tnr_pad_mode mode, const tnr_view *a,
    const tnr_pad_attributes *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Elements of `a` by their indices on an axis, which becomes the axes of `indices`:
 * `out[.., i, ..] = a[.., indices[i], ..]`, as NumPy's `take`; PyTorch's `index_select`, and
 * with axis 0 rows of an embedding.
 *
 * INVALID_ARGUMENT also for an index that is negative or not below the extent: the message has
 * its position, and nothing is written.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_take(tnr_context *context TNR_BORROWED, const tnr_view *a, uint32_t axis,
    const tnr_view *indices, const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Elements of `a` by an index each on one axis: `out[i, j] = a[indices[i, j], j]` for axis 0,
 * as NumPy's `take_along_axis` and PyTorch's `gather`. Other axes of `a` are as long as those
 * of `indices`.
 *
 * Errors as `tnr_take`.
 *
 * @param out of the shape of `indices`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_gather(tnr_context *context TNR_BORROWED, const tnr_view *a, uint32_t axis,
    const tnr_view *indices, const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The reverse of `tnr_take`: `out[.., indices[i], ..] = op(out[.., indices[i], ..], a[.., i,
 * ..])`, in the order of i. `op` is ADD, MUL, MIN, MAX, or 0, which puts `a` itself, so that
 * the last of equal indices wins. f16 and bf16 are rounded after each step.
 *
 * Errors as `tnr_take`; UNSUPPORTED: another `op`, and dtypes that it does not take.
 *
 * @param a of the dtype of `out`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_put(tnr_context *context TNR_BORROWED, tnr_binary_op op, const tnr_view *a,
    uint32_t axis, const tnr_view *indices, const tnr_extension *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The reverse of `tnr_gather`: `out[indices[i, j], j] = op(out[indices[i, j], j], a[i,
 * j])` for axis 0, in row-major order of (i, j); otherwise as `tnr_put`.
 *
 * Errors as `tnr_put`.
 *
 * @param a of the shape of `indices` and the dtype of `out`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_scatter(tnr_context *context TNR_BORROWED, tnr_binary_op op, const tnr_view *a,
    uint32_t axis, const tnr_view *indices, const tnr_extension *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The indices of the elements that are not zero, in row-major order: an i64 matrix in
 * row-major order, with a row for each such element and a column for each axis of `a`. NaN is
 * not zero.
 *
 * @param out all of the new blob;
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_nonzero(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_extension *attributes, tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The elements of `a` where the mask is true, in row-major order: a vector.
 *
 * @param mask of bool8, broadcast to the shape of `a`
 * @param out all of the new blob;
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_masked_select(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_view *mask, const tnr_extension *attributes, tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * A triangle of matrices, and zeros elsewhere. Axes before the last two are a batch. `out` may
 * be exactly `a`.
 *
 * INVALID_ARGUMENT also for a rank below 2.
 *
 * @param a of the shape and dtype of `out`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_triangular(tnr_context *context TNR_BORROWED, tnr_triangle part, const tnr_view *a,
    const tnr_triangle_attributes *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Normalization and scans
 *
 * Functions of all elements along axes: normalizations and scans, whose result has the shape of the
 * input, and moments.
 */

/** A normalization over axes. */
typedef int32_t tnr_normalize_op;
/**
 * `e^x` over the sum of all `e^x`. NaN where an element is NaN or plus infinity, or all are minus infinity.
 */
#define TNR_NORMALIZE_OP_SOFTMAX 1
/** The logarithm of SOFTMAX: x less `ln(sum of e^x)`. NaN where SOFTMAX is. */
#define TNR_NORMALIZE_OP_LOG_SOFTMAX 2
/**
 * `(x - mean) / sqrt(variance + eps)`, with the variance of ddof 0, times `weight` plus `bias`. NaN where variance and `eps` are 0.
 */
#define TNR_NORMALIZE_OP_LAYER_NORM 3
/** `x / sqrt(mean of the squares + eps)`, times `weight`. NaN where all are 0 and `eps` is. */
#define TNR_NORMALIZE_OP_RMS_NORM 4

/** Attributes of `tnr_normalize`. */
typedef struct tnr_normalize_attributes {
  uint64_t struct_size;
  /**
   * LAYER_NORM, RMS_NORM: added to the variance, or to the mean of the squares; finite and not
   * negative.
   */
  double eps;
  /**
   * LAYER_NORM, RMS_NORM: of the extents of the axes, multiplied with the result. NULL: nothing
   * is.
   */
  const tnr_view *weight;
  const tnr_view *bias;  /**< LAYER_NORM: as `weight`, added after that. NULL: nothing is. */
} tnr_normalize_attributes;

/** A scan, or cumulative reduction, along an axis. */
typedef int32_t tnr_scan_op;
/** Cumulative sum, with the dtypes of the reduction; f32 accumulates in f64. */
#define TNR_SCAN_OP_SUM 1
/** Cumulative product, with the dtypes of the reduction; f32 accumulates in f64. */
#define TNR_SCAN_OP_PROD 2
#define TNR_SCAN_OP_MIN 3  /**< The smallest so far; NaN wins. */
#define TNR_SCAN_OP_MAX 4  /**< The largest so far; NaN wins. */

/** Attributes of `tnr_moments`. */
typedef struct tnr_moments_attributes {
  uint64_t struct_size;
  uint32_t ddof;  /**< Delta degrees of freedom: the variance divides by the count less this. */
  uint32_t reserved;
} tnr_moments_attributes;

/**
 * Normalizes over the axes whose bits are set (bit i: axis i), all of one dtype. `out` may be
 * exactly `a`. f16 and bf16 are computed in f32 and rounded once.
 *
 * UNSUPPORTED: dtypes that are no floats.
 *
 * @param a of the shape of `out`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_normalize(tnr_context *context TNR_BORROWED, tnr_normalize_op op, const tnr_view *a,
    uint32_t axes, const tnr_normalize_attributes *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Each element of `out` is the reduction of the elements of `a` up to it along the axis,
 * itself included. `out` may be exactly `a`. The order of operations depends on the extent
 * and, for numbers near the ends of the range, on the elements; on a device it depends on the
 * shape and the strides. No order overflows or underflows where one element after the other
 * does not.
 *
 * @param a of the shape of `out`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_scan(tnr_context *context TNR_BORROWED, tnr_scan_op op, const tnr_view *a,
    uint32_t axis, const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Mean and variance over axes at once, as TNR_REDUCE_OP_MEAN and TNR_REDUCE_OP_VAR give them,
 * whose bits they have.
 *
 * Errors as `tnr_reduce`.
 *
 * @param mean of the shape of `out`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_moments(tnr_context *context TNR_BORROWED, const tnr_view *a, uint32_t axes,
    const tnr_moments_attributes *attributes, const tnr_view_mut *mean,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Ordering
 *
 * Sorting and searching. NaN is greater than everything, and all NaN are equal.
 */

/** Flag of `tnr_sort_attributes`: the greatest first. NaN is last even so. */
#define TNR_SORT_DESCENDING 1

/**
 * Flag of `tnr_top_k_attributes`: the smallest instead of the greatest. NaN is chosen last in
 * both.
 */
#define TNR_TOP_K_SMALLEST 1

/**
 * Flag of `tnr_searchsorted_attributes`: after the elements that are equal, instead of before
 * them.
 */
#define TNR_SEARCHSORTED_RIGHT 1

/** Flag of `tnr_quantile_attributes`: NaN are left out, instead of giving NaN. */
#define TNR_QUANTILE_SKIP_NAN 1

/** Attributes of `tnr_sort`. */
typedef struct tnr_sort_attributes {
  uint64_t struct_size;
  uint32_t flags;  /**< `TNR_SORT_DESCENDING`, or 0. */
  uint32_t reserved;
} tnr_sort_attributes;

/** Attributes of `tnr_top_k`. */
typedef struct tnr_top_k_attributes {
  uint64_t struct_size;
  uint32_t flags;  /**< `TNR_TOP_K_SMALLEST`, or 0. */
  uint32_t reserved;
} tnr_top_k_attributes;

/** Attributes of `tnr_quantile`. */
typedef struct tnr_quantile_attributes {
  uint64_t struct_size;
  uint32_t flags;  /**< `TNR_QUANTILE_SKIP_NAN`, or 0. */
  uint32_t reserved;
} tnr_quantile_attributes;

/** Attributes of `tnr_searchsorted`. */
typedef struct tnr_searchsorted_attributes {
  uint64_t struct_size;
  uint32_t flags;  /**< `TNR_SEARCHSORTED_RIGHT`, or 0. */
  uint32_t reserved;
} tnr_searchsorted_attributes;

/** Attributes of `tnr_bincount`. */
typedef struct tnr_bincount_attributes {
  uint64_t struct_size;
  /** The weight of each element, of `a`'s shape and `out`'s dtype. NULL: each weighs 1. */
  const tnr_view *weights;
} tnr_bincount_attributes;

/** Attributes of `tnr_histogram`. */
typedef struct tnr_histogram_attributes {
  uint64_t struct_size;
  double low;  /**< Where there are no edges: the first edge; finite. */
  double high;  /**< Where there are no edges: the last edge, above `low`; finite. */
} tnr_histogram_attributes;

/**
 * Sorts along an axis; equal elements keep their order. NaN is last. -0.0 and 0.0 are equal.
 * `out` may be exactly `a`. One of both outputs may be NULL: without `out` this is argsort.
 *
 * INVALID_ARGUMENT also for no output. UNSUPPORTED: complex.
 *
 * @param indices (nullable) of i64: where each was on the axis
 * @param out (nullable) of the shape of `a`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_sort(tnr_context *context TNR_BORROWED, const tnr_view *a, uint32_t axis,
    const tnr_sort_attributes *attributes, const tnr_view_mut *indices,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The greatest elements along an axis, sorted, the greatest first; of equal ones the first.
 * NaN is chosen last. Their number is the extent of the axis in the outputs. One of the two
 * outputs may be NULL.
 *
 * INVALID_ARGUMENT also for more than there are. Otherwise as `tnr_sort`.
 *
 * @param indices (nullable) of i64: where each was on the axis
 * @param out (nullable)
 */
TNR_API TNR_NODISCARD
tnr_status tnr_top_k(tnr_context *context TNR_BORROWED, const tnr_view *a, uint32_t axis,
    const tnr_top_k_attributes *attributes, const tnr_view_mut *indices,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Puts the element that sorting would put at `kth` there, those that are not greater before it
 * and those that are not smaller after it, in an order that is not specified but always the
 * same. `out` may be exactly `a`.
 *
 * INVALID_ARGUMENT also for a `kth` that is not below the extent. Otherwise as `tnr_sort`.
 *
 * @param indices (nullable) of i64: where each was on the axis
 * @param out (nullable) of the shape of `a`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_partition(tnr_context *context TNR_BORROWED, const tnr_view *a, uint32_t axis,
    int64_t kth, const tnr_extension *attributes, const tnr_view_mut *indices,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Quantiles over axes: with n elements sorted, the one at `q * (n - 1)`, or between the two
 * next to it in proportion, as NumPy's `quantile` by default; 0.5 is the median. It is
 * computed in f64 and rounded once. NaN if one is, and of no elements. Next to an infinite
 * element the quantile is that element, and between opposite infinities NaN.
 *
 * INVALID_ARGUMENT also for a q outside 0 to 1, and for none. UNSUPPORTED: dtypes that are no
 * floats.
 *
 * @param q (counted-by q_count) one at least
 * @param out `[q_count, ...]`, with the axes of `a` that are not reduced; of the dtype of `a`
 */
TNR_API TNR_READS(4, 5) TNR_NODISCARD
tnr_status tnr_quantile(tnr_context *context TNR_BORROWED, const tnr_view *a, uint32_t axes,
    const double *q, uint32_t q_count, const tnr_quantile_attributes *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * For each value the index before which it would be inserted into `a` so that `a` stays
 * sorted: the number of elements that are smaller. If `a` is not sorted, it is some number
 * from 0 to its length.
 *
 * INVALID_ARGUMENT also for an `a` that is no vector. UNSUPPORTED: complex.
 *
 * @param a a sorted vector
 * @param values of the dtype of `a`
 * @param out of i64, of the shape of `values`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_searchsorted(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_view *values, const tnr_searchsorted_attributes *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The different elements of `a`, sorted, and how often each occurs. NaN are one element, and
 * last; -0.0 and 0.0 are one. The first of equal elements is the one in the result. Without
 * `counts` the elements are all of the new blob.
 *
 * INVALID_ARGUMENT also for an `inverse` of another shape. UNSUPPORTED: complex.
 *
 * @param inverse (nullable) of i64, of the shape of `a`: the place of each element in `out`
 * @param counts (out) (nullable) of i64, a part of the new blob; untouched on failure
 * @param out the elements, a part of the new blob;
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_unique(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_extension *attributes, const tnr_view_mut *inverse, tnr_view_mut *counts,
    tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * How often each number occurs: `out[a[i]]` is the number of such i, or the sum of their
 * weights, added up in f64 in the row-major order of i and rounded once.
 *
 * INVALID_ARGUMENT also for a number that is negative or not below the extent of `out`, which
 * is untouched then, and weights where `out` is of neither f32 nor f64.
 *
 * @param a of integers
 * @param out a vector of i64, or with weights of f32 or f64
 */
TNR_API TNR_NODISCARD
tnr_status tnr_bincount(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_bincount_attributes *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * Counts of elements between edges: element x is counted at i where
 * `edges[i] <= x < edges[i + 1]`, and in the last element of `out` also where it is the last
 * edge, as NumPy's `histogram`. Others, and NaN, are not counted. Without `edges` they are
 * equally spaced from `low` to `high`.
 *
 * INVALID_ARGUMENT also for edges that fall, that are NaN, or that are not one more than the
 * extent of `out`, for `low` and `high` in addition to edges, and where they are not finite or
 * do not rise. UNSUPPORTED: complex.
 *
 * @param edges (nullable) a vector of the dtype of `a`
 * @param out a vector of i64
 */
TNR_API TNR_NODISCARD
tnr_status tnr_histogram(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_view *edges, const tnr_histogram_attributes *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Random numbers
 *
 * Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
 * 2011): a number depends only on seed, offset and index.
 */

/** A distribution of random numbers. */
typedef int32_t tnr_random_distribution;
/** Floats: uniform from `low` up to, but not, `high`. */
#define TNR_RANDOM_DISTRIBUTION_UNIFORM 1
#define TNR_RANDOM_DISTRIBUTION_NORMAL 2  /**< Floats: normal, with `mean` and `deviation`. */
/** Integers: uniform from `least` up to, but not, `bound`. */
#define TNR_RANDOM_DISTRIBUTION_INTEGERS 3
#define TNR_RANDOM_DISTRIBUTION_BERNOULLI 4  /**< bool8: true with `probability`. */

/** Attributes of `tnr_random`. The fields of other distributions are 0. */
typedef struct tnr_random_attributes {
  uint64_t struct_size;
  double low;  /**< UNIFORM; finite. */
  double high;  /**< UNIFORM; finite and above `low`. Both 0: 1. */
  double mean;  /**< NORMAL; finite. */
  double deviation;  /**< NORMAL; finite, not negative. 0 means 1. */
  double probability;  /**< BERNOULLI; from 0 to 1. */
  int64_t least;  /**< INTEGERS; representable in the dtype. */
  /**
   * INTEGERS; above `least`, at most one above the greatest number of the dtype. Both 0: all
   * numbers of the dtype.
   */
  int64_t bound;
} tnr_random_attributes;

/**
 * Random numbers of a distribution. Element i in row-major order depends only on `seed` and
 * its index `offset + i`, as docs/random.md states. Two calls whose indices do not overlap are
 * independent; NORMAL uses indices in pairs, 2j and 2j + 1.
 *
 * INVALID_ARGUMENT also for an `offset` from which 2^64 would be passed.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_random(tnr_context *context TNR_BORROWED, tnr_random_distribution distribution,
    uint64_t seed, uint64_t offset, const tnr_random_attributes *attributes,
    const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * A random order of the numbers from 0 to n - 1, each order with the same probability up to
 * 2^-64 n^2. It uses the indices from `offset` to `offset + n - 1`, and runs on one thread.
 *
 * INVALID_ARGUMENT also for more numbers than the dtype can represent. UNSUPPORTED: others.
 *
 * @param out `[n]`, of i32 or i64
 */
TNR_API TNR_NODISCARD
tnr_status tnr_random_permutation(tnr_context *context TNR_BORROWED, uint64_t seed, uint64_t offset,
    const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Packed factors
 *
 * The right factor of repeated products of dense matrices, as kernels read it.
 */

/** A dense matrix in the panels that products read, the right factor of many products. */
typedef struct tnr_factor tnr_factor;

/** Attributes of `tnr_factor_create`. */
typedef struct tnr_factor_attributes {
  uint64_t struct_size;
  /**
   * Dtype of the left factors; a `b` of bytes is packed differently for u8 and i8. 0: that of
   * `b`.
   */
  tnr_dtype a_dtype;
  uint32_t reserved;
  /**
   * f32 or f16, `[k / group, n]`: `b` has weights of 4 bits, i8 values from -8 to 7, and each scale
   * is of `group` adjacent rows of a column, 32, 64 or 128. The scales are copied. NULL: none.
   */
  const tnr_view *group_scales;
} tnr_factor_attributes;

/** Shape and size of a packed factor. */
typedef struct tnr_factor_info {
  uint64_t struct_size;
  tnr_dtype dtype;  /**< Dtype of the matrix that was packed. */
  tnr_dtype a_dtype;  /**< Dtype of the left factors of its products. */
  int64_t rows;  /**< Rows: the depth of its products. */
  int64_t cols;  /**< Columns. */
  uint64_t size_bytes;  /**< Bytes that a product reads of the packed factor. */
} tnr_factor_info;

/** Gives up one handle. */
TNR_API tnr_status tnr_factor_release(tnr_factor *factor TNR_OWNED) TNR_NOEXCEPT;

/**
 * Copies a dense matrix of any strides into the layout of the right factor of `tnr_matmul`,
 * which each product else makes anew. It pays for products of few rows, whose time is that of
 * reading `b`, and for one `b` that is multiplied again and again. Any number of threads may
 * use it at once.
 *
 * The layout is that of the instruction set in use, and the memory is the context's: as many
 * bytes as `b` has; twice that for f16 and complex numbers, and for bf16 and bytes where the
 * processor does not multiply them; and in addition up to 32 columns, and for bytes some rows.
 * Later changes of `b` are not seen. No engine but the library's own takes it.
 *
 * With `attributes->group_scales` a value takes 4 bits and a scale 32, and only
 * `tnr_factor_quantized_matmul` takes the factor.
 *
 * INVALID_ARGUMENT: a rank that is not 2, an `a_dtype` that is not the dtype of `b`, unless
 * both are bytes; with `group_scales` also a `b` that is not i8, an `a_dtype` that is neither 0
 * nor i8, a value that is not from -8 to 7, scales of another shape, and a scale that is not
 * finite or not above 0. UNSUPPORTED: a dtype `tnr_matmul` does not take; scales that are neither
 * f32 nor f16.
 *
 * @param b `[k, n]`, copied
 */
TNR_API TNR_RETURNS_OWNED(tnr_factor_release) TNR_NODISCARD
tnr_factor *tnr_factor_create(tnr_context *context TNR_BORROWED, const tnr_view *b,
    const tnr_factor_attributes *attributes) TNR_NOEXCEPT;

/** Makes one more handle. */
TNR_API TNR_RETURNS_OWNED(tnr_factor_release) TNR_NODISCARD
tnr_factor *tnr_factor_retain(tnr_factor *factor TNR_BORROWED) TNR_NOEXCEPT;

/** Describes a packed factor. */
TNR_API TNR_NODISCARD
tnr_status tnr_factor_describe(const tnr_factor *factor TNR_BORROWED,
    tnr_factor_info *out) TNR_NOEXCEPT;

/**
 * `out = activation(alpha * a b + beta * out + bias)`, as `tnr_matmul` computes it, with the
 * same bits. `a` may be a vector or have a batch, whose matrices are all multiplied by `b`.
 *
 *INVALID_ARGUMENT also for an `a` of another dtype than `b` was packed for. Otherwise as `tnr_matmul`.
 *
 * @param a `[..., m, k]` or `[k]`
 * @param b `[k, n]`
 * @param out `[..., m, n]`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_factor_matmul(tnr_context *context TNR_BORROWED, const tnr_scalar *alpha,
    const tnr_view *a, const tnr_factor *b TNR_BORROWED, const tnr_scalar *beta,
    const tnr_matmul_attributes *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * `tnr_quantized_matmul` by a factor that `tnr_factor_create` has packed for left factors of the
 * dtype of `a`; for i8 where `a` is of floats. A factor of weights of 4 bits has its scales.
 *
 * @param a as `a` of `tnr_quantized_matmul`
 * @param a_scales (nullable) as there
 * @param a_zeros (nullable) as there
 * @param b_scales (nullable) as there; NULL for a factor that has its scales
 * @param b_zeros (nullable) as there
 * @param out as there
 */
TNR_API TNR_NODISCARD
tnr_status tnr_factor_quantized_matmul(tnr_context *context TNR_BORROWED, const tnr_view *a,
    const tnr_view *a_scales, const tnr_view *a_zeros, const tnr_factor *b TNR_BORROWED,
    const tnr_view *b_scales, const tnr_view *b_zeros,
    const tnr_quantized_matmul_attributes *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
