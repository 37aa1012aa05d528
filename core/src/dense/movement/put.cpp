// Puts elements and rows where indices say, or combines them with the elements there.
//
// Where indices are equal the order decides, so threads divide the elements of the target and not
// the indices: each takes a part of each row, a range of an axis other than the indexed one, or a
// range of the indexed axis. Each thread then puts the values that meet its part, in their order,
// and results are the same for any number of threads.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "dense/bool8.hpp"
#include "dense/movement.hpp"
#include "dense/movement/indexed.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/movement.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Parts of the target along its indexed axis: kIndexPartsOfThread for each thread where rows are
// long, as more indices may meet one part than another, and kMostIndexParts at most. Each part
// looks at all indices, so more parts would look longer than they put.
constexpr std::int64_t kIndexPartsOfThread = 4;
constexpr std::int64_t kMostIndexParts = 32;
// A part of a row, so long that threads do not write parts of one line and read runs of several.
constexpr std::int64_t kRowPartBytes = 256;

// How elements and rows are put: as they are, or combined by a kernel.
class Putting {
 public:
  Putting(tnr_binary_op op, tnr_dtype dtype)
      : width_(static_cast<std::int64_t>(element_size(dtype))),
        is_bool_(dtype == TNR_DTYPE_BOOL8),
        combines_(op != 0),
        rows_(combines_ ? row_operation(op, dtype) : copy_operation(dtype)),
        combine_(combines_ ? element_kernel(op, dtype) : nullptr) {}

  [[nodiscard]] bool combines() const noexcept { return combines_; }

  [[nodiscard]] kernels::IndexedKernel elements(std::int64_t bytes) const noexcept {
    if (combines_) return combine_;
    return kernels::indexing_kernels().put[is_bool_ ? kernels::kBool8Row : index_of_width(bytes)];
  }
  // Whether `bytes` adjacent bytes are put as one element.
  [[nodiscard]] bool takes_as_element(std::int64_t bytes) const noexcept {
    return bytes == width_ ||
           (!combines_ && !is_bool_ &&
            index_of_width(bytes) != static_cast<unsigned>(kernels::Width::kAny));
  }

  // For rows of one call.
  class Row {
   public:
    explicit Row(const Putting& putting) noexcept
        : putting_(putting), runner_(putting.rows_, *strip(nullptr, nullptr, 0)) {}

    void put(Byte* to, const Byte* from, std::int64_t bytes) noexcept {
      if (putting_.combines_) {
        static_cast<void>(runner_.run(*strip(to, from, bytes)));
        return;
      }
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
      if (putting_.is_bool_) write_as_bools(to, bytes);
    }

   private:
    const kernels::Strip* strip(Byte* to, const Byte* from, std::int64_t bytes) noexcept {
      const std::int64_t width = putting_.width_;
      sources_[0] = {to, width, width};
      sources_[1] = {from, width, width};
      strip_ = dense_strip(bytes / width, to, width, sources_);
      return &strip_;
    }

    const Putting& putting_;
    kernels::StripInput sources_[2];
    kernels::Strip strip_;
    StripRunner runner_;
  };

 private:
  // The row of Indexing::combine.
  static unsigned combine_row(tnr_binary_op op) {
    switch (op) {
      case TNR_BINARY_OP_ADD: return 0;
      case TNR_BINARY_OP_MUL: return 1;
      case TNR_BINARY_OP_MIN: return 2;
      case TNR_BINARY_OP_MAX: return 3;
      default:
        fail(TNR_STATUS_UNSUPPORTED, "op is %" PRId32 " but must be 0, ADD, MUL, MIN or MAX", op);
    }
  }
  static kernels::IndexedKernel element_kernel(tnr_binary_op op, tnr_dtype dtype) {
    const unsigned type = type_index(dtype);
    const kernels::IndexedKernel kernel =
        type == kNoType ? nullptr : kernels::indexing_kernels().combine[combine_row(op)][type];
    if (kernel == nullptr) refuse_dtype("put with an op", dtype);
    return kernel;
  }
  static Operation row_operation(tnr_binary_op op, tnr_dtype dtype) {
    static_cast<void>(combine_row(op));
    const unsigned type = type_index(dtype);
    if (type == kNoType) refuse_dtype("put with an op", dtype);
    return Operation(kernels::binary_kernels()[op - 1][type]);
  }

  std::int64_t width_;
  bool is_bool_;
  bool combines_;
  Operation rows_;
  kernels::IndexedKernel combine_;
};

// A part of the target, which one thread writes.
struct TargetPart {
  std::int64_t row_first = 0;  // bytes of each row
  std::int64_t row_bytes = 0;
  std::uint32_t axis = TNR_MAX_RANK;  // of IndexedAxes, whose indices [first, end) these are
  std::int64_t first = 0;
  std::int64_t end = 0;
  bool filters = false;  // only offsets in [least, bound), beyond which are the other parts
  std::int64_t least = 0;
  std::int64_t bound = 0;
};

class TargetParts {
 public:
  TargetParts(const Context& context, const IndexedAxes& axes, const Putting& putting,
              std::int64_t extent) noexcept
      : axes_(axes), extent_(extent) {
    const std::int64_t bytes = 3 * axes.count() * axes.row_bytes();
    const auto most = static_cast<std::int64_t>(context.thread_count());
    if (slice_count_of(context, bytes) == 1) return;
    longest_ = TNR_MAX_RANK;
    for (std::uint32_t axis = 0; axis < axes.rank(); ++axis) {
      if (axes[axis].is_indexed || axes[axis].extent < 2) continue;
      if (longest_ == TNR_MAX_RANK || axes[axis].extent > axes[longest_].extent) longest_ = axis;
    }
    if (longest_ != TNR_MAX_RANK) {
      cut_ = Cut::kAxis;
      count_ = std::min(most, axes[longest_].extent);
    } else if (putting.takes_as_element(axes.row_bytes())) {
      // One thread has put an element before others know that it is not theirs.
    } else if (extent >= kMostIndexParts) {
      cut_ = Cut::kIndices;
      const bool is_long = axes.row_bytes() >= kRowTurnBytes;
      count_ = std::min(is_long ? kIndexPartsOfThread * most : most, kMostIndexParts);
    } else {
      cut_ = Cut::kRows;
      count_ = std::clamp<std::int64_t>(axes.row_bytes() / kRowPartBytes, 1, most);
    }
  }

  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] TargetPart at(std::int64_t part) const noexcept {
    TargetPart one;
    one.row_bytes = axes_.row_bytes();
    if (count_ == 1) return one;
    if (cut_ == Cut::kRows) {
      const std::int64_t grains = axes_.row_bytes() / kLineBytes;
      one.row_first = slice_begin(grains, count_, part) * kLineBytes;
      const std::int64_t end = part + 1 == count_
                                   ? axes_.row_bytes()
                                   : slice_begin(grains, count_, part + 1) * kLineBytes;
      one.row_bytes = end - one.row_first;
    } else if (cut_ == Cut::kAxis) {
      one.axis = longest_;
      one.first = slice_begin(axes_[longest_].extent, count_, part);
      one.end = slice_begin(axes_[longest_].extent, count_, part + 1);
    } else {
      one.filters = true;
      const std::int64_t first = slice_begin(extent_, count_, part) * axes_.scale();
      const std::int64_t last = (slice_begin(extent_, count_, part + 1) - 1) * axes_.scale();
      one.least = std::min(first, last);
      one.bound = std::max(first, last) + 1;
    }
    return one;
  }

 private:
  enum class Cut : std::uint8_t { kRows, kAxis, kIndices };

  const IndexedAxes& axes_;
  std::int64_t extent_;
  std::uint32_t longest_ = TNR_MAX_RANK;  // not indexed
  Cut cut_ = Cut::kRows;
  std::int64_t count_ = 1;
};

// Puts the values that meet one part of the target.
class PartPutting {
 public:
  PartPutting(const Putting& putting, const TargetPart& part, std::int64_t row_bytes, Byte* target,
              const Byte* values, std::int64_t target_bytes) noexcept
      : putting_(putting),
        part_(part),
        row_bytes_(row_bytes),
        target_(target),
        values_(values),
        is_far_(putting.combines() && target_bytes > kNearBytes),
        turn_(is_far_ ? kFarTurn : IndexedLoops::kPanel) {}

  void put(const IndexedViews& views, const IndexedAxes& axes, const Nest& nest) const noexcept {
    const IndexedLoops loops(views, axes, nest);
    if (putting_.takes_as_element(row_bytes_)) {
      const kernels::IndexedKernel kernel = putting_.elements(row_bytes_);
      loops.for_each(0, loops.count(),
                     [&](const IndexedRows& rows) { put_elements(rows, kernel); });
      return;
    }
    Putting::Row row(putting_);
    loops.for_each(0, loops.count(), [&](const IndexedRows& rows) { put_rows(rows, row); });
  }

 private:
  // Half of a second cache, from which processors load ahead by themselves.
  static constexpr std::int64_t kNearBytes = std::int64_t{512} << 10;
  static constexpr std::int64_t kFarTurn = 32;

  // Rows of a panel that meet the part, in their order: their offsets in the target, and in the
  // values.
  struct Chosen {
    std::int64_t count = 0;
    std::int64_t offsets[IndexedLoops::kPanel];
    std::int64_t places[IndexedLoops::kPanel];
  };

  // Without a branch, which would be mispredicted for every other index.
  void choose(const IndexedRows& rows, Chosen& chosen) const noexcept {
    const std::int64_t least = part_.filters ? part_.least : INT64_MIN;
    const std::int64_t bound = part_.filters ? part_.bound : INT64_MAX;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const std::int64_t offset = rows.offsets[i];
      chosen.offsets[count] = i * rows.target_step + offset;
      chosen.places[count] = i * rows.values_step;
      count += static_cast<int>(offset >= least) & static_cast<int>(offset < bound);
    }
    chosen.count = count;
  }

  void put_rows(const IndexedRows& rows, Putting::Row& row) const noexcept {
    Byte* const to = target_ + rows.target + part_.row_first;
    const Byte* const from = values_ + rows.values + part_.row_first;
    Chosen chosen;
    choose(rows, chosen);
    const std::int64_t ahead = rows_ahead(part_.row_bytes);
    for (std::int64_t i = 0; i < chosen.count; ++i) {
      const std::int64_t next = std::min(i + ahead, chosen.count - 1);
      for (std::int64_t at = 0; at < part_.row_bytes; at += kRowTurnBytes) {
        const std::int64_t bytes = std::min(kRowTurnBytes, part_.row_bytes - at);
        if (next != i) fetch_row<1>(to + chosen.offsets[next] + at, bytes);
        if (next != i && part_.filters) fetch_row<0>(from + chosen.places[next] + at, bytes);
        row.put(to + chosen.offsets[i] + at, from + chosen.places[i] + at, bytes);
      }
    }
  }

  void put_elements(const IndexedRows& rows, kernels::IndexedKernel kernel) const noexcept {
    Byte* const to = target_ + rows.target;
    const Byte* const from = values_ + rows.values;
    for (std::int64_t first = 0; first < rows.count; first += turn_) {
      const std::int64_t end = std::min(first + turn_, rows.count);
      // Prefetches the elements of the next turn: they may come from memory.
      if (is_far_) {
        for (std::int64_t i = end; i < std::min(end + turn_, rows.count); ++i) {
          __builtin_prefetch(to + i * rows.target_step + rows.offsets[i], 1);
        }
      }
      kernel({end - first, to + first * rows.target_step, rows.target_step,
              from + first * rows.values_step, rows.values_step, rows.offsets + first, row_bytes_});
    }
  }

  const Putting& putting_;
  const TargetPart& part_;
  std::int64_t row_bytes_;
  Byte* target_;
  const Byte* values_;
  // Whether elements that are combined may come from memory, and the number of elements in one
  // turn.
  bool is_far_;
  std::int64_t turn_;
};

void put_checked(const Context& context, tnr_binary_op op, const IndexedViews& views,
                 const tnr_view_mut& out, IndexedAxes::Names names) {
  const Putting putting(op, out.view.dtype);
  if (!check_indices(context, views)) return;
  if (is_empty(views.values)) return count_call(TNR_OPERATION_PUT, 0, 0);
  const IndexedAxes axes(views, names);
  const TargetParts parts(context, axes, putting, views.target.shape[views.axis]);
  for_each_slice(
      context, parts.count(),
      [&](std::int64_t slice) noexcept {
        const TargetPart part = parts.at(slice);
        Nest nest(kIndexedOperands);
        std::int64_t starts[kIndexedOperands] = {};
        for (std::uint32_t axis = 0; axis < axes.rank(); ++axis) {
          std::int64_t extent = axes[axis].extent;
          if (axis == part.axis) {
            extent = part.end - part.first;
            for (unsigned i = 0; i < kIndexedOperands; ++i) {
              starts[i] += part.first * axes[axis].steps[i];
            }
          }
          nest.add(extent, axes[axis].steps);
        }
        nest.join();
        tnr_view indices = views.indices;
        indices.data = static_cast<const Byte*>(indices.data) + starts[kIndices];
        const IndexedViews moved = {views.target,      views.target_name, views.values,
                                    views.values_name, indices,           views.axis};
        PartPutting(putting, part, axes.row_bytes(), writable(out) + starts[kTarget],
                    static_cast<const Byte*>(views.values.data) + starts[kValues],
                    static_cast<std::int64_t>(element_bytes(views.target)))
            .put(moved, axes, nest);
      },
      Wake::kAtOnce);
  const std::uint64_t moved = element_bytes(views.values);
  const std::uint64_t met = putting.combines() ? moved : 0;
  count_call(TNR_OPERATION_PUT, moved + met + element_bytes(views.indices), moved);
}

}  // namespace

void check_put(tnr_binary_op op, tnr_dtype dtype) { static_cast<void>(Putting(op, dtype)); }

void put(const Context& context, tnr_binary_op op, const tnr_view& a, std::uint32_t axis,
         const tnr_view& indices, const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out")
        .enqueue(DevicePut{IndexedBy::kRow, op, a, axis, indices, out});
  const IndexedViews views = {out.view, "out", a, "a", indices, axis};
  const IndexedPins pins(views, a, "a", out);
  require_rows_shape(views);
  put_checked(context, op, views, out, IndexedAxes::Names::kRows);
}

void scatter(const Context& context, tnr_binary_op op, const tnr_view& a, std::uint32_t axis,
             const tnr_view& indices, const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out")
        .enqueue(DevicePut{IndexedBy::kElement, op, a, axis, indices, out});
  const IndexedViews views = {out.view, "out", a, "a", indices, axis};
  const IndexedPins pins(views, a, "a", out);
  require_elements_shape(views);
  put_checked(context, op, views, out, IndexedAxes::Names::kElements);
}

}  // namespace tenure
