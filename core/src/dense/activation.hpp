// The last steps of a product or a convolution, as its attributes say them.
#pragma once

#include <cstdint>

#include "tenure/tenure.h"

namespace tenure {

struct Activation {
  tnr_unary_op op;      // 0: none
  std::uint32_t flags;  // TNR_EPILOGUE_CLAMP, from `low` to `high`; or 0
  double low;
  double high;

  template <class Attributes>
  explicit Activation(const Attributes& attributes) noexcept
      : op(attributes.activation),
        flags(attributes.flags),
        low(attributes.low),
        high(attributes.high) {}
};

}  // namespace tenure
