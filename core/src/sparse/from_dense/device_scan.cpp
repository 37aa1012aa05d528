// One pass over the elements, into room for as many entries as matrices have that are worth being
// sparse. Where there are more, they are counted, and a second pass has room for all.
#include "sparse/from_dense/device_scan.hpp"

#include <algorithm>
#include <cinttypes>
#include <utility>

#include "dense/operands.hpp"
#include "sparse/builder.hpp"
#include "sparse/entry_order.hpp"
#include "sparse/traffic.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

// Room is for one element of so many, and for so many at least: of smaller matrices for all.
constexpr std::int64_t kElementsForRoom = 8;
constexpr std::int64_t kLeastRoom = std::int64_t{1} << 16;
// Room of which less than half is used is given back, and the entries are copied.
constexpr std::int64_t kMostRoomKept = 2;

// An array of a matrix to be: memory of the queue, and then a blob over it.
class DeviceArray {
 public:
  DeviceArray(const DeviceQueue& queue, std::int64_t room, tnr_dtype dtype)
      : queue_(queue),
        room_(room),
        dtype_(dtype),
        data_(room == 0 ? nullptr : queue.allocate(bytes_of(room))) {}
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() {
    if (token_ != 0) {
      blob_drop(token_);  // which has the memory
    } else if (data_ != nullptr) {
      queue_.free(data_);
    }
  }

  [[nodiscard]] void* data() const noexcept { return data_; }

  // A blob of the first elements.
  void keep(const Context& context, std::int64_t count) {
    if (count == 0) {
      token_ = blob_allocate_on(context, 0);
      if (data_ != nullptr) queue_.free(std::exchange(data_, nullptr));
      return;
    }
    if (room_ / kMostRoomKept > count) shrink(count);
    token_ = blob_keep_on(context, data_, bytes_of(count));
  }
  [[nodiscard]] tnr_view view(std::int64_t count) const {
    tnr_view view = make_view(data_, bytes_of(count), 0, dtype_, 1, &count, nullptr);
    view.device = queue_.device();
    view.owner = token_;
    return view;
  }
  // The reference is somebody else's.
  void give_up() noexcept { token_ = 0, data_ = nullptr; }

 private:
  [[nodiscard]] std::size_t bytes_of(std::int64_t count) const {
    std::int64_t bytes;
    if (__builtin_mul_overflow(count, static_cast<std::int64_t>(element_size(dtype_)), &bytes)) {
      fail(TNR_STATUS_OUT_OF_MEMORY, "%" PRId64 " elements of %s fit no memory", count,
           dtype_name(dtype_));
    }
    return static_cast<std::size_t>(bytes);
  }
  void shrink(std::int64_t count) {
    void* const smaller = queue_.allocate(bytes_of(count));
    void* const larger = std::exchange(data_, smaller);
    queue_.copy_bytes(smaller, larger, bytes_of(count));
    queue_.free(larger);
  }

  const DeviceQueue& queue_;
  std::int64_t room_;
  tnr_dtype dtype_;
  void* data_;
  BlobToken token_ = 0;
};

// The arrays that have an element for each entry.
struct DeviceEntries {
  DeviceEntries(const DeviceQueue& queue, std::int64_t room, const DeviceFromDense& call)
      : row_indices(queue, is_coo(call) ? room : 0, call.index_dtype),
        indices(queue, room, call.index_dtype),
        values(queue, room, call.dense.dtype) {}

  static bool is_coo(const DeviceFromDense& call) noexcept {
    return call.options.format == TNR_SPARSE_FORMAT_COO;
  }

  DeviceArray row_indices;  // of COO
  DeviceArray indices;
  DeviceArray values;
};

void check_form(const DeviceQueue& queue, const DeviceFromDense& call) {
  if (call.dense.rank == 2 && call.options.format != TNR_SPARSE_FORMAT_BSR) return;
  fail(TNR_STATUS_UNSUPPORTED,
       "from dense gives one matrix of COO, CSR or CSC on %s, and others on the CPU alone",
       DeviceName(queue.device()).text);
}

// `offsets` are those of `offset_count`, or of COO none.
SparseToken finish(const Context& context, const DeviceFromDense& call, DeviceArray& offsets,
                   std::int64_t offset_count, DeviceEntries& entries, std::int64_t count) {
  const bool is_coo = DeviceEntries::is_coo(call);
  DeviceArray& major = is_coo ? entries.row_indices : offsets;
  const std::int64_t major_count = is_coo ? count : offset_count;
  major.keep(context, major_count);
  entries.indices.keep(context, count);
  entries.values.keep(context, count);
  tnr_sparse_view made = {};
  made.struct_size = sizeof made;
  made.format = call.options.format;
  made.flags = EntryOrder::rising().flags();
  made.rows = call.dense.shape[0];
  made.cols = call.dense.shape[1];
  made.block_rows = 1;
  made.block_cols = 1;
  made.major = major.view(major_count);
  made.minor = entries.indices.view(count);
  made.values = entries.values.view(count);
  // From here on the references are the handle's, or given up.
  major.give_up();
  entries.indices.give_up();
  entries.values.give_up();
  const std::uint64_t mask_bytes = call.has_mask ? element_bytes(call.options.mask) : 0;
  count_call(TNR_OPERATION_SPARSE_FROM_DENSE,
             is_empty(call.dense) ? 0 : element_bytes(call.dense) + mask_bytes,
             device_matrix_bytes(made));
  return sparse_open(made);
}

}  // namespace

SparseToken from_dense_on(const Context& context, const DeviceQueue& queue,
                          const DeviceFromDense& call) {
  check_form(queue, call);
  require_index_fit(call.index_dtype, "rows", call.dense.shape[0] - 1);
  require_index_fit(call.index_dtype, "cols", call.dense.shape[1] - 1);
  // CSC is the CSR of the transpose.
  const bool is_csc = call.options.format == TNR_SPARSE_FORMAT_CSC;
  const tnr_view dense = is_csc ? transpose(call.dense, 0, 1) : call.dense;
  const tnr_view mask =
      call.has_mask && is_csc ? transpose(call.options.mask, 0, 1) : call.options.mask;
  const std::int64_t offset_count = DeviceEntries::is_coo(call) ? 0 : dense.shape[0] + 1;
  DeviceArray offsets(queue, offset_count, call.index_dtype);
  if (is_empty(dense)) {
    if (offset_count != 0) {
      queue.fill_bytes(offsets.data(), 0,
                       static_cast<std::size_t>(offset_count) * element_size(call.index_dtype));
    }
    DeviceEntries nothing(queue, 0, call);
    return finish(context, call, offsets, offset_count, nothing, 0);
  }
  const auto scan = [&](const DeviceEntries& entries, std::int64_t room) {
    return queue.scan_entries({.dense = dense,
                               .mask = call.has_mask ? &mask : nullptr,
                               .predicate = call.predicate,
                               .index_dtype = call.index_dtype,
                               .offsets = offsets.data(),
                               .row_indices = entries.row_indices.data(),
                               .indices = entries.indices.data(),
                               .values = entries.values.data(),
                               .capacity = room,
                               .pins = call.pins});
  };
  const std::int64_t elements = element_count(dense);
  // Twice at most, but where somebody writes more entries meanwhile.
  for (std::int64_t room = std::max(std::min(elements, kLeastRoom), elements / kElementsForRoom);
       ;) {
    DeviceEntries entries(queue, room, call);
    const std::int64_t count = scan(entries, room);
    if (offset_count != 0) require_index_fit(call.index_dtype, "offsets", count);
    if (count <= room) return finish(context, call, offsets, offset_count, entries, count);
    room = count;
  }
}

}  // namespace tenure
