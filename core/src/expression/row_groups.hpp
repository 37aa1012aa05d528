// Expressions with reductions of their rows, computed for a few rows at a time: what a reduction
// reads and what later nodes read of it stay in a cache meanwhile.
//
// An expression is cut into stages. Each stage writes one node's results of a group of rows: a
// reduction, the elements that it reduces, a node that several stages read, a node with one element
// for each row, or the output. No node is computed twice.
#pragma once

#include <cstdint>
#include <optional>

#include "cpu/kernel.hpp"
#include "expression/computed.hpp"
#include "expression/placed_nodes.hpp"
#include "expression/tile_steps.hpp"
#include "tenure/context.hpp"

namespace tenure {

class RowGroups {
 public:
  // Plans the stages of checked nodes from their layouts. Keeps `placed.nodes`, but none of its
  // views.
  explicit RowGroups(const PlacedNodes& placed) noexcept;
  RowGroups(const RowGroups&) = delete;
  RowGroups& operator=(const RowGroups&) = delete;

  // Whether each reduction is of the rows of the output, each row is added up in an order that does
  // not depend on the others, and the output is row-major and has elements.
  [[nodiscard]] bool fit() const noexcept { return stage_count_ != 0; }
  // Whether a run keeps all results of a group on the stack. Else it allocates memory.
  [[nodiscard]] bool fit_stack() const noexcept { return group_bytes_ <= kStackBytes; }

  // Computes nodes with the layouts of those that were planned. Throws OUT_OF_MEMORY.
  kernels::Finding run(const Context& context, const Nodes& nodes, const tnr_view_mut& out) const;

 private:
  static constexpr unsigned kMostStages = 10;
  static constexpr std::int64_t kStackBytes = std::int64_t{64} << 10;

  struct Reducing {
    CheckedReduction by;
    tnr_dtype dtype;  // of the elements
    std::uint8_t from;
    std::int64_t pitch;  // elements from row to row
  };
  struct Stage {
    Stage() noexcept {}

    bool reduces;
    bool is_per_row;    // one result for each row, else one for each element
    std::uint8_t leaf;  // that later stages read the results from
    std::uint8_t last_use;
    tnr_dtype dtype;
    std::int64_t width_bytes;
    std::int64_t offset_bytes;  // of the results of a group
    union {
      TileSteps tile_steps;
      Reducing reducing;
    };
  };

  // A shape with one element for each row.
  [[nodiscard]] Extents row_shape() const noexcept {
    Extents shape = shape_;
    shape.extents[shape.rank - 1] = 1;
    return shape;
  }
  // Results of one row.
  [[nodiscard]] std::int64_t results_of(const Stage& stage) const noexcept {
    return stage.is_per_row ? 1 : row_;
  }
  [[nodiscard]] const Places& places_of(const Stage& stage) const noexcept {
    return stage.is_per_row ? *rows_places_ : *elements_places_;
  }
  bool cut(const PlacedNodes& placed, bool* is_cut) const noexcept;
  bool add_stage(const PlacedNodes& placed, unsigned index) noexcept;
  void place_results() noexcept;
  unsigned run_group(Leaf* leaves, std::int64_t first, std::int64_t count, kernels::Byte* memory,
                     kernels::Byte* out, Stores stores) const noexcept;
  unsigned run_stage(const Stage& stage, const Leaf* leaves, std::int64_t first, std::int64_t count,
                     kernels::Byte* to, Stores stores) const noexcept;

  Extents shape_;
  std::int64_t row_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t rows_each_ = 0;    // of a group
  std::int64_t group_bytes_ = 0;  // of all results of a group
  std::int64_t moved_bytes_ = 0;
  unsigned leaf_count_ = 0;
  unsigned stage_count_ = 0;
  std::uint8_t leaf_of_[kMaxNodes];
  Leaf leaves_[kMaxLeaves];
  std::uint64_t used_by_elements_ = 0;  // leaves, by bits
  std::uint64_t used_by_rows_ = 0;
  std::optional<Places> elements_places_;
  std::optional<Places> rows_places_;
  TileStepMemory steps_;
  Stage stages_[kMostStages];
};

}  // namespace tenure
