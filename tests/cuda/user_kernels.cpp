// The kernels of user_kernels.cu for the host.
#include "simt_parameters.hpp"

#define __global__
namespace {
#include "user_kernels.cu"
}  // namespace

TENURE_SIMT_KERNEL(masked_crop, "masked_crop", masked_crop)
TENURE_SIMT_KERNEL(axpy, "axpy", axpy)
TENURE_SIMT_KERNEL(add_scaled, "add_scaled", add_scaled)
TENURE_SIMT_KERNEL(describe, "describe", describe)
TENURE_SIMT_KERNEL(places, "places", places)
TENURE_SIMT_KERNEL(nothing, "nothing", nothing)
TENURE_SIMT_KERNEL(scale_f32, "scale<float>", scale<float>)
