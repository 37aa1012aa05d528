#include "program/operations.hpp"

#include <algorithm>
#include <cinttypes>
#include <iterator>
#include <optional>
#include <vector>

#include "cpu/operations.hpp"
#include "dense/checks.hpp"
#include "dense/image/geometry.hpp"
#include "dense/image/wide_images.hpp"
#include "dense/movement.hpp"
#include "dense/normalize/checked.hpp"
#include "dense/operands.hpp"
#include "dense/product/epilogue.hpp"
#include "dense/product/product_types.hpp"
#include "program/custom.hpp"
#include "program/expressions.hpp"
#include "program/side_by_side.hpp"
#include "program/unbacked.hpp"
#include "tenure/movement.hpp"
#include "tenure/normalize.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

// ---- what several kinds share ----------------------------------------------------------------

const ArrayType& array(const OperandType& operand, const char* name) {
  if (operand.array == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s is %s but must be an array", name,
         operand.scalar == nullptr ? "not given" : "a scalar");
  }
  return *operand.array;
}

// Given or not, but no scalar.
const ArrayType* optional_array(const OperandType& operand, const char* name) {
  return operand.array == nullptr && operand.scalar == nullptr ? nullptr : &array(operand, name);
}

const char* shape_of(const ArrayType& type, ShapeText& text) noexcept {
  text = shape_text(type.rank, type.shape);
  return text.text;
}

void require_type(const ArrayType& type, const char* name, tnr_dtype dtype) {
  if (type.dtype == dtype) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s.dtype is %s but must be %s", name, dtype_name(type.dtype),
       dtype_name(dtype));
}

std::uint32_t axis_of(std::int64_t number, std::uint32_t rank) {
  if (number < 0 || number >= static_cast<std::int64_t>(rank)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "axis is %" PRId64 " but the rank is %" PRIu32, number, rank);
  }
  return static_cast<std::uint32_t>(number);
}

std::uint32_t rank_of(const NodeCall& call) {
  if (call.node.numbers.size() > TNR_MAX_RANK) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "number_count is %zu, more axes than %d",
         call.node.numbers.size(), TNR_MAX_RANK);
  }
  return static_cast<std::uint32_t>(call.node.numbers.size());
}

// The shape that the numbers are.
ArrayType shaped(const NodeCall& call, tnr_dtype dtype) {
  ArrayType type = {dtype, rank_of(call), {}};
  std::copy_n(call.numbers, type.rank, type.shape);
  (void)row_major_bytes(dtype, type.rank, type.shape);
  return type;
}

void require_bias(const ArrayType* bias, const ArrayType& result, std::int64_t count) {
  if (bias == nullptr) return;
  require_type(*bias, "bias", result.dtype);
  if (bias->rank == 1 && bias->shape[0] == count) return;
  ShapeText text;
  fail(TNR_STATUS_INVALID_ARGUMENT, "bias has shape %s but must have one extent of %" PRId64,
       shape_of(*bias, text), count);
}

const tnr_view* view_or_null(const OperandView& operand) noexcept { return operand.view; }

// ---- reductions and normalizations -----------------------------------------------------------

constexpr std::uint32_t kAllAxes = (1u << TNR_MAX_RANK) - 1;

void run_reduce(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  const GraphNode& node = call.node;
  std::optional<std::uint32_t> ddof;
  if (node.has_attributes) ddof = node.attributes.reduce.ddof;
  reduce(context, node.op(), *operands[0].view, node.flags & kAllAxes, ddof, out,
         node.attributes.reduce.power);
}

// With the views that the operands are.
tnr_normalize_attributes normalization(const GraphNode& node, const tnr_view* weight,
                                       const tnr_view* bias) {
  tnr_normalize_attributes attributes = node.attributes.normalize;
  attributes.weight = weight;
  attributes.bias = bias;
  return attributes;
}

ArrayType infer_normalize(const NodeCall& call, const OperandType* operands) {
  const GraphNode& node = call.node;
  const ArrayType& a = array(operands[0], "a");
  const tnr_view view = unbacked_view(a);
  // Exclusive, so that nothing is asked of where the others lie.
  tnr_view out = view;
  out.flags = TNR_VIEW_EXCLUSIVE;
  tnr_view given[2];
  const tnr_view* views[2] = {};
  static constexpr const char* kNames[] = {"weight", "bias"};
  for (unsigned i = 0; i < 2; ++i) {
    const ArrayType* const operand = optional_array(operands[1 + i], kNames[i]);
    if (operand == nullptr) continue;
    given[i] = unbacked_view(*operand, nullptr, 1);
    views[i] = &given[i];
  }
  if ((node.flags & ~kAllAxes) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "flags are 0x%" PRIx32 ", of which bits are unknown",
         node.flags);
  }
  check_normalization(node.op(), view, node.flags, normalization(node, views[0], views[1]), out);
  return a;
}

void run_normalize(const Context& context, const NodeCall& call, const OperandView* operands,
                   const tnr_view_mut& out) {
  normalize(context, call.node.op(), *operands[0].view, call.node.flags,
            normalization(call.node, view_or_null(operands[1]), view_or_null(operands[2])), out);
}

// ---- products --------------------------------------------------------------------------------

ArrayType infer_matmul(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType& b = array(operands[1], "b");
  const FactorDtype& left = kFactorDtypes[factor_type(a.dtype)];
  const FactorDtype& right = kFactorDtypes[factor_type(b.dtype)];
  ShapeText a_text;
  ShapeText b_text;
  if (a.dtype != b.dtype && !(is_byte(left.dtype) && is_byte(right.dtype))) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "b.dtype is %s but a.dtype is %s", dtype_name(b.dtype),
         dtype_name(a.dtype));
  }
  if (a.rank == 0 || b.rank == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is 0 but must be 1 at least",
         a.rank == 0 ? "a" : "b");
  }
  const std::int64_t depth = a.shape[a.rank - 1];
  const std::int64_t b_depth = b.shape[b.rank == 1 ? 0 : b.rank - 2];
  if (depth != b_depth) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "a has %" PRId64 " columns but b %" PRId64 " rows: a has shape %s, b %s", depth, b_depth,
         shape_of(a, a_text), shape_of(b, b_text));
  }
  ArrayType result = {left.result, 0, {}};
  const std::uint32_t a_batch = a.rank < 2 ? 0 : a.rank - 2;
  const std::uint32_t b_batch = b.rank < 2 ? 0 : b.rank - 2;
  const std::uint32_t batch = std::max(a_batch, b_batch);
  for (std::uint32_t axis = 0; axis < batch; ++axis) {
    const std::int64_t of_a = axis + a_batch < batch ? 1 : a.shape[axis + a_batch - batch];
    const std::int64_t of_b = axis + b_batch < batch ? 1 : b.shape[axis + b_batch - batch];
    if (of_a != of_b && of_a != 1 && of_b != 1) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "the batch of a does not broadcast with that of b: a has "
           "shape %s, b %s",
           shape_of(a, a_text), shape_of(b, b_text));
    }
    result.shape[result.rank++] = of_a == 1 ? of_b : of_a;
  }
  if (a.rank > 1) result.shape[result.rank++] = a.shape[a.rank - 2];
  if (b.rank > 1) result.shape[result.rank++] = b.shape[b.rank - 1];
  (void)row_major_bytes(result.dtype, result.rank, result.shape);
  const std::int64_t columns = b.rank == 1 ? 1 : b.shape[b.rank - 1];
  require_bias(optional_array(operands[2], "bias"), result, columns);
  (void)Epilogue(Activation(call.node.attributes.matmul), nullptr, result.dtype, left.computed());
  return result;
}

void run_matmul(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  tnr_matmul_attributes attributes = call.node.attributes.matmul;
  attributes.bias = view_or_null(operands[2]);
  matmul(context, tnr_scalar_i64(1), *operands[0].view, *operands[1].view, tnr_scalar_i64(0), out,
         attributes);
}

// ---- images ----------------------------------------------------------------------------------

// The extents of a result, which places of windows are.
ArrayType image_result(const ArrayType& a, std::int64_t channels, const WindowGeometry& g) {
  ArrayType result = {a.dtype, 4, {a.shape[0], channels, g.out[kHeight], g.out[kWidth]}};
  (void)row_major_bytes(result.dtype, result.rank, result.shape);
  return result;
}

void require_image(const ArrayType& type, const char* name) {
  if (type.rank == 4) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is %" PRIu32 " but must be 4", name, type.rank);
}

ArrayType infer_conv2d(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType& weight = array(operands[1], "weight");
  const tnr_conv2d_attributes& attributes = call.node.attributes.conv2d;
  require_image(a, "a");
  require_image(weight, "weight");
  const tnr_dtype computed = is_narrow(a.dtype) ? TNR_DTYPE_F32 : a.dtype;
  (void)require_image_type("conv2d", computed);
  require_type(weight, "weight", a.dtype);
  WindowGeometry g = {};
  for (const unsigned axis : {kHeight, kWidth}) {
    g.in[axis] = a.shape[2 + axis];
    g.kernel[axis] = weight.shape[2 + axis];
    place_windows(g, axis, attributes, 1, "weight", "a");
  }
  const ArrayType result = image_result(a, weight.shape[0], g);
  (void)convolution_geometry(unbacked_view(a), "a", unbacked_view(weight), attributes,
                             unbacked_view(result), "the result");
  require_bias(optional_array(operands[2], "bias"), result, weight.shape[0]);
  (void)Epilogue(Activation(attributes), nullptr, result.dtype, computed);
  return result;
}

void run_conv2d(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  conv2d(context, *operands[0].view, *operands[1].view, view_or_null(operands[2]),
         call.node.attributes.conv2d, out);
}

ArrayType infer_pool2d(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const tnr_pool2d_attributes& attributes = call.node.attributes.pool2d;
  require_image(a, "a");
  (void)require_image_type("pool2d", is_narrow(a.dtype) ? TNR_DTYPE_F32 : a.dtype);
  const bool is_adaptive = (attributes.flags & TNR_POOL2D_ADAPTIVE) != 0;
  const std::size_t expected = is_adaptive ? 2 : 0;
  if (call.node.numbers.size() != expected) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "number_count is %zu but must be %zu",
         call.node.numbers.size(), expected);
  }
  WindowGeometry g = {};
  for (const unsigned axis : {kHeight, kWidth}) {
    g.in[axis] = a.shape[2 + axis];
    if (is_adaptive) {
      g.out[axis] = call.numbers[axis];
      continue;
    }
    g.kernel[axis] =
        given_or(attributes.kernel[axis], std::max<std::int64_t>(g.in[axis], 1), "kernel", axis);
    place_windows(g, axis, attributes, g.kernel[axis], "the kernel", "a");
  }
  const ArrayType result = image_result(a, a.shape[1], g);
  check_pool2d(call.node.op(), unbacked_view(a), attributes, unbacked_view(result));
  return result;
}

void run_pool2d(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  pool2d(context, call.node.op(), *operands[0].view, call.node.attributes.pool2d, out);
}

ArrayType infer_batch_norm(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  static constexpr const char* kNames[] = {"a", "mean", "var", "weight", "bias"};
  tnr_view views[std::size(kNames)];
  const tnr_view* given[std::size(kNames)] = {};
  (void)array(operands[2], "var");
  for (unsigned i = 0; i < std::size(kNames); ++i) {
    const ArrayType* const operand = optional_array(operands[i], kNames[i]);
    if (operand == nullptr) continue;
    views[i] = unbacked_view(*operand);
    given[i] = &views[i];
  }
  check_batch_norm(views[0], given[1], views[2], given[3], given[4],
                   call.node.attributes.batch_norm.eps, views[0]);
  return a;
}

void run_batch_norm(const Context& context, const NodeCall& call, const OperandView* operands,
                    const tnr_view_mut& out) {
  batch_norm(context, *operands[0].view, operands[1].view, *operands[2].view, operands[3].view,
             operands[4].view, call.node.attributes.batch_norm.eps, out);
}

// ---- views -----------------------------------------------------------------------------------

template <tnr_view (*kSee)(const NodeCall& call, const tnr_view& operand)>
ArrayType infer_view(const NodeCall& call, const OperandType* operands) {
  return type_of(kSee(call, unbacked_view(array(operands[0], "a"))));
}

tnr_view view_reshaped(const NodeCall& call, const tnr_view& operand) {
  return reshape(operand, rank_of(call), call.numbers);
}

tnr_view view_permuted(const NodeCall& call, const tnr_view& operand) {
  std::uint32_t axes[TNR_MAX_RANK];
  const std::uint32_t rank = rank_of(call);
  for (std::uint32_t i = 0; i < rank; ++i) axes[i] = axis_of(call.numbers[i], rank);
  return permute(operand, rank, axes);
}

tnr_view view_broadcast(const NodeCall& call, const tnr_view& operand) {
  return broadcast(operand, rank_of(call), call.numbers);
}

tnr_view view_slice(const NodeCall& call, const tnr_view& operand) {
  const std::int64_t* const numbers = call.numbers;
  return slice(operand, axis_of(numbers[0], operand.rank), numbers[1], numbers[2], numbers[3]);
}

// ---- movement --------------------------------------------------------------------------------

ArrayType infer_concat(const NodeCall& call, const OperandType* operands) {
  ArrayType result = array(operands[0], "operands[0]");
  const std::uint32_t axis = axis_of(call.numbers[0], result.rank);
  for (std::size_t i = 1; i < call.node.operands.size(); ++i) {
    const ArrayType& part = array(operands[i], "an operand");
    require_type(part, "an operand", result.dtype);
    ArrayType without = part;
    if (part.rank == result.rank) without.shape[axis] = result.shape[axis];
    if (!(without == result)) {
      ShapeText first;
      ShapeText other;
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "operands[%zu] has shape %s, which cannot be joined along axis %" PRIu32 " to %s", i,
           shape_of(part, other), axis, shape_of(result, first));
    }
    if (__builtin_add_overflow(result.shape[axis], part.shape[axis], &result.shape[axis])) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "extents of the parts add up to more than INT64_MAX");
    }
  }
  (void)row_major_bytes(result.dtype, result.rank, result.shape);
  return result;
}

void run_concat(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  const std::size_t count = call.node.operands.size();
  SideBySide parts(count);
  for (std::size_t i = 0; i < count; ++i) parts.data()[i] = *operands[i].view;
  concat(context, parts.data(), static_cast<std::uint32_t>(count),
         static_cast<std::uint32_t>(call.numbers[0]), out);
}

ArrayType infer_pad(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType result = shaped(call, a.dtype);
  check_pad(call.node.op(), unbacked_view(a), call.node.attributes.pad, unbacked_view(result));
  return result;
}

void run_pad(const Context& context, const NodeCall& call, const OperandView* operands,
             const tnr_view_mut& out) {
  pad(context, call.node.op(), *operands[0].view, call.node.attributes.pad, out);
}

void require_indices(const ArrayType& indices) {
  if (indices.dtype == TNR_DTYPE_I32 || indices.dtype == TNR_DTYPE_I64) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "indices.dtype is %s but must be i32 or i64",
       dtype_name(indices.dtype));
}

ArrayType infer_take(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType& indices = array(operands[1], "indices");
  require_indices(indices);
  const std::uint32_t axis = axis_of(call.numbers[0], a.rank);
  if (a.rank - 1 + indices.rank > TNR_MAX_RANK) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the result has rank %" PRIu32 " but at most %d",
         a.rank - 1 + indices.rank, TNR_MAX_RANK);
  }
  ArrayType result = {a.dtype, a.rank - 1 + indices.rank, {}};
  std::int64_t* const behind = std::copy_n(a.shape, axis, result.shape);
  std::copy_n(a.shape + axis + 1, a.rank - axis - 1,
              std::copy_n(indices.shape, indices.rank, behind));
  (void)row_major_bytes(result.dtype, result.rank, result.shape);
  return result;
}

void run_take(const Context& context, const NodeCall& call, const OperandView* operands,
              const tnr_view_mut& out) {
  take(context, *operands[0].view, static_cast<std::uint32_t>(call.numbers[0]), *operands[1].view,
       out);
}

ArrayType infer_gather(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType& indices = array(operands[1], "indices");
  require_indices(indices);
  const std::uint32_t axis = axis_of(call.numbers[0], a.rank);
  ArrayType result = indices;
  result.dtype = a.dtype;
  ArrayType expected = a;
  if (indices.rank == a.rank) expected.shape[axis] = indices.shape[axis];
  if (!(expected == result)) {
    ShapeText a_text;
    ShapeText text;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "indices has shape %s but must have that of a, %s, but for axis %" PRIu32,
         shape_of(indices, text), shape_of(a, a_text), axis);
  }
  (void)row_major_bytes(result.dtype, result.rank, result.shape);
  return result;
}

void run_gather(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  gather(context, *operands[0].view, static_cast<std::uint32_t>(call.numbers[0]), *operands[1].view,
         out);
}

ArrayType infer_triangular(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  if (a.rank < 2) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "a.rank is %" PRIu32 " but must be at least 2", a.rank);
  }
  if (call.node.op() != TNR_TRIANGLE_LOWER && call.node.op() != TNR_TRIANGLE_UPPER) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "part is %" PRId32 ", which names no triangle",
         call.node.op());
  }
  return a;
}

void run_triangular(const Context& context, const NodeCall& call, const OperandView* operands,
                    const tnr_view_mut& out) {
  triangular(context, call.node.op(), *operands[0].view, call.node.attributes.triangle.diagonal,
             out);
}

ArrayType infer_scan(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  (void)axis_of(call.numbers[0], a.rank);
  ArrayType result = a;
  result.dtype = check_scan(call.node.op(), a.dtype);
  return result;
}

void run_scan(const Context& context, const NodeCall& call, const OperandView* operands,
              const tnr_view_mut& out) {
  scan(context, call.node.op(), *operands[0].view, static_cast<std::uint32_t>(call.numbers[0]),
       out);
}

// ---- the table -------------------------------------------------------------------------------

using enum Computes;
constexpr auto kNoAttributes = AttributeKind::kNone;

constexpr OperationKind elementwise(const char* name, std::uint8_t operands) {
  return {name,          kElementwise, operands,         operands,       0,
          kNoAttributes, true,         infer_expression, run_expression, nullptr};
}
template <tnr_view (*kSee)(const NodeCall& call, const tnr_view& operand)>
constexpr OperationKind viewing(const char* name, std::uint8_t numbers) {
  return {name, kView, 1, 1, numbers, kNoAttributes, false, infer_view<kSee>, nullptr, kSee};
}

// By kind.
constexpr OperationKind kOperations[] = {
    {},
    elementwise("unary", 1),
    elementwise("binary", 2),
    elementwise("ternary", 3),
    elementwise("compare", 2),
    elementwise("select", 3),
    elementwise("cast", 1),
    {"reduce", kReduction, 1, 1, 0, AttributeKind::kReduce, false, infer_expression, run_reduce,
     nullptr},
    {"normalize", kCall, 1, 3, 0, AttributeKind::kNormalize, true, infer_normalize, run_normalize,
     nullptr},
    {"matmul", kCall, 2, 3, 0, AttributeKind::kMatmul, false, infer_matmul, run_matmul, nullptr},
    {"conv2d", kCall, 2, 3, 0, AttributeKind::kConv2d, false, infer_conv2d, run_conv2d, nullptr},
    {"pool2d", kCall, 1, 1, kAnyCount, AttributeKind::kPool2d, false, infer_pool2d, run_pool2d,
     nullptr},
    {"batch_norm", kCall, 3, 5, 0, AttributeKind::kBatchNorm, false, infer_batch_norm,
     run_batch_norm, nullptr},
    viewing<view_reshaped>("reshape", kAnyCount),
    viewing<view_permuted>("permute", kAnyCount),
    viewing<view_broadcast>("broadcast", kAnyCount),
    viewing<view_slice>("slice", 4),
    {"concat", kCall, 1, kAnyCount, 1, kNoAttributes, false, infer_concat, run_concat, nullptr},
    {"pad", kCall, 1, 1, kAnyCount, AttributeKind::kPad, false, infer_pad, run_pad, nullptr},
    {"take", kCall, 2, 2, 1, kNoAttributes, false, infer_take, run_take, nullptr},
    {"gather", kCall, 2, 2, 1, kNoAttributes, false, infer_gather, run_gather, nullptr},
    {"triangular", kCall, 1, 1, 0, AttributeKind::kTriangle, true, infer_triangular, run_triangular,
     nullptr},
    {"scan", kCall, 1, 1, 1, kNoAttributes, true, infer_scan, run_scan, nullptr},
    {"custom", kCall, 0, kAnyCount, kAnyCount, kNoAttributes, false, infer_custom, run_custom,
     nullptr},
};
static_assert(std::size(kOperations) == (TNR_NODE_CUSTOM >> kNodeKindShift) + 1);

template <std::size_t kCount>
const char* row_name(const kernels::OperationRow (&rows)[kCount], const GraphNode& node) noexcept {
  const auto row = static_cast<std::uint32_t>(node.op()) - 1;
  return row < kCount ? rows[row].name : find_operation(node.code)->name;
}

}  // namespace

const OperationKind* find_operation(std::uint32_t code) noexcept {
  const std::uint32_t kind = code >> kNodeKindShift;
  return kind == 0 || kind >= std::size(kOperations) ? nullptr : &kOperations[kind];
}

bool may_be_in_place(const GraphNode& node) noexcept {
  return node.custom == nullptr ? operation_of(node).in_place : node.custom->in_place();
}

const char* operation_name(const GraphNode& node) noexcept {
  if (node.custom != nullptr) return node.custom->name();
  switch (node.kind() << kNodeKindShift) {
    case TNR_NODE_UNARY: return row_name(kernels::kUnaryRows, node);
    case TNR_NODE_BINARY: return row_name(kernels::kBinaryRows, node);
    case TNR_NODE_TERNARY: return row_name(kernels::kTernaryRows, node);
    case TNR_NODE_COMPARE: return row_name(kernels::kCompareRows, node);
    case TNR_NODE_REDUCE: return row_name(kernels::kReduceRows, node);
    case TNR_NODE_NORMALIZE: return row_name(kernels::kNormalizeRows, node);
    case TNR_NODE_SCAN: return row_name(kernels::kScanRows, node);
    default: return operation_of(node).name;
  }
}

}  // namespace tenure
