// Places in sorted vectors: of values, and of elements between the edges of a histogram.
#include <cinttypes>
#include <cmath>
#include <cstring>

#include "base/data_findings.hpp"
#include "dense/loops/strip_runner.hpp"
#include "dense/ordering/counts.hpp"
#include "dense/ordering/pieces.hpp"
#include "dense/ordering/records.hpp"
#include "tenure/counters.hpp"
#include "tenure/ordering.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::KeyFacts;

unsigned require_type(const char* operation, tnr_dtype dtype) {
  const unsigned type = type_index(dtype);
  if (type == kNoType) refuse_dtype(operation, dtype);
  return type;
}

// Searches in one sorted vector.
class SortedVector {
 public:
  SortedVector(const Records& records, const tnr_view& sorted) noexcept
      : records_(records),
        data_(static_cast<const Byte*>(sorted.data)),
        step_(step_of(sorted, 0)),
        count_(sorted.shape[0]) {}

  // Finds adjacent or strided elements, to `places`; `keys` is scratch for as many.
  void find(const Byte* values, std::int64_t step, std::int64_t count, Side side, Byte* keys,
            std::int64_t* places) const noexcept {
    load(values, step, count, keys);
    records_.search(records_.rule, {.sorted = data_,
                                    .step = step_,
                                    .sorted_count = count_,
                                    .keys = keys,
                                    .count = count,
                                    .behind_equal = side == Side::kRight,
                                    .places = places});
  }
  [[nodiscard]] std::uint64_t key(std::int64_t i) const noexcept {
    alignas(8) Byte record[8];
    load(data_ + i * step_, step_, 1, record);
    return records_.read(record);
  }

 private:
  void load(const Byte* values, std::int64_t step, std::int64_t count, Byte* keys) const noexcept {
    KeyFacts facts;
    records_.load(records_.rule,
                  {.data = values, .step = step, .count = count, .first_index = 0, .records = keys},
                  facts);
  }

  const Records& records_;
  const Byte* data_;
  std::int64_t step_;
  std::int64_t count_;
};

// Bins of equal width, as NumPy's: the quotient is a guess, and the edges decide.
struct EvenBins {
  double low;
  double high;
  std::int64_t bins;
  double step;

  [[nodiscard]] double edge(std::int64_t i) const noexcept {
    return i == bins ? high : low + static_cast<double>(i) * step;
  }
  // -1: outside.
  [[nodiscard]] std::int64_t bin_of(double x) const noexcept {
    if (!(x >= low && x <= high)) return -1;
    const double guess = (x - low) / (high - low) * static_cast<double>(bins);
    std::int64_t bin = std::min(static_cast<std::int64_t>(guess), bins - 1);
    if (x < edge(bin)) --bin;
    if (bin + 1 < bins && x >= edge(bin + 1)) ++bin;
    return bin;
  }
};

// False where one is noted that is none.
bool check_edges(const SortedVector& edges, std::int64_t count, const Records& records,
                 tnr_dtype dtype) {
  const bool is_float = code_of(dtype) == DtypeCode::kFloat || code_of(dtype) == DtypeCode::kBfloat;
  std::uint64_t before = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t key = edges.key(i);
    if (is_float && key == records.nan_key()) {
      refuse_data(TNR_STATUS_INVALID_ARGUMENT, "edges[%" PRId64 "] is NaN", i);
      return false;
    }
    if (key < before) {
      refuse_data(TNR_STATUS_INVALID_ARGUMENT,
                  "edges[%" PRId64 "] is less than the one before it but edges must not fall", i);
      return false;
    }
    before = key;
  }
  return true;
}

void check_range(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "low is %g and high is %g but they must be finite, and low below high", low, high);
  }
  if (!std::isfinite(high - low)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "high - low of %g and %g is not finite", high, low);
  }
}

}  // namespace

void searchsorted(const Context& context, const tnr_view& a, const tnr_view& values, Side side,
                  const tnr_view_mut& out) {
  check_operand_mut(out, "out");
  check_operand(a, "a");
  check_operand(values, "values");
  require_rank(a, "a", 1);
  const unsigned type = require_type("searchsorted", a.dtype);
  require_dtype(values, "values", a.dtype, "a.dtype is");
  require_dtype(out.view, "out", TNR_DTYPE_I64, "must be");
  require_rank(out.view, "out", values.rank);
  Nest nest(2);
  for (std::uint32_t axis = 0; axis < values.rank; ++axis) {
    if (out.view.shape[axis] != values.shape[axis]) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "out.shape[%" PRIu32 "] is %" PRId64 " but values.shape[%" PRIu32 "] is %" PRId64, axis,
           out.view.shape[axis], axis, values.shape[axis]);
    }
  }
  require_alias(out.view, a, "a", SameView::kRefused);
  require_alias(out.view, values, "values", SameView::kRefused);
  Pins pins;
  pins.add_mut(out, "out");
  pins.add(a, "a");
  pins.add(values, "values");
  if (is_empty(out.view)) return count_call(TNR_OPERATION_SEARCHSORTED, 0, 0);
  for (std::uint32_t axis = 0; axis < values.rank; ++axis) {
    const std::int64_t steps[] = {step_of(values, axis), step_of(out.view, axis)};
    nest.add(values.shape[axis], steps);
  }
  nest.arrange(1);
  const Records records(type, SortOrder::kRising, Records::Index::kNone, 0);
  const SortedVector sorted(records, a);
  // A search in a long vector takes as long as some hundred bytes.
  const std::int64_t slices =
      slice_count_of(context, bytes_of_rows(element_count(out.view), kBytesOfSearch));
  for_each_piece(context, nest, slices,
                 [&](std::int64_t, const std::int64_t* offsets, std::int64_t count) noexcept {
                   alignas(8) Byte keys[kOrderPieceElements * 8];
                   std::int64_t places[kOrderPieceElements];
                   sorted.find(static_cast<const Byte*>(values.data) + offsets[0],
                               nest.inner_step(0), count, side, keys, places);
                   Byte* const to = writable(out) + offsets[1];
                   for (std::int64_t i = 0; i < count; ++i) {
                     std::memcpy(to + i * nest.inner_step(1), &places[i], sizeof places[i]);
                   }
                 });
  count_call(TNR_OPERATION_SEARCHSORTED, element_bytes(a) + element_bytes(values),
             element_bytes(out.view));
}

void histogram(const Context& context, const tnr_view& a, const tnr_view* edges, double low,
               double high, const tnr_view_mut& out) {
  check_operand_mut(out, "out");
  check_operand(a, "a");
  require_rank(out.view, "out", 1);
  const std::int64_t bins = out.view.shape[0];
  const unsigned type = require_type("histogram", a.dtype);
  require_dtype(out.view, "out", TNR_DTYPE_I64, "must be");
  Pins pins;
  const Records records(type, SortOrder::kRising, Records::Index::kNone, 0);
  if (edges != nullptr) {
    check_operand(*edges, "edges");
    require_rank(*edges, "edges", 1);
    require_dtype(*edges, "edges", a.dtype, "a.dtype is");
    if (edges->shape[0] - 1 != bins) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "edges.shape[0] is %" PRId64
           " but must be one more than out.shape[0], which is %" PRId64,
           edges->shape[0], bins);
    }
    if (low != 0 || high != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->low is %g and attributes->high is %g but must be 0 with edges", low, high);
    }
    require_alias(out.view, *edges, "edges", SameView::kRefused);
    pins.add(*edges, "edges");
  } else {
    check_range(low, high);
  }
  require_alias(out.view, a, "a", SameView::kRefused);
  pins.add_mut(out, "out");
  pins.add(a, "a");
  const SortedVector sorted(records, edges != nullptr ? *edges : out.view);
  if (edges != nullptr && !check_edges(sorted, bins + 1, records, a.dtype)) return;
  if (bins == 0) return count_call(TNR_OPERATION_HISTOGRAM, 0, 0);
  const std::uint64_t last_edge = edges != nullptr ? sorted.key(bins) : 0;
  const EvenBins even = {low, high, bins, (high - low) / static_cast<double>(bins)};
  const Operation to_f64(kernels::cast_kernels()[type][kF64]);
  const Counts counts(context, a, bins);
  counts.run([&](const Byte* from, std::int64_t step, std::int64_t count,
                 std::int64_t* own) noexcept {
    if (edges == nullptr) {
      double numbers[kOrderPieceElements];
      const kernels::StripInput source[] = {{from, step, records.width}};
      static_cast<void>(run_strip(
          to_f64, dense_strip(count, reinterpret_cast<Byte*>(numbers), sizeof(double), source)));
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t bin = even.bin_of(numbers[i]);
        if (bin >= 0) ++own[bin];
      }
      return;
    }
    alignas(8) Byte keys[kOrderPieceElements * 8];
    std::int64_t places[kOrderPieceElements];
    sorted.find(from, step, count, Side::kRight, keys, places);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t bin = places[i] - 1;
      if (bin == bins && records.read(keys + i * records.width) == last_edge) --bin;
      if (bin >= 0 && bin < bins) ++own[bin];
    }
  });
  counts.write(out);
  count_call(TNR_OPERATION_HISTOGRAM, element_bytes(a), element_bytes(out.view));
}

}  // namespace tenure
