#include "answer.hpp"

#include <algorithm>
#include <cstring>

namespace tenure::sweeps {
namespace {

std::string last_error() {
  const tnr_error* const error = tnr_last_error();
  return std::string(tnr_status_name(error->status)) + ": " + error->message;
}

// The matrix as if it had never been checked, so that a check reads it.
tnr_sparse_view unchecked(tnr_sparse_view view, std::uint32_t flags) {
  view.owner = view.major.owner = view.minor.owner = view.values.owner = 0;
  view.batch_offsets.owner = 0;
  view.flags = flags;
  return view;
}

// Copies elements of `width` bytes; `to` moves on behind them.
template <std::size_t width>
void copy_line(const Byte* from, std::int64_t count, std::int64_t step, Byte*& to) {
  for (std::int64_t i = 0; i < count; ++i, to += width) std::memcpy(to, from + i * step, width);
}

void copy_elements(const tnr_view& view, std::uint32_t axis, const Byte* from, std::size_t width,
                   Byte*& to) {
  const std::int64_t step =
      view.shape[axis] <= 1 ? 0 : view.strides[axis] * static_cast<std::int64_t>(width);
  if (axis + 1 < view.rank) {
    for (std::int64_t i = 0; i < view.shape[axis]; ++i) {
      copy_elements(view, axis + 1, from + i * step, width, to);
    }
    return;
  }
  switch (width) {
    case 1: return copy_line<1>(from, view.shape[axis], step, to);
    case 2: return copy_line<2>(from, view.shape[axis], step, to);
    case 4: return copy_line<4>(from, view.shape[axis], step, to);
    case 8: return copy_line<8>(from, view.shape[axis], step, to);
    default: return copy_line<16>(from, view.shape[axis], step, to);
  }
}

}  // namespace

tnr_sparse_view Handle::view() const {
  tnr_sparse_view view = {};
  view.struct_size = sizeof view;
  if (tnr_sparse_view_of(handle_, &view) != TNR_STATUS_OK) view = {};
  return view;
}

Bytes elements_of(const tnr_view& view) {
  const std::size_t width = tnr_dtype_size_bytes(view.dtype);
  std::size_t size_bytes = width;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    size_bytes *= static_cast<std::size_t>(view.shape[axis]);
  }
  Bytes bytes(size_bytes);
  if (bytes.empty()) return bytes;
  Byte* to = bytes.data();
  const auto* const from = static_cast<const Byte*>(view.data);
  if (view.rank == 0) {
    std::memcpy(to, from, width);
  } else {
    copy_elements(view, 0, from, width, to);
  }
  return bytes;
}

bool Answer::succeeds(tnr_status called) {
  status = called;
  if (called != TNR_STATUS_OK) message = last_error();
  return called == TNR_STATUS_OK;
}

void Answer::add(std::string name, const void* data, std::size_t size_bytes) {
  const auto* const bytes = static_cast<const Byte*>(data);
  parts.push_back({std::move(name), size_bytes == 0 ? Bytes() : Bytes(bytes, bytes + size_bytes)});
}

void Answer::add_elements(std::string name, const tnr_view& view) {
  parts.push_back({std::move(name), elements_of(view)});
}

void Answer::take(tnr_sparse* matrix) {
  if (!succeeds(matrix != nullptr ? TNR_STATUS_OK : tnr_last_error()->status)) return;
  made = Handle(matrix);
  const tnr_sparse_view view = made.view();
  const std::int64_t numbers[] = {view.format,      view.flags,        view.rows,
                                  view.cols,        view.block_rows,   view.block_cols,
                                  view.minor.dtype, view.values.dtype, view.minor.shape[0]};
  add("shape", numbers, sizeof numbers);
  add_elements("offsets or rows", view.major);
  add_elements("indices", view.minor);
  add_elements("values", view.values);
  if (view.batch_offsets.rank != 0) add_elements("offsets of the batch", view.batch_offsets);

  const tnr_sparse_view bare = unchecked(view, 0);
  if (tnr_sparse_check(&bare) != TNR_STATUS_OK) fault = "the result is broken: " + last_error();
  const tnr_sparse_view flagged = unchecked(view, view.flags);
  if (tnr_sparse_check(&flagged) != TNR_STATUS_OK) {
    false_flags = "the result's flags are wrong: " + last_error();
  }
}

std::string difference(const Answer& a, const Answer& b) {
  if (a.status != b.status || a.message != b.message) {
    const auto said = [](const Answer& answer) {
      return answer.status == TNR_STATUS_OK ? std::string("OK") : answer.message;
    };
    return said(a) + " / " + said(b);
  }
  for (std::size_t i = 0; i < std::min(a.parts.size(), b.parts.size()); ++i) {
    const Part& part = a.parts[i];
    const Part& other = b.parts[i];
    if (part == other) continue;
    if (part.bytes.size() != other.bytes.size()) {
      return part.name + ": " + std::to_string(part.bytes.size()) + " and " +
             std::to_string(other.bytes.size()) + " bytes";
    }
    const auto at = std::mismatch(part.bytes.begin(), part.bytes.end(), other.bytes.begin());
    return part.name + ", byte " + std::to_string(at.first - part.bytes.begin()) + " of " +
           std::to_string(part.bytes.size()) + ": " + std::to_string(*at.first) + " and " +
           std::to_string(*at.second);
  }
  return a.parts.size() == b.parts.size() ? "" : "another number of parts";
}

}  // namespace tenure::sweeps
