// Runs of sealed programs in tests: what they are lent, and what they ask the system for.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tenure/tenure.h"

namespace tenure::test {

// The views that a run lends, which a test changes.
struct Lent {
  std::vector<tnr_view> views;
  std::vector<tnr_view_mut> outs;
  std::vector<const tnr_view*> inputs;
  std::vector<const tnr_view_mut*> outputs;

  Lent(std::vector<tnr_view> of, std::vector<tnr_view_mut> into)
      : views(std::move(of)), outs(std::move(into)) {
    for (const tnr_view& view : views) inputs.push_back(&view);
    for (const tnr_view_mut& out : outs) outputs.push_back(&out);
  }
  Lent(const Lent& other) : Lent(other.views, other.outs) {}
  Lent& operator=(const Lent&) = delete;

  tnr_sealed_program* seal(const tnr_program* program) {
    return tnr_sealed_program_create(program, inputs.data(),
                                     static_cast<std::uint32_t>(inputs.size()), outputs.data(),
                                     static_cast<std::uint32_t>(outputs.size()));
  }
  tnr_status run(const tnr_sealed_program* sealed) const {
    return tnr_sealed_program_run(sealed, inputs.data(), static_cast<std::uint32_t>(inputs.size()),
                                  outputs.data(), static_cast<std::uint32_t>(outputs.size()));
  }
};

// Mutexes that this thread has locked so far.
int lock_count() noexcept;

inline constexpr int kNoFilter = 77;

// How a process ends that does this where the kernel ends it at any system call but its exit: 0
// where all is well, or what it answers; kNoFilter where the system filters no calls.
int status_under_filter(const std::function<int()>& body);

}  // namespace tenure::test
