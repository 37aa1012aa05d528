// Permutations of blocks: transpositions in registers where two axes have unit steps, loops over
// elements where they have not, and meanwhile the traffic of the blocks before and after.
#include "cpu/kernels/move/edges.hpp"
#include "cpu/kernels/move/tile.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Memory traffic of the neighbouring blocks, issued in small portions between the steps of this
// one, so that the memory never waits for the registers nor they for it. Stores and prefetches
// alternate: a burst of either would fill the queue that both share.
class Traffic {
 public:
  Traffic(const Block& block, int64_t steps)
      : block_(block),
        interval_((steps + kTurns - 1) / kTurns),
        flushes_(share(block.flush.count, steps)),
        fetches_(share(block.fetch.count, steps)),
        steps_left_((flushes_ | fetches_) != 0 ? interval_ : INT64_MAX) {}

  void advance() {
    if (--steps_left_ > 0) return;
    steps_left_ = interval_;
    move(flushes_, fetches_);
  }
  void finish() { move(block_.flush.count, block_.fetch.count); }

 private:
  __attribute__((noinline)) void move(int64_t flushes, int64_t fetches) {
    const Flush flush = block_.flush;
    Lines lines = {block_.fetch.first, block_.fetch.offsets + fetched_,
                   smaller(fetches, block_.fetch.count - fetched_)};
    fetched_ += lines.count;
    const int64_t last = smaller(flushed_ + flushes, flush.count);
    // Long elements are read in runs, which memory answers faster than turns of lines.
    const bool in_turns = block_.width_bytes < kLongElementBytes;
    for (int64_t run = flushed_; run < last; ++run) stream(flush, run, lines, in_turns);
    flushed_ = last;
    for (; lines.count > 0; --lines.count) fetch_line(lines);
  }

  // Lines that a step has still to prefetch.
  struct Lines {
    const Byte* first;
    const int64_t* offsets;
    int64_t count;
  };

  __attribute__((always_inline)) static void fetch_line(Lines& lines) {
    __builtin_prefetch(lines.first + *lines.offsets++, 0, 2);  // to L2: L1 is full
  }

  // Whole lines go past the caches; partial ones, which are shared with another run, through them.
  __attribute__((always_inline)) static void stream(const Flush& flush, int64_t run, Lines& lines,
                                                    bool in_turns) {
    Byte* const out = flush.out + flush.offsets[run];
    const Byte* const in = flush.in + run * flush.pitch;
    const auto head = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(out) % kLineBytes);
    if (head != 0 && !flush.continues) {
      const int64_t before = kLineBytes - head;
      put_edge(flush.edges, out - before, before, before + smaller(head, flush.available),
               in - before);
    }
    const int64_t to_line = head + (flush.bytes - head + kLineBytes - 1) / kLineBytes * kLineBytes;
    const int64_t end = smaller(to_line, flush.available);
    int64_t i = head;
    // In turns, several of each, with few other instructions: while stores wait for the memory,
    // only a limited number of instructions after them can begin.
    for (; i <= end - kTurnLines * kLineBytes && lines.count >= kTurnLines && in_turns;
         i += kTurnLines * kLineBytes, lines.count -= kTurnLines) {
#pragma GCC unroll 4
      for (int64_t line = 0; line < kTurnLines; ++line) {
        stream_line(out + i + line * kLineBytes, in + i + line * kLineBytes);
        fetch_line(lines);
      }
    }
    for (; i <= end - kLineBytes; i += kLineBytes) stream_line(out + i, in + i);
    if (i < end) put_edge(flush.edges, out + i, 0, end - i, in + i);
  }
  static constexpr int64_t kTurnLines = 4;

  // The largest number of turns of a block: small steps would otherwise be mostly calls.
  static constexpr int64_t kTurns = 32;

  // Lines per turn, so that all are done after the last.
  [[nodiscard]] int64_t share(int64_t count, int64_t steps) const {
    const int64_t turns = steps < interval_ ? 1 : steps / interval_;
    return (count + turns - 1) / turns;
  }

  const Block& block_;
  const int64_t interval_;  // steps from turn to turn
  const int64_t flushes_;   // of each turn
  const int64_t fetches_;
  int64_t steps_left_;
  int64_t flushed_ = 0;
  int64_t fetched_ = 0;
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

// The element at in_step * r + width * c is copied to width * r + out_step * c.
struct Plane {
  const Byte* in;
  Byte* out;
  int64_t in_step;   // from row to row
  int64_t out_step;  // from column to column
  int64_t rows;
  int64_t columns;
};

// Calls tile(first) for tiles of `size` along an extent of at least that; the last one overlaps the
// one before, and writes the same bytes again.
template <class Tile>
inline void for_each_tile(int64_t extent, int64_t size, Tile&& tile) {
  for (int64_t first = 0; first < extent; first += size) tile(smaller(first, extent - size));
}

template <class Lanes, unsigned width, int pieces>
void transpose_plane(const Plane& plane, Traffic& traffic) {
  using Vector = typename Lanes::Vector;
  constexpr int64_t n = kLaneBytes / width;
  constexpr int64_t rows = n * Lanes::kLanes;
  for_each_tile(plane.rows, rows, [&](int64_t row) {
    for_each_tile(plane.columns, n * pieces, [&](int64_t column) {
      const Byte* const in = plane.in + row * plane.in_step + column * width;
      Byte* const out = plane.out + column * plane.out_step + row * width;
      transpose_tile<Lanes, width, pieces>(
          [&](int64_t r) { return in + r * plane.in_step; },
          [&](int64_t c, Vector v) { Lanes::store(out + c * plane.out_step, v); });
      traffic.advance();
    });
  });
}

// Whether the rows that the registers hold evict each other from a first cache of 64 sets of 8
// lines: every k-th of them moves `off` bytes on from set to set, so that 64 rows have about k +
// off sets.
inline bool rows_conflict(int64_t step) {
  for (int64_t k = 1; k <= 8; ++k) {
    const int64_t off = ((k * step + 2048) & 4095) - 2048;
    if (k + (off < 0 ? -off : off) <= 12) return true;
  }
  return false;
}

// Transposes by whole lines of the input, where the registers hold columns of a part of a line:
// such a line is read several times, and would be evicted in between. The lines are first copied to
// adjacent memory.
template <class Lanes, unsigned width, int pieces>
void transpose_lines(const Plane& plane, Traffic& traffic) {
  constexpr int64_t n = kLaneBytes / width;
  constexpr int64_t rows = n * Lanes::kLanes;
  alignas(kLineBytes) Byte lines[rows * kLineBytes];
  for_each_tile(plane.rows, rows, [&](int64_t row) {
    for_each_tile(plane.columns, kLineBytes / width, [&](int64_t column) {
      const Byte* const in = plane.in + row * plane.in_step + column * width;
      Byte* const out = plane.out + column * plane.out_step + row * width;
      for (int64_t r = 0; r < rows; ++r) copy_line(lines + r * kLineBytes, in + r * plane.in_step);
      for (int64_t first = 0; first < kLineBytes / width; first += n * pieces) {
        transpose_tile<Lanes, width, pieces>(
            [&](int64_t r) { return lines + r * kLineBytes + first * width; },
            [&](int64_t c, typename Lanes::Vector v) {
              Lanes::store(out + (first + c) * plane.out_step, v);
            });
        traffic.advance();
      }
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

// Any steps at all; the longer of the two axes is the inner one.
template <unsigned width>
inline void copy_plane(const Block& block, const Byte* in, Byte* out) {
  const unsigned last = block.rank - 1;
  const unsigned inner = block.extents[last - 1] > block.extents[last] ? last - 1 : last;
  const unsigned outer = 2 * last - 1 - inner;
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
  const bool lines = width < 4 && wide && columns >= kLineBytes / width &&
                     rows_conflict(block.in_steps[block.rank - 1]);
  const int64_t lanes = wide ? Widest::kLanes : half ? Half::kLanes : 1;
  const int64_t tile = n * n * lanes * (many ? pieces : 1);
  Traffic traffic(block, plane_count(block) * ((rows * columns + tile - 1) / tile));
  Plane plane = {nullptr, nullptr, block.in_steps[block.rank - 1], block.out_steps[block.rank - 2],
                 rows,    columns};
  for_each_plane(block, [&](const Byte* in, Byte* out) {
    plane.in = in;
    plane.out = out;
    if (lines) {
      transpose_lines<Widest, width, pieces>(plane, traffic);
    } else if (many) {
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

// Writes the results of the last block, which no later block does.
void flush(const Block& block) { Traffic(block, 1).finish(); }

}  // namespace

const Permuting kPermuting = {
    {transpose<1>, transpose<2>, transpose<4>, transpose<8>, transpose<16>, nullptr},
    {move<1>, move<2>, move<4>, move<8>, move<16>, move<0>},
    flush,
    kPanel,
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
