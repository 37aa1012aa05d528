// Triangles of matrices.
#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <utility>

#include "dense/loops/nest.hpp"
#include "dense/loops/streamed.hpp"
#include "dense/movement.hpp"
#include "memory/fresh_pages.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_call.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/movement.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Lines of matrices: rows, or columns where these are nearer in memory. Each line keeps its
// elements at one side of the diagonal.
class Triangle {
 public:
  Triangle(tnr_triangle part, std::int64_t diagonal, const tnr_view& a, const tnr_view_mut& out)
      : copy_(copy_operation(a.dtype)),
        in_(static_cast<const Byte*>(a.data)),
        out_(writable(out)),
        width_(static_cast<std::int64_t>(element_size(a.dtype))),
        is_in_place_(a.data == out.view.data && a.dtype != TNR_DTYPE_BOOL8),
        keeps_first_(part == TNR_TRIANGLE_LOWER),
        lines_(kOperands) {
    const tnr_view& view = out.view;
    std::uint32_t line_axis = view.rank - 2;
    std::uint32_t along = view.rank - 1;
    const std::int64_t rows = view.shape[line_axis];
    const std::int64_t columns = view.shape[along];
    // Beyond the corners one diagonal is as good as another.
    diagonal_ = std::clamp(diagonal, -rows, columns);
    if (std::abs(stride_of(view, line_axis)) < std::abs(stride_of(view, along)) && rows > 1) {
      std::swap(line_axis, along);
      diagonal_ = -diagonal_;
      keeps_first_ = !keeps_first_;
    }
    for (std::uint32_t axis = 0; axis + 2 < view.rank; ++axis) {
      const std::int64_t steps[] = {step_of(view, axis), step_of(a, axis)};
      lines_.add(view.shape[axis], steps);
    }
    const std::int64_t steps[] = {step_of(view, line_axis), step_of(a, line_axis)};
    lines_.add(view.shape[line_axis], steps);
    lines_of_matrix_ = view.shape[line_axis];
    length_ = view.shape[along];
    out_step_ = length_ == 1 ? width_ : step_of(view, along);
    in_step_ = length_ == 1 ? width_ : step_of(a, along);
    count_ = element_count(view) / length_;
  }

  [[nodiscard]] std::int64_t count() const noexcept { return count_; }

  void write(std::int64_t first, std::int64_t last) const noexcept {
    for (std::int64_t line = first; line < last; ++line) {
      std::int64_t position[TNR_MAX_RANK];
      std::int64_t offsets[kOperands];
      lines_.go_to(lines_.rank(), line, position, offsets);
      // Line i has the diagonal's element at i + diagonal.
      const std::int64_t cut = std::clamp<std::int64_t>(
          line % lines_of_matrix_ + diagonal_ + (keeps_first_ ? 1 : 0), 0, length_);
      const std::int64_t kept = keeps_first_ ? 0 : cut;
      const std::int64_t zero = keeps_first_ ? cut : 0;
      const std::int64_t kept_count = keeps_first_ ? cut : length_ - cut;
      if (!is_in_place_) {
        const Byte* const from = in_ + offsets[1] + kept * in_step_;
        run(kept_count, out_ + offsets[0] + kept * out_step_, {from, in_step_, width_});
      }
      Byte* const others = out_ + offsets[0] + zero * out_step_;
      if (width_ > static_cast<std::int64_t>(sizeof kZero)) [[unlikely]] {
        clear_wide(others, length_ - kept_count, out_step_, width_);
      } else {
        run(length_ - kept_count, others, {kZero.bytes, 0, width_});
      }
    }
  }

 private:
  static constexpr unsigned kOperands = 2;
  static constexpr Element kZero{};

  void run(std::int64_t count, Byte* to, const kernels::StripInput& source) const noexcept {
    if (count == 0) return;
    static_cast<void>(run_strip(copy_, {.count = count,
                                        .out = to,
                                        .out_step = out_step_,
                                        .width_bytes = width_,
                                        .source_count = 1,
                                        .in = &source,
                                        .parameters = nullptr}));
  }

  Operation copy_;
  const Byte* in_;
  Byte* out_;
  std::int64_t width_;
  bool is_in_place_;
  bool keeps_first_;
  std::int64_t diagonal_ = 0;
  Nest lines_;
  std::int64_t lines_of_matrix_ = 0;
  std::int64_t length_ = 0;
  std::int64_t out_step_ = 0;
  std::int64_t in_step_ = 0;
  std::int64_t count_ = 0;
};

// Refuses operands, which are on `device`.
void check_triangular(tnr_triangle part, const tnr_view& a, const tnr_view_mut& out,
                      const tnr_device& device) {
  check_view_mut(out, "out", device);
  check_view(a, "a", device);
  const tnr_view& view = out.view;
  require_dtype(a, "a", view.dtype, "out.dtype is");
  require_rank(a, "a", view.rank);
  if (view.rank < 2) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "out.rank is %" PRIu32 " but must be at least 2", view.rank);
  }
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    if (a.shape[axis] == view.shape[axis]) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "a.shape[%" PRIu32 "] is %" PRId64 " but out.shape[%" PRIu32 "] is %" PRId64, axis,
         a.shape[axis], axis, view.shape[axis]);
  }
  if (part != TNR_TRIANGLE_LOWER && part != TNR_TRIANGLE_UPPER) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "part is %" PRId32 ", which names no triangle", part);
  }
}

void write_triangle(const Context& context, const Triangle& triangle, Alias alias,
                    const tnr_view_mut& out) {
  if (alias == Alias::kNone && dense_count(out.view) != 0) {
    touch_fresh_pages(context, writable(out), moved_bytes(out.view));
  }
  const std::int64_t slice_count =
      std::min(triangle.count(), slice_count_of(context, 2 * moved_bytes(out.view)));
  for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
    triangle.write(slice_begin(triangle.count(), slice_count, slice),
                   slice_begin(triangle.count(), slice_count, slice + 1));
  });
}

}  // namespace

void triangular(const Context& context, tnr_triangle part, const tnr_view& a, std::int64_t diagonal,
                const tnr_view_mut& out) {
  const DeviceQueue* const queue = queue_on_device(context, out.view, "out");
  check_triangular(part, a, out, device_of(queue));
  Pins pins;
  pins.add_mut(out, "out");
  pins.add(a, "a");
  const Alias alias = require_alias(out.view, a, "a", SameView::kAllowed);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_TRIANGULAR, 0, 0);
  if (queue != nullptr) [[unlikely]] {
    queue->enqueue(DeviceTriangular{part, a, diagonal, out, pins});
  } else {
    write_triangle(context, Triangle(part, diagonal, a, out), alias, out);
  }
  count_call(TNR_OPERATION_TRIANGULAR, element_bytes(a), element_bytes(out.view));
}

}  // namespace tenure
