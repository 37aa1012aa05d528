// Packed matrices through the C ABI: a product, and each status of its own.
#include <gtest/gtest.h>

#include "expect_status.hpp"
#include "given_attributes.hpp"
#include "memory/slot_table.hpp"
#include "sparse_arrays.hpp"
#include "tenure/tenure.h"

using tenure::test::attributes;
using tenure::test::csr_model;
using tenure::test::expect_refused;
using tenure::test::flat_view;
using tenure::test::SparseArrays;

namespace {

TEST(CPacked, LifeOfAPackedMatrix) {
  SparseArrays arrays(csr_model(), TNR_DTYPE_I32);
  tnr_packed* const packed = tnr_packed_create(nullptr, &arrays.view(), nullptr);
  ASSERT_NE(packed, nullptr);
  EXPECT_EQ(tnr_packed_retain(packed), packed);
  EXPECT_EQ(tnr_packed_release(packed), TNR_STATUS_OK);
  tnr_packed_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(tnr_packed_describe(packed, &info), TNR_STATUS_OK);
  EXPECT_EQ(info.struct_size, sizeof info);
  EXPECT_EQ(info.layout, TNR_PACKED_LAYOUT_BITMAP);
  EXPECT_EQ(info.nnz, 5);
  EXPECT_EQ(info.source_bytes, 5 * 8 + 4 * 4u);
  const float x[] = {1, 10, 100, 1000};
  float y[] = {1, 1, 1};
  const tnr_view b = flat_view(x, TNR_DTYPE_F32, {4});
  const tnr_view_mut out = {flat_view(y, TNR_DTYPE_F32, {3})};
  const tnr_scalar two = tnr_scalar_f64(2);
  const tnr_scalar three = tnr_scalar_f64(3);
  ASSERT_EQ(tnr_packed_matmul(nullptr, &two, packed, &b, &three, nullptr, &out), TNR_STATUS_OK);
  EXPECT_EQ(y[0], 2 * 201 + 3);
  EXPECT_EQ(y[1], 3);
  EXPECT_EQ(y[2], 2 * 5043 + 3);
  EXPECT_EQ(tnr_packed_release(packed), TNR_STATUS_OK);
}

TEST(CPacked, ReleaseOfNothingIsNothing) { EXPECT_EQ(tnr_packed_release(nullptr), TNR_STATUS_OK); }

TEST(CPacked, RefusesWhatIsNoHandle) {
  SparseArrays arrays(csr_model(), TNR_DTYPE_I32);
  tnr_packed* const packed = tnr_packed_create(
      nullptr, &arrays.view(), attributes<tnr_packed_attributes>(TNR_PACKED_LAYOUT_NARROW));
  ASSERT_EQ(tnr_packed_release(packed), TNR_STATUS_OK);
  tnr_packed_info info{};
  info.struct_size = sizeof info;
  expect_refused(tnr_packed_describe(packed, &info), TNR_STATUS_STALE_HANDLE, {"released"});
  expect_refused(tnr_packed_release(packed), TNR_STATUS_STALE_HANDLE, {"released"});
  expect_refused(tnr_packed_retain(packed), TNR_STATUS_STALE_HANDLE, {"released"});
}

// Adds to the count of handles, as if each had been retained: one by one they take seconds under a
// sanitizer. A call holds the matrix as a handle does.
TEST(CPacked, BusyAtTheLastHandle) {
  SparseArrays arrays(csr_model(), TNR_DTYPE_I32);
  tnr_packed* const packed = tnr_packed_create(
      nullptr, &arrays.view(), attributes<tnr_packed_attributes>(TNR_PACKED_LAYOUT_NARROW));
  tenure::BlobSlot& slot = *tenure::packed_table.find(reinterpret_cast<std::uint64_t>(packed));
  const float x[4] = {};
  float y[3] = {1, 2, 3};
  const tnr_view b = flat_view(x, TNR_DTYPE_F32, {4});
  const tnr_view_mut out = {flat_view(y, TNR_DTYPE_F32, {3})};
  const tnr_scalar one = tnr_scalar_f64(1);
  tnr_packed_info info{};
  info.struct_size = sizeof info;
  slot.word.fetch_add(tenure::kMaxRefs - 1);
  expect_refused(tnr_packed_retain(packed), TNR_STATUS_BUSY, {"packed 0x", "has 16777215 handles"});
  expect_refused(tnr_packed_describe(packed, &info), TNR_STATUS_BUSY, {"16777215"});
  expect_refused(tnr_packed_matmul(nullptr, &one, packed, &b, &one, nullptr, &out), TNR_STATUS_BUSY,
                 {"16777215"});
  EXPECT_EQ(y[2], 3);
  slot.word.fetch_sub(tenure::kMaxRefs - 1);
  EXPECT_EQ(tnr_packed_matmul(nullptr, &one, packed, &b, &one, nullptr, &out), TNR_STATUS_OK);
  EXPECT_EQ(tnr_packed_release(packed), TNR_STATUS_OK);
}

TEST(CPacked, ChecksItsPointersAndSizes) {
  SparseArrays arrays(csr_model(), TNR_DTYPE_I32);
  expect_refused(tnr_packed_create(nullptr, nullptr, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"a is NULL"});
  tnr_packed* const packed = tnr_packed_create(
      nullptr, &arrays.view(), attributes<tnr_packed_attributes>(TNR_PACKED_LAYOUT_NARROW));
  expect_refused(tnr_packed_describe(packed, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"out is NULL"});
  tnr_packed_info info{};
  info.struct_size = 8;
  expect_refused(tnr_packed_describe(packed, &info), TNR_STATUS_INVALID_ARGUMENT,
                 {"out->struct_size is 8"});
  const tnr_scalar one = tnr_scalar_f64(1);
  const float x[4] = {};
  const tnr_view b = flat_view(x, TNR_DTYPE_F32, {4});
  expect_refused(tnr_packed_matmul(nullptr, &one, packed, &b, &one, nullptr, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"out is NULL"});
  EXPECT_EQ(tnr_packed_release(packed), TNR_STATUS_OK);
}

}  // namespace
