#include "memory/scratch.hpp"

namespace tenure {

Scratch::Scratch(std::size_t size_bytes)
    : size_bytes_(size_bytes), arena_(ScratchArena::current()) {
  if (arena_ != nullptr) {
    offset_ = arena_->take(size_bytes);
    memory_.data = arena_->at(offset_, size_bytes);
    is_lent_ = memory_.data != nullptr;
    if (is_lent_) return;
  }
  try {
    memory_ = take_memory(size_bytes);
  } catch (...) {
    if (arena_ != nullptr) arena_->give(offset_, size_bytes);
    throw;
  }
}

Scratch::~Scratch() {
  if (!is_lent_) give_memory(memory_, size_bytes_);
  if (arena_ != nullptr) arena_->give(offset_, size_bytes_);
}

}  // namespace tenure
