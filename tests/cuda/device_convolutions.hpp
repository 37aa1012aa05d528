// Convolutions for the tests of devices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "device_images.hpp"

namespace tenure::test {

// By kTypes: f64, f32, f16, bf16.
inline constexpr std::size_t kFloatTypes = 4;

struct Convolution {
  bool is_transposed = false;
  Shape a;
  Shape weight;
  Shape out;
  tnr_conv2d_attributes with = {};

  Convolution() {
    with.struct_size = sizeof with;
    for (unsigned axis = 0; axis < 2; ++axis) with.strides[axis] = with.dilations[axis] = 1;
    with.groups = 1;
  }
  // Sets `out` to the shape of the result. A transposed convolution gets up to `more` additional
  // rows and columns.
  Convolution& fit(std::int64_t more = 0) {
    out = {a[0], is_transposed ? weight[1] * with.groups : weight[0], 0, 0};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t padding = with.padding[2 * axis] + with.padding[2 * axis + 1];
      const std::int64_t reach = (weight[2 + axis] - 1) * with.dilations[axis] + 1;
      out[2 + axis] =
          is_transposed ? (a[2 + axis] - 1) * with.strides[axis] + reach - padding +
                              std::min(more, std::max(with.strides[axis], with.dilations[axis]) - 1)
                        : (a[2 + axis] + padding - reach) / with.strides[axis] + 1;
    }
    return *this;
  }
  [[nodiscard]] std::string text() const {
    std::string text = is_transposed ? "transposed " : "";
    text += shape_text(4, a.data()).text;
    text += " by ";
    text += shape_text(4, weight.data()).text;
    text += " to ";
    text += shape_text(4, out.data()).text;
    for (const auto& [name, values, count] : {std::tuple{" strides", with.strides, 2},
                                              {" padding", with.padding, 4},
                                              {" dilations", with.dilations, 2}}) {
      text += name;
      for (int i = 0; i < count; ++i) text += " " + std::to_string(values[i]);
    }
    return text + " groups " + std::to_string(with.groups);
  }
  // Inputs: a, the weight, and the bias where there is one.
  [[nodiscard]] ContextCall call() const {
    return [by = *this](tnr_context* context, const std::vector<const tnr_view*>& in,
                        const tnr_view_mut* to) {
      const tnr_view* const bias = in.size() > 2 ? in[2] : nullptr;
      return by.is_transposed ? tnr_conv2d_transposed(context, in[0], in[1], bias, &by.with, to)
                              : tnr_conv2d(context, in[0], in[1], bias, &by.with, to);
    };
  }
};

}  // namespace tenure::test
