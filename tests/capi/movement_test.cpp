// Movement of elements through the C ABI: results, NULL pointers, views of ended owners, counters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "expect_status.hpp"
#include "sparse_arrays.hpp"
#include "tenure/tenure.h"
#include "unseen.hpp"

namespace {

using tenure::test::expect_refused;
using tenure::test::flat_view;
using tenure::test::unseen;

class Movement : public testing::Test {
 protected:
  std::vector<float> numbers = {1, 0, 3, 0, 5, 6};
  std::vector<float> result = std::vector<float>(9, -1.0F);
  std::vector<std::int64_t> chosen = {2, 0};
  std::vector<std::uint8_t> truths = {1, 0, 1};
  tnr_view table = flat_view(numbers.data(), TNR_DTYPE_F32, {2, 3});
  tnr_view tall = flat_view(numbers.data(), TNR_DTYPE_F32, {3, 2});
  tnr_view line = flat_view(numbers.data(), TNR_DTYPE_F32, {3});
  tnr_view pair = flat_view(numbers.data(), TNR_DTYPE_F32, {2});
  tnr_view indices = flat_view(chosen.data(), TNR_DTYPE_I64, {2});
  tnr_view mask = flat_view(truths.data(), TNR_DTYPE_BOOL8, {3});
  tnr_view_mut out_two = {flat_view(result.data(), TNR_DTYPE_F32, {2})};
  tnr_view_mut out_three = {flat_view(result.data(), TNR_DTYPE_F32, {3})};
  tnr_view_mut out_table = {flat_view(result.data(), TNR_DTYPE_F32, {2, 3})};
  tnr_view_mut found = {};

  // Every function, with a context and a first input. Blobs that a function makes are released.
  [[nodiscard]] std::vector<std::function<tnr_status(tnr_context*, const tnr_view*)>> calls() {
    const auto made = [](tnr_blob* blob) {
      const tnr_status status = blob == nullptr ? tnr_last_error()->status : TNR_STATUS_OK;
      (void)tnr_blob_release(blob);
      return status;
    };
    return {
        [this](tnr_context* c, const tnr_view* a) {
          return tnr_concat(c, a, 1, 0, nullptr, &out_three);
        },
        [this](tnr_context* c, const tnr_view* a) {
          return tnr_pad(c, TNR_PAD_MODE_WRAP, a, nullptr, &out_two);
        },
        [this](tnr_context* c, const tnr_view* a) {
          return tnr_take(c, a, 0, &indices, nullptr, &out_two);
        },
        [this](tnr_context* c, const tnr_view* a) {
          return tnr_gather(c, a, 0, &indices, nullptr, &out_two);
        },
        [this, made](tnr_context* c, const tnr_view* a) {
          return made(tnr_nonzero(c, a, nullptr, &found));
        },
        [this, made](tnr_context* c, const tnr_view* a) {
          return made(tnr_masked_select(c, a, &mask, nullptr, &found));
        },
        [this](tnr_context* c, const tnr_view* a) {
          tnr_view two = *a;
          two.shape[0] = 2;
          return tnr_put(c, 0, &two, 0, &indices, nullptr, &out_three);
        },
        [this](tnr_context* c, const tnr_view* a) {
          tnr_view two = *a;
          two.shape[0] = 2;
          return tnr_scatter(c, TNR_BINARY_OP_MAX, &two, 0, &indices, nullptr, &out_three);
        },
        [this](tnr_context* c, const tnr_view* a) {
          tnr_view column = *a;
          column.rank = 2;
          column.shape[1] = 1;
          tnr_view_mut out = out_three;
          out.view.rank = 2;
          out.view.shape[1] = 1;
          return tnr_triangular(c, TNR_TRIANGLE_UPPER, &column, nullptr, &out);
        },
    };
  }
  void expect_result(std::vector<float> expected) {
    expected.resize(9, -1.0F);
    EXPECT_EQ(result, expected);
    std::fill(result.begin(), result.end(), -1.0F);
  }
};

TEST_F(Movement, DoesItsWork) {
  const tnr_view parts[] = {line, pair};
  const tnr_view_mut five = {flat_view(result.data(), TNR_DTYPE_F32, {5})};
  ASSERT_EQ(tnr_concat(nullptr, parts, 2, 0, nullptr, &five), TNR_STATUS_OK);
  expect_result({1, 0, 3, 1, 0});
  tnr_pad_attributes around = {};
  around.struct_size = sizeof around;
  around.before[0] = 1;
  ASSERT_EQ(tnr_pad(nullptr, TNR_PAD_MODE_REFLECT, &line, &around, &five), TNR_STATUS_OK);
  expect_result({0, 1, 0, 3, 0});
  const tnr_view_mut square = {flat_view(result.data(), TNR_DTYPE_F32, {2, 2})};
  ASSERT_EQ(tnr_take(nullptr, &tall, 0, &indices, nullptr, &square), TNR_STATUS_OK);
  expect_result({5, 6, 1, 0});
  ASSERT_EQ(tnr_gather(nullptr, &line, 0, &indices, nullptr, &out_two), TNR_STATUS_OK);
  expect_result({3, 1});
  ASSERT_EQ(tnr_put(nullptr, 0, &pair, 0, &indices, nullptr, &out_three), TNR_STATUS_OK);
  expect_result({0, -1, 1});
  ASSERT_EQ(tnr_scatter(nullptr, TNR_BINARY_OP_ADD, &pair, 0, &indices, nullptr, &out_three),
            TNR_STATUS_OK);
  expect_result({-1, -1, 0});
  tnr_triangle_attributes below = {};
  below.struct_size = sizeof below;
  below.diagonal = -1;
  ASSERT_EQ(tnr_triangular(nullptr, TNR_TRIANGLE_LOWER, &table, &below, &out_table), TNR_STATUS_OK);
  expect_result({0, 0, 0, 0, 0, 0});
  ASSERT_EQ(tnr_triangular(nullptr, TNR_TRIANGLE_UPPER, &table, &below, &out_table), TNR_STATUS_OK);
  expect_result({1, 0, 3, 0, 5, 6});
}

TEST_F(Movement, FindsWhatIsNotZero) {
  tnr_blob* const places = tnr_nonzero(nullptr, &table, nullptr, &found);
  ASSERT_NE(places, nullptr);
  ASSERT_EQ(found.view.rank, 2u);
  const auto* const at = static_cast<const std::int64_t*>(found.view.data);
  EXPECT_EQ(std::vector<std::int64_t>(at, at + 8),
            (std::vector<std::int64_t>{0, 0, 0, 2, 1, 1, 1, 2}));
  EXPECT_EQ(found.view.shape[0], 4);
  EXPECT_EQ(tnr_blob_release(places), TNR_STATUS_OK);
  tnr_blob* const chosen_ones = tnr_masked_select(nullptr, &table, &mask, nullptr, &found);
  ASSERT_NE(chosen_ones, nullptr);
  const auto* const value = static_cast<const float*>(found.view.data);
  EXPECT_EQ(std::vector<float>(value, value + found.view.shape[0]),
            (std::vector<float>{1, 3, 0, 6}));
  EXPECT_EQ(tnr_blob_release(chosen_ones), TNR_STATUS_OK);
}

TEST_F(Movement, RefusesWhatIsNoContext) {
  auto* const context = reinterpret_cast<tnr_context*>(std::uintptr_t{0x1234});
  for (const auto& call : calls()) {
    expect_refused(call(context, &line), TNR_STATUS_STALE_HANDLE, {"context", "0x1234"});
  }
  expect_result(std::vector<float>(9, -1.0F));
}

TEST_F(Movement, RefusesNull) {
  const auto refused = [](const char* name, tnr_status answer) {
    expect_refused(answer, TNR_STATUS_INVALID_ARGUMENT, {std::string(name) + " is NULL"});
  };
  const auto status = [](const tnr_blob* blob) {
    EXPECT_EQ(blob, nullptr);
    return tnr_last_error()->status;
  };
  const tnr_view* const none = nullptr;
  const tnr_view_mut* const no_out = nullptr;
  refused("parts", tnr_concat(nullptr, unseen(none), 1, 0, nullptr, &out_three));
  refused("out", tnr_concat(nullptr, &line, 1, 0, nullptr, no_out));
  refused("a", tnr_pad(nullptr, 0, none, nullptr, &out_three));
  refused("out", tnr_pad(nullptr, 0, &line, nullptr, no_out));
  refused("a", tnr_take(nullptr, none, 0, &indices, nullptr, &out_two));
  refused("indices", tnr_take(nullptr, &line, 0, none, nullptr, &out_two));
  refused("out", tnr_take(nullptr, &line, 0, &indices, nullptr, no_out));
  refused("a", tnr_gather(nullptr, none, 0, &indices, nullptr, &out_two));
  refused("indices", tnr_gather(nullptr, &line, 0, none, nullptr, &out_two));
  refused("out", tnr_gather(nullptr, &line, 0, &indices, nullptr, no_out));
  refused("a", tnr_put(nullptr, 0, none, 0, &indices, nullptr, &out_three));
  refused("indices", tnr_put(nullptr, 0, &pair, 0, none, nullptr, &out_three));
  refused("out", tnr_put(nullptr, 0, &pair, 0, &indices, nullptr, no_out));
  refused("a", tnr_scatter(nullptr, 0, none, 0, &indices, nullptr, &out_three));
  refused("indices", tnr_scatter(nullptr, 0, &pair, 0, none, nullptr, &out_three));
  refused("out", tnr_scatter(nullptr, 0, &pair, 0, &indices, nullptr, no_out));
  refused("a", tnr_triangular(nullptr, TNR_TRIANGLE_LOWER, none, nullptr, &out_table));
  refused("out", tnr_triangular(nullptr, TNR_TRIANGLE_LOWER, &table, nullptr, no_out));
  refused("a", status(tnr_nonzero(nullptr, none, nullptr, &found)));
  refused("out", status(tnr_nonzero(nullptr, &line, nullptr, nullptr)));
  refused("a", status(tnr_masked_select(nullptr, none, &mask, nullptr, &found)));
  refused("mask", status(tnr_masked_select(nullptr, &line, none, nullptr, &found)));
  refused("out", status(tnr_masked_select(nullptr, &line, &mask, nullptr, nullptr)));
  expect_result(std::vector<float>(9, -1.0F));
}

TEST_F(Movement, RefusesAViewWhoseOwnerIsGone) {
  tnr_blob* const blob = tnr_blob_copy(nullptr, numbers.data(), 12);
  ASSERT_NE(blob, nullptr);
  const std::int64_t shape[] = {3};
  tnr_view owned;
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 1, shape, nullptr, &owned), TNR_STATUS_OK);
  for (const auto& call : calls()) EXPECT_EQ(call(nullptr, &owned), TNR_STATUS_OK);
  ASSERT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  std::fill(result.begin(), result.end(), -1.0F);
  for (const auto& call : calls()) {
    expect_refused(call(nullptr, &owned), TNR_STATUS_STALE_VIEW, {});
  }
  expect_result(std::vector<float>(9, -1.0F));
}

}  // namespace
