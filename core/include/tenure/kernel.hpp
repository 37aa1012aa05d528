// Kernels of the caller's own on a device.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

// {kind:8, generation:24, index:32}; what a tnr_kernel* holds.
using KernelToken = std::uint64_t;

// tnr_kernel_create(); struct_size is not looked at.
KernelToken kernel_create(const Context& context, const tnr_kernel_options& options);
// All throw STALE_HANDLE for a token that is garbage, of another kind, or released.
void kernel_retain(KernelToken token);
void kernel_release(KernelToken token);
// tnr_kernel_launch(); struct_size is not looked at.
void kernel_launch(const Context& context, KernelToken token, const tnr_kernel_grid& grid,
                   const tnr_kernel_argument* arguments, std::uint32_t argument_count);

}  // namespace tenure
