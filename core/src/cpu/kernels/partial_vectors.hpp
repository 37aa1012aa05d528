// The first lanes of a vector, and those between two: by masks where there are some.
#pragma once

#include "cpu/kernels/vectors.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

#if defined(__AVX2__) && !defined(__AVX512F__)
// Eight from the one at 8 - n on: n that are set, and then zeros.
alignas(64) constexpr int32_t kSetThenClear[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

// The mask of the first `count` lanes.
template <class T>
inline __m256i first_lanes(int64_t count) {
  return kernels::load<__m256i>(reinterpret_cast<const Byte*>(
      kSetThenClear + (kPerVector<T> - count) * static_cast<int64_t>(sizeof(T) / 4)));
}
#endif

// The lanes of a mask; others are zeros, and no byte of them is read.
#if defined(__AVX512F__)
template <class T>
inline Vector<T> load_lanes(const Byte* from, uint32_t mask) {
  if constexpr (sizeof(T) == 4) {
    return reinterpret_cast<Vector<T>>(_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from));
  } else {
    return reinterpret_cast<Vector<T>>(_mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), from));
  }
}
#elif defined(__AVX2__)
template <class T>
inline Vector<T> load_lanes(const Byte* from, __m256i mask) {
  if constexpr (sizeof(T) == 4) {
    return reinterpret_cast<Vector<T>>(
        _mm256_maskload_ps(reinterpret_cast<const float*>(from), mask));
  } else {
    return reinterpret_cast<Vector<T>>(
        _mm256_maskload_pd(reinterpret_cast<const double*>(from), mask));
  }
}
#endif

// The first lanes of a vector, at least one. No byte of the others is touched in memory; they are
// loaded as zeros.
template <class T>
class FirstLanes {
 public:
  explicit FirstLanes(int64_t count) : count_(count) {
#if defined(__AVX512F__)
    mask_ = (1u << count) - 1;
#elif defined(__AVX2__)
    mask_ = first_lanes<T>(count);
#endif
  }

  [[nodiscard]] bool is_whole() const { return count_ == kPerVector<T>; }

  [[nodiscard]] Vector<T> load(const Byte* from) const {
#if defined(__AVX2__)
    return load_lanes<T>(from, mask_);
#else
    if (is_whole()) return kernels::load<Vector<T>>(from);
    Vector<T> vector = {};
    for (int64_t i = 0; i < count_; ++i) {
      vector[i] = kernels::load<T>(from + i * static_cast<int64_t>(sizeof(T)));
    }
    return vector;
#endif
  }

  void store(Byte* to, const Vector<T>& vector) const {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) {
      _mm512_mask_storeu_ps(to, static_cast<__mmask16>(mask_), reinterpret_cast<__m512>(vector));
    } else {
      _mm512_mask_storeu_pd(to, static_cast<__mmask8>(mask_), reinterpret_cast<__m512d>(vector));
    }
#else
    if (is_whole()) return kernels::store(to, vector);
    // Masked stores of AVX2 take some 20 cycles on AMD's processors.
    for (int64_t i = 0; i < count_; ++i) {
      kernels::store<T>(to + i * static_cast<int64_t>(sizeof(T)), vector[i]);
    }
#endif
  }

 private:
  int64_t count_;
#if defined(__AVX512F__)
  uint32_t mask_;
#elif defined(__AVX2__)
  __m256i mask_;
#endif
};

// The lanes of a vector from `first` up to `end`; others are zeros, and no byte of them is read.
template <class T>
class Between {
 public:
  Between() = default;  // of no use
  Between(int64_t first, int64_t end) {
    const auto inside = [](int64_t lane) {
      return lane < 0 ? 0 : lane > kPerVector<T> ? kPerVector<T> : lane;
    };
    first_ = inside(first);
    end_ = inside(end);
#if defined(__AVX512F__)
    mask_ = ((1u << end_) - 1) & ~((1u << first_) - 1);
#elif defined(__AVX2__)
    mask_ = _mm256_andnot_si256(first_lanes<T>(first_), first_lanes<T>(end_));
#endif
  }
  [[nodiscard]] Vector<T> load(const Byte* from) const {
#if defined(__AVX2__)
    return load_lanes<T>(from, mask_);
#else
    if (first_ == 0 && end_ == kPerVector<T>) return kernels::load<Vector<T>>(from);
    Vector<T> vector = {};
    for (int64_t i = first_; i < end_; ++i) {
      vector[i] = kernels::load<T>(from + i * static_cast<int64_t>(sizeof(T)));
    }
    return vector;
#endif
  }

 private:
  int64_t first_;
  int64_t end_;
#if defined(__AVX512F__)
  uint32_t mask_;
#elif defined(__AVX2__)
  __m256i mask_;
#endif
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
