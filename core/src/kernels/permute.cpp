// Permutations of blocks: transpositions in registers where two axes have unit steps, loops over
// elements where they have not, and meanwhile the traffic of the blocks before and after.
#include "kernels/lanes.hpp"
#include "kernels/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// One piece at the start and one at the end, which overlap, so that a length needs no loop.
template <class T>
inline void copy_ends(Byte* out, const Byte* in, int64_t bytes) {
  T first;
  T last;
  const int64_t rest = bytes - static_cast<int64_t>(sizeof(T));
  __builtin_memcpy(&first, in, sizeof(T));
  __builtin_memcpy(&last, in + rest, sizeof(T));
  __builtin_memcpy(out, &first, sizeof(T));
  __builtin_memcpy(out + rest, &last, sizeof(T));
}

// A call of memcpy costs more than most runs that are moved here.
inline void copy_bytes(Byte* out, const Byte* in, int64_t bytes) {
  if (bytes >= kLaneBytes * Widest::kLanes) {
    constexpr int64_t size = kLaneBytes * Widest::kLanes;
    for (int64_t i = 0; i < bytes - size; i += size) Widest::store(out + i, Widest::load(in + i));
    Widest::store(out + bytes - size, Widest::load(in + bytes - size));
  } else if (bytes >= kLaneBytes) {
    for (int64_t i = 0; i < bytes - kLaneBytes; i += kLaneBytes) {
      OneLane::store(out + i, OneLane::load(in + i));
    }
    OneLane::store(out + bytes - kLaneBytes, OneLane::load(in + bytes - kLaneBytes));
  } else if (bytes >= 8) {
    copy_ends<uint64_t>(out, in, bytes);
  } else if (bytes >= 4) {
    copy_ends<uint32_t>(out, in, bytes);
  } else if (bytes >= 2) {
    copy_ends<uint16_t>(out, in, bytes);
  } else if (bytes == 1) {
    *out = *in;
  }
}

// What happens beside the work on a block, a little after each step, so that the memory never
// waits for the registers nor they for it. Lines leave and are asked for in turns: a burst of either
// would fill the queue that both go through.
class Traffic {
 public:
  Traffic(const Block& block, int64_t steps)
      : block_(block),
        interval_((steps + kTurns - 1) / kTurns),
        flushes_(share(block.flush.count, steps)),
        fetches_(share(block.fetch.count, steps)),
        ends_(share(block.ends.count, steps)),
        steps_left_((flushes_ | fetches_) != 0 ? interval_ : INT64_MAX) {}

  void advance() {
    if (--steps_left_ > 0) return;
    steps_left_ = interval_;
    move(flushes_, fetches_, ends_);
  }
  void finish() { move(block_.flush.count, block_.fetch.count, block_.ends.count); }

 private:
  __attribute__((noinline)) void move(int64_t flushes, int64_t fetches, int64_t ends) {
    const Flush& flush = block_.flush;
    const Fetch& fetch = block_.fetch;
    Lines lines = {fetch.first, fetch.offsets + fetched_, fetch.bytes,
                   smaller(fetches, fetch.count - fetched_), 0};
    fetched_ += lines.runs;
    for (const int64_t last = smaller(flushed_ + flushes, flush.count); flushed_ < last;
         ++flushed_) {
      stream(flush.out + flush.offsets[flushed_], flush.in + flushed_ * flush.pitch, flush.bytes,
             lines);
    }
    while (lines.runs > 0) fetch_line(lines);
    // A store that waits for its line holds up all that follow, those past the caches too.
    for (const int64_t last = smaller(ended_ + ends, block_.ends.count); ended_ < last; ++ended_) {
      const Byte* const run = block_.ends.first + block_.ends.offsets[ended_];
      __builtin_prefetch(run, 1, 2);
      __builtin_prefetch(run + block_.ends.bytes - 1, 1, 2);
    }
  }

  // What is still to be fetched in a step.
  struct Lines {
    const Byte* first;
    const int64_t* offsets;
    int64_t bytes;  // of each run
    int64_t runs;
    int64_t at;  // in the run that comes next
  };

  __attribute__((always_inline)) static void fetch_line(Lines& lines) {
    __builtin_prefetch(lines.first + *lines.offsets + lines.at, 0, 2);  // to L2: L1 is full
    lines.at += kLineBytes;
    if (lines.at >= lines.bytes) {
      lines.at = 0;
      ++lines.offsets;
      --lines.runs;
    }
  }

  // Whole lines go past the caches; what shares a line with somebody else goes through them.
  __attribute__((always_inline)) static void stream(Byte* out, const Byte* in, int64_t bytes,
                                                    Lines& lines) {
    const auto head = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(out) % kLineBytes);
    if (bytes < head + kLineBytes) {
      copy_bytes(out, in, bytes);
      return;
    }
    copy_bytes(out, in, head);
    int64_t i = head;
    for (; i <= bytes - kLineBytes; i += kLineBytes) {
      stream_line(out + i, in + i);
      if (lines.runs > 0) fetch_line(lines);
    }
    copy_bytes(out + i, in + i, bytes - i);
  }

  // In so many turns at most: small steps would otherwise be mostly calls.
  static constexpr int64_t kTurns = 32;

  // Of each turn, so that all is done with the last.
  [[nodiscard]] int64_t share(int64_t count, int64_t steps) const {
    const int64_t turns = steps < interval_ ? 1 : steps / interval_;
    return (count + turns - 1) / turns;
  }

  const Block& block_;
  const int64_t interval_;  // steps from turn to turn
  const int64_t flushes_;   // of each turn
  const int64_t fetches_;
  const int64_t ends_;
  int64_t steps_left_;
  int64_t flushed_ = 0;
  int64_t fetched_ = 0;
  int64_t ended_ = 0;
};

// Calls body(in, out) for every position of all axes but the last two.
template <class Body>
inline void for_each_plane(const Block& block, Body&& body) {
  const unsigned rank = block.rank - 2;
  int64_t position[kMaxBlockRank] = {};
  const Byte* in = block.in;
  Byte* out = block.out;
  for (;;) {
    body(in, out);
    unsigned axis = rank;
    for (;;) {
      if (axis-- == 0) return;
      in += block.in_steps[axis];
      out += block.out_steps[axis];
      if (++position[axis] < block.extents[axis]) break;
      in -= block.extents[axis] * block.in_steps[axis];
      out -= block.extents[axis] * block.out_steps[axis];
      position[axis] = 0;
    }
  }
}

inline int64_t plane_count(const Block& block) {
  int64_t count = 1;
  for (unsigned axis = 0; axis + 2 < block.rank; ++axis) count *= block.extents[axis];
  return count;
}

// The element at in_row_step * r + width * c goes to width * r + out_column_step * c.
struct Plane {
  const Byte* in;
  Byte* out;
  int64_t in_step;   // from row to row
  int64_t out_step;  // from column to column
  int64_t rows;
  int64_t columns;
};

// Transposes by interleaving: of N vectors, numbers r and r + N / 2 become 2 r and 2 r + 1, log2(N)
// times. Each time is a perfect shuffle of all elements, and so many of them transpose (H. S. Stone,
// "Parallel Processing with the Perfect Shuffle", 1971). Lane l of vector k begins as row k + N * l,
// so that each vector ends as a run of one column. `pieces` tiles side by side are read row by row:
// a line is done with before another of its set evicts it.
template <class Lanes, unsigned width, int pieces>
inline void transpose_tile(const Byte* in, int64_t in_step, Byte* out, int64_t out_step) {
  using Vector = typename Lanes::Vector;
  constexpr int n = static_cast<int>(kLaneBytes / width);
  Vector v[pieces][n];
  for (int k = 0; k < n; ++k) {
    const Byte* row = in + k * in_step;
    for (int p = 0; p < pieces; ++p) v[p][k] = Lanes::first(row + p * kLaneBytes);
    if constexpr (Lanes::kLanes > 1) {
      row += n * in_step;
      for (int p = 0; p < pieces; ++p)
        v[p][k] = Lanes::template put<1>(v[p][k], row + p * kLaneBytes);
    }
    if constexpr (Lanes::kLanes > 2) {
      row += n * in_step;
      for (int p = 0; p < pieces; ++p)
        v[p][k] = Lanes::template put<2>(v[p][k], row + p * kLaneBytes);
      row += n * in_step;
      for (int p = 0; p < pieces; ++p)
        v[p][k] = Lanes::template put<3>(v[p][k], row + p * kLaneBytes);
    }
  }
  for (int p = 0; p < pieces; ++p) {
    for (int stage = 1; stage < n; stage *= 2) {
      Vector turned[n];
      for (int r = 0; r < n / 2; ++r) {
        turned[2 * r] = Lanes::template low<width>(v[p][r], v[p][r + n / 2]);
        turned[2 * r + 1] = Lanes::template high<width>(v[p][r], v[p][r + n / 2]);
      }
      for (int r = 0; r < n; ++r) v[p][r] = turned[r];
    }
    for (int c = 0; c < n; ++c) Lanes::store(out + (p * n + c) * out_step, v[p][c]);
  }
}

// Calls tile(first) for tiles of `size` along an extent of at least that; the last one overlaps the
// one before, and writes the same bytes again.
template <class Tile>
inline void for_each_tile(int64_t extent, int64_t size, Tile&& tile) {
  for (int64_t first = 0; first < extent; first += size) tile(smaller(first, extent - size));
}

// Bytes of a row that are copied together where rows conflict, and what lies between the copies:
// an odd number of lines.
inline constexpr int64_t kStagedBytes = 256;
inline constexpr int64_t kStagedStep = kStagedBytes + kLineBytes;

// Whether so many rows compete for a few sets of L1 (64 sets of 8 lines, at the least), so that lines
// are evicted before the next columns are read from them.
inline bool rows_conflict(int64_t in_step, int64_t rows) {
  const int64_t period = 32768 / rows;
  const int64_t rest = (in_step % period + period) % period;
  return rest % kLineBytes != 0 && smaller(rest, period - rest) <= kLaneBytes;
}

template <class Lanes, unsigned width, int pieces>
void transpose_plane(const Plane& plane, Traffic& traffic) {
  constexpr int64_t n = kLaneBytes / width;
  constexpr int64_t rows = n * Lanes::kLanes;
  const int64_t row_bytes = plane.columns * width;
  const bool staged = row_bytes <= kStagedBytes && rows_conflict(plane.in_step, rows);
  Byte stage[rows * kStagedStep];
  for_each_tile(plane.rows, rows, [&](int64_t row) {
    const Byte* in = plane.in + row * plane.in_step;
    int64_t in_step = plane.in_step;
    if (staged) {
      for (int64_t r = 0; r < rows; ++r) {
        copy_bytes(stage + r * kStagedStep, in + r * in_step, row_bytes);
      }
      in = stage;
      in_step = kStagedStep;
    }
    for_each_tile(plane.columns, n * pieces, [&](int64_t column) {
      transpose_tile<Lanes, width, pieces>(in + column * width, in_step,
                                           plane.out + column * plane.out_step + row * width,
                                           plane.out_step);
      traffic.advance();
    });
  });
}

template <unsigned width>
inline void copy_element(Byte* out, const Byte* in, int64_t width_bytes) {
  if constexpr (width == 0) {
    copy_bytes(out, in, width_bytes);
  } else {
    __builtin_memcpy(out, in, width);
  }
}

// Any steps at all; the inner of the two axes is the last.
template <unsigned width>
inline void copy_plane(const Block& block, const Byte* in, Byte* out) {
  const unsigned outer = block.rank - 2;
  const unsigned inner = block.rank - 1;
  const int64_t in_step = block.in_steps[inner];
  const int64_t out_step = block.out_steps[inner];
  const int64_t count = block.extents[inner];
  for (int64_t i = 0; i < block.extents[outer]; ++i) {
    for (int64_t j = 0; j < count; ++j) {
      copy_element<width>(out + j * out_step, in + j * in_step, block.width_bytes);
    }
    in += block.in_steps[outer];
    out += block.out_steps[outer];
  }
}

template <unsigned width>
void move(const Block& block) {
  Traffic traffic(block, plane_count(block));
  for_each_plane(block, [&](const Byte* in, Byte* out) {
    copy_plane<width>(block, in, out);
    traffic.advance();
  });
  traffic.finish();
}

template <unsigned width>
void transpose(const Block& block) {
  constexpr int64_t n = kLaneBytes / width;
  // A line of input where the registers hold that many columns.
  constexpr int pieces = n <= 4 ? 4 : static_cast<int>(16 / n);
  const int64_t rows = block.extents[block.rank - 1];
  const int64_t columns = block.extents[block.rank - 2];
  if (rows < n || columns < n) return move<width>(block);
  const bool wide = rows >= n * Widest::kLanes;
  const bool half = !wide && rows >= n * Half::kLanes;
  const bool many = wide && columns >= n * pieces;
  const int64_t lanes = wide ? Widest::kLanes : half ? Half::kLanes : 1;
  const int64_t tile = n * n * lanes * (many ? pieces : 1);
  Traffic traffic(block, plane_count(block) * ((rows * columns + tile - 1) / tile));
  Plane plane = {nullptr, nullptr, block.in_steps[block.rank - 1], block.out_steps[block.rank - 2],
                 rows,    columns};
  for_each_plane(block, [&](const Byte* in, Byte* out) {
    plane.in = in;
    plane.out = out;
    if (many) {
      transpose_plane<Widest, width, pieces>(plane, traffic);
    } else if (wide) {
      transpose_plane<Widest, width, 1>(plane, traffic);
    } else if (half) {
      transpose_plane<Half, width, 1>(plane, traffic);
    } else {
      transpose_plane<OneLane, width, 1>(plane, traffic);
    }
  });
  traffic.finish();
}

// What no later block is there to do.
void flush(const Block& block) { Traffic(block, 1).finish(); }

}  // namespace

const Permuting kPermuting = {
    {transpose<1>, transpose<2>, transpose<4>, transpose<8>, transpose<16>, nullptr},
    {move<1>, move<2>, move<4>, move<8>, move<16>, move<0>},
    flush,
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
