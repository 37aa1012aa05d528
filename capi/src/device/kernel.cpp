// Kernels of the caller's own in C: unwrap, call, wrap.
#include "tenure/kernel.hpp"

#include "boundary.hpp"

using tenure::capi::guarded;
using tenure::capi::guarded_pointer;
using tenure::capi::handle_of;
using tenure::capi::read_sized;
using tenure::capi::release_handle;
using tenure::capi::retain_handle;
using tenure::capi::token_of;
using tenure::capi::use_of;

tnr_status tnr_kernel_release(tnr_kernel* kernel) noexcept {
  return release_handle(kernel, tenure::kernel_release);
}

tnr_kernel* tnr_kernel_create(tnr_context* context, const tnr_kernel_options* options) noexcept {
  return guarded_pointer([&] {
    const tenure::KernelToken token =
        tenure::kernel_create(use_of(context), read_sized(options, "options"));
    return handle_of<tnr_kernel>(token);
  });
}

tnr_kernel* tnr_kernel_retain(tnr_kernel* kernel) noexcept {
  return retain_handle(kernel, tenure::kernel_retain);
}

tnr_status tnr_kernel_launch(tnr_context* context, const tnr_kernel* kernel,
                             const tnr_kernel_grid* grid, const tnr_kernel_argument* arguments,
                             uint32_t argument_count) noexcept {
  return guarded([&] {
    tenure::kernel_launch(use_of(context), token_of(kernel), read_sized(grid, "grid"), arguments,
                          argument_count);
  });
}
