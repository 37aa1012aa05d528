// Images of code that callers bring: fat binaries, cubins, PTX.
#pragma once

#include <cstddef>
#include <string>

namespace tenure::cuda {

// A copy of the image, which ends with a 0. The driver takes no size and reads to the end that the
// image declares. Throws INVALID_ARGUMENT for an image that declares more than `size_bytes`, as a
// truncated one does, and for an image that is neither a fat binary nor a cubin nor PTX.
std::string copy_image(const void* image, std::size_t size_bytes);

}  // namespace tenure::cuda
