// Errors of the core: one exception type that carries a status and a message.
//
// Checks throw Error; guarded() in capi/src/boundary.hpp turns it into a status and the thread's
// last error. Rejected: status results threaded through every check, because the success path of
// an operation would then test each of them. Kernels never throw.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>

#include "tenure/tenure.h"

namespace tenure {

// Trivially copyable, so that throwing it on the way out of a failed allocation allocates nothing
// but the exception itself (which falls back to the C++ runtime's emergency pool).
class Error final {
 public:
  Error(tnr_status status, const char* message) noexcept;

  [[nodiscard]] tnr_status status() const noexcept { return status_; }
  [[nodiscard]] const char* message() const noexcept { return message_; }

 private:
  tnr_status status_;
  char message_[sizeof(tnr_error::message)];
};
static_assert(std::is_trivially_copyable_v<Error>);

// C's printf also on Windows, where the compiler would take the system's, which does not know %zu.
#if defined(__MINGW32__)
#define TENURE_PRINTF gnu_printf
#else
#define TENURE_PRINTF printf
#endif

// Throws Error with a printf-formatted message, cut at the end. Kept out of line and cold: the
// message is built on the failing path only.
[[noreturn, gnu::cold, gnu::noinline, gnu::format(TENURE_PRINTF, 2, 3)]] void fail(
    tnr_status status, const char* format, ...);

// The Error of a check, or none: it is returned and not thrown, for runs that may not ask for
// memory, as a throw does. Where there is none its room for a message is not touched.
class [[nodiscard]] Refusal {
 public:
  Refusal() noexcept {}
  Refusal(std::nullopt_t) noexcept {}
  Refusal(const Error& error) noexcept : is_given_(true), error_(error) {}
  Refusal(const Refusal& other) noexcept { *this = other; }
  Refusal& operator=(const Refusal& other) noexcept {
    is_given_ = other.is_given_;
    if (is_given_) [[unlikely]]
      error_ = other.error_;
    return *this;
  }

  explicit operator bool() const noexcept { return is_given_; }
  const Error& operator*() const noexcept { return error_; }
  const Error* operator->() const noexcept { return &error_; }

 private:
  bool is_given_ = false;
  union {
    Error error_;
  };
};

// The Error that fail() would throw.
[[nodiscard, gnu::cold, gnu::noinline, gnu::format(TENURE_PRINTF, 2, 3)]] Error error_of(
    tnr_status status, const char* format, ...) noexcept;

inline void require_none(const Refusal& refusal) {
  if (refusal) [[unlikely]]
    throw Error(*refusal);
}

// The calling thread's last failure, written by the boundary and by nothing else. It lives here
// because the core runs release callbacks, and each runs between a save and a restore of it.
tnr_error& last_error() noexcept;

// "INVALID_ARGUMENT" for TNR_STATUS_INVALID_ARGUMENT; "UNKNOWN" for a number without a name.
const char* status_name(tnr_status status) noexcept;

}  // namespace tenure
