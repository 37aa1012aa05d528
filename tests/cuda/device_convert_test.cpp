// Conversions of sparse matrices on a device, compared with the CPU's results for the same bytes.
#include <algorithm>
#include <tuple>

#include "device_compressed.hpp"
#include "device_floats.hpp"
#include "expect_status.hpp"

namespace tenure {
namespace {

using namespace test;

constexpr tnr_sparse_format kFormats[] = {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                          TNR_SPARSE_FORMAT_CSC};
constexpr std::uint32_t kCoalesced = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;

tnr_sparse_convert_attributes attributes_of(std::uint32_t flags) {
  tnr_sparse_convert_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.flags = flags;
  return attributes;
}

class DeviceConvert : public OnDevice {
 protected:
  // Expects the CPU's matrix, or its error. A device claims no order that the CPU does not.
  void check(const Compressed& matrix, std::uint32_t flags, tnr_dtype dtype, tnr_sparse_format to,
             const tnr_sparse_convert_attributes& attributes, std::uint64_t waits_expected,
             Random& random) {
    Parts parts(matrix, {Type::kU8, dtype}, kIndexTypes[random() % 2], random,
                Parts::Values::kUnset);
    fill_with_bits(parts.values, random);
    tnr_sparse_view here =
        view_of(matrix, parts.major.view(), parts.minor.view(), parts.values.view());
    here.flags = flags;
    const DeviceParts there(context_, parts);
    tnr_sparse_view lent = there.view(matrix);
    lent.flags = flags;
    const std::string what = "format " + std::to_string(matrix.format) + " of " +
                             std::to_string(matrix.indices.size()) + " entries to " +
                             std::to_string(to) + ", flags " + std::to_string(flags) + " and " +
                             std::to_string(attributes.flags);
    const Made expected(tnr_sparse_convert(nullptr, to, &here, &attributes));
    const std::string said = expected.is_there() ? "" : tnr_last_error()->message;
    const std::uint64_t waits = totals().device_waits;
    const Made made(tnr_sparse_convert(context_, to, &lent, &attributes));
    ASSERT_EQ(made.is_there(), expected.is_there())
        << what << ": " << said << " / " << tnr_last_error()->message;
    if (!made.is_there()) {
      EXPECT_EQ(tnr_last_error()->message, said) << what;
      return;
    }
    EXPECT_EQ(totals().device_waits, waits + waits_expected) << what;
    tnr_sparse_view wanted = expected.view();
    EXPECT_EQ(made.view().flags & ~wanted.flags, 0u) << what;
    if ((attributes.flags & TNR_CONVERT_SORT) == 0) wanted.flags = made.view().flags;
    expect_same_matrix(context_, made.view(), wanted, what);
    EXPECT_EQ(tnr_sparse_check(&made.view()), TNR_STATUS_OK) << tnr_last_error()->message;
  }
  // Checks conversions with and without a sort, to every format that a device has.
  void check_all(const Compressed& matrix, std::uint32_t flags, tnr_dtype dtype, Random& random) {
    for (const tnr_sparse_format format : kFormats) {
      if (matrix.format != TNR_SPARSE_FORMAT_COO && format != matrix.format) continue;
      for (const std::uint32_t sort : {0, TNR_CONVERT_SORT}) {
        check(matrix, flags, dtype, format, attributes_of(sort), 1, random);
      }
    }
  }
};

// Coordinates of `count` entries in no order.
Compressed pairs_of(std::int64_t rows, std::int64_t cols, int count, Random& random) {
  Compressed made = {TNR_SPARSE_FORMAT_COO, rows, cols, {}, {}};
  const auto any_below = [&](std::int64_t extent) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent));
  };
  for (int k = 0; k < count; ++k) {
    made.offsets.push_back(any_below(rows));
    made.indices.push_back(any_below(cols));
  }
  return made;
}
// By rows, and by columns within them.
Compressed in_order(Compressed pairs) {
  std::vector<std::pair<std::int64_t, std::int64_t>> entries;
  for (std::size_t k = 0; k < pairs.indices.size(); ++k) {
    entries.emplace_back(pairs.offsets[k], pairs.indices[k]);
  }
  std::sort(entries.begin(), entries.end());
  for (std::size_t k = 0; k < entries.size(); ++k) {
    std::tie(pairs.offsets[k], pairs.indices[k]) = entries[k];
  }
  return pairs;
}

TEST_F(DeviceConvert, GivesTheCpusMatricesOfEveryType) {
  Random random(1);
  std::vector<tnr_dtype> dtypes = {TNR_DTYPE_C64};
  for (const NamedType& type : kTypes) dtypes.push_back(type.dtype);
  const Compressed pairs = pairs_of(40, 23, 700, random);
  const Compressed rows = matrix_of({3, 0, 70, 1, 0, 12, 9, 300, 0}, 17, random);
  for (const tnr_dtype dtype : dtypes) {
    check_all(pairs, 0, dtype, random);
    check_all(in_order(pairs), TNR_SPARSE_SORTED, dtype, random);
    check_all(rows, 0, dtype, random);
    check_all(transposed(rows), 0, dtype, random);
    if (HasFailure()) return;
  }
}

// Around the borders of blocks, of tiles of the sort and of segments of the prefix sum.
TEST_F(DeviceConvert, GivesTheCpusMatricesOfEveryShape) {
  Random random(2);
  for (const std::int64_t rows : {1, 2, 16, 255, 300, 70000}) {
    for (const std::int64_t cols : {1, 5, 4096}) {
      for (const int count : {0, 1, 2, 255, 256, 257, 4095, 4096, 4097, 20000}) {
        const Compressed pairs = pairs_of(rows, cols, count, random);
        check_all(pairs, 0, TNR_DTYPE_F32, random);
        check_all(in_order(pairs), TNR_SPARSE_SORTED, TNR_DTYPE_U8, random);
        if (HasFailure()) return;
      }
    }
  }
  check_all({TNR_SPARSE_FORMAT_COO, 0, 5, {}, {}}, kCoalesced, TNR_DTYPE_F64, random);
  check_all({TNR_SPARSE_FORMAT_COO, 5, 0, {}, {}}, kCoalesced, TNR_DTYPE_F64, random);
  check_all({TNR_SPARSE_FORMAT_CSR, 0, 5, {0}, {}}, kCoalesced, TNR_DTYPE_F64, random);
}

// The device detects rows that the flag wrongly declares as sorted, and sorts them, so that the
// offsets of the result never decrease.
TEST_F(DeviceConvert, SortsRowsThatFallAfterAll) {
  Random random(3);
  Compressed pairs = in_order(pairs_of(40, 23, 700, random));
  std::swap(pairs.offsets[0], pairs.offsets[699]);
  check(pairs, TNR_SPARSE_SORTED, TNR_DTYPE_F32, TNR_SPARSE_FORMAT_CSR,
        attributes_of(TNR_CONVERT_SORT), 2, random);
}

// A matrix that the device has coalesced is converted to rows on the device, without another sort.
TEST_F(DeviceConvert, TakesWhatWasCoalesced) {
  Random random(4);
  const Compressed pairs = pairs_of(40, 23, 700, random);
  Parts parts(pairs, kTypes[1], TNR_DTYPE_I32, random);
  const tnr_sparse_view here =
      view_of(pairs, parts.major.view(), parts.minor.view(), parts.values.view());
  const DeviceParts there(context_, parts);
  const tnr_sparse_view lent = there.view(pairs);
  const Made sums_here(tnr_sparse_coalesce(nullptr, TNR_SPARSE_COMBINE_SUM, &here, nullptr));
  const Made sums(tnr_sparse_coalesce(context_, TNR_SPARSE_COMBINE_SUM, &lent, nullptr));
  ASSERT_TRUE(sums_here.is_there() && sums.is_there()) << tnr_last_error()->message;
  const Made expected(
      tnr_sparse_convert(nullptr, TNR_SPARSE_FORMAT_CSR, &sums_here.view(), nullptr));
  const std::uint64_t launches = totals().device_launches;
  const Made made(tnr_sparse_convert(context_, TNR_SPARSE_FORMAT_CSR, &sums.view(), nullptr));
  ASSERT_TRUE(expected.is_there() && made.is_there()) << tnr_last_error()->message;
  // Marks, numbers and the result: nothing is sorted again.
  EXPECT_EQ(totals().device_launches, launches + 3);
  expect_same_matrix(context_, made.view(), expected.view(), "coalesced");
}

TEST_F(DeviceConvert, WrongIndicesAreTheCpusErrors) {
  Random random(5);
  const Compressed right = in_order(pairs_of(9, 30, 79, random));
  constexpr std::int64_t kFar = INT32_MAX;
  for (const std::uint32_t flags : {std::uint32_t{0}, std::uint32_t{TNR_SPARSE_SORTED}}) {
    for (const tnr_sparse_format format : kFormats) {
      for (const std::size_t entry : {0, 4, 50, 78}) {
        for (const std::int64_t index : {std::int64_t{-1}, std::int64_t{30}, kFar, -kFar - 1}) {
          Compressed wrong = right;
          wrong.indices[entry] = index;
          check(wrong, flags, TNR_DTYPE_F64, format, attributes_of(0), 1, random);
          wrong = right;
          wrong.offsets[entry] = index;
          check(wrong, flags, TNR_DTYPE_F64, format, attributes_of(0), 1, random);
        }
      }
    }
  }
}

TEST_F(DeviceConvert, RefusesWhatTheCpuRefuses) {
  Random random(6);
  const Compressed pairs = pairs_of(4, 6, 10, random);
  const tnr_sparse_format csr = TNR_SPARSE_FORMAT_CSR;
  check(pairs, 0, TNR_DTYPE_F32, 9, attributes_of(0), 1, random);
  check(pairs, 0, TNR_DTYPE_F32, csr, attributes_of(1u << 30), 1, random);
  tnr_sparse_convert_attributes attributes = attributes_of(0);
  attributes.index_dtype = TNR_DTYPE_U8;
  check(pairs, 0, TNR_DTYPE_F32, csr, attributes, 1, random);
  attributes = attributes_of(0);
  attributes.block_rows = 2;
  check(pairs, 0, TNR_DTYPE_F32, csr, attributes, 1, random);
  // Rows that the indices cannot count.
  Parts parts(pairs, kTypes[1], TNR_DTYPE_I32, random);
  const DeviceParts there(context_, parts);
  tnr_sparse_view a = there.view(pairs);
  a.rows = (std::int64_t{1} << 31) + 1;
  expect_refused(tnr_sparse_convert(context_, csr, &a, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"rows", "i64"});
}

TEST_F(DeviceConvert, LeavesToTheCpuWhatItHasNot) {
  Random random(7);
  const Compressed rows = matrix_of({2, 0, 1, 3}, 4, random);
  Parts parts(rows, kTypes[1], TNR_DTYPE_I32, random);
  const DeviceParts there(context_, parts);
  const tnr_sparse_view right = there.view(rows);
  const auto refused = [&](tnr_context* context, tnr_sparse_format to, const tnr_sparse_view& a,
                           const tnr_sparse_convert_attributes& attributes, tnr_status status,
                           std::initializer_list<std::string> words) {
    expect_refused(tnr_sparse_convert(context, to, &a, &attributes), status, words);
  };
  const tnr_sparse_format csr = TNR_SPARSE_FORMAT_CSR;
  const tnr_sparse_convert_attributes plain = attributes_of(0);
  refused(nullptr, csr, right, plain, TNR_STATUS_INVALID_ARGUMENT, {"a.values", "has no device"});
  for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSC}) {
    refused(context_, format, right, plain, TNR_STATUS_UNSUPPORTED,
            {"convert takes COO to CSR and CSC", "cuda:0"});
  }
  tnr_sparse_convert_attributes attributes = plain;
  attributes.index_dtype = TNR_DTYPE_I64;
  refused(context_, csr, right, attributes, TNR_STATUS_UNSUPPORTED,
          {"with the same indices", "cuda:0"});
  attributes = plain;
  attributes.block_rows = attributes.block_cols = 2;
  refused(context_, TNR_SPARSE_FORMAT_BSR, right, attributes, TNR_STATUS_UNSUPPORTED,
          {"convert takes COO", "cuda:0"});
  Parts wide(rows, {Type::kU8, TNR_DTYPE_C128}, TNR_DTYPE_I32, random, Parts::Values::kUnset);
  const DeviceParts wide_there(context_, wide);
  refused(context_, csr, wide_there.view(rows), plain, TNR_STATUS_UNSUPPORTED,
          {"convert takes c128 only on the CPU, not on cuda:0"});
}

TEST_F(DeviceConvert, AFailureLeavesNothing) {
  if (!is_driver_fake()) GTEST_SKIP() << "a driver that cannot be made to fail";
  Random random(8);
  const Compressed pairs = pairs_of(40, 23, 700, random);
  Parts parts(pairs, kTypes[1], TNR_DTYPE_I32, random);
  const DeviceParts there(context_, parts);
  const tnr_sparse_view lent = there.view(pairs);
  const tnr_stats before = totals();
  const auto refused = [&](const std::string& entry, tnr_status status) {
    const Variable failing("TENURE_FAKE_CUDA_FAIL", entry);
    const Made made(tnr_sparse_convert(context_, TNR_SPARSE_FORMAT_CSR, &lent, nullptr));
    EXPECT_FALSE(made.is_there()) << entry;
    EXPECT_EQ(tnr_last_error()->status, status) << entry << ": " << tnr_last_error()->message;
  };
  // Keys, three for each of two digits, marks, their numbers, and the result.
  for (int i = 1; i <= 10; ++i) {
    refused("cuLaunchKernel:" + std::to_string(i), TNR_STATUS_DEVICE_ERROR);
  }
  for (int i = 1; i <= 5; ++i) {
    refused("cuMemAllocAsync:" + std::to_string(i) + ":999", TNR_STATUS_DEVICE_ERROR);
  }
  refused("cuMemAllocAsync", TNR_STATUS_OUT_OF_MEMORY);
  const tnr_stats after = totals();
  EXPECT_EQ(after.blobs_made - before.blobs_made, after.blobs_finished - before.blobs_finished);
}

}  // namespace
}  // namespace tenure
