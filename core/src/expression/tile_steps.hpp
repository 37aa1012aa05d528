// One result of an expression as steps over panels, run for a tile of elements at a time.
//
// A step is one kernel over the elements of a tile, which stay in the first cache until the last
// step that reads them: no result but the last one is a tensor. Panels are shared out to values as
// registers are, and a value that is the same for all elements of a tile is computed once.
#pragma once

#include <bit>
#include <cstdint>

#include "cpu/kernel.hpp"
#include "dense/loops/strip_runner.hpp"
#include "expression/nodes.hpp"
#include "memory/traffic.hpp"

namespace tenure {

// Memory that nodes read: the views of the expression, and behind them results of other nodes.
inline constexpr unsigned kMaxLeaves = 64;  // as many as a word has bits
struct Leaf {
  const kernels::Byte* data;
  std::int64_t width_bytes;
  std::int64_t
      steps[TNR_MAX_RANK];  // bytes, along the axes of what is computed; 0 where it repeats
};

// Elements of `rows` rows and `columns` columns: where each leaf has them. So many tiles follow that
// differ in their addresses only: each leaf has them row_steps behind those of the one before.
struct LeafTile {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t following;
  const kernels::Byte* data[kMaxLeaves];
  std::int64_t row_steps[kMaxLeaves];
  std::int64_t column_steps[kMaxLeaves];
};

// Memory that a thread needs to run a tile.
struct TileFrame {
  static constexpr std::int64_t kBytes = std::int64_t{40} << 10;
  alignas(kLineBytes) kernels::Byte panels[kBytes];
  Element elements[kMaxNodes];
};

// A node whose result is not read from memory.
inline constexpr std::uint8_t kNoLeaf = UINT8_MAX;

// Leaves that node `root` needs, by bits.
std::uint64_t leaves_of(const Nodes& nodes, unsigned root, const std::uint8_t* leaf_of) noexcept;

class TileStepMemory;

class TileSteps {
 public:
  // Computes the element-wise node `root` by steps that are kept in `memory`. `leaf_of[i]` is the
  // leaf that has the result of node i, or kNoLeaf. Bit l of `repeated`: leaf l has one element for
  // all of a tile. Bit l of `in_place`: its elements are adjacent in each tile, or those of each row
  // are one.
  TileSteps(const Nodes& nodes, unsigned root, const std::uint8_t* leaf_of, std::uint64_t repeated,
            std::uint64_t in_place, TileStepMemory& memory) noexcept;
  TileSteps(const TileSteps&) = delete;
  TileSteps& operator=(const TileSteps&) = delete;

  // Most elements of a tile.
  [[nodiscard]] std::int64_t tile_elements() const noexcept { return tile_elements_; }
  // Leaves that are read, by bits.
  [[nodiscard]] std::uint64_t leaves() const noexcept { return leaves_; }
  [[nodiscard]] std::int64_t width_bytes() const noexcept { return width_bytes_; }

  // Writes the results of a tile to adjacent elements, row by row.
  kernels::Finding run(TileFrame& frame, const LeafTile& tile, kernels::Byte* out) const noexcept;

 private:
  friend class TileStepMemory;
  enum class Location : std::uint8_t { kLeaf, kPanel, kElement, kConstant, kOut };
  struct Value {
    Location location;
    std::uint8_t width_bytes;
    std::uint16_t index;
  };
  struct Step {
    StripRunner runner;
    std::uint8_t source_count;  // 0: brings a leaf into a panel, unless it need not be
    bool is_once;
    Value sources[kMaxOperands];
    Value out;
  };

  // Panels that no value has.
  class Panels {
   public:
    unsigned take() noexcept { return free_count_ == 0 ? made_++ : free_[--free_count_]; }
    void give(unsigned panel) noexcept { free_[free_count_++] = static_cast<std::uint16_t>(panel); }
    [[nodiscard]] unsigned made() const noexcept { return made_; }

   private:
    unsigned made_ = 0;
    unsigned free_count_ = 0;
    std::uint16_t free_[kMaxNodes + kMaxLeaves];
  };

  struct Plan;
  void add_load(Plan& plan, unsigned leaf, unsigned width_bytes) noexcept;
  void give_back(Plan& plan, unsigned index, std::int64_t width, bool are_as_wide) noexcept;
  void add_step(Plan& plan, unsigned index, bool is_root) noexcept;

  const Nodes& nodes_;
  std::uint64_t leaves_ = 0;
  std::uint64_t gathered_;  // leaves that have panels of their own
  std::int64_t tile_elements_;
  std::int64_t panel_pitch_;
  std::int64_t width_bytes_;
  Step* steps_;
  unsigned step_count_ = 0;
  std::uint16_t leaf_panels_[kMaxLeaves];
};

// Memory for tile steps: each node is one step, and each leaf that is gathered another.
class TileStepMemory {
 public:
  static constexpr unsigned kMost = kMaxNodes + kMaxLeaves;

  TileStepMemory() noexcept {}
  TileStepMemory(const TileStepMemory&) = delete;
  TileStepMemory& operator=(const TileStepMemory&) = delete;

  // Whether there is memory for tile steps of at most `nodes` nodes that read `leaves`.
  [[nodiscard]] bool have_room(unsigned nodes, std::uint64_t leaves) const noexcept {
    return used_ + nodes + static_cast<unsigned>(std::popcount(leaves)) <= kMost;
  }

 private:
  friend class TileSteps;

  unsigned used_ = 0;
  // A union: memory behind the last step is never touched.
  union {
    TileSteps::Step steps_[kMost];
  };
};

}  // namespace tenure
