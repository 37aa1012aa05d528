// The state that a library needs once for a device.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "base/mutex.hpp"
#include "cuda/device.hpp"

namespace tenure::cuda {

// The most scratch memory that a library may have for one call. NVIDIA's guide recommends as much
// for cuBLASLt on sm_90.
inline constexpr std::size_t kMostWorkspaceBytes = std::size_t{32} << 20;

// A State(device) for each device, made with its context current by the first call that asks for
// it. Never destroyed: a handle's end waits for the device, and the driver may end before it.
template <class State>
class DeviceStates {
 public:
  constexpr DeviceStates() noexcept = default;

  // Throws what the constructor does; a later call tries again.
  State& of(const Device& device) {
    std::atomic<State*>& place = states_[device.index()];
    if (State* const made = place.load(std::memory_order_acquire)) return *made;
    const std::lock_guard lock(mutex_);
    if (place.load(std::memory_order_relaxed) == nullptr) {
      place.store(std::make_unique<State>(device).release(), std::memory_order_release);
    }
    return *place.load(std::memory_order_relaxed);
  }

 private:
  Mutex mutex_;
  std::atomic<State*> states_[kMaxDevices] = {};
};

// A descriptor of a library's, of one call.
template <class Handle, class Status>
class Descriptor {
 public:
  explicit Descriptor(Status (*destroy)(Handle)) noexcept : destroy_(destroy) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (handle_ != nullptr) static_cast<void>(destroy_(handle_));
  }

  [[nodiscard]] Handle get() const noexcept { return handle_; }
  // For the functions that make one.
  [[nodiscard]] Handle* to_make() noexcept { return &handle_; }

 private:
  Status (*destroy_)(Handle);
  Handle handle_ = nullptr;
};

}  // namespace tenure::cuda
