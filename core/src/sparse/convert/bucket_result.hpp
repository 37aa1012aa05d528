// The second half of grouping by key (group_by_key.hpp): moves the entries of a bucket to their
// positions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/dispatch.hpp"
#include "dense/loops/streamed.hpp"
#include "memory/traffic.hpp"
#include "sparse/convert/bucket_partition.hpp"
#include "sparse/convert/digit_sort.hpp"
#include "sparse/convert/order.hpp"
#include "sparse/index_array.hpp"

namespace tenure {

// Room for a bucket's result. A larger one is written where it belongs at once.
inline constexpr std::int64_t kStageBytes = 2 * kBucketBytes;

// The counting sort of buckets.
class Gathering {
 public:
  Gathering(const Ungrouped& from, const Grouped& to, const BucketPlan& plan) noexcept
      : from_(from), to_(to), plan_(plan) {}

  // Bytes of scratch: a cursor for each key of a bucket, and room for a result. Buckets that
  // are sorted take neither.
  [[nodiscard]] std::int64_t cursor_bytes() const noexcept {
    return plan_.order == Within::kByOther ? 0 : whole_lines(keys_of_bucket() * 8);
  }
  [[nodiscard]] std::int64_t scratch_bytes() const noexcept {
    return plan_.order == Within::kByOther ? 0 : cursor_bytes() + kStageBytes + 2 * kLineBytes;
  }

  // The result of `bucket`, whose portions `portions` has and which begins at entry `first`:
  // entries of a key as they came.
  template <class Portions>
  void run(std::int64_t bucket, std::int64_t first, std::int64_t count, const Portions& portions,
           kernels::Byte* scratch) const noexcept {
    auto* const cursors = reinterpret_cast<std::int64_t*>(scratch);
    const bool is_staged =
        plan_.bucket_count != 1 && count * (plan_.index_bytes + plan_.value_bytes) <= kStageBytes;
    count_keys(bucket, first, portions, cursors, is_staged ? first : 0);
    kernels::Byte* const staged_others = scratch + cursor_bytes();
    kernels::Byte* const staged_values = staged_others + whole_lines(count * plan_.index_bytes);
    scatter(portions, cursors, is_staged ? staged_others : to_.others,
            is_staged ? staged_values : to_.values);
    if (!is_staged) return;
    copy_lines(to_.others + first * plan_.index_bytes, staged_others, count * plan_.index_bytes,
               plan_.stores);
    copy_lines(to_.values + first * plan_.value_bytes, staged_values, count * plan_.value_bytes,
               plan_.stores);
  }

  // run() for entries in the order of their others, as `sort` leaves them in its scratch.
  template <class Portions>
  void run_sorted(std::int64_t bucket, std::int64_t first, std::int64_t count,
                  const Portions& portions, const DigitSort& sort,
                  kernels::Byte* to_sort_in) const noexcept {
    const DigitSort::Entries sorted = sort.run(count, portions, to_sort_in);
    if (plan_.packed_type == kernels::PackedType::k32) {
      put_sorted<std::uint32_t>(bucket, first, count, sorted.packed);
    } else {
      put_sorted<std::uint64_t>(bucket, first, count, sorted.packed);
    }
    copy_lines(to_.values + first * plan_.value_bytes, sorted.values, count * plan_.value_bytes,
               plan_.stores);
  }

 private:
  [[nodiscard]] std::int64_t keys_of_bucket() const noexcept {
    return std::int64_t{1} << plan_.key_bits;
  }

  // The offsets behind the keys of a bucket; its cursors, less `base`.
  template <class Portions>
  void count_keys(std::int64_t bucket, std::int64_t first, const Portions& portions,
                  std::int64_t* cursors, std::int64_t base) const noexcept {
    const std::int64_t first_key = bucket << plan_.key_bits;
    const std::int64_t key_count = std::min(keys_of_bucket(), from_.key_count - first_key);
    std::fill_n(cursors, key_count, 0);
    portions([&](std::int64_t portion, const kernels::Byte* packed, const kernels::Byte*) {
      table_.count_packed[plan_.packed()](packed, portion, plan_.key_bits, cursors);
    });
    std::int64_t next = first;
    for (std::int64_t key = 0; key < key_count; ++key) {
      const std::int64_t of_key = cursors[key];
      cursors[key] = next - base;
      next += of_key;
      put_index(to_.offsets, to_.index_type, first_key + key + 1, next);
    }
  }

  // The offsets behind the keys of a bucket and its others.
  template <class P>
  void put_sorted(std::int64_t bucket, std::int64_t first, std::int64_t count,
                  const kernels::Byte* packed) const noexcept {
    const auto* const entries = reinterpret_cast<const P*>(packed);
    put_offsets(bucket, first, count, entries);
    if (to_.index_type == kernels::IndexType::kI32) {
      put_others<P, std::int32_t>(first, count, entries);
    } else {
      put_others<P, std::int64_t>(first, count, entries);
    }
  }

  template <class P>
  void put_offsets(std::int64_t bucket, std::int64_t first, std::int64_t count,
                   const P* entries) const noexcept {
    constexpr std::int64_t kStride = 64;  // of these only the last one is looked at
    const std::int64_t first_key = bucket << plan_.key_bits;
    const std::int64_t key_count = std::min(keys_of_bucket(), from_.key_count - first_key);
    const auto key_of = [&](std::int64_t k) {
      return static_cast<std::int64_t>(entries[k] >> plan_.other_bits &
                                       ((P{1} << plan_.key_bits) - 1));
    };
    std::int64_t k = 0;
    if (are_few(count, key_count)) {
      OffsetRuns runs(to_.offsets, to_.index_type, first_key + 1);
      for (; k < count; ++k) runs.add(first_key + key_of(k), first + k);
      return runs.add(first_key + key_count, first + count);
    }
    for (std::int64_t key = 0; key < key_count; ++key) {
      while (k + kStride <= count && key_of(k + kStride - 1) <= key) k += kStride;
      while (k < count && key_of(k) <= key) ++k;
      put_index(to_.offsets, to_.index_type, first_key + key + 1, first + k);
    }
  }

  template <class P, class I>
  void put_others(std::int64_t first, std::int64_t count, const P* entries) const noexcept {
    const P mask = static_cast<P>((P{1} << plan_.other_bits) - 1);
    I others[kPackedAtOnce];
    for (std::int64_t begin = first; begin < first + count;) {
      // To where a line ends, if the array begins with one.
      const std::int64_t end =
          std::min(first + count, (begin + kPackedAtOnce) / kPackedAtOnce * kPackedAtOnce);
      const P* const from = entries + (begin - first);
      for (std::int64_t k = 0; k < end - begin; ++k) others[k] = static_cast<I>(from[k] & mask);
      constexpr auto kBytes = static_cast<std::int64_t>(sizeof(I));
      copy_lines(to_.others + begin * kBytes, reinterpret_cast<const kernels::Byte*>(others),
                 (end - begin) * kBytes, plan_.stores);
      begin = end;
    }
  }

  template <class Portions>
  void scatter(const Portions& portions, std::int64_t* cursors, kernels::Byte* others,
               kernels::Byte* values) const noexcept {
    const auto kernel =
        table_.scatter[plan_.packed()][plan_.width()][static_cast<unsigned>(to_.index_type)];
    portions(
        [&](std::int64_t count, const kernels::Byte* packed, const kernels::Byte* from_values) {
          kernel({.count = count,
                  .packed = packed,
                  .values = from_values,
                  .key_bits = plan_.key_bits,
                  .cursors = cursors,
                  .others_out = others,
                  .values_out = values});
        });
  }

  const Ungrouped& from_;
  const Grouped& to_;
  const BucketPlan& plan_;
  const kernels::Grouping& table_ = kernels::grouping_kernels();
};

// A bucket in the order that its entries are to have.
class Bucket {
 public:
  Bucket(const Gathering& gathering, const BucketPlan& plan) noexcept
      : gathering_(gathering),
        order_(plan.order),
        sort_(plan.key_bits + plan.other_bits, plan.packed_type, plan.packed_bytes,
              plan.value_bytes) {}

  // Bytes of scratch to sort `count` entries in.
  [[nodiscard]] std::int64_t scratch_bytes(std::int64_t count) const noexcept {
    return order_ == Within::kByOther ? sort_.scratch_bytes(count) : 0;
  }
  template <class Portions>
  void run(std::int64_t bucket, std::int64_t first, std::int64_t count, const Portions& portions,
           kernels::Byte* scratch, kernels::Byte* to_order_in) const noexcept {
    if (order_ == Within::kAsTheyCame) {
      return gathering_.run(bucket, first, count, portions, scratch);
    }
    gathering_.run_sorted(bucket, first, count, portions, sort_, to_order_in);
  }

 private:
  const Gathering& gathering_;
  Within order_;
  DigitSort sort_;
};

}  // namespace tenure
