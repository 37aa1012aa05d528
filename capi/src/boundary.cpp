#include "boundary.hpp"

#include <cstdio>

namespace tenure::capi {

tnr_status record(tnr_status status, const char* message) noexcept {
  tnr_error& error = last_error();
  error.status = status;
  std::snprintf(error.message, sizeof(error.message), "%s", message);
  return status;
}

const Context& context_of(const tnr_context* context) {
  if (context != nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "context is %p but must be NULL: there is only the default",
         static_cast<const void*>(context));
  }
  return kDefaultContext;
}

}  // namespace tenure::capi
