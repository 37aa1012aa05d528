// Scans along an axis.
#include "cuda/operations/scan.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "cpu/operations.hpp"
#include "cuda/kernels/scan/arguments.hpp"
#include "cuda/operations/enqueue.hpp"
#include "cuda/operations/grid.hpp"
#include "dense/checks.hpp"
#include "memory/queue_order.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure::cuda {
namespace {

using kernels::Scan;

// Operands of a nest of rows, which is ordered by the output.
enum : unsigned { kOfOut, kOfIn };

// Bytes of the numbers that kernels put together.
constexpr std::int64_t kNumberBytes = 8;
constexpr std::int64_t kScaledNumberBytes = 16;
// Threads that keep a device busy. A constant: the order in which numbers meet follows from it.
constexpr std::int64_t kWantedThreads = std::int64_t{1} << 17;
// Fewest rounds of a segment: compared with them its total costs little.
constexpr std::int64_t kLeastRounds = 4;
// Elements of a row up to which a warp has it.
constexpr std::int64_t kMostOfOneWarp = 1024;

// How rows are shared out.
struct Sharing {
  std::uint32_t lanes_shift;
  std::int64_t segments;  // of a row
  std::int64_t segment_length;
};

std::uint32_t lanes_shift_of(std::int64_t length) noexcept {
  if (length <= static_cast<std::int64_t>(kScanItems)) return 0;
  return length <= kMostOfOneWarp ? kWarpShift : kBlockShift;
}
std::int64_t round_of(std::uint32_t lanes_shift) noexcept {
  return std::int64_t{kScanItems} << lanes_shift;
}
// Where rows are adjacent a thread has a row of its own, so that adjacent threads read neighbours.
Sharing share(std::int64_t rows, std::int64_t length, std::uint32_t lanes_shift) noexcept {
  const std::int64_t round = round_of(lanes_shift);
  const std::int64_t wanted = (kWantedThreads >> lanes_shift) / rows;
  const std::int64_t most = length / (kLeastRounds * round);
  const std::int64_t segments = std::max<std::int64_t>(1, std::min(wanted, most));
  const std::int64_t segment_length = quotient_up(quotient_up(length, segments), round) * round;
  return {lanes_shift, quotient_up(length, segment_length), segment_length};
}

template <class Number>
std::uint64_t bits_of(Number number) noexcept {
  return std::bit_cast<std::uint64_t>(number);
}
ScanRule rule_of(Scan op) noexcept {
  switch (op) {
    case Scan::kSum: return ScanRule::kSum;
    case Scan::kProd: return ScanRule::kProduct;
    case Scan::kMin:
    case Scan::kMax: break;
  }
  return ScanRule::kGreatest;
}
// Bits of the number that changes no other.
std::uint64_t start_of(ScanRule rule, bool is_float) noexcept {
  switch (rule) {
    case ScanRule::kSum: return is_float ? bits_of(-0.0) : 0;
    case ScanRule::kProduct: return is_float ? bits_of(1.0) : 1;
    default: return is_float ? bits_of(-std::numeric_limits<double>::infinity()) : 0;
  }
}
// Bits of numbers that are compared: the order of signed integers, and the least as the greatest.
std::uint64_t bias_of(Scan op, bool is_float, bool is_signed) noexcept {
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  if (op != Scan::kMin && op != Scan::kMax) return 0;
  const std::uint64_t order = is_signed ? kTop : 0;
  return op == Scan::kMax ? order : is_float ? kTop : ~order;
}

class RowScans {
 public:
  RowScans(const Queue& queue, tnr_scan_op op, const tnr_view& a, std::uint32_t axis,
           const tnr_view_mut& out)
      : queue_(queue), out_(out), rows_(2) {
    const auto type = static_cast<ElementType>(type_index(a.dtype));
    const bool is_float = type <= ElementType::kBF16;
    const bool is_signed = type >= ElementType::kI8 && type <= ElementType::kI64;
    argument_.in_step = step_of(a, axis);
    argument_.out_step = step_of(out.view, axis);
    argument_.length = a.shape[axis];
    argument_.op = rule_of(static_cast<Scan>(op));
    const bool is_scaled =
        is_float && (argument_.op == ScanRule::kProduct ||
                     (argument_.op == ScanRule::kSum && type == ElementType::kF64));
    kernel_ = is_scaled  ? Kernel::scan_scaled
              : is_float ? Kernel::scan_floats
                         : Kernel::scan_integers;
    number_bytes_ = is_scaled ? kScaledNumberBytes : kNumberBytes;
    argument_.start = start_of(argument_.op, is_float);
    argument_.bias = bias_of(static_cast<Scan>(op), is_float, is_signed);
    argument_.type = argument_.out_type = type;
    argument_.in_shift = logarithm_of(static_cast<std::int64_t>(element_size(a.dtype)));
    argument_.out_shift = logarithm_of(static_cast<std::int64_t>(element_size(out.view.dtype)));
    argument_.is_signed = is_signed ? 1 : 0;
    rows_.set(kOfOut,
              {bytes_of(out.view), static_cast<std::int64_t>(element_size(out.view.dtype))});
    rows_.set(kOfIn, {bytes_of(a), static_cast<std::int64_t>(element_size(a.dtype))});
    for (std::uint32_t i = 0; i < a.rank; ++i) {
      const std::int64_t steps[] = {step_of(out.view, i), step_of(a, i)};
      if (i != axis) rows_.add(a.shape[i], steps);
    }
    rows_.order();
    const bool is_interleaved =
        rows_.rank() != 0 && rows_.step(rows_.rank() - 1, kOfOut) < std::abs(argument_.out_step);
    lanes_shift_ = is_interleaved ? 0 : lanes_shift_of(argument_.length);
  }

  void run() const { run(rows_); }

 private:
  void run(const LoopNest& rows) const {
    const std::int64_t row_count = rows.count();
    // More rows than a kernel counts take several launches.
    if (row_count >= kMostNumber) {
      const LoopNest::Halves halves = rows.halves();
      run(halves.low);
      return run(halves.high);
    }
    const Sharing sharing = share(row_count, argument_.length, lanes_shift_);
    ScanArgument argument = argument_;
    argument.in = rows.operand(kOfIn).data;
    argument.out = writable(out_) + (rows.operand(kOfOut).data - bytes_of(out_.view));
    argument.rows = divider_by(row_count);
    argument.rank = rows.rank();
    for (unsigned i = 0; i < rows.rank(); ++i) {
      const unsigned axis = rows.rank() - 1 - i;
      argument.axes[i].divider = divider_by(rows.extent(axis));
      argument.axes[i].steps[kScanIn] = rows.step(axis, kOfIn);
      argument.axes[i].steps[kScanOut] = rows.step(axis, kOfOut);
    }
    if (sharing.segments == 1) return launch(argument, sharing, row_count);
    const Queue::Scratch carries(
        queue_, static_cast<std::size_t>(row_count * sharing.segments * number_bytes_));
    auto* const numbers = static_cast<unsigned char*>(carries.data());
    ScanArgument of_totals = argument;
    of_totals.out = nullptr;
    of_totals.totals = numbers;
    launch(of_totals, sharing, row_count);
    scan_totals(numbers, row_count, sharing.segments);
    argument.carries = numbers;
    launch(argument, sharing, row_count);
  }

  // Replaces each total by the carry into its segment.
  void scan_totals(unsigned char* totals, std::int64_t row_count, std::int64_t segments) const {
    ScanArgument argument = {};
    argument.in = argument.out = totals;
    argument.in_step = argument.out_step = number_bytes_;
    argument.has_numbers = number_bytes_ == kScaledNumberBytes ? 1 : 0;
    argument.length = segments;
    argument.op = argument_.op;
    argument.start = argument_.start;
    argument.type = argument.out_type = ElementType::kF64;
    argument.in_shift = argument.out_shift = logarithm_of(kNumberBytes);
    argument.is_exclusive = 1;
    argument.rows = divider_by(row_count);
    argument.rank = 1;
    argument.axes[0].divider = divider_by(row_count);
    argument.axes[0].steps[kScanIn] = argument.axes[0].steps[kScanOut] = segments * number_bytes_;
    const std::uint32_t lanes_shift = lanes_shift_of(segments);
    launch(argument,
           {lanes_shift, 1, quotient_up(segments, round_of(lanes_shift)) * round_of(lanes_shift)},
           row_count);
  }

  void launch(ScanArgument& argument, const Sharing& sharing, std::int64_t row_count) const {
    const std::int64_t groups = row_count * sharing.segments;
    argument.segment_length = sharing.segment_length;
    argument.segments = static_cast<std::uint32_t>(sharing.segments);
    argument.lanes_shift = sharing.lanes_shift;
    argument.groups = static_cast<std::uint32_t>(groups);
    const std::int64_t of_block = std::int64_t{kThreads} >> sharing.lanes_shift;
    queue_.launch(kernel_, {static_cast<unsigned>(quotient_up(groups, of_block)), kThreads},
                  argument);
  }

  const Queue& queue_;
  const tnr_view_mut& out_;
  LoopNest rows_;
  ScanArgument argument_ = {};
  Kernel kernel_;
  std::int64_t number_bytes_;
  std::uint32_t lanes_shift_;
};

}  // namespace

void sum_words(const Queue& queue, std::uint32_t* words, std::int64_t count) {
  if (count == 0) return;
  const tnr_view_mut all = {make_view(words, static_cast<std::size_t>(count) * sizeof *words, 0,
                                      TNR_DTYPE_U32, 1, &count, nullptr, queue.device())};
  RowScans(queue, TNR_SCAN_OP_SUM, all.view, 0, all).run();
}

void enqueue(const Queue& queue, const DeviceScan& call) {
  const auto& [op, a, axis, out] = call;
  Pins pins;
  check_view_mut(out, "out", queue.device());
  pins.add_mut(out, "out");
  check_view(a, "a", queue.device());
  require_broadcast(a, "a", out.view);
  pins.add(a, "a");
  require_alias(out.view, a, "a", SameView::kAllowed);
  check_scan(op, a, axis, out.view);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_SCAN, 0, 0);
  const QueueOrder order(queue, pins);
  RowScans(queue, op, a, axis, out).run();
  count_call(TNR_OPERATION_SCAN, element_bytes(a), element_bytes(out.view));
}

}  // namespace tenure::cuda
