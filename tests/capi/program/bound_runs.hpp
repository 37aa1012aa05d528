// Runs of bound programs in tests: the views that they take, and the system calls that they make.
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

  // NULL where it is refused.
  [[nodiscard]] tnr_bound* bind(const tnr_program* program, std::uint32_t flags = 0,
                                tnr_context* context = nullptr) const {
    const tnr_bound_attributes attributes = {sizeof attributes, 0, flags, 0};
    return tnr_bound_create(context, program, inputs.data(),
                            static_cast<std::uint32_t>(inputs.size()), &attributes, outputs.data(),
                            static_cast<std::uint32_t>(outputs.size()));
  }
  [[nodiscard]] tnr_bound* preallocate(const tnr_program* program) const {
    return bind(program, TNR_BOUND_PREALLOCATED);
  }
  // `shapes` has room for TNR_MAX_RANK extents of each output, or is NULL.
  tnr_status run(const tnr_bound* bound, std::int64_t* shapes = nullptr,
                 tnr_context* context = nullptr) const {
    const tnr_program_run_attributes attributes = {sizeof attributes, 0, nullptr, 0, 0, shapes};
    return tnr_bound_run(context, bound, inputs.data(), static_cast<std::uint32_t>(inputs.size()),
                         &attributes, outputs.data(), static_cast<std::uint32_t>(outputs.size()));
  }
};

// Mutexes that this thread has locked so far.
int lock_count() noexcept;

inline constexpr int kNoFilter = 77;

// Runs `body` in a child process that the kernel ends at any system call except its exit. Returns
// the result of `body`, the negated signal that ended the child, or kNoFilter where the system
// filters no calls.
int status_under_filter(const std::function<int()>& body);

}  // namespace tenure::test
