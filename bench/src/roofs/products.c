/* Products of narrow numbers, which only some processors with AVX-512 have. The caller has asked
 * for them. Twelve chains, as in kernels.c; each starts at its number, since the compiler would
 * compute chains that are the same but once. */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)

double tenure_roofs_bf16(uint64_t iterations, double a, double b);
double tenure_roofs_vnni(uint64_t iterations, double a, double b);

/* Every 16 bits: the upper half of the float, which is the bf16 of a number that needs no more. */
static __m512i bf16_everywhere(double number) {
  const float narrow = (float)number;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return _mm512_set1_epi32((int)(bits >> 16 | (bits & 0xffff0000u)));
}

/* Each of 16 lanes: the sum of two products a * b, `iterations` times; the sum of all. */
double tenure_roofs_bf16(uint64_t iterations, double a, double b) {
  const __m512bh x = (__m512bh)bf16_everywhere(a), y = (__m512bh)bf16_everywhere(b);
#define START(i) __m512 sum##i = _mm512_set1_ps((float)(i));
#define ADVANCE(i) sum##i = _mm512_dpbf16_ps(sum##i, x, y);
#define COLLECT(i) total += (double)_mm512_reduce_add_ps(sum##i);
  EACH(START)
  for (uint64_t i = 0; i < iterations; ++i) {
    EACH(ADVANCE)
  }
  double total = 0;
  EACH(COLLECT)
  return total;
#undef START
#undef ADVANCE
#undef COLLECT
}

/* Each of 16 lanes: the sum of four products of u8 (a) and i8 (b). */
double tenure_roofs_vnni(uint64_t iterations, double a, double b) {
  const __m512i x = _mm512_set1_epi8((char)a), y = _mm512_set1_epi8((char)b);
#define START(i) __m512i sum##i = _mm512_set1_epi32(i);
#define ADVANCE(i) sum##i = _mm512_dpbusd_epi32(sum##i, x, y);
#define COLLECT(i) total += (double)_mm512_reduce_add_epi32(sum##i);
  EACH(START)
  for (uint64_t i = 0; i < iterations; ++i) {
    EACH(ADVANCE)
  }
  double total = 0;
  EACH(COLLECT)
  return total;
}
