// Expressions: element-wise operations as data, computed in one pass.
//
// The contracts are those of tenure.h; the semantics are in docs/expressions.md.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

// Readers of the attributes that a caller gave with nodes; the layer that knows the sizes of older
// and newer structs passes them. NULL reads as all zeros.
struct AttributeReaders {
  tnr_reduce_attributes (*reduce)(const tnr_reduce_attributes*);
  tnr_normalize_attributes (*normalize)(const tnr_normalize_attributes*);
};

void evaluate(const Context& context, const tnr_expression& expression,
              const AttributeReaders& readers, const tnr_view_mut& out);

struct ExpressionShape {
  tnr_dtype dtype;
  std::uint32_t rank;
  std::int64_t extents[TNR_MAX_RANK];
};
ExpressionShape expression_shape(const tnr_expression& expression);

}  // namespace tenure
