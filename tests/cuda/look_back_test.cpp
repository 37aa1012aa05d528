// How a tile of dense_scan.cu learns how many entries are before it. The shim runs blocks one after
// the other, so that each finds that the tile before tells all; here others have begun and are not
// done: a kernel of the host gets the states that they would have left.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "cuda/kernels/sparse/arguments.hpp"
#include "simt.hpp"

namespace {

using namespace tenure::cuda;

constexpr std::int64_t kTiles = 140;
constexpr std::int64_t kColumns = kScanTile;  // a row is a tile

TEST(LookBack, AddsUpWhatTilesTellOfThemselves) {
  const simt::Kernel* const kernel = simt::find_kernel("tenure_dense_scan_4");
  ASSERT_NE(kernel, nullptr);
  std::mt19937_64 random(1);
  std::vector<unsigned char> elements(kTiles * kColumns);
  std::vector<std::int64_t> expected = {0};
  for (std::int64_t tile = 0; tile < kTiles; ++tile) {
    // Some have none, and some are full.
    const std::uint64_t of_8 = random() % 9;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < kColumns; ++i) {
      const bool is_entry = random() % 8 < of_8;
      elements[static_cast<std::size_t>(tile * kColumns + i)] = is_entry ? 1 : 0;
      count += is_entry ? 1 : 0;
    }
    expected.push_back(expected.back() + count);
  }
  for (int round = 0; round < 60; ++round) {
    const auto first = 1 + static_cast<std::int64_t>(random() % (kTiles - 1));
    // The first tile and one in `one_of` of the other earlier tiles publish their prefix sums.
    const std::uint64_t one_of = 1 + static_cast<std::uint64_t>(round);
    std::vector<unsigned long long> words(2 + kTiles);
    words[0] = static_cast<unsigned long long>(first);
    for (std::int64_t tile = 0; tile < first; ++tile) {
      const auto at = static_cast<std::size_t>(tile);
      const bool tells_all = tile == 0 || random() % one_of == 0;
      const std::int64_t number = expected[at + 1] - (tells_all ? 0 : expected[at]);
      words[2 + at] = static_cast<unsigned long long>(number) << 2 | (tells_all ? 2 : 1);
    }
    std::vector<std::int64_t> offsets(kTiles + 1, -1);
    std::vector<std::int64_t> indices(static_cast<std::size_t>(expected.back()), -1);
    std::vector<unsigned char> values(indices.size());
    DenseScanArgument argument = {};
    argument.data = elements.data();
    argument.offsets = reinterpret_cast<unsigned char*>(offsets.data());
    argument.indices = reinterpret_cast<unsigned char*>(indices.data());
    argument.values = values.data();
    argument.next = words.data();
    argument.count = words.data() + 1;
    argument.states = words.data() + 2;
    argument.rows = kTiles;
    argument.columns = kColumns;
    argument.tiles = kTiles;
    argument.capacity = indices.size();
    argument.predicate_mask = 0xff;
    argument.is_dense = 1;
    argument.has_wide_indices = 1;
    simt::launch(*kernel, {3, 1, 1}, {kThreads, 1, 1}, &argument);
    EXPECT_EQ(words[1], static_cast<unsigned long long>(expected.back()));
    for (std::int64_t tile = first; tile <= kTiles; ++tile) {
      const auto at = static_cast<std::size_t>(tile);
      ASSERT_EQ(offsets[at], expected[at]) << "tile " << tile << " from " << first;
    }
    std::size_t k = static_cast<std::size_t>(expected[static_cast<std::size_t>(first)]);
    for (std::int64_t i = first * kColumns; i < kTiles * kColumns; ++i) {
      if (elements[static_cast<std::size_t>(i)] == 0) continue;
      ASSERT_EQ(indices[k++], i % kColumns);
    }
    EXPECT_EQ(k, indices.size());
    // All tell all now.
    for (std::int64_t tile = first; tile < kTiles; ++tile) {
      const auto at = static_cast<std::size_t>(tile);
      ASSERT_EQ(words[2 + at], static_cast<unsigned long long>(expected[at + 1]) << 2 | 2);
    }
  }
}

}  // namespace
