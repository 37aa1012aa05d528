// Results that left the range of their accumulators on the way, computed again of elements in
// another unit: as Blue has it for norms ("A portable Fortran program to find the Euclidean norm of
// a vector", 1978), but only where a result says so. It costs all others a comparison.
#pragma once

#include <cstdint>

#include "cpu/reduce.hpp"
#include "dense/reduce/elements.hpp"

namespace tenure {

// Reduces the elements of some results once more.
class Recomputation {
 public:
  // Computes the results of `count` columns from `first` on, at most ExtremeResults::kMost, in f64
  // by a reduction of f64.
  virtual void compute(const kernels::Reduction& by, const ElementUnit& unit, std::int64_t first,
                       std::int64_t count, double* results) const noexcept = 0;

 protected:
  ~Recomputation() = default;
};

class ExtremeResults {
 public:
  // Results that are looked at together.
  static constexpr std::int64_t kMost = 64;

  ExtremeResults(const kernels::Reduction& reduction, kernels::Type out_type,
                 double power) noexcept;

  // Whether no result is to be computed again; `count` is at most kMost.
  [[nodiscard]] bool are_exact(const kernels::Byte* out, std::int64_t out_step,
                               std::int64_t count) const noexcept;
  void settle(kernels::Byte* out, std::int64_t out_step, std::int64_t first, std::int64_t count,
              const Recomputation& again) const noexcept;

 private:
  [[nodiscard]] bool is_too_small(double result) const noexcept;
  [[nodiscard]] bool is_exact(double result) const noexcept;
  template <class T, class Bits>
  [[nodiscard]] bool are_exact_as(const kernels::Byte* out, std::int64_t out_step,
                                  std::int64_t count) const noexcept;
  void read(const kernels::Byte* out, std::int64_t out_step, std::int64_t count,
            double* results) const noexcept;
  void write(const double* results, std::int64_t count, kernels::Byte* out,
             std::int64_t out_step) const noexcept;
  [[nodiscard]] const kernels::Reduction& in_f64() const noexcept;
  void settle_by(double unit, std::int64_t first, std::int64_t count, const Recomputation& again,
                 double* results) const noexcept;
  void settle_powers(std::int64_t first, std::int64_t count, const Recomputation& again,
                     double* results) const noexcept;

  const kernels::Reduction* reduction_;
  kernels::Type out_type_;
  double least_;  // below it squares or powers have lost digits
};

}  // namespace tenure
