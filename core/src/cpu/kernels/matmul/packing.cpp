// Packing: factors of every dtype, at any addresses, become panels of the lanes that sums are made
// of.
#include "cpu/gemm.hpp"
#include "cpu/halves.hpp"
#include "cpu/kernels/matmul/amx.hpp"
#include "cpu/kernels/matmul/interleave.hpp"
#include "cpu/kernels/matmul/panel.hpp"
#include "cpu/kernels/move/tile.hpp"
#include "cpu/kernels/partial_vectors.hpp"
#include "cpu/kernels/strip.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Packs `count` elements of one depth, and repeats the last one up to a panel.
template <class T, int64_t kPanel>
inline void pack_depth(const Byte* from, int64_t step, int64_t count, Byte* to) {
  for (int64_t i = 0; i < kPanel; ++i) {
    store<T>(to + i * kWidth<T>, load<T>(from + smaller(i, count - 1) * step));
  }
}

// Packs a panel by a transposition in registers; each of `rows` has adjacent elements. Where a
// panel is no multiple of a vector, the last vector has surplus rows, which may be any rows that
// can be read: the next depth overwrites their elements. Every other row is fetched `ahead` bytes
// further on; nothing is read there.
template <class T, int64_t kPanel>
constexpr int64_t kTransposedRows = (kPanel + kPerVector<T> - 1) / kPerVector<T> * kPerVector<T>;
template <class T, int64_t kPanel>
inline void pack_transposed(const Byte* const* rows, int64_t ahead, int64_t depth, Byte* to) {
  constexpr int kPieces = 4;
  constexpr int64_t kDepths = kPieces * kLaneBytes / kWidth<T>;
  if (depth < kDepths) {
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t i = 0; i < kPanel; ++i) {
        store<T>(to + (k * kPanel + i) * kWidth<T>, load<T>(rows[i] + k * kWidth<T>));
      }
    }
    return;
  }
  // The last tile begins so early that it is whole, and packs some depths again.
  for (int64_t next = 0; next < depth; next += kDepths) {
    const int64_t k = smaller(next, depth - kDepths);
    if (ahead != 0) {
#pragma GCC unroll 32
      for (int64_t i = 0; i < kPanel; i += 2) {
        __builtin_prefetch(rows[i] + ahead + k * kWidth<T>, 0, 2);
      }
    }
    // From the last vector, which has surplus rows at the place of the next depth's first ones, to
    // the first.
    for (int64_t v = kTransposedRows<T, kPanel> - kPerVector<T>; v >= 0; v -= kPerVector<T>) {
      Byte* const out = to + (k * kPanel + v) * kWidth<T>;
      transpose_tile<Widest, sizeof(T), kPieces>(
          [&](int64_t row) { return rows[v + row] + k * kWidth<T>; },
          [&](int64_t c, Widest::Vector column) {
            Widest::store(out + c * kPanel * kWidth<T>, column);
          });
    }
  }
}

// By vectors, as compilers may copy so few bytes by halves of them.
template <int64_t kBytes>
inline void copy_depth(const Byte* from, Byte* to) {
  constexpr int64_t kWhole = kBytes / kVectorBytes * kVectorBytes;
#pragma GCC unroll 4
  for (int64_t at = 0; at < kWhole; at += kVectorBytes) {
    store(to + at, load<Vector<uint32_t>>(from + at));
  }
  __builtin_memcpy(to + kWhole, from + kWhole, kBytes - kWhole);
}

constexpr int64_t kFetchedLine = 64;

// Packs whole panels that have adjacent elements at each depth. The panels that follow are
// prefetched, because processors do not notice streams of rows far apart; nothing is read there.
template <class T, int64_t kPanel>
inline void pack_adjacent(const Byte* from, int64_t depth_step, int64_t depth, int64_t panels,
                          bool is_followed, Byte* to) {
  constexpr int64_t kBytes = kPanel * kWidth<T>;
  if (panels == 1) {
    for (int64_t k = 0; k < depth; ++k) {
      copy_depth<kBytes>(from + k * depth_step, to + k * kBytes);
    }
    return;
  }
  for (int64_t k = 0; k < depth; ++k, from += depth_step, to += kBytes) {
    for (int64_t p = 0; p < panels; ++p) {
      for (int64_t at = 0; is_followed && at < kBytes; at += kFetchedLine) {
        __builtin_prefetch(from + (panels + p) * kBytes + at, 0, 2);
      }
      copy_depth<kBytes>(from + p * kBytes, to + p * depth * kBytes);
    }
  }
}
// Panels that are packed at a time: lines that follow each other are read together, and the lines
// that are written are few enough for the first cache where they are in the same set. Measured for
// 1x1 kernels with 256 channels apart: 1.1 times as long by 8, and by 1.
constexpr int64_t kAdjacentPanels = 2;

// The first lane of those of two vectors, the third one and so on.
template <class T>
inline Vector<T> every_other(const Vector<T>& a, const Vector<T>& b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    const __m512i lanes =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return reinterpret_cast<Vector<T>>(_mm512_permutex2var_epi32(
        reinterpret_cast<__m512i>(a), lanes, reinterpret_cast<__m512i>(b)));
  } else {
    const __m512i lanes = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    return reinterpret_cast<Vector<T>>(_mm512_permutex2var_epi64(
        reinterpret_cast<__m512i>(a), lanes, reinterpret_cast<__m512i>(b)));
  }
#elif defined(__AVX2__)
  // Each half by itself, and then the halves of 64 bits in order.
  constexpr int kInOrder = 0xd8;
  if constexpr (sizeof(T) == 4) {
    const __m256 mixed =
        _mm256_shuffle_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), 0x88);
    return reinterpret_cast<Vector<T>>(
        _mm256_permute4x64_pd(reinterpret_cast<__m256d>(mixed), kInOrder));
  } else {
    const __m256d mixed =
        _mm256_unpacklo_pd(reinterpret_cast<__m256d>(a), reinterpret_cast<__m256d>(b));
    return reinterpret_cast<Vector<T>>(_mm256_permute4x64_pd(mixed, kInOrder));
  }
#else
  Vector<T> lanes = {};
  constexpr int64_t kHalf = kPerVector<T> / 2;
  for (int64_t i = 0; i < kHalf; ++i) {
    lanes[i] = a[2 * i];
    lanes[kHalf + i] = b[2 * i];
  }
  return lanes;
#endif
}

// Packs a whole panel of every other one of adjacent elements: pixels two apart.
template <class T, int64_t kPanel>
inline void pack_every_other(const Byte* from, int64_t depth_step, int64_t depth, Byte* to) {
  for (int64_t k = 0; k < depth; ++k, from += depth_step, to += kPanel * kWidth<T>) {
    // The surplus of a last vector is overwritten by the next depth.
    for (int64_t i = 0; i < kPanel; i += kPerVector<T>) {
      const int64_t count = 2 * (kPanel - i) - 1;
      const Byte* const first = from + 2 * i * kWidth<T>;
      Vector<T> second = {};
      if (count > kPerVector<T>) {
        second =
            FirstLanes<T>(smaller(count - kPerVector<T>, kPerVector<T>)).load(first + kVectorBytes);
      }
      store(to + i * kWidth<T>,
            every_other<T>(FirstLanes<T>(smaller(count, kPerVector<T>)).load(first), second));
    }
  }
}

template <class T, int64_t kPanel>
void pack(const Factor& from, Byte* to) {
  for (int64_t i = 0; i < from.count; i += kPanel, to += kPanel * from.depth * kWidth<T>) {
    const Byte* const data = from.data + i * from.step;
    const int64_t count = smaller(from.count - i, kPanel);
    if constexpr (sizeof(T) >= 4) {
      if (from.may_read_between && from.step == 2 * kWidth<T> && from.depth_step != kWidth<T> &&
          count == kPanel) {
        pack_every_other<T, kPanel>(data, from.depth_step, from.depth, to);
        continue;
      }
    }
    if (from.depth_step == kWidth<T>) {
      const Byte* rows[kTransposedRows<T, kPanel>];
      for (int64_t r = 0; r < kTransposedRows<T, kPanel>; ++r) {
        rows[r] = data + smaller(r, count - 1) * from.step;
      }
      pack_transposed<T, kPanel>(rows, from.ahead, from.depth, to);
    } else if (from.step == kWidth<T> && count == kPanel) {
      const int64_t panels = smaller((from.count - i) / kPanel, kAdjacentPanels);
      pack_adjacent<T, kPanel>(data, from.depth_step, from.depth, panels, from.is_followed, to);
      i += (panels - 1) * kPanel;
      to += (panels - 1) * kPanel * from.depth * kWidth<T>;
    } else {
      for (int64_t k = 0; k < from.depth; ++k) {
        pack_depth<T, kPanel>(data + k * from.depth_step, from.step, count,
                              to + k * kPanel * kWidth<T>);
      }
    }
  }
}

// Lanes of a vector that are adjacent elements at each depth, or every other one of adjacent
// elements.
template <class T>
struct LaneRun {
  const Byte* from;  // where the vector's first lane would be
  Between<T> lanes;
  bool is_every_other;
  Between<T> behind;  // of the second vector of these

  [[nodiscard]] Vector<T> load(int64_t at) const {
    const Vector<T> first = lanes.load(from + at);
    return is_every_other ? every_other<T>(first, behind.load(from + at + kVectorBytes)) : first;
  }
};

// Finds the runs of rows [first, end) of a panel, without rows of zeros; returns their number.
template <class T>
int64_t find_runs(const ScatteredRows& from, int64_t first, int64_t end, LaneRun<T>* runs) {
  int64_t count = 0;
  for (int64_t lane = first; lane < end;) {
    const Byte* const data = from.rows[lane];
    const auto is_apart = [&](int64_t other, int64_t step) {
      return other < end && from.rows[other] == data + (other - lane) * step;
    };
    int64_t next = lane + 1;
    if (data != nullptr) {
      const int64_t step = from.may_read_between && is_apart(next, 2 * kWidth<T>) ? 2 : 1;
      while (is_apart(next, step * kWidth<T>)) ++next;
      const int64_t begin = (lane - first) * step;
      const int64_t last = (next - 1 - first) * step + 1;
      // An integer, because an address before the run's memory is no result of pointer arithmetic.
      const auto origin =
          reinterpret_cast<uintptr_t>(data) - static_cast<uintptr_t>(begin * kWidth<T>);
      runs[count++] = {reinterpret_cast<const Byte*>(origin), Between<T>(begin, last), step == 2,
                       Between<T>(begin - kPerVector<T>, last - kPerVector<T>)};
    }
    lane = next;
  }
  return count;
}

// Packs a vector of lanes for each depth; the vectors are `step` bytes apart. A vector has few
// runs, and each run is loaded into its lanes; all other lanes are zeros, which have no bits.
template <class T>
void pack_runs(const LaneRun<T>* runs, int64_t count, const ScatteredRows& from, int64_t step,
               Byte* to) {
  using Bits = Vector<typename IntegersOf<sizeof(T)>::Unsigned>;
  const bool is_plain = count == 1 && !runs[0].is_every_other;
  if (is_plain) {
    const LaneRun<T> run = runs[0];
    for (int64_t k = 0; k < from.depth; ++k, to += step) {
      store(to, run.lanes.load(run.from + k * from.depth_step));
    }
    return;
  }
  for (int64_t k = 0; k < from.depth; ++k, to += step) {
    Bits lanes = {};
    for (int64_t r = 0; r < count; ++r) {
      lanes |= reinterpret_cast<Bits>(runs[r].load(k * from.depth_step));
    }
    store(to, lanes);
  }
}

template <class T, int64_t kPanel>
void pack_scattered(const ScatteredRows& from, Byte* to) {
  if (from.depth_step == kWidth<T>) {
    const Byte* rows[kTransposedRows<T, kPanel>];
    for (int64_t i = 0; i < kTransposedRows<T, kPanel>; ++i) {
      const Byte* const row = from.rows[smaller(i, kPanel - 1)];
      rows[i] = row == nullptr ? from.zeros : row;
    }
    return pack_transposed<T, kPanel>(rows, 0, from.depth, to);
  }
  // From the last vector to the first: the first vector of a depth overwrites the surplus lanes of
  // the last vector of the depth before.
  for (int64_t v = kTransposedRows<T, kPanel> - kPerVector<T>; v >= 0; v -= kPerVector<T>) {
    LaneRun<T> runs[kPerVector<T>];
    const int64_t count = find_runs<T>(from, v, smaller(v + kPerVector<T>, kPanel), runs);
    pack_runs<T>(runs, count, from, kPanel * kWidth<T>, to + v * kWidth<T>);
  }
}

// ---- narrow floats ----

// Depths that are packed as they are, and then widened, at a time: the first cache holds them.
constexpr int64_t kChunkDepth = 64;

template <class T, int64_t kPanel>
constexpr int64_t kChunkBytes = kPanel * kChunkDepth * kWidth<T> + kVectorBytes;

template <int64_t kPanel, StripKernel widen>
void pack_widened(const Factor& from, Byte* to) {
  alignas(64) Byte chunk[kChunkBytes<uint16_t, kPanel>];
  for (int64_t i = 0; i < from.count; i += kPanel) {
    for (int64_t k = 0; k < from.depth; k += kChunkDepth) {
      const int64_t depth = smaller(from.depth - k, kChunkDepth);
      pack<uint16_t, kPanel>({from.data + i * from.step + k * from.depth_step, from.step,
                              from.depth_step, smaller(from.count - i, kPanel), depth},
                             chunk);
      const int64_t count = depth * kPanel;
      const StripInput source = {chunk, kWidth<uint16_t>, kWidth<uint16_t>};
      static_cast<void>(widen({.count = count,
                               .out = to,
                               .out_step = kWidth<float>,
                               .width_bytes = kWidth<float>,
                               .source_count = 1,
                               .in = &source,
                               .parameters = nullptr}));
      to += count * kWidth<float>;
    }
  }
}

// ---- pairs ----

// Packs a panel of pairs of 16 bits without a change, of adjacent depths. The pair of a last depth
// is 0.
template <int64_t kPanel>
void pack_adjacent_pairs(const Factor& from, Byte* to) {
  const int64_t lanes = from.depth / 2;
  const int64_t count = smaller(from.count, kPanel);
  pack<uint32_t, kPanel>({from.data, from.step, kWidth<uint32_t>, count, lanes}, to);
  if (from.depth % 2 == 0) return;
  for (int64_t i = 0; i < kPanel; ++i) {
    const Byte* const row = from.data + smaller(i, count - 1) * from.step;
    store<uint32_t>(to + (lanes * kPanel + i) * kWidth<uint32_t>,
                    load<uint16_t>(row + lanes * kWidth<uint32_t>));
  }
}

// Packs a panel of rows or columns with adjacent bytes: widened first, and then transposed by pairs.
template <class T, int64_t kPanel>
void pack_widened_pairs(const Factor& from, Byte* to) {
  constexpr int64_t kWideBytes = kChunkDepth * kWidth<uint16_t>;
  alignas(64) Byte wide[kPanel * kWideBytes];
  const Byte* rows[kTransposedRows<uint32_t, kPanel>];
  for (int64_t i = 0; i < kTransposedRows<uint32_t, kPanel>; ++i) {
    rows[i] = wide + smaller(i, kPanel - 1) * kWideBytes;
  }
  for (int64_t k = 0; k < from.depth; k += kChunkDepth) {
    const int64_t depth = smaller(from.depth - k, kChunkDepth);
    for (int64_t i = 0; i < kPanel; ++i) {
      const Byte* const row = from.data + smaller(i, from.count - 1) * from.step + k;
      Byte* const out = wide + i * kWideBytes;
      TENURE_INDEPENDENT
      for (int64_t j = 0; j < depth; ++j) {
        store<int16_t>(out + j * kWidth<int16_t>, static_cast<int16_t>(load<T>(row + j)));
      }
      if (depth % 2 != 0) store<int16_t>(out + depth * kWidth<int16_t>, 0);
    }
    const int64_t pairs = (depth + 1) / 2;
    pack_transposed<uint32_t, kPanel>(rows, 0, pairs, to);
    to += pairs * kPanel * kWidth<uint32_t>;
  }
}

// Two depths are one lane of 32 bits, each as a number of 16: products of such pairs are added by
// one instruction. The pair of a last depth is 0.
template <class T, int64_t kPanel>
void pack_pairs(const Factor& from, Byte* to) {
  using Bits = typename IntegersOf<sizeof(T)>::Unsigned;
  constexpr int64_t kRowBytes = kPanel * kWidth<T>;
  alignas(64) Byte chunk[kChunkBytes<Bits, kPanel>];
  for (int64_t i = 0; i < from.count; i += kPanel) {
#if defined(__AVX512BW__)
    if constexpr (sizeof(T) == 2 && kPanel == kInterleavedColumns) {
      const int64_t panel_bytes = (from.depth + 1) / 2 * kPanel * kWidth<uint32_t>;
      const Factor rest = {from.data + i * from.step, from.step, from.depth_step, from.count - i,
                           from.depth};
      if (const int64_t panels = panels_together<uint16_t>(rest); panels != 0) {
        interleave_pairs(rest, panels, to);
        to += panels * panel_bytes;
        i += (panels - 1) * kPanel;
        continue;
      }
      if (from.depth_step == kWidth<T>) {
        pack_adjacent_pairs<kPanel>(rest, to);
        to += panel_bytes;
        continue;
      }
    }
#endif
    if constexpr (sizeof(T) == 1) {
      if (from.depth_step == 1) {
        pack_widened_pairs<T, kPanel>(
            {from.data + i * from.step, from.step, 1, smaller(from.count - i, kPanel), from.depth},
            to);
        to += (from.depth + 1) / 2 * kPanel * kWidth<uint32_t>;
        continue;
      }
    }
    for (int64_t k = 0; k < from.depth; k += kChunkDepth) {
      const int64_t depth = smaller(from.depth - k, kChunkDepth);
      pack<Bits, kPanel>({from.data + i * from.step + k * from.depth_step, from.step,
                          from.depth_step, smaller(from.count - i, kPanel), depth},
                         chunk);
      if (depth % 2 != 0) __builtin_memset(chunk + depth * kRowBytes, 0, kRowBytes);
      for (const Byte* row = chunk; row < chunk + depth * kRowBytes; row += 2 * kRowBytes) {
        TENURE_INDEPENDENT
        for (int64_t lane = 0; lane < kPanel; ++lane) {
          const Byte* const at = row + lane * kWidth<T>;
          const uint32_t first = static_cast<uint16_t>(load<T>(at));
          const uint32_t second = static_cast<uint16_t>(load<T>(at + kRowBytes));
          store<uint32_t>(to + lane * kWidth<uint32_t>, first | second << 16);
        }
        to += kPanel * kWidth<uint32_t>;
      }
    }
  }
}

// ---- bytes where they are multiplied ----

#if defined(__AVX512BW__)
// Four adjacent depths are one lane, in their order. The surplus bytes of a last lane are 0.
template <int64_t kPanel>
void pack_bytes(const Factor& from, Byte* to) {
  constexpr int64_t kLaneDepths = 4;
  constexpr int64_t kLaneRow = kPanel * kWidth<uint32_t>;
  if constexpr (kPanel == kInterleavedColumns) {
    if (from.step == 1 && from.count == kPanel) {
      return interleave_quads(from, 1, to);
    }
  }
  int64_t k = 0;
  if (from.depth_step == 1) {
    k = from.depth / kLaneDepths;
    pack<uint32_t, kPanel>({from.data, from.step, kLaneDepths, from.count, k}, to);
    to += k * kLaneRow;
    k *= kLaneDepths;
  }
  alignas(64) Byte chunk[kChunkBytes<uint8_t, kPanel>];
  for (; k < from.depth; k += kChunkDepth) {
    const int64_t depth = smaller(from.depth - k, kChunkDepth);
    pack<uint8_t, kPanel>(
        {from.data + k * from.depth_step, from.step, from.depth_step, from.count, depth}, chunk);
    const int64_t lanes = (depth + kLaneDepths - 1) / kLaneDepths;
    __builtin_memset(chunk + depth * kPanel, 0,
                     static_cast<uint64_t>((lanes * kLaneDepths - depth) * kPanel));
    for (const Byte* row = chunk; row < chunk + depth * kPanel; row += kLaneDepths * kPanel) {
      TENURE_INDEPENDENT
      for (int64_t lane = 0; lane < kPanel; ++lane) {
        const auto byte = [&](int64_t place) {
          return static_cast<uint32_t>(load<uint8_t>(row + place * kPanel + lane)) << 8 * place;
        };
        store<uint32_t>(to + lane * kWidth<uint32_t>, byte(0) | byte(1) | byte(2) | byte(3));
      }
      to += kLaneRow;
    }
  }
}

// Panels of columns, whose bytes are the factor's.
void pack_byte_columns(const Factor& from, Byte* to) {
  constexpr int64_t kPanel = kPanelColumns<uint32_t>;
  const int64_t panel_bytes = (from.depth + 3) / 4 * kInterleavedBytes;
  for (int64_t i = 0; i < from.count;) {
    const Factor rest = {from.data + i * from.step, from.step, from.depth_step, from.count - i,
                         from.depth};
    int64_t panels = panels_together<uint8_t>(rest);
    if (panels != 0) {
      interleave_quads(rest, panels, to);
    } else {
      panels = 1;
      pack_bytes<kPanel>(
          {rest.data, from.step, from.depth_step, smaller(rest.count, kPanel), from.depth}, to);
    }
    i += panels * kPanel;
    to += panels * panel_bytes;
  }
}

// The bytes of a side, and how they differ from the factor's.
enum class ByteSide : bool { kUnsignedRows, kSignedColumns };
struct ByteMove {
  uint32_t flipped_bits;  // of each lane
  // The start is these times the sum of the moved bytes, and times the depth.
  uint32_t of_sum;
  uint32_t of_depth;
};

inline void flip_bits(Byte* words, int64_t count, uint32_t bits) {
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    Byte* const at = words + i * kWidth<uint32_t>;
    store<uint32_t>(at, load<uint32_t>(at) ^ bits);
  }
}

// Writes the starts, from the `lanes` packed lanes behind them.
template <int64_t kPanel, ByteSide side>
void put_starts(const ByteMove& move, int64_t depth, int64_t lanes, Byte* starts) {
  const __m512i byte_ones = _mm512_set1_epi8(1);
  const __m512i ones = _mm512_set1_epi16(1);
  for (int64_t i = 0; i < kPanel; i += kPerVector<uint32_t>) {
    const FirstLanes<uint32_t> part(smaller(kPanel - i, kPerVector<uint32_t>));
    __m512i sum = _mm512_setzero_si512();
    Byte* const start = starts + i * kWidth<uint32_t>;
    for (int64_t k = 1; k <= lanes; ++k) {
      const auto bytes =
          reinterpret_cast<__m512i>(part.load(start + k * kPanel * kWidth<uint32_t>));
      // Two bytes are no more than 16 bits hold.
      const __m512i pairs = side == ByteSide::kUnsignedRows
                                ? _mm512_maddubs_epi16(bytes, byte_ones)
                                : _mm512_maddubs_epi16(byte_ones, bytes);
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, ones));
    }
    part.store(start, reinterpret_cast<Vector<uint32_t>>(sum) * move.of_sum +
                          static_cast<uint32_t>(depth) * move.of_depth);
  }
}

template <int64_t kPanel, ByteSide side>
void pack_quads(const Factor& from, Byte* to, const ByteMove& move) {
  constexpr int64_t kLaneRow = kPanel * kWidth<uint32_t>;
  const int64_t lanes = (from.depth + 3) / 4;
  const int64_t whole_lanes = from.depth / 4;
  const uint32_t rest_bits = (1u << 8 * (from.depth % 4)) - 1;
  for (int64_t i = 0; i < from.count; i += kPanel) {
    Byte* const starts = to;
    to += kLaneRow;
    pack_bytes<kPanel>({from.data + i * from.step, from.step, from.depth_step,
                        smaller(from.count - i, kPanel), from.depth},
                       to);
    if (move.flipped_bits != 0) {
      flip_bits(to, whole_lanes * kPanel, move.flipped_bits);
      flip_bits(to + whole_lanes * kLaneRow, (lanes - whole_lanes) * kPanel,
                move.flipped_bits & rest_bits);
    }
    if (move.of_sum != 0) {
      put_starts<kPanel, side>(move, from.depth, lanes, starts);
    } else {
      __builtin_memset(starts, 0, kLaneRow);
    }
    to += lanes * kLaneRow;
  }
}

constexpr uint32_t kHighestBits = 0x80808080;

template <class T, class Other>
void pack_unsigned_rows(const Factor& from, Byte* to) {
  pack_quads<kPanelRows, ByteSide::kUnsignedRows>(
      from, to, {kIsSigned<T> ? kHighestBits : 0, kIsSigned<Other> ? 0u : 128u, 0});
}
// The sum of b is that of b' and 128 times the depth where it was moved.
template <class T, class Other>
void pack_signed_columns(const Factor& from, Byte* to) {
  constexpr uint32_t kOfSum = kIsSigned<Other> ? -128u : 0u;
  pack_quads<kPanelColumns<uint32_t>, ByteSide::kSignedColumns>(
      from, to, {kIsSigned<T> ? 0 : kHighestBits, kOfSum, kIsSigned<T> ? 0 : 128 * kOfSum});
}
#endif

// ---- rows of tiles ----

#if defined(__AVX512BW__)
inline __mmask64 first_bytes(int64_t count) { return count == 0 ? 0 : ~0ULL >> (64 - count); }

// Depths of a panel that a register of AMX takes, at most, into rows of 64 bytes. Behind the depths
// of a row are zeros.
template <class T, void (*pack_lanes)(const Factor&, Byte*)>
inline void lay_rows(const Factor& from, Byte* lines) {
  if (from.depth_step == kWidth<T>) {
    const __mmask64 there = first_bytes(from.depth * kWidth<T>);
    for (int64_t i = 0; i < kAmxPanelRows; ++i) {
      const Byte* const row = from.data + smaller(i, from.count - 1) * from.step;
      _mm512_store_si512(lines + i * kAmxRowBytes, _mm512_maskz_loadu_epi8(there, row));
    }
    return;
  }
  constexpr int64_t kLaneRow = kAmxPanelRows * kWidth<uint32_t>;
  alignas(64) Byte lanes[kAmxLanes * kLaneRow] = {};
  pack_lanes(from, lanes);
  const Byte* rows[kAmxLanes];
  for (int64_t lane = 0; lane < kAmxLanes; ++lane) rows[lane] = lanes + lane * kLaneRow;
  pack_transposed<uint32_t, kAmxLanes>(rows, 0, kAmxPanelRows, lines);
}

template <class T, void (*pack_lanes)(const Factor&, Byte*)>
void pack_tile_rows(const Factor& from, Byte* to) {
  constexpr int64_t kDepths = kWidth<uint32_t> / kWidth<T>;
  constexpr int64_t kTileDepth = kAmxLanes * kDepths;
  for (int64_t i = 0; i < from.count; i += kAmxPanelRows) {
    for (int64_t k = 0; k < from.depth; k += kTileDepth) {
      const int64_t depth = smaller(from.depth - k, kTileDepth);
      const int64_t row_bytes = (depth + kDepths - 1) / kDepths * kWidth<uint32_t>;
      alignas(64) Byte lines[kAmxPanelRows * kAmxRowBytes];
      lay_rows<T, pack_lanes>({from.data + i * from.step + k * from.depth_step, from.step,
                               from.depth_step, smaller(from.count - i, kAmxPanelRows), depth},
                              lines);
      const __mmask64 there = first_bytes(row_bytes);
      for (int64_t r = 0; r < kAmxPanelRows; ++r, to += row_bytes) {
        _mm512_mask_storeu_epi8(to, there, _mm512_load_si512(lines + r * kAmxRowBytes));
      }
    }
  }
}
#endif

// ---- complex numbers ----

// A complex product is a real one of twice the depth and twice the columns: the left factor's
// parts are depths of their own, and a column of the right one is two,
// [re; -im] for the real part of the result and [im; re] for the imaginary one.

template <class T>
void pack_complex_rows(const Factor& from, Byte* to) {
  if (from.depth_step == 2 * kWidth<T>) {
    return pack<T, kPanelRows>({from.data, from.step, kWidth<T>, from.count, 2 * from.depth}, to);
  }
  for (int64_t i = 0; i < from.count; i += kPanelRows) {
    const int64_t count = smaller(from.count - i, kPanelRows);
    for (int64_t k = 0; k < from.depth; ++k) {
      const Byte* const data = from.data + i * from.step + k * from.depth_step;
      pack_depth<T, kPanelRows>(data, from.step, count, to);
      pack_depth<T, kPanelRows>(data + kWidth<T>, from.step, count, to + kPanelRows * kWidth<T>);
      to += 2 * kPanelRows * kWidth<T>;
    }
  }
}

template <class T>
void pack_complex_columns(const Factor& from, Byte* to) {
  constexpr int64_t kColumns = kPanelColumns<T> / 2;
  constexpr int64_t kRowBytes = kPanelColumns<T> * kWidth<T>;
  for (int64_t i = 0; i < from.count; i += kColumns) {
    const int64_t count = smaller(from.count - i, kColumns);
    for (int64_t k = 0; k < from.depth; ++k, to += 2 * kRowBytes) {
      const Byte* const data = from.data + i * from.step + k * from.depth_step;
      TENURE_INDEPENDENT
      for (int64_t column = 0; column < kColumns; ++column) {
        const Byte* const at = data + smaller(column, count - 1) * from.step;
        const T re = load<T>(at);
        const T im = load<T>(at + kWidth<T>);
        Byte* const out = to + column * 2 * kWidth<T>;
        store<T>(out, re);
        store<T>(out + kWidth<T>, im);
        store<T>(out + kRowBytes, -im);
        store<T>(out + kRowBytes + kWidth<T>, re);
      }
    }
  }
}

template <class T>
constexpr FactorPacking kPackingOf = {
    .depths = 1,
    .starts = 0,
    .slack_bytes = kVectorBytes,
    .rows = pack<T, kPanelRows>,
    .columns = pack<T, kPanelColumns<T>>,
    .scattered = pack_scattered<T, kPanelRows>,
    .scattered_columns = pack_scattered<T, kPanelColumns<T>>,
};
template <StripKernel widen>
constexpr FactorPacking kPackingOfHalves = {
    .depths = 1,
    .starts = 0,
    .slack_bytes = 0,
    .rows = pack_widened<kPanelRows, widen>,
    .columns = pack_widened<kPanelColumns<float>, widen>,
    .scattered = nullptr,
    .scattered_columns = nullptr,
};
template <class T>
constexpr FactorPacking kPackingOfPairs = {
    .depths = 2,
    .starts = 0,
    .slack_bytes = kVectorBytes,
    .rows = pack_pairs<T, kPanelRows>,
    .columns = pack_pairs<T, kPanelColumns<uint32_t>>,
    .scattered = nullptr,
    .scattered_columns = nullptr,
};
#if defined(__AVX512BW__)
template <class T, class Other>
constexpr FactorPacking kPackingOfQuads = {
    .depths = 4,
    .starts = 1,
    .slack_bytes = kVectorBytes,
    .rows = pack_unsigned_rows<T, Other>,
    .columns = pack_signed_columns<T, Other>,
    .scattered = nullptr,
    .scattered_columns = nullptr,
};
#endif
#if defined(__AVX512BW__)
constexpr FactorPacking kTilePackingOfBytes = {
    .depths = 4,
    .starts = 0,
    .slack_bytes = kVectorBytes,
    .rows = pack_tile_rows<uint8_t, pack_bytes<kAmxPanelRows>>,
    .columns = pack_byte_columns,
    .scattered = nullptr,
    .scattered_columns = nullptr,
};
#endif
template <class T>
constexpr FactorPacking kPackingOfComplex = {
    .depths = 1,
    .starts = 0,
    .slack_bytes = kVectorBytes,
    .rows = pack_complex_rows<T>,
    .columns = pack_complex_columns<T>,
    .scattered = nullptr,
    .scattered_columns = nullptr,
};

}  // namespace

const FactorPackingTable kFactorPacking = {
    kPackingOf<double>,        kPackingOf<float>,        kPackingOfHalves<load_f16>,
    kPackingOfComplex<double>, kPackingOfComplex<float>,
};

const FactorPacking kBF16Packing = kPackingOfHalves<load_bf16>;
const BytePackingTable kBytePacking = {
    {kPackingOfPairs<int8_t>, kPackingOfPairs<int8_t>},
    {kPackingOfPairs<uint8_t>, kPackingOfPairs<uint8_t>},
};
#if defined(__AVX512BW__)
const FactorPacking kBF16PairPacking = kPackingOfPairs<uint16_t>;
const BytePackingTable kByteQuadPacking = {
    {kPackingOfQuads<int8_t, int8_t>, kPackingOfQuads<int8_t, uint8_t>},
    {kPackingOfQuads<uint8_t, int8_t>, kPackingOfQuads<uint8_t, uint8_t>},
};
const FactorPacking kBF16TilePacking = {
    .depths = 2,
    .starts = 0,
    .slack_bytes = 0,
    .rows = pack_tile_rows<uint16_t, pack_pairs<uint16_t, kAmxPanelRows>>,
    .columns = pack_pairs<uint16_t, kPanelColumns<uint32_t>>,
    .scattered = nullptr,
    .scattered_columns = nullptr,
};
const BytePackingTable kByteTilePacking = {
    {kTilePackingOfBytes, kTilePackingOfBytes},
    {kTilePackingOfBytes, kTilePackingOfBytes},
};
#endif

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
