#include "program/device/operations.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>

#include "program/device/calls.hpp"
#include "program/kinds/calls.hpp"
#include "program/unbacked.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {
namespace {

// For kinds whose operands are all vectors.
template <RunNode* kRun>
void try_device_vectors(const Context& context, const GraphNode& node, const OperandType* operands,
                        tnr_dtype result) {
  static constexpr std::int64_t kFirstAxis[] = {0};
  tnr_view views[kMostFixedOperands];
  OperandView given[kMostFixedOperands] = {};
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    given[i].scalar = operands[i].scalar;
    if (operands[i].array == nullptr) continue;
    views[i] = without_elements(context, operands[i].array->dtype, {0});
    given[i].view = &views[i];
  }
  kRun(context, {node, kFirstAxis}, given, {without_elements(context, result, {0})});
}

// No rows of one element.
void try_device_reduce(const Context& context, const GraphNode& node, const OperandType* operands,
                       tnr_dtype result) {
  const tnr_view a = without_elements(context, operands[0].array->dtype, {0, 1});
  const OperandView given = {&a, nullptr};
  GraphNode of_rows = node;
  of_rows.flags = 1u << 1;
  run_reduce(context, {of_rows, nullptr}, &given, {without_elements(context, result, {0})});
}

void try_device_normalize(const Context& context, const GraphNode& node,
                          const OperandType* operands, tnr_dtype result) {
  const tnr_view a = without_elements(context, operands[0].array->dtype, {0, 1});
  tnr_view factors[2];
  OperandView given[3] = {{&a, nullptr}, {}, {}};
  for (std::size_t i = 1; i < node.operands.size(); ++i) {
    if (operands[i].array == nullptr) continue;
    factors[i - 1] = on_device(context, unbacked_view({operands[i].array->dtype, 1, {1}}));
    given[i].view = &factors[i - 1];
  }
  GraphNode of_rows = node;
  of_rows.flags = 1u << 1;
  tnr_view out = without_elements(context, result, {0, 1});
  out.flags = TNR_VIEW_EXCLUSIVE;
  run_normalize(context, {of_rows, nullptr}, given, {out});
}

template <RunNode* kRun>
constexpr DeviceOperation on_vectors() noexcept {
  return {kRun, try_device_vectors<kRun>};
}

// A kind without a case does not compile.
constexpr DeviceOperation device_operation_of(NodeKind kind) noexcept {
  using enum NodeKind;
  switch (kind) {
    case kUnary: return on_vectors<run_device_unary>();
    case kBinary: return on_vectors<run_device_binary>();
    case kTernary: return on_vectors<run_device_ternary>();
    case kCompare: return on_vectors<run_device_compare>();
    case kSelect: return on_vectors<run_device_select>();
    case kCast: return on_vectors<run_device_cast>();
    case kReduce: return {run_reduce, try_device_reduce};
    case kNormalize: return {run_normalize, try_device_normalize};
    case kScan: return on_vectors<run_scan>();
    case kSort: return on_vectors<run_sort>();
    case kTopK: return on_vectors<run_top_k>();
    case kMatmul: return {run_device_matmul, try_device_matmul};
    case kConv2d: return {run_device_conv2d, try_device_conv2d};
    case kCustom: return {run_device_custom, try_device_custom};
    case kConv2dTransposed: return {run_device_conv2d_transposed, try_device_conv2d};
    case kPool2d: return {run_pool2d, try_device_pool2d};
    case kBatchNorm: return {run_batch_norm, try_device_batch_norm};
    case kConcat: return {run_device_concat, try_device_concat};
    case kPad: return {run_device_pad, try_device_pad};
    case kTake: return on_vectors<run_take>();
    case kGather: return on_vectors<run_gather>();
    case kPut: return on_vectors<run_put>();
    case kScatter: return on_vectors<run_scatter>();
    case kSparseToDense: return {run_sparse_to_dense, try_device_sparse_to_dense};
    case kSparseMatmul: return {run_sparse_matmul, try_device_sparse_matmul};
    case kSparseSddmm: return {run_sparse_sddmm, try_device_sparse_sddmm};
    // Views compute nothing.
    case kReshape:
    case kPermute:
    case kBroadcast:
    case kSlice:
    // The CPU computes the others.
    case kTriangular:
    case kEinsum:
    case kPartition:
    case kQuantile:
    case kSearchsorted:
    case kBincount:
    case kHistogram:
    case kRandom:
    case kRandomPermutation:
    case kSparseScale:
    case kSparseSoftmax:
    case kSparseReduce:
    case kSparseNorm:
    case kSparseDiagonal:
    case kSparseSolve:
    case kSparseAccumulate:
    case kCond:
    case kWhile:
    case kNonzero:
    case kMaskedSelect: return {};
  }
}

// By kind; there is no kind 0.
constexpr auto kOperations = [] {
  std::array<DeviceOperation, kNodeKindCount + 1> operations = {};
  for (unsigned kind = 1; kind <= kNodeKindCount; ++kind) {
    operations[kind] = device_operation_of(static_cast<NodeKind>(kind));
  }
  return operations;
}();

}  // namespace

tnr_view on_device(const Context& context, tnr_view view) noexcept {
  view.device = context.queue()->device();
  return view;
}

tnr_view without_elements(const Context& context, tnr_dtype dtype,
                          std::initializer_list<std::int64_t> extents) {
  ArrayType type = {dtype, static_cast<std::uint32_t>(extents.size()), {}};
  std::ranges::copy(extents, type.shape);
  return on_device(context, unbacked_view(type));
}

DeviceName device_name(const Context& context) noexcept {
  return DeviceName(context.queue()->device());
}

const DeviceOperation* find_device_operation(const GraphNode& node) noexcept {
  const DeviceOperation& operation = kOperations[node.kind()];
  return operation.run == nullptr ? nullptr : &operation;
}

void require_on_device(const Context& context, const Graph& graph, const std::vector<bool>& needed,
                       const std::vector<ArrayType>& types) {
  std::vector<OperandType> operands;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (!needed[i] || operation_of(node).computes == Computes::kView) continue;
    const DeviceOperation* const operation = find_device_operation(node);
    if (operation == nullptr) {
      fail(TNR_STATUS_UNSUPPORTED, "nodes[%" PRIu32 "], %s: computed only on the CPU, not on %s", i,
           operation_name(node), device_name(context).text);
    }
    operands.assign(std::max(node.operands.size(), kMostFixedOperands), {});
    for (std::size_t j = 0; j < node.operands.size(); ++j) {
      const std::uint32_t value = node.operands[j];
      if (value == kNoValue) continue;
      operands[j].scalar = graph.scalar_of(value);
      if (operands[j].scalar == nullptr) operands[j].array = &types[value];
    }
    try {
      operation->attempt(context, node, operands.data(), types[node.result].dtype);
    } catch (const Error& error) {
      fail(error.status(), "nodes[%" PRIu32 "], %s: %s", i, operation_name(node), error.message());
    }
  }
}

}  // namespace tenure
