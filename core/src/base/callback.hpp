// The caller's code runs in the middle of ours.
#pragma once

#include <cstddef>
#include <cstring>

#include "tenure/status.hpp"

namespace tenure {

// Restores the thread's last error at its end, so that a callback that runs meanwhile may call the
// library and fail there. Only the part of the message in use is kept: two copies of all 512 bytes
// cost more than the rest of a blob's end does.
class LastErrorKept {
 public:
  LastErrorKept() noexcept
      : used_bytes_(offsetof(tnr_error, message) + std::strlen(last_error().message) + 1) {
    std::memcpy(&kept_, &last_error(), used_bytes_);
  }
  LastErrorKept(const LastErrorKept&) = delete;
  LastErrorKept& operator=(const LastErrorKept&) = delete;
  ~LastErrorKept() { std::memcpy(&last_error(), &kept_, used_bytes_); }

 private:
  std::size_t used_bytes_;
  tnr_error kept_;  // uninitialised beyond used_bytes_
};

}  // namespace tenure
