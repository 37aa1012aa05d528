// The operands of an element-wise call on the CPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu/kernel.hpp"
#include "cpu/operations.hpp"
#include "dense/nest.hpp"
#include "dense/permutation.hpp"
#include "dense/scalar.hpp"
#include "dense/strip_runner.hpp"
#include "memory/traffic.hpp"
#include "tenure/blob.hpp"
#include "tenure/context.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"
#include "view/plain.hpp"

namespace tenure {

// The operands of one element-wise call, from the checks to the run. While it lives, the owners of
// its views are pinned.
class Operands {
 public:
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  // Throws what a malformed output deserves. `out` outlives the call.
  explicit Operands(const tnr_view_mut& out) : out_(out.view) {
    flat_.count = plain_count(out_);
    if (flat_.count == 0) [[unlikely]]
      flat_.count = check_output(out);
    pins_.add_mut(out, "out");
    flat_.out = writable(out);
    flat_.source_count = 0;
    flat_.in = sources_;
    flat_.parameters = nullptr;
    flat_.width_bytes = flat_.out_step = static_cast<std::int64_t>(element_size(out_.dtype));
    out_bytes_ = static_cast<std::uint64_t>(flat_.count * flat_.width_bytes);
  }

  // Adds an input that broadcasts to the output and is exactly it or shares no byte with it. Throws
  // INVALID_ARGUMENT, ALIASED, or what the view itself deserves. `view` outlives the call.
  [[gnu::always_inline]] void add(const tnr_view& view, const char* name) {
    if (flat_.count != 0 && is_twin(view, out_, out_bytes_)) [[likely]] {
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

  // Whether all operands are dense, so that one strip does it.
  [[nodiscard]] bool is_flat() const noexcept { return flat_.count != 0; }
  // Bytes of the output's and inputs' elements; an element that is repeated counts each time.
  [[nodiscard]] std::int64_t moved_bytes() const noexcept;
  // Sets the bytes of the whole call, where this is a part of it.
  void set_call_bytes(std::int64_t bytes) noexcept { call_bytes_ = bytes; }
  [[nodiscard]] std::int64_t call_bytes() const noexcept {
    return std::max(call_bytes_, moved_bytes());
  }
  // The elements of the output and of the one input; neither is empty.
  [[nodiscard]] Movement movement() const noexcept;

  // Before the output is written by others than run(): touch_fresh_pages().
  void touch_output(const Context& context) const noexcept;

  kernels::Finding run(const Context& context, const Operation& operation) const noexcept {
    if (flat_.count == 0) return run_nested(context, operation);
    if (context.thread_count() == 1 && out_bytes_ < kAlwaysCachedBytes) [[likely]] {
      // A dense call of elements as the kernel computes them is one call of the kernel.
      if (operation.conversion() == nullptr) [[likely]]
        return operation.kernel()(flat_);
      return run_strip(operation, flat_);
    }
    return run_flat(context, operation);
  }

  // Counts the call, which has succeeded.
  void count(tnr_operation operation) const noexcept {
    if (out_bytes_ != 0) [[likely]]
      return count_call(operation, read_bytes_, out_bytes_);
    if (is_empty(out_)) return count_call(operation, 0, 0);
    count_call(operation, read_bytes_, element_bytes(out_));
  }

 private:
  // `step`: bytes from one element to the next if the call is flat.
  void add_input(const tnr_view* view, const void* data, std::int64_t step,
                 std::int64_t width_bytes) noexcept {
    views_[flat_.source_count] = view;
    sources_[flat_.source_count] = {static_cast<const kernels::Byte*>(data), step, width_bytes};
    ++flat_.source_count;
  }

  // Throws what a malformed output deserves; the elements if it is dense, else 0.
  static std::int64_t check_output(const tnr_view_mut& out);
  // The plain twin of add(): one check after the other, for operands of any layout.
  void add_stepwise(const tnr_view& view, const char* name);
  kernels::Finding run_flat(const Context& context, const Operation& operation) const noexcept;
  kernels::Finding run_nested(const Context& context, const Operation& operation) const noexcept;

  // Steps in bytes, of the output and then the inputs; not arranged.
  [[nodiscard]] Nest nest() const noexcept;
  // The strip in slices, on the threads of the context.
  kernels::Finding run_slices(const Context& context, const Operation& operation,
                              const kernels::Strip& whole) const noexcept;
  // An arranged nest whose operands disagree on its inner axis.
  kernels::Finding run_tiles(const Context& context, const Operation& operation, const Nest& nest,
                             const kernels::Strip& whole) const noexcept;
  // How strips like this are stored: streamed where the call moves more than caches keep. Not in
  // place: there the lines are in the caches when they are written. Nor where nothing is read:
  // whole lines that are only written are not read first.
  [[nodiscard]] Stores stores_of(const kernels::Strip& strip,
                                 std::int64_t least_bytes) const noexcept;
  // Bytes by which a call is cut into slices.
  [[nodiscard]] std::int64_t sliced_bytes(Stores stores) const noexcept;
  // Sets the pointers of a strip from the offsets of the output and then the inputs.
  void move_to(MovingStrip& strip, const std::int64_t* offsets) const noexcept;

  static constexpr unsigned kMaxInputs = MovingStrip::kMaxSources;

  const tnr_view& out_;
  // The whole call where all operands are dense; else its count is 0, and only the data pointers and
  // the widths are used.
  kernels::Strip flat_;
  std::uint64_t out_bytes_;  // of a dense output
  std::uint64_t read_bytes_ = 0;
  std::int64_t call_bytes_ = 0;          // where these exceed moved_bytes()
  kernels::Source sources_[kMaxInputs];  // of flat_, which says how many there are
  const tnr_view* views_[kMaxInputs];    // nullptr for an element
  Pins pins_;
};

}  // namespace tenure
