// Loops over the elements of a call's operands, and how a launch shares them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "cuda/kernels/arguments.hpp"
#include "dense/loops/nest.hpp"

namespace tenure::cuda {

// An operand of a launch. An element that is passed by value has no data.
struct Operand {
  const unsigned char* data = nullptr;
  std::int64_t width_bytes = 0;
};

// A nest of at most kMostAxes axes with the addresses of its operands, the output first. order()
// makes the steps of the output positive.
class LoopNest : public NestOf<1 + kMostInputs, kMostAxes> {
 public:
  using NestOf::NestOf;

  // The address is that of the operand's element at index 0.
  void set(unsigned operand, const Operand& of) noexcept { operands_[operand] = of; }
  void set_width(unsigned operand, std::int64_t bytes) noexcept {
    operands_[operand].width_bytes = bytes;
  }
  void order() noexcept { NestOf::order(0); }

  // With the address of its first element in the nest.
  [[nodiscard]] Operand operand(unsigned index) const noexcept {
    const Operand& of = operands_[index];
    return {of.data == nullptr ? nullptr : of.data + start(index), of.width_bytes};
  }

  // Whether each operand's elements are adjacent along all of an ordered nest.
  [[nodiscard]] bool is_dense() const noexcept;

  // Its outermost axis in two; there is one.
  struct Halves;
  [[nodiscard]] Halves halves() const noexcept;

 private:
  Operand operands_[1 + kMostInputs];
};

struct LoopNest::Halves {
  LoopNest low;
  LoopNest high;
};

// A launch takes fewer elements one by one.
inline constexpr std::int64_t kMostRest = std::int64_t{1} << 31;

// All zeros except the axes, which have 400 bytes: a launch sets the axes that it has.
inline ElementwiseArgument empty_argument() noexcept {
  ElementwiseArgument argument;
  std::memset(&argument, 0, offsetof(ElementwiseArgument, axes));
  return argument;
}

// Sets the places and the axes of the argument, for a kernel that takes `items`, a power of two, at
// once; `numbers` is set. Gives the blocks; 0 where the nest has too many elements for one launch.
unsigned share_out(const LoopNest& nest, unsigned items, ElementwiseArgument& argument,
                   std::int64_t most_rest = kMostRest) noexcept;

// Does the same without a nest, for dense operands of one width and one shape and for a number:
// `out`, `in` (nullptr: a number, or none) and `numbers` are set. share_out() is the reference.
unsigned share_out_dense(std::int64_t count, std::int64_t width_bytes, unsigned items,
                         ElementwiseArgument& argument,
                         std::int64_t most_rest = kMostRest) noexcept;

// The divider by an extent from 1 to below 2^31.
Divider divider_by(std::int64_t extent) noexcept;

// The tiles of a copy whose elements are adjacent along one axis of the output and along another axis
// of the input. No value for other copies. The nest is ordered and has two operands.
struct TransposedCopy {
  TransposeArgument argument;
  unsigned blocks;
};
std::optional<TransposedCopy> transposed_copy(const LoopNest& nest) noexcept;

}  // namespace tenure::cuda
