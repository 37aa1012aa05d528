#include "engine/product.hpp"

#include <utility>

namespace tenure::engines {
namespace {

// Whether the elements of each row, or of each column, are adjacent and these lines do not overlap:
// nothing else is plain. Sets the steps of extents of 1.
bool is_plain(Product::Matrix& matrix, std::int64_t rows, std::int64_t columns,
              std::int64_t most) noexcept {
  if (columns == 1) matrix.column_step = 1;
  if (rows == 1 && matrix.column_step == 1) matrix.row_step = columns;
  if (rows == 1 && matrix.column_step != 1) matrix.row_step = 1;
  const std::int64_t least_row = matrix.column_step == 1 ? columns : 1;
  const std::int64_t least_column = matrix.column_step == 1 ? 1 : rows;
  return (matrix.column_step == 1 || matrix.row_step == 1) && matrix.row_step >= least_row &&
         matrix.row_step <= most && matrix.column_step >= least_column &&
         matrix.column_step <= most;
}

void transpose(Product::Matrix& matrix) noexcept { std::swap(matrix.row_step, matrix.column_step); }

}  // namespace

std::optional<PlainProduct> plain_product(const Product& given, std::int64_t most) noexcept {
  PlainProduct result = {given, false};
  Product& p = result.product;
  for (const std::int64_t extent : {p.rows, p.columns, p.depth, p.batch_count}) {
    if (extent < 1 || extent > most) return std::nullopt;
  }
  if (p.columns != 1 && p.out.column_step != 1) {
    if (p.has_bias) return std::nullopt;  // that would be one for each row
    std::swap(p.a, p.b);
    std::swap(p.rows, p.columns);
    for (Product::Matrix* const matrix : {&p.a, &p.b, &p.out}) transpose(*matrix);
    result.is_swapped = true;
  }
  const bool is_taken = is_plain(p.a, p.rows, p.depth, most) &&
                        is_plain(p.b, p.depth, p.columns, most) &&
                        is_plain(p.out, p.rows, p.columns, most) && p.out.column_step == 1;
  if (!is_taken) return std::nullopt;
  for (Product::Matrix* const matrix : {&p.a, &p.b, &p.out}) {
    if (p.batch_count == 1) matrix->batch_step = 0;
    if (matrix->batch_step < 0) return std::nullopt;
  }
  return result;
}

ProductMemory plain_memory(const PlainProduct& plain, const ProductMemory& given) noexcept {
  ProductMemory memory = given;
  if (plain.is_swapped) std::swap(memory.a, memory.b);
  return memory;
}

}  // namespace tenure::engines
