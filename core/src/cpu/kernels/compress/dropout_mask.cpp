// Counter-based dropout mask.
//
// Each element has the random word of its place in Philox4x32-10 (../random/philox.hpp), which
// needs none of those before it. So elements may be computed in any order, by any number of
// threads.
#include "cpu/kernels/random/philox.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr int64_t kBatchWords = 4 * kBatchBlocks;

// A bit for each word of a batch of blocks: whether it is at most `most`.
inline uint64_t small_words(const PhiloxKeys& keys, uint64_t first_block, uint32_t most) {
  const auto [first, second] = words_in_order(keys.blocks(first_block, kStreamOf32Bits));
  return lane_bits<int32_t>(first <= broadcast(most)) |
         lane_bits<int32_t>(second <= broadcast(most)) << kPerVector<uint32_t>;
}

// A bit for each word of 64 places: whether it is at most `most`.
inline uint64_t small_words_of_places(const PhiloxKeys& keys, uint64_t place, uint32_t most) {
  uint64_t block = place / 4;
  uint64_t bits = 0;
  for (int64_t at = 0; at < kWordElements; at += kBatchWords) {
    bits |= small_words(keys, block, most) << at;
    block += kBatchBlocks;
  }
  const uint64_t skipped = place % 4;
  if (skipped == 0) return bits;
  return bits >> skipped | small_words(keys, block, most) << (kWordElements - skipped);
}

}  // namespace

int64_t dropout_mask(uint64_t* bits, int64_t words, uint64_t first, const Chance& chance) {
  const PhiloxKeys keys(chance.seed);
  const auto most = static_cast<uint32_t>(chance.bound - 1);
  int64_t found = 0;
  for (int64_t i = 0; i < words; ++i) {
    if (bits[i] == 0) continue;
    if (chance.bound != 0) {
      bits[i] &=
          ~small_words_of_places(keys, first + static_cast<uint64_t>(i * kWordElements), most);
    }
    found += __builtin_popcountll(bits[i]);
  }
  return found;
}

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
