// Sums of 3 by 3 products at every row and column, of some rows of the result at a time.
//
// Computing one element of the result after the other is bound by loads; here each element of the
// image is loaded once for up to nine products. Results go past the caches from the registers: the
// additions are done while the lines of the vectors before are on their way, which runs of a page
// would only begin afterwards.
#pragma once

#include "cpu/kernels/matmul/multiply_add.hpp"
#include "cpu/kernels/partial_vectors.hpp"
#include "cpu/window.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr int64_t kFetchedLine = 64;

template <class T>
inline void stream_vector(Byte* to, const Vector<T>& vector) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(vector));
#elif defined(__AVX2__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(vector));
#elif defined(__x86_64__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(vector));
#else
  store(to, vector);
#endif
}

// Prefetches the lines of `bytes` bytes of each row; vectors narrower than a line fetch some lines
// twice.
inline void fetch_ahead(const Ahead& ahead, int64_t at_bytes, int64_t bytes) {
#pragma GCC unroll 4
  for (int64_t line = 0; line < bytes; line += kFetchedLine) {
    const int64_t at = (at_bytes + line) / kFetchedLine * ahead.step;
#pragma GCC unroll 4
    for (int q = 0; q < kStencilRows; ++q) __builtin_prefetch(ahead.lines[q] + at, 0, 2);
  }
}

// ---- pixels are lanes ----

// The elements under one row of the kernel, from a window's first one.
template <class T>
struct InnerElements {
#if defined(__AVX512F__)
  // Loads that cross lines take twice as long, and two of three would: lanes are moved instead. The
  // masked forms move all lanes, because g++ 12 warns of values that the plain forms leave
  // undefined on purpose.
  static constexpr int64_t kBefore = kPerVector<T> - 1;  // read before the first window
  static constexpr int64_t kBehind = 2 * kPerVector<T> + 1;
  static void load(const Byte* from, Vector<T>* elements) {
    const Byte* const middle = from + sizeof(T);
    const auto before = kernels::load<__m512i>(middle - kVectorBytes);
    const auto at = kernels::load<__m512i>(middle);
    const auto behind = kernels::load<__m512i>(middle + kVectorBytes);
    elements[1] = reinterpret_cast<Vector<T>>(at);
    if constexpr (sizeof(T) == 4) {
      elements[0] = reinterpret_cast<Vector<T>>(_mm512_maskz_alignr_epi32(0xffff, at, before, 15));
      elements[2] = reinterpret_cast<Vector<T>>(_mm512_maskz_alignr_epi32(0xffff, behind, at, 1));
    } else {
      elements[0] = reinterpret_cast<Vector<T>>(_mm512_maskz_alignr_epi64(0xff, at, before, 7));
      elements[2] = reinterpret_cast<Vector<T>>(_mm512_maskz_alignr_epi64(0xff, behind, at, 1));
    }
  }
#else
  static constexpr int64_t kBefore = 0;
  static constexpr int64_t kBehind = kPerVector<T> + kStencilSide - 1;
  static void load(const Byte* from, Vector<T>* elements) {
    for (int j = 0; j < kStencilSide; ++j) {
      elements[j] = kernels::load<Vector<T>>(from + j * static_cast<int64_t>(sizeof(T)));
    }
  }
#endif
};
template <class T>
class OuterElements {
 public:
  OuterElements(int64_t begin, int64_t end)
      : there_{Between<T>(begin, end), Between<T>(begin - 1, end - 1),
               Between<T>(begin - 2, end - 2)} {}
  void load(const Byte* from, Vector<T>* elements) const {
    for (int j = 0; j < kStencilSide; ++j) {
      elements[j] = there_[j].load(from + j * static_cast<int64_t>(sizeof(T)));
    }
  }

 private:
  Between<T> there_[kStencilSide];
};

// Adds the products of a vector of columns, `offset` bytes behind the first column.
template <class T, class Elements>
__attribute__((always_inline)) inline void weigh_columns(const PixelStencil& w,
                                                         const Vector<T>* weights, int64_t offset,
                                                         const Elements& elements,
                                                         Vector<T>* sums) {
#pragma GCC unroll 8
  for (int i = 0; i < kStencilInRows; ++i) {
    Vector<T> row[kStencilSide];
    elements.load(w.rows[i] + offset, row);
#pragma GCC unroll 4
    for (int q = 0; q < kStencilRows; ++q) {
      if (i < q || i - q >= kStencilSide) continue;
#pragma GCC unroll 4
      for (int j = 0; j < kStencilSide; ++j) {
        sums[q] = Fused<T>::add(row[j], weights[(i - q) * kStencilSide + j], sums[q]);
      }
    }
  }
}

template <class T>
void weigh_pixel_stencil(const PixelStencil& w) {
  constexpr int64_t kLanes = kPerVector<T>;
  Vector<T> weights[kStencilSide * kStencilSide];
#pragma GCC unroll 9
  for (int i = 0; i < kStencilSide * kStencilSide; ++i) {
    weights[i] = broadcast<T>(load<T>(w.weights + i * static_cast<int64_t>(sizeof(T))));
  }
  for (int64_t x = 0; x < w.columns; x += kLanes) {
    const int64_t offset = x * static_cast<int64_t>(sizeof(T));
    fetch_ahead(w.ahead, offset, kVectorBytes);
    Vector<T> sums[kStencilRows] = {};
    if (x - InnerElements<T>::kBefore >= w.begin && x + InnerElements<T>::kBehind <= w.end &&
        x + kLanes <= w.columns) [[likely]] {
      weigh_columns<T>(w, weights, offset, InnerElements<T>(), sums);
      if (w.streams) {
#pragma GCC unroll 4
        for (int q = 0; q < kStencilRows; ++q) stream_vector<T>(w.out[q] + offset, sums[q]);
      } else {
#pragma GCC unroll 4
        for (int q = 0; q < kStencilRows; ++q) store(w.out[q] + offset, sums[q]);
      }
      continue;
    }
    weigh_columns<T>(w, weights, offset, OuterElements<T>(w.begin - x, w.end - x), sums);
    const FirstLanes<T> part(w.columns - x < kLanes ? w.columns - x : kLanes);
    for (int q = 0; q < kStencilRows; ++q) {
      if (w.streams && part.is_whole()) {
        stream_vector<T>(w.out[q] + offset, sums[q]);
      } else {
        part.store(w.out[q] + offset, sums[q]);
      }
    }
  }
}

// ---- channels are lanes ----

struct StencilPlaces {
  const Byte* from[kStencilInRows][kStencilInColumns];
  Byte* to[kStencilRows][kStencilColumns];
};

// A vector of each place. Not inlined: the addresses are more than there are registers, and would
// be kept in those of vectors.
template <class T, class Lanes>
__attribute__((noinline)) void weigh_channels(const StencilPlaces& at, const Byte* weights,
                                              int64_t offset, const Lanes& lanes) {
  weights +=
      offset / kFetchedLine * (kStencilSide * kStencilSide * kFetchedLine) + offset % kFetchedLine;
  Vector<T> sums[kStencilRows][kStencilColumns] = {};
#pragma GCC unroll 8
  for (int i = 0; i < kStencilInRows; ++i) {
    Vector<T> row[kStencilInColumns];
#pragma GCC unroll 4
    for (int k = 0; k < kStencilInColumns; ++k) row[k] = lanes.load(at.from[i][k] + offset);
#pragma GCC unroll 4
    for (int q = 0; q < kStencilRows; ++q) {
      if (i < q || i - q >= kStencilSide) continue;
#pragma GCC unroll 4
      for (int j = 0; j < kStencilSide; ++j) {
        const auto weight = load<Vector<T>>(weights + ((i - q) * kStencilSide + j) * kFetchedLine);
#pragma GCC unroll 4
        for (int p = 0; p < kStencilColumns; ++p) {
          sums[q][p] = Fused<T>::add(row[p + j], weight, sums[q][p]);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int q = 0; q < kStencilRows; ++q) {
#pragma GCC unroll 4
    for (int p = 0; p < kStencilColumns; ++p) lanes.store(at.to[q][p] + offset, sums[q][p]);
  }
}

// All lanes.
template <class T>
struct KeptVector {
  static Vector<T> load(const Byte* from) { return kernels::load<Vector<T>>(from); }
  static void store(Byte* to, const Vector<T>& vector) { kernels::store(to, vector); }
};
template <class T>
struct StreamedVector : KeptVector<T> {
  static void store(Byte* to, const Vector<T>& vector) { stream_vector<T>(to, vector); }
};

template <class T>
void weigh_channel_stencil(const ChannelStencil& w) {
  constexpr int64_t kReadBytes = kStencilColumns * kVectorBytes;  // of a row, for each vector
  StencilPlaces at;
  for (int i = 0; i < kStencilInRows; ++i) {
    for (int k = 0; k < kStencilInColumns; ++k) at.from[i][k] = w.taps[i][k].data;
  }
  for (int q = 0; q < kStencilRows; ++q) {
    for (int p = 0; p < kStencilColumns; ++p) at.to[q][p] = w.out[q][p].data;
  }
  int64_t read = 0;
  for (int64_t pair = 0;;) {
    int64_t lane = 0;
    for (; lane + kPerVector<T> <= w.lanes; lane += kPerVector<T>, read += kReadBytes) {
      const int64_t offset = lane * static_cast<int64_t>(sizeof(T));
      fetch_ahead(w.ahead, read, kReadBytes);
      if (w.streams) {
        weigh_channels<T>(at, w.weights, offset, StreamedVector<T>());
      } else {
        weigh_channels<T>(at, w.weights, offset, KeptVector<T>());
      }
    }
    if (lane < w.lanes) {
      fetch_ahead(w.ahead, read, kReadBytes);
      weigh_channels<T>(at, w.weights, lane * static_cast<int64_t>(sizeof(T)),
                        FirstLanes<T>(w.lanes - lane));
      read += kStencilColumns * (w.lanes - lane) * static_cast<int64_t>(sizeof(T));
    }
    if (++pair == w.pairs) return;
    for (int i = 0; i < kStencilInRows; ++i) {
      for (int k = 0; k < kStencilInColumns; ++k) at.from[i][k] += w.taps[i][k].step;
    }
    for (int q = 0; q < kStencilRows; ++q) {
      for (int p = 0; p < kStencilColumns; ++p) at.to[q][p] += w.out[q][p].step;
    }
  }
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
