// Images of code that callers bring: fat binaries, cubins, PTX.
#pragma once

#include <cstddef>
#include <string>

namespace tenure::cuda {

// A copy of the image, which ends with a 0. The driver takes no size and reads as far as the image
// says that it goes: throws INVALID_ARGUMENT for one that says more than `size_bytes`, as one does
// that was cut off, and for what is none of the three.
std::string copy_image(const void* image, std::size_t size_bytes);

}  // namespace tenure::cuda
