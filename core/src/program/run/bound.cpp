#include "program/run/bound.hpp"

#include <cinttypes>

#include "memory/slot_table.hpp"
#include "program/run/preallocated.hpp"
#include "program/run/program.hpp"
#include "program/run/small_run.hpp"

namespace tenure {
namespace {

constexpr BoundHandles kBoundHandles(bound_table, "bound", "bound program");

class PlainBound final : public Bound {
 public:
  PlainBound(ProgramToken program, const Arguments& arguments,
             const tnr_bound_attributes& attributes)
      : program_(kProgramHandles, program),
        schedule_(program_.object().bound_to(arguments)),
        small_(program_.object().graph(), program_.object().constants(), *schedule_) {
    require_none(alias_refusal(program_.object().graph(), arguments));
    require_none(attributes_refusal(schedule_->schedule(), run_attributes_of(attributes)));
  }

  Refusal run(ContextToken context, const Arguments& arguments,
              const tnr_program_run_attributes* given) const override {
    const ContextUse use(context);
    const Program& program = program_.object();
    Refusal refusal;
    if (given == nullptr && small_.run(program.graph(), arguments, refusal)) [[likely]]
      return refusal;
    const tnr_program_run_attributes& attributes = given == nullptr ? kNoRunAttributes : *given;
    refusal = schedule_->refusal(program.graph(), arguments);
    if (!refusal) refusal = flags_refusal(attributes);
    if (!refusal) refusal = attributes_refusal(schedule_->schedule(), attributes);
    if (refusal) [[unlikely]]
      return refusal;
    if (refused_values(attributes) != 0) [[unlikely]] {
      program.run_refusing(use, arguments, attributes);
      return std::nullopt;
    }
    return Owners(program.constants(), arguments).with_pinned([&] {
      const Lease lease(*schedule_, program.graph());
      return lease.workspace().compute({use, (attributes.flags & TNR_RUN_CHECKED) != 0},
                                       program.graph(), schedule_->schedule(), arguments,
                                       attributes);
    });
  }
  [[nodiscard]] tnr_memory_plan memory() const noexcept override {
    return schedule_->memory(program_.object().packed_bytes());
  }

 private:
  // The workspace of one run.
  class Lease {
   public:
    Lease(const BoundSchedule& schedule, const Graph& graph)
        : schedule_(schedule), workspace_(schedule.take_workspace(graph)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      schedule_.settle(*workspace_);
      schedule_.give_workspace(std::move(workspace_));
    }

    [[nodiscard]] Workspace& workspace() const noexcept { return *workspace_; }

   private:
    const BoundSchedule& schedule_;
    std::unique_ptr<Workspace> workspace_;
  };

  ProgramHandles::Use program_;  // as long as this is there
  std::shared_ptr<const BoundSchedule> schedule_;
  SmallRun small_;
};

std::unique_ptr<const Bound> bind(const Context& context, ProgramToken program,
                                  const Arguments& arguments,
                                  const tnr_bound_attributes& attributes) {
  constexpr std::uint32_t kKnown = TNR_BOUND_PREALLOCATED | TNR_BOUND_CAPTURED | TNR_BOUND_BUDGET;
  if ((attributes.flags & ~kKnown) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->flags is 0x%" PRIx32 " but only 0x%" PRIx32 " is known", attributes.flags,
         kKnown);
  }
  const bool is_preallocated = (attributes.flags & TNR_BOUND_PREALLOCATED) != 0;
  const bool is_captured = (attributes.flags & TNR_BOUND_CAPTURED) != 0;
  if (is_preallocated && is_captured) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->flags has TNR_BOUND_PREALLOCATED and TNR_BOUND_CAPTURED, which exclude each "
         "other");
  }
  const ProgramHandles::Use use(kProgramHandles, program);
  if (is_captured) return use.object().devices().capture(context, arguments, attributes);
  const tnr_device device = device_of(arguments);
  if (device == kCpu) {
    if (!is_preallocated) return std::make_unique<const PlainBound>(program, arguments, attributes);
    return std::make_unique<const PreallocatedBound>(program, arguments, attributes);
  }
  if (is_preallocated) {
    fail(TNR_STATUS_UNSUPPORTED,
         "inputs or outputs are on %s but a preallocated program runs on the CPU: capture it",
         DeviceName(device).text);
  }
  return use.object().devices().bind(context, program, arguments, attributes);
}

}  // namespace

tnr_program_run_attributes run_attributes_of(const tnr_bound_attributes& attributes) noexcept {
  tnr_program_run_attributes of_run = kNoRunAttributes;
  of_run.budget_bytes = attributes.budget_bytes;
  if ((attributes.flags & TNR_BOUND_BUDGET) != 0) of_run.flags = TNR_RUN_BUDGET;
  return of_run;
}

BoundToken bound_create(const Context& context, ProgramToken program, const tnr_view* const* inputs,
                        std::uint32_t input_count, const tnr_bound_attributes& attributes,
                        const tnr_view_mut* const* outputs, std::uint32_t output_count) {
  return kBoundHandles.open(
      bind(context, program, {inputs, input_count, outputs, output_count}, attributes));
}

void bound_release(BoundToken token) { kBoundHandles.release(token); }

tnr_memory_plan bound_memory(BoundToken token) {
  const BoundHandles::Use bound(kBoundHandles, token);
  return bound.object().memory();
}

Refusal bound_run(ContextToken context, BoundToken token, const tnr_view* const* inputs,
                  std::uint32_t input_count, const tnr_program_run_attributes* attributes,
                  const tnr_view_mut* const* outputs, std::uint32_t output_count) {
  BoundHandles::QuietUse bound(kBoundHandles);
  if (Refusal refusal = bound.begin(token)) [[unlikely]]
    return refusal;
  return bound.object().run(context, {inputs, input_count, outputs, output_count}, attributes);
}

}  // namespace tenure
