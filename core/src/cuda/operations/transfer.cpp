#include "cuda/operations/transfer.hpp"

#include <cinttypes>
#include <optional>

#include "cuda/operations/enqueue.hpp"
#include "memory/queue_order.hpp"
#include "memory/scratch.hpp"
#include "tenure/counters.hpp"
#include "tenure/ops.hpp"
#include "view/operand_checks.hpp"

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

void copy_here(const Queue& queue, const Context& context, const tnr_view& a,
               const tnr_view_mut& out) {
  enqueue(queue, DeviceCopy{context, a, out, false});
}

void to_device(const Queue& queue, const Context& context, const tnr_view& a,
               const tnr_view_mut& out, std::size_t size_bytes) {
  if (have_same_bytes(a, out.view))
    return queue.copy_bytes(DeviceQueue::Direction::kIn, writable(out), a.data, size_bytes);
  std::optional<Scratch> host;
  const void* bytes = a.data;
  if (dense_count(a) == 0) {
    host.emplace(size_bytes);
    copy(context, a, {row_major_at(host->data(), a, size_bytes)});
    bytes = host->data();
  }
  if (dense_count(out.view) != 0)
    return queue.copy_bytes(DeviceQueue::Direction::kIn, writable(out), bytes, size_bytes);
  const Queue::Scratch scratch(queue, size_bytes);
  queue.copy_bytes(DeviceQueue::Direction::kIn, scratch.data(), bytes, size_bytes);
  copy_here(queue, context, row_major_at(scratch.data(), out.view, size_bytes), out);
}

void to_host(const Queue& queue, const Context& context, const tnr_view& a, const tnr_view_mut& out,
             std::size_t size_bytes) {
  if (have_same_bytes(a, out.view))
    return queue.copy_bytes(DeviceQueue::Direction::kOut, writable(out), a.data, size_bytes);
  std::optional<Queue::Scratch> scratch;
  const void* bytes = a.data;
  if (dense_count(a) == 0) {
    scratch.emplace(queue, size_bytes);
    copy_here(queue, context, a, {row_major_at(scratch->data(), a, size_bytes)});
    bytes = scratch->data();
  }
  if (dense_count(out.view) != 0)
    return queue.copy_bytes(DeviceQueue::Direction::kOut, writable(out), bytes, size_bytes);
  const Scratch host(size_bytes);
  queue.copy_bytes(DeviceQueue::Direction::kOut, host.data(), bytes, size_bytes);
  copy(context, row_major_at(host.data(), out.view, size_bytes), out);
}

// The operands of a transfer, checked and pinned.
class TransferOperands {
 public:
  TransferOperands(const Queue& queue, const tnr_view& a, const tnr_view_mut& out)
      : is_here_(out.view.device == queue.device()), from_(a), to_(out) {
    const tnr_view& far = is_here_ ? a : out.view;
    check_view_mut(out, "out", is_here_ ? queue.device() : named_device(far));
    check_view(a, "a", is_here_ ? named_device(far) : queue.device());
    require_dtype(a, "a", out.view.dtype, "out.dtype is");
    require_same_shape(a, out.view);
    pins_.add_mut(out, "out");
    pins_.add(a, "a");
    // Views of parts of the call name no owner: their memory is pinned or scratch.
    from_.owner = to_.view.owner = 0;
    if (!is_empty()) {
      size_bytes_ = static_cast<std::size_t>(element_count(a)) * element_size(a.dtype);
    }
  }

  [[nodiscard]] bool is_empty() const { return tenure::is_empty(from_); }
  // Whether the output is on the queue's device, and the input elsewhere.
  [[nodiscard]] bool is_here() const noexcept { return is_here_; }
  [[nodiscard]] const tnr_view& from() const noexcept { return from_; }
  [[nodiscard]] const tnr_view_mut& to() const noexcept { return to_; }
  [[nodiscard]] const tnr_view& far() const noexcept { return is_here_ ? from_ : to_.view; }
  [[nodiscard]] const Pins& pins() const noexcept { return pins_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] bool has_bools() const noexcept { return from_.dtype == TNR_DTYPE_BOOL8; }
  // Throws INVALID_ARGUMENT where the view elsewhere has gaps.
  void require_no_gaps(const char* of) const {
    if (have_same_bytes(far(), far())) return;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s has gaps between its elements, or runs backwards, which a copy that is enqueued does "
         "not take of %s",
         is_here_ ? "a" : "out", of);
  }
  void count() const noexcept { count_call(TNR_OPERATION_COPY, size_bytes_, size_bytes_); }

 private:
  bool is_here_;
  tnr_view from_;
  tnr_view_mut to_;
  std::size_t size_bytes_ = 0;
  Pins pins_;
};

// The layout of a view elsewhere, over memory of the queue's device.
tnr_view laid_as(const tnr_view& far, void* data, const Queue& queue) {
  tnr_view view = far;
  view.data = view.base = data;
  view.device = queue.device();
  return view;
}

// Enqueues the copy. The elements elsewhere have no gaps, and move(out, in, size_bytes) enqueues
// the copy of their bytes.
template <class Move>
void enqueue_parts(const Queue& queue, const Context& context, const TransferOperands& operands,
                   Move move) {
  const tnr_view& a = operands.from();
  const tnr_view_mut& out = operands.to();
  const std::size_t size_bytes = operands.size_bytes();
  const bool is_same = have_same_bytes(a, out.view);
  if (operands.is_here()) {
    if (is_same) {
      move(writable(out), a.data, size_bytes);
      // A copy writes truth values as 0 or 1, which bytes as they were need not be.
      if (operands.has_bools()) copy_here(queue, context, out.view, out);
      return;
    }
    const Queue::Scratch scratch(queue, size_bytes);
    move(scratch.data(), a.data, size_bytes);
    return copy_here(queue, context, laid_as(a, scratch.data(), queue), out);
  }
  if (is_same && !operands.has_bools()) return move(writable(out), a.data, size_bytes);
  const Queue::Scratch scratch(queue, size_bytes);
  copy_here(queue, context, a, {laid_as(out.view, scratch.data(), queue)});
  move(writable(out), scratch.data(), size_bytes);
}

void between_devices(const Queue& queue, const Context& context, const TransferOperands& operands) {
  const Device& far = Device::open(operands.far().device.index);
  const Device& here = queue.opened_device();
  operands.require_no_gaps("another device than the context's");
  enqueue_parts(queue, context, operands, [&](void* out, const void* in, std::size_t size_bytes) {
    queue.copy_between(operands.is_here() ? here : far, out, operands.is_here() ? far : here, in,
                       size_bytes);
  });
}

}  // namespace

void transfer(const Queue& queue, const Context& context, const tnr_view& a,
              const tnr_view_mut& out) {
  const TransferOperands operands(queue, a, out);
  if (operands.is_empty()) return operands.count();
  const QueueOrder order(queue, operands.pins());
  const tnr_view& from = operands.from();
  const tnr_view_mut& to = operands.to();
  if (is_on_device(operands.far())) {
    between_devices(queue, context, operands);
  } else if (operands.is_here()) {
    to_device(queue, context, from, to, operands.size_bytes());
    // As above.
    if (operands.has_bools()) copy_here(queue, context, to.view, to);
  } else {
    to_host(queue, context, from, to, operands.size_bytes());
    if (operands.has_bools()) copy(context, to.view, to);
  }
  operands.count();
}

void transfer_async(const Queue& queue, const Context& context, const tnr_view& a,
                    const tnr_view_mut& out) {
  const TransferOperands operands(queue, a, out);
  if (operands.is_empty()) return operands.count();
  operands.require_no_gaps("the CPU");
  const QueueOrder order(queue, operands.pins());
  try {
    enqueue_parts(queue, context, operands, [&](void* to, const void* in, std::size_t size_bytes) {
      if (operands.is_here()) return queue.enqueue_in(to, in, size_bytes);
      queue.enqueue_out(to, in, size_bytes);
    });
  } catch (const Error&) {
    // A part that was enqueued may use the memory, which the caller takes for unused.
    queue.settle();
    throw;
  }
  const BlobToken owner = operands.is_here() ? a.owner : out.view.owner;
  if (owner != 0) queue.keep_in_use(owner);
  operands.count();
}

}  // namespace tenure::cuda
