#include "tenure/dlpack.hpp"

#include <algorithm>
#include <cinttypes>
#include <memory>

#include "base/callback.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "view/foreign.hpp"

namespace tenure {
namespace {

constexpr std::int32_t kDlCpu = TNR_DEVICE_KIND_CPU;

// ---- import ----

// A tensor's memory from its lowest element to the end of its highest, and where the first lies.
struct Span {
  char* base;
  std::int64_t size_bytes;
};

// Returns the address that is `bytes` bytes further. Throws INVALID_ARGUMENT where it is outside of
// the address space.
char* moved(char* from, std::int64_t bytes, const char* name) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const std::uintptr_t to = address + static_cast<std::uintptr_t>(bytes);
  if ((bytes < 0) != (to < address) && bytes != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s.data is 0x%" PRIxPTR ", and there is no memory %" PRId64 " bytes from it", name,
         address, bytes);
  }
  return reinterpret_cast<char*>(to);
}

// The span of a view that has all but its memory. `data` is the address of index 0 on every axis.
Span span_of(const tnr_view& view, char* data, const char* name) {
  if (is_empty(view)) return {data, 0};
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  bool overflow = false;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    if (view.shape[axis] <= 1) continue;
    std::int64_t reach;
    overflow |= __builtin_mul_overflow(view.shape[axis] - 1, view.strides[axis], &reach);
    std::int64_t& end = reach < 0 ? lowest : highest;
    overflow |= __builtin_add_overflow(end, reach, &end);
  }
  const auto element_bytes = static_cast<std::int64_t>(element_size(view.dtype));
  std::int64_t elements;
  std::int64_t size_bytes;
  overflow |= __builtin_sub_overflow(highest, lowest, &elements);
  overflow |= __builtin_add_overflow(elements, std::int64_t{1}, &elements);
  overflow |= __builtin_mul_overflow(elements, element_bytes, &size_bytes);
  if (overflow) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.shape and %s.strides span more than %" PRId64 " bytes",
         name, name, INT64_MAX);
  }
  if (data == nullptr) return {nullptr, size_bytes};
  char* const base = moved(data, lowest * element_bytes, name);
  moved(base, size_bytes, name);
  return {base, size_bytes};
}

}  // namespace

tnr_device device_of(const Context& context) noexcept { return device_of(context.queue()); }

tnr_view view_of_foreign(const Context& context, const DlTensor& tensor, const char* name) {
  if (tensor.rank < 0 || tensor.rank > TNR_MAX_RANK) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.ndim is %" PRId32 " but must be 0 to %d", name,
         tensor.rank, TNR_MAX_RANK);
  }
  if (tensor.rank != 0 && tensor.shape == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.shape is NULL but %s.ndim is %" PRId32, name, name,
         tensor.rank);
  }
  // The CPU's is one, whatever number a producer gives it.
  const tnr_device given = {tensor.device.kind,
                            tensor.device.kind == kDlCpu ? 0 : tensor.device.index};
  const tnr_device device = device_of(context);
  if (!(given == device)) {
    fail(TNR_STATUS_UNSUPPORTED, "%s.device is %s but must be %s", name, DeviceName(given).text,
         DeviceName(device).text);
  }
  tnr_view view{};
  view.dtype = tensor.dtype_code | static_cast<tnr_dtype>(tensor.dtype_bits) << 8 |
               static_cast<tnr_dtype>(tensor.dtype_lanes) << 16;
  view.device = device;
  view.rank = static_cast<std::uint32_t>(tensor.rank);
  std::copy_n(tensor.shape, tensor.rank, view.shape);
  set_row_major_strides(view);
  if (tensor.strides != nullptr) std::copy_n(tensor.strides, tensor.rank, view.strides);
  char* const first = static_cast<char*>(tensor.data);
  if (tensor.offset_bytes > std::uint64_t{INT64_MAX}) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.byte_offset is %" PRIu64 " but must be at most %" PRId64,
         name, tensor.offset_bytes, INT64_MAX);
  }
  char* const data = first == nullptr
                         ? nullptr
                         : moved(first, static_cast<std::int64_t>(tensor.offset_bytes), name);
  const Span span = span_of(view, data, name);
  view.data = data;
  view.base = span.base;
  view.size_bytes = static_cast<std::uint64_t>(span.size_bytes);
  check_view(view, name, device);
  return view;
}

namespace {

template <class Tensor>
void delete_tensor(void* context) noexcept {
  auto* const tensor = static_cast<Tensor*>(context);
  if (tensor->deleter != nullptr) tensor->deleter(tensor);
}

// The newest table in the chain whose layout is known here.
const DLPackExchangeAPI& known_table(const DLPackExchangeAPI& newest) {
  const DlExchangeHeader* header = &newest.header;
  while (header != nullptr && header->major_version != kDlMajorVersion) header = header->older;
  if (header == nullptr) {
    fail(TNR_STATUS_UNSUPPORTED,
         "exchange.version is %" PRIu32 ".%" PRIu32 " but must be %" PRIu32 ".x",
         newest.header.major_version, newest.header.minor_version, kDlMajorVersion);
  }
  return *reinterpret_cast<const DLPackExchangeAPI*>(header);
}

// Puts the context's queue after the stream on which the library is working.
void follow_library(const Context& context, const DLPackExchangeAPI& table) {
  if (context.queue() == nullptr) return;
  const tnr_device device = context.queue()->device();
  void* stream = nullptr;
  int answer = 0;
  {
    const LastErrorKept kept;
    answer = table.current_work_stream(device.kind, device.index, &stream);
  }
  if (answer != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "exchange.current_work_stream answers %d for %s", answer,
         DeviceName(device).text);
  }
  // NULL is CUDA's legacy default stream, whose number is 1.
  const auto number = reinterpret_cast<std::uintptr_t>(stream);
  context.queue()->follow_stream(number != 0 ? number : 1);
}

}  // namespace

tnr_view dlpack_import(const Context& context, DLManagedTensorVersioned& tensor) {
  // Another major version may differ in everything behind the deleter.
  if (tensor.major_version != kDlMajorVersion) {
    fail(TNR_STATUS_UNSUPPORTED,
         "tensor.version is %" PRIu32 ".%" PRIu32 " but must be %" PRIu32 ".x",
         tensor.major_version, tensor.minor_version, kDlMajorVersion);
  }
  tnr_view view = view_of_foreign(context, tensor.tensor, "tensor");
  const auto release = delete_tensor<DLManagedTensorVersioned>;
  void* const base = const_cast<void*>(view.base);
  view.owner = (tensor.flags & kDlReadOnly) != 0
                   ? blob_share_on(context, base, view.size_bytes, release, &tensor)
                   : blob_adopt_on(context, base, view.size_bytes, release, &tensor);
  return view;
}

tnr_view dlpack_import(const Context& context, DLManagedTensor& tensor) {
  tnr_view view = view_of_foreign(context, tensor.tensor, "tensor");
  view.owner = blob_adopt_on(context, const_cast<void*>(view.base), view.size_bytes,
                             delete_tensor<DLManagedTensor>, &tensor);
  return view;
}

tnr_view dlpack_import_object(const Context& context, const DLPackExchangeAPI& newest,
                              void* object) {
  const DLPackExchangeAPI& table = known_table(newest);
  DLManagedTensorVersioned* tensor = nullptr;
  int answer = 0;
  {
    const LastErrorKept kept;
    answer = table.tensor_from_object(object, &tensor);
  }
  if (answer != 0 || tensor == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "exchange.managed_tensor_from_py_object_no_sync answers %d, as Python's error says",
         answer);
  }
  try {
    follow_library(context, table);
    return dlpack_import(context, *tensor);
  } catch (...) {
    delete_tensor<DLManagedTensorVersioned>(tensor);
    throw;
  }
}

// ---- export ----

namespace {

// Puts the work of two queues on a blob in order, the later after the earlier. No wait that can be
// had is left out: on a device that fails nothing runs.
void put_in_order(const DeviceQueue& later, const DeviceQueue& earlier) noexcept {
  try {
    if (&later != &earlier) later.follow(earlier);
  } catch (const Error&) {
    earlier.settle();
  }
}

// A tensor that is given away, with the numbers that it points at and a reference to the blob.
template <class Tensor>
struct Export {
  Tensor managed;
  BlobToken blob;
  // The consumer's context, which is kept; nullptr for a tensor of the CPU.
  const Context* consumer;
  std::int64_t shape[TNR_MAX_RANK];
  std::int64_t strides[TNR_MAX_RANK];

  // Takes the reference.
  Export(const Context& context, const tnr_view& view) noexcept
      : managed{}, blob(view.owner), consumer(context.queue() != nullptr ? &context : nullptr) {
    std::copy_n(view.shape, view.rank, shape);
    // Strides of axes of extent 1 are free, and consumers prefer those of a contiguous tensor.
    std::int64_t stride = 1;
    for (std::uint32_t axis = view.rank; axis-- > 0;) {
      strides[axis] = view.shape[axis] > 1 ? view.strides[axis] : stride;
      // The extents of an empty tensor may have any product.
      const std::int64_t extent = std::max<std::int64_t>(1, view.shape[axis]);
      if (__builtin_mul_overflow(strides[axis], extent, &stride)) stride = 1;
    }
    managed.manager_context = this;
    managed.deleter = [](Tensor* self) {
      const std::unique_ptr<Export> end(static_cast<Export*>(self->manager_context));
      if (end->consumer != nullptr) {
        const DeviceQueue* const home = blob_home(end->blob);
        const DeviceQueue* const used = end->consumer->queue();
        if (home != nullptr && used != nullptr) put_in_order(*home, *used);
      }
      blob_drop(end->blob);
      if (end->consumer != nullptr) end->consumer->let_go();
    };
    managed.tensor = {
        .data = const_cast<void*>(view.data),
        .device = {view.device.kind, view.device.index},
        .rank = static_cast<std::int32_t>(view.rank),
        .dtype_code = static_cast<std::uint8_t>(view.dtype),
        .dtype_bits = static_cast<std::uint8_t>(view.dtype >> 8),
        .dtype_lanes = static_cast<std::uint16_t>(view.dtype >> 16),
        .shape = shape,
        .strides = strides,
        .offset_bytes = 0,
    };
  }
};

BlobInfo require_exportable(const tnr_view& view) {
  if (view.owner == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "view.owner is 0 but must be a blob, which the tensor can hold on to");
  }
  const BlobInfo info = blob_describe(view.owner);
  if (is_borrowed(info.tenure)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "view is of borrowed memory, which would have to outlive the tensor: its end cannot be "
         "told to whoever lent it");
  }
  return info;
}

// The view's blob is pinned.
template <class Tensor>
Export<Tensor>* make_export(const Context& context, const tnr_view& view, const Pins& pins) {
  std::unique_ptr<Export<Tensor>> made(new Export<Tensor>(context, view));
  if (made->consumer != nullptr) {
    pins.for_each_home([&](const DeviceQueue& home) {
      if (&home != context.queue()) context.queue()->follow(home);
    });
  }
  blob_retain(view.owner);
  if (made->consumer != nullptr) context.keep();
  return made.release();
}

}  // namespace

DLManagedTensorVersioned* dlpack_export(const Context& context, const tnr_view& view,
                                        std::uint32_t flags) {
  if ((flags & ~std::uint32_t{TNR_EXPORT_READ_ONLY}) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "flags is 0x%" PRIx32 " but only 0x%x is known", flags,
         TNR_EXPORT_READ_ONLY);
  }
  check_view(view, "view", device_of(context));
  Pins pins;
  pins.add(view, "view");
  const BlobInfo info = require_exportable(view);
  DLManagedTensorVersioned& tensor =
      make_export<DLManagedTensorVersioned>(context, view, pins)->managed;
  tensor.major_version = kDlMajorVersion;
  const bool is_written = may_write(info.tenure) && !info.sealed && flags == 0;
  tensor.flags =
      (is_written ? 0 : kDlReadOnly) | (info.tenure == TNR_TENURE_COPIED ? kDlIsCopied : 0);
  return &tensor;
}

DLManagedTensor* dlpack_export_legacy(const Context& context, const tnr_view_mut& view) {
  check_view_mut(view, "view", device_of(context));
  Pins pins;
  pins.add_mut(view, "view");
  require_exportable(view.view);
  return &make_export<DLManagedTensor>(context, view.view, pins)->managed;
}

}  // namespace tenure
