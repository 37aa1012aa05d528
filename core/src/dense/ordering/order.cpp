// Sort, top-k and partition along an axis.
//
// A row's elements become records, which are sorted and become elements again; so the output may be
// the input, and neither has to be dense. Elements that are equal but differ in their bits, zeros
// of both signs or NaN of several kinds, have one key. Their bits are put in the order in which
// they occur, as a stable sort does.
#include <cinttypes>
#include <cstring>

#include "dense/loops/nest.hpp"
#include "dense/ordering/ordered.hpp"
#include "dense/ordering/ranges.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/ordering.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::KeyFacts;

// The records of a row that are sorted: all; only the first ones; or only the record of one rank.
struct Order {
  SortOrder direction;
  using Extent = OrderExtent;
  Extent extent;
  std::int64_t rank;
};

// Rows, one at a time.
class RowOrder {
 public:
  RowOrder(const Ordered& call, const Order& order, unsigned type)
      : order_(order),
        records_(type, order.direction,
                 call.indices != nullptr ? Records::Index::kOwn : Records::Index::kNone,
                 call.extent()),
        count_(call.extent()),
        kept_(call.kept()),
        in_step_(step_of(call.a, call.axis)),
        nest_(3) {
    if (call.out != nullptr) {
      out_ = writable(*call.out);
      out_step_ = step_of(call.out->view, call.axis);
    }
    if (call.indices != nullptr) {
      indices_ = writable(*call.indices);
      indices_step_ = step_of(call.indices->view, call.axis);
    }
    in_ = static_cast<const Byte*>(call.a.data);
    for (std::uint32_t axis = 0; axis < call.a.rank; ++axis) {
      if (axis == call.axis) continue;
      const std::int64_t steps[] = {step_of(call.a, axis),
                                    call.indices == nullptr ? 0 : step_of(call.indices->view, axis),
                                    call.out == nullptr ? 0 : step_of(call.out->view, axis)};
      nest_.add(call.a.shape[axis], steps);
      rows_ *= call.a.shape[axis];
    }
    nest_.order(0);
  }

  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return count_ * records_.bytes; }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] const Records& records() const noexcept { return records_; }

  // `buffer` has room for two times bytes().
  void run(std::int64_t row, Byte* buffer) const noexcept {
    const Row at = row_at(row);
    KeyFacts facts;
    load(at, 0, count_, buffer, facts);
    arrange(buffer, buffer + bytes(), facts);
    if (is_mixed(facts)) list_equals(at, buffer, buffer + bytes());
    store(at, 0, kept_, buffer, facts);
    if (is_mixed(facts)) put_equals(at, buffer, buffer + bytes());
  }

  // Orders a long row, by all threads.
  void run_long(std::int64_t row, Byte* buffer, RowRanges& ranges,
                SharedSort& sort) const noexcept {
    const Row at = row_at(row);
    const KeyRow elements = {at.in, in_step_, count_};
    KeyFacts facts;
    ranges.count(elements, facts);
    Byte* const other = buffer + bytes();
    const bool mixed = is_mixed(facts);
    const std::int64_t rank = order_.extent == Order::Extent::kFirst ? kept_ - 1 : order_.rank;
    const bool selects = order_.extent == Order::Extent::kFirst
                             ? kept_ < count_
                             : order_.extent == Order::Extent::kAround && !mixed;
    if (selects) {
      if (rank < 0) return;
      select_long(elements, rank, buffer, ranges, sort);
      if (mixed) list_equals(at, buffer, other);
      store_shared(ranges.context(), at, buffer, facts);
    } else {
      ranges.move(elements, buffer);
      ranges.sort(buffer, other, sort, [&](std::int64_t first, std::int64_t count) noexcept {
        if (!mixed) store(at, first, count, buffer, facts);
      });
      if (mixed) list_equals(at, buffer, other);
      if (mixed) store_shared(ranges.context(), at, buffer, facts);
    }
    if (mixed) put_equals(at, buffer, other);
  }

 private:
  struct Row {
    const Byte* in;
    Byte* indices;
    Byte* out;
  };

  [[nodiscard]] Row row_at(std::int64_t row) const noexcept {
    std::int64_t position[TNR_MAX_RANK];
    std::int64_t offsets[Nest::kMaxOperands];
    nest_.go_to(nest_.rank(), row, position, offsets);
    return {in_ + offsets[0], indices_ == nullptr ? nullptr : indices_ + offsets[1],
            out_ == nullptr ? nullptr : out_ + offsets[2]};
  }
  // Elements [first, first + count) of the row, to their places in the buffer.
  void load(const Row& row, std::int64_t first, std::int64_t count, Byte* buffer,
            KeyFacts& facts) const noexcept {
    records_.load(records_.rule,
                  {.data = row.in + first * in_step_,
                   .step = in_step_,
                   .count = count,
                   .first_index = first,
                   .records = buffer + first * records_.bytes},
                  facts);
  }
  // Elements are written whose bits a key does not tell.
  [[nodiscard]] bool is_mixed(const KeyFacts& facts) const noexcept {
    return out_ != nullptr && records_.equals_differ(facts);
  }

  void arrange(Byte* buffer, Byte* other, const KeyFacts& facts) const noexcept {
    const auto [low, high, least] = records_.differing(facts);
    std::int64_t sorted = count_;
    if (order_.extent == Order::Extent::kFirst && kept_ < count_) {
      if (kept_ == 0) return;
      records_.kernels->select({buffer, other, count_, low, high, least}, kept_ - 1);
      sorted = kept_;
    }
    // Equal elements have to be adjacent where their bits are listed.
    if (order_.extent == Order::Extent::kAround && !is_mixed(facts)) {
      return records_.kernels->select({buffer, other, count_, low, high, least}, order_.rank);
    }
    records_.kernels->sort({buffer, other, sorted, low, high, least}, false);
  }

  // Puts the record of a rank to its place, and sorts those before it where they are kept.
  void select_long(const KeyRow& elements, std::int64_t rank, Byte* buffer, RowRanges& ranges,
                   SharedSort& sort) const noexcept {
    const std::int64_t range = ranges.range_at(rank);
    const bool sorts = order_.extent == Order::Extent::kFirst;
    ranges.move_around(elements, range, range,
                       sorts ? RowRanges::Kept::kToLast : RowRanges::Kept::kAll, buffer);
    Byte* const other = buffer + bytes();
    const std::int64_t first = ranges.begin(range);
    ranges.select(buffer + first * records_.bytes, other, ranges.end(range) - first, rank - first,
                  sort);
    if (sorts) sort.run(buffer, other, kept_, ranges.bits_of(buffer, kept_));
  }

  void store(const Row& row, std::int64_t first, std::int64_t count, const Byte* buffer,
             const KeyFacts& facts) const noexcept {
    const Byte* const from = buffer + first * records_.bytes;
    if (row.out != nullptr) {
      records_.store(records_.rule, {.records = from,
                                     .count = count,
                                     .zero = facts.zero_or,
                                     .nan = facts.nan_or,
                                     .out = row.out + first * out_step_,
                                     .step = out_step_});
    }
    if (row.indices != nullptr) {
      records_.store_indices(from, count, row.indices + first * indices_step_, indices_step_);
    }
  }

  void store_shared(const Context& context, const Row& row, const Byte* buffer,
                    const KeyFacts& facts) const noexcept {
    const std::int64_t slices = slice_count_of(context, kept_ * records_.bytes);
    for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
      const std::int64_t first = slice_begin(kept_, slices, slice);
      store(row, first, slice_begin(kept_, slices, slice + 1) - first, buffer, facts);
    });
  }

  // Where the zeros begin and end among the records that are kept, and where NaN begin.
  struct Equals {
    std::int64_t zero;
    std::int64_t zero_end;
    std::int64_t nan;
  };
  [[nodiscard]] Equals equals_in(const Byte* buffer) const noexcept {
    return {records_.find(buffer, kept_, records_.zero_key()),
            records_.find(buffer, kept_, records_.zero_key() + 1),
            records_.find(buffer, kept_, records_.nan_key())};
  }
  // Lists the bits of zeros and NaN, from where they will be in the output on, in `list`.
  void list_equals(const Row& row, const Byte* buffer, Byte* list) const noexcept {
    auto [zero, zero_end, nan] = equals_in(buffer);
    const std::int64_t width = records_.width;
    for (std::int64_t i = 0; i < count_; ++i) {
      const Byte* const element = row.in + i * in_step_;
      const std::uint64_t bits = records_.read(element);
      if (records_.is_zero(bits) && zero < zero_end) {
        std::memcpy(list + zero++ * width, element, static_cast<std::size_t>(width));
      } else if (records_.is_nan(bits) && nan < kept_) {
        std::memcpy(list + nan++ * width, element, static_cast<std::size_t>(width));
      }
    }
  }
  void put_equals(const Row& row, const Byte* buffer, const Byte* list) const noexcept {
    const auto [zero, zero_end, nan] = equals_in(buffer);
    const auto put = [&](std::int64_t first, std::int64_t end) {
      for (std::int64_t i = first; i < end; ++i) {
        std::memcpy(row.out + i * out_step_, list + i * records_.width,
                    static_cast<std::size_t>(records_.width));
      }
    };
    put(zero, zero_end);
    put(nan, kept_);
  }

  Order order_;
  Records records_;
  std::int64_t count_;
  std::int64_t kept_;
  const Byte* in_;
  std::int64_t in_step_;
  Byte* out_ = nullptr;
  std::int64_t out_step_ = 0;
  Byte* indices_ = nullptr;
  std::int64_t indices_step_ = 0;
  Nest nest_;  // of the axes that are not sorted
  std::int64_t rows_ = 1;
};

void order_rows(const Context& context, const RowOrder& work) {
  const std::int64_t rows = work.rows();
  const std::int64_t slices =
      std::min(slice_count_of(context, bytes_of_rows(rows, work.bytes())), rows);
  if (work.count() > kSharedRecords) {
    const Scratch buffer(2 * work.count(), work.records().bytes);
    RowRanges ranges(context, work.records(), work.count());
    SharedSort sort(context, work.records(), work.count());
    for (std::int64_t row = 0; row < rows; ++row) work.run_long(row, buffer.data(), ranges, sort);
  } else if (slices == 1) {
    const Scratch buffer(2 * work.count(), work.records().bytes);
    for (std::int64_t row = 0; row < rows; ++row) work.run(row, buffer.data());
  } else {
    Tickets tickets(slices);
    on_each_thread(context, slices, 2 * work.bytes(), [&](Byte* buffer) noexcept {
      for (std::int64_t slice; (slice = tickets.take()) >= 0;) {
        const std::int64_t end = slice_begin(rows, slices, slice + 1);
        for (std::int64_t row = slice_begin(rows, slices, slice); row < end; ++row) {
          work.run(row, buffer);
        }
      }
    });
  }
}

void run_ordered(const Context& context, const char* operation, const Ordered& call,
                 const Order& order) {
  const unsigned type = check_ordered(operation, call, order.extent);
  if (order.extent == Order::Extent::kAround && (order.rank < 0 || order.rank >= call.extent())) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "kth is %" PRId64 " but must be at least 0 and below a.shape[%" PRIu32
         "], which is %" PRId64,
         order.rank, call.axis, call.extent());
  }
  Pins pins;
  const std::uint64_t written = pin_ordered(call, pins);
  if (written != 0) order_rows(context, RowOrder(call, order, type));
  count_call(TNR_OPERATION_SORT, written == 0 ? 0 : element_bytes(call.a), written);
}

// Returns the queue of an output on a device, or nullptr where the CPU orders.
const DeviceQueue* queue_of_order(const Context& context, const tnr_view_mut* indices,
                                  const tnr_view_mut* out) {
  if (out != nullptr && is_on_device(out->view)) return &queue_of(context, out->view, "out");
  if (indices != nullptr && is_on_device(indices->view)) {
    return &queue_of(context, indices->view, "indices");
  }
  return nullptr;
}

}  // namespace

void sort(const Context& context, const tnr_view& a, std::uint32_t axis, SortOrder order,
          const tnr_view_mut* indices, const tnr_view_mut* out) {
  if (const DeviceQueue* const queue = queue_of_order(context, indices, out)) [[unlikely]]
    return queue->enqueue(DeviceSort{DeviceSort::Kept::kAll, a, axis, order, indices, out});
  run_ordered(context, "sort", {a, axis, indices, out}, {order, Order::Extent::kAll, 0});
}

void top_k(const Context& context, const tnr_view& a, std::uint32_t axis, SortOrder order,
           const tnr_view_mut* indices, const tnr_view_mut* out) {
  if (const DeviceQueue* const queue = queue_of_order(context, indices, out)) [[unlikely]]
    return queue->enqueue(DeviceSort{DeviceSort::Kept::kFirst, a, axis, order, indices, out});
  run_ordered(context, "top_k", {a, axis, indices, out}, {order, Order::Extent::kFirst, 0});
}

void partition(const Context& context, const tnr_view& a, std::uint32_t axis, std::int64_t kth,
               const tnr_view_mut* indices, const tnr_view_mut* out) {
  run_ordered(context, "partition", {a, axis, indices, out},
              {SortOrder::kRising, Order::Extent::kAround, kth});
}

}  // namespace tenure
