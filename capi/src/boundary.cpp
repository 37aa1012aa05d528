#include "boundary.hpp"

#include <cstdio>

namespace tenure::capi {

tnr_status record(tnr_status status, const char* message) noexcept {
  tnr_error& error = last_error();
  error.status = status;
  std::snprintf(error.message, sizeof(error.message), "%s", message);
  return status;
}

}  // namespace tenure::capi
