#include "cuda/operations/transfer.hpp"

#include <cinttypes>
#include <optional>

#include "cuda/operations/order.hpp"
#include "dense/operands.hpp"
#include "memory/scratch.hpp"
#include "tenure/counters.hpp"
#include "tenure/ops.hpp"

namespace tenure::cuda {
namespace {

void require_same_shape(const tnr_view& a, const tnr_view& out) {
  if (a.rank != out.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "a.rank is %" PRIu32 " but out.rank is %" PRIu32 ": between devices nothing is broadcast",
         a.rank, out.rank);
  }
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    if (a.shape[axis] == out.shape[axis]) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "a.shape[%" PRIu32 "] is %" PRId64 " but out.shape[%" PRIu32 "] is %" PRId64
         ": between devices nothing is broadcast",
         axis, a.shape[axis], axis, out.shape[axis]);
  }
}

// Whether the elements of both lie without gaps in the same order, so that their bytes are the
// same.
bool have_same_bytes(const tnr_view& a, const tnr_view& out) {
  // Each axis, from the smallest stride on, begins where the one before it ends.
  std::uint32_t seen = 0;
  std::int64_t expected = 1;
  for (std::uint32_t found = 0; found < a.rank; ++found) {
    std::uint32_t next = a.rank;
    for (std::uint32_t axis = a.rank; axis-- > 0;) {
      if ((seen >> axis & 1) != 0) continue;
      const bool is_single = a.shape[axis] == 1;
      if (is_single || (a.strides[axis] == expected && out.strides[axis] == expected)) {
        next = axis;
        break;
      }
    }
    if (next == a.rank) return false;
    seen |= 1u << next;
    expected *= a.shape[next];
  }
  return true;
}

tnr_view row_major_at(void* data, const tnr_view& like, std::size_t size_bytes) {
  return make_view(data, size_bytes, 0, like.dtype, like.rank, like.shape, nullptr, like.device);
}

void to_device(const Queue& queue, const Context& context, const tnr_view& a,
               const tnr_view_mut& out, std::size_t size_bytes) {
  if (have_same_bytes(a, out.view)) return queue.copy_in(writable(out), a.data, size_bytes);
  std::optional<Scratch> host;
  const void* bytes = a.data;
  if (dense_count(a) == 0) {
    host.emplace(size_bytes);
    copy(context, a, {row_major_at(host->data(), a, size_bytes)});
    bytes = host->data();
  }
  if (dense_count(out.view) != 0) return queue.copy_in(writable(out), bytes, size_bytes);
  const Queue::Scratch scratch(queue, size_bytes);
  queue.copy_in(scratch.data(), bytes, size_bytes);
  queue.copy(context, row_major_at(scratch.data(), out.view, size_bytes), out);
}

void to_host(const Queue& queue, const Context& context, const tnr_view& a, const tnr_view_mut& out,
             std::size_t size_bytes) {
  if (have_same_bytes(a, out.view)) return queue.copy_out(writable(out), a.data, size_bytes);
  std::optional<Queue::Scratch> scratch;
  const void* bytes = a.data;
  if (dense_count(a) == 0) {
    scratch.emplace(queue, size_bytes);
    queue.copy(context, a, {row_major_at(scratch->data(), a, size_bytes)});
    bytes = scratch->data();
  }
  if (dense_count(out.view) != 0) return queue.copy_out(writable(out), bytes, size_bytes);
  const Scratch host(size_bytes);
  queue.copy_out(host.data(), bytes, size_bytes);
  copy(context, row_major_at(host.data(), out.view, size_bytes), out);
}

}  // namespace

void transfer(const Queue& queue, const Context& context, const tnr_view& a,
              const tnr_view_mut& out) {
  const bool is_upload = is_on_device(out.view);
  check_view_mut(out, "out", is_upload ? queue.device() : kCpu);
  check_view(a, "a", is_upload ? kCpu : queue.device());
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  require_same_shape(a, out.view);
  Pins pins;
  pins.add_mut(out, "out");
  pins.add(a, "a");
  if (is_empty(a)) return count_call(TNR_OPERATION_COPY, 0, 0);
  const auto size_bytes = static_cast<std::size_t>(element_count(a)) * element_size(a.dtype);
  const QueueOrder order(queue, pins);
  // Views of the parts below name no owner: what they lie in is pinned or scratch.
  tnr_view from = a;
  tnr_view_mut to = out;
  from.owner = to.view.owner = 0;
  if (is_upload) {
    to_device(queue, context, from, to, size_bytes);
    // A copy writes truth values as 0 or 1, which bytes as they were need not be.
    if (a.dtype == TNR_DTYPE_BOOL8) queue.copy(context, to.view, to);
  } else {
    to_host(queue, context, from, to, size_bytes);
    if (a.dtype == TNR_DTYPE_BOOL8) copy(context, to.view, to);
  }
  count_call(TNR_OPERATION_COPY, size_bytes, size_bytes);
}

}  // namespace tenure::cuda
