// Terms of an Einstein sum: views whose axes have labels.
#pragma once

#include <cstdint>
#include <optional>

#include "dense/einsum/spec.hpp"
#include "memory/scratch.hpp"
#include "tenure/tenure.h"

namespace tenure {

// Labels in an order.
struct LabelList {
  std::uint8_t labels[TNR_MAX_RANK];
  std::uint32_t count = 0;

  void add(unsigned label) noexcept { labels[count++] = static_cast<std::uint8_t>(label); }
  [[nodiscard]] const std::uint8_t* begin() const noexcept { return labels; }
  [[nodiscard]] const std::uint8_t* end() const noexcept { return labels + count; }
};

// Returns the view without its axes: only its memory.
tnr_view bare(const tnr_view& view) noexcept;
void add_axis(tnr_view& view, std::int64_t extent, std::int64_t stride) noexcept;

// An operand, a product of some, or the result. Its axes have distinct labels and more than one
// element each: an axis of one element is dropped, as it is broadcast.
class EinsumTerm {
 public:
  // A label that stands twice is the diagonal of its axes.
  EinsumTerm(const tnr_view& view, const std::uint8_t* labels) noexcept;
  // New memory, row-major; throws OUT_OF_MEMORY.
  EinsumTerm(const EinsumSpec& spec, tnr_dtype dtype, const LabelList& labels);

  [[nodiscard]] const tnr_view& view() const noexcept { return view_; }
  [[nodiscard]] tnr_view_mut as_output() const noexcept { return {view_}; }
  [[nodiscard]] LabelSet labels() const noexcept { return set_; }
  [[nodiscard]] std::uint32_t rank() const noexcept { return view_.rank; }
  [[nodiscard]] unsigned label(std::uint32_t axis) const noexcept { return labels_[axis]; }
  [[nodiscard]] bool contains(unsigned label) const noexcept { return (set_ & set_of(label)) != 0; }
  // 0 where the label is not there.
  [[nodiscard]] std::int64_t stride(unsigned label) const noexcept;
  [[nodiscard]] double element_count() const noexcept;

  // Returns the labels of the term that are in `set`, in the order of its axes.
  [[nodiscard]] LabelList list(LabelSet set) const noexcept {
    LabelList list;
    append(list, set);
    return list;
  }
  void append(LabelList& list, LabelSet set) const noexcept;
  // With these axes: of extent 1 where the label is not there.
  [[nodiscard]] tnr_view arranged(const LabelList& labels) const noexcept;
  // Whether the labels, in their order, are walked as one axis would be.
  [[nodiscard]] bool is_one_axis(const LabelList& labels) const noexcept;

 private:
  void add(unsigned label, std::int64_t extent, std::int64_t stride) noexcept;
  [[nodiscard]] std::uint32_t axis_of(unsigned label) const noexcept;

  tnr_view view_;
  LabelSet set_ = 0;
  std::uint8_t labels_[TNR_MAX_RANK];
  std::optional<Scratch> memory_;
};

}  // namespace tenure
