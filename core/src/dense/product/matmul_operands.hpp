// The operands of a product of dense matrices, on the CPU or a device.
#pragma once

#include <cstdint>
#include <optional>

#include "dense/loops/nest.hpp"
#include "dense/product/blocked_matmul.hpp"
#include "dense/product/product_types.hpp"
#include "dense/scalar.hpp"
#include "engine/product.hpp"
#include "tenure/blob.hpp"
#include "tenure/device.hpp"
#include "tenure/dtype.hpp"

namespace tenure {

// The scalars of a call.
struct MatmulScalars {
  Element alpha;
  Element beta;
  bool has_beta;
  bool are_real;

  MatmulScalars(const tnr_scalar& given_alpha, const tnr_scalar& given_beta,
                const FactorDtype& dtype);
};

// The operands of a call, checked and pinned. Views outlive the object.
class MatmulOperands {
 public:
  // `b` has the shape and the dtype of `panels`, if there are any, and no elements then. Reads no
  // element. Throws as tnr_matmul() does, except for the scalars and the activation.
  MatmulOperands(const tnr_view& a, const tnr_view& b, const Panels* panels,
                 const tnr_matmul_attributes& attributes, const tnr_view_mut& out,
                 const tnr_device& device = kCpu);

  [[nodiscard]] const FactorDtype& dtype() const noexcept { return kFactorDtypes[a_type_]; }
  [[nodiscard]] ProductTypes types() const { return product_types(a_type_, b_type_); }
  [[nodiscard]] const tnr_view* bias() const noexcept { return bias_; }
  [[nodiscard]] const BlockedMatmul::Geometry& geometry() const noexcept { return geometry_; }
  [[nodiscard]] const Pins& pins() const noexcept { return pins_; }
  // Products of that geometry, of out, a and b, from first() on; those of rows that were joined are
  // one.
  [[nodiscard]] Nest batch() const noexcept { return is_joined_ ? Nest(3) : batch_; }
  // The elements at index 0 of the first of them.
  [[nodiscard]] engines::ProductMemory first() const noexcept;
  // Returns the product in the form that other engines take, or nothing for batches of several
  // axes. out is not empty.
  [[nodiscard]] std::optional<engines::Product> for_engines(
      const MatmulScalars& scalars) const noexcept;
  // Products of that geometry, and those from `first` to `last`; out is not empty.
  [[nodiscard]] std::int64_t batch_count() const noexcept;
  void run(const BlockedMatmul& multiply, const Context& context,
           const BlockedMatmul::Buffers& buffers, std::int64_t first,
           std::int64_t last) const noexcept;

 private:
  void read_shapes();
  [[nodiscard]] bool has_bytes() const noexcept {
    return dtype().sum_type == kernels::SumType::kI32;
  }
  void read_bias(const tnr_view* bias, const tnr_device& device);
  void join_rows() noexcept;
  void require_extent(std::uint32_t axis, std::int64_t expected, const char* whose) const;
  void require_batch(const tnr_view& view, const char* name, std::uint32_t rank,
                     std::uint32_t batch_rank) const;

  const tnr_view& a_;
  const tnr_view& b_;
  const tnr_view& out_;
  kernels::Byte* data_;
  unsigned a_type_;  // FactorType
  unsigned b_type_;
  const tnr_view* bias_ = nullptr;
  BlockedMatmul::Geometry geometry_;
  Nest batch_{3};  // out, a, b; without axes where out is empty
  bool is_joined_ = false;
  Pins pins_;
};

}  // namespace tenure
