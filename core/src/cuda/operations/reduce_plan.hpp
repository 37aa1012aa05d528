// How the work of a reduction is cut into blocks, and where they find their elements.
#pragma once

#include <cstdint>

#include "cuda/kernels/reduce_arguments.hpp"
#include "cuda/queue.hpp"
#include "dense/loops/nest.hpp"

namespace tenure::cuda {

// Kernels of a rule, and what their threads read at once.
struct ReduceRule {
  Kernel along;
  Kernel across;
  Kernel parts;
  std::uint32_t part_bytes;  // of what a split gives
  RuleShape shape;
};

// Axes of a call, ordered by the steps of the input: those that are kept with the output's steps,
// those that are reduced with the places of elements in logical order.
class ReduceWalk {
 public:
  // Views are checked; `out` is not empty.
  ReduceWalk(const tnr_view& a, std::uint32_t axes, const tnr_view& out) noexcept;

  enum Walked : unsigned { kIn, kOther };

  [[nodiscard]] const Nest& kept() const noexcept { return kept_; }
  [[nodiscard]] const Nest& reduced() const noexcept { return reduced_; }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }  // of a result
  // Whether places rise from each element to the next.
  [[nodiscard]] bool places_rise() const noexcept;

 private:
  Nest kept_{2};
  Nest reduced_{2};
  std::int64_t count_;
};

// Enqueues the kernels. The caller has set the fields of the argument that belong to the operation,
// and the addresses of the first element and the first result. Throws OUT_OF_MEMORY, DEVICE_ERROR,
// and UNSUPPORTED for more elements than there can be memory for.
void run_reduction(const Queue& queue, const ReduceRule& rule, const ReduceWalk& walk,
                   ReduceArgument& argument);

// Sums over the first axis of `parts`, of f64 or f32, in the memory of a call, into elements of `out`,
// each rounded once.
void sum_parts(const Queue& queue, const tnr_view& parts, const tnr_view_mut& out);

// Measures the rows of a checked normalization, into a MeasuredRow for each position of the other
// axes, in their row-major order.
void measure_rows(const Queue& queue, tnr_normalize_op op, const tnr_view& a, std::uint32_t axes,
                  void* rows);

}  // namespace tenure::cuda
