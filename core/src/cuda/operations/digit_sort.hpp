// A stable sort of keys on a device, by digits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/queue.hpp"

namespace tenure::cuda {

// Keys that a call sorts at once where it can take them in parts. Their memory is 16 bytes each.
inline constexpr std::int64_t kMostSorted = std::int64_t{1} << 22;

// Keys of 32 bits with their places, in memory of the call. The caller's kernels write the keys of
// one turn, and of the first one the places too.
class DigitSort {
 public:
  // Up to `most` keys, which is below 2^31.
  DigitSort(const Queue& queue, std::int64_t most);

  // Enqueues the sort of `count` keys by their lowest `bits`; others are 0. Arrays change places.
  void run(std::uint32_t count, unsigned bits);

  [[nodiscard]] std::uint32_t* keys() const noexcept { return keys_; }
  [[nodiscard]] std::uint32_t* places() const noexcept { return places_; }

 private:
  [[nodiscard]] std::uint32_t* array(std::size_t index) const noexcept {
    return static_cast<std::uint32_t*>(memory_.data()) + index * most_;
  }
  void sort(std::uint32_t count, unsigned shift);

  const Queue& queue_;
  std::size_t most_;
  Queue::Scratch memory_;
  std::uint32_t* keys_;
  std::uint32_t* places_;
};

}  // namespace tenure::cuda
