// A program that is bound to the layouts of its inputs and outputs, so that a run checks only what
// can change between runs: owners, loans, overlap and layouts.
//
//   bound         runs at once  a run                                          file
//   ------------  ------------  ---------------------------------------------  ----------------
//   plain         any number    takes a workspace that an earlier run left     bound.cpp
//   preallocated  one           allocates, locks, throws and calls nothing     preallocated.hpp
//   on a device   any number    enqueues the steps                             device_runs.cpp
//   captured      any number    enqueues one launch, on memory that it holds   captured.hpp
#pragma once

#include <memory>

#include "memory/handles.hpp"
#include "program/run/arguments.hpp"
#include "tenure/context.hpp"
#include "tenure/program.hpp"

namespace tenure {

class Bound {
 public:
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  virtual ~Bound() = default;

  // Computes bound_run(). Any number of threads call it at once.
  virtual Refusal run(ContextToken context, const Arguments& arguments,
                      const tnr_program_run_attributes* attributes) const = 0;
  [[nodiscard]] virtual tnr_memory_plan memory() const noexcept = 0;

 protected:
  Bound() = default;
};

using BoundHandles = Handles<Bound, kBoundKind>;

// The attributes of a run without any.
inline constexpr tnr_program_run_attributes kNoRunAttributes = {
    sizeof(tnr_program_run_attributes), 0, nullptr, 0, 0, nullptr};
// The attributes of a run that has the budget of the binding.
tnr_program_run_attributes run_attributes_of(const tnr_bound_attributes& attributes) noexcept;

}  // namespace tenure
