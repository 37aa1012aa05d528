// Work that is recorded on a stream of its own, by a capture of the driver's, and its end: a graph
// that the driver launches as one.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/mutex.hpp"
#include "cuda/queue.hpp"
#include "tenure/device_queue.hpp"

namespace tenure::cuda {

class Recorder final : public DeviceRecorder {
 public:
  // Throws UNSUPPORTED, naming the entry point that the driver lacks, and DEVICE_ERROR.
  Recorder(Device& device, tnr_engine engine);
  ~Recorder() override;

  [[nodiscard]] const DeviceQueue& queue() const noexcept override { return queue_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept override { return most_bytes_; }
  void begin(void* memory) override;
  [[nodiscard]] std::unique_ptr<const DeviceRecording> end() override;

  // For the queue. Until begin() nothing may reach the stream.
  [[nodiscard]] bool is_rehearsal() const noexcept { return is_rehearsal_; }
  // The first gap that is large enough.
  [[nodiscard]] void* allocate(std::size_t size_bytes);
  void free(void* data) noexcept;

 private:
  struct Piece {
    std::size_t begin;
    std::size_t end;
  };

  [[nodiscard]] char* base() const noexcept;
  // Throws DEVICE_ERROR, also for a capture that the driver has given up.
  [[nodiscard]] Graph end_capture();

  Device& device_;
  std::vector<Piece> live_;  // in their order in memory
  std::size_t most_bytes_ = 0;
  char* memory_ = nullptr;
  bool is_rehearsal_ = true;
  bool is_capturing_ = false;
  const Queue queue_;
};

class Recording final : public DeviceRecording {
 public:
  // Throws DEVICE_ERROR. The graph stays the caller's.
  Recording(const Device& device, Graph graph);
  // In a child of fork nothing ends.
  ~Recording() override;

  void enqueue(const DeviceQueue& queue) const override;

 private:
  const Device& device_;
  mutable Mutex mutex_;  // the driver's graphs are for one thread at a time
  GraphRun run_ = nullptr;
};

}  // namespace tenure::cuda
