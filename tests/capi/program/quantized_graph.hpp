// Graphs whose products and convolutions tests quantize.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

// The plain definition of quantized numbers.
struct PlainScale {
  float scale = 1;
  int zero = 0;

  // From a range, for u8.
  static PlainScale of(float low, float high) {
    low = std::min(low, 0.0F);
    high = std::max(high, 0.0F);
    const float scale = high / 255 - low / 255;
    if (!(scale > 0)) return {1, 0};
    return {scale, static_cast<int>(std::clamp(std::nearbyint(-low / scale), 0.0F, 255.0F))};
  }
  [[nodiscard]] int u8(float number) const {
    const float rounded = std::nearbyint(number / scale) + static_cast<float>(zero);
    return static_cast<int>(std::clamp(rounded, 0.0F, 255.0F));
  }
};
// Integers of i8 with one scale for all.
struct PlainWeights {
  std::vector<int> values;
  float scale;

  explicit PlainWeights(const std::vector<float>& numbers) {
    float greatest = 0;
    for (const float number : numbers) greatest = std::max(greatest, std::abs(number));
    scale = greatest > 0 ? greatest / 127 : 1;
    for (const float number : numbers) {
      values.push_back(static_cast<int>(std::nearbyint(number / scale)));
    }
  }
};

// The convolution of images by filters of the same number of channels, with one row or column of
// padding around, from the plain definition.
inline std::vector<float> plain_convolution(const Floats& images, const PlainScale& by,
                                            const Floats& filters, const float* bias,
                                            bool has_relu) {
  const std::int64_t channels = images.shape[1];
  const std::int64_t height = images.shape[2];
  const std::int64_t width = images.shape[3];
  const std::int64_t depth = channels * 9;
  std::vector<float> result;
  for (std::int64_t image = 0; image < images.shape[0]; ++image) {
    for (std::int64_t filter = 0; filter < filters.shape[0]; ++filter) {
      const auto from = filters.values.begin() + filter * depth;
      const PlainWeights weights({from, from + depth});
      for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
          std::int64_t sum = 0;
          for (std::int64_t k = 0; k < depth; ++k) {
            const std::int64_t row = y + k % 9 / 3 - 1;
            const std::int64_t column = x + k % 3 - 1;
            if (row < 0 || row >= height || column < 0 || column >= width) continue;
            const std::int64_t at = ((image * channels + k / 9) * height + row) * width + column;
            sum += (by.u8(images.values[static_cast<std::size_t>(at)]) - by.zero) *
                   std::int64_t{weights.values[static_cast<std::size_t>(k)]};
          }
          float number = static_cast<float>(sum) * (by.scale * weights.scale);
          if (bias != nullptr) number += bias[filter];
          result.push_back(has_relu ? std::max(number, 0.0F) : number);
        }
      }
    }
  }
  return result;
}

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
  // With one row or column of padding around.
  std::uint32_t conv2d(std::uint32_t a, std::uint32_t by,
                       std::uint32_t of_filters = TNR_OPERAND_NONE) {
    tnr_conv2d_attributes attributes = {};
    attributes.struct_size = sizeof attributes;
    for (std::int64_t& around : attributes.padding) around = 1;
    return node(TNR_NODE_CONV2D, {a, by, of_filters}, {}, &attributes);
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
