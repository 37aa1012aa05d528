// Softmax, its logarithm, and the results of layer and root-mean-square normalization.
//
// The sum of powers is that of Milakov and Gimelshein, "Online normalizer calculation for softmax"
// (2018), but by parts of a row: the greatest element of a part, then its powers, so that each
// takes one exponential. The powers of 16 times as many elements as there are lanes are added in
// their own type, and these sums in f64: the error does not grow with the length of a row. The
// power of the greatest element, 1, is counted and not added to small ones, which would lose their
// digits.
#include "cpu/normalize.hpp"

#include "cpu/halves.hpp"
#include "cpu/kernels/elementwise/double/exp.hpp"
#include "cpu/kernels/elementwise/exp.hpp"
#include "cpu/kernels/partial_vectors.hpp"
#include "cpu/kernels/reduce/along.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
constexpr T kLowest = -static_cast<T>(__builtin_inf());

// NaN, which compares false, is passed over.
template <class T>
struct Greatest {
  using Lane = T;
  template <class X>
  static X merge(X a, X b) {
    return b > a ? b : a;
  }
};

// fold_lanes() without the way of a register's halves through memory, which a short row waits for.
template <class Op>
inline typename Op::Lane fold_row(Lanes<typename Op::Lane> lanes) {
#if defined(__AVX512F__)
  using Lane = typename Op::Lane;
  typedef Lane Half __attribute__((vector_size(kVectorBytes / 2)));
  const auto both = reinterpret_cast<__m512d>(Op::merge(lanes.parts[0], lanes.parts[1]));
  const auto low = reinterpret_cast<Half>(_mm512_maskz_extractf64x4_pd(0xff, both, 0));
  const auto high = reinterpret_cast<Half>(_mm512_maskz_extractf64x4_pd(0xff, both, 1));
  const Half merged = Op::merge(low, high);
  Lane values[kPerVector<Lane> / 2];
  __builtin_memcpy(values, &merged, sizeof values);
  return fold_halves<Op, kPerVector<Lane> / 2>(values);
#else
  return fold_lanes<Op>(lanes);
#endif
}

// Loads the elements of one part of the lanes. The end of a row may have fewer elements; the other
// lanes are `more`.
template <class T>
inline Vector<T> load_part(const Byte* in, int64_t count, int part, T more) {
  const int64_t rest = count - part * kPerVector<T>;
  in += part * kVectorBytes;
  if (rest >= kPerVector<T>) [[likely]]
    return load<Vector<T>>(in);
  const Vector<T> lanes = FirstLanes<T>(rest).load(in);
  return lane_numbers<T>(0) < static_cast<Truth<T>>(rest) ? lanes : broadcast(more);
}
template <class T>
inline void store_part(const Vector<T>& lanes, int64_t count, int part, Byte* out) {
  const int64_t rest = count - part * kPerVector<T>;
  out += part * kVectorBytes;
  if (rest >= kPerVector<T>) [[likely]]
    return store<Vector<T>>(out, lanes);
  FirstLanes<T>(rest).store(out, lanes);
}

template <class T>
inline int parts_of(int64_t count) {
  return count >= Lanes<T>::kCount ? Lanes<T>::kParts
                                   : static_cast<int>((count + kPerVector<T> - 1) / kPerVector<T>);
}

template <class T>
[[gnu::noinline]] T greatest_of(const Byte* in, int64_t count) {
  constexpr int64_t kCount = Lanes<T>::kCount;
  auto greatest = every_lane<T>(kLowest<T>);
  const auto take = [&](const Byte* from, int64_t some) {
    for (int part = 0; part < parts_of<T>(some); ++part) {
      greatest.parts[part] =
          Greatest<T>::merge(greatest.parts[part], load_part<T>(from, some, part, kLowest<T>));
    }
  };
  int64_t i = 0;
#pragma GCC unroll 4
  for (; i + kCount <= count; i += kCount) take(in + i * kStep<T>, kCount);
  if (i < count) take(in + i * kStep<T>, count - i);
  return fold_row<Greatest<T>>(greatest);
}

// Computes e^x in each lane of the first `parts` parts.
template <class T>
inline void exponentials(Lanes<T>& lanes, int parts) {
  for (int part = 0; part < parts; ++part) lanes.parts[part] = exponential(lanes.parts[part]);
}
// Computes e^x of f32 where some are below kLeastNormal: most likely masked elements, whose powers
// are 0.
[[gnu::noinline]] void small_exponentials(Lanes<float>& lanes, int parts) {
  const Vector<float> zero = {};
  Vector<float> least = zero;
  for (int part = 0; part < parts; ++part) {
    const Vector<float> x = lanes.parts[part];
    least = x < least && x >= kZeroBelow ? x : least;
  }
  if (is_any_less(least, broadcast(kLeastNormal))) [[unlikely]]
    return exponentials(lanes, parts);
  for (int part = 0; part < parts; ++part) {
    const Vector<float> x = lanes.parts[part];
    lanes.parts[part] = x < kZeroBelow ? zero : normal_exponential(x < kZeroBelow ? zero : x);
  }
}

// e^(x - shift) of one element for each lane, as far as a row has them; beyond it 0.
template <class T>
inline Lanes<T> powers_of(const Byte* in, int64_t count, T shift) {
  auto lanes = every_lane<T>(0);
  const int parts = parts_of<T>(count);
  for (int part = 0; part < parts; ++part) {
    lanes.parts[part] = load_part<T>(in, count, part, shift) - shift;
  }
  if constexpr (kSame<T, float>) {
    // One look at all lanes, so that nothing is between the parts.
    Vector<T> least = lanes.parts[0];
    for (int part = 1; part < parts; ++part) {
      least = lanes.parts[part] < least ? lanes.parts[part] : least;
    }
    if (is_any_less(least, broadcast(kLeastNormal))) [[unlikely]] {
      small_exponentials(lanes, parts);
    } else {
      for (int part = 0; part < parts; ++part) {
        lanes.parts[part] = normal_exponential(lanes.parts[part]);
      }
    }
  } else {
    exponentials(lanes, parts);
  }
  if (count < Lanes<T>::kCount) {
#pragma GCC unroll 8
    for (int part = 0; part < Lanes<T>::kParts; ++part) {
      const auto there = static_cast<Truth<T>>(count - part * kPerVector<T>);
      lanes.parts[part] = lane_numbers<T>(0) < there ? lanes.parts[part] : Vector<T>{};
    }
  }
  return lanes;
}

template <class T>
inline void store_powers(const Lanes<T>& powers, int64_t count, Byte* out) {
  for (int part = 0; part < parts_of<T>(count); ++part) {
    store_part<T>(powers.parts[part], count, part, out);
  }
}

// Powers of a part of a row: how many of 1 were left out, and the sum of the others.
struct PartPowers {
  int64_t ones = 0;
  double others = 0;
};

template <class T>
inline int64_t count_ones(const Vector<T>& powers) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    const auto p = reinterpret_cast<__m512>(powers);
    return __builtin_popcountll(mask_bits(_mm512_cmp_ps_mask(p, _mm512_set1_ps(1), _CMP_EQ_OQ)));
  } else {
    const auto p = reinterpret_cast<__m512d>(powers);
    return __builtin_popcountll(mask_bits(_mm512_cmp_pd_mask(p, _mm512_set1_pd(1), _CMP_EQ_OQ)));
  }
#else
  return __builtin_popcountll(lane_bits<Truth<T>>(powers == T{1}));
#endif
}

// Powers of a leaf. The greatest one of each lane is kept apart from the sum of the others, so that
// 1, that of the greatest element, takes no digits from small ones. NaN gets into the sum.
template <class T>
struct LeafPowers {
  Lanes<T> greatest = every_lane<T>(0);
  Lanes<T> others = every_lane<T>(0);

  void add(const Lanes<T>& powers) {
#pragma GCC unroll 8
    for (int part = 0; part < Lanes<T>::kParts; ++part) {
      const Vector<T> before = greatest.parts[part];
      const Vector<T> power = powers.parts[part];
      others.parts[part] += before < power ? before : power;
      greatest.parts[part] = before > power ? before : power;
    }
  }
  void add_to(PartPowers& sums) {
    for (int part = 0; part < Lanes<T>::kParts; ++part) {
      const Vector<T> power = greatest.parts[part];
      sums.ones += count_ones<T>(power);
      others.parts[part] += power == T{1} ? Vector<T>{} : power;
    }
    sums.others += static_cast<double>(fold_row<Sum<T>>(others));
  }
};

template <class T>
[[gnu::noinline]] PartPowers sum_of_powers(const Byte* in, int64_t count, T shift, Byte* powers) {
  constexpr int64_t kCount = Lanes<T>::kCount;
  PartPowers sums;
  int64_t i = 0;
  while (i < count) {
    const int64_t end = lower(count, i + kLeafTerms * kCount);
    LeafPowers<T> leaf;
    const auto take = [&](int64_t some) {
      const Lanes<T> of_some = powers_of<T>(in + i * kStep<T>, some, shift);
      leaf.add(of_some);
      if (powers != nullptr) store_powers<T>(of_some, some, powers + i * kStep<T>);
      i += some;
    };
    while (i + kCount <= end) take(kCount);
    if (i < end) take(end - i);
    leaf.add_to(sums);
  }
  return sums;
}

template <class T>
void add_powers(const Byte* in, int64_t count, PowerSum& row, Byte* powers) {
  const T greatest = Greatest<T>::merge(static_cast<T>(row.greatest), greatest_of<T>(in, count));
  const auto wide = static_cast<double>(greatest);
  // From minus infinity no element has a distance.
  const T shift = greatest == kLowest<T> ? T{0} : greatest;
  const PartPowers part = sum_of_powers<T>(in, count, shift, powers);
  auto ones = static_cast<double>(part.ones);
  if (wide != row.greatest) {
    // The power of a greatest one is in this part.
    const double before = 1 + row.rest;
    row.rest = before == 0 ? 0 : before * exponential(row.greatest - wide);
    row.greatest = wide;
    ones -= 1;
  }
  row.rest += ones + part.others;
}

template <class T>
void scale(const Byte* in, int64_t count, double factor, Byte* out) {
  const auto by = static_cast<T>(factor);
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    store<T>(out + i * kStep<T>, load<T>(in + i * kStep<T>) * by);
  }
}

template <class T>
void scaled_powers(const Byte* in, int64_t count, double greatest, double factor, Byte* out) {
  constexpr int64_t kCount = Lanes<T>::kCount;
  const auto shift = static_cast<T>(greatest);
  const auto by = broadcast(static_cast<T>(factor));
  for (int64_t i = 0; i < count; i += kCount) {
    const int64_t some = lower(kCount, count - i);
    Lanes<T> powers = powers_of<T>(in + i * kStep<T>, some, shift);
    for (Vector<T>& part : powers.parts) part *= by;
    store_powers<T>(powers, some, out + i * kStep<T>);
  }
}

template <class T>
void differences(const Byte* in, int64_t count, double greatest, double rest, Byte* out) {
  const auto from = static_cast<T>(greatest);
  const auto less = static_cast<T>(rest);
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    store<T>(out + i * kStep<T>, (load<T>(in + i * kStep<T>) - from) - less);
  }
}

template <class T, bool kWeighted, bool kBiased>
void standardize_by(const Byte* in, int64_t count, const Standard& by, Byte* out) {
  const auto mean = static_cast<T>(by.mean);
  const auto rest = static_cast<T>((by.mean - static_cast<double>(mean)) + by.mean_rest);
  const auto factor = static_cast<T>(by.scale);
  const Byte* const weight = by.weight;
  const Byte* const bias = by.bias;
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    T x = ((load<T>(in + i * kStep<T>) - mean) - rest) * factor;
    if constexpr (kWeighted) x = x * load<T>(weight + i * kStep<T>);
    if constexpr (kBiased) x = x + load<T>(bias + i * kStep<T>);
    store<T>(out + i * kStep<T>, x);
  }
}

template <class T>
void standardize(const Byte* in, int64_t count, const Standard& by, Byte* out) {
  if (by.weight != nullptr && by.bias != nullptr)
    return standardize_by<T, true, true>(in, count, by, out);
  if (by.weight != nullptr) return standardize_by<T, true, false>(in, count, by, out);
  if (by.bias != nullptr) return standardize_by<T, false, true>(in, count, by, out);
  standardize_by<T, false, false>(in, count, by, out);
}

template <class T>
constexpr NormalizeKernels of(const Conversion* conversion) {
  return {add_powers<T>, scale<T>, scaled_powers<T>, differences<T>, standardize<T>, conversion};
}

}  // namespace

constinit const NormalizeTable kNormalize = {of<double>(nullptr), of<float>(nullptr),
                                             of<float>(&kF16AsFloat), of<float>(&kBF16AsFloat)};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
