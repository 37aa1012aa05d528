// Records, and sorting them by digits.
//
// Where few bits differ, records are sorted from the lowest digit on: each pass moves all records
// to the start of their digit. Where many bits differ, they are sorted by the highest digit first.
// The records of a digit are then adjacent in the order that they had, and are sorted by the bits
// below it; few.hpp sorts a few of them. See McIlroy, Bostic and McIlroy, "Engineering radix sort",
// Computing Systems 6 (1993).
#pragma once

#include "cpu/kernels/ordering/few.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class U, Carry kCarry>
struct RecordType {
  using type = U;
};
template <class U>
struct RecordType<U, Carry::kIndex32> {
  using type = uint64_t;
};
template <class U>
struct RecordType<U, Carry::kIndex64> {
  using type = WideRecord;
};
template <class U, Carry kCarry>
using Record = typename RecordType<U, kCarry>::type;

template <class U, Carry kCarry>
[[gnu::always_inline]] inline Record<U, kCarry> make_record(U key, uint64_t index) {
  if constexpr (kCarry == Carry::kIndex64) {
    return {index, key};
  } else if constexpr (kCarry == Carry::kIndex32) {
    return uint64_t{key} << 32 | index;
  } else {
    return key;
  }
}
template <class U, Carry kCarry>
[[gnu::always_inline]] inline U key_in(const Record<U, kCarry>& record) {
  if constexpr (kCarry == Carry::kIndex64) {
    return static_cast<U>(record.key);
  } else if constexpr (kCarry == Carry::kIndex32) {
    return static_cast<U>(record >> 32);
  } else {
    return record;
  }
}

template <class R>
[[gnu::always_inline]] inline unsigned digit_of(R record, unsigned shift, unsigned mask,
                                                uint64_t least = 0) {
  using Number = decltype(number_of(R{}));
  return static_cast<unsigned>(
             static_cast<Number>(number_of(record) - static_cast<Number>(least)) >> shift) &
         mask;
}

template <class R>
[[gnu::always_inline]] inline unsigned range_of(const KeyRanges& ranges, R record) {
  const uint64_t number = number_of(record);
  const uint64_t beyond = number < ranges.least ? 0 : number - ranges.least;
  return ranges.ranges[(beyond < ranges.span ? beyond : ranges.span) >> ranges.shift];
}

template <class R>
void count_ranges(const KeyRanges& given, const Byte* records, int64_t count, int64_t* counts) {
  const KeyRanges ranges = given;
  for (int64_t i = 0; i < count; ++i) {
    ++counts[range_of(ranges, load<R>(records + i * kRecordBytes<R>))];
  }
}

template <class R>
void scatter_ranges(const KeyRanges& given, const Byte* records, int64_t count, int64_t* cursors,
                    Byte* out) {
  const KeyRanges ranges = given;
  for (int64_t i = 0; i < count; ++i) {
    const R record = load<R>(records + i * kRecordBytes<R>);
    const unsigned range = range_of(ranges, record);
    if (range < ranges.kept) store(out + kRecordBytes<R> * cursors[range]++, record);
  }
}

template <class R>
NumberFacts survey(const Byte* records, int64_t count) {
  using Number = decltype(number_of(R{}));
  const Number first = number_of(load<R>(records));
  Number least = first;
  Number most = first;
  Number some = first;
  Number all = first;
  for (int64_t i = 1; i < count; ++i) {
    const Number number = number_of(load<R>(records + i * kRecordBytes<R>));
    least = number < least ? number : least;
    most = number > most ? number : most;
    some = static_cast<Number>(some | number);
    all = static_cast<Number>(all & number);
  }
  return {least, most, some, all};
}

template <class R>
void count_digits(const Byte* records, int64_t count, unsigned shift, unsigned bits,
                  int64_t* counts) {
  const unsigned mask = (1u << bits) - 1;
  for (int64_t i = 0; i < count; ++i) {
    ++counts[digit_of(load<R>(records + i * kRecordBytes<R>), shift, mask)];
  }
}

template <class R>
void scatter_digits(const Byte* records, int64_t count, unsigned shift, unsigned bits,
                    int64_t* cursors, Byte* out) {
  const unsigned mask = (1u << bits) - 1;
  for (int64_t i = 0; i < count; ++i) {
    const R record = load<R>(records + i * kRecordBytes<R>);
    store(out + kRecordBytes<R> * cursors[digit_of(record, shift, mask)]++, record);
  }
}

// Records of more bytes than this, which is most of a second cache of 1 MiB, are sorted by a short
// digit, which has a destination for each line of half a first cache: a pass over 10^7 records of 8
// bytes takes 1.7 ns for each by 8 bits, 4 by 10 and 6 by 11; in the second cache 0.9, 0.9 and 1.
constexpr int64_t kManyBytes = int64_t{3} << 18;
constexpr unsigned kShortDigitBits = 8;
// The largest number of passes of a sort from the lowest digit on, and the smallest number of
// records that are sorted so: for fewer, the counters of all digits would take longer.
constexpr unsigned kMostPasses = 4;
constexpr int64_t kWorthCounters = 64;
// From the highest one on, though, where as many records have so few bits that one large digit
// leaves a few of each: three passes of short digits take longer. All bits of an f32 are more, and
// its highest ones crowd.
constexpr int64_t kWorthDigits = int64_t{1} << 12;
constexpr unsigned kMostOfFewDigits = 28;
// Counters of all digits that are being sorted by at one time: 48 KiB of stack. A digit takes at
// most two thirds of the counters that are left. It has the bits that its records need, or 13, 11,
// 10 and so on, one fewer each time.
constexpr int64_t kMostCounters = int64_t{3} << (kMostDigitBits - 1);
constexpr int64_t kLowestCounters = int64_t{kMostPasses} << kShortDigitBits;

// Bits of a digit for `count` records: a few of each, so that little is left to sort_few().
template <class R>
inline unsigned digit_bits(int64_t count, unsigned left, int64_t counters) {
  const auto log_of = [](int64_t number) {
    return static_cast<unsigned>(63 - __builtin_clzll(static_cast<uint64_t>(number)));
  };
  // Half a line of records, or a few.
  unsigned bits = log_of(count) - (sizeof(R) == 4 ? 3 : 2);
  const unsigned most = log_of(counters * 2 / 3);
  if (bits > most) bits = most;
  if (count * kRecordBytes<R> > kManyBytes && bits > kShortDigitBits) bits = kShortDigitBits;
  return bits < left ? bits : left;
}

// The counts of a digit as running totals; whether all records have one digit.
inline bool sum_counts(uint32_t* counts, unsigned digits, int64_t count) {
  uint32_t next = 0;
  for (unsigned digit = 0; digit < digits; ++digit) {
    const uint32_t here = counts[digit];
    if (here == static_cast<uint32_t>(count)) return true;
    counts[digit] = next;
    next += here;
  }
  return false;
}

// From the lowest digit on. The number of passes is odd where the result is written to the other
// memory.
template <class R>
void sort_from_lowest(const RecordRange& range, bool into_other, uint32_t* counts) {
  const unsigned left = range.high - range.low;
  unsigned passes = (left + kShortDigitBits - 1) / kShortDigitBits;
  if (passes % 2 != (into_other ? 1 : 0)) ++passes;
  const unsigned bits = (left + passes - 1) / passes;
  const unsigned mask = (1u << bits) - 1;
  unsigned shifts[kMostPasses];
  for (unsigned pass = 0; pass < kMostPasses; ++pass) {
    // A pass beyond the bits sorts by bits that are equal in all records, or by the last bit again.
    const unsigned shift = range.low + (pass < passes ? pass : 0) * bits;
    shifts[pass] = shift < range.high ? shift : range.high - 1;
  }
  __builtin_memset(counts, 0, sizeof(uint32_t) * kMostPasses << bits);
  for (int64_t i = 0; i < range.count; ++i) {
    const R record = load<R>(range.records + i * kRecordBytes<R>);
    for (unsigned pass = 0; pass < kMostPasses; ++pass) {
      ++counts[(pass << bits) + digit_of(record, shifts[pass], mask, range.least)];
    }
  }
  const Byte* from = range.records;
  Byte* to = range.other;
  for (unsigned pass = 0; pass < passes; ++pass) {
    uint32_t* const cursors = counts + (pass << bits);
    uint32_t next = 0;
    for (unsigned digit = 0; digit <= mask; ++digit) {
      const uint32_t here = cursors[digit];
      cursors[digit] = next;
      next += here;
    }
    for (int64_t i = 0; i < range.count; ++i) {
      const R record = load<R>(from + i * kRecordBytes<R>);
      store(to + kRecordBytes<R> * cursors[digit_of(record, shifts[pass], mask, range.least)]++,
            record);
    }
    from = to;
    to = to == range.other ? range.records : range.other;
  }
}

template <class R>
void sort_range(const RecordRange& range, bool into_other, uint32_t* counts, int64_t counters) {
  Byte* const to = into_other ? range.other : range.records;
  if (range.count <= kFew) return sort_few<R>(range.records, to, range.count);
#if defined(__AVX2__)
  if constexpr (sizeof(R) == 4 || sizeof(R) == 8) {
    if (range.count <= kMostMerged<R>)
      return sort_by_merging<R>(range.records, range.other, range.count, into_other);
  }
#endif
  unsigned high = range.high;
  const unsigned most = kShortDigitBits * (kMostPasses - (into_other ? 1 : 0));
  const unsigned left = high - range.low;
  const bool is_short =
      range.count < kWorthDigits || left <= 2 * kShortDigitBits || left > kMostOfFewDigits;
  if (range.count >= kWorthCounters && left > 0 && left <= most && is_short &&
      counters >= kLowestCounters) {
    return sort_from_lowest<R>(range, into_other, counts);
  }
  unsigned bits = 0;
  unsigned mask = 0;
  for (bool is_one = true; is_one; high -= bits) {
    if (high == range.low) {
      if (into_other)
        __builtin_memcpy(to, range.records, static_cast<uint64_t>(range.count * kRecordBytes<R>));
      return;
    }
    bits = digit_bits<R>(range.count, high - range.low, counters);
    mask = (1u << bits) - 1;
    __builtin_memset(counts, 0, sizeof(uint32_t) << bits);
    for (int64_t i = 0; i < range.count; ++i) {
      ++counts[digit_of(load<R>(range.records + i * kRecordBytes<R>), high - bits, mask,
                        range.least)];
    }
    is_one = sum_counts(counts, mask + 1, range.count);
  }
  for (int64_t i = 0; i < range.count; ++i) {
    const R record = load<R>(range.records + i * kRecordBytes<R>);
    store(range.other + kRecordBytes<R> * counts[digit_of(record, high, mask, range.least)]++,
          record);
  }
  // Each counter is now where the next digit's records begin.
  int64_t begin = 0;
  for (unsigned digit = 0; digit <= mask; ++digit) {
    const int64_t end = counts[digit];
    const int64_t own = end - begin;
    if (own <= kFew) {
      const int64_t at = begin * kRecordBytes<R>;
      sort_few<R>(range.other + at, (into_other ? range.other : range.records) + at, own);
    } else {
      sort_range<R>({.records = range.other + begin * kRecordBytes<R>,
                     .other = range.records + begin * kRecordBytes<R>,
                     .count = end - begin,
                     .low = range.low,
                     .high = high,
                     .least = range.least},
                    !into_other, counts + mask + 1, counters - mask - 1);
    }
    begin = end;
  }
}

template <class R>
void sort_records(const RecordRange& range, bool into_other) {
  uint32_t counts[kMostCounters];
  sort_range<R>(range, into_other, counts, kMostCounters);
}

template <class R>
void select_record(const RecordRange& range, int64_t rank) {
  uint32_t counts[1u << kMostDigitBits];
  int64_t begin = 0;
  int64_t end = range.count;
  unsigned high = range.high;
  while (high > range.low && end - begin > kFew) {
    const unsigned bits = digit_bits<R>(end - begin, high - range.low, kMostCounters);
    const unsigned mask = (1u << bits) - 1;
    high -= bits;
    __builtin_memset(counts, 0, sizeof(uint32_t) << bits);
    for (int64_t i = begin; i < end; ++i) {
      ++counts[digit_of(load<R>(range.records + i * kRecordBytes<R>), high, mask, range.least)];
    }
    unsigned digit = 0;
    int64_t first = begin;
    while (first + counts[digit] <= rank) first += counts[digit++];
    const int64_t last = first + counts[digit];
    if (first == begin && last == end) continue;
    // Below, at and above the digit.
    int64_t cursors[3] = {begin, first, last};
    for (int64_t i = begin; i < end; ++i) {
      const R record = load<R>(range.records + i * kRecordBytes<R>);
      const unsigned own = digit_of(record, high, mask, range.least);
      const unsigned side =
          static_cast<unsigned>(own >= digit) + static_cast<unsigned>(own > digit);
      store(range.other + kRecordBytes<R> * cursors[side]++, record);
    }
    __builtin_memcpy(range.records + begin * kRecordBytes<R>, range.other + begin * kRecordBytes<R>,
                     static_cast<uint64_t>((end - begin) * kRecordBytes<R>));
    begin = first;
    end = last;
  }
  if (high > range.low) {
    Byte* const first = range.records + begin * kRecordBytes<R>;
    sort_few<R>(first, first, end - begin);
  }
}

#define TENURE_RECORD_KERNELS(R)        \
  {.count_ranges = count_ranges<R>,     \
   .scatter_ranges = scatter_ranges<R>, \
   .survey = survey<R>,                 \
   .count = count_digits<R>,            \
   .scatter = scatter_digits<R>,        \
   .sort = sort_records<R>,             \
   .select = select_record<R>}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
