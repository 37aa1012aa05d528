#include "cuda/queue.hpp"

#include <cinttypes>

#include "cuda/recorder.hpp"
#include "tenure/counters.hpp"
#include "tenure/engine.hpp"

namespace tenure {

std::unique_ptr<DeviceQueue> open_queue(tnr_device device, std::uint64_t stream,
                                        tnr_engine engine) {
  if (device.kind != TNR_DEVICE_KIND_CUDA) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "device is %s, which there is not", DeviceName(device).text);
  }
  return std::make_unique<cuda::Queue>(cuda::Device::open(device.index), stream, engine);
}

namespace cuda {
namespace {

Address address_of(const void* data) noexcept { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace

Queue::Queue(Device& device, std::uint64_t stream, tnr_engine engine)
    : DeviceQueue({TNR_DEVICE_KIND_CUDA, device.index()}), device_(device), engine_(engine) {
  const Driver& table = opened_driver();
  const Current current(device);
  if (stream == 0) {
    create_stream();
    return;
  }
  if (stream == kPerThreadStream) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "stream is 2, CUDA's per-thread default stream, which is another on each thread: memory "
         "may end on any");
  }
  set_stream(stream);
  // The legacy stream is in each context; of others the driver knows whose they are.
  if (stream == kLegacyStream) return;
  PrimaryContext of_stream = nullptr;
  if (table.stream_context(handle(), &of_stream) != Result::kSuccess) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "stream is 0x%" PRIx64 ", which the driver does not know",
         stream);
  }
  if (of_stream != device.context()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "stream is 0x%" PRIx64 ", which is not one of %s", stream,
         DeviceName(this->device()).text);
  }
}

Queue::Queue(Device& device, tnr_engine engine, Recorder& recorder)
    : DeviceQueue({TNR_DEVICE_KIND_CUDA, device.index()}),
      device_(device),
      engine_(engine),
      recorder_(&recorder) {
  const Current current(device);
  create_stream();
}

void Queue::create_stream() {
  Stream stream = nullptr;
  require(opened_driver().stream_create(&stream, kStreamNonBlocking), "cuStreamCreate");
  set_stream(reinterpret_cast<std::uintptr_t>(stream));
  is_own_ = true;
}

bool Queue::is_rehearsal() const noexcept {
  return recorder_ != nullptr && recorder_->is_rehearsal();
}

void Queue::refuse_to_record(const char* what) {
  fail(TNR_STATUS_UNSUPPORTED, "%s, which recorded work cannot", what);
}

std::unique_ptr<DeviceRecorder> Queue::open_recorder() const {
  return std::make_unique<Recorder>(device_, engine_);
}

Queue::~Queue() {
  // Nothing runs on the stream of a recorder.
  if (recorder_ == nullptr) settle();
  if (is_own_) opened_driver().stream_destroy(handle());
}

void* Queue::allocate(std::size_t size_bytes) const {
  if (recorder_ != nullptr) [[unlikely]]
    return recorder_->allocate(size_bytes);
  const Driver& table = opened_driver();
  const Current current(device_);
  Address memory = 0;
  Result result = table.allocate(&memory, size_bytes, handle());
  if (result == Result::kOutOfMemory) {
    // The device's pool may hold memory whose use has ended: wait for this stream, give free memory
    // back, and ask once more.
    settle();
    device_.trim();
    result = table.allocate(&memory, size_bytes, handle());
  }
  if (result == Result::kOutOfMemory) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "%zu bytes could not be allocated on %s", size_bytes,
         DeviceName(device()).text);
  }
  require(result, "cuMemAllocAsync");
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(memory));
}

void Queue::free(void* data) const noexcept {
  if (recorder_ != nullptr) [[unlikely]]
    return recorder_->free(data);
  try {
    const Current current(device_);
    // An error means that the device has failed, and its memory went with it.
    static_cast<void>(opened_driver().free(address_of(data), handle()));
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

void Queue::enqueue_in(void* out, const void* in, std::size_t size_bytes) const {
  require_live("copies from the CPU");
  const Current current(device_);
  require(opened_driver().copy_to_device(address_of(out), in, size_bytes, handle()),
          "cuMemcpyHtoDAsync");
}

void Queue::enqueue_out(void* out, const void* in, std::size_t size_bytes) const {
  require_live("waits for what it finds in the data");
  const Current current(device_);
  require(opened_driver().copy_to_host(out, address_of(in), size_bytes, handle()),
          "cuMemcpyDtoHAsync");
}

void Queue::keep_in_use(BlobToken owner) const noexcept {
  // Some of the copies before this one may be done.
  host_uses_.end_done();
  try {
    host_uses_.add(device_, handle(), owner);
  } catch (...) {
    settle();
  }
}

void Queue::end_uses() const noexcept { host_uses_.end_done(); }

void Queue::copy_between(const Device& out_device, void* out, const Device& in_device,
                         const void* in, std::size_t size_bytes) const {
  require_live("copies between devices");
  const Current current(device_);
  require(opened_driver().copy_between(address_of(out), out_device.context(), address_of(in),
                                       in_device.context(), size_bytes, handle()),
          "cuMemcpyPeerAsync");
}

void Queue::copy_bytes(Direction direction, void* out, const void* in,
                       std::size_t size_bytes) const {
  if (size_bytes == 0) return;
  switch (direction) {
    case Direction::kIn: enqueue_in(out, in, size_bytes); return wait();
    case Direction::kOut: enqueue_out(out, in, size_bytes); return wait();
    case Direction::kWithin: break;
  }
  if (is_rehearsal()) return;
  const Current current(device_);
  require(opened_driver().copy(address_of(out), address_of(in), size_bytes, handle()),
          "cuMemcpyDtoDAsync");
}

void Queue::fill_bytes(void* data, unsigned char value, std::size_t size_bytes) const {
  if (size_bytes == 0 || is_rehearsal()) return;
  const Current current(device_);
  require(opened_driver().fill_bytes(address_of(data), value, size_bytes, handle()),
          "cuMemsetD8Async");
}

void Queue::wait() const {
  require_live("waits for the device");
  {
    const Current current(device_);
    count_wait();
    require(opened_driver().stream_synchronize(handle()), "cuStreamSynchronize");
  }
  end_uses();
}

void Queue::settle() const noexcept {
  try {
    wait();
  } catch (const Error&) {
    return;
  }
}

void Queue::follow(const DeviceQueue& other) const {
  require_live("comes after other work");
  const auto& queue = static_cast<const Queue&>(other);  // CUDA's is the only kind
  if (queue.stream() == stream() && &queue.device_ == &device_) return;
  follow(Mark(queue.device_, queue.handle()));
}

void Queue::follow(const DeviceEvent& event) const {
  require_live("comes after other work");
  const auto& mark = static_cast<const Mark&>(event);  // as above
  const Current current(device_);
  require(opened_driver().stream_wait_event(handle(), mark.event(), 0), "cuStreamWaitEvent");
}

void Queue::follow_stream(std::uint64_t stream) const {
  require_live("comes after other work");
  if (stream_of(stream) != handle()) follow(Mark(device_, stream_of(stream)));
}

std::unique_ptr<const DeviceEvent> Queue::record() const {
  require_live("is waited for by others");
  return std::make_unique<const Mark>(device_, handle());
}

bool Queue::begins_launch() const noexcept {
  if (recorder_ != nullptr) [[unlikely]]
    return !recorder_->is_rehearsal();
  count_launch();
  return true;
}

bool Queue::is_by_vendor() const { return chosen_engine(engine_) == TNR_ENGINE_VENDOR; }

inline Result Queue::launch_here(Function function, Grid grid, const void* argument) const {
  void* parameters[] = {const_cast<void*>(argument)};
  if (!begins_launch()) return Result::kSuccess;
  return opened_driver().launch(function, grid.blocks, 1, 1, grid.threads, 1, 1, 0, handle(),
                                parameters, nullptr);
}

void Queue::launch(Kernel kernel, Grid grid, const void* argument) const {
  const Current current(device_);
  // Loaded by a rehearsal too, as that asks the driver for what recorded work may not.
  const Result result = launch_here(device_.function(kernel), grid, argument);
  if (result != Result::kSuccess) [[unlikely]]
    refuse(result, name_of(kernel));
}

void Queue::launch(Function function, const char* name, Grid grid, const void* argument) const {
  const Current current(device_);
  require(launch_here(function, grid, argument), name);
}

}  // namespace cuda
}  // namespace tenure
