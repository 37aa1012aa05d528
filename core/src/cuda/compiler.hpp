// CUDA's compiler at run time, NVRTC, opened when a source is first compiled.
#pragma once

#include <string>
#include <vector>

#include "cuda/device.hpp"
#include "cuda/modules.hpp"

namespace tenure::cuda {

// A kernel's source and how it is compiled.
struct KernelSource {
  const char* text;
  const char* name;                  // an expression that names the kernel
  std::vector<const char*> options;  // the caller's
};

// Both are cold: compared with a compilation nothing takes time, so they are compiled for size.

// A key of the cache: the source and all that its code depends on.
[[gnu::cold]] std::string key_of(const KernelSource& source, const Device& device);

// Code for the device, or PTX where the caller's options name an architecture that no device has.
// Throws UNSUPPORTED where NVRTC cannot be opened; INVALID_ARGUMENT, with the compiler's words, for
// what does not compile; OUT_OF_MEMORY; INTERNAL where the compiler fails otherwise.
[[gnu::cold]] Code compile(const KernelSource& source, const Device& device);

}  // namespace tenure::cuda
