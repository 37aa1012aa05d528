// Bias, activation and bounds: applied to sums while the caches hold them.
#pragma once

#include <cstdint>
#include <optional>

#include "cpu/gemm.hpp"
#include "dense/activation.hpp"
#include "dense/scalar.hpp"
#include "memory/scratch.hpp"
#include "tenure/context.hpp"
#include "tenure/view.hpp"

namespace tenure {

// The activation and the bounds of a call, checked.
class BoundedActivation {
 public:
  // Refuses a code that names no unary operation, and bounds that are none. `dtype` is that of the
  // result, computed in `computed`.
  BoundedActivation(const Activation& activation, tnr_dtype dtype, tnr_dtype computed);
  // Throws UNSUPPORTED for an activation that is no bound, which the device does not apply.
  void require_bounds_alone(const char* operation, const tnr_device& device) const;

  [[nodiscard]] tnr_unary_op op() const noexcept { return op_; }
  // The kernel of `op`, or nullptr where only bounds are applied, or nothing: relu is a bound.
  [[nodiscard]] kernels::StripKernel kernel() const noexcept { return kernel_; }
  [[nodiscard]] bool is_bounded() const noexcept { return is_bounded_; }
  // Where there are bounds, as they are computed in.
  [[nodiscard]] const Element& low() const noexcept { return low_; }
  [[nodiscard]] const Element& high() const noexcept { return high_; }

 private:
  [[gnu::cold]] void set_bounds(const Activation& activation, tnr_dtype dtype, tnr_dtype computed);

  tnr_unary_op op_;
  kernels::StripKernel kernel_ = nullptr;
  bool is_bounded_ = false;
  Element low_ = {};
  Element high_ = {};
};

class Epilogue {
 public:
  // `bias` is a checked and pinned view of rank 1 with a number for each column, or nullptr.
  // `dtype` is that of the result, computed in `computed`.
  Epilogue(const Activation& activation, const tnr_view* bias, tnr_dtype dtype, tnr_dtype computed);

  [[nodiscard]] bool is_nothing() const noexcept {
    return !bias_ && !activation_.is_bounded() && activation_.kernel() == nullptr;
  }
  // Applied to a part of the result whose first column is the one of that number. `part` has no
  // bias but its step, and no bounds. Where the parts of complex numbers are no columns of their
  // own, `part` is the part `part_bytes` bytes behind the first one.
  void run(const kernels::Gemm& gemm, kernels::Epilogue part, std::int64_t column,
           std::int64_t part_bytes = 0) const noexcept;
  // Applied to a whole result, which has its bias and is of its own dtype.
  [[gnu::cold]] void run_behind(const Context& context, const tnr_view_mut& out) const;
  // Whether elements that are rounded to a narrower dtype first come to the same by run_behind().
  [[nodiscard]] bool may_follow_rounding() const noexcept {
    return activation_.kernel() == nullptr;
  }

 private:
  tnr_dtype computed_;
  std::int64_t width_bytes_;  // as it is computed
  std::optional<Scratch> bias_;
  BoundedActivation activation_;
};

}  // namespace tenure
