// A random order has every number once, is that of its definition, and no order is preferred.
#include <gtest/gtest.h>

#include <numeric>

#include "arrays.hpp"
#include "expect_error.hpp"
#include "random_model.hpp"
#include "tenure/ops.hpp"
#include "tenure/random.hpp"

namespace tenure::test {
namespace {

std::vector<std::int64_t> shuffled(std::uint64_t seed, std::uint64_t offset, std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    __extension__ using Wide = unsigned __int128;
    const std::uint64_t word = wide_word_of_place(seed, offset + static_cast<std::uint64_t>(i));
    const auto further = static_cast<std::int64_t>(
        static_cast<Wide>(word) * static_cast<std::uint64_t>(count - i) >> 64);
    std::swap(numbers[static_cast<std::size_t>(i)], numbers[static_cast<std::size_t>(i + further)]);
  }
  return numbers;
}

TEST(RandomPermutation, IsThatOfTheDefinition) {
  Random random(3);
  for (const std::int64_t count : {0, 1, 2, 5, 255, 256, 257, 3000}) {
    for (const Arrangement arrangement : kWritable) {
      for (const tnr_dtype dtype : {TNR_DTYPE_I32, TNR_DTYPE_I64}) {
        Array out(dtype, {count}, arrangement, random);
        const std::uint64_t offset = random() / 2;
        random_permutation(kDefaultContext, 8, offset, out.out());
        const auto expected = shuffled(8, offset, count);
        std::size_t at = 0;
        for (const Byte* const element : out.elements()) {
          std::int64_t number = 0;
          std::memcpy(&number, element, element_size(dtype));
          ASSERT_EQ(number, expected[at++]) << describe(out.view());
        }
        ASSERT_TRUE(out.gaps_are_intact());
      }
    }
  }
}

TEST(RandomPermutation, HasNoOrderThatItPrefers) {
  constexpr int kOrders = 120;
  constexpr int kDraws = 120'000;
  std::vector<int> counts(kOrders);
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    Literal<std::int32_t> out(TNR_DTYPE_I32, std::vector<std::int32_t>(5));
    random_permutation(kDefaultContext, 4, draw * 5, out.out());
    std::size_t order = 0;
    for (int i = 0; i < 5; ++i) {
      std::size_t smaller = 0;
      for (int j = i + 1; j < 5; ++j)
        smaller += out.values[static_cast<std::size_t>(j)] < out.values[static_cast<std::size_t>(i)]
                       ? 1
                       : 0;
      order = order * static_cast<std::size_t>(5 - i) + smaller;
    }
    ++counts[order];
  }
  double sum = 0;
  for (const int count : counts) sum += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LE(std::fabs(sum - 119) / std::sqrt(2.0 * 119), 4.9);
}

TEST(RandomPermutation, RefusesWhatIsNoVectorOfIndices) {
  std::vector<std::int64_t> memory(8, 3);
  const auto refused = [&](tnr_status status, std::initializer_list<std::string> words,
                           tnr_dtype dtype, const Layout& layout, std::uint64_t offset = 0) {
    const tnr_view_mut out = {view_of(memory.data(), 64, 0, dtype, layout)};
    expect_error(status, words, [&] { random_permutation(kDefaultContext, 1, offset, out); });
  };
  refused(TNR_STATUS_INVALID_ARGUMENT, {"out.rank is 2 but must be 1"}, TNR_DTYPE_I64,
          {{2, 4}, {4, 1}});
  refused(TNR_STATUS_UNSUPPORTED, {"permutation does not take f32"}, TNR_DTYPE_F32, {{8, 1}});
  refused(TNR_STATUS_INVALID_ARGUMENT, {"offset is 18446744073709551612", "8 numbers"},
          TNR_DTYPE_I64, {{8, 1}}, UINT64_MAX - 3);
  EXPECT_EQ(memory, std::vector<std::int64_t>(8, 3));
}

}  // namespace
}  // namespace tenure::test
