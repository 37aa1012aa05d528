// Numbers to integers by scales that are chosen from them.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "dense/loops/row_panels.hpp"
#include "dense/loops/strip_runner.hpp"
#include "dense/quantize/dynamic.hpp"
#include "dense/quantize/scales.hpp"
#include "memory/scratch.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/ops.hpp"
#include "tenure/quantize.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Operands of the nests.
enum : unsigned { kIn, kOut, kScale, kZero };
// Rows that are gathered together: 16 elements of 4 bytes fill a line.
constexpr std::int64_t kRowsOfALine = 16;

// 1 where all numbers are 0, or so small that no scale is above 0.
float above_zero(float scale) noexcept { return scale > 0 ? scale : 1; }

// A row is all numbers that have one scale.
class RowQuantizer {
 public:
  // Rows of the kernels' tables.
  struct Types {
    unsigned number;
    unsigned integer;
  };

  // The numbers are some.
  RowQuantizer(const Types& types, const tnr_view& a, const tnr_view_mut& out,
               const tnr_view_mut& scales, const tnr_view_mut* zeros, const ScaleGroups& groups,
               std::uint32_t bits) noexcept
      : types_(types),
        width_(static_cast<std::int64_t>(element_size(a.dtype))),
        in_(static_cast<const Byte*>(a.data)),
        out_(writable(out)),
        scales_(writable(scales)),
        zeros_(zeros == nullptr ? nullptr : writable(*zeros)),
        most_(bits == 4 ? 7 : 127) {
    const tnr_view numbers = groups.numbers(a);
    const tnr_view integers = groups.numbers(out.view);
    const tnr_view of_groups = groups.scales(scales.view);
    const tnr_view points = groups.scales(zeros == nullptr ? scales.view : zeros->view);
    const std::uint32_t missing = numbers.rank - of_groups.rank;
    for (std::uint32_t axis = 0; axis < numbers.rank; ++axis) {
      const std::int64_t extent = numbers.shape[axis];
      if (extent == 1) continue;
      const bool is_own = axis >= missing && of_groups.shape[axis - missing] != 1;
      const std::int64_t steps[] = {step_of(numbers, axis), step_of(integers, axis),
                                    is_own ? step_of(of_groups, axis - missing) : 0,
                                    is_own ? step_of(points, axis - missing) : 0};
      if (is_own) {
        rows_.add(extent, steps);
      } else {
        elements_.add(extent, steps);
        count_ *= extent;
      }
    }
    elements_.arrange(kIn);
    rows_.arrange(kIn);
  }

  void run(const Context& context) const {
    const std::int64_t rows = rows_.count();
    const std::int64_t row_bytes = count_ * (width_ + 1);
    const std::int64_t slices = std::min(rows, slice_count_of(context, rows * row_bytes));
    const bool is_direct = are_adjacent();
    const std::int64_t together = is_direct ? 1 : kRowsOfALine;
    const Scratch panels(is_direct ? 0 : slices * together, row_bytes);
    for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
      Byte* const panel = is_direct ? nullptr : panels.data() + slice * together * row_bytes;
      for_each_row_group(rows_, slice_begin(rows, slices, slice),
                         slice_begin(rows, slices, slice + 1), together,
                         [&](const std::int64_t* offsets, std::int64_t count) {
                           run_rows(offsets, count, panel);
                         });
    });
  }

 private:
  [[nodiscard]] bool are_adjacent() const noexcept {
    return elements_.rank() == 0 || (elements_.rank() == 1 && elements_.inner_step(kIn) == width_ &&
                                     elements_.inner_step(kOut) == 1);
  }

  void run_rows(const std::int64_t* offsets, std::int64_t rows, Byte* panel) const noexcept {
    const Byte* const in = in_ + offsets[kIn];
    Byte* const out = out_ + offsets[kOut];
    Byte* const scales = scales_ + offsets[kScale];
    Byte* const zeros = zeros_ == nullptr ? nullptr : zeros_ + offsets[kZero];
    if (panel == nullptr) {
      return run_row(in + elements_.start(kIn), out + elements_.start(kOut), scales, zeros);
    }
    Byte* const integers = panel + kRowsOfALine * count_ * width_;
    gather_rows({elements_, kIn, rows_.inner_step(kIn), width_}, in, {rows, 0, count_}, panel);
    for (std::int64_t i = 0; i < rows; ++i) {
      run_row(panel + i * count_ * width_, integers + i * count_,
              scales + i * rows_.inner_step(kScale),
              zeros == nullptr ? nullptr : zeros + i * rows_.inner_step(kZero));
    }
    scatter_rows({elements_, kOut, rows_.inner_step(kOut), 1}, integers, {rows, 0, count_}, out);
  }

  void run_row(const Byte* in, Byte* out, Byte* scale_out, Byte* zero_out) const noexcept {
    const kernels::QuantizingKernels& kernels = kernels::quantizing_kernels();
    float scale;
    if (zero_out == nullptr) {
      scale = above_zero(kernels.rows[types_.number].greatest(in, count_) / most_);
      kernels.rows[types_.number].quantize(in, count_, scale, most_, out);
    } else {
      const kernels::Range range = kernels.rows[types_.number].range(in, count_);
      const AffineScale chosen =
          affine_scale(range.least, range.greatest, types_.integer == 0 ? -128 : 0);
      scale = chosen.scale;
      const auto point = static_cast<Byte>(chosen.zero);
      const kernels::StripInput inputs[] = {
          {in, width_, width_},
          {reinterpret_cast<const Byte*>(&scale), 0, sizeof scale},
          {&point, 0, 1}};
      run_plainly(kernels.quantize[types_.number][types_.integer].kernel,
                  dense_strip(count_, out, 1, inputs));
      *zero_out = point;
    }
    std::memcpy(scale_out, &scale, sizeof scale);
  }

  Types types_;
  std::int64_t width_;
  const Byte* in_;
  Byte* out_;
  Byte* scales_;
  Byte* zeros_;
  float most_;  // an integer of a row without a zero point
  Nest rows_{4};
  Nest elements_{4};
  std::int64_t count_ = 1;  // of a row
};

// The scales and zero points of no numbers are those of zeros.
void fill_of_zeros(const Context& context, const tnr_view_mut& scales, const tnr_view_mut* zeros) {
  fill(context, {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {1}}, scales);
  if (zeros == nullptr) return;
  const bool is_signed = zeros->view.dtype == TNR_DTYPE_I8;
  const unsigned char least = is_signed ? 0x80 : 0;
  fill(context, {.dtype = zeros->view.dtype, .reserved = 0, .bytes = {least}}, *zeros);
}

}  // namespace

AffineScale affine_scale(float least, float greatest, int first) noexcept {
  least = std::min(least, 0.0F);
  greatest = std::max(greatest, 0.0F);
  const float scale = above_zero(greatest / 255 - least / 255);
  const float zero = std::nearbyint(static_cast<float>(first) - least / scale);
  return {scale, static_cast<int>(
                     std::clamp(zero, static_cast<float>(first), static_cast<float>(first + 255)))};
}

void quantize_rows(const Context& context, const tnr_view& a, const tnr_view_mut& scales,
                   const tnr_view_mut* zeros, const tnr_view_mut& out, std::uint32_t bits) {
  const ScaleGroups groups(scales.view, "scales", a);
  if (is_empty(a)) return fill_of_zeros(context, scales, zeros);
  const RowQuantizer::Types types = {quantized_float(a.dtype, "a"),
                                     quantized_byte(out.view.dtype, "out")};
  RowQuantizer(types, a, out, scales, zeros, groups, bits).run(context);
}

void quantize_dynamic(const Context& context, const tnr_view& a, const tnr_view_mut& scales,
                      const tnr_view_mut* zeros, const tnr_view_mut& out, std::uint32_t bits) {
  check_view_mut(out, "out");
  check_view_mut(scales, "scales");
  check_view(a, "a");
  require_dtype(scales.view, "scales", TNR_DTYPE_F32, "scales must be");
  require_shape(a, "a", out.view, "out");
  Pins pins;
  pins.add_mut(out, "out");
  pins.add_mut(scales, "scales");
  pins.add(a, "a");
  require_alias(out.view, a, "a", SameView::kRefused);
  require_alias(scales.view, a, "a", SameView::kRefused);
  require_alias(out.view, scales.view, "scales", SameView::kRefused);
  if (zeros != nullptr) {
    check_view_mut(*zeros, "zeros");
    require_dtype(zeros->view, "zeros", out.view.dtype, "out.dtype is");
    require_shape(zeros->view, "zeros", scales.view, "scales");
    pins.add_mut(*zeros, "zeros");
    require_alias(zeros->view, a, "a", SameView::kRefused);
    require_alias(zeros->view, out.view, "out", SameView::kRefused);
    require_alias(zeros->view, scales.view, "scales", SameView::kRefused);
  }
  (void)quantized_float(a.dtype, "a");
  (void)quantized_byte(out.view.dtype, "out");
  if (zeros == nullptr && out.view.dtype != TNR_DTYPE_I8) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "out.dtype is u8, which needs zeros, but zeros is NULL");
  }
  if (bits != 0 && bits != 4 && bits != 8) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->bits is %" PRIu32 " but must be 4 or 8", bits);
  }
  if (bits == 4 && (zeros != nullptr || out.view.dtype != TNR_DTYPE_I8)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->bits is 4 but out is %s %s zeros: it must be i8 without",
         dtype_name(out.view.dtype), zeros == nullptr ? "without" : "with");
  }
  quantize_rows(context, a, scales, zeros, out, bits);
  count_call(TNR_OPERATION_QUANTIZE, element_bytes(a),
             element_bytes(out.view) + element_bytes(scales.view) +
                 (zeros == nullptr ? 0 : element_bytes(zeros->view)));
}

}  // namespace tenure
