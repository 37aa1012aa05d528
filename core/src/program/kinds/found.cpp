// Elements selected by a condition. The data decide their number.
#include "program/kinds/calls.hpp"
#include "program/kinds/operand_types.hpp"
#include "program/unbacked.hpp"
#include "tenure/movement.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure {

ArrayType infer_nonzero(const NodeCall&, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  if (type_index(a.dtype) == kNoType) refuse_dtype("nonzero", a.dtype);
  return {TNR_DTYPE_I64, 2, {}};
}

std::int64_t find_nonzero(const Context& context, const NodeCall&, const OperandView* operands,
                          const tnr_view_mut& out) {
  return nonzero_into(context, *operands[0].view, out);
}

ArrayType infer_masked_select(const NodeCall&, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType& mask = array(operands[1], "mask");
  require_type(mask, "mask", TNR_DTYPE_BOOL8);
  return {a.dtype, 1, {}};
}

std::int64_t find_masked_select(const Context& context, const NodeCall&,
                                const OperandView* operands, const tnr_view_mut& out) {
  return masked_select_into(context, *operands[0].view, *operands[1].view, out);
}

}  // namespace tenure
