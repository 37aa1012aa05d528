// The vectors of batch normalization: one number for each channel, which axis 1 counts.
#pragma once

#include <array>

#include "tenure/blob.hpp"
#include "tenure/dtype.hpp"
#include "view/operand_checks.hpp"

namespace tenure {

struct ChannelVector {
  const tnr_view* view;  // nullptr: not given
  const char* name;
};
using ChannelVectors = std::array<ChannelVector, 4>;

inline ChannelVectors vectors_of(const tnr_view* mean, const tnr_view& var, const tnr_view* weight,
                                 const tnr_view* bias) noexcept {
  return {{{mean, "mean"}, {&var, "var"}, {weight, "weight"}, {bias, "bias"}}};
}

// Throws ALIASED for one that shares a byte with the output.
inline void pin_vectors(const ChannelVectors& vectors, const tnr_view& out, Pins& pins) {
  for (const auto& [view, name] : vectors) {
    if (view == nullptr) continue;
    pins.add(*view, name);
    require_alias(out, *view, name, SameView::kRefused);
  }
}

// Numbers of `a`'s dtype in memory of a call, those of its channels for each of its elements.
inline tnr_view along_channels(const tnr_view& a, const void* numbers) noexcept {
  tnr_view view = {};
  view.base = view.data = numbers;
  view.size_bytes = static_cast<std::uint64_t>(a.shape[1]) * element_size(a.dtype);
  view.dtype = a.dtype;
  view.device = a.device;
  view.rank = a.rank;
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) view.shape[axis] = axis == 1 ? a.shape[1] : 1;
  view.strides[1] = 1;
  return view;
}

}  // namespace tenure
