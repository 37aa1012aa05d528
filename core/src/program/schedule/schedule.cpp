#include "program/schedule.hpp"

#include <algorithm>
#include <cinttypes>
#include <numeric>
#include <optional>
#include <utility>

#include "program/control.hpp"
#include "program/expressions.hpp"
#include "program/found.hpp"
#include "program/schedule/block_use.hpp"
#include "program/schedule/fusion.hpp"
#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

class Scheduler {
 public:
  Scheduler(const Graph& graph, const std::vector<bool>& needed, std::uint32_t disabled_passes,
            const tnr_view* const* inputs, const tnr_view_mut* const* outputs, Inferred inferred,
            const Outside* outside, const Target& target)
      : graph_(graph),
        needed_(needed),
        disabled_(disabled_passes),
        target_(target),
        given_outputs_(outputs),
        sizes_(std::move(inferred.sizes)),
        types_(std::move(inferred.types)),
        bodies_(std::move(inferred.bodies)),
        deciding_(deciding_nodes(graph, types_, outside)) {
    made_.sizes = std::move(inferred.given);
    if (outside != nullptr) note_handed(*outside);
    is_adjacent_.resize(graph_.values.size());
    for (const GraphOutput& output : graph_.outputs) {
      made_.outputs.push_back(types_[output.value]);
    }
    place_given(inputs);
    find_members();
    assign_outputs();
  }

  Schedule run() {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!members_[i].empty()) add_step(i);
    }
    copy_outputs();
    BlockUse block(graph_, deciding_, is_adjacent_, made_);
    if (has(TNR_PASS_IN_PLACE)) block.share_in_place();
    block.plan(has(TNR_PASS_MEMORY));
    count_fused();
    made_.types = std::move(types_);
    return std::move(made_);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  [[nodiscard]] bool has(std::uint32_t pass) const noexcept { return (disabled_ & pass) == 0; }
  [[nodiscard]] Placed& place(std::uint32_t value) { return made_.places[value]; }
  [[nodiscard]] const Placed& placed(std::uint32_t value) const { return made_.places[value]; }

  void note_handed(const Outside& outside) {
    for (std::uint32_t i = 0; i < outside.inputs.size(); ++i) {
      if (outside.inputs[i]) made_.handed.push_back(graph_.inputs[i].value);
    }
    made_.has_found_around = std::ranges::find(outside.extents, true) != outside.extents.end();
    if (made_.handed.empty() && !made_.has_found_around) return;
    made_.findings.push_back({Finding::kNoStep, kHandedOver, {}, {}, {}});
  }

  // Inputs and constants stay in their memory.
  void place_given(const tnr_view* const* inputs) {
    made_.places.assign(graph_.values.size(), Placed{Storage::kNone, 0, 0, {}});
    for (std::uint32_t i = 0; i < graph_.inputs.size(); ++i) {
      place(graph_.inputs[i].value) = {
          Storage::kInput, i, 0, unbacked_view(types_[graph_.inputs[i].value], inputs[i]->strides)};
    }
    for (std::uint32_t value = 0; value < graph_.values.size(); ++value) {
      if (const Constant* const constant = graph_.constant_of(value)) {
        const std::uint32_t index = graph_.values[value].index;
        const tnr_view& where =
            target_.is_device() ? (*target_.device_constants)[index] : constant->view();
        place(value) = {Storage::kConstant, index, 0, unbacked_view(types_[value], where.strides)};
      }
    }
  }

  void find_members() {
    members_.resize(graph_.nodes.size());
    std::vector<std::uint32_t> roots;
    if (has(TNR_PASS_FUSION)) roots = fused_roots(graph_, needed_, types_, deciding_, target_);
    root_of_.resize(graph_.nodes.size());
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      root_of_[i] = roots.empty() ? i : roots[i];
      if (needed_[i]) members_[root_of_[i]].push_back(i);
    }
  }

  // ---- outputs -------------------------------------------------------------------------------

  [[nodiscard]] tnr_view output_layout(std::uint32_t output) const {
    return unbacked_view(made_.outputs[output], given_outputs_ == nullptr
                                                    ? nullptr
                                                    : given_outputs_[output]->view.strides);
  }

  // Nodes that write an output themselves; other outputs are copied.
  void assign_outputs() {
    direct_.assign(graph_.values.size(), kNone);
    for (std::uint32_t i = 0; i < graph_.outputs.size(); ++i) {
      const GraphOutput& output = graph_.outputs[i];
      const GraphNode* const node = graph_.node_of(output.value);
      if (node == nullptr || direct_[output.value] != kNone || output.updates != kNoValue ||
          operation_of(*node).computes == Computes::kView ||
          (operation_of(*node).is_row_major && !is_row_major(output_layout(i)))) {
        continue;
      }
      direct_[output.value] = i;
    }
    if (!has(TNR_PASS_IN_PLACE)) return;
    const InputReads reads = reads_of_updated();
    for (std::uint32_t i = 0; i < graph_.outputs.size(); ++i) {
      const GraphOutput& output = graph_.outputs[i];
      if (output.updates == kNoValue || direct_[output.value] != kNone) continue;
      const GraphNode* const node = graph_.node_of(output.value);
      if (node != nullptr && may_update(*node, i, reads[output.updates])) {
        direct_[output.value] = i;
      }
    }
  }

  // A node that reads an input, also through views. An output that is one is read when all steps
  // have run.
  struct InputRead {
    std::uint32_t step;
    std::size_t operand;
    bool is_whole;  // not through a view
  };
  using InputReads = std::vector<std::vector<InputRead>>;  // by input

  [[nodiscard]] InputReads reads_of_updated() const {
    InputReads reads(graph_.inputs.size());
    std::vector<std::uint32_t> seen_by(graph_.values.size());  // through views
    std::iota(seen_by.begin(), seen_by.end(), 0u);
    for (const GraphNode& node : graph_.nodes) {
      if (operation_of(node).computes != Computes::kView) continue;
      seen_by[node.result] = seen_by[node.operands[0]];
    }
    const auto add = [&](std::uint32_t value, std::uint32_t step, std::size_t operand) {
      const std::uint32_t seen = value == kNoValue ? kNoValue : seen_by[value];
      if (seen == kNoValue || graph_.values[seen].source != TNR_VALUE_SOURCE_INPUT) return;
      reads[graph_.values[seen].index].push_back({step, operand, seen == value});
    };
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      const GraphNode& node = graph_.nodes[i];
      if (!needed_[i] || operation_of(node).computes == Computes::kView) continue;
      for (std::size_t j = 0; j < node.operands.size(); ++j) add(node.operands[j], root_of_[i], j);
    }
    for (const GraphOutput& output : graph_.outputs) add(output.value, kNone, 0);
    return reads;
  }

  // Whether the node may write its result to the input that the output updates: no later step reads
  // the input, and the step itself reads it only where it writes.
  [[nodiscard]] bool may_update(const GraphNode& node, std::uint32_t output,
                                const std::vector<InputRead>& reads) const {
    const OperationKind& kind = operation_of(node);
    const std::uint32_t value = graph_.inputs[graph_.outputs[output].updates].value;
    const bool is_expression = kind.computes == Computes::kElementwise;
    if (kind.computes == Computes::kView || kind.computes == Computes::kControl ||
        node.custom != nullptr || (kind.is_row_major && !is_row_major(output_layout(output)))) {
      return false;
    }
    const std::uint32_t step = root_of_[graph_.values[node.result].index];
    return has_layout(placed(value).layout, output_layout(output)) &&
           std::ranges::all_of(reads, [&](const InputRead& read) {
             if (read.step != step) return read.step < step;
             return read.is_whole && (is_expression || (kind.in_place && read.operand == 0));
           });
  }

  // Outputs that are no input's memory come first: what updates an input is written when all have
  // read it.
  void copy_outputs() {
    std::vector<std::uint32_t> sources(graph_.outputs.size());
    for (std::uint32_t i = 0; i < graph_.outputs.size(); ++i) {
      std::uint32_t source = graph_.outputs[i].value;
      if (graph_.outputs[i].updates != kNoValue && place(source).storage == Storage::kInput) {
        const std::uint32_t staged = add_block(unbacked_view(types_[source]));
        add_copy(kNoValue, source, staged);
        source = staged;
      }
      sources[i] = source;
    }
    for (const bool updates : {false, true}) {
      for (std::uint32_t i = 0; i < graph_.outputs.size(); ++i) {
        if ((graph_.outputs[i].updates != kNoValue) != updates) continue;
        if (direct_[graph_.outputs[i].value] == i) continue;
        made_.places.push_back({Storage::kOutput, i, 0, output_layout(i)});
        const auto to = static_cast<std::uint32_t>(made_.places.size() - 1);
        add_copy(kNoValue, sources[i], to);
        if (deciding_.is_found(sources[i])) {
          finding_of(deciding_.of_values[sources[i]]).copies.push_back({to, sources[i]});
        }
      }
    }
  }

  // ---- what runs find ------------------------------------------------------------------------

  [[nodiscard]] bool is_decided(std::uint32_t node) const {
    return deciding_.of_nodes[node] != kNoValue;
  }
  Finding& finding_of(std::uint32_t node) {
    return *std::ranges::find(made_.findings, node, &Finding::node);
  }

  // Whether a run decides the shapes of the node's results.
  [[nodiscard]] bool gives_found(const GraphNode& node) const {
    const auto first = deciding_.of_values.begin() + node.result;
    return std::any_of(first, first + node.result_count,
                       [](std::uint32_t by) { return by != kNoValue; });
  }

  // Records a node whose call a run decides, and the place that a view sees.
  void note_decided(std::uint32_t index, std::uint32_t seen) {
    if (is_decided(index) && !finds_extent(graph_.nodes[index])) {
      finding_of(deciding_.of_nodes[index]).nodes.push_back({index, seen});
    }
  }

  // Whether the value's elements are in row-major order, for every count that a run finds.
  [[nodiscard]] bool is_adjacent(std::uint32_t value) {
    return deciding_.is_found(value) ? is_adjacent_[value] : is_row_major(place(value).layout);
  }

  // ---- steps ---------------------------------------------------------------------------------

  // Memory of its own; the place.
  std::uint32_t add_block(const tnr_view& layout) {
    made_.places.push_back(new_block(layout));
    return static_cast<std::uint32_t>(made_.places.size() - 1);
  }
  Placed new_block(const tnr_view& layout) {
    made_.lifetimes.push_back({static_cast<std::int64_t>(layout.size_bytes), kNone, 0});
    return {Storage::kBlock, static_cast<std::uint32_t>(made_.lifetimes.size() - 1), 0, layout};
  }

  void add_copy(std::uint32_t node, std::uint32_t from, std::uint32_t to) {
    made_.steps.push_back({Step::Kind::kCopy, node, {from}, to, {}, 0, {}, nullptr});
  }

  void add_step(std::uint32_t index) {
    const GraphNode& node = graph_.nodes[index];
    const OperationKind& kind = operation_of(node);
    if (kind.computes == Computes::kView) return add_view(index, kind);
    if (kind.computes == Computes::kControl) return add_control(index);
    if (kind.computes == Computes::kElementwise || members_[index].size() > 1) {
      return add_expression(index, kind);
    }
    Step step = new_step(index, kind);
    const auto at = static_cast<std::uint32_t>(made_.steps.size());
    if (finds_extent(node)) made_.findings.push_back({at, index, {}, {}, {}});
    note_decided(index, kNoValue);
    step.operands = node.operands;
    step.operands.resize(std::max(node.operands.size(), kMostFixedOperands), kNoValue);
    step.numbers = sizes_.of_all(node.numbers);
    if (is_decided(index) && !step.numbers.empty()) {
      finding_of(deciding_.of_nodes[index]).steps.push_back(at);
    }
    push_step(std::move(step), layout_of_call(node, kind));
  }

  [[nodiscard]] Step new_step(std::uint32_t index, const OperationKind& kind) const {
    const GraphNode& node = graph_.nodes[index];
    Step step = {Step::Kind::kOperation, index, {}, node.result, {}, 0, {}, nullptr};
    step.element_count = element_count(unbacked_view(
        types_[kind.computes == Computes::kReduction ? node.operands[0] : node.result]));
    step.nodes = members_[index];
    return step;
  }

  // The result of the step has the layout, unless it is an output.
  void push_step(Step step, const tnr_view& layout) {
    place(step.result) = new_result(step.result, layout);
    is_adjacent_[step.result] = place(step.result).storage == Storage::kBlock;
    made_.steps.push_back(std::move(step));
  }

  void add_expression(std::uint32_t index, const OperationKind& kind) {
    const GraphNode& node = graph_.nodes[index];
    Step step = new_step(index, kind);
    step.kind = Step::Kind::kExpression;
    ExpressionOf expression;
    for (const std::uint32_t member : step.nodes) {
      const GraphNode& part = graph_.nodes[member];
      expression.add(part, types_[part.result].dtype,
                     [&](std::uint32_t value) { return graph_.scalar_of(value); });
    }
    step.operands = expression.views();
    const std::uint32_t output = direct_[node.result];
    const tnr_view layout =
        output == kNone ? layout_like(step.operands, node.result) : output_layout(output);
    std::vector<const tnr_view*> views;
    views.reserve(step.operands.size());
    for (const std::uint32_t value : step.operands) views.push_back(&place(value).layout);
    try {
      if (target_.is_device()) {
        if (is_launched(step)) step.prepared = prepare_on_device(expression, views, layout);
      } else if (!is_decided(index)) {
        step.prepared = expression.prepare(views.data(), layout);
      } else {
        step.expression = std::make_shared<const ExpressionOf>(std::move(expression));
      }
    } catch (const Error& error) {
      fail(error.status(), "nodes[%" PRIu32 "], %s: %s", node.number, operation_name(node),
           error.message());
    }
    if (step.prepared != nullptr && !step.prepared->is_one_pass()) return add_split(index);
    std::ranges::for_each(step.nodes,
                          [&](std::uint32_t member) { note_decided(member, kNoValue); });
    push_step(std::move(step), layout);
  }

  // The nodes of an expression as several: each reduction is the last of its own.
  void add_split(std::uint32_t index) {
    const std::vector<std::uint32_t> nodes = std::exchange(members_[index], {});
    const std::vector<std::uint32_t> roots = split_roots(graph_, types_, nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) members_[roots[i]].push_back(nodes[i]);
    for (const std::uint32_t node : nodes) {
      if (!members_[node].empty()) add_step(node);
    }
  }

  // Whether a step of a device is a launch of nodes, and not the call of one: also where that call
  // would have to put a number into memory.
  [[nodiscard]] bool is_launched(const Step& step) const {
    if (step.nodes.size() > 1) return true;
    const GraphNode& node = graph_.nodes[step.node];
    const std::uint32_t kind = node.kind() << kNodeKindShift;
    return (kind == TNR_NODE_SELECT || kind == TNR_NODE_TERNARY) &&
           fits_expression(graph_, types_, step.nodes, target_) &&
           std::ranges::any_of(node.operands, [&](std::uint32_t value) {
             return graph_.scalar_of(value) != nullptr;
           });
  }

  // For any device: the schedule does not depend on its index.
  static std::unique_ptr<const PreparedExpression> prepare_on_device(
      const ExpressionOf& expression, const std::vector<const tnr_view*>& views, tnr_view out) {
    constexpr tnr_device kSomeDevice = {TNR_DEVICE_KIND_CUDA, 0};
    std::vector<tnr_view> there;
    there.reserve(views.size());
    for (const tnr_view* const view : views) {
      there.push_back(*view);
      there.back().device = kSomeDevice;
    }
    std::vector<const tnr_view*> pointers;
    pointers.reserve(there.size());
    for (const tnr_view& view : there) pointers.push_back(&view);
    out.device = kSomeDevice;
    return expression.prepare(pointers.data(), out);
  }

  // Its bodies read its operands and write its results in place.
  void add_control(std::uint32_t index) {
    const GraphNode& node = graph_.nodes[index];
    Step step = {Step::Kind::kControl, index, node.operands, node.result, {index}, 0, {}, nullptr};
    step.numbers = sizes_.of_all(node.numbers);
    step.result_count = node.result_count;
    step.owned.push_back(kNone);  // the block, of a size that bodies have
    std::vector<tnr_view> results;
    std::vector<tnr_view> inputs;
    if (is_while(node)) {
      const ArrayType verdict = {TNR_DTYPE_BOOL8, 0, {}};
      step.owned.push_back(add_block(unbacked_view(verdict)));
    }
    for (std::uint32_t i = 0; i < node.result_count; ++i) {
      const std::uint32_t value = node.result + i;
      if (is_while(node)) {
        add_state(step, i, value);
      } else {
        place(value) = new_result(value, unbacked_view(types_[value]));
      }
      results.push_back(place(value).layout);
    }
    for (std::size_t i = is_while(node) ? 0 : 1; i < step.operands.size(); ++i) {
      inputs.push_back(place(step.operands[i]).layout);
    }
    if (is_decided(index)) {
      finding_of(deciding_.of_nodes[index])
          .steps.push_back(static_cast<std::uint32_t>(made_.steps.size()));
    }
    if (gives_found(node)) {
      made_.findings.push_back({static_cast<std::uint32_t>(made_.steps.size()), index, {}, {}, {}});
    }
    ArrayType block = {TNR_DTYPE_U8, 1, {0}};
    for (std::size_t i = 0; i < node.bodies.size(); ++i) {
      const bool decides = is_while(node) && i == Control::kCondition;
      const Outside outside = outside_of(graph_, deciding_, node, *node.bodies[i]);
      step.bodies.push_back(schedule_body(
          *node.bodies[i], disabled_, std::move(bodies_[index][i]), inputs,
          decides ? std::vector{place(step.owned[Control::kVerdict]).layout} : results, &outside));
      block.shape[0] = std::max(block.shape[0], step.bodies.back()->memory.block_bytes);
    }
    step.owned[Control::kBlock] = add_block(unbacked_view(block));
    made_.steps.push_back(std::move(step));
  }

  // A value that a loop changes has two places, which it is read from and written to in turns. The
  // second one has the first state, so that a state in its memory need not move.
  void add_state(Step& step, std::uint32_t i, std::uint32_t value) {
    std::uint32_t& operand = step.operands[i];
    // An output may have no room for the results of earlier iterations, which may be more.
    if (direct_[value] != kNone &&
        (deciding_.is_found(value) || !has_no_gap(output_layout(direct_[value])))) {
      direct_[value] = kNone;
    }
    place(value) = new_result(value, layout_like({operand}, value));
    const tnr_view layout = place(value).layout;
    if (has(TNR_PASS_IN_PLACE) && !deciding_.is_found(value) &&
        changes_in_place(*graph_.nodes[step.node].bodies[Control::kIteration], i)) {
      made_.counts.add(TNR_PASS_IN_PLACE, 1);
      add_copy(step.node, operand, value);
      operand = value;
      step.owned.push_back(value);
      return;
    }
    step.owned.push_back(add_block(layout));
    // A body takes data-dependent values in any layout.
    if (deciding_.is_found(value) || has_layout(place(operand).layout, layout)) return;
    add_copy(step.node, operand, step.owned.back());
    operand = step.owned.back();
  }

  // Whether the body writes a state to the memory that it reads it from: by a call that may be in
  // place and is the only reader of the state. The condition has read it before.
  static bool changes_in_place(const Body& body, std::uint32_t i) {
    const Graph& graph = body.graph;
    const std::uint32_t state = graph.inputs[i].value;
    const std::uint32_t next = graph.outputs[i].value;
    const GraphNode* const writer = graph.node_of(next);
    if (writer == nullptr || writer->operands.empty() || writer->operands[0] != state ||
        !operation_of(*writer).in_place || operation_of(*writer).computes != Computes::kCall) {
      return false;
    }
    std::size_t reads = 0;
    for (const GraphNode& node : graph.nodes) {
      reads += static_cast<std::size_t>(std::ranges::count(node.operands, state)) +
               static_cast<std::size_t>(std::ranges::count(node.operands, next));
    }
    for (const GraphOutput& output : graph.outputs) reads += output.value == state;
    return reads == 1 && std::ranges::count(graph.outputs, next, &GraphOutput::value) == 1;
  }

  void add_view(std::uint32_t index, const OperationKind& kind) {
    const GraphNode& node = graph_.nodes[index];
    const std::vector<std::int64_t> numbers = sizes_.of_all(node.numbers);
    const NodeCall call = {node, numbers.data()};
    std::uint32_t from = node.operands[0];
    const bool reshapes = node.code == TNR_NODE_RESHAPE;
    std::optional<tnr_view> seen;
    // Where a run decides the shape, it is not known whether elements would have to move.
    if (!reshapes || !is_decided(index) || is_adjacent(from)) seen = see(kind, call, from);
    if (!seen) {
      const std::uint32_t moved = add_block(unbacked_view(types_[from]));
      add_copy(index, from, moved);
      from = moved;
      seen = kind.view(call, place(from).layout);
    }
    is_adjacent_[node.result] = reshapes;
    note_decided(index, from);
    const Placed& whole = place(from);
    const std::int64_t offset = whole.offset_bytes + bytes_between(whole.layout, *seen);
    place(node.result) = {whole.storage, whole.index, offset,
                          unbacked_view(types_[node.result], seen->strides)};
  }

  // No view where a reshape needs the elements in another order.
  std::optional<tnr_view> see(const OperationKind& kind, const NodeCall& call, std::uint32_t from) {
    try {
      return kind.view(call, place(from).layout);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  // In the output that the value is, or in the block.
  Placed new_result(std::uint32_t value, const tnr_view& layout) {
    const std::uint32_t output = direct_[value];
    if (output == kNone) return new_block(layout);
    return {Storage::kOutput, output, 0, output_layout(output)};
  }

  // Returns the layout of the first operand that has the result's shape without a gap. A result
  // whose shape a run decides is row-major: strides for its maximum would be wrong for fewer.
  tnr_view layout_like(const std::vector<std::uint32_t>& operands, std::uint32_t result) {
    if (deciding_.is_found(result)) return unbacked_view(types_[result]);
    for (const std::uint32_t value : operands) {
      if (value == kNoValue || !same_shape(types_[value], types_[result])) continue;
      const tnr_view& layout = place(value).layout;
      if (has_no_gap(layout)) return unbacked_view(types_[result], layout.strides);
    }
    return unbacked_view(types_[result]);
  }

  tnr_view layout_of_call(const GraphNode& node, const OperationKind& kind) {
    const ArrayType& type = types_[node.result];
    if (kind.in_place) return layout_like({node.operands[0]}, node.result);
    if (node.custom != nullptr || deciding_.is_found(node.result)) return unbacked_view(type);
    if (!has(TNR_PASS_LAYOUT) || type.rank != 4) return unbacked_view(type);
    const bool is_convolution =
        node.code == TNR_NODE_CONV2D || node.code == TNR_NODE_QUANTIZED_CONV2D;
    const bool follows = node.code == TNR_NODE_CONV2D_TRANSPOSED ||
                         node.code == TNR_NODE_QUANTIZE || node.code == TNR_NODE_DEQUANTIZE ||
                         kind.attributes == AttributeKind::kPool2d;
    if (!is_convolution && !follows) return unbacked_view(type);
    const tnr_view& a = place(node.operands[0]).layout;
    if (!is_convolution && !is_channels_last(a)) return unbacked_view(type);
    made_.counts.add(TNR_PASS_LAYOUT, 1);
    return channels_last(type);
  }

  // Counts this graph's, and those of the graphs in its nodes, whose own are complete.
  void count_fused() {
    for (const Step& step : made_.steps) {
      if (step.kind == Step::Kind::kExpression) {
        made_.counts.add(TNR_PASS_FUSION, step.nodes.size() - 1);
      }
      for (const auto& body : step.bodies) made_.counts.add(body->counts);
    }
  }

  const Graph& graph_;
  const std::vector<bool>& needed_;
  std::uint32_t disabled_;
  Target target_;
  const tnr_view_mut* const* given_outputs_;
  Sizes sizes_;
  std::vector<ArrayType> types_;               // by value
  std::vector<std::vector<Inferred>> bodies_;  // by node
  Deciding deciding_;
  std::vector<bool> is_adjacent_;                    // by value, of those that runs find
  std::vector<std::vector<std::uint32_t>> members_;  // by node: of the expression that it ends
  std::vector<std::uint32_t> root_of_;               // by node: the end of its expression
  std::vector<std::uint32_t> direct_;                // by value: the output that it writes
  Schedule made_;
};

}  // namespace

Schedule schedule(const Graph& graph, const std::vector<bool>& needed,
                  std::uint32_t disabled_passes, Inferred inferred, const tnr_view* const* inputs,
                  const tnr_view_mut* const* outputs, const Outside* outside,
                  const Target& target) {
  return Scheduler(graph, needed, disabled_passes, inputs, outputs, std::move(inferred), outside,
                   target)
      .run();
}

}  // namespace tenure
