// How elements are shared out to launches: dividers, and nests too large for one launch. The tests
// run only on the host, because no device here has the memory for these nests.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "cuda/operations/nest.hpp"

namespace {

using namespace tenure::cuda;

TEST(LaunchNest, DividersDivide) {
  std::mt19937_64 random(1);
  std::vector<std::uint32_t> extents = {1, 2, 3, 5, 7, 64, 641, 65535, 65536, 65537, 0x7fffffff};
  for (int i = 0; i < 2000; ++i) {
    extents.push_back(static_cast<std::uint32_t>(1 + (random() >> (33 + random() % 31))));
  }
  for (const std::uint32_t extent : extents) {
    const Divider divider = divider_by(extent);
    for (int i = 0; i < 200; ++i) {
      auto number = static_cast<std::uint32_t>(random() >> (33 + random() % 20));
      if (i < 4) number = 0x7fffffffu - static_cast<std::uint32_t>(i);
      if (i >= 4 && i < 8) number = number / extent * extent - (i % 2 == 0 && number >= extent);
      const auto upper = static_cast<std::uint32_t>(
          (static_cast<std::uint64_t>(number) * divider.multiplier) >> 32);
      ASSERT_EQ((upper + number) >> divider.shift, number / extent) << number << " / " << extent;
    }
  }
}

// Addresses are numbers here: nothing is read.
const unsigned char* address(std::uintptr_t number) {
  return reinterpret_cast<const unsigned char*>(number);
}

LoopNest strided_nest(const std::vector<std::int64_t>& extents) {
  LoopNest nest(2);
  nest.set(0, {address(1 << 20), 4});
  nest.set(1, {address(1 << 21), 4});
  std::int64_t step = 8;
  std::vector<std::int64_t> steps;
  for (std::size_t i = extents.size(); i-- > 0;) {
    steps.insert(steps.begin(), step);
    step *= extents[i] + 1;
  }
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::int64_t of_both[] = {steps[i], steps[i]};
    nest.add(extents[i], of_both);
  }
  nest.order();
  return nest;
}

// The elements of all launches, and whether each begins where its index says.
std::int64_t launched(const LoopNest& nest, std::int64_t most) {
  ElementwiseArgument argument = {};
  if (share_out(nest, 4, argument, most) != 0) {
    EXPECT_LT(argument.rest_count, most);
    EXPECT_EQ(argument.out - address(1 << 20), argument.in[0] - address(1 << 21));
    return static_cast<std::int64_t>(argument.vector_count) * 4 + argument.rest_count;
  }
  const LoopNest::Halves halves = nest.halves();
  EXPECT_EQ(halves.high.operand(0).data - halves.low.operand(0).data,
            nest.extent(0) / 2 * nest.step(0, 0));
  return launched(halves.low, most) + launched(halves.high, most);
}

TEST(LaunchNest, LargeNestsAreLaunchedInParts) {
  for (const std::vector<std::int64_t>& extents :
       {std::vector<std::int64_t>{1000}, {3, 1000}, {1, 7, 90}, {17, 19, 23}, {2, 2, 2, 2, 251}}) {
    const LoopNest nest = strided_nest(extents);
    for (const std::int64_t most : {2, 100, 1000, 100000}) {
      EXPECT_EQ(launched(nest, most), nest.count());
    }
  }
  EXPECT_EQ(launched(strided_nest({3, std::int64_t{1} << 31}), kMostRest), std::int64_t{3} << 31);
}

TEST(LaunchNest, DenseElementsAreVectorsWithARest) {
  LoopNest nest(2);
  nest.set(0, {address(1 << 20), 4});
  nest.set(1, {address(1 << 21), 4});
  const std::int64_t inner[] = {4, 4};
  const std::int64_t outer[] = {4 * 10, 4 * 10};
  nest.add(7, outer);
  nest.add(10, inner);
  nest.order();
  EXPECT_TRUE(nest.is_dense());
  ElementwiseArgument argument = {};
  EXPECT_EQ(share_out(nest, 4, argument), 2u);
  EXPECT_EQ(argument.vector_count, 17u);
  EXPECT_EQ(argument.rest_count, 2u);
  EXPECT_EQ(argument.rest_out - argument.out, 17 * 16);
  // More than any index of 32 bits.
  LoopNest large(2);
  large.set(0, {address(1 << 20), 4});
  large.set(1, {address(1 << 21), 4});
  large.add((std::int64_t{1} << 36) + 1, inner);
  large.order();
  EXPECT_EQ(share_out(large, 4, argument), (1u << 26) + 1);
  EXPECT_EQ(argument.vector_count, std::uint64_t{1} << 34);
  EXPECT_EQ(argument.rest_count, 1u);
}

TEST(LaunchNest, RowsOfVectorsMayHaveMoreElementsThanAnIndex) {
  LoopNest nest(2);
  nest.set(0, {address(1 << 20), 1});
  nest.set(1, {address(1 << 21), 1});
  const std::int64_t columns = std::int64_t{1} << 33;
  const std::int64_t inner[] = {1, 1};
  const std::int64_t outer[] = {columns + 16, 0};
  nest.add(3, outer);
  nest.add(columns, inner);
  nest.order();
  ElementwiseArgument argument = {};
  EXPECT_EQ(share_out(nest, 16, argument), (3u << 29) / kThreads);
  EXPECT_EQ(argument.nested_vectors, 1u);
  EXPECT_EQ(argument.axes[0].divider.extent, 1u << 29);
  EXPECT_EQ(argument.axes[0].steps[0], 16);
  EXPECT_EQ(argument.axes[1].divider.extent, 3u);
  EXPECT_EQ(argument.axes[1].steps[0], columns + 16);
}

TEST(LaunchNest, VectorsAreAligned) {
  const auto vectors = [](std::uintptr_t out, std::uintptr_t in, std::int64_t row_step) {
    LoopNest nest(2);
    nest.set(0, {address(out), 4});
    nest.set(1, {address(in), 4});
    const std::int64_t inner[] = {4, 4};
    const std::int64_t outer[] = {row_step, 4 * 64};
    nest.add(5, outer);
    nest.add(64, inner);
    nest.order();
    ElementwiseArgument argument = {};
    share_out(nest, 4, argument);
    return argument.vector_count;
  };
  EXPECT_EQ(vectors(1 << 20, 1 << 21, 4 * 64), 80u);
  EXPECT_EQ(vectors(1 << 20, 1 << 21, 4 * 68), 80u);
  EXPECT_EQ(vectors(1 << 20, 1 << 21, 4 * 65), 0u);
  EXPECT_EQ(vectors((1 << 20) + 4, 1 << 21, 4 * 64), 0u);
  EXPECT_EQ(vectors(1 << 20, (1 << 21) + 8, 4 * 68), 0u);
}

// Dense operands of one width, one of them possibly a number, shared out with and without a nest.
class DenseOperands {
 public:
  DenseOperands(std::mt19937_64& random, std::int64_t count, std::int64_t width)
      : count_(count),
        width_(width),
        input_count_(1 + static_cast<unsigned>(random() % kMostInputs)) {
    const auto place = [&] { return address((1 << 20) + (random() % 8 == 0 ? width : 0)); };
    for (unsigned i = 0; i <= input_count_; ++i) places_[i] = place();
    if (random() % 2 == 0) number_ = 1 + static_cast<unsigned>(random() % input_count_);
    places_[number_ == 0 ? kMostInputs + 1 : number_] = nullptr;
  }

  [[nodiscard]] unsigned share_out_as_nest(unsigned items, std::int64_t most_rest,
                                           ElementwiseArgument& argument) const {
    LoopNest nest(1 + input_count_);
    std::int64_t steps[1 + kMostInputs] = {};
    for (unsigned i = 0; i <= input_count_; ++i) {
      nest.set(i, {places_[i], width_});
      steps[i] = places_[i] == nullptr ? 0 : width_;
    }
    nest.add(count_, steps);
    nest.order();
    argument.numbers = numbers();
    return share_out(nest, items, argument, most_rest);
  }

  [[nodiscard]] unsigned share_out_at_once(unsigned items, std::int64_t most_rest,
                                           ElementwiseArgument& argument) const {
    argument.out = const_cast<unsigned char*>(places_[0]);
    for (unsigned i = 0; i < input_count_; ++i) argument.in[i] = places_[1 + i];
    argument.numbers = numbers();
    return share_out_dense(count_, width_, items, argument, most_rest);
  }

 private:
  [[nodiscard]] std::uint32_t numbers() const { return number_ == 0 ? 0 : 1u << (number_ - 1); }

  std::int64_t count_;
  std::int64_t width_;
  unsigned input_count_;
  unsigned number_ = 0;  // the operand that is one; 0: none
  const unsigned char* places_[2 + kMostInputs] = {};
};

TEST(LaunchNest, DenseOperandsAreSharedOutAsTheirNest) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    const unsigned items = 1u << random() % 5;
    const std::int64_t width = std::int64_t{1} << random() % 5;
    const auto count = static_cast<std::int64_t>(2 + (random() >> (28 + random() % 36)));
    const std::int64_t most_rest = random() % 4 == 0 ? 1 + (count >> random() % 8) : kMostRest;
    const DenseOperands operands(random, count, width);
    ElementwiseArgument as_nest = empty_argument();
    ElementwiseArgument at_once = empty_argument();
    const unsigned blocks = operands.share_out_as_nest(items, most_rest, as_nest);
    ASSERT_EQ(operands.share_out_at_once(items, most_rest, at_once), blocks);
    if (blocks == 0) continue;
    ASSERT_EQ(std::memcmp(&at_once, &as_nest, offsetof(ElementwiseArgument, axes)), 0)
        << count << " elements of " << width << " bytes, " << items << " at once";
    if (as_nest.rest_count == 0) continue;
    ASSERT_EQ(std::memcmp(&at_once.axes[0], &as_nest.axes[0], sizeof(NestAxis)), 0);
  }
}

}  // namespace
