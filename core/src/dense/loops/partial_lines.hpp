// The memory of kernels::Edges.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "cpu/kernel.hpp"

namespace tenure {

// Parts of lines that wait for the rest of them. Without memory for it none waits.
class PartialLines {
 public:
  // For about `count` parts at a time.
  explicit PartialLines(std::int64_t count) noexcept {
    if (count == 0) return;
    unsigned bits = kLeastBits;
    while (bits < kMostBits && std::int64_t{kernels::kEdgeWays} << bits < 2 * count) ++bits;
    count_ = std::size_t{1} << bits;
    sets_.reset(new (std::nothrow) kernels::EdgeSet[count_]);
    if (sets_ == nullptr) count_ = 0;
    shift_ = 64 - bits;
    for (std::size_t i = 0; i < count_; ++i) {
      sets_[i].next = 0;
      std::memset(sets_[i].last, 0, sizeof sets_[i].last);
    }
  }
  PartialLines(const PartialLines&) = delete;
  PartialLines& operator=(const PartialLines&) = delete;
  // Writes what still waits.
  ~PartialLines() {
    for (std::size_t i = 0; i < count_; ++i) {
      for (unsigned way = 0; way < kernels::kEdgeWays; ++way) {
        const kernels::EdgeSet& set = sets_[i];
        if (set.last[way] == 0) continue;
        const std::size_t first = set.first[way];
        std::memcpy(set.lines[way] + first, set.from[way] + first, set.last[way] - first);
      }
    }
  }
  [[nodiscard]] kernels::Edges edges() const noexcept { return {sets_.get(), shift_}; }

 private:
  static constexpr unsigned kLeastBits = 6;
  static constexpr unsigned kMostBits = 11;

  std::unique_ptr<kernels::EdgeSet[]> sets_;
  std::size_t count_ = 0;
  unsigned shift_ = 0;
};

}  // namespace tenure
