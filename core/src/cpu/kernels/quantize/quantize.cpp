// Rounding to integers of 8 bits, and back.
//
// A number is divided by its scale, and not multiplied by the reciprocal: the two differ in the last
// bit, and the reference of ONNX divides. Every step is rounded by itself, so that results have the
// same bits under every instruction set.
#include "cpu/kernels/dense.hpp"
#include "cpu/kernels/strip.hpp"
#include "cpu/kernels/vectors.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Adding it leaves no bit behind the point of a number below 2^22, which is rounded to nearest, ties
// to even. The lowest bits of the sum are those of the integer.
constexpr float kRounder = 0x1.8p23f;
constexpr int32_t kRounderBits = 0x4b400000;
constexpr int32_t kInfinity = 0x7f800000;
constexpr int32_t kFar = 0x44800000;  // 1024, beyond every integer of 8 bits, with any zero point

// The nearest integer to x, between -bound and bound; 0 for NaN. By comparisons of integers:
// compilers make no vectors of conditions on floats, which may trap.
inline int32_t rounded(float x, float bound) {
  const int32_t most = bit_copy<int32_t>(bound);
  const int32_t bits = bit_copy<int32_t>(x);
  const int32_t magnitude = bits & 0x7fffffff;
  const int32_t number = magnitude > kInfinity ? 0 : magnitude;
  const int32_t inside = number > most ? most : number;
  return bit_copy<int32_t>(bit_copy<float>(inside | (bits ^ magnitude)) + kRounder) - kRounderBits;
}

template <class I>
inline I quantized(float x, float scale, I zero) {
  constexpr int32_t kLeast = kIsSigned<I> ? -128 : 0;
  const int32_t value = rounded(x / scale, bit_copy<float>(kFar)) + zero;
  const int32_t least = value < kLeast ? kLeast : value;
  return static_cast<I>(least > kLeast + 255 ? kLeast + 255 : least);
}

// Integers that are numbers of I, as its bytes.
template <class I>
inline void store_bytes(Byte* to, const Vector<int32_t>& integers) {
#if defined(__AVX512F__)
  store<__m128i>(to, _mm512_maskz_cvtepi32_epi8(0xffff, reinterpret_cast<__m512i>(integers)));
#elif defined(__x86_64__)
#if defined(__AVX2__)
  const auto all = reinterpret_cast<__m256i>(integers);
  const __m128i pairs =
      _mm_packs_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
#else
  const auto all = reinterpret_cast<__m128i>(integers);
  const __m128i pairs = _mm_packs_epi32(all, all);
#endif
  const __m128i bytes =
      kIsSigned<I> ? _mm_packs_epi16(pairs, pairs) : _mm_packus_epi16(pairs, pairs);
  __builtin_memcpy(to, &bytes, kPerVector<int32_t>);
#else
  for (int64_t i = 0; i < kPerVector<int32_t>; ++i) store<I>(to + i, static_cast<I>(integers[i]));
#endif
}

// Quantizes whole vectors of adjacent numbers, and returns how many numbers those are. Rows of a
// product are short, and the vectors of compilers are four registers long.
template <class I>
inline int64_t quantize_vectors(const Byte* in, int64_t count, float scale, I zero, Byte* out) {
  using Bits = Vector<int32_t>;
  constexpr int64_t kLanes = kPerVector<float>;
  constexpr int32_t kLeast = kIsSigned<I> ? -128 : 0;
  const Vector<float> divisor = broadcast(scale);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Vector<float> x = load<Vector<float>>(in + i * kStep<float>) / divisor;
    const Bits bits = reinterpret_cast<Bits>(x);
    const Bits magnitude = bits & 0x7fffffff;
    const Bits number = magnitude & (magnitude <= kInfinity);
    const Bits inside = number > kFar ? kFar - Bits{} : number;
    const Vector<float> raised =
        reinterpret_cast<Vector<float>>(inside | (bits ^ magnitude)) + kRounder;
    const Bits value = reinterpret_cast<Bits>(raised) - kRounderBits + int32_t{zero};
    const Bits least = value < kLeast ? kLeast - Bits{} : value;
    store_bytes<I>(out + i, least > kLeast + 255 ? kLeast + 255 - Bits{} : least);
  }
  return i;
}

template <class T>
inline T number_of(float x) {
  if constexpr (kSame<T, float>) {
    return x;
  } else {
    return round_from<T>(x);
  }
}
// The difference is exact, and the product is rounded once, and then to T.
template <class T, class I>
inline T dequantized(I value, float scale, I zero) {
  return number_of<T>(static_cast<float>(int32_t{value} - int32_t{zero}) * scale);
}

// The three inputs of a strip are elements, scales, and zeros. Loops of vectors are for numbers of
// f32 with one zero.
template <class In, class Out, class Zero, Out (*kOf)(In, float, Zero)>
Finding map(const Strip& strip) {
  constexpr bool kHasVectors = kSame<In, float> || kSame<Out, float>;
  const int64_t count = strip.count;
  Byte* const out = strip.out;
  const Byte* const in = strip.in[0].data;
  const Byte* const scales = strip.in[1].data;
  const Byte* const zeros = strip.in[2].data;
  const int64_t scale_step = strip.in[1].step;
  const int64_t zero_step = strip.in[2].step;
  const bool is_dense = strip.out_step == kStep<Out> && strip.in[0].step == kStep<In>;
  if (kHasVectors && is_dense && zero_step == 0 && scale_step == 0) {
    const float scale = load<float>(scales);
    const Zero zero = load<Zero>(zeros);
    int64_t i = 0;
    if constexpr (kSame<In, float> && sizeof(Out) == 1) {
      i = quantize_vectors<Out>(in, count, scale, zero, out);
    }
    TENURE_INDEPENDENT
    for (; i < count; ++i) {
      store<Out>(out + i * kStep<Out>, kOf(load<In>(in + i * kStep<In>), scale, zero));
    }
  } else if (kHasVectors && is_dense && zero_step == 0 && scale_step == kStep<float>) {
    const Zero zero = load<Zero>(zeros);
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      store<Out>(out + i * kStep<Out>,
                 kOf(load<In>(in + i * kStep<In>), load<float>(scales + i * kStep<float>), zero));
    }
  } else {
#pragma GCC unroll 1
    for (int64_t i = 0; i < count; ++i) {
      TENURE_ONE_BY_ONE;
      store<Out>(out + i * strip.out_step,
                 kOf(load<In>(in + i * strip.in[0].step), load<float>(scales + i * scale_step),
                     load<Zero>(zeros + i * zero_step)));
    }
  }
  return kNothing;
}

template <class T, class I>
inline I quantize_element(T x, float scale, I zero) {
  return quantized<I>(widen(x), scale, zero);
}
template <class T, class I>
inline T dequantize_element(I value, float scale, I zero) {
  return dequantized<T, I>(value, scale, zero);
}

// ---- rows ----

constexpr int32_t kMagnitude = 0x7fffffff;

// Returns an integer that is ordered as the float is; 0 for NaN and infinities.
template <class T>
inline int32_t finite_order(const Byte* at) {
  const int32_t bits = bit_copy<int32_t>(widen(load<T>(at)));
  const int32_t order = bits ^ (bits >> 31 & kMagnitude);
  return (bits & kMagnitude) < kInfinity ? order : 0;
}
inline float in_order(int32_t order) { return bit_copy<float>(order ^ (order >> 31 & kMagnitude)); }

template <class T>
Range range(const Byte* in, int64_t count) {
  int32_t least = 0;
  int32_t greatest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t order = finite_order<T>(in + i * kStep<T>);
    least = order < least ? order : least;
    greatest = order > greatest ? order : greatest;
  }
  return {in_order(least), in_order(greatest)};
}

template <class T>
float greatest(const Byte* in, int64_t count) {
  int32_t most = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t magnitude = bit_copy<int32_t>(widen(load<T>(in + i * kStep<T>))) & kMagnitude;
    const int32_t finite = magnitude < kInfinity ? magnitude : 0;
    most = finite > most ? finite : most;
  }
  return bit_copy<float>(most);
}

template <class T>
void quantize_row(const Byte* in, int64_t count, float scale, float most, Byte* out) {
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    store<int8_t>(out + i,
                  static_cast<int8_t>(rounded(widen(load<T>(in + i * kStep<T>)) / scale, most)));
  }
}

template <class T>
void quantize_groups(const Byte* in, int64_t count, int64_t group, float* scales, int32_t* terms,
                     Byte* out) {
  for (int64_t first = 0; first < count; first += group) {
    const float most = greatest<T>(in + first * kStep<T>, group) / 127;
    const float scale = most > 0 ? most : 1;
    quantize_row<T>(in + first * kStep<T>, group, scale, 127, out + first);
    int32_t sum = 0;
    for (int64_t i = first; i < first + group; ++i) sum += load<int8_t>(out + i);
    *scales++ = scale;
    *terms++ = -8 * sum;
  }
}

// ---- sums ----

// One row of a result. Its own numbers come first, and are all that differs between rows.
struct RowTerms {
  float scale;
  uint32_t zero;
  uint32_t sum;
};

template <bool kHasRowZeros, bool kHasColumnZeros>
void scale_row(Byte* sums, int64_t step, int64_t count, const RowTerms& of_row,
               const SumScaling& by) {
  // Copies: for all that the compiler knows, a store to `sums` changes what references name.
  const RowTerms row = of_row;
  const float* const column_scales = by.column_scales;
  const int32_t* const column_sums = by.column_sums;
  const int32_t* const column_zeros = by.column_zeros;
  const auto scaled = [=](int64_t j, uint32_t sum) {
    if constexpr (kHasRowZeros) sum -= row.zero * static_cast<uint32_t>(column_sums[j]);
    if constexpr (kHasColumnZeros) sum -= row.sum * static_cast<uint32_t>(column_zeros[j]);
    return static_cast<float>(static_cast<int32_t>(sum)) * (row.scale * column_scales[j]);
  };
  if (step == kStep<float>) {
    TENURE_INDEPENDENT
    for (int64_t j = 0; j < count; ++j) {
      Byte* const at = sums + j * kStep<float>;
      store<float>(at, scaled(j, load<uint32_t>(at)));
    }
  } else {
#pragma GCC unroll 1
    for (int64_t j = 0; j < count; ++j) {
      Byte* const at = sums + j * step;
      store<float>(at, scaled(j, load<uint32_t>(at)));
    }
  }
}

void scale_sums(const ScaledSums& part) {
  const SumScaling& by = part.by;
  const bool has_row_zeros = by.row_zeros != nullptr;
  const bool has_column_zeros = by.column_zeros != nullptr;
  const auto run = has_row_zeros
                       ? (has_column_zeros ? scale_row<true, true> : scale_row<true, false>)
                   : has_column_zeros ? scale_row<false, true>
                                      : scale_row<false, false>;
  for (int64_t i = 0; i < part.rows; ++i) {
    const RowTerms row = {by.row_scales[i],
                          has_row_zeros ? static_cast<uint32_t>(by.row_zeros[i]) : 0,
                          has_column_zeros ? static_cast<uint32_t>(by.row_sums[i]) : 0};
    run(part.sums + i * part.row_step, part.column_step, part.columns, row, by);
  }
}

template <class T, class I>
constexpr Elementwise kQuantizing = {map<T, I, I, quantize_element<T, I>>, nullptr, Steps::kAny};
template <class T, class I>
constexpr Elementwise kDequantizing = {map<I, T, I, dequantize_element<T, I>>, nullptr,
                                       Steps::kAny};
template <class T>
constexpr RowQuantizing kRows = {range<T>, greatest<T>, quantize_row<T>, quantize_groups<T>};

}  // namespace

const QuantizingKernels kQuantize = {
    {{kQuantizing<float, int8_t>, kQuantizing<float, uint8_t>},
     {kQuantizing<F16, int8_t>, kQuantizing<F16, uint8_t>},
     {kQuantizing<BF16, int8_t>, kQuantizing<BF16, uint8_t>}},
    {{kDequantizing<float, int8_t>, kDequantizing<F16, int8_t>, kDequantizing<BF16, int8_t>},
     {kDequantizing<float, uint8_t>, kDequantizing<F16, uint8_t>, kDequantizing<BF16, uint8_t>}},
    {kRows<float>, kRows<F16>, kRows<BF16>},
    scale_sums,
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
