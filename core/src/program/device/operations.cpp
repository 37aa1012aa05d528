#include "program/device/operations.hpp"

#include <algorithm>
#include <cinttypes>
#include <optional>

#include "cpu/operations.hpp"
#include "program/graph.hpp"
#include "program/kinds/calls.hpp"
#include "program/unbacked.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/dtype.hpp"
#include "tenure/movement.hpp"
#include "tenure/normalize.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

tnr_view on_device(const Context& context, tnr_view view) noexcept {
  view.device = context.queue()->device();
  return view;
}

// ---- element-wise ----

// A number where an operation takes views alone: an element of the device's memory, which broadcasts.
class DeviceNumber {
 public:
  DeviceNumber(const Context& context, const tnr_scalar& number, tnr_dtype dtype)
      : queue_(*context.queue()), data_(queue_.allocate(sizeof number.bytes)) {
    view_ = on_device(context, unbacked_view({dtype, 0, {}}));
    view_.base = view_.data = data_;
    try {
      fill(context, number, {view_});
    } catch (...) {
      queue_.free(data_);
      throw;
    }
  }
  DeviceNumber(const DeviceNumber&) = delete;
  DeviceNumber& operator=(const DeviceNumber&) = delete;
  ~DeviceNumber() { queue_.free(data_); }

  [[nodiscard]] const tnr_view& view() const noexcept { return view_; }

 private:
  const DeviceQueue& queue_;
  void* data_;
  tnr_view view_;
};

// The operand of a call itself, or a number as one.
class DeviceOperand {
 public:
  DeviceOperand(const Context& context, const OperandView& operand, tnr_dtype dtype,
                const tnr_view& out)
      : view_(operand.view) {
    if (view_ != nullptr) return;
    if (is_empty(out)) {
      nothing_ = out;
      nothing_.dtype = dtype;
      view_ = &nothing_;
    } else {
      view_ = &number_.emplace(context, *operand.scalar, dtype).view();
    }
  }

  operator const tnr_view&() const noexcept { return *view_; }

 private:
  std::optional<DeviceNumber> number_;
  tnr_view nothing_;
  const tnr_view* view_;
};

// That of the first of the operands which is an array; a number has its own.
tnr_dtype dtype_of(const OperandView* operands, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (operands[i].view != nullptr) return operands[i].view->dtype;
  }
  return operands[0].scalar->dtype;
}

void run_unary(const Context& context, const NodeCall& call, const OperandView* operands,
               const tnr_view_mut& out) {
  const DeviceOperand a(context, operands[0], dtype_of(operands, 1), out.view);
  unary(context, call.node.op(), a, out);
}

void run_cast(const Context& context, const NodeCall&, const OperandView* operands,
              const tnr_view_mut& out) {
  const DeviceOperand a(context, operands[0], dtype_of(operands, 1), out.view);
  cast(context, a, out);
}

void run_binary(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  const tnr_binary_op op = call.node.op();
  const OperandView& a = operands[0];
  const OperandView& b = operands[1];
  if (a.view != nullptr && b.scalar != nullptr) return binary(context, op, *a.view, *b.scalar, out);
  if (a.scalar != nullptr && b.view != nullptr) return binary(context, op, *a.scalar, *b.view, out);
  const tnr_dtype dtype = dtype_of(operands, 2);
  const DeviceOperand left(context, a, dtype, out.view);
  const DeviceOperand right(context, b, dtype, out.view);
  binary(context, op, left, right, out);
}

void run_ternary(const Context& context, const NodeCall& call, const OperandView* operands,
                 const tnr_view_mut& out) {
  const tnr_dtype dtype = dtype_of(operands, 3);
  const DeviceOperand a(context, operands[0], dtype, out.view);
  const DeviceOperand b(context, operands[1], dtype, out.view);
  const DeviceOperand c(context, operands[2], dtype, out.view);
  ternary(context, call.node.op(), a, b, c, out);
}

void run_compare(const Context& context, const NodeCall& call, const OperandView* operands,
                 const tnr_view_mut& out) {
  const tnr_compare_op op = call.node.op();
  if (operands[0].view != nullptr && operands[1].scalar != nullptr) {
    return compare(context, op, *operands[0].view, *operands[1].scalar, out);
  }
  const tnr_dtype dtype = dtype_of(operands, 2);
  const DeviceOperand a(context, operands[0], dtype, out.view);
  const DeviceOperand b(context, operands[1], dtype, out.view);
  compare(context, op, a, b, out);
}

void run_select(const Context& context, const NodeCall&, const OperandView* operands,
                const tnr_view_mut& out) {
  const DeviceOperand condition(context, operands[0], TNR_DTYPE_BOOL8, out.view);
  const DeviceOperand a(context, operands[1], out.view.dtype, out.view);
  const DeviceOperand b(context, operands[2], out.view.dtype, out.view);
  select(context, condition, a, b, out);
}

// ---- products ----

// Devices apply bounds and `relu` to sums, and other activations to a result.
bool is_applied_to_sums(tnr_unary_op activation) noexcept {
  return activation == 0 || activation == TNR_UNARY_OP_RELU;
}

void run_device_matmul(const Context& context, const NodeCall& call, const OperandView* operands,
                       const tnr_view_mut& out) {
  tnr_matmul_attributes attributes = call.node.attributes.matmul;
  attributes.bias = operands[2].view;
  const tnr_unary_op activation = attributes.activation;
  const bool is_apart = !is_applied_to_sums(activation);
  if (is_apart) attributes.activation = 0;
  matmul(context, tnr_scalar_i64(1), *operands[0].view, *operands[1].view, tnr_scalar_i64(0), out,
         attributes);
  if (is_apart) unary(context, activation, out.view, out);
}

// ---- movement ----

void run_device_concat(const Context& context, const NodeCall& call, const OperandView* operands,
                       const tnr_view_mut& out) {
  const auto axis = static_cast<std::uint32_t>(call.numbers[0]);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < call.node.operands.size(); ++i) {
    const tnr_view& part = *operands[i].view;
    tnr_view to = slice(out.view, axis, begin, begin + part.shape[axis], 1);
    to.flags = TNR_VIEW_EXCLUSIVE;
    copy(context, part, {to});
    begin += part.shape[axis];
  }
}

// The part of an axis of the output that shows the input.
struct Shown {
  std::int64_t begin;
  std::int64_t end;
};
Shown shown(std::int64_t before, std::int64_t extent, std::int64_t out_extent) noexcept {
  const std::int64_t begin = std::clamp<std::int64_t>(before, 0, out_extent);
  // `before` plus an extent may be no number.
  const bool is_cut = before > out_extent || out_extent - before < extent;
  return {begin, is_cut ? out_extent : std::max(before + extent, begin)};
}

void run_device_pad(const Context& context, const NodeCall& call, const OperandView* operands,
                    const tnr_view_mut& out) {
  const tnr_pad_attributes& attributes = call.node.attributes.pad;
  if (call.node.op() != TNR_PAD_MODE_CONSTANT) {
    fail(TNR_STATUS_UNSUPPORTED, "pads with a constant on %s, and otherwise on the CPU alone",
         DeviceName(context.queue()->device()).text);
  }
  tnr_view from = *operands[0].view;
  tnr_view to = out.view;
  bool is_whole = true;
  for (std::uint32_t axis = 0; axis < to.rank; ++axis) {
    const std::int64_t before = attributes.before[axis];
    const auto [begin, end] = shown(before, from.shape[axis], to.shape[axis]);
    is_whole = is_whole && end - begin == to.shape[axis];
    from = slice(from, axis, begin == end ? 0 : begin - before, begin == end ? 0 : end - before, 1);
    to = slice(to, axis, begin, end, 1);
  }
  if (!is_whole) {
    tnr_scalar value = attributes.value;
    if (value.dtype == 0) value.dtype = out.view.dtype;
    fill(context, value, out);
  }
  to.flags = TNR_VIEW_EXCLUSIVE;
  copy(context, from, {to});
}

// ---- what devices take ----

// A view of these extents, one of them 0 at least.
tnr_view without_elements(const Context& context, tnr_dtype dtype,
                          std::initializer_list<std::int64_t> extents) {
  ArrayType type = {dtype, static_cast<std::uint32_t>(extents.size()), {}};
  std::ranges::copy(extents, type.shape);
  return on_device(context, unbacked_view(type));
}

// Of kinds whose operands are all vectors.
template <RunNode* kRun>
void try_vectors(const Context& context, const GraphNode& node, const OperandType* operands,
                 tnr_dtype result) {
  static constexpr std::int64_t kFirstAxis[] = {0};
  tnr_view views[kMostFixedOperands];
  OperandView given[kMostFixedOperands] = {};
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    given[i].scalar = operands[i].scalar;
    if (operands[i].array == nullptr) continue;
    views[i] = without_elements(context, operands[i].array->dtype, {0});
    given[i].view = &views[i];
  }
  kRun(context, {node, kFirstAxis}, given, {without_elements(context, result, {0})});
}

void try_concat(const Context& context, const GraphNode&, const OperandType*, tnr_dtype result) {
  const tnr_view nothing = without_elements(context, result, {0});
  copy(context, nothing, {nothing});
}

void try_pad(const Context& context, const GraphNode& node, const OperandType* operands,
             tnr_dtype result) {
  GraphNode of_vector = node;
  of_vector.attributes.pad.before[0] = 0;
  try_vectors<run_device_pad>(context, of_vector, operands, result);
  tnr_scalar value = node.attributes.pad.value;
  if (value.dtype == 0) value.dtype = result;
  fill(context, value, {without_elements(context, result, {0})});
}

// No rows of one element.
void try_reduce(const Context& context, const GraphNode& node, const OperandType* operands,
                tnr_dtype result) {
  const tnr_view a = without_elements(context, operands[0].array->dtype, {0, 1});
  const OperandView given = {&a, nullptr};
  GraphNode of_rows = node;
  of_rows.flags = 1u << 1;
  run_reduce(context, {of_rows, nullptr}, &given, {without_elements(context, result, {0})});
}

void try_normalize(const Context& context, const GraphNode& node, const OperandType* operands,
                   tnr_dtype result) {
  const tnr_view a = without_elements(context, operands[0].array->dtype, {0, 1});
  tnr_view factors[2];
  OperandView given[3] = {{&a, nullptr}, {}, {}};
  for (std::size_t i = 1; i < node.operands.size(); ++i) {
    if (operands[i].array == nullptr) continue;
    factors[i - 1] = on_device(context, unbacked_view({operands[i].array->dtype, 1, {1}}));
    given[i].view = &factors[i - 1];
  }
  GraphNode of_rows = node;
  of_rows.flags = 1u << 1;
  tnr_view out = without_elements(context, result, {0, 1});
  out.flags = TNR_VIEW_EXCLUSIVE;
  run_normalize(context, {of_rows, nullptr}, given, {out});
}

void try_matmul(const Context& context, const GraphNode& node, const OperandType* operands,
                tnr_dtype result) {
  const tnr_matmul_attributes& attributes = node.attributes.matmul;
  if (!is_applied_to_sums(attributes.activation) && attributes.flags != 0) {
    fail(TNR_STATUS_UNSUPPORTED,
         "attributes->activation is %s with bounds, which matmul applies on the CPU alone",
         kernels::kUnaryRows[attributes.activation - 1].name);
  }
  const tnr_view a = without_elements(context, operands[0].array->dtype, {0, 1});
  const tnr_view b = without_elements(context, operands[1].array->dtype, {1, 0});
  OperandView given[3] = {{&a, nullptr}, {&b, nullptr}, {}};
  tnr_view bias;
  if (node.operands.size() > 2 && operands[2].array != nullptr) {
    bias = without_elements(context, operands[2].array->dtype, {0});
    given[2].view = &bias;
  }
  run_device_matmul(context, {node, nullptr}, given, {without_elements(context, result, {0, 0})});
}

// ---- sparse matrices, whose offsets even of no rows are an element ----

tnr_sparse_format format_of(const GraphNode& node) noexcept {
  const tnr_sparse_format given = node.attributes.sparse.format;
  return given == 0 ? TNR_SPARSE_FORMAT_CSR : given;
}
[[noreturn]] void refuse_format(const Context& context, const char* taken) {
  fail(TNR_STATUS_UNSUPPORTED, "takes %s on %s, and others on the CPU alone", taken,
       DeviceName(context.queue()->device()).text);
}
void require_sparse_dtype(const Context& context, tnr_dtype dtype, bool is_taken) {
  if (is_taken) return;
  fail(TNR_STATUS_UNSUPPORTED, "takes %s on the CPU alone, not on %s", dtype_name(dtype),
       DeviceName(context.queue()->device()).text);
}
bool is_real_float(tnr_dtype dtype) noexcept {
  return dtype == TNR_DTYPE_F64 || dtype == TNR_DTYPE_F32 || dtype == TNR_DTYPE_F16 ||
         dtype == TNR_DTYPE_BF16;
}

void try_sparse_matmul(const Context& context, const GraphNode& node, const OperandType*,
                       tnr_dtype result) {
  const bool is_transposed = node.attributes.sparse.orientation == TNR_ORIENTATION_TRANSPOSED;
  if (format_of(node) != (is_transposed ? TNR_SPARSE_FORMAT_CSC : TNR_SPARSE_FORMAT_CSR)) {
    refuse_format(context, "CSR and CSC that is transposed");
  }
  require_sparse_dtype(context, result, is_real_float(result));
}

void try_sparse_sddmm(const Context& context, const GraphNode& node, const OperandType*,
                      tnr_dtype result) {
  if (format_of(node) != TNR_SPARSE_FORMAT_CSR && format_of(node) != TNR_SPARSE_FORMAT_CSC) {
    refuse_format(context, "CSR and CSC");
  }
  require_sparse_dtype(context, result, is_real_float(result));
}

void try_sparse_to_dense(const Context& context, const GraphNode& node, const OperandType*,
                         tnr_dtype result) {
  if (format_of(node) != TNR_SPARSE_FORMAT_CSR && format_of(node) != TNR_SPARSE_FORMAT_CSC) {
    refuse_format(context, "CSR and CSC");
  }
  // Sums of entries at one position are not rounded as the CPU's.
  const bool is_narrow_float = result == TNR_DTYPE_F16 || result == TNR_DTYPE_BF16;
  const bool is_unique = (node.attributes.sparse.flags & TNR_SPARSE_UNIQUE) != 0;
  require_sparse_dtype(context, result,
                       element_size(result) <= 8 && (is_unique || !is_narrow_float));
}

// ---- the table ----

constexpr DeviceOperation kOperations[] = {
    {TNR_NODE_UNARY, run_unary, try_vectors<run_unary>},
    {TNR_NODE_BINARY, run_binary, try_vectors<run_binary>},
    {TNR_NODE_TERNARY, run_ternary, try_vectors<run_ternary>},
    {TNR_NODE_COMPARE, run_compare, try_vectors<run_compare>},
    {TNR_NODE_SELECT, run_select, try_vectors<run_select>},
    {TNR_NODE_CAST, run_cast, try_vectors<run_cast>},
    {TNR_NODE_REDUCE, run_reduce, try_reduce},
    {TNR_NODE_NORMALIZE, run_normalize, try_normalize},
    {TNR_NODE_MATMUL, run_device_matmul, try_matmul},
    {TNR_NODE_CONCAT, run_device_concat, try_concat},
    {TNR_NODE_PAD, run_device_pad, try_pad},
    {TNR_NODE_TAKE, run_take, try_vectors<run_take>},
    {TNR_NODE_GATHER, run_gather, try_vectors<run_gather>},
    {TNR_NODE_PUT, run_put, try_vectors<run_put>},
    {TNR_NODE_SCATTER, run_scatter, try_vectors<run_scatter>},
    {TNR_NODE_SPARSE_TO_DENSE, run_sparse_to_dense, try_sparse_to_dense},
    {TNR_NODE_SPARSE_MATMUL, run_sparse_matmul, try_sparse_matmul},
    {TNR_NODE_SPARSE_SDDMM, run_sparse_sddmm, try_sparse_sddmm},
};

}  // namespace

const DeviceOperation* find_device_operation(const GraphNode& node) noexcept {
  const DeviceOperation* const found =
      std::ranges::find(kOperations, node.kind() << kNodeKindShift, &DeviceOperation::code);
  return found == std::end(kOperations) ? nullptr : found;
}

void require_on_device(const Context& context, const Graph& graph, const std::vector<bool>& needed,
                       const std::vector<ArrayType>& types) {
  std::vector<OperandType> operands;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (!needed[i] || operation_of(node).computes == Computes::kView) continue;
    const DeviceOperation* const operation = find_device_operation(node);
    if (operation == nullptr) {
      fail(TNR_STATUS_UNSUPPORTED, "nodes[%" PRIu32 "], %s: computed on the CPU alone, not on %s",
           i, operation_name(node), DeviceName(context.queue()->device()).text);
    }
    operands.assign(std::max(node.operands.size(), kMostFixedOperands), {});
    for (std::size_t j = 0; j < node.operands.size(); ++j) {
      const std::uint32_t value = node.operands[j];
      if (value == kNoValue) continue;
      operands[j].scalar = graph.scalar_of(value);
      if (operands[j].scalar == nullptr) operands[j].array = &types[value];
    }
    try {
      operation->attempt(context, node, operands.data(), types[node.result].dtype);
    } catch (const Error& error) {
      fail(error.status(), "nodes[%" PRIu32 "], %s: %s", i, operation_name(node), error.message());
    }
  }
}

}  // namespace tenure
