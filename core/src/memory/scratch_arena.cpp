#include "memory/scratch_arena.hpp"

#include <algorithm>

#include "tenure/blob.hpp"

namespace tenure {
namespace {

constinit thread_local ScratchArena* t_current = nullptr;

constexpr std::size_t line_bytes_of(std::size_t bytes) noexcept {
  return (bytes + kBlobAlignment - 1) / kBlobAlignment * kBlobAlignment;
}

}  // namespace

ScratchArena* ScratchArena::current() noexcept { return t_current; }

ScratchArena::Use::Use(ScratchArena* arena) noexcept : before_(t_current) { t_current = arena; }

ScratchArena::Use::~Use() { t_current = before_; }

std::size_t ScratchArena::take(std::size_t size_bytes) noexcept {
  const std::size_t offset = used_bytes_;
  used_bytes_ += line_bytes_of(size_bytes);
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  ++taken_count_;
  return offset;
}

void ScratchArena::give(std::size_t offset, std::size_t size_bytes) noexcept {
  // What lies below one that ended earlier waits for the last.
  if (offset + line_bytes_of(size_bytes) == used_bytes_) used_bytes_ = offset;
  if (--taken_count_ == 0) used_bytes_ = 0;
}

void* ScratchArena::at(std::size_t offset, std::size_t size_bytes) const noexcept {
  // A sanitizer sees the end of memory that is its own.
  if (kSanitized || offset > size_bytes_ || line_bytes_of(size_bytes) > size_bytes_ - offset) {
    return nullptr;
  }
  return static_cast<char*>(memory_.data) + offset;
}

}  // namespace tenure
