// Expressions: element-wise nodes in one launch.
#include <algorithm>
#include <cstring>
#include <optional>

#include "cpu/operations.hpp"
#include "cuda/compiled/compiled_expressions.hpp"
#include "cuda/kernels/expression_arguments.hpp"
#include "cuda/operations/enqueue.hpp"
#include "cuda/operations/families.hpp"
#include "cuda/operations/finding.hpp"
#include "cuda/operations/grid.hpp"
#include "dense/loops/nest.hpp"
#include "memory/queue_order.hpp"
#include "tenure/dtype.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using cuda::ElementType;
using cuda::is_float;
using Family = cuda::ExpressionFamily;
using kernels::Binary;
using kernels::Unary;

constexpr std::uint32_t kKindMask = ~std::uint32_t{0xffff};

std::uint32_t op_of(std::uint32_t code) noexcept { return code & ~kKindMask; }

ElementType type_of(tnr_dtype dtype) noexcept {
  return static_cast<ElementType>(type_index(dtype));
}

// nullopt: a call of its own.
std::optional<Family> family_of_unary(Unary op, ElementType type) noexcept {
  using enum kernels::Device;
  const kernels::Device device = cuda::device_of(op);
  if (device != kNone && !is_float(type)) return Family::kUnaryWords;
  switch (device) {
    case kWords: return Family::kUnaryWords;
    case kQuestion: return Family::kQuestion;
    case kNumber: return Family::kNumber;
    case kFusedFunction:
      if (type != ElementType::kF64) return Family::kFunction;
      return std::nullopt;
    case kNone:
    case kOfKind:
    case kAngle:
    case kFunction: break;
  }
  return std::nullopt;
}

std::optional<Family> family_of_binary(Binary op, ElementType type) noexcept {
  const kernels::Device device = cuda::device_of(op);
  if (device == kernels::Device::kNone) return std::nullopt;
  if (!is_float(type)) return Family::kBinaryWords;
  if (device == kernels::Device::kNumber) return Family::kBinaryNumber;
  if (op == Binary::kPow && type != ElementType::kF64) return Family::kPower;
  return std::nullopt;
}

std::optional<Family> family_of(std::uint32_t code, tnr_dtype dtype) noexcept {
  const unsigned index = type_index(dtype);
  if (index == kNoType) return std::nullopt;
  const auto type = static_cast<ElementType>(index);
  switch (code & kKindMask) {
    case TNR_NODE_UNARY: return family_of_unary(static_cast<Unary>(op_of(code)), type);
    case TNR_NODE_BINARY: return family_of_binary(static_cast<Binary>(op_of(code)), type);
    case TNR_NODE_TERNARY: return is_float(type) ? Family::kTernaryNumber : Family::kTernaryWords;
    case TNR_NODE_COMPARE: return Family::kCompare;
    case TNR_NODE_SELECT: return Family::kSelect;
    case TNR_NODE_CAST: return Family::kCast;
    default: return std::nullopt;
  }
}

}  // namespace

bool fuses_on_device(std::uint32_t code, tnr_dtype dtype) noexcept {
  return family_of(code, dtype).has_value();
}

namespace cuda {
namespace {

static_assert(DeviceExpression::kMostNodes == kMostExpressionNodes);
static_assert(DeviceExpression::kMostViews == kMostExpressionLeaves);
static_assert(DeviceExpression::kMostNumbers == kMostExpressionNumbers);
static_assert(DeviceExpression::kMostSlots == kExpressionSlots);
static_assert(DeviceExpression::kNoSlot == cuda::kNoSlot);
using Location = DeviceExpression::Location;
static_assert(static_cast<int>(Location::kLast) == static_cast<int>(ExpressionLocation::kLast));
static_assert(static_cast<int>(Location::kSlot) == static_cast<int>(ExpressionLocation::kSlot));
static_assert(static_cast<int>(Location::kView) == static_cast<int>(ExpressionLocation::kLeaf));
static_assert(static_cast<int>(Location::kNumber) == static_cast<int>(ExpressionLocation::kNumber));

std::int64_t width_of(tnr_dtype dtype) noexcept {
  return static_cast<std::int64_t>(element_size(dtype));
}

// A cast to the same dtype moves, as a call does.
ExpressionNode node_of(const DeviceExpression::Node& from) noexcept {
  const bool moves = (from.code & kKindMask) == TNR_NODE_CAST && from.dtype == from.out_dtype;
  ExpressionNode node = {};
  node.family = moves ? Family::kCopy : *family_of(from.code, from.dtype);
  node.op = static_cast<std::uint8_t>(op_of(from.code));
  node.operand_count = from.operand_count;
  node.slot = from.slot;
  node.type = static_cast<std::uint8_t>(type_of(from.dtype));
  node.out_type = static_cast<std::uint8_t>(type_of(from.out_dtype));
  for (unsigned i = 0; i < from.operand_count; ++i) {
    node.operands[i] = {static_cast<ExpressionLocation>(from.operands[i].location),
                        from.operands[i].index};
  }
  return node;
}

// Whether elements may be found on the right that the operation does not take: numbers there have
// been checked.
bool may_find(const DeviceExpression::Node& node) noexcept {
  return (node.code & kKindMask) == TNR_NODE_BINARY &&
         node.operands[1].location != Location::kNumber &&
         finding_of(static_cast<Binary>(op_of(node.code)), type_of(node.dtype)) !=
             kernels::kNothing;
}

// Elements of all operands, by extents and steps: a nest that halves of can be made.
struct ExpressionPart {
  unsigned rank;
  std::int64_t extents[TNR_MAX_RANK];  // outermost first
  const unsigned char* data[1 + kMostExpressionLeaves];
};

constexpr const char* kCompiledName = "a compiled expression";

class ExpressionLaunch {
 public:
  ExpressionLaunch(const Queue& queue, const DeviceExpression& expression,
                   const tnr_view* const* views, const tnr_view_mut& out)
      : queue_(queue), operand_count_(1 + expression.view_count), nest_(operand_count_) {
    widths_[0] = width_of(out.view.dtype);
    argument_.memory[0].type = static_cast<std::uint32_t>(type_of(out.view.dtype));
    whole_.data[0] = bytes_of(out.view);
    for (unsigned i = 1; i < operand_count_; ++i) {
      const tnr_view& view = *views[i - 1];
      widths_[i] = width_of(view.dtype);
      argument_.memory[i].type = static_cast<std::uint32_t>(type_of(view.dtype));
      whole_.data[i] = bytes_of(view);
    }
    for (std::uint32_t axis = 0; axis < out.view.rank; ++axis) {
      if (out.view.shape[axis] == 1) continue;
      std::int64_t steps[1 + kMostExpressionLeaves] = {out.view.strides[axis] * widths_[0]};
      for (unsigned i = 1; i < operand_count_; ++i) {
        steps[i] = broadcast_step(*views[i - 1], out.view, axis);
      }
      nest_.add(out.view.shape[axis], steps);
    }
    nest_.order(0);
    for (unsigned i = 0; i < operand_count_; ++i) whole_.data[i] += nest_.start(i);
    whole_.rank = nest_.rank();
    for (unsigned axis = 0; axis < whole_.rank; ++axis) whole_.extents[axis] = nest_.extent(axis);
    set_nodes(expression);
    if (compiles_expressions()) {
      compiled_ = compiled_expression(queue.opened_device(), argument_,
                                      queue.may_load() ? Missing::kCompile : Missing::kSkip);
    }
  }

  void run(std::uint32_t* findings) {
    argument_.findings = findings;
    run(whole_);
  }

 private:
  void set_nodes(const DeviceExpression& expression) noexcept {
    bool has_long = false;
    for (unsigned i = 0; i < expression.node_count; ++i) {
      const DeviceExpression::Node& node = expression.nodes[i];
      argument_.nodes[i] = node_of(node);
      has_long = has_long || width_of(node.dtype) == 8 || width_of(node.out_dtype) == 8;
    }
    for (unsigned i = 0; i < expression.number_count; ++i) {
      const DeviceExpression::Number& number = expression.numbers[i];
      std::memcpy(&argument_.numbers[i].bits, number.bytes, sizeof number.bytes);
      argument_.numbers[i].type = static_cast<std::uint32_t>(type_of(number.dtype));
    }
    argument_.node_count = expression.node_count;
    argument_.leaf_count = expression.view_count;
    argument_.items = has_long ? kLongItems : kShortItems;
  }

  [[nodiscard]] std::int64_t step(unsigned axis, unsigned operand) const noexcept {
    return nest_.rank() == 0 ? 0 : nest_.step(axis, operand);
  }

  // Whether all whole groups are adjacent and aligned.
  [[nodiscard]] bool is_vector(const ExpressionPart& part, unsigned operand) const noexcept {
    if (part.rank == 0 || step(part.rank - 1, operand) != widths_[operand]) return false;
    const std::int64_t alignment =
        std::min<std::int64_t>(argument_.items * widths_[operand], kGroupBytes);
    std::uint64_t places = address_of(part.data[operand]);
    for (unsigned axis = 0; axis + 1 < part.rank; ++axis) {
      places |= static_cast<std::uint64_t>(step(axis, operand));
    }
    return places % static_cast<std::uint64_t>(alignment) == 0;
  }

  void run(const ExpressionPart& part) {
    const std::int64_t items = argument_.items;
    const std::int64_t inner = part.rank == 0 ? 1 : part.extents[part.rank - 1];
    const std::int64_t inner_groups = quotient_up(inner, items);
    std::int64_t groups = inner_groups;
    for (unsigned axis = 0; axis + 1 < part.rank; ++axis) groups *= part.extents[axis];
    if (groups >= kMostNumber) return run_halves(part);
    argument_.group_count = static_cast<std::uint32_t>(groups);
    argument_.inner_groups = static_cast<std::uint32_t>(inner_groups);
    argument_.last_items = static_cast<std::uint32_t>(inner - (inner_groups - 1) * items);
    argument_.rank = std::max(part.rank, 1u);
    for (unsigned k = 0; k < operand_count_; ++k) {
      ExpressionMemory& memory = argument_.memory[k];
      memory.data = const_cast<unsigned char*>(part.data[k]);
      memory.step = part.rank == 0 ? 0 : step(part.rank - 1, k);
      memory.is_vector = is_vector(part, k) ? 1 : 0;
    }
    for (unsigned i = 0; i < argument_.rank; ++i) {
      ExpressionAxis& axis = argument_.axes[i];
      const unsigned of = part.rank - 1 - i;
      axis.divider = divider_by(i == 0 ? inner_groups : part.extents[of]);
      for (unsigned k = 0; k < operand_count_; ++k) {
        axis.steps[k] = part.rank == 0 ? 0 : step(of, k) * (i == 0 ? items : 1);
      }
    }
    const Grid grid = {static_cast<unsigned>(quotient_up(groups, kThreads)), kThreads};
    if (compiled_ != nullptr) return queue_.launch(compiled_, kCompiledName, grid, &argument_);
    queue_.launch(Kernel::expression, grid, argument_);
  }

  // Runs two halves of the outermost axis, in whole groups where it is the innermost too. The axis
  // stays where it was, so that the axes are those of the nest.
  void run_halves(const ExpressionPart& part) {
    const unsigned axis =
        static_cast<unsigned>(std::find_if(part.extents, part.extents + part.rank,
                                           [](std::int64_t extent) { return extent > 1; }) -
                              part.extents);
    const std::int64_t unit = axis + 1 == part.rank ? std::int64_t{argument_.items} : 1;
    const std::int64_t low = part.extents[axis] / 2 / unit * unit;
    ExpressionPart half = part;
    half.extents[axis] = low;
    run(half);
    half.extents[axis] = part.extents[axis] - low;
    for (unsigned k = 0; k < operand_count_; ++k) half.data[k] += low * step(axis, k);
    run(half);
  }

  const Queue& queue_;
  unsigned operand_count_;
  WideNest nest_;
  std::int64_t widths_[1 + kMostExpressionLeaves] = {};
  ExpressionPart whole_ = {};
  ExpressionArgument argument_ = {};
  Function compiled_ = nullptr;
};

}  // namespace

void enqueue(const Queue& queue, const DeviceEvaluation& call) {
  const auto& [expression, views, out, pins, findings] = call;
  findings = {};
  if (is_empty(out.view)) return;
  ExpressionLaunch launch(queue, expression, views, out);
  const bool finds =
      std::any_of(expression.nodes, expression.nodes + expression.node_count, may_find);
  if (!finds) {
    const QueueOrder order(queue, pins);
    launch.run(nullptr);
    return;
  }
  struct Words {
    std::uint32_t of[2];
  };
  const FindingWord<Words> found(queue, 0);
  {
    const QueueOrder order(queue, pins);
    launch.run(found.data()->of);
  }
  const Words words = found.wait();
  findings = {.zero_divisor = words.of[0] != 0, .negative_power = words.of[1] != 0};
}

}  // namespace cuda
}  // namespace tenure
