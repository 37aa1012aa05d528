#include "permutation.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "parallel.hpp"
#include "streamed.hpp"

namespace tenure {
namespace {

using kernels::Block;
using kernels::BlockKernel;
using kernels::Byte;
using kernels::Flush;
using kernels::table;

constexpr std::int64_t kLineBytes = 64;
// Runs that both sides keep and that are this long are copied one by one.
constexpr std::int64_t kLongRunBytes = 512;
// A block in flight and the one before it stay in L1 with what they are made from.
constexpr std::int64_t kBufferBytes = std::int64_t{20} << 10;
constexpr std::int64_t kMaxRuns = 512;

struct Axis {
  std::int64_t extent;
  std::int64_t out_step;  // bytes; positive
  std::int64_t in_step;   // bytes, of any sign
  std::int64_t block;     // elements of a block along this axis
};

// How far a block reaches, in bytes of memory, on each side.
struct Reach {
  std::int64_t out_bytes;
  std::int64_t in_bytes;
};
constexpr Reach kCachedReach = {256, 256};

// The runs of a block: where each begins, from the block's first element.
struct Runs {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t offsets[kMaxRuns];
};

class Permutation {
 public:
  // False where it is no case for blocks.
  bool plan(const Movement& movement, Stores stores) noexcept;
  void run(const Context& context) const noexcept;

 private:
  void choose_kernel() noexcept;
  void choose_blocks(const Reach& reach) noexcept;
  bool plan_buffer() noexcept;
  void order_blocks() noexcept;
  void run_blocks(std::int64_t first, std::int64_t last) const noexcept;
  void run_buffered(std::int64_t first, std::int64_t last) const noexcept;
  void place(Block& block, std::int64_t index) const noexcept;
  [[nodiscard]] bool is_whole(const Block& block) const noexcept;
  void set_buffer_steps(Block& block) const noexcept;
  void set_out_runs(const std::int64_t* extents, Runs& runs) const noexcept;
  void set_in_runs(Runs& runs) const noexcept;
  void to_kernel(Block& block) const noexcept;

  unsigned rank_ = 0;
  Axis axes_[TNR_MAX_RANK];       // outermost of the output first
  unsigned order_[TNR_MAX_RANK];  // of blocks: the last varies fastest
  unsigned columns_ = 0;          // the kernel's axes, as indices of axes_
  unsigned rows_ = 0;
  Byte* out_;
  const Byte* in_;
  std::int64_t width_bytes_;
  std::int64_t moved_bytes_;
  std::int64_t block_count_ = 1;
  std::int64_t run_bytes_ = 0;  // of the output, in a whole block
  unsigned run_axes_ = 0;       // how many of the innermost axes make it
  std::int64_t pitch_bytes_ = 0;
  bool buffered_ = false;
  BlockKernel kernel_ = nullptr;
};

// Each run once more for every further position of an outer axis.
void repeat(Runs& runs, std::int64_t extent, std::int64_t step) noexcept {
  const std::int64_t inner = runs.count;
  for (std::int64_t i = inner; i < extent * inner; ++i) {
    runs.offsets[i] = runs.offsets[i - inner] + step;
  }
  runs.count = extent * inner;
}

unsigned width_of(std::int64_t bytes) noexcept {
  switch (bytes) {
    case 1: return 0;
    case 2: return 1;
    case 4: return 2;
    case 8: return 3;
    case 16: return 4;
    default: return 5;
  }
}

bool Permutation::plan(const Movement& movement, Stores stores) noexcept {
  Nest nest = movement.nest;
  nest.order(0);
  rank_ = nest.rank();
  width_bytes_ = movement.width_bytes;
  moved_bytes_ = movement.moved_bytes;
  out_ = movement.out + nest.start(0);
  in_ = movement.in + nest.start(1);
  for (unsigned i = 0; i < rank_; ++i) {
    axes_[i] = {nest.extent(i), nest.step(i, 0), nest.step(i, 1), 1};
  }
  // What both sides keep together is one wide element.
  if (rank_ > 0) {
    const Axis& inner = axes_[rank_ - 1];
    if (inner.out_step == width_bytes_ && inner.in_step == width_bytes_) {
      width_bytes_ *= inner.extent;
      --rank_;
    }
  }
  if (rank_ < 2 || width_bytes_ >= kLongRunBytes) return false;
  choose_kernel();
  bool aligned = reinterpret_cast<std::uintptr_t>(out_) % kLineBytes == 0;
  for (unsigned i = 0; i + 1 < rank_; ++i) aligned &= axes_[i].out_step % kLineBytes == 0;
  if (stores == Stores::kStreamed) {
    choose_blocks(aligned ? Reach{256, 128} : Reach{1024, 64});
    buffered_ = plan_buffer();
  }
  if (!buffered_) choose_blocks(kCachedReach);
  order_blocks();
  return true;
}

// Rows are the axis along which the output has unit steps, columns that of the input. Where one of
// them is missing, the kernel walks the two longest axes by elements.
void Permutation::choose_kernel() noexcept {
  const unsigned width = width_of(width_bytes_);
  rows_ = rank_ - 1;
  columns_ = rank_;
  for (unsigned i = 0; i < rank_; ++i) {
    if (std::abs(axes_[i].in_step) == width_bytes_) columns_ = i;
  }
  if (axes_[rows_].out_step == width_bytes_ && columns_ < rows_ && width < 5) {
    kernel_ = table().permuting->transpose[width];
    return;
  }
  kernel_ = table().permuting->move[width];
  columns_ = rank_ - 2;
}

void Permutation::choose_blocks(const Reach& reach) noexcept {
  std::int64_t size = width_bytes_;
  for (unsigned i = 0; i < rank_; ++i) {
    Axis& axis = axes_[i];
    const std::int64_t in_step = std::abs(axis.in_step);
    std::int64_t block = std::max<std::int64_t>(1, reach.out_bytes / axis.out_step);
    if (in_step != 0) block = std::max(block, reach.in_bytes / in_step);
    axis.block = std::min(block, axis.extent);
    // Whole lines of the output, where that is a few times the axis' step.
    const std::int64_t lines = kLineBytes / std::gcd(kLineBytes, axis.out_step);
    if (axis.block < axis.extent && axis.block > lines) axis.block -= axis.block % lines;
    size *= axis.block;
  }
  // Inputs that repeat or overlap could make it as large as they like.
  while (size > kBufferBytes) {
    Axis* largest = axes_;
    for (unsigned i = 1; i < rank_; ++i) {
      if (axes_[i].block > largest->block) largest = &axes_[i];
    }
    size = size / largest->block * (largest->block / 2);
    largest->block /= 2;
  }
}

// The buffer holds the block as the output has it, one run after the other.
bool Permutation::plan_buffer() noexcept {
  run_bytes_ = width_bytes_;
  run_axes_ = 0;
  for (unsigned i = rank_; i-- > 0;) {
    if (axes_[i].out_step != run_bytes_) break;
    run_bytes_ *= axes_[i].block;
    ++run_axes_;
    if (axes_[i].block < axes_[i].extent) break;
  }
  if (run_bytes_ < 2 * kLineBytes) return false;
  // An odd number of lines: the runs of a column of tiles lie in different sets of the cache.
  pitch_bytes_ = (run_bytes_ + kLineBytes - 1) / kLineBytes * kLineBytes;
  if (pitch_bytes_ / kLineBytes % 2 == 0) pitch_bytes_ += kLineBytes;
  std::int64_t runs = 1;
  for (unsigned i = rank_ - run_axes_; i-- > 0;) runs *= axes_[i].block;
  return runs <= kMaxRuns && runs * pitch_bytes_ <= kBufferBytes;
}

// In the order of the input: reading waits for what it asks for, writing does not.
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

// Extents and the first element of block `index`, with the plan's axes and steps.
void Permutation::place(Block& block, std::int64_t index) const noexcept {
  block.in = in_;
  block.out = out_;
  for (unsigned i = rank_; i-- > 0;) {
    const unsigned axis_index = order_[i];
    const Axis& axis = axes_[axis_index];
    const std::int64_t blocks = (axis.extent + axis.block - 1) / axis.block;
    const std::int64_t first = index % blocks * axis.block;
    index /= blocks;
    block.in += first * axis.in_step;
    block.out += first * axis.out_step;
    block.extents[axis_index] = std::min(axis.block, axis.extent - first);
  }
}

// From the plan's axes to those of the kernel: its own last, extents of 1 left out, columns
// ascending in the input.
void Permutation::to_kernel(Block& block) const noexcept {
  Block given = block;
  unsigned rank = 0;
  const auto append = [&](unsigned i) {
    block.extents[rank] = given.extents[i];
    block.in_steps[rank] = axes_[i].in_step;
    block.out_steps[rank++] = given.out_steps[i];
  };
  for (unsigned i = 0; i < rank_; ++i) {
    if (i != rows_ && i != columns_ && given.extents[i] > 1) append(i);
  }
  append(columns_);
  if (block.in_steps[rank - 1] == -width_bytes_) {
    block.in -= (block.extents[rank - 1] - 1) * width_bytes_;
    block.out += (block.extents[rank - 1] - 1) * block.out_steps[rank - 1];
    block.in_steps[rank - 1] = width_bytes_;
    block.out_steps[rank - 1] = -block.out_steps[rank - 1];
  }
  append(rows_);
  block.rank = rank;
  block.width_bytes = width_bytes_;
}

bool Permutation::is_whole(const Block& block) const noexcept {
  bool whole = true;
  for (unsigned i = 0; i < rank_; ++i) whole &= block.extents[i] == axes_[i].block;
  return whole;
}

// Runs lie one after the other, however many this block has along each axis.
void Permutation::set_buffer_steps(Block& block) const noexcept {
  std::int64_t step = pitch_bytes_;
  for (unsigned i = rank_; i-- > 0;) {
    if (i >= rank_ - run_axes_) {
      block.out_steps[i] = axes_[i].out_step;
    } else {
      block.out_steps[i] = step;
      step *= block.extents[i];
    }
  }
}

void Permutation::run_blocks(std::int64_t first, std::int64_t last) const noexcept {
  for (std::int64_t index = first; index < last; ++index) {
    Block block;
    block.flush.count = 0;
    block.fetch.count = 0;
    place(block, index);
    for (unsigned i = 0; i < rank_; ++i) block.out_steps[i] = axes_[i].out_step;
    to_kernel(block);
    kernel_(block);
  }
}

// The runs of a block with these extents, in the order of the buffer.
void Permutation::set_out_runs(const std::int64_t* extents, Runs& runs) const noexcept {
  runs.bytes = width_bytes_;
  for (unsigned i = rank_ - run_axes_; i < rank_; ++i) runs.bytes *= extents[i];
  runs.count = 1;
  runs.offsets[0] = 0;
  for (unsigned i = rank_ - run_axes_; i-- > 0;) repeat(runs, extents[i], axes_[i].out_step);
}

// What a whole block reads; none where its pieces are too many to be worth asking for.
void Permutation::set_in_runs(Runs& runs) const noexcept {
  runs.bytes = width_bytes_;
  runs.count = 1;
  runs.offsets[0] = 0;
  for (unsigned i = rank_; i-- > 0;) {
    const Axis& axis = axes_[order_[i]];
    const std::int64_t in_step = std::abs(axis.in_step);
    if (axis.block == 1 || in_step == 0) continue;
    if (in_step <= runs.bytes && runs.count == 1) {
      runs.bytes += (axis.block - 1) * in_step;
      if (axis.in_step < 0) runs.offsets[0] -= (axis.block - 1) * in_step;
    } else if (runs.count * axis.block > kMaxRuns) {
      runs.count = 0;
      return;
    } else {
      repeat(runs, axis.block, axis.in_step);
    }
  }
}

// Block k is gathered while block k - 1 goes to memory and block k + 1 is fetched.
void Permutation::run_buffered(std::int64_t first, std::int64_t last) const noexcept {
  alignas(kLineBytes) Byte buffers[2][kBufferBytes];
  Runs whole;
  Runs cut[2];
  Runs fetched;
  std::int64_t extents[TNR_MAX_RANK] = {};
  for (unsigned i = 0; i < rank_; ++i) extents[i] = axes_[i].block;
  set_out_runs(extents, whole);
  set_in_runs(fetched);
  Block block;
  block.flush.count = 0;
  for (std::int64_t index = first; index < last; ++index) {
    Block next;
    place(next, std::min(index + 1, last - 1));
    block.fetch = {is_whole(next) ? fetched.count : 0, fetched.bytes, next.in, fetched.offsets};
    place(block, index);
    const Runs* runs = &whole;
    if (!is_whole(block)) {
      set_out_runs(block.extents, cut[index % 2]);
      runs = &cut[index % 2];
    }
    Byte* const buffer = buffers[index % 2];
    const Flush pending = {runs->count,  runs->bytes, buffer,
                           pitch_bytes_, block.out,   runs->offsets};
    block.out = buffer;
    set_buffer_steps(block);
    to_kernel(block);
    kernel_(block);
    block.flush = pending;
  }
  table().permuting->flush(block);
  order_streamed_stores();
}

void Permutation::run(const Context& context) const noexcept {
  const std::int64_t slice_count = std::min(block_count_, slice_count_of(context, moved_bytes_));
  for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
    const std::int64_t first = slice_begin(block_count_, slice_count, slice);
    const std::int64_t last = slice_begin(block_count_, slice_count, slice + 1);
    if (buffered_) {
      run_buffered(first, last);
    } else {
      run_blocks(first, last);
    }
  });
}

}  // namespace

bool permute(const Context& context, const Movement& movement, Stores stores) noexcept {
  Permutation permutation;
  if (!permutation.plan(movement, stores)) return false;
  permutation.run(context);
  return true;
}

}  // namespace tenure
