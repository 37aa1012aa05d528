// A program that is bound with all memory that a run needs: a run asks for nothing, whether it
// succeeds or is refused.
//
// A throw asks for memory and may wait for a lock, so a run returns its refusals: findings of
// operations in the data are noted (base/data_findings.hpp), and shapes that follow from them are
// decided by functions that return (program/operations.hpp). A node that throws is refused when the
// program is bound.
#pragma once

#include <memory>

#include "base/concurrency.hpp"
#include "program/run/bound.hpp"
#include "program/run/program.hpp"
#include "program/run/small_run.hpp"

namespace tenure {

class PreallocatedBound final : public Bound {
 public:
  // Throws as tnr_bound_create().
  PreallocatedBound(ProgramToken program, const Arguments& arguments,
                    const tnr_bound_attributes& attributes);

  // Throws what custom operations answer, and nothing else. Refuses BUSY while another thread runs
  // it. Behind a refusal of what the data hold, outputs hold a mixture.
  Refusal run(ContextToken context, const Arguments& arguments,
              const tnr_program_run_attributes* attributes) const override;
  [[nodiscard]] tnr_memory_plan memory() const noexcept override {
    return schedule().memory(program_.object().packed_bytes());
  }

 private:
  [[nodiscard]] const BoundSchedule& schedule() const noexcept { return *workspace_->bound; }
  Refusal compute(const Arguments& arguments, const tnr_program_run_attributes& attributes,
                  std::uint32_t round) const;
  // Takes the scratch memory that operations ask for.
  void rehearse();
  void rehearse_round(const Arguments& arguments, std::uint32_t round) const;

  ProgramHandles::Use program_;  // as long as this is there
  std::unique_ptr<Workspace> workspace_;
  SmallRun small_;
  mutable Atomic<bool> is_running_{false};
};

}  // namespace tenure
