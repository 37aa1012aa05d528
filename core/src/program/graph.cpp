#include "program/graph.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "program/control.hpp"
#include "program/found.hpp"
#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {

Constant::Constant(const tnr_view& view, const char* name) : view_(view), blob_(view.owner) {
  check_view(view, name);
  view_.flags = 0;
  if (view.owner != 0) {
    Pins pins;
    pins.add(view, name);
    is_borrowed_ = tenure::is_borrowed(blob_describe(view.owner).tenure);
    blob_retain(view.owner);
    return;
  }
  allocate(type_of(view));
  try {
    copy(kDefaultContext, view, {view_});
  } catch (...) {
    blob_release(blob_);
    throw;
  }
}

Constant::Constant(const ArrayType& type) { allocate(type); }

void Constant::allocate(const ArrayType& type) {
  blob_ = blob_allocate(kDefaultContext, row_major_bytes(type.dtype, type.rank, type.shape));
  // Neither call throws for a shape that was checked.
  const BlobMemory memory = blob_memory_mut(blob_);
  view_ = make_view(memory.data, memory.size_bytes, 0, type.dtype, type.rank, type.shape, nullptr);
  view_.owner = blob_;
}

Constant::~Constant() { blob_release(blob_); }

namespace {

[[gnu::cold]] Error unknown_extent(std::int64_t number, std::size_t count) noexcept {
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "a number is TNR_EXTENT + %" PRIu64 " but there are %zu extents",
                  static_cast<std::uint64_t>(number - TNR_EXTENT), count);
}

}  // namespace

Sizes::Sizes(const Graph& graph) : are_maxima_(true) {
  for (const Extent& extent : graph.extents) add(extent);
}

void Sizes::add(const Extent& extent) {
  std::int64_t size = extent.a;
  if (extent.op != 0) require_none(combine(extent, size));
  sizes_.push_back(size);
}

Refusal Sizes::set_found(const Graph& graph, const GraphNode& node, std::int64_t count) noexcept {
  const std::size_t found = extent_index(node.numbers[0]);
  sizes_[found] = count;
  for (std::size_t i = found + 1; i < sizes_.size(); ++i) {
    if (graph.extents[i].op == 0) continue;
    if (Refusal refusal = combine(graph.extents[i], sizes_[i])) return refusal;
  }
  return std::nullopt;
}

Refusal Sizes::combine(const Extent& extent, std::int64_t& size) const noexcept {
  for (const std::int64_t number : {extent.a, extent.b}) {
    if (!is_extent(number) || extent_index(number) < sizes_.size()) continue;
    return unknown_extent(number, sizes_.size());
  }
  const std::int64_t a = size_at(extent.a);
  const std::int64_t b = size_at(extent.b);
  size = kUnknown;
  if (a == kUnknown || b == kUnknown) return std::nullopt;
  bool fits = true;
  switch (extent.op) {
    case TNR_EXTENT_OP_ADD: fits = !__builtin_add_overflow(a, b, &size); break;
    case TNR_EXTENT_OP_SUB: fits = !__builtin_sub_overflow(a, b, &size); break;
    case TNR_EXTENT_OP_MUL: fits = !__builtin_mul_overflow(a, b, &size); break;
    case TNR_EXTENT_OP_DIV:
    case TNR_EXTENT_OP_DIV_UP:
      if (b <= 0) {
        return error_of(TNR_STATUS_INVALID_ARGUMENT, "an extent is %" PRId64 " divided by %" PRId64,
                        a, b);
      }
      size = a / b + (extent.op == TNR_EXTENT_OP_DIV_UP && a % b != 0 ? 1 : 0);
      break;
    case TNR_EXTENT_OP_MIN: size = std::min(a, b); break;
    case TNR_EXTENT_OP_MAX: size = std::max(a, b); break;
    case TNR_EXTENT_OP_BROADCAST:
      if (a != b && a != 1 && b != 1) {
        return error_of(TNR_STATUS_INVALID_ARGUMENT,
                        "extents of %" PRId64 " and %" PRId64 " do not broadcast", a, b);
      }
      size = a == 1 ? b : a;
      break;
    default:
      return error_of(TNR_STATUS_INVALID_ARGUMENT,
                      "op is %" PRId32 ", which names no operation on extents", extent.op);
  }
  if (fits && size >= 0 && !is_extent(size)) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "an extent made of %" PRId64 " and %" PRId64 " is negative or too large", a, b);
}

Sizes::Sizes(const Graph& graph, const tnr_view* const* inputs, std::uint32_t input_count) {
  sizes_.assign(graph.extents.size(), kUnknown);
  for (std::uint32_t i = 0; i < input_count; ++i) {
    const GraphInput& input = graph.inputs[i];
    const tnr_view& view = *inputs[i];
    if (view.dtype != input.dtype || view.rank != input.shape.size()) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "inputs[%" PRIu32 "] is %s of rank %" PRIu32 " but the program takes %s of rank %zu", i,
           dtype_name(view.dtype), view.rank, dtype_name(input.dtype), input.shape.size());
    }
    for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
      if (!is_extent(input.shape[axis])) continue;
      const std::size_t index = extent_index(input.shape[axis]);
      const Extent& extent = graph.extents[index];
      if (extent.op != 0) continue;
      std::int64_t& size = sizes_[index];
      if (size == kUnknown) size = view.shape[axis];
      if (size != view.shape[axis] || size > extent.a) {
        fail(TNR_STATUS_INVALID_ARGUMENT,
             "inputs[%" PRIu32 "].shape[%" PRIu32 "] is %" PRId64 " but %s is %s%" PRId64, i, axis,
             view.shape[axis], extent.name, size > extent.a ? "at most " : "",
             size > extent.a ? extent.a : size);
      }
    }
  }
  // Computes the extents that are made of others, in their order. An input gives each of the other
  // extents, or a node finds it.
  std::vector<std::int64_t> named;
  named.swap(sizes_);
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (graph.extents[i].op == 0) {
      sizes_.push_back(named[i]);
    } else {
      add(graph.extents[i]);
    }
  }
  for (std::uint32_t i = 0; i < input_count; ++i) {
    const tnr_view& view = *inputs[i];
    for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
      const std::int64_t expected = of(graph.inputs[i].shape[axis]);
      if (view.shape[axis] == expected) continue;
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "inputs[%" PRIu32 "].shape[%" PRIu32 "] is %" PRId64 " but must be %" PRId64
           "; its shape is %s",
           i, axis, view.shape[axis], expected, shape_text(view.rank, view.shape).text);
    }
  }
}

Sizes::Sizes(const Graph& body, const Graph& graph, const Sizes& sizes)
    : are_maxima_(sizes.are_maxima_) {
  for (const Extent& extent : body.extents) {
    std::int64_t size;
    require_none(find_around(extent, graph, sizes, size));
    sizes_.push_back(size);
  }
}

Refusal Sizes::set_around(const Graph& body, const Graph& graph, const Sizes& sizes) noexcept {
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    if (Refusal refusal = find_around(body.extents[i], graph, sizes, sizes_[i])) return refusal;
  }
  return std::nullopt;
}

Refusal Sizes::find_around(const Extent& extent, const Graph& graph, const Sizes& sizes,
                           std::int64_t& size) const noexcept {
  if (extent.op != 0) return combine(extent, size);
  if (is_outer(extent)) {
    size = sizes.sizes_[outer_index(graph, extent)];
  } else {
    size = are_maxima_ ? extent.a : kUnknown;
  }
  return std::nullopt;
}

std::int64_t Sizes::of(std::int64_t number) const {
  if (is_extent(number) && extent_index(number) >= sizes_.size()) {
    throw unknown_extent(number, sizes_.size());
  }
  return size_at(number);
}

void Sizes::write_all(const std::vector<std::int64_t>& numbers, std::int64_t* to) const noexcept {
  for (const std::int64_t number : numbers) *to++ = size_at(number);
}

std::vector<std::int64_t> Sizes::of_all(const std::vector<std::int64_t>& numbers) const {
  std::vector<std::int64_t> sizes;
  sizes.reserve(numbers.size());
  for (const std::int64_t number : numbers) sizes.push_back(of(number));
  return sizes;
}

bool is_same(const Extent& a, const Extent& b) noexcept {
  return a.op == 0 && b.op == 0 && a.a == b.a && std::strcmp(a.name, b.name) == 0;
}

namespace {

// Calls infer(), whose errors name the node.
template <class Infer>
auto infer_named(const GraphNode& node, const Infer& infer) {
  try {
    return infer();
  } catch (const Error& error) {
    fail(error.status(), "nodes[%" PRIu32 "], %s: %s", node.number, operation_name(node),
         error.message());
  }
}

}  // namespace

std::size_t operand_room(const GraphNode& node) noexcept {
  return std::max<std::size_t>(node.operands.size(), kMostFixedOperands);
}

void write_operands(const Graph& graph, const GraphNode& node, const std::vector<ArrayType>& types,
                    OperandType* operands) noexcept {
  std::fill_n(operands, operand_room(node), OperandType{});
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const std::uint32_t value = node.operands[i];
    if (value == kNoValue) continue;
    operands[i].scalar = graph.scalar_of(value);
    if (operands[i].scalar == nullptr) operands[i].array = &types[value];
  }
}

ArrayType infer_result(const Graph& graph, const GraphNode& node, const Sizes& sizes,
                       const std::vector<ArrayType>& types) {
  return infer_named(node, [&] {
    const std::vector<std::int64_t> numbers = sizes.of_all(node.numbers);
    std::vector<OperandType> operands(operand_room(node));
    write_operands(graph, node, types, operands.data());
    const NodeCall call = {node, numbers.data()};
    const OperationKind& kind = operation_of(node);
    ArrayType type = kind.infer(call, operands.data());
    if (kind.shape != nullptr) require_none(kind.shape(call, operands.data(), type));
    (void)row_major_bytes(type.dtype, type.rank, type.shape);
    return type;
  });
}

std::vector<Inferred> infer(const Graph& graph, const GraphNode& node, const Sizes& sizes,
                            std::vector<ArrayType>& types) {
  std::vector<Inferred> bodies;
  if (node.bodies.empty()) {
    types[node.result] = infer_result(graph, node, sizes, types);
    return bodies;
  }
  const std::vector<ArrayType> results = infer_named(node, [&] {
    const std::vector<std::int64_t> numbers = sizes.of_all(node.numbers);
    return infer_control(graph, {node, numbers.data()}, sizes, types, bodies);
  });
  std::ranges::copy(results, types.begin() + node.result);
  return bodies;
}

Inferred infer_graph(const Graph& graph, const std::vector<bool>& needed, const Sizes& sizes,
                     const std::vector<ArrayType>& inputs) {
  Inferred made = {sizes, sizes, std::vector<ArrayType>(graph.values.size()),
                   std::vector<std::vector<Inferred>>(graph.nodes.size())};
  std::vector<ArrayType>& types = made.types;
  for (std::size_t i = 0; i < inputs.size(); ++i) types[graph.inputs[i].value] = inputs[i];
  for (std::uint32_t value = 0; value < graph.values.size(); ++value) {
    if (const Constant* const constant = graph.constant_of(value)) {
      types[value] = type_of(constant->view());
    }
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!needed[i]) continue;
    const GraphNode& node = graph.nodes[i];
    if (finds_extent(node)) {
      const std::int64_t elements = element_count(unbacked_view(types[node.operands[0]]));
      const std::int64_t most = std::min(elements, extent_of(graph, node).a);
      infer_named(node, [&] { require_none(made.sizes.set_found(graph, node, most)); });
    }
    made.bodies[i] = infer(graph, node, made.sizes, types);
  }
  return made;
}

}  // namespace tenure
