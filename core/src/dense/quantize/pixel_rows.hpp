// The windows of an image's pixels as rows of a matrix of bytes.
#pragma once

#include <cstdint>

#include "cpu/kernel.hpp"
#include "dense/image/geometry.hpp"

namespace tenure {

// Adds bytes to sums, which wrap.
void add_bytes(const kernels::Byte* bytes, std::int64_t count, bool is_signed,
               std::int32_t* sums) noexcept;

// Filters, [filters, channels, height, width], as the columns of a row-major matrix of
// [height * width * channels, filters], whose depths are in the order of a row of PixelRows. The view
// is checked, and has elements.
void gather_filters(const Context& context, const tnr_view& weight, kernels::Byte* to);

// Images have adjacent channels, and their rows follow each other. A row of the matrix has the
// elements of a window: place after place of the kernel, with the channels of a group.
class PixelRows {
 public:
  // The geometry outlives this. `padding` is the element around each image.
  PixelRows(const WindowGeometry& geometry, kernels::Byte padding) noexcept;

  [[nodiscard]] std::int64_t per_image() const noexcept { return g_.out[0] * g_.out[1]; }
  // From row to row.
  [[nodiscard]] std::int64_t step() const noexcept {
    return reads_in_place_ ? g_.groups * g_.channels : g_.depth();
  }
  // Bytes of `count` gathered rows; 0: windows are read where they lie.
  [[nodiscard]] std::int64_t bytes(std::int64_t count) const noexcept {
    return reads_in_place_ ? 0 : count * g_.depth();
  }

  // Rows of one image and group.
  struct Part {
    std::int64_t image;
    std::int64_t group;
    std::int64_t first;
    std::int64_t count;
  };
  // Returns the rows: `to`, where they are gathered.
  const kernels::Byte* gather(const kernels::Byte* a, const Part& part,
                              kernels::Byte* to) const noexcept;
  // The sum of each row.
  void add_up(const kernels::Byte* rows, std::int64_t count, bool is_signed,
              std::int32_t* sums) const noexcept;

 private:
  // `top` and `left`: of the window's first element, in the padding below 0.
  void gather_window(const kernels::Byte* image, std::int64_t top, std::int64_t left,
                     kernels::Byte* to) const noexcept;

  const WindowGeometry& g_;
  kernels::Byte padding_;
  bool reads_in_place_;
};

}  // namespace tenure
