#include "expression/output_walk.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "dense/loops/nest.hpp"
#include "dense/loops/streamed.hpp"
#include "memory/fresh_pages.hpp"
#include "memory/traffic.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Finding;

// Rows that are shorter are computed several together.
constexpr std::int64_t kShortRow = 64;
// Results of a tile that are streamed, where several leaves are read from memory meanwhile: shorter
// turns from the one to the other. Measured for a * b + c of 64 MiB (AMD EPYC, family 25, model
// 17): 2 KiB 1.18 times what the bytes take an addition, 4 KiB 1.28; fetching ahead gains nothing.
constexpr std::int64_t kSharedBytes = 2048;
// Columns of a tile where a leaf lies across the others: whole lines of the output.
constexpr std::int64_t kTileColumns = 64;
// Bytes of the panel from which results are streamed, and of a tile of rows with gaps between.
constexpr std::int64_t kStagedBytes = 8192;

class OutputWalk {
 public:
  OutputWalk(const Leaf* leaves, std::uint64_t used, const tnr_view_mut& out) noexcept
      : out_(writable(out)),
        width_bytes_(static_cast<std::int64_t>(element_size(out.view.dtype))),
        leaf_count_(static_cast<unsigned>(std::popcount(used))),
        nest_(1 + leaf_count_) {
    unsigned number = 0;
    for (std::uint64_t left = used; left != 0; left &= left - 1) {
      leaf_[number] = static_cast<std::uint8_t>(std::countr_zero(left));
      data_[number] = leaves[leaf_[number]].data;
      widths_[number] = leaves[leaf_[number]].width_bytes;
      ++number;
    }
    for (std::uint32_t axis = 0; axis < out.view.rank; ++axis) {
      std::int64_t steps[kMaxLeaves + 1];
      steps[0] = step_of(out.view, axis);
      for (unsigned i = 0; i < leaf_count_; ++i) steps[1 + i] = leaves[leaf_[i]].steps[axis];
      nest_.add(out.view.shape[axis], steps);
    }
    nest_.arrange(0);
    pair_axes();
  }

  // Leaves of one element for each tile, and those that lie in tiles as panels do, as bits.
  [[nodiscard]] std::uint64_t repeated() const noexcept {
    return leaves_where([&](unsigned i) { return steps_of(i) == Steps::kRepeated; });
  }
  [[nodiscard]] std::uint64_t in_place() const noexcept {
    return leaves_where([&](unsigned i) { return steps_of(i) == Steps::kInPlace; });
  }

  [[nodiscard]] Finding run(const Context& context, const TileSteps& tile_steps,
                            std::int64_t moved_bytes) noexcept {
    const bool is_dense = column_step(0) == width_bytes_;
    const bool is_long = nest_.inner_extent() * width_bytes_ >= kLongRowBytes;
    const bool reads_output =
        std::any_of(data_, data_ + leaf_count_, [&](const Byte* data) { return data == out_; });
    stores_ = is_dense && is_long && !takes_rows() && !reads_output ? stores_for(moved_bytes)
                                                                    : Stores::kCached;
    std::int64_t most = tile_steps.tile_elements();
    if (stores_ == Stores::kStreamed && std::popcount(in_place()) > 1) {
      most = std::min(most, kSharedBytes / width_bytes_);
    }
    cut(most);
    const bool is_one = nest_.rank() == 0 || (nest_.rank() == 1 && is_dense);
    if (is_one) touch_fresh_pages(context, out_ + nest_.start(0), nest_.count() * width_bytes_);
    const std::int64_t slices = std::min(tiles_, slice_count_of(context, moved_bytes));
    std::atomic<std::uint32_t> finding = kernels::kNothing;
    for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
      const unsigned found = run_tiles(tile_steps, slice_begin(tiles_, slices, slice),
                                       slice_begin(tiles_, slices, slice + 1));
      if (stores_ == Stores::kStreamed) order_streamed_stores();
      finding.fetch_or(found, std::memory_order_relaxed);
    });
    return static_cast<Finding>(finding.load(std::memory_order_relaxed));
  }

 private:
  static constexpr std::int64_t kLongRowBytes = 1024;

  enum class Steps : std::uint8_t { kRepeated, kInPlace, kOther };

  template <class Question>
  [[nodiscard]] std::uint64_t leaves_where(Question&& question) const noexcept {
    std::uint64_t leaves = 0;
    for (unsigned i = 0; i < leaf_count_; ++i) {
      if (question(i)) leaves |= std::uint64_t{1} << leaf_[i];
    }
    return leaves;
  }

  [[nodiscard]] std::int64_t column_step(unsigned operand) const noexcept {
    return nest_.inner_step(operand);
  }
  [[nodiscard]] std::int64_t row_step(unsigned operand) const noexcept {
    return nest_.rank() < 2 ? 0 : nest_.step(nest_.rank() - 2, operand);
  }

  // A leaf that lies across the output shares its lines with the rows of a tile.
  void pair_axes() noexcept {
    is_across_ = false;
    if (nest_.rank() < 2 || nest_.inner_extent() < kShortRow) return;
    for (unsigned i = 0; i < leaf_count_; ++i) {
      const std::int64_t step = column_step(1 + i);
      if (step == 0 || step == widths_[i]) continue;
      for (unsigned axis = 0; axis + 1 < nest_.rank(); ++axis) {
        if (nest_.step(axis, 1 + i) != widths_[i]) continue;
        nest_.pair_inner(axis);
        is_across_ = true;
        return;
      }
    }
  }

  [[nodiscard]] bool takes_rows() const noexcept {
    return is_across_ || (nest_.rank() >= 2 && nest_.inner_extent() < kShortRow);
  }

  [[nodiscard]] Steps steps_of(unsigned i) const noexcept {
    const std::int64_t step = column_step(1 + i);
    if (!takes_rows()) {
      if (step == 0) return Steps::kRepeated;
      return step == widths_[i] ? Steps::kInPlace : Steps::kOther;
    }
    return step == 0 && row_step(1 + i) == 0 ? Steps::kRepeated : Steps::kOther;
  }

  // Cuts the output into tiles of at most `most` elements.
  void cut(std::int64_t most) noexcept {
    const std::int64_t inner = nest_.inner_extent();
    rows_ = 1;
    columns_ = std::min(most, inner);
    row_extent_ = 1;
    if (takes_rows()) {
      most = std::min(most, kStagedBytes / width_bytes_);
      columns_ = std::min({inner, most, is_across_ ? kTileColumns : inner});
      row_extent_ = nest_.extent(nest_.rank() - 2);
      rows_ = std::clamp(most / columns_, std::int64_t{1}, row_extent_);
    } else {
      // Streamed tiles begin with lines.
      lead_ = lead_of(columns_);
    }
    column_tiles_ = (inner - lead_ + columns_ - 1) / columns_ + (lead_ != 0 ? 1 : 0);
    row_tiles_ = (row_extent_ + rows_ - 1) / rows_;
    outer_ = nest_.count() / inner / row_extent_;
    tiles_ = outer_ * row_tiles_ * column_tiles_;
  }

  // Columns before the first tile that begins with a line, of an output that lies in one run.
  [[nodiscard]] std::int64_t lead_of(std::int64_t columns) const noexcept {
    if (nest_.rank() != 1 || column_step(0) != width_bytes_ || nest_.inner_extent() <= columns) {
      return 0;
    }
    const auto misaligned = static_cast<std::int64_t>(
        -reinterpret_cast<std::uintptr_t>(out_ + nest_.start(0)) % kLineBytes);
    return misaligned % width_bytes_ == 0 ? misaligned / width_bytes_ : 0;
  }

  unsigned run_tiles(const TileSteps& tile_steps, std::int64_t first,
                     std::int64_t last) const noexcept {
    TileFrame frame;
    LeafTile tile;
    std::int64_t position[TNR_MAX_RANK];
    std::int64_t offsets[WideNest::kMaxOperands];
    unsigned found = kernels::kNothing;
    const unsigned outer_axes =
        nest_.rank() < (takes_rows() ? 2u : 1u) ? 0 : nest_.rank() - (takes_rows() ? 2 : 1);
    std::int64_t column_tile = first % column_tiles_;
    std::int64_t row_tile = first / column_tiles_ % row_tiles_;
    std::int64_t outer = first / column_tiles_ / row_tiles_;
    nest_.go_to(outer_axes, outer, position, offsets);
    for (unsigned i = 0; i < leaf_count_; ++i) {
      tile.row_steps[leaf_[i]] = row_step(1 + i);
      tile.column_steps[leaf_[i]] = column_step(1 + i);
    }
    for (; first < last; ++first) {
      const std::int64_t column =
          lead_ == 0 ? column_tile * columns_
                     : (column_tile == 0 ? 0 : lead_ + (column_tile - 1) * columns_);
      const std::int64_t row = row_tile * rows_;
      tile.rows = std::min(rows_, row_extent_ - row);
      tile.columns = lead_ != 0 && column_tile == 0
                         ? lead_
                         : std::min(columns_, nest_.inner_extent() - column);
      for (unsigned i = 0; i < leaf_count_; ++i) {
        tile.data[leaf_[i]] =
            data_[i] + offsets[1 + i] + row * row_step(1 + i) + column * column_step(1 + i);
      }
      Byte* const out = out_ + offsets[0] + row * row_step(0) + column * column_step(0);
      found |= run_tile(tile_steps, frame, tile, out);
      if (++column_tile < column_tiles_) continue;
      column_tile = 0;
      if (++row_tile < row_tiles_) continue;
      row_tile = 0;
      ++outer;
      if (first + 1 < last) nest_.go_to(outer_axes, outer, position, offsets);
    }
    return found;
  }

  unsigned run_tile(const TileSteps& tile_steps, TileFrame& frame, const LeafTile& tile,
                    Byte* out) const noexcept {
    const ElementRows rows = {tile.rows, tile.columns, row_step(0), column_step(0)};
    const bool is_adjacent =
        tile.rows == 1 ? column_step(0) == width_bytes_ : rows.are_dense(width_bytes_);
    if (is_adjacent && stores_ == Stores::kCached) return tile_steps.run(frame, tile, out);
    alignas(kLineBytes) Byte staged[kStagedBytes];
    const unsigned found = tile_steps.run(frame, tile, staged);
    if (is_adjacent) {
      copy_lines(out, staged, tile.columns * width_bytes_, Stores::kStreamed);
    } else {
      move_rows(rows, staged, out, width_bytes_, false);
    }
    return found;
  }

  Byte* out_;
  std::int64_t width_bytes_;
  unsigned leaf_count_;
  WideNest nest_;
  bool is_across_;
  Stores stores_ = Stores::kCached;
  std::int64_t rows_;  // of a tile
  std::int64_t columns_;
  std::int64_t lead_ = 0;
  std::int64_t row_extent_;
  std::int64_t row_tiles_;
  std::int64_t column_tiles_;
  std::int64_t outer_;
  std::int64_t tiles_;
  std::uint8_t leaf_[kMaxLeaves];
  std::int64_t widths_[kMaxLeaves];
  const Byte* data_[kMaxLeaves];
};

}  // namespace

Finding write_output(const Context& context, const Nodes& nodes, unsigned root,
                     const std::uint8_t* leaf_of, const Leaf* leaves, std::uint64_t used,
                     const tnr_view_mut& out, std::int64_t moved_bytes) noexcept {
  OutputWalk walk(leaves, used, out);
  TileStepMemory memory;
  const TileSteps tile_steps(nodes, root, leaf_of, walk.repeated(), walk.in_place(), memory);
  return walk.run(context, tile_steps, moved_bytes);
}

}  // namespace tenure
