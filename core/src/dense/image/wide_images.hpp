// Images of f16 and bf16, which are computed in f32: some of them at a time are copied, and so are
// their results, which are rounded then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "dense/image/convolution.hpp"
#include "memory/scratch.hpp"
#include "tenure/context.hpp"
#include "tenure/view.hpp"

namespace tenure {

constexpr bool is_narrow(tnr_dtype dtype) noexcept {
  return dtype == TNR_DTYPE_F16 || dtype == TNR_DTYPE_BF16;
}

// Memory for the elements of a view in f32. It is dense. Its first axis has `extent` indices and is
// outermost, and its other axes are in the order that they have in the view's memory.
class WideCopy {
 public:
  // Throws OUT_OF_MEMORY.
  WideCopy(const tnr_view& of, std::int64_t extent);
  [[nodiscard]] const tnr_view& view() const noexcept { return out_.view; }
  [[nodiscard]] const tnr_view_mut& out() const noexcept { return out_; }

 private:
  Scratch memory_;
  tnr_view_mut out_;
};

// Images of the operands that are copied at a time.
std::int64_t wide_image_count(const tnr_view& a, const tnr_view& b) noexcept;
// Copies some images of a view to the first ones of the copy.
void load_images(const Context& context, const tnr_view& from, std::int64_t first,
                 std::int64_t images, const WideCopy& to);
// Converts all elements to the dtype of `to`; both dtypes are floats.
void convert(const Context& context, const tnr_view& from, const tnr_view_mut& to);

class WideImages {
 public:
  // The views are checked and pinned, have the same number of images, and outlive this. `other` is
  // a second operand, or nullptr. Throws OUT_OF_MEMORY.
  WideImages(const tnr_view& a, const tnr_view_mut& out, const tnr_view* other = nullptr);
  // Memory for the images that are computed at a time.
  [[nodiscard]] const tnr_view& a() const noexcept { return wide_a_.view(); }
  [[nodiscard]] const tnr_view_mut& out() const noexcept { return wide_out_.out(); }
  [[nodiscard]] const tnr_view& other() const noexcept { return wide_other_->view(); }

  // Calls compute(images) for one chunk of the call's images after the other: each chunk is the
  // first `images` images of a() and out().
  template <class Compute>
  void for_each_chunk(const Context& context, const Compute& compute) const {
    const std::int64_t chunk = a().shape[0];
    for (std::int64_t first = 0; first < narrow_a_.shape[0]; first += chunk) {
      const std::int64_t images = std::min(chunk, narrow_a_.shape[0] - first);
      load(context, first, images);
      compute(images);
      store(context, first, images);
    }
  }

 private:
  void load(const Context& context, std::int64_t first, std::int64_t images) const;
  void store(const Context& context, std::int64_t first, std::int64_t images) const;

  const tnr_view& narrow_a_;
  const tnr_view_mut& narrow_out_;
  const tnr_view* narrow_other_;
  WideCopy wide_a_;
  WideCopy wide_out_;
  std::optional<WideCopy> wide_other_;
};

// The operands of a convolution.
class WideConvolution {
 public:
  // The views are checked, their shapes agree, and all outlive this. Throws what their dtypes and
  // memory deserve, or OUT_OF_MEMORY.
  WideConvolution(const Context& context, const ConvolutionOperands& of);
  WideConvolution(const WideConvolution&) = delete;
  WideConvolution& operator=(const WideConvolution&) = delete;

  [[nodiscard]] const ConvolutionOperands& narrow() const noexcept { return narrow_; }
  [[nodiscard]] const ConvolutionOperands& wide() const noexcept { return wide_; }
  [[nodiscard]] const WideImages& images() const noexcept { return images_; }

 private:
  ConvolutionOperands narrow_;
  PinnedOperands pinned_;
  WideImages images_;
  WideCopy weight_;
  std::optional<WideCopy> bias_;
  ConvolutionOperands wide_;
};

}  // namespace tenure
