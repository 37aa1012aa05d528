// A program for inputs and outputs of some layouts, which has all memory that a run needs: a run
// asks nobody for anything, whether it succeeds or fails.
//
// So what it refuses is said without an exception, as a throw asks for memory and may wait for a
// lock: what operations find on the data is noted (base/data_findings.hpp), and shapes that follow
// from it are decided by functions of their own (program/operations.hpp). Nodes that throw are
// refused when it is made.
#pragma once

#include <memory>

#include "memory/handles.hpp"
#include "program/run/program.hpp"

namespace tenure {

class SealedProgram {
 public:
  // Throws as tnr_sealed_program_create().
  SealedProgram(ProgramToken program, const Arguments& arguments);

  [[nodiscard]] tnr_memory_plan memory() const noexcept {
    return bound().memory(program_.object().packed_bytes());
  }
  // Throws what operations of users answer, and nothing else. What the data are refused for is a
  // refusal, behind which outputs hold a mixture. One thread at a time.
  [[nodiscard]] Refusal run(const Arguments& arguments) const;
  // As tnr_sealed_program_describe_shapes().
  [[nodiscard]] Refusal describe_shapes(std::int64_t* shapes,
                                        std::uint32_t extent_count) const noexcept;

 private:
  [[nodiscard]] const Bound& bound() const noexcept { return *workspace_->bound; }
  Refusal compute(const Arguments& arguments, std::uint32_t round) const;
  // Takes the scratch memory that operations ask for.
  void rehearse();
  void rehearse_round(const Arguments& arguments, std::uint32_t round) const;

  ProgramHandles::Use program_;  // as long as this is there
  std::unique_ptr<Workspace> workspace_;
  mutable bool has_run_ = false;  // and the last run did not fail
};

using SealedProgramHandles = Handles<SealedProgram, kSealedProgramKind>;

}  // namespace tenure
