// Results that are narrower than their sums.
#pragma once

#include <cstdint>

#include "dense/movement.hpp"
#include "dense/product/blocked_matmul.hpp"

namespace tenure {

// Sums of f32 are elements of 16 bits, rounded once.
class NarrowSums final : public SumsStore {
 public:
  explicit NarrowSums(tnr_dtype dtype)
      : load_(cast_operation(dtype, TNR_DTYPE_F32)), store_(cast_operation(TNR_DTYPE_F32, dtype)) {}

  void load(const Rows& rows) const noexcept override {
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      const kernels::StripInput in[] = {{rows.out + i * rows.row_step, rows.column_step, kBytes}};
      run_strip(load_, dense_strip(rows.columns, rows.sums + i * rows.sums_step, kSumBytes, in));
    }
  }
  void store(const Rows& rows) const noexcept override {
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      const kernels::StripInput in[] = {{rows.sums + i * rows.sums_step, kSumBytes, kSumBytes}};
      kernels::Strip strip = dense_strip(rows.columns, rows.out + i * rows.row_step, kBytes, in);
      strip.out_step = rows.column_step;
      run_strip(store_, strip);
    }
  }

 private:
  static constexpr std::int64_t kBytes = 2;
  static constexpr std::int64_t kSumBytes = 4;

  Operation load_;
  Operation store_;
};

}  // namespace tenure
