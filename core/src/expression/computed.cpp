#include "expression/computed.hpp"

#include <algorithm>
#include <bit>

namespace tenure {

using kernels::Byte;
using kernels::Finding;

namespace {

// Calls visit(leaf, number) for each leaf among the bits, with its number among them.
template <class Visit>
void for_each_leaf(std::uint64_t leaves, Visit&& visit) noexcept {
  for (unsigned number = 0; leaves != 0; leaves &= leaves - 1, ++number) {
    visit(static_cast<unsigned>(std::countr_zero(leaves)), number);
  }
}

}  // namespace

Places::Places(const Extents& shape, const Leaf* leaves, std::uint64_t used) noexcept
    : used_(used), nest_(static_cast<unsigned>(std::popcount(used))) {
  for (std::uint32_t axis = 0; axis < shape.rank; ++axis) {
    std::int64_t steps[kMaxLeaves];
    for_each_leaf(
        used, [&](unsigned leaf, unsigned number) { steps[number] = leaves[leaf].steps[axis]; });
    nest_.add(shape.extents[axis], steps);
  }
  nest_.join();
}

std::int64_t Places::fill_tile(LeafTile& tile, const Leaf* leaves, std::uint64_t needed,
                               std::int64_t place, std::int64_t step,
                               std::int64_t count) const noexcept {
  tile.rows = 1;
  tile.following = 0;
  const unsigned rank = nest_.rank();
  std::int64_t positions[TNR_MAX_RANK];
  for (unsigned i = rank; i-- > 0;) {
    positions[i] = place % nest_.extent(i);
    place /= nest_.extent(i);
  }
  // The innermost axis that the next element is on.
  unsigned axis = rank;
  std::int64_t stride = 1;  // of the axis, in places
  while (axis-- > 0) {
    const std::int64_t next = stride * nest_.extent(axis);
    if (step < next || axis == 0) break;
    stride = next;
  }
  std::int64_t pace = 1;  // positions of the axis from one element to the next
  if (rank == 0) {
    tile.columns = count;
  } else {
    pace = step / stride;
    const std::int64_t left = nest_.extent(axis) - positions[axis];
    tile.columns = std::min(count, (left + pace - 1) / pace);
  }
  const bool is_whole =
      step == 1 && rank >= 2 && positions[rank - 1] == 0 && tile.columns == nest_.extent(rank - 1);
  if (is_whole) {
    const std::int64_t rows = nest_.extent(rank - 2) - positions[rank - 2];
    if (tile.columns < kShortRow) {
      tile.rows = std::min(rows, count / tile.columns);
    } else {
      tile.following = rows - 1;
    }
  }
  for_each_leaf(used_, [&](unsigned leaf, unsigned number) {
    if ((needed >> leaf & 1) == 0) return;
    std::int64_t offset = 0;
    for (unsigned i = 0; i < rank; ++i) offset += positions[i] * nest_.step(i, number);
    tile.data[leaf] = leaves[leaf].data + offset;
    tile.column_steps[leaf] = rank == 0 ? 0 : pace * nest_.step(axis, number);
    tile.row_steps[leaf] = is_whole ? nest_.step(rank - 2, number) : 0;
  });
  return tile.rows * tile.columns;
}

Finding compute_places(const TileSteps& tile_steps, const Places& places, const Leaf* leaves,
                       std::int64_t place, std::int64_t step, std::int64_t count,
                       Byte* out) noexcept {
  TileFrame frame;
  LeafTile tile;
  const std::int64_t most = tile_steps.tile_elements();
  unsigned found = kernels::kNothing;
  if (count == 1) step = 1;  // it leads nowhere, and may be 0
  while (count > 0) {
    const std::int64_t taken =
        places.fill_tile(tile, leaves, tile_steps.leaves(), place, step, std::min(count, most));
    const std::int64_t tiles = 1 + std::min(tile.following, count / taken - 1);
    for (std::int64_t i = 0; i < tiles; ++i) {
      if (i != 0) {
        for_each_leaf(tile_steps.leaves(),
                      [&](unsigned leaf, unsigned) { tile.data[leaf] += tile.row_steps[leaf]; });
      }
      found |= tile_steps.run(frame, tile, out);
      out += taken * tile_steps.width_bytes();
    }
    place += tiles * taken * step;
    count -= tiles * taken;
  }
  return static_cast<Finding>(found);
}

void Computed::read(std::int64_t first, std::int64_t step, std::int64_t count,
                    Byte* out) const noexcept {
  const Finding found = compute_places(tile_steps_, places_, leaves_, first, step, count, out);
  if (found != kernels::kNothing) [[unlikely]]
    found_.fetch_or(found, std::memory_order_relaxed);
}

}  // namespace tenure
