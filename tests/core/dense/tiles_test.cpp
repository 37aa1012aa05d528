// Tiles visit every position of a nest once, each operand at its own place.
#include "dense/loops/tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tenure::test {
namespace {

struct RandomNest {
  Nest nest{2};
  std::int64_t count = 1;

  explicit RandomNest(std::mt19937_64& random) {
    const auto rank = static_cast<unsigned>(2 + random() % 3);
    std::int64_t places[2] = {1, 1};
    std::vector<std::int64_t> extents;
    for (unsigned axis = 0; axis < rank; ++axis) {
      extents.push_back(2 + static_cast<std::int64_t>(random() % (rank == 2 ? 70 : 20)));
    }
    // Operand 0 has the last axis innermost, operand 1 the first one.
    std::vector<std::int64_t> inner(rank);
    std::vector<std::int64_t> outer(rank);
    for (unsigned axis = 0; axis < rank; ++axis) {
      outer[axis] = places[1];
      places[1] *= extents[axis];
      inner[rank - 1 - axis] = places[0];
      places[0] *= extents[rank - 1 - axis];
    }
    count = places[0];
    for (unsigned axis = 0; axis < rank; ++axis) {
      const std::int64_t steps[] = {inner[axis], outer[axis]};
      nest.add(extents[axis], steps);
    }
    nest.arrange(0);
  }
};

TEST(Tiles, VisitEveryPositionOnceInAnySlices) {
  std::mt19937_64 random(71);
  for (int round = 0; round < 200; ++round) {
    const RandomNest made(random);
    ASSERT_TRUE(Tiles::are_worth_it(made.nest, 2));
    const auto most_rows = static_cast<std::int64_t>(1 + random() % 40);
    const auto most_columns = static_cast<std::int64_t>(1 + random() % 40);
    const Tiles tiles(made.nest, 2, most_rows, most_columns);
    // Offsets of operand 1 by those of operand 0: by strips, and by tiles in two parts.
    std::vector<std::int64_t> expected(static_cast<std::size_t>(made.count), -1);
    std::vector<std::int64_t> met = expected;
    made.nest.for_each_strip([&](const std::int64_t* offsets) {
      for (std::int64_t i = 0; i < made.nest.inner_extent(); ++i) {
        expected.at(static_cast<std::size_t>(offsets[0] + i * made.nest.inner_step(0))) =
            offsets[1] + i * made.nest.inner_step(1);
      }
    });
    std::int64_t visits = 0;
    const unsigned outer = std::max(2u, made.nest.rank()) - 2;  // the compiler knows no rank
    std::int64_t next[2];
    const auto visit = [&](const Tiles::Tile& tile) {
      ASSERT_LE(tile.rows, most_rows);
      ASSERT_LE(tile.columns, most_columns);
      if (visits != 0) {
        ASSERT_TRUE(std::equal(next, next + 2, tile.offsets));
      }
      std::copy_n(tile.next, 2, next);
      visits += tile.rows * tile.columns;
      for (std::int64_t row = 0; row < tile.rows; ++row) {
        const auto place = [&](unsigned operand, std::int64_t column) {
          return tile.offsets[operand] + row * made.nest.step(outer, operand) +
                 column * made.nest.inner_step(operand);
        };
        for (std::int64_t i = 0; i < tile.columns; ++i) {
          met.at(static_cast<std::size_t>(place(0, i))) = place(1, i);
        }
      }
    };
    const auto middle =
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(tiles.count() + 1));
    tiles.for_each_tile(0, middle, visit);
    tiles.for_each_tile(middle, tiles.count(), visit);
    EXPECT_EQ(visits, made.count);
    EXPECT_EQ(met, expected);
  }
}

TEST(Tiles, AreForOperandsThatDisagree) {
  const auto is_worth_it = [](std::vector<std::int64_t> outer, std::vector<std::int64_t> inner) {
    Nest nest(2);
    nest.add(100, outer.data());
    nest.add(50, inner.data());
    nest.arrange(0);
    return Tiles::are_worth_it(nest, 2);
  };
  EXPECT_FALSE(is_worth_it({200, 0}, {4, 4}));    // a row
  EXPECT_FALSE(is_worth_it({200, 4}, {4, 0}));    // a column
  EXPECT_FALSE(is_worth_it({200, 400}, {4, 8}));  // every second column
  EXPECT_TRUE(is_worth_it({200, 4}, {4, 400}));   // a transpose
  EXPECT_TRUE(is_worth_it({200, -4}, {4, -400}));
}

}  // namespace
}  // namespace tenure::test
