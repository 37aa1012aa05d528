// Elements by index.
#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdlib>
#include <utility>

#include "cuda/kernels/indexed_arguments.hpp"
#include "cuda/operations/digit_sort.hpp"
#include "cuda/operations/enqueue.hpp"
#include "cuda/operations/finding.hpp"
#include "cuda/operations/grid.hpp"
#include "cuda/operations/nest.hpp"
#include "dense/movement/indexed.hpp"
#include "memory/queue_order.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "view/operand_checks.hpp"

namespace tenure::cuda {
namespace {

// Entries that are sorted at once.
constexpr std::int64_t kMostEntries = kMostSorted;
constexpr std::int64_t kMostKeys = std::int64_t{1} << 32;
constexpr std::int64_t kUnitsOfThread = 4;

// Axes with the steps of IndexedStep, outermost first, and where their first position is.
struct Axes {
  struct Axis {
    std::int64_t extent;
    std::int64_t steps[kIndexedSteps];
  };
  unsigned rank = 0;
  Axis axes[kMostAxes] = {};
  std::int64_t starts[kIndexedSteps] = {};

  void add(const Axis& axis) noexcept {
    if (axis.extent != 1) axes[rank++] = axis;
  }
  // Puts the largest steps outermost, so that adjacent threads have neighbours.
  void order(IndexedStep by) noexcept {
    for (unsigned i = 1; i < rank; ++i) {
      for (unsigned j = i; j > 0 && distance(j - 1, by) < distance(j, by); --j) {
        std::swap(axes[j - 1], axes[j]);
      }
    }
  }
  void join() noexcept {
    unsigned kept = 0;
    for (unsigned i = 0; i < rank; ++i) {
      const Axis axis = axes[i];
      if (kept != 0 && are_one(axes[kept - 1], axis)) {
        const std::int64_t extent = axes[kept - 1].extent * axis.extent;
        axes[kept - 1] = axis;
        axes[kept - 1].extent = extent;
      } else {
        axes[kept++] = axis;
      }
    }
    rank = kept;
  }

  [[nodiscard]] std::int64_t count() const noexcept {
    std::int64_t result = 1;
    for (unsigned i = 0; i < rank; ++i) result *= axes[i].extent;
    return result;
  }
  // The greatest number that the positions add up to.
  [[nodiscard]] std::int64_t reach(IndexedStep of) const noexcept {
    std::int64_t result = 0;
    for (unsigned i = 0; i < rank; ++i) result += (axes[i].extent - 1) * axes[i].steps[of];
    return result;
  }

  // The outermost axis in two.
  [[nodiscard]] Axes half(bool is_high) const noexcept {
    Axes result = *this;
    const std::int64_t low = axes[0].extent / 2;
    result.axes[0].extent = is_high ? axes[0].extent - low : low;
    for (unsigned i = 0; is_high && i < kIndexedSteps; ++i) {
      result.starts[i] += low * axes[0].steps[i];
    }
    if (result.axes[0].extent == 1) {
      --result.rank;
      std::copy(axes + 1, axes + rank, result.axes);
    }
    return result;
  }

  // Calls visit(part) for parts that fit, in their order. One position always does.
  template <class Fits, class Visit>
  void for_each_part(const Fits& fits, const Visit& visit) const {
    if (rank == 0 || fits(*this)) return visit(*this);
    half(false).for_each_part(fits, visit);
    half(true).for_each_part(fits, visit);
  }

  void set(IndexedNest& nest) const noexcept {
    nest.rank = rank;
    for (unsigned i = 0; i < rank; ++i) {
      const Axis& axis = axes[rank - 1 - i];
      nest.axes[i] = {};
      nest.axes[i].divider = divider_by(axis.extent);
      std::copy_n(axis.steps, +kIndexedSteps, nest.axes[i].steps);
    }
  }

 private:
  [[nodiscard]] std::int64_t distance(unsigned axis, IndexedStep of) const noexcept {
    return std::abs(axes[axis].steps[of]);
  }
  static bool are_one(const Axis& outer, const Axis& inner) noexcept {
    for (unsigned i = 0; i < kIndexedSteps; ++i) {
      if (outer.steps[i] != inner.steps[i] * inner.extent) return false;
    }
    return true;
  }
};

Indices indices_of(const IndexedViews& views) noexcept {
  Indices indices = {};
  indices.data = bytes_of(views.indices);
  indices.scale = step_of(views.target, views.axis);
  indices.limit = static_cast<std::uint64_t>(views.target.shape[views.axis]);
  indices.bytes = static_cast<std::uint32_t>(element_size(views.indices.dtype));
  return indices;
}

// Throws what refuse_index() does. Waits.
void check_indices(const Queue& queue, const IndexedViews& views) {
  if (is_empty(views.indices)) return;
  Axes all;
  std::int64_t number = 1;
  std::int64_t numbers[TNR_MAX_RANK];
  for (std::uint32_t axis = views.indices.rank; axis-- > 0;) {
    numbers[axis] = number;
    number *= views.indices.shape[axis];
  }
  for (std::uint32_t axis = 0; axis < views.indices.rank; ++axis) {
    all.add({views.indices.shape[axis], {0, 0, step_of(views.indices, axis), numbers[axis]}});
  }
  all.join();
  const FindingWord<unsigned long long> finding(queue, 0xff);
  IndexCheckArgument argument = {};
  argument.finding = finding.data();
  all.for_each_part([](const Axes& part) { return part.count() < kMostNumber; },
                    [&](const Axes& part) {
                      argument.indices = indices_of(views);
                      argument.indices.data += part.starts[kOfIndices];
                      argument.first = static_cast<std::uint64_t>(part.starts[kOfKeys]);
                      argument.count = static_cast<std::uint32_t>(part.count());
                      part.set(argument.nest);
                      queue.launch(Kernel::index_check,
                                   grid_of(part.count(), kThreads * kUnitsOfThread), argument);
                    });
  const unsigned long long found = finding.wait();
  if (found == ~0ull) return;

  std::int64_t position[TNR_MAX_RANK] = {};
  std::int64_t offset = 0;
  auto rest = static_cast<std::int64_t>(found);
  for (std::uint32_t axis = 0; axis < views.indices.rank; ++axis) {
    position[axis] = rest / numbers[axis];
    rest %= numbers[axis];
    offset += position[axis] * step_of(views.indices, axis);
  }
  std::int64_t index = 0;
  if (views.indices.dtype == TNR_DTYPE_I64) {
    queue.copy_bytes(DeviceQueue::Direction::kOut, &index, bytes_of(views.indices) + offset,
                     sizeof index);
  } else {
    std::int32_t narrow = 0;
    queue.copy_bytes(DeviceQueue::Direction::kOut, &narrow, bytes_of(views.indices) + offset,
                     sizeof narrow);
    index = narrow;
  }
  refuse_index(views, position, index);
}

void require_shape(const IndexedViews& views, IndexedAxes::Names names) {
  if (names == IndexedAxes::Names::kRows) {
    require_rows_shape(views);
  } else {
    require_elements_shape(views);
  }
}

Axes::Axis axis_of(const IndexedAxes::Axis& axis) noexcept {
  return {axis.extent, {axis.steps[kValues], axis.steps[kTarget], axis.steps[kIndices], 0}};
}

// The most bytes that can be moved at once wherever a row has them.
std::int64_t unit_of(const IndexedViews& views, const IndexedAxes& axes) noexcept {
  auto places = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(views.target.data) |
                                           reinterpret_cast<std::uintptr_t>(views.values.data));
  places |= static_cast<std::uint64_t>(axes.row_bytes()) | static_cast<std::uint64_t>(axes.scale());
  for (std::uint32_t axis = 0; axis < axes.rank(); ++axis) {
    places |= static_cast<std::uint64_t>(axes[axis].steps[kTarget]) |
              static_cast<std::uint64_t>(axes[axis].steps[kValues]);
  }
  constexpr std::uint64_t kMost = 16;
  return std::int64_t{1} << std::countr_zero(places | kMost);
}

Axes::Axis row_of(const IndexedAxes& axes, std::int64_t unit) noexcept {
  return {axes.row_bytes() / unit, {unit, unit, 0, 0}};
}

// ---- puts ----

// Sorts entries whose keys are below `bound`; `meet`: those of some may be equal.
enum class Equals : std::uint8_t { kNone, kSome };
void sort_entries(const Queue& queue, const Axes& entries, const Indices& indices,
                  std::int64_t bound, Equals equals, DigitSort& sorted) {
  KeyArgument argument = {};
  argument.indices = indices;
  argument.keys = sorted.keys();
  argument.places = sorted.places();
  argument.count = static_cast<std::uint32_t>(entries.count());
  entries.set(argument.nest);
  queue.launch(Kernel::index_keys, grid_of(argument.count, kThreads), argument);
  if (equals == Equals::kNone) return;
  sorted.run(argument.count,
             static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(bound - 1))));
}

// Entries are the positions that have an index of their own, in row-major order. Axes along which
// positions share an index, and rows, are columns.
class Putting {
 public:
  Putting(tnr_binary_op op, const IndexedViews& views, IndexedAxes::Names names,
          const tnr_view_mut& out)
      : views_(views), limit_(views.target.shape[views.axis]) {
    const IndexedAxes axes(views, names);
    const auto width = static_cast<std::int64_t>(element_size(out.view.dtype));
    const std::int64_t unit = op != 0 ? width : unit_of(views, axes);
    kernel_ = op != 0 ? Kernel::combine : Kernel::put;
    argument_.unit_shift = logarithm_of(unit);
    argument_.target = writable(out);
    argument_.values = bytes_of(views.values);
    argument_.op = static_cast<std::uint32_t>(op);
    argument_.type = static_cast<ElementType>(type_index(out.view.dtype));
    argument_.as_bools = out.view.dtype == TNR_DTYPE_BOOL8 ? 1 : 0;
    // An element of the target for each index, and for each position of other axes of the entries.
    std::int64_t key_step = limit_;
    std::int64_t key_steps[TNR_MAX_RANK] = {};
    for (std::uint32_t axis = axes.rank(); axis-- > 0;) {
      if (axes[axis].is_indexed || axes[axis].steps[kIndices] == 0) continue;
      key_steps[axis] = key_step;
      key_step *= axes[axis].extent;
    }
    for (std::uint32_t axis = 0; axis < axes.rank(); ++axis) {
      Axes::Axis one = axis_of(axes[axis]);
      one.steps[kOfKeys] = key_steps[axis];
      const bool is_entry = axes[axis].is_indexed || axes[axis].steps[kIndices] != 0;
      (is_entry ? entries_ : columns_).add(one);
    }
    columns_.add(row_of(axes, unit));
    columns_.order(kOfTarget);
    columns_.join();
    entries_.join();
  }

  void run(const Queue& queue) const {
    if (limit_ >= kMostKeys) {
      fail(TNR_STATUS_UNSUPPORTED, "an axis of %" PRId64 " elements is too long to put by index",
           limit_);
    }
    DigitSort sorted(queue, std::min(entries_.count(), kMostEntries));
    entries_.for_each_part(
        [&](const Axes& part) {
          return part.count() <= kMostEntries && part.reach(kOfKeys) + limit_ < kMostKeys;
        },
        [&](const Axes& part) { run(queue, part, sorted); });
  }

 private:
  void run(const Queue& queue, const Axes& entries, DigitSort& sorted) const {
    PutArgument argument = argument_;
    argument.indices = indices_of(views_);
    argument.indices.data += entries.starts[kOfIndices];
    argument.target += entries.starts[kOfTarget];
    argument.values += entries.starts[kOfValues];
    bool may_meet = false;
    for (unsigned i = 0; i < entries.rank; ++i) {
      may_meet = may_meet || entries.axes[i].steps[kOfKeys] == 0;
    }
    sort_entries(queue, entries, argument.indices, entries.reach(kOfKeys) + limit_,
                 may_meet ? Equals::kSome : Equals::kNone, sorted);
    argument.keys = sorted.keys();
    argument.places = sorted.places();
    argument.count = static_cast<std::uint32_t>(entries.count());
    entries.set(argument.entries);
    columns_.for_each_part(
        [&](const Axes& part) { return part.count() < kMostNumber / argument.count; },
        [&](const Axes& part) {
          PutArgument one = argument;
          one.target += part.starts[kOfTarget];
          one.values += part.starts[kOfValues];
          one.columns_each = divider_by(part.count());
          one.work = argument.count * static_cast<std::uint32_t>(part.count());
          part.set(one.columns);
          queue.launch(kernel_, grid_of(one.work, kThreads), one);
        });
  }

  const IndexedViews& views_;
  std::int64_t limit_;
  Axes entries_;
  Axes columns_;
  PutArgument argument_ = {};
  Kernel kernel_{};
};

IndexedAxes::Names names_of(IndexedBy by) {
  return by == IndexedBy::kRow ? IndexedAxes::Names::kRows : IndexedAxes::Names::kElements;
}

// Checks all indices first, and waits for the answer: where one is out of bounds, nothing is
// written.
void take_by(const Queue& queue, const IndexedViews& views, IndexedAxes::Names names,
             const tnr_view_mut& out) {
  const IndexedPins pins(views, views.target, views.target_name, out, queue.device());
  require_shape(views, names);
  require_index_dtype(views);
  const QueueOrder order(queue, pins.pins());
  check_indices(queue, views);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_TAKE, 0, 0);
  const IndexedAxes axes(views, names);
  const std::int64_t unit = unit_of(views, axes);
  Axes all;
  for (std::uint32_t axis = 0; axis < axes.rank(); ++axis) all.add(axis_of(axes[axis]));
  all.add(row_of(axes, unit));
  all.order(kOfValues);
  all.join();
  all.for_each_part([](const Axes& part) { return part.count() < kMostNumber; },
                    [&](const Axes& part) {
                      TakeArgument argument = {};
                      argument.values = writable(out) + part.starts[kOfValues];
                      argument.target = bytes_of(views.target) + part.starts[kOfTarget];
                      argument.indices = indices_of(views);
                      argument.indices.data += part.starts[kOfIndices];
                      argument.units = static_cast<std::uint32_t>(part.count());
                      argument.unit_shift = logarithm_of(unit);
                      argument.as_bools = out.view.dtype == TNR_DTYPE_BOOL8 ? 1 : 0;
                      part.set(argument.nest);
                      queue.launch(Kernel::take, grid_of(part.count(), kThreads * kUnitsOfThread),
                                   argument);
                    });
  const std::uint64_t written = element_bytes(out.view);
  count_call(TNR_OPERATION_TAKE, written + element_bytes(views.indices), written);
}

void put_by(const Queue& queue, tnr_binary_op op, const IndexedViews& views,
            IndexedAxes::Names names, const tnr_view_mut& out) {
  const IndexedPins pins(views, views.values, views.values_name, out, queue.device());
  require_shape(views, names);
  check_put(op, out.view.dtype);
  require_index_dtype(views);
  const QueueOrder order(queue, pins.pins());
  check_indices(queue, views);
  if (is_empty(views.values)) return count_call(TNR_OPERATION_PUT, 0, 0);
  Putting(op, views, names, out).run(queue);
  const std::uint64_t moved = element_bytes(views.values);
  const std::uint64_t met = op != 0 ? moved : 0;
  count_call(TNR_OPERATION_PUT, moved + met + element_bytes(views.indices), moved);
}

}  // namespace

void enqueue(const Queue& queue, const DeviceTake& call) {
  const auto& [by, a, axis, indices, out] = call;
  take_by(queue, {a, "a", out.view, "out", indices, axis}, names_of(by), out);
}

void enqueue(const Queue& queue, const DevicePut& call) {
  const auto& [by, op, a, axis, indices, out] = call;
  put_by(queue, op, {out.view, "out", a, "a", indices, axis}, names_of(by), out);
}

}  // namespace tenure::cuda
