#include "program/device/operations.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>

#include "program/custom.hpp"
#include "program/device/calls.hpp"
#include "tenure/device.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {
namespace {

// The function that enqueues the nodes of a kind, where the call that computes them on the CPU is not
// the one that computes them on a device.
struct DeviceRun {
  RunNode* run = nullptr;
  // Whether there is one: pointers are not compared at compile time in builds with a sanitizer.
  bool is_given = false;
};

constexpr DeviceRun device_run_of(NodeKind kind) noexcept {
  using enum NodeKind;
  switch (kind) {
    case kUnary: return {run_device_unary, true};
    case kBinary: return {run_device_binary, true};
    case kTernary: return {run_device_ternary, true};
    case kCompare: return {run_device_compare, true};
    case kSelect: return {run_device_select, true};
    case kCast: return {run_device_cast, true};
    case kMatmul: return {run_device_matmul, true};
    case kConv2d: return {run_device_conv2d, true};
    case kCustom: return {run_device_custom, true};
    case kConv2dTransposed: return {run_device_conv2d_transposed, true};
    case kConcat: return {run_device_concat, true};
    case kPad: return {run_device_pad, true};
    default: return {};
  }
}

// By kind; there is no kind 0.
constexpr auto kRuns = [] {
  std::array<DeviceRun, kNodeKindCount + 1> runs = {};
  for (unsigned kind = 1; kind <= kNodeKindCount; ++kind) {
    runs[kind] = device_run_of(static_cast<NodeKind>(kind));
  }
  return runs;
}();

// Devices compute kinds of expressions by functions of their own, and only what the table gives them.
static_assert([] {
  for (unsigned kind = 1; kind <= kNodeKindCount; ++kind) {
    const NodeKindRow& row = kNodeKindRows[kind - 1];
    const bool is_computed = row.device != DeviceDtypes::kNone && row.computes != Computes::kView;
    if (kRuns[kind].is_given ? !is_computed : row.computes == Computes::kElementwise) return false;
  }
  return true;
}());

// The dtype of the first operand that is an array, or of the first number where all are numbers.
tnr_dtype operand_dtype(const GraphNode& node, const OperandType* operands) noexcept {
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (operands[i].array != nullptr) return operands[i].array->dtype;
  }
  return operands[0].scalar != nullptr ? operands[0].scalar->dtype : 0;
}

SparseType sparse_type(const GraphNode& node, tnr_dtype dtype) noexcept {
  const tnr_sparse_node_attributes& of = node.attributes.sparse;
  return {of.format == 0 ? TNR_SPARSE_FORMAT_CSR : of.format, dtype,
          of.orientation == TNR_ORIENTATION_TRANSPOSED, (of.flags & TNR_SPARSE_UNIQUE) != 0};
}

// Where more decides than the dtype of the operands.
Refusal node_refusal(tnr_device device, const GraphNode& node, const OperandType* operands,
                     tnr_dtype result) noexcept {
  const tnr_dtype dtype = operand_dtype(node, operands);
  switch (static_cast<NodeKind>(node.kind())) {
    case NodeKind::kCast:
      // A copy takes any dtype.
      if (dtype == result) return std::nullopt;
      if (Refusal refusal = device_refusal(device, node.code, result)) return refusal;
      break;
    case NodeKind::kMatmul:
    case NodeKind::kConv2d:
    case NodeKind::kConv2dTransposed:
      if (Refusal refusal = activation_refusal(device, node, result)) return refusal;
      break;
    case NodeKind::kPad:
      if (node.op() == TNR_PAD_MODE_CONSTANT) break;
      return error_of(TNR_STATUS_UNSUPPORTED,
                      "pads with a constant on %s, and otherwise only on the CPU",
                      DeviceName(device).text);
    case NodeKind::kCustom:
      if (node.custom->has_device_function()) break;
      return error_of(TNR_STATUS_UNSUPPORTED,
                      "the custom operation has no compute_on_device: computed only on the CPU, "
                      "not on %s",
                      DeviceName(device).text);
    case NodeKind::kSparseToDense:
    case NodeKind::kSparseMatmul:
    case NodeKind::kSparseSddmm:
      return device_refusal(device, node.code, sparse_type(node, result));
    default: break;
  }
  return device_refusal(device, node.code, dtype);
}

}  // namespace

RunNode* find_device_run(const GraphNode& node) noexcept {
  const DeviceRun& of = kRuns[node.kind()];
  if (of.is_given) return of.run;
  const OperationKind& operation = operation_of(node);
  return operation.device == DeviceDtypes::kNone ? nullptr : operation.run;
}

void require_on_device(const Context& context, const Graph& graph, const std::vector<bool>& needed,
                       const std::vector<ArrayType>& types) {
  std::vector<OperandType> operands;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (!needed[i] || operation_of(node).computes == Computes::kView) continue;
    operands.resize(operand_room(node));
    write_operands(graph, node, types, operands.data());
    const Refusal refusal =
        node_refusal(context.queue()->device(), node, operands.data(), types[node.result].dtype);
    if (!refusal) continue;
    fail(refusal->status(), "nodes[%" PRIu32 "], %s: %s", node.number, operation_name(node),
         refusal->message());
  }
}

}  // namespace tenure
