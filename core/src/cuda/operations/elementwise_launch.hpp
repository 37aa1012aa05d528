// An element-wise call on a device: its operands, and the launch of its kernel.
#pragma once

#include <cstdint>

#include "cuda/kernels/arguments.hpp"
#include "cuda/operations/nest.hpp"
#include "cuda/queue.hpp"
#include "dense/operands.hpp"
#include "dense/scalar.hpp"

namespace tenure::cuda {

// The number of adjacent elements that a kernel takes at once.
struct Vectors {
  unsigned items;
};

// The operands of an element-wise call on the device of a queue.
class ElementwiseLaunch : public Operands {
 public:
  // Throws the error of a malformed output. All views outlive the call.
  ElementwiseLaunch(const Queue& queue, const tnr_view_mut& out);

  // Operands::add(), not inlined: a launch costs much more.
  void add(const tnr_view& view, const char* name);
  // Adds a copy of an element that is repeated; one at most.
  void add(const tenure::Element& element, tnr_dtype dtype) noexcept {
    element_ = element;
    Operands::add(element_, dtype);
  }

  [[nodiscard]] const Queue& queue() const noexcept { return queue_; }

  // Enqueues the kernel. The caller has set op, type and out_type of `argument`; the rest is set
  // here.
  void run(Kernel kernel, Vectors vectors, ElementwiseArgument& argument) const;
  // Runs a kernel that may refuse elements, waits for it, and returns whether it refused one. An
  // empty output has none.
  [[nodiscard]] bool run_and_find(Kernel kernel, Vectors vectors,
                                  ElementwiseArgument& argument) const;
  // Moves elements of the first input to the output, as their bytes or as truth values.
  enum class Bytes : std::uint8_t { kAsTheyAre, kAsBools };
  void move(Bytes bytes) const;
  // select: a condition and two inputs of the output's dtype.
  void select(Bytes bytes) const;

 private:
  // The address of an input, nullptr for an element.
  [[nodiscard]] const unsigned char* address(unsigned input) const noexcept {
    return views_[input] == nullptr ? nullptr : bytes_of(*views_[input]);
  }
  [[nodiscard]] LoopNest nest() const;
  // With one more axis, within an element, where no kernel has elements of this width.
  [[nodiscard]] LoopNest nest_of_units(std::int64_t unit_bytes) const;
  // Whether all of it went with one launch of dense operands.
  [[nodiscard]] bool launch_dense(Kernel kernel, Vectors vectors,
                                  ElementwiseArgument& argument) const;
  void launch(Kernel kernel, Vectors vectors, ElementwiseArgument& argument,
              const LoopNest& nest) const;

  static_assert(kMaxInputs >= kMostInputs);

  const Queue& queue_;
  tenure::Element element_ = {};
};

}  // namespace tenure::cuda
