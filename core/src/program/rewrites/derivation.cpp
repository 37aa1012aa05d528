#include "program/rewrites/derivation.hpp"

#include <cinttypes>
#include <cstring>
#include <utility>

#include "dense/scalar.hpp"
#include "program/operations.hpp"
#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

using kernels::Binary;
using kernels::Compare;
using kernels::Unary;

template <class Op>
std::uint32_t code_of(std::uint32_t kind, Op op) noexcept {
  return kind + static_cast<std::uint32_t>(op);
}

}  // namespace

NodeAttributes copied_attributes(AttributeKind, const void* given) {
  NodeAttributes attributes;
  std::memset(&attributes, 0, sizeof attributes);
  if (given != nullptr) std::memcpy(&attributes, given, sizeof attributes);
  return attributes;
}

Term Terms::node(std::uint32_t code, const NodeParts& parts) {
  tnr_graph_node given = {};
  given.struct_size = sizeof given;
  given.code = code;
  given.dtype = parts.dtype;
  given.operands = parts.operands.data();
  given.operand_count = static_cast<std::uint32_t>(parts.operands.size());
  given.numbers = parts.numbers.data();
  given.number_count = static_cast<std::uint32_t>(parts.numbers.size());
  given.attributes = parts.attributes;
  given.flags = parts.flags;
  return {*this, builder_.add_node(given, copied_attributes)};
}

Term Terms::scalar(double number) { return {*this, builder_.add_scalar(tnr_scalar_f64(number))}; }

Term Terms::constant(double number, tnr_dtype dtype) {
  return constant(tnr_scalar_f64(number), dtype);
}

Term Terms::constant(const tnr_scalar& scalar, tnr_dtype dtype) {
  const Element element = to_element(scalar, dtype, "scalar");
  const ArrayType type = {dtype, 0, {}};
  tnr_view view = unbacked_view(type);
  view.data = view.base = element.bytes;
  return {*this, builder_.add_constant(view)};
}

Term Terms::count_up(std::int64_t extent) {
  const Term one = constant(tnr_scalar_i64(1), TNR_DTYPE_I64);
  return scan(kernels::Scan::kSum, broadcast(one, {extent}), 0) - one;
}

std::vector<std::int64_t> Terms::numbers_of(Term a) {
  std::vector<std::int64_t> numbers = shapes_.of(a.value());
  for (std::size_t axis = 0; axis < numbers.size(); ++axis) {
    numbers[axis] = number_of(numbers[axis]);
    if (!is_unknown(numbers[axis])) continue;
    fail(TNR_STATUS_UNSUPPORTED,
         "a gradient needs shape[%zu] of value %" PRIu32
         ", which no extent of the graph states before a run",
         axis, a.value());
  }
  return numbers;
}

std::int64_t Terms::number_of(std::int64_t extent) {
  const auto* const parts = is_unknown(extent) ? shapes_.broadcast_of(extent) : nullptr;
  if (parts == nullptr) return extent;
  const auto [a, b] = *parts;
  const std::int64_t first = number_of(a);
  const std::int64_t second = number_of(b);
  if (is_unknown(first) || is_unknown(second)) return extent;
  const std::int64_t number = combine(TNR_EXTENT_OP_BROADCAST, first, second);
  shapes_.set_number(extent, number);
  return number;
}

std::int64_t Terms::combine(tnr_extent_op op, std::int64_t a, std::int64_t b) {
  const auto is_same = [&](const Extent& extent) {
    return extent.op == op && extent.a == a && extent.b == b;
  };
  const auto& extents = graph().extents;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (is_same(extents[i])) return TNR_EXTENT + static_cast<std::int64_t>(i);
  }
  if (!is_extent(a) && !is_extent(b)) {
    switch (op) {
      case TNR_EXTENT_OP_ADD: return a + b;
      case TNR_EXTENT_OP_SUB: return a - b;
      case TNR_EXTENT_OP_MUL: return a * b;
      default: break;
    }
  }
  if (op == TNR_EXTENT_OP_MUL && a == 1) return b;
  if (op == TNR_EXTENT_OP_MUL && b == 1) return a;
  if (op == TNR_EXTENT_OP_ADD && a == 0) return b;
  return builder_.combine_extents(op, a, b);
}

std::int64_t Terms::product(const std::vector<std::int64_t>& numbers) {
  std::int64_t product = 1;
  for (const std::int64_t number : numbers) product = combine(TNR_EXTENT_OP_MUL, product, number);
  return product;
}

Term Terms::as_array(std::int64_t number, tnr_dtype dtype) {
  if (!is_extent(number)) return constant(static_cast<double>(number), dtype);
  return node(TNR_NODE_EXTENT, {.operands = {}, .numbers = {number}, .dtype = dtype});
}

// ---- element-wise --------------------------------------------------------------------------

Term unary(Unary op, Term a) {
  return a.terms().node(code_of(TNR_NODE_UNARY, op), {.operands = {a.value()}});
}
Term binary(Binary op, Term a, Term b) {
  return a.terms().node(code_of(TNR_NODE_BINARY, op), {.operands = {a.value(), b.value()}});
}
Term compare(Compare op, Term a, Term b) {
  return a.terms().node(code_of(TNR_NODE_COMPARE, op), {.operands = {a.value(), b.value()}});
}
Term select(Term condition, Term a, Term b) {
  return a.terms().node(TNR_NODE_SELECT, {.operands = {condition.value(), a.value(), b.value()}});
}
Term cast(Term a, tnr_dtype dtype) {
  if (a.dtype() == dtype) return a;
  return a.terms().node(TNR_NODE_CAST, {.operands = {a.value()}, .dtype = dtype});
}

Term operator+(Term a, Term b) { return binary(Binary::kAdd, a, b); }
Term operator-(Term a, Term b) { return binary(Binary::kSub, a, b); }
Term operator*(Term a, Term b) { return binary(Binary::kMul, a, b); }
Term operator/(Term a, Term b) { return binary(Binary::kDiv, a, b); }
Term operator-(Term a) { return unary(Unary::kNeg, a); }
Term operator+(Term a, double b) { return a + a.terms().scalar(b); }
Term operator-(Term a, double b) { return a - a.terms().scalar(b); }
Term operator-(double a, Term b) { return b.terms().scalar(a) - b; }
Term operator*(Term a, double b) { return a * a.terms().scalar(b); }
Term operator/(Term a, double b) { return a / a.terms().scalar(b); }
Term operator<(Term a, Term b) { return compare(Compare::kLt, a, b); }
Term operator<=(Term a, Term b) { return compare(Compare::kLe, a, b); }
Term operator<(Term a, double b) { return a < a.terms().scalar(b); }
Term operator<=(Term a, double b) { return a <= a.terms().scalar(b); }
Term operator==(Term a, Term b) { return compare(Compare::kEq, a, b); }
Term operator==(Term a, double b) { return a == a.terms().scalar(b); }
Term operator||(Term a, Term b) { return binary(Binary::kLogicalOr, a, b); }
Term operator&&(Term a, Term b) { return binary(Binary::kLogicalAnd, a, b); }
Term select(Term condition, Term a, double b) { return select(condition, a, a.terms().scalar(b)); }
Term select(Term condition, double a, Term b) { return select(condition, b.terms().scalar(a), b); }

// ---- shapes --------------------------------------------------------------------------------

Term reshape(Term a, std::vector<std::int64_t> numbers) {
  if (a.terms().has_shape(a, numbers)) return a;
  return a.terms().node(TNR_NODE_RESHAPE, {.operands = {a.value()}, .numbers = std::move(numbers)});
}

Term permute(Term a, std::vector<std::int64_t> axes) {
  return a.terms().node(TNR_NODE_PERMUTE, {.operands = {a.value()}, .numbers = std::move(axes)});
}

Term broadcast(Term a, std::vector<std::int64_t> numbers) {
  if (a.terms().has_shape(a, numbers)) return a;
  return a.terms().node(TNR_NODE_BROADCAST,
                        {.operands = {a.value()}, .numbers = std::move(numbers)});
}

Term reshape_with_ones(Term a, Term like, std::uint32_t axes) {
  std::vector<std::int64_t> shape = a.terms().numbers_of(like);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if ((axes >> axis & 1) != 0) shape[axis] = 1;
  }
  return reshape(a, std::move(shape));
}

Term broadcast_like(Term a, Term like) {
  Terms& terms = a.terms();
  if (terms.shapes().are_same(a.value(), like.value())) return a;
  return broadcast(a, terms.numbers_of(like));
}

Term sum_to(Term a, Term like) {
  Terms& terms = a.terms();
  if (terms.shapes().are_same(a.value(), like.value())) return a;
  return terms.node(TNR_NODE_SUM_TO, {.operands = {a.value(), like.value()}});
}

Term slice(Term a, std::uint32_t axis, std::int64_t start, std::int64_t stop, std::int64_t step) {
  return a.terms().node(TNR_NODE_SLICE,
                        {.operands = {a.value()}, .numbers = {axis, start, stop, step}});
}

Term pad(Term a, const Padding& padding) {
  NodeAttributes attributes = {};
  attributes.pad.struct_size = sizeof attributes.pad;
  std::copy_n(padding.before, padding.numbers.size(), attributes.pad.before);
  if (padding.mode == TNR_PAD_MODE_CONSTANT) attributes.pad.value = tnr_scalar_f64(padding.fill);
  return a.terms().node(
      TNR_NODE_PAD + static_cast<std::uint32_t>(padding.mode),
      {.operands = {a.value()}, .numbers = padding.numbers, .attributes = &attributes});
}

Term flipped(Term a, std::uint32_t axis) {
  Terms& terms = a.terms();
  const std::int64_t extent = terms.numbers_of(a)[axis];
  return slice(a, axis, terms.combine(TNR_EXTENT_OP_SUB, extent, 1), -1, -1);
}

static Term filled(double number, Term like) {
  Terms& terms = like.terms();
  return broadcast(terms.constant(number, like.dtype()), terms.numbers_of(like));
}
Term zeros_like(Term like) { return filled(0, like); }
Term ones_like(Term like) { return filled(1, like); }

Term transposed(Term a) {
  std::vector<std::int64_t> axes(a.rank());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return permute(a, std::move(axes));
}

Rows::Rows(Term of, std::uint32_t axes) {
  Terms& terms = of.terms();
  const std::vector<std::int64_t> shape = terms.numbers_of(of);
  std::int64_t extent = 1;
  for (const bool is_merged : {false, true}) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (((axes >> axis & 1) != 0) != is_merged) continue;
      order.push_back(static_cast<std::int64_t>(axis));
      moved.push_back(shape[axis]);
      if (is_merged) {
        extent = terms.combine(TNR_EXTENT_OP_MUL, extent, shape[axis]);
      } else {
        merged.push_back(shape[axis]);
      }
    }
  }
  merged.push_back(extent);
}

Term Rows::from(Term a) const { return reshape(permute(a, order), merged); }

Term Rows::back(Term rows) const { return permute(reshape(rows, moved), inverse_of(order)); }

std::vector<std::int64_t> inverse_of(const std::vector<std::int64_t>& axes) {
  std::vector<std::int64_t> inverse(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    inverse[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
  }
  return inverse;
}

// ---- calls ---------------------------------------------------------------------------------

Term reduce_kept(kernels::Reduce op, Term a, std::uint32_t axes) {
  return a.terms().node(code_of(TNR_NODE_REDUCE, op),
                        {.operands = {a.value()}, .flags = axes | TNR_NODE_KEEP_AXES});
}
Term scan(kernels::Scan op, Term a, std::uint32_t axis) {
  return a.terms().node(code_of(TNR_NODE_SCAN, op), {.operands = {a.value()}, .numbers = {axis}});
}
Term matmul(Term a, Term b) {
  return a.terms().node(TNR_NODE_MATMUL, {.operands = {a.value(), b.value()}});
}
Term gather(Term a, Term indices, std::uint32_t axis) {
  return a.terms().node(TNR_NODE_GATHER,
                        {.operands = {a.value(), indices.value()}, .numbers = {axis}});
}
Term take(Term a, Term indices, std::uint32_t axis) {
  return a.terms().node(TNR_NODE_TAKE,
                        {.operands = {a.value(), indices.value()}, .numbers = {axis}});
}
Term put_add(Term a, Term values, Term indices, std::uint32_t axis) {
  return a.terms().node(
      code_of(TNR_NODE_PUT, Binary::kAdd),
      {.operands = {a.value(), values.value(), indices.value()}, .numbers = {axis}});
}
Term scatter_add(Term a, Term values, Term indices, std::uint32_t axis) {
  return a.terms().node(
      code_of(TNR_NODE_SCATTER, Binary::kAdd),
      {.operands = {a.value(), values.value(), indices.value()}, .numbers = {axis}});
}

tnr_dtype wide_dtype(tnr_dtype dtype) noexcept {
  return dtype == TNR_DTYPE_F16 || dtype == TNR_DTYPE_BF16 ? TNR_DTYPE_F32 : dtype;
}

Term conjugate(Term a) { return is_complex(a.dtype()) ? unary(Unary::kConj, a) : a; }

// ---- one node ------------------------------------------------------------------------------

Derivation::Derivation(Terms& terms, std::uint32_t index, std::vector<std::uint32_t> gradients,
                       const std::vector<bool>& wanted)
    : terms_(terms),
      node_(terms.graph().nodes[index]),
      gradients_(std::move(gradients)),
      wanted_(wanted) {}

Term Derivation::operand(std::size_t i) const {
  const std::uint32_t value = node_.operands[i];
  const tnr_scalar* const scalar = terms_.graph().scalar_of(value);
  if (scalar == nullptr) return terms_.term(value);
  const tnr_scalar copy = *scalar;  // scalars move when others are added
  return terms_.constant(copy, terms_.type_of(node_.result).dtype);
}

void Derivation::give(std::size_t i, Term part) {
  const Term of = operand(i);
  part = sum_to(part, of);
  given_.push_back({of.value(), cast(part, of.dtype()).value()});
}

void Derivation::refuse(const char* why) const {
  fail(TNR_STATUS_UNSUPPORTED, "nodes[%" PRIu32 "], %s: no gradient leads through it: %s",
       node_.number, operation_name(node_), why);
}

void Derivation::refuse(const Error& error) const {
  fail(error.status(), "nodes[%" PRIu32 "], %s: %s", node_.number, operation_name(node_),
       error.message());
}

}  // namespace tenure
