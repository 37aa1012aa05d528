#include "dense/product/matmul_operands.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstring>

#include "dense/movement.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"
#include "view/plain.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// A factor's matrix is in its last two axes, the batch in those before. A vector is a row on the
// left and a column on the right, and has no axis in the result.
enum class Side : bool { kLeft, kRight };
struct FactorAxes {
  std::uint32_t batch_rank;
  std::int64_t rows;
  std::int64_t columns;
  BlockedMatmul::Steps steps;
};

FactorAxes axes_of(const tnr_view& view, const char* name, Side side) {
  if (view.rank == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is 0 but must be 1 at least", name);
  }
  const std::uint32_t last = view.rank - 1;
  // Computes the steps of step_of() for both axes.
  const std::int64_t unit =
      is_empty(view) ? 0 : static_cast<std::int64_t>(element_size(view.dtype));
  const auto step = [&](std::uint32_t axis) {
    return view.shape[axis] > 1 && unit != 0 ? view.strides[axis] * unit : 0;
  };
  if (view.rank > 1) {
    return {view.rank - 2, view.shape[last - 1], view.shape[last], {step(last - 1), step(last)}};
  }
  if (side == Side::kRight) return {0, view.shape[0], 1, {step(0), 0}};
  return {0, 1, view.shape[0], {0, step(0)}};
}

// Names the extents that do not agree, and the three shapes.
[[noreturn, gnu::cold]] void refuse_extent(const char* name, std::uint32_t axis,
                                           std::int64_t extent, std::int64_t expected,
                                           const char* whose, const tnr_view& a, const tnr_view& b,
                                           const tnr_view& out) {
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s.shape[%" PRIu32 "] is %" PRId64 " but must be %" PRId64
       ", %s: a has shape %s, b %s, out %s",
       name, axis, extent, expected, whose, shape_text(a.rank, a.shape).text,
       shape_text(b.rank, b.shape).text, shape_text(out.rank, out.shape).text);
}

// 0 where the factor repeats.
std::int64_t batch_step(const tnr_view& view, std::uint32_t rank, std::uint32_t axis,
                        std::uint32_t batch_rank) noexcept {
  return axis < batch_rank - rank ? 0 : step_of(view, axis - (batch_rank - rank));
}

template <class T>
double read_f64(const Element& element) noexcept {
  T number;
  std::memcpy(&number, element.bytes, sizeof number);
  return static_cast<double>(number);
}
// A number of the dtype of real sums.
double as_f64(const Element& element, tnr_dtype dtype) noexcept {
  switch (dtype) {
    case TNR_DTYPE_I32: return read_f64<std::int32_t>(element);
    case TNR_DTYPE_F32: return read_f64<float>(element);
    default: return read_f64<double>(element);
  }
}

bool is_real(const Element& element, tnr_dtype dtype) noexcept {
  if (!is_complex(dtype)) return true;
  const std::size_t part_bytes = element_size(dtype) / 2;
  Element imaginary = {};
  std::memcpy(imaginary.bytes, element.bytes + part_bytes, part_bytes);
  return is_zero(imaginary, part_bytes == 4 ? TNR_DTYPE_F32 : TNR_DTYPE_F64);
}

}  // namespace

MatmulOperands::MatmulOperands(const tnr_view& a, const tnr_view& b, const Panels* panels,
                               const tnr_matmul_attributes& attributes, const tnr_view_mut& out,
                               const tnr_device& device)
    : a_(a), b_(b), out_(out.view), data_(writable(out)) {
  const bool is_elsewhere = !(device == kCpu);
  // Dense operands of the CPU take the short way.
  if (is_elsewhere || plain_count(out_) == 0) check_view_mut(out, "out", device);
  if (is_elsewhere || plain_count(a) == 0) check_view(a, "a", device);
  if (panels == nullptr && (is_elsewhere || plain_count(b) == 0)) check_view(b, "b", device);
  read_shapes();
  geometry_.packed_b = panels;
  a_type_ = b_type_ = factor_type(a.dtype);
  if (b.dtype != a.dtype && is_byte(a.dtype) && is_byte(b.dtype)) {
    b_type_ = factor_type(b.dtype);
  } else {
    require_dtype(b, "b", a.dtype, "a.dtype is");
  }
  if (has_bytes()) {
    require_dtype(out_, "out", TNR_DTYPE_I32, "of bytes it must be");
  } else {
    require_dtype(out_, "out", a.dtype, "a.dtype is");
  }
  read_bias(attributes.bias, device);
  pins_.add_mut(out, "out");
  pins_.add(a, "a");
  if (panels == nullptr) pins_.add(b, "b");
  if (bias_ != nullptr) pins_.add(*bias_, "attributes->bias");
  require_alias(out_, a, "a", SameView::kRefused);
  if (panels == nullptr) require_alias(out_, b, "b", SameView::kRefused);
  if (bias_ != nullptr) {
    require_alias(out_, *bias_, "attributes->bias", SameView::kRefused);
  }
  if (!is_empty(out_)) join_rows();
}

engines::ProductMemory MatmulOperands::first() const noexcept {
  std::int64_t position[TNR_MAX_RANK];
  std::int64_t offsets[Nest::kMaxOperands];
  batch_.go_to(batch_.rank(), 0, position, offsets);
  return {static_cast<const Byte*>(a_.data) + offsets[1],
          static_cast<const Byte*>(b_.data) + offsets[2], nullptr, data_ + offsets[0]};
}

std::optional<engines::Product> MatmulOperands::for_engines(
    const MatmulScalars& scalars) const noexcept {
  if (!is_joined_ && batch_.rank() > 1) return std::nullopt;
  const auto matrix = [&](const tnr_view& view, const BlockedMatmul::Steps& steps,
                          unsigned operand) -> engines::Product::Matrix {
    const int shift = std::countr_zero(element_size(view.dtype));
    const std::int64_t step = is_joined_ || batch_.rank() == 0 ? 0 : batch_.step(0, operand);
    return {view.dtype, step >> shift, steps.row >> shift, steps.column >> shift};
  };
  return engines::Product{.batch_count = batch_count(),
                          .rows = geometry_.rows,
                          .columns = geometry_.columns,
                          .depth = geometry_.depth,
                          .a = matrix(a_, geometry_.a, 1),
                          .b = matrix(b_, geometry_.b, 2),
                          .out = matrix(out_, geometry_.out, 0),
                          .alpha = as_f64(scalars.alpha, dtype().sum),
                          .beta = as_f64(scalars.beta, dtype().sum),
                          .has_bias = bias_ != nullptr};
}

std::int64_t MatmulOperands::batch_count() const noexcept {
  if (is_joined_) return 1;
  std::int64_t count = 1;
  for (unsigned axis = 0; axis < batch_.rank(); ++axis) count *= batch_.extent(axis);
  return count;
}

void MatmulOperands::run(const BlockedMatmul& multiply, const Context& context,
                         const BlockedMatmul::Buffers& buffers, std::int64_t first,
                         std::int64_t last) const noexcept {
  const unsigned rank = batch_.rank();
  const std::int64_t extent = batch_.inner_extent();
  while (first < last) {
    std::int64_t position[TNR_MAX_RANK];
    std::int64_t offsets[Nest::kMaxOperands];
    batch_.go_to(rank, first, position, offsets);
    const std::int64_t count = std::min(last - first, rank == 0 ? 1 : extent - position[rank - 1]);
    multiply.run_batch(context, buffers, static_cast<const Byte*>(a_.data) + offsets[1],
                       static_cast<const Byte*>(b_.data) + offsets[2], data_ + offsets[0],
                       {count, batch_.inner_step(1), batch_.inner_step(2), batch_.inner_step(0)});
    first += count;
  }
}

void MatmulOperands::read_shapes() {
  const FactorAxes a = axes_of(a_, "a", Side::kLeft);
  const FactorAxes b = axes_of(b_, "b", Side::kRight);
  if (b.rows != a.columns) {
    refuse_extent("b", b_.rank == 1 ? 0 : b_.rank - 2, b.rows, a.columns, "the last extent of a",
                  a_, b_, out_);
  }
  const std::uint32_t matrix_rank = (a_.rank > 1 ? 1u : 0u) + (b_.rank > 1 ? 1u : 0u);
  const std::uint32_t least = matrix_rank + std::max(a.batch_rank, b.batch_rank);
  if (out_.rank < least) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "out.rank is %" PRIu32 " but must be %" PRIu32 ": a has shape %s, b %s, out %s", out_.rank,
         least, shape_text(a_.rank, a_.shape).text, shape_text(b_.rank, b_.shape).text,
         shape_text(out_.rank, out_.shape).text);
  }
  const std::uint32_t batch_rank = out_.rank - matrix_rank;
  geometry_ = {a.rows, b.columns, a.columns, a.steps, b.steps, {0, 0}};
  std::uint32_t axis = batch_rank;
  if (a_.rank > 1) {
    require_extent(axis, a.rows, "the rows of a");
    geometry_.out.row = step_of(out_, axis++);
  }
  if (b_.rank > 1) {
    require_extent(axis, b.columns, "the columns of b");
    geometry_.out.column = step_of(out_, axis);
  }
  require_batch(a_, "a", a.batch_rank, batch_rank);
  require_batch(b_, "b", b.batch_rank, batch_rank);
  if (is_empty(out_)) return;
  for (axis = 0; axis < batch_rank; ++axis) {
    const std::int64_t steps[] = {step_of(out_, axis),
                                  batch_step(a_, a.batch_rank, axis, batch_rank),
                                  batch_step(b_, b.batch_rank, axis, batch_rank)};
    batch_.add(out_.shape[axis], steps);
  }
  batch_.order(0);
}

void MatmulOperands::read_bias(const tnr_view* bias, const tnr_device& device) {
  if (bias == nullptr) return;
  check_view(*bias, "attributes->bias", device);
  require_dtype(*bias, "attributes->bias", out_.dtype, "out.dtype is");
  if (bias->rank != 1 || bias->shape[0] != geometry_.columns) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->bias has shape %s but must have one extent of %" PRId64
         ", as the columns of b: a has shape %s, b %s, out %s",
         shape_text(bias->rank, bias->shape).text, geometry_.columns,
         shape_text(a_.rank, a_.shape).text, shape_text(b_.rank, b_.shape).text,
         shape_text(out_.rank, out_.shape).text);
  }
  bias_ = bias;
}

// Rows of a batch that are multiplied by one right factor, and follow each other like those of
// one matrix, are one matrix.
void MatmulOperands::join_rows() noexcept {
  if (batch_.rank() != 1 || batch_.step(0, 2) != 0) return;
  if (geometry_.rows == 1) {
    geometry_.out.row = batch_.step(0, 0);
    geometry_.a.row = batch_.step(0, 1);
  } else if (batch_.step(0, 0) != geometry_.rows * geometry_.out.row ||
             batch_.step(0, 1) != geometry_.rows * geometry_.a.row) {
    return;
  }
  geometry_.rows *= batch_.extent(0);
  is_joined_ = true;
}

void MatmulOperands::require_extent(std::uint32_t axis, std::int64_t expected,
                                    const char* whose) const {
  if (out_.shape[axis] != expected) {
    refuse_extent("out", axis, out_.shape[axis], expected, whose, a_, b_, out_);
  }
}

void MatmulOperands::require_batch(const tnr_view& view, const char* name, std::uint32_t rank,
                                   std::uint32_t batch_rank) const {
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    const std::int64_t expected = out_.shape[batch_rank - rank + axis];
    if (view.shape[axis] != expected && view.shape[axis] != 1) {
      refuse_extent(name, axis, view.shape[axis], expected, "as out's, or 1", a_, b_, out_);
    }
  }
}

MatmulScalars::MatmulScalars(const tnr_scalar& given_alpha, const tnr_scalar& given_beta,
                             const FactorDtype& dtype) {
  // Narrow floats are scaled as their sums are, before they are rounded.
  const tnr_dtype of = dtype.computed();
  alpha = to_element(given_alpha, of, "alpha");
  beta = to_element(given_beta, of, "beta");
  has_beta = !is_zero(beta, dtype.sum) || !is_real(beta, of);
  are_real = is_real(alpha, of) && is_real(beta, of);
}

}  // namespace tenure
