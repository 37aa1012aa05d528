// Descriptions of products of matrices for engines that are not the library's own.
#pragma once

#include <cstdint>
#include <optional>

#include "tenure/tenure.h"

namespace tenure::engines {

// Steps in elements, of any sign; those of an extent of 1 are of no account.
struct Product {
  struct Matrix {
    tnr_dtype dtype;
    std::int64_t batch_step;  // 0: the same matrix for all
    std::int64_t row_step;
    std::int64_t column_step;
  };
  std::int64_t batch_count;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  Matrix a;
  Matrix b;
  Matrix out;
  double alpha;
  double beta;  // 0: out is not read
  bool has_bias;
};
struct ProductMemory {
  const void* a;
  const void* b;
  const void* bias;  // adjacent numbers, one for each column
  void* out;
};

// A product whose result has rows of adjacent elements, and whose factors each have rows or columns
// of adjacent elements.
struct PlainProduct {
  Product product;
  bool is_swapped;  // the transposed factors are multiplied in the other order
};
// Nothing where it is none such, or an extent is below 1 or, as a step, above `most`.
std::optional<PlainProduct> plain_product(const Product& given, std::int64_t most) noexcept;

// Returns the memory with the factors in the order of the plain product.
ProductMemory plain_memory(const PlainProduct& plain, const ProductMemory& given) noexcept;

}  // namespace tenure::engines
