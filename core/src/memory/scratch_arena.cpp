#include "memory/scratch_arena.hpp"

#include <algorithm>

#include "memory/traffic.hpp"

namespace tenure {
namespace {

constinit thread_local ScratchArena* t_current = nullptr;

}  // namespace

ScratchArena* ScratchArena::current() noexcept { return t_current; }

ScratchArena::Use::Use(ScratchArena* arena) noexcept : before_(t_current) { t_current = arena; }

ScratchArena::Use::~Use() { t_current = before_; }

std::size_t ScratchArena::take(std::size_t size_bytes) noexcept {
  const std::size_t offset = used_bytes_;
  used_bytes_ += whole_lines(size_bytes);
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  ++taken_count_;
  return offset;
}

void ScratchArena::give(std::size_t offset, std::size_t size_bytes) noexcept {
  // Memory below a scratch that ended earlier waits for the last.
  if (offset + whole_lines(size_bytes) == used_bytes_) used_bytes_ = offset;
  if (--taken_count_ == 0) used_bytes_ = 0;
}

void* ScratchArena::at(std::size_t offset, std::size_t size_bytes) const noexcept {
  // A sanitizer sees the end of memory that is its own.
  const bool is_inside =
      offset <= memory_.size_bytes() && whole_lines(size_bytes) <= memory_.size_bytes() - offset;
  return kSanitized || !is_inside ? nullptr : memory_.data() + offset;
}

}  // namespace tenure
