// Entries of sparse matrices in order, and those of one position made one or kept.
#include <algorithm>
#include <bit>
#include <cinttypes>
#include <optional>

#include "cuda/operations/digit_sort.hpp"
#include "cuda/operations/enqueue.hpp"
#include "cuda/operations/scan.hpp"
#include "cuda/operations/sparse/rows.hpp"
#include "memory/queue_order.hpp"
#include "tenure/dtype.hpp"
#include "view/operand_checks.hpp"

namespace tenure::cuda {
namespace {

constexpr unsigned kKeyBits = 32;

// Bits of the numbers below an extent.
unsigned bits_below(std::int64_t extent) noexcept {
  return static_cast<unsigned>(
      std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 1) - 1)));
}

// The operation of kernels::Binary that combines entries, or 0.
std::uint32_t op_of(tnr_sparse_combine combine) noexcept {
  switch (combine) {
    case TNR_SPARSE_COMBINE_SUM: return TNR_BINARY_OP_ADD;
    case TNR_SPARSE_COMBINE_MIN: return TNR_BINARY_OP_MIN;
    case TNR_SPARSE_COMBINE_MAX: return TNR_BINARY_OP_MAX;
    default: return 0;
  }
}

class EntryOrdering {
 public:
  // Adjacent words, which one wait brings to the CPU.
  struct Told {
    std::uint32_t count;
    std::uint32_t finding;
  };

  EntryOrdering(const Queue& queue, const DeviceEntryOrder& call)
      : queue_(queue),
        call_(call),
        count_(call.a.minor.shape[0]),
        words_(queue, (static_cast<std::size_t>(count_) + 2) * sizeof(std::uint32_t)) {
    const tnr_sparse_view& a = call.a;
    const auto width = static_cast<std::int64_t>(element_size(a.values.dtype));
    argument_.numbers = static_cast<std::uint32_t*>(words_.data());
    argument_.a = rows_of(a, argument_.numbers + count_ + 1);
    argument_.is_coo = a.format == TNR_SPARSE_FORMAT_COO ? 1 : 0;
    argument_.has_offsets = argument_.is_coo == 0 || call.has_offsets ? 1 : 0;
    argument_.keeps_all = call.combine == 0 ? 1 : 0;
    argument_.minor_bits =
        call.by == DeviceEntryOrder::By::kPosition ? bits_below(minor_count(a)) : 0;
    argument_.op = op_of(call.combine);
    const unsigned type = type_index(a.values.dtype);
    // Complex numbers are only moved.
    argument_.type = type == kNoType ? ElementType::kU64 : static_cast<ElementType>(type);
    argument_.element_shift = logarithm_of(width);
    argument_.has_halves = has_halves(width, address_of(argument_.a.values));
    if (call.by != DeviceEntryOrder::By::kNone && count_ != 0) sort();
    const bool is_as_it_came = argument_.places == nullptr;
    argument_.must_rise =
        is_as_it_came && argument_.is_coo != 0 && argument_.has_offsets != 0 ? 1 : 0;
  }

  [[nodiscard]] Told look() {
    queue_.fill_bytes(argument_.a.finding, 0, sizeof(std::uint32_t));
    queue_.launch(Kernel::entry_marks, grid(), argument_);
    sum_words(queue_, argument_.numbers + 1, count_);
    Told told;
    queue_.copy_bytes(DeviceQueue::Direction::kOut, &told, argument_.numbers + count_, sizeof told);
    return told;
  }

  void store(const DeviceEntryOrder::Arrays& arrays) {
    argument_.major = static_cast<unsigned char*>(arrays.major);
    argument_.minor = static_cast<unsigned char*>(arrays.minor);
    argument_.values = static_cast<unsigned char*>(arrays.values);
    queue_.launch(Kernel::entry_store, grid(), argument_);
  }

 private:
  void sort() {
    // One more than there are rows: of entries that no row has.
    const unsigned major_bits =
        argument_.is_coo != 0
            ? bits_below(argument_.a.rows)
            : static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(argument_.a.rows)));
    const unsigned bits = argument_.minor_bits + major_bits;
    if (bits == 0) return;
    DigitSort& sorted = sorted_.emplace(queue_, count_);
    argument_.own_places = sorted.places();
    for (; argument_.key_shift < bits; argument_.key_shift += kKeyBits) {
      argument_.keys = sorted.keys();
      queue_.launch(Kernel::entry_keys, grid_of(count_, kThreads), argument_);
      sorted.run(static_cast<std::uint32_t>(count_),
                 std::min(bits - argument_.key_shift, kKeyBits));
      argument_.places = sorted.places();
      argument_.own_places = nullptr;
    }
  }

  // A thread has entries, and offsets where there are some.
  [[nodiscard]] Grid grid() const {
    const std::int64_t offsets = argument_.has_offsets != 0 ? argument_.a.rows + 1 : 1;
    return grid_for(queue_, quotient_up(std::max(count_, offsets), kThreads));
  }

  const Queue& queue_;
  const DeviceEntryOrder& call_;
  std::int64_t count_;
  Queue::Scratch words_;
  std::optional<DigitSort> sorted_;
  EntryOrderArgument argument_ = {};
};

}  // namespace

void enqueue(const Queue& queue, const DeviceEntryOrder& call) {
  const tnr_view& values = call.a.values;
  if (element_size(values.dtype) > 8) {
    fail(TNR_STATUS_UNSUPPORTED, "%s takes %s only on the CPU, not on %s", call.name,
         dtype_name(values.dtype), DeviceName(queue.device()).text);
  }
  if (values.shape[0] >= kMostNumber) {
    fail(TNR_STATUS_UNSUPPORTED,
         "a.values.shape[0] is %" PRId64 " but must be below %" PRId64 " for %s on %s",
         values.shape[0], kMostNumber, call.name, DeviceName(queue.device()).text);
  }
  const QueueOrder order(queue, call.pins);
  EntryOrdering ordering(queue, call);
  const EntryOrdering::Told told = ordering.look();
  if (told.finding != 0) {
    call.finding = told.finding == kEntriesFall ? EntryFinding::kFall : EntryFinding::kWrong;
    return;
  }
  ordering.store(call.allocate(told.count));
  call.finding = EntryFinding::kRight;
}

}  // namespace tenure::cuda
