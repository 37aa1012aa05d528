// Packed factors through the C ABI: a product, and each status of its own.
#include <gtest/gtest.h>

#include "expect_status.hpp"
#include "memory/slot_table.hpp"
#include "sparse_arrays.hpp"
#include "tenure/tenure.h"

using tenure::test::expect_refused;
using tenure::test::flat_view;

namespace {

class CFactor : public testing::Test {
 protected:
  const float weights_[6] = {1, 2, 3, 4, 5, 6};
  const float x_[4] = {1, 10, 100, 1000};
  float y_[6] = {1, 1, 1, 1, 1, 1};
  const tnr_view b_ = flat_view(weights_, TNR_DTYPE_F32, {2, 3});
  const tnr_view a_ = flat_view(x_, TNR_DTYPE_F32, {2, 2});
  const tnr_view_mut out_ = {flat_view(y_, TNR_DTYPE_F32, {2, 3})};
  const tnr_scalar one_ = tnr_scalar_f64(1);
};

TEST_F(CFactor, LifeOfAPackedFactor) {
  tnr_factor* const factor = tnr_factor_create(nullptr, &b_, nullptr);
  ASSERT_NE(factor, nullptr);
  EXPECT_EQ(tnr_factor_retain(factor), factor);
  EXPECT_EQ(tnr_factor_release(factor), TNR_STATUS_OK);
  tnr_factor_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(tnr_factor_describe(factor, &info), TNR_STATUS_OK);
  EXPECT_EQ(info.struct_size, sizeof info);
  EXPECT_EQ(info.dtype, TNR_DTYPE_F32);
  EXPECT_EQ(info.a_dtype, TNR_DTYPE_F32);
  EXPECT_EQ(info.rows, 2);
  EXPECT_EQ(info.cols, 3);
  EXPECT_GE(info.size_bytes, sizeof weights_);
  const tnr_scalar two = tnr_scalar_f64(2);
  const tnr_scalar three = tnr_scalar_f64(3);
  const float shift[] = {0, -1000, 0};
  const tnr_view bias = flat_view(shift, TNR_DTYPE_F32, {3});
  tnr_matmul_attributes with{};
  with.struct_size = sizeof with;
  with.bias = &bias;
  with.activation = TNR_UNARY_OP_RELU;
  ASSERT_EQ(tnr_factor_matmul(nullptr, &two, &a_, factor, &three, &with, &out_), TNR_STATUS_OK);
  EXPECT_EQ(y_[0], 2 * 41 + 3);
  EXPECT_EQ(y_[1], 0);
  EXPECT_EQ(y_[5], 2 * 6300 + 3);
  EXPECT_EQ(tnr_factor_release(factor), TNR_STATUS_OK);
}

TEST_F(CFactor, ReleaseOfNothingIsNothing) {
  EXPECT_EQ(tnr_factor_release(nullptr), TNR_STATUS_OK);
}

TEST_F(CFactor, RefusesWhatIsNoHandle) {
  tnr_factor* const factor = tnr_factor_create(nullptr, &b_, nullptr);
  ASSERT_EQ(tnr_factor_release(factor), TNR_STATUS_OK);
  tnr_factor_info info{};
  info.struct_size = sizeof info;
  expect_refused(tnr_factor_describe(factor, &info), TNR_STATUS_STALE_HANDLE, {"released"});
  expect_refused(tnr_factor_release(factor), TNR_STATUS_STALE_HANDLE, {"released"});
  expect_refused(tnr_factor_retain(factor), TNR_STATUS_STALE_HANDLE, {"released"});
  expect_refused(tnr_factor_matmul(nullptr, &one_, &a_, factor, &one_, nullptr, &out_),
                 TNR_STATUS_STALE_HANDLE, {"factor is 0x", "released"});
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 64);
  expect_refused(tnr_factor_retain(reinterpret_cast<tnr_factor*>(blob)), TNR_STATUS_STALE_HANDLE,
                 {"which no packed factor was ever given"});
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(y_[0], 1);
}

// Adds to the count of handles, as if each had been retained: one by one they take seconds under a
// sanitizer. A call holds the factor as a handle does.
TEST_F(CFactor, BusyAtTheLastHandle) {
  tnr_factor* const factor = tnr_factor_create(nullptr, &b_, nullptr);
  tenure::BlobSlot& slot = *tenure::factor_table.find(reinterpret_cast<std::uint64_t>(factor));
  tnr_factor_info info{};
  info.struct_size = sizeof info;
  slot.word.fetch_add(tenure::kMaxRefs - 1);
  expect_refused(tnr_factor_retain(factor), TNR_STATUS_BUSY, {"factor 0x", "has 16777215 handles"});
  expect_refused(tnr_factor_describe(factor, &info), TNR_STATUS_BUSY, {"16777215"});
  expect_refused(tnr_factor_matmul(nullptr, &one_, &a_, factor, &one_, nullptr, &out_),
                 TNR_STATUS_BUSY, {"16777215"});
  EXPECT_EQ(y_[2], 1);
  slot.word.fetch_sub(tenure::kMaxRefs - 1);
  EXPECT_EQ(tnr_factor_matmul(nullptr, &one_, &a_, factor, &one_, nullptr, &out_), TNR_STATUS_OK);
  EXPECT_EQ(tnr_factor_release(factor), TNR_STATUS_OK);
}

// The factor checks the owner of the packed matrix once, and does not keep it.
TEST_F(CFactor, NeedsItsSourceNoLonger) {
  tnr_blob* const blob = tnr_blob_copy(nullptr, weights_, sizeof weights_);
  tnr_view view{};
  const std::int64_t shape[] = {2, 3};
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 2, shape, nullptr, &view), TNR_STATUS_OK);
  tnr_factor* const factor = tnr_factor_create(nullptr, &view, nullptr);
  ASSERT_NE(factor, nullptr);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  expect_refused(tnr_factor_create(nullptr, &view, nullptr), TNR_STATUS_STALE_VIEW, {"b"});
  const tnr_scalar zero = tnr_scalar_f64(0);
  EXPECT_EQ(tnr_factor_matmul(nullptr, &one_, &a_, factor, &zero, nullptr, &out_), TNR_STATUS_OK);
  EXPECT_EQ(y_[0], 41);
  EXPECT_EQ(tnr_factor_release(factor), TNR_STATUS_OK);
}

// u8 by i8, which is packed for it.
TEST_F(CFactor, IsPackedForTheDtypeOfTheLeft) {
  const std::int8_t weights[] = {-100, 1, 1, -1};
  const std::uint8_t x[] = {200, 100};
  std::int32_t y[2] = {};
  const tnr_view b = flat_view(weights, TNR_DTYPE_I8, {2, 2});
  const tnr_view a = flat_view(x, TNR_DTYPE_U8, {1, 2});
  const tnr_view_mut out = {flat_view(y, TNR_DTYPE_I32, {1, 2})};
  const tnr_scalar zero = tnr_scalar_f64(0);
  tnr_factor_attributes with{};
  with.struct_size = sizeof with;
  with.a_dtype = TNR_DTYPE_U8;
  tnr_factor* const factor = tnr_factor_create(nullptr, &b, &with);
  ASSERT_EQ(tnr_factor_matmul(nullptr, &one_, &a, factor, &zero, nullptr, &out), TNR_STATUS_OK);
  EXPECT_EQ(y[0], -19900);
  EXPECT_EQ(y[1], 100);
  EXPECT_EQ(tnr_factor_release(factor), TNR_STATUS_OK);
  tnr_factor* const of_signed = tnr_factor_create(nullptr, &b, nullptr);
  expect_refused(tnr_factor_matmul(nullptr, &one_, &a, of_signed, &zero, nullptr, &out),
                 TNR_STATUS_INVALID_ARGUMENT, {"a.dtype is u8", "packed for a left factor of i8"});
  EXPECT_EQ(tnr_factor_release(of_signed), TNR_STATUS_OK);
  with.a_dtype = TNR_DTYPE_F32;
  expect_refused(tnr_factor_create(nullptr, &b, &with), TNR_STATUS_INVALID_ARGUMENT,
                 {"attributes->a_dtype is f32 but b.dtype is i8"});
}

TEST_F(CFactor, ChecksItsPointersAndSizes) {
  expect_refused(tnr_factor_create(nullptr, nullptr, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"b is NULL"});
  tnr_factor* const factor = tnr_factor_create(nullptr, &b_, nullptr);
  expect_refused(tnr_factor_describe(factor, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"out is NULL"});
  tnr_factor_info info{};
  info.struct_size = 8;
  expect_refused(tnr_factor_describe(factor, &info), TNR_STATUS_INVALID_ARGUMENT,
                 {"out->struct_size is 8"});
  expect_refused(tnr_factor_matmul(nullptr, &one_, nullptr, factor, &one_, nullptr, &out_),
                 TNR_STATUS_INVALID_ARGUMENT, {"a is NULL"});
  expect_refused(tnr_factor_matmul(nullptr, &one_, &a_, factor, &one_, nullptr, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"out is NULL"});
  EXPECT_EQ(tnr_factor_release(factor), TNR_STATUS_OK);
}

}  // namespace
