#include "program/operations.hpp"

#include <iterator>

#include "cpu/operations.hpp"
#include "program/custom.hpp"
#include "program/expressions.hpp"
#include "program/kinds/calls.hpp"
#include "program/kinds/operand_types.hpp"
#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"

namespace tenure {
namespace {

template <tnr_view (*kSee)(const NodeCall& call, const tnr_view& operand)>
ArrayType infer_view(const NodeCall& call, const OperandType* operands) {
  return type_of(kSee(call, unbacked_view(array(operands[0], "a"))));
}

using enum Computes;
constexpr auto kNoAttributes = AttributeKind::kNone;

constexpr OperationKind elementwise(const char* name, std::uint8_t operands,
                                    Says says = Says::kNothing) {
  return {name, kElementwise,     operands,       operands, 0,   kNoAttributes,
          true, infer_expression, run_expression, nullptr,  says};
}
template <tnr_view (*kSee)(const NodeCall& call, const tnr_view& operand)>
constexpr OperationKind viewing(const char* name, std::uint8_t numbers) {
  return {name, kView, 1, 1, numbers, kNoAttributes, false, infer_view<kSee>, nullptr, kSee};
}
constexpr OperationKind sparse(const char* name, std::uint8_t operands, InferNode* infer,
                               RunNode* run, Says says = Says::kNothing) {
  return {name,  kCall, operands, operands, 2,    AttributeKind::kSparse,
          false, infer, run,      nullptr,  says, Values::kAreThrown};
}
// The result is values of a matrix.
constexpr OperationKind sparse_values(const char* name, std::uint8_t operands, InferNode* infer,
                                      RunNode* run) {
  OperationKind kind = sparse(name, operands, infer, run);
  kind.is_row_major = true;
  return kind;
}
// More than the extent may be are refused, without an exception.
constexpr OperationKind finding(const char* name, std::uint8_t operands, InferNode* infer,
                                FindNode* find) {
  return {name,    kCall,   operands,       operands,          1,    kNoAttributes, false, infer,
          nullptr, nullptr, Says::kNothing, Values::kAreNoted, find, nullptr,       true};
}
// Nodes of their bodies refuse by themselves.
constexpr OperationKind controlling(const char* name, std::uint8_t numbers) {
  return {name, kControl, 1, kAnyCount, numbers, kNoAttributes, false, nullptr, nullptr, nullptr};
}

// With what it decides behind what a run finds.
constexpr OperationKind with(OperationKind kind, DecideNode* decide) {
  kind.decide = decide;
  return kind;
}

// By kind.
constexpr OperationKind kOperations[] = {
    {},
    with(elementwise("unary", 1), decide_elementwise),
    with(elementwise("binary", 2), decide_elementwise),
    with(elementwise("ternary", 3), decide_elementwise),
    with(elementwise("compare", 2), decide_elementwise),
    with(elementwise("select", 3), decide_elementwise),
    with(elementwise("cast", 1, Says::kDtype), decide_elementwise),
    with({"reduce", kReduction, 1, 1, 0, AttributeKind::kReduce, false, infer_expression,
          run_reduce, nullptr, Says::kAxes},
         decide_reduce),
    with({"normalize", kCall, 1, 3, 0, AttributeKind::kNormalize, true, infer_normalize,
          run_normalize, nullptr, Says::kAxes},
         decide_normalize),
    with({"matmul", kCall, 2, 3, 0, AttributeKind::kMatmul, false, infer_matmul, run_matmul,
          nullptr},
         decide_matmul),
    with({"conv2d", kCall, 2, 3, 0, AttributeKind::kConv2d, false, infer_conv2d, run_conv2d,
          nullptr},
         decide_images),
    with({"pool2d", kCall, 1, 1, kAnyCount, AttributeKind::kPool2d, false, infer_pool2d, run_pool2d,
          nullptr},
         decide_images),
    with({"batch_norm", kCall, 3, 5, 0, AttributeKind::kBatchNorm, false, infer_batch_norm,
          run_batch_norm, nullptr},
         decide_images),
    with(viewing<view_reshaped>("reshape", kAnyCount), decide_reshape),
    with(viewing<view_permuted>("permute", kAnyCount), decide_permute),
    with(viewing<view_broadcast>("broadcast", kAnyCount), decide_broadcast),
    with(viewing<view_slice>("slice", 4), decide_slice),
    with(
        {"concat", kCall, 1, kAnyCount, 1, kNoAttributes, false, infer_concat, run_concat, nullptr},
        decide_concat),
    with({"pad", kCall, 1, 1, kAnyCount, AttributeKind::kPad, false, infer_pad, run_pad, nullptr},
         decide_pad),
    with({"take", kCall, 2, 2, 1, kNoAttributes, false, infer_take, run_take, nullptr},
         decide_take),
    with({"gather", kCall, 2, 2, 1, kNoAttributes, false, infer_gather, run_gather, nullptr},
         decide_gather),
    with({"triangular", kCall, 1, 1, 0, AttributeKind::kTriangle, true, infer_triangular,
          run_triangular, nullptr},
         decide_as_first),
    with({"scan", kCall, 1, 1, 1, kNoAttributes, true, infer_scan, run_scan, nullptr},
         decide_as_first),
    {"custom", kCall, 0, kAnyCount, kAnyCount, kNoAttributes, false, infer_custom, run_custom,
     nullptr},
    with({"conv2d_transposed", kCall, 2, 3, kAnyCount, AttributeKind::kConv2d, false,
          infer_conv2d_transposed, run_conv2d_transposed, nullptr},
         decide_images),
    {"einsum", kCall, 1, kAnyCount, 0, AttributeKind::kEinsum, false, infer_einsum, run_einsum,
     nullptr},
    with({"sort", kCall, 1, 1, 1, AttributeKind::kFlags, false, infer_sort, run_sort, nullptr},
         decide_as_first),
    with({"top_k", kCall, 1, 1, 2, AttributeKind::kFlags, false, infer_top_k, run_top_k, nullptr},
         decide_top_k),
    with({"partition", kCall, 1, 1, 2, kNoAttributes, false, infer_partition, run_partition,
          nullptr},
         decide_partition),
    {"quantile", kCall, 2, 2, 0, AttributeKind::kFlags, false, infer_quantile, run_quantile,
     nullptr, Says::kAxes},
    with({"searchsorted", kCall, 2, 2, 0, AttributeKind::kFlags, false, infer_searchsorted,
          run_searchsorted, nullptr},
         decide_as_second),
    with({"bincount", kCall, 1, 2, 1, kNoAttributes, false, infer_bincount, run_bincount, nullptr},
         decide_bincount),
    with({"histogram", kCall, 1, 2, 1, AttributeKind::kHistogram, false, infer_histogram,
          run_histogram, nullptr},
         decide_histogram),
    with({"put", kCall, 3, 3, 1, kNoAttributes, true, infer_put, run_put, nullptr}, decide_put),
    with({"scatter", kCall, 3, 3, 1, kNoAttributes, true, infer_scatter, run_scatter, nullptr},
         decide_scatter),
    with({"random", kCall, 2, 2, kAnyCount, AttributeKind::kRandom, false, infer_random, run_random,
          nullptr, Says::kDtype},
         decide_shaped),
    with({"random_permutation", kCall, 2, 2, 1, kNoAttributes, false, infer_random_permutation,
          run_random_permutation, nullptr, Says::kDtype},
         decide_shaped),
    sparse("sparse_to_dense", 3, infer_sparse_to_dense, run_sparse_to_dense),
    sparse("sparse_matmul", 4, infer_sparse_matmul, run_sparse_matmul),
    sparse_values("sparse_sddmm", 5, infer_sparse_sddmm, run_sparse_sddmm),
    sparse_values("sparse_scale", 4, infer_sparse_scale, run_sparse_scale),
    sparse_values("sparse_softmax", 3, infer_sparse_softmax, run_sparse_softmax),
    sparse("sparse_reduce", 3, infer_sparse_reduce, run_sparse_reduce, Says::kAxes),
    sparse("sparse_norm", 3, infer_sparse_norm, run_sparse_norm),
    sparse("sparse_diagonal", 3, infer_sparse_diagonal, run_sparse_diagonal),
    sparse("sparse_solve", 4, infer_sparse_solve, run_sparse_solve),
    sparse("sparse_accumulate", 4, infer_sparse_accumulate, run_sparse_accumulate),
    controlling("cond", 2),
    controlling("while", 3),
    with(finding("nonzero", 1, infer_nonzero, find_nonzero), decide_found),
    with(finding("masked_select", 2, infer_masked_select, find_masked_select), decide_found),
};
static_assert(std::size(kOperations) == (TNR_NODE_MASKED_SELECT >> kNodeKindShift) + 1);

template <std::size_t kCount>
const char* row_name(const kernels::OperationRow (&rows)[kCount], const GraphNode& node) noexcept {
  const auto row = static_cast<std::uint32_t>(node.op()) - 1;
  return row < kCount ? rows[row].name : find_operation(node.code)->name;
}

// Their rows have the names of what they accumulate by, which reductions have too.
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
  switch (node.kind() << kNodeKindShift) {
    case TNR_NODE_UNARY: return row_name(kernels::kUnaryRows, node);
    case TNR_NODE_BINARY: return row_name(kernels::kBinaryRows, node);
    case TNR_NODE_TERNARY: return row_name(kernels::kTernaryRows, node);
    case TNR_NODE_COMPARE: return row_name(kernels::kCompareRows, node);
    case TNR_NODE_REDUCE: return row_name(kernels::kReduceRows, node);
    case TNR_NODE_NORMALIZE: return row_name(kernels::kNormalizeRows, node);
    case TNR_NODE_SCAN: return scan_name(node);
    default: return operation_of(node).name;
  }
}

}  // namespace tenure
