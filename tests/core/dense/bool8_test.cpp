// Bytes other than 0 and 1 are true, and no operation writes one: what moves elements by their
// width is where that is forgotten.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "dense_model.hpp"
#include "sparse_arrays.hpp"
#include "sparse_patterns.hpp"
#include "tenure/ops.hpp"
#include "tenure/sparse.hpp"
#include "test_context.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

using Bytes = std::vector<unsigned char>;

constexpr tnr_sparse_format kFormats[] = {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                          TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR};

// Small, and so large that the threads share it.
constexpr std::int64_t kExtents[] = {6, 600};

// A matrix in any format with an entry at each fifth position. One value in three is 0 or 1; the
// others are 2 and more.
struct Truths {
  Truths(tnr_sparse_format format, std::int64_t extent) {
    const std::int64_t block = format == TNR_SPARSE_FORMAT_BSR ? 2 : 1;
    SparseModel model{.format = format,
                      .rows = extent,
                      .cols = extent,
                      .flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE,
                      .block_rows = block,
                      .block_cols = block};
    const bool has_offsets = format != TNR_SPARSE_FORMAT_COO;
    if (has_offsets) model.major.push_back(0);
    for (std::int64_t major = 0; major < extent / block; ++major) {
      for (std::int64_t minor = major % 5; minor < extent / block; minor += 5) {
        if (!has_offsets) model.major.push_back(major);
        model.minor.push_back(minor);
      }
      if (has_offsets) model.major.push_back(static_cast<std::int64_t>(model.minor.size()));
    }
    count = static_cast<std::int64_t>(model.minor.size());
    for (std::int64_t i = 0; i < count * block * block; ++i) {
      bytes.push_back(static_cast<unsigned char>(i % 3 == 0 ? i % 2 : 2 + i % 254));
    }
    arrays.emplace_back(std::make_unique<SparseArrays>(model, TNR_DTYPE_I32));
    view = arrays.back()->view();
    view.values = block == 1 ? flat_view(bytes.data(), TNR_DTYPE_BOOL8, {count})
                             : flat_view(bytes.data(), TNR_DTYPE_BOOL8, {count, block, block});
  }

  // Twice the same matrix.
  void make_batch() {
    const auto twice = [this](tnr_view& part, std::uint64_t width) {
      const auto* const begin = static_cast<const unsigned char*>(part.data);
      const std::uint64_t size = static_cast<std::uint64_t>(part.shape[0]) * width;
      Bytes& whole = *parts.emplace_back(std::make_unique<Bytes>(begin, begin + size));
      whole.insert(whole.end(), begin, begin + size);
      part.data = part.base = whole.data();
      part.size_bytes = whole.size();
      part.shape[0] *= 2;
    };
    const auto block = static_cast<std::uint64_t>(view.block_rows * view.block_cols);
    twice(view.major, 4);
    twice(view.minor, 4);
    twice(view.values, block);
    begins = {0, count, 2 * count};
    view.batch_offsets = flat_view(begins.data(), TNR_DTYPE_I64, {3});
  }

  std::int64_t count = 0;
  Bytes bytes;
  tnr_sparse_view view{};
  std::vector<std::unique_ptr<SparseArrays>> arrays;
  std::vector<std::unique_ptr<Bytes>> parts;
  std::vector<std::int64_t> begins;
};

std::int64_t count_of(const unsigned char* bytes, std::uint64_t size, unsigned char value) {
  return std::count(bytes, bytes + size, value);
}

// Expects that the result has only bytes 0 and 1, at least one 1, and exactly `trues` of them where
// `trues` is not negative.
void expect_bools(const void* data, std::uint64_t size, const std::string& what,
                  std::int64_t trues = -1) {
  const auto* const bytes = static_cast<const unsigned char*>(data);
  const std::int64_t ones = count_of(bytes, size, 1);
  EXPECT_EQ(ones + count_of(bytes, size, 0), static_cast<std::int64_t>(size)) << what;
  EXPECT_NE(ones, 0) << what;
  if (trues >= 0) {
    EXPECT_EQ(ones, trues) << what;
  }
}

void expect_bools(SparseToken made, const std::string& what, std::int64_t trues = -1) {
  const Returned result(made);
  const tnr_view& values = result.view().values;
  expect_bools(values.data, values.size_bytes, what, trues);
}

std::int64_t trues_in(const tnr_view& values) {
  const auto* const bytes = static_cast<const unsigned char*>(values.data);
  return static_cast<std::int64_t>(values.size_bytes) - count_of(bytes, values.size_bytes, 0);
}

void expect_conversions(const Context& context, const tnr_sparse_view& a, const std::string& what) {
  for (const tnr_sparse_format to : kFormats) {
    for (const std::uint32_t flags : {0, TNR_CONVERT_SORT}) {
      SparseOptions options = options_of(to, flags);
      if (to == TNR_SPARSE_FORMAT_BSR) options.block_rows = options.block_cols = 3;
      expect_bools(sparse_convert(context, a, options), what + " to " + std::to_string(to),
                   trues_in(a.values));
    }
  }
}

void expect_dense(const Context& context, const tnr_sparse_view& a, const std::string& what) {
  const bool has_matrices = is_batch(a);
  Bytes out(static_cast<std::size_t>(a.rows * a.cols * (has_matrices ? 2 : 1)), 9);
  const tnr_view view = has_matrices ? flat_view(out.data(), TNR_DTYPE_BOOL8, {2, a.rows, a.cols})
                                     : flat_view(out.data(), TNR_DTYPE_BOOL8, {a.rows, a.cols});
  sparse_to_dense(context, a, {view});
  expect_bools(out.data(), out.size(), what + " to dense", trues_in(a.values));
  if (has_matrices) return;
  sparse_to_dense(context, a, {transpose(view, 0, 1)});
  expect_bools(out.data(), out.size(), what + " to dense, transposed", trues_in(a.values));
}

TEST(Bool8, ConversionsWriteZeroOrOne) {
  const TestContext threads(3);
  for (const std::int64_t extent : kExtents) {
    for (const tnr_sparse_format format : kFormats) {
      Truths a(format, extent);
      const std::string what = "format " + std::to_string(format);
      expect_conversions(threads, a.view, what);
      expect_dense(threads, a.view, what);
      a.make_batch();
      expect_conversions(threads, a.view, "batch, " + what);
      expect_dense(threads, a.view, "batch, " + what);
    }
  }
}

TEST(Bool8, PartsOfMatricesHaveZeroOrOne) {
  const TestContext threads(3);
  for (const std::int64_t extent : kExtents) {
    for (const tnr_sparse_format format :
         {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC}) {
      const Truths a(format, extent);
      const std::string what = "format " + std::to_string(format);
      expect_bools(sparse_coalesce(threads, a.view, TNR_SPARSE_COMBINE_LAST), what + " coalesce",
                   trues_in(a.view.values));
      tnr_sparse_view with_duplicates = a.view;
      with_duplicates.flags = 0;
      expect_bools(sparse_coalesce(threads, with_duplicates, TNR_SPARSE_COMBINE_LAST),
                   what + " coalesce", trues_in(a.view.values));
      SparseOptions options{};
      options.predicate = TNR_SPARSE_PREDICATE_NON_ZERO;
      expect_bools(sparse_prune(threads, a.view, options), what + " prune",
                   trues_in(a.view.values));
      if (format == TNR_SPARSE_FORMAT_COO) continue;
      expect_bools(sparse_select(threads, a.view, nullptr, nullptr), what + " select",
                   trues_in(a.view.values));
      expect_bools(sparse_slice(threads, a.view, 1, extent - 1, 1, extent - 1), what + " slice");
    }
  }
}

TEST(Bool8, MatricesOfDenseOnesHaveZeroOrOne) {
  const TestContext threads(3);
  for (const std::int64_t extent : kExtents) {
    Bytes dense(static_cast<std::size_t>(2 * extent * extent));
    for (std::size_t i = 0; i < dense.size(); ++i) {
      dense[i] = static_cast<unsigned char>(i % 4 == 0 ? 1 + i % 255 : 0);
    }
    const Bytes mask(dense.size(), 7);
    for (const tnr_sparse_format format : kFormats) {
      for (const bool is_batch : {false, true}) {
        const Indices shape = is_batch ? Indices{2, extent, extent} : Indices{extent, extent};
        const tnr_view view = flat_view(dense.data(), TNR_DTYPE_BOOL8, shape);
        SparseOptions options = options_of(format);
        if (format == TNR_SPARSE_FORMAT_BSR) options.block_rows = options.block_cols = 2;
        const std::string what = "dense to " + std::to_string(format);
        expect_bools(sparse_from_dense(threads, view, options), what, trues_in(view));
        if (format == TNR_SPARSE_FORMAT_BSR) continue;
        options.predicate = TNR_SPARSE_PREDICATE_MASK;
        options.mask = flat_view(mask.data(), TNR_DTYPE_BOOL8, shape);
        expect_bools(sparse_from_dense(threads, view, options), "masked " + what, trues_in(view));
      }
    }
  }
}

// The memory of a handle is not written: its bytes stay.
TEST(Bool8, HeldBytesStay) {
  const Truths a(TNR_SPARSE_FORMAT_CSR, 6);
  const Bytes before = a.bytes;
  Bytes out(36);
  sparse_to_dense(kDefaultContext, a.view, {flat_view(out.data(), TNR_DTYPE_BOOL8, {6, 6})});
  EXPECT_EQ(a.bytes, before);
}

}  // namespace
