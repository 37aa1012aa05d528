#include "tenure/status.hpp"

#include <cstdarg>
#include <cstdio>

namespace tenure {

namespace {

// Trivially destructible and constant-initialised, so that it outlives every other thread-local
// whose destructor may still call the library while the thread ends.
constinit thread_local tnr_error t_last_error = {};
static_assert(std::is_trivially_destructible_v<tnr_error>);

Error formatted(tnr_status status, const char* format, std::va_list arguments) noexcept {
  char message[sizeof(tnr_error::message)];
  std::vsnprintf(message, sizeof(message), format, arguments);
  return {status, message};
}

}  // namespace

Error::Error(tnr_status status, const char* message) noexcept : status_(status) {
  std::snprintf(message_, sizeof(message_), "%s", message);
}

void fail(tnr_status status, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const Error error = formatted(status, format, arguments);
  va_end(arguments);
  throw Error(error);
}

Error error_of(tnr_status status, const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  const Error error = formatted(status, format, arguments);
  va_end(arguments);
  return error;
}

tnr_error& last_error() noexcept { return t_last_error; }

const char* status_name(tnr_status status) noexcept {
  switch (status) {
    case TNR_STATUS_OK: return "OK";
    case TNR_STATUS_INVALID_ARGUMENT: return "INVALID_ARGUMENT";
    case TNR_STATUS_OUT_OF_MEMORY: return "OUT_OF_MEMORY";
    case TNR_STATUS_UNSUPPORTED: return "UNSUPPORTED";
    case TNR_STATUS_ALIASED: return "ALIASED";
    case TNR_STATUS_STALE_VIEW: return "STALE_VIEW";
    case TNR_STATUS_STALE_HANDLE: return "STALE_HANDLE";
    case TNR_STATUS_BUSY: return "BUSY";
    case TNR_STATUS_BORROW_ESCAPED: return "BORROW_ESCAPED";
    case TNR_STATUS_DEVICE_ERROR: return "DEVICE_ERROR";
    case TNR_STATUS_INTERNAL: return "INTERNAL";
    default: return "UNKNOWN";
  }
}

}  // namespace tenure
