// Compares the entries of a dense matrix by columns with those of the rows of its transpose; under
// each instruction set.
#include "sparse/from_dense/column_search.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "cpu/dispatch.hpp"
#include "dense/loops/streamed.hpp"
#include "sparse/from_dense/predicate.hpp"
#include "sparse_arrays.hpp"
#include "sparse_patterns.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"

namespace tenure::test {
namespace {

using kernels::Byte;

struct Compressed {
  std::vector<Byte> values, minor, offsets;
  bool operator==(const Compressed&) const = default;
};

// A searcher's result, chunk by chunk; cached or streamed at random. `columns` are those of CSC, or
// the rows of CSR.
template <class Searcher>
Compressed searched(const typename Searcher::Search& search, const DenseSearch& dense,
                    std::int64_t columns, std::mt19937_64& random) {
  const auto bytes = static_cast<std::size_t>(Searcher::buffer_bytes(search));
  std::vector<Byte> buffer(bytes + 64);
  Byte* const aligned = buffer.data() + -reinterpret_cast<std::uintptr_t>(buffer.data()) % 64;
  const std::int64_t width = dense.elements.width();
  const std::int64_t index = dense.index_type == kernels::IndexType::kI32 ? 4 : 8;
  const auto most = static_cast<std::size_t>(dense.entry_count());
  Compressed found{std::vector<Byte>(most * static_cast<std::size_t>(width)),
                   std::vector<Byte>(most * static_cast<std::size_t>(index)),
                   std::vector<Byte>(static_cast<std::size_t>((columns + 1) * index))};
  EntryArrays to = {found.values.data(), found.minor.data(), nullptr, found.offsets.data(),
                    Stores::kCached};
  Searcher searcher(search, aligned);
  std::int64_t before = 0;
  for (std::int64_t chunk = 0; chunk < Searcher::chunk_count(search); ++chunk) {
    const std::int64_t count = searcher.count(chunk);
    to.stores = random() % 2 == 0 ? Stores::kCached : Stores::kStreamed;
    searcher.write(to, before, -1);
    before += count;
  }
  order_streamed_stores();
  found.values.resize(static_cast<std::size_t>(before * width));
  found.minor.resize(static_cast<std::size_t>(before * index));
  return found;
}

// As DenseSearcher, but a chunk is counted when it is written.
class CountingAsItWrites : public DenseSearcher {
 public:
  using DenseSearcher::DenseSearcher;
  std::int64_t count(std::int64_t chunk) noexcept {
    chunk_ = chunk;
    return DenseSearcher::count(chunk);
  }
  void write(const EntryArrays& to, std::int64_t before, std::int64_t) noexcept {
    EXPECT_EQ(count_and_write(chunk_, to, before), DenseSearcher::count(chunk_));
  }

 private:
  std::int64_t chunk_ = 0;
};

TEST(ColumnSearch, PlacesAreThoseOfTheBits) {
  std::mt19937_64 random(17);
  for (const std::size_t words : {0, 1, 2, 16, 1024}) {
    std::vector<std::uint64_t> bits(words);
    std::vector<std::uint16_t> expected;
    for (std::size_t i = 0; i < words; ++i) {
      bits[i] = random() % 8 == 0 ? ~std::uint64_t{0} : random() & random();
      if (random() % 2 == 0) bits[i] &= random() & random();
      for (unsigned bit = 0; bit < 64; ++bit) {
        if ((bits[i] >> bit & 1) != 0) expected.push_back(static_cast<std::uint16_t>(i * 64 + bit));
      }
    }
    std::vector<std::uint16_t> places(expected.size() + kernels::kMorePositions, 0xabcd);
    const std::int64_t count = kernels::compression_kernels().list_bit_indices(
        bits.data(), static_cast<std::int64_t>(words), places.data());
    ASSERT_EQ(count, static_cast<std::int64_t>(expected.size())) << words << " words";
    places.resize(expected.size());
    EXPECT_EQ(places, expected) << words << " words";
  }
}

TEST(ColumnSearch, IsWhatTheTransposeGives) {
  std::mt19937_64 random(11);
  for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{
           {2, 2}, {3, 64}, {64, 64}, {65, 300}, {100, 257}, {5000, 70}, {33, 1000}, {20'000, 3}}) {
    for (const tnr_dtype dtype : {TNR_DTYPE_F64, TNR_DTYPE_F32, TNR_DTYPE_F16, TNR_DTYPE_I8}) {
      const auto count = static_cast<std::size_t>(shape[0] * shape[1]);
      const unsigned percent = random() % 4 == 0 ? 100 : 20;
      std::vector<Byte> elements(count * element_size(dtype));
      std::vector<Byte> flags(count);
      for (std::size_t i = 0; i < count; ++i) {
        flags[i] = random() % 100 < percent;
        if (random() % 100 < percent)
          elements[i * element_size(dtype)] = static_cast<Byte>(i % 255 + 1);
      }
      const tnr_view dense = flat_view(elements.data(), dtype, shape);
      const tnr_view mask = flat_view(flags.data(), TNR_DTYPE_BOOL8, shape);
      const bool has_mask = random() % 2 == 0;
      SparseOptions options = options_of(TNR_SPARSE_FORMAT_CSC);
      options.predicate = has_mask ? TNR_SPARSE_PREDICATE_MASK : TNR_SPARSE_PREDICATE_NON_ZERO;
      const auto search_of = [&](const tnr_view& matrix, const DenseElements& asked) {
        return DenseSearch{
            .rows = matrix.shape[0],
            .columns = matrix.shape[1],
            .elements = DenseElements(matrix),
            .mask = has_mask ? &asked : nullptr,
            .predicate = predicate_of(options, dtype),
            .index_type = random() % 2 == 0 ? kernels::IndexType::kI32 : kernels::IndexType::kI64};
      };
      const DenseElements asked(mask);
      const DenseElements asked_across(transpose(mask, 0, 1));
      DenseSearch across = search_of(transpose(dense, 0, 1), asked_across);
      const ColumnSearch columns(search_of(dense, asked));
      across.index_type = columns.dense.index_type;
      ASSERT_TRUE(columns.is_possible());
      EXPECT_TRUE(searched<ColumnSearcher>(columns, columns.dense, shape[1], random) ==
                  searched<DenseSearcher>(across, across, shape[1], random))
          << shape[0] << " by " << shape[1] << " of " << dtype_name(dtype);
    }
  }
}

// Some elements of each chunk, of rows of any length, with what chance drops or a mask names.
TEST(DenseSearch, CountsAsItWrites) {
  std::mt19937_64 random(13);
  for (const std::int64_t columns : {3, 64, 1000, 1024, 8192, 100'001}) {
    for (const tnr_dtype dtype : {TNR_DTYPE_F64, TNR_DTYPE_F32, TNR_DTYPE_F16, TNR_DTYPE_I8}) {
      const std::int64_t rows = 150'000 / columns + 1;
      const auto count = static_cast<std::size_t>(rows * columns);
      const unsigned percent = random() % 3 == 0 ? 100 : static_cast<unsigned>(random() % 60);
      std::vector<Byte> elements(count * element_size(dtype));
      std::vector<Byte> flags(count);
      for (std::size_t i = 0; i < count; ++i) {
        flags[i] = random() % 100 < percent;
        if (random() % 100 < percent)
          elements[i * element_size(dtype)] = static_cast<Byte>(i % 255 + 1);
      }
      const DenseElements mask(flat_view(flags.data(), TNR_DTYPE_BOOL8, {rows, columns}));
      const bool has_mask = random() % 2 == 0;
      SparseOptions options = options_of(TNR_SPARSE_FORMAT_CSR);
      options.predicate = has_mask ? TNR_SPARSE_PREDICATE_MASK : TNR_SPARSE_PREDICATE_NON_ZERO;
      const DenseSearch search = {
          .rows = rows,
          .columns = columns,
          .elements = DenseElements(flat_view(elements.data(), dtype, {rows, columns})),
          .mask = has_mask ? &mask : nullptr,
          .predicate = predicate_of(options, dtype),
          .index_type = random() % 2 == 0 ? kernels::IndexType::kI32 : kernels::IndexType::kI64};
      ASSERT_TRUE(DenseSearcher::counts_as_it_writes(search));
      EXPECT_TRUE(searched<CountingAsItWrites>(search, search, rows, random) ==
                  searched<DenseSearcher>(search, search, rows, random))
          << rows << " by " << columns << " of " << dtype_name(dtype);
    }
  }
}

// At each density, by the algorithm that is chosen for it, on several threads.
TEST(ColumnSearch, LargeMatricesAreThoseOfTheirTranspose) {
  const std::int64_t rows = 1100;
  const std::int64_t cols = 1031;
  const TestContext threads(3);
  for (const unsigned part : {1u, 10u, 60u}) {
    std::mt19937_64 random(12);
    std::vector<float> elements(static_cast<std::size_t>(rows * cols));
    std::vector<float> across(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (random() % 100 < part) elements[i] = static_cast<float>(i + 1);
      const std::size_t row = i / static_cast<std::size_t>(cols);
      const std::size_t col = i % static_cast<std::size_t>(cols);
      across[col * static_cast<std::size_t>(rows) + row] = elements[i];
    }
    const Result csc(sparse_from_dense(threads,
                                       flat_view(elements.data(), TNR_DTYPE_F32, {rows, cols}),
                                       options_of(TNR_SPARSE_FORMAT_CSC)));
    const Result csr(sparse_from_dense(threads,
                                       flat_view(across.data(), TNR_DTYPE_F32, {cols, rows}),
                                       options_of(TNR_SPARSE_FORMAT_CSR)));
    const std::int64_t count = csr.view().minor.shape[0];
    ASSERT_EQ(csc.view().minor.shape[0], count);
    const auto equal = [](const tnr_view& a, const tnr_view& b) {
      return std::memcmp(a.data, b.data, a.size_bytes) == 0;
    };
    EXPECT_TRUE(equal(csc.view().major, csr.view().major)) << part;
    EXPECT_TRUE(equal(csc.view().minor, csr.view().minor)) << part;
    EXPECT_TRUE(equal(csc.view().values, csr.view().values)) << part;
  }
}

}  // namespace
}  // namespace tenure::test
