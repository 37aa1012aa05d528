// Dot products of one row with several others, of f32 and f64 whose elements are adjacent.
//
// The sum of a dot product by itself is in kLanesBytes of lanes, and folding these takes longer
// than adding up some hundred elements. Here a register's worth of sums is folded together, and
// some rows share each load of the one row. Lanes and the order of their sums are those of
// sddmm.cpp, to the bit.
#pragma once

#include "cpu/kernels/lanes.hpp"
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
    for (int first = 0; first < kDots; first += kTogether) {
      add_up(others + first, lanes + first * kVectorBytes);
    }
    // Sum k has a piece of 16 bytes of each of the dot products k, k + kRows, ..., and its lanes
    // are folded where they are interleaved with those of another: the result is in order.
    Vector<T> sums[kRows];
#pragma GCC unroll 4
    for (int k = 0; k < kRows; ++k) {
      Vector<T> pieces[kPieces];
#pragma GCC unroll 4
      for (int p = 0; p < kPieces; ++p) {
        pieces[p] = pieces_at<Widest>(lanes + k * kVectorBytes + p * kLaneBytes);
      }
      fold<kPieces>(pieces);
      sums[k] = pieces[0];
    }
#pragma GCC unroll 4
    for (int half = kRows / 2; half > 0; half /= 2) {
#pragma GCC unroll 4
      for (int k = 0; k < half; ++k) {
        const auto one = reinterpret_cast<Lane>(sums[k]);
        const auto other = reinterpret_cast<Lane>(sums[k + half]);
        sums[k] = reinterpret_cast<Vector<T>>(Widest::low<sizeof(T)>(one, other)) +
                  reinterpret_cast<Vector<T>>(Widest::high<sizeof(T)>(one, other));
      }
    }
    // A lane of a sum begins with 0, and so is never -0. Products that begin one may be.
    return sums[0] + Vector<T>{};
  }

 private:
  static constexpr int64_t kFetchedBytes = 256;  // the processor fetches what is behind them
  static constexpr int kTogether = kDots < 4 ? kDots : 4;
  static constexpr int kHalf = Lanes<T>::kParts / 2;
  static constexpr int kPieces = static_cast<int>(kVectorBytes / kLaneBytes);
  static constexpr int kRows = static_cast<int>(kLaneBytes / kStep<T>);
  using Lane = Widest::Vector;

  // Lane l of the vector is 16 bytes of the dot product l * kRows behind the first.
  template <class Lanes>
  static Vector<T> pieces_at(const Byte* from) {
    constexpr int64_t kApart = kRows * kVectorBytes;
    typename Lanes::Vector of = Lanes::first(from);
    if constexpr (Lanes::kLanes > 1) of = Lanes::template put<1>(of, from + kApart);
    if constexpr (Lanes::kLanes > 2) {
      of = Lanes::template put<2>(of, from + 2 * kApart);
      of = Lanes::template put<3>(of, from + 3 * kApart);
    }
    return reinterpret_cast<Vector<T>>(of);
  }

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
      if (bytes_ >= kLanesBytes) {
        const auto put = [](const Vector<T>&, const Vector<T>& product) { return product; };
        each(low, others, at, whole, put);
        each(high, others, at + kLanesBytes / 2, whole, put);
        at += kLanesBytes;
      }
      for (; at + kLanesBytes - part * kVectorBytes <= bytes_; at += kLanesBytes) {
        each(low, others, at, whole, plus);
        each(high, others, at + kLanesBytes / 2, whole, plus);
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

  static Vector<T> whole(const Byte* from) { return load<Vector<T>>(from); }
  static Vector<T> plus(const Vector<T>& sum, const Vector<T>& product) { return sum + product; }

  // sums[i] = take(sums[i], the products of the lanes at `at`)
  template <class Load, class Take>
  __attribute__((always_inline)) void each(Vector<T>* sums, const Byte* const* others, int64_t at,
                                           const Load& loaded, const Take& take) const {
    const Vector<T> x = loaded(x_ + at);
#pragma GCC unroll 4
    for (int i = 0; i < kTogether; ++i) sums[i] = take(sums[i], x * loaded(others[i] + at));
  }

  // The elements from `at` on, a vector at most. Others of it are zeros in both rows, which no lane
  // notices: it began with 0.
  void add_rest(Vector<T>* sums, const Byte* const* others, int64_t at) const {
    if (at >= bytes_) return;
    const int64_t count = (bytes_ - at) / kStep<T>;
    const FirstLanes<T> rest(count < kPerVector<T> ? count : kPerVector<T>);
    each(sums, others, at, [&rest](const Byte* from) { return rest.load(from); }, plus);
  }

  const Byte* x_;
  int64_t bytes_;
  int64_t fetched_;
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
