// Arrays with more elements around them, or again and again.
#include <algorithm>
#include <cinttypes>

#include "dense/checks.hpp"
#include "dense/movement.hpp"
#include "dense/movement/pieces.hpp"
#include "tenure/counters.hpp"
#include "tenure/movement.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

// Indices of an axis of the output whose elements are those of the input in a row: `count` of them,
// and the same `repeats` times, every `period` indices.
struct Segment {
  std::int64_t first;
  std::int64_t count;
  std::int64_t from;  // of the input; kNowhere: those of the constant
  std::int64_t step;  // 1, 0 or -1
  std::int64_t repeats;
  std::int64_t period;
};
constexpr std::int64_t kNowhere = -1;

// The segments of an axis: a part of a period, whole periods with at most two segments each, and
// another part of a period.
class Segments {
 public:
  Segments(tnr_pad_mode mode, std::int64_t extent, std::int64_t before, std::int64_t first,
           std::int64_t end) noexcept {
    if (mode == TNR_PAD_MODE_CONSTANT || mode == TNR_PAD_MODE_EDGE || extent == 1) {
      add_around(mode == TNR_PAD_MODE_CONSTANT, extent, before, first, end);
    } else if (mode == TNR_PAD_MODE_WRAP) {
      add_periods(extent, extent, 0, before, first, end);
    } else if (mode == TNR_PAD_MODE_SYMMETRIC) {
      add_periods(extent, extent, extent, before, first, end);
    } else {
      add_periods(extent, extent - 1, extent - 1, before, first, end);
    }
  }

  [[nodiscard]] const Segment* begin() const noexcept { return segments_; }
  [[nodiscard]] const Segment* end() const noexcept { return segments_ + count_; }

 private:
  void add(std::int64_t first, std::int64_t end, std::int64_t from, std::int64_t step) noexcept {
    if (first < end) segments_[count_++] = {first, end - first, from, step, 1, 0};
  }

  void add_around(bool is_constant, std::int64_t extent, std::int64_t before, std::int64_t first,
                  std::int64_t end) noexcept {
    // Where the input lies in the output; `before` may be far outside of both.
    const std::int64_t a_begin = std::clamp(before, first, end);
    const std::int64_t a_end =
        before > end ? end : std::clamp(end - before < extent ? end : before + extent, first, end);
    add(first, a_begin, is_constant ? kNowhere : 0, 0);
    add(a_begin, a_end, a_begin - before, 1);
    add(std::max(a_begin, a_end), end, is_constant ? kNowhere : extent - 1, 0);
  }

  // A period is `forth` elements from the first on, then `back` from the last (of the array, as
  // `extent` says) on.
  void add_periods(std::int64_t extent, std::int64_t forth, std::int64_t back, std::int64_t before,
                   std::int64_t first, std::int64_t end) noexcept {
    const std::int64_t period = forth + back;
    std::int64_t phase = (first - before) % period;
    if (phase < 0) phase += period;
    for (std::int64_t at = first; at < end;) {
      const bool is_forth = phase < forth;
      const std::int64_t run = std::min(end - at, (is_forth ? forth : period) - phase);
      const std::int64_t from = is_forth ? phase : extent - 1 - (phase - forth);
      const std::int64_t repeats = phase == 0 ? (end - at) / period : 0;
      if (repeats < 2) {
        add(at, at + run, from, is_forth ? 1 : -1);
        at += run;
        phase = phase + run == period ? 0 : phase + run;
        continue;
      }
      segments_[count_++] = {at, forth, 0, 1, repeats, period};
      if (back != 0) segments_[count_++] = {at + forth, back, extent - 1, -1, repeats, period};
      at += repeats * period;
    }
  }

  std::uint32_t count_ = 0;
  Segment segments_[8];  // two of each part, and of one whole period more
};

// The boxes of a piece, each of one segment of each axis.
class Padding {
 public:
  Padding(const PartCopier& copier, tnr_pad_mode mode, const tnr_view& a,
          const std::int64_t* before, const Element& value, const tnr_view& out) noexcept
      : copier_(copier), mode_(mode), a_(a), before_(before), value_(value), out_(out) {}

  void write(const Box& box) const noexcept { walk(box, 0, a_, part_of(out_, box)); }

 private:
  // `to` is the box with the segments of the axes before `axis`, `from` what goes there.
  void walk(const Box& box, std::uint32_t axis, const tnr_view& from,
            const tnr_view& to) const noexcept {
    if (axis == out_.rank) return copier_.copy(from, to);
    const Segments segments(mode_, a_.shape[axis], before_[axis], box.first[axis], box.end[axis]);
    for (const Segment& segment : segments) {
      tnr_view target = to;
      move(target, segment.first - box.first[axis], step_of(out_, axis));
      target.shape[axis] = segment.count;
      if (segment.from == kNowhere) {
        copier_.fill(value_, target);
        continue;
      }
      tnr_view source = from;
      move(source, segment.from, step_of(a_, axis));
      source.shape[axis] = segment.count;
      source.strides[axis] = segment.step * stride_of(a_, axis);
      if (segment.repeats > 1) {
        repeat(box, axis, segment, source, target);
      } else {
        walk(box, axis + 1, source, target);
      }
    }
  }

  // Repeated as an axis more, along which the input has a stride of 0, while there is room for it.
  void repeat(const Box& box, std::uint32_t axis, const Segment& segment, tnr_view& source,
              tnr_view& target) const noexcept {
    const std::int64_t stride = stride_of(out_, axis);
    if (target.rank == TNR_MAX_RANK) {
      for (std::int64_t i = 0; i < segment.repeats; ++i) {
        walk(box, axis + 1, source, target);
        move(target, segment.period, step_of(out_, axis));
      }
      return;
    }
    source.shape[source.rank] = target.shape[target.rank] = segment.repeats;
    source.strides[source.rank++] = 0;
    target.strides[target.rank++] = segment.period * stride;
    walk(box, axis + 1, source, target);
  }

  static void move(tnr_view& view, std::int64_t count, std::int64_t step) noexcept {
    view.data = static_cast<const kernels::Byte*>(view.data) + count * step;
  }

  const PartCopier& copier_;
  tnr_pad_mode mode_;
  const tnr_view& a_;
  const std::int64_t* before_;
  const Element& value_;
  const tnr_view& out_;
};

void require_taken(tnr_pad_mode mode, const tnr_pad_attributes& attributes, std::uint32_t rank) {
  if (mode != TNR_PAD_MODE_CONSTANT && is_given(attributes.value)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->value is given but mode is not CONSTANT");
  }
  for (std::uint32_t axis = rank; axis < TNR_MAX_RANK; ++axis) {
    if (attributes.before[axis] == 0) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->before[%" PRIu32 "] is %" PRId64 " but must be 0, as out.rank is %" PRIu32,
         axis, attributes.before[axis], rank);
  }
}

void require_padding(tnr_pad_mode mode, const tnr_view& a, const std::int64_t* before,
                     const tnr_view& out) {
  for (std::uint32_t axis = 0; axis < out.rank; ++axis) {
    if (a.shape[axis] == 0 && mode != TNR_PAD_MODE_CONSTANT) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "a.shape[%" PRIu32 "] is 0 but out.shape[%" PRIu32 "] is %" PRId64
           ", whose elements are some of a's",
           axis, axis, out.shape[axis]);
    }
    std::int64_t index;
    if (__builtin_sub_overflow(0, before[axis], &index) ||
        __builtin_sub_overflow(out.shape[axis], before[axis], &index)) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->before[%" PRIu32 "] is %" PRId64 ", beyond every index", axis,
           before[axis]);
    }
  }
}

// The element that CONSTANT pads with.
Element checked_padding(tnr_pad_mode mode, const tnr_view& a, const tnr_pad_attributes& attributes,
                        const tnr_view& out) {
  require_dtype(a, "a", out.dtype, "out.dtype is");
  require_rank(a, "a", out.rank);
  if (mode < TNR_PAD_MODE_CONSTANT || mode > TNR_PAD_MODE_WRAP) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "mode is %" PRId32 ", which names no padding", mode);
  }
  require_taken(mode, attributes, out.rank);
  Element value{};
  if (is_given(attributes.value)) {
    value = to_element(attributes.value, out.dtype, "attributes->value");
  }
  if (!is_empty(out)) require_padding(mode, a, attributes.before, out);
  return value;
}

}  // namespace

void check_pad(tnr_pad_mode mode, const tnr_view& a, const tnr_pad_attributes& attributes,
               const tnr_view& out) {
  (void)checked_padding(mode, a, attributes, out);
}

void pad(const Context& context, tnr_pad_mode mode, const tnr_view& a,
         const tnr_pad_attributes& attributes, const tnr_view_mut& out) {
  check_view_mut(out, "out");
  check_view(a, "a");
  Pins pins;
  pins.add_mut(out, "out");
  const tnr_view& whole = out.view;
  pins.add(a, "a");
  require_alias(whole, a, "a", SameView::kRefused);
  const Element value = checked_padding(mode, a, attributes, whole);
  if (is_empty(whole)) return count_call(TNR_OPERATION_PAD, 0, 0);

  const std::int64_t call_bytes = 2 * moved_bytes(whole);
  const PartCopier copier(whole, call_bytes);
  copier.touch_output(context);
  const Padding padding(copier, mode, a, attributes.before, value, whole);
  Pieces(whole, call_bytes).for_each(context, [&](const Box& box) noexcept { padding.write(box); });
  count_call(TNR_OPERATION_PAD, is_empty(a) ? 0 : element_bytes(a), element_bytes(whole));
}

}  // namespace tenure
