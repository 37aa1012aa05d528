// Philox4x32-10: random words of 32 bits as a function of a key and a counter.
//
// J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3"
// (SC 2011). A block of four words is ten rounds of two products of 32 bits each, and needs no
// block before it.
#pragma once

#include "cpu/kernels/lanes.hpp"
#include "cpu/kernels/vectors.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Third word of the counter, by the bits of an element: elements of one place that have different
// widths share no block.
constexpr uint32_t kStreamOf32Bits = 0;
constexpr uint32_t kStreamOf64Bits = 1;

using Words = Vector<uint32_t>;
using WideWords = Vector<uint64_t>;

// Blocks that are made together. Lane l has block l / 2 of the first half of them where l is even,
// and of the second half where it is odd: interleaving lanes then puts blocks in their order.
constexpr int64_t kBatchBlocks = kPerVector<uint64_t>;

// Word i of each block is in the lower half of word[i]'s lanes; the upper half has no meaning.
struct Blocks32 {
  WideWords word[4];
};

// Keys of all rounds.
class PhiloxKeys {
 public:
  explicit PhiloxKeys(uint64_t seed) {
    auto first = static_cast<uint32_t>(seed);
    auto second = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < kRounds; ++round) {
      rounds_[round][0] = broadcast<uint64_t>(first);
      rounds_[round][1] = broadcast<uint64_t>(second);
      first += 0x9e3779b9u;
      second += 0xbb67ae85u;
    }
  }

  // Adjacent blocks from one on.
  [[nodiscard]] Blocks32 blocks(uint64_t first, uint32_t stream) const {
    WideWords c0 = {};
    for (int64_t lane = 0; lane < kBatchBlocks; ++lane) {
      c0[lane] = static_cast<uint64_t>(lane % 2 * (kBatchBlocks / 2) + lane / 2);
    }
    c0 += broadcast(first);
    WideWords c1 = c0 >> 32;
    WideWords c2 = broadcast<uint64_t>(stream);
    WideWords c3 = {};
#pragma GCC unroll 10
    for (int round = 0; round < kRounds; ++round) {
      const WideWords a = product(c0, 0xd2511f53u);
      const WideWords b = product(c2, 0xcd9e8d57u);
      c0 = exclusive_or(b >> 32, c1, rounds_[round][0]);
      c1 = b;
      c2 = exclusive_or(a >> 32, c3, rounds_[round][1]);
      c3 = a;
    }
    return {{c0, c1, c2, c3}};
  }

 private:
  static constexpr int kRounds = 10;

  // Multiplies the lower halves.
  static WideWords product(const WideWords& a, uint32_t factor) {
    const WideWords b = broadcast<uint64_t>(factor);
#if defined(__AVX512F__)
    return reinterpret_cast<WideWords>(
        _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
    return reinterpret_cast<WideWords>(
        _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__x86_64__)
    return reinterpret_cast<WideWords>(
        _mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
    return (a & 0xffffffffu) * b;
#endif
  }

  static WideWords exclusive_or(const WideWords& a, const WideWords& b, const WideWords& c) {
#if defined(__AVX512F__)
    return reinterpret_cast<WideWords>(
        _mm512_ternarylogic_epi64(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b),
                                  reinterpret_cast<__m512i>(c), 0x96));
#else
    return a ^ b ^ c;
#endif
  }

  WideWords rounds_[kRounds][2];
};

// The lower halves of `low`, and those of `high` above them.
inline WideWords joined(const WideWords& low, const WideWords& high) {
#if defined(__AVX512F__)
  return reinterpret_cast<WideWords>(_mm512_mask_shuffle_epi32(
      reinterpret_cast<__m512i>(low), 0xaaaa, reinterpret_cast<__m512i>(high), _MM_PERM_CCAA));
#elif defined(__AVX2__)
  return reinterpret_cast<WideWords>(_mm256_blend_epi32(
      reinterpret_cast<__m256i>(low), reinterpret_cast<__m256i>(high << 32), 0xaa));
#else
  return (low & 0xffffffffu) | high << 32;
#endif
}

// Elements of two vectors by turns, within each two lanes of 64 bits.
template <class V>
struct Pair {
  V first;
  V second;
};
template <unsigned width, class V>
inline Pair<V> interleaved(const V& a, const V& b) {
  const auto left = reinterpret_cast<Widest::Vector>(a);
  const auto right = reinterpret_cast<Widest::Vector>(b);
  return {reinterpret_cast<V>(Widest::template low<width>(left, right)),
          reinterpret_cast<V>(Widest::template high<width>(left, right))};
}

// All words of a batch, in the order of their blocks.
inline Pair<Words> words_in_order(const Blocks32& blocks) {
  const auto [first, second] = interleaved<8>(joined(blocks.word[0], blocks.word[1]),
                                              joined(blocks.word[2], blocks.word[3]));
  return {reinterpret_cast<Words>(first), reinterpret_cast<Words>(second)};
}
// All words of 64 bits of a batch, in the order of their blocks; the lower half of a word comes
// first.
inline Pair<WideWords> wide_words_in_order(const Blocks32& blocks) {
  return interleaved<8>(joined(blocks.word[0], blocks.word[1]),
                        joined(blocks.word[2], blocks.word[3]));
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
