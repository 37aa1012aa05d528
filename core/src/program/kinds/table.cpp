#include "program/operations.hpp"

#include <array>
#include <iterator>

#include "cpu/operations.hpp"
#include "program/custom.hpp"
#include "program/expressions.hpp"
#include "program/kinds/calls.hpp"
#include "program/kinds/operand_types.hpp"
#include "program/rewrites/derivatives.hpp"
#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"

namespace tenure {
namespace {

template <tnr_view (*kSee)(const NodeCall& call, const tnr_view& operand)>
ArrayType infer_view(const NodeCall& call, const OperandType* operands) {
  return type_of(kSee(call, unbacked_view(array(operands[0], "a"))));
}

constexpr NodeFunctions elementwise() noexcept {
  return {.infer = infer_expression, .run = run_expression, .shape = shape_elementwise};
}
template <tnr_view (*kSee)(const NodeCall& call, const tnr_view& operand)>
constexpr NodeFunctions viewing(ShapeNode* shape) noexcept {
  return {.infer = infer_view<kSee>, .view = kSee, .shape = shape};
}
constexpr NodeFunctions calling(InferNode* infer, RunNode* run, ShapeNode* shape) noexcept {
  return {.infer = infer, .run = run, .shape = shape};
}
// `infer` gives the extents too, and preallocated runs take none that follow from counts.
constexpr NodeFunctions inferring(InferNode* infer, RunNode* run) noexcept {
  return {.infer = infer, .run = run};
}
constexpr NodeFunctions adapting(InferNode* infer, RunNode* run, AdaptNode* adapt) noexcept {
  return {.infer = infer, .run = run, .adapt = adapt};
}
constexpr NodeFunctions counting(InferNode* infer, FindNode* find) noexcept {
  return {.infer = infer, .find = find, .shape = shape_found};
}

// A kind without a case does not compile.
constexpr NodeFunctions functions_of(NodeKind kind) noexcept {
  using enum NodeKind;
  switch (kind) {
    case kUnary:
    case kBinary:
    case kTernary:
    case kCompare:
    case kSelect:
    case kCast: return elementwise();
    case kReduce: return calling(infer_expression, run_reduce, shape_reduce);
    case kNormalize: return adapting(infer_normalize, run_normalize, adapt_normalize);
    case kMatmul: return calling(infer_matmul, run_matmul, shape_matmul);
    case kConv2d: return adapting(infer_conv2d, run_conv2d, adapt_images);
    case kPool2d: return adapting(infer_pool2d, run_pool2d, adapt_images);
    case kBatchNorm: return adapting(infer_batch_norm, run_batch_norm, adapt_images);
    case kReshape: return viewing<view_reshaped>(shape_reshape);
    case kPermute: return viewing<view_permuted>(shape_permute);
    case kBroadcast: return viewing<view_broadcast>(shape_broadcast);
    case kSlice: return viewing<view_slice>(shape_slice);
    case kConcat: return calling(infer_concat, run_concat, shape_concat);
    case kPad: return calling(infer_pad, run_pad, shape_pad);
    case kTake: return calling(infer_take, run_take, shape_take);
    case kGather: return calling(infer_gather, run_gather, shape_gather);
    case kTriangular: return calling(infer_triangular, run_triangular, shape_as_first);
    case kScan: return calling(infer_scan, run_scan, shape_as_first);
    case kCustom: return inferring(infer_custom, run_custom);
    case kConv2dTransposed:
      return adapting(infer_conv2d_transposed, run_conv2d_transposed, adapt_images);
    case kEinsum: return inferring(infer_einsum, run_einsum);
    case kSort: return calling(infer_sort, run_sort, shape_as_first);
    case kTopK: return calling(infer_top_k, run_top_k, shape_top_k);
    case kPartition: return calling(infer_partition, run_partition, shape_partition);
    case kQuantile: return inferring(infer_quantile, run_quantile);
    case kSearchsorted: return calling(infer_searchsorted, run_searchsorted, shape_as_second);
    case kBincount: return calling(infer_bincount, run_bincount, shape_bincount);
    case kHistogram: return calling(infer_histogram, run_histogram, shape_histogram);
    case kPut: return calling(infer_put, run_put, shape_put);
    case kScatter: return calling(infer_scatter, run_scatter, shape_scatter);
    case kRandom: return calling(infer_random, run_random, shape_shaped);
    case kRandomPermutation:
      return calling(infer_random_permutation, run_random_permutation, shape_shaped);
    case kSparseToDense: return inferring(infer_sparse_to_dense, run_sparse_to_dense);
    case kSparseMatmul: return inferring(infer_sparse_matmul, run_sparse_matmul);
    case kSparseSddmm: return inferring(infer_sparse_sddmm, run_sparse_sddmm);
    case kSparseScale: return inferring(infer_sparse_scale, run_sparse_scale);
    case kSparseSoftmax: return inferring(infer_sparse_softmax, run_sparse_softmax);
    case kSparseReduce: return inferring(infer_sparse_reduce, run_sparse_reduce);
    case kSparseNorm: return inferring(infer_sparse_norm, run_sparse_norm);
    case kSparseDiagonal: return inferring(infer_sparse_diagonal, run_sparse_diagonal);
    case kSparseSolve: return inferring(infer_sparse_solve, run_sparse_solve);
    case kSparseAccumulate: return inferring(infer_sparse_accumulate, run_sparse_accumulate);
    case kCond:
    case kWhile: return {};  // The nodes of their bodies have functions.
    case kNonzero: return counting(infer_nonzero, find_nonzero);
    case kMaskedSelect: return counting(infer_masked_select, find_masked_select);
    case kSumTo: return calling(infer_sum_to, run_sum_to, shape_sum_to);
    case kPool2dGradient:
      return adapting(infer_pool2d_gradient, run_pool2d_gradient, adapt_pool2d_gradient);
    case kConv2dFilters:
      return adapting(infer_conv2d_filters, run_conv2d_filters, adapt_conv2d_filters);
    case kExtent: return calling(infer_extent, run_extent, shape_shaped);
    case kQuantize: return calling(infer_quantize, run_quantize, shape_quantized);
    case kQuantizeDynamic:
      return calling(infer_quantize_dynamic, run_quantize_dynamic, shape_quantize_dynamic);
    case kDequantize: return calling(infer_dequantize, run_dequantize, shape_quantized);
    case kQuantizedMatmul:
      return calling(infer_quantized_matmul, run_quantized_matmul, shape_quantized_matmul);
    case kQuantizedConv2d:
      return adapting(infer_quantized_conv2d, run_quantized_conv2d, adapt_images);
  }
}

constexpr Derivative by(DeriveNode* derive) noexcept { return {derive, nullptr}; }
constexpr Derivative refused(const char* why) noexcept { return {nullptr, why}; }

// A kind without a case does not compile.
constexpr Derivative derivative_of(NodeKind kind) noexcept {
  using enum NodeKind;
  switch (kind) {
    case kUnary: return by(derive_unary);
    case kBinary: return by(derive_binary);
    case kTernary: return by(derive_ternary);
    case kSelect: return by(derive_select);
    case kCast: return by(derive_cast);
    case kReduce: return by(derive_reduce);
    case kNormalize: return by(derive_normalize);
    case kMatmul: return by(derive_matmul);
    case kReshape: return by(derive_reshape);
    case kPermute: return by(derive_permute);
    case kBroadcast: return by(derive_broadcast);
    case kSlice: return by(derive_slice);
    case kConcat: return by(derive_concat);
    case kPad: return by(derive_pad);
    case kTake: return by(derive_take);
    case kGather: return by(derive_gather);
    case kTriangular: return by(derive_triangular);
    case kScan: return by(derive_scan);
    case kEinsum: return by(derive_einsum);
    case kPut: return by(derive_put);
    case kScatter: return by(derive_scatter);
    case kMaskedSelect: return by(derive_masked_select);
    case kSumTo: return by(derive_sum_to);
    case kBatchNorm: return by(derive_batch_norm);
    case kSort:
    case kTopK:
    case kPartition: return by(derive_ordered);
    case kQuantile: return by(derive_quantile);
    case kBincount: return by(derive_bincount);
    case kSparseToDense: return by(derive_sparse_to_dense);
    case kSparseMatmul: return by(derive_sparse_matmul);
    case kSparseSddmm: return by(derive_sparse_sddmm);
    case kSparseScale: return by(derive_sparse_scale);
    case kSparseSoftmax: return by(derive_sparse_softmax);
    case kSparseReduce: return by(derive_sparse_reduce);
    case kSparseNorm: return by(derive_sparse_norm);
    case kSparseDiagonal: return by(derive_sparse_diagonal);
    case kSparseAccumulate: return by(derive_sparse_accumulate);
    case kConv2d: return by(derive_conv2d);
    case kConv2dTransposed: return by(derive_conv2d_transposed);
    case kConv2dFilters: return by(derive_conv2d_filters);
    case kPool2d: return by(derive_pool2d);
    case kPool2dGradient: return by(derive_pool2d_gradient);
    case kSparseSolve: return by(derive_sparse_solve);
    case kCond: return by(derive_cond);
    case kWhile: return by(derive_while);
    case kCustom: return by(derive_custom);
    case kQuantize:
    case kQuantizeDynamic:
    case kDequantize:
    case kQuantizedMatmul:
    case kQuantizedConv2d:
      return refused(
          "is of integers, which have no gradient: take gradients of the numbers before they are "
          "quantized");
    // Truth values, indices, counts and random numbers do not change with the operands.
    case kCompare:
    case kSearchsorted:
    case kHistogram:
    case kRandom:
    case kRandomPermutation:
    case kNonzero:
    case kExtent: return {};
  }
}

// By kind; there is no kind 0.
constexpr auto kOperations = [] {
  std::array<OperationKind, kNodeKindCount + 1> kinds = {};
  for (unsigned kind = 1; kind <= kNodeKindCount; ++kind) {
    const auto of = static_cast<NodeKind>(kind);
    kinds[kind] = {kNodeKindRows[kind - 1], functions_of(of), derivative_of(of)};
  }
  return kinds;
}();

template <std::size_t kCount>
const char* row_name(const kernels::OperationRow (&rows)[kCount], const GraphNode& node) noexcept {
  const auto row = static_cast<std::uint32_t>(node.op()) - 1;
  return row < kCount ? rows[row].name : find_operation(node.code)->name;
}

// The rows of scans have the names of reductions: "sum" for cumsum.
const char* scan_name(const GraphNode& node) noexcept {
  constexpr const char* kNames[] = {"cumsum", "cumprod", "cummin", "cummax"};
  static_assert(std::size(kNames) == kernels::kScanCount);
  const auto row = static_cast<std::uint32_t>(node.op()) - 1;
  return row < std::size(kNames) ? kNames[row] : find_operation(node.code)->name;
}

}  // namespace

const OperationKind* find_operation(std::uint32_t code) noexcept {
  const std::uint32_t kind = code >> kNodeKindShift;
  return kind == 0 || kind >= std::size(kOperations) ? nullptr : &kOperations[kind];
}

bool may_be_in_place(const GraphNode& node) noexcept {
  return node.custom == nullptr ? operation_of(node).in_place : node.custom->in_place();
}

const char* operation_name(const GraphNode& node) noexcept {
  if (node.custom != nullptr) return node.custom->name();
  switch (static_cast<NodeKind>(node.kind())) {
    case NodeKind::kUnary: return row_name(kernels::kUnaryRows, node);
    case NodeKind::kBinary: return row_name(kernels::kBinaryRows, node);
    case NodeKind::kTernary: return row_name(kernels::kTernaryRows, node);
    case NodeKind::kCompare: return row_name(kernels::kCompareRows, node);
    case NodeKind::kReduce: return row_name(kernels::kReduceRows, node);
    case NodeKind::kNormalize: return row_name(kernels::kNormalizeRows, node);
    case NodeKind::kScan: return scan_name(node);
    default: return operation_of(node).name;
  }
}

}  // namespace tenure
