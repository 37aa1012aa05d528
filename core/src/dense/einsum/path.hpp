// The order in which the operands of einsum are multiplied.
#pragma once

#include <cstdint>

#include "dense/einsum/spec.hpp"

namespace tenure {

// A sequence of products of two terms each. The result of each product is appended to the terms.
struct EinsumPath {
  struct Step {
    std::uint8_t a;
    std::uint8_t b;
    // Labels of the product: those that the result or another term has.
    LabelSet kept;
  };
  Step steps[EinsumSpec::kMaxOperands - 1];
};

// The terms have all labels that they need, and no other. Up to 8 terms are multiplied by the
// fewest multiplications. With more terms, each step takes the product whose size exceeds that of
// its two factors by the least. Throws UNSUPPORTED where every such order has a product of more
// than TNR_MAX_RANK labels.
EinsumPath einsum_path(const EinsumSpec& spec, const LabelSet* terms, unsigned count);

}  // namespace tenure
