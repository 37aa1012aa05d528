#include "program/program.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <mutex>

#include "dense/operands.hpp"
#include "program/builder.hpp"
#include "program/report.hpp"
#include "program/rewrite.hpp"
#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

constexpr ProgramHandles kProgramHandles(program_table, "program", "program");

constexpr std::uint32_t kAllPasses =
    TNR_PASS_DEAD_CODE | TNR_PASS_COMMON_SUBEXPRESSIONS | TNR_PASS_CONSTANT_FOLDING |
    TNR_PASS_EPILOGUES | TNR_PASS_FUSION | TNR_PASS_IN_PLACE | TNR_PASS_MEMORY | TNR_PASS_LAYOUT;

// "inputs[7]", for messages.
struct Name {
  char text[24];
};
Name name_of(const char* array, std::uint32_t index) noexcept {
  Name name;
  std::snprintf(name.text, sizeof name.text, "%s[%" PRIu32 "]", array, index);
  return name;
}

// Does what may refuse: the name is made where it did, for a second time.
template <class Step>
void named(const char* array, std::size_t index, const Step& step) {
  try {
    step("");
  } catch (const Error&) {
    step(name_of(array, static_cast<std::uint32_t>(index)).text);
  }
}

// Of a graph, and of the bodies in its nodes.
void add_constants(const Graph& graph, std::vector<const Constant*>& constants) {
  for (const auto& constant : graph.constants) constants.push_back(constant.get());
  for (const GraphNode& node : graph.nodes) {
    for (const auto& body : node.bodies) add_constants(body->graph, constants);
  }
}

template <class View>
void require_views(const View* const* views, std::uint32_t count, const char* name) {
  if (views == nullptr && count != 0) fail(TNR_STATUS_INVALID_ARGUMENT, "%s is NULL", name);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (views[i] == nullptr) fail(TNR_STATUS_INVALID_ARGUMENT, "%s is NULL", name_of(name, i).text);
  }
}

}  // namespace

// ---- workspaces --------------------------------------------------------------------------------

void Workspace::keep_scratch() noexcept {
  const std::size_t peak_bytes = scratch_->peak_bytes();
  if (kSanitized || peak_bytes <= scratch_->size_bytes()) return;
  try {
    scratch_ = std::make_unique<ScratchArena>(peak_bytes);
  } catch (...) {
    // The next run asks for it again.
  }
}

// ---- schedules ---------------------------------------------------------------------------------

Bound::Bound(const Graph& graph, const std::vector<bool>& needed, std::uint32_t disabled_passes,
             const tnr_view* const* inputs, std::uint32_t input_count,
             const tnr_view_mut* const* outputs, std::uint32_t output_count)
    : schedule_(tenure::schedule(graph, needed, disabled_passes, Sizes(graph, inputs, input_count),
                                 inputs, outputs)) {
  for (std::uint32_t i = 0; i < input_count; ++i) inputs_.push_back(*inputs[i]);
  for (std::uint32_t i = 0; i < output_count; ++i) {
    outputs_.push_back(outputs == nullptr ? unbacked_view(schedule_.outputs[i]) : outputs[i]->view);
  }
}

Bound::~Bound() { delete idle_.load(std::memory_order_acquire); }

bool Bound::is_for(const tnr_view* const* inputs,
                   const tnr_view_mut* const* outputs) const noexcept {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!has_layout(*inputs[i], inputs_[i])) return false;
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs == nullptr ? !is_row_major(outputs_[i])
                           : !has_layout(outputs[i]->view, outputs_[i])) {
      return false;
    }
  }
  return true;
}

std::unique_ptr<Workspace> Bound::take_workspace(const Graph& graph) const {
  // Acquire: what its last run wrote.
  std::unique_ptr<Workspace> idle(idle_.exchange(nullptr, std::memory_order_acq_rel));
  return idle != nullptr ? std::move(idle) : std::make_unique<Workspace>(graph, schedule_);
}

void Bound::give_workspace(std::unique_ptr<Workspace> workspace) const noexcept {
  const std::size_t asked = workspace->scratch().peak_bytes();
  std::size_t known = scratch_bytes_.load(std::memory_order_relaxed);
  while (known < asked && !scratch_bytes_.compare_exchange_weak(known, asked)) {
  }
  workspace->keep_scratch();
  // Another run may have left one: one of both is enough.
  const std::unique_ptr<Workspace> other(
      idle_.exchange(workspace.release(), std::memory_order_acq_rel));
}

// ---- programs ----------------------------------------------------------------------------------

Program::Program(const Context& context, const Graph& graph, const std::vector<ArrayType>& types,
                 std::uint32_t disabled_passes)
    : graph_(graph), disabled_passes_(disabled_passes) {
  if ((disabled_passes & ~kAllPasses) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->disabled_passes is 0x%" PRIx32 ", of which bits are unknown",
         disabled_passes);
  }
  if (graph.outputs.empty()) fail(TNR_STATUS_INVALID_ARGUMENT, "the graph has no output");
  for (std::size_t i = 0; i < graph.extents.size(); ++i) {
    if (graph.extents[i].op != 0) continue;
    const std::int64_t number = TNR_EXTENT + static_cast<std::int64_t>(i);
    if (std::ranges::none_of(graph.inputs, [=](const GraphInput& input) {
          return std::ranges::find(input.shape, number) != input.shape.end();
        })) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "the extent %s is that of no input", graph.extents[i].name);
    }
  }
  needed_ = rewrite(context, graph_, types, disabled_passes);
  add_constants(graph_, constants_);
}

void Program::check_inputs(const tnr_view* const* inputs, std::uint32_t input_count) const {
  if (input_count != graph_.inputs.size()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "input_count is %" PRIu32 " but the program has %zu",
         input_count, graph_.inputs.size());
  }
  require_views(inputs, input_count, "inputs");
  for (std::uint32_t i = 0; i < input_count; ++i) {
    named("inputs", i, [&](const char* name) { check_view(*inputs[i], name); });
  }
}

std::shared_ptr<const Bound> Program::find_for(const tnr_view* const* inputs,
                                               std::uint32_t input_count) const {
  check_inputs(inputs, input_count);
  return find(inputs, input_count, nullptr, static_cast<std::uint32_t>(graph_.outputs.size()));
}

std::shared_ptr<const Bound> Program::find(const tnr_view* const* inputs, std::uint32_t input_count,
                                           const tnr_view_mut* const* outputs,
                                           std::uint32_t output_count) const {
  {
    const std::lock_guard lock(mutex_);
    for (auto at = bound_.end(); at != bound_.begin();) {
      --at;
      if (!(*at)->is_for(inputs, outputs)) continue;
      std::rotate(at, at + 1, bound_.end());
      return bound_.back();
    }
  }
  auto made = std::make_shared<const Bound>(graph_, needed_, disabled_passes_, inputs, input_count,
                                            outputs, output_count);
  const std::lock_guard lock(mutex_);
  if (bound_.size() == kMostBound) bound_.erase(bound_.begin());
  bound_.push_back(made);
  return made;
}

ProgramShape Program::output_shape(const tnr_view* const* inputs, std::uint32_t input_count,
                                   std::uint32_t output) const {
  const auto bound = find_for(inputs, input_count);
  if (output >= graph_.outputs.size()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "output is %" PRIu32 " but the program has %zu", output,
         graph_.outputs.size());
  }
  const ArrayType& type = bound->schedule().outputs[output];
  ProgramShape shape = {type.dtype, type.rank, {}};
  std::copy_n(type.shape, type.rank, shape.extents);
  return shape;
}

tnr_memory_plan Program::memory(const tnr_view* const* inputs, std::uint32_t input_count) const {
  const auto bound = find_for(inputs, input_count);
  const MemoryPlan& memory = bound->schedule().memory;
  tnr_memory_plan plan{};
  plan.struct_size = sizeof plan;
  plan.peak_bytes = static_cast<std::uint64_t>(memory.block_bytes);
  plan.live_bytes = static_cast<std::uint64_t>(memory.live_bytes);
  plan.total_bytes = static_cast<std::uint64_t>(memory.total_bytes);
  plan.scratch_bytes = bound->scratch_bytes();
  plan.step_count = static_cast<std::uint32_t>(bound->schedule().steps.size());
  return plan;
}

tnr_step_info Program::describe_step(const tnr_view* const* inputs, std::uint32_t input_count,
                                     std::uint32_t step) const {
  const auto bound = find_for(inputs, input_count);
  const Schedule& schedule = bound->schedule();
  if (step >= schedule.steps.size()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "step is %" PRIu32 " but the program has %zu", step,
         schedule.steps.size());
  }
  return tenure::describe_step(graph_, schedule, step);
}

void Program::check_outputs(const Schedule& schedule, const tnr_view* const* inputs,
                            const tnr_view_mut* const* outputs) const {
  for (std::uint32_t i = 0; i < graph_.outputs.size(); ++i) {
    const tnr_view& out = outputs[i]->view;
    const ArrayType& type = schedule.outputs[i];
    if (!(type_of(out) == type)) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "outputs[%" PRIu32 "] is %s of shape %s but the program gives %s of shape %s", i,
           dtype_name(out.dtype), shape_text(out.rank, out.shape).text, dtype_name(type.dtype),
           shape_text(type.rank, type.shape).text);
    }
    for (std::uint32_t j = 0; j < graph_.inputs.size(); ++j) {
      const Alias alias = alias_of(out, *inputs[j]);
      if (alias == Alias::kNone || (alias == Alias::kSame && graph_.outputs[i].updates == j)) {
        continue;
      }
      fail(TNR_STATUS_ALIASED,
           "outputs[%" PRIu32 "] %s inputs[%" PRIu32 "], which it does not update", i,
           alias == Alias::kUndecided ? "may share a byte with" : "shares a byte with", j);
    }
    for (std::uint32_t j = 0; j < i; ++j) {
      if (alias_of(out, outputs[j]->view) == Alias::kNone) continue;
      fail(TNR_STATUS_ALIASED, "outputs[%" PRIu32 "] may share a byte with outputs[%" PRIu32 "]", i,
           j);
    }
  }
}

namespace {

// Pins what the views of a call and the constants of a graph have for owners, and then calls
// `body`: as many at once as a Pins has room for, so that nothing is allocated.
template <class NextOwned, class Body>
void with_pinned(const NextOwned& next_owned, std::size_t at, const Body& body) {
  Pins pins;
  for (unsigned count = 0; count <= TNR_MAX_EXPRESSION_VIEWS; ++count) {
    if (!next_owned(at, pins)) return body();
  }
  with_pinned(next_owned, at, body);
}

}  // namespace

void Program::run(const Context& context, const tnr_view* const* inputs, std::uint32_t input_count,
                  const tnr_program_run_attributes& attributes, const tnr_view_mut* const* outputs,
                  std::uint32_t output_count) const {
  if ((attributes.flags & ~TNR_RUN_CHECKED) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->flags is 0x%" PRIx32 " but only 0x%x is known",
         attributes.flags, TNR_RUN_CHECKED);
  }
  check_inputs(inputs, input_count);
  if (output_count != graph_.outputs.size()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "output_count is %" PRIu32 " but the program has %zu",
         output_count, graph_.outputs.size());
  }
  require_views(outputs, output_count, "outputs");
  for (std::uint32_t i = 0; i < output_count; ++i) {
    named("outputs", i, [&](const char* name) { check_view_mut(*outputs[i], name); });
  }
  const std::shared_ptr<const Bound> bound = find(inputs, input_count, outputs, output_count);
  const Schedule& schedule = bound->schedule();
  check_outputs(schedule, inputs, outputs);
  const std::uint64_t budget_bytes = attributes.budget_bytes;
  if (budget_bytes != 0 && static_cast<std::uint64_t>(schedule.memory.block_bytes) > budget_bytes) {
    fail(TNR_STATUS_OUT_OF_MEMORY,
         "intermediate values take %" PRId64 " bytes but the budget is %" PRIu64,
         schedule.memory.block_bytes, budget_bytes);
  }
  const std::size_t expected = attributes.step_nanoseconds == nullptr ? 0 : schedule.steps.size();
  if (attributes.step_count != expected) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->step_count is %" PRIu32 " but must be %zu",
         attributes.step_count, expected);
  }
  // Inputs, outputs, constants, in this order.
  const auto pin_next = [&](std::size_t& at, Pins& pins) {
    const std::size_t all = input_count + output_count + constants_.size();
    while (at < all) {
      const std::size_t i = at++;
      if (i < input_count) {
        if (inputs[i]->owner == 0) continue;
        named("inputs", i, [&](const char* name) { pins.add(*inputs[i], name); });
      } else if (i < input_count + output_count) {
        const std::size_t output = i - input_count;
        if (outputs[output]->view.owner == 0) continue;
        named("outputs", output, [&](const char* name) { pins.add_mut(*outputs[output], name); });
      } else {
        const std::size_t constant = i - input_count - output_count;
        named("constants", constant,
              [&](const char* name) { pins.add(constants_[constant]->view(), name); });
      }
      return true;
    }
    return false;
  };
  with_pinned(pin_next, 0, [&] {
    std::unique_ptr<Workspace> workspace = bound->take_workspace(graph_);
    Frame& frame = workspace->frame();
    frame.set_memory(
        schedule, [=](std::uint32_t i) -> const tnr_view& { return *inputs[i]; },
        [=](std::uint32_t i) -> const tnr_view& { return outputs[i]->view; });
    try {
      const ScratchArena::Use scratch(&workspace->scratch());
      const Run run = {context, (attributes.flags & TNR_RUN_CHECKED) != 0};
      compute(run, schedule, frame, attributes.step_nanoseconds);
    } catch (...) {
      bound->give_workspace(std::move(workspace));
      throw;
    }
    bound->give_workspace(std::move(workspace));
  });
}

void Program::compute(const Run& run, const Schedule& schedule, Frame& frame,
                      std::uint64_t* step_nanoseconds) const {
  if (step_nanoseconds == nullptr) return run_steps(run, graph_, schedule, frame);
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const auto start = Clock::now();
    run_step(run, graph_, schedule, frame, i);
    const auto taken = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
    step_nanoseconds[i] = static_cast<std::uint64_t>(taken.count());
  }
}

ProgramToken program_create(const Context& context, GraphToken graph,
                            std::uint32_t disabled_passes) {
  const GraphHandles::Use use(kGraphHandles, graph);
  const std::lock_guard lock(use.object().mutex);
  const GraphBuilder& builder = use.object().builder;
  return kProgramHandles.open(
      std::make_unique<const Program>(context, builder.graph(), builder.types(), disabled_passes));
}

void program_retain(ProgramToken token) { kProgramHandles.retain(token); }

void program_release(ProgramToken token) { kProgramHandles.release(token); }

ProgramShape program_output_shape(ProgramToken token, const tnr_view* const* inputs,
                                  std::uint32_t input_count, std::uint32_t output) {
  const ProgramHandles::Use program(kProgramHandles, token);
  return program.object().output_shape(inputs, input_count, output);
}

tnr_memory_plan program_memory(ProgramToken token, const tnr_view* const* inputs,
                               std::uint32_t input_count) {
  const ProgramHandles::Use program(kProgramHandles, token);
  return program.object().memory(inputs, input_count);
}

tnr_step_info program_describe_step(ProgramToken token, const tnr_view* const* inputs,
                                    std::uint32_t input_count, std::uint32_t step) {
  const ProgramHandles::Use program(kProgramHandles, token);
  return program.object().describe_step(inputs, input_count, step);
}

void program_run(const Context& context, ProgramToken token, const tnr_view* const* inputs,
                 std::uint32_t input_count, const tnr_program_run_attributes& attributes,
                 const tnr_view_mut* const* outputs, std::uint32_t output_count) {
  const ProgramHandles::Use program(kProgramHandles, token);
  program.object().run(context, inputs, input_count, attributes, outputs, output_count);
}

}  // namespace tenure
