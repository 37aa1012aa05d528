// Quantiles: the elements at two neighbouring ranks, found by selection.
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "dense/loops/nest.hpp"
#include "dense/loops/strip_runner.hpp"
#include "dense/ordering/ranges.hpp"
#include "dense/reduce/walk.hpp"
#include "tenure/counters.hpp"
#include "tenure/ordering.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::KeyFacts;

// For more quantiles all elements are sorted once.
constexpr std::uint32_t kFewQuantiles = 4;

struct QuantileCall {
  const tnr_view& a;
  std::uint32_t axes;
  const double* q;
  std::uint32_t q_count;
  Nans nans;
  const tnr_view_mut& out;
};

unsigned check_quantiles(const QuantileCall& call) {
  check_operand_mut(call.out, "out");
  check_operand(call.a, "a");
  const tnr_view& out = call.out.view;
  if (call.axes >> call.a.rank != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "axes is 0x%" PRIx32 " but a.rank is %" PRIu32, call.axes,
         call.a.rank);
  }
  const unsigned type = type_index(call.a.dtype);
  if (type > static_cast<unsigned>(kernels::Type::kBF16)) refuse_dtype("quantile", call.a.dtype);
  require_dtype(out, "out", call.a.dtype, "a.dtype is");
  if (call.q_count == 0) fail(TNR_STATUS_INVALID_ARGUMENT, "q_count is 0 but must be 1 at least");
  for (std::uint32_t i = 0; i < call.q_count; ++i) {
    if (!(call.q[i] >= 0 && call.q[i] <= 1)) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "q[%" PRIu32 "] is %g but must be at least 0 and at most 1",
           i, call.q[i]);
    }
  }
  const auto reduced = static_cast<std::uint32_t>(std::popcount(call.axes));
  require_rank(out, "out", call.a.rank - reduced + 1);
  std::uint32_t out_axis = 0;
  const auto require = [&](std::int64_t expected) {
    if (out.shape[out_axis] != expected) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "out.shape[%" PRIu32 "] is %" PRId64 " but must be %" PRId64, out_axis,
           out.shape[out_axis], expected);
    }
    ++out_axis;
  };
  require(call.q_count);
  for (std::uint32_t axis = 0; axis < call.a.rank; ++axis) {
    if (!is_reduced(call.axes, axis)) require(call.a.shape[axis]);
  }
  require_alias(out, call.a, "a", SameView::kRefused);
  return type;
}

// Between two neighbours, the lesser first: from the nearer one, as NumPy's, so that the result is
// not beyond it. `t` is below 1. The distance of numbers may be infinite, and that from an infinity.
double between(double a, double b, double t) noexcept {
  if (t == 0 || a == b) return a;
  const double distance = b - a;
  if (std::isinf(distance)) return a * (1 - t) + b * t;
  return t < 0.5 ? a + distance * t : b - distance * (1 - t);
}

class QuantileRows {
 public:
  QuantileRows(const QuantileCall& call, unsigned type)
      : call_(call),
        records_(type, SortOrder::kRising, Records::Index::kNone, reduced_count(call.a, call.axes)),
        to_f64_(kernels::cast_kernels()[type][kF64]),
        from_f64_(kernels::cast_kernels()[kF64][type]),
        count_(reduced_count(call.a, call.axes)),
        out_step_(step_of(call.out.view, 0)),
        kept_(2),
        reduced_(1) {
    std::uint32_t out_axis = 1;
    for (std::uint32_t axis = 0; axis < call.a.rank; ++axis) {
      const std::int64_t step = step_of(call.a, axis);
      if (is_reduced(call.axes, axis)) {
        reduced_.add(call.a.shape[axis], &step);
      } else {
        const std::int64_t steps[] = {step, step_of(call.out.view, out_axis++)};
        kept_.add(call.a.shape[axis], steps);
        rows_ *= call.a.shape[axis];
      }
    }
    kept_.order(0);
    reduced_.arrange(0);
  }

  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] const Records& records() const noexcept { return records_; }
  // Memory of a thread: the records twice; two elements of each quantile, as they are and as f64.
  [[nodiscard]] std::int64_t buffer_bytes() const noexcept {
    return whole_lines(2 * count_ * records_.bytes) + 2 * kPicksBytes * call_.q_count;
  }

  void run(std::int64_t row, Byte* buffer, SharedSort* sort) const noexcept {
    std::int64_t position[TNR_MAX_RANK];
    std::int64_t offsets[Nest::kMaxOperands];
    kept_.go_to(kept_.rank(), row, position, offsets);
    Byte* const other = buffer + count_ * records_.bytes;
    Byte* const picks = buffer + whole_lines(2 * count_ * records_.bytes);
    KeyFacts facts;
    load(static_cast<const Byte*>(call_.a.data) + offsets[0], buffer, facts);
    const Records::Bits bits = records_.differing(facts);
    std::int64_t numbers = count_;
    if (facts.nan_or != 0) {
      numbers = call_.nans == Nans::kGiven ? 0 : count_ - nan_count(buffer, count_);
    }
    if (sort != nullptr) {
      sort->run(buffer, other, count_, bits);
    } else if (call_.q_count > kFewQuantiles) {
      records_.kernels->sort({buffer, other, count_, bits.low, bits.high, bits.least}, false);
    }
    const bool is_sorted = sort != nullptr || call_.q_count > kFewQuantiles;
    for (std::int64_t i = 0; numbers != 0 && i < call_.q_count; ++i) {
      const auto [low, next] = ranks(i, numbers);
      if (!is_sorted) select(buffer, other, low, next, bits);
      pick(buffer, low, next, facts, picks + 2 * i * records_.width);
    }
    write(picks, numbers, writable(call_.out) + offsets[1]);
  }

  // Whether run_long() takes the rows.
  [[nodiscard]] bool are_long() const noexcept {
    return count_ > kSharedRecords && reduced_.strip_count() == 1 && call_.q_count <= kFewQuantiles;
  }
  // Computes the quantiles of one long row with all threads, which select only within the ranges
  // that have the ranks.
  void run_long(std::int64_t row, Byte* buffer, RowRanges& ranges,
                SharedSort& shared) const noexcept {
    std::int64_t position[TNR_MAX_RANK];
    std::int64_t offsets[Nest::kMaxOperands];
    kept_.go_to(kept_.rank(), row, position, offsets);
    Byte* const other = buffer + count_ * records_.bytes;
    Byte* const picks = buffer + whole_lines(2 * count_ * records_.bytes);
    const KeyRow elements = {
        static_cast<const Byte*>(call_.a.data) + offsets[0] + reduced_.start(0),
        reduced_.inner_step(0), count_};
    KeyFacts facts;
    ranges.count(elements, facts);
    std::int64_t numbers = count_;
    if (facts.nan_or != 0) {
      numbers = 0;
      if (call_.nans == Nans::kSkipped) {
        const std::int64_t range = RowRanges::kMost - 1;
        const std::int64_t last = ranges.range_at(count_ - 1);
        ranges.move_around(elements, last, range, RowRanges::Kept::kWithin, buffer);
        numbers = count_ - nan_count(buffer, count_ - ranges.begin(last));
      }
    }
    for (std::int64_t i = 0; numbers != 0 && i < call_.q_count; ++i) {
      const auto [low, next] = ranks(i, numbers);
      const std::int64_t first = ranges.range_at(low);
      const std::int64_t last = ranges.range_at(next);
      ranges.move_around(elements, first, last, RowRanges::Kept::kWithin, buffer);
      const std::int64_t begin = ranges.begin(first);
      const std::int64_t count = ranges.end(last) - begin;
      ranges.select(buffer, other, count, low - begin, shared);
      if (next != low) {
        const std::int64_t skipped = (next - begin) * records_.bytes;
        ranges.select(buffer + skipped, other, count - (next - begin), 0, shared);
      }
      pick(buffer, low - begin, next - begin, facts, picks + 2 * i * records_.width);
    }
    write(picks, numbers, writable(call_.out) + offsets[1]);
  }

 private:
  // The ranks of the two elements that a quantile is between.
  struct Ranks {
    std::int64_t low;
    std::int64_t next;
  };
  [[nodiscard]] Ranks ranks(std::int64_t i, std::int64_t numbers) const noexcept {
    const auto low = static_cast<std::int64_t>(place(i, numbers));
    return {low, std::min(low + 1, numbers - 1)};
  }
  // Their elements; of zeros of both signs the positive one.
  void pick(const Byte* records, std::int64_t low, std::int64_t next, const KeyFacts& facts,
            Byte* picks) const noexcept {
    for (const std::int64_t rank : {low, next}) {
      records_.store(records_.rule, {.records = records + rank * records_.bytes,
                                     .count = 1,
                                     .zero = facts.zero_and,
                                     .nan = facts.nan_or,
                                     .out = picks,
                                     .step = records_.width});
      picks += records_.width;
    }
  }

  static constexpr std::int64_t kPicksBytes = 2 * sizeof(double);

  [[nodiscard]] double place(std::int64_t i, std::int64_t numbers) const noexcept {
    return call_.q[i] * static_cast<double>(numbers - 1);
  }

  void load(const Byte* row, Byte* buffer, KeyFacts& facts) const noexcept {
    if (count_ == 0) return;
    reduced_.for_each_strip([&](const std::int64_t* offsets) {
      records_.load(records_.rule,
                    {.data = row + offsets[0],
                     .step = reduced_.inner_step(0),
                     .count = reduced_.inner_extent(),
                     .first_index = 0,
                     .records = buffer},
                    facts);
      buffer += reduced_.inner_extent() * records_.bytes;
    });
  }

  [[nodiscard]] std::int64_t nan_count(const Byte* records, std::int64_t count) const noexcept {
    std::int64_t nans = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      nans += records_.key_of(records + i * records_.bytes) == records_.nan_key() ? 1 : 0;
    }
    return nans;
  }

  // Puts the records of both ranks to their places; `next` is the rank after `low`, or `low`.
  void select(Byte* buffer, Byte* other, std::int64_t low, std::int64_t next,
              Records::Bits bits) const noexcept {
    records_.kernels->select({buffer, other, count_, bits.low, bits.high, bits.least}, low);
    if (next == low) return;
    const std::int64_t skipped = next * records_.bytes;
    records_.kernels->select(
        {buffer + skipped, other + skipped, count_ - next, bits.low, bits.high, bits.least}, 0);
  }

  void write(Byte* picks, std::int64_t numbers, Byte* out) const noexcept {
    auto* const values = reinterpret_cast<double*>(picks + kPicksBytes * call_.q_count);
    auto* const bytes = reinterpret_cast<Byte*>(values);
    const std::int64_t count = call_.q_count;
    if (numbers != 0) {
      const kernels::StripInput from[] = {{picks, records_.width, records_.width}};
      static_cast<void>(run_strip(to_f64_, dense_strip(2 * count, bytes, sizeof(double), from)));
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const double at = numbers == 0 ? 0 : place(i, numbers);
      values[i] = numbers == 0 ? std::numeric_limits<double>::quiet_NaN()
                               : between(values[2 * i], values[2 * i + 1], at - std::floor(at));
    }
    const kernels::StripInput from[] = {{bytes, sizeof(double), sizeof(double)}};
    static_cast<void>(run_strip(from_f64_, dense_strip(count, picks, records_.width, from)));
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(out + i * out_step_, picks + i * records_.width,
                  static_cast<std::size_t>(records_.width));
    }
  }

  const QuantileCall& call_;
  Records records_;
  Operation to_f64_;
  Operation from_f64_;
  std::int64_t count_;
  std::int64_t out_step_;
  Nest kept_;
  Nest reduced_;
  std::int64_t rows_ = 1;
};

}  // namespace

void quantile(const Context& context, const tnr_view& a, std::uint32_t axes, const double* q,
              std::uint32_t q_count, Nans nans, const tnr_view_mut& out) {
  const QuantileCall call = {a, axes, q, q_count, nans, out};
  const unsigned type = check_quantiles(call);
  Pins pins;
  pins.add_mut(out, "out");
  pins.add(a, "a");
  if (is_empty(out.view)) return count_call(TNR_OPERATION_SORT, 0, 0);
  const QuantileRows work(call, type);
  if (work.are_long()) {
    const Scratch buffer(work.buffer_bytes(), 1);
    RowRanges ranges(context, work.records(), work.count());
    SharedSort shared(context, work.records(), work.count());
    for (std::int64_t row = 0; row < work.rows(); ++row) {
      work.run_long(row, buffer.data(), ranges, shared);
    }
    return count_call(TNR_OPERATION_SORT, element_bytes(a), element_bytes(out.view));
  }
  const std::int64_t bytes = bytes_of_rows(work.rows(), work.count() * work.records().bytes);
  const std::int64_t slices = std::min(slice_count_of(context, bytes), work.rows());
  std::optional<SharedSort> sort;
  if (work.count() > INT32_MAX) sort.emplace(kDefaultContext, work.records(), work.count());
  const auto run = [&](std::int64_t slice, Byte* buffer) noexcept {
    const std::int64_t end = slice_begin(work.rows(), slices, slice + 1);
    for (std::int64_t row = slice_begin(work.rows(), slices, slice); row < end; ++row) {
      work.run(row, buffer, sort ? &*sort : nullptr);
    }
  };
  if (slices == 1 || sort) {
    const Scratch buffer(work.buffer_bytes(), 1);
    for (std::int64_t slice = 0; slice < slices; ++slice) run(slice, buffer.data());
  } else {
    Tickets tickets(slices);
    on_each_thread(context, slices, work.buffer_bytes(), [&](Byte* buffer) noexcept {
      for (std::int64_t slice; (slice = tickets.take()) >= 0;) run(slice, buffer);
    });
  }
  count_call(TNR_OPERATION_SORT, element_bytes(a), element_bytes(out.view));
}

}  // namespace tenure
