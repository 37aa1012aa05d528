#include "dense/product/direct_matmul.hpp"

#include <cstring>

#include "cpu/dispatch.hpp"
#include "cpu/gemm.hpp"
#include "dense/scalar.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/engine.hpp"
#include "view/operand_checks.hpp"
#include "view/plain.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Beyond these extents the checks and the plan of a blocked product are a tenth of its time or less.
constexpr std::int64_t kMostDirectExtent = 32;

// Whether the view is a matrix with few rows and columns that plain_count() takes. Has no loop.
[[gnu::always_inline]] inline bool is_small(const tnr_view& view, tnr_dtype dtype,
                                            std::int64_t width_bytes) noexcept {
  const std::int64_t rows = view.shape[0];
  const std::int64_t columns = view.shape[1];
  const auto has_few = [](std::int64_t extent) {
    return extent >= 1 && extent <= kMostDirectExtent;
  };
  return word_of(view, Pair::kDtypeAndRank) == word_of(dtype, 2) &&
         word_of(view, Pair::kDevice) == word_of(TNR_DEVICE_KIND_CPU, 0) && has_few(rows) &&
         has_few(columns) && (columns == 1 || view.strides[1] == 1) &&
         (rows == 1 || view.strides[0] == columns) &&
         has_plain_memory(view, static_cast<std::uint64_t>(rows * columns * width_bytes));
}

bool are_apart(const tnr_view& a, std::uint64_t a_bytes, const tnr_view& b,
               std::uint64_t b_bytes) noexcept {
  const std::uint64_t distance =
      reinterpret_cast<std::uintptr_t>(b.data) - reinterpret_cast<std::uintptr_t>(a.data);
  return distance >= a_bytes && 0 - distance >= b_bytes;
}

// Returns the result of to_element(), without the call where the scalar has the dtype.
[[gnu::always_inline]] inline Element element_of(const tnr_scalar& scalar, tnr_dtype dtype,
                                                 const char* name) {
  if (scalar.dtype != dtype || scalar.reserved != 0) return to_element(scalar, dtype, name);
  Element element;
  std::memcpy(element.bytes, scalar.bytes, sizeof element.bytes);
  return element;
}

}  // namespace

bool multiply_directly(const Context& context, const tnr_scalar& alpha, const tnr_view& a,
                       const tnr_view& b, const tnr_scalar& beta, const tnr_view_mut& out) {
  const tnr_dtype dtype = a.dtype;
  if (dtype != TNR_DTYPE_F32 && dtype != TNR_DTYPE_F64) return false;
  const std::int64_t width_bytes = dtype == TNR_DTYPE_F32 ? 4 : 8;
  if (!is_small(a, dtype, width_bytes) || !is_small(b, dtype, width_bytes) ||
      !is_small(out.view, dtype, width_bytes)) {
    return false;
  }
  const std::int64_t rows = a.shape[0];
  const std::int64_t depth = a.shape[1];
  const std::int64_t columns = b.shape[1];
  // A single column is computed as a row of the transpose.
  if (b.shape[0] != depth || out.view.shape[0] != rows || out.view.shape[1] != columns ||
      columns == 1) {
    return false;
  }
  const auto a_bytes = static_cast<std::uint64_t>(rows * depth * width_bytes);
  const auto b_bytes = static_cast<std::uint64_t>(depth * columns * width_bytes);
  const auto out_bytes = static_cast<std::uint64_t>(rows * columns * width_bytes);
  if (!are_apart(out.view, out_bytes, a, a_bytes) || !are_apart(out.view, out_bytes, b, b_bytes) ||
      engine_of(context) != TNR_ENGINE_OWN) {
    return false;
  }
  Pins pins;
  pins.add_mut(out, "out");
  pins.add(a, "a");
  pins.add(b, "b");
  const Element alpha_element = element_of(alpha, dtype, "alpha");
  const Element beta_element = element_of(beta, dtype, "beta");
  const bool has_beta = !is_zero(beta_element, dtype);
  const auto type = dtype == TNR_DTYPE_F32 ? kernels::SumType::kF32 : kernels::SumType::kF64;
  const kernels::Gemm& gemm = kernels::gemm_kernels()[static_cast<unsigned>(type)];
  kernels::DenseProduct product = {};
  product.a = static_cast<const Byte*>(a.data);
  product.a_step = depth * width_bytes;
  product.a_depth_step = width_bytes;
  product.b = static_cast<const Byte*>(b.data);
  product.b_depth_step = columns * width_bytes;
  product.b_panel_step = gemm.panel_columns * width_bytes;
  product.depth = depth;
  product.out = writable(out);
  product.row_step = columns * width_bytes;
  product.column_step = width_bytes;
  product.rows = rows;
  product.columns = columns;
  product.alpha = alpha_element.bytes;
  product.beta = has_beta ? beta_element.bytes : nullptr;
  gemm.multiply_unpacked(product);
  count_call(TNR_OPERATION_MATMUL, a_bytes + b_bytes + (has_beta ? out_bytes : 0), out_bytes);
  return true;
}

}  // namespace tenure
