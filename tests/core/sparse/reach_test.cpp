// Conversions from dense read no byte but those of elements: there is a page on each side that
// faults.
#include <gtest/gtest.h>

#include <vector>

#include "dense_model.hpp"
#include "guarded.hpp"
#include "tenure/sparse.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

constexpr tnr_dtype kWidths[] = {TNR_DTYPE_U8, TNR_DTYPE_F16, TNR_DTYPE_F32, TNR_DTYPE_F64};

TEST(SparseFromDenseReach, NoByteBesideTheElements) {
  constexpr std::int64_t kColumns[] = {1, 7, 63, 64, 65, 127, 130, 1088, 1100};
  Guarded dense(std::size_t{1100} * 3 * 3 * 8 + 4096);
  for (const tnr_dtype dtype : kWidths) {
    const std::size_t width = element_size(dtype);
    for (const std::int64_t columns : kColumns) {
      const std::int64_t rows = 3;
      const auto count = static_cast<std::size_t>(rows * columns);
      for (const unsigned period : {1u, 2u, 50u}) {
        std::vector<Byte> bytes(count * width);
        std::vector<bool> kept(count);
        std::vector<const Byte*> elements(count);
        for (std::size_t i = 0; i < count; ++i) {
          kept[i] = i % period == 0 || i + 1 == count;
          if (kept[i]) bytes[i * width] = static_cast<Byte>(1 + i % 100);
          elements[i] = bytes.data() + i * width;
        }
        for (const test::Arrangement& arrangement : kArrangements) {
          for (const End end : {End::kFront, End::kBack}) {
            dense.place(dtype, rows, columns, arrangement, end, bytes.data());
            for (const tnr_sparse_format format :
                 {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSC}) {
              SparseOptions options{};
              options.format = format;
              const Returned matrix(sparse_from_dense(kDefaultContext, dense.view(), options));
              EXPECT_TRUE(matrix.content() ==
                          model_of(format, rows, columns, elements, kept, width))
                  << arrangement.name << ", " << dtype_name(dtype) << ", " << columns
                  << " columns, format " << format;
              EXPECT_TRUE(dense.is_as_expected());
            }
          }
        }
      }
    }
  }
}

TEST(SparseFromDenseReach, NoByteBesideTheBlocks) {
  constexpr std::int64_t kRows = 8;
  Guarded dense(std::size_t{3} * 3 * 180 * kRows * 8 + 4096);
  for (const tnr_dtype dtype : kWidths) {
    const std::size_t width = element_size(dtype);
    for (const std::int64_t block_cols : {2, 3, 4, 8, 16}) {
      const std::int64_t columns = block_cols * 11;
      const auto count = static_cast<std::size_t>(kRows * columns);
      std::vector<Byte> bytes(count * width);
      std::vector<bool> kept(count);
      std::vector<const Byte*> elements(count);
      for (std::size_t i = 0; i < count; ++i) {
        kept[i] = i % 37 == 0 || i + 1 == count;
        if (kept[i]) bytes[i * width] = static_cast<Byte>(1 + i % 100);
        elements[i] = bytes.data() + i * width;
      }
      for (const test::Arrangement& arrangement : kArrangements) {
        for (const End end : {End::kFront, End::kBack}) {
          dense.place(dtype, kRows, columns, arrangement, end, bytes.data());
          SparseOptions options{};
          options.format = TNR_SPARSE_FORMAT_BSR;
          options.block_rows = 4;
          options.block_cols = block_cols;
          const Returned matrix(sparse_from_dense(kDefaultContext, dense.view(), options));
          EXPECT_TRUE(matrix.content() ==
                      block_model_of(kRows, columns, 4, block_cols, elements, kept, width))
              << arrangement.name << ", " << dtype_name(dtype) << ", blocks of 4 by " << block_cols;
        }
      }
    }
  }
}

}  // namespace
