#include <cstring>

#include "tenure/tenure.h"

namespace {

template <class T>
tnr_scalar scalar_of(tnr_dtype dtype, const T& value) noexcept {
  tnr_scalar scalar = {};
  scalar.dtype = dtype;
  static_assert(sizeof value <= sizeof scalar.bytes);
  std::memcpy(scalar.bytes, &value, sizeof value);
  return scalar;
}

}  // namespace

tnr_scalar tnr_scalar_f64(double value) noexcept { return scalar_of(TNR_DTYPE_F64, value); }

tnr_scalar tnr_scalar_i64(int64_t value) noexcept { return scalar_of(TNR_DTYPE_I64, value); }

tnr_scalar tnr_scalar_u64(uint64_t value) noexcept { return scalar_of(TNR_DTYPE_U64, value); }

tnr_scalar tnr_scalar_c128(double re, double im) noexcept {
  const double parts[] = {re, im};
  return scalar_of(TNR_DTYPE_C128, parts);
}
