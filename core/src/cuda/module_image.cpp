#include "cuda/module_image.hpp"

#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tenure/status.hpp"

namespace tenure::cuda {
namespace {

constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;
constexpr std::string_view kElfMagic = "\177ELF\2";  // of 64 bits
// The directive that PTX begins with, after comments.
constexpr std::string_view kPtxVersion = ".version";

constexpr std::size_t kFatBinaryHeaderBytes = 16;
constexpr std::size_t kElfHeaderBytes = 64;
constexpr std::uint32_t kSectionWithoutBytes = 8;  // SHT_NOBITS

template <class T>
T read(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

void require_end(std::uint64_t begin, std::uint64_t bytes, std::size_t size_bytes) {
  if (begin <= size_bytes && bytes <= size_bytes - begin) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "image_bytes is %zu, but the image says that %" PRIu64 " bytes begin at byte %" PRIu64,
       size_bytes, bytes, begin);
}

void check_fat_binary(std::string_view image) {
  require_end(0, kFatBinaryHeaderBytes, image.size());
  require_end(read<std::uint16_t>(image, 6), read<std::uint64_t>(image, 8), image.size());
}

void check_cubin(std::string_view image) {
  require_end(0, kElfHeaderBytes, image.size());
  const auto segments = read<std::uint64_t>(image, 32);
  const auto sections = read<std::uint64_t>(image, 40);
  const std::uint64_t segment_bytes = read<std::uint16_t>(image, 54);
  const std::uint64_t section_bytes = read<std::uint16_t>(image, 58);
  const std::uint64_t section_count = read<std::uint16_t>(image, 60);
  require_end(segments, read<std::uint16_t>(image, 56) * segment_bytes, image.size());
  require_end(sections, section_count * section_bytes, image.size());
  if (section_count != 0 && section_bytes < kElfHeaderBytes) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the image's section headers are of %" PRIu64 " bytes",
         section_bytes);
  }
  for (std::uint64_t i = 0; i < section_count; ++i) {
    const std::size_t header = sections + i * section_bytes;
    if (read<std::uint32_t>(image, header + 4) == kSectionWithoutBytes) continue;
    require_end(read<std::uint64_t>(image, header + 24), read<std::uint64_t>(image, header + 32),
                image.size());
  }
}

}  // namespace

std::string copy_image(const void* image, std::size_t size_bytes) {
  std::string_view bytes(static_cast<const char*>(image), size_bytes);
  if (size_bytes >= sizeof kFatBinaryMagic && read<std::uint32_t>(bytes, 0) == kFatBinaryMagic) {
    check_fat_binary(bytes);
  } else if (bytes.substr(0, kElfMagic.size()) == kElfMagic) {
    check_cubin(bytes);
  } else {
    // Text, whether or not its end is counted.
    bytes = bytes.substr(0, bytes.find('\0'));
    if (bytes.find(kPtxVersion) == std::string_view::npos) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "image is neither a fat binary nor a cubin nor PTX");
    }
  }
  return std::string(bytes);
}

}  // namespace tenure::cuda
