// Coalescing on a device, compared with the CPU's results for the same bytes.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

#include "device_child.hpp"
#include "device_compressed.hpp"
#include "device_floats.hpp"
#include "expect_status.hpp"

namespace tenure {
namespace {

using namespace test;

constexpr tnr_sparse_combine kCombines[] = {TNR_SPARSE_COMBINE_SUM, TNR_SPARSE_COMBINE_MIN,
                                            TNR_SPARSE_COMBINE_MAX, TNR_SPARSE_COMBINE_LAST};
constexpr std::uint32_t kCoalesced = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;

// The entries of rows as coordinates, in any order.
Compressed shuffled(const Compressed& matrix, Random& random) {
  Compressed made = {TNR_SPARSE_FORMAT_COO, matrix.rows, matrix.cols, {}, {}};
  std::vector<std::pair<std::int64_t, std::int64_t>> entries;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    for (std::int64_t k = matrix.offsets[at]; k < matrix.offsets[at + 1]; ++k) {
      entries.emplace_back(row, matrix.indices[static_cast<std::size_t>(k)]);
    }
  }
  std::shuffle(entries.begin(), entries.end(), random);
  for (const auto& [row, col] : entries) {
    made.offsets.push_back(row);
    made.indices.push_back(col);
  }
  return made;
}

std::string describe_matrix(const Compressed& matrix, tnr_dtype dtype) {
  return "format " + std::to_string(matrix.format) + " of " + std::to_string(matrix.rows) + " x " +
         std::to_string(matrix.cols) + " with " + std::to_string(matrix.indices.size()) +
         " entries of " + dtype_name(dtype);
}

class DeviceCoalesce : public OnDevice {
 protected:
  struct How {
    tnr_sparse_combine combine = TNR_SPARSE_COMBINE_SUM;
    std::uint32_t flags = 0;
    std::optional<tnr_dtype> index_dtype = std::nullopt;  // else any
  };

  // Numbers whose sums are rounded, of every class, or any bits.
  static void fill(Array& values, Random& random) {
    fill_with_bits(values, random);
    const auto* const known =
        std::find_if(std::begin(kTypes), std::end(kTypes),
                     [&](NamedType type) { return type.dtype == values.view().dtype; });
    if (known == std::end(kTypes) || !is_float(known->type)) return;
    const std::size_t width = element_size(known->dtype);
    for (Byte* const element : values.elements()) {
      if (random() % 64 == 0) continue;
      const double value = static_cast<double>(random()) * 0x1p-60 - 8;
      kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&value), known->type,
                               element);
      if (random() % 4 != 0) continue;
      std::memset(element, 0, width);
      element[width - 1] = 0x80;  // -0.0
    }
  }

  // Expects the CPU's matrix, or its error.
  void check(const Compressed& matrix, tnr_dtype dtype, const How& how, Random& random) {
    const tnr_dtype index_dtype = how.index_dtype.value_or(kIndexTypes[random() % 2]);
    Parts parts(matrix, {Type::kU8, dtype}, index_dtype, random, Parts::Values::kUnset);
    fill(parts.values, random);
    const std::string what =
        describe_matrix(matrix, dtype) + " combined by " + std::to_string(how.combine);
    tnr_sparse_view here =
        view_of(matrix, parts.major.view(), parts.minor.view(), parts.values.view());
    here.flags = how.flags;
    const Made expected(tnr_sparse_coalesce(nullptr, how.combine, &here, nullptr));
    const std::string said = expected.is_there() ? "" : tnr_last_error()->message;
    const DeviceParts there(context_, parts);
    tnr_sparse_view lent = there.view(matrix);
    lent.flags = how.flags;
    const std::uint64_t waits = totals().device_waits;
    const Made made(tnr_sparse_coalesce(context_, how.combine, &lent, nullptr));
    ASSERT_EQ(made.is_there(), expected.is_there())
        << what << ": " << said << " / " << tnr_last_error()->message;
    if (!made.is_there()) {
      EXPECT_EQ(tnr_last_error()->message, said) << what;
      return;
    }
    EXPECT_EQ(totals().device_waits, waits + 1) << what;
    expect_same_matrix(context_, made.view(), expected.view(), what);
    if (how.flags != 0) return;  // which may be lies
    EXPECT_EQ(tnr_sparse_check(&made.view()), TNR_STATUS_OK) << tnr_last_error()->message;
  }
  // In every format.
  void check_all(const Compressed& rows, tnr_dtype dtype, const How& how, Random& random) {
    check(rows, dtype, how, random);
    check(transposed(rows), dtype, how, random);
    check(shuffled(rows, random), dtype, how, random);
  }
};

TEST_F(DeviceCoalesce, GivesTheCpusMatricesOfEveryType) {
  Random random(1);
  std::vector<tnr_dtype> dtypes = {TNR_DTYPE_C64};
  for (const NamedType& type : kTypes) dtypes.push_back(type.dtype);
  const Compressed matrix = matrix_of({3, 0, 70, 1, 0, 12, 9, 300, 0}, 7, random);
  for (const tnr_dtype dtype : dtypes) {
    for (const tnr_sparse_combine combine : kCombines) {
      for (const tnr_dtype index_dtype : kIndexTypes) {
        check_all(matrix, dtype, {.combine = combine, .index_dtype = index_dtype}, random);
        if (HasFailure()) return;
      }
    }
  }
}

// Around the borders of blocks, of tiles of the sort and of segments of the prefix sum; with no
// entry for a position twice, some, and all for one.
TEST_F(DeviceCoalesce, GivesTheCpusMatricesOfEveryShape) {
  Random random(2);
  const std::vector<Numbers> some = {{},
                                     {0},
                                     {1},
                                     {2},
                                     {0, 0, 0},
                                     {1, 1, 1},
                                     {255},
                                     {256},
                                     {257},
                                     {4095},
                                     {4096},
                                     {4097},
                                     {0, 4096, 0, 1},
                                     {8192, 1, 0},
                                     {9000},
                                     Numbers(300, 1),
                                     Numbers(257, 16),
                                     Numbers(40, 0),
                                     {1, 0, 513, 0},
                                     {20000, 7, 13000}};
  for (const Numbers& lengths : some) {
    for (const std::int64_t cols : {1, 2, 16, 17, 5000, 1'000'000}) {
      const Compressed matrix = matrix_of(lengths, cols, random);
      check_all(matrix, kTypes[random() % std::size(kTypes)].dtype,
                {.combine = TNR_SPARSE_COMBINE_LAST}, random);
      check_all(matrix, kTypes[random() % 4].dtype, {}, random);
      if (HasFailure()) return;
    }
  }
}

// The last entries of a block and the first of the next are for one position, also of halves, which
// are rounded once.
TEST_F(DeviceCoalesce, AddsUpLongRunsInTheirOrder) {
  Random random(3);
  for (const tnr_dtype dtype : {TNR_DTYPE_F64, TNR_DTYPE_F32, TNR_DTYPE_F16, TNR_DTYPE_BF16}) {
    for (const std::int64_t before : {0, 1, 250, 255, 4000, 4095}) {
      Compressed matrix = matrix_of({before, 600, 4200, 1}, 2000, random);
      for (std::size_t k = static_cast<std::size_t>(before); k < matrix.indices.size(); ++k) {
        matrix.indices[k] = 3;
      }
      check_all(matrix, dtype, {}, random);
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceCoalesce, OfHugeExtentsWithFewEntries) {
  Random random(4);
  constexpr std::int64_t kMost = INT64_MAX;
  const std::int64_t extents[] = {1,
                                  2,
                                  16,
                                  std::int64_t{1} << 31,
                                  (std::int64_t{1} << 32) - 1,
                                  std::int64_t{1} << 32,
                                  (std::int64_t{1} << 32) + 1,
                                  std::int64_t{1} << 62,
                                  kMost - 1};
  const auto any_below = [&](std::int64_t extent) {
    // Near the ends, so that positions differ in their lowest and in their highest bits.
    const auto offset = static_cast<std::int64_t>(random() % 5) % extent;
    if (random() % 3 == 0) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent));
    }
    return random() % 2 == 0 ? offset : extent - 1 - offset;
  };
  for (const std::int64_t rows : extents) {
    for (const std::int64_t cols : extents) {
      Compressed matrix = {TNR_SPARSE_FORMAT_COO, rows, cols, {}, {}};
      for (int k = 0; k < 300; ++k) {
        matrix.offsets.push_back(any_below(rows));
        matrix.indices.push_back(any_below(cols));
      }
      check(matrix, TNR_DTYPE_F32, {.index_dtype = TNR_DTYPE_I64}, random);
      if (rows <= std::int64_t{1} << 31 && cols <= std::int64_t{1} << 31) {
        check(matrix, TNR_DTYPE_F32, {.index_dtype = TNR_DTYPE_I32}, random);
      }
      if (rows > 16) continue;
      Compressed compressed = matrix_of(Numbers(static_cast<std::size_t>(rows), 40), 1, random);
      compressed.cols = cols;
      for (std::int64_t& index : compressed.indices) index = any_below(cols);
      check(compressed, TNR_DTYPE_F64, {.index_dtype = TNR_DTYPE_I64}, random);
      check(transposed(compressed), TNR_DTYPE_F64, {.index_dtype = TNR_DTYPE_I64}, random);
      if (HasFailure()) return;
    }
  }
}

// Entries beyond the offsets are not the matrix's, whatever their indices are.
TEST_F(DeviceCoalesce, TakesTheEntriesOfARangeOfRowsAlone) {
  Random random(5);
  const Compressed whole = matrix_of({30, 0, 5, 300, 1, 40, 0, 7}, 6, random);
  for (const std::size_t first : {0, 1, 3, 8}) {
    for (std::size_t end = first; end <= 8; ++end) {
      Compressed range = whole;
      range.rows = static_cast<std::int64_t>(end - first);
      range.offsets.assign(whole.offsets.begin() + static_cast<std::ptrdiff_t>(first),
                           whole.offsets.begin() + static_cast<std::ptrdiff_t>(end) + 1);
      for (std::size_t k = 0; k < range.indices.size(); ++k) {
        const auto entry = static_cast<std::int64_t>(k);
        const bool is_in_range = entry >= range.offsets.front() && entry < range.offsets.back();
        if (!is_in_range && random() % 2 == 0) {
          range.indices[k] = random() % 2 == 0 ? -1 : INT32_MAX;
        }
      }
      for (const std::uint32_t flags :
           {std::uint32_t{0}, std::uint32_t{TNR_SPARSE_SORTED}, kCoalesced}) {
        check(range, TNR_DTYPE_F32, {.flags = flags}, random);
        check(transposed(range), TNR_DTYPE_U8, {.flags = flags}, random);
        if (HasFailure()) return;
      }
    }
  }
}

// Flags that are true, and flags that are not: these make another matrix, and the CPU's.
TEST_F(DeviceCoalesce, BelievesFlags) {
  Random random(6);
  const Compressed any = matrix_of({3, 0, 270, 1, 600, 2}, 50, random);
  Compressed rising = any;
  for (std::size_t row = 0; row + 1 < any.offsets.size(); ++row) {
    std::sort(rising.indices.begin() + any.offsets[row],
              rising.indices.begin() + any.offsets[row + 1]);
  }
  for (const std::uint32_t flags :
       {std::uint32_t{TNR_SPARSE_SORTED}, std::uint32_t{TNR_SPARSE_UNIQUE}, kCoalesced}) {
    for (const NamedType& type : kTypes) {
      for (const tnr_sparse_combine combine : {TNR_SPARSE_COMBINE_SUM, TNR_SPARSE_COMBINE_LAST}) {
        check_all(any, type.dtype, {.combine = combine, .flags = flags}, random);
        check(rising, type.dtype, {.combine = combine, .flags = flags}, random);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(DeviceCoalesce, WrongOffsetsAndIndicesAreTheCpusErrors) {
  Random random(7);
  const Compressed right = matrix_of({3, 2, 70, 0, 4}, 80, random);
  constexpr std::int64_t kFar = INT32_MAX;
  for (const std::uint32_t flags :
       {std::uint32_t{0}, std::uint32_t{TNR_SPARSE_SORTED}, kCoalesced}) {
    for (std::size_t row = 0; row < right.offsets.size(); ++row) {
      for (const std::int64_t offset : {std::int64_t{-1}, std::int64_t{80}, kFar, -kFar - 1}) {
        Compressed wrong = right;
        wrong.offsets[row] = offset;
        check(wrong, TNR_DTYPE_F32, {.flags = flags}, random);
        check(transposed(wrong), TNR_DTYPE_F32, {.flags = flags}, random);
      }
    }
    const Compressed pairs = shuffled(right, random);
    for (const std::size_t entry : {0, 4, 50, 78}) {
      for (const std::int64_t index : {std::int64_t{-1}, std::int64_t{80}, kFar, -kFar - 1}) {
        Compressed wrong = right;
        wrong.indices[entry] = index;
        check(wrong, TNR_DTYPE_F64, {.flags = flags}, random);
        wrong = pairs;
        wrong.indices[entry] = index;
        check(wrong, TNR_DTYPE_F64, {.flags = flags}, random);
        wrong = pairs;
        wrong.offsets[entry] = index;
        check(wrong, TNR_DTYPE_F64, {.flags = flags}, random);
        if (HasFailure()) return;
      }
    }
  }
  check({TNR_SPARSE_FORMAT_CSR, 0, 3, {5}, {0, 1}}, TNR_DTYPE_F32, {}, random);
  check({TNR_SPARSE_FORMAT_CSR, 2, 0, {0, 1, 1}, {0}}, TNR_DTYPE_F32, {}, random);
  check({TNR_SPARSE_FORMAT_CSR, 1, 3, {0, 1}, {}}, TNR_DTYPE_F32, {}, random);
  check({TNR_SPARSE_FORMAT_COO, 0, 3, {0}, {0}}, TNR_DTYPE_F32, {}, random);
}

TEST_F(DeviceCoalesce, GivesAHandleWhoseProductsWaitForNothing) {
  Random random(8);
  const Compressed matrix = matrix_of({3, 0, 5, 2}, 4, random);
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I32, random);
  const DeviceParts there(context_, parts);
  const tnr_sparse_view lent = there.view(matrix);
  const Made made(tnr_sparse_coalesce(context_, TNR_SPARSE_COMBINE_SUM, &lent, nullptr));
  ASSERT_TRUE(made.is_there()) << tnr_last_error()->message;
  const Floats b(context_, std::vector<float>(4, 1.0f));
  const Floats sums(context_, std::vector<float>(4, 0.0f));
  const Floats wanted(context_, std::vector<float>(4, 0.0f));
  const std::uint64_t waits = totals().device_waits;
  ASSERT_EQ(multiply(context_, made.view(), b.in(), &sums.out), TNR_STATUS_OK);
  EXPECT_EQ(totals().device_waits, waits);
  ASSERT_EQ(multiply(context_, lent, b.in(), &wanted.out), TNR_STATUS_OK);
  // Eighths, whose sums are exact.
  EXPECT_EQ(download(context_, sums.out.view), download(context_, wanted.out.view));
}

// Operands of another stream, which has work on them that is still to come.
TEST_F(DeviceCoalesce, ComesAfterWhatItsOperandGot) {
  Random random(9);
  const Compressed matrix = matrix_of({2, 0, 3, 1}, 1, random);
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I32, random);
  const DeviceParts there(context_, parts);
  tnr_context* const other = context_on(kFirstDevice);
  ASSERT_NE(other, nullptr);
  {
    const tnr_scalar one = number_of(1);
    const tnr_view_mut values = {there.values.view()};
    ASSERT_EQ(tnr_fill(context_, &one, nullptr, &values), TNR_STATUS_OK);
    const tnr_sparse_view lent = there.view(matrix);
    const Made made(tnr_sparse_coalesce(other, TNR_SPARSE_COMBINE_SUM, &lent, nullptr));
    ASSERT_TRUE(made.is_there()) << tnr_last_error()->message;
    EXPECT_EQ(download(other, made.view().values), (std::vector<float>{2, 3, 1}));
  }
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

TEST_F(DeviceCoalesce, RefusesWhatTheCpuRefuses) {
  Random random(10);
  const Compressed matrix = matrix_of({2, 0, 1}, 3, random);
  check(matrix, TNR_DTYPE_F32, {.combine = static_cast<tnr_sparse_combine>(9)}, random);
  check(matrix, TNR_DTYPE_F32, {.flags = 1u << 20}, random);
  Compressed other = matrix;
  other.format = 9;
  check(other, TNR_DTYPE_F32, {}, random);
  other = matrix;
  other.rows = 7;
  check(other, TNR_DTYPE_F32, {}, random);
}

TEST_F(DeviceCoalesce, LeavesToTheCpuWhatItHasNot) {
  Random random(11);
  const Compressed matrix = matrix_of({2, 0, 1}, 3, random);
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I32, random);
  const DeviceParts there(context_, parts);
  const tnr_sparse_view right = there.view(matrix);
  const auto refused = [&](tnr_context* context, const tnr_sparse_view& a, tnr_status status,
                           std::initializer_list<std::string> words) {
    expect_refused(tnr_sparse_coalesce(context, TNR_SPARSE_COMBINE_LAST, &a, nullptr), status,
                   words);
  };
  refused(nullptr, right, TNR_STATUS_INVALID_ARGUMENT, {"a.values", "has no device"});
  tnr_sparse_view mixed = right;
  mixed.minor = parts.minor.view();
  refused(context_, mixed, TNR_STATUS_UNSUPPORTED, {"a.col_indices", "cuda:0"});
  mixed = right;
  mixed.values = parts.values.view();
  refused(context_, mixed, TNR_STATUS_UNSUPPORTED, {"a.row_offsets", "cuda:0"});
  tnr_sparse_view blocks = right;
  blocks.format = TNR_SPARSE_FORMAT_BSR;
  blocks.values.rank = 3;
  for (int axis = 1; axis < 3; ++axis) blocks.values.shape[axis] = blocks.values.strides[axis] = 1;
  refused(context_, blocks, TNR_STATUS_UNSUPPORTED, {"BSR"});
  tnr_sparse_view batch = right;
  batch.batch_offsets = batch.minor;
  batch.batch_offsets.shape[0] = 2;
  refused(context_, batch, TNR_STATUS_UNSUPPORTED, {"a"});
  Parts wide(matrix, {Type::kU8, TNR_DTYPE_C128}, TNR_DTYPE_I32, random, Parts::Values::kUnset);
  const DeviceParts wide_there(context_, wide);
  refused(context_, wide_there.view(matrix), TNR_STATUS_UNSUPPORTED,
          {"coalesce takes c128 only on the CPU, not on cuda:0"});
}

// Views without owners can declare that number of entries, because no owner has a size to check.
TEST_F(DeviceCoalesce, RefusesMoreEntriesThanAreSorted) {
  Random random(13);
  const Compressed matrix = matrix_of({1}, 2, random);
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I32, random);
  const DeviceParts there(context_, parts);
  tnr_sparse_view a = there.view(matrix);
  for (tnr_view* const part : {&a.minor, &a.values}) {
    part->shape[0] = std::int64_t{1} << 31;
    part->size_bytes = std::uint64_t{1} << 34;
    part->owner = 0;
  }
  expect_refused(
      tnr_sparse_coalesce(context_, TNR_SPARSE_COMBINE_SUM, &a, nullptr), TNR_STATUS_UNSUPPORTED,
      {"a.values.shape[0] is 2147483648 but must be below 2147483648 for coalesce", "cuda:0"});
}

TEST_F(DeviceCoalesce, AFailureLeavesNothing) {
  if (!is_driver_fake()) GTEST_SKIP() << "a driver that cannot be made to fail";
  Random random(12);
  const Compressed matrix = shuffled(matrix_of({2, 0, 40000, 1}, 100, random), random);
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I32, random);
  const DeviceParts there(context_, parts);
  const tnr_sparse_view lent = there.view(matrix);
  const tnr_stats before = totals();
  const auto coalesce = [&] {
    return tnr_sparse_coalesce(context_, TNR_SPARSE_COMBINE_SUM, &lent, nullptr);
  };
  const auto refused = [&](const std::string& entry, tnr_status status) {
    const Variable failing("TENURE_FAKE_CUDA_FAIL", entry);
    const Made made(coalesce());
    EXPECT_FALSE(made.is_there()) << entry;
    EXPECT_EQ(tnr_last_error()->status, status) << entry << ": " << tnr_last_error()->message;
  };
  // Keys, three for each of three digits, marks, three of the prefix sum, and the result.
  constexpr unsigned kLaunches = 15;
  for (unsigned i = 1; i <= kLaunches; ++i) {
    refused("cuLaunchKernel:" + std::to_string(i), TNR_STATUS_DEVICE_ERROR);
  }
  refused("cuMemsetD8Async", TNR_STATUS_DEVICE_ERROR);
  refused("cuMemcpyDtoHAsync", TNR_STATUS_DEVICE_ERROR);
  // Numbers, the sort, totals of the prefix sum, and the three arrays.
  for (int i = 1; i <= 6; ++i) {
    refused("cuMemAllocAsync:" + std::to_string(i) + ":999", TNR_STATUS_DEVICE_ERROR);
  }
  refused("cuMemAllocAsync", TNR_STATUS_OUT_OF_MEMORY);
  const tnr_stats after = totals();
  EXPECT_EQ(after.blobs_made - before.blobs_made, after.blobs_finished - before.blobs_finished);
  const std::uint64_t launches = totals().device_launches;
  const Made made(coalesce());
  EXPECT_TRUE(made.is_there()) << tnr_last_error()->message;
  EXPECT_EQ(totals().device_launches - launches, kLaunches);
}

TEST_F(DeviceCoalesce, FailuresLeaveNothing) {
  if (!is_driver_fake()) GTEST_SKIP() << "no driver that can be made to fail";
  expect_failures_leave_nothing();
}

TEST(DeviceChild, DISABLED_Run) {
  const auto say = [](tnr_status status) {
    if (status == TNR_STATUS_OK) return;
    std::printf("message: %s\n", tnr_last_error()->message);
    EXPECT_TRUE(status == TNR_STATUS_UNSUPPORTED || status == TNR_STATUS_DEVICE_ERROR ||
                status == TNR_STATUS_OUT_OF_MEMORY)
        << status;
  };
  tnr_context* const context = context_on(kFirstDevice);
  if (context == nullptr) return say(tnr_last_error()->status);
  constexpr std::int64_t kEntries = 5;
  constexpr std::int64_t kIndices[kEntries] = {4, 2, 4, 0, 2};
  tnr_view part;
  tnr_blob* const blob = tnr_blob_copy(context, kIndices, sizeof kIndices);
  if (blob == nullptr) {
    say(tnr_last_error()->status);
  } else if (tnr_blob_view(blob, 0, TNR_DTYPE_I64, 1, &kEntries, nullptr, &part) != TNR_STATUS_OK) {
    say(tnr_last_error()->status);
  } else {
    const Compressed matrix = {TNR_SPARSE_FORMAT_COO, 5, 5, {}, {}};
    const tnr_sparse_view a = view_of(matrix, part, part, part);
    tnr_sparse* const made = tnr_sparse_coalesce(context, TNR_SPARSE_COMBINE_SUM, &a, nullptr);
    say(made == nullptr ? tnr_last_error()->status : tnr_sparse_release(made));
  }
  if (blob != nullptr) say(tnr_blob_release(blob));
  say(tnr_context_release(context));
}

}  // namespace
}  // namespace tenure
