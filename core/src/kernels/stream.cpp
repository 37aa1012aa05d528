// Stores past the caches.
#include "kernels/tables.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr uint64_t kLineBytes = 64;

// Under AVX-512 in halves too: measured, whole lines are no faster.
void stream_line(Byte* out, const Byte* from) {
#if defined(__AVX__)
  const __m256i* const halves = reinterpret_cast<const __m256i*>(from);
  const __m256i low = _mm256_loadu_si256(halves);
  const __m256i high = _mm256_loadu_si256(halves + 1);
  _mm256_stream_si256(reinterpret_cast<__m256i*>(out), low);
  _mm256_stream_si256(reinterpret_cast<__m256i*>(out) + 1, high);
#elif defined(__x86_64__)
  for (unsigned i = 0; i < 4; ++i) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(out) + i,
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + i));
  }
#else
  __builtin_memcpy(out, from, kLineBytes);
#endif
}

void stream(Byte* out, const Byte* from, uint64_t size_bytes) {
  for (uint64_t at = 0; at < size_bytes; at += kLineBytes) stream_line(out + at, from + at);
}

}  // namespace

const Streamer kStream = stream;

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
