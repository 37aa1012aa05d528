#include "expression/cpu_evaluation.hpp"

#include <algorithm>
#include <utility>

#include "dense/normalize/checked.hpp"
#include "dense/reduce/walk.hpp"
#include "expression/computed.hpp"
#include "expression/output_walk.hpp"
#include "expression/tile_steps.hpp"
#include "memory/scratch.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/shape_rules.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Finding;
using kernels::Reduction;

// The messages of check() are those of the calls, which do not know of nodes.
template <class Check>
auto of_node(unsigned index, Check&& check) {
  try {
    return check();
  } catch (const Error& error) {
    fail(error.status(), "nodes[%u]: %s", index, error.message());
  }
}

// Whether rows are measured there as those of a row-major tensor are.
bool is_in_order(const tnr_view& view, std::uint32_t axes) noexcept {
  if (is_row_major(view)) return true;
  return axes == 1u << (view.rank - 1) && view.strides[view.rank - 1] == 1;
}

}  // namespace

void CpuEvaluation::check() {
  const Node& last = nodes_.last();
  require_dtype(out_.view, "out", last.dtype, "the expression gives");
  if (is_elementwise(last.kind)) {
    require_broadcast(last.shape);
  } else if (last.kind == ExpressionKind::kNormalize) {
    of_node(nodes_.count() - 1, [&] { check_last_normalization(last); });
  } else {
    last_reduction_ = checked(nodes_.count() - 1, out_.view);
    if (nodes_.names_output() && !is_empty(out_.view)) {
      fail(TNR_STATUS_ALIASED,
           "the output is an operand of an expression that ends in a "
           "reduction, and would be read after results are written");
    }
  }
  if (nodes_.reduces_amid()) list_amid();
}

Finding CpuEvaluation::run() {
  if (is_empty(out_.view)) return kernels::kNothing;
  if (placed_.amid_count == 0) return run_last();
  const RowGroups groups(placed_);
  return groups.fit() ? groups.run(context_, nodes_, out_) : run_one_by_one();
}

std::unique_ptr<const RowGroups> CpuEvaluation::row_groups() const {
  if (placed_.amid_count == 0) return nullptr;
  auto groups = std::make_unique<const RowGroups>(placed_);
  return groups->fit() && groups->fit_stack() ? std::move(groups) : nullptr;
}

// Lists the reductions that the last node needs, in their order.
void CpuEvaluation::list_amid() {
  bool is_needed[kMaxNodes] = {};
  is_needed[nodes_.count() - 1] = true;
  for (unsigned i = nodes_.count(); i-- > 0;) {
    const Node& node = nodes_[i];
    for (unsigned k = 0; is_needed[i] && k < node.operand_count; ++k) {
      if (node.operands[k].from == From::kNode) is_needed[node.operands[k].index] = true;
    }
  }
  for (unsigned i = 0; i + 1 < nodes_.count(); ++i) {
    const Node& node = nodes_[i];
    if (is_elementwise(node.kind) || !is_needed[i]) continue;
    if (placed_.amid_count == PlacedNodes::kMostAmid) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "nodes[%u] is the reduction after %u amid the expression",
           i, PlacedNodes::kMostAmid);
    }
    require_memory(i);
    placed_.amid[placed_.amid_count] = static_cast<std::uint16_t>(i);
    placed_.leaf_of[i] = static_cast<std::uint8_t>(placed_.leaf_count);
    placed_.amid_results[placed_.amid_count] = row_major_view(node.shape, node.dtype, nullptr);
    placed_.reductions[placed_.amid_count] = checked(i, placed_.amid_results[placed_.amid_count]);
    placed_.leaves[placed_.leaf_count] = {
        nullptr, static_cast<std::int64_t>(element_size(node.dtype)), {}};
    placed_.sources[placed_.leaf_count] = &placed_.amid_results[placed_.amid_count];
    ++placed_.amid_count;
    ++placed_.leaf_count;
  }
}

// Results of one node that are so few that bytes of all together are no overflow.
void CpuEvaluation::require_memory(unsigned index) const {
  const Node& node = nodes_[index];
  const std::int64_t most =
      (INT64_MAX / kMaxLeaves) / static_cast<std::int64_t>(element_size(node.dtype));
  if (count_of(node.shape) < most || is_empty(out_.view)) return;
  fail(TNR_STATUS_OUT_OF_MEMORY, "nodes[%u] has results of the shape %s, which fit no memory",
       index, shape_text(node.shape.rank, node.shape.extents).text);
}

void CpuEvaluation::require_broadcast(const Extents& shape) const {
  const tnr_view& out = out_.view;
  if (!broadcast_to(shape.rank, shape.extents, out.rank, out.shape)) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "the expression has the shape %s, which does not broadcast to %s of out",
       shape_text(shape.rank, shape.extents).text, shape_text(out.rank, out.shape).text);
}

// The shape and dtype of what node `index` reduces or normalizes.
tnr_view CpuEvaluation::operand_view(unsigned index) const noexcept {
  const NodeOperand& operand = nodes_[index].operands[0];
  if (operand.from == From::kView) return nodes_.view(operand.index);
  const Node& node = nodes_[operand.index];
  return row_major_view(node.shape, node.dtype, origin_of_computed());
}

void CpuEvaluation::check_last_normalization(const Node& last) {
  const auto given = static_cast<const tnr_normalize_attributes*>(last.attributes);
  normalization_ = readers_.normalize(given);
  check_normalization(static_cast<tnr_normalize_op>(last.op), operand_view(nodes_.count() - 1),
                      last.axes, normalization_, out_.view, out_.view.device);
  if (normalization_.weight != nullptr) pins_.add(*normalization_.weight, "weight");
  if (normalization_.bias != nullptr) pins_.add(*normalization_.bias, "bias");
}

CheckedReduction CpuEvaluation::checked(unsigned index, const tnr_view& out) const {
  return of_node(index, [&] { return checked_of(nodes_[index], index, out); });
}

CheckedReduction CpuEvaluation::checked_of(const Node& node, unsigned index,
                                           const tnr_view& out) const {
  const auto given = static_cast<const tnr_reduce_attributes*>(node.attributes);
  const tnr_reduce_attributes attributes = readers_.reduce(given);
  const auto op = static_cast<tnr_reduce_op>(node.op);
  const tnr_view a = operand_view(index);
  const Reduction reduction =
      checked_reduction(op, a, node.axes, attributes.ddof, attributes.power, out);
  if (!is_empty(out)) require_elements(op, a, node.axes);
  return {op, reduction, attributes.ddof, attributes.power};
}

Finding CpuEvaluation::write(unsigned root, const tnr_view_mut& out) noexcept {
  const std::uint64_t used = leaves_of(nodes_, root, placed_.leaf_of);
  placed_.set_steps(out.view.rank);
  return write_output(context_, nodes_, root, placed_.leaf_of, placed_.leaves, used, out,
                      placed_.bytes_of(used));
}

// The operand of node `index`, where it lies in memory; else nullptr.
const tnr_view* CpuEvaluation::stored_operand(unsigned index) const noexcept {
  const NodeOperand& operand = nodes_[index].operands[0];
  if (operand.from == From::kView) return &nodes_.view(operand.index);
  if (is_elementwise(nodes_[operand.index].kind)) return nullptr;
  return placed_.sources[placed_.leaf_of[operand.index]];
}

Finding CpuEvaluation::reduce(const CheckedReduction& by, unsigned index,
                              const tnr_view_mut& out) noexcept {
  const Node& node = nodes_[index];
  if (is_empty(out.view)) return kernels::kNothing;
  if (const tnr_view* const stored = stored_operand(index)) {
    walk_reduction(context_, by.reduction, *stored, node.axes, by.ddof, out, by.power);
    return kernels::kNothing;
  }
  const unsigned root = node.operands[0].index;
  const Extents& shape = nodes_[root].shape;
  placed_.set_steps(shape.rank);
  TileStepMemory memory;
  const TileSteps tile_steps(nodes_, root, placed_.leaf_of, repeated_in(shape.rank), 0, memory);
  const Computed computed(tile_steps, shape, placed_.leaves);
  walk_reduction(context_, by.reduction, operand_view(index), node.axes, by.ddof, out, by.power,
                 {.source = &computed});
  return computed.found();
}

// Leaves of one element.
std::uint64_t CpuEvaluation::repeated_in(std::uint32_t rank) const noexcept {
  std::uint64_t leaves = 0;
  for (unsigned leaf = 0; leaf < placed_.leaf_count; ++leaf) {
    const std::int64_t* const steps = placed_.leaves[leaf].steps;
    if (std::all_of(steps, steps + rank, [](std::int64_t step) { return step == 0; })) {
      leaves |= std::uint64_t{1} << leaf;
    }
  }
  return leaves;
}

Finding CpuEvaluation::run_last() {
  const unsigned index = nodes_.count() - 1;
  const Node& last = nodes_.last();
  if (is_elementwise(last.kind)) return write(index, out_);
  if (last.kind == ExpressionKind::kReduce) return reduce(last_reduction_, index, out_);
  return normalize_last(index);
}

// Elements that are computed first are normalized where they are written, if rows there have theirs
// in the order of a row-major tensor.
Finding CpuEvaluation::normalize_last(unsigned index) {
  const Node& last = nodes_[index];
  const auto op = static_cast<tnr_normalize_op>(last.op);
  if (const tnr_view* const stored = stored_operand(index)) {
    run_normalization(context_, op, *stored, last.axes, normalization_, out_);
    return kernels::kNothing;
  }
  const unsigned root = last.operands[0].index;
  if (is_in_order(out_.view, last.axes)) {
    const Finding found = write(root, out_);
    run_normalization(context_, op, out_.view, last.axes, normalization_, out_);
    return found;
  }
  const Scratch memory(element_count(out_.view),
                       static_cast<std::int64_t>(element_size(last.dtype)));
  const tnr_view_mut rows = {row_major_view(last.shape, last.dtype, memory.data())};
  const Finding found = write(root, rows);
  run_normalization(context_, op, rows.view, last.axes, normalization_, out_);
  return found;
}

// The reductions amid the expression, of whole tensors.
Finding CpuEvaluation::run_one_by_one() {
  std::int64_t bytes = 0;
  for (unsigned i = 0; i < placed_.amid_count; ++i) {
    bytes += whole_lines(static_cast<std::int64_t>(placed_.amid_results[i].size_bytes));
  }
  const Scratch results(static_cast<std::size_t>(bytes));
  Byte* place = results.data();
  unsigned found = kernels::kNothing;
  for (unsigned i = 0; i < placed_.amid_count; ++i) {
    placed_.set_results(i, place);
    place += whole_lines(static_cast<std::int64_t>(placed_.amid_results[i].size_bytes));
    found |= reduce(placed_.reductions[i], placed_.amid[i], {placed_.amid_results[i]});
  }
  return static_cast<Finding>(found | run_last());
}

}  // namespace tenure
