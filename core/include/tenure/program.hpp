// Graphs of operations, and programs that run them.
//
// The contracts are those of tenure.h; docs/programs.md has the semantics.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenure/blob.hpp"
#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

// {kind:8, generation:24, index:32}; what a tnr_graph*, a tnr_program* and a tnr_bound* hold.
using GraphToken = std::uint64_t;
using ProgramToken = std::uint64_t;
using BoundToken = std::uint64_t;

// Which struct the attributes of a kind of node are.
enum class AttributeKind : std::uint8_t {
  kNone,
  kReduce,
  kNormalize,
  kMatmul,
  kConv2d,
  kPool2d,
  kBatchNorm,
  kPad,
  kTriangle,
  kEinsumNode,
  kSort,  // and all others with flags only
  kHistogram,
  kRandom,
  kSparseNode
};
union NodeAttributes {
  tnr_reduce_attributes reduce;
  tnr_normalize_attributes normalize;
  tnr_matmul_attributes matmul;
  tnr_conv2d_attributes conv2d;
  tnr_pool2d_attributes pool2d;
  tnr_batch_norm_attributes batch_norm;
  tnr_pad_attributes pad;
  tnr_triangle_attributes triangle;
  tnr_einsum_node_attributes einsum;
  tnr_sort_attributes flags;  // and all others that have only flags
  tnr_histogram_attributes histogram;
  tnr_random_attributes random;
  tnr_sparse_node_attributes sparse;
};
// Reads the attributes that a caller gave with a node; the layer that knows the sizes of older and
// newer structs passes it. Returns all zeros where `given` is NULL.
using ReadAttributes = NodeAttributes (*)(AttributeKind kind, const void* given);

// A name and its 0.
inline constexpr std::size_t kCustomNameBytes = 32;
// Throws INVALID_ARGUMENT for what no graph takes.
void check_custom(const tnr_custom_operation& operation);
// Reads the first three fields. Throws UNSUPPORTED.
void check_plugin_abi(const tnr_plugin& plugin);

// All throw STALE_HANDLE for a token that is garbage, of another kind, or released.
GraphToken graph_create();
void graph_release(GraphToken token);
std::int64_t graph_add_extent(GraphToken token, const char* name, std::int64_t maximum);
std::int64_t graph_combine_extents(GraphToken token, tnr_extent_op op, std::int64_t a,
                                   std::int64_t b);
std::uint32_t graph_add_input(GraphToken token, tnr_dtype dtype, std::uint32_t rank,
                              const std::int64_t* shape);
std::uint32_t graph_add_constant(GraphToken token, const tnr_view& view);
std::uint32_t graph_add_scalar(GraphToken token, const tnr_scalar& scalar);
std::uint32_t graph_add_node(GraphToken token, const tnr_graph_node& node, ReadAttributes read);
void graph_add_output(GraphToken token, std::uint32_t value, std::uint32_t updates);
// Writes a number for each axis.
void graph_describe_shape(GraphToken token, std::uint32_t value, std::int64_t* numbers);
// Writes one gradient for each of `by`.
void graph_add_gradients(GraphToken token, std::uint32_t of, std::uint32_t seed,
                         const std::uint32_t* by, std::uint32_t count, std::uint32_t* gradients);
// Writes one value for each of `of`.
void graph_add_mixed_precision(GraphToken token, const std::uint32_t* of, std::uint32_t count,
                               tnr_dtype dtype, const std::uint32_t* keep, std::uint32_t keep_count,
                               std::uint32_t* lowered);
// Writes one value for each of `of`.
void graph_quantize(GraphToken token, const std::uint32_t* of, std::uint32_t count,
                    const std::uint32_t* keep, std::uint32_t keep_count, std::uint32_t weight_group,
                    std::uint32_t* quantized);
void graph_mark(GraphToken token, std::uint32_t first, std::uint32_t count, std::uint32_t marks);
std::uint32_t graph_add_custom(GraphToken token, const tnr_custom_operation& operation);
std::uint32_t graph_add_subgraph(GraphToken token, GraphToken body);
GraphToken graph_copy_subgraph(GraphToken token, std::uint32_t index);
tnr_graph_info graph_describe(GraphToken token);
tnr_extent_info graph_describe_extent(GraphToken token, std::uint32_t index);
tnr_graph_node graph_describe_node(GraphToken token, std::uint32_t index);
tnr_view graph_describe_constant(GraphToken token, std::uint32_t index);
tnr_custom_info graph_describe_custom(GraphToken token, std::uint32_t index);
tnr_scalar graph_describe_scalar(GraphToken token, std::uint32_t index);
struct OutputOfGraph {
  std::uint32_t value;
  std::uint32_t updates;
};
OutputOfGraph graph_describe_output(GraphToken token, std::uint32_t index);
tnr_value_info graph_describe_value(GraphToken token, std::uint32_t value);

ProgramToken program_create(const Context& context, GraphToken graph,
                            const tnr_program_attributes& attributes);
void program_retain(ProgramToken token);
void program_release(ProgramToken token);
// tnr_blob_copy_packed().
BlobToken program_copy_packed(const Context& context, ProgramToken token, tnr_view_mut& out);

struct ProgramShape {
  tnr_dtype dtype;
  std::uint32_t rank;
  std::int64_t extents[TNR_MAX_RANK];
};
ProgramShape program_output_shape(ProgramToken token, const tnr_view* const* inputs,
                                  std::uint32_t input_count, std::uint32_t output);
tnr_memory_plan program_memory(ProgramToken token, const tnr_view* const* inputs,
                               std::uint32_t input_count);
tnr_step_info program_describe_step(ProgramToken token, const tnr_view* const* inputs,
                                    std::uint32_t input_count, std::uint32_t step);
tnr_pass_info program_describe_pass(ProgramToken token, const tnr_view* const* inputs,
                                    std::uint32_t input_count, std::uint32_t index);
void program_describe_reads(ProgramToken token, const tnr_view* const* inputs,
                            std::uint32_t input_count, std::uint32_t step, std::uint8_t* reads,
                            std::uint32_t read_count);
void program_run(const Context& context, ProgramToken token, const tnr_view* const* inputs,
                 std::uint32_t input_count, const tnr_program_run_attributes& attributes,
                 const tnr_view_mut* const* outputs, std::uint32_t output_count);

// Reads the views' layouts. Throws as tnr_bound_create().
BoundToken bound_create(const Context& context, ProgramToken program, const tnr_view* const* inputs,
                        std::uint32_t input_count, const tnr_bound_attributes& attributes,
                        const tnr_view_mut* const* outputs, std::uint32_t output_count);
void bound_release(BoundToken token);
tnr_memory_plan bound_memory(BoundToken token);
// `attributes` are nullptr where they are none. A preallocated run returns each refusal and throws
// only what custom operations answer. Other runs also throw as program_run().
Refusal bound_run(ContextToken context, BoundToken token, const tnr_view* const* inputs,
                  std::uint32_t input_count, const tnr_program_run_attributes* attributes,
                  const tnr_view_mut* const* outputs, std::uint32_t output_count);

}  // namespace tenure
