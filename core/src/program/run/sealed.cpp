#include "program/run/sealed.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstring>
#include <vector>

#include "memory/memory.hpp"

namespace tenure {
namespace {

constexpr SealedProgramHandles kSealedProgramHandles(sealed_program_table, "sealed",
                                                     "sealed program");

// Zeros where a view has its elements.
class Zeros {
 public:
  Zeros(const tnr_view& layout, const ByteReach& reach)
      : memory_(static_cast<std::size_t>(reach.before_bytes + reach.from_bytes)), view_(layout) {
    if (memory_.size_bytes() != 0) std::memset(memory_.data(), 0, memory_.size_bytes());
    view_.base = memory_.data();
    view_.data = memory_.data() + reach.before_bytes;
    view_.size_bytes = memory_.size_bytes();
    view_.owner = 0;
    view_.flags = 0;
  }

  [[nodiscard]] const tnr_view* view() const noexcept { return &view_; }

 private:
  OwnedMemory memory_;
  tnr_view view_;
};

// The most that a node of these finds, also of bodies.
std::int64_t most_found(const Graph& graph, const Schedule& schedule) noexcept {
  std::int64_t most = 0;
  for (const Step& step : schedule.steps) {
    if (step.node == kNoValue) continue;
    const GraphNode& node = graph.nodes[step.node];
    if (finds_extent(node)) most = std::max(most, schedule.types[node.result].shape[0]);
    for (std::size_t i = 0; i < step.bodies.size(); ++i) {
      most = std::max(most, most_found(node.bodies[i]->graph, *step.bodies[i]));
    }
  }
  return most;
}

// Rounds of a rehearsal, of which the last one finds nothing.
std::uint32_t round_count(const Graph& graph, const Schedule& schedule) noexcept {
  if (!graph.finds_extents) return 1;
  const auto most = static_cast<std::uint64_t>(most_found(graph, schedule));
  return 2 + static_cast<std::uint32_t>(std::bit_width(most));
}

}  // namespace

SealedProgram::SealedProgram(ProgramToken program, const Arguments& arguments)
    : program_(kProgramHandles, program) {
  const Program& of = program_.object();
  of.require_no_throwing_node();
  std::shared_ptr<const Bound> bound = of.bound_to(arguments);
  workspace_ = std::make_unique<Workspace>(of.graph(), bound->schedule());
  workspace_->bound = std::move(bound);
  rehearse();
}

void SealedProgram::rehearse() {
  std::vector<std::unique_ptr<const Zeros>> memory;
  std::vector<const tnr_view*> inputs;
  std::vector<const tnr_view_mut*> outputs;
  for (const Bound::Layout& layout : bound().inputs()) {
    memory.push_back(std::make_unique<const Zeros>(layout.view, layout.reach));
    inputs.push_back(memory.back()->view());
  }
  for (const Bound::Layout& layout : bound().outputs()) {
    memory.push_back(std::make_unique<const Zeros>(layout.view, layout.reach));
    // The same view: it is the first and only field.
    outputs.push_back(reinterpret_cast<const tnr_view_mut*>(memory.back()->view()));
  }
  const Arguments arguments = {inputs.data(), static_cast<std::uint32_t>(inputs.size()),
                               outputs.data(), static_cast<std::uint32_t>(outputs.size())};
  const std::uint32_t rounds = round_count(program_.object().graph(), bound().schedule());
  for (std::uint32_t round = 0; round < rounds; ++round) rehearse_round(arguments, round);
  const std::size_t scratch_bytes = workspace_->scratch_bytes();
  bound().note_scratch(scratch_bytes);
  // Between two rounds a run finds no more than twice as many as in the later one, and memory grows
  // no faster than that, but where an operation asks for none of so many.
  workspace_->grow_scratch(rounds == 1 ? scratch_bytes : 2 * scratch_bytes);
}

// A later round may be refused what a run would be: the greatest of no element, say.
void SealedProgram::rehearse_round(const Arguments& arguments, std::uint32_t round) const {
  try {
    require_none(compute(arguments, round));
  } catch (const Error& error) {
    if (round == 0 || error.status() != TNR_STATUS_INVALID_ARGUMENT) throw;
  }
}

Refusal SealedProgram::compute(const Arguments& arguments, std::uint32_t round) const {
  DataFindings findings;
  return workspace_->compute({kQuietContext, false, &findings, round}, program_.object().graph(),
                             bound().schedule(), arguments, {});
}

Refusal SealedProgram::run(const Arguments& arguments) const {
  const Graph& graph = program_.object().graph();
  if (!bound().takes(arguments)) [[unlikely]]
    return bound().refusal(graph, arguments);
  if (Refusal refusal = alias_refusal(graph, arguments)) [[unlikely]]
    return refusal;
  has_run_ = false;
  Refusal refusal = Owners(program_.object().constants(), arguments).with_pinned([&] {
    return compute(arguments, Run::kNoRound);
  });
  has_run_ = !refusal;
  return refusal;
}

Refusal SealedProgram::describe_shapes(std::int64_t* shapes,
                                       std::uint32_t extent_count) const noexcept {
  const Schedule& schedule = bound().schedule();
  const std::size_t expected = schedule.outputs.size() * TNR_MAX_RANK;
  if (extent_count != expected) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "extent_count is %" PRIu32 " but must be %zu",
                    extent_count, expected);
  }
  if (shapes == nullptr) return error_of(TNR_STATUS_INVALID_ARGUMENT, "shapes is NULL");
  if (!has_run_) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "the last run failed, or there was none");
  }
  workspace_->write_shapes(program_.object().graph(), schedule, shapes);
  return std::nullopt;
}

SealedProgramToken sealed_program_create(ProgramToken program, const tnr_view* const* inputs,
                                         std::uint32_t input_count,
                                         const tnr_view_mut* const* outputs,
                                         std::uint32_t output_count) {
  return kSealedProgramHandles.open(std::make_unique<const SealedProgram>(
      program, Arguments{inputs, input_count, outputs, output_count}));
}

void sealed_program_release(SealedProgramToken token) { kSealedProgramHandles.release(token); }

tnr_memory_plan sealed_program_memory(SealedProgramToken token) {
  const SealedProgramHandles::Use sealed(kSealedProgramHandles, token);
  return sealed.object().memory();
}

Refusal sealed_program_describe_shapes(SealedProgramToken token, std::int64_t* shapes,
                                       std::uint32_t extent_count) {
  SealedProgramHandles::SoleUse sealed(kSealedProgramHandles);
  if (Refusal refusal = sealed.begin(token)) [[unlikely]]
    return refusal;
  return sealed.object().describe_shapes(shapes, extent_count);
}

Refusal sealed_program_run(SealedProgramToken token, const tnr_view* const* inputs,
                           std::uint32_t input_count, const tnr_view_mut* const* outputs,
                           std::uint32_t output_count) {
  SealedProgramHandles::SoleUse sealed(kSealedProgramHandles);
  if (Refusal refusal = sealed.begin(token)) [[unlikely]]
    return refusal;
  return sealed.object().run({inputs, input_count, outputs, output_count});
}

}  // namespace tenure
