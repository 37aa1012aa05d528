// The results of several tiles of a reduction, one after the other, put together.
//
// Where the order shows, sixteen results of one level become one of the next, as digits carry. A
// result therefore takes part in at most 16 additions on each level, and the error grows with the
// logarithm of the count. The memory is the caller's and bounded, because the success path of an
// operation allocates nothing.
#pragma once

#include <cstdint>
#include <cstring>

#include "cpu/reduce.hpp"
#include "dense/reduce/elements.hpp"
#include "memory/traffic.hpp"

namespace tenure {

class Cascade {
 public:
  static constexpr std::int64_t kFanIn = 16;
  // 16^16 tiles are more than an int64_t counts.
  static constexpr unsigned kMostLevels = 17;

  // Levels that `tiles` of them fill.
  static unsigned level_count(kernels::Meet meet, std::int64_t tiles) noexcept {
    if (meet == kernels::Meet::kAnyhow || tiles <= 1) return 1;
    if (meet == kernels::Meet::kApart) return 2;
    unsigned levels = 2;
    for (std::int64_t pushes = tiles - 1; pushes >= kFanIn; pushes /= kFanIn) ++levels;
    return levels;
  }
  // Bytes of one level: whole lines, so that each starts on one.
  static std::int64_t level_bytes(const kernels::Reduction& reduction,
                                  std::int64_t columns) noexcept {
    return whole_lines(columns * reduction.accumulator_bytes);
  }

  // `along` says by which loops. One column may go by those of several too, as where it is the last
  // panel of an odd number: the order of additions is another. `memory` has room for the levels of
  // as many tiles as will be added.
  Cascade(const kernels::Reduction& reduction, bool along, std::int64_t columns,
          kernels::Byte* memory) noexcept
      : reduction_(reduction),
        add_(along ? reduction.along : reduction.across),
        columns_(columns),
        level_bytes_(level_bytes(reduction, columns)),
        memory_(memory) {
    start(0);
  }

  // `tile` says all but where the accumulators are.
  void add(kernels::Tile& tile) noexcept {
    if (held_[0] != 0 && reduction_.meet != kernels::Meet::kAnyhow) push();
    add_more(tile);
  }
  // More rows of the last tile: as if it had been added with them, where loops take rows together
  // that end with it.
  void add_more(kernels::Tile& tile) noexcept {
    tile.accumulators = memory_;
    add_(reduction_, tile);
    counts_[0] += tile.rows;
    held_[0] = 1;
  }
  // Adds all levels up and gives the accumulators.
  [[nodiscard]] kernels::Byte* total() noexcept {
    for (unsigned level = 1; level <= top_; ++level) merge(0, level);
    return memory_;
  }

 private:
  [[nodiscard]] kernels::Byte* level(unsigned number) const noexcept {
    return memory_ + number * level_bytes_;
  }
  void start(unsigned number) noexcept {
    start_accumulators(reduction_, level(number), columns_);
    counts_[number] = 0;
    held_[number] = 0;
  }
  void merge(unsigned into, unsigned from) noexcept {
    if (counts_[from] == 0) return;  // nothing is there, not even what start() wrote
    if (counts_[into] == 0) {
      std::memcpy(level(into), level(from),
                  static_cast<std::size_t>(columns_ * reduction_.accumulator_bytes));
    } else {
      reduction_.merge(reduction_, {.columns = columns_,
                                    .into = level(into),
                                    .from = level(from),
                                    .into_count = counts_[into],
                                    .from_count = counts_[from]});
    }
    counts_[into] += counts_[from];
  }
  // Makes level 0 ready for the next tile.
  void push() noexcept {
    for (unsigned number = 0;; ++number) {
      if (number == top_) start(++top_);
      merge(number + 1, number);
      start(number);
      if (++held_[number + 1] < kFanIn || reduction_.meet == kernels::Meet::kApart) return;
    }
  }

  const kernels::Reduction& reduction_;
  void (*add_)(const kernels::Reduction&, const kernels::Tile&);
  std::int64_t columns_;
  std::int64_t level_bytes_;
  kernels::Byte* memory_;
  unsigned top_ = 0;                  // levels above it are not started
  std::int64_t held_[kMostLevels];    // results added into each
  std::int64_t counts_[kMostLevels];  // elements that went into each accumulator
};

}  // namespace tenure
