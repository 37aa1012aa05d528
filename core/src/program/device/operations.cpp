#include "program/device/operations.hpp"

#include <algorithm>
#include <cinttypes>

#include "program/device/calls.hpp"
#include "program/kinds/calls.hpp"
#include "program/unbacked.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {
namespace {

// Of kinds whose operands are all vectors.
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

constexpr DeviceOperation kOperations[] = {
    {TNR_NODE_UNARY, run_device_unary, try_device_vectors<run_device_unary>},
    {TNR_NODE_BINARY, run_device_binary, try_device_vectors<run_device_binary>},
    {TNR_NODE_TERNARY, run_device_ternary, try_device_vectors<run_device_ternary>},
    {TNR_NODE_COMPARE, run_device_compare, try_device_vectors<run_device_compare>},
    {TNR_NODE_SELECT, run_device_select, try_device_vectors<run_device_select>},
    {TNR_NODE_CAST, run_device_cast, try_device_vectors<run_device_cast>},
    {TNR_NODE_REDUCE, run_reduce, try_device_reduce},
    {TNR_NODE_NORMALIZE, run_normalize, try_device_normalize},
    {TNR_NODE_SCAN, run_scan, try_device_vectors<run_scan>},
    {TNR_NODE_SORT, run_sort, try_device_vectors<run_sort>},
    {TNR_NODE_TOP_K, run_top_k, try_device_vectors<run_top_k>},
    {TNR_NODE_MATMUL, run_device_matmul, try_device_matmul},
    {TNR_NODE_CONV2D, run_device_conv2d, try_device_conv2d},
    {TNR_NODE_CUSTOM, run_device_custom, try_device_custom},
    {TNR_NODE_CONV2D_TRANSPOSED, run_device_conv2d_transposed, try_device_conv2d},
    {TNR_NODE_POOL2D, run_pool2d, try_device_pool2d},
    {TNR_NODE_BATCH_NORM, run_batch_norm, try_device_batch_norm},
    {TNR_NODE_CONCAT, run_device_concat, try_device_concat},
    {TNR_NODE_PAD, run_device_pad, try_device_pad},
    {TNR_NODE_TAKE, run_take, try_device_vectors<run_take>},
    {TNR_NODE_GATHER, run_gather, try_device_vectors<run_gather>},
    {TNR_NODE_PUT, run_put, try_device_vectors<run_put>},
    {TNR_NODE_SCATTER, run_scatter, try_device_vectors<run_scatter>},
    {TNR_NODE_SPARSE_TO_DENSE, run_sparse_to_dense, try_device_sparse_to_dense},
    {TNR_NODE_SPARSE_MATMUL, run_sparse_matmul, try_device_sparse_matmul},
    {TNR_NODE_SPARSE_SDDMM, run_sparse_sddmm, try_device_sparse_sddmm},
};

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
  const DeviceOperation* const found =
      std::ranges::find(kOperations, node.kind() << kNodeKindShift, &DeviceOperation::code);
  return found == std::end(kOperations) ? nullptr : found;
}

void require_on_device(const Context& context, const Graph& graph, const std::vector<bool>& needed,
                       const std::vector<ArrayType>& types) {
  std::vector<OperandType> operands;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (!needed[i] || operation_of(node).computes == Computes::kView) continue;
    const DeviceOperation* const operation = find_device_operation(node);
    if (operation == nullptr) {
      fail(TNR_STATUS_UNSUPPORTED, "nodes[%" PRIu32 "], %s: computed on the CPU alone, not on %s",
           i, operation_name(node), device_name(context).text);
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
