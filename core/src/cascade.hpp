// Partial results of a reduction that arrive one after the other, added in a tree.
//
// Sixteen results of one level become one of the next, as digits carry. An element therefore takes
// part in at most 16 additions on each level, and the error grows with the logarithm of the count.
// The memory is fixed, because the success path of an operation allocates nothing.
#pragma once

#include <cstdint>

#include "kernels/kernel.hpp"

namespace tenure {

class Cascade {
 public:
  // What one level holds: 2 KiB, so that a level and a row of the input share the L1 cache.
  static constexpr std::int64_t kLevelBytes = 2048;
  static constexpr std::int64_t kFanIn = 16;

  Cascade(const kernels::Reduction& reduction, std::int64_t columns) noexcept
      : reduction_(reduction), columns_(columns) {
    reduction_.start(levels_[0], columns_);
  }

  // Where the next partial result goes: started accumulators.
  [[nodiscard]] kernels::Byte* next() noexcept { return levels_[0]; }
  // Takes what was accumulated in next() since the last push.
  void push() noexcept;
  // Adds all levels up and gives the accumulators.
  [[nodiscard]] const kernels::Byte* total() noexcept;

 private:
  static constexpr unsigned kLevels = 17;  // 16^16 rows are all that an int64_t counts

  const kernels::Reduction& reduction_;
  std::int64_t columns_;
  unsigned top_ = 0;                 // levels above it hold nothing
  std::int64_t held_[kLevels] = {};  // results added into each
  alignas(64) kernels::Byte levels_[kLevels][kLevelBytes];
};

inline void Cascade::push() noexcept {
  for (unsigned level = 0;; ++level) {
    if (level == top_) {
      reduction_.start(levels_[level + 1], columns_);
      ++top_;
    }
    reduction_.merge(levels_[level + 1], levels_[level], columns_);
    reduction_.start(levels_[level], columns_);
    held_[level] = 0;
    if (++held_[level + 1] < kFanIn) return;
  }
}

inline const kernels::Byte* Cascade::total() noexcept {
  for (unsigned level = 1; level <= top_; ++level) {
    reduction_.merge(levels_[0], levels_[level], columns_);
  }
  return levels_[0];
}

}  // namespace tenure
