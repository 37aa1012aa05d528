// The work that a stream had got at one moment.
#pragma once

#include "cuda/device.hpp"
#include "tenure/device_queue.hpp"

namespace tenure::cuda {

class Mark final : public DeviceEvent {
 public:
  // Throws DEVICE_ERROR.
  Mark(const Device& device, Stream stream);
  // CUDA keeps what a wait still needs of an event that is destroyed.
  ~Mark() override;

  void wait() const override;
  [[nodiscard]] bool is_done() const override;
  [[nodiscard]] Event event() const noexcept { return event_; }

 private:
  const Device& device_;
  Event event_ = nullptr;
};

}  // namespace tenure::cuda
