// Dot products of one row with several others, of f32 and f64 whose elements are adjacent.
//
// The sum of a dot product by itself is in kLanesBytes of lanes, and folding these takes longer
// than adding up some hundred elements. Here a register's worth of sums is folded together, by a
// transposition, and some rows share each load of the one row. Lanes and the order of their sums
// are those of sddmm.cpp, to the bit.
#pragma once

#include "cpu/kernels/move/tile.hpp"
#include "cpu/kernels/partial_vectors.hpp"
#include "cpu/kernels/strip.hpp"
#include "cpu/sddmm.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// The lanes of the dot products of a row x with kPerVector<T> others.
template <class T>
class DotsOfRow {
 public:
  static constexpr int kDots = static_cast<int>(kPerVector<T>);

  DotsOfRow(const Byte* x, int64_t length)
      : x_(x),
        bytes_(length * kStep<T>),
        fetched_(bytes_ < kFetchedBytes ? bytes_ : kFetchedBytes) {}

  // Prefetches a row that is to be one of the others soon.
  void fetch(const Byte* other) const {
    for (int64_t at = 0; at < fetched_; at += kLineBytes) __builtin_prefetch(other + at);
  }

  // Dot product i is that with the row at others[i].
  Vector<T> with(const Byte* const* others) const {
    Byte lanes[kDots * kVectorBytes];
#pragma GCC unroll 16
    for (int first = 0; first < kDots; first += kTogether) {
      add_up(others + first, lanes + first * kVectorBytes);
    }
    Vector<T> columns[kDots];
    transpose_tile<Widest, sizeof(T), static_cast<int>(kVectorBytes / kLaneBytes)>(
        [&](int row) { return lanes + row * kVectorBytes; },
        [&](int column, Widest::Vector of) { columns[column] = reinterpret_cast<Vector<T>>(of); });
    fold<kDots>(columns);
    return columns[0];
  }

 private:
  static constexpr int64_t kFetchedBytes = 256;  // the processor fetches what is behind them
  static constexpr int kTogether = kDots < 4 ? kDots : 4;
  static constexpr int kHalf = Lanes<T>::kParts / 2;

  // Adds parts of a sum in halves.
  template <int kCount>
  static void fold(Vector<T>* parts) {
#pragma GCC unroll 4
    for (int half = kCount / 2; half > 0; half /= 2) {
#pragma GCC unroll 16
      for (int i = 0; i < half; ++i) parts[i] += parts[i + half];
    }
  }

  // kTogether sums, each folded to the lanes of one register.
  void add_up(const Byte* const* others, Byte* out) const {
    Vector<T> sums[kTogether][kHalf];
#pragma GCC unroll 4
    for (int part = 0; part < kHalf; ++part) {
      Vector<T> low[kTogether] = {};
      Vector<T> high[kTogether] = {};
      int64_t at = part * kVectorBytes;
      for (; at + kLanesBytes - part * kVectorBytes <= bytes_; at += kLanesBytes) {
        add<kTogether>(low, others, at, [](const Byte* from) { return load<Vector<T>>(from); });
        add<kTogether>(high, others, at + kLanesBytes / 2,
                       [](const Byte* from) { return load<Vector<T>>(from); });
      }
      add_rest(low, others, at);
      add_rest(high, others, at + kLanesBytes / 2);
#pragma GCC unroll 4
      for (int i = 0; i < kTogether; ++i) sums[i][part] = low[i] + high[i];
    }
#pragma GCC unroll 4
    for (int i = 0; i < kTogether; ++i) {
      fold<kHalf>(sums[i]);
      store(out + i * kVectorBytes, sums[i][0]);
    }
  }

  template <int kCount, class Load>
  __attribute__((always_inline)) void add(Vector<T>* sums, const Byte* const* others, int64_t at,
                                          const Load& loaded) const {
    const Vector<T> x = loaded(x_ + at);
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) sums[i] += x * loaded(others[i] + at);
  }

  // The elements from `at` on, a vector at most. Others of it are zeros in both rows, which no lane
  // notices: it began with 0.
  void add_rest(Vector<T>* sums, const Byte* const* others, int64_t at) const {
    if (at >= bytes_) return;
    const int64_t count = (bytes_ - at) / kStep<T>;
    const FirstLanes<T> rest(count < kPerVector<T> ? count : kPerVector<T>);
    add<kTogether>(sums, others, at, [&rest](const Byte* from) { return rest.load(from); });
  }

  const Byte* x_;
  int64_t bytes_;
  int64_t fetched_;
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
