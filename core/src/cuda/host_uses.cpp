#include "cuda/host_uses.hpp"

#include <mutex>

namespace tenure::cuda {
namespace {

// An error does not say that the copy is done.
bool is_over(const Mark& mark) noexcept {
  try {
    return mark.is_done();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

HostUses::~HostUses() {
  for (const Use& use : uses_) {
    if (blob_unpin(use.owner) == Left::kNothing) blob_finish(use.owner);
  }
}

void HostUses::add(const Device& device, Stream stream, BlobToken owner) {
  const std::lock_guard lock(mutex_);
  uses_.push_back({nullptr, owner});
  try {
    uses_.back().done = std::make_unique<const Mark>(device, stream);
    blob_pin_again(owner);
  } catch (...) {
    uses_.pop_back();
    throw;
  }
}

void HostUses::end_done() noexcept {
  for (;;) {
    Use ended;
    Left left;
    {
      const std::lock_guard lock(mutex_);
      if (uses_.empty() || !is_over(*uses_.front().done)) return;
      ended = std::move(uses_.front());
      uses_.pop_front();
      // Under the lock, so that who finds the list without it finds the blob out of use.
      left = blob_unpin(ended.owner);
    }
    if (left == Left::kNothing) blob_finish(ended.owner);
  }
}

}  // namespace tenure::cuda
