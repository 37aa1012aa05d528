// Operations through C: each function does its work, and refuses with a status, a message and an
// untouched output what the core's own tests cannot see: NULL, contexts and owners.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "expect_status.hpp"
#include "tenure/tenure.h"
#include "unseen.hpp"

using tenure::test::expect_refused;
using tenure::test::unseen;

namespace {

tnr_view view_of(const void* data, tnr_dtype dtype, std::int64_t count, std::size_t size_bytes) {
  tnr_view view = {};
  view.data = data;
  view.base = data;
  view.size_bytes = size_bytes;
  view.dtype = dtype;
  view.rank = 1;
  view.device.kind = TNR_DEVICE_KIND_CPU;
  view.shape[0] = count;
  view.strides[0] = 1;
  return view;
}

template <class T>
tnr_view view_of(const std::vector<T>& values, tnr_dtype dtype) {
  return view_of(values.data(), dtype, static_cast<std::int64_t>(values.size()),
                 values.size() * sizeof(T));
}

// The first elements as one image of one channel and one row.
tnr_view in_rank_4(tnr_view line, std::int64_t count) {
  line.rank = 4;
  std::fill_n(line.shape, 3, 1);
  line.shape[3] = count;
  line.strides[3] = 1;
  return line;
}

tnr_scalar scalar_of(float value) {
  tnr_scalar scalar = {};
  scalar.dtype = TNR_DTYPE_F32;
  std::memcpy(scalar.bytes, &value, sizeof value);
  return scalar;
}

class Ops : public testing::Test {
 protected:
  std::vector<float> a_values = {1, -2, 3};
  std::vector<float> b_values = {2, 2, 4};
  std::vector<float> out_values = {9, 9, 9};
  std::vector<std::uint8_t> truth_values = {1, 0, 5};
  tnr_view a = view_of(a_values, TNR_DTYPE_F32);
  tnr_view b = view_of(b_values, TNR_DTYPE_F32);
  tnr_view truth = view_of(truth_values, TNR_DTYPE_BOOL8);
  tnr_view_mut out = {view_of(out_values, TNR_DTYPE_F32)};
  tnr_view_mut truth_out = {truth};
  tnr_scalar two = scalar_of(2);

  // Every function of this part of the ABI, with a context.
  [[nodiscard]] std::vector<std::function<tnr_status(tnr_context*)>> calls() const {
    return {
        [this](tnr_context* c) { return tnr_copy(c, &a, nullptr, &out); },
        [this](tnr_context* c) { return tnr_cast(c, &a, nullptr, &out); },
        [this](tnr_context* c) { return tnr_fill(c, &two, nullptr, &out); },
        [this](tnr_context* c) { return tnr_unary(c, TNR_UNARY_OP_NEG, &a, nullptr, &out); },
        [this](tnr_context* c) { return tnr_binary(c, TNR_BINARY_OP_ADD, &a, &b, nullptr, &out); },
        [this](tnr_context* c) {
          return tnr_binary_scalar(c, TNR_BINARY_OP_ADD, &a, &two, nullptr, &out);
        },
        [this](tnr_context* c) {
          return tnr_scalar_binary(c, TNR_BINARY_OP_ADD, &two, &a, nullptr, &out);
        },
        [this](tnr_context* c) {
          return tnr_ternary(c, TNR_TERNARY_OP_FMA, &a, &b, &a, nullptr, &out);
        },
        [this](tnr_context* c) {
          return tnr_compare(c, TNR_COMPARE_OP_EQ, &a, &b, nullptr, &truth_out);
        },
        [this](tnr_context* c) {
          return tnr_compare_scalar(c, TNR_COMPARE_OP_EQ, &a, &two, nullptr, &truth_out);
        },
        [this](tnr_context* c) { return tnr_select(c, &truth, &a, &b, nullptr, &out); },
        [this](tnr_context* c) { return tnr_reduce(c, TNR_REDUCE_OP_SUM, &a, 0, nullptr, &out); },
        [this](tnr_context* c) { return tnr_matmul(c, &two, &a, &b, &two, nullptr, &out); },
        [this](tnr_context* c) { return tnr_conv2d(c, &a, &b, nullptr, nullptr, &out); },
        [this](tnr_context* c) { return tnr_einsum(c, "i", &a, 1, nullptr, &out); },
        [this](tnr_context* c) { return tnr_conv2d_transposed(c, &a, &b, nullptr, nullptr, &out); },
        [this](tnr_context* c) { return tnr_pool2d(c, TNR_REDUCE_OP_MAX, &a, nullptr, &out); },
        [this](tnr_context* c) {
          return tnr_batch_norm(c, &a, nullptr, &b, nullptr, nullptr, nullptr, &out);
        },
        [this](tnr_context* c) {
          return tnr_normalize(c, TNR_NORMALIZE_OP_SOFTMAX, &a, 1, nullptr, &out);
        },
        [this](tnr_context* c) { return tnr_scan(c, TNR_SCAN_OP_SUM, &a, 0, nullptr, &out); },
        [this](tnr_context* c) { return tnr_moments(c, &a, 0, nullptr, &out, &out); },
    };
  }

  void expect_out(std::vector<float> expected) const { EXPECT_EQ(out_values, expected); }
};

TEST_F(Ops, DoTheirWork) {
  ASSERT_EQ(tnr_copy(nullptr, &a, nullptr, &out), TNR_STATUS_OK);
  expect_out({1, -2, 3});
  std::vector<std::int32_t> integers = {5, 6, 7};
  const tnr_view from = view_of(integers, TNR_DTYPE_I32);
  ASSERT_EQ(tnr_cast(nullptr, &from, nullptr, &out), TNR_STATUS_OK);
  expect_out({5, 6, 7});
  ASSERT_EQ(tnr_fill(nullptr, &two, nullptr, &out), TNR_STATUS_OK);
  expect_out({2, 2, 2});
  ASSERT_EQ(tnr_unary(nullptr, TNR_UNARY_OP_ABS, &a, nullptr, &out), TNR_STATUS_OK);
  expect_out({1, 2, 3});
  ASSERT_EQ(tnr_binary(nullptr, TNR_BINARY_OP_DIV, &a, &b, nullptr, &out), TNR_STATUS_OK);
  expect_out({0.5f, -1, 0.75f});
  ASSERT_EQ(tnr_binary_scalar(nullptr, TNR_BINARY_OP_SUB, &a, &two, nullptr, &out), TNR_STATUS_OK);
  expect_out({-1, -4, 1});
  ASSERT_EQ(tnr_scalar_binary(nullptr, TNR_BINARY_OP_SUB, &two, &a, nullptr, &out), TNR_STATUS_OK);
  expect_out({1, 4, -1});
  ASSERT_EQ(tnr_ternary(nullptr, TNR_TERNARY_OP_FMA, &a, &b, &b, nullptr, &out), TNR_STATUS_OK);
  expect_out({4, -2, 16});
  ASSERT_EQ(tnr_select(nullptr, &truth, &a, &b, nullptr, &out), TNR_STATUS_OK);
  expect_out({1, 2, 3});
  ASSERT_EQ(tnr_compare(nullptr, TNR_COMPARE_OP_LT, &a, &b, nullptr, &truth_out), TNR_STATUS_OK);
  EXPECT_EQ(truth_values, (std::vector<std::uint8_t>{1, 1, 1}));
  ASSERT_EQ(tnr_compare_scalar(nullptr, TNR_COMPARE_OP_GE, &a, &two, nullptr, &truth_out),
            TNR_STATUS_OK);
  EXPECT_EQ(truth_values, (std::vector<std::uint8_t>{0, 0, 1}));
  tnr_view_mut sum = out;
  sum.view.shape[0] = 1;
  ASSERT_EQ(tnr_reduce(nullptr, TNR_REDUCE_OP_SUM, &a, 1, nullptr, &sum), TNR_STATUS_OK);
  expect_out({2, 2, 3});
  ASSERT_EQ(tnr_binary(nullptr, TNR_BINARY_OP_MUL, &out.view, &out.view, nullptr, &out),
            TNR_STATUS_OK);
  expect_out({4, 4, 9});
  // Three rows of one times a row of three.
  tnr_view column = a;
  column.rank = 2;
  column.shape[1] = 1;
  tnr_view row = b;
  row.rank = 2;
  row.shape[0] = 1;
  row.shape[1] = 3;
  row.strides[1] = 1;
  float product[9] = {};
  const std::int64_t square[] = {3, 3};
  tnr_view_mut product_out;
  ASSERT_EQ(tnr_view_lend_mut(product, sizeof product, 0, TNR_DTYPE_F32, 2, square, nullptr,
                              &product_out),
            TNR_STATUS_OK);
  const tnr_scalar none = {TNR_DTYPE_F32, 0, {}};
  ASSERT_EQ(tnr_matmul(nullptr, &two, &column, &row, &none, nullptr, &product_out), TNR_STATUS_OK);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(product[i], 2 * a_values[i / 3] * b_values[i % 3]) << i;
  }
  // A row of three by a filter of two, with a zero on the right, then relu of it.
  const tnr_view image = in_rank_4(a, 3);
  const tnr_view filter = in_rank_4(b, 2);
  const tnr_view_mut result = {in_rank_4(product_out.view, 3)};
  tnr_conv2d_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.padding[3] = 1;
  attributes.activation = TNR_UNARY_OP_RELU;
  ASSERT_EQ(tnr_conv2d(nullptr, &image, &filter, nullptr, &attributes, &result), TNR_STATUS_OK);
  for (std::size_t i = 0; i < 3; ++i) {
    const float next = i == 2 ? 0 : a_values[i + 1] * b_values[1];
    EXPECT_EQ(product[i], std::max(a_values[i] * b_values[0] + next, 0.f)) << i;
  }
  const tnr_view operands[] = {a, b};
  std::uint32_t rank = 9;
  std::int64_t shape[TNR_MAX_RANK];
  ASSERT_EQ(tnr_einsum_shape("i,j->ji", operands, 2, &rank, shape), TNR_STATUS_OK);
  EXPECT_EQ(rank, 2);
  EXPECT_EQ(std::vector<std::int64_t>(shape, shape + TNR_MAX_RANK),
            (std::vector<std::int64_t>{3, 3, 0, 0, 0, 0, 0, 0}));
  ASSERT_EQ(tnr_einsum(nullptr, "i,j->ji", operands, 2, nullptr, &product_out), TNR_STATUS_OK);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(product[i], a_values[i % 3] * b_values[i / 3]) << i;
  }
  // Back from two elements, by the same filter.
  const tnr_view pair = in_rank_4(a, 2);
  ASSERT_EQ(tnr_conv2d_transposed(nullptr, &pair, &filter, nullptr, nullptr, &result),
            TNR_STATUS_OK);
  EXPECT_EQ(product[0], a_values[0] * b_values[0]);
  EXPECT_EQ(product[1], a_values[0] * b_values[1] + a_values[1] * b_values[0]);
  EXPECT_EQ(product[2], a_values[1] * b_values[1]);
  tnr_view_mut one = result;
  one.view.shape[3] = 1;
  ASSERT_EQ(tnr_pool2d(nullptr, TNR_REDUCE_OP_MAX, &image, nullptr, &one), TNR_STATUS_OK);
  EXPECT_EQ(product[0], *std::max_element(a_values.begin(), a_values.end()));
  const float four[] = {4};
  tnr_view var = a;
  var.base = var.data = four;
  var.size_bytes = sizeof four;
  var.shape[0] = 1;
  ASSERT_EQ(tnr_batch_norm(nullptr, &image, nullptr, &var, nullptr, nullptr, nullptr, &result),
            TNR_STATUS_OK);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(product[i], a_values[i] / 2) << i;
  tnr_normalize_attributes by_weight = {};
  by_weight.struct_size = sizeof by_weight;
  by_weight.eps = 12;
  by_weight.weight = &a;
  tnr_view ones = b;
  const float ones_values[] = {2, 2, 2};
  ones.base = ones.data = ones_values;
  ASSERT_EQ(tnr_normalize(nullptr, TNR_NORMALIZE_OP_RMS_NORM, &ones, 1, &by_weight, &out),
            TNR_STATUS_OK);
  expect_out({a_values[0] / 2, a_values[1] / 2, a_values[2] / 2});
  ASSERT_EQ(tnr_scan(nullptr, TNR_SCAN_OP_SUM, &ones, 0, nullptr, &out), TNR_STATUS_OK);
  expect_out({2, 4, 6});
  float found[2];
  tnr_view_mut mean = out;
  mean.view.rank = 0;
  mean.view.size_bytes = sizeof found;
  mean.view.base = mean.view.data = found;
  tnr_view_mut variance = mean;
  variance.view.data = found + 1;
  ASSERT_EQ(tnr_moments(nullptr, &out.view, 1, nullptr, &mean, &variance), TNR_STATUS_OK);
  EXPECT_EQ(found[0], 4);
  EXPECT_EQ(found[1], 8.0f / 3);
}

TEST_F(Ops, RefuseWhatIsNoContext) {
  auto* const context = reinterpret_cast<tnr_context*>(std::uintptr_t{0x1234});
  for (const auto& call : calls()) {
    expect_refused(call(context), TNR_STATUS_STALE_HANDLE, {"context", "0x1234"});
  }
  expect_out({9, 9, 9});
  EXPECT_EQ(truth_values, (std::vector<std::uint8_t>{1, 0, 5}));
}

TEST_F(Ops, RefuseNull) {
  const auto refused = [](const char* name, tnr_status answer) {
    expect_refused(answer, TNR_STATUS_INVALID_ARGUMENT, {std::string(name) + " is NULL"});
  };
  const tnr_view* const no_view = nullptr;
  const tnr_view_mut* const no_out = nullptr;
  const tnr_scalar* const no_scalar = nullptr;
  refused("a", tnr_copy(nullptr, no_view, nullptr, &out));
  refused("out", tnr_copy(nullptr, &a, nullptr, no_out));
  refused("a", tnr_cast(nullptr, no_view, nullptr, &out));
  refused("value", tnr_fill(nullptr, no_scalar, nullptr, &out));
  refused("a", tnr_unary(nullptr, TNR_UNARY_OP_NEG, no_view, nullptr, &out));
  refused("b", tnr_binary(nullptr, TNR_BINARY_OP_ADD, &a, no_view, nullptr, &out));
  refused("b", tnr_binary_scalar(nullptr, TNR_BINARY_OP_ADD, &a, no_scalar, nullptr, &out));
  refused("a", tnr_scalar_binary(nullptr, TNR_BINARY_OP_ADD, no_scalar, &a, nullptr, &out));
  refused("out", tnr_compare(nullptr, TNR_COMPARE_OP_EQ, &a, &b, nullptr, no_out));
  refused("b", tnr_compare_scalar(nullptr, TNR_COMPARE_OP_EQ, &a, no_scalar, nullptr, &truth_out));
  refused("condition", tnr_select(nullptr, no_view, &a, &b, nullptr, &out));
  refused("out", tnr_reduce(nullptr, TNR_REDUCE_OP_SUM, &a, 1, nullptr, no_out));
  refused("alpha", tnr_matmul(nullptr, no_scalar, &a, &b, &two, nullptr, &out));
  refused("a", tnr_matmul(nullptr, &two, no_view, &b, &two, nullptr, &out));
  refused("b", tnr_matmul(nullptr, &two, &a, no_view, &two, nullptr, &out));
  refused("beta", tnr_matmul(nullptr, &two, &a, &b, no_scalar, nullptr, &out));
  refused("out", tnr_matmul(nullptr, &two, &a, &b, &two, nullptr, no_out));
  refused("a", tnr_conv2d(nullptr, no_view, &b, nullptr, nullptr, &out));
  refused("weight", tnr_conv2d(nullptr, &a, no_view, nullptr, nullptr, &out));
  refused("out", tnr_conv2d(nullptr, &a, &b, nullptr, nullptr, no_out));
  std::uint32_t rank = 9;
  std::int64_t shape[TNR_MAX_RANK] = {};
  refused("spec", tnr_einsum(nullptr, nullptr, &a, 1, nullptr, &out));
  refused("operands", tnr_einsum(nullptr, "i", unseen(no_view), 1, nullptr, &out));
  refused("out", tnr_einsum(nullptr, "i", &a, 1, nullptr, no_out));
  refused("spec", tnr_einsum_shape(nullptr, &a, 1, &rank, shape));
  refused("operands", tnr_einsum_shape("i", unseen(no_view), 1, &rank, shape));
  refused("rank", tnr_einsum_shape("i", &a, 1, nullptr, shape));
  refused("shape", tnr_einsum_shape("i", &a, 1, &rank, nullptr));
  expect_refused(tnr_einsum_shape("ij", &a, 1, &rank, shape), TNR_STATUS_INVALID_ARGUMENT,
                 {"spec[1] is 'j'"});
  EXPECT_EQ(rank, 9);
  refused("a", tnr_conv2d_transposed(nullptr, no_view, &b, nullptr, nullptr, &out));
  refused("weight", tnr_conv2d_transposed(nullptr, &a, no_view, nullptr, nullptr, &out));
  refused("out", tnr_conv2d_transposed(nullptr, &a, &b, nullptr, nullptr, no_out));
  refused("a", tnr_pool2d(nullptr, TNR_REDUCE_OP_MAX, no_view, nullptr, &out));
  refused("out", tnr_pool2d(nullptr, TNR_REDUCE_OP_MAX, &a, nullptr, no_out));
  refused("a", tnr_batch_norm(nullptr, no_view, nullptr, &b, nullptr, nullptr, nullptr, &out));
  refused("var", tnr_batch_norm(nullptr, &a, nullptr, no_view, nullptr, nullptr, nullptr, &out));
  refused("out", tnr_batch_norm(nullptr, &a, nullptr, &b, nullptr, nullptr, nullptr, no_out));
  refused("a", tnr_normalize(nullptr, TNR_NORMALIZE_OP_SOFTMAX, no_view, 1, nullptr, &out));
  refused("out", tnr_normalize(nullptr, TNR_NORMALIZE_OP_SOFTMAX, &a, 1, nullptr, no_out));
  refused("a", tnr_scan(nullptr, TNR_SCAN_OP_SUM, no_view, 0, nullptr, &out));
  refused("out", tnr_scan(nullptr, TNR_SCAN_OP_SUM, &a, 0, nullptr, no_out));
  refused("a", tnr_moments(nullptr, no_view, 1, nullptr, &out, &out));
  refused("mean", tnr_moments(nullptr, &a, 1, nullptr, no_out, &out));
  refused("out", tnr_moments(nullptr, &a, 1, nullptr, &out, no_out));
  expect_out({9, 9, 9});
}

TEST_F(Ops, RefuseAViewWhoseOwnerIsGone) {
  tnr_blob* const blob = tnr_blob_copy(nullptr, a_values.data(), 12);
  ASSERT_NE(blob, nullptr);
  const std::int64_t shape[] = {3};
  tnr_view owned;
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 1, shape, nullptr, &owned), TNR_STATUS_OK);
  ASSERT_EQ(tnr_unary(nullptr, TNR_UNARY_OP_NEG, &owned, nullptr, &out), TNR_STATUS_OK);
  expect_out({-1, 2, -3});
  ASSERT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  expect_refused(tnr_unary(nullptr, TNR_UNARY_OP_ABS, &owned, nullptr, &out), TNR_STATUS_STALE_VIEW,
                 {"a"});
  expect_refused(tnr_binary(nullptr, TNR_BINARY_OP_ADD, &a, &owned, nullptr, &out),
                 TNR_STATUS_STALE_VIEW, {"b"});
  expect_refused(tnr_reduce(nullptr, TNR_REDUCE_OP_SUM, &owned, 0, nullptr, &out),
                 TNR_STATUS_STALE_VIEW, {"a"});
  tnr_view_mut one = out;
  one.view.rank = 0;
  expect_refused(tnr_matmul(nullptr, &two, &a, &owned, &two, nullptr, &one), TNR_STATUS_STALE_VIEW,
                 {"b"});
  const tnr_view image = in_rank_4(a, 3);
  const tnr_view filter = in_rank_4(owned, 1);
  const tnr_view_mut result = {in_rank_4(out.view, 3)};
  expect_refused(tnr_conv2d(nullptr, &image, &filter, nullptr, nullptr, &result),
                 TNR_STATUS_STALE_VIEW, {"weight"});
  const tnr_view operands[] = {a, owned};
  expect_refused(tnr_einsum(nullptr, "i,i->i", operands, 2, nullptr, &out), TNR_STATUS_STALE_VIEW,
                 {"operands[1]"});
  expect_refused(tnr_conv2d_transposed(nullptr, &image, &filter, nullptr, nullptr, &result),
                 TNR_STATUS_STALE_VIEW, {"weight"});
  const tnr_view owned_image = in_rank_4(owned, 3);
  tnr_pool2d_attributes of_each = {};
  of_each.struct_size = sizeof of_each;
  of_each.kernel[1] = 1;
  expect_refused(tnr_pool2d(nullptr, TNR_REDUCE_OP_MAX, &owned_image, &of_each, &result),
                 TNR_STATUS_STALE_VIEW, {"a"});
  tnr_view var = owned;
  var.rank = 1;
  var.shape[0] = 1;
  expect_refused(tnr_batch_norm(nullptr, &image, nullptr, &var, nullptr, nullptr, nullptr, &result),
                 TNR_STATUS_STALE_VIEW, {"var"});
  expect_refused(tnr_normalize(nullptr, TNR_NORMALIZE_OP_SOFTMAX, &owned, 1, nullptr, &out),
                 TNR_STATUS_STALE_VIEW, {"a"});
  tnr_normalize_attributes by_owned = {};
  by_owned.struct_size = sizeof by_owned;
  by_owned.weight = &owned;
  expect_refused(tnr_normalize(nullptr, TNR_NORMALIZE_OP_RMS_NORM, &a, 1, &by_owned, &out),
                 TNR_STATUS_STALE_VIEW, {"weight"});
  expect_refused(tnr_scan(nullptr, TNR_SCAN_OP_SUM, &owned, 0, nullptr, &out),
                 TNR_STATUS_STALE_VIEW, {"a"});
  std::vector<float> means(3);
  const tnr_view_mut mean = {view_of(means, TNR_DTYPE_F32)};
  expect_refused(tnr_moments(nullptr, &owned, 0, nullptr, &mean, &out), TNR_STATUS_STALE_VIEW,
                 {"a"});
  const tnr_view_mut owned_out = {owned};
  expect_refused(tnr_fill(nullptr, &two, nullptr, &owned_out), TNR_STATUS_STALE_VIEW, {"out"});
  expect_out({-1, 2, -3});
}

TEST_F(Ops, RefuseToWriteWhatIsBorrowedForReading) {
  tnr_blob* const blob = tnr_blob_borrow(out_values.data(), 12);
  ASSERT_NE(blob, nullptr);
  tnr_view_mut borrowed = out;
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 1, out.view.shape, nullptr, &borrowed.view),
            TNR_STATUS_OK);
  expect_refused(tnr_copy(nullptr, &a, nullptr, &borrowed), TNR_STATUS_INVALID_ARGUMENT, {"out"});
  expect_refused(tnr_reduce(nullptr, TNR_REDUCE_OP_SUM, &a, 0, nullptr, &borrowed),
                 TNR_STATUS_INVALID_ARGUMENT, {"out"});
  expect_out({9, 9, 9});
  // Neither refusal has left a pin behind.
  ASSERT_EQ(tnr_blob_end_borrow(blob), TNR_STATUS_OK);
  ASSERT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

TEST_F(Ops, LeaveNoPinBehind) {
  tnr_blob* const blob = tnr_blob_borrow_mut(out_values.data(), 12);
  ASSERT_NE(blob, nullptr);
  tnr_view_mut owned;
  const std::int64_t shape[] = {3};
  ASSERT_EQ(tnr_blob_view_mut(blob, 0, TNR_DTYPE_F32, 1, shape, nullptr, &owned), TNR_STATUS_OK);
  ASSERT_EQ(tnr_select(nullptr, &truth, &owned.view, &owned.view, nullptr, &owned), TNR_STATUS_OK);
  ASSERT_EQ(tnr_binary(nullptr, TNR_BINARY_OP_ADD, &owned.view, &a, nullptr, &owned),
            TNR_STATUS_OK);
  expect_out({10, 7, 12});
  expect_refused(tnr_unary(nullptr, 99, &owned.view, nullptr, &owned), TNR_STATUS_INVALID_ARGUMENT,
                 {"op is 99"});
  ASSERT_EQ(tnr_blob_end_borrow(blob), TNR_STATUS_OK);
  ASSERT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

}  // namespace
