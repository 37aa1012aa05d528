#include "tenure/cuda_array.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "tenure/device_queue.hpp"
#include "tenure/dtype.hpp"
#include "tenure/view.hpp"
#include "view/foreign.hpp"

namespace tenure {
namespace {

// The dtypes that the interface has a letter for; the digits behind it are an element's bytes.
struct ArrayType {
  char letter;
  tnr_dtype dtype;
};
constexpr ArrayType kArrayTypes[] = {
    {'f', TNR_DTYPE_F64}, {'f', TNR_DTYPE_F32},  {'f', TNR_DTYPE_F16}, {'i', TNR_DTYPE_I8},
    {'i', TNR_DTYPE_I16}, {'i', TNR_DTYPE_I32},  {'i', TNR_DTYPE_I64}, {'u', TNR_DTYPE_U8},
    {'u', TNR_DTYPE_U16}, {'u', TNR_DTYPE_U32},  {'u', TNR_DTYPE_U64}, {'b', TNR_DTYPE_BOOL8},
    {'c', TNR_DTYPE_C64}, {'c', TNR_DTYPE_C128},
};

// Writes the typestr as producers do: elements of one byte have no byte order.
void write_typestr(const ArrayType& type, char (&out)[sizeof tnr_cuda_array::typestr]) {
  const std::size_t bytes = element_size(type.dtype);
  static_cast<void>(
      std::snprintf(out, sizeof out, "%c%c%zu", bytes == 1 ? '|' : '<', type.letter, bytes));
}

tnr_dtype dtype_of(const tnr_cuda_array& array) {
  const auto length = static_cast<int>(sizeof array.typestr);
  for (const ArrayType& type : kArrayTypes) {
    char known[sizeof array.typestr] = {};
    write_typestr(type, known);
    const bool is_order = std::strchr("<|=", array.typestr[0]) != nullptr && array.typestr[0] != 0;
    const bool has_order = element_size(type.dtype) == 1 || array.typestr[0] != '|';
    if (is_order && has_order &&
        std::strncmp(array.typestr + 1, known + 1, sizeof known - 1) == 0) {
      return type.dtype;
    }
  }
  fail(TNR_STATUS_UNSUPPORTED,
       "array.typestr is \"%.*s\" but must be of a dtype here in the order of this machine: "
       "\"<f4\", "
       "\"|u1\", \"<c16\"",
       length, array.typestr);
}

void check_words(const tnr_cuda_array& array) {
  if (array.rank > TNR_MAX_RANK) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "array.rank is %" PRIu32 " but must be at most %d",
         array.rank, TNR_MAX_RANK);
  }
  if (array.is_read_only > 1) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "array.is_read_only is %" PRIu32 " but must be 0 or 1",
         array.is_read_only);
  }
  if (array.has_strides > 1) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "array.has_strides is %" PRIu32 " but must be 0 or 1",
         array.has_strides);
  }
  if (array.reserved != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "array.reserved is %" PRIu32 " but must be 0",
         array.reserved);
  }
}

const DeviceQueue& require_queue(const Context& context) {
  if (context.queue() == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the context has no device, whose memory an array could be");
  }
  return *context.queue();
}

}  // namespace

tnr_view cuda_array_import(const Context& context, const tnr_cuda_array& array,
                           tnr_release_fn release, void* release_context) {
  const DeviceQueue& queue = require_queue(context);
  check_words(array);
  const tnr_dtype dtype = dtype_of(array);
  const auto element_bytes = static_cast<std::int64_t>(element_size(dtype));
  std::int64_t shape[TNR_MAX_RANK];
  std::int64_t strides[TNR_MAX_RANK];
  std::copy_n(array.shape, array.rank, shape);
  for (std::uint32_t axis = 0; array.has_strides != 0 && axis < array.rank; ++axis) {
    if (shape[axis] > 1 && array.strides_bytes[axis] % element_bytes != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "array.strides_bytes[%" PRIu32 "] is %" PRId64 " but must be a multiple of %" PRId64
           ", the bytes of an element",
           axis, array.strides_bytes[axis], element_bytes);
    }
    strides[axis] = array.strides_bytes[axis] / element_bytes;
  }
  const tnr_device device = queue.device();
  tnr_view view = view_of_foreign(context,
                                  {.data = const_cast<void*>(array.data),
                                   .device = {device.kind, device.index},
                                   .rank = static_cast<std::int32_t>(array.rank),
                                   .dtype_code = static_cast<std::uint8_t>(dtype),
                                   .dtype_bits = static_cast<std::uint8_t>(dtype >> 8),
                                   .dtype_lanes = static_cast<std::uint16_t>(dtype >> 16),
                                   .shape = shape,
                                   .strides = array.has_strides != 0 ? strides : nullptr,
                                   .offset_bytes = 0},
                                  "array");
  if (array.stream != 0) queue.follow_stream(array.stream);
  void* const base = const_cast<void*>(view.base);
  view.owner = array.is_read_only != 0
                   ? blob_share_on(context, base, view.size_bytes, release, release_context)
                   : blob_adopt_on(context, base, view.size_bytes, release, release_context);
  return view;
}

tnr_cuda_array cuda_array_of(const Context& context, const tnr_view& view) {
  const DeviceQueue& queue = require_queue(context);
  check_view(view, "view", queue.device());
  if (view.owner == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "view.owner is 0 but must be a blob, which says who may write");
  }
  Pins pins;
  pins.add(view, "view");
  const auto* const type =
      std::find_if(std::begin(kArrayTypes), std::end(kArrayTypes),
                   [&view](const ArrayType& known) { return known.dtype == view.dtype; });
  if (type == std::end(kArrayTypes)) {
    fail(TNR_STATUS_UNSUPPORTED, "view.dtype is %s, which CUDA's array interface has no name for",
         dtype_name(view.dtype));
  }
  const BlobInfo info = blob_describe(view.owner);
  tnr_cuda_array array{};
  array.data = view.data;
  array.is_read_only = may_write(info.tenure) && !info.sealed ? 0 : 1;
  array.rank = view.rank;
  array.stream = queue.stream();
  array.has_strides = 1;
  write_typestr(*type, array.typestr);
  const auto element_bytes = static_cast<std::int64_t>(element_size(view.dtype));
  // Strides of an axis that has no second element mean nothing, and need not fit either.
  std::int64_t row_major = element_bytes;
  for (std::uint32_t axis = view.rank; axis-- > 0;) {
    array.shape[axis] = view.shape[axis];
    array.strides_bytes[axis] =
        view.shape[axis] > 1 && !is_empty(view) ? view.strides[axis] * element_bytes : row_major;
    if (__builtin_mul_overflow(row_major, std::max<std::int64_t>(1, view.shape[axis]),
                               &row_major)) {
      row_major = element_bytes;
    }
  }
  pins.for_each_home([&queue](const DeviceQueue& home) {
    if (&home != &queue) queue.follow(home);
  });
  return array;
}

}  // namespace tenure
