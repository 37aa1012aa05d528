// The results of tile steps at any indices of their shape, in row-major order.
#pragma once

#include <atomic>
#include <cstdint>

#include "dense/loops/nest.hpp"
#include "dense/reduce/elements.hpp"
#include "expression/tile_steps.hpp"

namespace tenure {

// The addresses of the elements of leaves, by index in a shape.
class Places {
 public:
  // Shorter rows are taken several together; of others, all elements of a tile are of one.
  static constexpr std::int64_t kShortRow = 64;

  // The shape has elements; the leaves in `used` have steps along its axes, which are copied.
  Places(const Extents& shape, const Leaf* leaves, std::uint64_t used) noexcept;

  // The elements of `needed` of such leaves from `place` on, `step` apart, at most `count`, that lie
  // evenly in memory; returns how many.
  std::int64_t fill_tile(LeafTile& tile, const Leaf* leaves, std::uint64_t needed,
                         std::int64_t place, std::int64_t step, std::int64_t count) const noexcept;

 private:
  std::uint64_t used_;
  WideNest nest_;  // over the leaves that are used, in their order; joined
};

// Writes the results at `count` indices from `place` on, `step` apart, to adjacent elements.
kernels::Finding compute_places(const TileSteps& tile_steps, const Places& places,
                                const Leaf* leaves, std::int64_t place, std::int64_t step,
                                std::int64_t count, kernels::Byte* out) noexcept;

class Computed final : public ElementSource {
 public:
  Computed(const TileSteps& tile_steps, const Extents& shape, const Leaf* leaves) noexcept
      : tile_steps_(tile_steps), leaves_(leaves), places_(shape, leaves, tile_steps.leaves()) {}

  void read(std::int64_t first, std::int64_t step, std::int64_t count,
            kernels::Byte* out) const noexcept override;

  // The finding of all elements read so far.
  [[nodiscard]] kernels::Finding found() const noexcept {
    return static_cast<kernels::Finding>(found_.load(std::memory_order_relaxed));
  }

 private:
  const TileSteps& tile_steps_;
  const Leaf* leaves_;
  Places places_;
  mutable std::atomic<std::uint32_t> found_ = kernels::kNothing;
};

}  // namespace tenure
