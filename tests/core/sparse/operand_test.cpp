// Sparse operands: the ones that are trusted, and the checks of the others.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "expect_error.hpp"
#include "sparse/operand.hpp"
#include "sparse_arrays.hpp"
#include "tenure/sparse_voucher.hpp"

namespace tenure::test {
namespace {

using Runs = std::vector<std::pair<std::int64_t, std::int64_t>>;

Runs runs_of(const SparseOperand& operand, std::int64_t begin, std::int64_t end) {
  Runs runs;
  operand.for_each_run(
      begin, end, [&](std::int64_t row, std::int64_t row_end) { runs.emplace_back(row, row_end); });
  return runs;
}

// Rows of counts[row] entries, all with the same indices 0, 1, ...
SparseModel rows_of(const std::vector<std::int64_t>& counts, std::int64_t cols) {
  SparseModel model{.rows = static_cast<std::int64_t>(counts.size()), .cols = cols, .major = {0}};
  for (const std::int64_t count : counts) {
    for (std::int64_t col = 0; col < count; ++col) model.minor.push_back(col);
    model.major.push_back(static_cast<std::int64_t>(model.minor.size()));
  }
  model.values.assign(model.minor.size(), 0.0f);
  return model;
}

TEST(SparseOperand, LentRowsComeInRunsThatFitTheCache) {
  for (const tnr_dtype dtype : kIndexDtypes) {
    SparseArrays arrays(rows_of({4000, 96, 0, 1, 5000, 7, 9000, 9000}, 9000), dtype);
    const SparseOperand operand(arrays.view(), "a");
    EXPECT_FALSE(operand.is_checked());
    EXPECT_EQ(runs_of(operand, 0, 8), (Runs{{0, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}}));
    EXPECT_EQ(runs_of(operand, 1, 4), (Runs{{1, 4}}));
    EXPECT_EQ(runs_of(operand, 3, 3), Runs{});
    operand.require_valid();
  }
}

TEST(SparseOperand, RunsStopAtWhatIsWrong) {
  for (const tnr_dtype dtype : kIndexDtypes) {
    for (std::int64_t wrong = 0; wrong < 30; ++wrong) {
      SparseModel model = rows_of(std::vector<std::int64_t>(30, 1000), 1000);
      model.minor[static_cast<std::size_t>(wrong * 1000 + 500)] = 1000;
      SparseArrays arrays(model, dtype);
      const SparseOperand operand(arrays.view(), "a");
      for (const auto& [begin, end] : runs_of(operand, 0, 30)) EXPECT_LE(end, wrong) << begin;
      expect_error(TNR_STATUS_INVALID_ARGUMENT,
                   {"a.col_indices[" + std::to_string(wrong * 1000 + 500) + "] is 1000"},
                   [&] { operand.require_valid(); });
      model.minor[static_cast<std::size_t>(wrong * 1000 + 500)] = 0;
      model.major[static_cast<std::size_t>(wrong)] = wrong == 0 ? -1 : model.major.back() + 1;
      SparseArrays offsets(model, dtype);
      if (wrong == 0) {  // which is seen at once: it is where the entries begin
        expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.row_offsets[0] is -1"},
                     [&] { SparseOperand(offsets.view(), "a"); });
        continue;
      }
      const SparseOperand other(offsets.view(), "a");
      for (const auto& [begin, end] : runs_of(other, 0, 30)) EXPECT_LT(end, wrong + 1) << begin;
      expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.row_offsets[" + std::to_string(wrong) + "]"},
                   [&] { other.require_valid(); });
    }
  }
}

TEST(SparseOperand, EntriesOfARangeLieInTheArrays) {
  for (const tnr_dtype dtype : kIndexDtypes) {
    SparseModel model = csr_model();
    model.major = {1, 2, 2, 4};
    SparseArrays some(model, dtype);
    const SparseOperand range(some.view(), "a");
    EXPECT_EQ(range.entries().first, 1);
    EXPECT_EQ(range.entry_count(), 3);
    for (const Indices& wrong : {Indices{1, 2, 2, 6}, Indices{-1, 2, 2, 4}, Indices{4, 4, 4, 1}}) {
      model.major = wrong;
      SparseArrays arrays(model, dtype);
      expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.row_offsets["},
                   [&] { SparseOperand(arrays.view(), "a"); });
    }
  }
}

TEST(SparseOperand, CoordinatesComeInRunsToo) {
  SparseModel model{.format = TNR_SPARSE_FORMAT_COO, .rows = 10, .cols = 20};
  for (std::int64_t i = 0; i < 10'000; ++i) {
    model.major.push_back(i % 10);
    model.minor.push_back(i % 20);
  }
  model.values.assign(model.minor.size(), 0.0f);
  SparseArrays arrays(model, TNR_DTYPE_I64);
  const SparseOperand operand(arrays.view(), "a");
  EXPECT_EQ(runs_of(operand, 0, 10'000), (Runs{{0, 4096}, {4096, 8192}, {8192, 10'000}}));
  operand.require_valid();
  for (const bool is_row : {true, false}) {
    SparseModel spoilt = model;
    (is_row ? spoilt.major : spoilt.minor)[5000] = -3;
    SparseArrays wrong(spoilt, TNR_DTYPE_I32);
    const SparseOperand other(wrong.view(), "a");
    EXPECT_EQ(runs_of(other, 0, 10'000), (Runs{{0, 4096}}));
    expect_error(TNR_STATUS_INVALID_ARGUMENT,
                 {is_row ? "row_indices[5000] is -3" : "col_indices[5000]"},
                 [&] { other.require_valid(); });
  }
}

TEST(SparseOperand, CheckAllChecksAtOnceAndBelievesFlags) {
  SparseModel model = csr_model();
  std::swap(model.minor[2], model.minor[4]);  // which SORTED denies
  SparseArrays arrays(model, TNR_DTYPE_I32);
  SparseOperand operand(arrays.view(), "a");
  operand.check_all();
  EXPECT_TRUE(operand.is_checked());
  EXPECT_EQ(runs_of(operand, 0, 3), (Runs{{0, 3}}));
  model.minor[2] = 4;
  SparseArrays wrong(model, TNR_DTYPE_I32);
  SparseOperand other(wrong.view(), "b");
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.col_indices[2] is 4"}, [&] { other.check_all(); });
}

TEST(SparseOperand, ViewsCheckedByTheRustCrateAreTrusted) {
  SparseArrays arrays(csr_model(), TNR_DTYPE_I32);
  arrays.view().owner = sparse_voucher();
  EXPECT_TRUE(SparseOperand(arrays.view(), "a").is_checked());
  EXPECT_EQ(sparse_voucher(), arrays.view().owner);
  // Nothing that is written into the fields that C knows of is as good.
  for (unsigned bit = 0; bit < 64; ++bit) {
    arrays.view().owner = sparse_voucher() ^ SparseToken { 1 } << bit;
    expect_error(TNR_STATUS_STALE_VIEW, {"a.owner"}, [&] { SparseOperand(arrays.view(), "a"); });
  }
  arrays.view().owner = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    arrays.view().flags = 1u << bit;
    if (bit < 2) {
      EXPECT_FALSE(SparseOperand(arrays.view(), "a").is_checked());
      continue;
    }
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.flags is 0x"},
                 [&] { SparseOperand(arrays.view(), "a"); });
  }
}

// The owner of the model's parts, and the handle over them.
struct Held {
  explicit Held(const SparseModel& model) : arrays(model, TNR_DTYPE_I32) {
    for (tnr_view* part : {&arrays.view().major, &arrays.view().minor, &arrays.view().values}) {
      part->owner = blob_copy(kDefaultContext, part->base, part->size_bytes);
      part->base = part->data = blob_memory(part->owner).data;
    }
    token = sparse_create(arrays.view());
    view = sparse_view(token);
  }
  ~Held() {
    sparse_release(token);
    for (const tnr_view* part : {&view.major, &view.minor, &view.values}) blob_release(part->owner);
  }
  bool trusts(const tnr_sparse_view& other) const { return SparseOperand(other, "a").is_checked(); }

  SparseArrays arrays;
  SparseToken token;
  tnr_sparse_view view;
};

tnr_sparse_view row_range(tnr_sparse_view view, std::int64_t begin, std::int64_t end) {
  view.rows = end - begin;
  view.major.data = static_cast<const std::int32_t*>(view.major.data) + begin;
  view.major.shape[0] = end - begin + 1;
  return view;
}

TEST(SparseOperand, MatrixThatIsHeldIsTrustedWithItsRowRanges) {
  const Held csr(csr_model());
  EXPECT_TRUE(csr.trusts(csr.view));
  for (std::int64_t begin = 0; begin <= 3; ++begin) {
    for (std::int64_t end = begin; end <= 3; ++end) {
      const tnr_sparse_view range = row_range(csr.view, begin, end);
      EXPECT_TRUE(csr.trusts(range));
      const SparseOperand operand(range, "a");
      EXPECT_EQ(operand.entries().first, csr_model().major[static_cast<std::size_t>(begin)]);
      EXPECT_EQ(operand.entries().last, csr_model().major[static_cast<std::size_t>(end)]);
    }
  }
  for (const SparseModel& model : {coo_model(), csc_model(), bsr_model()}) {
    const Held held(model);
    EXPECT_TRUE(held.trusts(held.view));
  }
}

TEST(SparseOperand, OnlyWhatWasCheckedIsTrusted) {
  const Held csr(csr_model());
  const auto trusts = [&](auto change) {
    tnr_sparse_view view = csr.view;
    change(view);
    return csr.trusts(view);
  };
  const Held other(csr_model());
  EXPECT_FALSE(trusts([](auto& view) { view.owner = 0; }));
  EXPECT_FALSE(trusts([&](auto& view) { view.owner = other.token; }));
  EXPECT_FALSE(trusts([&](auto& view) { view.major = other.view.major; }));
  EXPECT_FALSE(trusts([&](auto& view) { view.minor = other.view.minor; }));
  EXPECT_FALSE(trusts([](auto& view) { view.cols = 3; }));
  // The number of offsets is also that of the CSC matrix.
  EXPECT_FALSE(trusts([](auto& view) {
    view.format = TNR_SPARSE_FORMAT_CSC;
    view.rows = 4;
    view.cols = 3;
  }));
  // Other values over the same pattern.
  EXPECT_TRUE(trusts([&](auto& view) { view.values = other.view.values; }));
  const Held plain([] {
    SparseModel model = csr_model();
    model.flags = 0;
    return model;
  }());
  tnr_sparse_view claiming = plain.view;
  claiming.flags = TNR_SPARSE_SORTED;
  EXPECT_TRUE(plain.trusts(plain.view));
  EXPECT_FALSE(plain.trusts(claiming));
  // Fewer entries than the offsets were checked for.
  tnr_sparse_view shorter = csr.view;
  shorter.minor.shape[0] = shorter.values.shape[0] = 4;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.row_offsets[3] is 5"},
               [&] { SparseOperand(shorter, "a"); });
  const Held coo(coo_model());
  tnr_sparse_view part = coo.view;
  part.major.shape[0] = part.minor.shape[0] = part.values.shape[0] = 3;
  EXPECT_FALSE(coo.trusts(part));
  tnr_sparse_view narrow = coo.view;
  narrow.rows = 2;
  EXPECT_FALSE(coo.trusts(narrow));
}

TEST(SparseOperand, OwnersArePinnedAndWritten) {
  const Held held(csr_model());
  {
    const SparseOperand operand(held.view, "a");
    EXPECT_EQ(blob_describe(held.view.minor.owner).pin_count, 1u);
    EXPECT_EQ(blob_describe(held.view.values.owner).pin_count, 1u);
  }
  EXPECT_EQ(blob_describe(held.view.minor.owner).pin_count, 0u);
  const tnr_sparse_view_mut writable = {held.view};
  EXPECT_TRUE(SparseOperand(writable, "out").is_checked());
  SparseArrays lent(csr_model(), TNR_DTYPE_I32);
  tnr_sparse_view_mut shared = {lent.view()};
  tnr_view& values = shared.view.values;
  values.owner = blob_share(values.base, values.size_bytes, nullptr, nullptr);
  SparseOperand(shared.view, "a").require_valid();
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.values is written", "shared"},
               [&] { SparseOperand(shared, "out"); });
  // Values that share bytes with the indices are no mistake where no call writes them.
  tnr_sparse_view_mut overlapping = {lent.view()};
  overlapping.view.values = overlapping.view.minor;
  SparseOperand(overlapping.view, "a").require_valid();
  expect_error(TNR_STATUS_ALIASED, {"out.values shares bytes with col_indices"},
               [&] { SparseOperand(overlapping, "out"); });
  blob_release(values.owner);
  expect_error(TNR_STATUS_STALE_VIEW, {"a.values.owner", "released"},
               [&] { SparseOperand(shared.view, "a"); });
}

}  // namespace
}  // namespace tenure::test
