// Products of quantized factors: exact sums of integers, which the scales make numbers of.
#include <algorithm>
#include <cinttypes>
#include <optional>
#include <utility>

#include "cpu/dispatch.hpp"
#include "dense/elementwise_call.hpp"
#include "dense/movement.hpp"
#include "dense/product/blocked_matmul.hpp"
#include "dense/product/matmul.hpp"
#include "dense/product/packed_factor.hpp"
#include "dense/quantize/dynamic.hpp"
#include "dense/quantize/nibble_matmul.hpp"
#include "dense/quantize/product_parts.hpp"
#include "dense/quantize/quantized_matmul.hpp"
#include "dense/quantize/scales.hpp"
#include "memory/scratch.hpp"
#include "tenure/counters.hpp"
#include "tenure/quantize.hpp"
#include "tenure/shape.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

BlockedMatmul::Steps steps_of(const tnr_view& matrix) noexcept {
  return {step_of(matrix, 0), step_of(matrix, 1)};
}

void fill_ones(const Dense& bytes) noexcept {
  std::fill_n(bytes.data<Byte>(), element_count(bytes.view()), Byte{1});
}

void sum(const Context& context, const tnr_view& a, const tnr_view& b, const PackedFactor* packed,
         const tnr_view_mut& out) {
  const tnr_scalar one = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {1}};
  const tnr_scalar none = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {0}};
  static_cast<void>(tenure::multiply(context, one, a, b, packed, none, out, {}));
}

// The sum of each column of integers, by a product by a row of ones.
void sum_columns(const Context& context, tnr_dtype left, const tnr_view& b,
                 const PackedFactor* packed, const tnr_view_mut& out) {
  const std::int64_t shape[] = {1, b.shape[0]};
  const Dense ones(left, 2, shape);
  fill_ones(ones);
  sum(context, ones.view(), b, packed, out);
}

class QuantizedMatmul {
 public:
  QuantizedMatmul(const QuantizedFactor& a, const QuantizedFactor& b, const PackedFactor* packed,
                  const tnr_quantized_matmul_attributes& attributes, const tnr_view_mut& out,
                  const std::int32_t* sums)
      : a_(a), b_(b), packed_(packed), attributes_(attributes), out_(out), known_sums_(sums) {
    check_view_mut(out, "out");
    check_view(a.values, "a");
    if (packed == nullptr || packed->panels() == nullptr) check_view(b.values, "b");
    check_shapes();
    check_dtypes();
    check_vectors();
    pin();
    check_scales(*b.scales, "b_scales");
    if (!is_dynamic()) check_scales(*a.scales, "a_scales");
    if (is_integer_out()) check_scales(*attributes.out_scale, "attributes->out_scale");
  }

  void run(const Context& context) {
    if (is_empty(out_.view)) return;
    const Dense* const own_out = own_output();
    const tnr_view left = left_matrix(context);
    const tnr_view result = own_out != nullptr ? own_out->view() : out_.view;
    const kernels::SumScaling scaling = scaling_of(context, left);
    multiply(context, left, *as_matrix(result, rows_), scaling);
    if (own_out == nullptr) return;
    copy_view(context, own_out->view(), out_);
  }

  [[nodiscard]] std::uint64_t read_bytes() const noexcept {
    return element_bytes(a_.values) +
           (packed_ != nullptr ? packed_->info().size_bytes : element_bytes(b_.values));
  }

 private:
  [[nodiscard]] bool is_dynamic() const noexcept { return a_.scales == nullptr; }
  [[nodiscard]] bool has_affine_rows() const noexcept {
    return (attributes_.flags & TNR_QUANTIZE_AFFINE_ROWS) != 0;
  }
  [[nodiscard]] bool is_integer_out() const noexcept { return is_byte(out_.view.dtype); }
  [[nodiscard]] tnr_dtype left_dtype() const noexcept {
    if (!is_dynamic()) return a_.values.dtype;
    return has_affine_rows() ? TNR_DTYPE_U8 : TNR_DTYPE_I8;
  }

  void check_shapes() {
    const tnr_view& a = a_.values;
    const tnr_view& b = b_.values;
    rows_ = product_rows(a, b, out_.view);
    columns_ = b.shape[1];
    depth_ = b.shape[0];
    std::copy_n(a.shape, a.rank, row_shape_);
    row_shape_[a.rank - 1] = 1;
    if (depth_ > kMostExactDepth) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "b.shape[0] is %" PRId64 " but must be %" PRId64 " at most, where sums are exact",
           depth_, kMostExactDepth);
    }
  }

  void check_dtypes() const {
    (void)quantized_byte(b_.values.dtype, "b");
    if (is_dynamic()) {
      (void)quantized_float(a_.values.dtype, "a");
      if (a_.zeros != nullptr) {
        fail(TNR_STATUS_INVALID_ARGUMENT, "a_zeros is given but a_scales is NULL");
      }
    } else {
      (void)quantized_byte(a_.values.dtype, "a");
      if (has_affine_rows()) {
        fail(TNR_STATUS_INVALID_ARGUMENT,
             "attributes->flags has TNR_QUANTIZE_AFFINE_ROWS but a_scales is given");
      }
    }
    if (packed_ != nullptr && packed_->info().a_dtype != left_dtype()) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "b was packed for a left factor of %s but must be for %s",
           dtype_name(packed_->info().a_dtype), dtype_name(left_dtype()));
    }
  }

  void check_vectors() const {
    check_scale_views(*b_.scales, "b_scales", b_.zeros, "b_zeros", b_.values.dtype);
    if (!is_dynamic()) {
      check_scale_views(*a_.scales, "a_scales", a_.zeros, "a_zeros", a_.values.dtype);
    }
    const std::int64_t columns[] = {1, columns_};
    check_broadcast(*b_.scales, "b_scales", 2, columns);
    if (!is_dynamic()) check_broadcast(*a_.scales, "a_scales", a_.values.rank, row_shape_);
    ResultViews(attributes_).check(out_.view, columns_, "the columns of b");
  }

  void pin() {
    const OperandPins add(pins_, out_);
    add(&a_.values, "a");
    add(a_.scales, "a_scales");
    add(a_.zeros, "a_zeros");
    if (packed_ == nullptr) add(&b_.values, "b");
    add(b_.scales, "b_scales");
    add(b_.zeros, "b_zeros");
    add(ResultViews(attributes_));
  }

  // Where the rows of out are at no one step.
  const Dense* own_output() {
    const tnr_view& out = out_.view;
    if (as_matrix(out, rows_)) return nullptr;
    return &result_.emplace(out.dtype, out.rank, out.shape);
  }

  // The integers of the left factor.
  tnr_view left_matrix(const Context& context) {
    const tnr_view& a = a_.values;
    if (!is_dynamic()) {
      if (const auto matrix = as_matrix(a, rows_)) return *matrix;
      left_.emplace(a.dtype, a.rank, a.shape).take(context, a);
    } else {
      left_.emplace(left_dtype(), a.rank, a.shape);
      row_scales_.emplace(TNR_DTYPE_F32, a.rank, row_shape_);
      if (!has_affine_rows() && depth_ != 0) {
        std::optional<Dense> copy;
        FewOnStack<std::int32_t, 64> terms(static_cast<std::size_t>(rows_));
        quantize_groups(context, adjacent_rows(context, a, rows_, copy), depth_,
                        left_->data<Byte>(), row_scales_->data<float>(), terms.data());
      } else if (has_affine_rows()) {
        const Dense zeros(TNR_DTYPE_U8, a.rank, row_shape_);
        quantize_rows(context, a, row_scales_->out(), &zeros.out(), left_->out());
        row_zeros_.emplace(TNR_DTYPE_I32, a.rank, row_shape_).take(context, zeros.view());
      } else {
        quantize_rows(context, a, row_scales_->out(), nullptr, left_->out());
      }
    }
    return *as_matrix(left_->view(), rows_);
  }

  // Gathers the numbers that correct and multiply the sums.
  kernels::SumScaling scaling_of(const Context& context, const tnr_view& left) {
    const std::int64_t columns[] = {1, columns_};
    const auto of_rows = [&](Vector& vector, tnr_dtype dtype, const tnr_view& from) {
      vector.emplace(dtype, a_.values.rank, row_shape_).take(context, from);
    };
    const auto of_columns = [&](Vector& vector, tnr_dtype dtype, const tnr_view& from) {
      vector.emplace(dtype, 2, columns).take(context, from);
    };
    const float* row_scales = is_dynamic() ? nullptr : adjacent(*a_.scales, rows_);
    const float* column_scales = adjacent(*b_.scales, columns_);
    if (!is_dynamic() && row_scales == nullptr) of_rows(row_scales_, TNR_DTYPE_F32, *a_.scales);
    if (row_scales == nullptr) row_scales = data_of<float>(row_scales_);
    if (column_scales == nullptr) {
      of_columns(column_scales_, TNR_DTYPE_F32, *b_.scales);
      column_scales = data_of<float>(column_scales_);
    }
    if (a_.zeros != nullptr) of_rows(row_zeros_, TNR_DTYPE_I32, *a_.zeros);
    if (row_zeros_ && known_sums_ == nullptr) {
      sum_columns(context, left.dtype, b_.values, packed_,
                  column_sums_.emplace(TNR_DTYPE_I32, 2, columns).out());
    }
    if (b_.zeros != nullptr) {
      of_columns(column_zeros_, TNR_DTYPE_I32, *b_.zeros);
      const std::int64_t shape[] = {depth_, 1};
      const Dense ones(b_.values.dtype, 2, shape);
      fill_ones(ones);
      const std::int64_t rows[] = {rows_, 1};
      row_sums_.emplace(TNR_DTYPE_I32, 2, rows);
      sum(context, left, ones.view(), nullptr, row_sums_->out());
      if (row_zeros_) subtract_zeros();
    }
    return {row_scales,
            column_scales,
            data_of<std::int32_t>(row_zeros_),
            known_sums_ != nullptr ? known_sums_ : data_of<std::int32_t>(column_sums_),
            data_of<std::int32_t>(row_sums_),
            data_of<std::int32_t>(column_zeros_)};
  }

  // The scales where there are `count` that lie next to each other; else nullptr.
  static const float* adjacent(const tnr_view& scales, std::int64_t count) noexcept {
    std::int64_t found = 1;
    for (std::uint32_t axis = scales.rank; axis-- > 0;) {
      if (scales.shape[axis] == 1) continue;
      if (stride_of(scales, axis) != found) return nullptr;
      found *= scales.shape[axis];
    }
    return found == count ? static_cast<const float*>(scales.data) : nullptr;
  }
  // From the sums of the left factor's rows: those of its values less their zeros are wanted.
  void subtract_zeros() const noexcept {
    auto* const sums = row_sums_->data<std::uint32_t>();
    const auto* const zeros = row_zeros_->data<std::uint32_t>();
    for (std::int64_t i = 0; i < rows_; ++i)
      sums[i] -= static_cast<std::uint32_t>(depth_) * zeros[i];
  }

  void multiply(const Context& context, const tnr_view& left, const tnr_view& out,
                const kernels::SumScaling& scaling) const {
    ProductTypes types = product_types(factor_type(left.dtype), factor_type(b_.values.dtype));
    types.out_bytes = static_cast<std::int64_t>(element_size(out.dtype));
    const tnr_scalar given = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {1}};
    const Element one = to_element(given, TNR_DTYPE_I32, "one");
    const BlockedMatmul::Scalars scalars = {one, {}, one, false};
    const Epilogue epilogue(activation_behind_rows(attributes_), attributes_.bias, TNR_DTYPE_F32,
                            TNR_DTYPE_F32);
    const BlockedMatmul::Geometry geometry = {rows_,
                                              columns_,
                                              depth_,
                                              steps_of(left),
                                              steps_of(b_.values),
                                              steps_of(out),
                                              packed_ == nullptr ? nullptr : packed_->panels()};
    const QuantizedStore store(ResultViews(attributes_), out_.view);
    const BlockedMatmul product(types, geometry, scalars, epilogue, store.sums_store(), &scaling);
    const std::int64_t shared_bytes = whole_lines(product.shared_bytes());
    const Scratch shared(1, shared_bytes + product.sums_bytes());
    const ThreadBuffers threads(context.thread_count(), product.thread_bytes());
    product.run(context, {shared.data(), shared.data() + shared_bytes, threads, 0},
                static_cast<const Byte*>(left.data), static_cast<const Byte*>(b_.values.data),
                static_cast<Byte*>(const_cast<void*>(out.data)));
  }

  const QuantizedFactor& a_;
  const QuantizedFactor& b_;
  const PackedFactor* packed_;
  const tnr_quantized_matmul_attributes& attributes_;
  const tnr_view_mut& out_;
  const std::int32_t* known_sums_;
  Pins pins_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t depth_;
  std::int64_t row_shape_[TNR_MAX_RANK];  // of a number for each row of a
  std::optional<Dense> left_;
  std::optional<Dense> result_;
  Vector row_scales_;
  Vector column_scales_;
  Vector row_zeros_;
  Vector column_zeros_;
  Vector row_sums_;
  Vector column_sums_;
};

void count(const tnr_view_mut& out, std::uint64_t read_bytes) noexcept {
  const bool is_nothing = is_empty(out.view);
  count_call(TNR_OPERATION_QUANTIZED_MATMUL, is_nothing ? 0 : read_bytes,
             is_nothing ? 0 : element_bytes(out.view));
}

void run(const Context& context, const QuantizedFactor& a, const QuantizedFactor& b,
         const PackedFactor* packed, const tnr_quantized_matmul_attributes& attributes,
         const tnr_view_mut& out, const std::int32_t* sums = nullptr) {
  QuantizedMatmul product(a, b, packed, attributes, out, sums);
  product.run(context);
  count(out, product.read_bytes());
}

// The right factor is packed for the call.
void run_grouped(const Context& context, const QuantizedFactor& a, const QuantizedFactor& b,
                 const tnr_quantized_matmul_attributes& attributes, const tnr_view_mut& out) {
  if (b.zeros != nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "b_zeros is given but must be NULL: weights of 4 bits have none");
  }
  if (b.values.dtype != TNR_DTYPE_I8) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "b.dtype is %s but weights of 4 bits must be i8",
         dtype_name(b.values.dtype));
  }
  check_view(b.values, "b");
  check_scale_views(*b.scales, "b_scales", nullptr, "", b.values.dtype);
  Pins pins;
  const OperandPins add(pins, out);
  add(&b.values, "b");
  add(b.scales, "b_scales");
  const FactorUse use = {.group_scales = b.scales, .scales_name = "b_scales"};
  const FactorLayout layout(b.values, use);
  const Scratch bytes(1, layout.bytes);
  const PackedFactor packed(layout, bytes.data(), nullptr);
  if (layout.bytes != 0) pack_nibbles(context, layout, b.values, use, bytes.data());
  (void)multiply_nibbles(context, a, packed, attributes, out);
  count(out, element_bytes(a.values) + element_bytes(b.values) + element_bytes(*b.scales));
}

}  // namespace

void quantized_matmul(const Context& context, const QuantizedFactor& a, const QuantizedFactor& b,
                      const tnr_quantized_matmul_attributes& attributes, const tnr_view_mut& out) {
  const tnr_view& scales = *b.scales;
  if (b.values.rank == 2 && scales.rank == 2 && scales.shape[0] > 1 &&
      are_group_scales(scales.shape, b.values.shape)) {
    return run_grouped(context, a, b, attributes, out);
  }
  run(context, a, b, nullptr, attributes, out);
}

void factor_quantized_matmul(const Context& context, const QuantizedFactor& a, FactorToken b,
                             const tnr_view* b_scales, const tnr_view* b_zeros,
                             const tnr_quantized_matmul_attributes& attributes,
                             const tnr_view_mut& out) {
  const FactorHandles::Use use(kFactorHandles, b);
  factor_quantized_matmul(context, a, use.object(), b_scales, b_zeros, attributes, out);
}

void factor_quantized_matmul(const Context& context, const QuantizedFactor& a,
                             const PackedFactor& b, const tnr_view* b_scales,
                             const tnr_view* b_zeros,
                             const tnr_quantized_matmul_attributes& attributes,
                             const tnr_view_mut& out, const std::int32_t* sums) {
  if (b.has_groups() == (b_scales != nullptr)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "b_scales is %s but b %s scales of its own",
         b_scales == nullptr ? "NULL" : "given", b.has_groups() ? "has" : "has no");
  }
  if (!b.has_groups()) {
    return run(context, a, {b.view(), b_scales, b_zeros}, &b, attributes, out, sums);
  }
  if (b_zeros != nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "b_zeros is given but must be NULL: weights of 4 bits have none");
  }
  count(out, multiply_nibbles(context, a, b, attributes, out));
}

std::vector<std::int32_t> column_sums(const Context& context, const PackedFactor& factor) {
  const tnr_factor_info info = factor.info();
  const std::int64_t shape[] = {1, info.cols};
  std::vector<std::int32_t> sums(static_cast<std::size_t>(info.cols));
  const tnr_view view = make_view(sums.data(), sums.size() * sizeof(std::int32_t), 0, TNR_DTYPE_I32,
                                  2, shape, nullptr);
  if (info.cols != 0) sum_columns(context, info.a_dtype, factor.view(), &factor, {view});
  return sums;
}

}  // namespace tenure
