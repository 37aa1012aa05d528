// A stable sort of the entries of a bucket, digit by digit from the lowest: where all of it is in
// the second cache that costs less than one more pass over memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "cpu/group_by_key.hpp"
#include "memory/traffic.hpp"

namespace tenure {

// Sorts the packed entries of a bucket and their values by the packed numbers
// (cpu/group_by_key.hpp).
class DigitSort {
 public:
  struct Entries {
    kernels::Byte* packed;
    kernels::Byte* values;
  };

  // Sorts by the lowest `bits` bits; those above are the same in all entries.
  DigitSort(unsigned bits, kernels::PackedType packed_type, std::int64_t packed_bytes,
            std::int64_t value_bytes) noexcept
      : bits_(bits),
        packed_type_(packed_type),
        packed_bytes_(packed_bytes),
        value_bytes_(value_bytes) {}

  // Bytes of scratch for `count` entries: two buffers that they go to in turns.
  [[nodiscard]] std::int64_t scratch_bytes(std::int64_t count) const noexcept {
    return 2 * (whole_lines(count * packed_bytes_) + whole_lines(count * value_bytes_));
  }

  // portions(body) calls body(count, packed, values) for all portions of the entries, in order;
  // there are `count` entries in all. The result is in the scratch.
  template <class Portions>
  Entries run(std::int64_t count, const Portions& portions, kernels::Byte* scratch) const noexcept {
    if (packed_type_ == kernels::PackedType::k32) {
      return value_bytes_ == 4 ? sort_pairs(count, portions, scratch)
                               : sort<std::uint32_t>(count, portions, scratch);
    }
    return sort<std::uint64_t>(count, portions, scratch);
  }

 private:
  // Bits of a digit at most: the cursors of a long one have a quarter of a first cache of 32 KiB,
  // but few entries are faster than all of them. Measured for 19 bits of 6.7 M entries, f32, in
  // buckets of 512 KiB: 3.2 ns for an entry in two passes of pairs, reads from memory included; a
  // pass of 13 bits and a counting sort by the others, packed numbers and values apart, took 4.8.
  static constexpr unsigned kLongDigit = 10;
  static constexpr unsigned kShortDigit = 8;
  static constexpr std::int64_t kManyEntries = std::int64_t{1} << 13;
  static constexpr unsigned kMostDigits = 64 / kShortDigit;

  using Cursors = std::array<std::int64_t, std::size_t{1} << kLongDigit>;

  struct Digits {
    unsigned bits;  // of a digit
    unsigned count;

    template <class P>
    [[nodiscard]] std::size_t of(P packed, unsigned digit) const noexcept {
      return static_cast<std::size_t>(packed >> digit * bits & ((P{1} << bits) - 1));
    }
  };

  [[nodiscard]] Digits digits_for(std::int64_t count) const noexcept {
    const unsigned most = count >= kManyEntries ? kLongDigit : kShortDigit;
    const unsigned digits = std::max(1u, (bits_ + most - 1) / most);
    return {(bits_ + digits - 1) / digits, digits};
  }

  // First entry of each digit's values: a histogram's prefix sums.
  template <class P, class Portions>
  static void count(const Digits& digits, const Portions& portions, Cursors* cursors) noexcept {
    for (unsigned digit = 0; digit < digits.count; ++digit) {
      std::fill_n(cursors[digit].begin(), std::size_t{1} << digits.bits, 0);
    }
    portions([&](std::int64_t n, const kernels::Byte* packed, const kernels::Byte*) {
      for (unsigned digit = 0; digit < digits.count; ++digit) {
        for (std::int64_t k = 0; k < n; ++k) ++cursors[digit][digits.of(load<P>(packed, k), digit)];
      }
    });
    for (unsigned digit = 0; digit < digits.count; ++digit) {
      std::int64_t next = 0;
      for (std::size_t i = 0; i < std::size_t{1} << digits.bits; ++i) {
        next += std::exchange(cursors[digit][i], next);
      }
    }
  }

  template <class P, class Portions>
  Entries sort(std::int64_t count_of_all, const Portions& portions,
               kernels::Byte* scratch) const noexcept {
    const Digits digits = digits_for(count_of_all);
    Cursors cursors[kMostDigits];
    count<P>(digits, portions, cursors);
    Entries to = half(count_of_all, scratch, 0);
    Entries other = half(count_of_all, scratch, 1);
    portions([&](std::int64_t n, const kernels::Byte* packed, const kernels::Byte* values) {
      move<P>(n, packed, values, digits, 0, cursors[0], to);
    });
    for (unsigned digit = 1; digit < digits.count; ++digit) {
      move<P>(count_of_all, to.packed, to.values, digits, digit, cursors[digit], other);
      std::swap(to, other);
    }
    return to;
  }

  // sort() for entries that move as one element, packed number and value: half the stores, and half
  // the lines that these go to, which the first cache holds.
  template <class Portions>
  Entries sort_pairs(std::int64_t count_of_all, const Portions& portions,
                     kernels::Byte* scratch) const noexcept {
    const Digits digits = digits_for(count_of_all);
    Cursors cursors[kMostDigits];
    count<std::uint32_t>(digits, portions, cursors);
    Entries to = half(count_of_all, scratch, 0);
    Entries other = half(count_of_all, scratch, 1);
    portions([&](std::int64_t n, const kernels::Byte* packed, const kernels::Byte* values) {
      auto* const out = reinterpret_cast<std::uint64_t*>(to.packed);
      for (std::int64_t k = 0; k < n; ++k) {
        const auto entry = load<std::uint32_t>(packed, k);
        out[cursors[0][digits.of(entry, 0)]++] =
            entry | std::uint64_t{load<std::uint32_t>(values, k)} << 32;
      }
    });
    for (unsigned digit = 1; digit < digits.count; ++digit) {
      const auto* const from = reinterpret_cast<const std::uint64_t*>(to.packed);
      auto* const out = reinterpret_cast<std::uint64_t*>(other.packed);
      for (std::int64_t k = 0; k < count_of_all; ++k) {
        const auto packed = static_cast<std::uint32_t>(from[k]);
        out[cursors[digit][digits.of(packed, digit)]++] = from[k];
      }
      std::swap(to, other);
    }
    const auto* const from = reinterpret_cast<const std::uint64_t*>(to.packed);
    auto* const packed = reinterpret_cast<std::uint32_t*>(other.packed);
    auto* const values = reinterpret_cast<std::uint32_t*>(other.values);
    for (std::int64_t k = 0; k < count_of_all; ++k) {
      packed[k] = static_cast<std::uint32_t>(from[k]);
      values[k] = static_cast<std::uint32_t>(from[k] >> 32);
    }
    return other;
  }

  [[nodiscard]] Entries half(std::int64_t count_of_all, kernels::Byte* scratch,
                             int which) const noexcept {
    kernels::Byte* const packed = scratch + which * (scratch_bytes(count_of_all) / 2);
    return {packed, packed + whole_lines(count_of_all * packed_bytes_)};
  }

  template <class P>
  void move(std::int64_t count, const kernels::Byte* packed, const kernels::Byte* values,
            const Digits& digits, unsigned digit, Cursors& cursors,
            const Entries& to) const noexcept {
    switch (value_bytes_) {
      case 1: return move_wide<P, 1>(count, packed, values, digits, digit, cursors, to);
      case 2: return move_wide<P, 2>(count, packed, values, digits, digit, cursors, to);
      case 4: return move_wide<P, 4>(count, packed, values, digits, digit, cursors, to);
      case 8: return move_wide<P, 8>(count, packed, values, digits, digit, cursors, to);
      default: move_wide<P, 16>(count, packed, values, digits, digit, cursors, to);
    }
  }

  template <class P, std::size_t kBytes>
  static void move_wide(std::int64_t count, const kernels::Byte* packed,
                        const kernels::Byte* values, Digits digits, unsigned digit,
                        Cursors& cursors, Entries to) noexcept {
    constexpr auto kWidth = static_cast<std::int64_t>(kBytes);
    for (std::int64_t k = 0; k < count; ++k) {
      const P entry = load<P>(packed, k);
      const std::int64_t at = cursors[digits.of(entry, digit)]++;
      std::memcpy(to.packed + at * static_cast<std::int64_t>(sizeof(P)), &entry, sizeof entry);
      std::memcpy(to.values + at * kWidth, values + k * kWidth, kBytes);
    }
  }

  template <class P>
  static P load(const kernels::Byte* packed, std::int64_t k) noexcept {
    P entry;
    std::memcpy(&entry, packed + k * static_cast<std::int64_t>(sizeof entry), sizeof entry);
    return entry;
  }

  unsigned bits_;
  kernels::PackedType packed_type_;
  std::int64_t packed_bytes_;
  std::int64_t value_bytes_;
};

}  // namespace tenure
