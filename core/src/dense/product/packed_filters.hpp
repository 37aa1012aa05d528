// Filters of a convolution that are packed as a whole, once for many images.
#pragma once

#include <memory>

#include "dense/product/packed_memory.hpp"
#include "tenure/tenure.h"

namespace tenure {

// The layout of packed filters of this dtype and shape. Bytes that another process has packed are
// read alike where all of it agrees.
struct FiltersLayout {
  // `weight` is checked and has the shape [filters of all groups, channels of one, height, width].
  // Throws OUT_OF_MEMORY for bytes that are too many.
  FiltersLayout(const tnr_view& weight, std::int64_t groups);

  // Whether convolutions multiply such filters as panels: f32 and f64, but not channels by
  // themselves.
  static bool takes(const tnr_view& weight, std::int64_t groups) noexcept;

  tnr_dtype dtype;
  std::int64_t groups;
  std::int64_t filters;  // of all groups
  std::int64_t channels;
  std::int64_t kernel[2];
  std::int64_t panel_filters;
  std::int64_t block_depth;
  std::int64_t bytes;
};

// Written once, before anybody reads it. Only convolutions whose pixels are rows of their products
// read it: those of images that are channels-last.
class PackedFilters {
 public:
  using Layout = FiltersLayout;

  // `weight` is checked and pinned, and taken. Throws OUT_OF_MEMORY.
  PackedFilters(const Context& context, const tnr_view& weight, std::int64_t groups);
  // Over bytes that are packed so, aligned to a line and kept by `lender`.
  PackedFilters(const FiltersLayout& layout, const kernels::Byte* bytes,
                std::shared_ptr<const void> lender) noexcept;

  [[nodiscard]] const FiltersLayout& layout() const noexcept { return layout_; }
  // The packed bytes, layout().bytes in number.
  [[nodiscard]] const kernels::Byte* bytes() const noexcept { return memory_.bytes(); }

 private:
  FiltersLayout layout_;
  PackedMemory memory_;
};

// Computes conv2d() where the filters are also packed: `packed` has those of `weight`, with the
// groups of the attributes.
void conv2d_packed(const Context& context, const tnr_view& a, const tnr_view& weight,
                   const PackedFilters& packed, const tnr_view* bias,
                   const tnr_conv2d_attributes& attributes, const tnr_view_mut& out);

}  // namespace tenure
