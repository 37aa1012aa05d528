// Products of matrices by cuBLASLt.
#pragma once

#include "cuda/libraries/activation.hpp"
#include "cuda/queue.hpp"
#include "engine/product.hpp"

namespace tenure::cuda {

// Throws UNSUPPORTED, with all that was tried, where there is no cuBLASLt.
void require_products();

// Enqueues the product; false, and nothing has been done, where cuBLASLt does not take it as it
// lies in memory. memory.bias is not nullptr where the product has a bias. Throws as
// require_products(), and OUT_OF_MEMORY and DEVICE_ERROR.
bool multiply(const Queue& queue, const engines::Product& product,
              const engines::ProductMemory& memory, LibraryActivation activation);

}  // namespace tenure::cuda
