// Devices: where memory can be besides the CPU's.
#pragma once

#include "tenure/status.hpp"

namespace tenure {

inline constexpr tnr_device kCpu = {TNR_DEVICE_KIND_CPU, 0};

constexpr bool operator==(const tnr_device& a, const tnr_device& b) noexcept {
  return a.kind == b.kind && a.index == b.index;
}

// "the CPU", "cuda:1", "a device of kind 7"; for messages.
struct DeviceName {
  explicit DeviceName(tnr_device device) noexcept;
  char text[40];
};

}  // namespace tenure
