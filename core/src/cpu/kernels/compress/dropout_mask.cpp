// Counter-based dropout mask.
//
// Each element has a random number of its own, that of its place in SplitMix64 (G. L. Steele Jr, D.
// Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), which needs
// none of those before it. So elements may be asked in any order, by any number of threads.
#include "cpu/kernels/vectors.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr uint64_t kGamma = 0x9e3779b97f4a7c15u;

template <class V>
inline V mixed(V number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return number ^ (number >> 31);
}

// A bit for each of 64 elements from one on.
inline uint64_t kept_bits(uint64_t first, uint64_t key, uint64_t least) {
  constexpr int64_t kCount = kPerVector<uint64_t>;
  Vector<uint64_t> counters{};  // g++ 12 would have it used before it is set, at -O1
  for (int64_t i = 0; i < kCount; ++i) {
    counters[i] = key + (first + static_cast<uint64_t>(i) + 1) * kGamma;
  }
  uint64_t word = 0;
  for (int64_t at = 0; at < kWordElements; at += kCount) {
    const Vector<int64_t> kept = mixed(counters) >= broadcast(least);
    word |= lane_bits<int64_t>(kept) << at;
    counters += kGamma * static_cast<uint64_t>(kCount);
  }
  return word;
}

}  // namespace

int64_t dropout_mask(uint64_t* bits, int64_t words, uint64_t first, const Chance& chance) {
  // Seeds that are close to each other give sequences that are not.
  const uint64_t key = mixed(chance.seed + kGamma);
  int64_t found = 0;
  for (int64_t i = 0; i < words; ++i) {
    if (bits[i] == 0) continue;
    bits[i] &= kept_bits(first + static_cast<uint64_t>(i * kWordElements), key, chance.least);
    found += __builtin_popcountll(bits[i]);
  }
  return found;
}

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
