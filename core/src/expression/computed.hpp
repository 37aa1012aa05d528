// The results of a fusion at places of their shape, in row-major order: a tensor that is nowhere.
#pragma once

#include <atomic>
#include <cstdint>

#include "dense/nest.hpp"
#include "dense/reduce/elements.hpp"
#include "expression/fusion.hpp"

namespace tenure {

// Leaves at places of a shape.
class Places {
 public:
  // Shorter rows are taken several together; of others, all elements of a tile are of one.
  static constexpr std::int64_t kShortRow = 64;

  // The shape has elements; the leaves in `used` have steps along its axes.
  Places(const Extents& shape, const Leaf* leaves, std::uint64_t used) noexcept;

  // The elements from `place` on, `step` apart, at most `count`, that lie evenly in memory; returns
  // how many.
  std::int64_t fill_tile(FusedTile& tile, std::int64_t place, std::int64_t step,
                         std::int64_t count) const noexcept;

 private:
  const Leaf* leaves_;
  std::uint64_t used_;
  WideNest nest_;  // over the leaves that are used, in their order; joined
};

class Computed final : public ElementSource {
 public:
  // `first` is the place that readers call 0.
  Computed(const Fusion& fusion, const Extents& shape, const Leaf* leaves,
           std::int64_t first) noexcept
      : fusion_(fusion), first_(first), places_(shape, leaves, fusion.leaves()) {}

  void read(std::int64_t first, std::int64_t step, std::int64_t count,
            kernels::Byte* out) const noexcept override;

  // The finding of all elements read so far.
  [[nodiscard]] kernels::Finding found() const noexcept {
    return static_cast<kernels::Finding>(found_.load(std::memory_order_relaxed));
  }

 private:
  const Fusion& fusion_;
  std::int64_t first_;
  Places places_;
  mutable std::atomic<std::uint32_t> found_ = kernels::kNothing;
};

// The elements of one leaf, read as those that are computed.
class StoredElements final : public ElementSource {
 public:
  StoredElements(unsigned leaf, const Extents& shape, const Leaf* leaves,
                 std::int64_t first) noexcept
      : leaf_(leaf),
        width_bytes_(leaves[leaf].width_bytes),
        first_(first),
        places_(shape, leaves, std::uint64_t{1} << leaf) {}

  void read(std::int64_t first, std::int64_t step, std::int64_t count,
            kernels::Byte* out) const noexcept override;

 private:
  unsigned leaf_;
  std::int64_t width_bytes_;
  std::int64_t first_;
  Places places_;
};

}  // namespace tenure
