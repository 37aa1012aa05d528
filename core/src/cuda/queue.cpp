#include "cuda/queue.hpp"

#include <atomic>
#include <cinttypes>

namespace tenure {
namespace {

// Totals of the whole process. Each goes with a call of the driver, beside which it costs nothing.
constinit std::atomic<std::uint64_t> g_launches{0};
constinit std::atomic<std::uint64_t> g_waits{0};

void count(std::atomic<std::uint64_t>& total) noexcept {
  total.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

DeviceCounts device_counts() noexcept {
  return {g_launches.load(std::memory_order_relaxed), g_waits.load(std::memory_order_relaxed)};
}

std::unique_ptr<DeviceQueue> open_queue(tnr_device device, std::uint64_t stream) {
  if (device.kind != TNR_DEVICE_KIND_CUDA) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "device is %s, which there is not", DeviceName(device).text);
  }
  return std::make_unique<cuda::Queue>(cuda::Device::open(device.index), stream);
}

namespace cuda {
namespace {

Address address_of(const void* data) noexcept { return reinterpret_cast<std::uintptr_t>(data); }

// The work of a stream so far, for others to wait for. CUDA keeps what a wait still needs of an
// event that is destroyed.
class Mark {
 public:
  Mark(const Device& device, Stream stream) {
    const Driver& table = opened_driver();
    const Current current(device);
    require(table.event_create(&event_, kEventDisableTiming), "cuEventCreate");
    const Result recorded = table.event_record(event_, stream);
    if (recorded == Result::kSuccess) return;
    table.event_destroy(event_);
    refuse(recorded, "cuEventRecord");
  }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  ~Mark() { opened_driver().event_destroy(event_); }

  [[nodiscard]] Event event() const noexcept { return event_; }

 private:
  Event event_ = nullptr;
};

}  // namespace

Queue::Queue(Device& device, std::uint64_t stream)
    : DeviceQueue({TNR_DEVICE_KIND_CUDA, device.index()}), device_(device) {
  const Driver& table = opened_driver();
  const Current current(device);
  if (stream == 0) {
    require(table.stream_create(&stream_, kStreamNonBlocking), "cuStreamCreate");
    is_own_ = true;
    return;
  }
  if (stream == kPerThreadStream) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "stream is 2, CUDA's per-thread default stream, which is another on each thread: memory "
         "may end on any");
  }
  stream_ = reinterpret_cast<Stream>(static_cast<std::uintptr_t>(stream));
  // The legacy stream is in each context; of others the driver knows whose they are.
  if (stream == kLegacyStream) return;
  PrimaryContext of_stream = nullptr;
  if (table.stream_context(stream_, &of_stream) != Result::kSuccess) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "stream is 0x%" PRIx64 ", which the driver does not know",
         stream);
  }
  if (of_stream != device.context()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "stream is 0x%" PRIx64 ", which is not one of %s", stream,
         DeviceName(this->device()).text);
  }
}

Queue::~Queue() {
  settle();
  if (is_own_) opened_driver().stream_destroy(stream_);
}

void* Queue::allocate(std::size_t size_bytes) const {
  const Driver& table = opened_driver();
  const Current current(device_);
  Address memory = 0;
  Result result = table.allocate(&memory, size_bytes, stream_);
  if (result == Result::kOutOfMemory) {
    // Pools of other streams may hold what has ended there: wait for it, give it back, and ask
    // once more.
    settle();
    device_.trim();
    result = table.allocate(&memory, size_bytes, stream_);
  }
  if (result == Result::kOutOfMemory) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "%zu bytes could not be allocated on %s", size_bytes,
         DeviceName(device()).text);
  }
  require(result, "cuMemAllocAsync");
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(memory));
}

void Queue::free(void* data) const noexcept {
  try {
    const Current current(device_);
    // An error means that the device has failed, and its memory went with it.
    static_cast<void>(opened_driver().free(address_of(data), stream_));
  } catch (const Error&) {
    return;
  }
}

void Queue::require_memory(const void* data, std::size_t size_bytes) const {
  if (size_bytes == 0) return;
  const Driver& table = opened_driver();
  const Current current(device_);
  unsigned type = 0;
  unsigned is_managed = 0;
  int ordinal = 0;
  const Result known = table.pointer_attribute(&type, kPointerMemoryType, address_of(data));
  if (known != Result::kSuccess || type != kMemoryTypeDevice) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "data is %p, which is no memory of %s", data,
         DeviceName(device()).text);
  }
  require(table.pointer_attribute(&is_managed, kPointerIsManaged, address_of(data)),
          "cuPointerGetAttribute");
  if ((is_managed & 0xffu) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "data is %p, managed memory, which moves between devices by itself and cannot be lent",
         data);
  }
  require(table.pointer_attribute(&ordinal, kPointerDeviceOrdinal, address_of(data)),
          "cuPointerGetAttribute");
  if (ordinal != device().index) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "data is %p, memory of cuda:%d, but the context's device is %s", data, ordinal,
         DeviceName(device()).text);
  }
}

void Queue::copy_in(void* out, const void* in, std::size_t size_bytes) const {
  if (size_bytes == 0) return;
  {
    const Current current(device_);
    require(opened_driver().copy_to_device(address_of(out), in, size_bytes, stream_),
            "cuMemcpyHtoDAsync");
  }
  // The driver has read all of pageable memory by now; pinned memory it may still have to read.
  wait();
}

void Queue::copy_out(void* out, const void* in, std::size_t size_bytes) const {
  if (size_bytes == 0) return;
  {
    const Current current(device_);
    require(opened_driver().copy_to_host(out, address_of(in), size_bytes, stream_),
            "cuMemcpyDtoHAsync");
  }
  wait();
}

void Queue::copy_bytes(void* out, const void* in, std::size_t size_bytes) const {
  if (size_bytes == 0) return;
  const Current current(device_);
  require(opened_driver().copy(address_of(out), address_of(in), size_bytes, stream_),
          "cuMemcpyDtoDAsync");
}

void Queue::fill_bytes(void* data, unsigned char value, std::size_t size_bytes) const {
  if (size_bytes == 0) return;
  const Current current(device_);
  require(opened_driver().fill_bytes(address_of(data), value, size_bytes, stream_),
          "cuMemsetD8Async");
}

void Queue::wait() const {
  const Current current(device_);
  count(g_waits);
  require(opened_driver().stream_synchronize(stream_), "cuStreamSynchronize");
}

void Queue::settle() const noexcept {
  try {
    wait();
  } catch (const Error&) {
    return;
  }
}

void Queue::follow(const DeviceQueue& other) const {
  const auto& queue = static_cast<const Queue&>(other);  // CUDA's is the only kind
  if (queue.stream_ == stream_ && &queue.device_ == &device_) return;
  const Mark mark(queue.device_, queue.stream_);
  const Current current(device_);
  require(opened_driver().stream_wait_event(stream_, mark.event(), 0), "cuStreamWaitEvent");
}

void Queue::launch(Kernel kernel, Grid grid, const void* argument) const {
  const Current current(device_);
  void* parameters[] = {const_cast<void*>(argument)};
  count(g_launches);
  const Result result = opened_driver().launch(device_.function(kernel), grid.blocks, 1, 1,
                                               grid.threads, 1, 1, 0, stream_, parameters, nullptr);
  if (result != Result::kSuccess) [[unlikely]]
    refuse(result, name_of(kernel));
}

}  // namespace cuda
}  // namespace tenure
