// Kernels of the caller's own in C: unwrap, call, wrap.
#include "tenure/kernel.hpp"

#include "boundary.hpp"

using tenure::capi::guarded;
using tenure::capi::guarded_pointer;
using tenure::capi::read_sized;
using tenure::capi::use_of;

namespace {

std::uint64_t token_of(const tnr_kernel* kernel) noexcept {
  return reinterpret_cast<std::uintptr_t>(kernel);
}

}  // namespace

tnr_status tnr_kernel_release(tnr_kernel* kernel) noexcept {
  return guarded([&] {
    if (kernel != nullptr) tenure::kernel_release(token_of(kernel));
  });
}

tnr_kernel* tnr_kernel_create(tnr_context* context, const tnr_kernel_options* options) noexcept {
  return guarded_pointer([&] {
    const tenure::KernelToken token =
        tenure::kernel_create(use_of(context), read_sized(options, "options"));
    return reinterpret_cast<tnr_kernel*>(static_cast<std::uintptr_t>(token));
  });
}

tnr_kernel* tnr_kernel_retain(tnr_kernel* kernel) noexcept {
  return guarded_pointer([&] {
    tenure::kernel_retain(token_of(kernel));
    return kernel;
  });
}

tnr_status tnr_kernel_launch(tnr_context* context, const tnr_kernel* kernel,
                             const tnr_kernel_grid* grid, const tnr_kernel_argument* arguments,
                             uint32_t argument_count) noexcept {
  return guarded([&] {
    tenure::kernel_launch(use_of(context), token_of(kernel), read_sized(grid, "grid"), arguments,
                          argument_count);
  });
}
