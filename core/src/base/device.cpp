#include "tenure/device.hpp"

#include <cinttypes>
#include <cstdio>

namespace tenure {

DeviceName::DeviceName(tnr_device device) noexcept {
  if (device == kCpu) {
    std::snprintf(text, sizeof text, "the CPU");
  } else if (device.kind == TNR_DEVICE_KIND_CUDA) {
    std::snprintf(text, sizeof text, "cuda:%" PRId32, device.index);
  } else {
    std::snprintf(text, sizeof text, "device %" PRId32 " of kind %" PRId32, device.index,
                  device.kind);
  }
}

}  // namespace tenure
