#include "sparse/convert/group_by_key.hpp"

#include <algorithm>
#include <cstring>

#include "dense/loops/streamed.hpp"
#include "memory/scratch.hpp"
#include "sparse/convert/bucket_partition.hpp"
#include "sparse/convert/bucket_result.hpp"
#include "sparse/convert/digit_sort.hpp"
#include "sparse/index_array.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// All entries as one bucket, whose values are where they were: a matrix that fits the second cache,
// or one with so few keys that nothing is gained by parting them.
void group_at_once(const Ungrouped& from, const Grouped& to, const BucketPlan& plan) {
  const Gathering gathering(from, to, plan);
  const Bucket bucket(gathering, plan);
  const Scratch packed(from.count, plan.packed_bytes);
  const Scratch cursors(1, gathering.cursor_bytes());
  const Scratch to_order_in(1, bucket.scratch_bytes(from.count));
  EntryPacker(from, plan)
      .run(0, from.count, nullptr, [&](std::int64_t first, std::int64_t count, const Byte* chunk) {
        std::memcpy(packed.data() + first * plan.packed_bytes, chunk,
                    static_cast<std::size_t>(count * plan.packed_bytes));
      });
  bucket.run(
      0, 0, from.count, [&](const auto& body) { body(from.count, packed.data(), from.values); },
      cursors.data(), to_order_in.data());
}

void group_by_buckets(const Context& context, const Ungrouped& from, const Grouped& to,
                      const BucketPlan& plan) {
  const Gathering gathering(from, to, plan);
  const Bucket in_order(gathering, plan);
  const Scratch scratch(plan.slice_count, gathering.scratch_bytes());
  BucketPartition partition(context, from, plan);
  partition.lay_out();
  const auto count_of = [&](std::int64_t bucket) {
    return partition.first_of(bucket + 1) - partition.first_of(bucket);
  };
  std::int64_t most = 0;
  for (std::int64_t bucket = 0; bucket < plan.bucket_count; ++bucket) {
    most = std::max(most, count_of(bucket));
  }
  const Scratch to_order_in(plan.slice_count, in_order.scratch_bytes(most));
  partition.fill();
  // Slices of about as many entries each, in whole buckets.
  const auto first_bucket = [&](std::int64_t slice) {
    const std::int64_t entry = slice_begin(from.count, plan.slice_count, slice);
    std::int64_t bucket = 0;
    while (bucket < plan.bucket_count && partition.first_of(bucket) < entry) ++bucket;
    return slice == plan.slice_count ? plan.bucket_count : bucket;
  };
  for_each_slice(context, plan.slice_count, [&](std::int64_t slice) {
    const std::int64_t end = first_bucket(slice + 1);
    for (std::int64_t bucket = first_bucket(slice); bucket < end; ++bucket) {
      in_order.run(
          bucket, partition.first_of(bucket), count_of(bucket),
          [&](const auto& body) { partition.for_each_portion(bucket, body); },
          scratch.data() + slice * gathering.scratch_bytes(),
          to_order_in.data() + slice * in_order.scratch_bytes(most));
    }
    if (plan.stores == Stores::kStreamed) order_streamed_stores();
  });
}

// Groups entries with indices that no packed number has room for. Puts them in the order of their
// others first, where only the number of each entry is moved, and then groups them by their keys.
void group_apart(const Context& context, const Ungrouped& from, const Grouped& to,
                 const BucketPlan& plan) {
  // The rows of a compressed matrix do not fall.
  if (plan.order == Within::kAsTheyCame || from.others == nullptr) {
    return group_stepwise(from, to, plan.value_bytes);
  }
  const DigitSort sort(plan.other_bits, kernels::PackedType::k64, 8, 8);
  const Scratch numbers(2, from.count * 8);
  const Scratch to_sort_in(1, sort.scratch_bytes(from.count));
  std::int64_t* const others = numbers.numbers();
  std::int64_t* const entries = others + from.count;
  for (std::int64_t k = 0; k < from.count; ++k) {
    others[k] = get_index(from.others, from.index_type, k);
    entries[k] = k;
  }
  const DigitSort::Entries sorted = sort.run(
      from.count,
      [&](const auto& body) {
        body(from.count, reinterpret_cast<const Byte*>(others),
             reinterpret_cast<const Byte*>(entries));
      },
      to_sort_in.data());
  const Scratch keys(from.count, index_width(from.index_type));
  const Scratch values(from.count, plan.value_bytes);
  const auto* const order = reinterpret_cast<const std::int64_t*>(sorted.values);
  for (std::int64_t i = 0; i < from.count; ++i) {
    put_index(keys.data(), from.index_type, i, get_index(from.keys, from.index_type, order[i]));
    put_index(numbers.data(), from.index_type, i,
              get_index(sorted.packed, kernels::IndexType::kI64, i));
    std::memcpy(values.data() + i * plan.value_bytes, from.values + order[i] * plan.value_bytes,
                static_cast<std::size_t>(plan.value_bytes));
  }
  Ungrouped in_order = from;
  in_order.keys = keys.data();
  in_order.others = numbers.data();
  in_order.values = values.data();
  group_by_key(context, in_order, to, plan.value_bytes, Within::kAsTheyCame);
}

// Few entries as they came: in the order of their numbers, which stand for their others, so that
// there is no cursor for each key.
void group_few(const Context& context, const Ungrouped& from, const Grouped& to,
               std::int64_t value_bytes) {
  const Scratch numbers(from.count, index_width(from.index_type));
  for (std::int64_t k = 0; k < from.count; ++k) put_index(numbers.data(), from.index_type, k, k);
  Ungrouped numbered = from;
  numbered.other_count = from.count;
  numbered.others = numbers.data();
  group_by_key(context, numbered, to, value_bytes, Within::kByOther);
  for (std::int64_t k = 0; k < from.count; ++k) {
    const std::int64_t number = get_index(to.others, to.index_type, k);
    put_index(to.others, to.index_type, k, get_index(from.others, from.index_type, number));
  }
}

}  // namespace

void group_by_key(const Context& context, const Ungrouped& from, const Grouped& to,
                  std::int64_t value_bytes, Within order) {
  if (from.count == 0) {
    for (std::int64_t key = 0; key <= from.key_count; ++key) {
      put_index(to.offsets, to.index_type, key, 0);
    }
    return;
  }
  if (order == Within::kAsTheyCame && are_very_few(from.count, from.key_count)) {
    if (from.others != nullptr) return group_few(context, from, to, value_bytes);
    order = Within::kByOther;  // the rows of a compressed matrix do not fall
  }
  const BucketPlan plan(context, from, to, value_bytes, order);
  if (!plan.can_pack()) return group_apart(context, from, to, plan);
  put_index(to.offsets, to.index_type, 0, 0);
  if (plan.bucket_count == 1) return group_at_once(from, to, plan);
  group_by_buckets(context, from, to, plan);
}

void group_stepwise(const Ungrouped& from, const Grouped& to, std::int64_t value_bytes) {
  const Scratch scratch(from.key_count + 1, 8);
  std::int64_t* const cursors = scratch.numbers();
  std::fill_n(cursors, from.key_count + 1, 0);
  const auto key_of = [&](std::int64_t k) { return get_index(from.keys, from.index_type, k); };
  for (std::int64_t k = 0; k < from.count; ++k) ++cursors[key_of(k) + 1];
  for (std::int64_t key = 0; key <= from.key_count; ++key) {
    if (key != 0) cursors[key] += cursors[key - 1];
    put_index(to.offsets, to.index_type, key, cursors[key]);
  }
  std::int64_t row = 0;
  for (std::int64_t k = 0; k < from.count; ++k) {
    if (from.others == nullptr) {
      const std::int64_t position = k + get_index(from.offsets, from.index_type, 0);
      while (get_index(from.offsets, from.index_type, row + 1) <= position) ++row;
    } else {
      row = get_index(from.others, from.index_type, k);
    }
    const std::int64_t at = cursors[key_of(k)]++;
    put_index(to.others, to.index_type, at, row);
    std::memcpy(to.values + at * value_bytes, from.values + k * value_bytes,
                static_cast<std::size_t>(value_bytes));
  }
}

}  // namespace tenure
