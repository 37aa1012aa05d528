// Bytes of an operand that is packed once, for many products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "cpu/kernel.hpp"
#include "memory/fresh_pages.hpp"
#include "tenure/blob.hpp"

namespace tenure {

class PackedMemory {
 public:
  // New memory, none of 0 bytes, which its owner writes before anybody reads it. Throws
  // OUT_OF_MEMORY.
  PackedMemory(const Context& context, std::int64_t size_bytes) {
    if (size_bytes == 0) return;
    blob_ = blob_allocate(context, static_cast<std::size_t>(size_bytes));
    touch_fresh_pages(context, fresh(), size_bytes);
    bytes_ = fresh();
  }
  // Bytes that another one has packed, and that `lender` keeps.
  PackedMemory(const kernels::Byte* bytes, std::shared_ptr<const void> lender) noexcept
      : bytes_(bytes), lender_(std::move(lender)) {}
  PackedMemory(const PackedMemory&) = delete;
  PackedMemory& operator=(const PackedMemory&) = delete;
  ~PackedMemory() {
    if (blob_ != 0) blob_drop(blob_);
  }

  [[nodiscard]] const kernels::Byte* bytes() const noexcept { return bytes_; }
  // The new memory, or nullptr.
  [[nodiscard]] kernels::Byte* fresh() const noexcept {
    return blob_ == 0 ? nullptr : static_cast<kernels::Byte*>(blob_memory_mut(blob_).data);
  }

 private:
  const kernels::Byte* bytes_ = nullptr;
  BlobToken blob_ = 0;
  std::shared_ptr<const void> lender_;
};

}  // namespace tenure
