// Sparse matrices through the C ABI: each status, and the state after each call.
#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "blob_probe.hpp"
#include "boundary.hpp"
#include "expect_status.hpp"
#include "given_attributes.hpp"
#include "sparse_arrays.hpp"
#include "tenure/tenure.h"

using tenure::test::attributes;
using tenure::test::csr_model;
using tenure::test::expect_last_error;
using tenure::test::expect_refused;
using tenure::test::SparseArrays;

namespace {

tnr_blob* as_blob(std::uint64_t owner) { return reinterpret_cast<tnr_blob*>(owner); }

// A CSR matrix of blobs.
struct Parts {
  SparseArrays arrays{csr_model(), TNR_DTYPE_I32};
  tnr_sparse_view view = arrays.view();

  Parts() {
    for (tnr_view* part : {&view.major, &view.minor, &view.values}) {
      tnr_blob* const blob = tnr_blob_copy(nullptr, part->base, part->size_bytes);
      part->owner = reinterpret_cast<std::uint64_t>(blob);
      part->base = part->data = tnr_blob_data(blob);
    }
  }
  ~Parts() {
    for (const tnr_view* part : {&view.major, &view.minor, &view.values}) {
      tnr_blob_release(as_blob(part->owner));
    }
  }
};

tnr_sparse_view empty_view() {
  tnr_sparse_view view{};
  view.struct_size = sizeof view;
  return view;
}

TEST(CSparse, ThreeArraysAreLentInOneCall) {
  const std::int32_t offsets[] = {0, 2, 2, 3};
  const std::int32_t cols[] = {0, 3, 1};
  const float values[] = {1, 2, 3};
  tnr_sparse_view view = empty_view();
  ASSERT_EQ(tnr_sparse_lend(TNR_SPARSE_FORMAT_CSR, 3, 4, TNR_DTYPE_I32, offsets, sizeof offsets,
                            cols, sizeof cols, TNR_DTYPE_F32, values, sizeof values, &view),
            TNR_STATUS_OK);
  EXPECT_EQ(view.major.data, offsets);
  EXPECT_EQ(view.minor.data, cols);
  EXPECT_EQ(view.values.data, values);
  EXPECT_EQ(view.values.shape[0], 3);
  EXPECT_EQ(view.flags, 0u);
  EXPECT_EQ(tnr_sparse_check(&view), TNR_STATUS_OK);
  ASSERT_EQ(tnr_sparse_lend(TNR_SPARSE_FORMAT_CSC, 4, 3, TNR_DTYPE_I32, offsets, sizeof offsets,
                            cols, sizeof cols, TNR_DTYPE_F32, values, sizeof values, &view),
            TNR_STATUS_OK);
  EXPECT_EQ(tnr_sparse_check(&view), TNR_STATUS_OK);
  ASSERT_EQ(tnr_sparse_lend(TNR_SPARSE_FORMAT_COO, 4, 4, TNR_DTYPE_I32, cols, sizeof cols, cols,
                            sizeof cols, TNR_DTYPE_F32, values, sizeof values, &view),
            TNR_STATUS_OK);
  EXPECT_EQ(tnr_sparse_check(&view), TNR_STATUS_OK);
  // Without entries there need be no arrays of them.
  const std::int64_t none[] = {0, 0};
  ASSERT_EQ(tnr_sparse_lend(TNR_SPARSE_FORMAT_CSR, 1, 1 << 30, TNR_DTYPE_I64, none, sizeof none,
                            nullptr, 0, TNR_DTYPE_C128, nullptr, 0, &view),
            TNR_STATUS_OK);
  EXPECT_EQ(tnr_sparse_check(&view), TNR_STATUS_OK);
}

TEST(CSparse, LoansOfThreeArraysThatDoNotFitLeaveTheOutputAlone) {
  const std::int32_t offsets[] = {0, 2, 2, 3};
  const std::int32_t cols[] = {0, 3, 1};
  const float values[] = {1, 2, 3};
  struct Call {
    tnr_sparse_format format = TNR_SPARSE_FORMAT_CSR;
    std::int64_t rows = 3;
    tnr_dtype index_dtype = TNR_DTYPE_I32;
    const void* major;
    std::size_t major_bytes;
    std::size_t minor_bytes;
    tnr_dtype dtype = TNR_DTYPE_F32;
    std::size_t values_bytes;
  };
  const Call right = {.major = offsets,
                      .major_bytes = sizeof offsets,
                      .minor_bytes = sizeof cols,
                      .values_bytes = sizeof values};
  tnr_sparse_view view = empty_view();
  const auto lend = [&](const Call& call) {
    return tnr_sparse_lend(call.format, call.rows, 4, call.index_dtype, call.major,
                           call.major_bytes, cols, call.minor_bytes, call.dtype, values,
                           call.values_bytes, &view);
  };
  const auto expect = [&](const auto& spoil, tnr_status status,
                          std::initializer_list<std::string> words) {
    Call call = right;
    spoil(call);
    expect_refused(lend(call), status, words);
    EXPECT_EQ(view.rows, 0);
  };
  constexpr tnr_status kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  expect([](Call& call) { call.format = TNR_SPARSE_FORMAT_BSR; }, kInvalid, {"format", "BSR"});
  expect([](Call& call) { call.format = 0; }, kInvalid, {"format", "0"});
  expect([](Call& call) { call.format = 77; }, kInvalid, {"format", "77"});
  expect([](Call& call) { call.rows = 2; }, kInvalid, {"row_offsets", "4", "3"});
  expect([](Call& call) { call.rows = -1; }, kInvalid, {"rows", "-1"});
  expect([](Call& call) { call.rows = INT64_MAX; }, kInvalid, {"row"});
  expect([](Call& call) { call.major = nullptr; }, kInvalid, {"NULL"});
  expect([](Call& call) { call.major_bytes = 15; }, kInvalid, {"major_bytes", "15", "4"});
  expect([](Call& call) { call.minor_bytes = 8; }, kInvalid, {"values", "3", "2"});
  expect([](Call& call) { call.values_bytes = 16; }, kInvalid, {"values", "4", "3"});
  expect([](Call& call) { call.index_dtype = TNR_DTYPE_U32; }, kInvalid, {"u32"});
  expect([](Call& call) { call.dtype = 0x00010400; }, TNR_STATUS_UNSUPPORTED, {"4 bits"});
  expect([&](Call& call) { call.major = reinterpret_cast<const char*>(offsets) + 1; }, kInvalid,
         {"multiple of 4"});
  view.struct_size = 8;
  expect_refused(lend(right), kInvalid, {"struct_size", "8"});
}

TEST(CSparse, LifeOfAMatrix) {
  const Parts parts;
  tnr_sparse* const matrix = tnr_sparse_create(&parts.view);
  ASSERT_NE(matrix, nullptr);
  EXPECT_EQ(tnr_sparse_retain(matrix), matrix);
  EXPECT_EQ(tnr_sparse_release(matrix), TNR_STATUS_OK);
  tnr_sparse_view view = empty_view();
  ASSERT_EQ(tnr_sparse_view_of(matrix, &view), TNR_STATUS_OK);
  EXPECT_EQ(view.owner, reinterpret_cast<std::uint64_t>(matrix));
  EXPECT_EQ(view.values.data, parts.view.values.data);
  EXPECT_EQ(tnr_sparse_check(&view), TNR_STATUS_OK);
  tnr_blob* blobs[3] = {};
  ASSERT_EQ(tnr_sparse_parts(matrix, &blobs[0], &blobs[1], &blobs[2]), TNR_STATUS_OK);
  EXPECT_EQ(blobs[1], as_blob(parts.view.minor.owner));
  EXPECT_EQ(tnr_sparse_release(matrix), TNR_STATUS_OK);
  for (tnr_blob* const blob : blobs) EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

TEST(CSparse, ReleaseOfNothingIsNothing) { EXPECT_EQ(tnr_sparse_release(nullptr), TNR_STATUS_OK); }

TEST(CSparse, CheckNamesInvariantPositionValueAndBound) {
  Parts parts;
  EXPECT_EQ(tnr_sparse_check(&parts.view), TNR_STATUS_OK);
  auto* const indices =
      static_cast<std::int32_t*>(tnr_blob_data_mut(as_blob(parts.view.minor.owner)));
  indices[4] = 4;
  expect_refused(tnr_sparse_check(&parts.view), TNR_STATUS_INVALID_ARGUMENT,
                 {"col_indices[4] is 4", "below cols, which is 4"});
  expect_refused(tnr_sparse_create(&parts.view), TNR_STATUS_INVALID_ARGUMENT,
                 {"col_indices[4] is 4"});
}

TEST(CSparse, EachStatusOfACheck) {
  Parts parts;
  tnr_sparse_view view = parts.view;
  view.values = parts.view.minor;
  EXPECT_EQ(tnr_sparse_check(&view), TNR_STATUS_OK);
  expect_refused(tnr_sparse_create(&view), TNR_STATUS_ALIASED, {"values", "col_indices"});
  const tnr_sparse_view_mut written = {view};
  expect_refused(tnr_sparse_check_mut(&written), TNR_STATUS_ALIASED, {"values", "col_indices"});
  view = parts.view;
  view.major.device.kind = 2;
  expect_refused(tnr_sparse_check(&view), TNR_STATUS_UNSUPPORTED, {"row_offsets.device"});
  view = parts.view;
  view.minor.owner = 17;
  expect_refused(tnr_sparse_check(&view), TNR_STATUS_STALE_VIEW, {"col_indices.owner is 0x11"});
  view = parts.view;
  view.owner = 17;
  expect_refused(tnr_sparse_check(&view), TNR_STATUS_STALE_VIEW, {"owner is 0x11"});
  expect_refused(tnr_sparse_check(nullptr), TNR_STATUS_INVALID_ARGUMENT, {"view is NULL"});
  expect_refused(tnr_sparse_check_mut(nullptr), TNR_STATUS_INVALID_ARGUMENT, {"view is NULL"});
}

TEST(CSparse, CheckMutAsksWhetherValuesMayBeWritten) {
  const Parts parts;
  tnr_sparse_view_mut view = {parts.view};
  EXPECT_EQ(tnr_sparse_check_mut(&view), TNR_STATUS_OK);
  tnr_view& values = view.view.values;
  tnr_blob* const shared = tnr_blob_share(values.base, values.size_bytes, nullptr, nullptr);
  values.owner = reinterpret_cast<std::uint64_t>(shared);
  EXPECT_EQ(tnr_sparse_check(&view.view), TNR_STATUS_OK);
  expect_refused(tnr_sparse_check_mut(&view), TNR_STATUS_INVALID_ARGUMENT,
                 {"values is written", "shared"});
  tnr_blob_release(shared);
}

TEST(CSparse, IndicesOfAMatrixAreSealed) {
  const Parts parts;
  tnr_blob* const indices = as_blob(parts.view.minor.owner);
  tnr_sparse* const matrix = tnr_sparse_create(&parts.view);
  const std::int64_t shape[] = {5};
  tnr_view_mut view;
  expect_refused(tnr_blob_view_mut(indices, 0, TNR_DTYPE_I32, 1, shape, nullptr, &view),
                 TNR_STATUS_INVALID_ARGUMENT, {"sealed"});
  expect_refused(tnr_blob_data_mut(indices), TNR_STATUS_INVALID_ARGUMENT, {"sealed"});
  const tnr_view_mut made_by_hand = {parts.view.minor};
  expect_refused(tnr_copy(nullptr, &parts.view.minor, nullptr, &made_by_hand),
                 TNR_STATUS_INVALID_ARGUMENT, {"out is written", "sealed"});
  tnr_sparse_release(matrix);
  EXPECT_EQ(tnr_copy(nullptr, &parts.view.minor, nullptr, &made_by_hand), TNR_STATUS_OK);
}

TEST(CSparse, StaleHandles) {
  const Parts parts;
  tnr_sparse* const matrix = tnr_sparse_create(&parts.view);
  tnr_sparse* const blob = reinterpret_cast<tnr_sparse*>(parts.view.minor.owner);
  tnr_sparse_release(matrix);
  tnr_sparse_view out = empty_view();
  tnr_blob* parts_out[3] = {};
  for (tnr_sparse* const stale : {matrix, blob, static_cast<tnr_sparse*>(nullptr)}) {
    expect_refused(tnr_sparse_retain(stale), TNR_STATUS_STALE_HANDLE, {"matrix is 0x"});
    expect_refused(tnr_sparse_view_of(stale, &out), TNR_STATUS_STALE_HANDLE, {"matrix is 0x"});
    expect_refused(tnr_sparse_parts(stale, &parts_out[0], &parts_out[1], &parts_out[2]),
                   TNR_STATUS_STALE_HANDLE, {"matrix is 0x"});
  }
  expect_refused(tnr_sparse_release(matrix), TNR_STATUS_STALE_HANDLE, {"released"});
  EXPECT_EQ(parts_out[0], nullptr);
}

TEST(CSparse, StructsOfOtherSizes) {
  const Parts parts;
  tnr_sparse* const matrix = tnr_sparse_create(&parts.view);
  struct Larger {
    tnr_sparse_view view;
    std::uint64_t unknown[2];
  } larger = {};
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{823}, std::uint64_t{4097}}) {
    larger.view.struct_size = size;
    expect_refused(tnr_sparse_view_of(matrix, &larger.view), TNR_STATUS_INVALID_ARGUMENT,
                   {"out->struct_size is " + std::to_string(size), "824"});
    expect_refused(tnr_sparse_check(&larger.view), TNR_STATUS_INVALID_ARGUMENT,
                   {"view->struct_size is " + std::to_string(size)});
    expect_refused(tnr_sparse_create(&larger.view), TNR_STATUS_INVALID_ARGUMENT,
                   {"parts->struct_size is " + std::to_string(size)});
  }
  larger.view.struct_size = sizeof larger;
  larger.unknown[0] = 5;
  ASSERT_EQ(tnr_sparse_view_of(matrix, &larger.view), TNR_STATUS_OK);
  EXPECT_EQ(larger.view.struct_size, sizeof larger);
  EXPECT_EQ(larger.unknown[0], 0u);
  EXPECT_EQ(tnr_sparse_check(&larger.view), TNR_STATUS_OK);
  larger.unknown[1] = 5;
  expect_refused(tnr_sparse_check(&larger.view), TNR_STATUS_INVALID_ARGUMENT, {" at offset 832"});
  tnr_sparse_release(matrix);
}

TEST(CSparse, PointersAreChecked) {
  const Parts parts;
  tnr_sparse* const matrix = tnr_sparse_create(&parts.view);
  tnr_blob* blob = nullptr;
  expect_refused(tnr_sparse_create(nullptr), TNR_STATUS_INVALID_ARGUMENT, {"parts is NULL"});
  expect_refused(tnr_sparse_view_of(matrix, nullptr), TNR_STATUS_INVALID_ARGUMENT, {"out is NULL"});
  expect_refused(tnr_sparse_parts(matrix, nullptr, &blob, &blob), TNR_STATUS_INVALID_ARGUMENT,
                 {"major is NULL"});
  expect_refused(tnr_sparse_parts(matrix, &blob, nullptr, &blob), TNR_STATUS_INVALID_ARGUMENT,
                 {"minor is NULL"});
  expect_refused(tnr_sparse_parts(matrix, &blob, &blob, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"values is NULL"});
  EXPECT_EQ(blob, nullptr);
  tnr_sparse_release(matrix);
}

// ---- conversions ----

TEST(CSparse, Convert) {
  const Parts parts;
  tnr_sparse* const matrix =
      tnr_sparse_convert(nullptr, TNR_SPARSE_FORMAT_CSC, &parts.view, nullptr);
  ASSERT_NE(matrix, nullptr);
  tnr_sparse_view view = empty_view();
  ASSERT_EQ(tnr_sparse_view_of(matrix, &view), TNR_STATUS_OK);
  EXPECT_EQ(tnr_sparse_check(&view), TNR_STATUS_OK);
  EXPECT_EQ(view.format, TNR_SPARSE_FORMAT_CSC);
  const auto expected = tenure::test::csc_model();
  for (std::size_t k = 0; k < expected.values.size(); ++k) {
    EXPECT_EQ(static_cast<const std::int32_t*>(view.minor.data)[k], expected.minor[k]);
    EXPECT_EQ(static_cast<const float*>(view.values.data)[k], expected.values[k]);
  }
  tnr_sparse_release(matrix);
  expect_refused(tnr_sparse_convert(nullptr, TNR_SPARSE_FORMAT_CSC, nullptr, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"a is NULL"});
  expect_refused(tnr_sparse_convert(nullptr, 9, &parts.view, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"format is 9, which names no format"});
  tnr_context* const garbage = reinterpret_cast<tnr_context*>(std::uintptr_t{64});
  expect_refused(tnr_sparse_convert(garbage, TNR_SPARSE_FORMAT_CSC, &parts.view, nullptr),
                 TNR_STATUS_STALE_HANDLE, {});
}

TEST(CSparse, FewerEntries) {
  const Parts parts;
  for (tnr_sparse* const matrix :
       {tnr_sparse_coalesce(nullptr, TNR_SPARSE_COMBINE_SUM, &parts.view, nullptr),
        tnr_sparse_prune(nullptr, &parts.view, nullptr),
        tnr_sparse_top_k(nullptr, TNR_SPARSE_ORDER_VALUE, &parts.view, 4, nullptr)}) {
    ASSERT_NE(matrix, nullptr) << tnr_last_error()->message;
    tnr_sparse_view view = empty_view();
    ASSERT_EQ(tnr_sparse_view_of(matrix, &view), TNR_STATUS_OK);
    EXPECT_EQ(tnr_sparse_check(&view), TNR_STATUS_OK);
    EXPECT_EQ(view.minor.shape[0], 5);
    tnr_sparse_release(matrix);
  }
  expect_refused(tnr_sparse_coalesce(nullptr, TNR_SPARSE_COMBINE_SUM, nullptr, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"a is NULL"});
  expect_refused(tnr_sparse_prune(nullptr, nullptr, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"a is NULL"});
  expect_refused(tnr_sparse_top_k(nullptr, TNR_SPARSE_ORDER_VALUE, &parts.view, 5, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"k is 5"});
}

// Takes a matrix that an operation made, and how many entries it has.
std::int64_t take_entries(tnr_sparse* matrix) {
  EXPECT_NE(matrix, nullptr) << tnr_last_error()->message;
  if (matrix == nullptr) return -1;
  tnr_sparse_view view = empty_view();
  EXPECT_EQ(tnr_sparse_view_of(matrix, &view), TNR_STATUS_OK);
  EXPECT_EQ(tnr_sparse_check(&view), TNR_STATUS_OK);
  tnr_sparse_release(matrix);
  return view.minor.shape[0];
}

TEST(CSparse, Selections) {
  const Parts parts;  // 3 by 4
  const std::int64_t first[] = {0};
  const tnr_view list = tenure::test::flat_view(first, TNR_DTYPE_I64, {1});
  const auto* const offsets = static_cast<const std::int32_t*>(parts.view.major.data);
  EXPECT_EQ(take_entries(tnr_sparse_select(nullptr, &parts.view, nullptr, nullptr, nullptr)), 5);
  EXPECT_EQ(take_entries(tnr_sparse_select(nullptr, &parts.view, &list, nullptr, nullptr)),
            offsets[1]);
  EXPECT_EQ(take_entries(tnr_sparse_slice(nullptr, &parts.view, 0, 1, 0, 4, nullptr)), offsets[1]);
  tnr_sparse_view small = parts.view;
  small.struct_size = 8;
  expect_refused(tnr_sparse_select(nullptr, nullptr, &list, &list, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"a is NULL"});
  expect_refused(tnr_sparse_select(nullptr, &small, &list, &list, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"a->struct_size is 8"});
  expect_refused(tnr_sparse_slice(nullptr, nullptr, 0, 1, 0, 1, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"a is NULL"});
  expect_refused(tnr_sparse_slice(nullptr, &small, 0, 1, 0, 1, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"a->struct_size is 8"});
  expect_refused(tnr_sparse_slice(nullptr, &parts.view, 3, 1, 0, 1, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"a.rows, which is 3"});
  tnr_view stale = list;
  stale.owner = 64;
  expect_refused(tnr_sparse_select(nullptr, &parts.view, &stale, nullptr, nullptr),
                 TNR_STATUS_STALE_VIEW, {"rows"});
}

TEST(CSparse, Joins) {
  const Parts parts;  // 3 by 4
  const auto join = [](const tnr_sparse_view* const* views, std::uint32_t count) {
    return tnr_sparse_concat(nullptr, TNR_SPARSE_JOIN_ROWS, views, count, nullptr);
  };
  tnr_sparse_view small = parts.view;
  small.struct_size = 8;
  const tnr_sparse_view* const two[] = {&parts.view, &parts.view};
  const tnr_sparse_view* const none[] = {&parts.view, nullptr};
  const tnr_sparse_view* const other[] = {&parts.view, &parts.view, &small};
  EXPECT_EQ(take_entries(join(two, 2)), 10);
  expect_refused(join(nullptr, 2), TNR_STATUS_INVALID_ARGUMENT, {"parts is NULL"});
  expect_refused(join(two, 0), TNR_STATUS_INVALID_ARGUMENT, {"part_count is 0"});
  expect_refused(join(none, 2), TNR_STATUS_INVALID_ARGUMENT, {"parts[1] is NULL"});
  expect_refused(join(other, 3), TNR_STATUS_INVALID_ARGUMENT, {"parts[2]->struct_size is 8"});
}

TEST(CSparse, Triangles) {
  const Parts parts;  // 3 by 4
  const auto entries = [&](tnr_triangle part, std::int64_t diagonal) {
    const tnr_triangle_attributes with = {sizeof with, diagonal};
    return take_entries(tnr_sparse_triangular(nullptr, part, &parts.view, &with));
  };
  EXPECT_EQ(entries(TNR_TRIANGLE_LOWER, 4), 5);
  EXPECT_EQ(entries(TNR_TRIANGLE_LOWER, -4), 0);
  EXPECT_EQ(entries(TNR_TRIANGLE_LOWER, 0) + entries(TNR_TRIANGLE_UPPER, 1), 5);
  EXPECT_EQ(take_entries(tnr_sparse_triangular(nullptr, TNR_TRIANGLE_UPPER, &parts.view, nullptr)),
            entries(TNR_TRIANGLE_UPPER, 0));
}

TEST(CSparse, MaskedProduct) {
  SparseArrays arrays(csr_model(), TNR_DTYPE_I32);
  tnr_sparse_view& a = arrays.view();
  // The transpose, over the same arrays.
  tnr_sparse_view transposed = a;
  transposed.format = TNR_SPARSE_FORMAT_CSC;
  std::swap(transposed.rows, transposed.cols);
  tnr_sparse* const b = tnr_sparse_convert(nullptr, TNR_SPARSE_FORMAT_CSR, &transposed, nullptr);
  tnr_sparse_view b_view = empty_view();
  ASSERT_EQ(tnr_sparse_view_of(b, &b_view), TNR_STATUS_OK);
  tnr_sparse* const whole = tnr_sparse_product(nullptr, &a, &b_view, nullptr);
  tnr_sparse_view mask = empty_view();
  ASSERT_EQ(tnr_sparse_view_of(whole, &mask), TNR_STATUS_OK);
  EXPECT_EQ(take_entries(tnr_sparse_product_masked(nullptr, &a, &b_view, &mask, nullptr)),
            mask.minor.shape[0]);
  const auto product = [&](const tnr_sparse_view* left, const tnr_sparse_view* right,
                           const tnr_sparse_view* under) {
    return tnr_sparse_product_masked(nullptr, left, right, under, nullptr);
  };
  expect_refused(product(nullptr, &b_view, &mask), TNR_STATUS_INVALID_ARGUMENT, {"a is NULL"});
  expect_refused(product(&a, nullptr, &mask), TNR_STATUS_INVALID_ARGUMENT, {"b is NULL"});
  expect_refused(product(&a, &b_view, nullptr), TNR_STATUS_INVALID_ARGUMENT, {"mask is NULL"});
  tnr_sparse_view small = mask;
  small.struct_size = 8;
  expect_refused(product(&a, &b_view, &small), TNR_STATUS_INVALID_ARGUMENT,
                 {"mask->struct_size is 8"});
  tnr_sparse_release(whole);
  tnr_sparse_release(b);
  expect_refused(product(&a, &b_view, &mask), TNR_STATUS_STALE_VIEW, {"b"});
}

TEST(CSparse, ChosenFromDense) {
  const float elements[6] = {5, 2, 1, 7, 0, 3};
  const tnr_view dense = tenure::test::flat_view(elements, TNR_DTYPE_F32, {2, 3});
  EXPECT_EQ(take_entries(
                tnr_sparse_from_dense_top_k(nullptr, TNR_SPARSE_ORDER_VALUE, &dense, 2, nullptr)),
            4);
  EXPECT_EQ(take_entries(tnr_sparse_from_dense_dropout(
                nullptr, &dense, 0, 1, attributes<tnr_sparse_dropout_attributes>(TNR_DTYPE_I64))),
            5);
  expect_refused(tnr_sparse_from_dense_top_k(nullptr, TNR_SPARSE_ORDER_VALUE, nullptr, 2, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"dense is NULL"});
  expect_refused(tnr_sparse_from_dense_dropout(nullptr, nullptr, 0, 1, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"dense is NULL"});
  tnr_context* const garbage = reinterpret_cast<tnr_context*>(std::uintptr_t{64});
  expect_refused(tnr_sparse_from_dense_dropout(garbage, &dense, 0, 1, nullptr),
                 TNR_STATUS_STALE_HANDLE, {});
}

TEST(CSparse, FromDense) {
  const float elements[6] = {0, 2, 0, 0, 0, 3};
  const tnr_view dense = tenure::test::flat_view(elements, TNR_DTYPE_F32, {2, 3});
  tnr_sparse* const matrix = tnr_sparse_from_dense(nullptr, TNR_SPARSE_FORMAT_CSR, &dense, nullptr);
  ASSERT_NE(matrix, nullptr);
  tnr_sparse_view view = empty_view();
  ASSERT_EQ(tnr_sparse_view_of(matrix, &view), TNR_STATUS_OK);
  ASSERT_EQ(view.values.shape[0], 2);
  const int32_t offsets[] = {0, 1, 2};
  const int32_t columns[] = {1, 2};
  EXPECT_EQ(std::memcmp(view.major.data, offsets, sizeof offsets), 0);
  EXPECT_EQ(std::memcmp(view.minor.data, columns, sizeof columns), 0);
  EXPECT_EQ(static_cast<const float*>(view.values.data)[1], 3);
  float again[6] = {9, 9, 9, 9, 9, 9};
  const tnr_view_mut out = {tenure::test::flat_view(again, TNR_DTYPE_F32, {2, 3})};
  ASSERT_EQ(tnr_sparse_to_dense(nullptr, &view, nullptr, &out), TNR_STATUS_OK);
  EXPECT_EQ(std::memcmp(again, elements, sizeof again), 0);
  tnr_sparse_release(matrix);
}

TEST(CSparse, FromDenseChecksItsPointers) {
  const float elements[6] = {0, 2, 0, -0.0f, 0, 3};
  const tnr_view dense = tenure::test::flat_view(elements, TNR_DTYPE_F32, {2, 3});
  EXPECT_EQ(tnr_sparse_from_dense(nullptr, TNR_SPARSE_FORMAT_CSR, nullptr, nullptr), nullptr);
  expect_last_error(TNR_STATUS_INVALID_ARGUMENT, {"dense is NULL"});
  EXPECT_EQ(tnr_sparse_from_dense(nullptr, 9, &dense, nullptr), nullptr);
  expect_last_error(TNR_STATUS_INVALID_ARGUMENT, {"format is 9, which names no format"});
  tnr_sparse_from_dense_attributes attributes{};
  attributes.struct_size = 8;
  EXPECT_EQ(tnr_sparse_from_dense(nullptr, TNR_SPARSE_FORMAT_CSR, &dense, &attributes), nullptr);
  expect_last_error(TNR_STATUS_INVALID_ARGUMENT, {"attributes->struct_size is 8"});
  tnr_sparse_view view = empty_view();
  expect_refused(tnr_sparse_to_dense(nullptr, &view, nullptr, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"out is NULL"});
  expect_refused(tnr_sparse_to_dense(nullptr, nullptr, nullptr, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"is NULL"});
}

TEST(CSparse, Matmul) {
  tenure::test::SparseArrays a(tenure::test::csr_model(), TNR_DTYPE_I32);
  const float x[4] = {1, 2, 3, 4};
  float y[3] = {1, 1, 1};
  const tnr_view b = tenure::test::flat_view(x, TNR_DTYPE_F32, {4});
  const tnr_view_mut out = {tenure::test::flat_view(y, TNR_DTYPE_F32, {3})};
  const auto scalar = [](float value) {
    tnr_scalar result = {};
    result.dtype = TNR_DTYPE_F32;
    std::memcpy(result.bytes, &value, sizeof value);
    return result;
  };
  const tnr_scalar alpha = scalar(2);
  const tnr_scalar beta = scalar(10);
  ASSERT_EQ(tnr_sparse_matmul(nullptr, TNR_ORIENTATION_AS_IS, &alpha, &a.view(), &b, &beta, nullptr,
                              &out),
            TNR_STATUS_OK);
  const float expected[3] = {24, 10, 72};
  EXPECT_EQ(std::memcmp(y, expected, sizeof y), 0);
  expect_refused(tnr_sparse_matmul(nullptr, TNR_ORIENTATION_AS_IS, nullptr, &a.view(), &b, &beta,
                                   nullptr, &out),
                 TNR_STATUS_INVALID_ARGUMENT, {"alpha is NULL"});
  expect_refused(
      tnr_sparse_matmul(nullptr, TNR_ORIENTATION_AS_IS, &alpha, nullptr, &b, &beta, nullptr, &out),
      TNR_STATUS_INVALID_ARGUMENT, {"a is NULL"});
  expect_refused(tnr_sparse_matmul(nullptr, TNR_ORIENTATION_AS_IS, &alpha, &a.view(), &b, &beta,
                                   nullptr, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"out is NULL"});
}

// ---- batches ----

// Matrices [0 2 0; 0 0 3] and [0 0 0; 5 0 0].
struct Batch {
  const float elements[12] = {0, 2, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0};
  tnr_sparse* matrix = nullptr;
  tnr_sparse_view view = empty_view();

  Batch() {
    const tnr_view dense = tenure::test::flat_view(elements, TNR_DTYPE_F32, {2, 2, 3});
    matrix = tnr_sparse_from_dense(nullptr, TNR_SPARSE_FORMAT_CSR, &dense, nullptr);
    EXPECT_EQ(tnr_sparse_view_of(matrix, &view), TNR_STATUS_OK);
  }
  ~Batch() { tnr_sparse_release(matrix); }
};

TEST(CSparseBatch, FromDenseAndBack) {
  const Batch batch;
  const std::int64_t begins[] = {0, 2, 3};
  ASSERT_EQ(batch.view.batch_offsets.shape[0], 3);
  EXPECT_EQ(std::memcmp(batch.view.batch_offsets.data, begins, sizeof begins), 0);
  const std::int32_t offsets[] = {0, 1, 2, 0, 0, 1};
  ASSERT_EQ(batch.view.major.shape[0], 6);
  EXPECT_EQ(std::memcmp(batch.view.major.data, offsets, sizeof offsets), 0);
  EXPECT_EQ(tnr_sparse_check(&batch.view), TNR_STATUS_OK);
  float again[12] = {9};
  const tnr_view_mut out = {tenure::test::flat_view(again, TNR_DTYPE_F32, {2, 2, 3})};
  ASSERT_EQ(tnr_sparse_to_dense(nullptr, &batch.view, nullptr, &out), TNR_STATUS_OK);
  EXPECT_EQ(std::memcmp(again, batch.elements, sizeof again), 0);
  const tnr_view_mut flat = {tenure::test::flat_view(again, TNR_DTYPE_F32, {4, 3})};
  expect_refused(tnr_sparse_to_dense(nullptr, &batch.view, nullptr, &flat),
                 TNR_STATUS_INVALID_ARGUMENT, {"out.rank is 2 but must be 3, as a is a batch"});
}

TEST(CSparseBatch, AViewOfEachMatrix) {
  const Batch batch;
  tnr_sparse_view one = empty_view();
  ASSERT_EQ(tnr_sparse_batch_at(&batch.view, 1, &one), TNR_STATUS_OK);
  EXPECT_EQ(one.owner, batch.view.owner);
  EXPECT_EQ(one.struct_size, sizeof one);
  EXPECT_EQ(one.batch_offsets.rank, 0u);
  ASSERT_EQ(one.values.shape[0], 1);
  EXPECT_EQ(*static_cast<const float*>(one.values.data), 5);
  EXPECT_EQ(tnr_sparse_check(&one), TNR_STATUS_OK);
  for (const std::int64_t wrong : {-1, 2}) {
    expect_refused(tnr_sparse_batch_at(&batch.view, wrong, &one), TNR_STATUS_INVALID_ARGUMENT,
                   {"index is " + std::to_string(wrong), "below 2"});
  }
  expect_refused(tnr_sparse_batch_at(&one, 0, &one), TNR_STATUS_INVALID_ARGUMENT, {"no batch"});
  expect_refused(tnr_sparse_batch_at(nullptr, 0, &one), TNR_STATUS_INVALID_ARGUMENT,
                 {"batch is NULL"});
  expect_refused(tnr_sparse_batch_at(&batch.view, 0, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"out is NULL"});
  tnr_sparse_view small = empty_view();
  small.struct_size = 8;
  expect_refused(tnr_sparse_batch_at(&batch.view, 0, &small), TNR_STATUS_INVALID_ARGUMENT,
                 {"out->struct_size is 8"});
  expect_refused(tnr_sparse_batch_at(&small, 0, &one), TNR_STATUS_INVALID_ARGUMENT,
                 {"batch->struct_size is 8"});
}

TEST(CSparseBatch, OffsetsAreTheFourthBlob) {
  const Batch batch;
  tnr_blob* blob = nullptr;
  ASSERT_EQ(tnr_sparse_batch_offsets(batch.matrix, &blob), TNR_STATUS_OK);
  EXPECT_EQ(blob, as_blob(batch.view.batch_offsets.owner));
  expect_refused(tnr_blob_data_mut(blob), TNR_STATUS_INVALID_ARGUMENT, {"sealed"});
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  const Parts parts;
  tnr_sparse* const one = tnr_sparse_create(&parts.view);
  ASSERT_EQ(tnr_sparse_batch_offsets(one, &blob), TNR_STATUS_OK);
  EXPECT_EQ(blob, nullptr);
  tnr_sparse_release(one);
  expect_refused(tnr_sparse_batch_offsets(one, &blob), TNR_STATUS_STALE_HANDLE, {"matrix is 0x"});
  expect_refused(tnr_sparse_batch_offsets(batch.matrix, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"offsets is NULL"});
}

TEST(CSparseBatch, EachStatus) {
  const Batch batch;
  tnr_sparse_view view = batch.view;
  view.batch_offsets.owner = 17;
  expect_refused(tnr_sparse_check(&view), TNR_STATUS_STALE_VIEW, {"batch_offsets.owner is 0x11"});
  view = batch.view;
  view.batch_offsets.device.kind = 2;
  expect_refused(tnr_sparse_check(&view), TNR_STATUS_UNSUPPORTED, {"batch_offsets.device"});
  view = batch.view;
  view.owner = view.batch_offsets.owner = 0;
  const std::int64_t falling[] = {0, 3, 2};
  view.batch_offsets = tenure::test::flat_view(falling, TNR_DTYPE_I64, {3});
  expect_refused(tnr_sparse_check(&view), TNR_STATUS_INVALID_ARGUMENT,
                 {"batch_offsets[2] is 2 but the one before is 3"});
  expect_refused(tnr_sparse_coalesce(nullptr, TNR_SPARSE_COMBINE_SUM, &batch.view, nullptr),
                 TNR_STATUS_UNSUPPORTED, {"a is a batch of 2 matrices", "one at a time"});
}

}  // namespace
