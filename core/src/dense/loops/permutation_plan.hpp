// Plans of permutations: the blocks of a copy between two layouts, and their order.
//
// Streamed results are written in one of two ways. Panels: where the output has long runs along
// axes other than the one of unit step in the input, lines are transposed in registers and sent to
// memory as they are. Otherwise, blocks are gathered in a buffer, and the parts of a block that are
// contiguous in the output are its runs. Both ways write whole lines: parts of lines at the ends of
// runs wait for the rest.
#pragma once

#include <cstdint>

#include "cpu/kernel.hpp"
#include "dense/loops/permutation.hpp"
#include "memory/traffic.hpp"
#include "tenure/context.hpp"

namespace tenure {

// OutRuns that both sides keep and that are this long are copied one by one.
inline constexpr std::int64_t kLongRunBytes = 8192;
// Buffers of two blocks, on the stack of the thread that runs a slice.
inline constexpr std::int64_t kBufferBytes = std::int64_t{34} << 10;
inline constexpr std::int64_t kFetchedAhead = 2;  // blocks
inline constexpr std::int64_t kMaxRuns = 320;
inline constexpr std::int64_t kMaxLines = 2048;
inline constexpr std::int64_t kStreamedSliceBytes = std::int64_t{4} << 20;
// Smaller blocks cost more to begin than to move.
inline constexpr std::int64_t kLeastBlockBytes = std::int64_t{12} << 10;
// But long elements are quickly begun, and memory is faster when it is read and written in runs of
// about a page.
inline constexpr std::int64_t kLeastLongBytes = 4096;

struct Axis {
  std::int64_t extent;
  std::int64_t out_step;  // bytes; positive
  std::int64_t in_step;   // bytes, of any sign
  std::int64_t block;     // elements of a block along this axis
  std::int64_t more;      // elements that a block reads beyond its own
};

// Bytes of memory that a block spans on each side.
struct Reach {
  std::int64_t out_bytes;
  std::int64_t in_bytes;
};
// A block reads at most one part in this many beyond its own. Panels reread far less.
inline constexpr std::int64_t kLeastShare = 8;
inline constexpr std::int64_t kLeastPanelShare = 2;
inline constexpr Reach kCachedReach = {256, 256};
// Limits of panels.
inline constexpr Reach kPanelReach = {1024, 256};
inline constexpr std::int64_t kLeastPanelRunBytes = 256;
inline constexpr std::int64_t kMaxRows = 1536;
inline constexpr std::int64_t kPanelAheadBytes = std::int64_t{24} << 10;
// OutRuns of the output so long that the lines at their ends, which two blocks share, are few.
inline constexpr Reach kStreamedReach = {1024, 128};

// The runs of a block: where each begins, from the block's first element.
struct OutRuns {
  std::int64_t count = 0;
  std::int64_t bytes = 0;      // of each
  std::int64_t available = 0;  // and with what was read beyond the block
  std::int64_t offsets[kMaxRuns];
};

// The lines that a block reads, from its first element.
struct InLines {
  std::int64_t count;
  std::int64_t offsets[kMaxLines];
};

// Offsets of the rows of a panel from its first element.
struct RowOffsets {
  std::int64_t count = 0;
  std::int64_t offsets[kMaxRows];
};

// One block among all.
struct Position {
  const kernels::Byte* in;
  kernels::Byte* out;
  std::int64_t first[TNR_MAX_RANK];  // element along each axis
  bool is_whole;                     // not cut short by the end of an axis
};

class Permutation {
 public:
  // False where it is no case for blocks.
  bool plan(const Movement& movement, Stores stores) noexcept;
  void run(const Context& context) const noexcept;

 private:
  // State that blocks of the same extents share.
  struct Shape {
    kernels::Block block;
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
  void set_more(std::int64_t least_share) noexcept;
  void set_joined() noexcept;
  [[nodiscard]] bool has_next(const Position& position) const noexcept;
  [[nodiscard]] bool is_joined(const Position& position) const noexcept;
  [[nodiscard]] std::int64_t partial_lines() const noexcept;
  void order_blocks() noexcept;
  void run_blocks(std::int64_t first, std::int64_t last) const noexcept;
  void run_buffered(std::int64_t first, std::int64_t last) const noexcept;
  bool plan_panels() noexcept;
  void set_rows(std::int64_t extent, RowOffsets& rows) const noexcept;
  void set_joined_rows(const Position& position, RowOffsets& rows) const noexcept;
  void set_runs(const Position& position, kernels::Panel& panel) const noexcept;
  void run_panels(std::int64_t first, std::int64_t last) const noexcept;
  void go_to(Position& position, std::int64_t index) const noexcept;
  void advance(Position& position) const noexcept;
  void extents_at(const Position& position, std::int64_t* extents) const noexcept;
  [[nodiscard]] Shape shape_of(const std::int64_t* extents) const noexcept;
  void set_out_runs(const std::int64_t* extents, OutRuns& runs) const noexcept;
  [[nodiscard]] kernels::Flush flush_of(const Position& position, const OutRuns& runs,
                                        const kernels::Byte* buffer,
                                        const kernels::Edges& edges) const noexcept;
  void set_in_lines(InLines& lines) const noexcept;

  unsigned rank_ = 0;
  Axis axes_[TNR_MAX_RANK];       // outermost of the output first
  unsigned order_[TNR_MAX_RANK];  // of blocks: the last varies fastest
  unsigned columns_ = 0;          // the kernel's axes, as indices of axes_
  unsigned rows_ = 0;
  kernels::Byte* out_;
  const kernels::Byte* in_;
  std::int64_t width_bytes_;
  std::int64_t moved_bytes_;
  std::int64_t block_count_ = 1;
  std::int64_t run_bytes_ = 0;  // of the output, in a whole block
  unsigned run_axes_ = 0;       // how many of the innermost axes make it
  std::int64_t pitch_bytes_ = 0;
  bool in_panels_ = false;
  bool buffered_ = false;
  std::int64_t joined_ = 0;  // elements of a run's outer axis that the run before it reads too
  bool aligned_ = false;     // every run begins and ends with a line
  kernels::BlockKernel kernel_ = nullptr;
  kernels::PanelKernel panel_ = nullptr;
};

}  // namespace tenure
