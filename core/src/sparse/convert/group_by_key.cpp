#include "sparse/convert/group_by_key.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "dense/streamed.hpp"
#include "memory/scratch.hpp"
#include "sparse/convert/bucket_partition.hpp"
#include "sparse/convert/bucket_result.hpp"
#include "sparse/index_array.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// All entries as one bucket, whose values are where they were: a matrix that fits the second cache,
// or one with so few keys that nothing is gained by parting them.
void regroup_at_once(const Ungrouped& from, const Grouped& to, const BucketPlan& plan) {
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

void regroup_by_buckets(const Context& context, const Ungrouped& from, const Grouped& to,
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

}  // namespace

void regroup(const Context& context, const Ungrouped& from, const Grouped& to,
             std::int64_t value_bytes, Within order) {
  if (from.count == 0) {
    for (std::int64_t key = 0; key <= from.key_count; ++key) {
      put_index(to.offsets, to.index_type, key, 0);
    }
    return;
  }
  const BucketPlan plan(context, from, to, value_bytes, order);
  put_index(to.offsets, to.index_type, 0, 0);
  if (plan.bucket_count == 1) return regroup_at_once(from, to, plan);
  regroup_by_buckets(context, from, to, plan);
}

void regroup_stepwise(const Ungrouped& from, const Grouped& to, std::int64_t value_bytes) {
  std::vector<std::int64_t> cursors(static_cast<std::size_t>(from.key_count) + 1, 0);
  const auto key_of = [&](std::int64_t k) {
    return static_cast<std::size_t>(get_index(from.keys, from.index_type, k));
  };
  for (std::int64_t k = 0; k < from.count; ++k) ++cursors[key_of(k) + 1];
  for (std::size_t key = 0; key < cursors.size(); ++key) {
    if (key != 0) cursors[key] += cursors[key - 1];
    put_index(to.offsets, to.index_type, static_cast<std::int64_t>(key), cursors[key]);
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
