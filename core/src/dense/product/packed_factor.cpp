// Packing a right factor as a whole, for products that are repeated; and its handles.
#include "dense/product/packed_factor.hpp"

#include <algorithm>
#include <cinttypes>
#include <utility>

#include "dense/movement.hpp"
#include "memory/traffic.hpp"
#include "tenure/counters.hpp"
#include "tenure/shape.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// The fewest panels of a slice of work: a slice reads adjacent elements of each row of the factor,
// and a single panel would read only some bytes of each page.
constexpr std::int64_t kSlicePanels = 4;

ProductTypes types_of(tnr_dtype dtype, tnr_dtype a_dtype) {
  const unsigned type = factor_type(dtype);
  if (a_dtype != dtype && !(is_byte(a_dtype) && is_byte(dtype))) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->a_dtype is %s but b.dtype is %s",
         dtype_name(a_dtype), dtype_name(dtype));
  }
  return product_types(factor_type(a_dtype), type);
}

}  // namespace

FactorLayout::FactorLayout(const tnr_view& b, tnr_dtype left_dtype)
    : types(types_of(b.dtype, left_dtype == 0 ? b.dtype : left_dtype)),
      dtype(b.dtype),
      a_dtype(left_dtype == 0 ? b.dtype : left_dtype),
      rows(b.shape[0]),
      cols(b.shape[1]) {
  if (rows == 0 || cols == 0) return;
  bool fits;
  if (cols == 1) {
    fits = !__builtin_mul_overflow(rows, types.b.bytes, &bytes);
    panel_bytes = panel_step = bytes;
  } else {
    // No depth has more bytes in a panel than the first one of a block. Behind each panel there is
    // room for what packing writes behind the last; and so panels do not all lie in the same sets of
    // a cache.
    fits = !__builtin_mul_overflow(rows, types.panel_bytes(1), &bytes);
    if (fits) {
      panel_bytes = types.block_offset(rows) + types.panel_bytes(rows % types.most_depth());
      panel_step = panel_bytes + std::max(whole_lines(types.b.packing->slack_bytes), kLineBytes);
      fits = !__builtin_mul_overflow(parts_of(cols, types.panel_columns()), panel_step, &bytes);
    }
  }
  if (!fits) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "a factor of %" PRId64 " by %" PRId64 " elements fits no memory",
         rows, cols);
  }
}

PackedFactor::PackedFactor(const Context& context, const tnr_view& b, tnr_dtype a_dtype)
    : layout_(b, a_dtype), memory_(context, layout_.bytes) {
  describe();
  Byte* const memory = memory_.fresh();
  if (memory == nullptr) return;
  if (layout_.cols == 1) {
    const std::int64_t width = layout_.types.b.bytes;
    const kernels::StripInput column[] = {{static_cast<const Byte*>(b.data), step_of(b, 0), width}};
    run_strip(copy_operation(b.dtype), dense_strip(layout_.rows, memory, width, column));
  } else {
    pack_panels(context, layout_, b, memory);
  }
}

PackedFactor::PackedFactor(const FactorLayout& layout, const Byte* bytes,
                           std::shared_ptr<const void> lender) noexcept
    : layout_(layout), memory_(bytes, std::move(lender)) {
  describe();
}

void PackedFactor::describe() noexcept {
  view_.dtype = layout_.dtype;
  view_.shape[0] = layout_.rows;
  view_.shape[1] = layout_.cols;
  view_.rank = 2;
  view_.device.kind = TNR_DEVICE_KIND_CPU;
  view_.strides[0] = view_.strides[1] = 1;  // of the axis that a single column has
  if (layout_.bytes == 0) return;
  if (layout_.cols == 1) {
    view_.data = view_.base = memory_.bytes();
    view_.size_bytes = static_cast<std::uint64_t>(layout_.bytes);
  } else {
    panels_ = {memory_.bytes(), layout_.panel_step};
  }
}

tnr_factor_info PackedFactor::info() const noexcept {
  tnr_factor_info info = {};
  info.dtype = layout_.dtype;
  info.a_dtype = layout_.a_dtype;
  info.rows = layout_.rows;
  info.cols = layout_.cols;
  info.size_bytes = static_cast<std::uint64_t>(layout_.bytes);
  return info;
}

void pack_panels(const Context& context, const FactorLayout& layout, const tnr_view& b,
                 Byte* memory) noexcept {
  const ProductTypes& types = layout.types;
  const std::int64_t column_step = step_of(b, 1);
  const std::int64_t row_step = step_of(b, 0);
  const std::int64_t panels = parts_of(layout.cols, types.panel_columns());
  const std::int64_t slices =
      std::min(parts_of(panels, kSlicePanels), slice_count_of(context, 2 * layout.bytes));
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    const std::int64_t end = slice_begin(panels, slices, slice + 1);
    // A panel's depths in their order: each part ends in what the next one overwrites.
    for (std::int64_t k = 0; k < layout.rows; k += types.most_depth()) {
      for (std::int64_t panel = slice_begin(panels, slices, slice); panel < end; ++panel) {
        const std::int64_t column = panel * types.panel_columns();
        types.b.packing->columns(
            {static_cast<const Byte*>(b.data) + column * column_step + k * row_step, column_step,
             row_step, std::min(types.panel_columns(), layout.cols - column),
             std::min(types.most_depth(), layout.rows - k)},
            memory + panel * layout.panel_step + types.block_offset(k));
      }
    }
  });
}

FactorToken factor_create(const Context& context, const tnr_view& b, tnr_dtype a_dtype) {
  check_view(b, "b");
  require_rank(b, "b", 2);
  Pins pins;
  pins.add(b, "b");
  auto factor = std::make_unique<const PackedFactor>(context, b, a_dtype);
  const std::uint64_t size_bytes = factor->info().size_bytes;
  const FactorToken token = kFactorHandles.open(std::move(factor));
  count_call(TNR_OPERATION_FACTOR_PACK, element_bytes(b), size_bytes);
  return token;
}

void factor_retain(FactorToken token) { kFactorHandles.retain(token); }

void factor_release(FactorToken token) { kFactorHandles.release(token); }

tnr_factor_info factor_describe(FactorToken token) {
  return FactorHandles::Use(kFactorHandles, token).object().info();
}

}  // namespace tenure
