// Memory that an operation needs while it runs.
#pragma once

#include <cstddef>

#include "kernels/kernel.hpp"
#include "memory.hpp"

namespace tenure {

class Scratch {
 public:
  // Throws OUT_OF_MEMORY. The bytes are undefined.
  explicit Scratch(std::size_t size_bytes)
      : size_bytes_(size_bytes), memory_(take_memory(size_bytes)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { give_memory(memory_, size_bytes_); }

  [[nodiscard]] kernels::Byte* data() const noexcept {
    return static_cast<kernels::Byte*>(memory_.data);
  }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }

 private:
  std::size_t size_bytes_;
  Memory memory_;
};

}  // namespace tenure
