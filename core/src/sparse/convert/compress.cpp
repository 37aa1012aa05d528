// COO to CSR and CSC: where entries are sorted alike, only offsets are missing; else they are
// grouped, and sorted while they are.
#include <algorithm>
#include <atomic>

#include "base/bisect.hpp"
#include "cpu/dispatch.hpp"
#include "sparse/convert/group_by_key.hpp"
#include "sparse/convert/steps.hpp"
#include "sparse/index_array.hpp"
#include "sparse/kernel_view.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::IndexType;

// The coordinates of entries as they are to be compressed: by rows for CSR, by columns for CSC.
struct Coordinate {
  const tnr_view* keys;
  const tnr_view* others;
  std::int64_t key_count;
  std::int64_t other_count;
};
Coordinate coordinate(const tnr_sparse_view& a, tnr_sparse_format format) noexcept {
  if (format == TNR_SPARSE_FORMAT_CSR) return {&a.major, &a.minor, a.rows, a.cols};
  return {&a.minor, &a.major, a.cols, a.rows};
}

// Whether check(begin, end) holds for parts of [0, count) that overlap by one.
template <class Check>
bool holds_throughout(const Context& context, std::int64_t count, std::int64_t bytes,
                      const Check& check) {
  std::atomic<bool> holds{true};
  const std::int64_t slices = slice_count_of(context, bytes);
  for_each_slice(context, slices, [&](std::int64_t slice) {
    if (!holds.load(std::memory_order_relaxed)) return;
    const std::int64_t begin = slice_begin(count, slices, slice);
    const std::int64_t end = std::min(count, slice_begin(count, slices, slice + 1) + 1);
    if (!check(begin, end)) holds.store(false, std::memory_order_relaxed);
  });
  return holds.load(std::memory_order_relaxed);
}

bool never_falls(const Context& context, const tnr_sparse_view& a, const tnr_view& indices) {
  const kernels::IndexChecks& checks = index_checks(a);
  return holds_throughout(context, indices.shape[0], indices.shape[0] * index_bytes(a),
                          [&](std::int64_t begin, std::int64_t end) {
                            // Most that are in no order are so at once.
                            constexpr std::int64_t kPart = 4096;
                            for (; begin < end; begin += kPart - 1) {
                              const std::int64_t count = std::min(kPart, end - begin);
                              if (checks.count_falls(bytes_at(indices, begin), count) != 0) {
                                return false;
                              }
                            }
                            return true;
                          });
}

bool are_sorted(const Context& context, const tnr_sparse_view& a, const Coordinate& by) {
  const kernels::IndexChecks& checks = index_checks(a);
  const std::int64_t count = by.keys->shape[0];
  return holds_throughout(context, count, 2 * count * index_bytes(a),
                          [&](std::int64_t begin, std::int64_t end) {
                            return checks.are_sorted(bytes_at(*by.keys, begin),
                                                     bytes_at(*by.others, begin), end - begin);
                          });
}

// Entries whose keys never fall: only the offsets are missing.
void bound_keys(const Context& context, const Coordinate& by, const SparseBuilder& builder) {
  const IndexType from = index_type(by.keys->dtype);
  const IndexType to = index_type(builder.shape().index_dtype);
  const std::int64_t count = by.keys->shape[0];
  const Byte* const keys = bytes_at(*by.keys, 0);
  const auto bound = kernels::grouping_kernels()
                         .bound_rows[static_cast<unsigned>(from)][static_cast<unsigned>(to)];
  put_index(builder.major(), to, 0, 0);
  const std::int64_t slices =
      std::min(slice_count_of(context, count * index_width(from) + by.key_count * index_width(to)),
               std::max<std::int64_t>(1, by.key_count));
  for_each_slice(context, slices, [&](std::int64_t slice) {
    const std::int64_t begin = slice_begin(by.key_count, slices, slice);
    const std::int64_t first =
        first_where(0, count, [&](std::int64_t k) { return get_index(keys, from, k) >= begin; });
    bound(keys, first, count, begin, slice_begin(by.key_count, slices, slice + 1), builder.major());
  });
}

}  // namespace

SparseToken compressed_of(const Context& context, const tnr_sparse_view& a,
                          const SparseTarget& target) {
  const Coordinate by = coordinate(a, target.format);
  const std::int64_t count = by.keys->shape[0];
  const bool sorted = are_sorted(context, a, by);
  const EntryOrder in_no_order = EntryOrder::of(a).reordered();
  SparseBuilder builder(context, shape_of(a, target));
  if (sorted || (!target.is_sorted && never_falls(context, a, *by.keys))) {
    builder.allocate_entries(count);
    bound_keys(context, by, builder);
    copy_indices(context, *by.others, {0, count}, builder.minor(), target.index_dtype);
    copy_values(context, a, {0, count}, builder.values());
    return builder.finish(sorted ? in_no_order.sorted() : in_no_order);
  }
  const bool comes_sorted = never_falls(context, a, *by.others);
  builder.allocate_entries(count);
  group_by_key(context,
               {.count = count,
                .key_count = by.key_count,
                .other_count = by.other_count,
                .index_type = index_type(by.keys->dtype),
                .keys = bytes_at(*by.keys, 0),
                .others = bytes_at(*by.others, 0),
                .offsets = nullptr,
                .values = static_cast<const Byte*>(a.values.data)},
               {.index_type = index_type(target.index_dtype),
                .offsets = builder.major(),
                .others = builder.minor(),
                .values = builder.values()},
               value_bytes_of(a),
               target.is_sorted && !comes_sorted ? Within::kByOther : Within::kAsTheyCame);
  return builder.finish(comes_sorted || target.is_sorted ? in_no_order.sorted() : in_no_order);
}

}  // namespace tenure
