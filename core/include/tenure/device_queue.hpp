// Queues of work on devices.
//
// A context with a device has a queue. Calls enqueue work on it and return; the work runs in order.
// Blobs on a device have a home, the context that made them: their memory is freed in the order of
// its queue. A call through another context runs after the work that the home's queue has at that
// time, and later work of the home's queue runs after the call (QueueOrder in
// memory/queue_order.hpp). So neither reuse nor the end of a blob meets unfinished work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tenure/device.hpp"
#include "tenure/device_call.hpp"
#include "tenure/status.hpp"

namespace tenure {

class Context;

// The work that a queue had at one moment. Any thread may call any function at any time; they throw
// DEVICE_ERROR.
class DeviceEvent {
 public:
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  virtual ~DeviceEvent() = default;

  virtual void wait() const = 0;
  [[nodiscard]] virtual bool is_done() const = 0;

 protected:
  DeviceEvent() noexcept = default;
};

class DeviceQueue;

// Work that was recorded once, with its addresses, to be enqueued again and again. A run that is
// enqueued while another one is unfinished, on any queue, starts after it. Any thread may call any
// function at any time; enqueued runs outlive the object.
class DeviceRecording {
 public:
  DeviceRecording(const DeviceRecording&) = delete;
  DeviceRecording& operator=(const DeviceRecording&) = delete;
  virtual ~DeviceRecording() = default;

  // On a queue of its device. Throws DEVICE_ERROR.
  virtual void enqueue(const DeviceQueue& queue) const = 0;

 protected:
  DeviceRecording() noexcept = default;
};

// A queue on which nothing runs. A rehearsal comes first: it checks the calls and counts the memory
// that they allocate. Then the same calls are recorded. Both throw UNSUPPORTED for calls that
// cannot be repeated: waits, copies from and to the CPU, and order with other queues. Freed memory
// serves later calls; the caller frees all of it before the end. One thread at a time.
class DeviceRecorder {
 public:
  DeviceRecorder(const DeviceRecorder&) = delete;
  DeviceRecorder& operator=(const DeviceRecorder&) = delete;
  // A recording that was begun and not ended is dropped.
  virtual ~DeviceRecorder() = default;

  [[nodiscard]] virtual const DeviceQueue& queue() const noexcept = 0;
  // The most memory that the calls have had at once.
  [[nodiscard]] virtual std::size_t memory_bytes() const noexcept = 0;
  // Ends the rehearsal. `memory`, aligned to 256, has memory_bytes() bytes, from which the recorded
  // calls allocate. Throws DEVICE_ERROR.
  virtual void begin(void* memory) = 0;
  // Throws DEVICE_ERROR, std::bad_alloc.
  [[nodiscard]] virtual std::unique_ptr<const DeviceRecording> end() = 0;

 protected:
  DeviceRecorder() noexcept = default;
};

// A stream of a device. Any thread may call any function at any time. All but the destructor and
// functions that are noexcept throw DEVICE_ERROR, also for earlier work that failed on the device.
class DeviceQueue {
 public:
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;
  // Waits for the work.
  virtual ~DeviceQueue() = default;

  [[nodiscard]] tnr_device device() const noexcept { return device_; }
  // The number that names its stream, as tnr_cuda_array has it.
  [[nodiscard]] std::uint64_t stream() const noexcept { return stream_; }

  // At least 1 byte, aligned to 256; in the order of the queue, as its end is. Throws
  // OUT_OF_MEMORY.
  [[nodiscard]] virtual void* allocate(std::size_t size_bytes) const = 0;
  virtual void free(void* data) const noexcept = 0;
  // At least 1 byte of the CPU's memory that the device reaches itself, aligned to kBlobAlignment;
  // free_pinned() ends it. Throws OUT_OF_MEMORY.
  [[nodiscard]] virtual void* allocate_pinned(std::size_t size_bytes) const = 0;
  // Throws INVALID_ARGUMENT for memory that the device's driver does not know as the device's own.
  virtual void require_memory(const void* data, std::size_t size_bytes) const = 0;

  // kIn and kOut copy between the CPU and the device, and return when the bytes are there. kWithin
  // copies within the device's memory, and enqueues.
  enum class Direction : std::uint8_t { kIn, kOut, kWithin };
  virtual void copy_bytes(Direction direction, void* out, const void* in,
                          std::size_t size_bytes) const = 0;
  // Enqueues; the memory is the device's.
  virtual void fill_bytes(void* data, unsigned char value, std::size_t size_bytes) const = 0;

  virtual void wait() const = 0;
  // Waits without an error, before memory ends: on a device that has failed nothing runs any more.
  virtual void settle() const noexcept = 0;
  // Later work of this queue starts after the present work of `other`, after an event, or after the
  // present work of a stream (its number as in tnr_cuda_array).
  virtual void follow(const DeviceQueue& other) const = 0;
  virtual void follow(const DeviceEvent& event) const = 0;
  virtual void follow_stream(std::uint64_t stream) const = 0;
  [[nodiscard]] virtual std::unique_ptr<const DeviceEvent> record() const = 0;
  // Lets go of the CPU's memory that finished copies used, as wait() does at its end. Callbacks of
  // blobs may run.
  virtual void end_uses() const noexcept = 0;

  // For work on the device of this queue. Throws UNSUPPORTED for a driver that cannot record.
  [[nodiscard]] virtual std::unique_ptr<DeviceRecorder> open_recorder() const = 0;

  // Operations as ops.hpp, normalize.hpp and movement.hpp have them, on views of the device, with
  // the same checks. Enqueues, and waits where the data decide whether the call is refused. Throws
  // UNSUPPORTED where device_refusal() refuses, and for extents that are too large for a kernel.
  virtual void enqueue(const DeviceCall& call) const = 0;

 protected:
  explicit DeviceQueue(tnr_device device) noexcept : device_(device) {}
  // For the constructor of a derived class.
  void set_stream(std::uint64_t stream) noexcept { stream_ = stream; }

 private:
  tnr_device device_;
  std::uint64_t stream_ = 0;
};

// The queue of a call on a view that lies on a device. Throws INVALID_ARGUMENT for a context
// without a device, or of another; `name` is the view's.
const DeviceQueue& queue_of(const Context& context, const tnr_view& view, const char* name);
// The queue, or nullptr where the view is on the CPU.
const DeviceQueue* queue_on_device(const Context& context, const tnr_view& view, const char* name);
inline tnr_device device_of(const DeviceQueue* queue) noexcept {
  return queue == nullptr ? kCpu : queue->device();
}

// `stream` and `engine` as in tnr_context_options. Throws INVALID_ARGUMENT for a device that is not
// there and a stream of another, UNSUPPORTED where no device can be used, OUT_OF_MEMORY, DEVICE_ERROR.
std::unique_ptr<DeviceQueue> open_queue(tnr_device device, std::uint64_t stream, tnr_engine engine);

// A Refusal in place of the error that the functions below throw where there is no driver; throws
// their other errors.
Refusal devices_refusal(tnr_device_kind kind);
// Throw as open_queue().
std::uint32_t device_count(tnr_device_kind kind);
tnr_device_info describe_device(tnr_device device);

// Ends memory of allocate_pinned(); a tnr_release_fn.
void free_pinned(void* data) noexcept;
// In a child of fork: the driver belongs to the parent, and the child returns nothing to it.
void forget_devices() noexcept;

// Returns the unused memory of the pools of all devices to the driver.
void trim_devices() noexcept;

struct DeviceCounts {
  std::uint64_t launches;
  std::uint64_t waits;
};
DeviceCounts device_counts() noexcept;

}  // namespace tenure
