#include "cuda/device.hpp"

#include <cinttypes>
#include <cstdio>
#include <mutex>

#include "tenure/device_queue.hpp"

namespace tenure::cuda {
namespace {

// The compute capability of the oldest machine code among the kernels.
constexpr int kLeastCapabilityMajor = 8;

constinit Mutex g_opening;  // of devices; kernels are loaded without it
constinit Device g_devices[kMaxDevices];

int attribute_of(DeviceNumber number, int which) {
  int value = 0;
  require(driver().device_attribute(&value, which, number), "cuDeviceGetAttribute");
  return value;
}

DeviceNumber number_of(std::int32_t index) {
  const int count = static_cast<int>(device_count(TNR_DEVICE_KIND_CUDA));
  if (index < 0 || index >= count) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "device is cuda:%" PRId32 " but there are %d devices of that kind", index, count);
  }
  DeviceNumber number = 0;
  require(driver().device_get(&number, index), "cuDeviceGet");
  return number;
}

}  // namespace

Device& Device::open(std::int32_t index) {
  const bool is_known = index >= 0 && index < kMaxDevices;
  if (is_known && g_devices[index].is_open_.load(std::memory_order_acquire)) {
    return g_devices[index];
  }
  const std::lock_guard lock(g_opening);
  const DeviceNumber number = number_of(index);
  Device& device = g_devices[index];
  if (!device.is_open_.load(std::memory_order_relaxed)) {
    device.index_ = index;
    device.number_ = number;
    device.open_at(index);
  }
  return device;
}

void Device::open_at(std::int32_t index) {
  const Driver& table = driver();
  const int major = attribute_of(number_, kAttributeComputeCapabilityMajor);
  const int minor = attribute_of(number_, kAttributeComputeCapabilityMinor);
  if (fat_binary().size_bytes == 0 && table.own_kernels == nullptr) {
    fail(TNR_STATUS_UNSUPPORTED,
         "cuda:%" PRId32
         ": this library was built without kernels for GPUs: run `./x kernels` before the build, "
         "or name the file with them in TENURE_CUDA_FAT_BINARY",
         index);
  }
  if (major < kLeastCapabilityMajor) {
    fail(TNR_STATUS_UNSUPPORTED,
         "cuda:%" PRId32 " has the compute capability %d.%d but the kernels need %d.0 or higher",
         index, major, minor, kLeastCapabilityMajor);
  }
  if (attribute_of(number_, kAttributeMemoryPoolsSupported) == 0) {
    fail(TNR_STATUS_UNSUPPORTED, "cuda:%" PRId32 " has no memory pools", index);
  }
  multiprocessor_count_ =
      static_cast<unsigned>(attribute_of(number_, kAttributeMultiprocessorCount));
  capability_ = 10 * major + minor;
  require(table.device_default_pool(&pool_, number_), "cuDeviceGetDefaultMemPool");
  // Freed memory stays in the pool for the next: else each wait gives it back to the system.
  std::uint64_t kept_bytes = UINT64_MAX;
  require(table.pool_set(pool_, kPoolReleaseThreshold, &kept_bytes), "cuMemPoolSetAttribute");
  // Retained once for the life of the process.
  if (context_ == nullptr) {
    require(table.primary_retain(&context_, number_), "cuDevicePrimaryCtxRetain");
  }
  if (library_ == nullptr) {
    const Current current(*this);
    const Result loaded =
        table.library_load(&library_, fat_binary().data, nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (loaded == Result::kNoBinaryForGpu || loaded == Result::kUnsupportedPtx) {
      fail(TNR_STATUS_UNSUPPORTED,
           "cuda:%" PRId32 " has the compute capability %d.%d, for which there are no kernels here",
           index, major, minor);
    }
    require(loaded, "cuLibraryLoadData");
  }
  is_open_.store(true, std::memory_order_release);
}

Function Device::load(Kernel kernel) {
  const Driver& table = opened_driver();
  KernelHandle handle = nullptr;
  Function function = nullptr;
  require(table.library_kernel(&handle, library_, name_of(kernel)), name_of(kernel));
  require(table.kernel_function(&function, handle), name_of(kernel));
  // Two threads that come at once get the same function.
  functions_[static_cast<unsigned>(kernel)].store(function, std::memory_order_release);
  return function;
}

int Device::attribute(int which) const { return attribute_of(number_, which); }

Device* Device::first_open() noexcept {
  for (Device& device : g_devices) {
    if (device.is_open_.load(std::memory_order_acquire)) return &device;
  }
  return nullptr;
}

void Device::trim() noexcept { opened_driver().pool_trim(pool_, 0); }

void Device::trim_all() noexcept {
  for (Device& device : g_devices) {
    if (device.is_open_.load(std::memory_order_acquire)) device.trim();
  }
}

void Current::push(const Device& device) {
  require(opened_driver().context_push(device.context()), "cuCtxPushCurrent");
  is_pushed_ = true;
}

void Current::pop() noexcept {
  PrimaryContext own = nullptr;
  opened_driver().context_pop(&own);
}

}  // namespace tenure::cuda

namespace tenure {

Refusal devices_refusal(tnr_device_kind kind) {
  return kind == TNR_DEVICE_KIND_CUDA ? cuda::driver_refusal() : Refusal(std::nullopt);
}

std::uint32_t device_count(tnr_device_kind kind) {
  if (kind == TNR_DEVICE_KIND_CPU) return 1;
  if (kind != TNR_DEVICE_KIND_CUDA) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "kind is %" PRId32 ", which no kind of device has", kind);
  }
  int count = 0;
  cuda::require(cuda::driver().device_count(&count), "cuDeviceGetCount");
  return static_cast<std::uint32_t>(count < cuda::kMaxDevices ? count : cuda::kMaxDevices);
}

tnr_device_info describe_device(tnr_device device) {
  tnr_device_info info{};
  if (device == kCpu) {
    static_cast<void>(std::snprintf(info.name, sizeof info.name, "CPU"));
    return info;
  }
  if (device.kind != TNR_DEVICE_KIND_CUDA) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "device is %s, which there is not", DeviceName(device).text);
  }
  const cuda::DeviceNumber number = cuda::number_of(device.index);
  const auto ask = [number](int which) {
    return static_cast<std::uint32_t>(cuda::attribute_of(number, which));
  };
  info.capability_major = ask(cuda::kAttributeComputeCapabilityMajor);
  info.capability_minor = ask(cuda::kAttributeComputeCapabilityMinor);
  info.multiprocessor_count = ask(cuda::kAttributeMultiprocessorCount);
  std::size_t memory_bytes = 0;
  cuda::require(cuda::driver().device_total_memory(&memory_bytes, number), "cuDeviceTotalMem");
  info.memory_bytes = memory_bytes;
  cuda::require(cuda::driver().device_name(info.name, sizeof info.name - 1, number),
                "cuDeviceGetName");
  return info;
}

void trim_devices() noexcept { cuda::Device::trim_all(); }

}  // namespace tenure
