// Cumulative sums, products, minima and maxima.
#include "cpu/scan.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "cpu/halves.hpp"
#include "cpu/kernels/strip.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

typedef double Four __attribute__((vector_size(32)));
template <class T>
struct FourOf;
template <>
struct FourOf<double> {
  using type = Four;
};
template <>
struct FourOf<float> {
  typedef float type __attribute__((vector_size(16)));
};

// A macro: a function would return vectors wider than the registers of some sets.
#if defined(__clang__)
#define TENURE_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
typedef int64_t FourPlaces __attribute__((vector_size(32)));
#define TENURE_SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, FourPlaces{i, j, k, l})
#endif

typedef uint64_t FourWords __attribute__((vector_size(32)));

// Fours whose ranges are looked at together.
constexpr int kLookedAtTogether = 2;

// Whether some lane has its highest bit set.
inline bool is_any_negative(const FourWords& lanes) {
#if defined(__AVX2__)
  return _mm256_movemask_pd(reinterpret_cast<__m256d>(lanes)) != 0;
#elif defined(__SSE2__)
  __m128d halves[2];
  __builtin_memcpy(halves, &lanes, sizeof halves);
  return _mm_movemask_pd(_mm_or_pd(halves[0], halves[1])) != 0;
#else
  return ((lanes[0] | lanes[1] | lanes[2] | lanes[3]) >> 63) != 0;
#endif
}

// look_outside() sets the highest bit of some lane if a number that was computed from four elements
// left the range in which the result is that of one element after the other. Sums and products of
// four f32 stay in it.

// A number that is added to -0.0 stays as it is, also -0.0.
struct Adding {
  static constexpr double kStart = -0.0;
  template <class X>
  static void take(X& into, const X& other) {
    into = into + other;
  }
  // An infinite sum makes the result infinite or NaN, which have the same exponent.
  template <class T>
  static void look_outside(const Four&, const Four& result, FourWords& outside) {
    if constexpr (kSame<T, float>) return;
    constexpr uint64_t kExponent = uint64_t{0x7ff} << 52;
    outside |= ((FourWords)result & kExponent) + (uint64_t{1} << 52);
  }
};
struct Multiplying {
  static constexpr double kStart = 1.0;
  template <class X>
  static void take(X& into, const X& other) {
    into = into * other;
  }
  // The range is 2^-511 to 2^513, a window of exponents above which no bit is set. Two pairs in it
  // give no subnormal number, and make the result infinite or NaN where they overflow.
  template <class T>
  static void look_outside(const Four& pairs, const Four& result, FourWords& outside) {
    constexpr uint64_t kLeast = uint64_t{512} << 52;
    FourWords window = (FourWords)result - kLeast;
    if constexpr (kSame<T, double>) window |= (FourWords)pairs - kLeast;
    outside |= window << 1;
  }
};

// The scan of four elements by themselves; `pairs` holds the results of two neighbours.
template <class Rule, class T>
inline void scan_by_themselves(const Byte* in, Four& x, Four& pairs, Four& fours) {
  const Four start = {Rule::kStart, Rule::kStart, Rule::kStart, Rule::kStart};
  typename FourOf<T>::type elements;
  __builtin_memcpy(&elements, in, sizeof elements);
  x = __builtin_convertvector(elements, Four);
  pairs = TENURE_SHUFFLE(start, x, 3, 4, 5, 6);
  Rule::take(pairs, x);
  fours = TENURE_SHUFFLE(start, pairs, 2, 3, 4, 5);
  Rule::take(fours, pairs);
}

// Computes each result from the one before, unless that is 0, infinite or NaN and the four results
// have its magnitude: they are right then.
template <class Rule>
inline void scan_one_by_one(const Four& x, double so_far, Four& result) {
  const double magnitude = __builtin_fabs(so_far);
  bool stays = !(magnitude > 0 && magnitude < __builtin_inf());
  for (int i = 0; i < kScannedTogether; ++i) {
    stays &= so_far != so_far || __builtin_fabs(result[i]) == magnitude;
  }
  if (stays) return;
  for (int i = 0; i < kScannedTogether; ++i) {
    Rule::take(so_far, double{x[i]});
    result[i] = so_far;
  }
}

// Scans fours of elements that may leave the range. Returns the last result.
template <class Rule, class T>
[[gnu::noinline]] double scan_any(const Byte* in, int count, double so_far, Byte* out) {
  using Elements = typename FourOf<T>::type;
  for (; count > 0; --count, in += kStep<Elements>, out += kStep<Elements>) {
    Four x;
    Four pairs;
    Four fours;
    scan_by_themselves<Rule, T>(in, x, pairs, fours);
    Four result = {so_far, so_far, so_far, so_far};
    Rule::take(result, fours);
    FourWords outside = {};
    Rule::template look_outside<T>(pairs, result, outside);
    if (is_any_negative(outside)) scan_one_by_one<Rule>(x, so_far, result);
    so_far = result[3];
    const Elements elements = __builtin_convertvector(result, Elements);
    __builtin_memcpy(out, &elements, sizeof elements);
  }
  return so_far;
}

template <class Rule, class T>
void along_floats(const Byte* in, int64_t count, Byte* carry, Byte* out) {
  using Elements = typename FourOf<T>::type;
  constexpr int64_t kTogether = kLookedAtTogether * kScannedTogether;
  const auto carried = load<double>(carry);
  Four so_far = {carried, carried, carried, carried};
  int64_t left = count;
  for (; left >= kTogether; left -= kTogether) {
    Four next = so_far;
    Elements results[kLookedAtTogether];
    FourWords outside = {};
#pragma GCC unroll 4
    for (int i = 0; i < kLookedAtTogether; ++i) {
      Four x;
      Four pairs;
      Four fours;
      scan_by_themselves<Rule, T>(in + i * kStep<Elements>, x, pairs, fours);
      Four result = next;
      Rule::take(result, fours);
      Rule::template look_outside<T>(pairs, result, outside);
      Rule::take(next, TENURE_SHUFFLE(fours, fours, 3, 3, 3, 3));
      results[i] = __builtin_convertvector(result, Elements);
    }
    if (is_any_negative(outside)) [[unlikely]] {
      const double last = scan_any<Rule, T>(in, kLookedAtTogether, double{so_far[0]}, out);
      so_far = Four{last, last, last, last};
    } else {
#pragma GCC unroll 4
      for (int i = 0; i < kLookedAtTogether; ++i) {
        __builtin_memcpy(out + i * kStep<Elements>, &results[i], sizeof results[i]);
      }
      so_far = next;
    }
    in += kTogether * kStep<T>;
    out += kTogether * kStep<T>;
  }
  double last = so_far[0];
  for (; left > 0; left -= kScannedTogether) {
    const auto bytes =
        static_cast<uint64_t>(left < kScannedTogether ? left : kScannedTogether) * sizeof(T);
    T some[kScannedTogether];
    for (T& element : some) element = static_cast<T>(Rule::kStart);
    __builtin_memcpy(some, in, bytes);
    auto* const scanned = reinterpret_cast<Byte*>(some);
    last = scan_any<Rule, T>(scanned, 1, last, scanned);
    __builtin_memcpy(out, some, bytes);
    in += bytes;
    out += bytes;
  }
  store(carry, last);
}

// Rules whose result does not depend on the order, one element after the other.
template <class Rule, class T>
void along_others(const Byte* in, int64_t count, Byte* carry, Byte* out) {
  T so_far = load<T>(carry);
  for (int64_t i = 0; i < count; ++i) {
    so_far = Rule::apply(so_far, load<T>(in + i * kStep<T>));
    store(out + i * kStep<T>, so_far);
  }
  store(carry, so_far);
}

struct WrappingSum {
  static uint64_t apply(uint64_t a, uint64_t b) { return a + b; }
};
struct WrappingProduct {
  static uint64_t apply(uint64_t a, uint64_t b) { return a * b; }
};
// The first NaN stays.
struct Least {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (kIsFloat<T>) {
      return a == a && !(b >= a) ? b : a;
    } else {
      return b < a ? b : a;
    }
  }
  template <class T>
  static constexpr T start() {
    if constexpr (kIsFloat<T>) {
      return static_cast<T>(__builtin_inf());
    } else {
      return Limits<T>::kMax;
    }
  }
};
struct Greatest {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (kIsFloat<T>) {
      return a == a && !(b <= a) ? b : a;
    } else {
      return b > a ? b : a;
    }
  }
  template <class T>
  static constexpr T start() {
    if constexpr (kIsFloat<T>) {
      return -static_cast<T>(__builtin_inf());
    } else {
      return Limits<T>::kMin;
    }
  }
};

constexpr Elementwise kLoadF16 = {load_f16, nullptr, Steps::kDense};
constexpr Elementwise kSpillF16 = {spill_f16, nullptr, Steps::kDense};
constexpr Elementwise kLoadBF16 = {load_bf16, nullptr, Steps::kDense};
constexpr Elementwise kSpillBF16 = {spill_bf16, nullptr, Steps::kDense};

constexpr ScanKernel in_halves(ScanKernel of_f32, const Elementwise* load,
                               const Elementwise* spill) {
  of_f32.load = load;
  of_f32.spill = spill;
  return of_f32;
}
constexpr const Elementwise* cast(Type from, Type to) {
  return &kCast[static_cast<unsigned>(from)][static_cast<unsigned>(to)];
}

template <class Rule, class T>
constexpr ScanKernel kFloats = {along_floats<Rule, T>,
                                __builtin_bit_cast(uint64_t, Rule::kStart),
                                kStep<T>,
                                kStep<T>,
                                nullptr,
                                nullptr};
constexpr ScanKernel widened(ScanKernel of_64_bits, Type from, Type to) {
  of_64_bits.load = cast(from, to);
  return of_64_bits;
}
template <class Float, class Integer>
constexpr ScanKernels of_sums(uint64_t start) {
  const ScanKernel f32 = kFloats<Float, float>;
  const ScanKernel wide = {along_others<Integer, uint64_t>, start, 8, 8, nullptr, nullptr};
  return {{kFloats<Float, double>,
           f32,
           in_halves(f32, &kLoadF16, &kSpillF16),
           in_halves(f32, &kLoadBF16, &kSpillBF16),
           widened(wide, Type::kI8, Type::kI64),
           widened(wide, Type::kI16, Type::kI64),
           widened(wide, Type::kI32, Type::kI64),
           wide,
           widened(wide, Type::kU8, Type::kU64),
           widened(wide, Type::kU16, Type::kU64),
           widened(wide, Type::kU32, Type::kU64),
           wide,
           {}}};
}

template <class Rule, class T>
constexpr ScanKernel extreme() {
  constexpr auto kStart =
      static_cast<uint64_t>(__builtin_bit_cast(UnsignedOf<T>, Rule::template start<T>()));
  return {along_others<Rule, T>, kStart, kStep<T>, kStep<T>, nullptr, nullptr};
}
// Scans narrower integers as i64, and converts the results back.
constexpr ScanKernel narrowed(ScanKernel of_i64, Type type) {
  of_i64.load = cast(type, Type::kI64);
  of_i64.spill = cast(Type::kI64, type);
  return of_i64;
}
template <class Rule>
constexpr ScanKernels of_extremes() {
  const ScanKernel f32 = extreme<Rule, float>();
  const ScanKernel i64 = extreme<Rule, int64_t>();
  return {{extreme<Rule, double>(),
           f32,
           in_halves(f32, &kLoadF16, &kSpillF16),
           in_halves(f32, &kLoadBF16, &kSpillBF16),
           narrowed(i64, Type::kI8),
           narrowed(i64, Type::kI16),
           narrowed(i64, Type::kI32),
           i64,
           narrowed(i64, Type::kU8),
           narrowed(i64, Type::kU16),
           narrowed(i64, Type::kU32),
           extreme<Rule, uint64_t>(),
           {}}};
}

}  // namespace

constinit const ScanTable kScan = {
    of_sums<Adding, WrappingSum>(0),
    of_sums<Multiplying, WrappingProduct>(1),
    of_extremes<Least>(),
    of_extremes<Greatest>(),
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
