// A long row of keys in ranges: the records of each range are adjacent, and are sorted by
// themselves.
//
// A sample says where the ranges begin, so that they have about as many records whatever the keys
// are; keys of floats crowd in a few of their highest digits. It is the same for any number of
// threads, and so are the ranges.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dense/ordering/records.hpp"
#include "memory/tickets.hpp"

namespace tenure {

// The elements of a row, which have the keys.
struct KeyRow {
  const kernels::Byte* data;
  std::int64_t step;  // bytes
  std::int64_t count;
};

class RowRanges {
 public:
  static constexpr std::int64_t kMost = 256;

  // For rows of `count` elements. Throws OUT_OF_MEMORY.
  RowRanges(const Context& context, const Records& records, std::int64_t count);

  // Chooses the ranges of a row and counts its records.
  void count(const KeyRow& row, kernels::KeyFacts& facts) noexcept;
  // The places of a range's records among all.
  [[nodiscard]] std::int64_t begin(std::int64_t range) const noexcept {
    return range == 0 ? 0 : ends()[range - 1];
  }
  [[nodiscard]] std::int64_t end(std::int64_t range) const noexcept { return ends()[range]; }
  // The range of the record of a rank.
  [[nodiscard]] std::int64_t range_at(std::int64_t rank) const noexcept {
    return std::upper_bound(ends(), ends() + kMost, rank) - ends();
  }

  // The row's records by their ranges, each at its place.
  void move(const KeyRow& row, kernels::Byte* out) noexcept;
  // Moves the records of the ranges before [first, last], then those within, then those behind,
  // each group in the order that its records had. kWithin moves only the ones within, kToLast all
  // except the ones behind.
  enum class Kept : std::uint8_t { kWithin, kToLast, kAll };
  void move_around(const KeyRow& row, std::int64_t first, std::int64_t last, Kept kept,
                   kernels::Byte* out) noexcept;

  // Puts the record of a rank, among some that differ in any bits, to its place. Equal ones that are
  // on one side of it keep their order.
  void select(kernels::Byte* records, kernels::Byte* other, std::int64_t count, std::int64_t rank,
              SharedSort& shared) const noexcept;

  // Sorts the records that move() has moved to `records`; `other` has as much room. Calls
  // done(first, count), from any thread, for places whose records are sorted.
  template <class Done>
  void sort(kernels::Byte* records, kernels::Byte* other, SharedSort& shared,
            const Done& done) noexcept;

  // The bits in which some records differ: as they are, for SharedSort; and beyond the least.
  [[nodiscard]] Records::Bits bits_of(const kernels::Byte* records,
                                      std::int64_t count) const noexcept;
  [[nodiscard]] Records::Bits span_of(const kernels::Byte* records,
                                      std::int64_t count) const noexcept;
  [[nodiscard]] const Context& context() const noexcept { return context_; }

 private:
  static constexpr unsigned kLeastDigitBits = 8;
  // So that floats, whose exponents take most digits, have 32 of them between two powers of 2 at
  // least. Their digits are in few lines of the table, which has 64 KiB.
  static constexpr unsigned kMostDigitBits = 16;
  // 32 for each range, whose sizes then differ by a fifth.
  static constexpr std::int64_t kSampled = std::int64_t{1} << 13;

  [[nodiscard]] const std::int64_t* ends() const noexcept { return ends_.numbers(); }
  [[nodiscard]] std::int64_t slice_first(std::int64_t slice) const noexcept {
    return slice_begin(count_, slices_, slice);
  }
  void choose(const KeyRow& row) noexcept;
  // Calls body(records, count) for pieces of a slice's records, in their order.
  template <class Body>
  void for_each_piece(const KeyRow& row, std::int64_t slice, kernels::KeyFacts& facts,
                      const Body& body) const noexcept;
  void scatter(const KeyRow& row, const kernels::KeyRanges& ranges, kernels::Byte* out) noexcept;

  const Context& context_;
  const Records& records_;
  std::int64_t count_;
  std::int64_t slices_;
  std::int64_t sampled_;
  std::int64_t wanted_;
  kernels::KeyRanges ranges_{};
  std::int64_t digits_ = 0;
  Scratch samples_;
  Scratch table_;   // the range of each digit, and a second such table
  Scratch counts_;  // of each slice and range, and as many cursors
  Scratch ends_;    // of each range
  Scratch facts_;   // of each slice
};

template <class Done>
void RowRanges::sort(kernels::Byte* records, kernels::Byte* other, SharedSort& shared,
                     const Done& done) noexcept {
  const std::int64_t threads = context_.thread_count();
  // Records that a thread sorts by itself, in its part of `other`; larger ranges, as of one number
  // that is in many places, are sorted by all.
  const std::int64_t room = std::min<std::int64_t>(count_ / threads, INT32_MAX);
  const std::int64_t most =
      threads == 1 ? room : std::min(room, std::max<std::int64_t>(kSharedRecords, count_ / 64));
  const std::int64_t bytes = records_.bytes;
  for (std::int64_t range = 0; range < kMost; ++range) {
    const std::int64_t first = begin(range);
    const std::int64_t own = end(range) - first;
    if (own <= most) continue;
    kernels::Byte* const at = records + first * bytes;
    const Records::Bits bits = bits_of(at, own);
    if (bits.low != bits.high) shared.run(at, other, own, bits);
    for_each_slice(context_, slices_, [&](std::int64_t slice) noexcept {
      const std::int64_t begin = slice_begin(own, slices_, slice);
      done(first + begin, slice_begin(own, slices_, slice + 1) - begin);
    });
  }
  Tickets tickets(kMost);
  for_each_slice(
      context_, threads,
      [&](std::int64_t thread) noexcept {
        for (std::int64_t range; (range = tickets.take()) >= 0;) {
          const std::int64_t first = begin(range);
          const std::int64_t own = end(range) - first;
          if (own == 0 || own > most) continue;
          kernels::Byte* const at = records + first * bytes;
          const Records::Bits bits = span_of(at, own);
          kernels::Byte* const room_of_thread = other + thread * most * bytes;
          records_.kernels->sort({at, room_of_thread, own, bits.low, bits.high, bits.least}, false);
          done(first, own);
        }
      },
      Wake::kAtOnce);
}

}  // namespace tenure
