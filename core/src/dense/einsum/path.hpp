// The order in which the operands of einsum are multiplied.
#pragma once

#include <cstdint>

#include "dense/einsum/spec.hpp"

namespace tenure {

// Products of two terms each, of which the result is a term behind those there are.
struct EinsumPath {
  struct Step {
    std::uint8_t a;
    std::uint8_t b;
    // Labels of the product: those that the result or another term has.
    LabelSet kept;
  };
  Step steps[EinsumSpec::kMaxOperands - 1];
};

// Terms have all labels that they need, and no other. Up to 8 of them are multiplied by the fewest
// multiplications, more by the product that is smallest beside its factors. Throws UNSUPPORTED
// where every such order has a product of more than TNR_MAX_RANK labels.
EinsumPath einsum_path(const EinsumSpec& spec, const LabelSet* terms, unsigned count);

}  // namespace tenure
