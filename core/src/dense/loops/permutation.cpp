#include "dense/loops/permutation.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "cpu/dispatch.hpp"
#include "dense/loops/permutation_plan.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::permuting_kernels;

// Parts of about the same size; whole lines of the output, where a part has several.
std::int64_t part_of(std::int64_t extent, std::int64_t size, std::int64_t out_step) noexcept {
  const std::int64_t parts = std::max<std::int64_t>(1, (extent + size / 2) / size);
  const std::int64_t part = (extent + parts - 1) / parts;
  const std::int64_t lines = kLineBytes / std::gcd(kLineBytes, out_step);
  return parts > 1 && part > 2 * lines ? (part + lines - 1) / lines * lines : part;
}

// Elements of an axis that cover what may be left of a line behind it.
std::int64_t rest_of_line(const Axis& axis) noexcept {
  return (kLineBytes - 1 + axis.out_step - 1) / axis.out_step;
}

// Where only runs at the ends of outer axes leave parts of lines.
constexpr std::int64_t kLeastWaiting = 64;

}  // namespace

bool Permutation::plan(const Movement& movement, Stores stores) noexcept {
  Nest nest = movement.nest;
  nest.order(0);
  rank_ = nest.rank();
  width_bytes_ = movement.width_bytes;
  moved_bytes_ = movement.moved_bytes;
  out_ = movement.out + nest.start(0);
  in_ = movement.in + nest.start(1);
  for (unsigned i = 0; i < rank_; ++i) {
    axes_[i] = {nest.extent(i), nest.step(i, 0), nest.step(i, 1), 1, 0};
  }
  // Runs that both sides keep become one wide element.
  if (rank_ > 0) {
    const Axis& inner = axes_[rank_ - 1];
    if (inner.out_step == width_bytes_ && inner.in_step == width_bytes_) {
      width_bytes_ *= inner.extent;
      --rank_;
    }
  }
  if (rank_ < 2 || width_bytes_ >= kLongRunBytes) return false;
  choose_kernel();
  aligned_ = reinterpret_cast<std::uintptr_t>(out_) % kLineBytes == 0;
  for (unsigned i = 0; i + 1 < rank_; ++i) aligned_ &= axes_[i].out_step % kLineBytes == 0;
  in_panels_ = stores == Stores::kStreamed && plan_panels();
  buffered_ = stores == Stores::kStreamed && !in_panels_ && plan_streamed();
  if (!in_panels_ && !buffered_) plan_cached();
  order_blocks();
  return true;
}

// Rows are the axis along which the output has unit steps, columns that of the input. Where one of
// them is missing, the kernel walks the two longest axes by elements.
void Permutation::choose_kernel() noexcept {
  const unsigned width = index_of_width(width_bytes_);
  rows_ = rank_ - 1;
  columns_ = rank_;
  for (unsigned i = 0; i < rank_; ++i) {
    if (std::abs(axes_[i].in_step) == width_bytes_) columns_ = i;
  }
  if (axes_[rows_].out_step == width_bytes_ && columns_ < rows_ && width < 5) {
    kernel_ = permuting_kernels().transpose[width];
    panel_ = permuting_kernels().panel[width];
    return;
  }
  kernel_ = permuting_kernels().move[width];
  columns_ = rank_ - 2;
}

void Permutation::choose_blocks(const Reach& reach) noexcept {
  for (unsigned i = 0; i < rank_; ++i) {
    Axis& axis = axes_[i];
    axis.more = 0;
    const std::int64_t in_step = std::abs(axis.in_step);
    std::int64_t block = std::max<std::int64_t>(1, reach.out_bytes / axis.out_step);
    if (in_step != 0) block = std::max(block, reach.in_bytes / in_step);
    axis.block = part_of(axis.extent, block, axis.out_step);
    // Whole tiles of the registers: a few columns more would cost as much as a tile.
    const std::int64_t tile = kLineBytes / width_bytes_;
    if (i == columns_ && in_step == width_bytes_ && tile > 1 && axis.block < axis.extent) {
      axis.block = std::min(axis.extent, std::max(tile, block / tile * tile));
    }
  }
}

std::int64_t Permutation::block_bytes() const noexcept {
  std::int64_t bytes = width_bytes_;
  for (unsigned i = 0; i < rank_; ++i) bytes *= axes_[i].block;
  return bytes;
}

void Permutation::plan_cached() noexcept {
  Reach reach = kCachedReach;
  choose_blocks(reach);
  // Inputs that repeat or overlap could make a block as large as they like.
  while (block_bytes() > kBufferBytes) {
    reach = {reach.out_bytes / 2, reach.in_bytes / 2};
    choose_blocks(reach);
  }
}

// The buffer holds a block as the output has it, one run after the other. False where the output
// has no runs worth it.
bool Permutation::plan_streamed() noexcept {
  if (axes_[rank_ - 1].out_step != width_bytes_) return false;
  Reach reach = kStreamedReach;
  while (!fits(reach)) reach = {reach.out_bytes / 2, reach.in_bytes / 2};
  const std::int64_t least_bytes =
      width_bytes_ >= kernels::kLongElementBytes ? kLeastLongBytes : kLeastBlockBytes;
  // Each side in turns, as long as the block is small and the next size fits.
  for (bool out = true;; out = !out) {
    if (block_bytes() >= least_bytes || reach.out_bytes > moved_bytes_) break;
    const Reach wider = out ? Reach{2 * reach.out_bytes, reach.in_bytes}
                            : Reach{reach.out_bytes, 2 * reach.in_bytes};
    if (!fits(wider)) {
      static_cast<void>(fits(reach));
      break;
    }
    reach = wider;
  }
  return run_bytes_ >= 2 * kLineBytes;
}

// Chooses blocks, and whether two of them fit the buffers.
bool Permutation::fits(const Reach& reach) noexcept {
  choose_blocks(reach);
  const std::int64_t runs = set_run();
  return runs <= kMaxRuns && runs * pitch_bytes_ <= kBufferBytes;
}

// Finds the contiguous runs of a block in the output; returns their number.
std::int64_t Permutation::set_run() noexcept {
  run_bytes_ = width_bytes_;
  run_axes_ = 0;
  for (unsigned i = rank_; i-- > 0;) {
    if (axes_[i].out_step != run_bytes_) break;
    run_bytes_ *= axes_[i].block;
    ++run_axes_;
    if (axes_[i].block < axes_[i].extent) break;
  }
  set_more(kLeastShare);
  const Axis& outer = axes_[rank_ - run_axes_];
  const std::int64_t bytes = run_bytes_ + outer.more * outer.out_step;
  // An odd number of lines: the runs of a column of tiles lie in different sets of the cache.
  pitch_bytes_ = (whole_lines(bytes) / kLineBytes | 1) * kLineBytes;
  std::int64_t runs = 1;
  for (unsigned i = rank_ - run_axes_; i-- > 0;) runs *= axes_[i].block;
  return runs;
}

// Where runs end within lines, each run is read on to the end of its last line, and the next block
// does not write that line: a line that two blocks write parts of costs several times as much as a
// whole one.
void Permutation::set_more(std::int64_t least_share) noexcept {
  Axis& outer = axes_[rank_ - run_axes_];
  const std::int64_t more = rest_of_line(outer);
  outer.more =
      !aligned_ && outer.block < outer.extent && least_share * more <= outer.block ? more : 0;
}

// Whether panels whose runs end within lines read on where the next run begins, so that few partial
// lines are left for another block: one costs as much as several whole lines.
void Permutation::set_joined() noexcept {
  const unsigned outer = rank_ - run_axes_;
  const Axis& run = axes_[outer];
  if (aligned_ || outer == 0 || (run.more == 0 && run.block < run.extent)) return;
  const Axis& next = axes_[outer - 1];
  if (next.out_step != run.extent * run.out_step) return;
  // Where columns follow each other, nothing is known to follow those of the last panel.
  if (outer - 1 == columns_ && (next.in_step < 0 || 2 * next.block > next.extent)) return;
  joined_ = rest_of_line(run);
}

// Returns about how many parts of lines wait at a time: the number of runs between two that meet.
std::int64_t Permutation::partial_lines() const noexcept {
  if (aligned_) return 0;
  if (joined_ > 0) return kLeastWaiting;
  const unsigned outer = rank_ - run_axes_;
  std::int64_t most = 1;
  std::int64_t between = 1;
  for (unsigned i = rank_; i-- > 0;) {
    const unsigned axis = order_[i];
    if (axis == outer && axes_[outer].block < axes_[outer].extent) most = std::max(most, between);
    if (axis + 1 == outer) most = std::max(most, between);
    if (axis < outer) between = std::min(between * axes_[axis].extent, moved_bytes_);
  }
  return 2 * most;
}

// Panels: blocks with one run for each of several columns, which are neighbours in the input. False
// where the output has no runs worth it without the columns' own axis.
bool Permutation::plan_panels() noexcept {
  const std::int64_t least_columns = 16 / width_bytes_;
  if (panel_ == nullptr || axes_[columns_].extent < least_columns) return false;
  run_bytes_ = width_bytes_;
  run_axes_ = 0;
  for (unsigned i = 0; i < rank_; ++i) {
    axes_[i].block = 1;
    axes_[i].more = 0;
  }
  for (unsigned i = rank_; i-- > 0 && i != columns_ && axes_[i].out_step == run_bytes_;) {
    const std::int64_t most = kPanelReach.out_bytes / run_bytes_;
    if (most <= 1 && run_axes_ > 0) break;
    Axis& axis = axes_[i];
    axis.block = part_of(axis.extent, most, aligned_ ? axis.out_step : kLineBytes);
    run_bytes_ *= axis.block;
    ++run_axes_;
    if (axis.block < axis.extent) break;
  }
  if (run_bytes_ < kLeastPanelRunBytes) return false;
  set_more(kLeastPanelShare);
  Axis& columns = axes_[columns_];
  const std::int64_t parts =
      std::max<std::int64_t>(1, columns.extent * width_bytes_ / kPanelReach.in_bytes);
  const std::int64_t in_lines = kLineBytes / std::gcd(kLineBytes, width_bytes_);
  columns.block = (columns.extent + parts - 1) / parts;
  if (parts > 1) columns.block = (columns.block + in_lines - 1) / in_lines * in_lines;
  // The last part may not have too few columns either.
  while (columns.extent % columns.block != 0 && columns.extent % columns.block < least_columns) {
    ++columns.block;
  }
  set_joined();
  return true;
}

// Puts the blocks in the order of the input: loads wait for their data, stores do not.
void Permutation::order_blocks() noexcept {
  for (unsigned i = 0; i < rank_; ++i) {
    order_[i] = i;
    for (unsigned j = i;
         j > 0 && std::abs(axes_[order_[j - 1]].in_step) < std::abs(axes_[order_[j]].in_step);
         --j) {
      std::swap(order_[j - 1], order_[j]);
    }
    block_count_ *= (axes_[i].extent + axes_[i].block - 1) / axes_[i].block;
  }
}

bool permute(const Context& context, const Movement& movement, Stores stores) noexcept {
  Permutation permutation;
  if (!permutation.plan(movement, stores)) return false;
  permutation.run(context);
  return true;
}

}  // namespace tenure
