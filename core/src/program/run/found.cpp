// Shapes that steps decide, and the layouts and numbers that follow from them.
#include "program/found.hpp"

#include <algorithm>
#include <cinttypes>

#include "program/run/frame.hpp"
#include "program/unbacked.hpp"
#include "tenure/shape.hpp"
#include "tenure/status.hpp"

namespace tenure {
namespace {

// A run's value is no larger than its plan along any axis: it is the first part of the planned
// memory along each.
void require_planned(const Graph& graph, std::uint32_t node, const ArrayType& type,
                     const ArrayType& planned) {
  for (std::uint32_t axis = 0; axis < type.rank; ++axis) {
    if (type.shape[axis] <= planned.shape[axis]) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "nodes[%" PRIu32
         "], %s: the result has shape %s but memory is planned for %s, which the "
         "most that may be found give",
         node, operation_name(graph.nodes[node]), shape_text(type.rank, type.shape).text,
         shape_text(planned.rank, planned.shape).text);
  }
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

void Frame::begin(const Graph& graph, const Schedule& schedule, const Graph& around,
                  const Frame& of_around) {
  if (schedule.has_found_around) sizes_.set_around(graph, around, of_around.sizes_);
  if (!schedule.findings.empty() && schedule.findings[0].step == Finding::kNoStep) {
    decide(graph, schedule, schedule.findings[0]);
  }
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
  // Its first element, of which there is none, is where its memory begins.
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

void Frame::set_decided(const Graph& graph, const Schedule& schedule,
                        const Finding::Node& decided) {
  const GraphNode& node = graph.nodes[decided.node];
  infer(graph, node, sizes_, types_);
  for (std::uint32_t value = node.result; value < node.result + node.result_count; ++value) {
    require_planned(graph, decided.node, types_[value], schedule.types[value]);
    if (decided.seen == kNoValue) shrink(schedule, value, types_[value]);
  }
  if (decided.seen == kNoValue) return;
  // A copy of the operand has its type.
  if (decided.seen != node.operands[0]) shrink(schedule, decided.seen, types_[node.operands[0]]);
  const std::vector<std::int64_t> numbers = sizes_.of_all(node.numbers);
  views_[node.result] = operation_of(node).view({node, numbers.data()}, views_[decided.seen]);
}

void Frame::decide(const Graph& graph, const Schedule& schedule, const Finding& finding) {
  for (const Finding::Node& decided : finding.nodes) set_decided(graph, schedule, decided);
  for (const Finding::Copy& copy : finding.copies) {
    shrink(schedule, copy.place, types_[copy.value]);
  }
  for (const std::uint32_t at : finding.steps) {
    numbers_[at] = sizes_.of_all(graph.nodes[schedule.steps[at].node].numbers);
  }
}

void Frame::set_found(const Graph& graph, const Schedule& schedule, std::size_t step,
                      std::int64_t count) {
  const Finding& finding = *std::ranges::find(schedule.findings, step, &Finding::step);
  const GraphNode& node = graph.nodes[finding.node];
  infer_found(graph, node, count, sizes_, types_);
  shrink(schedule, node.result, types_[node.result]);
  decide(graph, schedule, finding);
}

void Frame::set_given(const Graph& graph, const Schedule& schedule, std::size_t step) {
  const auto finding = std::ranges::find(schedule.findings, step, &Finding::step);
  if (finding == schedule.findings.end()) return;
  const GraphNode& node = graph.nodes[finding->node];
  for (std::uint32_t value = node.result; value < node.result + node.result_count; ++value) {
    types_[value] = type_of(views_[value]);
  }
  decide(graph, schedule, *finding);
}

}  // namespace tenure
