#include "program/run/preallocated.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstring>
#include <vector>

#include "memory/memory.hpp"

namespace tenure {
namespace {

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

// The run of one thread, while it lasts.
class Running {
 public:
  explicit Running(Atomic<bool>& flag) noexcept : flag_(flag) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { flag_.store(false, std::memory_order_release); }

 private:
  Atomic<bool>& flag_;
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

// The number of rounds of a rehearsal. Nodes find nothing in the last one.
std::uint32_t round_count(const Graph& graph, const Schedule& schedule) noexcept {
  if (!graph.finds_extents) return 1;
  const auto most = static_cast<std::uint64_t>(most_found(graph, schedule));
  return 2 + static_cast<std::uint32_t>(std::bit_width(most));
}

std::unique_ptr<Workspace> workspace_for(const Program& program, const Arguments& arguments,
                                         const tnr_bound_attributes& attributes) {
  program.require_no_throwing_node();
  std::shared_ptr<const BoundSchedule> bound = program.bound_to(arguments);
  require_none(alias_refusal(program.graph(), arguments));
  require_none(attributes_refusal(bound->schedule(), run_attributes_of(attributes)));
  auto workspace = std::make_unique<Workspace>(program.graph(), bound->schedule());
  workspace->bound = std::move(bound);
  return workspace;
}

}  // namespace

PreallocatedBound::PreallocatedBound(ProgramToken program, const Arguments& arguments,
                                     const tnr_bound_attributes& attributes)
    : program_(kProgramHandles, program),
      workspace_(workspace_for(program_.object(), arguments, attributes)),
      small_(program_.object().graph(), program_.object().constants(), schedule()) {
  rehearse();
}

void PreallocatedBound::rehearse() {
  std::vector<std::unique_ptr<const Zeros>> memory;
  std::vector<const tnr_view*> inputs;
  std::vector<const tnr_view_mut*> outputs;
  for (const BoundSchedule::Layout& layout : schedule().inputs()) {
    memory.push_back(std::make_unique<const Zeros>(layout.view, layout.reach));
    inputs.push_back(memory.back()->view());
  }
  for (const BoundSchedule::Layout& layout : schedule().outputs()) {
    memory.push_back(std::make_unique<const Zeros>(layout.view, layout.reach));
    // The view is the first and only field of tnr_view_mut.
    outputs.push_back(reinterpret_cast<const tnr_view_mut*>(memory.back()->view()));
  }
  const Arguments arguments = {inputs.data(), static_cast<std::uint32_t>(inputs.size()),
                               outputs.data(), static_cast<std::uint32_t>(outputs.size())};
  const std::uint32_t rounds = round_count(program_.object().graph(), schedule().schedule());
  for (std::uint32_t round = 0; round < rounds; ++round) rehearse_round(arguments, round);
  const std::size_t scratch_bytes = workspace_->scratch_bytes();
  schedule().note_scratch(scratch_bytes);
  // A count between those of two rounds is at most twice that of the later round, and memory grows
  // no faster than the count, except where an operation asks for no memory at one of the counts.
  workspace_->grow_scratch(rounds == 1 ? scratch_bytes : 2 * scratch_bytes);
}

// A later round may be refused what a run would be: the greatest of no element, say.
void PreallocatedBound::rehearse_round(const Arguments& arguments, std::uint32_t round) const {
  try {
    require_none(compute(arguments, kNoRunAttributes, round));
  } catch (const Error& error) {
    if (round == 0 || error.status() != TNR_STATUS_INVALID_ARGUMENT) throw;
  }
}

Refusal PreallocatedBound::compute(const Arguments& arguments,
                                   const tnr_program_run_attributes& attributes,
                                   std::uint32_t round) const {
  DataFindings findings;
  return workspace_->compute({kQuietContext, false, &findings, round}, program_.object().graph(),
                             schedule().schedule(), arguments, attributes);
}

Refusal PreallocatedBound::run(ContextToken, const Arguments& arguments,
                               const tnr_program_run_attributes* given) const {
  const Program& program = program_.object();
  Refusal refusal;
  if (given == nullptr && small_.run(program.graph(), arguments, refusal)) [[likely]]
    return refusal;
  const tnr_program_run_attributes& attributes = given == nullptr ? kNoRunAttributes : *given;
  refusal = schedule().refusal(program.graph(), arguments);
  if (!refusal) refusal = flags_refusal(attributes);
  if (!refusal) refusal = refused_values_refusal(attributes, "a preallocated run");
  if (!refusal) refusal = attributes_refusal(schedule().schedule(), attributes);
  if (refusal) [[unlikely]]
    return refusal;
  if ((attributes.flags & TNR_RUN_CHECKED) != 0) [[unlikely]] {
    return error_of(TNR_STATUS_UNSUPPORTED,
                    "attributes->flags has TNR_RUN_CHECKED, but a preallocated run checks no "
                    "custom operation, as that takes memory");
  }
  // Acquire: what the last run wrote.
  if (is_running_.exchange(true, std::memory_order_acquire)) [[unlikely]] {
    return error_of(TNR_STATUS_BUSY,
                    "bound is preallocated, with memory for one run, and another thread runs it");
  }
  const Running running(is_running_);
  return Owners(program.constants(), arguments).with_pinned([&] {
    return compute(arguments, attributes, ProgramRun::kNoRound);
  });
}

}  // namespace tenure
