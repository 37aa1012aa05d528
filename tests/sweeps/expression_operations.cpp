// Expressions of every shape of computing, at once and as plans, with operands that lie in every
// order.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operands.hpp"
#include "operations.hpp"

namespace tenure::sweeps {
namespace {

// Where the first input, the second and the output lie.
struct Lies {
  const char* name;
  Arrangement a;
  Arrangement b;
  Arrangement out;
};
constexpr Lies kArrangements[] = {
    {"side by side", Arrangement::kRowMajor, Arrangement::kRowMajor, Arrangement::kRowMajor},
    {"across", Arrangement::kColumnMajor, Arrangement::kRowMajor, Arrangement::kColumnMajor},
    {"apart", Arrangement::kRowMajor, Arrangement::kApart, Arrangement::kApart},
};

constexpr std::uint32_t kA = TNR_OPERAND_VIEW;
constexpr std::uint32_t kB = TNR_OPERAND_VIEW + 1;
constexpr std::uint32_t kTwo = TNR_OPERAND_SCALAR;
constexpr std::uint32_t kNone = TNR_OPERAND_NONE;

// A node; dtype 0 is that of the operands.
struct Step {
  std::uint32_t code;
  std::uint32_t operands[3];
  tnr_dtype dtype = 0;
  std::uint32_t flags = 0;
};

struct Variant {
  const char* name;
  std::vector<Step> steps;
  std::uint32_t reduced = 0;  // axes of the last node, which it keeps
  bool reads_output = false;
};

const Variant kVariants[] = {
    {"element by element",
     {{TNR_NODE_BINARY + TNR_BINARY_OP_MUL, {kA, kB, kNone}},
      {TNR_NODE_BINARY + TNR_BINARY_OP_ADD, {0, kTwo, kNone}},
      {TNR_NODE_TERNARY + TNR_TERNARY_OP_FMA, {1, kA, 0}}}},
    {"the less one, chosen",
     {{TNR_NODE_COMPARE + TNR_COMPARE_OP_LT, {kA, kB, kNone}, TNR_DTYPE_BOOL8},
      {TNR_NODE_SELECT, {0, kA, kB}}}},
    {"cast and back",
     {{TNR_NODE_CAST, {kA, kNone, kNone}, TNR_DTYPE_F64},
      {TNR_NODE_UNARY + TNR_UNARY_OP_EXP, {0, kNone, kNone}, TNR_DTYPE_F64},
      {TNR_NODE_CAST, {1, kNone, kNone}}}},
    {"less the greatest of the row",
     {{TNR_NODE_BINARY + TNR_BINARY_OP_ADD, {kA, kB, kNone}},
      {TNR_NODE_REDUCE + TNR_REDUCE_OP_MAX, {0, kNone, kNone}, 0, 2 | TNR_NODE_KEEP_AXES},
      {TNR_NODE_BINARY + TNR_BINARY_OP_SUB, {0, 1, kNone}}}},
    {"added to the output",
     {{TNR_NODE_BINARY + TNR_BINARY_OP_ADD, {TNR_OPERAND_OUTPUT, kA, kNone}}},
     0,
     true},
    {"the greatest of columns",
     {{TNR_NODE_BINARY + TNR_BINARY_OP_ADD, {kA, kB, kNone}},
      {TNR_NODE_REDUCE + TNR_REDUCE_OP_MAX, {0, kNone, kNone}}},
     1},
    {"the mean of rows",
     {{TNR_NODE_BINARY + TNR_BINARY_OP_ADD, {kA, kB, kNone}},
      {TNR_NODE_REDUCE + TNR_REDUCE_OP_MEAN, {0, kNone, kNone}}},
     2},
    {"the variance of all",
     {{TNR_NODE_BINARY + TNR_BINARY_OP_ADD, {kA, kB, kNone}},
      {TNR_NODE_REDUCE + TNR_REDUCE_OP_VAR, {0, kNone, kNone}}},
     3},
    {"softmax of rows",
     {{TNR_NODE_BINARY + TNR_BINARY_OP_ADD, {kA, kB, kNone}},
      {TNR_NODE_NORMALIZE + TNR_NORMALIZE_OP_SOFTMAX, {0, kNone, kNone}, 0, 2}}},
};

constexpr std::uint32_t kVariance = TNR_NODE_REDUCE + TNR_REDUCE_OP_VAR;
constexpr tnr_reduce_attributes kOfAll = {sizeof kOfAll, 0, 0, 0};

std::vector<tnr_node> nodes_of(const Variant& variant, tnr_dtype dtype) {
  std::vector<tnr_node> nodes;
  for (const Step& step : variant.steps) {
    nodes.push_back({step.code,
                     step.dtype != 0 ? step.dtype : dtype,
                     {step.operands[0], step.operands[1], step.operands[2]},
                     step.code == kVariance ? 1u : 0u,
                     step.flags,
                     0});
  }
  if (variant.reduced != 0) nodes.back().flags = variant.reduced | TNR_NODE_KEEP_AXES;
  return nodes;
}

tnr_status run_bound(tnr_context* context, const tnr_program* program,
                     const tnr_expression& expression, std::uint32_t flags,
                     const tnr_view_mut* out) {
  const tnr_bound_attributes attributes = {sizeof attributes, 0, flags, 0};
  tnr_bound* const bound = tnr_bound_create(context, program, expression.views,
                                            expression.view_count, &attributes, &out, 1);
  if (bound == nullptr) return tnr_last_error()->status;
  const tnr_status status =
      tnr_bound_run(context, bound, expression.views, expression.view_count, nullptr, &out, 1);
  (void)tnr_bound_release(bound);
  return status;
}

// The value of an operand of a node.
std::uint32_t value_of(std::uint32_t operand, const std::uint32_t* inputs, std::uint32_t scalar,
                       const std::vector<std::uint32_t>& results) {
  if (operand == kA || operand == kB) return inputs[operand - kA];
  return operand == kTwo ? scalar : results[operand];
}

tnr_status add_values(tnr_graph* graph, const tnr_expression& expression) {
  std::uint32_t inputs[2];
  std::uint32_t scalar = 0;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const tnr_view& view = *expression.views[i];
    const tnr_status status =
        tnr_graph_add_input(graph, view.dtype, view.rank, view.shape, &inputs[i]);
    if (status != TNR_STATUS_OK) return status;
  }
  if (tnr_graph_add_scalar(graph, expression.scalars, &scalar) != TNR_STATUS_OK) {
    return tnr_last_error()->status;
  }
  std::vector<std::uint32_t> results;
  for (std::uint32_t i = 0; i < expression.node_count; ++i) {
    const tnr_node& node = expression.nodes[i];
    std::vector<std::uint32_t> operands;
    for (const std::uint32_t operand : node.operands) {
      if (operand != kNone) operands.push_back(value_of(operand, inputs, scalar, results));
    }
    tnr_graph_node own = {};
    own.struct_size = sizeof own;
    own.code = node.code;
    own.dtype = node.code == TNR_NODE_CAST ? node.dtype : 0;
    own.flags = node.flags;
    if (node.attributes != 0) own.attributes = &kOfAll;
    own.operands = operands.data();
    own.operand_count = static_cast<std::uint32_t>(operands.size());
    results.push_back(0);
    const tnr_status status = tnr_graph_add_node(graph, &own, &results.back());
    if (status != TNR_STATUS_OK) return status;
  }
  return tnr_graph_add_output(graph, results.back(), TNR_OPERAND_NONE);
}

// Runs the program as it is, or bound with these flags.
tnr_status run_program(tnr_context* context, const tnr_expression& expression,
                       std::optional<std::uint32_t> bound_flags, const tnr_view_mut* out) {
  tnr_graph* const graph = tnr_graph_create();
  if (graph == nullptr) return tnr_last_error()->status;
  tnr_status status = add_values(graph, expression);
  if (status == TNR_STATUS_OK) {
    tnr_program* const program = tnr_program_create(context, graph, nullptr);
    if (program == nullptr) {
      status = tnr_last_error()->status;
    } else if (bound_flags) {
      status = run_bound(context, program, expression, *bound_flags, out);
    } else {
      status = tnr_program_run(context, program, expression.views, expression.view_count, nullptr,
                               &out, 1);
    }
    (void)tnr_program_release(program);
  }
  (void)tnr_graph_release(graph);
  return status;
}

enum class By : std::uint8_t { kExpression, kProgram, kBound, kPreallocated };

void evaluate(const Operands& with, const Lies& lies, const Variant& variant, By by,
              Answer& answer) {
  const tnr_dtype dtype = with.a.values.dtype;
  const Input a(dtype, {with.a.rows, with.a.cols}, lies.a, 0);
  const Input b(dtype, {with.a.rows, with.a.cols}, lies.b, 2);
  Output out(
      dtype,
      {(variant.reduced & 1) != 0 ? 1 : with.a.rows, (variant.reduced & 2) != 0 ? 1 : with.a.cols},
      with.fill, lies.out);
  if (variant.reads_output) out.put_numbers();
  const std::vector<tnr_node> nodes = nodes_of(variant, dtype);
  const tnr_view* const views[] = {a, b};
  const tnr_scalar two = tnr_scalar_f64(2);
  tnr_expression expression = {};
  expression.struct_size = sizeof expression;
  expression.nodes = nodes.data();
  expression.node_count = static_cast<std::uint32_t>(nodes.size());
  expression.views = views;
  expression.view_count = 2;
  expression.scalars = &two;
  expression.scalar_count = 1;
  const void* const attributes[] = {&kOfAll};
  expression.attributes = attributes;
  expression.attribute_count = 1;
  const auto run = [&] {
    switch (by) {
      case By::kProgram: return run_program(with.context, expression, {}, out);
      case By::kBound: return run_program(with.context, expression, 0, out);
      case By::kPreallocated:
        return run_program(with.context, expression, TNR_BOUND_PREALLOCATED, out);
      default: return tnr_evaluate(with.context, &expression, nullptr, out);
    }
  };
  (void)answer.succeeds(run());
  out.give(answer);
}

}  // namespace

void add_expressions(std::vector<Operation>& list) {
  for (const Variant& variant : kVariants) {
    for (const Lies& lies : kArrangements) {
      for (const auto& [by, function] :
           {std::pair{By::kExpression, "tnr_evaluate"}, std::pair{By::kProgram, "tnr_program_run"},
            std::pair{By::kBound, "tnr_bound_run"},
            std::pair{By::kPreallocated, "tnr_bound_run"}}) {
        // A program names no output: it updates an input.
        if (by != By::kExpression && variant.reads_output) continue;
        const char* const how = by == By::kPreallocated ? ", preallocated" : "";
        list.push_back({function, std::string(variant.name) + ", " + lies.name + how,
                        [by = by, &variant, &lies](const Operands& with, Answer& answer) {
                          evaluate(with, lies, variant, by, answer);
                        }});
      }
    }
  }
  // That a program is bound is seen when it runs.
  list.push_back({"tnr_bound_create", "", [](const Operands& with, Answer& answer) {
                    evaluate(with, kArrangements[0], kVariants[0], By::kBound, answer);
                  }});
}

}  // namespace tenure::sweeps
