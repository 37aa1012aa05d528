// Bias and activation: applied to sums while the caches hold them.
#pragma once

#include <cstdint>
#include <optional>

#include "cpu/gemm.hpp"
#include "dense/scalar.hpp"
#include "memory/scratch.hpp"
#include "tenure/context.hpp"
#include "tenure/view.hpp"

namespace tenure {

class Epilogue {
 public:
  // `bias` is a view of rank 1, checked and pinned, of which there is a number for each column; or
  // nullptr. Refuses a code that names no unary operation. `dtype` is that of the result, computed
  // in `computed`.
  Epilogue(tnr_unary_op activation, const tnr_view* bias, tnr_dtype dtype, tnr_dtype computed);

  [[nodiscard]] bool is_nothing() const noexcept {
    return !bias_ && !has_relu_ && kernel_ == nullptr;
  }
  // Applied to a part of the result whose first column is the one of that number. `part` has no
  // bias but its step, and no relu. Parts of complex numbers that are no columns of their own are
  // so many bytes behind the first one.
  void run(const kernels::Gemm& gemm, kernels::Epilogue part, std::int64_t column,
           std::int64_t part_bytes = 0) const noexcept;

 private:
  std::int64_t width_bytes_;  // as it is computed
  std::optional<Scratch> bias_;
  bool has_relu_ = false;
  kernels::StripKernel kernel_ = nullptr;
};

// Applies an activation that an Epilogue has taken, or none, to a result that is whole.
[[gnu::cold]] void activate(const Context& context, tnr_unary_op activation,
                            const tnr_view_mut& out);

}  // namespace tenure
