// Products of elements, and the type that they are added up in.
#pragma once

#include "cpu/kernels/strip.hpp"
#include "cpu/kernels/vectors.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Floats of 16 bits are added up in f32. Integers wrap in unsigned numbers as they would in their
// own, so that one kernel serves signed and unsigned ones.
template <class T>
struct SummedIn {
  using type = Wrap<T>;
};
template <>
struct SummedIn<double> {
  using type = double;
};
template <>
struct SummedIn<float> {
  using type = float;
};
template <>
struct SummedIn<F16> {
  using type = float;
};
template <>
struct SummedIn<BF16> {
  using type = float;
};
template <class T>
using Sum = typename SummedIn<T>::type;

template <class T>
inline Sum<T> widened(const Byte* from) {
  return static_cast<Sum<T>>(widen(load<T>(from)));
}

// Rounds a float once; an integer keeps its low bits.
template <class T>
inline void store_sum(Byte* to, Sum<T> sum) {
  if constexpr (kIsFloat<T>) {
    store<T>(to, narrow<T>(sum));
  } else {
    store<T>(to, static_cast<T>(sum));
  }
}

// Conversion of a sum to an element of out: alpha * sum + beta * out, rounded to the element once.
template <class T>
struct Scaling {
  // `alpha_element` and `beta_element` are alpha and beta of Matmul.
  Scaling(const Byte* alpha_element, const Byte* beta_element)
      : alpha(static_cast<Sum<T>>(load<Computed<T>>(alpha_element))),
        beta(beta_element == nullptr ? Sum<T>{0}
                                     : static_cast<Sum<T>>(load<Computed<T>>(beta_element))),
        reads(beta_element != nullptr) {}

  void write(Byte* out, Sum<T> sum) const {
    const Sum<T> scaled = alpha * sum;
    store_sum<T>(out, reads ? scaled + beta * widened<T>(out) : scaled);
  }

  Sum<T> alpha;
  Sum<T> beta;
  bool reads;
};

// kBytes of adjacent elements, in as few registers as that takes.
template <class T, int kBytes>
struct SpanOf {
  static constexpr int kPartBytes = kBytes < kVectorBytes ? kBytes : static_cast<int>(kVectorBytes);
  static constexpr int kParts = kBytes / kPartBytes;
  typedef T SpanVector __attribute__((vector_size(kPartBytes)));
};
template <class T>
struct SpanOf<T, static_cast<int>(sizeof(T))> {
  static constexpr int kPartBytes = static_cast<int>(sizeof(T));
  static constexpr int kParts = 1;
  using SpanVector = T;
};

// The widest span that registers hold: 4 of 64 bytes, or 8 smaller ones.
[[maybe_unused]] constexpr int kWidestSpanBytes = kVectorBytes == 16 ? 128 : 256;
// A dense operand whose rows are in the order of indices is taken in parts that stay in the second
// cache, and some rows of a sparse matrix go over one part after the other.
[[maybe_unused]] constexpr int64_t kNearBytes = 256 << 10;
[[maybe_unused]] constexpr int64_t kTileRows = 512;

// Sums that become kBytes of a row of out.
template <class T, int kBytes>
inline void write_span(const Scaling<T>& scaling, Byte* out, int64_t column_step,
                       const typename SpanOf<T, kBytes>::SpanVector* sums) {
  using Span = SpanOf<T, kBytes>;
  using SpanVector = typename Span::SpanVector;
  if (column_step == kStep<T>) {
    for (int p = 0; p < Span::kParts; ++p) {
      Byte* const to = out + p * Span::kPartBytes;
      const SpanVector scaled = scaling.alpha * sums[p];
      store<SpanVector>(to, scaling.reads ? scaled + scaling.beta * load<SpanVector>(to) : scaled);
    }
    return;
  }
  T elements[kBytes / sizeof(T)];
  __builtin_memcpy(elements, sums, sizeof elements);
  for (int64_t i = 0; i < kBytes / kStep<T>; ++i) {
    scaling.write(out + i * column_step, elements[i]);
  }
}

template <class I>
inline int64_t index_of(const Byte* indices, int64_t entry) {
  return load<I>(indices + entry * kStep<I>);
}

// A row of a table that has an entry for each index type.
#define TENURE_BY_INDEX(kernel, T) {kernel<T, int32_t>, kernel<T, int64_t>}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
