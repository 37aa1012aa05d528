// A word of the device in which kernels report findings in the data.
#pragma once

#include "cuda/queue.hpp"

namespace tenure::cuda {

// Lasts for one call. All of its bytes are `untold` until a kernel writes it.
template <class Word>
class FindingWord {
 public:
  FindingWord(const Queue& queue, unsigned char untold)
      : queue_(queue), memory_(queue, sizeof(Word)) {
    queue.fill_bytes(memory_.data(), untold, sizeof(Word));
  }

  [[nodiscard]] Word* data() const noexcept { return static_cast<Word*>(memory_.data()); }
  // Waits for the enqueued work and returns the word.
  [[nodiscard]] Word wait() const {
    Word word;
    queue_.copy_bytes(DeviceQueue::Direction::kOut, &word, memory_.data(), sizeof word);
    return word;
  }

 private:
  const Queue& queue_;
  const Queue::Scratch memory_;
};

}  // namespace tenure::cuda
