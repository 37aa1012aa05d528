#include "tenure/shape.hpp"

#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "layouts.hpp"

namespace tenure::test {
namespace {

tnr_view shaped(const Layout& layout) { return view_of(nullptr, 0, 0, TNR_DTYPE_F32, layout); }

std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& shape) {
  Layout layout;
  for (const std::int64_t extent : shape) layout.push_back({extent, -77});
  tnr_view view = shaped(layout);
  set_row_major_strides(view);
  return {view.strides, view.strides + view.rank};
}

TEST(ElementCount, IsTheProductOfTheExtents) {
  EXPECT_EQ(element_count(shaped({})), 1);
  EXPECT_EQ(element_count(shaped({{7, 1}})), 7);
  EXPECT_EQ(element_count(shaped({{2, 0}, {3, 0}, {5, 0}})), 30);
  EXPECT_EQ(element_count(shaped({{INT64_MAX, 0}})), INT64_MAX);
}

TEST(ElementCount, IsZeroBesideAnyOtherExtent) {
  EXPECT_EQ(element_count(shaped({{0, 1}})), 0);
  EXPECT_EQ(element_count(shaped({{INT64_MAX, 1}, {INT64_MAX, 1}, {0, 1}})), 0);
  EXPECT_EQ(element_count(shaped({{0, 1}, {INT64_MAX, 1}, {INT64_MAX, 1}})), 0);
}

TEST(IsEmpty, LooksAtTheAxesOfTheRankOnly) {
  EXPECT_FALSE(is_empty(shaped({})));  // the extents beyond rank 0 are 0
  EXPECT_FALSE(is_empty(shaped({{1, 1}})));
  EXPECT_TRUE(is_empty(shaped({{3, 1}, {0, 1}})));
}

TEST(CheckedElementCount, TakesShapesThatFit) {
  const std::int64_t shape[] = {4, 0, 5};
  EXPECT_EQ(checked_element_count(0, nullptr), 1);
  EXPECT_EQ(checked_element_count(1, shape), 4);
  EXPECT_EQ(checked_element_count(3, shape), 0);
  const std::int64_t huge[] = {INT64_MAX, INT64_MAX, 0};
  EXPECT_EQ(checked_element_count(3, huge), 0);
  const std::int64_t largest[] = {TNR_MAX_ELEMENTS, 1};
  EXPECT_EQ(checked_element_count(2, largest), TNR_MAX_ELEMENTS);
}

TEST(CheckedElementCount, NamesTheValueAndTheBound) {
  const std::int64_t negative[] = {4, -5};
  const std::int64_t huge[] = {1LL << 32, 1LL << 31};
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"rank is 9 but must be at most 8"},
               [&] { checked_element_count(9, negative); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"shape is NULL but rank is 2"},
               [&] { checked_element_count(2, nullptr); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"shape[1] is -5 but must not be negative"},
               [&] { checked_element_count(2, negative); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT,
               {"shape [4294967296, 2147483648] has more than 576460752303423487 elements"},
               [&] { checked_element_count(2, huge); });
}

TEST(RowMajorStrides, AreTheProductsOfTheLaterExtents) {
  using Strides = std::vector<std::int64_t>;
  EXPECT_EQ(row_major_strides({}), Strides());
  EXPECT_EQ(row_major_strides({5}), (Strides{1}));
  EXPECT_EQ(row_major_strides({2, 3, 4}), (Strides{12, 4, 1}));
  EXPECT_EQ(row_major_strides({2, 1, 4}), (Strides{4, 4, 1}));
}

TEST(RowMajorStrides, CountAnExtentOfZeroAsOne) {
  using Strides = std::vector<std::int64_t>;
  EXPECT_EQ(row_major_strides({2, 0, 4}), (Strides{4, 4, 1}));
  EXPECT_EQ(row_major_strides({INT64_MAX, 0, INT64_MAX}), (Strides{INT64_MAX, INT64_MAX, 1}));
  // A stride that overflows becomes 0: no index uses it.
  EXPECT_EQ(row_major_strides({3, INT64_MAX, INT64_MAX, 0}), (Strides{0, INT64_MAX, 1, 1}));
}

TEST(RowMajorStrides, RefuseMoreElementsThanFit) {
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"[3, 9223372036854775807]", "more than"},
               [] { row_major_strides({3, INT64_MAX}); });
}

TEST(IsRowMajor, IgnoresAxesOfExtentOneAndEmptyViews) {
  EXPECT_TRUE(is_row_major(shaped({})));
  EXPECT_TRUE(is_row_major(shaped({{1, 9}})));
  EXPECT_TRUE(is_row_major(shaped({{2, 3}, {1, -8}, {3, 1}})));
  EXPECT_TRUE(is_row_major(shaped({{2, 5}, {0, 7}})));
  EXPECT_FALSE(is_row_major(shaped({{2, 1}, {3, 2}})));
  EXPECT_FALSE(is_row_major(shaped({{2, 4}, {3, 1}})));
  EXPECT_FALSE(is_row_major(shaped({{3, -1}})));
  EXPECT_FALSE(is_row_major(shaped({{2, 0}})));
}

TEST(IsRowMajor, AgreesWithTheAddressesOfEveryElement) {
  for (std::size_t rank = 0; rank <= 3; ++rank) {
    for_each_layout(
        rank, {0, 1, 2, 3}, {-3, -2, -1, 0, 1, 2, 3, 4, 6, 9}, [](const Layout& layout) {
          const tnr_view view = shaped(layout);
          bool adjacent = true;
          std::int64_t next = 0;
          for_each_index(view, [&](const Index& index) {
            adjacent &= byte_of(view, index) - byte_of(view, Index{}) == next;
            next += 4;
          });
          ASSERT_EQ(is_row_major(view), adjacent)
              << shape_text(view.rank, view.shape).text << shape_text(view.rank, view.strides).text;
        });
  }
}

TEST(ShapeText, WritesEveryExtent) {
  const std::int64_t shape[] = {2, -3, 0, 1, 1, 1, 1, 1, 99};
  EXPECT_STREQ(shape_text(0, nullptr).text, "[]");
  EXPECT_STREQ(shape_text(1, shape).text, "[2]");
  EXPECT_STREQ(shape_text(3, shape).text, "[2, -3, 0]");
  EXPECT_STREQ(shape_text(99, shape).text, "[2, -3, 0, 1, 1, 1, 1, 1]");
  const std::int64_t longest[] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN,
                                  INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
  EXPECT_EQ(std::string(shape_text(8, longest).text).size(), 8u * 20 + 7 * 2 + 2);
}

}  // namespace
}  // namespace tenure::test
