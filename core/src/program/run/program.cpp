#include "program/run/program.hpp"

#include <algorithm>
#include <cinttypes>
#include <mutex>

#include "dense/product/packed_factor.hpp"
#include "dense/product/packed_filters.hpp"
#include "program/builder.hpp"
#include "program/passes/packed_constants.hpp"
#include "program/passes/recomputation.hpp"
#include "program/passes/rewrite.hpp"
#include "program/run/arguments.hpp"
#include "program/run/report.hpp"

namespace tenure {
namespace {

// Passes that take memory of their own.
constexpr std::uint32_t kPassesOnDemand = TNR_PASS_PACKING;

void require_passes(std::uint32_t passes, const char* name) {
  if ((passes & ~kAllPasses) == 0) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->%s is 0x%" PRIx32 ", of which bits are unknown",
       name, passes);
}

// Adds the constants of a graph that are read, and those of the bodies in its nodes.
void add_constants(const Graph& graph, std::vector<const Constant*>& constants) {
  for (const auto& constant : graph.constants) {
    if (constant != nullptr) constants.push_back(constant.get());
  }
  for (const GraphNode& node : graph.nodes) {
    for (const auto& body : node.bodies) add_constants(body->graph, constants);
  }
}

std::uint64_t packed_bytes_of(const Graph& graph) noexcept {
  std::uint64_t bytes = 0;
  for (const auto& factor : graph.factors) bytes += factor->info().size_bytes;
  for (const auto& filters : graph.filters) {
    bytes += static_cast<std::uint64_t>(filters->layout().bytes);
  }
  for (const GraphNode& node : graph.nodes) {
    for (const auto& body : node.bodies) bytes += packed_bytes_of(body->graph);
  }
  return bytes;
}

// The refusal of the first node, also in a body, that throws for values of elements.
Refusal throwing_refusal(const Graph& graph, const std::vector<bool>& needed) {
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (!needed[i]) continue;
    if (operation_of(node).throws_values) {
      return error_of(TNR_STATUS_UNSUPPORTED,
                      "nodes[%" PRIu32
                      "], %s: throws what it refuses in elements, which asks for memory, and no "
                      "preallocated run does",
                      node.number, operation_name(node));
    }
    for (std::size_t j = 0; j < node.bodies.size(); ++j) {
      const Body& body = *node.bodies[j];
      const Refusal refusal = throwing_refusal(body.graph, body.needed);
      if (!refusal) continue;
      return error_of(refusal->status(), "nodes[%" PRIu32 "], %s: subgraphs[%" PRId64 "], %s",
                      node.number, operation_name(node), node.numbers[j], refusal->message());
    }
  }
  return std::nullopt;
}

// Passes of a program that computes its nodes one by one, from values that nothing has written to.
constexpr std::uint32_t kPassesNodeByNode = TNR_PASS_DEAD_CODE | TNR_PASS_MEMORY;

// Where nothing is known of outputs.
constexpr Arguments of_inputs(const tnr_view* const* inputs, std::uint32_t input_count) noexcept {
  return {inputs, input_count, nullptr, 0};
}

void require_step(const Schedule& schedule, std::uint32_t step) {
  if (step < schedule.steps.size()) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "step is %" PRIu32 " but the program has %zu", step,
       schedule.steps.size());
}

}  // namespace

Program::Program(const Context& context, std::shared_ptr<Body> built,
                 const tnr_program_attributes& attributes)
    : graph_(std::move(built->graph)),
      disabled_passes_(attributes.disabled_passes |
                       (kPassesOnDemand & ~attributes.enabled_passes)) {
  require_passes(attributes.disabled_passes, "disabled_passes");
  require_passes(attributes.enabled_passes, "enabled_passes");
  if (graph_.outputs.empty()) fail(TNR_STATUS_INVALID_ARGUMENT, "the graph has no output");
  for (std::size_t i = 0; i < graph_.extents.size(); ++i) {
    if (graph_.extents[i].op != 0 || graph_.extents[i].node != kNoValue) continue;
    const std::int64_t number = TNR_EXTENT + static_cast<std::int64_t>(i);
    if (std::ranges::none_of(graph_.inputs, [=](const GraphInput& input) {
          return std::ranges::find(input.shape, number) != input.shape.end();
        })) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "the extent %s is that of no input and of no node",
           graph_.extents[i].name);
    }
  }
  std::vector<ArrayType> types = built->types;
  const auto rewritten = [&](PackedConstants* packed) {
    return rewrite(context, graph_, types, disabled_passes_, packed, counts_, built->graph);
  };
  if (attributes.packed == nullptr) {
    needed_ = rewritten(nullptr);
  } else {
    PackedConstants packed(*attributes.packed);
    needed_ = rewritten(&packed);
    packed.require_end();
  }
  simplified_ = std::move(built);
  recompute(graph_, types, needed_, disabled_passes_, attributes.budget_bytes, counts_);
  packed_bytes_ = packed_bytes_of(graph_);
  add_constants(graph_, constants_);
  throwing_refusal_ = throwing_refusal(graph_, needed_);
}

Program::~Program() { delete idle_.load(std::memory_order_acquire); }

// ---- schedules ---------------------------------------------------------------------------------

std::shared_ptr<const BoundSchedule> Program::find_for(const tnr_view* const* inputs,
                                                       std::uint32_t input_count) const {
  const tnr_device device = device_of(of_inputs(inputs, input_count));
  if (!(device == kCpu)) return devices_.find_for(inputs, input_count, device);
  require_none(inputs_refusal(graph_, inputs, input_count));
  return find(of_inputs(inputs, input_count));
}

std::shared_ptr<const BoundSchedule> Program::bound_to(const Arguments& arguments) const {
  require_none(inputs_refusal(graph_, arguments.inputs, arguments.input_count));
  require_none(outputs_refusal(graph_, arguments.outputs, arguments.output_count));
  return find(arguments);
}

std::shared_ptr<const BoundSchedule> Program::find(const Arguments& arguments) const {
  {
    const std::lock_guard lock(mutex_);
    for (auto at = bound_.end(); at != bound_.begin();) {
      --at;
      if (!(*at)->is_for(arguments)) continue;
      std::rotate(at, at + 1, bound_.end());
      return bound_.back();
    }
  }
  auto made = std::make_shared<const BoundSchedule>(graph_, needed_, disabled_passes_, arguments);
  const std::lock_guard lock(mutex_);
  if (bound_.size() == kMostBound) bound_.erase(bound_.begin());
  bound_.push_back(made);
  return made;
}

ProgramShape Program::output_shape(const tnr_view* const* inputs, std::uint32_t input_count,
                                   std::uint32_t output) const {
  const auto bound = find_for(inputs, input_count);
  if (output >= graph_.outputs.size()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "output is %" PRIu32 " but the program has %zu", output,
         graph_.outputs.size());
  }
  const ArrayType& type = bound->schedule().outputs[output];
  ProgramShape shape = {type.dtype, type.rank, {}};
  std::copy_n(type.shape, type.rank, shape.extents);
  return shape;
}

tnr_memory_plan Program::memory(const tnr_view* const* inputs, std::uint32_t input_count) const {
  return find_for(inputs, input_count)->memory(packed_bytes_);
}

tnr_step_info Program::describe_step(const tnr_view* const* inputs, std::uint32_t input_count,
                                     std::uint32_t step) const {
  const auto bound = find_for(inputs, input_count);
  require_step(bound->schedule(), step);
  return tenure::describe_step(graph_, bound->schedule(), step);
}

tnr_pass_info Program::describe_pass(const tnr_view* const* inputs, std::uint32_t input_count,
                                     std::uint32_t index) const {
  const auto bound = find_for(inputs, input_count);
  if (index >= kPassCount) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "index is %" PRIu32 " but there are %zu passes", index,
         kPassCount);
  }
  return tenure::describe_pass(counts_, disabled_passes_, bound->schedule(), index);
}

void Program::describe_reads(const tnr_view* const* inputs, std::uint32_t input_count,
                             std::uint32_t step, std::uint8_t* reads,
                             std::uint32_t read_count) const {
  const auto bound = find_for(inputs, input_count);
  require_step(bound->schedule(), step);
  const std::size_t expected = bound->schedule().steps.size() + input_count;
  if (read_count != expected) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "read_count is %" PRIu32 " but must be %zu", read_count,
         expected);
  }
  if (reads == nullptr) fail(TNR_STATUS_INVALID_ARGUMENT, "reads is NULL");
  tenure::describe_reads(bound->schedule(), step, reads, read_count);
}

// ---- runs --------------------------------------------------------------------------------------

// The workspace of one run.
class Program::Lease {
 public:
  // Takes the workspace of the last run, if it is for these arguments.
  Lease(const Program& program, const Arguments& arguments) noexcept
      : program_(program),
        // Acquire: what its last run wrote.
        workspace_(program.idle_.exchange(nullptr, std::memory_order_acq_rel)) {
    if (workspace_ == nullptr || workspace_->bound->takes(arguments)) [[likely]]
      return;
    program.give(std::move(workspace_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    if (workspace_ != nullptr) program_.give(std::move(workspace_));
  }

  [[nodiscard]] bool is_empty() const noexcept { return workspace_ == nullptr; }
  void take(std::shared_ptr<const BoundSchedule> bound) {
    workspace_ = bound->take_workspace(program_.graph_);
    workspace_->bound = std::move(bound);
  }
  [[nodiscard]] Workspace& workspace() const noexcept { return *workspace_; }

 private:
  const Program& program_;
  std::unique_ptr<Workspace> workspace_;
};

void Program::give(std::unique_ptr<Workspace> workspace) const noexcept {
  const BoundSchedule* const bound = workspace->bound.get();
  bound->settle(*workspace);
  std::unique_ptr<Workspace> other(idle_.exchange(workspace.release(), std::memory_order_acq_rel));
  // One is enough of the same layouts; others may come again.
  if (other == nullptr || other->bound.get() == bound) return;
  const std::shared_ptr<const BoundSchedule> of_other = std::move(other->bound);
  of_other->give_workspace(std::move(other));
}

void Program::run(const Context& context, const Arguments& arguments,
                  const tnr_program_run_attributes& attributes) const {
  require_none(flags_refusal(attributes));
  if (refused_values(attributes) != 0) [[unlikely]]
    return run_refusing(context, arguments, attributes);
  compute(context, arguments, attributes);
}

void Program::run_refusing(const Context& context, const Arguments& arguments,
                           const tnr_program_run_attributes& attributes) const {
  if (!(device_of(arguments) == kCpu)) {
    require_none(refused_values_refusal(attributes, "a run on a device"));
  }
  if (attributes.step_nanoseconds != nullptr) {
    require_none(refused_values_refusal(attributes, "a run with step_nanoseconds"));
  }
  node_by_node(context).compute(context, arguments, attributes);
}

const Program& Program::node_by_node(const Context& context) const {
  {
    const std::lock_guard lock(mutex_);
    if (node_by_node_ != nullptr) return *node_by_node_;
  }
  tnr_program_attributes attributes = {};
  attributes.disabled_passes = kAllPasses & ~kPassesNodeByNode;
  const auto made =
      std::make_shared<const Program>(context, std::make_shared<Body>(*simplified_), attributes);
  const std::lock_guard lock(mutex_);
  // Another run may have been faster.
  if (node_by_node_ == nullptr) node_by_node_ = made;
  return *node_by_node_;
}

void Program::compute(const Context& context, const Arguments& arguments,
                      const tnr_program_run_attributes& attributes) const {
  Lease lease(*this, arguments);
  std::shared_ptr<const BoundSchedule> bound;
  if (lease.is_empty()) [[unlikely]] {
    if (!(device_of(arguments) == kCpu)) return devices_.run(context, arguments, attributes);
    bound = bound_to(arguments);
  }
  const Schedule& schedule =
      bound != nullptr ? bound->schedule() : lease.workspace().bound->schedule();
  require_none(alias_refusal(graph_, arguments));
  require_none(attributes_refusal(schedule, attributes));
  require_none(Owners(constants_, arguments).with_pinned([&] {
    if (bound != nullptr) lease.take(std::move(bound));
    ProgramRun run = {context, (attributes.flags & TNR_RUN_CHECKED) != 0};
    run.refused = refused_values(attributes);
    return lease.workspace().compute(run, graph_, schedule, arguments, attributes);
  }));
}

// ---- handles -----------------------------------------------------------------------------------

ProgramToken program_create(const Context& context, GraphToken graph,
                            const tnr_program_attributes& attributes) {
  // The program has a copy, so that no call on the graph waits for the context's threads.
  return kProgramHandles.open(
      std::make_unique<const Program>(context, graph_to_body(graph), attributes));
}

void program_retain(ProgramToken token) { kProgramHandles.retain(token); }

void program_release(ProgramToken token) { kProgramHandles.release(token); }

BlobToken program_copy_packed(const Context& context, ProgramToken token, tnr_view_mut& out) {
  const ProgramHandles::Use program(kProgramHandles, token);
  const BlobToken blob = write_packed_constants(context, program.object().graph());
  const BlobMemory memory = blob_memory_mut(blob);
  const auto count = static_cast<std::int64_t>(memory.size_bytes);
  out.view = make_view(memory.data, memory.size_bytes, 0, TNR_DTYPE_U8, 1, &count, nullptr);
  out.view.owner = blob;
  return blob;
}

ProgramShape program_output_shape(ProgramToken token, const tnr_view* const* inputs,
                                  std::uint32_t input_count, std::uint32_t output) {
  const ProgramHandles::Use program(kProgramHandles, token);
  return program.object().output_shape(inputs, input_count, output);
}

tnr_memory_plan program_memory(ProgramToken token, const tnr_view* const* inputs,
                               std::uint32_t input_count) {
  const ProgramHandles::Use program(kProgramHandles, token);
  return program.object().memory(inputs, input_count);
}

tnr_step_info program_describe_step(ProgramToken token, const tnr_view* const* inputs,
                                    std::uint32_t input_count, std::uint32_t step) {
  const ProgramHandles::Use program(kProgramHandles, token);
  return program.object().describe_step(inputs, input_count, step);
}

tnr_pass_info program_describe_pass(ProgramToken token, const tnr_view* const* inputs,
                                    std::uint32_t input_count, std::uint32_t index) {
  const ProgramHandles::Use program(kProgramHandles, token);
  return program.object().describe_pass(inputs, input_count, index);
}

void program_describe_reads(ProgramToken token, const tnr_view* const* inputs,
                            std::uint32_t input_count, std::uint32_t step, std::uint8_t* reads,
                            std::uint32_t read_count) {
  const ProgramHandles::Use program(kProgramHandles, token);
  program.object().describe_reads(inputs, input_count, step, reads, read_count);
}

void program_run(const Context& context, ProgramToken token, const tnr_view* const* inputs,
                 std::uint32_t input_count, const tnr_program_run_attributes& attributes,
                 const tnr_view_mut* const* outputs, std::uint32_t output_count) {
  const ProgramHandles::Use program(kProgramHandles, token);
  program.object().run(context, {inputs, input_count, outputs, output_count}, attributes);
}

}  // namespace tenure
