// The name of one of several operands, for messages.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>

namespace tenure {

// "parts[7]".
class PartName {
 public:
  explicit PartName(std::uint32_t part) noexcept {
    static constexpr char kParts[] = "parts[";
    std::memcpy(text_, kParts, sizeof kParts - 1);
    char* const end = std::to_chars(text_ + sizeof kParts - 1, text_ + sizeof text_, part).ptr;
    std::memcpy(end, "]", 2);
  }
  operator const char*() const noexcept { return text_; }

 private:
  char text_[24];
};

}  // namespace tenure
