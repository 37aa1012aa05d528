// Products by weights of 4 bits. Pairs of products are added in 16 bits, which has the sums of a
// block: 16 of at most 15 * 127.
#include "cpu/kernels/matmul/nibbles.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

#if defined(__SSSE3__)
struct PairsOfWords {
  using Part = Vector<int16_t>;
  static Part start(const Sums&) { return Part{}; }
  static Part add(const Quads& b, const Quads& a, const Part& part) {
#if defined(__AVX512BW__)
    const __m512i pairs =
        _mm512_maddubs_epi16(reinterpret_cast<__m512i>(b), reinterpret_cast<__m512i>(a));
#elif defined(__AVX2__)
    const __m256i pairs =
        _mm256_maddubs_epi16(reinterpret_cast<__m256i>(b), reinterpret_cast<__m256i>(a));
#else
    const __m128i pairs =
        _mm_maddubs_epi16(reinterpret_cast<__m128i>(b), reinterpret_cast<__m128i>(a));
#endif
    Part sum = part + reinterpret_cast<Part>(pairs);
    __asm__("" : "+x"(sum));  // or g++ adds all products of a block as a tree, which it spills
    return sum;
  }
  static Sums fold(const Part& part, const Sums& sums) {
#if defined(__AVX512BW__)
    const __m512i whole = _mm512_madd_epi16(reinterpret_cast<__m512i>(part), _mm512_set1_epi16(1));
#elif defined(__AVX2__)
    const __m256i whole = _mm256_madd_epi16(reinterpret_cast<__m256i>(part), _mm256_set1_epi16(1));
#else
    const __m128i whole = _mm_madd_epi16(reinterpret_cast<__m128i>(part), _mm_set1_epi16(1));
#endif
    return sums + reinterpret_cast<Sums>(whole);
  }
};
#else
// By shifts of the bytes of each lane.
struct PairsOfWords {
  using Part = Sums;
  static Part start(const Sums& sums) { return sums; }
  static Part add(const Quads& b, const Quads& a, Part part) {
    const Sums left = reinterpret_cast<Sums>(a);
    const Sums right = reinterpret_cast<Sums>(b);
#pragma GCC unroll 4
    for (int d = 0; d < 4; ++d) {
      part += (left << (24 - 8 * d) >> 24) * (right << (24 - 8 * d) >> 24);
    }
    return part;
  }
  static Sums fold(const Part& part, const Sums&) { return part; }
};
#endif

}  // namespace

const NibbleKernels kNibbles = {kNibbleColumns, multiply_by_nibbles<PairsOfWords>};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
