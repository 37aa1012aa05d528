// How often each number occurs, or the sum of the weights that it has.
#include <cinttypes>
#include <cstring>

#include "base/data_findings.hpp"
#include "dense/ordering/counts.hpp"
#include "dense/ordering/records.hpp"
#include "tenure/counters.hpp"
#include "tenure/ordering.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::KeyFacts;

// Numbers as keys. The key of 0 is the rule's sign, so the numbers from 0 to the extent are a range
// of keys.
class Bins {
 public:
  Bins(const tnr_view& a, unsigned type, std::int64_t bins)
      : records_(type, SortOrder::kRising, Records::Index::kNone, 0),
        bins_(static_cast<std::uint64_t>(bins)),
        width_(static_cast<std::int64_t>(element_size(a.dtype))) {}

  // Calls body(i, number) for each; of a number that is none of the bins it is not below their
  // count.
  template <class Body>
  [[gnu::noinline]] void for_each(const Byte* from, std::int64_t step, std::int64_t count,
                                  const Body& body) const noexcept {
    alignas(8) Byte keys[kOrderPieceElements * 8];
    KeyFacts facts;
    records_.load(records_.rule,
                  {.data = from, .step = step, .count = count, .first_index = 0, .records = keys},
                  facts);
    const auto visit = [&]<class U>(U key) {
      for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(&key, keys + i * static_cast<std::int64_t>(sizeof key), sizeof key);
        // A negative number is below the key of 0, and so more than any bin.
        body(i, std::uint64_t{key} - records_.rule.sign);
      }
    };
    switch (width_) {
      case 1: return visit(std::uint8_t{});
      case 2: return visit(std::uint16_t{});
      case 4: return visit(std::uint32_t{});
      default: visit(std::uint64_t{});
    }
  }
  [[nodiscard]] bool has(std::uint64_t number) const noexcept { return number < bins_; }

 private:
  Records records_;
  std::uint64_t bins_;
  std::int64_t width_;
};

// In row-major order, which is not that of the loops which count.
[[gnu::cold, gnu::noinline]] void refuse_first(const tnr_view& a, const Bins& bins,
                                               std::int64_t count) {
  Nest nest(1);
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    const std::int64_t step = step_of(a, axis);
    nest.add(a.shape[axis], &step);
  }
  std::int64_t first = -1;
  std::uint64_t found = 0;
  std::int64_t position = 0;
  for_each_piece(kDefaultContext, nest, 1,
                 [&](std::int64_t, const std::int64_t* offsets, std::int64_t pieces) {
                   bins.for_each(static_cast<const Byte*>(a.data) + offsets[0], nest.inner_step(0),
                                 pieces, [&](std::int64_t, std::uint64_t number) {
                                   if (first < 0 && !bins.has(number)) {
                                     first = position;
                                     found = number;
                                   }
                                   ++position;
                                 });
                 });
  if (code_of(a.dtype) == DtypeCode::kInt) {
    refuse_data(TNR_STATUS_INVALID_ARGUMENT,
                "element %" PRId64 " of a is %" PRId64
                " but must be at least 0 and below out.shape[0], which is %" PRId64,
                first, static_cast<std::int64_t>(found), count);
    return;
  }
  refuse_data(TNR_STATUS_INVALID_ARGUMENT,
              "element %" PRId64 " of a is %" PRIu64
              " but must be below out.shape[0], which is %" PRId64,
              first, found, count);
}

// False where an element outside is noted.
bool check_numbers(const Context& context, const tnr_view& a, const Bins& bins,
                   std::int64_t count) {
  const Counts outside(context, a, 1);
  outside.run([&](const Byte* from, std::int64_t step, std::int64_t pieces, std::int64_t* own) {
    bins.for_each(from, step, pieces,
                  [&](std::int64_t, std::uint64_t number) { *own += bins.has(number) ? 0 : 1; });
  });
  if (outside.sum(0) == 0) return true;
  refuse_first(a, bins, count);
  return false;
}

// The sums in f64, in the order of the elements; rounded once.
void add_weights(const tnr_view& a, const tnr_view& weights, const Bins& bins,
                 const tnr_view_mut& out) {
  const std::int64_t count = out.view.shape[0];
  const Scratch sums(count, sizeof(double));
  auto* const sum = reinterpret_cast<double*>(sums.data());
  std::fill_n(sum, count, 0.0);
  Nest nest(2);
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    const std::int64_t steps[] = {step_of(a, axis), step_of(weights, axis)};
    nest.add(a.shape[axis], steps);
  }
  const bool is_single = weights.dtype == TNR_DTYPE_F32;
  const auto add = [&](std::int64_t, const std::int64_t* offsets, std::int64_t pieces) noexcept {
    const Byte* const weight = static_cast<const Byte*>(weights.data) + offsets[1];
    bins.for_each(static_cast<const Byte*>(a.data) + offsets[0], nest.inner_step(0), pieces,
                  [&](std::int64_t i, std::uint64_t number) {
                    const Byte* const at = weight + i * nest.inner_step(1);
                    double own;
                    if (is_single) {
                      float narrow;
                      std::memcpy(&narrow, at, sizeof narrow);
                      own = static_cast<double>(narrow);
                    } else {
                      std::memcpy(&own, at, sizeof own);
                    }
                    sum[number] += own;
                  });
  };
  if (!is_empty(a)) for_each_piece(kDefaultContext, nest, 1, add);
  for (std::int64_t i = 0; i < count; ++i) {
    Byte* const to = writable(out) + i * step_of(out.view, 0);
    const auto narrow = static_cast<float>(sum[i]);
    if (is_single) {
      std::memcpy(to, &narrow, sizeof narrow);
    } else {
      std::memcpy(to, &sum[i], sizeof sum[i]);
    }
  }
}

}  // namespace

void bincount(const Context& context, const tnr_view& a, const tnr_view* weights,
              const tnr_view_mut& out) {
  check_operand_mut(out, "out");
  check_operand(a, "a");
  require_rank(out.view, "out", 1);
  const DtypeCode code = code_of(a.dtype);
  const unsigned type = type_index(a.dtype);
  if (type == kNoType || (code != DtypeCode::kInt && code != DtypeCode::kUint)) {
    refuse_dtype("bincount", a.dtype);
  }
  Pins pins;
  if (weights != nullptr) {
    check_operand(*weights, "weights");
    if (out.view.dtype != TNR_DTYPE_F32 && out.view.dtype != TNR_DTYPE_F64) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "out.dtype is %s but must be f32 or f64 with weights",
           dtype_name(out.view.dtype));
    }
    require_dtype(*weights, "weights", out.view.dtype, "out.dtype is");
    require_rank(*weights, "weights", a.rank);
    for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
      if (weights->shape[axis] != a.shape[axis]) {
        fail(TNR_STATUS_INVALID_ARGUMENT,
             "weights.shape[%" PRIu32 "] is %" PRId64 " but a.shape[%" PRIu32 "] is %" PRId64, axis,
             weights->shape[axis], axis, a.shape[axis]);
      }
    }
    require_alias(out.view, *weights, "weights", SameView::kRefused);
    pins.add(*weights, "weights");
  } else {
    require_dtype(out.view, "out", TNR_DTYPE_I64, "must be");
  }
  require_alias(out.view, a, "a", SameView::kRefused);
  pins.add_mut(out, "out");
  pins.add(a, "a");
  const std::int64_t count = out.view.shape[0];
  const Bins bins(a, type, count);
  if (!check_numbers(context, a, bins, count)) return;
  if (count == 0) return count_call(TNR_OPERATION_HISTOGRAM, 0, 0);
  if (weights != nullptr) {
    add_weights(a, *weights, bins, out);
  } else {
    const Counts counts(context, a, count);
    counts.run([&](const Byte* from, std::int64_t step, std::int64_t pieces, std::int64_t* own) {
      bins.for_each(from, step, pieces, [&](std::int64_t, std::uint64_t number) { ++own[number]; });
    });
    counts.write(out);
  }
  count_call(TNR_OPERATION_HISTOGRAM,
             element_bytes(a) + (weights != nullptr ? element_bytes(*weights) : 0),
             element_bytes(out.view));
}

}  // namespace tenure
