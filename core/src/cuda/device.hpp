// CUDA's devices, as far as this process uses them.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.hpp"
#include "cuda/driver.hpp"
#include "cuda/kernels.hpp"

namespace tenure::cuda {

inline constexpr int kMaxDevices = 64;

// One device with its primary context, in which the allocations of other libraries live too, and
// the kernels. It is opened once and stays, as the driver does.
class Device {
 public:
  // Throws INVALID_ARGUMENT for a number that no device has, UNSUPPORTED without a driver or
  // without kernels for it, or DEVICE_ERROR. A later call tries again.
  static Device& open(std::int32_t index);

  [[nodiscard]] std::int32_t index() const noexcept { return index_; }
  [[nodiscard]] DeviceNumber number() const noexcept { return number_; }
  [[nodiscard]] PrimaryContext context() const noexcept { return context_; }
  [[nodiscard]] Pool pool() const noexcept { return pool_; }
  [[nodiscard]] unsigned multiprocessor_count() const noexcept { return multiprocessor_count_; }
  // 90 for the compute capability 9.0.
  [[nodiscard]] int capability() const noexcept { return capability_; }
  // Throws DEVICE_ERROR.
  [[nodiscard]] int attribute(int which) const;

  // The kernel, loaded by the first call that asks for it. The device's context is current.
  [[nodiscard]] Function function(Kernel kernel) {
    const Function loaded =
        functions_[static_cast<unsigned>(kernel)].load(std::memory_order_acquire);
    return loaded != nullptr ? loaded : load(kernel);
  }

  // nullptr where none is open.
  static Device* first_open() noexcept;

  // Gives unused memory of the pool back to the system.
  void trim() noexcept;
  // Trims the pools of all open devices.
  static void trim_all() noexcept;

 private:
  void open_at(std::int32_t index);
  Function load(Kernel kernel);

  std::int32_t index_ = 0;
  DeviceNumber number_ = 0;
  PrimaryContext context_ = nullptr;
  Pool pool_ = nullptr;
  Library library_ = nullptr;
  unsigned multiprocessor_count_ = 0;
  int capability_ = 0;
  std::atomic<bool> is_open_{false};  // release: a thread that sees it sees all above
  std::atomic<Function> functions_[kKernelCount] = {};
};

// Makes the device's context the calling thread's for the time of the object.
class Current {
 public:
  explicit Current(const Device& device) {
    PrimaryContext current = nullptr;
    require(opened_driver().context_current(&current), "cuCtxGetCurrent");
    if (current != device.context()) [[unlikely]]
      push(device);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    if (is_pushed_) [[unlikely]]
      pop();
  }

 private:
  void push(const Device& device);
  static void pop() noexcept;

  bool is_pushed_ = false;
};

}  // namespace tenure::cuda
