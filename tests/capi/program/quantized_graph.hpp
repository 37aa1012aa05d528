// Graphs whose products and convolutions tests quantize.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "program_graph.hpp"

namespace tenure::test {

inline constexpr auto F32 = TNR_DTYPE_F32;
inline constexpr auto I8 = TNR_DTYPE_I8;
inline constexpr auto U8 = TNR_DTYPE_U8;
inline constexpr auto kRelu = TNR_NODE_UNARY | TNR_UNARY_OP_RELU;
inline constexpr auto kAdd = TNR_NODE_BINARY | TNR_BINARY_OP_ADD;
inline constexpr std::int64_t kDepth = 70;
inline constexpr std::int64_t kColumns = 66;

using Values = std::vector<std::uint32_t>;
using Ranges = std::vector<tnr_value_range>;

class QuantizationTest : public CGraph {
 protected:
  static tnr_graph_quantize_attributes attributes_of(const Values& keep, const Ranges& ranges) {
    tnr_graph_quantize_attributes attributes = {};
    attributes.struct_size = sizeof attributes;
    attributes.keep = keep.data();
    attributes.keep_count = static_cast<std::uint32_t>(keep.size());
    attributes.ranges = ranges.data();
    attributes.range_count = static_cast<std::uint32_t>(ranges.size());
    return attributes;
  }
  tnr_status add_quantized(const Values& of, const Values& keep, Values& quantized,
                           const Ranges& ranges = {}) {
    const tnr_graph_quantize_attributes attributes = attributes_of(keep, ranges);
    quantized.assign(of.size(), 77);
    return tnr_graph_quantize(graph, of.data(), static_cast<std::uint32_t>(of.size()), &attributes,
                              quantized.data());
  }
  std::uint32_t quantized(std::uint32_t of, const Values& keep = {}, const Ranges& ranges = {}) {
    Values values;
    EXPECT_EQ(add_quantized({of}, keep, values, ranges), TNR_STATUS_OK)
        << tnr_last_error()->message;
    return values[0];
  }
  void expect_refused(const Values& of, const Values& keep, const std::string& message,
                      const Ranges& ranges = {}) {
    const std::uint32_t count = node_count();
    Values values;
    EXPECT_EQ(add_quantized(of, keep, values, ranges), TNR_STATUS_INVALID_ARGUMENT);
    EXPECT_NE(std::string(tnr_last_error()->message).find(message), std::string::npos)
        << tnr_last_error()->message;
    for (const std::uint32_t value : values) EXPECT_EQ(value, 77u);
    EXPECT_EQ(node_count(), count);
  }
  std::uint32_t matmul(std::uint32_t a, std::uint32_t b) { return node(TNR_NODE_MATMUL, {a, b}); }
  [[nodiscard]] std::uint32_t node_count() const {
    tnr_graph_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(tnr_graph_describe(graph, &info), TNR_STATUS_OK);
    return info.node_count;
  }
  // The codes of the nodes from this one on.
  [[nodiscard]] Values codes_from(std::uint32_t first) const {
    Values codes;
    for (; first < node_count(); ++first) {
      tnr_graph_node node = {};
      node.struct_size = sizeof node;
      EXPECT_EQ(tnr_graph_describe_node(graph, first, &node), TNR_STATUS_OK);
      codes.push_back(node.code);
    }
    return codes;
  }
  std::vector<float> result(const Floats& given, const Shape& shape, std::uint32_t disabled = 0,
                            std::uint32_t enabled = 0) {
    Floats out(shape, 77, 0);
    EXPECT_EQ(run(program(disabled, enabled), {given.view()}, {out.out()}), TNR_STATUS_OK)
        << tnr_last_error()->message;
    return out.values;
  }

  Floats weights{{kDepth, kColumns}, -0.7F, 0.31F};
  Floats bias{{kColumns}, -0.4F, 0.17F};
  Floats x{{5, kDepth}, 0.11F, 0.37F};
};

}  // namespace tenure::test
