// Elements that a reduction cannot read where they lie: into a small buffer, dense, in the type
// that they are computed in.
//
// A second copy of every loop for elements that are not adjacent, or for each narrow type, would
// multiply the folder's code to spare a pass over a buffer that never leaves the L1 cache.
#pragma once

#include "cpu/kernels/strip.hpp"
#include "cpu/kernels/vectors.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class To>
struct Converted {
  template <class From>
  static To of(From value) {
    return convert<To>(value);
  }
};
// A float's bits without its sign: 0 where the number is.
template <class To>
struct WithoutSign {
  template <class From>
  static To of(From value) {
    return static_cast<To>(bit_copy<To>(value) & Limits<To>::kMax);
  }
};

// Elements of type From, `step` bytes apart.
template <class Change, class From>
void fetch(const Byte* in, int64_t step, int64_t count, Byte* buffer) {
  using To = decltype(Change::of(From{}));
  constexpr auto kFromBytes = static_cast<int64_t>(sizeof(From));
  constexpr auto kToBytes = static_cast<int64_t>(sizeof(To));
  if (step == kFromBytes) {
    int64_t i = 0;
    if constexpr (kLoadsHalves && kSame<From, F16> && kSame<To, float>) {
      for (; i + kPerVector<float> <= count; i += kPerVector<float>) {
        store(buffer + i * kToBytes, Loading<float, F16>::load(in + i * kFromBytes));
      }
    }
    TENURE_INDEPENDENT
    for (; i < count; ++i) {
      store(buffer + i * kToBytes, Change::of(load<From>(in + i * kFromBytes)));
    }
    return;
  }
  // Single loads, put together in a register: compilers would make gathers of a plain loop, which
  // take three times as long where they are not the processor's strength.
  typedef To Few __attribute__((vector_size(16)));
  constexpr int64_t kFew = 16 / kToBytes;
  int64_t i = 0;
  for (; i + kFew <= count; i += kFew) {
    Few few;
    for (int64_t j = 0; j < kFew; ++j) few[j] = Change::of(load<From>(in + (i + j) * step));
    store(buffer + i * kToBytes, few);
  }
  for (; i < count; ++i) {
    store(buffer + i * kToBytes, Change::of(load<From>(in + i * step)));
  }
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
