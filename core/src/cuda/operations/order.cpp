// Sorts and the first elements of an order, along an axis.
#include <algorithm>
#include <bit>
#include <cinttypes>
#include <optional>

#include "cuda/kernels/ordering/arguments.hpp"
#include "cuda/operations/digit_sort.hpp"
#include "cuda/operations/enqueue.hpp"
#include "cuda/operations/grid.hpp"
#include "dense/ordering/ordered.hpp"
#include "dense/ordering/records.hpp"
#include "memory/queue_order.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"
#include "tenure/ordering.hpp"
#include "view/operand_checks.hpp"

namespace tenure::cuda {
namespace {

constexpr unsigned kWordBits = 32;

class RowOrders {
 public:
  RowOrders(const Queue& queue, const Ordered& call, unsigned type, SortOrder order)
      : queue_(queue), call_(call), width_(static_cast<std::int64_t>(element_size(call.a.dtype))) {
    const kernels::KeyRule rule = key_rule(static_cast<kernels::Type>(type));
    keys_.ones = ~std::uint64_t{0} >> (64 - 8 * width_);
    keys_.sign = rule.sign;
    keys_.infinity = rule.infinity;
    keys_.flip = order == SortOrder::kFalling ? keys_.ones : 0;
    keys_.is_truth = rule.is_truth ? 1 : 0;
    stores_.is_truth = keys_.is_truth;
    rows_.set(kOrderIn, {bytes_of(call.a), width_});
    if (call.out != nullptr) {
      rows_.set(kOrderOut, {bytes_of(call.out->view), width_});
      stores_.out_step = step_of(call.out->view, call.axis);
    }
    if (call.indices != nullptr) {
      rows_.set(kOrderIndices, {bytes_of(call.indices->view), sizeof(std::int64_t)});
      stores_.indices_step = step_of(call.indices->view, call.axis);
    }
    for (std::uint32_t axis = 0; axis < call.a.rank; ++axis) {
      const std::int64_t steps[] = {
          step_of(call.a, axis), call.out == nullptr ? 0 : step_of(call.out->view, axis),
          call.indices == nullptr ? 0 : step_of(call.indices->view, axis)};
      if (axis != call.axis) rows_.add(call.a.shape[axis], steps);
    }
    rows_.order();
  }

  void run() const {
    const std::int64_t most = std::max(kMostSorted, call_.extent());
    DigitSort sorted(queue_, std::min(rows_.count() * call_.extent(), most));
    // Elements are read by their places while others are written, which is no matter where these
    // lie elsewhere.
    std::optional<Queue::Scratch> held;
    if (call_.out != nullptr && call_.out->view.data == call_.a.data) {
      const std::int64_t elements = std::min(rows_.count() * call_.kept(), most);
      held.emplace(queue_, static_cast<std::size_t>(elements * width_));
    }
    run(rows_, sorted, held ? static_cast<unsigned char*>(held->data()) : nullptr);
  }

 private:
  void run(const LoopNest& rows, DigitSort& sorted, unsigned char* held) const {
    const std::int64_t row_count = rows.count();
    if (row_count > 1 && row_count * call_.extent() > kMostSorted) {
      const LoopNest::Halves halves = rows.halves();
      run(halves.low, sorted, held);
      return run(halves.high, sorted, held);
    }
    const OrderedRows all = rows_argument(rows, row_count);
    sort(all, row_count, sorted);
    OrderStoreArgument argument = stores_;
    argument.rows = all;
    argument.places = sorted.places();
    argument.kept = divider_by(call_.kept());
    argument.count = static_cast<std::uint32_t>(row_count * call_.kept());
    if (call_.indices != nullptr) argument.indices = moved(*call_.indices, rows, kOrderIndices);
    if (call_.out != nullptr) argument.out = moved(*call_.out, rows, kOrderOut);
    if (held == nullptr) return store(argument);
    // To memory without gaps, and from there.
    OrderStoreArgument away = argument;
    away.out = held;
    away.out_step = width_;
    set_dense(away.rows, kOrderOut);
    store(away);
    argument.rows.in = held;
    argument.rows.in_step = width_;
    argument.rows.extent = argument.kept;
    set_dense(argument.rows, kOrderIn);
    argument.places = nullptr;
    argument.indices = nullptr;
    store(argument);
  }

  // Sorts the numbers of elements, by words from the least significant on.
  void sort(const OrderedRows& all, std::int64_t row_count, DigitSort& sorted) const {
    OrderKeysArgument argument = keys_;
    argument.rows = all;
    argument.own_places = sorted.places();
    const auto sort_word = [&](unsigned bits) {
      argument.keys = sorted.keys();
      queue_.launch(Kernel::order_keys, grid_of(all.count, kThreads), argument);
      sorted.run(all.count, bits);
      argument.places = sorted.places();
      argument.own_places = nullptr;
    };
    const auto key_bits = keys_.is_truth != 0 ? 1u : static_cast<unsigned>(8 * width_);
    for (; argument.word * kWordBits < key_bits; ++argument.word) {
      sort_word(std::min(key_bits - argument.word * kWordBits, kWordBits));
    }
    if (row_count == 1) return;
    argument.is_of_rows = 1;
    sort_word(static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(row_count - 1))));
  }

  void store(const OrderStoreArgument& argument) const {
    queue_.launch(Kernel::order_store, grid_of(argument.count, kThreads), argument);
  }

  [[nodiscard]] OrderedRows rows_argument(const LoopNest& rows, std::int64_t row_count) const {
    OrderedRows result = {};
    result.in = rows.operand(kOrderIn).data;
    result.in_step = step_of(call_.a, call_.axis);
    result.extent = divider_by(call_.extent());
    result.count = static_cast<std::uint32_t>(row_count * call_.extent());
    result.element_shift = logarithm_of(width_);
    result.rank = rows.rank();
    for (unsigned i = 0; i < rows.rank(); ++i) {
      const unsigned axis = rows.rank() - 1 - i;
      result.axes[i].divider = divider_by(rows.extent(axis));
      for (unsigned k = 0; k < kOrderSteps; ++k) result.axes[i].steps[k] = rows.step(axis, k);
    }
    return result;
  }
  // One operand's rows lie one behind the other, of the elements that are kept.
  void set_dense(OrderedRows& rows, OrderStep of) const noexcept {
    std::int64_t step = call_.kept() * width_;
    for (unsigned i = 0; i < rows.rank; ++i) {
      rows.axes[i].steps[of] = step;
      step *= rows.axes[i].divider.extent;
    }
  }
  static unsigned char* moved(const tnr_view_mut& view, const LoopNest& rows, OrderStep of) {
    return writable(view) + (rows.operand(of).data - bytes_of(view.view));
  }

  const Queue& queue_;
  const Ordered& call_;
  std::int64_t width_;
  LoopNest rows_{kOrderSteps};
  OrderKeysArgument keys_ = {};
  OrderStoreArgument stores_ = {};
};

void run_ordered(const Queue& queue, const char* operation, const Ordered& call, SortOrder order,
                 OrderExtent extent) {
  const unsigned type = check_ordered(operation, call, extent, queue.device());
  if (call.extent() >= kMostNumber) {
    fail(TNR_STATUS_UNSUPPORTED,
         "a.shape[%" PRIu32 "] is %" PRId64 " but must be below %" PRId64 " to be sorted on %s",
         call.axis, call.extent(), kMostNumber, DeviceName(queue.device()).text);
  }
  Pins pins;
  const std::uint64_t written = pin_ordered(call, pins);
  if (written != 0) {
    const QueueOrder queue_order(queue, pins);
    RowOrders(queue, call, type, order).run();
  }
  count_call(TNR_OPERATION_SORT, written == 0 ? 0 : element_bytes(call.a), written);
}

}  // namespace

void enqueue(const Queue& queue, const DeviceSort& call) {
  const auto& [kept, a, axis, order, indices, out] = call;
  const bool is_all = kept == DeviceSort::Kept::kAll;
  run_ordered(queue, is_all ? "sort" : "top_k", {a, axis, indices, out}, order,
              is_all ? OrderExtent::kAll : OrderExtent::kFirst);
}

}  // namespace tenure::cuda
