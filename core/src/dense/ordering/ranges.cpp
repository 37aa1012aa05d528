#include "dense/ordering/ranges.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace tenure {
namespace {

using kernels::Byte;
using kernels::KeyFacts;

// So many times as many records as there are in the average range may share a digit in a sample
// before smaller digits are looked at.
constexpr std::int64_t kMostOfDigit = 2;

void join(const KeyFacts& part, KeyFacts& all) noexcept {
  all.key_or |= part.key_or;
  all.key_and &= part.key_and;
  all.zero_or |= part.zero_or;
  all.zero_and &= part.zero_and;
  all.nan_or |= part.nan_or;
  all.nan_and &= part.nan_and;
}

}  // namespace

RowRanges::RowRanges(const Context& context, const Records& records, std::int64_t count)
    : context_(context),
      records_(records),
      count_(count),
      slices_(std::min<std::int64_t>(
          slice_count_of(context, std::max<std::int64_t>(1, count * records.bytes)),
          4 * std::int64_t{context.thread_count()})),
      sampled_(std::min(count, kSampled)),
      wanted_(std::clamp<std::int64_t>(count >> 13, 8, kMost)),
      samples_(sampled_, 2 * sizeof(std::uint64_t) + sizeof(kernels::WideRecord)),
      table_(2, std::int64_t{1} << kMostDigitBits),
      counts_(2 * slices_ * kMost, sizeof(std::int64_t)),
      ends_(kMost, sizeof(std::int64_t)),
      facts_(slices_, sizeof(KeyFacts)) {}

void RowRanges::choose(const KeyRow& row) noexcept {
  auto* const numbers = reinterpret_cast<std::uint64_t*>(samples_.data());
  Byte* const other = samples_.data() + sampled_ * std::int64_t{sizeof(std::uint64_t)};
  Byte* const records = other + sampled_ * std::int64_t{sizeof(std::uint64_t)};
  KeyFacts facts;
  const std::int64_t apart = count_ / sampled_;
  records_.load(records_.rule, {row.data, apart * row.step, sampled_, 0, records}, facts);
  for (std::int64_t i = 0; i < sampled_; ++i) {
    numbers[i] = records_.key_of(records + i * records_.bytes) << records_.key_shift;
  }
  kernels::ordering_kernels().records[3].sort({samples_.data(), other, sampled_, 0, 64}, false);
  const std::uint64_t least = numbers[0];
  const std::uint64_t span = numbers[sampled_ - 1] - least;
  const auto bits = static_cast<unsigned>(std::bit_width(span));
  const auto most_digits =
      std::clamp(static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(count_))) - 5u,
                 kLeastDigitBits, kMostDigitBits);
  unsigned shift = 0;
  for (unsigned digit_bits = kLeastDigitBits;; ++digit_bits) {
    shift = bits > digit_bits ? bits - digit_bits : 0;
    if (shift == 0 || digit_bits == most_digits) break;
    std::int64_t most = 0;
    for (std::int64_t i = 0; i < sampled_;) {
      const std::int64_t first = i;
      const std::uint64_t digit = (numbers[i] - least) >> shift;
      while (i < sampled_ && (numbers[i] - least) >> shift == digit) ++i;
      most = std::max(most, i - first);
    }
    if (most <= kMostOfDigit * sampled_ / wanted_) break;
  }
  digits_ = static_cast<std::int64_t>(span >> shift) + 1;
  Byte* const table = table_.data();
  std::int64_t before = 0;
  const bool is_even = digits_ <= kMost && shift != 0 && digits_ > wanted_ / 2;
  for (std::int64_t digit = 0; digit < digits_; ++digit) {
    table[digit] = static_cast<Byte>(is_even ? digit : before * wanted_ / sampled_);
    while (before < sampled_ &&
           static_cast<std::int64_t>((numbers[before] - least) >> shift) == digit) {
      ++before;
    }
  }
  ranges_ = {least, span, shift, kMost, table};
}

template <class Body>
void RowRanges::for_each_piece(const KeyRow& row, std::int64_t slice, KeyFacts& facts,
                               const Body& body) const noexcept {
  // With the loads of the row within a quarter of a first cache.
  constexpr std::int64_t kPiece = 512;
  alignas(16) Byte piece[kPiece * sizeof(kernels::WideRecord)];
  const std::int64_t last = slice_first(slice + 1);
  for (std::int64_t at = slice_first(slice); at < last; at += kPiece) {
    const std::int64_t count = std::min(kPiece, last - at);
    records_.load(records_.rule, {row.data + at * row.step, row.step, count, at, piece}, facts);
    body(piece, count);
  }
}

void RowRanges::count(const KeyRow& row, KeyFacts& facts) noexcept {
  choose(row);
  std::int64_t* const counts = counts_.numbers();
  auto* const facts_of = reinterpret_cast<KeyFacts*>(facts_.data());
  for_each_slice(context_, slices_, [&](std::int64_t slice) noexcept {
    std::int64_t* const own = counts + slice * kMost;
    std::fill_n(own, kMost, 0);
    KeyFacts found;
    for_each_piece(row, slice, found, [&](const Byte* records, std::int64_t count) {
      records_.kernels->count_ranges(ranges_, records, count, own);
    });
    new (facts_of + slice) KeyFacts(found);
  });
  std::int64_t end = 0;
  for (std::int64_t range = 0; range < kMost; ++range) {
    for (std::int64_t slice = 0; slice < slices_; ++slice) end += counts[slice * kMost + range];
    ends_.numbers()[range] = end;
  }
  for (std::int64_t slice = 0; slice < slices_; ++slice) join(facts_of[slice], facts);
}

void RowRanges::scatter(const KeyRow& row, const kernels::KeyRanges& ranges, Byte* out) noexcept {
  std::int64_t* const cursors = counts_.numbers() + slices_ * kMost;
  for_each_slice(context_, slices_, [&](std::int64_t slice) noexcept {
    KeyFacts facts;
    for_each_piece(row, slice, facts, [&](const Byte* records, std::int64_t count) {
      records_.kernels->scatter_ranges(ranges, records, count, cursors + slice * kMost, out);
    });
  });
}

void RowRanges::move(const KeyRow& row, Byte* out) noexcept {
  const std::int64_t* const counts = counts_.numbers();
  std::int64_t* const cursors = counts_.numbers() + slices_ * kMost;
  std::int64_t next = 0;
  for (std::int64_t range = 0; range < kMost; ++range) {
    for (std::int64_t slice = 0; slice < slices_; ++slice) {
      cursors[slice * kMost + range] = next;
      next += counts[slice * kMost + range];
    }
  }
  scatter(row, ranges_, out);
}

void RowRanges::move_around(const KeyRow& row, std::int64_t first, std::int64_t last, Kept kept,
                            Byte* out) noexcept {
  const auto side_of = [&](std::int64_t range) {
    const int side = range < first ? 0 : range <= last ? 1 : 2;
    return kept == Kept::kWithin ? (side == 1 ? 0 : 1) : side;
  };
  const std::int64_t* const counts = counts_.numbers();
  std::int64_t* const cursors = counts_.numbers() + slices_ * kMost;
  std::int64_t next = 0;
  for (int side = 0; side < 3; ++side) {
    for (std::int64_t slice = 0; slice < slices_; ++slice) {
      cursors[slice * kMost + side] = next;
      for (std::int64_t range = 0; range < kMost; ++range) {
        if (side_of(range) == side) next += counts[slice * kMost + range];
      }
    }
  }
  Byte* const sides = table_.data() + (std::int64_t{1} << kMostDigitBits);
  for (std::int64_t digit = 0; digit < digits_; ++digit) {
    sides[digit] = static_cast<Byte>(side_of(ranges_.ranges[digit]));
  }
  kernels::KeyRanges around = ranges_;
  around.ranges = sides;
  around.kept = kept == Kept::kWithin ? 1 : kept == Kept::kToLast ? 2 : 3;
  scatter(row, around, out);
}

void RowRanges::select(Byte* records, Byte* other, std::int64_t count, std::int64_t rank,
                       SharedSort& shared) const noexcept {
  if (count > INT32_MAX) return shared.run(records, other, count, bits_of(records, count));
  const Records::Bits bits = span_of(records, count);
  records_.kernels->select({records, other, count, bits.low, bits.high, bits.least}, rank);
}

Records::Bits RowRanges::span_of(const Byte* records, std::int64_t count) const noexcept {
  const kernels::NumberFacts facts = records_.kernels->survey(records, count);
  // Bits of an index are below the key: they are not looked at.
  const std::uint64_t keys = ~std::uint64_t{0} << records_.key_shift;
  const std::uint64_t bits = (facts.some ^ facts.all) & keys;
  if (bits == 0) return {records_.key_shift, records_.key_shift};
  const std::uint64_t least = facts.least & keys;
  return {static_cast<unsigned>(std::countr_zero(bits)),
          static_cast<unsigned>(std::bit_width(facts.most - least)), least};
}

Records::Bits RowRanges::bits_of(const Byte* records, std::int64_t count) const noexcept {
  const kernels::NumberFacts facts = records_.kernels->survey(records, count);
  KeyFacts of_keys;
  of_keys.key_or = facts.some >> records_.key_shift;
  of_keys.key_and = facts.all >> records_.key_shift;
  return records_.differing(of_keys);
}

}  // namespace tenure
