#include "sparse/product/dense_columns.hpp"

#include <cinttypes>

#include "cpu/dispatch.hpp"
#include "dense/elementwise_call.hpp"
#include "dense/loops/permutation.hpp"

namespace tenure {
namespace {

bool lie_across_lines(const DenseColumns& dense, std::int64_t first, std::int64_t count) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(dense.data) +
                     static_cast<std::uintptr_t>(first * dense.column_step);
  return count * dense.width_bytes % kLineBytes == 0 &&
         (begin % kLineBytes != 0 || dense.row_step % kLineBytes != 0);
}

void copy_elements(const Context& context, const tnr_view& from, const tnr_view_mut& to) {
  ElementwiseCall operands(to);
  operands.add(from, "b");
  if (operands.moved_bytes() < kWorthPlanningBytes || operands.is_flat() ||
      !permute(context, operands.movement(), Stores::kCached)) {
    operands.run(context, Operation(kernels::copy_kernels()[width_index(from.dtype)]));
  }
}

}  // namespace

void require_extent(const tnr_view& view, const char* name, std::uint32_t axis,
                    std::int64_t expected, const char* what) {
  if (view.shape[axis] == expected) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s.shape[%" PRIu32 "] is %" PRId64 " but must be %" PRId64 ", %s", name, axis,
       view.shape[axis], expected, what);
}

void require_product_shapes(const tnr_view& b, const tnr_view& out, const ProductExtent& b_rows,
                            const ProductExtent& out_rows) {
  if (b.rank != 1 && b.rank != 2) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "b.rank is %" PRIu32 " but must be 1 or 2", b.rank);
  }
  if (out.rank != b.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "out.rank is %" PRIu32 " but must be %" PRIu32 ", as b's",
         out.rank, b.rank);
  }
  require_extent(b, "b", 0, b_rows.count, b_rows.whose);
  require_extent(out, "out", 0, out_rows.count, out_rows.whose);
  if (b.rank == 2) require_extent(out, "out", 1, b.shape[1], "the columns of b");
}

bool AdjacentColumns::are_copied(const DenseColumns& dense, std::int64_t count) noexcept {
  if (dense.rows <= 1) return dense.column_step != dense.width_bytes && count > 1;
  return (count == 1 ? dense.row_step : dense.column_step) != dense.width_bytes;
}

AdjacentColumns::AdjacentColumns(const Context& context, const DenseColumns& dense,
                                 std::int64_t first, std::int64_t count, Rows rows)
    : is_copied_((rows != Rows::kSpaced && are_copied(dense, count)) ||
                 (rows == Rows::kInLines && lie_across_lines(dense, first, count))),
      copy_(is_copied_ ? dense.rows * count : 0, dense.width_bytes),
      data_(is_copied_ ? copy_.data() : dense.data + first * dense.column_step),
      row_step_(is_copied_ ? count * dense.width_bytes : dense.row_step),
      column_step_(is_copied_ ? dense.width_bytes : dense.column_step) {
  if (!is_copied_ || dense.rows == 0) return;
  const tnr_view from =
      dense.view.rank == 1 ? dense.view : slice(dense.view, 1, first, first + count, 1);
  tnr_view to =
      make_view(copy_.data(), copy_.size_bytes(), 0, from.dtype, from.rank, from.shape, nullptr);
  copy_elements(context, from, {to});
}

}  // namespace tenure
