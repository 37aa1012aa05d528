#include "fake_images.hpp"

#include <cstdint>
#include <cstring>

namespace fake {
namespace {

using tenure::cuda::Result;

constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;

template <class T>
T read(const void* code, std::size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(code) + offset, sizeof value);
  return value;
}

}  // namespace

std::vector<std::string> names_after(const std::string& text, const std::string& word) {
  std::vector<std::string> names;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    at += word.size();
    names.push_back(text.substr(at, text.find('(', at) - at));
  }
  return names;
}

int line_of_lone_brace(const std::string& text) {
  std::vector<int> open;
  int line = 1;
  for (const char character : text) {
    if (character == '\n') ++line;
    if (character == '{') open.push_back(line);
    if (character != '}') continue;
    if (open.empty()) return line;
    open.pop_back();
  }
  return open.empty() ? 0 : open.back();
}

Result read_image(const void* code, Image& image) {
  std::string text;
  if (read<std::uint32_t>(code, 0) == kFatBinaryMagic) {
    text.assign(static_cast<const char*>(code),
                read<std::uint16_t>(code, 6) + read<std::uint64_t>(code, 8));
  } else if (std::memcmp(code, "\177ELF", 4) == 0) {
    text.assign(static_cast<const char*>(code),
                read<std::uint64_t>(code, 40) +
                    std::size_t{read<std::uint16_t>(code, 58)} * read<std::uint16_t>(code, 60));
  } else {
    text = static_cast<const char*>(code);
    if (const int line = line_of_lone_brace(text); line != 0) {
      image.log = "ptxas application ptx input, line " + std::to_string(line) +
                  "; fatal   : Parsing error near '{': syntax error";
      return Result::kInvalidPtx;
    }
  }
  image.entries = names_after(text, ".entry ");
  return Result::kSuccess;
}

}  // namespace fake
