// Generated from rust/tenure-sys/src/operations.rs by headergen. Do not edit.
// The operations: their codes, names and properties, by code.
#pragma once

#include <stdint.h>

// clang-format off

// X(name of the enumerator, in capitals), in the order of the codes.
#define TENURE_UNARY_OPERATIONS(X) \
  X(Neg, NEG) \
  X(Abs, ABS) \
  X(Sqrt, SQRT) \
  X(Exp, EXP) \
  X(Relu, RELU) \
  X(Tanh, TANH) \
  X(Sigmoid, SIGMOID) \
  X(Silu, SILU) \
  X(Gelu, GELU) \
  X(GeluTanh, GELU_TANH) \
  X(Softplus, SOFTPLUS) \
  X(Hardswish, HARDSWISH) \
  X(Elu, ELU) \
  X(LeakyRelu, LEAKY_RELU) \
  X(Square, SQUARE) \
  X(Reciprocal, RECIPROCAL) \
  X(Rsqrt, RSQRT) \
  X(Floor, FLOOR) \
  X(Ceil, CEIL) \
  X(Round, ROUND) \
  X(Trunc, TRUNC) \
  X(Sign, SIGN) \
  X(IsNan, IS_NAN) \
  X(IsInf, IS_INF) \
  X(IsFinite, IS_FINITE) \
  X(LogicalNot, LOGICAL_NOT) \
  X(NanToNum, NAN_TO_NUM) \
  X(BitNot, BIT_NOT) \
  X(Exp2, EXP2) \
  X(Expm1, EXPM1) \
  X(Ln, LN) \
  X(Log2, LOG2) \
  X(Log10, LOG10) \
  X(Log1p, LOG1P) \
  X(Erf, ERF) \
  X(Erfc, ERFC) \
  X(Sin, SIN) \
  X(Cos, COS) \
  X(Tan, TAN) \
  X(Asin, ASIN) \
  X(Acos, ACOS) \
  X(Atan, ATAN) \
  X(Sinh, SINH) \
  X(Cosh, COSH) \
  X(Asinh, ASINH) \
  X(Acosh, ACOSH) \
  X(Atanh, ATANH) \
  X(Cbrt, CBRT) \
  X(Conj, CONJ) \
  X(Arg, ARG) \
  X(Softsign, SOFTSIGN)

// X(name of the enumerator, in capitals), in the order of the codes.
#define TENURE_BINARY_OPERATIONS(X) \
  X(Add, ADD) \
  X(Sub, SUB) \
  X(Mul, MUL) \
  X(Div, DIV) \
  X(Min, MIN) \
  X(Max, MAX) \
  X(Rem, REM) \
  X(LogicalAnd, LOGICAL_AND) \
  X(LogicalOr, LOGICAL_OR) \
  X(LogicalXor, LOGICAL_XOR) \
  X(BitAnd, BIT_AND) \
  X(BitOr, BIT_OR) \
  X(BitXor, BIT_XOR) \
  X(ShiftLeft, SHIFT_LEFT) \
  X(ShiftRight, SHIFT_RIGHT) \
  X(Pow, POW) \
  X(Atan2, ATAN2) \
  X(Hypot, HYPOT)

// X(name of the enumerator, in capitals), in the order of the codes.
#define TENURE_TERNARY_OPERATIONS(X) \
  X(Fma, FMA) \
  X(Lerp, LERP) \
  X(Clamp, CLAMP)

// X(name of the enumerator, in capitals), in the order of the codes.
#define TENURE_COMPARE_OPERATIONS(X) \
  X(Eq, EQ) \
  X(Ne, NE) \
  X(Lt, LT) \
  X(Le, LE) \
  X(Gt, GT) \
  X(Ge, GE)

// X(name of the enumerator, in capitals), in the order of the codes.
#define TENURE_REDUCE_OPERATIONS(X) \
  X(Sum, SUM) \
  X(Prod, PROD) \
  X(Mean, MEAN) \
  X(Var, VAR) \
  X(Std, STD) \
  X(Min, MIN) \
  X(Max, MAX) \
  X(Argmin, ARGMIN) \
  X(Argmax, ARGMAX) \
  X(Any, ANY) \
  X(All, ALL) \
  X(Count, COUNT) \
  X(Norm, NORM) \
  X(Logsumexp, LOGSUMEXP) \
  X(NanSum, NAN_SUM) \
  X(NanMean, NAN_MEAN) \
  X(NanMin, NAN_MIN) \
  X(NanMax, NAN_MAX) \
  X(NanVar, NAN_VAR) \
  X(NanStd, NAN_STD)

// X(name of the enumerator, in capitals), in the order of the codes.
#define TENURE_NORMALIZE_OPERATIONS(X) \
  X(Softmax, SOFTMAX) \
  X(LogSoftmax, LOG_SOFTMAX) \
  X(LayerNorm, LAYER_NORM) \
  X(RmsNorm, RMS_NORM)

// X(name of the enumerator, in capitals), in the order of the codes.
#define TENURE_SCAN_OPERATIONS(X) \
  X(Sum, SUM) \
  X(Prod, PROD) \
  X(Min, MIN) \
  X(Max, MAX)

namespace tenure::kernels {

enum class Unary : uint8_t { kNeg = 1, kAbs = 2, kSqrt = 3, kExp = 4, kRelu = 5, kTanh = 6, kSigmoid = 7, kSilu = 8, kGelu = 9, kGeluTanh = 10, kSoftplus = 11, kHardswish = 12, kElu = 13, kLeakyRelu = 14, kSquare = 15, kReciprocal = 16, kRsqrt = 17, kFloor = 18, kCeil = 19, kRound = 20, kTrunc = 21, kSign = 22, kIsNan = 23, kIsInf = 24, kIsFinite = 25, kLogicalNot = 26, kNanToNum = 27, kBitNot = 28, kExp2 = 29, kExpm1 = 30, kLn = 31, kLog2 = 32, kLog10 = 33, kLog1p = 34, kErf = 35, kErfc = 36, kSin = 37, kCos = 38, kTan = 39, kAsin = 40, kAcos = 41, kAtan = 42, kSinh = 43, kCosh = 44, kAsinh = 45, kAcosh = 46, kAtanh = 47, kCbrt = 48, kConj = 49, kArg = 50, kSoftsign = 51 };
inline constexpr unsigned kUnaryCount = 51;

enum class Binary : uint8_t { kAdd = 1, kSub = 2, kMul = 3, kDiv = 4, kMin = 5, kMax = 6, kRem = 7, kLogicalAnd = 8, kLogicalOr = 9, kLogicalXor = 10, kBitAnd = 11, kBitOr = 12, kBitXor = 13, kShiftLeft = 14, kShiftRight = 15, kPow = 16, kAtan2 = 17, kHypot = 18 };
inline constexpr unsigned kBinaryCount = 18;

enum class Ternary : uint8_t { kFma = 1, kLerp = 2, kClamp = 3 };
inline constexpr unsigned kTernaryCount = 3;

enum class Compare : uint8_t { kEq = 1, kNe = 2, kLt = 3, kLe = 4, kGt = 5, kGe = 6 };
inline constexpr unsigned kCompareCount = 6;

enum class Reduce : uint8_t { kSum = 1, kProd = 2, kMean = 3, kVar = 4, kStd = 5, kMin = 6, kMax = 7, kArgmin = 8, kArgmax = 9, kAny = 10, kAll = 11, kCount = 12, kNorm = 13, kLogsumexp = 14, kNanSum = 15, kNanMean = 16, kNanMin = 17, kNanMax = 18, kNanVar = 19, kNanStd = 20 };
inline constexpr unsigned kReduceCount = 20;

enum class Normalize : uint8_t { kSoftmax = 1, kLogSoftmax = 2, kLayerNorm = 3, kRmsNorm = 4 };
inline constexpr unsigned kNormalizeCount = 4;

enum class Scan : uint8_t { kSum = 1, kProd = 2, kMin = 3, kMax = 4 };
inline constexpr unsigned kScanCount = 4;

// The kernels with which a device computes an operation on floats. Kernels of words compute it
// on integers and truth values.
enum class Device : uint8_t { kNone, kOfKind, kWords, kQuestion, kNumber, kAngle, kFunction, kFusedFunction };

// The unary operations of the kernels of words.
enum class UnaryWords : uint8_t { kNeg = 1, kAbs = 2, kRelu = 5, kSquare = 15, kSign = 22, kLogicalNot = 26, kNanToNum = 27, kBitNot = 28 };

// The unary operations of the kernels of questions.
enum class UnaryQuestion : uint8_t { kIsNan = 23, kIsInf = 24, kIsFinite = 25 };

// The unary operations of the kernels of numbers.
enum class UnaryNumber : uint8_t { kSqrt = 3, kHardswish = 12, kLeakyRelu = 14, kSquare = 15, kReciprocal = 16, kFloor = 18, kCeil = 19, kRound = 20, kTrunc = 21, kSign = 22, kSoftsign = 51 };

// The unary operations of the kernels of angles.
enum class UnaryAngle : uint8_t { kSin = 37, kCos = 38, kTan = 39 };

// The unary operations of the kernels of functions.
enum class UnaryFunction : uint8_t { kExp = 4, kTanh = 6, kSigmoid = 7, kSilu = 8, kGelu = 9, kGeluTanh = 10, kSoftplus = 11, kElu = 13, kRsqrt = 17, kExp2 = 29, kExpm1 = 30, kLn = 31, kLog2 = 32, kLog10 = 33, kLog1p = 34, kErf = 35, kErfc = 36, kAsin = 40, kAcos = 41, kAtan = 42, kSinh = 43, kCosh = 44, kAsinh = 45, kAcosh = 46, kAtanh = 47, kCbrt = 48 };

// The binary operations of the kernels of words.
enum class BinaryWords : uint8_t { kAdd = 1, kSub = 2, kMul = 3, kDiv = 4, kMin = 5, kMax = 6, kRem = 7, kLogicalAnd = 8, kLogicalOr = 9, kLogicalXor = 10, kBitAnd = 11, kBitOr = 12, kBitXor = 13, kShiftLeft = 14, kShiftRight = 15, kPow = 16 };

// The binary operations of the kernels of numbers.
enum class BinaryNumber : uint8_t { kAdd = 1, kSub = 2, kMul = 3, kDiv = 4, kMin = 5, kMax = 6 };

// The binary operations of the kernels of functions.
enum class BinaryFunction : uint8_t { kRem = 7, kPow = 16, kAtan2 = 17, kHypot = 18 };

// X(name of the enumerator): the functions that the kernel of expressions has.
#define TENURE_FUSED_FUNCTIONS(X) \
  X(Exp) \
  X(Tanh) \
  X(Sigmoid) \
  X(Silu) \
  X(Gelu) \
  X(GeluTanh) \
  X(Softplus) \
  X(Elu) \
  X(Rsqrt) \
  X(Exp2) \
  X(Expm1) \
  X(Ln) \
  X(Log2) \
  X(Log1p) \
  X(Erf)

// Sets of dtypes, by bits.
enum DtypeSet : uint8_t { kNoDtypes = 0, kFloats = 1, kIntegers = 2, kTruths = 4, kComplex = 8 };

// The dtype of the result: the operands', or 64 bits for integers, or bool8, or i64, or that of
// the parts of complex numbers.
enum class Gives : uint8_t { kOperand, kWide, kTruth, kIndex, kPart };

// How exact results of f32 and f64 are.
inline constexpr double kExact = 0;
inline constexpr double kRounded = 0.5;
inline constexpr double kGrows = -1;  // with the number of elements

// An argument of a reduction in addition to its axes.
enum class Attribute : uint8_t { kNone, kDdof, kPower };

struct OperationRow {
  const char* name;
  uint8_t dtypes;  // a DtypeSet
  Gives gives;
  Attribute attribute;
  bool needs_element;  // whether a reduction of no element is an error
  Device device;
  bool keeps_zero;     // whether it gives 0 where all inputs are
  double last_places;  // of the largest error, or kGrows
};

inline constexpr OperationRow kUnaryRows[] = {
  {"neg", kFloats | kIntegers | kComplex, Gives::kOperand, Attribute::kNone, false, Device::kWords, true, kExact},
  {"abs", kFloats | kIntegers | kComplex, Gives::kPart, Attribute::kNone, false, Device::kWords, true, kExact},
  {"sqrt", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, kRounded},
  {"exp", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, false, 1},
  {"relu", kFloats | kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kWords, true, kExact},
  {"tanh", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, true, 1},
  {"sigmoid", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, false, 1},
  {"silu", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, true, 2},
  {"gelu", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, true, 4},
  {"gelu_tanh", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, true, 3},
  {"softplus", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, false, 2},
  {"hardswish", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, 2},
  {"elu", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, true, 1},
  {"leaky_relu", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, 1},
  {"square", kFloats | kIntegers | kComplex, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, kRounded},
  {"reciprocal", kFloats | kComplex, Gives::kOperand, Attribute::kNone, false, Device::kNumber, false, kRounded},
  {"rsqrt", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, false, 1},
  {"floor", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, kExact},
  {"ceil", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, kExact},
  {"round", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, kExact},
  {"trunc", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, kExact},
  {"sign", kFloats | kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, kExact},
  {"is_nan", kFloats, Gives::kTruth, Attribute::kNone, false, Device::kQuestion, true, kExact},
  {"is_inf", kFloats, Gives::kTruth, Attribute::kNone, false, Device::kQuestion, true, kExact},
  {"is_finite", kFloats, Gives::kTruth, Attribute::kNone, false, Device::kQuestion, false, kExact},
  {"logical_not", kTruths, Gives::kOperand, Attribute::kNone, false, Device::kWords, false, kExact},
  {"nan_to_num", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kWords, true, kExact},
  {"bit_not", kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kWords, false, kExact},
  {"exp2", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, false, 1},
  {"expm1", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, true, 2},
  {"ln", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, false, 1},
  {"log2", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, false, 1},
  {"log10", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFunction, false, 1},
  {"log1p", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, true, 1},
  {"erf", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFusedFunction, true, 2},
  {"erfc", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFunction, false, 3},
  {"sin", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kAngle, true, 1},
  {"cos", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kAngle, false, 1},
  {"tan", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kAngle, true, 2},
  {"asin", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFunction, true, 1},
  {"acos", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFunction, false, 1},
  {"atan", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFunction, true, 2},
  {"sinh", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFunction, true, 2},
  {"cosh", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFunction, false, 2},
  {"asinh", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFunction, true, 2},
  {"acosh", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFunction, false, 2},
  {"atanh", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFunction, true, 2},
  {"cbrt", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFunction, true, 1},
  {"conj", kComplex, Gives::kOperand, Attribute::kNone, false, Device::kNone, true, kExact},
  {"arg", kComplex, Gives::kPart, Attribute::kNone, false, Device::kNone, true, 2},
  {"softsign", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, 2},
};

inline constexpr OperationRow kBinaryRows[] = {
  {"add", kFloats | kIntegers | kComplex, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, kRounded},
  {"sub", kFloats | kIntegers | kComplex, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, kRounded},
  {"mul", kFloats | kIntegers | kComplex, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, kRounded},
  {"div", kFloats | kIntegers | kComplex, Gives::kOperand, Attribute::kNone, false, Device::kNumber, false, kRounded},
  {"min", kFloats | kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, kExact},
  {"max", kFloats | kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kNumber, true, kExact},
  {"rem", kFloats | kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kFunction, false, kExact},
  {"logical_and", kTruths, Gives::kOperand, Attribute::kNone, false, Device::kWords, true, kExact},
  {"logical_or", kTruths, Gives::kOperand, Attribute::kNone, false, Device::kWords, true, kExact},
  {"logical_xor", kTruths, Gives::kOperand, Attribute::kNone, false, Device::kWords, true, kExact},
  {"bit_and", kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kWords, true, kExact},
  {"bit_or", kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kWords, true, kExact},
  {"bit_xor", kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kWords, true, kExact},
  {"shift_left", kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kWords, true, kExact},
  {"shift_right", kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kWords, true, kExact},
  {"pow", kFloats | kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kFunction, false, 1},
  {"atan2", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFunction, true, 2},
  {"hypot", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kFunction, true, 1},
};

inline constexpr OperationRow kTernaryRows[] = {
  {"fma", kFloats | kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kOfKind, true, kRounded},
  {"lerp", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kOfKind, true, 1},
  {"clamp", kFloats | kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kOfKind, true, kExact},
};

inline constexpr OperationRow kCompareRows[] = {
  {"eq", kFloats | kIntegers | kTruths | kComplex, Gives::kTruth, Attribute::kNone, false, Device::kOfKind, false, kExact},
  {"ne", kFloats | kIntegers | kTruths | kComplex, Gives::kTruth, Attribute::kNone, false, Device::kOfKind, true, kExact},
  {"lt", kFloats | kIntegers | kTruths, Gives::kTruth, Attribute::kNone, false, Device::kOfKind, true, kExact},
  {"le", kFloats | kIntegers | kTruths, Gives::kTruth, Attribute::kNone, false, Device::kOfKind, false, kExact},
  {"gt", kFloats | kIntegers | kTruths, Gives::kTruth, Attribute::kNone, false, Device::kOfKind, true, kExact},
  {"ge", kFloats | kIntegers | kTruths, Gives::kTruth, Attribute::kNone, false, Device::kOfKind, false, kExact},
};

inline constexpr OperationRow kReduceRows[] = {
  {"sum", kFloats | kIntegers | kComplex, Gives::kWide, Attribute::kNone, false, Device::kOfKind, false, kGrows},
  {"prod", kFloats | kIntegers, Gives::kWide, Attribute::kNone, false, Device::kOfKind, false, kGrows},
  {"mean", kFloats | kComplex, Gives::kOperand, Attribute::kNone, false, Device::kOfKind, false, kGrows},
  {"var", kFloats, Gives::kOperand, Attribute::kDdof, false, Device::kOfKind, false, kGrows},
  {"std", kFloats, Gives::kOperand, Attribute::kDdof, false, Device::kOfKind, false, kGrows},
  {"min", kFloats | kIntegers, Gives::kOperand, Attribute::kNone, true, Device::kOfKind, false, kExact},
  {"max", kFloats | kIntegers, Gives::kOperand, Attribute::kNone, true, Device::kOfKind, false, kExact},
  {"argmin", kFloats | kIntegers, Gives::kIndex, Attribute::kNone, true, Device::kOfKind, false, kExact},
  {"argmax", kFloats | kIntegers, Gives::kIndex, Attribute::kNone, true, Device::kOfKind, false, kExact},
  {"any", kFloats | kIntegers | kTruths, Gives::kTruth, Attribute::kNone, false, Device::kOfKind, false, kExact},
  {"all", kFloats | kIntegers | kTruths, Gives::kTruth, Attribute::kNone, false, Device::kOfKind, false, kExact},
  {"count", kFloats | kIntegers | kTruths, Gives::kIndex, Attribute::kNone, false, Device::kOfKind, false, kExact},
  {"norm", kFloats, Gives::kOperand, Attribute::kPower, false, Device::kOfKind, false, kGrows},
  {"logsumexp", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kOfKind, false, kGrows},
  {"nan_sum", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kOfKind, false, kGrows},
  {"nan_mean", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kOfKind, false, kGrows},
  {"nan_min", kFloats, Gives::kOperand, Attribute::kNone, true, Device::kOfKind, false, kExact},
  {"nan_max", kFloats, Gives::kOperand, Attribute::kNone, true, Device::kOfKind, false, kExact},
  {"nan_var", kFloats, Gives::kOperand, Attribute::kDdof, false, Device::kOfKind, false, kGrows},
  {"nan_std", kFloats, Gives::kOperand, Attribute::kDdof, false, Device::kOfKind, false, kGrows},
};

inline constexpr OperationRow kNormalizeRows[] = {
  {"softmax", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kOfKind, false, kGrows},
  {"log_softmax", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kOfKind, false, kGrows},
  {"layer_norm", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kOfKind, false, kGrows},
  {"rms_norm", kFloats, Gives::kOperand, Attribute::kNone, false, Device::kOfKind, false, kGrows},
};

inline constexpr OperationRow kScanRows[] = {
  {"sum", kFloats | kIntegers, Gives::kWide, Attribute::kNone, false, Device::kOfKind, false, kGrows},
  {"prod", kFloats | kIntegers, Gives::kWide, Attribute::kNone, false, Device::kOfKind, false, kGrows},
  {"min", kFloats | kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kOfKind, false, kExact},
  {"max", kFloats | kIntegers, Gives::kOperand, Attribute::kNone, false, Device::kOfKind, false, kExact},
};

}  // namespace tenure::kernels

// clang-format on
