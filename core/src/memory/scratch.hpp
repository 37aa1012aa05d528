// Memory that an operation needs while it runs.
#pragma once

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "cpu/kernel.hpp"
#include "memory/memory.hpp"
#include "memory/scratch_arena.hpp"
#include "tenure/status.hpp"

namespace tenure {

class Scratch {
 public:
  // Throws OUT_OF_MEMORY. The bytes are undefined.
  explicit Scratch(std::size_t size_bytes);
  // `count` elements of `bytes_each` bytes each.
  Scratch(std::int64_t count, std::int64_t bytes_each) : Scratch(product(count, bytes_each)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  [[nodiscard]] kernels::Byte* data() const noexcept {
    return static_cast<kernels::Byte*>(memory_.data);
  }
  [[nodiscard]] std::int64_t* numbers() const noexcept {
    return static_cast<std::int64_t*>(memory_.data);
  }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }

 private:
  static std::size_t product(std::int64_t count, std::int64_t bytes_each) {
    std::int64_t bytes;
    if (__builtin_mul_overflow(count, bytes_each, &bytes)) {
      fail(TNR_STATUS_OUT_OF_MEMORY, "%" PRId64 " times %" PRId64 " bytes fit no memory", count,
           bytes_each);
    }
    return static_cast<std::size_t>(bytes);
  }

  std::size_t size_bytes_;
  ScratchArena* arena_;  // of the thread that made it, on which it ends
  std::size_t offset_ = 0;
  bool is_lent_ = false;  // by the arena
  Memory memory_;
};

// `count` objects, on the stack where there are few. Objects of trivial types are undefined.
template <class T, std::size_t kFew>
class FewOnStack {
 public:
  explicit FewOnStack(std::size_t count) : count_(count) {
    if (count > kFew) many_.emplace(static_cast<std::int64_t>(count), std::int64_t{sizeof(T)});
    std::uninitialized_default_construct_n(data(), count_);
  }
  FewOnStack(const FewOnStack&) = delete;
  FewOnStack& operator=(const FewOnStack&) = delete;
  ~FewOnStack() { std::destroy_n(data(), count_); }

  [[nodiscard]] T* data() noexcept { return reinterpret_cast<T*>(many_ ? many_->data() : few_); }
  [[nodiscard]] const T* data() const noexcept { return const_cast<FewOnStack*>(this)->data(); }

 private:
  std::size_t count_;
  alignas(T) kernels::Byte few_[kFew * sizeof(T)];
  std::optional<Scratch> many_;
};

}  // namespace tenure
