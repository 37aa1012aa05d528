// Shapes that steps decide, and the layouts and numbers that follow from them.
#include "program/found.hpp"

#include <algorithm>
#include <cinttypes>
#include <functional>

#include "memory/scratch.hpp"
#include "program/custom.hpp"
#include "program/run/frame.hpp"
#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/status.hpp"

namespace tenure {
namespace {

// A run's value is the first part of the planned memory along each axis: it has the dtype and the
// rank of its plan, and is no larger along any axis.
Refusal beyond_plan(const Graph& graph, std::uint32_t node, const ArrayType& type,
                    const ArrayType& planned) noexcept {
  if (type.dtype == planned.dtype && type.rank == planned.rank &&
      std::equal(type.shape, type.shape + type.rank, planned.shape, std::less_equal<>())) {
    return std::nullopt;
  }
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "nodes[%" PRIu32
                  "], %s: the result is %s of shape %s but memory is planned for %s of at most %s",
                  graph.nodes[node].number, operation_name(graph.nodes[node]),
                  dtype_name(type.dtype), shape_text(type.rank, type.shape).text,
                  dtype_name(planned.dtype), shape_text(planned.rank, planned.shape).text);
}

// The operands of a node, without memory where they are few.
class NodeOperands {
 public:
  NodeOperands(const Graph& graph, const GraphNode& node, const std::vector<ArrayType>& types)
      : operands_(operand_room(node)) {
    write_operands(graph, node, types, operands_.data());
  }

  [[nodiscard]] const OperandType* data() const noexcept { return operands_.data(); }

 private:
  FewOnStack<OperandType, 8> operands_;
};

// The type that the function of a custom operation gives. Throws where the function refuses.
ArrayType infer_given(const Graph& graph, const NodeCall& call, const OperandType* operands) {
  try {
    return infer_custom(call, operands);
  } catch (const Error& error) {
    throw node_error(error, graph, static_cast<std::uint32_t>(&call.node - graph.nodes.data()));
  }
}

// The extents of a node's result, whose dtype and rank are those of the plan.
Refusal adapted(const Graph& graph, const NodeCall& call, const OperandType* operands,
                const std::vector<ArrayType>& planned, ArrayType& type) {
  const OperationKind& kind = operation_of(call.node);
  if (kind.shape != nullptr) return kind.shape(call, operands, type);
  if (kind.adapt != nullptr) {
    return kind.adapt(call, operands, NodeOperands(graph, call.node, planned).data(), type);
  }
  return error_of(TNR_STATUS_UNSUPPORTED,
                  "its shapes follow from what a run finds, which no preallocated run takes");
}

}  // namespace

void Frame::prepare_findings(const Graph& graph, const Schedule& schedule) {
  types_ = schedule.types;
  for (const Step& step : schedule.steps) numbers_.push_back(step.numbers);
  for (const Finding& finding : schedule.findings) {
    if (finding.step != Finding::kNoStep) {
      const GraphNode& node = graph.nodes[finding.node];
      for (std::uint32_t i = 0; i < node.result_count; ++i) found_.push_back(node.result + i);
    }
    for (const Finding::Node& decided : finding.nodes) {
      const GraphNode& node = graph.nodes[decided.node];
      for (std::uint32_t i = 0; i < node.result_count; ++i) found_.push_back(node.result + i);
    }
    for (const Finding::Copy& copy : finding.copies) found_.push_back(copy.place);
  }
}

Refusal Frame::begin(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                     const Graph& around, const Frame& of_around) {
  if (schedule.findings.empty() || schedule.findings[0].step != Finding::kNoStep) [[likely]]
    return std::nullopt;
  if (schedule.has_found_around) {
    if (Refusal refusal = sizes_.set_around(graph, around, of_around.sizes_)) return refusal;
  }
  return decide(run, graph, schedule, schedule.findings[0]);
}

void Frame::hand_over(std::uint32_t value, const tnr_view& given) {
  views_[value] = given;
  views_[value].owner = 0;  // the run has pinned it
  types_[value] = type_of(given);
}

// Forgets the counts of the last run: places are as they were planned.
void Frame::forget(const Schedule& schedule) {
  sizes_ = schedule.sizes;
  for (const std::uint32_t place : found_) (void)set_block(schedule, place);
}

// The first part of the place, whose strides stay.
void Frame::set_shape(std::uint32_t place, const ArrayType& type) noexcept {
  tnr_view& view = views_[place];
  std::copy_n(type.shape, type.rank, view.shape);
  if (!is_empty(view)) return;
  // The memory of an empty view begins at its `data`.
  view.size_bytes -= static_cast<std::uint64_t>(static_cast<const char*>(view.data) -
                                                static_cast<const char*>(view.base));
  view.base = view.data;
}

// The place has this type, in row-major order; in an output it is the first part of the caller's.
void Frame::shrink(const Schedule& schedule, std::uint32_t place, const ArrayType& type) {
  set_shape(place, type);
  tnr_view& view = views_[place];
  if (schedule.places[place].storage != Storage::kBlock) return;
  const tnr_view adjacent = unbacked_view(type);
  std::copy_n(adjacent.strides, type.rank, view.strides);
}

// The type of the node's result at the sizes so far, in a run that asks for no memory.
Refusal Frame::decide_type(const Graph& graph, const Schedule& schedule, std::uint32_t index,
                           ArrayType& type) const {
  const GraphNode& node = graph.nodes[index];
  std::int64_t numbers[TNR_MAX_RANK];
  sizes_.write_all(node.numbers, numbers);
  const NodeCall call = {node, numbers};
  const NodeOperands operands(graph, node, types_);
  if (node.custom != nullptr) {
    type = infer_given(graph, call, operands.data());
    return std::nullopt;
  }
  type = schedule.types[node.result];
  Refusal refusal = adapted(graph, call, operands.data(), schedule.types, type);
  if (!refusal) [[likely]]
    return std::nullopt;
  return node_error(*refusal, graph, index);
}

// Sets the type of the node's result if its plan has room for it: a function of a custom operation
// may give another answer than before.
Refusal Frame::infer_decided(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                             std::uint32_t index) {
  const GraphNode& node = graph.nodes[index];
  ArrayType type;
  if (!run.is_quiet()) {
    type = infer_result(graph, node, sizes_, types_);
  } else if (Refusal refusal = decide_type(graph, schedule, index, type)) {
    return refusal;
  }
  if (Refusal refusal = beyond_plan(graph, index, type, schedule.types[node.result])) [[unlikely]]
    return refusal;
  types_[node.result] = type;
  return std::nullopt;
}

Refusal Frame::set_decided(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                           const Finding::Node& decided) {
  const GraphNode& node = graph.nodes[decided.node];
  if (Refusal refusal = infer_decided(run, graph, schedule, decided.node)) return refusal;
  if (decided.seen == kNoValue) {
    shrink(schedule, node.result, types_[node.result]);
    return std::nullopt;
  }
  // A copy of the operand has its type.
  if (decided.seen != node.operands[0]) shrink(schedule, decided.seen, types_[node.operands[0]]);
  std::int64_t numbers[TNR_MAX_RANK];
  sizes_.write_all(node.numbers, numbers);
  views_[node.result] = operation_of(node).view({node, numbers}, views_[decided.seen]);
  return std::nullopt;
}

Refusal Frame::decide(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                      const Finding& finding) {
  for (const Finding::Node& decided : finding.nodes) {
    if (Refusal refusal = set_decided(run, graph, schedule, decided)) return refusal;
  }
  for (const Finding::Copy& copy : finding.copies) {
    shrink(schedule, copy.place, types_[copy.value]);
  }
  for (const std::uint32_t at : finding.steps) {
    sizes_.write_all(graph.nodes[schedule.steps[at].node].numbers, numbers_[at].data());
  }
  return std::nullopt;
}

Refusal Frame::check_found(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                           std::size_t step) {
  return run.is_quiet() ? infer_decided(run, graph, schedule, schedule.steps[step].node)
                        : std::nullopt;
}

Refusal Frame::set_found(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                         std::size_t step, std::int64_t count) {
  const Finding& finding = *std::ranges::find(schedule.findings, step, &Finding::step);
  const GraphNode& node = graph.nodes[finding.node];
  if (Refusal refusal = sizes_.set_found(graph, node, count)) [[unlikely]]
    return node_error(*refusal, graph, finding.node);
  if (Refusal refusal = infer_decided(run, graph, schedule, finding.node)) return refusal;
  shrink(schedule, node.result, types_[node.result]);
  return decide(run, graph, schedule, finding);
}

Refusal Frame::set_given(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                         std::size_t step) {
  const auto finding = std::ranges::find(schedule.findings, step, &Finding::step);
  if (finding == schedule.findings.end()) return std::nullopt;
  const GraphNode& node = graph.nodes[finding->node];
  for (std::uint32_t value = node.result; value < node.result + node.result_count; ++value) {
    types_[value] = type_of(views_[value]);
  }
  return decide(run, graph, schedule, *finding);
}

}  // namespace tenure
