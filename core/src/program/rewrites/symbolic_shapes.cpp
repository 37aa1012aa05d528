#include "program/rewrites/symbolic_shapes.hpp"

#include <algorithm>

#include "program/builder.hpp"
#include "program/control.hpp"
#include "program/operations.hpp"
#include "program/rewrites/bodies.hpp"

namespace tenure {
namespace {

bool is_fixed(std::int64_t number) noexcept { return number >= 0 && !is_extent(number); }

}  // namespace

std::int64_t SymbolicShapes::broadcast(std::int64_t a, std::int64_t b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  if (is_fixed(a)) return a;
  if (is_fixed(b)) return b;
  std::int64_t& known = broadcasts_[std::minmax(a, b)];
  if (known == 0) known = unknown();
  return known;
}

bool SymbolicShapes::are_same(std::uint32_t a, std::uint32_t b) {
  const auto number = [&](std::int64_t extent) { return known(extent); };
  return std::ranges::equal(of(a), of(b), {}, number, number);
}

const std::pair<std::int64_t, std::int64_t>* SymbolicShapes::broadcast_of(
    std::int64_t unknown) const {
  const auto at = std::ranges::find_if(
      broadcasts_, [=](const auto& broadcast) { return broadcast.second == unknown; });
  return at == broadcasts_.end() ? nullptr : &at->first;
}

void SymbolicShapes::broadcast(std::vector<std::int64_t>& shape,
                               const std::vector<std::int64_t>& other, std::size_t axes_behind) {
  const std::size_t count = other.size() - axes_behind;
  if (shape.size() < count) shape.insert(shape.begin(), count - shape.size(), 1);
  std::int64_t* const last = shape.data() + shape.size();
  for (std::size_t i = 1; i <= count; ++i) last[-i] = broadcast(last[-i], other[count - i]);
}

// The extent of the slice of an axis of this extent.
std::int64_t SymbolicShapes::sliced(std::int64_t extent, std::int64_t start, std::int64_t stop,
                                    std::int64_t step) noexcept {
  if (start == 0 && step == 1) return stop;
  // The whole axis from its end.
  if (step == -1 && stop == -1 && is_extent(start)) {
    const Extent& last = graph_.extents[extent_index(start)];
    if (last.op == TNR_EXTENT_OP_SUB && last.a == extent && last.b == 1) return extent;
  }
  return unknown();
}

// The extents of kinds whose rule is a matter of axes. False for all others.
bool SymbolicShapes::known_shape(const GraphNode& node, std::vector<std::int64_t>& shape) {
  const auto operand = [&](std::size_t i) -> const std::vector<std::int64_t>& {
    return shapes_[node.operands[i]];
  };
  switch (static_cast<NodeKind>(node.kind())) {
    case NodeKind::kUnary:
    case NodeKind::kBinary:
    case NodeKind::kTernary:
    case NodeKind::kCompare:
    case NodeKind::kSelect:
    case NodeKind::kCast:
      for (const std::uint32_t value : node.operands) broadcast(shape, shapes_[value]);
      return true;
    case NodeKind::kNormalize:
    case NodeKind::kTriangular:
    case NodeKind::kScan:
    case NodeKind::kSort:
    case NodeKind::kPartition:
    case NodeKind::kPut:
    case NodeKind::kScatter: shape = operand(0); return true;
    case NodeKind::kSparseSddmm:
    case NodeKind::kSparseScale:
    case NodeKind::kSparseSoftmax: shape = operand(2); return true;
    case NodeKind::kSparseSolve:
    case NodeKind::kSparseAccumulate: shape = operand(3); return true;
    case NodeKind::kSumTo:
    case NodeKind::kGather: shape = operand(1); return true;
    case NodeKind::kReshape:
    case NodeKind::kBroadcast:
    case NodeKind::kPad:
    case NodeKind::kRandom:
    case NodeKind::kRandomPermutation:
    case NodeKind::kMaskedSelect:
    case NodeKind::kSparseToDense: shape = node.numbers; return true;
    case NodeKind::kExtent: return true;
    case NodeKind::kPermute:
      for (const std::int64_t axis : node.numbers) {
        shape.push_back(operand(0)[static_cast<std::size_t>(axis)]);
      }
      return true;
    case NodeKind::kReduce:
      for (std::size_t axis = 0; axis < operand(0).size(); ++axis) {
        const bool is_reduced = (node.flags >> axis & 1) != 0;
        if (!is_reduced) {
          shape.push_back(operand(0)[axis]);
        } else if ((node.flags & TNR_NODE_KEEP_AXES) != 0) {
          shape.push_back(1);
        }
      }
      return true;
    case NodeKind::kSlice: {
      shape = operand(0);
      std::int64_t& extent = shape[static_cast<std::size_t>(node.numbers[0])];
      if (std::ranges::none_of(node.numbers, is_extent)) {
        extent = types_[node.result].shape[node.numbers[0]];
      } else {
        extent = sliced(extent, node.numbers[1], node.numbers[2], node.numbers[3]);
      }
      return true;
    }
    case NodeKind::kConcat: {
      shape = operand(0);
      const auto axis = static_cast<std::size_t>(node.numbers[0]);
      const bool is_known = std::ranges::all_of(
          node.operands, [&](std::uint32_t value) { return is_fixed(shapes_[value][axis]); });
      shape[axis] = is_known ? types_[node.result].shape[axis] : unknown();
      return true;
    }
    case NodeKind::kBatchNorm:
    case NodeKind::kPool2dGradient: shape = operand(0); return true;
    case NodeKind::kConv2d:
    case NodeKind::kQuantizedConv2d:
    case NodeKind::kConv2dTransposed:
    case NodeKind::kPool2d:
      shape = {operand(0)[0]};
      for (std::size_t axis = 1; axis < 4; ++axis) {
        const bool is_known =
            std::ranges::none_of(node.numbers, is_extent) &&
            std::ranges::all_of(node.operands, [&](std::uint32_t value) {
              if (value == kNoValue) return true;
              const std::vector<std::int64_t>& of = shapes_[value];
              return std::all_of(of.begin() + (value == node.operands[0]), of.end(), is_fixed);
            });
        shape.push_back(is_known ? types_[node.result].shape[axis] : unknown());
      }
      return true;
    case NodeKind::kConv2dFilters: {
      const std::int64_t groups = std::max<std::int64_t>(node.attributes.conv2d.groups, 1);
      const std::int64_t channels = operand(0)[1];
      const bool is_known = groups == 1 || is_fixed(channels);
      shape = {operand(1)[1], is_known ? channels / groups : unknown(), node.numbers[0],
               node.numbers[1]};
      return true;
    }
    case NodeKind::kTopK:
      shape = operand(0);
      shape[static_cast<std::size_t>(node.numbers[0])] = node.numbers[1];
      return true;
    case NodeKind::kTake: {
      const auto axis = static_cast<std::ptrdiff_t>(node.numbers[0]);
      shape.assign(operand(0).begin(), operand(0).begin() + axis);
      shape.insert(shape.end(), operand(1).begin(), operand(1).end());
      shape.insert(shape.end(), operand(0).begin() + axis + 1, operand(0).end());
      return true;
    }
    case NodeKind::kSparseReduce:
      for (std::size_t axis = 0; axis < 2; ++axis) {
        if ((node.flags >> axis & 1) == 0) shape.push_back(node.numbers[axis]);
      }
      return true;
    case NodeKind::kSparseMatmul: {
      const bool is_transposed = node.attributes.sparse.orientation == TNR_ORIENTATION_TRANSPOSED;
      const std::vector<std::int64_t>& b = operand(3);
      shape = {node.numbers[is_transposed ? 1 : 0]};
      if (b.size() > 1) shape.push_back(b[1]);
      return true;
    }
    case NodeKind::kMatmul:
    case NodeKind::kQuantizedMatmul: {
      const std::vector<std::int64_t>& a = operand(0);
      const std::vector<std::int64_t>& b = operand(1);
      if (a.size() > 2) broadcast(shape, a, 2);
      if (b.size() > 2) broadcast(shape, b, 2);
      if (a.size() > 1) shape.push_back(a[a.size() - 2]);
      if (b.size() > 1) shape.push_back(b.back());
      return true;
    }
    default: return false;
  }
}

std::vector<std::int64_t> SymbolicShapes::shape_of(const GraphNode& node, std::uint32_t value) {
  const ArrayType& type = types_[value];
  std::vector<std::int64_t> shape;
  if (known_shape(node, shape)) return shape;
  const bool is_sized =
      std::ranges::any_of(node.numbers, is_extent) ||
      std::ranges::any_of(node.operands, [&](std::uint32_t operand) {
        return operand != kNoValue && !std::ranges::all_of(shapes_[operand], is_fixed);
      });
  const bool is_known = !is_sized || (graph_.extents.empty() && !is_body_ && !may_find());
  for (std::uint32_t axis = 0; axis < type.rank; ++axis) {
    shape.push_back(is_known ? type.shape[axis] : unknown());
  }
  return shape;
}

// The results of a control node.
void SymbolicShapes::add_results(const GraphNode& node) {
  for (std::uint32_t i = 0; may_find() && i < node.result_count; ++i) {
    std::vector<std::int64_t> shape(types_[node.result + i].rank);
    std::ranges::generate(shape, [&] { return unknown(); });
    shapes_.push_back(std::move(shape));
  }
  if (may_find()) return;
  if (is_while(node)) {
    for (std::uint32_t i = 0; i < node.result_count; ++i) {
      shapes_.push_back(std::vector<std::int64_t>(shapes_[node.operands[i]]));
    }
    return;
  }
  // Both bodies have the same shapes in each run.
  GraphBuilder body(*node.bodies[0]);
  SymbolicShapes inner(body.graph(), body.types(), *this);
  BodyExtents extents(graph_, *this, body, inner);
  for (std::size_t i = 1; i < node.operands.size(); ++i) {
    inner.set_input(body.graph().inputs[i - 1].value, extents.inner(shapes_[node.operands[i]]));
  }
  for (const GraphOutput& output : body.graph().outputs) {
    shapes_.push_back(extents.outer(inner.of(output.value)));
  }
}

void SymbolicShapes::add_next() {
  const auto value = static_cast<std::uint32_t>(shapes_.size());
  const GraphValue& from = graph_.values[value];
  const ArrayType& type = types_[value];
  switch (from.source) {
    case TNR_VALUE_SOURCE_INPUT: {
      const auto given = inputs_.find(value);
      shapes_.push_back(given == inputs_.end() ? graph_.inputs[from.index].shape : given->second);
      break;
    }
    case TNR_VALUE_SOURCE_NODE: {
      if (!graph_.nodes[from.index].bodies.empty()) return add_results(graph_.nodes[from.index]);
      std::vector<std::int64_t> shape = shape_of(graph_.nodes[from.index], value);
      shapes_.push_back(std::move(shape));
      break;
    }
    default: shapes_.emplace_back(type.shape, type.shape + type.rank);
  }
}

const std::vector<std::int64_t>& SymbolicShapes::of(std::uint32_t value) {
  while (shapes_.size() <= value) add_next();
  return shapes_[value];
}

}  // namespace tenure
