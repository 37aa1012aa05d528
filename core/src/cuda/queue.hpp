// A stream of a CUDA device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device.hpp"
#include "cuda/host_uses.hpp"
#include "cuda/kernels.hpp"
#include "tenure/device_queue.hpp"

namespace tenure::cuda {

// One-dimensional, both.
struct Grid {
  unsigned blocks;
  unsigned threads;
};

class Recorder;

// The stream that a user's number names.
inline Stream stream_of(std::uint64_t number) noexcept {
  return reinterpret_cast<Stream>(static_cast<std::uintptr_t>(number));
}

class Queue final : public DeviceQueue {
 public:
  // `stream` and `engine` as in tnr_context_options.
  Queue(Device& device, std::uint64_t stream, tnr_engine engine);
  // A queue that records into `recorder` for all of its life.
  Queue(Device& device, tnr_engine engine, Recorder& recorder);
  ~Queue() override;

  [[nodiscard]] void* allocate(std::size_t size_bytes) const override;
  void free(void* data) const noexcept override;
  [[nodiscard]] void* allocate_pinned(std::size_t size_bytes) const override;
  void require_memory(const void* data, std::size_t size_bytes) const override;
  void copy_bytes(Direction direction, void* out, const void* in,
                  std::size_t size_bytes) const override;
  void fill_bytes(void* data, unsigned char value, std::size_t size_bytes) const override;
  void wait() const override;
  void settle() const noexcept override;
  void follow(const DeviceQueue& other) const override;
  void follow(const DeviceEvent& event) const override;
  void follow_stream(std::uint64_t stream) const override;
  [[nodiscard]] std::unique_ptr<const DeviceEvent> record() const override;
  void end_uses() const noexcept override;
  [[nodiscard]] std::unique_ptr<DeviceRecorder> open_recorder() const override;

  void enqueue(const DeviceCall& call) const override;

  // Enqueues the kernel with its one argument, which is copied. An error names the kernel.
  void launch(Kernel kernel, Grid grid, const void* argument) const;
  template <class Argument>
  void launch(Kernel kernel, Grid grid, const Argument& argument) const {
    launch(kernel, grid, static_cast<const void*>(&argument));
  }
  // Enqueues a function that is none of the library's own kernels; an error has `name`.
  void launch(Function function, const char* name, Grid grid, const void* argument) const;
  // Launches by call(stream), which has a library enqueue work, with the device's context current;
  // throws the errors of the call.
  template <class Call>
  void launch_by(const Call& call) const {
    const Current current(device_);
    if (begins_launch()) call(handle());
  }
  // Whether products and convolutions are by the vendor's libraries. Throws what
  // environment_engine() does, where the context leaves the engine to the environment.
  [[nodiscard]] bool is_by_vendor() const;
  // Whether code may be loaded now: not while a driver records.
  [[nodiscard]] bool may_load() const noexcept { return recorder_ == nullptr || is_rehearsal(); }
  // Copies from and to the CPU that do not wait: memory of the CPU is in use until they are done.
  void enqueue_in(void* out, const void* in, std::size_t size_bytes) const;
  void enqueue_out(void* out, const void* in, std::size_t size_bytes) const;
  // Keeps a blob of the CPU for them, which the caller has pinned; waits where that cannot be had.
  void keep_in_use(BlobToken owner) const noexcept;
  // Between the memory of two devices.
  void copy_between(const Device& out_device, void* out, const Device& in_device, const void* in,
                    std::size_t size_bytes) const;

  [[nodiscard]] const Device& opened_device() const noexcept { return device_; }
  [[nodiscard]] Stream handle() const noexcept { return stream_of(stream()); }
  [[nodiscard]] unsigned multiprocessor_count() const noexcept {
    return device_.multiprocessor_count();
  }

  // Memory of one call, which ends in the order of the queue.
  class Scratch {
   public:
    Scratch(const Queue& queue, std::size_t size_bytes)
        : queue_(queue), data_(queue.allocate(size_bytes)) {}
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { queue_.free(data_); }

    [[nodiscard]] void* data() const noexcept { return data_; }

   private:
    const Queue& queue_;
    void* data_;
  };

 private:
  void create_stream();
  // Counts a launch; false where it is only rehearsed.
  [[nodiscard]] bool begins_launch() const noexcept;
  // The device's context is current. Gives kSuccess also for a launch that is only rehearsed.
  [[nodiscard]] Result launch_here(Function function, Grid grid, const void* argument) const;
  // Whether calls are only rehearsed.
  [[nodiscard]] bool is_rehearsal() const noexcept;
  // Throws UNSUPPORTED where work is recorded; `what` is what the call does.
  void require_live(const char* what) const {
    if (recorder_ != nullptr) [[unlikely]]
      refuse_to_record(what);
  }
  [[noreturn, gnu::cold]] static void refuse_to_record(const char* what);

  Device& device_;
  bool is_own_ = false;
  tnr_engine engine_;
  Recorder* const recorder_ = nullptr;
  mutable HostUses host_uses_;
};

}  // namespace tenure::cuda
