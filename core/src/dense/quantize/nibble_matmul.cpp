#include "dense/quantize/nibble_matmul.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "dense/product/product_blocks.hpp"
#include "dense/quantize/product_parts.hpp"
#include "dense/quantize/quantized_matmul.hpp"
#include "dense/quantize/scales.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

constexpr std::int64_t kSumBytes = sizeof(float);
// Rows whose integers stay in the second cache while they meet all panels.
constexpr std::int64_t kRowsBytes = std::int64_t{384} << 10;
constexpr std::int64_t kMostRows = 96;
constexpr std::int64_t kMostColumns = 32;

class NibbleMatmul {
 public:
  NibbleMatmul(const QuantizedFactor& a, const PackedFactor& b,
               const tnr_quantized_matmul_attributes& attributes, const tnr_view_mut& out)
      : a_(a.values),
        b_(b),
        layout_(b.layout()),
        attributes_(attributes),
        out_(out),
        groups_(layout_.rows / layout_.group) {
    check_view_mut(out, "out");
    check_view(a_, "a");
    if (a.scales != nullptr) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "a_scales is given but must be NULL: rows of weights of 4 bits quantize a");
    }
    if (a.zeros != nullptr) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "a_zeros is given but a_scales is NULL");
    }
    if ((attributes.flags & TNR_QUANTIZE_AFFINE_ROWS) != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->flags has TNR_QUANTIZE_AFFINE_ROWS but b has weights of 4 bits");
    }
    rows_ = product_rows(a_, b.view(), out.view);
    (void)quantized_float(a_.dtype, "a");
    ResultViews(attributes).check(out.view, layout_.cols, "the columns of b");
    const OperandPins add(pins_, out);
    add(&a_, "a");
    add(ResultViews(attributes));
    if (attributes.out_scale != nullptr) {
      check_scales(*attributes.out_scale, "attributes->out_scale");
    }
  }

  void run(const Context& context) {
    if (is_empty(out_.view)) return;
    std::optional<Dense> own_out;
    if (!as_matrix(out_.view, rows_))
      own_out.emplace(out_.view.dtype, out_.view.rank, out_.view.shape);
    const tnr_view result = *as_matrix(own_out ? own_out->view() : out_.view, rows_);
    const std::int64_t values_bytes = whole_lines(rows_ * layout_.rows);
    const std::int64_t numbers_bytes = whole_lines(rows_ * groups_ * kSumBytes);
    const Scratch scratch(1, values_bytes + 2 * numbers_bytes);
    values_ = scratch.data();
    scales_ = reinterpret_cast<float*>(values_ + values_bytes);
    terms_ = reinterpret_cast<std::int32_t*>(values_ + values_bytes + numbers_bytes);
    std::optional<Dense> copy;
    quantize_groups(context, adjacent_rows(context, a_, rows_, copy), layout_.group, values_,
                    scales_, terms_);
    multiply(context, result);
    if (own_out) copy_view(context, own_out->view(), out_);
  }

  [[nodiscard]] std::uint64_t read_bytes() const noexcept {
    return element_bytes(a_) + b_.info().size_bytes;
  }

 private:
  void multiply(const Context& context, const tnr_view& out) const {
    const Epilogue epilogue(activation_behind_rows(attributes_), attributes_.bias, TNR_DTYPE_F32,
                            TNR_DTYPE_F32);
    const QuantizedStore store(ResultViews(attributes_), out);
    const std::int64_t panels = parts_of(layout_.cols, layout_.panel_columns());
    const std::int64_t most_rows =
        std::clamp(kRowsBytes / layout_.rows / 12 * 12, std::int64_t{12}, kMostRows);
    const std::int64_t parts = parts_of(rows_, most_rows) * panels;
    const std::int64_t work = product_or_most(product_or_most(rows_, layout_.cols), layout_.rows);
    std::int64_t slices = 1;
    if (context.thread_count() > 1 && work >= kWorthSharingWork) {
      slices = std::min(parts, std::max<std::int64_t>(work / kSliceWork, 2));
    }
    for_each_slice(
        context, slices,
        [&](std::int64_t slice) noexcept {
          const std::int64_t end = slice_begin(parts, slices, slice + 1);
          for (std::int64_t part = slice_begin(parts, slices, slice); part < end; ++part) {
            const std::int64_t row = part / panels * most_rows;
            multiply_panel({row, std::min(most_rows, rows_ - row), part % panels}, out, epilogue,
                           store.sums_store());
          }
        },
        wake_for(work));
  }

  struct Part {
    std::int64_t row;
    std::int64_t rows;
    std::int64_t panel;
  };
  void multiply_panel(const Part& part, const tnr_view& out, const Epilogue& epilogue,
                      const SumsStore* store) const noexcept {
    alignas(kLineBytes) Byte memory[kMostRows * kMostColumns * kSumBytes];
    const std::int64_t panel_columns = layout_.panel_columns();
    const std::int64_t column = part.panel * panel_columns;
    const std::int64_t columns = std::min(panel_columns, layout_.cols - column);
    const SumsStore::Rows rows = {memory,
                                  panel_columns * kSumBytes,
                                  static_cast<Byte*>(const_cast<void*>(out.data)) +
                                      part.row * step_of(out, 0) + column * step_of(out, 1),
                                  step_of(out, 0),
                                  step_of(out, 1),
                                  part.rows,
                                  columns};
    const bool is_direct =
        store == nullptr && rows.column_step == kSumBytes && columns == panel_columns;
    Byte* const sums = is_direct ? rows.out : rows.sums;
    const std::int64_t sums_step = is_direct ? rows.row_step : rows.sums_step;
    kernels::nibble_kernels().multiply(
        {values_ + part.row * layout_.rows, layout_.rows, scales_ + part.row * groups_,
         terms_ + part.row * groups_, b_.bytes() + part.panel * layout_.panel_step, part.rows,
         groups_, layout_.group / kernels::kNibbleBlock, sums, sums_step});
    if (!epilogue.is_nothing()) {
      epilogue.run(
          kernels::gemm_kernels()[static_cast<unsigned>(kernels::SumType::kF32)],
          {sums, sums_step, kSumBytes, part.rows, columns, nullptr, kSumBytes, nullptr, nullptr},
          column);
    }
    if (is_direct) return;
    if (store != nullptr) return store->store(rows);
    for (std::int64_t i = 0; i < part.rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        std::memcpy(rows.out + i * rows.row_step + j * rows.column_step,
                    rows.sums + i * rows.sums_step + j * kSumBytes, kSumBytes);
      }
    }
  }

  const tnr_view& a_;
  const PackedFactor& b_;
  const FactorLayout& layout_;
  const tnr_quantized_matmul_attributes& attributes_;
  const tnr_view_mut& out_;
  std::int64_t groups_;
  std::int64_t rows_;
  Pins pins_;
  Byte* values_ = nullptr;
  float* scales_ = nullptr;
  std::int32_t* terms_ = nullptr;
};

}  // namespace

std::uint64_t multiply_nibbles(const Context& context, const QuantizedFactor& a,
                               const PackedFactor& b,
                               const tnr_quantized_matmul_attributes& attributes,
                               const tnr_view_mut& out) {
  NibbleMatmul product(a, b, attributes, out);
  product.run(context);
  return product.read_bytes();
}

}  // namespace tenure
