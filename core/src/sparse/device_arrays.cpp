#include "sparse/device_arrays.hpp"

#include <cinttypes>
#include <utility>

#include "sparse/traffic.hpp"
#include "tenure/dtype.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

// Room that is less than half used is given back, and the entries are copied.
constexpr std::int64_t kMostRoomKept = 2;

}  // namespace

DeviceArray::DeviceArray(const DeviceQueue& queue, std::int64_t room, tnr_dtype dtype)
    : queue_(queue),
      room_(room),
      dtype_(dtype),
      data_(room == 0 ? nullptr : queue.allocate(bytes_of(room))) {}

DeviceArray::~DeviceArray() {
  if (token_ != 0) {
    blob_drop(token_);  // which has the memory
  } else if (data_ != nullptr) {
    queue_.free(data_);
  }
}

void DeviceArray::keep(const Context& context, std::int64_t count) {
  if (count == 0) {
    token_ = blob_allocate_on(context, 0);
    if (data_ != nullptr) queue_.free(std::exchange(data_, nullptr));
    return;
  }
  if (room_ / kMostRoomKept > count) shrink(count);
  token_ = blob_keep_on(context, data_, bytes_of(count));
}

tnr_view DeviceArray::view(std::int64_t count) const {
  tnr_view view = make_view(data_, bytes_of(count), 0, dtype_, 1, &count, nullptr);
  view.device = queue_.device();
  view.owner = token_;
  return view;
}

std::size_t DeviceArray::bytes_of(std::int64_t count) const {
  std::int64_t bytes;
  if (__builtin_mul_overflow(count, static_cast<std::int64_t>(element_size(dtype_)), &bytes)) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "%" PRId64 " elements of %s fit no memory", count,
         dtype_name(dtype_));
  }
  return static_cast<std::size_t>(bytes);
}

void DeviceArray::shrink(std::int64_t count) {
  void* const smaller = queue_.allocate(bytes_of(count));
  void* const larger = std::exchange(data_, smaller);
  queue_.copy_bytes(DeviceQueue::Direction::kWithin, smaller, larger, bytes_of(count));
  queue_.free(larger);
}

SparseToken open_on(const Context& context, const MadeOnDevice& made, DeviceArray& major,
                    DeviceArray& minor, DeviceArray& values) {
  major.keep(context, made.major_count);
  minor.keep(context, made.entry_count);
  values.keep(context, made.entry_count);
  tnr_sparse_view view = {};
  view.struct_size = sizeof view;
  view.format = made.format;
  view.flags = made.flags;
  view.rows = made.rows;
  view.cols = made.cols;
  view.block_rows = 1;
  view.block_cols = 1;
  view.major = major.view(made.major_count);
  view.minor = minor.view(made.entry_count);
  view.values = values.view(made.entry_count);
  // From here on the references are the handle's, or given up.
  major.give_up();
  minor.give_up();
  values.give_up();
  count_call(made.operation, made.read_bytes, device_matrix_bytes(view));
  return sparse_open(view);
}

}  // namespace tenure
