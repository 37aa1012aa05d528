// Changes of shape: the numbers, and each refusal with its message.
#include "tenure/view.hpp"

#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "layouts.hpp"

namespace tenure::test {
namespace {

alignas(64) const std::byte memory[256]{};

using Extents = std::vector<std::int64_t>;

tnr_view f32(std::int64_t first_element, const Layout& layout) {
  return view_of(memory, sizeof memory, first_element * 4, TNR_DTYPE_F32, layout);
}
tnr_view row_major_2x3x4() { return f32(0, {{2, 12}, {3, 4}, {4, 1}}); }

Extents shape_of(const tnr_view& view) { return {view.shape, view.shape + view.rank}; }
Extents strides_of(const tnr_view& view) { return {view.strides, view.strides + view.rank}; }
std::int64_t first_element(const tnr_view& view) { return byte_of(view, Index{}) / 4; }

void expect_layout(const tnr_view& view, std::int64_t first, const Extents& shape,
                   const Extents& strides) {
  EXPECT_EQ(first_element(view), first);
  EXPECT_EQ(shape_of(view), shape);
  EXPECT_EQ(strides_of(view), strides);
  EXPECT_TRUE(is_valid_view(view));
}

void expect_invalid(const char* message, const std::function<void()>& body) {
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {message}, body);
}

TEST(Views, KeepTheMemoryAndClearTheFlags) {
  tnr_view view = row_major_2x3x4();
  view.owner = 42;
  view.flags = TNR_VIEW_EXCLUSIVE;
  view.shape[3] = view.strides[3] = -9;
  const tnr_view result = slice(view, 2, 1, 3, 1);
  EXPECT_EQ(result.base, view.base);
  EXPECT_EQ(result.size_bytes, view.size_bytes);
  EXPECT_EQ(result.owner, 42u);
  EXPECT_EQ(result.dtype, view.dtype);
  EXPECT_EQ(result.device.kind, view.device.kind);
  EXPECT_EQ(result.flags, 0u);
  EXPECT_EQ(result.shape[3], 0);
  EXPECT_EQ(result.strides[3], 0);
}

TEST(Slice, StepsUpAndDown) {
  const tnr_view view = row_major_2x3x4();
  expect_layout(slice(view, 2, 1, 3, 1), 1, {2, 3, 2}, {12, 4, 1});
  expect_layout(slice(view, 2, 0, 4, 3), 0, {2, 3, 2}, {12, 4, 3});
  expect_layout(slice(view, 2, 3, -1, -1), 3, {2, 3, 4}, {12, 4, -1});
  expect_layout(slice(view, 2, 3, 0, -2), 3, {2, 3, 2}, {12, 4, -2});
  expect_layout(slice(view, 1, 1, 2, INT64_MAX / 2), 4, {2, 1, 4}, {12, 0, 1});
  expect_layout(slice(view, 1, 2, -1, INT64_MIN), 8, {2, 1, 4}, {12, 0, 1});
}

TEST(Slice, MayBeEmpty) {
  const tnr_view view = row_major_2x3x4();
  expect_layout(slice(view, 0, 1, 1, 1), 0, {0, 3, 4}, {12, 4, 1});
  expect_layout(slice(view, 0, 2, 0, 1), 0, {0, 3, 4}, {12, 4, 1});
  expect_layout(slice(view, 0, 0, 1, -1), 0, {0, 3, 4}, {-12, 4, 1});
  expect_layout(slice(f32(0, {{0, 1}}), 0, 0, 0, 5), 0, {0}, {5});
  expect_layout(slice(f32(0, {{0, 1}}), 0, -1, -1, -5), 0, {0}, {-5});
}

// The strides of an empty view may be anything, so that no product of theirs may overflow.
TEST(Slice, ComputesNothingWithTheStridesOfAnEmptyView) {
  const tnr_view view = f32(0, {{0, 1}, {9, INT64_MAX}, {9, INT64_MIN}});
  expect_layout(slice(view, 1, 3, 9, 2), 0, {0, 3, 9}, {1, 0, INT64_MIN});
  expect_layout(slice(view, 2, 8, -1, -1), 0, {0, 9, 9}, {1, INT64_MAX, 0});
  expect_layout(index(view, 1, 8), 0, {0, 9}, {1, INT64_MIN});
  expect_layout(windows(view, 2, 3, 2), 0, {0, 9, 4, 3}, {1, INT64_MAX, 0, INT64_MIN});
  expect_layout(unsqueeze(view, 1), 0, {0, 1, 9, 9}, {1, 0, INT64_MAX, INT64_MIN});
}

TEST(Slice, NamesTheValueAndTheBound) {
  const tnr_view view = row_major_2x3x4();
  expect_invalid("axis is 3 but must be below the rank, 3", [&] { slice(view, 3, 0, 1, 1); });
  expect_invalid("step is 0 but must not be", [&] { slice(view, 2, 0, 1, 0); });
  expect_invalid("start is -1 but must lie in 0 to 4", [&] { slice(view, 2, -1, 1, 1); });
  expect_invalid("start is 5 but must lie in 0 to 4", [&] { slice(view, 2, 5, 5, 1); });
  expect_invalid("stop is 5 but must lie in 0 to 4", [&] { slice(view, 2, 0, 5, 1); });
  expect_invalid("start is 4 but must lie in -1 to 3", [&] { slice(view, 2, 4, -1, -1); });
  expect_invalid("stop is -2 but must lie in -1 to 3", [&] { slice(view, 2, 3, -2, -1); });
  expect_invalid("start is -9223372036854775808", [&] { slice(view, 2, INT64_MIN, 0, 1); });
}

TEST(IndexOfAxis, DropsTheAxis) {
  const tnr_view view = row_major_2x3x4();
  expect_layout(index(view, 0, 1), 12, {3, 4}, {4, 1});
  expect_layout(index(view, 1, 2), 8, {2, 4}, {12, 1});
  expect_layout(index(index(index(view, 2, 3), 1, 1), 0, 1), 19, {}, {});
  expect_layout(index(f32(3, {{4, -1}}), 0, 3), 0, {}, {});
}

TEST(IndexOfAxis, NamesTheValueAndTheBound) {
  const tnr_view view = row_major_2x3x4();
  expect_invalid("axis is 4294967295 but must be below", [&] { index(view, UINT32_MAX, 0); });
  const char* bound = " but must be at least 0 and below the extent, 3";
  expect_invalid(bound, [&] { index(view, 1, 3); });
  expect_invalid(bound, [&] { index(view, 1, -1); });
  expect_invalid("index is 0 but must be at least 0 and below the extent, 0",
                 [&] { index(f32(0, {{0, 1}}), 0, 0); });
  expect_invalid("axis is 0 but must be below the rank, 0", [&] { index(f32(0, {}), 0, 0); });
}

TEST(Permute, ReordersAxes) {
  const std::uint32_t axes[] = {2, 0, 1};
  expect_layout(permute(row_major_2x3x4(), 3, axes), 0, {4, 2, 3}, {1, 12, 4});
  expect_layout(permute(f32(7, {}), 0, nullptr), 7, {}, {});
}

TEST(Permute, NamesTheValueAndTheBound) {
  const tnr_view view = row_major_2x3x4();
  const std::uint32_t twice[] = {0, 2, 2};
  const std::uint32_t beyond[] = {0, 3, 1};
  const std::uint32_t far_beyond[] = {0, 1, 99};
  expect_invalid("rank is 2 but must be the view's, 3", [&] { permute(view, 2, twice); });
  expect_invalid("axes is NULL but rank is 3", [&] { permute(view, 3, nullptr); });
  expect_invalid("axes[2] is 2 for the second time", [&] { permute(view, 3, twice); });
  expect_invalid("axes[1] is 3 but must be below the rank, 3", [&] { permute(view, 3, beyond); });
  expect_invalid("axes[2] is 99 but must be below", [&] { permute(view, 3, far_beyond); });
}

TEST(Transpose, ExchangesTwoAxes) {
  expect_layout(transpose(row_major_2x3x4(), 0, 2), 0, {4, 3, 2}, {1, 4, 12});
  expect_layout(transpose(row_major_2x3x4(), 1, 1), 0, {2, 3, 4}, {12, 4, 1});
  expect_invalid("axis_a is 3 but must be below the rank, 3",
                 [] { transpose(row_major_2x3x4(), 3, 0); });
  expect_invalid("axis_b is 4 but must be below the rank, 3",
                 [] { transpose(row_major_2x3x4(), 0, 4); });
}

tnr_view reshaped(const tnr_view& view, const Extents& shape) {
  return reshape(view, static_cast<std::uint32_t>(shape.size()), shape.data());
}

TEST(Reshape, JoinsAndCutsAxes) {
  const tnr_view view = row_major_2x3x4();
  expect_layout(reshaped(view, {24}), 0, {24}, {1});
  expect_layout(reshaped(view, {4, 6}), 0, {4, 6}, {6, 1});
  expect_layout(reshaped(view, {2, 12}), 0, {2, 12}, {12, 1});
  expect_layout(reshaped(view, {1, 24, 1}), 0, {1, 24, 1}, {24, 1, 1});
  expect_layout(reshaped(f32(7, {{1, 9}, {1, 9}}), {}), 7, {}, {});
  expect_layout(reshaped(f32(7, {}), {1, 1}), 7, {1, 1}, {1, 1});
  // Every second of 8 columns goes on evenly from row to row; of 9 it does not.
  expect_layout(reshaped(f32(0, {{3, 8}, {4, 2}}), {6, 2}), 0, {6, 2}, {4, 2});
  expect_layout(reshaped(f32(0, {{3, 9}, {4, 2}}), {3, 2, 2}), 0, {3, 2, 2}, {9, 4, 2});
  // Negative and zero strides join like others.
  expect_layout(reshaped(f32(11, {{3, -4}, {4, -1}}), {12}), 11, {12}, {-1});
  expect_layout(reshaped(f32(5, {{3, 0}, {4, 0}}), {2, 6}), 5, {2, 6}, {0, 0});
}

TEST(Reshape, OfAnEmptyViewIsRowMajor) {
  const tnr_view view = f32(0, {{2, 77}, {0, -5}});
  expect_layout(reshaped(view, {0}), 0, {0}, {1});
  expect_layout(reshaped(view, {3, 0, 4}), 0, {3, 0, 4}, {4, 4, 1});
  expect_layout(reshaped(view, {0, INT64_MAX, INT64_MAX}), 0, {0, INT64_MAX, INT64_MAX},
                {0, INT64_MAX, 1});
}

TEST(Reshape, NamesTheValueAndTheBound) {
  const tnr_view view = row_major_2x3x4();
  expect_invalid("shape is [5, 5], 25 elements, but the view's is [2, 3, 4], 24",
                 [&] { reshaped(view, {5, 5}); });
  expect_invalid(
      "shape is [24], which needs a copy: a view of shape [4, 3, 2] with strides "
      "[1, 4, 12] cannot say it",
      [&] { reshaped(transpose(view, 0, 2), {24}); });
  expect_invalid("which needs a copy", [] { reshaped(f32(0, {{3, 9}, {4, 2}}), {6, 2}); });
  expect_invalid("rank is 9 but must be at most 8", [&] { reshaped(view, Extents(9, 1)); });
  expect_invalid("shape[0] is -1 but must not be negative", [&] { reshaped(view, {-1, 24}); });
  expect_invalid("shape is NULL but rank is 2", [&] { reshape(view, 2, nullptr); });
  expect_invalid("more than", [&] { reshaped(view, {INT64_MAX, INT64_MAX}); });
}

TEST(Flatten, IsOneAxis) {
  expect_layout(flatten(row_major_2x3x4()), 0, {24}, {1});
  expect_layout(flatten(f32(7, {})), 7, {1}, {1});
  expect_layout(flatten(f32(0, {{0, 3}, {4, 4}})), 0, {0}, {1});
  expect_invalid("shape is [24], which needs a copy",
                 [] { flatten(transpose(row_major_2x3x4(), 0, 1)); });
}

TEST(Squeeze, DropsAnAxisOfExtentOne) {
  expect_layout(squeeze(f32(5, {{3, 1}, {1, 99}, {2, 7}}), 1), 5, {3, 2}, {1, 7});
  expect_layout(squeeze(f32(5, {{1, INT64_MIN}}), 0), 5, {}, {});
  expect_layout(squeeze(f32(0, {{1, 9}, {0, 1}}), 0), 0, {0}, {1});
  expect_invalid("axis is 1, whose extent is 3 but must be 1",
                 [] { squeeze(row_major_2x3x4(), 1); });
  expect_invalid("axis is 3 but must be below the rank, 3", [] { squeeze(row_major_2x3x4(), 3); });
}

TEST(Unsqueeze, PutsAnAxisAnywhere) {
  const tnr_view view = f32(5, {{3, 4}, {2, 1}});
  expect_layout(unsqueeze(view, 0), 5, {1, 3, 2}, {12, 4, 1});
  expect_layout(unsqueeze(view, 1), 5, {3, 1, 2}, {4, 2, 1});
  expect_layout(unsqueeze(view, 2), 5, {3, 2, 1}, {4, 1, 1});
  expect_layout(unsqueeze(f32(5, {}), 0), 5, {1}, {1});
  expect_invalid("axis is 3 but must lie in 0 to 2", [&] { unsqueeze(view, 3); });
  expect_invalid("the view's rank is 8, to which no axis can be added",
                 [] { unsqueeze(f32(0, Layout(8, {1, 1})), 0); });
}

tnr_view broadcasted(const tnr_view& view, const Extents& shape) {
  return broadcast(view, static_cast<std::uint32_t>(shape.size()), shape.data());
}

TEST(Broadcast, RepeatsAxesOfExtentOneAndAddsAxesInFront) {
  expect_layout(broadcasted(f32(5, {{3, 1}, {1, 9}}), {2, 3, 4}), 5, {2, 3, 4}, {0, 1, 0});
  expect_layout(broadcasted(f32(5, {}), {2, 2}), 5, {2, 2}, {0, 0});
  expect_layout(broadcasted(f32(5, {{3, -1}}), {3}), 5, {3}, {-1});
  expect_layout(broadcasted(f32(5, {{1, 9}}), {1}), 5, {1}, {9});
  const std::int64_t most = TNR_MAX_ELEMENTS;
  expect_layout(broadcasted(f32(5, {{1, 9}}), {most}), 5, {most}, {0});
  expect_layout(broadcasted(f32(5, {{1, 9}}), {3, 0}), 0, {3, 0}, {0, 0});
  expect_layout(broadcasted(f32(0, {{0, 9}}), {3, 0}), 0, {3, 0}, {0, 9});
}

TEST(Broadcast, NamesTheValueAndTheBound) {
  const tnr_view view = f32(5, {{3, 1}, {1, 9}});
  expect_invalid("shape[0] is 2 but the view's extent there is 3, and only 1 broadcasts",
                 [&] { broadcasted(view, {2, 1}); });
  expect_invalid("rank is 1 but must be at least the view's, 2", [&] { broadcasted(view, {3}); });
  expect_invalid("shape[1] is 4 but the view's extent there is 0",
                 [] { broadcasted(f32(0, {{0, 1}}), {2, 4}); });
  expect_invalid("rank is 9 but must be at most 8", [&] { broadcasted(view, Extents(9, 1)); });
  expect_invalid("more than 576460752303423487 elements",
                 [&] { broadcasted(view, {INT64_MAX, 3, 1}); });
  expect_invalid("shape is NULL but rank is 2", [&] { broadcast(view, 2, nullptr); });
}

TEST(Flip, ReversesAnAxis) {
  expect_layout(flip(row_major_2x3x4(), 1), 8, {2, 3, 4}, {12, -4, 1});
  expect_layout(flip(flip(row_major_2x3x4(), 1), 1), 0, {2, 3, 4}, {12, 4, 1});
  expect_layout(flip(f32(5, {{1, INT64_MIN}}), 0), 5, {1}, {0});
  expect_layout(flip(f32(0, {{0, 4}}), 0), 0, {0}, {-4});
  expect_invalid("axis is 3 but must be below the rank, 3", [] { flip(row_major_2x3x4(), 3); });
}

TEST(Split, CutsAnAxisInTwo) {
  const SplitViews parts = split(row_major_2x3x4(), 1, 1);
  expect_layout(parts.low, 0, {2, 1, 4}, {12, 4, 1});
  expect_layout(parts.high, 4, {2, 2, 4}, {12, 4, 1});
  expect_layout(split(row_major_2x3x4(), 1, 0).low, 0, {2, 0, 4}, {12, 4, 1});
  expect_layout(split(row_major_2x3x4(), 1, 3).high, 0, {2, 0, 4}, {12, 4, 1});
  expect_invalid("index is 4 but must lie in 0 to 3", [] { split(row_major_2x3x4(), 1, 4); });
  expect_invalid("index is -1 but must lie in 0 to 3", [] { split(row_major_2x3x4(), 1, -1); });
  expect_invalid("axis is 3 but must be below", [] { split(row_major_2x3x4(), 3, 0); });
}

TEST(Chunk, PutsTheLongerOnesFirst) {
  const tnr_view view = f32(0, {{8, 1}});
  expect_layout(chunk(view, 0, 3, 0), 0, {3}, {1});
  expect_layout(chunk(view, 0, 3, 1), 3, {3}, {1});
  expect_layout(chunk(view, 0, 3, 2), 6, {2}, {1});
  expect_layout(chunk(view, 0, 9, 7), 7, {1}, {1});
  expect_layout(chunk(view, 0, 9, 8), 0, {0}, {1});
  expect_layout(chunk(view, 0, INT64_MAX, INT64_MAX - 1), 0, {0}, {1});
  expect_invalid("chunk_count is 0 but must be at least 1", [&] { chunk(view, 0, 0, 0); });
  expect_invalid("index is 3 but must lie in 0 to 2", [&] { chunk(view, 0, 3, 3); });
  expect_invalid("index is -1 but must lie in 0 to 2", [&] { chunk(view, 0, 3, -1); });
  expect_invalid("axis is 1 but must be below the rank, 1", [&] { chunk(view, 1, 3, 0); });
}

TEST(Windows, SlideAlongAnAxis) {
  const tnr_view view = f32(0, {{2, 8}, {8, 1}});
  expect_layout(windows(view, 1, 3, 1), 0, {2, 6, 3}, {8, 1, 1});
  expect_layout(windows(view, 1, 3, 2), 0, {2, 3, 3}, {8, 2, 1});
  expect_layout(windows(view, 0, 2, 7), 0, {1, 8, 2}, {56, 1, 8});
  expect_layout(windows(view, 1, 1, INT64_MAX), 0, {2, 1, 1}, {8, INT64_MAX, 1});
  expect_layout(windows(f32(0, {{0, 3}, {2, 1}}), 1, 2, 1), 0, {0, 1, 2}, {3, 1, 1});
}

TEST(Windows, NameTheValueAndTheBound) {
  const tnr_view view = f32(0, {{2, 8}, {8, 1}});
  expect_invalid("size is 9 but must lie in 1 to 8", [&] { windows(view, 1, 9, 1); });
  expect_invalid("size is 0 but must lie in 1 to 8", [&] { windows(view, 1, 0, 1); });
  expect_invalid("size is 1 but the axis is empty", [] { windows(f32(0, {{0, 1}}), 0, 1, 1); });
  expect_invalid("step is 0 but must be at least 1", [&] { windows(view, 1, 3, 0); });
  expect_invalid("axis is 2 but must be below the rank, 2", [&] { windows(view, 2, 1, 1); });
  expect_invalid("the view's rank is 8, to which no axis can be added",
                 [] { windows(f32(0, Layout(8, {1, 1})), 0, 1, 1); });
  // Overlapping windows have more elements than any view may.
  expect_invalid("more than 576460752303423487 elements",
                 [] { windows(f32(0, {{1LL << 62, 0}}), 0, 1LL << 61, 1); });
}

}  // namespace
}  // namespace tenure::test
