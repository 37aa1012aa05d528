// The occupied block columns of a block row, and the rank of each among them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cpu/kernel.hpp"
#include "memory/traffic.hpp"

namespace tenure {

// Columns to block columns: a multiplication by the reciprocal, which is exact for columns below
// 2^31 and blocks of 16 at most, as the reciprocal is less than 16 / 2^35 too large.
class BlockDivision {
 public:
  static constexpr std::int64_t kMaxColumns = std::int64_t{1} << 31;

  explicit BlockDivision(std::int64_t block) noexcept
      : reciprocal_(((std::uint64_t{1} << kBits) + static_cast<std::uint64_t>(block) - 1) /
                    static_cast<std::uint64_t>(block)) {}
  [[nodiscard]] std::int64_t operator()(std::int64_t column) const noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(column) * reciprocal_ >> kBits);
  }

 private:
  static constexpr int kBits = 35;
  std::uint64_t reciprocal_;
};

// One thread's work, with a mark and a number for each block column; all marks are 0 in between.
class BlockColumns {
 public:
  // Whether a row of blocks has enough entries to look at all marks. Measured: this costs as much
  // as walking the rows in step at one entry for 40 marks.
  static bool are_worth_marking(std::int64_t entry_count, std::int64_t row_count,
                                std::int64_t column_count) noexcept {
    return column_count <= entry_count / std::max<std::int64_t>(1, row_count) * 32;
  }

  // Bytes of memory of the thread's own.
  static std::int64_t buffer_bytes(std::int64_t column_count) noexcept {
    return whole_lines(column_count) + 2 * whole_lines((column_count + 1) * 8);
  }

  BlockColumns(BlockDivision division, std::int64_t column_count, kernels::Byte* buffer) noexcept
      : division_(division),
        column_count_(column_count),
        marks_(buffer),
        found_(reinterpret_cast<std::int64_t*>(buffer + whole_lines(column_count))),
        numbers_(found_ + whole_lines((column_count + 1) * 8) / 8) {
    clear();
  }

  // The number of distinct block columns of these columns, in any order.
  template <class I>
  std::int64_t count(const I* columns, std::int64_t count) noexcept {
    mark(columns, count);
    std::int64_t found = 0;
    for (std::int64_t at = 0; at < column_count_; at += kWordMarks) {
      // The highest byte of the product is the sum of all, which are 0 or 1.
      found += static_cast<std::int64_t>(word(at) * 0x0101010101010101u >> 56);
    }
    clear();
    return found;
  }

  // Counts as above; then found()[i] is the i-th in order, and number_of() says i.
  template <class I>
  std::int64_t number(const I* columns, std::int64_t count) noexcept {
    mark(columns, count);
    std::int64_t found = 0;
    // Where many are marked, a branch would go either way; where few are, most words have none.
    if (count >= column_count_ / kWordMarks) {
      for (std::int64_t at = 0; at < column_count_; ++at) {
        found_[found] = at;
        numbers_[at] = found;
        found += marks_[at];
      }
    } else {
      for (std::int64_t first = 0; first < column_count_; first += kWordMarks) {
        for (std::uint64_t left = word(first); left != 0; left &= left - 1) {
          const std::int64_t at = first + __builtin_ctzll(left) / 8;
          found_[found] = at;
          numbers_[at] = found++;
        }
      }
    }
    clear();
    return found;
  }
  [[nodiscard]] const std::int64_t* found() const noexcept { return found_; }
  [[nodiscard]] std::int64_t number_of(std::int64_t block_column) const noexcept {
    return numbers_[block_column];
  }
  [[nodiscard]] std::int64_t block_column(std::int64_t column) const noexcept {
    return division_(column);
  }

 private:
  static constexpr std::int64_t kWordMarks = 8;

  template <class I>
  void mark(const I* columns, std::int64_t count) noexcept {
    for (std::int64_t k = 0; k < count; ++k) marks_[division_(columns[k])] = 1;
  }
  [[nodiscard]] std::uint64_t word(std::int64_t at) const noexcept {
    std::uint64_t marks;
    std::memcpy(&marks, marks_ + at, sizeof marks);
    return marks;
  }
  void clear() noexcept { std::fill_n(marks_, whole_lines(column_count_), kernels::Byte{0}); }

  BlockDivision division_;
  std::int64_t column_count_;
  kernels::Byte* marks_;   // 1: has been seen; those behind the last, in its line, are 0
  std::int64_t* found_;    // one more than there can be, which is written and not used
  std::int64_t* numbers_;  // of those that have been found
};

}  // namespace tenure
