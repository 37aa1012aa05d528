// Softmax, its logarithm, and what layer and root-mean-square normalization write.
//
// The sum of powers is that of Milakov and Gimelshein, "Online normalizer calculation for softmax"
// (2018), but by parts of a row: the greatest element of a part, then its powers, so that each takes
// one exponential. The powers of 16 times as many elements as there are lanes are added in their
// own type, and these sums in f64: the error does not grow with the length of a row.
#include "cpu/normalize.hpp"

#include "cpu/halves.hpp"
#include "cpu/kernels/elementwise/exp.hpp"
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

// The last elements of a row, in lanes of which the others hold minus infinity.
template <class T>
struct LastLanes {
  LastLanes(const Byte* in, int64_t count) {
    for (T& lane : lanes) lane = kLowest<T>;
    __builtin_memcpy(lanes, in, static_cast<uint64_t>(count) * sizeof(T));
  }
  const Byte* bytes() const { return reinterpret_cast<const Byte*>(lanes); }

  alignas(64) T lanes[Lanes<T>::kCount];
};

template <class T>
inline Vector<T> load_part(const Byte* in, int part) {
  return load<Vector<T>>(in + part * kVectorBytes);
}

template <class T>
[[gnu::noinline]] T greatest_of(const Byte* in, int64_t count) {
  constexpr int64_t kCount = Lanes<T>::kCount;
  auto greatest = every_lane<T>(kLowest<T>);
  const auto take = [&](const Byte* from) {
    for (int part = 0; part < Lanes<T>::kParts; ++part) {
      greatest.parts[part] = Greatest<T>::merge(greatest.parts[part], load_part<T>(from, part));
    }
  };
  int64_t i = 0;
#pragma GCC unroll 4
  for (; i + kCount <= count; i += kCount) take(in + i * kStep<T>);
  if (i < count) take(LastLanes<T>(in + i * kStep<T>, count - i).bytes());
  return fold_lanes<Greatest<T>>(greatest);
}

// Powers of one element for each lane.
template <class T>
inline Lanes<T> powers_of(const Byte* in, const Vector<T>& shift) {
  Lanes<T> powers;
  for (int part = 0; part < Lanes<T>::kParts; ++part) {
    powers.parts[part] = exponential<Vector<T>>(load_part<T>(in, part) - shift);
  }
  return powers;
}

template <class T>
[[gnu::noinline]] double sum_of_powers(const Byte* in, int64_t count, T shift, Byte* powers) {
  constexpr int64_t kCount = Lanes<T>::kCount;
  const auto shifts = broadcast(shift);
  double sum = 0;
  int64_t i = 0;
  while (i < count) {
    const int64_t end = lower(count, i + kLeafTerms * kCount);
    auto leaf_sum = every_lane<T>(0);
    for (; i + kCount <= end; i += kCount) {
      const Lanes<T> some = powers_of<T>(in + i * kStep<T>, shifts);
      merge_lanes<Sum<T>>(leaf_sum, some);
      if (powers != nullptr) __builtin_memcpy(powers + i * kStep<T>, &some, sizeof some);
    }
    if (i < end) {
      const LastLanes<T> last(in + i * kStep<T>, end - i);
      const Lanes<T> some = powers_of<T>(last.bytes(), shifts);
      merge_lanes<Sum<T>>(leaf_sum, some);
      if (powers != nullptr) {
        __builtin_memcpy(powers + i * kStep<T>, &some, static_cast<uint64_t>(end - i) * sizeof(T));
      }
      i = end;
    }
    sum += static_cast<double>(fold_lanes<Sum<T>>(leaf_sum));
  }
  return sum;
}

template <class T>
void add_powers(const Byte* in, int64_t count, PowerSum& row, Byte* powers) {
  const T greatest = Greatest<T>::merge(static_cast<T>(row.greatest), greatest_of<T>(in, count));
  const auto wide = static_cast<double>(greatest);
  if (row.sum != 0 && wide != row.greatest) row.sum *= exponential(row.greatest - wide);
  row.greatest = wide;
  // From minus infinity no element has a distance.
  const T shift = greatest == kLowest<T> ? T{0} : greatest;
  row.sum += sum_of_powers<T>(in, count, shift, powers);
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
  const auto shifts = broadcast(static_cast<T>(greatest));
  const auto by = broadcast(static_cast<T>(factor));
  for (int64_t i = 0; i < count; i += kCount) {
    const int64_t some = lower(kCount, count - i);
    Lanes<T> powers = some == kCount
                          ? powers_of<T>(in + i * kStep<T>, shifts)
                          : powers_of<T>(LastLanes<T>(in + i * kStep<T>, some).bytes(), shifts);
    for (Vector<T>& part : powers.parts) part *= by;
    __builtin_memcpy(out + i * kStep<T>, &powers, static_cast<uint64_t>(some) * sizeof(T));
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
