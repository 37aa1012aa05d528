#include "dense/einsum/term.hpp"

#include "tenure/dtype.hpp"
#include "tenure/status.hpp"

namespace tenure {

tnr_view bare(const tnr_view& view) noexcept {
  tnr_view memory = view;
  memory.rank = 0;
  return memory;
}

void add_axis(tnr_view& view, std::int64_t extent, std::int64_t stride) noexcept {
  view.shape[view.rank] = extent;
  view.strides[view.rank] = stride;
  ++view.rank;
}

EinsumTerm::EinsumTerm(const tnr_view& view, const std::uint8_t* labels) noexcept
    : view_(bare(view)) {
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    if (view.shape[axis] == 1) continue;
    if (contains(labels[axis])) {
      // Unsigned: the strides of an empty view may be any numbers.
      std::int64_t& stride = view_.strides[axis_of(labels[axis])];
      stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) +
                                         static_cast<std::uint64_t>(view.strides[axis]));
    } else {
      add(labels[axis], view.shape[axis], view.strides[axis]);
    }
  }
}

EinsumTerm::EinsumTerm(const EinsumSpec& spec, tnr_dtype dtype, const LabelList& labels) : view_{} {
  view_.dtype = dtype;
  view_.device.kind = TNR_DEVICE_KIND_CPU;
  std::int64_t count = 1;
  for (std::uint32_t axis = labels.count; axis-- > 0;) {
    const std::int64_t extent = spec.extent(labels.labels[axis]);
    view_.shape[axis] = extent;
    view_.strides[axis] = count;
    labels_[axis] = labels.labels[axis];
    set_ |= set_of(labels_[axis]);
    if (__builtin_mul_overflow(count, extent, &count)) {
      fail(TNR_STATUS_OUT_OF_MEMORY, "an intermediate result has more than 2^63 - 1 elements");
    }
  }
  view_.rank = labels.count;
  memory_.emplace(count, static_cast<std::int64_t>(element_size(dtype)));
  view_.data = view_.base = memory_->data();
  view_.size_bytes = memory_->size_bytes();
}

std::int64_t EinsumTerm::stride(unsigned label) const noexcept {
  return contains(label) ? view_.strides[axis_of(label)] : 0;
}

double EinsumTerm::element_count() const noexcept {
  double count = 1;
  for (std::uint32_t axis = 0; axis < view_.rank; ++axis) {
    count *= static_cast<double>(view_.shape[axis]);
  }
  return count;
}

void EinsumTerm::append(LabelList& list, LabelSet set) const noexcept {
  for (std::uint32_t axis = 0; axis < view_.rank; ++axis) {
    if ((set & set_of(labels_[axis])) != 0) list.add(labels_[axis]);
  }
}

tnr_view EinsumTerm::arranged(const LabelList& labels) const noexcept {
  tnr_view view = bare(view_);
  for (const unsigned label : labels) {
    add_axis(view, contains(label) ? view_.shape[axis_of(label)] : 1, stride(label));
  }
  return view;
}

bool EinsumTerm::is_one_axis(const LabelList& labels) const noexcept {
  for (std::uint32_t i = 1; i < labels.count; ++i) {
    const std::uint32_t inner = axis_of(labels.labels[i]);
    if (stride(labels.labels[i - 1]) != view_.strides[inner] * view_.shape[inner]) return false;
  }
  return true;
}

void EinsumTerm::add(unsigned label, std::int64_t extent, std::int64_t stride) noexcept {
  labels_[view_.rank] = static_cast<std::uint8_t>(label);
  set_ |= set_of(label);
  add_axis(view_, extent, stride);
}

std::uint32_t EinsumTerm::axis_of(unsigned label) const noexcept {
  std::uint32_t axis = 0;
  while (labels_[axis] != label) ++axis;
  return axis;
}

}  // namespace tenure
