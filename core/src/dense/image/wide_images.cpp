#include "dense/image/wide_images.hpp"
#include "dense/elementwise_call.hpp"

#include <cstdlib>
#include <utility>

#include "base/arithmetic.hpp"
#include "dense/movement.hpp"
#include "tenure/shape.hpp"

namespace tenure {
namespace {

constexpr std::int64_t kWideBytes = sizeof(float);
// Bytes of copies of images and results, unless one of each is more. Weights are packed again for
// each such chunk.
constexpr std::int64_t kWideChunkBytes = std::int64_t{1} << 23;

std::int64_t count_from(const tnr_view& view, std::uint32_t first_axis) noexcept {
  std::int64_t count = 1;
  for (std::uint32_t axis = first_axis; axis < view.rank; ++axis) {
    if (view.shape[axis] == 0) return 0;
    count = product_or_most(count, view.shape[axis]);
  }
  return count;
}

std::int64_t chunk_of(const tnr_view& a, const tnr_view& out) noexcept {
  constexpr std::int64_t kMost = kWideChunkBytes / kWideBytes;
  const std::int64_t elements =
      std::min(count_from(a, 1), kMost) + std::min(count_from(out, 1), kMost);
  return std::min(a.shape[0],
                  std::max<std::int64_t>(kMost / std::max<std::int64_t>(elements, 1), 1));
}

// Some images of a view whose owner is pinned.
tnr_view images_of(const tnr_view& view, std::int64_t first, std::int64_t images) noexcept {
  tnr_view part = view;
  part.owner = 0;
  part.data = static_cast<const kernels::Byte*>(view.data) + first * step_of(view, 0);
  part.shape[0] = images;
  return part;
}

}  // namespace

void convert(const Context& context, const tnr_view& from, const tnr_view_mut& to) {
  if (from.dtype == to.view.dtype) return copy(context, from, to);
  ElementwiseCall operands(to);
  operands.add(from, "a");
  operands.run(context, cast_operation(from.dtype, to.view.dtype));
}

std::int64_t wide_image_count(const tnr_view& a, const tnr_view& b) noexcept {
  return chunk_of(a, b);
}

void load_images(const Context& context, const tnr_view& from, std::int64_t first,
                 std::int64_t images, const WideCopy& to) {
  convert(context, images_of(from, first, images), {images_of(to.view(), 0, images)});
}

WideCopy::WideCopy(const tnr_view& of, std::int64_t extent)
    : memory_(std::max<std::int64_t>(1, product_or_most(count_from(of, 1), extent)), kWideBytes),
      out_{} {
  tnr_view& view = out_.view;
  view.base = view.data = memory_.data();
  view.size_bytes = memory_.size_bytes();
  view.dtype = TNR_DTYPE_F32;
  view.rank = of.rank;
  view.device = of.device;
  view.shape[0] = extent;
  std::uint32_t order[TNR_MAX_RANK];
  for (std::uint32_t axis = 0; axis < of.rank; ++axis) order[axis] = axis;
  std::copy_n(of.shape + 1, of.rank - 1, view.shape + 1);
  const auto distance = [&](std::uint32_t axis) { return std::abs(stride_of(of, axis)); };
  for (std::uint32_t i = 2; i < of.rank; ++i) {
    for (std::uint32_t j = i; j > 1 && distance(order[j]) > distance(order[j - 1]); --j) {
      std::swap(order[j], order[j - 1]);
    }
  }
  std::int64_t stride = 1;
  for (std::uint32_t i = of.rank; i-- > 0;) {
    view.strides[order[i]] = stride;
    stride = product_or_most(stride, std::max<std::int64_t>(1, view.shape[order[i]]));
  }
}

WideImages::WideImages(const tnr_view& a, const tnr_view_mut& out, const tnr_view* other)
    : narrow_a_(a),
      narrow_out_(out),
      narrow_other_(other),
      wide_a_(a, chunk_of(a, out.view)),
      wide_out_(out.view, chunk_of(a, out.view)) {
  if (other != nullptr) wide_other_.emplace(*other, wide_a_.view().shape[0]);
}

void WideImages::load(const Context& context, std::int64_t first, std::int64_t images) const {
  convert(context, images_of(narrow_a_, first, images), {images_of(wide_a_.view(), 0, images)});
  if (narrow_other_ != nullptr) {
    load_images(context, *narrow_other_, first, images, *wide_other_);
  }
}

void WideImages::store(const Context& context, std::int64_t first, std::int64_t images) const {
  convert(context, images_of(wide_out_.view(), 0, images),
          {images_of(narrow_out_.view, first, images)});
}

WideConvolution::WideConvolution(const Context& context, const ConvolutionOperands& of)
    : narrow_(of),
      pinned_(of),
      images_(of.a, of.out),
      weight_(of.weight, of.weight.shape[0]),
      wide_{images_.a(), weight_.view(), nullptr, images_.out()} {
  convert(context, images_of(of.weight, 0, of.weight.shape[0]), weight_.out());
  if (of.bias == nullptr) return;
  bias_.emplace(*of.bias, of.bias->shape[0]);
  convert(context, images_of(*of.bias, 0, of.bias->shape[0]), bias_->out());
  wide_.bias = &bias_->view();
}

}  // namespace tenure
