// The different elements, how often each occurs, and which of them each element is.
#include <cinttypes>
#include <cstring>
#include <optional>

#include "dense/loops/nest.hpp"
#include "dense/ordering/records.hpp"
#include "tenure/counters.hpp"
#include "tenure/ordering.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::KeyFacts;

Nest row_major_nest(const tnr_view& view) {
  Nest nest(1);
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    const std::int64_t step = step_of(view, axis);
    nest.add(view.shape[axis], &step);
  }
  return nest;
}

// All elements, as sorted records.
class SortedElements {
 public:
  SortedElements(const Context& context, const tnr_view& a, const Records& records)
      : a_(a), records_(records), count_(element_count(a)), buffer_(2 * count_, records.bytes) {
    if (count_ == 0) return;
    load();
    const Records::Bits bits = records_.differing(facts_);
    Byte* const other = buffer_.data() + count_ * records_.bytes;
    if (count_ > INT32_MAX || (count_ > kSharedRecords && context.thread_count() > 1)) {
      SharedSort(context, records_, count_).run(buffer_.data(), other, count_, bits);
    } else {
      records_.kernels->sort({buffer_.data(), other, count_, bits.low, bits.high}, false);
    }
  }

  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] const KeyFacts& facts() const noexcept { return facts_; }
  [[nodiscard]] const Byte* record(std::int64_t i) const noexcept {
    return buffer_.data() + i * records_.bytes;
  }
  // Returns memory for count() more records, which may be written.
  [[nodiscard]] Byte* other() const noexcept { return buffer_.data() + count_ * records_.bytes; }

  // Calls body(first, end) for each run of equal elements.
  template <class Body>
  void for_each_run(const Body& body) const {
    for (std::int64_t first = 0, end; first < count_; first = end) {
      const std::uint64_t key = records_.key_of(record(first));
      for (end = first + 1; end < count_ && records_.key_of(record(end)) == key;) ++end;
      body(first, end);
    }
  }

 private:
  void load() {
    const Nest nest = row_major_nest(a_);
    std::int64_t done = 0;
    nest.for_each_strip([&](const std::int64_t* offsets) {
      records_.load(records_.rule,
                    {.data = static_cast<const Byte*>(a_.data) + offsets[0],
                     .step = nest.inner_step(0),
                     .count = nest.inner_extent(),
                     .first_index = done,
                     .records = buffer_.data() + done * records_.bytes},
                    facts_);
      done += nest.inner_extent();
    });
    if (records_.equals_differ(facts_)) find_first();
  }
  // The first zero stands for all, and so does the first NaN, where their bits differ.
  void find_first() {
    const Nest nest = row_major_nest(a_);
    bool has_zero = false;
    bool has_nan = false;
    nest.for_each_strip([&](const std::int64_t* offsets) {
      for (std::int64_t i = 0; i < nest.inner_extent(); ++i) {
        const std::uint64_t bits =
            records_.read(static_cast<const Byte*>(a_.data) + offsets[0] + i * nest.inner_step(0));
        if (!has_zero && records_.is_zero(bits)) facts_.zero_or = bits, has_zero = true;
        if (!has_nan && records_.is_nan(bits)) facts_.nan_or = bits, has_nan = true;
      }
    });
  }

  const tnr_view& a_;
  const Records& records_;
  std::int64_t count_;
  KeyFacts facts_;
  Scratch buffer_;
};

void check_inverse(const tnr_view_mut& inverse, const tnr_view& a) {
  check_operand_mut(inverse, "inverse");
  require_dtype(inverse.view, "inverse", TNR_DTYPE_I64, "must be");
  require_rank(inverse.view, "inverse", a.rank);
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    if (inverse.view.shape[axis] != a.shape[axis]) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "inverse.shape[%" PRIu32 "] is %" PRId64 " but a.shape[%" PRIu32 "] is %" PRId64, axis,
           inverse.view.shape[axis], axis, a.shape[axis]);
    }
  }
  if (alias_of(inverse.view, a) != Alias::kNone) {
    fail(TNR_STATUS_ALIASED, "inverse shares bytes with a");
  }
}

// `places` are those of the elements in row-major order.
void write_inverse(const std::int64_t* places, const tnr_view_mut& inverse) {
  const Nest nest = row_major_nest(inverse.view);
  nest.for_each_strip([&](const std::int64_t* offsets) {
    Byte* to = writable(inverse) + offsets[0];
    for (std::int64_t i = 0; i < nest.inner_extent(); ++i, to += nest.inner_step(0)) {
      std::memcpy(to, places++, sizeof *places);
    }
  });
}

}  // namespace

BlobToken unique(const Context& context, const tnr_view& a, const tnr_view_mut* inverse,
                 tnr_view_mut* counts, tnr_view_mut& out) {
  check_operand(a, "a");
  const unsigned type = type_index(a.dtype);
  if (type == kNoType) refuse_dtype("unique", a.dtype);
  if (inverse != nullptr) check_inverse(*inverse, a);
  Pins pins;
  pins.add(a, "a");
  if (inverse != nullptr) pins.add_mut(*inverse, "inverse");
  const Records records(type, SortOrder::kRising,
                        inverse != nullptr ? Records::Index::kOwn : Records::Index::kNone,
                        element_count(a));
  const SortedElements sorted(context, a, records);
  std::int64_t uniques = 0;
  sorted.for_each_run([&](std::int64_t, std::int64_t) { ++uniques; });

  constexpr auto kCountBytes = static_cast<std::int64_t>(sizeof(std::int64_t));
  const std::int64_t element_bytes_made = uniques * records.width;
  const std::int64_t element_end = (element_bytes_made + kCountBytes - 1) & -kCountBytes;
  const std::int64_t size =
      counts != nullptr ? element_end + uniques * kCountBytes : element_bytes_made;
  std::optional<Scratch> places;
  if (inverse != nullptr) places.emplace(sorted.count(), kCountBytes);
  const BlobToken token = blob_allocate(context, static_cast<std::size_t>(size));
  auto* const data = static_cast<Byte*>(blob_memory_mut(token).data);

  std::int64_t place = 0;
  sorted.for_each_run([&](std::int64_t first, std::int64_t end) {
    std::memcpy(sorted.other() + place * records.bytes, sorted.record(first),
                static_cast<std::size_t>(records.bytes));
    const std::int64_t count = end - first;
    if (counts != nullptr) {
      std::memcpy(data + element_end + place * kCountBytes, &count, sizeof count);
    }
    if (inverse != nullptr) {
      for (std::int64_t i = first; i < end; ++i) {
        std::int64_t index;
        records.store_indices(sorted.record(i), 1, reinterpret_cast<Byte*>(&index), kCountBytes);
        places->numbers()[index] = place;
      }
    }
    ++place;
  });
  records.store(records.rule, {.records = sorted.other(),
                               .count = uniques,
                               .zero = sorted.facts().zero_or,
                               .nan = sorted.facts().nan_or,
                               .out = data,
                               .step = records.width});
  if (inverse != nullptr && sorted.count() != 0) write_inverse(places->numbers(), *inverse);

  const auto view = [&](std::int64_t offset, tnr_dtype dtype) {
    tnr_view made = make_view(data, static_cast<std::size_t>(size),
                              static_cast<std::size_t>(offset), dtype, 1, &uniques, nullptr);
    made.owner = token;
    return made;
  };
  out = {view(0, a.dtype)};
  if (counts != nullptr) *counts = {view(uniques == 0 ? 0 : element_end, TNR_DTYPE_I64)};
  count_call(TNR_OPERATION_UNIQUE, element_bytes(a), static_cast<std::uint64_t>(size));
  return token;
}

}  // namespace tenure
