// Graphs that tests build through C, and the arrays that their programs run on.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "tenure/tenure.h"

namespace tenure::test {

using Shape = std::vector<std::int64_t>;

inline tnr_view view_over(const void* data, const Shape& shape, tnr_dtype dtype = TNR_DTYPE_F32) {
  tnr_view view = {};
  std::int64_t count = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    view.shape[axis] = shape[axis];
    view.strides[axis] = count;
    count *= shape[axis];
  }
  view.data = view.base = data;
  view.size_bytes = static_cast<std::uint64_t>(count) * tnr_dtype_size_bytes(dtype);
  view.dtype = dtype;
  view.rank = static_cast<std::uint32_t>(shape.size());
  view.device.kind = TNR_DEVICE_KIND_CPU;
  return view;
}

// Floats in row-major order.
struct Floats {
  Shape shape;
  std::vector<float> values;

  explicit Floats(Shape of)
      : shape(std::move(of)),
        values(static_cast<std::size_t>(
            std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()))) {}
  Floats(Shape of, float first, float step) : Floats(std::move(of)) {
    for (float& value : values) {
      value = first;
      first = first + step > 2 ? first + step - 4 : first + step;
    }
  }
  [[nodiscard]] tnr_view view() const { return view_over(values.data(), shape); }
  [[nodiscard]] tnr_view_mut out() { return {view_over(values.data(), shape)}; }
};

// Builds `graph` again of what can be listed of it.
inline tnr_graph* rebuilt(const tnr_graph* graph) {
  tnr_graph* const again = tnr_graph_create();
  tnr_graph_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(tnr_graph_describe(graph, &info), TNR_STATUS_OK);
  for (std::uint32_t i = 0; i < info.extent_count; ++i) {
    tnr_extent_info extent = {};
    extent.struct_size = sizeof extent;
    EXPECT_EQ(tnr_graph_describe_extent(graph, i, &extent), TNR_STATUS_OK);
    std::int64_t number;
    EXPECT_EQ(extent.op == 0
                  ? tnr_graph_add_extent(again, extent.name, extent.a, &number)
                  : tnr_graph_combine_extents(again, extent.op, extent.a, extent.b, &number),
              TNR_STATUS_OK);
  }
  for (std::uint32_t i = 0; i < info.subgraph_count; ++i) {
    tnr_graph* const listed = tnr_graph_copy_subgraph(graph, i);
    EXPECT_NE(listed, nullptr);
    tnr_graph* const own = rebuilt(listed);
    std::uint32_t index;
    EXPECT_EQ(tnr_graph_add_subgraph(again, own, &index), TNR_STATUS_OK);
    EXPECT_EQ(index, i);
    EXPECT_EQ(tnr_graph_release(own), TNR_STATUS_OK);
    EXPECT_EQ(tnr_graph_release(listed), TNR_STATUS_OK);
  }
  for (std::uint32_t value = 0; value < info.value_count; ++value) {
    tnr_value_info of = {};
    of.struct_size = sizeof of;
    EXPECT_EQ(tnr_graph_describe_value(graph, value, &of), TNR_STATUS_OK);
    if (of.result != 0) continue;
    std::uint32_t same = TNR_OPERAND_NONE;
    if (of.source == TNR_VALUE_SOURCE_INPUT) {
      EXPECT_EQ(tnr_graph_add_input(again, of.dtype, of.rank, of.numbers, &same), 0);
    } else if (of.source == TNR_VALUE_SOURCE_CONSTANT) {
      tnr_view view;
      EXPECT_EQ(tnr_graph_describe_constant(graph, of.index, &view), TNR_STATUS_OK);
      EXPECT_EQ(tnr_graph_add_constant(again, &view, &same), TNR_STATUS_OK);
    } else if (of.source == TNR_VALUE_SOURCE_SCALAR) {
      tnr_scalar number;
      EXPECT_EQ(tnr_graph_describe_scalar(graph, of.index, &number), TNR_STATUS_OK);
      EXPECT_EQ(tnr_graph_add_scalar(again, &number, &same), TNR_STATUS_OK);
    } else {
      tnr_graph_node of_node = {};
      of_node.struct_size = sizeof of_node;
      EXPECT_EQ(tnr_graph_describe_node(graph, of.index, &of_node), TNR_STATUS_OK);
      EXPECT_EQ(tnr_graph_add_node(again, &of_node, &same), TNR_STATUS_OK);
      tnr_graph_node again_node = {};
      again_node.struct_size = sizeof again_node;
      EXPECT_EQ(tnr_graph_describe_node(again, of.index, &again_node), TNR_STATUS_OK);
      EXPECT_EQ(again_node.copy, of_node.copy);
      EXPECT_EQ(again_node.marks, of_node.marks);
    }
    EXPECT_EQ(same, value);
  }
  for (std::uint32_t i = 0; i < info.output_count; ++i) {
    std::uint32_t value = 0;
    std::uint32_t updates = 0;
    EXPECT_EQ(tnr_graph_describe_output(graph, i, &value, &updates), TNR_STATUS_OK);
    EXPECT_EQ(tnr_graph_add_output(again, value, updates), TNR_STATUS_OK);
  }
  return again;
}

// A custom operation of a test, with `operand_count` operands and no number.
inline tnr_custom_operation operation_of(const char* name, tnr_infer_fn infer,
                                         tnr_compute_fn compute, void* context,
                                         std::uint32_t operand_count) {
  tnr_custom_operation of = {};
  of.struct_size = sizeof of;
  of.name = name;
  of.infer = infer;
  of.compute = compute;
  of.user_context = context;
  of.operand_count = operand_count;
  return of;
}

class CGraph : public testing::Test {
 protected:
  ~CGraph() override { release_all(); }

  // Before what operations of the test's own point to is gone.
  void release_all() {
    EXPECT_EQ(tnr_graph_release(std::exchange(graph, nullptr)), TNR_STATUS_OK);
    for (tnr_program* const program : std::exchange(programs, {})) {
      EXPECT_EQ(tnr_program_release(program), TNR_STATUS_OK);
    }
  }

  std::uint32_t input(const Shape& shape, tnr_dtype dtype = TNR_DTYPE_F32) {
    std::uint32_t value = TNR_OPERAND_NONE;
    EXPECT_EQ(tnr_graph_add_input(graph, dtype, static_cast<std::uint32_t>(shape.size()),
                                  shape.data(), &value),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
    return value;
  }
  std::uint32_t constant(const tnr_view& view) {
    std::uint32_t value = TNR_OPERAND_NONE;
    EXPECT_EQ(tnr_graph_add_constant(graph, &view, &value), TNR_STATUS_OK)
        << tnr_last_error()->message;
    return value;
  }
  std::uint32_t scalar(double number) {
    const tnr_scalar scalar = tnr_scalar_f64(number);
    std::uint32_t value = TNR_OPERAND_NONE;
    EXPECT_EQ(tnr_graph_add_scalar(graph, &scalar, &value), TNR_STATUS_OK);
    return value;
  }
  tnr_status add(std::uint32_t code, const std::vector<std::uint32_t>& operands,
                 const std::vector<std::int64_t>& numbers, const void* attributes,
                 std::uint32_t flags, std::uint32_t* value, tnr_dtype dtype = 0) {
    tnr_graph_node node = {};
    node.struct_size = sizeof node;
    node.code = code;
    node.dtype = dtype;
    node.operands = operands.data();
    node.operand_count = static_cast<std::uint32_t>(operands.size());
    node.numbers = numbers.data();
    node.number_count = static_cast<std::uint32_t>(numbers.size());
    node.attributes = attributes;
    node.flags = flags;
    return tnr_graph_add_node(graph, &node, value);
  }
  std::uint32_t node(std::uint32_t code, const std::vector<std::uint32_t>& operands,
                     const std::vector<std::int64_t>& numbers = {},
                     const void* attributes = nullptr, std::uint32_t flags = 0) {
    std::uint32_t value = TNR_OPERAND_NONE;
    EXPECT_EQ(add(code, operands, numbers, attributes, flags, &value), TNR_STATUS_OK)
        << tnr_last_error()->message;
    return value;
  }
  void output(std::uint32_t value, std::uint32_t updates = TNR_OPERAND_NONE) {
    EXPECT_EQ(tnr_graph_add_output(graph, value, updates), TNR_STATUS_OK)
        << tnr_last_error()->message;
  }
  tnr_program* program(std::uint32_t disabled_passes = 0, std::uint32_t enabled_passes = 0) {
    const tnr_program_attributes attributes = {sizeof attributes, disabled_passes, enabled_passes,
                                               nullptr, 0};
    tnr_program* const made = tnr_program_create(nullptr, graph, &attributes);
    EXPECT_NE(made, nullptr) << tnr_last_error()->message;
    if (made != nullptr) programs.push_back(made);
    return made;
  }
  static tnr_status run(const tnr_program* program, const std::vector<tnr_view>& inputs,
                        const std::vector<tnr_view_mut>& outputs, std::uint64_t budget_bytes = 0,
                        std::uint32_t flags = 0, std::int64_t* output_shapes = nullptr) {
    std::vector<const tnr_view*> given;
    for (const tnr_view& view : inputs) given.push_back(&view);
    std::vector<const tnr_view_mut*> written;
    for (const tnr_view_mut& view : outputs) written.push_back(&view);
    const tnr_program_run_attributes attributes = {
        sizeof attributes, budget_bytes, nullptr, 0, flags, output_shapes};
    return tnr_program_run(nullptr, program, given.data(), static_cast<std::uint32_t>(given.size()),
                           &attributes, written.data(), static_cast<std::uint32_t>(written.size()));
  }
  static tnr_memory_plan memory(const tnr_program* program, const std::vector<tnr_view>& inputs) {
    std::vector<const tnr_view*> given;
    for (const tnr_view& view : inputs) given.push_back(&view);
    tnr_memory_plan plan = {};
    plan.struct_size = sizeof plan;
    EXPECT_EQ(
        tnr_program_memory(program, given.data(), static_cast<std::uint32_t>(given.size()), &plan),
        TNR_STATUS_OK);
    return plan;
  }

  tnr_graph* graph = tnr_graph_create();
  std::vector<tnr_program*> programs;
};

}  // namespace tenure::test
