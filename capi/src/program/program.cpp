// Graphs and programs in C: unwrap, call, answer.
#include "tenure/program.hpp"

#include <algorithm>
#include <cstring>

#include "attributes.hpp"
#include "timed.hpp"

using tenure::capi::answered;
using tenure::capi::attributes_of;
using tenure::capi::context_of;
using tenure::capi::copy_sized;
using tenure::capi::deref;
using tenure::capi::first_bytes_of;
using tenure::capi::guarded;
using tenure::capi::guarded_pointer;
using tenure::capi::handle_of;
using tenure::capi::read_reduce_attributes;
using tenure::capi::read_sized;
using tenure::capi::release_handle;
using tenure::capi::require_zero;
using tenure::capi::retain_handle;
using tenure::capi::sized_attributes_of;
using tenure::capi::sized_refusal;
using tenure::capi::token_of;
using tenure::capi::write_report;
using tenure::capi::write_sized;

namespace {

// Views among attributes are operands of the node.
void require_no_view(const tnr_view* view, const char* field) {
  if (view != nullptr) {
    tenure::fail(TNR_STATUS_INVALID_ARGUMENT,
                 "attributes->%s is not NULL: it is an operand of the node", field);
  }
}

tnr_graph_quantize_attributes read_quantization(const tnr_graph_quantize_attributes* attributes) {
  tnr_graph_quantize_attributes given = {};
  if (attributes != nullptr) given = read_sized(attributes, "attributes");
  require_zero(given.reserved, "attributes->reserved");
  if (given.keep_count != 0) (void)deref(given.keep, "attributes->keep");
  if (given.range_count != 0) (void)deref(given.ranges, "attributes->ranges");
  return given;
}

template <class Attributes>
void read_into(Attributes& known, const void* given) {
  known = read_sized(static_cast<const Attributes*>(given), "attributes");
}

tenure::NodeAttributes read_attributes(tenure::AttributeKind kind, const void* given) {
  using enum tenure::AttributeKind;
  tenure::NodeAttributes known;
  std::memset(&known, 0, sizeof known);
  if (given == nullptr) return known;
  switch (kind) {
    case kNone: break;
    case kReduce:
      known.reduce = read_reduce_attributes(static_cast<const tnr_reduce_attributes*>(given));
      break;
    case kNormalize:
      known.normalize = sized_attributes_of(static_cast<const tnr_normalize_attributes*>(given));
      require_no_view(known.normalize.weight, "weight");
      require_no_view(known.normalize.bias, "bias");
      break;
    case kMatmul:
      known.matmul = sized_attributes_of(static_cast<const tnr_matmul_attributes*>(given));
      require_no_view(known.matmul.bias, "bias");
      break;
    case kConv2d: read_into(known.conv2d, given); break;
    case kPool2d:
      read_into(known.pool2d, given);
      require_zero(known.pool2d.reserved, "reserved");
      break;
    case kBatchNorm: read_into(known.batch_norm, given); break;
    case kPad: read_into(known.pad, given); break;
    case kTriangle: read_into(known.triangle, given); break;
    case kEinsumNode: read_into(known.einsum, given); break;
    case kSort: known.flags = attributes_of(static_cast<const tnr_sort_attributes*>(given)); break;
    case kHistogram: read_into(known.histogram, given); break;
    case kRandom: read_into(known.random, given); break;
    case kSparseNode: read_into(known.sparse, given); break;
  }
  return known;
}

}  // namespace

tnr_status tnr_graph_release(tnr_graph* graph) noexcept {
  return release_handle(graph, tenure::graph_release);
}

tnr_graph* tnr_graph_create() noexcept {
  return guarded_pointer([&] {
    // Checks of nodes look for their kernels.
    (void)tenure::kernels::chosen_word();
    return handle_of<tnr_graph>(tenure::graph_create());
  });
}

tnr_status tnr_graph_add_extent(tnr_graph* graph, const char* name, int64_t maximum,
                                int64_t* number) noexcept {
  return guarded([=] {
    int64_t& out = deref(number, "number");
    out = tenure::graph_add_extent(token_of(graph), &deref(name, "name"), maximum);
  });
}

tnr_status tnr_graph_combine_extents(tnr_graph* graph, tnr_extent_op op, int64_t a, int64_t b,
                                     int64_t* number) noexcept {
  return guarded([=] {
    int64_t& out = deref(number, "number");
    out = tenure::graph_combine_extents(token_of(graph), op, a, b);
  });
}

tnr_status tnr_graph_add_input(tnr_graph* graph, tnr_dtype dtype, uint32_t rank,
                               const int64_t* shape, uint32_t* value) noexcept {
  return guarded([=] {
    uint32_t& out = deref(value, "value");
    out = tenure::graph_add_input(token_of(graph), dtype, rank, shape);
  });
}

tnr_status tnr_graph_add_constant(tnr_graph* graph, const tnr_view* view,
                                  uint32_t* value) noexcept {
  return guarded([=] {
    uint32_t& out = deref(value, "value");
    out = tenure::graph_add_constant(token_of(graph), deref(view, "view"));
  });
}

tnr_status tnr_graph_add_scalar(tnr_graph* graph, const tnr_scalar* scalar,
                                uint32_t* value) noexcept {
  return guarded([=] {
    uint32_t& out = deref(value, "value");
    out = tenure::graph_add_scalar(token_of(graph), deref(scalar, "scalar"));
  });
}

tnr_status tnr_graph_add_node(tnr_graph* graph, const tnr_graph_node* node,
                              uint32_t* value) noexcept {
  return guarded([=] {
    const tnr_graph_node known = read_sized(node, "node");
    uint32_t& out = deref(value, "value");
    out = tenure::graph_add_node(token_of(graph), known, read_attributes);
  });
}

tnr_status tnr_graph_add_output(tnr_graph* graph, uint32_t value, uint32_t updates) noexcept {
  return guarded([=] { tenure::graph_add_output(token_of(graph), value, updates); });
}

tnr_status tnr_graph_describe_shape(tnr_graph* graph, uint32_t value, int64_t* numbers) noexcept {
  return guarded(
      [=] { tenure::graph_describe_shape(token_of(graph), value, &deref(numbers, "numbers")); });
}

tnr_status tnr_graph_add_gradients(tnr_graph* graph, uint32_t of, uint32_t seed, const uint32_t* by,
                                   uint32_t count, const tnr_extension* attributes,
                                   uint32_t* gradients) noexcept {
  return guarded([=] {
    check_attributes(attributes);
    if (count != 0) {
      (void)deref(by, "by");
      (void)deref(gradients, "gradients");
    }
    tenure::graph_add_gradients(token_of(graph), of, seed, by, count, gradients);
  });
}

tnr_status tnr_graph_add_mixed_precision(tnr_graph* graph, const uint32_t* of, uint32_t count,
                                         tnr_dtype dtype,
                                         const tnr_precision_attributes* attributes,
                                         uint32_t* lowered) noexcept {
  return guarded([=] {
    tnr_precision_attributes given = {};
    if (attributes != nullptr) given = read_sized(attributes, "attributes");
    require_zero(given.reserved, "attributes->reserved");
    if (count != 0) {
      (void)deref(of, "of");
      (void)deref(lowered, "lowered");
    }
    if (given.keep_count != 0) (void)deref(given.keep, "attributes->keep");
    tenure::graph_add_mixed_precision(token_of(graph), of, count, dtype, given.keep,
                                      given.keep_count, lowered);
  });
}

tnr_status tnr_graph_quantize(tnr_graph* graph, const uint32_t* of, uint32_t count,
                              const tnr_graph_quantize_attributes* attributes,
                              uint32_t* quantized) noexcept {
  return guarded([=] {
    const tnr_graph_quantize_attributes given = read_quantization(attributes);
    if (count != 0) {
      (void)deref(of, "of");
      (void)deref(quantized, "quantized");
    }
    tenure::graph_quantize(token_of(graph), of, count, given, quantized);
  });
}

tnr_status tnr_graph_quantizable(const tnr_graph* graph, const uint32_t* of, uint32_t count,
                                 const tnr_graph_quantize_attributes* attributes, uint32_t capacity,
                                 tnr_quantizable* found, uint32_t* found_count) noexcept {
  return guarded([=] {
    const tnr_graph_quantize_attributes given = read_quantization(attributes);
    if (count != 0) (void)deref(of, "of");
    if (capacity != 0) (void)deref(found, "found");
    uint32_t& all = deref(found_count, "found_count");
    all = tenure::graph_quantizable(token_of(graph), of, count, given, capacity, found);
  });
}

tnr_status tnr_graph_mark(tnr_graph* graph, uint32_t first, uint32_t count,
                          uint32_t marks) noexcept {
  return guarded([=] { tenure::graph_mark(token_of(graph), first, count, marks); });
}

tnr_status tnr_graph_add_custom(tnr_graph* graph, const tnr_custom_operation* operation,
                                uint32_t* index) noexcept {
  return guarded([=] {
    const tnr_custom_operation known = read_sized(operation, "operation");
    uint32_t& out = deref(index, "index");
    out = tenure::graph_add_custom(token_of(graph), known);
  });
}

tnr_status tnr_graph_add_subgraph(tnr_graph* graph, const tnr_graph* body,
                                  uint32_t* index) noexcept {
  return guarded([=] {
    uint32_t& out = deref(index, "index");
    out = tenure::graph_add_subgraph(token_of(graph), token_of(body));
  });
}

tnr_graph* tnr_graph_copy_subgraph(const tnr_graph* graph, uint32_t index) noexcept {
  return guarded_pointer(
      [=] { return handle_of<tnr_graph>(tenure::graph_copy_subgraph(token_of(graph), index)); });
}

const tnr_plugin* tnr_plugin_check(tnr_plugin_fn entry) noexcept {
  return guarded_pointer([=] {
    if (entry == nullptr) {
      tenure::fail(TNR_STATUS_INVALID_ARGUMENT,
                   "entry is NULL: a plug-in exports a function tnr_plugin_entry");
    }
    const tnr_plugin* const plugin = entry();
    tenure::check_plugin_abi(deref(plugin, "the plug-in"));
    const tnr_plugin known = read_sized(plugin, "plugin");
    require_zero(known.reserved, "reserved");
    (void)deref(known.name, "plugin->name");
    if (known.operation_count != 0) (void)deref(known.operations, "plugin->operations");
    for (uint32_t i = 0; i < known.operation_count; ++i) {
      tenure::check_custom(read_sized(known.operations[i], "plugin->operations[i]"));
    }
    return plugin;
  });
}

tnr_status tnr_graph_describe(const tnr_graph* graph, tnr_graph_info* out) noexcept {
  return guarded([=] { write_report(out, "out", tenure::graph_describe(token_of(graph))); });
}

tnr_status tnr_graph_describe_extent(const tnr_graph* graph, uint32_t index,
                                     tnr_extent_info* out) noexcept {
  return guarded(
      [=] { write_report(out, "out", tenure::graph_describe_extent(token_of(graph), index)); });
}

tnr_status tnr_graph_describe_node(const tnr_graph* graph, uint32_t index,
                                   tnr_graph_node* out) noexcept {
  return guarded(
      [=] { write_sized(out, "out", tenure::graph_describe_node(token_of(graph), index)); });
}

tnr_status tnr_graph_describe_constant(const tnr_graph* graph, uint32_t index,
                                       tnr_view* out) noexcept {
  return guarded([=] {
    tnr_view& view = deref(out, "out");
    view = tenure::graph_describe_constant(token_of(graph), index);
  });
}

tnr_status tnr_graph_describe_custom(const tnr_graph* graph, uint32_t index,
                                     tnr_custom_info* out) noexcept {
  return guarded(
      [=] { write_report(out, "out", tenure::graph_describe_custom(token_of(graph), index)); });
}

tnr_status tnr_graph_describe_scalar(const tnr_graph* graph, uint32_t index,
                                     tnr_scalar* out) noexcept {
  return guarded([=] {
    tnr_scalar& scalar = deref(out, "out");
    scalar = tenure::graph_describe_scalar(token_of(graph), index);
  });
}

tnr_status tnr_graph_describe_output(const tnr_graph* graph, uint32_t index, uint32_t* value,
                                     uint32_t* updates) noexcept {
  return guarded([=] {
    uint32_t& out_value = deref(value, "value");
    uint32_t& out_updates = deref(updates, "updates");
    const tenure::OutputOfGraph output = tenure::graph_describe_output(token_of(graph), index);
    out_value = output.value;
    out_updates = output.updates;
  });
}

tnr_status tnr_program_describe_step(const tnr_program* program, const tnr_view* const* inputs,
                                     uint32_t input_count, uint32_t step,
                                     tnr_step_info* out) noexcept {
  return guarded([=] {
    write_report(out, "out",
                 tenure::program_describe_step(token_of(program), inputs, input_count, step));
  });
}

tnr_status tnr_program_describe_pass(const tnr_program* program, const tnr_view* const* inputs,
                                     uint32_t input_count, uint32_t index,
                                     tnr_pass_info* out) noexcept {
  return guarded([=] {
    write_report(out, "out",
                 tenure::program_describe_pass(token_of(program), inputs, input_count, index));
  });
}

tnr_status tnr_program_describe_reads(const tnr_program* program, const tnr_view* const* inputs,
                                      uint32_t input_count, uint32_t step, uint8_t* reads,
                                      uint32_t read_count) noexcept {
  return guarded([=] {
    tenure::program_describe_reads(token_of(program), inputs, input_count, step, reads, read_count);
  });
}

tnr_status tnr_graph_describe_value(const tnr_graph* graph, uint32_t value,
                                    tnr_value_info* out) noexcept {
  return guarded(
      [=] { write_report(out, "out", tenure::graph_describe_value(token_of(graph), value)); });
}

tnr_status tnr_program_release(tnr_program* program) noexcept {
  return release_handle(program, tenure::program_release);
}

tnr_program* tnr_program_create(tnr_context* context, const tnr_graph* graph,
                                const tnr_program_attributes* attributes) noexcept {
  return guarded_pointer([&] {
    const tnr_program_attributes given = sized_attributes_of(attributes);
    return handle_of<tnr_program>(
        tenure::program_create(context_of(context), token_of(graph), given));
  });
}

tnr_blob* tnr_blob_copy_packed(tnr_context* context, const tnr_program* program,
                               tnr_view_mut* out) noexcept {
  return guarded_pointer([&] {
    return handle_of<tnr_blob>(
        tenure::program_copy_packed(context_of(context), token_of(program), deref(out, "out")));
  });
}

tnr_program* tnr_program_retain(tnr_program* program) noexcept {
  return retain_handle(program, tenure::program_retain);
}

tnr_status tnr_program_output_shape(const tnr_program* program, const tnr_view* const* inputs,
                                    uint32_t input_count, uint32_t output, tnr_dtype* dtype,
                                    uint32_t* rank, int64_t* shape) noexcept {
  return guarded([=] {
    tnr_dtype& out_dtype = deref(dtype, "dtype");
    uint32_t& out_rank = deref(rank, "rank");
    int64_t* const extents = &deref(shape, "shape");
    const tenure::ProgramShape result =
        tenure::program_output_shape(token_of(program), inputs, input_count, output);
    out_dtype = result.dtype;
    out_rank = result.rank;
    std::copy_n(result.extents, TNR_MAX_RANK, extents);
  });
}

tnr_status tnr_program_memory(const tnr_program* program, const tnr_view* const* inputs,
                              uint32_t input_count, tnr_memory_plan* out) noexcept {
  return guarded([=] {
    write_report(out, "out", tenure::program_memory(token_of(program), inputs, input_count));
  });
}

tnr_status tnr_program_run(tnr_context* context, const tnr_program* program,
                           const tnr_view* const* inputs, uint32_t input_count,
                           const tnr_program_run_attributes* attributes,
                           const tnr_view_mut* const* outputs, uint32_t output_count) noexcept {
  return guarded([=] {
    const tnr_program_run_attributes given = sized_attributes_of(attributes);
    tenure::program_run(context_of(context), token_of(program), inputs, input_count, given, outputs,
                        output_count);
  });
}

tnr_status tnr_bound_release(tnr_bound* bound) noexcept {
  return release_handle(bound, tenure::bound_release);
}

tnr_bound* tnr_bound_create(tnr_context* context, const tnr_program* program,
                            const tnr_view* const* inputs, uint32_t input_count,
                            const tnr_bound_attributes* attributes,
                            const tnr_view_mut* const* outputs, uint32_t output_count) noexcept {
  return guarded_pointer([=] {
    const tnr_bound_attributes given = sized_attributes_of(attributes);
    require_zero(given.reserved, "reserved");
    return handle_of<tnr_bound>(tenure::bound_create(context_of(context), token_of(program), inputs,
                                                     input_count, given, outputs, output_count));
  });
}

tnr_status tnr_bound_memory(const tnr_bound* bound, tnr_memory_plan* out) noexcept {
  return guarded([=] { write_report(out, "out", tenure::bound_memory(token_of(bound))); });
}

// Throws nothing by itself, as a preallocated run asks for no memory.
tnr_status tnr_bound_run(tnr_context* context, const tnr_bound* bound,
                         const tnr_view* const* inputs, uint32_t input_count,
                         const tnr_program_run_attributes* attributes,
                         const tnr_view_mut* const* outputs, uint32_t output_count) noexcept {
  return answered([=] {
    const auto run = [=](const tnr_program_run_attributes* given) {
      return tenure::bound_run(token_of(context), token_of(bound), inputs, input_count, given,
                               outputs, output_count);
    };
    if (attributes == nullptr) [[likely]]
      return run(nullptr);
    using Attributes = tnr_program_run_attributes;
    if (const tenure::Refusal refusal = sized_refusal(attributes, first_bytes_of<Attributes>(),
                                                      sizeof(Attributes), "attributes")) {
      return refusal;
    }
    const Attributes given = copy_sized(*attributes);
    return run(&given);
  });
}
