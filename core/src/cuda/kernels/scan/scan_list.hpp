// The kernels of scans, as kernels.hpp takes them: by the type that is computed in.
#pragma once

// clang-format off
#define TENURE_SCAN_KERNELS(KERNEL) \
  KERNEL(scan_floats) KERNEL(scan_scaled) KERNEL(scan_integers)
// clang-format on
