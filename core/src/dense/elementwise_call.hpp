// An element-wise call on the CPU.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/operations.hpp"
#include "dense/loops/permutation.hpp"
#include "dense/loops/strip_runner.hpp"
#include "dense/operands.hpp"
#include "tenure/context.hpp"

namespace tenure {

// The operands of an element-wise call on the CPU, and its run.
class ElementwiseCall : public Operands {
 public:
  // Throws the error of a malformed output. `out` outlives the call.
  // `out` outlives this.
  explicit ElementwiseCall(const tnr_view_mut& out) : Operands(out) {}
  explicit ElementwiseCall(tnr_view_mut&&) = delete;

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

 private:
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

  std::int64_t call_bytes_ = 0;  // where these exceed moved_bytes()
};

}  // namespace tenure
