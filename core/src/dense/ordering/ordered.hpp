// The operands of an order along an axis, and their checks for any device.
#pragma once

#include <cstdint>

#include "tenure/blob.hpp"
#include "tenure/view.hpp"

namespace tenure {

// The operands of one call.
struct Ordered {
  const tnr_view& a;
  std::uint32_t axis;
  const tnr_view_mut* indices;
  const tnr_view_mut* out;

  [[nodiscard]] std::int64_t extent() const noexcept { return a.shape[axis]; }
  // The extent of the axis in the outputs.
  [[nodiscard]] std::int64_t kept() const noexcept {
    return (out != nullptr ? out : indices)->view.shape[axis];
  }
};

// The elements of a row that are put in order: all; only the first ones, and no others are written;
// or only the element of one rank.
enum class OrderExtent { kAll, kFirst, kAround };

// Throws what the operands deserve; the row of the kernel tables.
unsigned check_ordered(const char* operation, const Ordered& call, OrderExtent extent,
                       const tnr_device& device = kCpu);

// Keeps the memory of the checked operands; gives the bytes that are written.
std::uint64_t pin_ordered(const Ordered& call, Pins& pins);

}  // namespace tenure
