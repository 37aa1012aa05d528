// The first half of grouping by key (group_by_key.hpp): entries to buckets, by the highest bits of
// their keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "cpu/dispatch.hpp"
#include "dense/loops/streamed.hpp"
#include "memory/fresh_pages.hpp"
#include "memory/scratch.hpp"
#include "memory/traffic.hpp"
#include "sparse/convert/group_by_key.hpp"
#include "sparse/index_array.hpp"
#include "tenure/status.hpp"
#include "threads/parallel.hpp"

namespace tenure {

// Average size of a bucket's result: it and its source stay in a second cache of 1 MiB.
inline constexpr std::int64_t kBucketBytes = std::int64_t{256} << 10;
// Average size of a sorted bucket's result: its entries are in the cache twice, but there are half
// as many buckets, and the entries that wait for these are in the first cache. Measured, 6.7 M
// entries of f32: a twentieth less of the whole than with the size above.
inline constexpr std::int64_t kSortedBucketBytes = 2 * kBucketBytes;
// Entries that go to their buckets in one step: their packed form stays in the first cache.
inline constexpr std::int64_t kPackedAtOnce = 1024;
// Entries of a slice: many against what a slice begins and ends with, a line or two for each
// bucket.
inline constexpr std::int64_t kSliceEntries = std::int64_t{1} << 15;

// Bits of a key within its bucket, as long as there are buckets left for the others: a bucket has a
// cursor of 8 bytes for each of its keys, with entries or without. Few entries of 2^31 keys in one
// bucket would take 16 GiB for cursors and 8 GiB for their result; they take 16 MiB for cursors so.
inline constexpr int kMostKeyBits = 20;

inline int bit_width(std::int64_t number) noexcept {
  return number <= 0 ? 0 : 64 - __builtin_clzll(static_cast<unsigned long long>(number));
}

// The partition of the work.
struct BucketPlan {
  BucketPlan(const Context& context, const Ungrouped& from, const Grouped& to, std::int64_t bytes,
             Within within)
      : order(within),
        value_bytes(bytes),
        index_bytes(index_width(to.index_type)),
        group(kernels::group_entries(static_cast<unsigned>(bytes))) {
    const int all_bits = bit_width(from.key_count - 1);
    const std::int64_t bucket_bytes =
        within == Within::kByOther ? kSortedBucketBytes : kBucketBytes;
    const int wanted_bits = bit_width(from.count * (index_bytes + value_bytes) / bucket_bytes);
    const int bucket_bits = std::min({std::max(wanted_bits, all_bits - kMostKeyBits), all_bits,
                                      bit_width(kernels::kMaxBuckets - 1)});
    key_bits = static_cast<unsigned>(all_bits - bucket_bits);
    bucket_count = ((from.key_count - 1) >> key_bits) + 1;
    // At least one bit for the other index, so that no shift is by all of them.
    other_bits = static_cast<unsigned>(std::max(1, bit_width(from.other_count - 1)));
    packed_type = key_bits + other_bits <= 32 && other_bits < 32 ? kernels::PackedType::k32
                                                                 : kernels::PackedType::k64;
    packed_bytes = packed_type == kernels::PackedType::k32 ? 4 : 8;
    const std::int64_t threads = context.thread_count();
    slice_count =
        threads == 1 ? 1 : std::clamp<std::int64_t>(from.count / kSliceEntries, 1, 2 * threads);
    stores = stores_for(from.count * (index_bytes + value_bytes));
  }

  // Whether a packed number has room for both indices.
  [[nodiscard]] bool can_pack() const noexcept { return key_bits + other_bits <= 64; }
  [[nodiscard]] unsigned packed() const noexcept { return static_cast<unsigned>(packed_type); }
  [[nodiscard]] unsigned width() const noexcept {
    return static_cast<unsigned>(__builtin_ctzll(static_cast<unsigned long long>(value_bytes)));
  }
  [[nodiscard]] std::int64_t waiting_bytes() const noexcept {
    return bucket_count * kernels::group_bytes(static_cast<unsigned>(packed_bytes),
                                               static_cast<unsigned>(value_bytes));
  }

  Within order;
  std::int64_t value_bytes;
  std::int64_t index_bytes;
  std::int64_t group;  // entries that leave a bucket's buffer at once
  unsigned key_bits;   // of a key within its bucket
  unsigned other_bits;
  std::int64_t bucket_count;
  kernels::PackedType packed_type;
  std::int64_t packed_bytes;
  std::int64_t slice_count;
  Stores stores;
};

// Entries [begin, end) of the source, chunk by chunk, packed: body(first entry, count, packed).
class EntryPacker {
 public:
  EntryPacker(const Ungrouped& from, const BucketPlan& plan) noexcept
      : from_(from), plan_(plan), width_(index_width(from.index_type)) {}

  template <class Body>
  void run(std::int64_t begin, std::int64_t end, std::uint16_t* buckets,
           const Body& body) const noexcept {
    alignas(kLineBytes) kernels::Byte packed[kPackedAtOnce * 8];
    alignas(kLineBytes) kernels::Byte rows[(kPackedAtOnce + kernels::kExpandSlack) * 8];
    const kernels::Grouping& table = kernels::grouping_kernels();
    const auto index = static_cast<unsigned>(from_.index_type);
    const auto pack = table.pack[index][plan_.packed()];
    const std::int64_t base =
        from_.others != nullptr ? 0 : get_index(from_.offsets, from_.index_type, 0);
    std::int64_t row =
        from_.others != nullptr || begin == end
            ? 0
            : row_of_entry(from_.offsets, from_.index_type, from_.other_count, base + begin);
    for (std::int64_t k = begin; k < end; k += kPackedAtOnce) {
      const std::int64_t count = std::min(kPackedAtOnce, end - k);
      const kernels::Byte* others = from_.others + k * width_;
      if (from_.others == nullptr) {
        row = table.expand[index][index](from_.offsets, row, base + k, base + k + count, rows);
        others = rows;
      }
      const bool is_by_other = plan_.order == Within::kByOther;
      pack({.count = count,
            .keys = from_.keys + k * width_,
            .others = others,
            .key_bits = plan_.key_bits,
            .packed = is_by_other ? nullptr : packed,
            .buckets = buckets});
      if (is_by_other) {
        // Keys and others are swapped: packed numbers then have the order of the result's entries.
        pack({.count = count,
              .keys = others,
              .others = from_.keys + k * width_,
              .key_bits = plan_.other_bits,
              .packed = packed,
              .buckets = nullptr});
      }
      body(k, count, packed);
    }
  }

 private:
  const Ungrouped& from_;
  const BucketPlan& plan_;
  std::int64_t width_;
};

// A number for each slice and bucket.
class BucketNumbers {
 public:
  explicit BucketNumbers(const BucketPlan& plan)
      : bucket_count_(plan.bucket_count), numbers_(plan.bucket_count * plan.slice_count, 8) {}
  // The numbers of a slice, one for each bucket.
  [[nodiscard]] std::int64_t* of(std::int64_t slice) const noexcept {
    return numbers_.numbers() + slice * bucket_count_;
  }

 private:
  std::int64_t bucket_count_;
  Scratch numbers_;
};

class BucketPartition {
 public:
  // Throws OUT_OF_MEMORY.
  BucketPartition(const Context& context, const Ungrouped& from, const BucketPlan& plan)
      : context_(context), from_(from), plan_(plan), begins_(plan), ends_(plan) {}

  // Counts the entries of each slice and bucket, and gives them room.
  void lay_out() {
    for_each_slice(context_, plan_.slice_count, [&](std::int64_t slice) {
      std::int64_t* const counts = begins_.of(slice);
      std::fill_n(counts, plan_.bucket_count, 0);
      const std::int64_t begin = slice_begin(from_.count, plan_.slice_count, slice);
      const std::int64_t end = slice_begin(from_.count, plan_.slice_count, slice + 1);
      const auto index = static_cast<unsigned>(from_.index_type);
      table_.count_keys[index](from_.keys + begin * index_width(from_.index_type), end - begin,
                               plan_.key_bits, plan_.bucket_count, counts);
    });
    std::int64_t room = 0;
    std::int64_t first = 0;
    firsts_.reserve(static_cast<std::size_t>(plan_.bucket_count) + 1);
    for (std::int64_t bucket = 0; bucket < plan_.bucket_count; ++bucket) {
      firsts_.push_back(first);
      for (std::int64_t slice = 0; slice < plan_.slice_count; ++slice) {
        const std::int64_t count = begins_.of(slice)[bucket];
        begins_.of(slice)[bucket] = ends_.of(slice)[bucket] = room;
        room += (count + plan_.group - 1) / plan_.group * plan_.group;
        first += count;
      }
    }
    firsts_.push_back(first);
    packed_.emplace(room, plan_.packed_bytes);
    values_.emplace(room, plan_.value_bytes);
    touch_fresh_pages(context_, packed_->data(), room * plan_.packed_bytes);
    touch_fresh_pages(context_, values_->data(), room * plan_.value_bytes);
    waiting_.emplace(plan_.slice_count, plan_.waiting_bytes());
  }

  // Entries to their buckets.
  void fill() const noexcept {
    for_each_slice(context_, plan_.slice_count, [&](std::int64_t slice) {
      std::uint16_t buckets[kPackedAtOnce];
      kernels::Parting parting{.count = 0,
                               .packed = nullptr,
                               .values = nullptr,
                               .buckets = buckets,
                               .positions = ends_.of(slice),
                               .waiting = waiting_->data() + slice * plan_.waiting_bytes(),
                               .packed_out = packed_->data(),
                               .values_out = values_->data(),
                               .streamed = plan_.stores == Stores::kStreamed};
      const auto kernel = table_.part[plan_.packed()][plan_.width()];
      EntryPacker(from_, plan_)
          .run(slice_begin(from_.count, plan_.slice_count, slice),
               slice_begin(from_.count, plan_.slice_count, slice + 1), buckets,
               [&](std::int64_t first, std::int64_t count, const kernels::Byte* packed) {
                 parting.count = count;
                 parting.packed = packed;
                 parting.values = from_.values + first * plan_.value_bytes;
                 kernel(parting);
               });
      table_.flush[plan_.packed()][plan_.width()](parting, plan_.bucket_count);
      if (parting.streamed) order_streamed_stores();
    });
  }

  // The first entry of a bucket, in the result; of the bucket behind the last, how many there are.
  [[nodiscard]] std::int64_t first_of(std::int64_t bucket) const noexcept {
    return firsts_[static_cast<std::size_t>(bucket)];
  }
  // body(count, packed, values) for the portions of a bucket, in order.
  template <class Body>
  void for_each_portion(std::int64_t bucket, const Body& body) const noexcept {
    for (std::int64_t slice = 0; slice < plan_.slice_count; ++slice) {
      const std::int64_t begin = begins_.of(slice)[bucket];
      body(ends_.of(slice)[bucket] - begin, packed_->data() + begin * plan_.packed_bytes,
           values_->data() + begin * plan_.value_bytes);
    }
  }

 private:
  const Context& context_;
  const Ungrouped& from_;
  const BucketPlan& plan_;
  const kernels::Grouping& table_ = kernels::grouping_kernels();
  BucketNumbers begins_;
  BucketNumbers ends_;
  std::vector<std::int64_t> firsts_;
  std::optional<Scratch> packed_;
  std::optional<Scratch> values_;
  std::optional<Scratch> waiting_;
};

}  // namespace tenure
