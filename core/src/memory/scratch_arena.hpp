// Memory that calls of one thread have for scratch, one after the other: a run of a program takes
// it once, and its operations take their scratch memory from it.
#pragma once

#include <cstddef>

#include "memory/memory.hpp"

namespace tenure {

class ScratchArena {
 public:
  // Throws OUT_OF_MEMORY. Without memory it only counts.
  explicit ScratchArena(std::size_t size_bytes = 0) : memory_(size_bytes) {}

  [[nodiscard]] std::size_t size_bytes() const noexcept { return memory_.size_bytes(); }
  // An arena of this size would have had room for all requests.
  [[nodiscard]] std::size_t peak_bytes() const noexcept { return peak_bytes_; }

  // The arena of the calling thread, or nullptr.
  static ScratchArena* current() noexcept;

  // While it lives, `arena` is that of the calling thread; nullptr: none is.
  class Use {
   public:
    explicit Use(ScratchArena* arena) noexcept;
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use();

   private:
    ScratchArena* before_;
  };

  // The offset of `size_bytes` bytes until give(), as if there were room for all requests.
  std::size_t take(std::size_t size_bytes) noexcept;
  void give(std::size_t offset, std::size_t size_bytes) noexcept;
  // Their memory; nullptr where there is no room.
  [[nodiscard]] void* at(std::size_t offset, std::size_t size_bytes) const noexcept;

 private:
  OwnedMemory memory_;
  std::size_t used_bytes_ = 0;  // the first bytes, which are in use
  std::size_t taken_count_ = 0;
  std::size_t peak_bytes_ = 0;
};

}  // namespace tenure
