// Memory that calls of one thread have for scratch, one after the other: a run of a program takes it
// once, and its operations ask nobody else.
#pragma once

#include <algorithm>
#include <cstddef>

#include "memory/memory.hpp"

namespace tenure {

class ScratchArena {
 public:
  // Throws OUT_OF_MEMORY. Without memory it only counts.
  explicit ScratchArena(std::size_t size_bytes = 0)
      : size_bytes_(size_bytes), memory_(take_memory(size_bytes)) {}
  ScratchArena(const ScratchArena&) = delete;
  ScratchArena& operator=(const ScratchArena&) = delete;
  ~ScratchArena() { give_memory(memory_, size_bytes_); }

  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  // The most that was asked for at once, whether there was room or not.
  [[nodiscard]] std::size_t peak_bytes() const noexcept { return peak_bytes_; }

  // That of the calling thread, or nullptr.
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

  // Memory of so many bytes, or nullptr where there is no room. Either way they are asked for until
  // give().
  void* take(std::size_t size_bytes) noexcept;
  void give(std::size_t size_bytes) noexcept;

 private:
  std::size_t size_bytes_;
  Memory memory_;
  std::size_t used_bytes_ = 0;  // below this the memory is somebody's
  std::size_t asked_bytes_ = 0;
  std::size_t peak_bytes_ = 0;
};

}  // namespace tenure
