#include "sparse/convert/order.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "cpu/dispatch.hpp"
#include "memory/scratch.hpp"
#include "sparse/builder.hpp"
#include "sparse/convert/bucket_partition.hpp"
#include "sparse/convert/digit_sort.hpp"
#include "sparse/convert/steps.hpp"
#include "sparse/index_array.hpp"
#include "sparse/kernel_view.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::IndexType;

class Ordering {
 public:
  Ordering(const Context& context, const tnr_sparse_view& a, const SparseTarget& target)
      : context_(context),
        a_(a),
        range_(entry_range(a)),
        count_(range_.last - range_.first),
        from_(index_type(a.minor.dtype)),
        to_(index_type(target.index_dtype)),
        width_(value_bytes_of(a)),
        minor_bits_(static_cast<unsigned>(std::max(1, bit_width(minor_extent() - 1)))),
        major_bits_(static_cast<unsigned>(std::max(1, bit_width(major_extent() - 1)))),
        // COO has row indices already.
        own_majors_(is_coo() ? 0 : count_, index_width(from_)),
        majors_(is_coo() ? bytes_at(a.major, 0) : own_majors_.data()) {
    if (!is_coo()) expand_rows(context, a, own_majors_.data(), from_);
  }

  SparseToken run(const SparseTarget& target) const {
    SparseBuilder builder(context_, shape_of(a_, target));
    builder.allocate_entries(count_);
    if (!is_coo()) copy_offsets(a_, builder);
    if (major_bits_ + minor_bits_ <= 64) {
      sort_packed(builder);
    } else {
      sort_positions(builder);
    }
    return builder.finish(EntryOrder::of(a_).reordered().sorted());
  }

 private:
  // Indices of rows and columns that one number has no room for.
  struct Position {
    std::int64_t major;
    std::int64_t minor;
    std::int64_t entry;
  };

  [[nodiscard]] bool is_coo() const noexcept { return a_.format == TNR_SPARSE_FORMAT_COO; }
  [[nodiscard]] std::int64_t major_extent() const noexcept {
    return is_coo() ? a_.rows : major_count(a_);
  }
  [[nodiscard]] std::int64_t minor_extent() const noexcept {
    return is_coo() ? a_.cols : minor_count(a_);
  }
  [[nodiscard]] const Byte* values() const noexcept {
    return static_cast<const Byte*>(a_.values.data) + range_.first * width_;
  }
  void put(const SparseBuilder& builder, std::int64_t at, std::int64_t major,
           std::int64_t minor) const noexcept {
    if (is_coo()) put_index(builder.major(), to_, at, major);
    put_index(builder.minor(), to_, at, minor);
  }

  void sort_packed(const SparseBuilder& builder) const {
    const auto pack =
        kernels::grouping_kernels()
            .pack[static_cast<unsigned>(from_)][static_cast<unsigned>(kernels::PackedType::k64)];
    const DigitSort sort(major_bits_ + minor_bits_, kernels::PackedType::k64, 8, width_);
    const Scratch packed(count_, 8);
    const Scratch to_sort_in(1, sort.scratch_bytes(count_));
    pack({.count = count_,
          .keys = bytes_at(a_.minor, range_.first),
          .others = majors_,
          .key_bits = minor_bits_,
          .packed = packed.data(),
          .buckets = nullptr});
    const DigitSort::Entries sorted = sort.run(
        count_, [&](const auto& body) { body(count_, packed.data(), values()); },
        to_sort_in.data());
    const std::uint64_t mask = (std::uint64_t{1} << minor_bits_) - 1;
    const auto* const numbers = reinterpret_cast<const std::uint64_t*>(sorted.packed);
    for (std::int64_t k = 0; k < count_; ++k) {
      put(builder, k, static_cast<std::int64_t>(numbers[k] >> minor_bits_),
          static_cast<std::int64_t>(numbers[k] & mask));
    }
    if (count_ != 0) {
      std::memcpy(builder.values(), sorted.values, static_cast<std::size_t>(count_ * width_));
    }
  }

  void sort_positions(const SparseBuilder& builder) const {
    const Scratch scratch(count_, sizeof(Position));
    auto* const positions = reinterpret_cast<Position*>(scratch.data());
    const Byte* const minors = bytes_at(a_.minor, range_.first);
    for (std::int64_t k = 0; k < count_; ++k) {
      positions[k] = {get_index(majors_, from_, k), get_index(minors, from_, k), k};
    }
    std::sort(positions, positions + count_, [](const Position& a, const Position& b) {
      return std::tie(a.major, a.minor, a.entry) < std::tie(b.major, b.minor, b.entry);
    });
    for (std::int64_t k = 0; k < count_; ++k) {
      const Position& position = positions[k];
      put(builder, k, position.major, position.minor);
      std::memcpy(builder.values() + k * width_, values() + position.entry * width_,
                  static_cast<std::size_t>(width_));
    }
  }

  const Context& context_;
  const tnr_sparse_view& a_;
  EntryRange range_;
  std::int64_t count_;
  IndexType from_;
  IndexType to_;
  std::int64_t width_;
  unsigned minor_bits_;
  unsigned major_bits_;
  Scratch own_majors_;
  const Byte* majors_;
};

}  // namespace

SparseToken ordered_entries(const Context& context, const tnr_sparse_view& a,
                            const SparseTarget& target) {
  return Ordering(context, a, target).run(target);
}

}  // namespace tenure
