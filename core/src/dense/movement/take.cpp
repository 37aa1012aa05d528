// Elements and rows that indices name.
#include <algorithm>
#include <cstring>

#include "dense/bool8.hpp"
#include "dense/loops/streamed.hpp"
#include "dense/movement.hpp"
#include "dense/movement/indexed.hpp"
#include "memory/fresh_pages.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/movement.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Bytes of a part of a longer row. Threads share the parts.
constexpr std::int64_t kSharedRowBytes = std::int64_t{256} << 10;
// Shorter rows whose ends are within lines, and that do not follow each other, are mostly those
// lines, which are stored as ever.
constexpr std::int64_t kLongRowBytes = 1024;

class RowTaking {
 public:
  RowTaking(const tnr_view& a, const tnr_view_mut& out, bool is_dense, const IndexedAxes& axes,
            const Nest& nest) noexcept
      : in_(static_cast<const Byte*>(a.data)),
        out_(writable(out)),
        bytes_(axes.row_bytes()),
        is_bool_(a.dtype == TNR_DTYPE_BOOL8) {
    if (is_dense || bytes_ >= kLongRowBytes) {
      stores_ = stores_for(2 * nest.strip_count() * nest.inner_extent() * bytes_);
    }
  }

  // The bytes [first, last) of each row.
  void copy(const IndexedRows& rows, std::int64_t first, std::int64_t last,
            LineStage& stage) const noexcept {
    const std::int64_t size = last - first;
    const auto at = [&](std::int64_t row) {
      return in_ + rows.target + row * rows.target_step + rows.offsets[row] + first;
    };
    const std::int64_t ahead = rows_ahead(size);
    for (std::int64_t row = 0; row < rows.count; ++row) {
      Byte* const to = out_ + rows.values + row * rows.values_step + first;
      if (size < LineStage::kBytes) {
        if (row + ahead < rows.count) fetch_row<0, 2>(at(row + ahead), size);
        move(to, at(row), size, nullptr, stage);
        continue;
      }
      for (std::int64_t begin = 0; begin < size; begin += LineStage::kBytes) {
        std::int64_t place = begin + kAheadBytes;
        std::int64_t later = row;
        for (; place >= size; place -= size) ++later;
        const Byte* const next = later < rows.count ? at(later) + place : nullptr;
        move(to + begin, at(row) + begin, std::min(LineStage::kBytes, size - begin), next, stage);
      }
    }
  }

 private:
  static constexpr std::int64_t kAheadBytes = 4 * LineStage::kBytes;

  void move(Byte* to, const Byte* from, std::int64_t bytes, const Byte* next,
            LineStage& stage) const noexcept {
    alignas(kLineBytes) Byte bools[LineStage::kBytes];
    if (is_bool_) {
      std::memcpy(bools, from, static_cast<std::size_t>(bytes));
      write_as_bools(bools, bytes);
      from = bools;
    }
    if (stores_ == Stores::kStreamed) {
      stage.append(to, from, bytes, next);
    } else {
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }
  }

  const Byte* in_;
  Byte* out_;
  std::int64_t bytes_;
  bool is_bool_;
  Stores stores_ = Stores::kCached;
};

void take_rows(const Context& context, const IndexedViews& views, const tnr_view_mut& out,
               const IndexedAxes& axes, const Nest& nest) noexcept {
  const IndexedLoops loops(views, axes, nest);
  const RowTaking taking(views.target, out, dense_count(out.view) != 0, axes, nest);
  // Long rows by themselves, in parts.
  const std::int64_t bytes = axes.row_bytes();
  const std::int64_t part_count = std::max<std::int64_t>(1, bytes / kSharedRowBytes);
  const std::int64_t count = loops.count() * part_count;
  const std::int64_t slice_count =
      std::min(count, slice_count_of(context, 2 * loops.count() * bytes));
  for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
    const std::int64_t first = slice_begin(count, slice_count, slice);
    const std::int64_t last = slice_begin(count, slice_count, slice + 1);
    LineStage stage;
    if (part_count == 1) {
      loops.for_each(first, last,
                     [&](const IndexedRows& rows) { taking.copy(rows, 0, bytes, stage); });
    } else {
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t row = i / part_count;
        loops.for_each(row, row + 1, [&](const IndexedRows& rows) {
          taking.copy(rows, slice_begin(bytes, part_count, i % part_count),
                      slice_begin(bytes, part_count, i % part_count + 1), stage);
        });
      }
    }
    stage.flush();
    order_streamed_stores();
  });
}

void take_elements(const Context& context, const IndexedViews& views, const tnr_view_mut& out,
                   const IndexedAxes& axes, const Nest& nest) noexcept {
  const IndexedLoops loops(views, axes, nest);
  const bool is_bool = views.target.dtype == TNR_DTYPE_BOOL8;
  const kernels::IndexedKernel take =
      kernels::indexing_kernels()
          .take[is_bool ? kernels::kBool8Row : index_of_width(axes.row_bytes())];
  const Byte* const from = static_cast<const Byte*>(views.target.data);
  Byte* const to = writable(out);
  const auto index_bytes = static_cast<std::int64_t>(element_size(views.indices.dtype));
  const std::int64_t bytes = loops.count() * (2 * axes.row_bytes() + index_bytes);
  const std::int64_t slice_count = slice_count_of(context, bytes);
  for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
    loops.for_each(slice_begin(loops.count(), slice_count, slice),
                   slice_begin(loops.count(), slice_count, slice + 1),
                   [&](const IndexedRows& rows) {
                     take({rows.count, to + rows.values, rows.values_step, from + rows.target,
                           rows.target_step, rows.offsets, axes.row_bytes()});
                   });
  });
}

void take_checked(const Context& context, const IndexedViews& views, const tnr_view_mut& out,
                  IndexedAxes::Names names) {
  if (!check_indices(context, views)) return;
  static_cast<void>(kernels::indexing_kernels());  // throws where no set can be chosen
  if (is_empty(out.view)) return count_call(TNR_OPERATION_TAKE, 0, 0);
  const IndexedAxes axes(views, names);
  Nest nest(kIndexedOperands);
  for (std::uint32_t axis = 0; axis < axes.rank(); ++axis) {
    nest.add(axes[axis].extent, axes[axis].steps);
  }
  nest.arrange(kValues);
  if (dense_count(out.view) != 0) {
    touch_fresh_pages(context, writable(out), moved_bytes(out.view));
  }
  const auto width = static_cast<std::int64_t>(element_size(out.view.dtype));
  const bool is_row = axes.row_bytes() != width && index_of_width(axes.row_bytes()) ==
                                                       static_cast<unsigned>(kernels::Width::kAny);
  if (is_row || (axes.row_bytes() != width && out.view.dtype == TNR_DTYPE_BOOL8)) {
    take_rows(context, views, out, axes, nest);
  } else {
    take_elements(context, views, out, axes, nest);
  }
  const std::uint64_t written = element_bytes(out.view);
  count_call(TNR_OPERATION_TAKE, written + element_bytes(views.indices), written);
}

}  // namespace

void take(const Context& context, const tnr_view& a, std::uint32_t axis, const tnr_view& indices,
          const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out")
        .enqueue(DeviceTake{IndexedBy::kRow, a, axis, indices, out});
  const IndexedViews views = {a, "a", out.view, "out", indices, axis};
  const IndexedPins pins(views, a, "a", out);
  require_rows_shape(views);
  take_checked(context, views, out, IndexedAxes::Names::kRows);
}

void gather(const Context& context, const tnr_view& a, std::uint32_t axis, const tnr_view& indices,
            const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out")
        .enqueue(DeviceTake{IndexedBy::kElement, a, axis, indices, out});
  const IndexedViews views = {a, "a", out.view, "out", indices, axis};
  const IndexedPins pins(views, a, "a", out);
  require_elements_shape(views);
  take_checked(context, views, out, IndexedAxes::Names::kElements);
}

}  // namespace tenure
