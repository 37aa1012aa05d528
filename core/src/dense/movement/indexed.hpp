// Elements that indices along an axis name: their checks, and the loops over them.
//
// take and gather read the elements of a target where indices say, put and scatter write them; the
// other side, in the plain order of its axes, is the values. So all four are one nest over target,
// values and indices, in which steps of the target along indexed axes are 0.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/dispatch.hpp"
#include "cpu/indexed.hpp"
#include "dense/loops/nest.hpp"
#include "memory/traffic.hpp"
#include "tenure/blob.hpp"
#include "tenure/context.hpp"
#include "tenure/view.hpp"

namespace tenure {

struct IndexedViews {
  const tnr_view& target;
  const char* target_name;
  const tnr_view& values;
  const char* values_name;
  const tnr_view& indices;
  std::uint32_t axis;  // of the target
};

// The checks of all but shapes and indices; while it lives, owners are pinned.
class IndexedPins {
 public:
  // `in` is the one of the target and the values that is read.
  IndexedPins(const IndexedViews& views, const tnr_view& in, const char* name,
              const tnr_view_mut& out, const tnr_device& device = kCpu);

  [[nodiscard]] const Pins& pins() const noexcept { return pins_; }

 private:
  Pins pins_;
};

// Throw INVALID_ARGUMENT. The first is for indices that name all elements of the target at one
// index of its axis (take, put), the second for indices that name one element each (gather,
// scatter).
void require_rows_shape(const IndexedViews& views);
void require_elements_shape(const IndexedViews& views);

// Throws UNSUPPORTED for an operation of a put other than 0, ADD, MUL, MIN and MAX, and for a dtype
// that it does not take.
void check_put(tnr_binary_op op, tnr_dtype dtype);

// Throws INVALID_ARGUMENT for a dtype other than i32 and i64.
void require_index_dtype(const IndexedViews& views);
// Refuses the index at a position, which is outside of the target's axis, as data.
[[gnu::cold]] void refuse_index(const IndexedViews& views, const std::int64_t* position,
                                std::int64_t index);
// Refuses the first index that is outside of the target's axis, and returns false where the refusal
// is noted and not thrown. Throws INVALID_ARGUMENT for a dtype that is none of an index.
[[nodiscard]] bool check_indices(const Context& context, const IndexedViews& views);

enum IndexedOperand : unsigned { kTarget, kValues, kIndices, kIndexedOperands };

// The axes of a call, in the order of those of the values.
class IndexedAxes {
 public:
  enum class Names : std::uint8_t { kRows, kElements };
  // Checked, and not empty.
  IndexedAxes(const IndexedViews& views, Names names) noexcept;

  struct Axis {
    std::int64_t extent;
    std::int64_t steps[kIndexedOperands];  // bytes
    bool is_indexed;
  };
  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  [[nodiscard]] const Axis& operator[](std::uint32_t axis) const noexcept { return axes_[axis]; }
  // Adjacent bytes of one index, in the target and in the values: an element, or a row of elements.
  [[nodiscard]] std::int64_t row_bytes() const noexcept { return row_bytes_; }
  // From one index to the next along the target's axis, in bytes.
  [[nodiscard]] std::int64_t scale() const noexcept { return scale_; }
  // Rows of the values.
  [[nodiscard]] std::int64_t count() const noexcept;

 private:
  void add(std::int64_t extent, std::int64_t target, std::int64_t values, std::int64_t indices,
           bool is_indexed) noexcept;
  void join_rows(std::int64_t width_bytes) noexcept;

  std::uint32_t rank_ = 0;
  Axis axes_[TNR_MAX_RANK];
  std::int64_t row_bytes_ = 0;
  std::int64_t scale_ = 0;
};

// Rows that are found together: of a strip along which all steps are the same.
struct IndexedRows {
  std::int64_t count;
  std::int64_t target;  // bytes from the first element of the target to where row 0 counts from
  std::int64_t values;
  std::int64_t target_step;
  std::int64_t values_step;
  const std::int64_t* offsets;  // of each row in the target, without its step
};

// Returns how many rows ahead lines are prefetched while one row is moved. Rows are too far apart
// for the prefetchers of processors, which would begin anew with each.
constexpr std::int64_t rows_ahead(std::int64_t row_bytes) noexcept {
  constexpr std::int64_t kAheadBytes = 4096;
  return std::max<std::int64_t>(1, kAheadBytes / row_bytes);
}
// Bytes of a long row that are moved in one turn. Between turns, equally many bytes of the next row
// are prefetched.
inline constexpr std::int64_t kRowTurnBytes = 1024;
// `kLocality` 2 is the second cache: it waits for more lines of memory at a time than the first one.
template <int kWrites, int kLocality = 3>
inline void fetch_row(const kernels::Byte* row, std::int64_t bytes) noexcept {
  for (std::int64_t at = 0; at < bytes; at += kLineBytes) {
    __builtin_prefetch(row + at, kWrites, kLocality);
  }
  // The last line of a row that begins within one.
  __builtin_prefetch(row + bytes - 1, kWrites, kLocality);
}

// The loops of a call, or of a slice of it.
class IndexedLoops {
 public:
  // Rows whose offsets are found at a time.
  static constexpr std::int64_t kPanel = 512;

  // `nest` walks the rows, with the operands of IndexedOperand.
  IndexedLoops(const IndexedViews& views, const IndexedAxes& axes, const Nest& nest) noexcept
      : nest_(nest),
        indices_(static_cast<const kernels::Byte*>(views.indices.data)),
        load_(kernels::indexing_kernels().offsets[views.indices.dtype == TNR_DTYPE_I32 ? 0 : 1]),
        scale_(axes.scale()),
        fetches_(axes.row_bytes() < kLineBytes) {}

  [[nodiscard]] std::int64_t count() const noexcept {
    return nest_.strip_count() * nest_.inner_extent();
  }

  // Calls body(IndexedRows) for rows [first, last), in their order.
  template <class Body>
  void for_each(std::int64_t first, std::int64_t last, const Body& body) const noexcept {
    if (first == last) return;
    const std::int64_t inner = nest_.inner_extent();
    std::int64_t offsets[kPanel];
    std::int64_t row = first % inner;
    std::int64_t left = last - first;
    nest_.for_each_strip(first / inner, (last - 1) / inner + 1, [&](const std::int64_t* starts) {
      for (; row < inner && left > 0;) {
        const std::int64_t count = std::min({kPanel, inner - row, left});
        const std::int64_t step = nest_.inner_step(kIndices);
        const kernels::Byte* const indices = indices_ + starts[kIndices] + row * step;
        load_({count, indices, step, scale_}, offsets);
        // Prefetchers do not expect the next panel's.
        const std::int64_t later = std::min({kPanel, inner - row - count, left - count});
        if (fetches_ && step > 0 && step < kLineBytes && later > 0)
          fetch_row<0, 2>(indices + count * step, later * step);
        body(IndexedRows{count, starts[kTarget] + row * nest_.inner_step(kTarget),
                         starts[kValues] + row * nest_.inner_step(kValues),
                         nest_.inner_step(kTarget), nest_.inner_step(kValues), offsets});
        row += count;
        left -= count;
      }
      row = 0;
    });
  }

 private:
  const Nest& nest_;
  const kernels::Byte* indices_;
  void (*load_)(const kernels::IndexRun&, std::int64_t*);
  std::int64_t scale_;
  bool fetches_;  // indices; longer rows take as long as they do
};

}  // namespace tenure
