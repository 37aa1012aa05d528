// The kernels of the library, and the fat binary that holds them.
//
// A list of kernels is a macro in a header next to them: KERNEL(name) for each, with the name that
// TENURE_KERNEL gives it (kernels/device.cuh).
#pragma once

#include <cstddef>

#include "cuda/kernels/elementwise_list.hpp"
#include "cuda/kernels/expression_list.hpp"
#include "cuda/kernels/images/images_list.hpp"
#include "cuda/kernels/indexed_list.hpp"
#include "cuda/kernels/matmul_list.hpp"
#include "cuda/kernels/normalize_list.hpp"
#include "cuda/kernels/ordering/ordering_list.hpp"
#include "cuda/kernels/reduce_list.hpp"
#include "cuda/kernels/scan/scan_list.hpp"
#include "cuda/kernels/sparse/sparse_list.hpp"

// clang-format off
#define TENURE_CUDA_KERNELS(KERNEL)  \
  TENURE_ELEMENTWISE_KERNELS(KERNEL) \
  TENURE_EXPRESSION_KERNELS(KERNEL)  \
  TENURE_REDUCE_KERNELS(KERNEL)      \
  TENURE_NORMALIZE_KERNELS(KERNEL)   \
  TENURE_INDEXED_KERNELS(KERNEL)     \
  TENURE_MATMUL_KERNELS(KERNEL)      \
  TENURE_IMAGE_KERNELS(KERNEL)       \
  TENURE_SPARSE_KERNELS(KERNEL)      \
  TENURE_SCAN_KERNELS(KERNEL)        \
  TENURE_ORDERING_KERNELS(KERNEL)
// clang-format on

namespace tenure::cuda {

// An enumerator has the kernel's own name.
#define TENURE_CUDA_ENUMERATOR(name) name,
enum class Kernel : unsigned { TENURE_CUDA_KERNELS(TENURE_CUDA_ENUMERATOR) };
#undef TENURE_CUDA_ENUMERATOR

#define TENURE_CUDA_ONE(name) +1
inline constexpr unsigned kKernelCount = 0 TENURE_CUDA_KERNELS(TENURE_CUDA_ONE);
#undef TENURE_CUDA_ONE

// The name by which the driver finds it in the fat binary.
const char* name_of(Kernel kernel) noexcept;

// The file that `./x kernels` made, aligned to 16 bytes. No bytes in a library that was built without
// the file, or for a system whose driver it does not open.
struct FatBinary {
  const void* data;
  std::size_t size_bytes;
};
FatBinary fat_binary() noexcept;

}  // namespace tenure::cuda
