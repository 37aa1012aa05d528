#include "cpu/halves.hpp"

#include "cpu/kernels/strip.hpp"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Elements from number `first` on.
template <class From, class To>
void change(const Strip& strip, int64_t first) {
  const Byte* const in = strip.in[0].data;
  Byte* const out = strip.out;
  const int64_t count = strip.count;
  TENURE_INDEPENDENT
  for (int64_t i = first; i < count; ++i) {
    store<To>(out + i * kStep<To>, convert<To>(load<From>(in + i * kStep<From>)));
  }
}

}  // namespace

// Compilers do not choose the instructions for these by themselves.
Finding load_f16(const Strip& strip) {
  int64_t done = 0;
#if defined(__F16C__)
  const Byte* const in = strip.in[0].data;
  Byte* const out = strip.out;
#if defined(__AVX512F__)
  const int64_t last_of_sixteen = strip.count - 16;
  for (; done <= last_of_sixteen; done += 16) {
    const auto halves = load<__m256i>(in + done * kStep<F16>);
    // g++ 12 takes the unmasked form's result for uninitialised.
    store(out + done * kStep<float>, _mm512_maskz_cvtph_ps(0xffff, halves));
  }
#endif
  const int64_t last = strip.count - 8;
  for (; done <= last; done += 8) {
    const auto halves = load<__m128i>(in + done * kStep<F16>);
    store(out + done * kStep<float>, _mm256_cvtph_ps(halves));
  }
  if (done < strip.count) {
    // By the instruction too, which makes signalling NaNs quiet: no element depends on its place.
    const auto left = static_cast<uint64_t>(strip.count - done);
    __m128i halves = _mm_setzero_si128();
    __builtin_memcpy(&halves, in + done * kStep<F16>, left * kStep<F16>);
    const __m256 wide = _mm256_cvtph_ps(halves);
    __builtin_memcpy(out + done * kStep<float>, &wide, left * kStep<float>);
  }
#else
  change<F16, float>(strip, done);
#endif
  return kNothing;
}

// The instruction keeps the top of a NaN, made quiet, as round_from<F16> does. Two at once, since
// storing by the instruction itself takes twice as long.
Finding spill_f16(const Strip& strip) {
  int64_t done = 0;
#if defined(__F16C__)
  const Byte* const in = strip.in[0].data;
  Byte* const out = strip.out;
  const int64_t last = strip.count - 16;
  for (; done <= last; done += 16) {
    const auto low = load<__m256>(in + done * kStep<float>);
    const auto high = load<__m256>(in + (done + 8) * kStep<float>);
    store(out + done * kStep<F16>,
          _mm256_set_m128i(_mm256_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT),
                           _mm256_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT)));
  }
#endif
  change<float, F16>(strip, done);
  return kNothing;
}

Finding load_bf16(const Strip& strip) {
  change<BF16, float>(strip, 0);
  return kNothing;
}

Finding spill_bf16(const Strip& strip) {
  change<float, BF16>(strip, 0);
  return kNothing;
}

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
