// Memory of a blob whose size is known only when it has been written.
#pragma once

#include <cstddef>

#include "memory.hpp"
#include "tenure/blob.hpp"

namespace tenure {

class ReservedMemory {
 public:
  ReservedMemory() noexcept = default;
  ReservedMemory(const ReservedMemory&) = delete;
  ReservedMemory& operator=(const ReservedMemory&) = delete;
  ~ReservedMemory() { give_back(); }

  // Whether there is room for `max_bytes` now, of which only what is written is taken; presumably
  // `expected_bytes`. Refused where the system does not know such memory.
  bool reserve(std::size_t max_bytes, std::size_t expected_bytes) noexcept {
    memory_ = reserve_memory(max_bytes, expected_bytes);
    return memory_.data != nullptr;
  }
  void give_back() noexcept {
    if (memory_.data != nullptr) give_reserved(memory_);
    memory_ = {};
  }
  [[nodiscard]] void* data() const noexcept { return memory_.data; }

  // An allocated blob of the first `size_bytes`, as blob_allocate() makes it; the rest is given
  // back. Throws as that, and then the memory is given back. Once.
  BlobToken open(std::size_t size_bytes);

 private:
  Memory memory_;
};

}  // namespace tenure
