// The slow path of the checker: the errors of a view, and views made from loose arguments.
#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "tenure/view.hpp"
#include "view/plain.hpp"

namespace tenure {
namespace {

// "out.flags", or "flags" where the parameters themselves are meant.
struct Field {
  char text[96];

  Field(const char* name, const char* field) noexcept {
    std::snprintf(text, sizeof text, "%s%s%s", name, *name != '\0' ? "." : "", field);
  }
  Field(const char* name, const char* field, std::uint32_t axis) noexcept {
    std::snprintf(text, sizeof text, "%s%s%s[%" PRIu32 "]", name, *name != '\0' ? "." : "", field,
                  axis);
  }
};

Refusal words_refusal(const tnr_view& view, const char* name, const tnr_device& device) {
  if (element_size(view.dtype) == 0) {
    return error_of(TNR_STATUS_UNSUPPORTED,
                    "%s is 0x%08" PRIx32 " (%" PRIu32 " bits, %" PRIu32
                    " lanes) but must have whole bytes and at least 1 lane",
                    Field(name, "dtype").text, view.dtype, bits_of(view.dtype),
                    lanes_of(view.dtype));
  }
  if (!(view.device == device)) {
    return error_of(TNR_STATUS_UNSUPPORTED, "%s is %s but must be %s", Field(name, "device").text,
                    DeviceName(view.device).text, DeviceName(device).text);
  }
  if ((view.flags & ~TNR_VIEW_EXCLUSIVE) != 0) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s is 0x%" PRIx32 " but only 0x%x is known",
                    Field(name, "flags").text, view.flags, TNR_VIEW_EXCLUSIVE);
  }
  if (view.bit_offset != 0) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "%s is %" PRIu32 " but must be 0 for a dtype of whole bytes",
                    Field(name, "bit_offset").text, view.bit_offset);
  }
  if (view.reserved != 0) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s is %" PRIu64 " but must be 0",
                    Field(name, "reserved").text, view.reserved);
  }
  if (view.rank > TNR_MAX_RANK) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s is %" PRIu32 " but must be at most %d",
                    Field(name, "rank").text, view.rank, TNR_MAX_RANK);
  }
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    if (view.shape[axis] < 0) {
      return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s is %" PRId64 " but must not be negative",
                      Field(name, "shape", axis).text, view.shape[axis]);
    }
  }
  return std::nullopt;
}

Refusal memory_refusal(const tnr_view& view, const char* name) {
  const std::uint64_t base = reinterpret_cast<std::uintptr_t>(view.base);
  if (view.size_bytes > static_cast<std::uint64_t>(kMaxSpanBytes)) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s is %" PRIu64 " but must be at most %" PRId64,
                    Field(name, "size_bytes").text, view.size_bytes, kMaxSpanBytes);
  }
  if (view.size_bytes != 0 && view.base == nullptr) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s is NULL but size_bytes is %" PRIu64,
                    Field(name, "base").text, view.size_bytes);
  }
  if (view.size_bytes != 0 && view.data == nullptr) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s is NULL but size_bytes is %" PRIu64,
                    Field(name, "data").text, view.size_bytes);
  }
  if (base + view.size_bytes < base) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "%s is %" PRIu64 " but only %" PRIu64 " bytes follow base in the address space",
                    Field(name, "size_bytes").text, view.size_bytes, UINT64_MAX - base);
  }
  return std::nullopt;
}

Refusal count_refusal(const tnr_view& view, const char* name) {
  std::int64_t count = 1;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    if (__builtin_mul_overflow(count, view.shape[axis], &count) || count > TNR_MAX_ELEMENTS) {
      return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s is %s, more than %" PRId64 " elements",
                      Field(name, "shape").text, shape_text(view.rank, view.shape).text,
                      std::int64_t{TNR_MAX_ELEMENTS});
    }
  }
  const auto element_bytes = static_cast<std::int64_t>(element_size(view.dtype));
  if (__builtin_mul_overflow(count, element_bytes, &count)) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "%s is %s, whose elements have more than %" PRId64 " bytes",
                    Field(name, "shape").text, shape_text(view.rank, view.shape).text, INT64_MAX);
  }
  return std::nullopt;
}

// Refuses a first element, the one at `data`, that is not inside the lent memory or not aligned.
Refusal first_element_refusal(const tnr_view& view, const char* name) {
  const std::uint64_t element_bytes = element_size(view.dtype);
  const std::uint64_t base = reinterpret_cast<std::uintptr_t>(view.base);
  const std::uint64_t data = reinterpret_cast<std::uintptr_t>(view.data);
  if (data < base) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s lies %" PRIu64 " bytes below base",
                    Field(name, "data").text, base - data);
  }
  const std::uint64_t offset = data - base;
  if (offset > view.size_bytes || view.size_bytes - offset < element_bytes) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "%s lies at byte %" PRIu64 ", where an element of %" PRIu64
                    " bytes does not fit into %" PRIu64 " lent",
                    Field(name, "data").text, offset, element_bytes, view.size_bytes);
  }
  if (data % element_alignment(view.dtype) != 0) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "%s is 0x%" PRIx64 " but must be a multiple of %zu", Field(name, "data").text,
                    data, element_alignment(view.dtype));
  }
  return std::nullopt;
}

// Walks away from the first element, one axis after the other, and blames the axis on which the
// bytes lent are left.
Refusal reach_refusal(const tnr_view& view, const char* name) {
  const auto element_bytes = static_cast<std::int64_t>(element_size(view.dtype));
  const auto size_bytes = static_cast<std::int64_t>(view.size_bytes);
  std::int64_t lowest = static_cast<const char*>(view.data) - static_cast<const char*>(view.base);
  std::int64_t end = lowest + element_bytes;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    if (view.shape[axis] <= 1) continue;
    const Field field(name, "strides", axis);
    std::int64_t bytes;
    bool overflow = __builtin_mul_overflow(view.shape[axis] - 1, view.strides[axis], &bytes);
    overflow |= __builtin_mul_overflow(bytes, element_bytes, &bytes);
    std::int64_t& reached = view.strides[axis] < 0 ? lowest : end;
    overflow |= __builtin_add_overflow(reached, bytes, &reached);
    if (overflow) {
      return error_of(TNR_STATUS_INVALID_ARGUMENT,
                      "%s is %" PRId64 ", which over an extent of %" PRId64
                      " reaches beyond the address space",
                      field.text, view.strides[axis], view.shape[axis]);
    }
    if (lowest < 0 || end > size_bytes) {
      return error_of(TNR_STATUS_INVALID_ARGUMENT,
                      "%s is %" PRId64 ", which reaches byte %" PRId64 " of %" PRId64 " lent",
                      field.text, view.strides[axis], reached, size_bytes);
    }
  }
  return std::nullopt;
}

std::uint64_t magnitude(std::int64_t stride) {
  const auto bits = static_cast<std::uint64_t>(stride);
  return stride < 0 ? 0 - bits : bits;
}

}  // namespace

Refusal view_refusal(const tnr_view& view, const char* name, const tnr_device& device) noexcept {
  if (Refusal refusal = words_refusal(view, name, device)) return refusal;
  if (Refusal refusal = memory_refusal(view, name)) return refusal;
  if (is_empty(view)) {
    if (view.data == view.base) return std::nullopt;
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "%s must equal base, because the shape %s is empty", Field(name, "data").text,
                    shape_text(view.rank, view.shape).text);
  }
  if (Refusal refusal = count_refusal(view, name)) return refusal;
  if (Refusal refusal = first_element_refusal(view, name)) return refusal;
  return reach_refusal(view, name);
}

void check_view_stepwise(const tnr_view& view, const char* name, const tnr_device& device) {
  require_none(view_refusal(view, name, device));
}

Refusal self_overlap_refusal(const tnr_view& view, const char* name) noexcept {
  if (is_empty(view)) return std::nullopt;
  // Insertion sort, as there are at most eight. Among equal strides the message names the later
  // axis. Rejected: std::stable_sort, which allocates, in a check that good column-major outputs
  // take.
  std::uint32_t axes[TNR_MAX_RANK];
  std::uint32_t axis_count = 0;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    if (view.shape[axis] <= 1) continue;
    std::uint32_t place = axis_count++;
    for (; place > 0; --place) {
      if (magnitude(view.strides[axes[place - 1]]) <= magnitude(view.strides[axis])) break;
      axes[place] = axes[place - 1];
    }
    axes[place] = axis;
  }
  std::uint64_t reach = 0;
  for (std::uint32_t i = 0; i < axis_count; ++i) {
    const std::uint64_t stride = magnitude(view.strides[axes[i]]);
    if (stride <= reach) {
      return error_of(TNR_STATUS_ALIASED,
                      "%s is %" PRId64 ", which does not exceed the %" PRIu64
                      " elements that smaller strides reach: two indices may meet in one byte",
                      Field(name, "strides", axes[i]).text, view.strides[axes[i]], reach);
    }
    reach += static_cast<std::uint64_t>(view.shape[axes[i]] - 1) * stride;
  }
  return std::nullopt;
}

namespace {

// make_view() of memory in row-major order, where nothing is wrong and there is an element; else
// gives false, and `out` is as it was. Field by field: a view that is made elsewhere and copied
// waits until its fields, which are stored one by one, can be loaded two at a time.
bool set_plain_view(tnr_view& out, const void* base, std::size_t size_bytes,
                    std::size_t offset_bytes, tnr_dtype dtype, std::uint32_t rank,
                    const std::int64_t* shape, const tnr_device& device) noexcept {
  if (offset_bytes > size_bytes || rank > TNR_MAX_RANK || (shape == nullptr && rank != 0)) {
    return false;
  }
  // Not in `out`, whose own shape this may be.
  std::int64_t extents[TNR_MAX_RANK];
  std::int64_t strides[TNR_MAX_RANK];
  std::int64_t count = 1;
  for (std::uint32_t axis = rank; axis-- > 0;) {
    extents[axis] = shape[axis];
    strides[axis] = count;
    if (extents[axis] <= 0 || __builtin_mul_overflow(count, extents[axis], &count)) return false;
  }
  const auto element_bytes = static_cast<std::int64_t>(element_size(dtype));
  const std::uint64_t data = reinterpret_cast<std::uintptr_t>(base) + offset_bytes;
  std::int64_t bytes;
  if (element_bytes == 0 || __builtin_mul_overflow(count, element_bytes, &bytes) ||
      !is_plain_memory(base, size_bytes, data, static_cast<std::uint64_t>(bytes), dtype)) {
    return false;
  }
  out.data = static_cast<const char*>(base) + offset_bytes;
  out.base = base;
  out.size_bytes = size_bytes;
  out.owner = 0;
  out.dtype = dtype;
  out.rank = rank;
  out.device = device;
  out.flags = 0;
  out.bit_offset = 0;
  out.reserved = 0;
  for (std::uint32_t axis = 0; axis < TNR_MAX_RANK; ++axis) {
    out.shape[axis] = axis < rank ? extents[axis] : 0;
    out.strides[axis] = axis < rank ? strides[axis] : 0;
  }
  return true;
}

}  // namespace

void lend_view(tnr_view& out, const void* base, std::size_t size_bytes, std::size_t offset_bytes,
               tnr_dtype dtype, std::uint32_t rank, const std::int64_t* shape,
               const std::int64_t* strides) {
  if (strides == nullptr &&
      set_plain_view(out, base, size_bytes, offset_bytes, dtype, rank, shape, kCpu)) {
    return;
  }
  out = make_view(base, size_bytes, offset_bytes, dtype, rank, shape, strides);
}

tnr_view make_view(const void* base, std::size_t size_bytes, std::size_t offset_bytes,
                   tnr_dtype dtype, std::uint32_t rank, const std::int64_t* shape,
                   const std::int64_t* strides, const tnr_device& device) {
  const std::int64_t count = checked_element_count(rank, shape);
  tnr_view view{};
  view.base = base;
  view.size_bytes = size_bytes;
  view.dtype = dtype;
  view.rank = rank;
  view.device = device;
  std::copy_n(shape, rank, view.shape);
  if (strides == nullptr) {
    set_row_major_strides(view);
  } else {
    std::copy_n(strides, rank, view.strides);
  }
  if (offset_bytes > size_bytes) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "offset_bytes is %zu but size_bytes is %zu", offset_bytes,
         size_bytes);
  }
  view.data = base;
  require_none(memory_refusal(
      view, ""));  // now, because a pointer into memory that wraps around is undefined
  if (count != 0) view.data = static_cast<const char*>(base) + offset_bytes;
  // Without explicit strides the general message would name one that the caller did not write.
  std::size_t needed_bytes;
  if (strides == nullptr && element_size(dtype) != 0 &&
      (__builtin_mul_overflow(static_cast<std::size_t>(count), element_size(dtype),
                              &needed_bytes) ||
       needed_bytes > size_bytes - offset_bytes)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "shape is %s, which needs %" PRId64 " elements of %zu bytes, but %zu bytes are lent%s",
         shape_text(rank, shape).text, count, element_size(dtype), size_bytes - offset_bytes,
         offset_bytes != 0 ? " from offset_bytes on" : "");
  }
  check_view(view, "", device);
  return view;
}

std::size_t row_major_bytes(tnr_dtype dtype, std::uint32_t rank, const std::int64_t* shape) {
  const std::int64_t count = checked_element_count(rank, shape);
  tnr_view view{};
  view.dtype = dtype;
  view.device = kCpu;
  require_none(words_refusal(view, "", kCpu));
  std::int64_t size_bytes;
  if (__builtin_mul_overflow(count, element_size(dtype), &size_bytes)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "shape is %s, which needs %" PRId64 " elements of %zu bytes, more than there can be",
         shape_text(rank, shape).text, count, element_size(dtype));
  }
  return static_cast<std::size_t>(size_bytes);
}

}  // namespace tenure
