// Attributes of every function that computes: NULL and zeros are the defaults, and what the library
// or the operation does not know is refused before any work.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "cpu/operations.hpp"
#include "expect_status.hpp"
#include "given_attributes.hpp"
#include "sparse_arrays.hpp"
#include "sparse_calls.hpp"
#include "sparse_functions.hpp"
#include "tenure/tenure.h"

using tenure::test::attributes;
using tenure::test::expect_refused;
using tenure::test::f32;
using tenure::test::flat_view;
using tenure::test::sparse_functions;
using tenure::test::SparseArrays;
using tenure::test::SparseFunction;
using tenure::test::SparseOperands;

namespace {

// Operands that every function takes.
class Attributes : public ::testing::Test {
 protected:
  Attributes() : arrays_(tenure::test::small_csr(), TNR_DTYPE_I32), csr_(&arrays_.view()) {}

  void TearDown() override { (void)tnr_factor_release(factor_); }

  // `call` takes attributes and answers with a status.
  template <class Struct, class Call>
  void check(const char* function, const Call& call) {
    std::size_t reserved_at = 0;
    if constexpr (requires(Struct all) { all.reserved; }) reserved_at = offsetof(Struct, reserved);
    check(function, sizeof(Struct), reserved_at,
          [&](const void* given) { return call(static_cast<const Struct*>(given)); });
  }
  // Attributes of `size` bytes, with a reserved field where `reserved_at` is not 0.
  void check(const std::string& function, std::size_t size, std::size_t reserved_at,
             const std::function<tnr_status(const void*)>& call) {
    SCOPED_TRACE(function);
    EXPECT_EQ(call(nullptr), TNR_STATUS_OK);
    // Attributes of a newer library, with one additional field.
    std::vector<unsigned char> newer(size + 8);
    const auto call_with = [&](std::uint64_t struct_size) {
      std::memcpy(newer.data(), &struct_size, sizeof struct_size);
      return call(newer.data());
    };
    EXPECT_EQ(call_with(size), TNR_STATUS_OK);
    EXPECT_EQ(call_with(size + 8), TNR_STATUS_OK);

    std::memset(written_, 0x5A, sizeof written_);
    newer[size] = 7;
    const std::string known = std::to_string(size);
    expect_refused(call_with(size + 8), TNR_STATUS_INVALID_ARGUMENT,
                   {"attributes has 0x07 at offset " + known, "knows only " + known});
    for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{4097}}) {
      expect_refused(
          call_with(wrong), TNR_STATUS_INVALID_ARGUMENT,
          {"attributes->struct_size is " + std::to_string(wrong), "must be at least", "4096"});
    }
    if (reserved_at != 0) {
      newer[reserved_at] = 9;
      expect_refused(call_with(size), TNR_STATUS_INVALID_ARGUMENT,
                     {"attributes->reserved is 9 but must be 0"});
    }
    for (const unsigned char byte : written_) ASSERT_EQ(byte, 0x5A);
  }

  SparseArrays arrays_;
  const tnr_sparse_view* csr_;
  float read_[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  alignas(8) unsigned char written_[72] = {};
  std::int32_t listed_[2] = {2, 0};
  const tnr_scalar one_ = f32(1);
  const tnr_view table_ = flat_view(read_, TNR_DTYPE_F32, {3, 3});
  const tnr_view line_ = flat_view(read_, TNR_DTYPE_F32, {3});
  const tnr_view list_ = flat_view(listed_, TNR_DTYPE_I32, {2});
  const tnr_view_mut out_ = {flat_view(written_, TNR_DTYPE_F32, {3, 3})};
  const tnr_view_mut out_line_ = {flat_view(written_, TNR_DTYPE_F32, {3})};
  const tnr_view_mut out_entries_ = {flat_view(written_, TNR_DTYPE_F32, {4})};
  const tnr_view_mut truth_ = {flat_view(written_, TNR_DTYPE_BOOL8, {3, 3})};
  tnr_factor* factor_ = nullptr;
};

TEST_F(Attributes, OfDenseOperations) {
  check<tnr_extension>("copy", [&](auto* with) { return tnr_copy(nullptr, &table_, with, &out_); });
  check<tnr_extension>("cast", [&](auto* with) { return tnr_cast(nullptr, &table_, with, &out_); });
  check<tnr_extension>("fill", [&](auto* with) { return tnr_fill(nullptr, &one_, with, &out_); });
  check<tnr_extension>("unary", [&](auto* with) {
    return tnr_unary(nullptr, TNR_UNARY_OP_NEG, &table_, with, &out_);
  });
  check<tnr_extension>("binary", [&](auto* with) {
    return tnr_binary(nullptr, TNR_BINARY_OP_ADD, &table_, &table_, with, &out_);
  });
  check<tnr_extension>("binary_scalar", [&](auto* with) {
    return tnr_binary_scalar(nullptr, TNR_BINARY_OP_ADD, &table_, &one_, with, &out_);
  });
  check<tnr_extension>("scalar_binary", [&](auto* with) {
    return tnr_scalar_binary(nullptr, TNR_BINARY_OP_ADD, &one_, &table_, with, &out_);
  });
  check<tnr_extension>("ternary", [&](auto* with) {
    return tnr_ternary(nullptr, TNR_TERNARY_OP_FMA, &table_, &table_, &table_, with, &out_);
  });
  check<tnr_extension>("compare", [&](auto* with) {
    return tnr_compare(nullptr, TNR_COMPARE_OP_LT, &table_, &table_, with, &truth_);
  });
  check<tnr_extension>("compare_scalar", [&](auto* with) {
    return tnr_compare_scalar(nullptr, TNR_COMPARE_OP_LT, &table_, &one_, with, &truth_);
  });
  const tnr_view condition = flat_view(listed_, TNR_DTYPE_BOOL8, {3});
  check<tnr_extension>("select", [&](auto* with) {
    return tnr_select(nullptr, &condition, &table_, &table_, with, &out_);
  });
  check<tnr_reduce_attributes>("reduce", [&](auto* with) {
    return tnr_reduce(nullptr, TNR_REDUCE_OP_SUM, &table_, 1, with, &out_line_);
  });
  check<tnr_matmul_attributes>("matmul", [&](auto* with) {
    return tnr_matmul(nullptr, &one_, &table_, &table_, &one_, with, &out_);
  });
  check<tnr_factor_attributes>("factor", [&](auto* with) {
    tnr_factor* const made = tnr_factor_create(nullptr, &table_, with);
    const tnr_status status = made == nullptr ? tnr_last_error()->status : TNR_STATUS_OK;
    (void)tnr_factor_release(made);
    return status;
  });
  factor_ = tnr_factor_create(nullptr, &table_, nullptr);
  check<tnr_matmul_attributes>("factor_matmul", [&](auto* with) {
    return tnr_factor_matmul(nullptr, &one_, &table_, factor_, &one_, with, &out_);
  });
  const tnr_view image = flat_view(read_, TNR_DTYPE_F32, {1, 1, 3, 3});
  const tnr_view filter = flat_view(read_, TNR_DTYPE_F32, {1, 1, 1, 1});
  const tnr_view_mut result = {flat_view(written_, TNR_DTYPE_F32, {1, 1, 3, 3})};
  check<tnr_conv2d_attributes>("conv2d", [&](auto* with) {
    return tnr_conv2d(nullptr, &image, &filter, nullptr, with, &result);
  });
  check<tnr_extension>(
      "einsum", [&](auto* with) { return tnr_einsum(nullptr, "ij", &table_, 1, with, &out_); });
  check<tnr_conv2d_attributes>("conv2d_transposed", [&](auto* with) {
    return tnr_conv2d_transposed(nullptr, &image, &filter, nullptr, with, &result);
  });
  const tnr_view_mut pooled = {flat_view(written_, TNR_DTYPE_F32, {1, 1, 1, 1})};
  check<tnr_pool2d_attributes>("pool2d", [&](auto* with) {
    return tnr_pool2d(nullptr, TNR_REDUCE_OP_MAX, &image, with, &pooled);
  });
  const tnr_view pixel = flat_view(read_, TNR_DTYPE_F32, {1, 1, 1, 1});
  check<tnr_pool2d_attributes>("pool2d_gradient", [&](auto* with) {
    return tnr_pool2d_gradient(nullptr, TNR_REDUCE_OP_MAX, &image, &pixel, with, &result);
  });
  check<tnr_conv2d_attributes>("conv2d_filters", [&](auto* with) {
    return tnr_conv2d_filters(nullptr, &image, &image, with, &pooled);
  });
  const tnr_view var = flat_view(read_, TNR_DTYPE_F32, {1});
  check<tnr_batch_norm_attributes>("batch_norm", [&](auto* with) {
    return tnr_batch_norm(nullptr, &image, nullptr, &var, nullptr, nullptr, with, &result);
  });
  const tnr_view scale = flat_view(read_, TNR_DTYPE_F32, {1});
  const tnr_view bytes = flat_view(read_, TNR_DTYPE_I8, {3, 3});
  const tnr_view_mut byte_out = {flat_view(written_, TNR_DTYPE_I8, {3, 3})};
  check<tnr_extension>("quantize", [&](auto* with) {
    return tnr_quantize(nullptr, &table_, &scale, nullptr, with, &byte_out);
  });
  check<tnr_extension>("dequantize", [&](auto* with) {
    return tnr_dequantize(nullptr, &bytes, &scale, nullptr, with, &out_);
  });
  float own_scale[1] = {};
  const tnr_view_mut to_scale = {flat_view(own_scale, TNR_DTYPE_F32, {1})};
  check<tnr_quantize_dynamic_attributes>("quantize_dynamic", [&](auto* with) {
    return tnr_quantize_dynamic(nullptr, &table_, with, &to_scale, nullptr, &byte_out);
  });
  check<tnr_quantized_matmul_attributes>("quantized_matmul", [&](auto* with) {
    return tnr_quantized_matmul(nullptr, &table_, nullptr, nullptr, &bytes, &scale, nullptr, with,
                                &out_);
  });
  tnr_factor* const of_bytes = tnr_factor_create(nullptr, &bytes, nullptr);
  check<tnr_quantized_matmul_attributes>("factor_quantized_matmul", [&](auto* with) {
    return tnr_factor_quantized_matmul(nullptr, &table_, nullptr, nullptr, of_bytes, &scale,
                                       nullptr, with, &out_);
  });
  EXPECT_EQ(tnr_factor_release(of_bytes), TNR_STATUS_OK);
  const tnr_view byte_image = flat_view(read_, TNR_DTYPE_I8, {1, 1, 3, 3});
  check<tnr_quantized_conv2d_attributes>("quantized_conv2d", [&](auto* with) {
    return tnr_quantized_conv2d(nullptr, &byte_image, &scale, nullptr, &byte_image, &scale, nullptr,
                                with, &pooled);
  });
  check<tnr_random_attributes>("random", [&](auto* with) {
    return tnr_random(nullptr, TNR_RANDOM_DISTRIBUTION_UNIFORM, 1, 0, with, &out_);
  });
  const tnr_view_mut order = {flat_view(written_, TNR_DTYPE_I32, {3})};
  check<tnr_extension>("random_permutation", [&](auto* with) {
    return tnr_random_permutation(nullptr, 1, 0, with, &order);
  });
}

TEST_F(Attributes, OfMovement) {
  const tnr_view_mut rows = {flat_view(written_, TNR_DTYPE_F32, {2, 3})};
  const tnr_view few = flat_view(read_, TNR_DTYPE_F32, {2, 3});
  const tnr_view_mut two = {flat_view(written_, TNR_DTYPE_F32, {2})};
  const tnr_view pair = flat_view(read_, TNR_DTYPE_F32, {2});
  const tnr_view_mut three = {flat_view(written_, TNR_DTYPE_F32, {3})};
  check<tnr_extension>("concat",
                       [&](auto* with) { return tnr_concat(nullptr, &table_, 1, 0, with, &out_); });
  check<tnr_pad_attributes>("pad", [&](auto* with) {
    return tnr_pad(nullptr, TNR_PAD_MODE_CONSTANT, &table_, with, &out_);
  });
  check<tnr_extension>(
      "take", [&](auto* with) { return tnr_take(nullptr, &table_, 0, &list_, with, &rows); });
  check<tnr_extension>(
      "gather", [&](auto* with) { return tnr_gather(nullptr, &line_, 0, &list_, with, &two); });
  check<tnr_extension>(
      "put", [&](auto* with) { return tnr_put(nullptr, 0, &few, 0, &list_, with, &out_); });
  check<tnr_extension>("scatter", [&](auto* with) {
    return tnr_scatter(nullptr, TNR_BINARY_OP_ADD, &pair, 0, &list_, with, &three);
  });
  check<tnr_triangle_attributes>("triangular", [&](auto* with) {
    return tnr_triangular(nullptr, TNR_TRIANGLE_LOWER, &table_, with, &out_);
  });
  const auto made = [](tnr_blob* blob) {
    const tnr_status status = blob == nullptr ? tnr_last_error()->status : TNR_STATUS_OK;
    (void)tnr_blob_release(blob);
    return status;
  };
  tnr_view_mut found = {};
  check<tnr_extension>(
      "nonzero", [&](auto* with) { return made(tnr_nonzero(nullptr, &table_, with, &found)); });
  const tnr_view truth = flat_view(listed_, TNR_DTYPE_BOOL8, {3});
  check<tnr_extension>("masked_select", [&](auto* with) {
    return made(tnr_masked_select(nullptr, &table_, &truth, with, &found));
  });
}

TEST_F(Attributes, OfOrderingOperations) {
  const tnr_view_mut counts = {flat_view(written_, TNR_DTYPE_I64, {9})};
  const tnr_view_mut places = {flat_view(written_, TNR_DTYPE_I64, {3})};
  check<tnr_sort_attributes>(
      "sort", [&](auto* with) { return tnr_sort(nullptr, &table_, 0, with, nullptr, &out_); });
  check<tnr_top_k_attributes>(
      "top_k", [&](auto* with) { return tnr_top_k(nullptr, &table_, 0, with, nullptr, &out_); });
  check<tnr_extension>("partition", [&](auto* with) {
    return tnr_partition(nullptr, &table_, 0, 1, with, nullptr, &out_);
  });
  const double q = 0.5;
  const tnr_view_mut median = {flat_view(written_, TNR_DTYPE_F32, {1, 3})};
  check<tnr_quantile_attributes>("quantile", [&](auto* with) {
    return tnr_quantile(nullptr, &table_, 1, &q, 1, with, &median);
  });
  check<tnr_searchsorted_attributes>("searchsorted", [&](auto* with) {
    return tnr_searchsorted(nullptr, &line_, &line_, with, &places);
  });
  check<tnr_extension>("unique", [&](auto* with) {
    tnr_view_mut out;
    tnr_blob* const blob = tnr_unique(nullptr, &table_, with, nullptr, nullptr, &out);
    if (blob == nullptr) return tnr_last_error()->status;
    return tnr_blob_release(blob);
  });
  check<tnr_bincount_attributes>(
      "bincount", [&](auto* with) { return tnr_bincount(nullptr, &list_, with, &places); });
  const tnr_view edges = line_;
  const tnr_view_mut bins = {flat_view(written_, TNR_DTYPE_I64, {2})};
  check<tnr_histogram_attributes>("histogram", [&](auto* with) {
    return tnr_histogram(nullptr, &table_, &edges, with, &bins);
  });
  expect_refused(tnr_sort(nullptr, &table_, 0, attributes<tnr_sort_attributes>(2), nullptr, &out_),
                 TNR_STATUS_INVALID_ARGUMENT, {"attributes->flags is 2 but must be 0 or 1"});
  expect_refused(tnr_histogram(nullptr, &table_, nullptr, nullptr, &counts),
                 TNR_STATUS_INVALID_ARGUMENT, {"low is 0 and high is 0"});
}

TEST_F(Attributes, OfNormalizationsAndScans) {
  const tnr_view image = flat_view(read_, TNR_DTYPE_F32, {1, 1, 3, 3});
  const tnr_view_mut result = {flat_view(written_, TNR_DTYPE_F32, {1, 1, 3, 3})};
  check<tnr_normalize_attributes>("normalize", [&](auto* with) {
    return tnr_normalize(nullptr, TNR_NORMALIZE_OP_SOFTMAX, &image, 8, with, &result);
  });
  const tnr_view_mut mean = {flat_view(written_ + sizeof written_ / 2, TNR_DTYPE_F32, {1})};
  const tnr_view_mut variance = {flat_view(written_, TNR_DTYPE_F32, {1})};
  const tnr_view three = flat_view(read_, TNR_DTYPE_F32, {1, 3});
  check<tnr_moments_attributes>("moments", [&](auto* with) {
    return tnr_moments(nullptr, &three, 2, with, &mean, &variance);
  });
  check<tnr_extension>("scan", [&](auto* with) {
    return tnr_scan(nullptr, TNR_SCAN_OP_SUM, &image, 3, with, &result);
  });
}

TEST_F(Attributes, OfSparseOperations) {
  for (const SparseFunction& function : sparse_functions()) {
    if (function.has(SparseFunction::kBlocks)) continue;
    check(function.name(), function.attributes.size(), function.reserved_at,
          [&](const void* given) {
            SparseOperands with(*csr_);
            const tnr_status status = function.call(nullptr, csr_, given, with);
            EXPECT_TRUE(status == TNR_STATUS_OK || with.is_unwritten());
            return status;
          });
  }
}

namespace kernels = tenure::kernels;

bool takes_ddof(tnr_reduce_op op) {
  return kernels::kReduceRows[op - 1].attribute == kernels::Attribute::kDdof;
}
constexpr auto kLastReduction = static_cast<tnr_reduce_op>(kernels::kReduceCount);

TEST_F(Attributes, DdofIs0WhereNoneIsGiven) {
  for (tnr_reduce_op op = 1; op <= kLastReduction; ++op) {
    if (!takes_ddof(op)) continue;
    float results[3] = {};
    EXPECT_EQ(tnr_reduce(nullptr, op, &table_, 1, nullptr, &out_line_), TNR_STATUS_OK);
    std::memcpy(results, written_, sizeof results);
    EXPECT_EQ(tnr_reduce(nullptr, op, &table_, 1, attributes<tnr_reduce_attributes>(0), &out_line_),
              TNR_STATUS_OK);
    EXPECT_EQ(std::memcmp(results, written_, sizeof results), 0);
  }
  // The variance of 1, 4 and 7.
  EXPECT_EQ(tnr_reduce(nullptr, TNR_REDUCE_OP_VAR, &table_, 1, attributes<tnr_reduce_attributes>(1),
                       &out_line_),
            TNR_STATUS_OK);
  float variance = 0;
  std::memcpy(&variance, written_, sizeof variance);
  EXPECT_EQ(variance, 9);
}

TEST_F(Attributes, WhatTheOperationDoesNotTakeIsRefused) {
  for (tnr_reduce_op op = 1; op <= kLastReduction; ++op) {
    if (takes_ddof(op)) continue;
    expect_refused(
        tnr_reduce(nullptr, op, &table_, 3, attributes<tnr_reduce_attributes>(2), &out_line_),
        TNR_STATUS_INVALID_ARGUMENT, {"attributes->ddof is 2"});
  }
  expect_refused(tnr_sparse_reduce(nullptr, TNR_REDUCE_OP_SUM, csr_, 1,
                                   attributes<tnr_reduce_attributes>(2), &out_line_),
                 TNR_STATUS_INVALID_ARGUMENT, {"attributes->ddof is 2 but must be 0"});
  expect_refused(tnr_sparse_solve(nullptr, csr_, &line_, attributes<tnr_sparse_solve_attributes>(8),
                                  &out_line_),
                 TNR_STATUS_INVALID_ARGUMENT, {"flags"});
  expect_refused(tnr_sparse_sddmm(nullptr, &one_, csr_, &table_, &table_,
                                  attributes<tnr_sparse_sddmm_attributes>(2), &out_entries_),
                 TNR_STATUS_INVALID_ARGUMENT, {"flags"});
  expect_refused(tnr_packed_create(nullptr, csr_, attributes<tnr_packed_attributes>(5)),
                 TNR_STATUS_INVALID_ARGUMENT, {"layout"});
}

}  // namespace
