// Inputs of a tile whose elements are adjacent along its columns: they are transposed in registers
// into panels, which a near cache holds when they are read.
//
// Without a panel, a strip of such an input is elements a long step apart, and each of them is
// loaded by itself.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/dispatch.hpp"
#include "dense/loops/tiles.hpp"
#include "memory/traffic.hpp"
#include "view/operand_checks.hpp"

namespace tenure {

// Which inputs of a call have panels, and the tiles that fit them.
class PanelPlan {
 public:
  // Arranges a nest for tiles that have panels: over the innermost axis of the output or, where
  // that is too short to be worth it, over the second innermost if it is longer. Returns false
  // where no input is across the output; the nest is then as arrange(0) leaves it. `flat` has the
  // widths.
  static bool arrange(Nest& nest, const kernels::Strip& flat) noexcept {
    nest.order(0);
    if (pair_axes(nest, flat)) return true;
    nest.lengthen_inner();
    return pair_axes(nest, flat);
  }

  // `whole` has the steps of the nest's inner axis. `aligned`: every row of the output begins with
  // a line.
  PanelPlan(const Nest& nest, const kernels::Strip& whole, bool aligned) noexcept
      : rows_(nest.extent(nest.rank() - 2)), columns_(whole.count) {
    std::int64_t widest = whole.width_bytes;
    std::int64_t count = 0;
    for (unsigned i = 0; i < whole.source_count; ++i) {
      row_steps_[i] = nest.step(nest.rank() - 2, 1 + i);
      takes_[i] = lies_across(row_steps_[i], whole.in[i].step, whole.in[i].width_bytes);
      if (!takes_[i]) continue;
      widest = std::max(widest, whole.in[i].width_bytes);
      ++count;
    }
    if (count == 0) {
      // Rows that fill a line of elements of the output's width, and columns enough that a strip is
      // worth its start. The lines are few enough that they stay in the first cache until they are
      // done with.
      rows_ = std::max<std::int64_t>(8, kLineBytes / whole.width_bytes);
      columns_ = std::max<std::int64_t>(16, 512 / rows_);
      return;
    }
    panel_bytes_ = kBytes / count / kLineBytes * kLineBytes;
    const std::int64_t line = std::max<std::int64_t>(1, kLineBytes / widest);
    joined_ = columns_ * widest <= kMaxJoinedBytes && can_join(nest, whole, nest.rank() - 2);
    if (joined_) {
      rows_ = part_of(rows_, panel_bytes_ / (columns_ * widest), kLeastRows);
      return;
    }
    const std::int64_t rows =
        std::clamp(panel_bytes_ / kMaxPitch, line, std::max(line, kRunBytes / widest));
    rows_ = part_of(rows_, std::max(rows, kLeastRows), kLeastRows);
    const std::int64_t lines = (panel_bytes_ / rows_ / kLineBytes - 1) | 1;
    // A tile of few rows would be quickly done with; narrow results would be short rows.
    const std::int64_t max_pitch =
        kMaxPitch * std::max({std::int64_t{1}, kLeastRows / rows_, widest / whole.width_bytes});
    const std::int64_t most = std::min(lines * kLineBytes, max_pitch) / widest;
    const bool streamable = !aligned && whole.out_step == whole.width_bytes;
    more_ = streamable ? kLineBytes / whole.width_bytes - 1 : 0;
    if (most < 2 * line + more_) more_ = 0;
    const std::int64_t out_line = std::max<std::int64_t>(1, kLineBytes / whole.width_bytes);
    columns_ = part_of(columns_, std::max<std::int64_t>(1, most - more_), std::max(line, out_line));
  }

  [[nodiscard]] bool takes(unsigned input) const noexcept { return takes_[input]; }
  [[nodiscard]] std::int64_t row_step(unsigned input) const noexcept { return row_steps_[input]; }
  [[nodiscard]] std::int64_t panel_bytes() const noexcept { return panel_bytes_; }
  // The extents of a tile.
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }
  // The columns that panels have beyond a tile's, so that a row of it that ends within a line of
  // the output can go on to the line's end.
  [[nodiscard]] std::int64_t more() const noexcept { return more_; }
  // Whether a tile is one strip: its rows are short, and follow each other in all operands.
  [[nodiscard]] bool are_joined() const noexcept { return joined_; }
  [[nodiscard]] std::int64_t strip_count(std::int64_t rows, std::int64_t columns) const noexcept {
    return joined_ ? rows * columns : columns;
  }
  // From row to row of a panel. An odd number of lines: they lie in different sets of the cache.
  [[nodiscard]] std::int64_t pitch(std::int64_t columns, std::int64_t width_bytes) const noexcept {
    const std::int64_t bytes = columns * width_bytes;
    return joined_ ? bytes : (whole_lines(bytes) / kLineBytes | 1) * kLineBytes;
  }

  static constexpr std::int64_t kBytes = std::int64_t{68} << 10;

 private:
  static constexpr unsigned kMaxInputs = Nest::kMaxOperands - 1;
  // Runs of memory that a panel is read from are at most this long, where its rows can be as long
  // as the widest of the tile's should be.
  static constexpr std::int64_t kRunBytes = 256;
  static constexpr std::int64_t kMaxPitch = 1024 + kLineBytes;
  static constexpr std::int64_t kLeastRows = 16;
  // Shorter rows, unless they are joined, cost more to start than to run.
  static constexpr std::int64_t kLeastColumns = 16;
  // Longer rows are worth a strip of their own.
  static constexpr std::int64_t kMaxJoinedBytes = 1024;

  // Makes the axis along which inputs have their neighbours the second innermost, where it is not
  // the innermost. False where there is none, or the innermost is too short.
  static bool pair_axes(Nest& nest, const kernels::Strip& flat) noexcept {
    const unsigned rank = nest.rank();
    if (rank < 2) return false;
    std::int64_t line_bytes[TNR_MAX_RANK] = {};  // that an element of a strip reads
    unsigned rows = rank - 1;
    for (unsigned i = 0; i < flat.source_count; ++i) {
      const unsigned axis = closest_axis(nest, 1 + i);
      if (axis == rank - 1) continue;
      line_bytes[axis] += std::min(distance(nest.step(rank - 1, 1 + i)), kLineBytes);
      if (rows == rank - 1 || line_bytes[axis] > line_bytes[rows]) rows = axis;
    }
    if (rows == rank - 1) return false;
    if (nest.inner_extent() < kLeastColumns && !can_join(nest, flat, rows)) return false;
    nest.pair_inner(rows);
    return true;
  }

  // The axis along which an operand's elements are the least bytes apart; the innermost where they
  // are so along several.
  static unsigned closest_axis(const Nest& nest, unsigned operand) noexcept {
    unsigned closest = nest.rank() - 1;
    std::int64_t least = distance(nest.step(closest, operand));
    if (least == 0) return closest;
    for (unsigned axis = closest; axis-- > 0;) {
      const std::int64_t here = distance(nest.step(axis, operand));
      if (here == 0 || here >= least) continue;
      closest = axis;
      least = here;
    }
    return closest;
  }
  static std::int64_t distance(std::int64_t step) noexcept { return step < 0 ? -step : step; }

  static bool lies_across(std::int64_t row_step, std::int64_t column_step,
                          std::int64_t width_bytes) noexcept {
    return distance(row_step) == width_bytes && column_step != width_bytes && column_step != 0 &&
           kernels::permuting_kernels().transpose[index_of_width(width_bytes)] != nullptr;
  }

  // Whether the rows of every operand without a panel follow each other, with `rows` as the second
  // innermost axis.
  static bool can_join(const Nest& nest, const kernels::Strip& strip, unsigned rows) noexcept {
    const unsigned inner = nest.rank() - 1;
    const auto follow = [&](unsigned operand) {
      return nest.step(rows, operand) == nest.extent(inner) * nest.step(inner, operand);
    };
    if (nest.step(inner, 0) != strip.width_bytes || !follow(0)) return false;
    for (unsigned i = 0; i < strip.source_count; ++i) {
      const std::int64_t width_bytes = strip.in[i].width_bytes;
      const std::int64_t step = nest.step(inner, 1 + i);
      const bool dense = (step == width_bytes || step == 0) && follow(1 + i);
      if (!dense && !lies_across(nest.step(rows, 1 + i), step, width_bytes)) return false;
    }
    return true;
  }

  // Parts of about the same size, at most `most` and multiples of `grain` unless there is but one.
  static std::int64_t part_of(std::int64_t extent, std::int64_t most, std::int64_t grain) noexcept {
    if (extent <= most) return extent;
    if (most > grain) most -= most % grain;
    const std::int64_t parts = (extent + most - 1) / most;
    const std::int64_t part = (extent + parts - 1) / parts;
    return std::min(most, (part + grain - 1) / grain * grain);
  }

  bool takes_[kMaxInputs] = {};
  std::int64_t row_steps_[kMaxInputs] = {};
  std::int64_t panel_bytes_ = 0;
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t more_ = 0;
  bool joined_ = false;
};

class TilePanels {
 public:
  TilePanels(const PanelPlan& plan, const kernels::Strip& whole) noexcept : plan_(plan) {
    std::int64_t taken = 0;
    std::int64_t lines = 0;
    for (unsigned i = 0; i < whole.source_count; ++i) {
      if (!plan.takes(i)) continue;
      panels_[i] = memory_ + plan.panel_bytes() * taken++;
      lines_[i] = offsets_ + lines;
      const std::int64_t begin = lines;
      const std::int64_t width_bytes = whole.in[i].width_bytes;
      const std::int64_t run_bytes = plan.rows() * width_bytes;
      const std::int64_t first = plan.row_step(i) < 0 ? width_bytes - run_bytes : 0;
      // Runs that do not begin with a line touch one more, in which their last byte is.
      const bool aligned =
          (reinterpret_cast<std::uintptr_t>(whole.in[i].data) | whole.in[i].step) % kLineBytes == 0;
      const std::int64_t end = aligned ? run_bytes : run_bytes + kLineBytes - 1;
      for (std::int64_t column = 0; column < fetched_columns(); ++column) {
        for (std::int64_t at = 0; at < end && lines < kMaxLines; at += kLineBytes) {
          const std::int64_t offset =
              first + column * whole.in[i].step + std::min(at, run_bytes - 1);
          if (lines > begin && offset / kLineBytes == offsets_[lines - 1] / kLineBytes) continue;
          offsets_[lines++] = offset;
        }
      }
      line_counts_[i] = lines - begin;
    }
  }
  TilePanels(const TilePanels&) = delete;
  TilePanels& operator=(const TilePanels&) = delete;

  // Copies the elements of a tile into a panel; the first of them is at `in`. Returns the panel:
  // its rows are adjacent elements, and are the plan's pitch apart. Meanwhile the lines of the
  // columns after the current ones are fetched, and after the last columns those of the tile whose
  // first element is at `next`.
  const kernels::Byte* fill(unsigned input, const kernels::StripInput& in,
                            const kernels::Byte* next, std::int64_t rows,
                            std::int64_t columns) noexcept {
    const std::int64_t pitch_bytes = plan_.pitch(columns, in.width_bytes);
    const bool reversed = plan_.row_step(input) < 0;
    const std::int64_t last = rows - 1;
    const kernels::Byte* const from = in.data - (reversed ? last * in.width_bytes : 0);
    kernels::Byte* const to = panels_[input] + (reversed ? last * pitch_bytes : 0);
    // Lines of a whole tile evict each other from L2 where columns lie a multiple of 4 KiB apart.
    std::int64_t end = 0;
    for (std::int64_t first = 0; first < columns; first = end) {
      end = columns - first <= kFetchedColumns + plan_.more() ? columns : first + kFetchedColumns;
      kernels::permuting_kernels().transpose[index_of_width(in.width_bytes)](
          {.rank = 2,
           .extents = {rows, end - first},
           .in_steps = {in.width_bytes, in.step},
           .out_steps = {reversed ? -pitch_bytes : pitch_bytes, in.width_bytes},
           .in = from + first * in.step,
           .out = to + first * in.width_bytes,
           .width_bytes = in.width_bytes,
           .flush = {},
           .fetch = {line_counts_[input], end < columns ? in.data + end * in.step : next,
                     lines_[input]}});
    }
    return panels_[input];
  }

 private:
  static constexpr unsigned kMaxInputs = Nest::kMaxOperands - 1;
  static constexpr std::int64_t kFetchedColumns = 256;
  static constexpr std::int64_t kMaxLines = 2 * PanelPlan::kBytes / kLineBytes;

  [[nodiscard]] std::int64_t fetched_columns() const noexcept {
    return std::min(kFetchedColumns, plan_.columns());
  }

  const PanelPlan& plan_;
  kernels::Byte* panels_[kMaxInputs];
  // Offsets of the lines that fetched_columns() columns of a tile are read from, relative to their
  // first element.
  const std::int64_t* lines_[kMaxInputs];
  std::int64_t line_counts_[kMaxInputs];
  std::int64_t offsets_[kMaxLines];
  alignas(kLineBytes) kernels::Byte memory_[PanelPlan::kBytes];
};

}  // namespace tenure
