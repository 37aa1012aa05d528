// Joins matrices vertically, horizontally, or along the diagonal.
//
// Where the compressed rows of one follow those of another, and in COO, each part is one run of the
// result: a copy with raised indices and offsets. Otherwise each row consists of a run of each
// part.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <deque>
#include <vector>

#include "dense/loops/streamed.hpp"
#include "memory/traffic.hpp"
#include "sparse/builder.hpp"
#include "sparse/empty_rows.hpp"
#include "sparse/operand.hpp"
#include "sparse/row_slices.hpp"
#include "sparse/traffic.hpp"
#include "tenure/part_name.hpp"
#include "tenure/sparse.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// One matrix, while the call lasts.
struct JoinedPart {
  JoinedPart(const tnr_sparse_view& view, std::uint32_t index) : name(index), operand(view, name) {}

  PartName name;
  SparseOperand operand;
};

// The sum of what the parts have; throws where it is more than any matrix has.
class Total {
 public:
  explicit Total(const char* what) noexcept : what_(what) {}
  void add(std::int64_t more) {
    // An extent has an end that is a number as well.
    if (more < INT64_MAX - sum_) {
      sum_ += more;
      return;
    }
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s of the parts add up to %" PRId64 " and %" PRId64 ", but a matrix ends at %" PRId64,
         what_, sum_, more, INT64_MAX - 1);
  }
  [[nodiscard]] std::int64_t sum() const noexcept { return sum_; }

 private:
  const char* what_;
  std::int64_t sum_ = 0;
};

void require_alike(const tnr_sparse_view& part, const char* name, const tnr_sparse_view& first) {
  if (part.format != first.format) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s.format is %" PRId32 " but parts[0].format is %" PRId32 ": convert one", name,
         part.format, first.format);
  }
  if (part.values.dtype != first.values.dtype) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.values.dtype is %s but parts[0].values.dtype is %s", name,
         dtype_name(part.values.dtype), dtype_name(first.values.dtype));
  }
  if (part.minor.dtype != first.minor.dtype) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "indices of %s are %s but those of parts[0] are %s", name,
         dtype_name(part.minor.dtype), dtype_name(first.minor.dtype));
  }
}

void require_extent(const char* name, const char* extent, std::int64_t has, std::int64_t first) {
  if (has == first) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s.%s is %" PRId64 " but parts[0].%s is %" PRId64, name,
       extent, has, extent, first);
}

// out[k] = from[k] + more. Stores past the caches go there by way of a page that stays in them.
template <class I>
void copy_raised(I* out, const I* from, std::int64_t count, I more, Stores stores) noexcept {
  if (more == 0) {
    return copy_lines(reinterpret_cast<Byte*>(out), reinterpret_cast<const Byte*>(from),
                      count * static_cast<std::int64_t>(sizeof(I)), stores);
  }
  const auto raise = [more](I* __restrict to, const I* __restrict numbers, std::int64_t part) {
    for (std::int64_t k = 0; k < part; ++k) to[k] = static_cast<I>(numbers[k] + more);
  };
  if (stores == Stores::kCached) return raise(out, from, count);
  constexpr std::int64_t kPage = 4096 / sizeof(I);
  alignas(kLineBytes) I page[kPage];
  while (count > 0) {
    // All pages but the first begin a line.
    const auto in_line =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) % kLineBytes / sizeof(I));
    const std::int64_t part = std::min(count, kPage - in_line);
    raise(page, from, part);
    copy_lines(reinterpret_cast<Byte*>(out), reinterpret_cast<const Byte*>(page),
               part * static_cast<std::int64_t>(sizeof(I)), stores);
    out += part;
    from += part;
    count -= part;
  }
}

// Numbers of the parts, one after the other: part i has [begins[i], begins[i + 1]) of them.
using Begins = std::vector<std::int64_t>;

// Calls body(part, first, last) for runs of each part's own numbers that make up all of them.
template <class Body>
void for_each_part(const Context& context, const Begins& begins, std::int64_t bytes_each,
                   const Body& body) noexcept {
  const std::int64_t all = begins.back();
  const std::int64_t slices =
      std::min(slice_count_of(context, 2 * bytes_each * all), std::max<std::int64_t>(1, all));
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    std::int64_t at = slice_begin(all, slices, slice);
    const std::int64_t end = slice_begin(all, slices, slice + 1);
    auto part = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), at) -
                                         begins.begin()) -
                1;
    for (; at < end; ++part) {
      const std::int64_t last = std::min(end, begins[part + 1]);
      if (at < last) body(part, at - begins[part], last - begins[part]);
      at = std::max(at, last);
    }
    order_streamed_stores();
  });
}

class Joining {
 public:
  Joining(const Context& context, tnr_sparse_join join, const tnr_sparse_view* parts,
          std::uint32_t count)
      : context_(context),
        join_(join),
        views_(parts),
        count_(count),
        width_(static_cast<std::int64_t>(element_size(parts[0].values.dtype))) {
    const bool is_csc = parts[0].format == TNR_SPARSE_FORMAT_CSC;
    is_coo_ = parts[0].format == TNR_SPARSE_FORMAT_COO;
    majors_follow_ = join != (is_csc ? TNR_SPARSE_JOIN_ROWS : TNR_SPARSE_JOIN_COLS);
    minors_follow_ = join != (is_csc ? TNR_SPARSE_JOIN_COLS : TNR_SPARSE_JOIN_ROWS);
    Total entries("entries");
    Total majors(is_csc ? "cols" : "rows");
    Total minors(is_csc ? "rows" : "cols");
    for (std::uint32_t i = 0; i < count; ++i) {
      entries_.push_back(entries.sum());
      majors_.push_back(majors.sum());
      minors_.push_back(minors.sum());
      const EntryRange range = entry_range(parts[i]);
      entries.add(range.last - range.first);
      if (majors_follow_) majors.add(major_count(parts[i]));
      if (minors_follow_) minors.add(minor_count(parts[i]));
    }
    entries_.push_back(entries.sum());
    majors_.push_back(majors_follow_ ? majors.sum() : major_count(parts[0]));
    minors_.push_back(minors_follow_ ? minors.sum() : minor_count(parts[0]));
  }

  SparseToken run() const {
    const bool is_csc = views_[0].format == TNR_SPARSE_FORMAT_CSC;
    SparseBuilder builder(context_, {.format = views_[0].format,
                                     .rows = is_csc ? minors_.back() : majors_.back(),
                                     .cols = is_csc ? majors_.back() : minors_.back(),
                                     .index_dtype = views_[0].minor.dtype,
                                     .value_dtype = views_[0].values.dtype});
    builder.allocate_entries(entries_.back());
    if (views_[0].minor.dtype == TNR_DTYPE_I32) {
      write<std::int32_t>(builder);
    } else {
      write<std::int64_t>(builder);
    }
    return builder.finish(order());
  }

 private:
  // COO is sorted by rows first, and each part of a horizontal join begins again at the first row.
  [[nodiscard]] EntryOrder order() const noexcept {
    EntryOrder order = EntryOrder::of(views_[0]);
    for (std::uint32_t i = 1; i < count_; ++i) order = order.and_of(EntryOrder::of(views_[i]));
    return is_coo_ && join_ == TNR_SPARSE_JOIN_COLS && count_ > 1 ? order.reordered() : order;
  }

  template <class I>
  void write(const SparseBuilder& builder) const {
    I* const major = reinterpret_cast<I*>(builder.major());
    I* const minor = reinterpret_cast<I*>(builder.minor());
    if (is_coo_ || majors_follow_) {
      stack_entries(minor, is_coo_ ? major : nullptr, builder.values());
      if (!is_coo_) stack_offsets(major);
      return;
    }
    add_offsets(major);
    switch (width_) {
      case 4: return interleave<I, 4>(major, minor, builder.values());
      case 8: return interleave<I, 8>(major, minor, builder.values());
      default: return interleave<I, 0>(major, minor, builder.values());
    }
  }

  // ---- parts that are runs of the result ----

  template <class I>
  void stack_entries(I* minor, I* major, Byte* values) const noexcept {
    const std::int64_t bytes_each =
        width_ + static_cast<std::int64_t>(sizeof(I)) * (major != nullptr ? 2 : 1);
    const Stores stores = stores_for(2 * bytes_each * entries_.back());
    for_each_part(context_, entries_, bytes_each,
                  [&](std::size_t part, std::int64_t first, std::int64_t last) noexcept {
                    const tnr_sparse_view& view = views_[part];
                    const std::int64_t from = entry_range(view).first + first;
                    const std::int64_t to = entries_[part] + first;
                    const std::int64_t count = last - first;
                    copy_raised(minor + to, static_cast<const I*>(view.minor.data) + from, count,
                                static_cast<I>(minors_[part]), stores);
                    if (major != nullptr) {
                      copy_raised(major + to, static_cast<const I*>(view.major.data) + from, count,
                                  static_cast<I>(majors_[part]), stores);
                    }
                    copy_lines(values + to * width_,
                               static_cast<const Byte*>(view.values.data) + from * width_,
                               count * width_, stores);
                  });
  }

  // The last offset of each part is the first one of the next.
  template <class I>
  void stack_offsets(I* out) const noexcept {
    out[0] = 0;
    const Stores stores = stores_for(2 * static_cast<std::int64_t>(sizeof(I)) * majors_.back());
    for_each_part(context_, majors_, sizeof(I),
                  [&](std::size_t part, std::int64_t first, std::int64_t last) noexcept {
                    const tnr_sparse_view& view = views_[part];
                    copy_raised(out + majors_[part] + first + 1,
                                static_cast<const I*>(view.major.data) + first + 1, last - first,
                                static_cast<I>(entries_[part] - entry_range(view).first), stores);
                  });
  }

  // ---- parts that are runs of each row ----

  [[nodiscard]] std::int64_t slices_for(std::int64_t bytes) const noexcept {
    return std::min(slice_count_of(context_, 2 * bytes), std::max<std::int64_t>(1, majors_.back()));
  }

  template <class I>
  void add_offsets(I* out) const noexcept {
    const std::int64_t count = majors_.back() + 1;
    const std::int64_t slices = slices_for(count * count_ * static_cast<std::int64_t>(sizeof(I)));
    for_each_slice(context_, slices, [&](std::int64_t slice) noexcept {
      const std::int64_t begin = slice_begin(count, slices, slice);
      const std::int64_t end = slice_begin(count, slices, slice + 1);
      std::fill(out + begin, out + end, I{0});
      for (std::uint32_t part = 0; part < count_; ++part) {
        const I* const offsets = static_cast<const I*>(views_[part].major.data);
        const I first = offsets[0];
        for (std::int64_t i = begin; i < end; ++i) {
          out[i] = static_cast<I>(out[i] + (offsets[i] - first));
        }
      }
    });
  }

  // kWidth bytes of a value; 0: any.
  template <class I, int kWidth>
  void interleave(const I* offsets, I* minor, Byte* values) const {
    struct Source {
      const I* offsets;
      const I* minors;
      const Byte* values;
      I more;
    };
    std::vector<Source> sources;
    sources.reserve(count_);
    for (std::uint32_t i = 0; i < count_; ++i) {
      sources.push_back(
          {static_cast<const I*>(views_[i].major.data), static_cast<const I*>(views_[i].minor.data),
           static_cast<const Byte*>(views_[i].values.data), static_cast<I>(minors_[i])});
    }
    const std::int64_t width = kWidth != 0 ? kWidth : width_;
    const std::int64_t rows = majors_.back();
    const std::int64_t slices =
        slices_for((rows + entries_.back()) * (width + static_cast<std::int64_t>(sizeof(I))));
    for_each_slice(context_, slices, [&](std::int64_t slice) noexcept {
      for_each_filled_row(
          offsets, sliced_row(offsets, rows, slices, slice),
          sliced_row(offsets, rows, slices, slice + 1), [&](std::int64_t row) noexcept {
            std::int64_t at = offsets[row];
            for (const Source& source : sources) {
              const std::int64_t first = source.offsets[row];
              const std::int64_t count = source.offsets[row + 1] - first;
              copy_raised(minor + at, source.minors + first, count, source.more, Stores::kCached);
              for (std::int64_t k = 0; k < count; ++k) {
                std::memcpy(values + (at + k) * width, source.values + (first + k) * width,
                            static_cast<std::size_t>(width));
              }
              at += count;
            }
          });
    });
  }

  const Context& context_;
  tnr_sparse_join join_;
  const tnr_sparse_view* views_;
  std::uint32_t count_;
  std::int64_t width_;
  bool is_coo_;
  bool majors_follow_;  // rows, as the matrices are compressed, follow each other; else columns do
  bool minors_follow_;
  Begins entries_;
  Begins majors_;
  Begins minors_;
};

}  // namespace

SparseToken sparse_concat(const Context& context, tnr_sparse_join join,
                          const tnr_sparse_view* parts, std::uint32_t part_count) {
  if (join < TNR_SPARSE_JOIN_ROWS || join > TNR_SPARSE_JOIN_DIAGONAL) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "join is %" PRId32 ", which names no join", join);
  }
  if (part_count == 0) fail(TNR_STATUS_INVALID_ARGUMENT, "part_count is 0");
  std::deque<JoinedPart> joined;
  for (std::uint32_t i = 0; i < part_count; ++i) {
    const tnr_sparse_view& part = parts[i];
    const char* const name = joined.emplace_back(part, i).name;
    if (part.format == TNR_SPARSE_FORMAT_BSR) {
      fail(TNR_STATUS_UNSUPPORTED, "%s.format is 4, BSR, which is not joined: convert it", name);
    }
    require_alike(part, name, parts[0]);
    if (join == TNR_SPARSE_JOIN_ROWS) require_extent(name, "cols", part.cols, parts[0].cols);
    if (join == TNR_SPARSE_JOIN_COLS) require_extent(name, "rows", part.rows, parts[0].rows);
  }
  for (JoinedPart& part : joined) part.operand.check_all();
  std::uint64_t read_bytes = 0;
  for (std::uint32_t i = 0; i < part_count; ++i) read_bytes += matrix_bytes(parts[i]);
  return count_made(TNR_OPERATION_SPARSE_CONCAT, read_bytes,
                    Joining(context, join, parts, part_count).run());
}

}  // namespace tenure
