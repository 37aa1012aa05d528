// SORTED and UNIQUE of what operations make: true wherever they are set, as a look at every entry
// says, and set wherever the operation promises it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "dense_model.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/index_array.hpp"
#include "sparse_arrays.hpp"
#include "tenure/sparse.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

constexpr std::uint32_t kSorted = TNR_SPARSE_SORTED;
constexpr std::uint32_t kUnique = TNR_SPARSE_UNIQUE;
constexpr std::uint32_t kCoalesced = kSorted | kUnique;

// The flags that are true of a view's entries, by comparing all of them.
std::uint32_t truth_of(const tnr_sparse_view& view) {
  using Place = std::pair<std::int64_t, std::int64_t>;
  std::vector<Place> places;
  if (view.format == TNR_SPARSE_FORMAT_COO) {
    for (std::int64_t k = 0; k < view.minor.shape[0]; ++k) {
      places.emplace_back(index_at(view.major, k), index_at(view.minor, k));
    }
  } else {
    for (std::int64_t row = 0; row < major_count(view); ++row) {
      for (std::int64_t k = index_at(view.major, row); k < index_at(view.major, row + 1); ++k) {
        places.emplace_back(row, index_at(view.minor, k));
      }
    }
  }
  const bool is_sorted = std::is_sorted(places.begin(), places.end());
  const bool is_unique = std::set<Place>(places.begin(), places.end()).size() == places.size();
  return (is_sorted ? kSorted : 0u) | (is_unique ? kUnique : 0u);
}

// Checks the flags of a result: true, and those promised of an operand that claims `claimed`.
void expect_order(const std::string& what, std::uint32_t claimed, std::uint32_t promised,
                  const std::function<SparseToken()>& make) {
  SparseToken token = 0;
  try {
    token = make();
  } catch (const Error& error) {
    EXPECT_NE(error.status(), TNR_STATUS_INTERNAL) << what << ": " << error.message();
    return;
  }
  const OwnMatrix made(token);
  const std::uint32_t flags = made.view().flags;
  EXPECT_EQ(flags & ~truth_of(made.view()), 0u)
      << what << " of entries with flags " << claimed << " says more than is true: " << flags;
  EXPECT_EQ(promised & ~flags, 0u) << what << " of entries with flags " << claimed
                                   << " does not say what it promises: " << flags;
}

constexpr std::uint32_t kKinds[] = {0, kSorted, kUnique, kCoalesced};

// Entries that are as `kind` says, and perhaps no more.
SparseModel random_model(tnr_sparse_format format, std::uint32_t kind, std::int64_t rows,
                         std::int64_t cols, std::int64_t count, Random& random) {
  using Place = std::pair<std::int64_t, std::int64_t>;  // as the format is compressed
  const bool is_csc = format == TNR_SPARSE_FORMAT_CSC;
  const bool is_bsr = format == TNR_SPARSE_FORMAT_BSR;
  const std::int64_t majors = is_csc ? cols : is_bsr ? rows / 2 : rows;
  const std::int64_t minors = is_csc ? rows : is_bsr ? cols / 2 : cols;
  const auto below = [&](std::int64_t extent) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent));
  };
  std::vector<Place> places;
  for (std::int64_t k = 0; k < count; ++k) {
    const Place place = {below(majors), below(minors)};
    places.push_back(place);
    if (below(4) == 0) places.push_back(place);
  }
  if ((kind & kUnique) != 0) {
    const std::set<Place> distinct(places.begin(), places.end());
    places.assign(distinct.begin(), distinct.end());
    std::shuffle(places.begin(), places.end(), random);
  }
  if ((kind & kSorted) != 0) std::sort(places.begin(), places.end());
  SparseModel model{.format = format, .rows = rows, .cols = cols};
  if (is_bsr) model.block_rows = model.block_cols = 2;
  if (format == TNR_SPARSE_FORMAT_COO) {
    for (const Place& place : places) model.major.push_back(place.first);
  } else {
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.first < b.first; });
    model.major.assign(static_cast<std::size_t>(majors) + 1, 0);
    for (const Place& place : places) ++model.major[static_cast<std::size_t>(place.first) + 1];
    for (std::size_t row = 1; row < model.major.size(); ++row) {
      model.major[row] += model.major[row - 1];
    }
  }
  for (const Place& place : places) {
    model.minor.push_back(place.second);
    for (std::int64_t i = 0; i < model.block_rows * model.block_cols; ++i) {
      model.values.push_back(static_cast<float>(below(7)) - 3.0f);
    }
  }
  return model;
}

void expect_orders(const Context& context, const tnr_sparse_view& a, std::uint32_t claimed,
                   Random& random) {
  const bool is_sorted = (claimed & kSorted) != 0;
  const std::uint32_t unique = claimed & kUnique;
  for (const tnr_sparse_format to : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                     TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR}) {
    for (const std::uint32_t sort : {std::uint32_t{0}, std::uint32_t{TNR_CONVERT_SORT}}) {
      SparseOptions options = options_of(to, sort);
      if (to == TNR_SPARSE_FORMAT_BSR) options.block_rows = options.block_cols = 2;
      const bool is_kept = to == a.format && is_sorted;
      const bool is_exchanged =
          (a.format == TNR_SPARSE_FORMAT_CSR && to == TNR_SPARSE_FORMAT_CSC) ||
          (a.format == TNR_SPARSE_FORMAT_CSC && to == TNR_SPARSE_FORMAT_CSR);
      const std::uint32_t promised = unique | (sort != 0 || is_kept || is_exchanged ? kSorted : 0u);
      expect_order("convert " + std::to_string(a.format) + " to " + std::to_string(to) +
                       (sort != 0 ? ", sorted" : ""),
                   claimed, promised, [&] { return sparse_convert(context, a, options); });
    }
  }
  expect_order("coalesce", claimed, kCoalesced,
               [&] { return sparse_coalesce(context, a, TNR_SPARSE_COMBINE_SUM); });
  SparseOptions above{};
  above.predicate = TNR_SPARSE_PREDICATE_GREATER;
  above.threshold = scalar_of(TNR_DTYPE_F64, 0.0);
  expect_order("prune", claimed, claimed, [&] { return sparse_prune(context, a, above); });
  expect_order("top k", claimed, claimed,
               [&] { return sparse_top_k(context, a, 2, TNR_SPARSE_ORDER_VALUE); });
  expect_order("slice", claimed, claimed, [&] {
    return sparse_slice(context, a, a.rows / 4, a.rows / 2, a.cols / 4, a.cols / 2);
  });
  const auto select = [&](const char* what, const Indices& rows, const Indices& cols,
                          std::uint32_t promised) {
    const tnr_view row_list =
        flat_view(rows.data(), TNR_DTYPE_I64, {static_cast<std::int64_t>(rows.size())});
    const tnr_view col_list =
        flat_view(cols.data(), TNR_DTYPE_I64, {static_cast<std::int64_t>(cols.size())});
    // Rows of CSC are its minor indices, so that its lists are exchanged.
    const bool is_csc = a.format == TNR_SPARSE_FORMAT_CSC;
    const tnr_view* const majors = rows.empty() ? nullptr : &row_list;
    const tnr_view* const minors = cols.empty() ? nullptr : &col_list;
    expect_order(what, claimed, promised, [&] {
      return sparse_select(context, a, is_csc ? minors : majors, is_csc ? majors : minors);
    });
  };
  select("select rows", {3, 1, 1, 0}, {}, claimed);
  select("select rising columns", {}, {0, 2, 5}, claimed);
  select("select columns that never fall", {}, {0, 0, 1, 1, 1, 4},
         unique | (unique != 0 ? claimed : 0u));
  select("select columns that fall", {2, 0}, {4, 1, 1, 0, 3}, unique);
  Indices list;
  for (int i = 0; i < 9; ++i) list.push_back(static_cast<std::int64_t>(random() % 6));
  select("select any columns", {}, list, unique);
  std::sort(list.begin(), list.end());
  select("select columns in order", {}, list, unique);
  expect_order("add", claimed, claimed == kCoalesced ? kCoalesced : 0u,
               [&] { return sparse_binary(context, TNR_BINARY_OP_ADD, a, a); });
  expect_order("mul", claimed, claimed == kCoalesced ? kCoalesced : 0u,
               [&] { return sparse_binary(context, TNR_BINARY_OP_MUL, a, a); });
  expect_order("product", claimed, kCoalesced, [&] { return sparse_product(context, a, a); });
  expect_order("masked product", claimed, claimed,
               [&] { return sparse_product_masked(context, a, a, a); });
}

// The flags of an operand state nothing, a part of its true order, or all of it.
TEST(SparseOrder, OfEveryResultIsTrueAndAsPromised) {
  Random random(29);
  for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                         TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR}) {
    for (const std::uint32_t kind : kKinds) {
      for (int turn = 0; turn < 12; ++turn) {
        const std::int64_t extent = turn % 3 == 2 ? 40 : 6;  // square, for the products
        const std::int64_t count = static_cast<std::int64_t>(random() % 40);
        const tnr_dtype index_dtype = turn % 2 == 0 ? TNR_DTYPE_I32 : TNR_DTYPE_I64;
        SparseArrays arrays(random_model(format, kind, extent, extent, count, random), index_dtype);
        const std::uint32_t truth = truth_of(arrays.view());
        for (const std::uint32_t claimed : {std::uint32_t{0}, kSorted, kUnique, kCoalesced}) {
          if ((claimed & ~truth) != 0) continue;
          arrays.view().flags = claimed;
          expect_orders(kDefaultContext, arrays.view(), claimed, random);
          if (turn == 0) expect_orders(TestContext(3), arrays.view(), claimed, random);
        }
      }
    }
  }
}

// Entries of one column twice, and that column listed twice: 0 0 1 1 become 0 1 0 1 2 2, in each
// row.
TEST(SparseOrder, OfColumnsListedTwiceNeedsUniqueEntries) {
  SparseArrays a({.rows = 1,
                  .cols = 2,
                  .major = {0, 4},
                  .minor = {0, 0, 1, 1},
                  .values = {1, 2, 3, 4},
                  .flags = TNR_SPARSE_SORTED},
                 TNR_DTYPE_I32);
  const Indices cols = {0, 0, 1};
  const tnr_view list = flat_view(cols.data(), TNR_DTYPE_I64, {3});
  const Returned made(sparse_select(kDefaultContext, a.view(), nullptr, &list));
  EXPECT_EQ(made.view().flags, 0u);
  const Returned sums(sparse_coalesce(kDefaultContext, made.view(), TNR_SPARSE_COMBINE_SUM));
  const auto* const values = static_cast<const float*>(sums.view().values.data);
  ASSERT_EQ(sums.view().minor.shape[0], 3);
  EXPECT_EQ(std::vector<float>(values, values + 3), (std::vector<float>{3, 3, 7}));
}

// Blocks that are sorted and not said to be, as elements that have to be.
TEST(SparseOrder, OfBlocksIsSaidWhereItIsAskedFor) {
  for (const std::uint32_t claimed : {std::uint32_t{0}, kSorted, kUnique, kCoalesced}) {
    SparseModel model = bsr_model();
    model.flags = claimed;
    SparseArrays a(model, TNR_DTYPE_I32);
    const Returned made(sparse_convert(kDefaultContext, a.view(),
                                       options_of(TNR_SPARSE_FORMAT_CSR, TNR_CONVERT_SORT)));
    EXPECT_EQ(made.view().flags, kSorted | (claimed & kUnique)) << claimed;
  }
}

}  // namespace
}  // namespace tenure::test
