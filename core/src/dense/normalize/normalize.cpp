// Normalizations over any axes.
#include "tenure/normalize.hpp"
#include "dense/elementwise_call.hpp"
#include "tenure/device_queue.hpp"

#include <cinttypes>
#include <cmath>
#include <optional>

#include "dense/loops/row_panels.hpp"
#include "dense/loops/streamed.hpp"
#include "dense/normalize/checked.hpp"
#include "dense/normalize/row.hpp"
#include "memory/scratch.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Rows that pass through panels together, at most.
constexpr std::int64_t kMostRows = 64;
// Rows that interleave and are taken together: 16 elements of 4 bytes fill a line.
constexpr std::int64_t kRowsOfALine = 16;
// Powers of a row that are held until their sum is known. Longer rows are computed twice.
constexpr std::int64_t kMostHeldBytes = std::int64_t{1} << 20;
constexpr std::int64_t kMostParts = kMostHeldBytes / 4 / kTogether;
// The bytes of them that are held on the stack.
constexpr std::int64_t kHeldHereBytes = std::int64_t{32} << 10;

// Operands of both nests, and of that of elements.
enum : unsigned { kIn, kOut, kWeight, kBias };

// Powers of one row, in memory that stays in a cache.
class HeldPowers {
 public:
  // Without memory none: they are then held in the output.
  HeldPowers(std::int64_t size_bytes, bool wanted) noexcept : is_here_(wanted) {
    if (!wanted || size_bytes <= kHeldHereBytes) return;
    is_here_ = false;
    try {
      elsewhere_.emplace(static_cast<std::size_t>(size_bytes));
    } catch (const Error&) {
    }
  }
  [[nodiscard]] Byte* data() noexcept {
    if (elsewhere_) return elsewhere_->data();
    return is_here_ ? here_ : nullptr;
  }

 private:
  bool is_here_;
  std::optional<Scratch> elsewhere_;
  alignas(kLineBytes) Byte here_[kHeldHereBytes];
};

class RowNormalizer {
 public:
  RowNormalizer(const Normalization& by, const tnr_view& a, std::uint32_t axes,
                const tnr_normalize_attributes& attributes, const tnr_view_mut& out) noexcept
      : by_(by),
        in_(static_cast<const Byte*>(a.data)),
        out_(writable(out)),
        weight_(data_of(attributes.weight)),
        bias_(data_of(attributes.bias)),
        width_bytes_(static_cast<std::int64_t>(element_size(a.dtype))),
        conversion_(by.kernels.conversion) {
    std::uint32_t reduced = 0;
    for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
      const std::int64_t extent = a.shape[axis];
      if (!is_reduced(axes, axis)) {
        const std::int64_t steps[] = {step_of(a, axis), step_of(out.view, axis)};
        if (extent > 1) rows_.add(extent, steps);
        continue;
      }
      const std::int64_t steps[] = {step_of(a, axis), step_of(out.view, axis),
                                    step_at(attributes.weight, reduced),
                                    step_at(attributes.bias, reduced)};
      if (extent > 1) elements_.add(extent, steps);
      ++reduced;
    }
    rows_.arrange(kIn);
    elements_.arrange(kIn);
  }

  void run(const Context& context) const noexcept {
    const std::int64_t rows = rows_.strip_count() * rows_.inner_extent();
    const std::int64_t bytes = 2 * rows * by_.count * width_bytes_;
    const std::int64_t slices = std::min(rows, slice_count_of(context, bytes));
    const bool is_direct = conversion_ == nullptr && are_adjacent();
    const bool is_streamed = is_direct && in_ != out_ && stores_for(bytes) == Stores::kStreamed;
    if (is_direct && by_.count * width_bytes_ > kMostHeldBytes) {
      for_each_row_group(rows_, 0, rows, 1, [&](const std::int64_t* offsets, std::int64_t) {
        run_shared(context, in_ + offsets[kIn] + elements_.start(kIn),
                   out_ + offsets[kOut] + elements_.start(kOut), is_streamed);
      });
      return;
    }
    for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
      const std::int64_t first = slice_begin(rows, slices, slice);
      const std::int64_t last = slice_begin(rows, slices, slice + 1);
      if (!is_direct) {
        run_panels(first, last);
      } else if (by_.count <= kTogether) {
        run_short(first, last, is_streamed);
      } else {
        run_long(first, last, is_streamed);
      }
      if (is_streamed) order_streamed_stores();
    });
  }

 private:
  static const Byte* data_of(const tnr_view* view) noexcept {
    return view == nullptr ? nullptr : static_cast<const Byte*>(view->data);
  }
  static std::int64_t step_at(const tnr_view* view, std::uint32_t axis) noexcept {
    return view == nullptr ? 0 : step_of(*view, axis);
  }

  // Whether the loops read and write rows where they lie.
  [[nodiscard]] bool are_adjacent() const noexcept {
    if (elements_.rank() == 0) return true;
    const auto is_adjacent = [&](unsigned operand) {
      return elements_.inner_step(operand) == width_bytes_;
    };
    return elements_.rank() == 1 && is_adjacent(kIn) && is_adjacent(kOut) &&
           (weight_ == nullptr || is_adjacent(kWeight)) && (bias_ == nullptr || is_adjacent(kBias));
  }
  // From a row's first place to the element that the nest has first.
  [[nodiscard]] const Byte* start(const Byte* data, unsigned operand) const noexcept {
    return data == nullptr ? nullptr : data + elements_.start(operand);
  }

  static const Byte* after(const Byte* data, std::int64_t bytes) noexcept {
    return data == nullptr ? nullptr : data + bytes;
  }

  // Normalizes rows that are at most as long as a panel. Adjacent rows of the output that are
  // streamed share a panel.
  void run_short(std::int64_t first, std::int64_t last, bool is_streamed) const noexcept {
    alignas(kLineBytes) Byte panel[kTogetherBytes];
    const std::int64_t bytes = by_.count * width_bytes_;
    const bool in_panel = is_streamed && rows_.inner_step(kOut) == bytes;
    const std::int64_t most = in_panel ? kTogether / by_.count : kMostRows;
    const Byte* const weight = start(weight_, kWeight);
    const Byte* const bias = start(bias_, kBias);
    for_each_row_group(rows_, first, last, most,
                       [&](const std::int64_t* offsets, std::int64_t rows) {
                         const Byte* in = in_ + offsets[kIn] + elements_.start(kIn);
                         Byte* const out = out_ + offsets[kOut] + elements_.start(kOut);
                         Byte* to = in_panel ? panel : out;
                         const std::int64_t to_step = in_panel ? bytes : rows_.inner_step(kOut);
                         for (std::int64_t i = 0; i < rows; ++i) {
                           normalize_row(in, by_.count, weight, bias, to);
                           in += rows_.inner_step(kIn);
                           to += to_step;
                         }
                         if (in_panel) copy_lines(out, panel, rows * bytes, Stores::kStreamed);
                       });
  }

  // A whole row, whose powers are held in `out`.
  void normalize_row(const Byte* in, std::int64_t count, const Byte* weight, const Byte* bias,
                     Byte* out) const noexcept {
    NormalizedRow row;
    do {
      row.measure(by_, in, count, by_.is_softmax() ? out : nullptr);
    } while (!row.end(by_));
    if (by_.is_softmax()) {
      row.write_powers(by_, out, count, row.greatest(), out);
    } else {
      row.write(by_, in, count, weight, bias, out);
    }
  }

  // Normalizes one row, in sections that all threads share. The sections depend only on the extent
  // of the row, so the bits of the result do not depend on the number of threads.
  void run_shared(const Context& context, const Byte* in, Byte* out,
                  bool is_streamed) const noexcept {
    constexpr std::int64_t kSections = 64;
    const std::int64_t parts = (by_.count + kTogether - 1) / kTogether;
    const auto for_each_part = [&](std::int64_t section, auto&& visit) {
      const std::int64_t last = slice_begin(parts, kSections, section + 1);
      for (std::int64_t part = slice_begin(parts, kSections, section); part < last; ++part) {
        const std::int64_t at = part * kTogether;
        visit(at * width_bytes_, std::min(kTogether, by_.count - at));
      }
    };
    NormalizedRow sections[kSections];
    NormalizedRow row;
    do {
      std::fill_n(sections, kSections, row);
      for_each_slice(context, kSections, [&](std::int64_t section) noexcept {
        for_each_part(section, [&](std::int64_t at, std::int64_t count) {
          sections[section].measure(by_, in + at, count, nullptr);
        });
      });
      row = sections[0];
      for (std::int64_t section = 1; section < kSections; ++section) {
        row.join(by_, sections[section]);
      }
    } while (!row.end(by_));
    const Byte* const weight = start(weight_, kWeight);
    const Byte* const bias = start(bias_, kBias);
    for_each_slice(context, kSections, [&](std::int64_t section) noexcept {
      alignas(kLineBytes) Byte panel[kTogetherBytes];
      NormalizedRow own = row;  // which keeps where the weight and the bias of a part are
      for_each_part(section, [&](std::int64_t at, std::int64_t count) {
        Byte* const to = is_streamed ? panel : out + at;
        own.write(by_, in + at, count, after(weight, at), after(bias, at), to);
        if (is_streamed) copy_lines(out + at, panel, count * width_bytes_, Stores::kStreamed);
      });
      if (is_streamed) order_streamed_stores();
    });
  }

  void run_long(std::int64_t first, std::int64_t last, bool is_streamed) const noexcept {
    const bool holds = by_.is_softmax() && by_.count * width_bytes_ <= kMostHeldBytes;
    HeldPowers held(by_.count * width_bytes_, holds && is_streamed);
    for_each_row_group(rows_, first, last, 1, [&](const std::int64_t* offsets, std::int64_t) {
      const Byte* const in = in_ + offsets[kIn] + elements_.start(kIn);
      Byte* const out = out_ + offsets[kOut] + elements_.start(kOut);
      Byte* const powers = !holds ? nullptr : held.data() == nullptr ? out : held.data();
      run_row(in, out, powers, is_streamed && powers != out);
    });
  }

  void run_row(const Byte* in, Byte* out, Byte* powers, bool is_streamed) const noexcept {
    alignas(kLineBytes) Byte panel[kTogetherBytes];
    double greatest[kMostParts];
    NormalizedRow row;
    const auto for_each_part = [&](auto&& visit) {
      for (std::int64_t at = 0; at < by_.count; at += kTogether) {
        visit(at * width_bytes_, std::min(kTogether, by_.count - at), at / kTogether);
      }
    };
    do {
      for_each_part([&](std::int64_t at, std::int64_t count, std::int64_t part) {
        row.measure(by_, in + at, count, powers == nullptr ? nullptr : powers + at);
        if (powers != nullptr) greatest[part] = row.greatest();
      });
    } while (!row.end(by_));
    const Byte* const weight = start(weight_, kWeight);
    const Byte* const bias = start(bias_, kBias);
    for_each_part([&](std::int64_t at, std::int64_t count, std::int64_t part) {
      Byte* const to = is_streamed ? panel : out + at;
      if (powers != nullptr) {
        row.write_powers(by_, powers + at, count, greatest[part], to);
      } else {
        row.write(by_, in + at, count, after(weight, at), after(bias, at), to);
      }
      if (is_streamed) copy_lines(out + at, panel, count * width_bytes_, Stores::kStreamed);
    });
  }

  // ---- rows of other layouts and types ----

  // Elements of one operand, adjacent and of the type that is computed in.
  void fetch(const Byte* data, unsigned operand, std::int64_t row_step, const RowPart& part,
             Byte* panel) const noexcept {
    const RowElements from = {elements_, operand, row_step, width_bytes_};
    if (conversion_ == nullptr) return gather_rows(from, data, part, panel);
    alignas(kLineBytes) Byte narrow[kTogether * 2];
    gather_rows(from, data, part, narrow);
    run_plainly(conversion_->load, dense_strip(part.rows * part.count, panel, by_.width_bytes,
                                               {{narrow, width_bytes_, width_bytes_}}));
  }
  void give(const Byte* panel, const RowPart& part, Byte* out) const noexcept {
    const RowElements to = {elements_, kOut, rows_.inner_step(kOut), width_bytes_};
    if (conversion_ == nullptr) return scatter_rows(to, panel, part, out);
    alignas(kLineBytes) Byte narrow[kTogether * 2];
    run_plainly(conversion_->spill, dense_strip(part.rows * part.count, narrow, width_bytes_,
                                                {{panel, by_.width_bytes, by_.width_bytes}}));
    scatter_rows(to, narrow, part, out);
  }

  void run_panels(std::int64_t first, std::int64_t last) const noexcept {
    alignas(kLineBytes) Byte panel[kTogetherBytes];
    // Rows that interleave are taken together, or each line would be met once for each.
    const bool interleave = rows_.rank() != 0 && elements_.rank() != 0 &&
                            rows_.inner_step(kIn) < elements_.inner_step(kIn);
    const std::int64_t wanted = interleave ? kRowsOfALine : 1;
    const std::int64_t length = std::min(by_.count, kTogether / wanted);
    const std::int64_t most = std::min(kMostRows, kTogether / length);
    NormalizedRow all[kMostRows];
    for_each_row_group(rows_, first, last, most,
                       [&](const std::int64_t* offsets, std::int64_t rows) {
                         const Byte* const in = in_ + offsets[kIn];
                         Byte* const out = out_ + offsets[kOut];
                         run_group(in, out, rows, length, all, panel);
                       });
  }

  void run_group(const Byte* in, Byte* out, std::int64_t rows, std::int64_t length,
                 NormalizedRow* all, Byte* panel) const noexcept {
    const std::int64_t in_step = rows_.inner_step(kIn);
    const std::int64_t count = by_.count;
    std::fill_n(all, rows, NormalizedRow{});
    for (bool are_ended = false; !are_ended;) {
      for (std::int64_t at = 0; at < count; at += length) {
        const RowPart part = {rows, at, std::min(length, count - at)};
        fetch(in, kIn, in_step, part, panel);
        for (std::int64_t row = 0; row < rows; ++row) {
          all[row].measure(by_, panel + row * part.count * by_.width_bytes, part.count, nullptr);
        }
      }
      are_ended = true;
      for (std::int64_t row = 0; row < rows; ++row) are_ended &= all[row].end(by_);
    }
    for (std::int64_t at = 0; at < count; at += length) {
      const RowPart part = {rows, at, std::min(length, count - at)};
      if (length < count) fetch(in, kIn, in_step, part, panel);
      write_group(part, all, panel);
      give(panel, part, out);
    }
  }

  void write_group(const RowPart& part, NormalizedRow* all, Byte* panel) const noexcept {
    alignas(kLineBytes) Byte factors[2][kTogetherBytes];
    const RowPart of_one = {1, part.first, part.count};
    if (weight_ != nullptr) fetch(weight_, kWeight, 0, of_one, factors[0]);
    if (bias_ != nullptr) fetch(bias_, kBias, 0, of_one, factors[1]);
    for (std::int64_t row = 0; row < part.rows; ++row) {
      Byte* const elements = panel + row * part.count * by_.width_bytes;
      all[row].write(by_, elements, part.count, weight_ == nullptr ? nullptr : factors[0],
                     bias_ == nullptr ? nullptr : factors[1], elements);
    }
  }

  const Normalization& by_;
  const Byte* in_;
  Byte* out_;
  const Byte* weight_;  // nullptr: none
  const Byte* bias_;
  std::int64_t width_bytes_;               // of an element
  const kernels::Conversion* conversion_;  // to the computed type; nullptr: none
  Nest rows_{2};
  Nest elements_{4};
};

void check_axes(const tnr_view& a, std::uint32_t axes) {
  if (axes >> a.rank != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "axes is 0x%" PRIx32 " but a.rank is %" PRIu32, axes, a.rank);
  }
}

void check_shape(const tnr_view& a, const tnr_view& out) {
  require_rank(out, "out", a.rank);
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    if (out.shape[axis] != a.shape[axis]) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "out.shape[%" PRIu32 "] is %" PRId64 " but a.shape[%" PRIu32 "] is %" PRId64, axis,
           out.shape[axis], axis, a.shape[axis]);
    }
  }
}

// A weight or a bias: of the extents of the axes.
void check_factor(const tnr_view& factor, const char* name, const tnr_view& a, std::uint32_t axes,
                  const tnr_device& device) {
  check_view(factor, name, device);
  require_rank(factor, name, static_cast<std::uint32_t>(std::popcount(axes)));
  std::uint32_t reduced = 0;
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    if (!is_reduced(axes, axis)) continue;
    if (factor.shape[reduced] != a.shape[axis]) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "%s.shape[%" PRIu32 "] is %" PRId64 " but a.shape[%" PRIu32 "] is %" PRId64, name,
           reduced, factor.shape[reduced], axis, a.shape[axis]);
    }
    ++reduced;
  }
  require_dtype(factor, name, a.dtype, "a.dtype is");
}

void check_eps(tnr_normalize_op op, double eps) {
  const bool is_taken = op == TNR_NORMALIZE_OP_LAYER_NORM || op == TNR_NORMALIZE_OP_RMS_NORM;
  if (!is_taken && eps != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->eps is %g but must be 0 for %s", eps,
         kernels::kNormalizeRows[op - 1].name);
  }
  if (!(eps >= 0) || std::isinf(eps)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->eps is %g but must be finite and 0 at least",
         eps);
  }
}

}  // namespace

void check_normalization(tnr_normalize_op op, const tnr_view& a, std::uint32_t axes,
                         const tnr_normalize_attributes& attributes, const tnr_view& out,
                         const tnr_device& device) {
  const auto code = static_cast<std::uint32_t>(op) - 1;
  if (code >= kernels::kNormalizeCount) refuse_code("normalize", op);
  check_shape(a, out);
  check_axes(a, axes);
  require_dtype(out, "out", a.dtype, "a.dtype is");
  if (type_index(a.dtype) > static_cast<unsigned>(kernels::Type::kBF16)) {
    refuse_dtype(kernels::kNormalizeRows[code].name, a.dtype);
  }
  check_eps(op, attributes.eps);
  const bool is_layer = op == TNR_NORMALIZE_OP_LAYER_NORM;
  const auto check = [&](const tnr_view* factor, const char* name, bool is_taken) {
    if (factor == nullptr) return;
    if (!is_taken) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->%s is given but %s takes none", name,
           kernels::kNormalizeRows[code].name);
    }
    check_factor(*factor, name, a, axes, device);
    require_alias(out, *factor, name, SameView::kRefused);
  };
  check(attributes.weight, "weight", is_layer || op == TNR_NORMALIZE_OP_RMS_NORM);
  check(attributes.bias, "bias", is_layer);
}

void run_normalization(const Context& context, tnr_normalize_op op, const tnr_view& a,
                       std::uint32_t axes, const tnr_normalize_attributes& attributes,
                       const tnr_view_mut& out) noexcept {
  const Normalization by(op, type_index(a.dtype), reduced_count(a, axes), attributes.eps);
  RowNormalizer(by, a, axes, attributes, out).run(context);
}

void normalize(const Context& context, tnr_normalize_op op, const tnr_view& a, std::uint32_t axes,
               const tnr_normalize_attributes& attributes, const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out")
        .enqueue(DeviceNormalize{op, a, axes, attributes, out});
  ElementwiseCall operands(out);
  operands.add(a, "a");
  check_normalization(op, a, axes, attributes, out.view);
  Pins pins;
  if (attributes.weight != nullptr) pins.add(*attributes.weight, "weight");
  if (attributes.bias != nullptr) pins.add(*attributes.bias, "bias");
  if (!is_empty(out.view)) {
    operands.touch_output(context);
    run_normalization(context, op, a, axes, attributes, out);
  }
  operands.count(TNR_OPERATION_NORMALIZE);
}

}  // namespace tenure
