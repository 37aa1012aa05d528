// Views, memory and tokens for tests of blobs.
#pragma once

#include <array>
#include <cinttypes>
#include <cstdio>
#include <string>

#include "tenure/blob.hpp"

namespace tenure::test {

// A token as messages write it.
inline std::string hex(BlobToken token) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, token);
  return text;
}

// A view of all the blob's memory. Only what Pins reads is filled in.
inline tnr_view view_of(BlobToken token) {
  const BlobInfo info = blob_describe(token);
  tnr_view view = {};
  view.data = info.data;
  view.base = info.data;
  view.size_bytes = info.size_bytes;
  view.owner = token;
  view.device = {TNR_DEVICE_KIND_CPU, 0};
  return view;
}

// Memory of the caller's, where its content does not matter.
struct Bytes {
  static constexpr std::size_t kSize = 64;
  std::array<unsigned char, kSize> bytes = {};
  void* data() { return bytes.data(); }
};

}  // namespace tenure::test
