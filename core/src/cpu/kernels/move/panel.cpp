// Transpositions straight into whole lines of the output.
#include "cpu/kernels/move/edges.hpp"
#include "cpu/kernels/move/tile.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

#if defined(__AVX512BW__)

// Lines that a later panel reads, prefetched in turns with the lines that this one writes: a burst
// of either would fill the queue that both go through.
struct Fetches {
  const Byte* first;
  const int64_t* next;
  const int64_t* end;
  int64_t more;  // with each line written, in addition to one

  Fetches(const Panel& panel, int64_t lines)
      : first(panel.fetch.first),
        next(panel.fetch.offsets),
        end(next + panel.fetch.count),
        more(lines == 0 ? 0 : (panel.fetch.count - 1) / lines) {}

  __attribute__((always_inline)) void one() {
    if (next != end) __builtin_prefetch(first + *next++, 0, 2);
  }
  void several(int64_t count) {
    for (; count > 0; --count) one();
  }
};

// Some adjacent columns, from their first rows to their last. A vector is a line long, and the
// lines of a column begin anywhere in it: each is made of two vectors.
template <unsigned width, int pieces, bool aligned>
class Strip {
  using Lanes = FourLanes;
  using Vector = Lanes::Vector;
  static constexpr int kColumns = static_cast<int>(kLaneBytes / width) * pieces;
  static constexpr int64_t kRows = kLineBytes / width;

 public:
  // Does not write the first `skip` columns, which have been written.
  Strip(const Panel& panel, int64_t column, int skip)
      : panel_(panel), column_(column), in_(panel.in + column * width), skip_(skip) {
    const int64_t available = panel.available * width;
    for (int c = 0; c < kColumns; ++c) {
      Byte* const out = panel.out + (column + c) * panel.out_step;
      const int64_t head =
          aligned ? 0 : static_cast<int64_t>(-reinterpret_cast<uintptr_t>(out) % kLineBytes);
      const int64_t to_line =
          head + (panel.rows * width - head + kLineBytes - 1) / kLineBytes * kLineBytes;
      const int64_t bytes = smaller(to_line, available) - head;
      lines_[c] = out + head;
      heads_[c] = head;
      bytes_[c] = bytes > 0 ? bytes : 0;
      least_ = c == 0 ? bytes_[c] : smaller(least_, bytes_[c]);
      most_ = c == 0 || bytes_[c] > most_ ? bytes_[c] : most_;
    }
    least_ = least_ / kLineBytes * kLineBytes;
  }

  void run(Fetches& fetches) {
    if constexpr (!aligned) start();
    run_whole(fetches);
    for (int64_t i = least_; i < most_; i += kLineBytes) finish(i);
  }

 private:
  // Calls put(c, vector) for each column, from row `first` on.
  template <class Put>
  __attribute__((always_inline)) void read(int64_t first, Put&& put) const {
    const Byte* const in = in_;
    const int64_t* const rows = panel_.row_offsets + first;
    transpose_tile<Lanes, width, pieces>([&](int64_t r) { return in + rows[r]; }, put);
  }

  // Writes the partial lines before the first whole ones.
  __attribute__((noinline)) void start() {
    read(0, [&](int64_t c, Vector v) { before_[c] = v; });
    for (int c = 0; c < kColumns; ++c) {
      windows_[c] = Lanes::window<width>(heads_[c] / width);
      const bool continues = column_ + c == 0 ? panel_.first_continues : panel_.continues;
      if (continues || c < skip_ || heads_[c] == 0) continue;
      const int64_t first = kLineBytes - heads_[c];
      put_part(lines_[c] - kLineBytes, first, first + smaller(heads_[c], panel_.available * width),
               Lanes::within<width>(before_[c], Lanes::window<width>(-first / width), before_[c]));
    }
  }

  // The lines that every column has.
  __attribute__((always_inline)) void run_whole(Fetches& fetches) {
    Vector before[aligned ? 1 : kColumns];
    Vector windows[aligned ? 1 : kColumns];
    if constexpr (!aligned) {
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) before[c] = before_[c], windows[c] = windows_[c];
    }
    Fetches next = fetches;
    for (int64_t i = 0; i < least_; i += kLineBytes) {
      read(i / width + (aligned ? 0 : kRows), [&](int64_t c, Vector v) {
        Vector line = v;
        if constexpr (!aligned) {
          line = Lanes::within<width>(before[c], windows[c], v);
          before[c] = v;
        }
        if (pieces > 1 || c >= skip_) Lanes::stream(lines_[c] + i, line);
        next.one();
      });
      next.several(next.more * kColumns);
    }
    fetches = next;
    if constexpr (!aligned) {
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) before_[c] = before[c];
    }
  }

  // Writes the lines `i` bytes after the first whole ones, where some columns end.
  __attribute__((noinline)) void finish(int64_t i) {
    Vector now[kColumns];
    read(i / width + (aligned ? 0 : kRows), [&](int64_t c, Vector v) { now[c] = v; });
    for (int c = 0; c < kColumns; ++c) {
      Vector line = now[c];
      if constexpr (!aligned) {
        line = Lanes::within<width>(before_[c], windows_[c], now[c]);
        before_[c] = now[c];
      }
      const int64_t bytes = bytes_[c] - i;
      if (bytes <= 0 || c < skip_) continue;
      if (bytes >= kLineBytes) {
        Lanes::stream(lines_[c] + i, line);
      } else {
        put_part(lines_[c] + i, 0, bytes, line);
      }
    }
  }

  void put_part(Byte* line, int64_t first, int64_t last, Vector v) const {
    Byte from[kLineBytes];
    Lanes::store(from, v);
    put_edge(panel_.edges, line, first, last, from);
  }

  const Panel& panel_;
  const int64_t column_;
  const Byte* const in_;
  const int skip_;
  int64_t least_ = 0;        // bytes of the whole lines that every column has
  int64_t most_ = 0;         // and of all that one has
  Byte* lines_[kColumns];    // the first whole ones
  int64_t heads_[kColumns];  // bytes before them
  int64_t bytes_[kColumns];  // from there on
  Vector windows_[aligned ? 1 : kColumns];
  Vector before_[aligned ? 1 : kColumns];
};

// Strips of `pieces` tiles from column `first` on, as long as they fit; returns where they end.
template <unsigned width, int pieces, bool aligned>
int64_t run_strips(const Panel& panel, int64_t first, Fetches& fetches) {
  constexpr int64_t columns = kLaneBytes / width * pieces;
  for (; first + columns <= panel.columns; first += columns) {
    Strip<width, pieces, aligned>(panel, first, 0).run(fetches);
  }
  return first;
}

template <unsigned width, bool aligned>
void run_panel(const Panel& panel) {
  constexpr int64_t n = kLaneBytes / width;
  // A line of input at once, so that it need not stay; else with all that a strip needs in
  // registers.
  constexpr int pieces = n <= 4 ? 4 : static_cast<int>(16 / n);
  Fetches fetches(panel, panel.rows * width / kLineBytes * panel.columns);
  int64_t column = 0;
  if (aligned || panel.conflict) column = run_strips<width, pieces, aligned>(panel, 0, fetches);
  column = run_strips<width, 1, aligned>(panel, column, fetches);
  if (column < panel.columns) {
    const int64_t first = panel.columns - n;
    Strip<width, 1, aligned>(panel, first, static_cast<int>(column - first)).run(fetches);
  }
  fetches.several(fetches.end - fetches.next);
}

template <unsigned width>
void run(const Panel& panel) {
  panel.aligned ? run_panel<width, true>(panel) : run_panel<width, false>(panel);
}

#endif

}  // namespace

#if defined(__AVX512BW__)
const PanelKernel kPanel[kWidthCount] = {nullptr, run<2>, run<4>, run<8>, run<16>, nullptr};
#else
const PanelKernel kPanel[kWidthCount] = {};
#endif

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
