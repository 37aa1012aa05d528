// The logarithm of a sum of powers.
#pragma once

#include <cmath>

#include "cpu/normalize.hpp"

namespace tenure {

// ln(1 + rest), within two units in the last place: what rounding 1 + rest loses is made up for by
// the quotient (W. Kahan; HP-15C Advanced Functions Handbook, 1982). std::log1p takes twice as long.
inline double logarithm_of(const kernels::PowerSum& powers) noexcept {
  const double sum = 1 + powers.rest;
  return sum == 1 ? powers.rest : std::log(sum) * (powers.rest / (sum - 1));
}

}  // namespace tenure
