// Sort keys of top-k selections.
#pragma once

#include <cstdint>
#include <cstring>

#include "tenure/status.hpp"
#include "view/operand_checks.hpp"

namespace tenure {

// A number that orders as the value or its magnitude does; of NaN the lowest.
inline std::int64_t order_key(double value, tnr_sparse_order order) noexcept {
  const bool is_nan = value != value;
  if (order == TNR_SPARSE_ORDER_MAGNITUDE) value = __builtin_fabs(value);
  value += 0.0;  // -0.0 is 0.0
  std::int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::int64_t key = bits < 0 ? bits ^ INT64_MAX : bits;
  return is_nan ? INT64_MIN : key;
}

// Throws INVALID_ARGUMENT for a `k` that is negative or above the columns, named `of` in messages,
// and for an order without a name; UNSUPPORTED for a dtype that has none.
void check_top_k(std::int64_t k, std::int64_t cols, const char* of, tnr_sparse_order order,
                 tnr_dtype dtype);

}  // namespace tenure
