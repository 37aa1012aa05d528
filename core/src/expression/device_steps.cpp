#include "expression/device_steps.hpp"

#include <algorithm>
#include <bitset>
#include <cstring>

#include "cpu/operations.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using NodeSet = std::bitset<kMaxNodes>;
using Location = DeviceExpression::Location;

// The dtype of what a node computes with: a selection's condition is bool8.
tnr_dtype operand_dtype(const Node& node) noexcept {
  return node.operands[node.kind == ExpressionKind::kSelect ? 1 : 0].dtype;
}

// Comparisons have their operands exchanged already where that is how they are computed.
std::uint32_t code_of(const Node& node) noexcept {
  auto op = static_cast<std::uint32_t>(node.op);
  if (node.kind == ExpressionKind::kCompare) {
    if (op == TNR_COMPARE_OP_GT) op = TNR_COMPARE_OP_LT;
    if (op == TNR_COMPARE_OP_GE) op = TNR_COMPARE_OP_LE;
  }
  return static_cast<std::uint32_t>(node.kind) << 16 | op;
}

bool is_fused(const Node& node) noexcept {
  return is_elementwise(node.kind) && fuses_on_device(code_of(node), operand_dtype(node));
}

const char* name_of(const Node& node) noexcept {
  const unsigned row = static_cast<unsigned>(node.op) - 1;
  switch (node.kind) {
    case ExpressionKind::kUnary: return kernels::kUnaryRows[row].name;
    case ExpressionKind::kBinary: return kernels::kBinaryRows[row].name;
    case ExpressionKind::kTernary: return kernels::kTernaryRows[row].name;
    case ExpressionKind::kCompare: return kernels::kCompareRows[row].name;
    case ExpressionKind::kReduce: return kernels::kReduceRows[row].name;
    case ExpressionKind::kNormalize: return kernels::kNormalizeRows[row].name;
    case ExpressionKind::kSelect: return "select";
    default: return "cast";
  }
}

// A row-major tensor on a device, without an owner.
tnr_view temporary_view(const Node& node, const tnr_device& device, const void* data) noexcept {
  tnr_view view = {};
  view.data = view.base = data;
  view.dtype = node.dtype;
  view.rank = node.shape.rank;
  view.device = device;
  std::int64_t stride = 1;
  for (std::uint32_t axis = view.rank; axis-- > 0;) {
    view.shape[axis] = node.shape.extents[axis];
    view.strides[axis] = stride;
    stride *= std::max(view.shape[axis], std::int64_t{1});
  }
  view.size_bytes = static_cast<std::uint64_t>(stride) * element_size(node.dtype);
  return view;
}

// Without the overflow that the strides of an empty one could have.
std::uint64_t bytes_of(const Node& node, unsigned index) {
  std::uint64_t bytes = element_size(node.dtype);
  for (std::uint32_t axis = 0; axis < node.shape.rank; ++axis) {
    const auto extent =
        static_cast<std::uint64_t>(std::max<std::int64_t>(node.shape.extents[axis], 1));
    if (__builtin_mul_overflow(bytes, extent, &bytes) ||
        bytes > static_cast<std::uint64_t>(INT64_MAX)) {
      fail(TNR_STATUS_OUT_OF_MEMORY, "nodes[%u] has results of the shape %s, which fit no memory",
           index, shape_text(node.shape.rank, node.shape.extents).text);
    }
  }
  return bytes;
}

}  // namespace

// Chooses which nodes are stored, in the order of the nodes: one that is not is computed again in
// each launch that needs it.
class DeviceSteps::Builder {
 public:
  Builder(const Nodes& nodes, const tnr_device& device) : nodes_(nodes) {
    const unsigned last = nodes.count() - 1;
    needed_.set(last);
    for (unsigned i = last + 1; i-- > 0;) {
      if (!needed_[i]) continue;
      for_each_node_of(i, [&](unsigned operand) { needed_.set(operand); });
    }
    for (unsigned i = 0; i <= last; ++i) {
      if (needed_[i]) require_device(i, device);
    }
  }

  std::vector<Step> steps() {
    const unsigned last = nodes_.count() - 1;
    if (std::unique_ptr<const Fused> whole = fused(last)) {
      std::vector<Step> result;
      result.push_back({static_cast<std::uint16_t>(last), std::move(whole), {}});
      return result;
    }
    for (unsigned i = 0; i <= last; ++i) {
      if (needed_[i]) place(i);
    }
    stored_.set(last);
    // A stored result is one more view of another node's launch.
    for (std::size_t count = 0; count != stored_.count();) {
      count = stored_.count();
      for (unsigned i = 0; i <= last; ++i) {
        if (stored_[i]) place(i);
      }
    }
    std::vector<Step> result;
    for (unsigned i = 0; i <= last; ++i) {
      if (!needed_[i] || !stored_[i]) continue;
      result.push_back({static_cast<std::uint16_t>(i), fused(i), {}});
    }
    end_temporaries(result);
    return result;
  }

 private:
  template <class Visit>
  void for_each_node_of(unsigned index, Visit&& visit) const {
    const Node& node = nodes_[index];
    for (unsigned k = 0; k < node.operand_count; ++k) {
      if (node.operands[k].from == From::kNode) visit(unsigned{node.operands[k].index});
    }
  }

  void require_device(unsigned index, const tnr_device& device) const {
    const Node& node = nodes_[index];
    for (const tnr_dtype dtype : {operand_dtype(node), node.dtype}) {
      if (type_index(dtype) != kNoType) continue;
      fail(TNR_STATUS_UNSUPPORTED, "nodes[%u]: %s takes %s only on the CPU, not on %s", index,
           name_of(node), dtype_name(dtype), DeviceName(device).text);
    }
  }

  // Stores operands until the node's launch has room for the others.
  void place(unsigned index) {
    if (!is_fused(nodes_[index])) {
      for_each_node_of(index, [&](unsigned operand) { stored_.set(operand); });
      stored_.set(index);
      return;
    }
    while (fused(index) == nullptr) {
      // The operand that is computed by the most nodes.
      unsigned largest = 0;
      std::size_t most = 0;
      for_each_node_of(index, [&](unsigned operand) {
        const std::size_t count = stored_[operand] ? 0 : computed_by(operand).count();
        if (count > most) {
          most = count;
          largest = operand;
        }
      });
      stored_.set(largest);
    }
  }

  // The nodes of one launch that gives a node: itself, and operands that are not stored.
  [[nodiscard]] NodeSet computed_by(unsigned root) const {
    NodeSet result;
    result.set(root);
    for (unsigned i = root + 1; i-- > 0;) {
      if (!result[i]) continue;
      for_each_node_of(i, [&](unsigned operand) {
        if (!stored_[operand]) result.set(operand);
      });
    }
    return result;
  }

  // nullptr where that is no one launch.
  [[nodiscard]] std::unique_ptr<const Fused> fused(unsigned root) const {
    const NodeSet computed = computed_by(root);
    if (computed.count() > DeviceExpression::kMostNodes) return nullptr;
    unsigned order[DeviceExpression::kMostNodes];
    unsigned places[kMaxNodes];  // in the order
    unsigned last_uses[DeviceExpression::kMostNodes] = {};
    bool are_held[DeviceExpression::kMostNodes] = {};
    unsigned count = 0;
    for (unsigned i = 0; i <= root; ++i) {
      if (!computed[i]) continue;
      if (!is_fused(nodes_[i])) return nullptr;
      for_each_node_of(i, [&](unsigned operand) {
        if (!computed[operand]) return;
        last_uses[places[operand]] = count;
        if (places[operand] + 1 != count) are_held[places[operand]] = true;
      });
      places[i] = count;
      order[count++] = i;
    }
    auto result = std::make_unique<Fused>();
    std::uint8_t slots[DeviceExpression::kMostNodes];
    unsigned free_slots = (1u << DeviceExpression::kMostSlots) - 1;
    for (unsigned p = 0; p < count; ++p) {
      const Node& node = nodes_[order[p]];
      DeviceExpression::Node& to = result->expression.nodes[p];
      to.code = code_of(node);
      to.dtype = operand_dtype(node);
      to.out_dtype = node.dtype;
      to.operand_count = node.operand_count;
      to.slot = DeviceExpression::kNoSlot;
      for (unsigned k = 0; k < node.operand_count; ++k) {
        const NodeOperand& operand = node.operands[k];
        if (operand.from == From::kNode && computed[operand.index]) {
          const unsigned place = places[operand.index];
          to.operands[k] = place + 1 == p
                               ? DeviceExpression::Operand{Location::kLast, 0}
                               : DeviceExpression::Operand{Location::kSlot, slots[place]};
        } else if (!add_operand(*result, operand, to.operands[k])) {
          return nullptr;
        }
      }
      // An operand that is read for the last time here leaves its slot to the result.
      for (unsigned q = 0; q < p; ++q) {
        if (are_held[q] && last_uses[q] == p) free_slots |= 1u << slots[q];
      }
      if (!are_held[p]) continue;
      if (free_slots == 0) return nullptr;
      slots[p] = to.slot = static_cast<std::uint8_t>(std::countr_zero(free_slots));
      free_slots &= free_slots - 1;
    }
    result->expression.node_count = count;
    return result;
  }

  // Adds a view, a number, or a temporary; false where there is no room.
  bool add_operand(Fused& to, const NodeOperand& operand, DeviceExpression::Operand& source) const {
    DeviceExpression& expression = to.expression;
    if (operand.from == From::kScalar) {
      if (expression.number_count == DeviceExpression::kMostNumbers) return false;
      source = {Location::kNumber, static_cast<std::uint8_t>(expression.number_count)};
      DeviceExpression::Number& number = expression.numbers[expression.number_count++];
      number.dtype = operand.dtype;
      std::memcpy(number.bytes, nodes_.element(operand.index).bytes, sizeof number.bytes);
      return true;
    }
    const auto is_there = [&](const Leaf& leaf) {
      return leaf.from == operand.from && leaf.index == operand.index;
    };
    Leaf* const end = to.leaves + expression.view_count;
    Leaf* const found = std::find_if(to.leaves, end, is_there);
    if (found == end) {
      if (expression.view_count == DeviceExpression::kMostViews) return false;
      *found = {operand.from, operand.index};
      ++expression.view_count;
    }
    source = {Location::kView, static_cast<std::uint8_t>(found - to.leaves)};
    return true;
  }

  void end_temporaries(std::vector<Step>& steps) const {
    std::size_t last_uses[kMaxNodes] = {};
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const auto use = [&](unsigned node) { last_uses[node] = s; };
      if (const Fused* const fused = steps[s].fused.get()) {
        for (unsigned i = 0; i < fused->expression.view_count; ++i) {
          if (fused->leaves[i].from == From::kNode) use(fused->leaves[i].index);
        }
      } else {
        for_each_node_of(steps[s].node, use);
      }
    }
    for (std::size_t s = 0; s + 1 < steps.size(); ++s) {
      steps[last_uses[steps[s].node]].ended.push_back(steps[s].node);
    }
  }

  const Nodes& nodes_;
  NodeSet needed_;
  NodeSet stored_;  // and the last one
};

DeviceSteps::DeviceSteps(const Nodes& nodes, const tnr_device& device) {
  Builder builder(nodes, device);
  steps_ = builder.steps();
}

// The temporaries of one run.
class DeviceSteps::RunTemporaries {
 public:
  RunTemporaries(const DeviceQueue& queue, const Nodes& nodes, const AttributeReaders& readers,
                 const tnr_view_mut& out, const Pins& pins)
      : queue_(queue), nodes_(nodes), readers_(readers), out_(out), pins_(pins) {}
  RunTemporaries(const RunTemporaries&) = delete;
  RunTemporaries& operator=(const RunTemporaries&) = delete;
  ~RunTemporaries() {
    for (unsigned i = 0; i < nodes_.count(); ++i) end(i);
  }

  DeviceFindings run(const Step& step) {
    const unsigned index = step.node;
    const tnr_view_mut to = {index + 1 == nodes_.count() ? out_.view : begin(index)};
    DeviceFindings found;
    if (step.fused != nullptr) {
      found = compute(*step.fused, to);
    } else {
      run_alone(nodes_[index], to);
    }
    for (const std::uint16_t ended : step.ended) end(ended);
    return found;
  }

 private:
  tnr_view begin(unsigned index) {
    memory_[index] = queue_.allocate(static_cast<std::size_t>(bytes_of(nodes_[index], index)));
    views_[index] = temporary_view(nodes_[index], queue_.device(), memory_[index]);
    return views_[index];
  }
  void end(unsigned index) noexcept {
    if (memory_[index] != nullptr) queue_.free(std::exchange(memory_[index], nullptr));
  }

  [[nodiscard]] const tnr_view& stored(From from, unsigned index) const noexcept {
    return from == From::kNode ? views_[index] : nodes_.view(index);
  }

  DeviceFindings compute(const Fused& fused, const tnr_view_mut& to) const {
    const tnr_view* views[DeviceExpression::kMostViews];
    for (unsigned i = 0; i < fused.expression.view_count; ++i) {
      views[i] = &stored(fused.leaves[i].from, fused.leaves[i].index);
    }
    DeviceFindings findings;
    queue_.enqueue(DeviceEvaluation{fused.expression, views, to, pins_, findings});
    return findings;
  }

  [[nodiscard]] tnr_scalar scalar_of(const NodeOperand& operand) const noexcept {
    tnr_scalar scalar = {};
    scalar.dtype = operand.dtype;
    std::memcpy(scalar.bytes, nodes_.element(operand.index).bytes, sizeof scalar.bytes);
    return scalar;
  }

  // An operation that the device has as a call of its own.
  void run_alone(const Node& node, const tnr_view_mut& to) const {
    const NodeOperand& first = node.operands[0];
    const bool is_number = first.from == From::kScalar;
    const tnr_view* const a = is_number ? nullptr : &stored(first.from, first.index);
    switch (node.kind) {
      case ExpressionKind::kUnary:
        if (is_number) queue_.enqueue(DeviceFill{scalar_of(first), to});
        return queue_.enqueue(
            DeviceUnary{static_cast<tnr_unary_op>(node.op), is_number ? to.view : *a, to});
      case ExpressionKind::kBinary: return run_binary(node, a, to);
      case ExpressionKind::kReduce: return reduce(node, *a, to);
      default: {
        const auto given = static_cast<const tnr_normalize_attributes*>(node.attributes);
        return queue_.enqueue(DeviceNormalize{static_cast<tnr_normalize_op>(node.op), *a, node.axes,
                                              readers_.normalize(given), to});
      }
    }
  }

  // A number on both sides stands in the output first.
  void run_binary(const Node& node, const tnr_view* a, const tnr_view_mut& to) const {
    const auto op = static_cast<tnr_binary_op>(node.op);
    const NodeOperand& first = node.operands[0];
    const NodeOperand& second = node.operands[1];
    if (second.from == From::kScalar) {
      if (a == nullptr) queue_.enqueue(DeviceFill{scalar_of(first), to});
      return queue_.enqueue(DeviceBinary{op, a == nullptr ? to.view : *a, scalar_of(second), to});
    }
    const tnr_view& b = stored(second.from, second.index);
    if (a == nullptr) return queue_.enqueue(DeviceBinary{op, scalar_of(first), b, to});
    queue_.enqueue(DeviceBinary{op, *a, b, to});
  }

  void reduce(const Node& node, const tnr_view& a, const tnr_view_mut& to) const {
    const auto given = static_cast<const tnr_reduce_attributes*>(node.attributes);
    const tnr_reduce_attributes attributes = readers_.reduce(given);
    queue_.enqueue(DeviceReduce{static_cast<tnr_reduce_op>(node.op), a, node.axes, attributes.ddof,
                                to, attributes.power});
  }

  const DeviceQueue& queue_;
  const Nodes& nodes_;
  const AttributeReaders& readers_;
  const tnr_view_mut& out_;
  const Pins& pins_;
  void* memory_[kMaxNodes] = {};
  tnr_view views_[kMaxNodes];
};

kernels::Finding DeviceSteps::run(const DeviceQueue& queue, const Nodes& nodes,
                                  const AttributeReaders& readers, const tnr_view_mut& out,
                                  const Pins& pins) const {
  RunTemporaries run(queue, nodes, readers, out, pins);
  unsigned found = kernels::kNothing;
  for (const Step& step : steps_) {
    const DeviceFindings of_step = run.run(step);
    if (of_step.zero_divisor) found |= kernels::kZeroDivisor;
    if (of_step.negative_power) found |= kernels::kNegativePower;
  }
  return static_cast<kernels::Finding>(found);
}

}  // namespace tenure
