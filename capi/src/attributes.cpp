#include "attributes.hpp"

namespace tenure::capi {

void require_zero(std::uint32_t value, const char* field) {
  if (value != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->%s is %u but must be 0", field, value);
  }
}

void check_attributes_given(const NoAttribute& attributes) {
  (void)read_sized(&attributes, "attributes");
}

OneAttribute read_attributes_given(const OneAttribute& attributes) {
  const OneAttribute known = read_sized(&attributes, "attributes");
  require_zero(known.reserved, "reserved");
  return known;
}

tnr_reduce_attributes read_reduce_attributes(const tnr_reduce_attributes* attributes) {
  if (attributes == nullptr) return {};
  const tnr_reduce_attributes known = read_sized(attributes, "attributes");
  require_zero(known.reserved, "reserved");
  return known;
}

}  // namespace tenure::capi
