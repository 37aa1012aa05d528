// Convolutions by cuDNN.
#pragma once

#include "cuda/libraries/activation.hpp"
#include "cuda/queue.hpp"
#include "engine/convolution.hpp"

namespace tenure::cuda {

// Throws UNSUPPORTED, with all that was tried, where there is no cuDNN.
void require_convolutions();

// Enqueues the convolution, of elements of the dtype; false, and nothing has been done, where cuDNN
// does not take it as it lies in memory. Throws as require_convolutions(), and OUT_OF_MEMORY and
// DEVICE_ERROR.
bool convolve(const Queue& queue, tnr_dtype dtype, const engines::Convolution& convolution,
              const engines::ConvolutionMemory& memory, LibraryActivation activation);

}  // namespace tenure::cuda
