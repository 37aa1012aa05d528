// Compares selected rows, columns and blocks of sparse matrices with a loop over their entries.
#include <gtest/gtest.h>

#include <numeric>
#include <optional>

#include "compressed_matrix.hpp"
#include "dense_model.hpp"
#include "expect_error.hpp"
#include "sparse/index_array.hpp"
#include "tenure/sparse.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

using Numbers = std::vector<std::int64_t>;

Numbers all(std::int64_t count) {
  Numbers numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  return numbers;
}

// The rows that are listed, whole.
template <class T, class I>
SparseContent gathered_of(const CompressedMatrix<T, I>& a, const Numbers& rows) {
  CompressedMatrix<T, I> result(static_cast<std::int64_t>(rows.size()), a.cols());
  for (const std::int64_t row : rows) {
    const auto at = static_cast<std::size_t>(row);
    for (auto k = static_cast<std::size_t>(a.offsets()[at]);
         k < static_cast<std::size_t>(a.offsets()[at + 1]); ++k) {
      result.add(a.indices()[k], a.values()[k]);
    }
    result.end_row();
  }
  return content_of(result.view());
}

// Row by row of `rows`; of each entry one for each time that its column is listed.
template <class T, class I>
SparseContent selection_of(const CompressedMatrix<T, I>& a, const Numbers& rows,
                           const Numbers& cols) {
  CompressedMatrix<T, I> result(static_cast<std::int64_t>(rows.size()),
                                static_cast<std::int64_t>(cols.size()));
  for (const std::int64_t row : rows) {
    const auto at = static_cast<std::size_t>(row);
    for (auto k = static_cast<std::size_t>(a.offsets()[at]);
         k < static_cast<std::size_t>(a.offsets()[at + 1]); ++k) {
      for (std::size_t place = 0; place < cols.size(); ++place) {
        if (cols[place] == a.indices()[k]) {
          result.add(static_cast<std::int64_t>(place), a.values()[k]);
        }
      }
    }
    result.end_row();
  }
  return content_of(result.view());
}

Numbers random_numbers(std::int64_t extent, Random& random) {
  Numbers numbers;
  if (extent == 0) return numbers;
  for (std::uint64_t i = random() % 40; i > 0; --i) {
    numbers.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent)));
  }
  if (random() % 2 == 0) std::sort(numbers.begin(), numbers.end());
  if (random() % 2 == 0) {
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }
  return numbers;
}

// A list of numbers at every second element of an array of some integer dtype, perhaps from the
// last element backwards.
class List {
 public:
  List(const Numbers& numbers, Random& random) : wide_(numbers.size() * 2 + 1, -5) {
    const bool falls = random() % 2 == 0;
    const bool is_narrow = random() % 2 == 0;
    narrow_.assign(wide_.size(), -5);
    const std::size_t count = numbers.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = 2 * (falls ? count - 1 - i : i);
      wide_[at] = numbers[i];
      narrow_[at] = static_cast<std::int32_t>(numbers[i]);
    }
    const auto shape = static_cast<std::int64_t>(count);
    const std::int64_t stride = falls ? -2 : 2;
    const auto first = static_cast<std::ptrdiff_t>(falls && count != 0 ? 2 * (count - 1) : 0);
    if (is_narrow) {
      view_ = flat_view(narrow_.data(), TNR_DTYPE_I32, {static_cast<std::int64_t>(narrow_.size())});
      view_.data = narrow_.data() + first;
    } else {
      view_ = flat_view(wide_.data(), TNR_DTYPE_I64, {static_cast<std::int64_t>(wide_.size())});
      view_.data = wide_.data() + first;
    }
    if (count == 0) view_.data = view_.base;
    view_.shape[0] = shape;
    view_.strides[0] = stride;
  }
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  [[nodiscard]] const tnr_view& view() const { return view_; }

 private:
  std::vector<std::int64_t> wide_;
  std::vector<std::int32_t> narrow_;
  tnr_view view_;
};

bool never_falls(const Numbers& numbers) { return std::is_sorted(numbers.begin(), numbers.end()); }

template <class T, class I>
void expect_selections() {
  Random random(3);
  const TestContext two(2);
  for (const auto& [rows, cols] : {std::pair{0, 4}, {4, 0}, {1, 1}, {30, 50}, {60, 20}, {9, 900}}) {
    for (const RowShape& shape : kRowShapes) {
      const auto a = random_matrix<T, I>(shape, rows, cols, random);
      for (int round = 0; round < 4; ++round) {
        const bool has_rows = round % 2 == 0;
        const bool has_cols = round < 2;
        const Numbers row_numbers = has_rows ? random_numbers(rows, random) : all(rows);
        const Numbers col_numbers = has_cols ? random_numbers(cols, random) : all(cols);
        SCOPED_TRACE(testing::Message()
                     << rows << " by " << cols << ", " << shape.name << ", " << row_numbers.size()
                     << " rows, " << col_numbers.size() << " columns");
        const List row_list(row_numbers, random);
        const List col_list(col_numbers, random);
        const tnr_view* const row_view = has_rows ? &row_list.view() : nullptr;
        const tnr_view* const col_view = has_cols ? &col_list.view() : nullptr;
        const SparseContent expected = selection_of(a, row_numbers, col_numbers);
        const Returned result(sparse_select(two, a.view(shape.flags), row_view, col_view));
        EXPECT_TRUE(result.content() == expected);
        EXPECT_EQ(result.view().rows, static_cast<std::int64_t>(row_numbers.size()));
        EXPECT_EQ(result.view().cols, static_cast<std::int64_t>(col_numbers.size()));
        const std::uint32_t lost = never_falls(col_numbers) ? 0 : TNR_SPARSE_SORTED;
        EXPECT_EQ(result.view().flags, shape.flags & ~lost);
        // The transpose: rows are columns.
        const Returned transposed(
            sparse_select(two, a.view(shape.flags, TNR_SPARSE_FORMAT_CSC), col_view, row_view));
        EXPECT_TRUE(transposed.content() == expected);
        EXPECT_EQ(transposed.view().rows, static_cast<std::int64_t>(col_numbers.size()));
      }
    }
  }
}

TEST(SparseSelect, IsWhatALoopSelects) {
  expect_selections<float, std::int32_t>();
  expect_selections<double, std::int64_t>();
}

TEST(SparseSelect, BlocksAreWhatALoopSelects) {
  Random random(4);
  const TestContext two(2);
  constexpr std::int64_t kRows = 30;
  constexpr std::int64_t kCols = 50;
  const auto part = [](std::int64_t first, std::int64_t count) {
    Numbers numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
  };
  for (const RowShape& shape : kRowShapes) {
    const auto a = random_matrix<double, std::int32_t>(shape, kRows, kCols, random);
    constexpr std::int64_t kBlocks[][4] = {{0, 30, 0, 50}, {0, 0, 0, 0},   {30, 0, 50, 0},
                                           {3, 20, 0, 50}, {0, 30, 7, 31}, {29, 1, 49, 1},
                                           {5, 6, 20, 3}};
    for (const auto& [row, rows, col, cols] : kBlocks) {
      const SparseContent expected = selection_of(a, part(row, rows), part(col, cols));
      const Returned block(sparse_slice(two, a.view(shape.flags), row, rows, col, cols));
      EXPECT_TRUE(block.content() == expected) << shape.name << row << rows << col << cols;
      EXPECT_EQ(block.view().flags, shape.flags);
      const Returned transposed(
          sparse_slice(two, a.view(shape.flags, TNR_SPARSE_FORMAT_CSC), col, cols, row, rows));
      EXPECT_TRUE(transposed.content() == expected);
    }
  }
}

// Large enough to be shared among threads.
TEST(SparseSelect, OfManyRowsIsTheSameOnAnyThreads) {
  Random random(5);
  constexpr std::int64_t kSize = 900;
  const auto a = random_matrix<float, std::int32_t>(kRowShapes[6], kSize, kSize, random);
  Numbers cols = random_numbers(kSize, random);
  for (int i = 0; i < 60; ++i) cols.push_back(static_cast<std::int64_t>(random() % kSize));
  Numbers rows;
  for (int i = 0; i < 1000; ++i) rows.push_back(static_cast<std::int64_t>(random() % kSize));
  const List row_list(rows, random);
  const List col_list(cols, random);
  const SparseContent expected = selection_of(a, rows, cols);
  const SparseContent gathered_expected = gathered_of(a, rows);
  for (const std::uint32_t threads : {1u, 3u}) {
    const TestContext context(threads);
    const Returned result(
        sparse_select(context, a.view(kCoalesced), &row_list.view(), &col_list.view()));
    EXPECT_TRUE(result.content() == expected);
    const Returned gathered(sparse_select(context, a.view(kCoalesced), &row_list.view(), nullptr));
    EXPECT_TRUE(gathered.content() == gathered_expected);
  }
}

// Rows that are searched for the first and the last column, and lists that name each column once.
TEST(SparseSelect, OfLongRows) {
  Random random(7);
  const auto a = random_matrix<float, std::int32_t>(kRowShapes[6], 40, 900, random);
  Numbers once = all(900);
  std::shuffle(once.begin(), once.end(), random);
  once.resize(500);
  const List list(once, random);
  const Returned listed(sparse_select(kDefaultContext, a.view(kCoalesced), nullptr, &list.view()));
  EXPECT_TRUE(listed.content() == selection_of(a, all(40), once));
  for (const std::int64_t first : {0, 1, 450, 899}) {
    for (const std::int64_t count : {0, 1, 300}) {
      if (first + count > 900) continue;
      const Returned block(sparse_slice(kDefaultContext, a.view(kCoalesced), 0, 40, first, count));
      Numbers cols = all(count);
      for (std::int64_t& col : cols) col += first;
      EXPECT_TRUE(block.content() == selection_of(a, all(40), cols)) << first << ' ' << count;
    }
  }
}

// A matrix that the library returns is believed, so a wrong flag must not make a wrong index.
TEST(SparseSelect, FlagsThatAreWrongMakeNoIndexThatIsOutOfRange) {
  Random random(8);
  auto a = random_matrix<float, std::int32_t>(kRowShapes[6], 20, 300, random);
  std::shuffle(a.indices().begin(), a.indices().end(), random);
  for (std::int64_t first = 0; first < 300; first += 23) {
    for (const std::int64_t count : {0, 1}) {
      const SparseToken block =
          sparse_slice(kDefaultContext, a.view(kCoalesced), 0, 20, first, count);
      const tnr_sparse_view view = sparse_view(block);
      EXPECT_TRUE(count != 0 || view.minor.shape[0] == 0);
      for (std::int64_t k = 0; k < view.minor.shape[0]; ++k) EXPECT_EQ(index_at(view.minor, k), 0);
      sparse_release(block);
    }
  }
}

// Far more columns than entries: no table of them.
TEST(SparseSelect, OfMoreColumnsThanMemoryHas) {
  constexpr std::int64_t kMost = INT64_MAX - 1;
  CompressedMatrix<double, std::int64_t> a(2, kMost);
  for (const std::int64_t col : {std::int64_t{3}, kMost / 2, kMost - 1}) a.add(col, 2.0);
  a.end_row();
  a.add(kMost - 1, -1.0);
  a.end_row();
  Random random(6);
  const Numbers cols = {kMost - 1, 5, 3, kMost - 1};
  const std::vector<std::int64_t> listed = cols;
  const tnr_view list = flat_view(listed.data(), TNR_DTYPE_I64, {4});
  const Returned result(sparse_select(kDefaultContext, a.view(kCoalesced), nullptr, &list));
  EXPECT_TRUE(result.content() == selection_of(a, {0, 1}, cols));
  EXPECT_EQ(result.content().minor, (Indices{2, 0, 3, 0, 3}));
}

// Values of every width, as they are; a range of rows, whose first offset is not 0.
TEST(SparseSelect, TakesEveryWidthAndRangesOfRows) {
  const std::vector<std::int32_t> offsets = {0, 1, 3, 4};
  const std::vector<std::int32_t> columns = {1, 2, 0, 2};
  std::vector<unsigned char> bytes(4 * 16);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  const std::int64_t listed[] = {2, 0};
  const tnr_view list = flat_view(listed, TNR_DTYPE_I64, {2});
  for (const tnr_dtype dtype :
       {TNR_DTYPE_BOOL8, TNR_DTYPE_BF16, TNR_DTYPE_F32, TNR_DTYPE_I64, TNR_DTYPE_C128}) {
    CompressedMatrix<float, std::int32_t> shape(2, 3);
    tnr_sparse_view view = shape.view();
    view.rows = 2;
    view.major = flat_view(offsets.data() + 1, TNR_DTYPE_I32, {3});
    view.minor = flat_view(columns.data(), TNR_DTYPE_I32, {4});
    view.values = flat_view(bytes.data(), dtype, {4});
    const Returned result(sparse_select(kDefaultContext, view, nullptr, &list));
    const SparseContent content = result.content();
    EXPECT_EQ(content.major, (Indices{0, 2, 3}));
    EXPECT_EQ(content.minor, (Indices{0, 1, 0}));
    // A result's bool8 is 0 or 1, whatever was lent; other elements keep their bytes.
    const std::size_t width = element_size(dtype);
    std::vector<unsigned char> expected(bytes.begin() + static_cast<std::ptrdiff_t>(width),
                                        bytes.begin() + static_cast<std::ptrdiff_t>(4 * width));
    if (dtype == TNR_DTYPE_BOOL8) expected.assign(3, 1);
    EXPECT_TRUE(std::equal(content.values.begin(), content.values.end(), expected.begin()));
  }
}

TEST(SparseSelect, RefusesWhatIsNotThere) {
  Random random(5);
  auto a = random_matrix<float, std::int32_t>(kRowShapes[3], 4, 5, random);
  const auto select = [&](std::optional<std::vector<std::int32_t>> rows,
                          std::optional<std::vector<std::int32_t>> cols) {
    const auto view_of_list = [](const std::vector<std::int32_t>& list) {
      return flat_view(list.data(), TNR_DTYPE_I32, {static_cast<std::int64_t>(list.size())});
    };
    const tnr_view row_view = rows ? view_of_list(*rows) : tnr_view{};
    const tnr_view col_view = cols ? view_of_list(*cols) : tnr_view{};
    sparse_release(sparse_select(kDefaultContext, a.view(), rows ? &row_view : nullptr,
                                 cols ? &col_view : nullptr));
  };
  using List32 = std::vector<std::int32_t>;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"rows[2] is 4", "below a.rows, which is 4"},
               [&] { select(List32{0, 3, 4}, {}); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"cols[0] is -1", "below a.cols, which is 5"},
               [&] { select({}, List32{-1}); });
  const float numbers[2] = {0, 1};
  const tnr_view floats = flat_view(numbers, TNR_DTYPE_F32, {2});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"cols.dtype is f32 but must be i32 or i64"},
               [&] { sparse_select(kDefaultContext, a.view(), nullptr, &floats); });
  const std::int64_t square[4] = {0, 1, 2, 3};
  const tnr_view table = flat_view(square, TNR_DTYPE_I64, {2, 2});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"rows.rank is 2 but must be 1"},
               [&] { sparse_select(kDefaultContext, a.view(), &table, nullptr); });
  const auto slice = [&](std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols) {
    sparse_release(sparse_slice(kDefaultContext, a.view(), row, rows, col, cols));
  };
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"rows from 2 on, 3 of them", "a.rows, which is 4"},
               [&] { slice(2, 3, 0, 5); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"cols from -1 on"}, [&] { slice(0, 4, -1, 5); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"cols from 1 on"}, [&] { slice(0, 4, 1, INT64_MAX); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"rows from 1 on, -1"}, [&] { slice(1, -1, 0, 5); });
  tnr_sparse_view coordinates = a.view();
  coordinates.format = TNR_SPARSE_FORMAT_COO;
  coordinates.major = coordinates.minor;
  expect_error(TNR_STATUS_UNSUPPORTED, {"a.format is 1", "convert"},
               [&] { sparse_select(kDefaultContext, coordinates, nullptr, nullptr); });
  a.indices()[7] = 5;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.col_indices[7] is 5"},
               [&] { select({}, List32{0}); });
}

}  // namespace
