// Inputs of a tile whose elements lie side by side along its columns: transposed in registers, and
// read from where they then are in a near cache.
//
// A strip of such an input is elements a long step apart, each of which is loaded by itself.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/dispatch.hpp"
#include "dense/operands.hpp"
#include "dense/tiles.hpp"
#include "memory/traffic.hpp"

namespace tenure {

// Which inputs of a call have panels, and the tiles that fit them.
class PanelPlan {
 public:
  // `whole` has the steps of the nest's inner axis.
  PanelPlan(const Nest& nest, const kernels::Strip& whole) noexcept
      : rows_(nest.extent(nest.rank() - 2)), columns_(whole.count) {
    std::int64_t widest = whole.width_bytes;
    std::int64_t count = 0;
    for (unsigned i = 0; i < whole.source_count; ++i) {
      row_steps_[i] = nest.step(nest.rank() - 2, 1 + i);
      takes_[i] = lies_across(row_steps_[i], whole.in[i]);
      if (!takes_[i]) continue;
      widest = std::max(widest, whole.in[i].width_bytes);
      ++count;
    }
    if (count == 0) {
      // Lines of the output's width, and enough beside them that a strip is worth its start; few
      // enough that they stay in the first cache until they are done with.
      rows_ = std::max<std::int64_t>(8, kLineBytes / whole.width_bytes);
      columns_ = std::max<std::int64_t>(16, 512 / rows_);
      return;
    }
    panel_bytes_ = kBytes / count / kLineBytes * kLineBytes;
    const std::int64_t line = std::max<std::int64_t>(1, kLineBytes / widest);
    const std::int64_t rows =
        std::clamp(panel_bytes_ / kMaxPitch, line, std::max(line, kRunBytes / widest));
    rows_ = part_of(rows_, std::max(rows, kLeastRows), kLeastRows);
    const std::int64_t lines = (panel_bytes_ / rows_ / kLineBytes - 1) | 1;
    const std::int64_t most = std::min(lines * kLineBytes, kMaxPitch) / widest;
    columns_ = part_of(columns_, std::max<std::int64_t>(1, most), line);
  }

  [[nodiscard]] bool takes(unsigned input) const noexcept { return takes_[input]; }
  [[nodiscard]] std::int64_t row_step(unsigned input) const noexcept { return row_steps_[input]; }
  [[nodiscard]] std::int64_t panel_bytes() const noexcept { return panel_bytes_; }
  // The extents of a tile.
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }

  static constexpr std::int64_t kBytes = std::int64_t{68} << 10;

 private:
  static constexpr unsigned kMaxInputs = Nest::kMaxOperands - 1;
  // Runs of memory that a panel is read from are at most this long, where its rows can be as long
  // as the widest of the tile's should be.
  static constexpr std::int64_t kRunBytes = 256;
  static constexpr std::int64_t kMaxPitch = 1024 + kLineBytes;
  static constexpr std::int64_t kLeastRows = 16;

  static bool lies_across(std::int64_t row_step, const kernels::Source& source) noexcept {
    return (row_step == source.width_bytes || row_step == -source.width_bytes) &&
           source.step != source.width_bytes && source.step != 0 &&
           kernels::permuting_kernels().transpose[index_of_width(source.width_bytes)] != nullptr;
  }

  // Parts of about the same size, at most `most` and multiples of `grain` unless there is but one.
  static std::int64_t part_of(std::int64_t extent, std::int64_t most, std::int64_t grain) noexcept {
    if (extent <= most) return extent;
    const std::int64_t parts = (extent + most - 1) / most;
    const std::int64_t part = (extent + parts - 1) / parts;
    return std::min(most, (part + grain - 1) / grain * grain);
  }

  bool takes_[kMaxInputs] = {};
  std::int64_t row_steps_[kMaxInputs] = {};
  std::int64_t panel_bytes_ = 0;
  std::int64_t rows_;
  std::int64_t columns_;
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
      const std::int64_t run_bytes = plan.rows() * whole.in[i].width_bytes;
      const std::int64_t first = plan.row_step(i) < 0 ? whole.in[i].width_bytes - run_bytes : 0;
      for (std::int64_t column = 0; column < plan.columns(); ++column) {
        for (std::int64_t at = 0; at < run_bytes && lines < kMaxLines; at += kLineBytes) {
          offsets_[lines++] = first + column * whole.in[i].step + at;
        }
      }
      line_counts_[i] = offsets_ + lines - lines_[i];
    }
  }
  TilePanels(const TilePanels&) = delete;
  TilePanels& operator=(const TilePanels&) = delete;

  // Puts the elements of a tile, the first of which is at `in`, into a panel; returns that, whose
  // rows are adjacent elements, pitch() bytes apart. Meanwhile the lines of the columns after
  // those at work are fetched, after the last those of the tile whose first is at `next`.
  const kernels::Byte* fill(unsigned input, const kernels::Source& in, const kernels::Byte* next,
                            std::int64_t rows, std::int64_t columns) noexcept {
    const std::int64_t pitch_bytes = pitch(columns, in.width_bytes);
    const bool reversed = plan_.row_step(input) < 0;
    const std::int64_t last = rows - 1;
    const kernels::Byte* const from = in.data - (reversed ? last * in.width_bytes : 0);
    kernels::Byte* const to = panels_[input] + (reversed ? last * pitch_bytes : 0);
    // Lines of a whole tile evict each other from L2 where columns lie a multiple of 4 KiB apart.
    const std::int64_t lines = line_counts_[input] / plan_.columns();
    for (std::int64_t first = 0; first < columns; first += kFetchedColumns) {
      const std::int64_t end = std::min(first + kFetchedColumns, columns);
      kernels::permuting_kernels().transpose[index_of_width(in.width_bytes)](
          {.rank = 2,
           .extents = {rows, end - first},
           .in_steps = {in.width_bytes, in.step},
           .out_steps = {reversed ? -pitch_bytes : pitch_bytes, in.width_bytes},
           .in = from + first * in.step,
           .out = to + first * in.width_bytes,
           .width_bytes = in.width_bytes,
           .flush = {},
           .fetch = {lines * std::min(kFetchedColumns, plan_.columns()),
                     end < columns ? in.data + end * in.step : next, lines_[input]}});
    }
    return panels_[input];
  }
  // An odd number of lines: the rows of a panel lie in different sets of the cache.
  static std::int64_t pitch(std::int64_t columns, std::int64_t width_bytes) noexcept {
    return (whole_lines(columns * width_bytes) / kLineBytes | 1) * kLineBytes;
  }

 private:
  static constexpr unsigned kMaxInputs = Nest::kMaxOperands - 1;
  static constexpr std::int64_t kFetchedColumns = 256;
  static constexpr std::int64_t kMaxLines = PanelPlan::kBytes / kLineBytes;

  const PanelPlan& plan_;
  kernels::Byte* panels_[kMaxInputs];
  // The lines that a tile reads, from its first element.
  const std::int64_t* lines_[kMaxInputs];
  std::int64_t line_counts_[kMaxInputs];
  std::int64_t offsets_[kMaxLines];
  alignas(kLineBytes) kernels::Byte memory_[PanelPlan::kBytes];
};

}  // namespace tenure
