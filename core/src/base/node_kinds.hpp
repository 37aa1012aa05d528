// Generated from rust/tenure-sys/src/node_kinds.rs by headergen. Do not edit.
// The kinds of nodes: their codes, and what their functions do not say.
#pragma once

#include <cstdint>

#include "tenure/program.hpp"

namespace tenure {

// clang-format off
enum class NodeKind : std::uint8_t {
  kUnary = 1,
  kBinary = 2,
  kTernary = 3,
  kCompare = 4,
  kSelect = 5,
  kCast = 6,
  kReduce = 7,
  kNormalize = 8,
  kMatmul = 9,
  kConv2d = 10,
  kPool2d = 11,
  kBatchNorm = 12,
  kReshape = 13,
  kPermute = 14,
  kBroadcast = 15,
  kSlice = 16,
  kConcat = 17,
  kPad = 18,
  kTake = 19,
  kGather = 20,
  kTriangular = 21,
  kScan = 22,
  kCustom = 23,
  kConv2dTransposed = 24,
  kEinsum = 25,
  kSort = 26,
  kTopK = 27,
  kPartition = 28,
  kQuantile = 29,
  kSearchsorted = 30,
  kBincount = 31,
  kHistogram = 32,
  kPut = 33,
  kScatter = 34,
  kRandom = 35,
  kRandomPermutation = 36,
  kSparseToDense = 37,
  kSparseMatmul = 38,
  kSparseSddmm = 39,
  kSparseScale = 40,
  kSparseSoftmax = 41,
  kSparseReduce = 42,
  kSparseNorm = 43,
  kSparseDiagonal = 44,
  kSparseSolve = 45,
  kSparseAccumulate = 46,
  kCond = 47,
  kWhile = 48,
  kNonzero = 49,
  kMaskedSelect = 50,
  kSumTo = 51,
  kExtent = 52,
  kPool2dGradient = 53,
  kConv2dFilters = 54,
  kQuantize = 55,
  kQuantizeDynamic = 56,
  kDequantize = 57,
  kQuantizedMatmul = 58,
  kQuantizedConv2d = 59,
};
inline constexpr unsigned kNodeKindCount = 59;
// Bits of a node's code below its kind.
inline constexpr unsigned kNodeKindShift = 16;

// The kinds that expressions have.
enum class ExpressionKind : std::uint8_t {
  kUnary = 1,
  kBinary = 2,
  kTernary = 3,
  kCompare = 4,
  kSelect = 5,
  kCast = 6,
  kReduce = 7,
  kNormalize = 8,
};

// How a kind is computed: by a node of an expression, by the last node of an expression or a
// call, as a view of the operand, by a call, or by graphs of its own.
enum class Computes : std::uint8_t { kElementwise, kReduction, kView, kCall, kControl };

// The fields that a node sets in addition to operands, numbers and attributes.
enum class Sets : std::uint8_t { kNothing, kAxes, kDtype };

// The dtypes of operands on which devices compute a kind; kReal has all but complex numbers.
enum class DeviceDtypes : std::uint8_t { kNone, kFloats, kReal, kAll };

// As many numbers as there are axes, or as many operands as are given.
inline constexpr std::uint8_t kAnyCount = 0xff;

struct NodeKindRow {
  const char* name;  // in messages, where no table of operations has one
  Computes computes;
  std::uint8_t least_operands;
  std::uint8_t most_operands;  // or kAnyCount
  std::uint8_t number_count;   // or kAnyCount
  AttributeKind attributes;
  Sets sets;
  bool in_place;       // whether the result may be exactly the first operand
  bool is_row_major;   // the result, as calls write no other one
  bool throws_values;  // what it refuses of elements, an index out of bounds say, else noted
  DeviceDtypes device;
};

inline constexpr NodeKindRow kNodeKindRows[] = {
  {"unary", Computes::kElementwise, 1, 1, 0, AttributeKind::kNone, Sets::kNothing, true, false, false, DeviceDtypes::kReal},
  {"binary", Computes::kElementwise, 2, 2, 0, AttributeKind::kNone, Sets::kNothing, true, false, false, DeviceDtypes::kReal},
  {"ternary", Computes::kElementwise, 3, 3, 0, AttributeKind::kNone, Sets::kNothing, true, false, false, DeviceDtypes::kReal},
  {"compare", Computes::kElementwise, 2, 2, 0, AttributeKind::kNone, Sets::kNothing, true, false, false, DeviceDtypes::kReal},
  {"select", Computes::kElementwise, 3, 3, 0, AttributeKind::kNone, Sets::kNothing, true, false, false, DeviceDtypes::kAll},
  {"cast", Computes::kElementwise, 1, 1, 0, AttributeKind::kNone, Sets::kDtype, true, false, false, DeviceDtypes::kReal},
  {"reduce", Computes::kReduction, 1, 1, 0, AttributeKind::kReduce, Sets::kAxes, false, false, false, DeviceDtypes::kReal},
  {"normalize", Computes::kCall, 1, 3, 0, AttributeKind::kNormalize, Sets::kAxes, true, false, false, DeviceDtypes::kReal},
  {"matmul", Computes::kCall, 2, 3, 0, AttributeKind::kMatmul, Sets::kNothing, false, false, false, DeviceDtypes::kReal},
  {"conv2d", Computes::kCall, 2, 3, 0, AttributeKind::kConv2d, Sets::kNothing, false, false, false, DeviceDtypes::kReal},
  {"pool2d", Computes::kCall, 1, 1, kAnyCount, AttributeKind::kPool2d, Sets::kNothing, false, false, false, DeviceDtypes::kReal},
  {"batch_norm", Computes::kCall, 3, 5, 0, AttributeKind::kBatchNorm, Sets::kNothing, false, false, false, DeviceDtypes::kReal},
  {"reshape", Computes::kView, 1, 1, kAnyCount, AttributeKind::kNone, Sets::kNothing, false, false, false, DeviceDtypes::kAll},
  {"permute", Computes::kView, 1, 1, kAnyCount, AttributeKind::kNone, Sets::kNothing, false, false, false, DeviceDtypes::kAll},
  {"broadcast", Computes::kView, 1, 1, kAnyCount, AttributeKind::kNone, Sets::kNothing, false, false, false, DeviceDtypes::kAll},
  {"slice", Computes::kView, 1, 1, 4, AttributeKind::kNone, Sets::kNothing, false, false, false, DeviceDtypes::kAll},
  {"concat", Computes::kCall, 1, kAnyCount, 1, AttributeKind::kNone, Sets::kNothing, false, false, false, DeviceDtypes::kAll},
  {"pad", Computes::kCall, 1, 1, kAnyCount, AttributeKind::kPad, Sets::kNothing, false, false, false, DeviceDtypes::kAll},
  {"take", Computes::kCall, 2, 2, 1, AttributeKind::kNone, Sets::kNothing, false, false, false, DeviceDtypes::kAll},
  {"gather", Computes::kCall, 2, 2, 1, AttributeKind::kNone, Sets::kNothing, false, false, false, DeviceDtypes::kAll},
  {"triangular", Computes::kCall, 1, 1, 0, AttributeKind::kTriangle, Sets::kNothing, true, false, false, DeviceDtypes::kAll},
  {"scan", Computes::kCall, 1, 1, 1, AttributeKind::kNone, Sets::kNothing, true, false, false, DeviceDtypes::kReal},
  {"custom", Computes::kCall, 0, kAnyCount, kAnyCount, AttributeKind::kNone, Sets::kNothing, false, false, false, DeviceDtypes::kAll},
  {"conv2d_transposed", Computes::kCall, 2, 3, kAnyCount, AttributeKind::kConv2d, Sets::kNothing, false, false, false, DeviceDtypes::kReal},
  {"einsum", Computes::kCall, 1, kAnyCount, 0, AttributeKind::kEinsumNode, Sets::kNothing, false, false, false, DeviceDtypes::kNone},
  {"sort", Computes::kCall, 1, 1, 1, AttributeKind::kSort, Sets::kNothing, false, false, false, DeviceDtypes::kReal},
  {"top_k", Computes::kCall, 1, 1, 2, AttributeKind::kSort, Sets::kNothing, false, false, false, DeviceDtypes::kReal},
  {"partition", Computes::kCall, 1, 1, 2, AttributeKind::kNone, Sets::kNothing, false, false, false, DeviceDtypes::kNone},
  {"quantile", Computes::kCall, 2, 2, 0, AttributeKind::kSort, Sets::kAxes, false, false, false, DeviceDtypes::kNone},
  {"searchsorted", Computes::kCall, 2, 2, 0, AttributeKind::kSort, Sets::kNothing, false, false, false, DeviceDtypes::kNone},
  {"bincount", Computes::kCall, 1, 2, 1, AttributeKind::kNone, Sets::kNothing, false, false, false, DeviceDtypes::kNone},
  {"histogram", Computes::kCall, 1, 2, 1, AttributeKind::kHistogram, Sets::kNothing, false, false, false, DeviceDtypes::kNone},
  {"put", Computes::kCall, 3, 3, 1, AttributeKind::kNone, Sets::kNothing, true, false, false, DeviceDtypes::kAll},
  {"scatter", Computes::kCall, 3, 3, 1, AttributeKind::kNone, Sets::kNothing, true, false, false, DeviceDtypes::kAll},
  {"random", Computes::kCall, 2, 2, kAnyCount, AttributeKind::kRandom, Sets::kDtype, false, false, false, DeviceDtypes::kNone},
  {"random_permutation", Computes::kCall, 2, 2, 1, AttributeKind::kNone, Sets::kDtype, false, false, false, DeviceDtypes::kNone},
  {"sparse_to_dense", Computes::kCall, 3, 3, 2, AttributeKind::kSparseNode, Sets::kNothing, false, false, true, DeviceDtypes::kAll},
  {"sparse_matmul", Computes::kCall, 4, 4, 2, AttributeKind::kSparseNode, Sets::kNothing, false, false, true, DeviceDtypes::kFloats},
  {"sparse_sddmm", Computes::kCall, 5, 5, 2, AttributeKind::kSparseNode, Sets::kNothing, false, true, true, DeviceDtypes::kFloats},
  {"sparse_scale", Computes::kCall, 4, 4, 2, AttributeKind::kSparseNode, Sets::kNothing, false, true, true, DeviceDtypes::kNone},
  {"sparse_softmax", Computes::kCall, 3, 3, 2, AttributeKind::kSparseNode, Sets::kNothing, false, true, true, DeviceDtypes::kNone},
  {"sparse_reduce", Computes::kCall, 3, 3, 2, AttributeKind::kSparseNode, Sets::kAxes, false, false, true, DeviceDtypes::kNone},
  {"sparse_norm", Computes::kCall, 3, 3, 2, AttributeKind::kSparseNode, Sets::kNothing, false, false, true, DeviceDtypes::kNone},
  {"sparse_diagonal", Computes::kCall, 3, 3, 2, AttributeKind::kSparseNode, Sets::kNothing, false, false, true, DeviceDtypes::kNone},
  {"sparse_solve", Computes::kCall, 4, 4, 2, AttributeKind::kSparseNode, Sets::kNothing, false, false, true, DeviceDtypes::kNone},
  {"sparse_accumulate", Computes::kCall, 4, 4, 2, AttributeKind::kSparseNode, Sets::kNothing, false, false, true, DeviceDtypes::kNone},
  {"cond", Computes::kControl, 1, kAnyCount, 2, AttributeKind::kNone, Sets::kNothing, false, false, false, DeviceDtypes::kNone},
  {"while", Computes::kControl, 1, kAnyCount, 3, AttributeKind::kNone, Sets::kNothing, false, false, false, DeviceDtypes::kNone},
  {"nonzero", Computes::kCall, 1, 1, 1, AttributeKind::kNone, Sets::kNothing, false, true, false, DeviceDtypes::kNone},
  {"masked_select", Computes::kCall, 2, 2, 1, AttributeKind::kNone, Sets::kNothing, false, true, false, DeviceDtypes::kNone},
  {"sum_to", Computes::kCall, 2, 2, 0, AttributeKind::kNone, Sets::kNothing, false, false, false, DeviceDtypes::kReal},
  {"extent", Computes::kCall, 0, 0, 1, AttributeKind::kNone, Sets::kDtype, false, false, false, DeviceDtypes::kAll},
  {"pool2d_gradient", Computes::kCall, 2, 2, 0, AttributeKind::kPool2d, Sets::kNothing, false, false, false, DeviceDtypes::kFloats},
  {"conv2d_filters", Computes::kCall, 2, 2, 2, AttributeKind::kConv2d, Sets::kNothing, false, false, false, DeviceDtypes::kFloats},
  {"quantize", Computes::kCall, 2, 3, 0, AttributeKind::kNone, Sets::kDtype, false, false, false, DeviceDtypes::kNone},
  {"quantize_dynamic", Computes::kCall, 1, 1, kAnyCount, AttributeKind::kNone, Sets::kDtype, false, false, false, DeviceDtypes::kNone},
  {"dequantize", Computes::kCall, 2, 3, 0, AttributeKind::kNone, Sets::kDtype, false, false, false, DeviceDtypes::kNone},
  {"quantized_matmul", Computes::kCall, 4, 9, 0, AttributeKind::kMatmul, Sets::kDtype, false, false, false, DeviceDtypes::kNone},
  {"quantized_conv2d", Computes::kCall, 4, 9, 0, AttributeKind::kConv2d, Sets::kDtype, false, false, false, DeviceDtypes::kNone},
};
// clang-format on

}  // namespace tenure
