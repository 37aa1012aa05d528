// Memory of the CPU that enqueued copies read or write.
#pragma once

#include <deque>
#include <memory>

#include "base/mutex.hpp"
#include "cuda/mark.hpp"
#include "tenure/blob.hpp"

namespace tenure::cuda {

// The blobs of one stream's copies, each pinned once more until its copy is done: it neither ends
// nor can be reclaimed before. No callback reports the end of a copy, since CUDA lets its callbacks
// call nothing; so calls that wait or query look for copies that are done.
class HostUses {
 public:
  HostUses() = default;
  HostUses(const HostUses&) = delete;
  HostUses& operator=(const HostUses&) = delete;
  // The stream is done.
  ~HostUses();

  // Until the work is done that the stream has got so far. The caller has pinned the blob. Throws
  // BUSY, DEVICE_ERROR, std::bad_alloc, and then nothing is added.
  void add(const Device& device, Stream stream, BlobToken owner);
  // Ends those whose copies are done. When it returns, all are ended that were done when it began,
  // whichever thread has done it.
  void end_done() noexcept;

 private:
  struct Use {
    std::unique_ptr<const Mark> done;
    BlobToken owner;
  };

  Mutex mutex_;
  // In the order of the stream: each is recorded and added under the mutex.
  std::deque<Use> uses_;
};

}  // namespace tenure::cuda
