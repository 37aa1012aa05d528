#include "memory/scratch_arena.hpp"

#include "tenure/blob.hpp"

namespace tenure {
namespace {

constinit thread_local ScratchArena* t_current = nullptr;

constexpr std::size_t whole_lines(std::size_t bytes) noexcept {
  return (bytes + kBlobAlignment - 1) / kBlobAlignment * kBlobAlignment;
}

}  // namespace

ScratchArena* ScratchArena::current() noexcept { return t_current; }

ScratchArena::Use::Use(ScratchArena* arena) noexcept : before_(t_current) { t_current = arena; }

ScratchArena::Use::~Use() { t_current = before_; }

void* ScratchArena::take(std::size_t size_bytes) noexcept {
  const std::size_t taken = whole_lines(size_bytes);
  asked_bytes_ += taken;
  peak_bytes_ = std::max(peak_bytes_, asked_bytes_);
  // A sanitizer sees the end of memory that is its own.
  if (kSanitized || taken > size_bytes_ - used_bytes_) return nullptr;
  void* const data = static_cast<char*>(memory_.data) + used_bytes_;
  used_bytes_ += taken;
  return data;
}

void ScratchArena::give(std::size_t size_bytes) noexcept {
  asked_bytes_ -= whole_lines(size_bytes);
  // Mostly they end in the reverse order; what lies below one that ended earlier waits for the last.
  if (asked_bytes_ == 0) used_bytes_ = 0;
}

}  // namespace tenure
