// One pass over the elements, into room for as many entries as matrices have that are worth being
// sparse. Where there are more, they are counted, and a second pass has room for all.
#include "sparse/from_dense/device_search.hpp"

#include <algorithm>

#include "sparse/builder.hpp"
#include "sparse/device_arrays.hpp"
#include "sparse/entry_order.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

// The arrays of entries have room for one in kElementsForRoom elements, and for kLeastRoom entries
// at least; for smaller matrices they have room for all elements.
constexpr std::int64_t kElementsForRoom = 8;
constexpr std::int64_t kLeastRoom = std::int64_t{1} << 16;

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
       "from dense gives one matrix of COO, CSR or CSC on %s, and others only on the CPU",
       DeviceName(queue.device()).text);
}

// `offsets` are those of `offset_count`, or of COO none.
SparseToken finish(const Context& context, const DeviceFromDense& call, DeviceArray& offsets,
                   std::int64_t offset_count, DeviceEntries& entries, std::int64_t count) {
  const bool is_coo = DeviceEntries::is_coo(call);
  const std::uint64_t mask_bytes = call.has_mask ? element_bytes(call.options.mask) : 0;
  return open_on(context,
                 {.format = call.options.format,
                  .flags = EntryOrder::rising().flags(),
                  .rows = call.dense.shape[0],
                  .cols = call.dense.shape[1],
                  .major_count = is_coo ? count : offset_count,
                  .entry_count = count,
                  .operation = TNR_OPERATION_SPARSE_FROM_DENSE,
                  .read_bytes = is_empty(call.dense) ? 0 : element_bytes(call.dense) + mask_bytes},
                 is_coo ? entries.row_indices : offsets, entries.indices, entries.values);
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
  const auto search = [&](const DeviceEntries& entries, std::int64_t room) {
    std::int64_t count = 0;
    queue.enqueue(DeviceEntrySearch{.dense = dense,
                                    .mask = call.has_mask ? &mask : nullptr,
                                    .predicate = call.predicate,
                                    .index_dtype = call.index_dtype,
                                    .offsets = offsets.data(),
                                    .row_indices = entries.row_indices.data(),
                                    .indices = entries.indices.data(),
                                    .values = entries.values.data(),
                                    .capacity = room,
                                    .pins = call.pins,
                                    .count = count});
    return count;
  };
  const std::int64_t elements = element_count(dense);
  // Two rounds at most, unless another thread writes more entries meanwhile.
  for (std::int64_t room = std::max(std::min(elements, kLeastRoom), elements / kElementsForRoom);
       ;) {
    DeviceEntries entries(queue, room, call);
    const std::int64_t count = search(entries, room);
    if (offset_count != 0) require_index_fit(call.index_dtype, "offsets", count);
    if (count <= room) return finish(context, call, offsets, offset_count, entries, count);
    room = count;
  }
}

}  // namespace tenure
