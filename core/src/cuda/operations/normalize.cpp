// Normalizations.
#include <algorithm>
#include <bit>
#include <cinttypes>

#include "cuda/kernels/normalize_arguments.hpp"
#include "cuda/operations/enqueue.hpp"
#include "cuda/operations/grid.hpp"
#include "cuda/operations/nest.hpp"
#include "cuda/operations/reduce_plan.hpp"
#include "dense/loops/nest.hpp"
#include "dense/normalize/checked.hpp"
#include "dense/reduce/walk.hpp"
#include "memory/queue_order.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure::cuda {
namespace {

// Bits of results depend on the constants of this file, and on nothing of the device.

// Groups of a thread that are worth one.
constexpr std::int64_t kGroupsOfThread = 2;

// One each for f64, and for f32, f16 and bf16 together.
struct RowKernels {
  Kernel f64;
  Kernel f32;

  [[nodiscard]] Kernel of(tnr_dtype dtype) const noexcept {
    return dtype == TNR_DTYPE_F64 ? f64 : f32;
  }
};
constexpr RowKernels kHeld = {Kernel::normalize_f64, Kernel::normalize_f32};
constexpr RowKernels kMeasured = {Kernel::measured_f64, Kernel::measured_f32};

const unsigned char* bytes_or_none(const tnr_view* view) noexcept {
  return view == nullptr ? nullptr : static_cast<const unsigned char*>(view->data);
}
const unsigned char* moved(const unsigned char* data, std::int64_t bytes) noexcept {
  return data == nullptr ? nullptr : data + bytes;
}

// Innermost first. The outermost may be longer than a divider takes, and is cut then.
void set_axes(const Nest& nest, NormalizeAxes& axes) noexcept {
  axes.rank = nest.rank();
  for (unsigned i = 0; i < nest.rank(); ++i) {
    const unsigned axis = nest.rank() - 1 - i;
    const std::int64_t extent = std::min(nest.extent(axis), kMostNumber - 1);
    axes.axes[i] = {};
    axes.axes[i].divider = divider_by(extent);
    std::copy_n(nest.steps(axis), nest.operand_count(), axes.axes[i].steps);
  }
}

// A call that has been checked and is not empty.
struct Rows {
  const tnr_view& a;
  const tnr_view_mut& out;
  const tnr_view* weight;
  const tnr_view* bias;
  std::uint32_t axes;
  std::int64_t count;  // elements of a row

  [[nodiscard]] std::int64_t width() const noexcept {
    return static_cast<std::int64_t>(element_size(a.dtype));
  }
  // Elements of 16 bytes, in the type that is computed in.
  [[nodiscard]] std::int64_t group_items() const noexcept {
    return kGroupBytes / std::max<std::int64_t>(width(), 4);
  }
  // Calls visit(axis, of_factors) for each axis, with its number among those of weight and bias.
  template <class Visit>
  void for_each_axis(const Visit& visit) const {
    std::uint32_t of_factors = 0;
    for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
      visit(axis, of_factors);
      if (is_reduced(axes, axis)) ++of_factors;
    }
  }
  static std::int64_t step_at(const tnr_view* factor, std::uint32_t axis) noexcept {
    return factor == nullptr ? 0 : step_of(*factor, axis);
  }
};

// Rows that blocks hold in their shared memory, one or several each.
class HeldRows {
 public:
  explicit HeldRows(const Rows& of) noexcept : of_(of) {
    of.for_each_axis([&](std::uint32_t axis, std::uint32_t of_factors) {
      const std::int64_t extent = of.a.shape[axis];
      if (extent == 1) return;
      const std::int64_t in = step_of(of.a, axis);
      const std::int64_t out = step_of(of.out.view, axis);
      if (is_reduced(of.axes, axis)) {
        const std::int64_t steps[] = {in, out, Rows::step_at(of.weight, of_factors),
                                      Rows::step_at(of.bias, of_factors)};
        elements_.add(extent, steps);
      } else {
        const std::int64_t steps[] = {in, out};
        rows_.add(extent, steps);
      }
    });
    rows_.order(kNormalizeIn);
    elements_.order(kNormalizeIn);
  }

  // Along memory a row has several threads; adjacent rows have one each.
  [[nodiscard]] bool fit() const noexcept {
    const std::int64_t of_thread = kHeldGroups * of_.group_items();
    return of_.count <= (is_along() ? of_thread << kBlockShift : of_thread);
  }

  void run(const Queue& queue, Kernel kernel, NormalizeArgument argument) const {
    argument.in += rows_.start(kNormalizeIn) + elements_.start(kNormalizeIn);
    argument.out += rows_.start(kNormalizeOut) + elements_.start(kNormalizeOut);
    argument.weight = moved(argument.weight, elements_.start(kNormalizeWeight));
    argument.bias = moved(argument.bias, elements_.start(kNormalizeBias));
    argument.count = static_cast<std::uint32_t>(of_.count);
    argument.lanes_shift = lanes_shift();
    argument.is_adjacent =
        elements_.rank() == 1 && elements_.inner_step(kNormalizeIn) == of_.width() ? 1 : 0;
    argument.has_vectors = has_vectors(argument) ? 1 : 0;
    set_axes(elements_, argument.element_axes);

    // More rows than a kernel counts take several launches.
    const std::int64_t outermost = rows_.rank() == 0 ? 1 : rows_.extent(0);
    const std::int64_t at_each = rows_.count() / outermost;
    if (at_each >= kMostNumber) {
      fail(TNR_STATUS_UNSUPPORTED, "%" PRId64 " rows of the inner axes are too many for a device",
           at_each);
    }
    const std::int64_t most = (kMostNumber - 1) / at_each;
    set_axes(rows_, argument.row_axes);
    for (std::int64_t first = 0; first < outermost; first += most) {
      const std::int64_t some = std::min(most, outermost - first);
      NormalizeArgument part = argument;
      if (rows_.rank() != 0) {
        part.in += first * rows_.step(0, kNormalizeIn);
        part.out += first * rows_.step(0, kNormalizeOut);
        part.row_axes.axes[rows_.rank() - 1].divider = divider_by(some);
      }
      part.rows = static_cast<std::uint32_t>(some * at_each);
      const std::int64_t blocks = quotient_up(part.rows, kThreads >> argument.lanes_shift);
      queue.launch(kernel, {static_cast<unsigned>(blocks), kThreads}, part);
    }
  }

 private:
  [[nodiscard]] bool is_along() const noexcept {
    return rows_.rank() == 0 ||
           elements_.inner_step(kNormalizeIn) <= rows_.inner_step(kNormalizeIn);
  }
  [[nodiscard]] std::uint32_t lanes_shift() const noexcept {
    const std::int64_t items = of_.group_items();
    if (!is_along()) return 0;
    if (of_.count > (kHeldGroups * items) << kWarpShift) return kBlockShift;
    return std::min(logarithm_up(quotient_up(of_.count, kGroupsOfThread * items)), kWarpShift);
  }
  // Whether a row is whole groups, and each operand has the elements of a group adjacent and
  // aligned.
  [[nodiscard]] bool has_vectors(const NormalizeArgument& argument) const noexcept {
    const std::int64_t width = of_.width();
    const std::int64_t bytes = of_.group_items() * width;
    if (elements_.rank() != 1 || of_.count % of_.group_items() != 0) return false;
    std::uint64_t places = address_of(argument.in) | address_of(argument.out) |
                           address_of(argument.weight) | address_of(argument.bias);
    for (unsigned axis = 0; axis < rows_.rank(); ++axis) {
      places |= static_cast<std::uint64_t>(rows_.step(axis, kNormalizeIn)) |
                static_cast<std::uint64_t>(rows_.step(axis, kNormalizeOut));
    }
    return elements_.inner_step(kNormalizeIn) == width &&
           elements_.inner_step(kNormalizeOut) == width &&
           (argument.weight == nullptr || elements_.inner_step(kNormalizeWeight) == width) &&
           (argument.bias == nullptr || elements_.inner_step(kNormalizeBias) == width) &&
           places % static_cast<std::uint64_t>(bytes) == 0;
  }

  const Rows& of_;
  Nest rows_{2};
  Nest elements_{4};
};

// Elements of rows that have been measured, in whatever order the output has them.
class MeasuredElements {
 public:
  MeasuredElements(const Rows& of, MeasuredArgument argument, const unsigned char* numbers) noexcept
      : of_(of), argument_(argument), nest_(kNormalizeOperands) {
    std::int64_t row_steps[TNR_MAX_RANK] = {};
    std::int64_t row_step = sizeof(MeasuredRow);
    for (std::uint32_t axis = of.a.rank; axis-- > 0;) {
      if (is_reduced(of.axes, axis)) continue;
      row_steps[axis] = row_step;
      row_step *= of.a.shape[axis];
    }
    of.for_each_axis([&](std::uint32_t axis, std::uint32_t of_factors) {
      std::int64_t steps[WideNest::kMaxOperands] = {};
      steps[kNormalizeIn] = step_of(of.a, axis);
      steps[kNormalizeOut] = step_of(of.out.view, axis);
      steps[kNormalizeNumbers] = row_steps[axis];
      if (is_reduced(of.axes, axis)) {
        steps[kNormalizeWeight] = Rows::step_at(of.weight, of_factors);
        steps[kNormalizeBias] = Rows::step_at(of.bias, of_factors);
      }
      nest_.add(of.a.shape[axis], steps);
    });
    nest_.order(kNormalizeOut);
    argument_.in += nest_.start(kNormalizeIn);
    argument_.out += nest_.start(kNormalizeOut);
    argument_.numbers = numbers + nest_.start(kNormalizeNumbers);
    argument_.weight = moved(argument_.weight, nest_.start(kNormalizeWeight));
    argument_.bias = moved(argument_.bias, nest_.start(kNormalizeBias));
  }

  void run(const Queue& queue, Kernel kernel) const {
    NormalizePart part = {};
    part.argument = argument_;
    part.rank = nest_.rank();
    for (unsigned axis = 0; axis < nest_.rank(); ++axis) part.extents[axis] = nest_.extent(axis);
    run(queue, kernel, part);
  }

 private:
  struct NormalizePart {
    MeasuredArgument argument;
    unsigned rank;
    std::int64_t extents[TNR_MAX_RANK];  // of the nest's innermost axes
  };

  [[nodiscard]] const std::int64_t* steps(const NormalizePart& part, unsigned axis) const noexcept {
    return nest_.steps(nest_.rank() - part.rank + axis);
  }
  [[nodiscard]] bool has_vectors(const NormalizePart& part) const noexcept {
    const std::int64_t items = of_.group_items();
    if (part.rank == 0 || part.extents[part.rank - 1] % items != 0) return false;
    std::uint64_t places = address_of(part.argument.in) | address_of(part.argument.out);
    for (unsigned axis = 0; axis + 1 < part.rank; ++axis) {
      places |= static_cast<std::uint64_t>(steps(part, axis)[kNormalizeIn]) |
                static_cast<std::uint64_t>(steps(part, axis)[kNormalizeOut]);
    }
    const std::int64_t* const inner = steps(part, part.rank - 1);
    return inner[kNormalizeIn] == of_.width() && inner[kNormalizeOut] == of_.width() &&
           places % static_cast<std::uint64_t>(items * of_.width()) == 0;
  }

  void run(const Queue& queue, Kernel kernel, NormalizePart part) const {
    const std::int64_t items = of_.group_items();
    const bool is_of_vectors = has_vectors(part);
    std::int64_t units = 1;
    for (unsigned axis = 0; axis < part.rank; ++axis) units *= part.extents[axis];
    if (is_of_vectors) units /= items;
    if (units >= kMostNumber) return run_halves(queue, kernel, part);
    MeasuredArgument& argument = part.argument;
    argument.units = static_cast<std::uint32_t>(units);
    argument.has_vectors = is_of_vectors ? 1 : 0;
    argument.rank = part.rank;
    for (unsigned i = 0; i < part.rank; ++i) {
      const unsigned axis = part.rank - 1 - i;
      const std::int64_t by = i == 0 && is_of_vectors ? items : 1;
      MeasuredAxis& to = argument.axes[i];
      to = {};
      to.divider = divider_by(part.extents[axis] / by);
      for (unsigned k = 0; k < kNormalizeOperands; ++k) to.steps[k] = steps(part, axis)[k] * by;
    }
    if (is_of_vectors) {
      std::copy_n(steps(part, part.rank - 1), +kNormalizeOperands, argument.item_steps);
    }
    const std::int64_t of_block = kThreads * (is_of_vectors ? 1 : items);
    queue.launch(kernel, {static_cast<unsigned>(quotient_up(units, of_block)), kThreads}, argument);
  }

  // Halves of the outermost axis.
  void run_halves(const Queue& queue, Kernel kernel, const NormalizePart& part) const {
    const std::int64_t low = part.extents[0] / 2;
    for (const bool is_high : {false, true}) {
      NormalizePart half = part;
      half.extents[0] = is_high ? part.extents[0] - low : low;
      const std::int64_t* const by = steps(part, 0);
      MeasuredArgument& argument = half.argument;
      if (is_high) {
        argument.in += low * by[kNormalizeIn];
        argument.out += low * by[kNormalizeOut];
        argument.numbers += low * by[kNormalizeNumbers];
        argument.weight = moved(argument.weight, low * by[kNormalizeWeight]);
        argument.bias = moved(argument.bias, low * by[kNormalizeBias]);
      }
      if (half.extents[0] == 1) {
        --half.rank;
        std::copy_n(part.extents + 1, half.rank, half.extents);
      }
      run(queue, kernel, half);
    }
  }

  const Rows& of_;
  MeasuredArgument argument_;
  WideNest nest_;
};

template <class Argument>
Argument argument_of(const Rows& rows, tnr_normalize_op op) noexcept {
  Argument argument = {};
  argument.op = static_cast<Normalize>(op);
  argument.type = static_cast<ElementType>(type_index(rows.a.dtype));
  return argument;
}
template <class Argument>
Argument argument_of_elements(const Rows& rows, tnr_normalize_op op) noexcept {
  auto argument = argument_of<Argument>(rows, op);
  argument.in = bytes_of(rows.a);
  argument.out = writable(rows.out);
  argument.weight = bytes_or_none(rows.weight);
  argument.bias = bytes_or_none(rows.bias);
  return argument;
}

void run(const Queue& queue, tnr_normalize_op op, const Rows& rows, double eps) {
  if (const HeldRows held(rows); held.fit()) {
    auto argument = argument_of_elements<NormalizeArgument>(rows, op);
    argument.eps = eps;
    return held.run(queue, kHeld.of(rows.a.dtype), argument);
  }
  std::int64_t row_count = 1;
  for (std::uint32_t axis = 0; axis < rows.a.rank; ++axis) {
    if (!is_reduced(rows.axes, axis)) row_count *= rows.a.shape[axis];
  }
  const Queue::Scratch numbers(queue, static_cast<std::size_t>(row_count) * sizeof(MeasuredRow));
  measure_rows(queue, op, rows.a, rows.axes, numbers.data());
  auto argument = argument_of<RowNumbersArgument>(rows, op);
  argument.numbers = static_cast<unsigned char*>(numbers.data());
  argument.rows = static_cast<std::uint64_t>(row_count);
  argument.divisor = static_cast<double>(rows.count);
  argument.eps = eps;
  const auto blocks = static_cast<unsigned>(quotient_up(row_count, kThreads));
  queue.launch(Kernel::row_numbers, {blocks, kThreads}, argument);
  MeasuredElements(rows, argument_of_elements<MeasuredArgument>(rows, op), argument.numbers)
      .run(queue, kMeasured.of(rows.a.dtype));
}

}  // namespace

void enqueue(const Queue& queue, const DeviceNormalize& call) {
  const auto& [op, a, axes, attributes, out] = call;
  Pins pins;
  check_view_mut(out, "out", queue.device());
  pins.add_mut(out, "out");
  check_view(a, "a", queue.device());
  require_broadcast(a, "a", out.view);
  pins.add(a, "a");
  require_alias(out.view, a, "a", SameView::kAllowed);
  check_normalization(op, a, axes, attributes, out.view, queue.device());
  if (attributes.weight != nullptr) pins.add(*attributes.weight, "weight");
  if (attributes.bias != nullptr) pins.add(*attributes.bias, "bias");
  if (is_empty(out.view)) return count_call(TNR_OPERATION_NORMALIZE, 0, 0);
  const QueueOrder order(queue, pins);
  run(queue, op, {a, out, attributes.weight, attributes.bias, axes, reduced_count(a, axes)},
      attributes.eps);
  count_call(TNR_OPERATION_NORMALIZE, element_bytes(a), element_bytes(out.view));
}

}  // namespace tenure::cuda
