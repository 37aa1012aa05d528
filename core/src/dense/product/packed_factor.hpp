// A packed factor in the core.
#pragma once

#include <compare>
#include <memory>

#include "dense/product/packed_memory.hpp"
#include "dense/product/product_types.hpp"
#include "memory/handles.hpp"
#include "tenure/factor.hpp"

namespace tenure {

// The products that a matrix is packed for.
struct FactorUse {
  tnr_dtype a_dtype = 0;                   // of left factors; 0: the dtype of the matrix
  const tnr_view* group_scales = nullptr;  // checked: of weights of 4 bits
  const char* scales_name = "attributes->group_scales";

  auto operator<=>(const FactorUse&) const = default;
};

// Whether weights of 4 bits may have a scale for so many rows of a column.
constexpr bool is_weight_group(std::int64_t rows) noexcept {
  return rows == 32 || rows == 64 || rows == 128;
}
// Whether scales [k / group, n] of a matrix [k, n] have groups that weights of 4 bits may have.
bool are_group_scales(const std::int64_t* scales, const std::int64_t* matrix) noexcept;

// The layout of a packed matrix of this dtype and shape, for left factors of a dtype. Bytes that
// another process has packed are read alike where all of it agrees.
struct FactorLayout {
  // `b` is a checked matrix. Throws UNSUPPORTED for a dtype that is no factor's; INVALID_ARGUMENT
  // for two that are not multiplied, and for scales that do not fit; OUT_OF_MEMORY for bytes that
  // are too many.
  FactorLayout(const tnr_view& b, const FactorUse& use);

  [[nodiscard]] std::int64_t panel_columns() const noexcept;

  ProductTypes types;
  tnr_dtype dtype;
  tnr_dtype a_dtype;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t group = 0;  // rows of a scale of weights of 4 bits, which are packed with the scales
  // A single column is one panel.
  std::int64_t panel_bytes = 0;  // that are read
  std::int64_t panel_step = 0;
  std::int64_t bytes = 0;

 private:
  [[nodiscard]] bool fit_panels() noexcept;
  [[nodiscard]] bool fit_nibbles(const tnr_view& b, const FactorUse& use);
};

// Packs a matrix of several columns to layout.bytes bytes from a line on: panels at steps of
// layout.panel_step. `b` is checked and pinned.
void pack_panels(const Context& context, const FactorLayout& layout, const tnr_view& b,
                 kernels::Byte* memory) noexcept;
// Writes weights of 4 bits with their scales as nibbles.hpp says. All views are checked and pinned.
// Refuses values and scales as refuse_data() does.
void pack_nibbles(const Context& context, const FactorLayout& layout, const tnr_view& b,
                  const FactorUse& use, kernels::Byte* to);

// Written once, before anybody has a handle of it. A single column has no panels: products by a
// vector read it as it is, so it is a copy.
class PackedFactor {
 public:
  using Layout = FactorLayout;

  // `b` is checked and pinned. Throws as the layout does, and where memory is not to be had.
  PackedFactor(const Context& context, const tnr_view& b, const FactorUse& use);
  // Over bytes that are packed so, aligned to a line and kept by `lender`.
  PackedFactor(const FactorLayout& layout, const kernels::Byte* bytes,
               std::shared_ptr<const void> lender) noexcept;

  // Its shape and dtype; and its elements, unless there are panels.
  [[nodiscard]] const tnr_view& view() const noexcept { return view_; }
  // nullptr: there are none.
  [[nodiscard]] const Panels* panels() const noexcept {
    return panels_.data == nullptr ? nullptr : &panels_;
  }
  // Whether it has weights of 4 bits, in panels of their own.
  [[nodiscard]] bool has_groups() const noexcept { return layout_.group != 0; }
  // struct_size is 0.
  [[nodiscard]] tnr_factor_info info() const noexcept;
  [[nodiscard]] const FactorLayout& layout() const noexcept { return layout_; }
  // The packed bytes, layout().bytes in number.
  [[nodiscard]] const kernels::Byte* bytes() const noexcept { return memory_.bytes(); }

 private:
  void describe() noexcept;

  FactorLayout layout_;
  PackedMemory memory_;
  tnr_view view_{};
  Panels panels_{nullptr, 0};
};

using FactorHandles = Handles<PackedFactor, kFactorKind>;
inline constexpr FactorHandles kFactorHandles(factor_table, "factor", "packed factor");

}  // namespace tenure
