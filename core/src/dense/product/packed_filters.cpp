// Packing filters as a whole, for convolutions that are repeated.
#include "dense/product/packed_filters.hpp"

#include <cinttypes>
#include <utility>

#include "cpu/dispatch.hpp"
#include "cpu/gemm.hpp"
#include "dense/image/convolution.hpp"
#include "dense/product/image_product.hpp"
#include "tenure/shape.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

// The product of one pixel, whose results are adjacent.
class PixelProduct {
 public:
  PixelProduct(const tnr_view& weight, std::int64_t groups)
      : width_bytes_(static_cast<std::int64_t>(element_size(weight.dtype))),
        geometry_(geometry(weight, groups, width_bytes_)),
        product_(gemm(weight), kernels::factor_packing_kernels()[type(weight)], geometry_, one_,
                 width_bytes_) {}
  PixelProduct(const PixelProduct&) = delete;
  PixelProduct& operator=(const PixelProduct&) = delete;

  [[nodiscard]] const ImageProduct& product() const noexcept { return product_; }

  static const kernels::Gemm& gemm(const tnr_view& weight) {
    return kernels::gemm_kernels()[type(weight)];
  }

 private:
  static unsigned type(const tnr_view& weight) {
    return require_image_type("conv2d", weight.dtype);
  }
  static WindowGeometry geometry(const tnr_view& weight, std::int64_t groups,
                                 std::int64_t width_bytes) noexcept {
    WindowGeometry g = {};
    g.images = 1;
    g.groups = groups;
    g.channels = weight.shape[1];
    g.filters = weight.shape[0] / groups;
    for (const unsigned axis : {kHeight, kWidth}) {
      g.in[axis] = g.kernel[axis] = weight.shape[2 + axis];
      g.out[axis] = g.strides[axis] = g.dilations[axis] = 1;
    }
    g.weight = image_steps(weight);
    g.weight_group = g.filters * g.weight.image;
    g.result.channel = width_bytes;
    return g;
  }

  std::int64_t width_bytes_;
  WindowGeometry geometry_;
  Element one_{};  // that no packing reads
  ImageProduct product_;
};

}  // namespace

bool FiltersLayout::takes(const tnr_view& weight, std::int64_t groups) noexcept {
  return (weight.dtype == TNR_DTYPE_F32 || weight.dtype == TNR_DTYPE_F64) && !is_empty(weight) &&
         (weight.shape[1] > 1 || weight.shape[0] / groups > kMostDepthwiseFilters);
}

FiltersLayout::FiltersLayout(const tnr_view& weight, std::int64_t group_count)
    : dtype(weight.dtype),
      groups(group_count),
      filters(weight.shape[0]),
      channels(weight.shape[1]),
      kernel{weight.shape[2], weight.shape[3]},
      panel_filters(PixelProduct::gemm(weight).panel_columns) {
  const PixelProduct pixel(weight, groups);
  block_depth = pixel.product().block_depth();
  bytes = pixel.product().packed_filter_bytes();
  if (bytes == INT64_MAX) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "packed filters of shape %s fit no memory",
         shape_text(weight.rank, weight.shape).text);
  }
}

PackedFilters::PackedFilters(const Context& context, const tnr_view& weight, std::int64_t groups)
    : layout_(weight, groups), memory_(context, layout_.bytes) {
  const PixelProduct pixel(weight, groups);
  const ImageProduct& product = pixel.product();
  const ThreadBuffers buffers(product.thread_count(context), product.thread_bytes());
  product.pack_filters(context, buffers, static_cast<const kernels::Byte*>(weight.data),
                       memory_.fresh());
}

PackedFilters::PackedFilters(const FiltersLayout& layout, const kernels::Byte* bytes,
                             std::shared_ptr<const void> lender) noexcept
    : layout_(layout), memory_(bytes, std::move(lender)) {}

}  // namespace tenure
