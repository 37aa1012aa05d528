// Memory of a blob whose size is known only when it has been written.
#pragma once

#include <atomic>
#include <cstddef>

#include "memory/memory.hpp"
#include "tenure/blob.hpp"

namespace tenure {

class ReservedMemory {
 public:
  ReservedMemory() noexcept = default;
  ReservedMemory(const ReservedMemory&) = delete;
  ReservedMemory& operator=(const ReservedMemory&) = delete;
  ~ReservedMemory() { give_back(); }

  // Reserves room for `max_bytes`; only the written part is taken, presumably `expected_bytes`.
  // Returns false where that is refused, also by a system that does not know such memory.
  bool reserve(std::size_t max_bytes, std::size_t expected_bytes) noexcept {
    const Reservation reservation = reserve_memory(max_bytes, expected_bytes);
    memory_ = reservation.memory;
    touched_bytes_.store(reservation.recycled_bytes, std::memory_order_relaxed);
    return memory_.data != nullptr;
  }
  void give_back() noexcept {
    if (memory_.data != nullptr) give_reserved(memory_);
    memory_ = {};
  }
  [[nodiscard]] void* data() const noexcept { return memory_.data; }

  // Before bytes up to `end` are written, by any thread: takes the pages that they are in, in the
  // way that costs the least (fresh_pages.hpp).
  void touch(std::size_t end) noexcept {
    if (!has_touched(end)) [[unlikely]]
      touch_pages(end);
  }
  // Whether the pages of the first `end` bytes are there.
  [[nodiscard]] bool has_touched(std::size_t end) const noexcept {
    return end <= touched_bytes_.load(std::memory_order_acquire);
  }

  // An allocated blob of the first `size_bytes`, as blob_allocate() makes it; the rest is given
  // back. Throws as that, and then the memory is given back. Once.
  BlobToken open(std::size_t size_bytes);

 private:
  void touch_pages(std::size_t end) noexcept;

  Memory memory_;
  // Pages before it are there.
  std::atomic<std::size_t> touched_bytes_{0};
  std::atomic<bool> is_touching_{false};
};

}  // namespace tenure
