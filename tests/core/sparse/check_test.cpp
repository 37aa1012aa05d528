// The checker of sparse matrices: each invariant with its message, and the kernels that decide
// against their reference implementation.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "cpu/dispatch.hpp"
#include "expect_error.hpp"
#include "sparse/kernel_view.hpp"
#include "sparse_arrays.hpp"

namespace tenure::test {
namespace {

using Words = std::initializer_list<std::string>;

void check(const tnr_sparse_view& view, RowExtent rows = RowExtent::kRange) {
  check_sparse(view, "a");
  check_entries(view, rows, "a");
}

// Refused for both index types.
void refuses(const SparseModel& model, Words words, RowExtent rows = RowExtent::kRange) {
  for (const tnr_dtype dtype : kIndexDtypes) {
    SparseArrays arrays(model, dtype);
    expect_error(TNR_STATUS_INVALID_ARGUMENT, words, [&] { check(arrays.view(), rows); });
    expect_error(TNR_STATUS_INVALID_ARGUMENT, words,
                 [&] { check_entries_stepwise(arrays.view(), rows, "a"); });
  }
}

// A view that is refused for its shape.
void refuses_view(SparseModel model, const std::function<void(tnr_sparse_view&)>& change,
                  tnr_status status, Words words) {
  SparseArrays arrays(model, TNR_DTYPE_I32);
  check(arrays.view());
  change(arrays.view());
  expect_error(status, words, [&] { check_sparse(arrays.view(), "a"); });
}

SparseModel with(SparseModel model, const std::function<void(SparseModel&)>& change) {
  change(model);
  return model;
}

TEST(SparseCheck, AcceptsEachFormat) {
  for (const SparseModel& model : {coo_model(), csr_model(), csc_model(), bsr_model()}) {
    for (const tnr_dtype dtype : kIndexDtypes) {
      SparseArrays arrays(model, dtype);
      check(arrays.view(), RowExtent::kWhole);
      check_entries_stepwise(arrays.view(), RowExtent::kWhole, "a");
    }
  }
}

TEST(SparseCheck, AcceptsWhatIsEmpty) {
  for (const tnr_sparse_format format :
       {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC}) {
    for (const auto& [rows, cols] : {std::pair{0, 0}, {0, 5}, {5, 0}, {5, 5}}) {
      SparseModel model{.format = format, .rows = rows, .cols = cols};
      const int count = format == TNR_SPARSE_FORMAT_CSR ? rows : cols;
      if (format != TNR_SPARSE_FORMAT_COO)
        model.major.assign(static_cast<std::size_t>(count) + 1, 0);
      SparseArrays arrays(model, TNR_DTYPE_I32);
      check(arrays.view(), RowExtent::kWhole);
    }
  }
}

TEST(SparseCheck, ShapeIsRefusedWithValueAndBound) {
  const auto change = [](auto field, auto value) {
    return [field, value](tnr_sparse_view& view) { view.*field = value; };
  };
  using View = tnr_sparse_view;
  constexpr tnr_status kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  const SparseModel csr = csr_model();
  const SparseModel bsr = bsr_model();
  refuses_view(csr, change(&View::format, 7), kInvalid, {"a.format is 7"});
  refuses_view(csr, change(&View::format, 0), kInvalid, {"a.format is 0"});
  refuses_view(csr, change(&View::flags, 9u), kInvalid, {"a.flags is 0x9", "0x3"});
  for (unsigned bit = 2; bit < 32; ++bit) {
    char text[32];
    std::snprintf(text, sizeof text, "a.flags is 0x%x", 1u << bit);
    refuses_view(csr, change(&View::flags, 1u << bit), kInvalid, {text});
  }
  refuses_view(csr, change(&View::rows, -1), kInvalid, {"a.rows is -1", "at least 0"});
  refuses_view(csr, change(&View::rows, INT64_MAX), kInvalid, {"a.rows", "9223372036854775806"});
  refuses_view(csr, change(&View::cols, -2), kInvalid, {"a.cols is -2"});
  refuses_view(csr, change(&View::rows, 5), kInvalid,
               {"a.row_offsets.shape[0] is 4 but must be 6", "rows + 1"});
  refuses_view(csc_model(), change(&View::cols, 5), kInvalid,
               {"a.col_offsets.shape[0] is 5 but must be 6", "cols + 1"});
  refuses_view(csr, change(&View::block_rows, 2), kInvalid, {"a.block_rows is 2", "only BSR"});
  refuses_view(csr, change(&View::block_cols, 0), kInvalid, {"a.block_cols is 0", "only BSR"});
  refuses_view(bsr, change(&View::block_rows, 0), kInvalid, {"a.block_rows is 0", "at least 1"});
  refuses_view(bsr, change(&View::block_rows, 3), kInvalid,
               {"a.block_rows is 3 but must divide rows, which is 4"});
  refuses_view(bsr, change(&View::block_cols, 4), kInvalid, {"a.block_cols is 4", "cols", "6"});
  refuses_view(bsr, change(&View::block_cols, 17), TNR_STATUS_UNSUPPORTED,
               {"a.block_cols is 17", "at most 16"});
  refuses_view(csr, [](View& view) { view.batch_offsets.size_bytes = 1; }, kInvalid,
               {"a.batch_offsets.rank is 0", "zeros"});
}

TEST(SparseCheck, PartsAreRefusedByName) {
  using View = tnr_sparse_view;
  constexpr tnr_status kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  const SparseModel csr = csr_model();
  refuses_view(csr, [](View& view) { view.major.dtype = TNR_DTYPE_F32; }, kInvalid,
               {"a.row_offsets.dtype is f32", "i32 or i64"});
  refuses_view(csr, [](View& view) { view.minor.dtype = TNR_DTYPE_U32; }, kInvalid,
               {"a.col_indices.dtype is u32"});
  refuses_view(csr,
               [](View& view) {
                 view.minor.dtype = TNR_DTYPE_I64;
                 view.minor.shape[0] = 2;
               },
               kInvalid, {"a.col_indices.dtype is i64 but row_offsets.dtype is i32"});
  refuses_view(csr,
               [](View& view) {
                 view.minor.shape[0] = 2;
                 view.minor.strides[0] = 2;
               },
               kInvalid, {"a.col_indices.strides[0] is 2 but must be 1", "contiguous"});
  refuses_view(csr, [](View& view) { view.minor.reserved = 1; }, kInvalid,
               {"a.col_indices.reserved is 1"});
  refuses_view(csr, [](View& view) { view.values.rank = 0; }, kInvalid,
               {"a.values.rank is 0", "must be 1"});
  refuses_view(csr, [](View& view) { view.values.shape[0] = 4; }, kInvalid,
               {"a.values.shape[0] is 4 but must be 5", "as many as indices"});
  refuses_view(coo_model(), [](View& view) { view.major.shape[0] = 4; }, kInvalid,
               {"a.row_indices.shape[0] is 4 but must be 5", "col_indices"});
  refuses_view(bsr_model(),
               [](View& view) {
                 view.values.shape[1] = 3;
                 view.values.shape[2] = 2;
                 view.values.strides[1] = 2;
               },
               kInvalid, {"a.values.shape[1] is 3 but must be 2, block_rows"});
  refuses_view(bsr_model(), [](View& view) { view.values.rank = 1; }, kInvalid,
               {"a.values.rank is 1 but must be 3"});
}

TEST(SparseCheck, ValuesShareNoByteWithIndices) {
  // The last byte of one is the first of the other, in both orders, and apart by none.
  std::int32_t memory[32] = {};
  SparseArrays arrays(csr_model(), TNR_DTYPE_I32);
  tnr_sparse_view& view = arrays.view();
  const auto check_at = [&](int values, int indices) {
    view.values = flat_view(memory + values, TNR_DTYPE_F32, {5});
    view.minor = flat_view(memory + indices, TNR_DTYPE_I32, {5});
    check_sparse(view, "a");
    check_values_apart(view, "a");
  };
  check_at(0, 5);
  check_at(5, 0);
  for (const auto& [values, indices] : {std::pair{0, 4}, {4, 0}, {3, 3}}) {
    expect_error(TNR_STATUS_ALIASED, {"a.values shares bytes with col_indices"},
                 [&, v = values, i = indices] { check_at(v, i); });
  }
  view.minor = flat_view(memory, TNR_DTYPE_I32, {5});
  view.major = flat_view(memory + 8, TNR_DTYPE_I32, {4});
  view.values = flat_view(memory + 11, TNR_DTYPE_F32, {5});
  expect_error(TNR_STATUS_ALIASED, {"a.values shares bytes with row_offsets"},
               [&] { check_values_apart(view, "a"); });
}

TEST(SparseCheck, OffsetsAreRefusedWithPositionAndBound) {
  refuses(with(csr_model(), [](SparseModel& m) { m.major = {0, 3, 2, 5}; }),
          {"a.row_offsets[2] is 2 but the one before is 3", "must not fall"});
  refuses(with(csr_model(), [](SparseModel& m) { m.major = {-1, 2, 2, 5}; }),
          {"a.row_offsets[0] is -1", "at least 0 and at most 5"});
  refuses(with(csc_model(), [](SparseModel& m) { m.major = {0, 2, 3, 4, 6}; }),
          {"a.col_offsets[4] is 6", "at most 5"});
  refuses(with(csr_model(), [](SparseModel& m) { m.major = {0, 9, 2, 5}; }),
          {"a.row_offsets[1] is 9", "at most 5"});
  const SparseModel middle = with(csr_model(), [](SparseModel& m) { m.major = {1, 2, 2, 4}; });
  refuses(middle, {"a.row_offsets[0] is 1 but must be 0"}, RowExtent::kWhole);
  refuses(with(csr_model(), [](SparseModel& m) { m.major = {0, 2, 2, 4}; }),
          {"a.row_offsets[3] is 4 but must be 5", "the last"}, RowExtent::kWhole);
  SparseArrays range(middle, TNR_DTYPE_I32);
  check(range.view());
}

TEST(SparseCheck, IndicesAreRefusedWithPositionAndBound) {
  refuses(with(csr_model(), [](SparseModel& m) { m.minor[1] = 4; }),
          {"a.col_indices[1] is 4", "below cols, which is 4"});
  refuses(with(csr_model(), [](SparseModel& m) { m.minor[0] = -1; }), {"a.col_indices[0] is -1"});
  refuses(with(csc_model(), [](SparseModel& m) { m.minor[4] = 3; }),
          {"a.row_indices[4] is 3", "below rows, which is 3"});
  refuses(with(coo_model(), [](SparseModel& m) { m.major[4] = 3; }),
          {"a.row_indices[4] is 3", "rows", "3"});
  refuses(with(coo_model(), [](SparseModel& m) { m.minor[4] = 4; }), {"a.col_indices[4] is 4"});
  refuses(with(bsr_model(), [](SparseModel& m) { m.minor[2] = 2; }),
          {"a.col_indices[2] is 2", "cols / block_cols, which is 2"});
}

TEST(SparseCheck, FlagsAreHeldToTheirWord) {
  const SparseModel falls =
      with(csr_model(), [](SparseModel& m) { std::swap(m.minor[2], m.minor[4]); });
  refuses(falls, {"a.col_indices[3] is 1 but the one before, in the same row, is 3", "sorted"});
  const SparseModel twice = with(csr_model(), [](SparseModel& m) { m.minor[3] = 0; });
  refuses(twice, {"a.col_indices[2] and [3] are both 0, in row 2", "no position has two"});
  refuses(with(csc_model(), [](SparseModel& m) { m.minor[1] = 0; }), {"in column 0"});
  // Not adjacent.
  const SparseModel apart = with(csr_model(), [](SparseModel& m) {
    m.minor = {0, 2, 3, 1, 3};
    m.flags = TNR_SPARSE_UNIQUE;
  });
  refuses(apart, {"a.col_indices[2] and [4] are both 3, in row 2"});
  refuses(with(coo_model(), [](SparseModel& m) { m.major = {0, 2, 1, 2, 2}; }),
          {"a.row_indices[2] is 1 but the one before is 2", "sorted"});
  refuses(with(coo_model(), [](SparseModel& m) { m.minor = {0, 2, 1, 0, 3}; }),
          {"a.col_indices[3] is 0", "in the same row, is 1"});
  refuses(with(coo_model(), [](SparseModel& m) { m.minor = {0, 2, 1, 1, 3}; }),
          {"a.col_indices[2] and [3] are both 1, in row 2"});
  refuses(with(coo_model(),
               [](SparseModel& m) {
                 m.minor = {3, 1, 0, 3, 1};
                 m.major = {2, 1, 0, 2, 0};
                 m.flags = TNR_SPARSE_UNIQUE;
               }),
          {"a.col_indices[0] and [3] are both 3, in row 2"});
  // Without flags these are no mistakes.
  for (SparseModel model : {falls, twice, apart}) {
    model.flags = 0;
    SparseArrays arrays(model, TNR_DTYPE_I32);
    check(arrays.view());
  }
  SparseModel sorted = twice;
  sorted.flags = TNR_SPARSE_SORTED;
  SparseArrays arrays(sorted, TNR_DTYPE_I32);
  check(arrays.view());
}

// ---- the kernels against the reference implementation ----

std::string answer(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.message();
  }
  return "right";
}

// A matrix with everything right, and sometimes one number changed.
SparseModel random_model(std::mt19937_64& random) {
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
  };
  SparseModel model;
  model.format = static_cast<tnr_sparse_format>(1 + below(3));
  model.flags = static_cast<std::uint32_t>(below(4));
  model.rows = 1 + below(20);
  model.cols = 1 + below(40);
  const bool is_csc = model.format == TNR_SPARSE_FORMAT_CSC;
  const std::int64_t majors = is_csc ? model.cols : model.rows;
  const std::int64_t minors = is_csc ? model.rows : model.cols;
  const std::int64_t density = 1 + below(3);
  for (std::int64_t row = 0; row < majors; ++row) {
    if (model.format != TNR_SPARSE_FORMAT_COO) {
      model.major.push_back(static_cast<std::int64_t>(model.minor.size()));
    }
    for (std::int64_t col = 0; col < minors; ++col) {
      if (below(4) >= density) continue;
      if (model.format == TNR_SPARSE_FORMAT_COO) model.major.push_back(row);
      model.minor.push_back(col);
    }
  }
  const auto count = static_cast<std::int64_t>(model.minor.size());
  if (model.format != TNR_SPARSE_FORMAT_COO) model.major.push_back(count);
  model.values.assign(model.minor.size(), 1.0f);
  Indices& spoilt = below(2) == 0 ? model.major : model.minor;
  if (!spoilt.empty() && below(4) != 0) {
    std::int64_t& number = spoilt[random() % spoilt.size()];
    const std::int64_t wrong[] = {number - 1, number + 1, -1,       count,
                                  count + 1,  INT32_MAX,  INT32_MIN};
    number = wrong[random() % std::size(wrong)];
  }
  return model;
}

TEST(SparseCheck, KernelsAgreeWithTheirTwin) {
  std::mt19937_64 random(5);
  int right_count = 0;
  constexpr int kRounds = 4000;
  for (int round = 0; round < kRounds; ++round) {
    const SparseModel model = random_model(random);
    const tnr_dtype dtype = kIndexDtypes[round % 2];
    const RowExtent rows = random() % 2 == 0 ? RowExtent::kWhole : RowExtent::kRange;
    SparseArrays arrays(model, dtype);
    const std::string fast = answer([&] { check_entries(arrays.view(), rows, "a"); });
    const std::string plain = answer([&] { check_entries_stepwise(arrays.view(), rows, "a"); });
    ASSERT_EQ(fast, plain) << "format " << model.format << ", flags " << model.flags;
    right_count += fast == "right" ? 1 : 0;
  }
  EXPECT_GT(right_count, kRounds / 8);
  EXPECT_LT(right_count, kRounds / 2);
}

// Each position of arrays of each length, so that no vector and no rest of one is left out.
TEST(SparseCheck, KernelsSeeEveryPosition) {
  for (const tnr_dtype dtype : kIndexDtypes) {
    for (std::int64_t count = 1; count < 100; ++count) {
      SparseModel model{
          .format = TNR_SPARSE_FORMAT_CSR, .rows = 1, .cols = 1000, .major = {0, count}};
      for (std::int64_t i = 0; i < count; ++i) model.minor.push_back(3 * i + 1);
      model.values.assign(model.minor.size(), 0.0f);
      model.flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
      for (std::int64_t at = 0; at < count; ++at) {
        SparseModel spoilt = model;
        std::int64_t& number = spoilt.minor[static_cast<std::size_t>(at)];
        number = 1000;
        SparseArrays above(spoilt, dtype);
        ASSERT_NE(answer([&] { check_entries(above.view(), RowExtent::kWhole, "a"); }), "right");
        if (at == 0) continue;
        number = 3 * at - 2;  // the one before
        SparseArrays equal(spoilt, dtype);
        ASSERT_NE(answer([&] { check_entries(equal.view(), RowExtent::kWhole, "a"); }), "right");
        equal.view().flags = TNR_SPARSE_SORTED;
        ASSERT_EQ(answer([&] { check_entries(equal.view(), RowExtent::kWhole, "a"); }), "right");
      }
    }
  }
}

TEST(SparseCheck, LimitsBeyondTheIndexTypeAreNoLimits) {
  const kernels::IndexChecks& narrow = kernels::index_check_kernels()[0];
  const kernels::IndexChecks& wide = kernels::index_check_kernels()[1];
  const std::int32_t i32[] = {0, INT32_MAX};
  const std::int32_t negative[] = {0, INT32_MIN};
  const std::int64_t i64[] = {INT64_MAX - 1, std::int64_t{1} << 40};
  const auto bytes = [](const auto& numbers) {
    return reinterpret_cast<const kernels::Byte*>(numbers);
  };
  for (const std::int64_t limit : {std::int64_t{1} << 31, std::int64_t{1} << 40, INT64_MAX}) {
    EXPECT_TRUE(narrow.are_below(bytes(i32), 2, limit));
    EXPECT_FALSE(narrow.are_below(bytes(negative), 2, limit));
  }
  EXPECT_FALSE(narrow.are_below(bytes(i32), 2, INT32_MAX));
  EXPECT_TRUE(wide.are_below(bytes(i64), 2, INT64_MAX));
  EXPECT_FALSE(wide.are_below(bytes(i64), 2, INT64_MAX - 1));
  EXPECT_TRUE(narrow.are_below(nullptr, 0, 0));
  EXPECT_FALSE(narrow.are_below(bytes(i32), 1, 0));
}

// More than a part of the kernels' counters: 65536 of them.
TEST(SparseCheck, LongRowsCountTheirFalls) {
  constexpr std::int64_t kCount = 200'000;
  for (const tnr_dtype dtype : kIndexDtypes) {
    SparseModel model{.format = TNR_SPARSE_FORMAT_CSR, .rows = kCount, .cols = 3};
    for (std::int64_t row = 0; row <= kCount; ++row) model.major.push_back(row);
    for (std::int64_t row = 0; row < kCount; ++row) model.minor.push_back(2 - row % 3);
    model.values.assign(kCount, 0.0f);
    model.flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
    SparseArrays arrays(model, dtype);
    EXPECT_EQ(answer([&] { check_entries(arrays.view(), RowExtent::kWhole, "a"); }), "right");
    model.major[kCount - 1] = kCount - 2;
    SparseArrays spoilt(model, dtype);
    EXPECT_NE(answer([&] { check_entries(spoilt.view(), RowExtent::kWhole, "a"); }), "right");
  }
}

}  // namespace
}  // namespace tenure::test
