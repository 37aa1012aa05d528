#include "boundary.hpp"

#include <cstdio>
#include <new>
#include <stdexcept>

namespace tenure::capi {

tnr_status record(tnr_status status, const char* message) noexcept {
  tnr_error& error = last_error();
  error.status = status;
  std::snprintf(error.message, sizeof(error.message), "%s", message);
  return status;
}

tnr_status record_unnamed() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return record(TNR_STATUS_OUT_OF_MEMORY, "memory could not be allocated");
  } catch (const std::length_error&) {
    return record(TNR_STATUS_OUT_OF_MEMORY, "more memory is needed than any machine could have");
  } catch (...) {
    return record(TNR_STATUS_INTERNAL, "an unknown exception reached the boundary");
  }
}

}  // namespace tenure::capi
