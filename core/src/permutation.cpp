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
constexpr std::int64_t kLongRunBytes = 8192;
// Of two blocks, on the stack of whatever thread works at a slice.
constexpr std::int64_t kBufferBytes = std::int64_t{34} << 10;
constexpr std::int64_t kMaxRuns = 320;
// Smaller blocks cost more to begin than to move.
constexpr std::int64_t kLeastBlockBytes = std::int64_t{12} << 10;

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
// Runs of the output so long that the lines at their ends, which two blocks share, are few.
constexpr Reach kStreamedReach = {1024, 128};

// The runs of a block: where each begins, from the block's first element.
struct Runs {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t offsets[kMaxRuns];
};

// One block among all.
struct Place {
  const Byte* in;
  Byte* out;
  std::int64_t first[TNR_MAX_RANK];  // element along each axis
  bool is_whole;                     // not cut short by the end of an axis
};

class Permutation {
 public:
  // False where it is no case for blocks.
  bool plan(const Movement& movement, Stores stores) noexcept;
  void run(const Context& context) const noexcept;

 private:
  // What blocks of the same extents have in common.
  struct Shape {
    Block block;
    std::int64_t in_offset = 0;
    std::int64_t out_offset = 0;
  };

  void choose_kernel() noexcept;
  void choose_blocks(const Reach& reach) noexcept;
  [[nodiscard]] std::int64_t block_bytes() const noexcept;
  bool fits(const Reach& reach) noexcept;
  void plan_cached() noexcept;
  bool plan_streamed() noexcept;
  std::int64_t set_run() noexcept;
  void order_blocks() noexcept;
  void run_blocks(std::int64_t first, std::int64_t last) const noexcept;
  void run_buffered(std::int64_t first, std::int64_t last) const noexcept;
  void go_to(Place& place, std::int64_t index) const noexcept;
  void advance(Place& place) const noexcept;
  void extents_at(const Place& place, std::int64_t* extents) const noexcept;
  [[nodiscard]] Shape shape_of(const std::int64_t* extents) const noexcept;
  void set_out_runs(const std::int64_t* extents, Runs& runs) const noexcept;
  void set_in_runs(Runs& runs) const noexcept;
  [[nodiscard]] bool reads_straddle() const noexcept;

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
  bool aligned_ = false;  // every run begins and ends with a line
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
  aligned_ = reinterpret_cast<std::uintptr_t>(out_) % kLineBytes == 0;
  for (unsigned i = 0; i + 1 < rank_; ++i) aligned_ &= axes_[i].out_step % kLineBytes == 0;
  if (stores == Stores::kStreamed) {
    buffered_ = plan_streamed();
  }
  if (!buffered_) plan_cached();
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
  for (unsigned i = 0; i < rank_; ++i) {
    Axis& axis = axes_[i];
    const std::int64_t in_step = std::abs(axis.in_step);
    std::int64_t block = std::max<std::int64_t>(1, reach.out_bytes / axis.out_step);
    if (in_step != 0) block = std::max(block, reach.in_bytes / in_step);
    // Parts of about the same size; whole lines of the output, where a part has several.
    const std::int64_t parts = std::max<std::int64_t>(1, (axis.extent + block / 2) / block);
    axis.block = (axis.extent + parts - 1) / parts;
    const std::int64_t lines = kLineBytes / std::gcd(kLineBytes, axis.out_step);
    if (parts > 1 && axis.block > 2 * lines) axis.block = (axis.block + lines / 2) / lines * lines;
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

// The buffer holds a block as the output has it, one run after the other. False where the output has
// no runs worth it.
bool Permutation::plan_streamed() noexcept {
  Reach reach = kStreamedReach;
  while (!fits(reach)) reach = {reach.out_bytes / 2, reach.in_bytes / 2};
  // Each side in turns, as long as the block is small and the next size fits.
  for (bool out = true;; out = !out) {
    if (block_bytes() >= kLeastBlockBytes || reach.out_bytes > moved_bytes_) break;
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

// What of a block is contiguous in the output; returns how many such runs it has.
std::int64_t Permutation::set_run() noexcept {
  run_bytes_ = width_bytes_;
  run_axes_ = 0;
  for (unsigned i = rank_; i-- > 0;) {
    if (axes_[i].out_step != run_bytes_) break;
    run_bytes_ *= axes_[i].block;
    ++run_axes_;
    if (axes_[i].block < axes_[i].extent) break;
  }
  // An odd number of lines: the runs of a column of tiles lie in different sets of the cache.
  pitch_bytes_ = ((run_bytes_ + kLineBytes - 1) / kLineBytes | 1) * kLineBytes;
  std::int64_t runs = 1;
  for (unsigned i = rank_ - run_axes_; i-- > 0;) runs *= axes_[i].block;
  return runs;
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

// Where block `index` begins, and how much of it there is.
void Permutation::go_to(Place& place, std::int64_t index) const noexcept {
  place.in = in_;
  place.out = out_;
  place.is_whole = true;
  for (unsigned i = rank_; i-- > 0;) {
    const Axis& axis = axes_[order_[i]];
    const std::int64_t blocks = (axis.extent + axis.block - 1) / axis.block;
    const std::int64_t first = index % blocks * axis.block;
    index /= blocks;
    place.first[order_[i]] = first;
    place.in += first * axis.in_step;
    place.out += first * axis.out_step;
    place.is_whole &= axis.extent - first >= axis.block;
  }
}

// To the next block; from the last one to the first.
void Permutation::advance(Place& place) const noexcept {
  for (unsigned i = rank_; i-- > 0;) {
    const Axis& axis = axes_[order_[i]];
    std::int64_t& first = place.first[order_[i]];
    std::int64_t moves = axis.block;
    if (first + moves >= axis.extent) moves = -first;
    first += moves;
    place.in += moves * axis.in_step;
    place.out += moves * axis.out_step;
    if (moves > 0) break;
  }
  place.is_whole = true;
  for (unsigned i = 0; i < rank_; ++i) {
    place.is_whole &= axes_[i].extent - place.first[i] >= axes_[i].block;
  }
}

void Permutation::extents_at(const Place& place, std::int64_t* extents) const noexcept {
  for (unsigned i = 0; i < rank_; ++i) {
    extents[i] = std::min(axes_[i].block, axes_[i].extent - place.first[i]);
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
  block.ends.count = 0;
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
  Place place;
  go_to(place, first);
  Shape shape;
  bool is_whole = false;
  for (std::int64_t index = first; index < last; ++index) {
    if (!(is_whole && place.is_whole)) {
      extents_at(place, extents);
      shape = shape_of(extents);
      is_whole = place.is_whole;
    }
    shape.block.in = place.in + shape.in_offset;
    shape.block.out = place.out + shape.out_offset;
    kernel_(shape.block);
    advance(place);
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

// What a whole block reads (of one that is cut short, more than it will be); none where its pieces are too many to be worth asking for.
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

bool Permutation::reads_straddle() const noexcept {
  bool straddle = reinterpret_cast<std::uintptr_t>(in_) % kLineBytes != 0;
  for (unsigned i = 0; i < rank_; ++i) {
    straddle |= axes_[i].in_step % kLineBytes != 0 && std::abs(axes_[i].in_step) != width_bytes_;
  }
  return straddle;
}

// Block k is gathered while block k - 1 goes to memory and block k + 1 is fetched.
void Permutation::run_buffered(std::int64_t first, std::int64_t last) const noexcept {
  alignas(kLineBytes) Byte buffers[2][kBufferBytes];
  Runs whole_runs;
  Runs cut_runs[2];
  Runs fetched;
  std::int64_t extents[TNR_MAX_RANK] = {};
  for (unsigned i = 0; i < rank_; ++i) extents[i] = axes_[i].block;
  set_out_runs(extents, whole_runs);
  set_in_runs(fetched);
  // A run that begins within a line may end in one more.
  if (reads_straddle()) fetched.bytes += kLineBytes - 1;
  Shape whole = shape_of(extents);
  Shape cut;
  Flush pending = {};
  Place place;
  go_to(place, first);
  for (std::int64_t index = first; index < last; ++index) {
    Byte* const buffer = buffers[index % 2];
    Shape& shape = place.is_whole ? whole : cut;
    Runs& runs = place.is_whole ? whole_runs : cut_runs[index % 2];
    if (!place.is_whole) {
      extents_at(place, extents);
      cut = shape_of(extents);
      set_out_runs(extents, cut_runs[index % 2]);
    }
    Block& block = shape.block;
    block.in = place.in + shape.in_offset;
    block.out = buffer + shape.out_offset;
    block.flush = pending;
    pending = {runs.count, runs.bytes, buffer, pitch_bytes_, place.out, runs.offsets};
    block.ends = {aligned_ ? 0 : runs.count, runs.bytes, place.out, runs.offsets};
    advance(place);
    block.fetch = {fetched.count, fetched.bytes, place.in, fetched.offsets};
    kernel_(block);
  }
  Block rest;
  rest.flush = pending;
  rest.fetch.count = 0;
  rest.ends.count = 0;
  table().permuting->flush(rest);
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
