// The order between a call on a device and the work of other queues on its blobs, and the memory
// that it lends.
#pragma once

#include <cstddef>

#include "tenure/blob.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {

// From here on the call's queue comes after the earlier work of the pinned blobs' homes; and work
// that they get after this object comes after the call. In most calls all blobs are at home.
class QueueOrder {
 public:
  // Throws DEVICE_ERROR. Both outlive the object.
  QueueOrder(const DeviceQueue& queue, const Pins& pins)
      : queue_(queue), pins_(pins), are_at_home_(pins.are_at_home(queue)) {
    if (!are_at_home_) [[unlikely]]
      follow_homes();
  }
  QueueOrder(const QueueOrder&) = delete;
  QueueOrder& operator=(const QueueOrder&) = delete;
  ~QueueOrder() {
    if (!are_at_home_) [[unlikely]]
      put_homes_after();
  }

 private:
  [[gnu::cold]] void follow_homes() const {
    pins_.for_each_home([this](const DeviceQueue& home) {
      if (&home != &queue_) queue_.follow(home);
    });
  }
  [[gnu::cold]] void put_homes_after() const noexcept {
    pins_.for_each_home([this](const DeviceQueue& home) {
      if (&home != &queue_) put_after(home);
    });
  }
  void put_after(const DeviceQueue& home) const noexcept {
    try {
      home.follow(queue_);
    } catch (const Error&) {
      // The order cannot be had, but the end of the work can.
      queue_.settle();
    }
  }

  const DeviceQueue& queue_;
  const Pins& pins_;
  const bool are_at_home_;  // the blobs are pinned, so that their homes stay
};

// A borrow of memory that the lender uses and frees in the order of the context's queue, and knows
// to be the device's: the order of other queues' work on it is that of any blob, and its end waits
// for none. Both throw std::bad_alloc.
BlobToken blob_lend_on(const Context& context, const void* data, std::size_t size_bytes);
BlobToken blob_lend_mut_on(const Context& context, void* data, std::size_t size_bytes);

}  // namespace tenure
