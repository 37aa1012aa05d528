// An element-wise call on a device, from the checks of its operands to the launch.
#pragma once

#include <cstdint>
#include <optional>

#include "cuda/kernels/arguments.hpp"
#include "cuda/operations/nest.hpp"
#include "cuda/queue.hpp"
#include "dense/product/epilogue.hpp"
#include "dense/scalar.hpp"
#include "tenure/blob.hpp"

namespace tenure::cuda {

// The number of adjacent elements that a kernel takes at once.
struct Vectors {
  unsigned items;
};

// Throws UNSUPPORTED for an activation that is no bound.
void require_bounds_alone(const Queue& queue, const char* operation,
                          const BoundedActivation& activation);
// The type of the elements of a dtype, where it is not complex and device_refusal() has nothing
// against it. `code` is a node's.
ElementType require_type(const Queue& queue, std::uint32_t code, tnr_dtype dtype);

// The operands of one call, as Operands of dense/operands.hpp has them. While it lives, the owners
// of its views are pinned.
class Call {
 public:
  // Throws what a malformed output deserves. All views outlive the call.
  Call(const Queue& queue, const tnr_view_mut& out);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // An input that broadcasts to the output and is exactly it or shares no byte with it. Throws
  // INVALID_ARGUMENT, ALIASED, or what the view itself deserves.
  void add(const tnr_view& view, const char* name);
  // An element that is repeated; one at most.
  void add(const tenure::Element& element, tnr_dtype dtype);

  [[nodiscard]] bool is_empty() const noexcept { return out_bytes_ == 0; }
  // Whether the first input is exactly the output.
  [[nodiscard]] bool is_in_place() const noexcept;
  [[nodiscard]] const Queue& queue() const noexcept { return queue_; }

  // Enqueues the kernel; of `argument` op, type and out_type are set, and the rest is set here.
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

  // Counts the call, which has been enqueued.
  void count(tnr_operation operation) const noexcept;

 private:
  // The reference implementation of add(): one check after the other, for operands of any layout.
  void add_stepwise(const tnr_view& view, const char* name);
  void add_input(const tnr_view* view, std::int64_t width_bytes) noexcept {
    inputs_[input_count_] = view;
    widths_[input_count_++] = width_bytes;
  }

  [[nodiscard]] LoopNest nest() const;
  // With one more axis, within an element, where no kernel has elements of this width.
  [[nodiscard]] LoopNest nest_of_units(std::int64_t unit_bytes) const;
  // Whether all of it went with one launch of dense operands.
  [[nodiscard]] bool launch_dense(Kernel kernel, Vectors vectors,
                                  ElementwiseArgument& argument) const;
  void launch(Kernel kernel, Vectors vectors, ElementwiseArgument& argument,
              const LoopNest& nest) const;

  const Queue& queue_;
  const tnr_view_mut& out_;
  // Elements where all views are dense and of one shape and dtype; else 0.
  std::int64_t flat_count_;
  std::int64_t out_width_;
  std::uint64_t out_bytes_;
  unsigned input_count_ = 0;
  const tnr_view* inputs_[kMostInputs] = {};  // nullptr for an element
  std::int64_t widths_[kMostInputs] = {};     // of an element in bytes
  std::uint32_t numbers_ = 0;                 // by bits, as ElementwiseArgument has them
  tenure::Element element_ = {};
  std::uint64_t read_bytes_ = 0;
  Pins pins_;
};

}  // namespace tenure::cuda
