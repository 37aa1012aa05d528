// Packing a right factor as a whole, for products that are repeated; and its handles.
#include "dense/product/packed_factor.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/concurrency.hpp"
#include "base/data_findings.hpp"
#include "cpu/dispatch.hpp"
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

float scale_at(const Byte* at, bool is_f16) noexcept {
  if (!is_f16) {
    float scale;
    std::memcpy(&scale, at, sizeof scale);
    return scale;
  }
  float scale;
  const kernels::StripInput in[] = {{at, 2, 2}};
  run_strip(cast_operation(TNR_DTYPE_F16, TNR_DTYPE_F32),
            dense_strip(1, reinterpret_cast<Byte*>(&scale), sizeof scale, in));
  return scale;
}

// Panels of weights of 4 bits.
class NibblePacking {
 public:
  NibblePacking(const FactorLayout& layout, const tnr_view& b, const tnr_view& scales, Byte* to)
      : layout_(layout),
        columns_(layout.panel_columns()),
        b_(static_cast<const Byte*>(b.data)),
        b_step_{step_of(b, 0), step_of(b, 1)},
        scales_(static_cast<const Byte*>(scales.data)),
        scale_step_{step_of(scales, 0), step_of(scales, 1)},
        are_f16_(scales.dtype == TNR_DTYPE_F16),
        to_(to) {}

  // Returns whether each value and each scale is one.
  [[nodiscard]] bool pack(std::int64_t panel) const noexcept {
    const std::int64_t first = panel * columns_;
    const std::int64_t count = std::min(columns_, layout_.cols - first);
    Byte* to = to_ + panel * layout_.panel_step;
    bool are_values = true;
    for (std::int64_t row = 0; row < layout_.rows; row += layout_.group) {
      for (std::int64_t octet = row; octet < row + layout_.group; octet += kOctet) {
        are_values &= pack_octet(octet, first, count, to);
        to += columns_ * kOctet / 2;
      }
      const Byte* scale = scales_ + row / layout_.group * scale_step_[0] + first * scale_step_[1];
      for (std::int64_t j = 0; j < columns_; ++j, scale += scale_step_[1]) {
        const float number = j < count ? scale_at(scale, are_f16_) : 0;
        are_values &= j >= count || (number > 0 && std::isfinite(number));
        std::memcpy(to + j * kScaleBytes, &number, kScaleBytes);
      }
      to += columns_ * kScaleBytes;
    }
    return are_values;
  }

  [[gnu::cold]] void refuse(const char* scales_name) const {
    for (std::int64_t i = 0; i < layout_.rows; ++i) {
      for (std::int64_t j = 0; j < layout_.cols; ++j) {
        const auto value = static_cast<std::int8_t>(b_[i * b_step_[0] + j * b_step_[1]]);
        if (value >= -8 && value <= 7) continue;
        return refuse_data(TNR_STATUS_INVALID_ARGUMENT,
                           "b[%" PRId64 ", %" PRId64
                           "] is %d but values of 4 bits must be from -8 to 7",
                           i, j, value);
      }
    }
    for (std::int64_t i = 0; i < layout_.rows / layout_.group; ++i) {
      for (std::int64_t j = 0; j < layout_.cols; ++j) {
        const float scale = scale_at(scales_ + i * scale_step_[0] + j * scale_step_[1], are_f16_);
        if (scale > 0 && std::isfinite(scale)) continue;
        return refuse_data(TNR_STATUS_INVALID_ARGUMENT,
                           "%s has %g but every scale must be finite and above 0", scales_name,
                           static_cast<double>(scale));
      }
    }
  }

 private:
  static constexpr std::int64_t kOctet = 8;
  static constexpr std::int64_t kScaleBytes = sizeof(float);

  bool pack_octet(std::int64_t row, std::int64_t first, std::int64_t count,
                  Byte* to) const noexcept {
    unsigned outside = 0;
    for (std::int64_t d = 0; d < kOctet / 2; ++d) {
      const Byte* low = b_ + (row + d) * b_step_[0] + first * b_step_[1];
      const Byte* high = low + kOctet / 2 * b_step_[0];
      for (std::int64_t j = 0; j < count; ++j, low += b_step_[1], high += b_step_[1]) {
        const unsigned lower = (*low + 8u) & 0xff;
        const unsigned upper = (*high + 8u) & 0xff;
        outside |= lower | upper;
        to[4 * j + d] = static_cast<Byte>(lower | upper << 4);
      }
      for (std::int64_t j = count; j < columns_; ++j) to[4 * j + d] = 0x88;
    }
    return outside < 16;
  }

  const FactorLayout& layout_;
  std::int64_t columns_;
  const Byte* b_;
  std::int64_t b_step_[2];
  const Byte* scales_;
  std::int64_t scale_step_[2];
  bool are_f16_;
  Byte* to_;
};

}  // namespace

bool are_group_scales(const std::int64_t* scales, const std::int64_t* matrix) noexcept {
  if (scales[1] != matrix[1] || scales[0] == 0 || matrix[0] % scales[0] != 0) return false;
  return is_weight_group(matrix[0] / scales[0]);
}

FactorLayout::FactorLayout(const tnr_view& b, const FactorUse& use)
    : types(types_of(b.dtype, use.a_dtype == 0 ? b.dtype : use.a_dtype)),
      dtype(b.dtype),
      a_dtype(use.a_dtype == 0 ? b.dtype : use.a_dtype),
      rows(b.shape[0]),
      cols(b.shape[1]) {
  if (!(use.group_scales == nullptr ? fit_panels() : fit_nibbles(b, use))) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "a factor of %" PRId64 " by %" PRId64 " elements fits no memory",
         rows, cols);
  }
}

std::int64_t FactorLayout::panel_columns() const noexcept {
  return group == 0 ? types.panel_columns() : kernels::nibble_kernels().panel_columns;
}

bool FactorLayout::fit_panels() noexcept {
  if (rows == 0 || cols == 0) return true;
  if (cols == 1) {
    const bool fits = !__builtin_mul_overflow(rows, types.b.bytes, &bytes);
    panel_bytes = panel_step = bytes;
    return fits;
  }
  // No depth has more bytes in a panel than the first one of a block. Behind each panel there is
  // room for what packing writes behind the last; and so panels do not all lie in the same sets of
  // a cache.
  if (__builtin_mul_overflow(rows, types.panel_bytes(1), &bytes)) return false;
  panel_bytes = types.block_offset(rows) + types.panel_bytes(rows % types.most_depth());
  panel_step = panel_bytes + std::max(whole_lines(types.b.packing->slack_bytes), kLineBytes);
  return !__builtin_mul_overflow(parts_of(cols, types.panel_columns()), panel_step, &bytes);
}

bool FactorLayout::fit_nibbles(const tnr_view& b, const FactorUse& use) {
  const tnr_view& scales = *use.group_scales;
  if (dtype != TNR_DTYPE_I8 || a_dtype != TNR_DTYPE_I8) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "b.dtype is %s and attributes->a_dtype %s, but both must be i8 with group_scales",
         dtype_name(dtype), dtype_name(a_dtype));
  }
  if (scales.dtype != TNR_DTYPE_F32 && scales.dtype != TNR_DTYPE_F16) {
    fail(TNR_STATUS_UNSUPPORTED, "%s.dtype is %s but must be f32 or f16", use.scales_name,
         dtype_name(scales.dtype));
  }
  if (scales.rank != 2 || !are_group_scales(scales.shape, b.shape)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s has shape %s and b %s, but they must be [k / group, n] and [k, n] with a group of 32, "
         "64 or 128",
         use.scales_name, shape_text(scales.rank, scales.shape).text,
         shape_text(b.rank, b.shape).text);
  }
  group = rows / scales.shape[0];
  if (cols == 0) return true;
  const std::int64_t columns = panel_columns();
  if (__builtin_mul_overflow(scales.shape[0], kernels::nibble_group_bytes(columns, group),
                             &panel_bytes)) {
    return false;
  }
  panel_step = whole_lines(panel_bytes);
  return !__builtin_mul_overflow(parts_of(cols, columns), panel_step, &bytes);
}

void pack_nibbles(const Context& context, const FactorLayout& layout, const tnr_view& b,
                  const FactorUse& use, Byte* to) {
  const NibblePacking packing(layout, b, *use.group_scales, to);
  const std::int64_t panels = parts_of(layout.cols, layout.panel_columns());
  const std::int64_t slices = std::min(panels, slice_count_of(context, 3 * layout.bytes));
  Atomic<bool> are_values{true};
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    const std::int64_t end = slice_begin(panels, slices, slice + 1);
    for (std::int64_t panel = slice_begin(panels, slices, slice); panel < end; ++panel) {
      if (!packing.pack(panel)) are_values.store(false, std::memory_order_relaxed);
    }
  });
  if (!are_values.load(std::memory_order_relaxed)) packing.refuse(use.scales_name);
}

PackedFactor::PackedFactor(const Context& context, const tnr_view& b, const FactorUse& use)
    : layout_(b, use), memory_(context, layout_.bytes) {
  describe();
  Byte* const memory = memory_.fresh();
  if (memory == nullptr) return;
  if (has_groups()) {
    pack_nibbles(context, layout_, b, use, memory);
  } else if (layout_.cols == 1) {
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
  if (layout_.bytes == 0 || has_groups()) return;
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

FactorToken factor_create(const Context& context, const tnr_view& b, tnr_dtype a_dtype,
                          const tnr_view* group_scales) {
  const FactorUse use = {a_dtype, group_scales};
  check_view(b, "b");
  require_rank(b, "b", 2);
  Pins pins;
  pins.add(b, "b");
  if (group_scales != nullptr) {
    check_view(*group_scales, use.scales_name);
    pins.add(*group_scales, use.scales_name);
  }
  auto factor = std::make_unique<const PackedFactor>(context, b, use);
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
