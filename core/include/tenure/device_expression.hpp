// Element-wise nodes that a device computes in one launch.
#pragma once

#include <cstdint>

#include "tenure/status.hpp"

namespace tenure {

// One result of element-wise nodes, in one launch: each element runs the nodes one after the other,
// and the last node gives the result. Every node rounds or wraps to its dtype, so that the bits are
// those of the calls one by one. No dtype is complex.
struct DeviceExpression {
  static constexpr unsigned kMostNodes = 24;
  static constexpr unsigned kMostViews = 16;
  static constexpr unsigned kMostNumbers = 24;
  // Results that are held at once for nodes that do not follow at once.
  static constexpr unsigned kMostSlots = 8;
  static constexpr std::uint8_t kNoSlot = 0xff;

  enum class Location : std::uint8_t { kLast, kSlot, kView, kNumber };
  struct Operand {
    Location location;
    std::uint8_t index;  // of kLast 0
  };
  struct Node {
    std::uint32_t code;  // as tnr_node has it; of comparisons EQ, NE, LT and LE
    tnr_dtype dtype;     // of the operands, of a selection's last two
    tnr_dtype out_dtype;
    std::uint8_t operand_count;
    std::uint8_t slot;  // or kNoSlot
    Operand operands[3];
  };
  struct Number {
    tnr_dtype dtype;
    alignas(8) unsigned char bytes[8];
  };

  unsigned node_count = 0;
  unsigned view_count = 0;
  unsigned number_count = 0;
  Node nodes[kMostNodes];
  Number numbers[kMostNumbers];
};

// Elements that a DeviceExpression does not take.
struct DeviceFindings {
  bool zero_divisor = false;
  bool negative_power = false;
};

// Whether a DeviceExpression may have a node of an operation on operands of a dtype. The other
// operations of a device take more instructions than a call costs.
bool fuses_on_device(std::uint32_t code, tnr_dtype dtype) noexcept;

}  // namespace tenure
