// Elements by a condition: as many as the data have.
#include "dense/operands.hpp"
#include "program/kinds/calls.hpp"
#include "program/kinds/operand_types.hpp"
#include "program/unbacked.hpp"
#include "tenure/movement.hpp"
#include "tenure/view.hpp"

namespace tenure {

ArrayType infer_nonzero(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  if (type_index(a.dtype) == kNoType) refuse_dtype("nonzero", a.dtype);
  const ArrayType result = {TNR_DTYPE_I64, 2, {call.numbers[0], a.rank}};
  require_size(result);
  return result;
}

std::int64_t find_nonzero(const Context& context, const NodeCall&, const OperandView* operands,
                          const tnr_view_mut& out) {
  return nonzero_into(context, *operands[0].view, out);
}

ArrayType infer_masked_select(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType& mask = array(operands[1], "mask");
  require_type(mask, "mask", TNR_DTYPE_BOOL8);
  (void)broadcast(unbacked_view(mask), a.rank, a.shape);
  const ArrayType result = {a.dtype, 1, {call.numbers[0]}};
  require_size(result);
  return result;
}

std::int64_t find_masked_select(const Context& context, const NodeCall&,
                                const OperandView* operands, const tnr_view_mut& out) {
  return masked_select_into(context, *operands[0].view, *operands[1].view, out);
}

}  // namespace tenure
