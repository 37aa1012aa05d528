// Strips whose results go past the caches.
#pragma once

#include "kernels/kernel.hpp"

namespace tenure {

// As kernel(strip), for a dense output (out_step is its element's width, a power of two up to 16)
// that shares no byte with an input. Nobody else may read the results before the thread has called
// order_streamed_stores().
kernels::Finding run_streamed(kernels::StripKernel kernel, const kernels::Strip& strip) noexcept;

// Streamed stores are not ordered with others, not even by a release.
void order_streamed_stores() noexcept;

}  // namespace tenure
