// One result of an expression as steps over panels, run for a tile of elements at a time.
//
// A step is one kernel over the elements of a tile, which stay in the first cache until the last
// step that reads them: no result but the last one is a tensor. Panels are shared out to values as
// registers are, and a value that is the same for all elements of a tile is computed once.
#pragma once

#include <cstdint>

#include "cpu/kernel.hpp"
#include "dense/strip_runner.hpp"
#include "expression/nodes.hpp"
#include "memory/traffic.hpp"

namespace tenure {

// Memory that nodes read: the views of the expression, and behind them the results of the
// reductions amid it.
inline constexpr unsigned kMaxLeaves = 64;  // as many as a word has bits
struct Leaf {
  const kernels::Byte* data;
  std::int64_t width_bytes;
  std::int64_t
      steps[TNR_MAX_RANK];  // bytes, along the axes of what is computed; 0 where it repeats
};

// Elements of `rows` rows and `columns` columns: where each leaf has them.
struct FusedTile {
  std::int64_t rows;
  std::int64_t columns;
  const kernels::Byte* data[kMaxLeaves];
  std::int64_t row_steps[kMaxLeaves];
  std::int64_t column_steps[kMaxLeaves];
};

// Copies the elements of one leaf of a tile side by side.
void gather_tile(const FusedTile& tile, unsigned leaf, std::int64_t width_bytes,
                 kernels::Byte* out) noexcept;

// Memory that a thread needs to run a tile.
struct FusionFrame {
  static constexpr std::int64_t kBytes = std::int64_t{40} << 10;
  alignas(kLineBytes) kernels::Byte panels[kBytes];
  Element elements[kMaxNodes];
};

// Leaves that node `root` needs, by bits.
std::uint64_t leaves_of(const Nodes& nodes, unsigned root, const std::uint8_t* leaf_of) noexcept;

class Fusion {
 public:
  // Computes the element-wise node `root`. `leaf_of[i]` is the leaf of the result of node i, of
  // nodes that reduce. Bit l of `repeated`: leaf l has one element for all of a tile. Bit l of
  // `in_place`: its elements are adjacent in each tile, or those of each row are one.
  Fusion(const Nodes& nodes, unsigned root, const std::uint8_t* leaf_of, std::uint64_t repeated,
         std::uint64_t in_place) noexcept;
  Fusion(const Fusion&) = delete;
  Fusion& operator=(const Fusion&) = delete;

  // Most elements of a tile.
  [[nodiscard]] std::int64_t tile_elements() const noexcept { return tile_elements_; }
  // Leaves that are read, by bits.
  [[nodiscard]] std::uint64_t leaves() const noexcept { return leaves_; }
  [[nodiscard]] std::int64_t width_bytes() const noexcept { return width_bytes_; }

  // Writes the results of a tile side by side, row by row.
  kernels::Finding run(FusionFrame& frame, const FusedTile& tile,
                       kernels::Byte* out) const noexcept;

 private:
  enum class Place : std::uint8_t { kLeaf, kPanel, kElement, kConstant, kOut };
  struct Value {
    Place place;
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
  unsigned step_count_ = 0;
  std::uint16_t leaf_panels_[kMaxLeaves];
  // A union: memory behind the last step is never touched.
  union {
    Step steps_[kMaxNodes + kMaxLeaves];
  };
};

}  // namespace tenure
