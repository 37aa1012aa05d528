// A flag may cost the answer, never an address: matrices that are falsely flagged as SORTED and
// UNIQUE, through everything that reads a flag. Results must have right offsets and indices, and no
// memory but the call's may be touched: the address sanitizer checks that.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "given_attributes.hpp"
#include "sparse/builder.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/packed/packed.hpp"
#include "sparse_functions.hpp"
#include "tenure/sparse.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

constexpr std::uint32_t kArrangements[] = {TNR_SPARSE_SORTED, TNR_SPARSE_UNIQUE,
                                           TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE};

// A matrix that the library has made, as its owner says, whose flags are a lie.
class Liar {
 public:
  Liar(const SparseModel& model, tnr_dtype index_dtype, std::uint32_t flags)
      : matrix_(make(SparseArrays(model, index_dtype).view(), flags)) {}

  [[nodiscard]] const tnr_sparse_view& view() const { return matrix_.view(); }

 private:
  static SparseToken make(const tnr_sparse_view& from, std::uint32_t flags) {
    SparseBuilder builder(kDefaultContext, {.format = from.format,
                                            .rows = from.rows,
                                            .cols = from.cols,
                                            .index_dtype = from.minor.dtype,
                                            .value_dtype = from.values.dtype});
    builder.allocate_entries(from.minor.shape[0]);
    const auto put = [](kernels::Byte* to, const tnr_view& part) {
      if (part.size_bytes != 0) std::memcpy(to, part.data, part.size_bytes);
    };
    put(builder.major(), from.major);
    put(builder.minor(), from.minor);
    put(builder.values(), from.values);
    return builder.finish(EntryOrder::said(flags));
  }

  OwnMatrix matrix_;
};

// Rows (CSC: columns) of `per_row` entries, at indices in no order, some of them twice.
SparseModel disorder(tnr_sparse_format format, std::int64_t rows, std::int64_t cols,
                     std::int64_t per_row, Random& random) {
  SparseModel model{.format = format, .rows = rows, .cols = cols};
  const bool is_coo = format == TNR_SPARSE_FORMAT_COO;
  const bool is_csc = format == TNR_SPARSE_FORMAT_CSC;
  const std::int64_t majors = is_csc ? cols : rows;
  const std::int64_t minors = is_csc ? rows : cols;
  const auto below = [&](std::int64_t extent) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent));
  };
  if (!is_coo) model.major.push_back(0);
  for (std::int64_t major = 0; major < majors; ++major) {
    for (std::int64_t k = 0; k < per_row; ++k) {
      if (is_coo) model.major.push_back(below(majors));
      const bool is_again = k > 0 && below(8) == 0;
      model.minor.push_back(is_again ? model.minor.back() : below(minors));
      model.values.push_back(static_cast<float>(1 + below(5)));
    }
    if (!is_coo) model.major.push_back(static_cast<std::int64_t>(model.minor.size()));
  }
  return model;
}

void expect_right_indices(tnr_sparse_view made) {
  made.flags = 0;
  EXPECT_NO_THROW(check_entries(made, RowExtent::kWhole, "made"));
}

// Calls every function. It refuses the matrices, or its offsets and indices are right.
void lie_to_all(tnr_context* context, const tnr_sparse_view& a, const tnr_sparse_view& b) {
  for (const SparseFunction& function : sparse_functions()) {
    if (!function.takes(a.format)) continue;
    SCOPED_TRACE(function.name());
    SparseOperands with(a);
    with.second = &b;
    with.on_made = expect_right_indices;
    (void)function(context, &a, with);
  }
  // The layout that few matrices have.
  SparseOperands with(a);
  tnr_packed* const packed = with.packed(
      tnr_packed_create(context, &a, attributes<tnr_packed_attributes>(TNR_PACKED_LAYOUT_BLOCKS)));
  if (packed == nullptr) return;
  EXPECT_EQ(tnr_packed_matmul(context, with.number(1), packed, with.ones({a.cols}), with.number(0),
                              nullptr, with.out({a.rows})),
            TNR_STATUS_OK);
}

// A context of two threads. Its memory has no valid index before it is written, and each block is
// checked past its end when it comes back, so that a write past a result, or a part of one that is
// not written, is seen without a sanitizer too. Its memory cannot be reserved, so that entries are
// counted first.
class WatchfulContext {
 public:
  WatchfulContext() : token_(context_create(watchful())) {}
  WatchfulContext(const WatchfulContext&) = delete;
  WatchfulContext& operator=(const WatchfulContext&) = delete;
  ~WatchfulContext() { context_release(token_); }

  operator tnr_context*() const { return reinterpret_cast<tnr_context*>(token_); }

 private:
  static constexpr unsigned char kFill = 0xc5;
  static constexpr std::size_t kBehind = 4096;

  static tnr_context_options watchful() {
    tnr_context_options wanted = options(2);
    wanted.allocate = [](void*, std::size_t bytes, std::size_t alignment) -> void* {
      void* const data = ::operator new(bytes + kBehind, std::align_val_t{alignment});
      return std::memset(data, kFill, bytes + kBehind);
    };
    wanted.deallocate = [](void*, void* data, std::size_t bytes, std::size_t alignment) {
      const auto* const behind = static_cast<const unsigned char*>(data) + bytes;
      EXPECT_TRUE(std::all_of(behind, behind + kBehind, [](unsigned char b) { return b == kFill; }))
          << "behind " << bytes << " bytes";
      ::operator delete(data, std::align_val_t{alignment});
    };
    return wanted;
  }

  ContextToken token_;
};

class SparseLies : public testing::TestWithParam<tnr_sparse_format> {};

TEST_P(SparseLies, CostNoAddressOfSmallMatrices) {
  Random random(17);
  for (const std::int64_t extent : {2, 40, 260}) {
    for (const tnr_dtype index_dtype : kIndexDtypes) {
      for (const std::uint32_t flags : kArrangements) {
        const Liar a(disorder(GetParam(), extent, extent, 12, random), index_dtype, flags);
        const Liar b(disorder(GetParam(), extent, extent, 33, random), index_dtype, flags);
        lie_to_all(nullptr, a.view(), b.view());
        lie_to_all(TestContext(2), a.view(), b.view());
        lie_to_all(WatchfulContext(), a.view(), b.view());
      }
    }
  }
}

// Large enough to be shared by threads, streamed, and put together in buffers.
TEST_P(SparseLies, CostNoAddressOfLargeMatrices) {
  Random random(18);
  for (const std::uint32_t flags : kArrangements) {
    const Liar a(disorder(GetParam(), 1'600, 1'600, 60, random), TNR_DTYPE_I32, flags);
    lie_to_all(nullptr, a.view(), a.view());
    lie_to_all(TestContext(3), a.view(), a.view());
    lie_to_all(WatchfulContext(), a.view(), a.view());
  }
}

const char* name_of(tnr_sparse_format format) {
  constexpr const char* kNames[] = {"", "coo", "csr", "csc"};
  return kNames[format];
}
INSTANTIATE_TEST_SUITE_P(EveryFormat, SparseLies,
                         testing::Values(TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                         TNR_SPARSE_FORMAT_CSC),
                         [](const auto& test) { return name_of(test.param); });

// Columns fall further than the marks of a bitmap reach.
TEST(SparseLie, OfColumnsThatAreFarApartSetsNoBitElsewhere) {
  constexpr std::int64_t kCols = std::int64_t{1} << 20;
  for (const Indices& columns : {Indices{kCols - 1, 0}, Indices{20'000, 3, 40'000}}) {
    const Liar a({.rows = 1,
                  .cols = kCols,
                  .major = {0, static_cast<std::int64_t>(columns.size())},
                  .minor = columns,
                  .values = std::vector<float>(columns.size(), 1.0f)},
                 TNR_DTYPE_I64, TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE);
    lie_to_all(nullptr, a.view(), a.view());
  }
}

// So far that the marks of one row are in front of the stack.
TEST(SparseLie, OfColumnsThatFallIsNoPlaceOfAMark) {
  constexpr std::int64_t kCols = std::int64_t{1} << 28;
  const Liar a(
      {.rows = 1, .cols = kCols, .major = {0, 2}, .minor = {kCols - 1, 0}, .values = {1, 2}},
      TNR_DTYPE_I32, TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE);
  packed_release(packed_create(kDefaultContext, a.view(), TNR_PACKED_LAYOUT_BITMAP));
  packed_release(packed_create(kDefaultContext, a.view(), TNR_PACKED_LAYOUT_AUTO));
}

// Rows that are alike, with as many entries as the product remembers. The ends and flags of each
// row claim a run of columns that the row does not have: one column is above the run, and its
// product has no entry there.
TEST(SparseLie, OfRowsThatAreAlikeIsNotRemembered) {
  constexpr std::int64_t kEntries = 256;
  constexpr std::int64_t kRows = 40;
  SparseModel b{.rows = kRows, .cols = 2 * kEntries, .major = {0}};
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t k = 0; k < kEntries; ++k) b.minor.push_back(k);
    // From 0 to 255, as a run has it, and one that is above all.
    b.minor[b.minor.size() - kEntries / 2] = 2 * kEntries - 1;
    b.major.push_back(static_cast<std::int64_t>(b.minor.size()));
  }
  b.values.assign(b.minor.size(), 1.0f);
  SparseModel a{.rows = kRows, .cols = kRows, .major = {0}};
  for (std::int64_t row = 0; row < kRows; ++row) {
    a.minor.push_back(row);
    a.major.push_back(row + 1);
  }
  a.values.assign(a.minor.size(), 1.0f);
  for (const tnr_dtype index_dtype : kIndexDtypes) {
    const Liar left(a, index_dtype, TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE);
    const Liar right(b, index_dtype, TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE);
    for (const unsigned threads : {1u, 2u}) {
      SparseOperands with(left.view());
      with.on_made = expect_right_indices;
      (void)with.status_of(
          tnr_sparse_product(TestContext(threads), &left.view(), &right.view(), nullptr));
    }
  }
}

}  // namespace
}  // namespace tenure::test
