#include "sparse/convert/device_order.hpp"

#include <optional>
#include <utility>

#include "sparse/builder.hpp"
#include "sparse/device_arrays.hpp"
#include "sparse/device_parts.hpp"
#include "sparse/traffic.hpp"

namespace tenure {

SparseToken order_on(const Context& context, const DeviceQueue& queue, const OrderOnDevice& call) {
  require_index_fit(call.a.minor.dtype, "rows", call.a.rows - 1);
  require_index_fit(call.a.minor.dtype, "cols", call.a.cols - 1);
  tnr_sparse_view rows = call.a;
  const bool is_from_coo = call.a.format == TNR_SPARSE_FORMAT_COO;
  const bool has_offsets = call.format != TNR_SPARSE_FORMAT_COO;
  if (is_from_coo && call.format == TNR_SPARSE_FORMAT_CSC) {
    // The CSR of the transpose.
    std::swap(rows.major, rows.minor);
    std::swap(rows.rows, rows.cols);
  }
  std::optional<DeviceArray> major;
  std::optional<DeviceArray> minor;
  std::optional<DeviceArray> values;
  std::int64_t entries = 0;
  const auto major_size = [&] { return has_offsets ? major_count(rows) + 1 : entries; };
  const std::function<DeviceEntryOrder::Arrays(std::int64_t)> allocate = [&](std::int64_t count) {
    entries = count;
    major.emplace(queue, major_size(), rows.minor.dtype);
    minor.emplace(queue, count, rows.minor.dtype);
    values.emplace(queue, count, rows.values.dtype);
    return DeviceEntryOrder::Arrays{major->data(), minor->data(), values->data()};
  };
  auto found = EntryFinding::kRight;
  queue.enqueue(DeviceEntryOrder{.name = call.name,
                                 .a = rows,
                                 .by = call.by,
                                 .combine = call.combine,
                                 .has_offsets = has_offsets,
                                 .allocate = allocate,
                                 .pins = call.pins,
                                 .finding = found});
  if (found == EntryFinding::kWrong) refuse_entries_on(queue, call.a, "a");
  if (found == EntryFinding::kFall) return 0;
  return open_on(context,
                 {.format = call.format,
                  .flags = call.flags,
                  .rows = call.a.rows,
                  .cols = call.a.cols,
                  .major_count = major_size(),
                  .entry_count = entries,
                  .operation = call.operation,
                  .read_bytes = device_matrix_bytes(call.a)},
                 *major, *minor, *values);
}

}  // namespace tenure
