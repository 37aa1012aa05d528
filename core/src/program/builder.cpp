#include "program/builder.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "dense/scalar.hpp"
#include "program/control.hpp"
#include "program/custom.hpp"
#include "program/found.hpp"
#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

// Called before anything else is changed, so that a failure changes nothing. Room grows by whole
// multiples: room for one more each time would move all elements each time.
template <class T>
void make_room(std::vector<T>& of, std::size_t more = 1) {
  if (of.capacity() - of.size() < more) of.reserve(std::max(2 * of.size(), of.size() + more));
}

void require_below(std::uint32_t index, std::size_t count, const char* noun) {
  if (index < count) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "the graph has %zu of its kind, but no %s %" PRIu32, count,
       noun, index);
}

constexpr std::uint32_t kMarks =
    TNR_MARK_KEEP | TNR_MARK_RECOMPUTE | TNR_MARK_GRADIENT | TNR_MARK_NON_FINITE;

void require_marks(std::uint32_t marks) {
  if ((marks & ~kMarks) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "marks are 0x%" PRIx32 ", but bits of it are unknown", marks);
  }
  if ((marks & TNR_MARK_KEEP) != 0 && (marks & TNR_MARK_RECOMPUTE) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "marks are 0x%" PRIx32 ": a value is not kept and computed again", marks);
  }
}

}  // namespace

std::int64_t GraphBuilder::push_extent(const Extent& extent) {
  if (graph_.extents.size() == TNR_MAX_EXTENTS) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the graph has %d extents, and may have no more",
         TNR_MAX_EXTENTS);
  }
  make_room(graph_.extents);
  maxima_.add(extent);
  graph_.extents.push_back(extent);
  return TNR_EXTENT + static_cast<std::int64_t>(graph_.extents.size() - 1);
}

std::int64_t GraphBuilder::add_extent(const char* name, std::int64_t maximum) {
  if (maximum < 0 || is_extent(maximum)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "maximum is %" PRId64 " but must be 0 to 2^62 - 1", maximum);
  }
  Extent extent = {0, maximum, 0, {}};
  std::snprintf(extent.name, sizeof extent.name, "%s", name);
  return push_extent(extent);
}

std::int64_t GraphBuilder::combine_extents(tnr_extent_op op, std::int64_t a, std::int64_t b) {
  if (op == 0) fail(TNR_STATUS_INVALID_ARGUMENT, "op is 0, which names no operation on extents");
  for (const std::int64_t number : {a, b}) {
    if (number < 0) fail(TNR_STATUS_INVALID_ARGUMENT, "a number is %" PRId64, number);
  }
  return push_extent({op, a, b, {}});
}

void GraphBuilder::require_room(std::size_t count) const {
  const std::size_t there = graph_.values.size() + graph_.body_value_count;
  if (there + count <= TNR_MAX_VALUES) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "the graph has %zu values, with those of the graphs in its nodes, and may have no more than "
       "%d",
       there, TNR_MAX_VALUES);
}

void GraphBuilder::require_value(std::uint32_t value) const {
  if (value < graph_.values.size()) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "value is %" PRIu32 " but the graph has %zu", value,
       graph_.values.size());
}

std::uint32_t GraphBuilder::add_value(tnr_value_source source, std::size_t index,
                                      const ArrayType& type) {
  make_room(graph_.values);
  types_.push_back(type);
  graph_.values.push_back({source, static_cast<std::uint32_t>(index)});
  return static_cast<std::uint32_t>(graph_.values.size() - 1);
}

std::uint32_t GraphBuilder::add_input(tnr_dtype dtype, std::uint32_t rank,
                                      const std::int64_t* shape) {
  require_room();
  if (rank > TNR_MAX_RANK) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "rank is %" PRIu32 " but must be at most %d", rank,
         TNR_MAX_RANK);
  }
  if (shape == nullptr && rank != 0) fail(TNR_STATUS_INVALID_ARGUMENT, "shape is NULL");
  ArrayType type = {dtype, rank, {}};
  for (std::uint32_t axis = 0; axis < rank; ++axis) type.shape[axis] = maxima_.of(shape[axis]);
  (void)row_major_bytes(dtype, rank, type.shape);
  make_room(graph_.inputs);
  std::vector<std::int64_t> numbers(shape, shape + rank);
  for (const std::int64_t number : numbers) {
    const std::uint32_t finding = last_finding(graph_, number);
    if (finding == kNoValue) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT, "nodes[%" PRIu32 "], %s, finds an extent of the input",
         finding, operation_name(graph_.nodes[finding]));
  }
  const std::uint32_t value = add_value(TNR_VALUE_SOURCE_INPUT, graph_.inputs.size(), type);
  graph_.inputs.push_back({dtype, std::move(numbers), value, false});
  return value;
}

std::uint32_t GraphBuilder::add_constant(const tnr_view& view) {
  require_room();
  return add_constant(std::make_shared<const Constant>(view));
}

std::uint32_t GraphBuilder::add_constant(std::shared_ptr<const Constant> constant) {
  require_room();
  make_room(graph_.constants);
  const std::uint32_t value =
      add_value(TNR_VALUE_SOURCE_CONSTANT, graph_.constants.size(), type_of(constant->view()));
  graph_.constants.push_back(std::move(constant));
  return value;
}

std::uint32_t GraphBuilder::add_scalar(const tnr_scalar& scalar) {
  require_room();
  // Representable in its own dtype, or no number at all.
  (void)to_element(scalar, scalar.dtype, "scalar");
  make_room(graph_.scalars);
  const std::uint32_t value =
      add_value(TNR_VALUE_SOURCE_SCALAR, graph_.scalars.size(), {scalar.dtype, 0, {}});
  graph_.scalars.push_back(scalar);
  return value;
}

std::uint32_t GraphBuilder::add_node(const tnr_graph_node& given, ReadAttributes read) {
  require_room();
  const OperationKind* const kind = find_operation(given.code);
  if (kind == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "node->code is 0x%08" PRIx32 ", which names no operation",
         given.code);
  }
  if (given.reserved != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "node->reserved is %" PRIu32 " but must be 0",
         given.reserved);
  }
  require_marks(given.marks);
  const bool takes_any = kind->most_operands == kAnyCount;
  if (given.operand_count < kind->least_operands ||
      given.operand_count > (takes_any ? TNR_MAX_VALUES : kind->most_operands)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "node->operand_count is %" PRIu32 " but %s takes %u%s",
         given.operand_count, kind->name, unsigned{kind->least_operands},
         kind->most_operands == kind->least_operands ? "" : " or more");
  }
  if (given.operands == nullptr && given.operand_count != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "node->operands is NULL");
  }
  const bool has_any_numbers = kind->number_count == kAnyCount;
  if (has_any_numbers ? given.number_count > TNR_MAX_RANK
                      : given.number_count != kind->number_count) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "node->number_count is %" PRIu32 " but %s takes %s%u",
         given.number_count, kind->name, has_any_numbers ? "at most " : "",
         has_any_numbers ? unsigned{TNR_MAX_RANK} : unsigned{kind->number_count});
  }
  if (given.numbers == nullptr && given.number_count != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "node->numbers is NULL");
  }
  if (given.flags != 0 && kind->sets != Sets::kAxes) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "node->flags is 0x%" PRIx32 " but %s takes none", given.flags,
         kind->name);
  }
  if (given.attributes != nullptr && kind->attributes == AttributeKind::kNone) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "node->attributes is not NULL but %s takes none", kind->name);
  }
  if (given.dtype != 0 && kind->sets != Sets::kDtype) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "node->dtype is %s but must be 0: the operation states its result's",
         dtype_name(given.dtype));
  }
  for (std::uint32_t i = 0; i < given.operand_count; ++i) {
    if (given.operands[i] != kNoValue) require_value(given.operands[i]);
  }
  if (kind->find != nullptr) require_own_extent(graph_, given.numbers[0]);
  GraphNode node = {number_ == kNoValue ? static_cast<std::uint32_t>(graph_.nodes.size()) : number_,
                    given.copy,
                    given.marks | marks_,
                    given.code,
                    given.dtype,
                    given.flags,
                    given.attributes != nullptr,
                    static_cast<std::uint32_t>(graph_.values.size()),
                    1,
                    {given.operands, given.operands + given.operand_count},
                    {given.numbers, given.numbers + given.number_count},
                    read(kind->attributes, given.attributes),
                    find_custom(given),
                    {}};
  node.derives = derived_;
  std::size_t body_value_count = 0;
  bool finds = kind->find != nullptr;
  if (kind->computes == Computes::kControl) {
    node.bodies = find_bodies(graph_, given);
    node.result_count = count_results(node);
    for (const auto& body : node.bodies) {
      body_value_count += body->graph.values.size() + body->graph.body_value_count;
      finds |= body->graph.finds_extents;
    }
    require_room(node.result_count + body_value_count);
  }
  const std::uint32_t first = node.result;
  const std::uint32_t count = node.result_count;
  make_room(graph_.values, count);
  make_room(types_, count);
  graph_.nodes.push_back(std::move(node));
  try {
    types_.resize(first + count);
    infer(graph_, graph_.nodes.back(), maxima_, types_);
  } catch (...) {
    types_.resize(first);
    graph_.nodes.pop_back();
    throw;
  }
  const auto index = static_cast<std::uint32_t>(graph_.nodes.size() - 1);
  if (kind->find != nullptr) graph_.extents[extent_index(given.numbers[0])].node = index;
  graph_.finds_extents |= finds;
  graph_.values.resize(first + count, {TNR_VALUE_SOURCE_NODE, index});
  graph_.body_value_count += body_value_count;
  return first;
}

void GraphBuilder::mark(std::uint32_t first, std::uint32_t count, std::uint32_t marks) {
  require_marks(marks);
  const std::size_t last = std::size_t{first} + count;
  if (last > graph_.nodes.size()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the nodes end at %zu but the graph has %zu", last,
         graph_.nodes.size());
  }
  for (std::size_t i = first; i < last; ++i) {
    std::uint32_t& of = graph_.nodes[i].marks;
    // Regions of recomputation are marked behind their values.
    if (marks != TNR_MARK_NON_FINITE) of &= ~(TNR_MARK_KEEP | TNR_MARK_RECOMPUTE);
    of |= marks;
  }
}

std::uint32_t GraphBuilder::add_subgraph(std::shared_ptr<const Body> body) {
  if (body->graph.outputs.empty()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the body has no output");
  }
  if (body->graph.depth + 1 > TNR_MAX_SUBGRAPH_DEPTH) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "graphs are %" PRIu32 " deep in the body, and may be %d",
         body->graph.depth, TNR_MAX_SUBGRAPH_DEPTH - 1);
  }
  for (const GraphOutput& output : body->graph.outputs) {
    if (output.updates == kNoValue) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "an output of the body updates inputs[%" PRIu32 "], which only a run's may",
         output.updates);
  }
  for (const Extent& extent : body->graph.extents) {
    if (!is_outer(extent) || std::ranges::any_of(graph_.extents, [&](const Extent& of) {
          return is_same(of, extent);
        })) {
      continue;
    }
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "the body has the extent %s of at most %" PRId64 ", which the graph has not", extent.name,
         extent.a);
  }
  const std::uint32_t depth = body->graph.depth + 1;
  graph_.bodies.push_back(std::move(body));
  graph_.depth = std::max(graph_.depth, depth);
  return static_cast<std::uint32_t>(graph_.bodies.size() - 1);
}

const Body& GraphBuilder::subgraph(std::uint32_t index) const {
  require_below(index, graph_.bodies.size(), "subgraph");
  return *graph_.bodies[index];
}

std::shared_ptr<Body> GraphBuilder::to_body() const {
  return std::make_shared<Body>(Body{graph_, types_, std::vector<bool>(graph_.nodes.size(), true)});
}

std::shared_ptr<const Custom> GraphBuilder::find_custom(const tnr_graph_node& given) const {
  if (given.code >> kNodeKindShift != TNR_NODE_CUSTOM >> kNodeKindShift) return nullptr;
  const std::uint32_t index = given.code - TNR_NODE_CUSTOM;
  require_below(index, graph_.customs.size(), "custom operation");
  const Custom& custom = *graph_.customs[index];
  if (given.operand_count != custom.operand_count() ||
      given.number_count != custom.number_count()) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "the node has %" PRIu32 " operands and %" PRIu32 " numbers but %s takes %" PRIu32
         " and %" PRIu32,
         given.operand_count, given.number_count, custom.name(), custom.operand_count(),
         custom.number_count());
  }
  return graph_.customs[index];
}

void GraphBuilder::require_custom_room() {
  if (graph_.customs.size() > UINT16_MAX) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the graph has %zu custom operations, and may have no more",
         graph_.customs.size());
  }
  make_room(graph_.customs);
}

std::uint32_t GraphBuilder::add_custom(const tnr_custom_operation& operation) {
  require_custom_room();
  return add_custom(std::make_shared<const Custom>(operation));
}

std::uint32_t GraphBuilder::add_custom(std::shared_ptr<const Custom> custom) {
  require_custom_room();
  graph_.customs.push_back(std::move(custom));
  return static_cast<std::uint32_t>(graph_.customs.size() - 1);
}

tnr_graph_info GraphBuilder::describe() const noexcept {
  const auto count = [](const auto& of) { return static_cast<std::uint32_t>(of.size()); };
  return {sizeof(tnr_graph_info),
          count(graph_.values),
          count(graph_.extents),
          count(graph_.inputs),
          count(graph_.constants),
          count(graph_.scalars),
          count(graph_.nodes),
          count(graph_.outputs),
          count(graph_.customs),
          count(graph_.bodies),
          0};
}

tnr_extent_info GraphBuilder::describe_extent(std::uint32_t index) const {
  require_below(index, graph_.extents.size(), "extent");
  const Extent& extent = graph_.extents[index];
  tnr_extent_info info = {sizeof info, extent.op, 0, extent.a, extent.b, {}};
  std::memcpy(info.name, extent.name, sizeof info.name);
  return info;
}

tnr_graph_node GraphBuilder::describe_node(std::uint32_t index) const {
  require_below(index, graph_.nodes.size(), "node");
  const GraphNode& node = graph_.nodes[index];
  tnr_graph_node info{};
  info.struct_size = sizeof info;
  info.code = node.code;
  info.dtype = node.dtype;
  info.operands = node.operands.data();
  info.operand_count = static_cast<std::uint32_t>(node.operands.size());
  info.numbers = node.numbers.empty() ? nullptr : node.numbers.data();
  info.number_count = static_cast<std::uint32_t>(node.numbers.size());
  info.attributes = node.has_attributes ? &node.attributes : nullptr;
  info.flags = node.flags;
  info.copy = node.copy;
  info.marks = node.marks;
  return info;
}

const tnr_view& GraphBuilder::describe_constant(std::uint32_t index) const {
  require_below(index, graph_.constants.size(), "constant");
  return graph_.constants[index]->view();
}

tnr_custom_info GraphBuilder::describe_custom(std::uint32_t index) const {
  require_below(index, graph_.customs.size(), "operation");
  return graph_.customs[index]->describe();
}

const tnr_scalar& GraphBuilder::describe_scalar(std::uint32_t index) const {
  require_below(index, graph_.scalars.size(), "scalar");
  return graph_.scalars[index];
}

GraphOutput GraphBuilder::describe_output(std::uint32_t index) const {
  require_below(index, graph_.outputs.size(), "output");
  GraphOutput output = graph_.outputs[index];
  if (output.updates != kNoValue) output.updates = graph_.inputs[output.updates].value;
  return output;
}

void GraphBuilder::add_output(std::uint32_t value, std::uint32_t updates) {
  require_value(value);
  if (graph_.scalar_of(value) != nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "value %" PRIu32 " is a scalar, which is no output", value);
  }
  std::uint32_t input = kNoValue;
  if (updates != TNR_OPERAND_NONE) {
    require_value(updates);
    if (graph_.values[updates].source != TNR_VALUE_SOURCE_INPUT) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "updates is %" PRIu32 ", which is no input", updates);
    }
    input = graph_.values[updates].index;
    if (!(types_[value] == types_[updates])) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "the output is %s of shape %s but the input that it updates is %s of shape %s",
           dtype_name(types_[value].dtype),
           shape_text(types_[value].rank, types_[value].shape).text,
           dtype_name(types_[updates].dtype),
           shape_text(types_[updates].rank, types_[updates].shape).text);
    }
    if (graph_.inputs[input].is_updated) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "another output updates the input already");
    }
    add_deciding(deciding_, graph_, types_);
    const std::uint32_t finding = deciding_.of_values[value];
    if (finding != kNoValue) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "the output that updates an input has as many elements as nodes[%" PRIu32 "], %s, finds",
           finding, operation_name(graph_.nodes[finding]));
    }
  }
  graph_.outputs.push_back({value, input});
  if (input != kNoValue) graph_.inputs[input].is_updated = true;
}

tnr_value_info GraphBuilder::describe_value(std::uint32_t value) const {
  require_value(value);
  tnr_value_info info{};
  info.struct_size = sizeof info;
  info.source = graph_.values[value].source;
  info.index = graph_.values[value].index;
  info.dtype = types_[value].dtype;
  info.rank = types_[value].rank;
  std::copy_n(types_[value].shape, info.rank, info.shape);
  if (const GraphNode* const node = graph_.node_of(value)) info.result = value - node->result;
  if (info.source == TNR_VALUE_SOURCE_INPUT) {
    std::ranges::copy(graph_.inputs[info.index].shape, info.numbers);
  }
  return info;
}

}  // namespace tenure
