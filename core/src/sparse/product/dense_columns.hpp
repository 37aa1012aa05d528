// Dense operands of products: rank 1 or 2, any strides.
#pragma once

#include <cstdint>

#include "memory/scratch.hpp"
#include "tenure/context.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {

// Throws INVALID_ARGUMENT: "b.shape[0] is 2 but must be 4, the columns of a".
void require_extent(const tnr_view& view, const char* name, std::uint32_t axis,
                    std::int64_t expected, const char* what);

// Rows that an operand of a product must have, and whose they are.
struct ProductExtent {
  std::int64_t count;
  const char* whose;
};
// Throws INVALID_ARGUMENT unless b and out are two vectors or two matrices with as many columns,
// and have those rows.
void require_product_shapes(const tnr_view& b, const tnr_view& out, const ProductExtent& b_rows,
                            const ProductExtent& out_rows);

// The type that products of elements are added up in, as far as floats go; alpha and beta have it.
constexpr tnr_dtype computed_dtype(tnr_dtype dtype) noexcept {
  return dtype == TNR_DTYPE_F16 || dtype == TNR_DTYPE_BF16 ? TNR_DTYPE_F32 : dtype;
}

// A checked view of rank 1, which is one column, or 2.
struct DenseColumns {
  explicit DenseColumns(const tnr_view& checked) noexcept
      : view(checked),
        data(static_cast<const kernels::Byte*>(checked.data)),
        rows(checked.shape[0]),
        columns(checked.rank == 1 ? 1 : checked.shape[1]),
        width_bytes(static_cast<std::int64_t>(element_size(checked.dtype))),
        row_step(step_of(checked, 0)),
        column_step(columns > 1 ? step_of(checked, 1) : width_bytes) {}

  const tnr_view& view;
  const kernels::Byte* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t width_bytes;
  std::int64_t row_step;  // bytes, of any sign
  std::int64_t column_step;
};

// Uses of each row from which on an operand is copied so that its rows begin with lines.
inline constexpr std::int64_t kUsesWorthCopying = 32;

// Some columns of an operand, adjacent: in place, or copied. A single column comes with its
// rows adjacent. Unless they may be spaced.
class AdjacentColumns {
 public:
  // Where rows may begin: a register that is loaded across two lines takes twice as long. kSpaced
  // columns are never copied: neither rows nor columns need be adjacent.
  enum class Rows { kAnywhere, kInLines, kSpaced };

  // Columns [first, first + count) of `dense`; count > 0. Rows that must begin with lines of the
  // cache are copied where they do not, if they are whole lines. Throws OUT_OF_MEMORY.
  AdjacentColumns(const Context& context, const DenseColumns& dense, std::int64_t first,
                  std::int64_t count, Rows rows = Rows::kAnywhere);

  [[nodiscard]] const kernels::Byte* data() const noexcept { return data_; }
  [[nodiscard]] std::int64_t row_step() const noexcept { return row_step_; }
  [[nodiscard]] std::int64_t column_step() const noexcept { return column_step_; }

  // Whether `count` columns are copied wherever their rows begin.
  static bool are_copied(const DenseColumns& dense, std::int64_t count) noexcept;

 private:
  bool is_copied_;
  Scratch copy_;
  const kernels::Byte* data_;
  std::int64_t row_step_;
  std::int64_t column_step_;
};

}  // namespace tenure
