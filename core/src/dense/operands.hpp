// The operands of an element-wise call, on the CPU or on a device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernel.hpp"
#include "dense/loops/nest.hpp"
#include "dense/scalar.hpp"
#include "memory/traffic.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"
#include "view/plain.hpp"

namespace tenure {

// Checks the operands of one element-wise call and pins their owners while it lives. ElementwiseCall
// runs the call on the CPU, cuda::ElementwiseLaunch enqueues it.
class Operands {
 public:
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  // Adds an input that broadcasts to the output and is exactly it or shares no byte with it. Throws
  // INVALID_ARGUMENT, ALIASED, or the error of a malformed view. `view` outlives the call.
  [[gnu::always_inline]] void add(const tnr_view& view, const char* name) {
    if (flat_.count != 0 && has_same_layout(view, out_, out_bytes_)) [[likely]] {
      pins_.add(view, name);
      add_input(&view, view.data, flat_.width_bytes, flat_.width_bytes);
      read_bytes_ += out_bytes_;
    } else {
      add_stepwise(view, name);
    }
  }
  // Adds an element that is broadcast to every element of the output. `element` outlives the call.
  void add(const Element& element, tnr_dtype dtype) noexcept {
    add_input(nullptr, element.bytes, 0, static_cast<std::int64_t>(element_size(dtype)));
  }

  // Whether input `index` is exactly the output.
  [[nodiscard]] bool is_in_place(unsigned index) const noexcept {
    return views_[index] != nullptr && sources_[index].data == flat_.out;
  }
  // Whether all operands are dense and of one shape, and there are elements.
  [[nodiscard]] bool is_flat() const noexcept { return flat_.count != 0; }

  // Counts the call, which has succeeded.
  void count(tnr_operation operation) const noexcept {
    if (out_bytes_ != 0) [[likely]]
      return count_call(operation, read_bytes_, out_bytes_);
    if (is_empty(out_)) return count_call(operation, 0, 0);
    count_call(operation, read_bytes_, element_bytes(out_));
  }

 protected:
  // Throws the error of a malformed output. `out` outlives the call.
  explicit Operands(const tnr_view_mut& out, const tnr_device& device = kCpu) : out_(out.view) {
    const auto width_bytes = static_cast<std::int64_t>(element_size(out_.dtype));
    flat_.count = plain_count(out_, device);
    if (flat_.count == 0) [[unlikely]]
      flat_.count = check_output(out, device);
    pins_.add_mut(out, "out");
    flat_.out = writable(out);
    flat_.source_count = 0;
    flat_.in = sources_;
    flat_.parameters = nullptr;
    flat_.width_bytes = flat_.out_step = width_bytes;
    out_bytes_ = static_cast<std::uint64_t>(flat_.count * width_bytes);
  }
  ~Operands() = default;

  // Adds the axes of the output, with the steps in bytes of the output and then the inputs.
  template <class AnyNest>
  void add_axes_to(AnyNest& nest) const noexcept {
    const std::int64_t width_bytes = flat_.width_bytes;
    for (std::uint32_t axis = 0; axis < out_.rank; ++axis) {
      if (out_.shape[axis] == 1) continue;
      std::int64_t steps[1 + kMaxInputs];
      steps[0] = out_.strides[axis] * width_bytes;
      for (unsigned i = 0; i < flat_.source_count; ++i) {
        const tnr_view* const view = views_[i];
        steps[1 + i] = view == nullptr ? 0 : broadcast_step(*view, out_, axis);
      }
      nest.add(out_.shape[axis], steps);
    }
  }

  static constexpr unsigned kMaxInputs = Nest::kMaxOperands - 1;

  const tnr_view& out_;
  // The whole call where all operands are dense. Otherwise its count is 0, and only the data pointers
  // and the widths are used.
  kernels::Strip flat_;
  std::uint64_t out_bytes_;  // of a dense output
  std::uint64_t read_bytes_ = 0;
  kernels::StripInput sources_[kMaxInputs];  // flat_ has their number
  const tnr_view* views_[kMaxInputs];        // nullptr for an element
  Pins pins_;

 private:
  // `step`: bytes from one element to the next if the call is flat.
  void add_input(const tnr_view* view, const void* data, std::int64_t step,
                 std::int64_t width_bytes) noexcept {
    views_[flat_.source_count] = view;
    sources_[flat_.source_count] = {static_cast<const kernels::Byte*>(data), step, width_bytes};
    ++flat_.source_count;
  }

  // Throws the error of a malformed output. Returns the elements of a dense one, else 0.
  static std::int64_t check_output(const tnr_view_mut& out, const tnr_device& device);
  // The reference implementation of add(): one check after the other, for operands of any layout.
  void add_stepwise(const tnr_view& view, const char* name);
};

}  // namespace tenure
