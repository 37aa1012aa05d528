#include "program/run/frame.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <optional>

#include "expression/evaluation.hpp"
#include "program/control.hpp"
#include "program/debug/non_finite.hpp"
#include "program/expressions.hpp"
#include "program/found.hpp"
#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"
#include "tenure/expression.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/status.hpp"
#include "tenure/view.hpp"

namespace tenure {

void Frame::set_data(tnr_view& view, const Placed& placed, const tnr_view& memory) noexcept {
  view.base = memory.base;
  view.size_bytes = memory.size_bytes;
  view.owner = 0;  // the run has pinned it
  view.data =
      is_empty(view) ? memory.base : static_cast<const char*>(memory.data) + placed.offset_bytes;
}

tnr_view& Frame::set_block(const Schedule& schedule, std::uint32_t place) noexcept {
  const Placed& placed = schedule.places[place];
  views_[place] = placed.layout;
  if (placed.storage != Storage::kBlock) return views_[place];
  tnr_view memory{};
  memory.base = memory.data =
      static_cast<const char*>(block_) + schedule.memory.offsets[placed.index];
  memory.size_bytes = static_cast<std::uint64_t>(schedule.memory.sizes[placed.index]);
  set_data(views_[place], placed, memory);
  return views_[place];
}

Frame::Frame(const Graph& graph, const Schedule& schedule, const void* block)
    : block_(block), views_(schedule.places.size()) {
  for (std::uint32_t i = 0; i < views_.size(); ++i) {
    const Placed& placed = schedule.places[i];
    tnr_view& view = set_block(schedule, i);
    if (placed.storage == Storage::kConstant) {
      set_data(view, placed, graph.constants[placed.index]->view());
    } else if (placed.storage == Storage::kInput || placed.storage == Storage::kOutput) {
      changing_.push_back(i);
    }
  }
  for (const Step& step : schedule.steps) {
    steps_.push_back({pointers_.size(), bodies_.size()});
    for (const std::uint32_t place : step.operands) {
      const bool is_given = place != kNoValue;
      const tnr_scalar* const scalar =
          is_given && place < graph.values.size() ? graph.scalar_of(place) : nullptr;
      pointers_.push_back(is_given && scalar == nullptr ? &views_[place] : nullptr);
      operands_.push_back({pointers_.back(), scalar});
    }
    for (std::size_t i = 0; i < step.bodies.size(); ++i) {
      bodies_.emplace_back(graph.nodes[step.node].bodies[i]->graph, *step.bodies[i],
                           view(step.owned[Control::kBlock]).data);
    }
  }
  if (!schedule.findings.empty()) prepare_findings(graph, schedule);
}

[[gnu::cold]] Error node_error(const Error& error, const Graph& graph,
                               std::uint32_t node) noexcept {
  return error_of(error.status(), "nodes[%" PRIu32 "], %s: %s", graph.nodes[node].number,
                  operation_name(graph.nodes[node]), error.message());
}

namespace {

[[gnu::cold]] Error body_error(const Error& error, std::int64_t number) noexcept {
  return error_of(error.status(), "subgraphs[%" PRId64 "], %s", number, error.message());
}

// Computes one of a node's bodies. Errors name it.
template <class InputOf, class OutputOf>
Refusal run_body(const ProgramRun& run, const Graph& around, const Step& step, Frame& frame,
                 std::size_t index, std::size_t body, const InputOf& input_of,
                 const OutputOf& output_of) {
  const GraphNode& node = around.nodes[step.node];
  const Graph& graph = node.bodies[body]->graph;
  const Schedule& schedule = *step.bodies[body];
  Frame& inner = frame.body(index, body);
  inner.set_memory(schedule, input_of, output_of);
  try {
    Refusal refusal = inner.begin(run, graph, schedule, around, frame);
    if (!refusal) refusal = run_steps(run, graph, schedule, inner);
    if (!refusal) [[likely]]
      return std::nullopt;
    return body_error(*refusal, node.numbers[body]);
  } catch (const Error& error) {
    throw body_error(error, node.numbers[body]);
  }
}

// The type of what a body has computed.
const ArrayType& given_by(const Graph& around, const Step& step, Frame& frame, std::size_t index,
                          std::size_t body, std::uint32_t output) noexcept {
  const Graph& graph = around.nodes[step.node].bodies[body]->graph;
  return frame.body(index, body).output_type(graph, *step.bodies[body], output);
}

[[gnu::cold]] Error count_error(const Graph& graph, std::uint32_t node,
                                std::int64_t count) noexcept {
  const Extent& extent = extent_of(graph, graph.nodes[node]);
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "nodes[%" PRIu32 "], %s: %" PRId64 " are found but %s is at most %" PRId64,
                  graph.nodes[node].number, operation_name(graph.nodes[node]), count, extent.name,
                  extent.a);
}

// The share of the most that nodes find in a round: all, one less, and by halves.
std::int64_t rehearsed_count(std::uint32_t round, std::int64_t most) noexcept {
  if (round == 1) return std::max<std::int64_t>(most - 1, 0);
  return most >> (round == 0 ? 0 : round - 1);
}

// How many it finds. A rehearsal has zeros for that many.
std::int64_t find(const ProgramRun& run, const NodeCall& call, const OperandView* operands,
                  const tnr_view_mut& out) {
  const std::int64_t count = operation_of(call.node).find(run.context, call, operands, out);
  if (!run.is_rehearsal()) [[likely]]
    return count;
  tnr_view part = out.view;
  part.shape[0] = rehearsed_count(run.round, part.shape[0]);
  // Row-major: the first part is in one piece. Without elements its memory may be NULL.
  const std::size_t bytes =
      static_cast<std::size_t>(element_count(part)) * element_size(part.dtype);
  if (bytes != 0) std::memset(const_cast<void*>(part.data), 0, bytes);
  return part.shape[0];
}

bool is_true(const tnr_view& verdict) noexcept {
  return *static_cast<const std::uint8_t*>(verdict.data) != 0;
}

// The error of a verdict that has no element, as a run decides its shape.
[[gnu::cold]] Error verdict_error(const char* name) noexcept {
  return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s has no element", name);
}

Refusal run_cond(const ProgramRun& run, const Graph& graph, const Step& step, Frame& frame,
                 std::size_t index) {
  const tnr_view* const* const operands = frame.pointers(index);
  if (is_empty(*operands[0])) [[unlikely]]
    return verdict_error("operands[0]");
  const auto take = [&](std::size_t body) -> Refusal {
    Refusal refusal = run_body(
        run, graph, step, frame, index, body,
        [&](std::uint32_t i) -> const tnr_view& { return *operands[1 + i]; },
        [&](std::uint32_t i) -> const tnr_view& { return frame.view(step.result + i); });
    if (refusal) [[unlikely]]
      return refusal;
    for (std::uint32_t i = 0; i < step.result_count; ++i) {
      frame.set_shape(step.result + i, given_by(graph, step, frame, index, body, i));
    }
    return std::nullopt;
  };
  const std::size_t taken = is_true(*operands[0]) ? 0 : 1;
  if (run.is_rehearsal()) {
    if (Refusal refusal = take(1 - taken)) return refusal;
  }
  return take(taken);
}

// The refusal of a body, with the iteration where the run looks for the node that gives a NaN.
[[gnu::cold]] Refusal iteration_refusal(const ProgramRun& run, const Error& error,
                                        std::int64_t iteration) noexcept {
  if (run.refused == 0) return error;
  return error_of(error.status(), "iteration %" PRId64 ", %s", iteration, error.message());
}

// The state is read where the operands are, and then where the last iteration has written it.
Refusal run_while(const ProgramRun& run, const Graph& graph, const Step& step, Frame& frame,
                  std::size_t index, std::int64_t limit) {
  constexpr std::int64_t kRehearsed = 2;  // both places are written, and one is copied
  const tnr_view* const* const operands = frame.pointers(index);
  std::int64_t done = 0;
  const auto place_of = [&](std::int64_t iteration, std::uint32_t i) {
    return iteration % 2 == 0 ? step.result + i : step.owned[Control::kStates + i];
  };
  const auto written_by = [&](std::int64_t iteration, std::uint32_t i) -> const tnr_view& {
    return frame.view(place_of(iteration, i));
  };
  const auto state = [&](std::uint32_t i) -> const tnr_view& {
    return done == 0 || i >= step.result_count ? *operands[i] : written_by(done - 1, i);
  };
  for (;; ++done) {
    const tnr_view& verdict = frame.view(step.owned[Control::kVerdict]);
    if (Refusal refusal = run_body(run, graph, step, frame, index, Control::kCondition, state,
                                   [&](std::uint32_t) -> const tnr_view& { return verdict; }))
        [[unlikely]] {
      return iteration_refusal(run, *refusal, done);
    }
    const ArrayType& given = given_by(graph, step, frame, index, Control::kCondition, 0);
    if (std::count(given.shape, given.shape + given.rank, 0) != 0) [[unlikely]]
      return verdict_error("outputs[0] of the condition");
    if (run.is_rehearsal() ? done == kRehearsed : !is_true(verdict)) break;
    if (!run.is_rehearsal() && done == limit) [[unlikely]] {
      return error_of(TNR_STATUS_INVALID_ARGUMENT,
                      "a loop that does not end: its condition holds after %" PRId64
                      " iterations, which are its limit",
                      limit);
    }
    if (Refusal refusal = run_body(
            run, graph, step, frame, index, Control::kIteration, state,
            [&](std::uint32_t i) -> const tnr_view& { return written_by(done, i); })) [[unlikely]] {
      return iteration_refusal(run, *refusal, done);
    }
    for (std::uint32_t i = 0; i < step.result_count; ++i) {
      frame.set_shape(place_of(done, i),
                      given_by(graph, step, frame, index, Control::kIteration, i));
    }
  }
  if (done % 2 != 0) return std::nullopt;
  for (std::uint32_t i = 0; i < step.result_count; ++i) {
    frame.set_shape(step.result + i, type_of(state(i)));
    tnr_view_mut out = {frame.view(step.result + i)};
    out.view.flags = TNR_VIEW_EXCLUSIVE;
    if (state(i).data != out.view.data) copy(run.context, state(i), out);
  }
  return std::nullopt;
}

}  // namespace

Refusal run_step(const ProgramRun& run, const Graph& graph, const Schedule& schedule, Frame& frame,
                 std::size_t index) {
  const Step& step = schedule.steps[index];
  const tnr_view* const* const views = frame.pointers(index);
  tnr_view_mut out = {frame.view(step.result)};
  // Whatever it shares a byte with, it is exactly: outputs were checked, and the block is planned.
  out.view.flags = TNR_VIEW_EXCLUSIVE;
  std::optional<std::int64_t> found;
  try {
    switch (step.kind) {
      case Step::Kind::kCopy: copy(run.context, *views[0], out); break;
      case Step::Kind::kExpression:
        if (step.prepared != nullptr) [[likely]] {
          step.prepared->run_checked(run.context, views, out);
        } else {
          evaluate(run.context, step.expression->over(views), kOwnReaders, out);
        }
        break;
      case Step::Kind::kOperation: {
        const GraphNode& node = graph.nodes[step.node];
        const NodeCall call = {node, frame.numbers(schedule, index), run.is_checked};
        if (finds_extent(node)) [[unlikely]] {
          if (Refusal refusal = frame.check_found(run, graph, schedule, index)) return refusal;
          found = find(run, call, frame.operands(index), out);
          if (*found > out.view.shape[0]) return count_error(graph, step.node, *found);
        } else {
          operation_of(node).run(run.context, call, frame.operands(index), out);
        }
        break;
      }
      case Step::Kind::kControl: {
        const GraphNode& node = graph.nodes[step.node];
        Refusal refusal = is_while(node)
                              ? run_while(run, graph, step, frame, index,
                                          frame.numbers(schedule, index)[Control::kLimit])
                              : run_cond(run, graph, step, frame, index);
        if (refusal) [[unlikely]]
          return node_error(*refusal, graph, step.node);
        break;
      }
    }
  } catch (const Error& error) {
    if (step.node == kNoValue) throw;
    throw node_error(error, graph, step.node);
  }
  if (run.is_quiet()) [[unlikely]] {
    // A rehearsal runs on zeros and accepts all findings in them.
    Refusal refusal = run.findings->take();
    if (refusal && !run.is_rehearsal()) return node_error(*refusal, graph, step.node);
  }
  Refusal refusal;
  // Errors that later nodes have of this count name them.
  if (found) refusal = frame.set_found(run, graph, schedule, index, *found);
  if (step.kind == Step::Kind::kControl) refusal = frame.set_given(run, graph, schedule, index);
  if (run.refused == 0 || refusal) [[likely]]
    return refusal;
  refusal = non_finite_refusal(run.context, run.refused, graph, step, frame.views());
  return refusal ? node_error(*refusal, graph, step.node) : refusal;
}

Refusal run_steps(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                  Frame& frame) {
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    if (Refusal refusal = run_step(run, graph, schedule, frame, i)) [[unlikely]]
      return refusal;
  }
  return std::nullopt;
}

}  // namespace tenure
