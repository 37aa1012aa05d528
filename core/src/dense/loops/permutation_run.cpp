#include <algorithm>
#include <cstdlib>

#include "cpu/dispatch.hpp"
#include "dense/loops/partial_lines.hpp"
#include "dense/loops/permutation_plan.hpp"
#include "dense/loops/streamed.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Block;
using kernels::Byte;
using kernels::Edges;
using kernels::Flush;
using kernels::Panel;
using kernels::permuting_kernels;

// Each run once more for every further position of an outer axis.
template <class Offsets>
void repeat(Offsets& all, std::int64_t extent, std::int64_t step) noexcept {
  const std::int64_t inner = all.count;
  for (std::int64_t i = inner; i < extent * inner; ++i) {
    all.offsets[i] = all.offsets[i - inner] + step;
  }
  all.count = extent * inner;
}

// A run that begins within a line may end in one more, with which the next block's begins.
void set_run_lines(std::int64_t offset, std::int64_t bytes, InLines& lines) noexcept {
  lines.count = std::min(kMaxLines, whole_lines(bytes) / kLineBytes);
  for (std::int64_t i = 0; i < lines.count; ++i) lines.offsets[i] = offset + i * kLineBytes;
}

// Whether a cache of 64 sets of 8 lines would lose many of these rows' lines to each other.
bool conflict(const RowOffsets& rows) noexcept {
  std::int64_t counts[64] = {};
  std::int64_t lost = 0;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    lost += ++counts[rows.offsets[i] / kLineBytes & 63] > 8;
  }
  return lost > rows.count / 8;
}

}  // namespace

// Start and extents of block `index`.
void Permutation::go_to(Position& position, std::int64_t index) const noexcept {
  position.in = in_;
  position.out = out_;
  position.is_whole = true;
  for (unsigned i = rank_; i-- > 0;) {
    const Axis& axis = axes_[order_[i]];
    const std::int64_t blocks = (axis.extent + axis.block - 1) / axis.block;
    const std::int64_t first = index % blocks * axis.block;
    index /= blocks;
    position.first[order_[i]] = first;
    position.in += first * axis.in_step;
    position.out += first * axis.out_step;
    position.is_whole &= axis.extent - first >= axis.block + axis.more;
  }
}

// To the next block; from the last one to the first.
void Permutation::advance(Position& position) const noexcept {
  for (unsigned i = rank_; i-- > 0;) {
    const Axis& axis = axes_[order_[i]];
    std::int64_t& first = position.first[order_[i]];
    std::int64_t moves = axis.block;
    if (first + moves >= axis.extent) moves = -first;
    first += moves;
    position.in += moves * axis.in_step;
    position.out += moves * axis.out_step;
    if (moves > 0) break;
  }
  position.is_whole = true;
  for (unsigned i = 0; i < rank_; ++i) {
    position.is_whole &= axes_[i].extent - position.first[i] >= axes_[i].block + axes_[i].more;
  }
}

void Permutation::extents_at(const Position& position, std::int64_t* extents) const noexcept {
  for (unsigned i = 0; i < rank_; ++i) {
    extents[i] = std::min(axes_[i].block + axes_[i].more, axes_[i].extent - position.first[i]);
  }
}

// A block of these extents for the kernel: its own axes last, extents of 1 left out, columns
// ascending in the input. `in` and `out` are then offsets from the block's first element.
Permutation::Shape Permutation::shape_of(const std::int64_t* extents) const noexcept {
  Shape shape;
  Block& block = shape.block;
  block.rank = 0;
  block.width_bytes = width_bytes_;
  block.flush.count = 0;
  block.fetch.count = 0;
  std::int64_t out_steps[TNR_MAX_RANK];
  std::int64_t runs_step = pitch_bytes_;  // runs lie one after the other, however many there are
  for (unsigned i = rank_; i-- > 0;) {
    const bool in_run = !buffered_ || i >= rank_ - run_axes_;
    out_steps[i] = in_run ? axes_[i].out_step : runs_step;
    if (!in_run) runs_step *= extents[i];
  }
  const auto append = [&](unsigned i) {
    block.extents[block.rank] = extents[i];
    block.in_steps[block.rank] = axes_[i].in_step;
    block.out_steps[block.rank++] = out_steps[i];
  };
  for (unsigned i = 0; i < rank_; ++i) {
    if (i != rows_ && i != columns_ && extents[i] > 1) append(i);
  }
  append(columns_);
  std::int64_t& in_step = block.in_steps[block.rank - 1];
  std::int64_t& out_step = block.out_steps[block.rank - 1];
  if (in_step == -width_bytes_) {
    shape.in_offset = (extents[columns_] - 1) * in_step;
    shape.out_offset = (extents[columns_] - 1) * out_step;
    in_step = -in_step;
    out_step = -out_step;
  }
  append(rows_);
  return shape;
}

void Permutation::run_blocks(std::int64_t first, std::int64_t last) const noexcept {
  std::int64_t extents[TNR_MAX_RANK] = {};
  Position position;
  go_to(position, first);
  Shape shape;
  bool is_whole = false;
  for (std::int64_t index = first; index < last; ++index) {
    if (!(is_whole && position.is_whole)) {
      extents_at(position, extents);
      shape = shape_of(extents);
      is_whole = position.is_whole;
    }
    shape.block.in = position.in + shape.in_offset;
    shape.block.out = position.out + shape.out_offset;
    kernel_(shape.block);
    advance(position);
  }
}

// The runs of a block with these extents, in the order of the buffer.
void Permutation::set_out_runs(const std::int64_t* extents, OutRuns& runs) const noexcept {
  const unsigned outer = rank_ - run_axes_;
  runs.available = extents[outer] * axes_[outer].out_step;
  runs.bytes = std::min(extents[outer], axes_[outer].block) * axes_[outer].out_step;
  runs.count = 1;
  runs.offsets[0] = 0;
  for (unsigned i = rank_ - run_axes_; i-- > 0;) repeat(runs, extents[i], axes_[i].out_step);
}

// The lines that a whole block reads (of one that is cut short, more than it will); none where its
// pieces are too many to be worth asking for.
void Permutation::set_in_lines(InLines& lines) const noexcept {
  std::int64_t run_bytes = width_bytes_;
  std::int64_t run_offset = 0;
  lines.count = 0;
  for (unsigned i = rank_; i-- > 0;) {
    const Axis& axis = axes_[order_[i]];
    const std::int64_t in_step = std::abs(axis.in_step);
    const std::int64_t extent = axis.block + axis.more;
    if (extent == 1 || in_step == 0) continue;
    if (lines.count == 0 && in_step <= run_bytes) {
      run_bytes += (extent - 1) * in_step;
      if (axis.in_step < 0) run_offset -= (extent - 1) * in_step;
      continue;
    }
    if (lines.count == 0) set_run_lines(run_offset, run_bytes, lines);
    if (lines.count * extent > kMaxLines) {
      lines.count = 0;
      return;
    }
    repeat(lines, extent, axis.in_step);
  }
  if (lines.count == 0) set_run_lines(run_offset, run_bytes, lines);
}

// The stores of a block that bypass the caches.
Flush Permutation::flush_of(const Position& position, const OutRuns& runs, const Byte* buffer,
                            const Edges& edges) const noexcept {
  const unsigned outer = rank_ - run_axes_;
  const bool continues = axes_[outer].more > 0 && position.first[outer] > 0;
  return {runs.count,   runs.bytes,   runs.available, continues, buffer,
          pitch_bytes_, position.out, runs.offsets,   edges};
}

// Block k is gathered while block k - 1 goes to memory and block k + 1 is fetched.
void Permutation::run_buffered(std::int64_t first, std::int64_t last) const noexcept {
  alignas(kLineBytes) Byte buffers[2][kLineBytes + kBufferBytes + kLineBytes];
  const PartialLines waiting(partial_lines());
  OutRuns whole_runs;
  OutRuns cut_runs[2];
  InLines lines;
  set_in_lines(lines);
  std::int64_t extents[TNR_MAX_RANK] = {};
  for (unsigned i = 0; i < rank_; ++i) extents[i] = axes_[i].block + axes_[i].more;
  Position position;
  go_to(position, first);
  Position fetched;
  go_to(fetched, first + kFetchedAhead);
  set_out_runs(extents, whole_runs);
  Shape whole = shape_of(extents);
  Shape cut;
  Flush pending = {};
  for (std::int64_t index = first; index < last; ++index) {
    Byte* const buffer = buffers[index % 2] + kLineBytes;
    Shape& shape = position.is_whole ? whole : cut;
    OutRuns& runs = position.is_whole ? whole_runs : cut_runs[index % 2];
    if (!position.is_whole) {
      extents_at(position, extents);
      cut = shape_of(extents);
      set_out_runs(extents, cut_runs[index % 2]);
    }
    Block& block = shape.block;
    block.in = position.in + shape.in_offset;
    block.out = buffer + shape.out_offset;
    block.flush = pending;
    pending = flush_of(position, runs, buffer, waiting.edges());
    block.fetch = {lines.count, fetched.in, lines.offsets};
    advance(position);
    advance(fetched);
    kernel_(block);
  }
  Block rest{};
  rest.flush = pending;
  rest.fetch.count = 0;
  permuting_kernels().flush(rest);
  order_streamed_stores();
}

// Rows behind the last one are read, and not used.
void Permutation::set_rows(std::int64_t extent, RowOffsets& rows) const noexcept {
  const unsigned outer = rank_ - run_axes_;
  rows.count = 1;
  rows.offsets[0] = 0;
  for (unsigned i = rank_; i-- > outer;) {
    repeat(rows, i == outer ? extent : axes_[i].extent, axes_[i].in_step);
  }
  const std::int64_t last = rows.offsets[rows.count - 1];
  std::fill_n(rows.offsets + rows.count, 2 * kLineBytes / width_bytes_, last);
}

// The rows from `position` to the end of the run, and those with which the next one begins.
void Permutation::set_joined_rows(const Position& position, RowOffsets& rows) const noexcept {
  const unsigned outer = rank_ - run_axes_;
  const Axis& axis = axes_[outer];
  const std::int64_t extent = axis.extent - position.first[outer];
  set_rows(extent, rows);
  const std::int64_t inner = rows.count / extent;
  std::int64_t first = axes_[outer - 1].in_step - position.first[outer] * axis.in_step;
  for (std::int64_t i = 0; i < joined_; ++i, first += axis.in_step) {
    for (std::int64_t j = 0; j < inner; ++j) rows.offsets[rows.count++] = first + rows.offsets[j];
  }
  const std::int64_t last = rows.offsets[rows.count - 1];
  std::fill_n(rows.offsets + rows.count, 2 * kLineBytes / width_bytes_, last);
}

// Whether another panel follows along the axis next to the runs.
bool Permutation::has_next(const Position& position) const noexcept {
  const unsigned next = rank_ - run_axes_ - 1;
  return position.first[next] + axes_[next].block < axes_[next].extent;
}

// Whether the runs of a panel end where others begin that can be read as well.
bool Permutation::is_joined(const Position& position) const noexcept {
  const unsigned outer = rank_ - run_axes_;
  const Axis& run = axes_[outer];
  return joined_ > 0 && run.extent - position.first[outer] <= run.block + run.more &&
         has_next(position);
}

// The extent of a panel's runs, and whether their first lines have been written.
void Permutation::set_runs(const Position& position, Panel& panel) const noexcept {
  const unsigned outer = rank_ - run_axes_;
  const Axis& run = axes_[outer];
  const std::int64_t left = run.extent - position.first[outer];
  const std::int64_t row_count = run.out_step / width_bytes_;
  const bool joined = is_joined(position);
  panel.rows = std::min(left, run.block) * row_count;
  panel.available = (joined ? left + joined_ : std::min(left, run.block + run.more)) * row_count;
  panel.continues = panel.first_continues = run.more > 0 && position.first[outer] > 0;
  if (joined_ == 0 || position.first[outer] > 0) return;
  // All before the last along the next axis have read on. Where that is the columns' axis, a column
  // continues what the one before it in the same panel read.
  const unsigned next = outer - 1;
  panel.first_continues = position.first[next] > 0;
  panel.continues = next == columns_ ? has_next(position) : panel.first_continues;
}

void Permutation::run_panels(std::int64_t first, std::int64_t last) const noexcept {
  const PartialLines waiting(partial_lines());
  const unsigned outer = rank_ - run_axes_;
  const Axis& run_axis = axes_[outer];
  const Axis& columns = axes_[columns_];
  const std::int64_t whole_extent = run_axis.block + run_axis.more;
  RowOffsets whole_rows;
  RowOffsets cut_rows;
  RowOffsets joined_rows;
  InLines lines;
  set_rows(whole_extent, whole_rows);
  std::int64_t cut_extent = 0;
  std::int64_t joined_first = -1;
  set_in_lines(lines);
  Panel panel;
  panel.aligned = aligned_;
  panel.conflict = conflict(whole_rows);
  panel.edges = waiting.edges();
  Position position;
  go_to(position, first);
  Position fetched;
  const std::int64_t ahead =
      std::max<std::int64_t>(2, kPanelAheadBytes / (run_bytes_ * columns.block));
  go_to(fetched, first + ahead);
  for (std::int64_t index = first; index < last; ++index) {
    set_runs(position, panel);
    const std::int64_t extent = std::min(run_axis.extent - position.first[outer], whole_extent);
    panel.row_offsets = whole_rows.offsets;
    if (is_joined(position)) {
      if (position.first[outer] != joined_first) set_joined_rows(position, joined_rows);
      joined_first = position.first[outer];
      panel.row_offsets = joined_rows.offsets;
    } else if (extent < whole_extent) {
      if (extent != cut_extent) set_rows(extent, cut_rows);
      cut_extent = extent;
      panel.row_offsets = cut_rows.offsets;
    }
    panel.columns = std::min(columns.block, columns.extent - position.first[columns_]);
    panel.in = position.in;
    panel.out = position.out;
    panel.out_step = columns.out_step;
    if (columns.in_step < 0) {
      panel.in += (panel.columns - 1) * columns.in_step;
      panel.out += (panel.columns - 1) * columns.out_step;
      panel.out_step = -columns.out_step;
    }
    panel.fetch = {lines.count, fetched.in, lines.offsets};
    panel_(panel);
    advance(position);
    advance(fetched);
  }
  order_streamed_stores();
}

void Permutation::run(const Context& context) const noexcept {
  std::int64_t slice_count = std::min(block_count_, slice_count_of(context, moved_bytes_));
  // Few slices: partial lines at the ends of one are completed by no other.
  if (in_panels_ || buffered_) {
    const std::int64_t threads = context.thread_count();
    slice_count = std::min(slice_count, std::max(4 * threads, moved_bytes_ / kStreamedSliceBytes));
  }
  for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
    const std::int64_t first = slice_begin(block_count_, slice_count, slice);
    const std::int64_t last = slice_begin(block_count_, slice_count, slice + 1);
    if (in_panels_) {
      run_panels(first, last);
    } else if (buffered_) {
      run_buffered(first, last);
    } else {
      run_blocks(first, last);
    }
  });
}

}  // namespace tenure
