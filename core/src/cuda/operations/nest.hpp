// Loops over the elements of a call's operands, and how a launch shares them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "cuda/kernels/arguments.hpp"

namespace tenure::cuda {

// An operand of a launch. Of an element by value there is no data.
struct Operand {
  const unsigned char* data = nullptr;
  std::int64_t width_bytes = 0;
};

// Axes with a step in bytes for each operand, the output first. Once ordered, the steps of the
// output are positive, and fall from axis to axis; axes that all operands walk as one are one.
class LoopNest {
 public:
  explicit LoopNest(unsigned operand_count) noexcept : operand_count_(operand_count) {}

  // As many axes as kMostAxes. An extent of 1 adds nothing; none is 0.
  void add(std::int64_t extent, const std::int64_t* steps) noexcept;
  void set(unsigned operand, const Operand& of) noexcept { operands_[operand] = of; }
  void order() noexcept;

  [[nodiscard]] unsigned operand_count() const noexcept { return operand_count_; }
  [[nodiscard]] const Operand& operand(unsigned index) const noexcept { return operands_[index]; }
  [[nodiscard]] unsigned rank() const noexcept { return rank_; }
  [[nodiscard]] std::int64_t extent(unsigned axis) const noexcept { return axes_[axis].extent; }
  [[nodiscard]] std::int64_t step(unsigned axis, unsigned operand) const noexcept {
    return axes_[axis].steps[operand];
  }
  [[nodiscard]] std::int64_t count() const noexcept;

  // Whether each operand's elements are adjacent along all of an ordered nest.
  [[nodiscard]] bool is_dense() const noexcept;

  // Without an axis, which stays where it was.
  void remove(unsigned axis) noexcept;
  // Its outermost axis in two; there is one.
  struct Halves;
  [[nodiscard]] Halves halves() const noexcept;

 private:
  struct Axis {
    std::int64_t extent;
    std::int64_t steps[1 + kMostInputs];
  };

  [[nodiscard]] bool joins(const Axis& outer, const Axis& inner) const noexcept;

  unsigned operand_count_;
  unsigned rank_ = 0;
  Operand operands_[1 + kMostInputs];
  Axis axes_[kMostAxes];  // outermost first
};

struct LoopNest::Halves {
  LoopNest low;
  LoopNest high;
};

// A launch takes fewer elements one by one.
inline constexpr std::int64_t kMostRest = std::int64_t{1} << 31;

// All zeros, but for the axes, of which there are 400 bytes: a launch sets those that it has.
inline ElementwiseArgument empty_argument() noexcept {
  ElementwiseArgument argument;
  std::memset(&argument, 0, offsetof(ElementwiseArgument, axes));
  return argument;
}

// Sets the places and the axes of the argument, for a kernel that takes `items`, a power of two, at
// once; `numbers` is set. Gives the blocks; 0 where the nest has too many elements for one launch.
unsigned share_out(const LoopNest& nest, unsigned items, ElementwiseArgument& argument,
                   std::int64_t most_rest = kMostRest) noexcept;

// The same without a nest, of operands of one width and one shape that are all dense, or a number:
// `out`, `in` (nullptr: a number, or none) and `numbers` are set. Its plain twin is the above.
unsigned share_out_dense(std::int64_t count, std::int64_t width_bytes, unsigned items,
                         ElementwiseArgument& argument,
                         std::int64_t most_rest = kMostRest) noexcept;

// The divider by an extent from 1 to below 2^31.
Divider divider_by(std::int64_t extent) noexcept;

// The tiles of a copy, an ordered nest of two operands: where the elements lie side by side along
// one axis in the output and along another in the input. Without a value elsewhere.
struct TransposedCopy {
  TransposeArgument argument;
  unsigned blocks;
};
std::optional<TransposedCopy> transposed_copy(const LoopNest& nest) noexcept;

}  // namespace tenure::cuda
