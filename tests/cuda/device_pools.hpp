// Poolings for the tests of devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device_images.hpp"

namespace tenure::test {

// By kTypes: f64, f32, f16, bf16.
inline constexpr std::size_t kFloatTypes = 4;

struct Pool {
  tnr_reduce_op op = TNR_REDUCE_OP_MAX;
  Shape a;
  Shape out;
  tnr_pool2d_attributes with = {};

  Pool() { with.struct_size = sizeof with; }
  Pool& fit() {
    out = {a[0], a[1], 0, 0};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t kernel = with.kernel[axis] == 0 ? a[2 + axis] : with.kernel[axis];
      const std::int64_t stride = with.strides[axis] == 0 ? kernel : with.strides[axis];
      const std::int64_t dilation = with.dilations[axis] == 0 ? 1 : with.dilations[axis];
      const std::int64_t padded = a[2 + axis] + with.padding[2 * axis] + with.padding[2 * axis + 1];
      const std::int64_t room = padded - (kernel - 1) * dilation - 1;
      const std::int64_t behind = room - room % stride + stride;
      const bool is_more = (with.flags & TNR_POOL2D_CEIL) != 0 && room % stride != 0 &&
                           behind < a[2 + axis] + with.padding[2 * axis];
      out[2 + axis] = room / stride + 1 + (is_more ? 1 : 0);
    }
    return *this;
  }
  [[nodiscard]] std::string text() const {
    std::string text = op == TNR_REDUCE_OP_MAX ? "max of " : "mean of ";
    text += shape_text(4, a.data()).text;
    text += " to ";
    text += shape_text(4, out.data()).text;
    for (const std::int64_t value : with.kernel) text += " kernel " + std::to_string(value);
    for (const std::int64_t value : with.strides) text += " stride " + std::to_string(value);
    for (const std::int64_t value : with.padding) text += " padding " + std::to_string(value);
    for (const std::int64_t value : with.dilations) text += " dilation " + std::to_string(value);
    return text + " flags " + std::to_string(with.flags);
  }
  [[nodiscard]] ContextCall call() const {
    return [by = *this](tnr_context* context, const std::vector<const tnr_view*>& in,
                        const tnr_view_mut* to) {
      return tnr_pool2d(context, by.op, in[0], &by.with, to);
    };
  }
  // Inputs: a, and the gradients of the result.
  [[nodiscard]] ContextCall gradient() const {
    return [by = *this](tnr_context* context, const std::vector<const tnr_view*>& in,
                        const tnr_view_mut* to) {
      return tnr_pool2d_gradient(context, by.op, in[0], in[1], &by.with, to);
    };
  }
};

}  // namespace tenure::test
