#include "memory/reserved_memory.hpp"

#include <algorithm>

#include "base/relax.hpp"
#include "memory/region/region.hpp"
#include "memory/slot_table.hpp"

namespace tenure {

BlobToken ReservedMemory::open(std::size_t size_bytes) {
  const Memory memory = trim_reserved(memory_, size_bytes);
  memory_ = {};
  try {
    return slot_table.open({memory.data, size_bytes, TNR_TENURE_ALLOCATED, nullptr, memory.origin});
  } catch (...) {
    give_memory(memory, size_bytes);
    throw;
  }
}

// touch_fresh_pages() for memory that no other thread writes and that has not been written.
void ReservedMemory::touch_pages(std::size_t end) noexcept {
  // One thread at a time: two would clear the same page each, and one of them in vain. It takes as
  // long as a thread spins rather than sleeps.
  Backoff backoff;
  while (is_touching_.exchange(true, std::memory_order_acquire)) backoff.pause();
  std::size_t touched = touched_bytes_.load(std::memory_order_relaxed);
  char* const data = static_cast<char*>(memory_.data);
  const auto size = static_cast<std::size_t>(static_cast<char*>(memory_.origin) - data);
  while (touched < end) {
    const std::size_t page_end = touched / kHugePageBytes * kHugePageBytes + kHugePageBytes;
    // Recycled memory at the front and the end of a region are small pages.
    if (touched % kHugePageBytes == 0 && page_end <= size) data[page_end - 1] = 0;
    touched = std::min(page_end, size);
  }
  touched_bytes_.store(touched, std::memory_order_release);
  is_touching_.store(false, std::memory_order_release);
}

}  // namespace tenure
