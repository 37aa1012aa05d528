// The extents of a call on images as kernels count them.
#pragma once

#include <cstdint>

#include "cuda/kernels/images/arguments.hpp"
#include "cuda/queue.hpp"
#include "dense/image/geometry.hpp"

namespace tenure::cuda {

// Windows along one axis, from `g.a` to `g.result`. Throws UNSUPPORTED where their places are too
// many; `image` is the name of the view that they lie on.
ImageAxis image_axis(const Queue& queue, const WindowGeometry& g, unsigned axis, const char* image);
// Windows of the transposed convolution, from `g.result` to `g.a`; throws as image_axis().
ImageAxis transposed_axis(const Queue& queue, const WindowGeometry& g, unsigned axis,
                          const char* image);

// Most images of a launch, where each has `elements_of_one` elements of the result; 0: the elements
// of one are too many.
std::int64_t images_at_once(std::int64_t elements_of_one) noexcept;
// images_at_once() for the images of the output, or of another view of that name, which has elements.
// Throws UNSUPPORTED instead of 0.
std::int64_t require_images_at_once(const Queue& queue, const tnr_view& out,
                                    const char* name = "out");

// The elements of `images` images of the output.
ResultWalk result_walk(const tnr_view& out, std::int64_t images) noexcept;

}  // namespace tenure::cuda
