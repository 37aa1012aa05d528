#include "sparse_regroup.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "digit_sort.hpp"
#include "fresh_pages.hpp"
#include "index_array.hpp"
#include "parallel.hpp"
#include "scratch.hpp"
#include "streamed.hpp"
#include "tenure/status.hpp"
#include "traffic.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::IndexType;
using kernels::PackedType;

// What a bucket's result has on average: it and what it is made of stay in a second cache of 1 MiB.
constexpr std::int64_t kBucketBytes = std::int64_t{256} << 10;
// The same where a bucket is sorted: its entries are in the cache twice, but there are half as many
// buckets, and what waits for these is in the first cache. Measured, 6.7 M entries of f32: a twentieth
// less of the whole than with the size above.
constexpr std::int64_t kSortedBucketBytes = 2 * kBucketBytes;
// Room for a bucket's result. A larger one is written where it belongs at once.
constexpr std::int64_t kStageBytes = 2 * kBucketBytes;
// Entries that go to their buckets in one step: what they become on the way stays in the first cache.
constexpr std::int64_t kChunkEntries = 1024;
// Entries of a slice: many against what a slice begins and ends with, a line or two for each bucket.
constexpr std::int64_t kSliceEntries = std::int64_t{1} << 15;

int bit_width(std::int64_t number) noexcept {
  return number <= 0 ? 0 : 64 - __builtin_clzll(static_cast<unsigned long long>(number));
}

// How the work is cut.
struct Plan {
  Plan(const Context& context, const Ungrouped& from, const Grouped& to, std::int64_t bytes,
       Within within)
      : order(within),
        value_bytes(bytes),
        index_bytes(index_width(to.index_type)),
        group(kernels::group_entries(static_cast<unsigned>(bytes))) {
    const int all_bits = bit_width(from.key_count - 1);
    const std::int64_t bucket_bytes =
        within == Within::kByOther ? kSortedBucketBytes : kBucketBytes;
    const int wanted_bits = bit_width(from.count * (index_bytes + value_bytes) / bucket_bytes);
    const int bucket_bits = std::min({wanted_bits, all_bits, bit_width(kernels::kMaxBuckets - 1)});
    key_bits = static_cast<unsigned>(all_bits - bucket_bits);
    bucket_count = ((from.key_count - 1) >> key_bits) + 1;
    // At least one bit for the other index, so that no shift is by all of them.
    other_bits = static_cast<unsigned>(std::max(1, bit_width(from.other_count - 1)));
    const unsigned bits = key_bits + other_bits;
    if (bits > 64) {
      fail(TNR_STATUS_OUT_OF_MEMORY, "offsets of both rows and columns would fit no memory");
    }
    packed_type = bits <= 32 && other_bits < 32 ? PackedType::k32 : PackedType::k64;
    packed_bytes = packed_type == PackedType::k32 ? 4 : 8;
    const std::int64_t threads = context.thread_count();
    slice_count =
        threads == 1 ? 1 : std::clamp<std::int64_t>(from.count / kSliceEntries, 1, 2 * threads);
    stores = stores_for(from.count * (index_bytes + value_bytes));
  }

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
  PackedType packed_type;
  std::int64_t packed_bytes;
  std::int64_t slice_count;
  Stores stores;
};

// Entries [begin, end) of the source, chunk by chunk, packed: body(first entry, count, packed).
class Packer {
 public:
  Packer(const Ungrouped& from, const Plan& plan) noexcept
      : from_(from), plan_(plan), width_(index_width(from.index_type)) {}

  template <class Body>
  void run(std::int64_t begin, std::int64_t end, std::uint16_t* buckets,
           const Body& body) const noexcept {
    alignas(kLineBytes) Byte packed[kChunkEntries * 8];
    alignas(kLineBytes) Byte rows[(kChunkEntries + kernels::kExpandSlack) * 8];
    const kernels::Regrouping& table = *kernels::table().regrouping;
    const auto index = static_cast<unsigned>(from_.index_type);
    const auto pack = table.pack[index][plan_.packed()];
    const std::int64_t base =
        from_.others != nullptr ? 0 : get_index(from_.offsets, from_.index_type, 0);
    std::int64_t row =
        from_.others != nullptr || begin == end
            ? 0
            : row_of_entry(from_.offsets, from_.index_type, from_.other_count, base + begin);
    for (std::int64_t k = begin; k < end; k += kChunkEntries) {
      const std::int64_t count = std::min(kChunkEntries, end - k);
      const Byte* others = from_.others + k * width_;
      if (from_.others == nullptr) {
        row = table.expand[index][index](from_.offsets, row, base + k, base + k + count, rows);
        others = rows;
      }
      pack({.count = count,
            .keys = from_.keys + k * width_,
            .others = others,
            .key_bits = plan_.key_bits,
            .packed = packed,
            .buckets = buckets});
      if (plan_.order == Within::kByOther) {
        // The other way round: what is packed is then in the order that entries are to have.
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
  const Plan& plan_;
  std::int64_t width_;
};

// A number for each slice and bucket.
class Portions {
 public:
  explicit Portions(const Plan& plan)
      : bucket_count_(plan.bucket_count), numbers_(plan.bucket_count * plan.slice_count, 8) {}
  // Those of a slice, one for each bucket.
  [[nodiscard]] std::int64_t* of(std::int64_t slice) const noexcept {
    return numbers_.numbers() + slice * bucket_count_;
  }

 private:
  std::int64_t bucket_count_;
  Scratch numbers_;
};

class Partition {
 public:
  // Throws OUT_OF_MEMORY.
  Partition(const Context& context, const Ungrouped& from, const Plan& plan)
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
      std::uint16_t buckets[kChunkEntries];
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
      Packer(from_, plan_)
          .run(slice_begin(from_.count, plan_.slice_count, slice),
               slice_begin(from_.count, plan_.slice_count, slice + 1), buckets,
               [&](std::int64_t first, std::int64_t count, const Byte* packed) {
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
  const Plan& plan_;
  const kernels::Regrouping& table_ = *kernels::table().regrouping;
  Portions begins_;
  Portions ends_;
  std::vector<std::int64_t> firsts_;
  std::optional<Scratch> packed_;
  std::optional<Scratch> values_;
  std::optional<Scratch> waiting_;
};

// The counting sort of buckets.
class Gathering {
 public:
  Gathering(const Ungrouped& from, const Grouped& to, const Plan& plan) noexcept
      : from_(from), to_(to), plan_(plan) {}

  // Bytes of scratch: a cursor for each key of a bucket, and room for a result.
  [[nodiscard]] std::int64_t cursor_bytes() const noexcept {
    return whole_lines(keys_of_bucket() * 8);
  }
  [[nodiscard]] std::int64_t scratch_bytes() const noexcept {
    return cursor_bytes() + kStageBytes + 2 * kLineBytes;
  }

  // The result of `bucket`, whose portions `portions` has and which begins at entry `first`: entries of
  // a key as they came.
  template <class Portions>
  void run(std::int64_t bucket, std::int64_t first, std::int64_t count, const Portions& portions,
           Byte* scratch) const noexcept {
    auto* const cursors = reinterpret_cast<std::int64_t*>(scratch);
    const bool is_staged =
        plan_.bucket_count != 1 && count * (plan_.index_bytes + plan_.value_bytes) <= kStageBytes;
    count_keys(bucket, first, portions, cursors, is_staged ? first : 0);
    Byte* const staged_others = scratch + cursor_bytes();
    Byte* const staged_values = staged_others + whole_lines(count * plan_.index_bytes);
    place(portions, cursors, is_staged ? staged_others : to_.others,
          is_staged ? staged_values : to_.values);
    if (!is_staged) return;
    copy_lines(to_.others + first * plan_.index_bytes, staged_others, count * plan_.index_bytes,
               plan_.stores);
    copy_lines(to_.values + first * plan_.value_bytes, staged_values, count * plan_.value_bytes,
               plan_.stores);
  }

  // The same of entries in the order of their others, as `sort` leaves them in its scratch.
  template <class Portions>
  void run_sorted(std::int64_t bucket, std::int64_t first, std::int64_t count,
                  const Portions& portions, const DigitSort& sort,
                  Byte* to_sort_in) const noexcept {
    const DigitSort::Entries sorted = sort.run(count, portions, to_sort_in);
    if (plan_.packed_type == PackedType::k32) {
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
    portions([&](std::int64_t portion, const Byte* packed, const Byte*) {
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
                  const Byte* packed) const noexcept {
    const auto* const entries = reinterpret_cast<const P*>(packed);
    put_offsets(bucket, first, count, entries);
    if (to_.index_type == IndexType::kI32) {
      put_others<P, std::int32_t>(first, count, entries);
    } else {
      put_others<P, std::int64_t>(first, count, entries);
    }
  }

  template <class P>
  void put_offsets(std::int64_t bucket, std::int64_t first, std::int64_t count,
                   const P* entries) const noexcept {
    constexpr std::int64_t kStride = 64;  // that are looked at by their last one alone
    const std::int64_t first_key = bucket << plan_.key_bits;
    const std::int64_t key_count = std::min(keys_of_bucket(), from_.key_count - first_key);
    const auto key_of = [&](std::int64_t k) {
      return static_cast<std::int64_t>(entries[k] >> plan_.other_bits &
                                       ((P{1} << plan_.key_bits) - 1));
    };
    std::int64_t k = 0;
    for (std::int64_t key = 0; key < key_count; ++key) {
      while (k + kStride <= count && key_of(k + kStride - 1) <= key) k += kStride;
      while (k < count && key_of(k) <= key) ++k;
      put_index(to_.offsets, to_.index_type, first_key + key + 1, first + k);
    }
  }

  template <class P, class I>
  void put_others(std::int64_t first, std::int64_t count, const P* entries) const noexcept {
    const P mask = static_cast<P>((P{1} << plan_.other_bits) - 1);
    I others[kChunkEntries];
    for (std::int64_t begin = first; begin < first + count;) {
      // To where a line ends, if the array begins with one.
      const std::int64_t end =
          std::min(first + count, (begin + kChunkEntries) / kChunkEntries * kChunkEntries);
      const P* const from = entries + (begin - first);
      for (std::int64_t k = 0; k < end - begin; ++k) others[k] = static_cast<I>(from[k] & mask);
      constexpr auto kBytes = static_cast<std::int64_t>(sizeof(I));
      copy_lines(to_.others + begin * kBytes, reinterpret_cast<const Byte*>(others),
                 (end - begin) * kBytes, plan_.stores);
      begin = end;
    }
  }

  template <class Portions>
  void place(const Portions& portions, std::int64_t* cursors, Byte* others,
             Byte* values) const noexcept {
    const auto kernel =
        table_.place[plan_.packed()][plan_.width()][static_cast<unsigned>(to_.index_type)];
    portions([&](std::int64_t count, const Byte* packed, const Byte* from_values) {
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
  const Plan& plan_;
  const kernels::Regrouping& table_ = *kernels::table().regrouping;
};

// A bucket in the order that its entries are to have.
class Bucket {
 public:
  Bucket(const Gathering& gathering, const Plan& plan) noexcept
      : gathering_(gathering),
        order_(plan.order),
        sort_(plan.key_bits + plan.other_bits, plan.packed_type, plan.packed_bytes,
              plan.value_bytes) {}

  // Of scratch to order so many entries in.
  [[nodiscard]] std::int64_t scratch_bytes(std::int64_t count) const noexcept {
    return order_ == Within::kByOther ? sort_.scratch_bytes(count) : 0;
  }
  template <class Portions>
  void run(std::int64_t bucket, std::int64_t first, std::int64_t count, const Portions& portions,
           Byte* scratch, Byte* to_order_in) const noexcept {
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

// All entries as one bucket, whose values are where they were: a matrix that fits the second cache,
// or one with so few keys that nothing is gained by parting them.
void regroup_at_once(const Ungrouped& from, const Grouped& to, const Plan& plan) {
  const Gathering gathering(from, to, plan);
  const Bucket bucket(gathering, plan);
  const Scratch packed(from.count, plan.packed_bytes);
  const Scratch cursors(1, gathering.cursor_bytes());
  const Scratch to_order_in(1, bucket.scratch_bytes(from.count));
  Packer(from, plan)
      .run(0, from.count, nullptr, [&](std::int64_t first, std::int64_t count, const Byte* chunk) {
        std::memcpy(packed.data() + first * plan.packed_bytes, chunk,
                    static_cast<std::size_t>(count * plan.packed_bytes));
      });
  bucket.run(
      0, 0, from.count, [&](const auto& body) { body(from.count, packed.data(), from.values); },
      cursors.data(), to_order_in.data());
}

void regroup_by_buckets(const Context& context, const Ungrouped& from, const Grouped& to,
                        const Plan& plan) {
  const Gathering gathering(from, to, plan);
  const Bucket in_order(gathering, plan);
  const Scratch scratch(plan.slice_count, gathering.scratch_bytes());
  Partition partition(context, from, plan);
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
  const Plan plan(context, from, to, value_bytes, order);
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
