// Memory of the CPU that the driver has pinned.
#include <atomic>
#include <cinttypes>

#include "cuda/queue.hpp"

namespace tenure {
namespace cuda {
namespace {

constinit std::atomic<bool> g_is_forgotten{false};

}  // namespace

bool is_driver_forgotten() noexcept { return g_is_forgotten.load(std::memory_order_relaxed); }

void* Queue::allocate_pinned(std::size_t size_bytes) const {
  const Current current(device_);
  void* memory = nullptr;
  // Pages, and those of all devices: a multiple of kBlobAlignment.
  const Result result = opened_driver().allocate_pinned(&memory, size_bytes, kPinnedPortable);
  if (result == Result::kOutOfMemory) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "%zu bytes could not be pinned for %s", size_bytes,
         DeviceName(device()).text);
  }
  require(result, "cuMemHostAlloc");
  return memory;
}

}  // namespace cuda

void free_pinned(void* data) noexcept {
  if (cuda::is_driver_forgotten()) return;
  try {
    // Any device's context will do, and one is open: it has pinned the memory.
    const cuda::Current current(*cuda::Device::first_open());
    static_cast<void>(cuda::opened_driver().free_pinned(data));
  } catch (const Error&) {
    return;  // the driver has ended, and all of its memory
  }
}

void forget_devices() noexcept { cuda::g_is_forgotten.store(true, std::memory_order_relaxed); }

}  // namespace tenure
