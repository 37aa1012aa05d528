// Random numbers by their definition (docs/random.md), one at a time.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace tenure::test {

// A block of Philox4x32-10, as its authors define it.
inline std::array<std::uint32_t, 4> philox_block(std::array<std::uint32_t, 4> counter,
                                                 std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xd2511f53u} * counter[0];
    const std::uint64_t second = std::uint64_t{0xcd9e8d57u} * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(first)};
    key[0] += 0x9e3779b9u;
    key[1] += 0xbb67ae85u;
  }
  return counter;
}

inline std::array<std::uint32_t, 4> block_of(std::uint64_t seed, std::uint64_t block,
                                             std::uint32_t stream) {
  return philox_block(
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), stream, 0},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

// The random bits of a place, of elements of one word and of two.
inline std::uint32_t word_of_place(std::uint64_t seed, std::uint64_t place) {
  return block_of(seed, place / 4, 0)[place % 4];
}
inline std::uint64_t wide_word_of_place(std::uint64_t seed, std::uint64_t place) {
  const auto block = block_of(seed, place / 2, 1);
  const std::size_t first = place % 2 * 2;
  return block[first] | std::uint64_t{block[first + 1]} << 32;
}

inline long double normal_of(long double part, long double eighths, bool is_negated,
                             bool is_exchanged, bool is_second) {
  const long double radius = std::sqrt(-2 * std::log(part));
  const long double turn = 3.14159265358979323846264338327950288L / 4 * eighths;
  long double first = std::cos(turn);
  long double second = std::sin(turn);
  if (is_negated) first = -first;
  if (is_exchanged) std::swap(first, second);
  return radius * (is_second ? second : first);
}

// With mean 0 and deviation 1.
inline long double normal_of_place(std::uint64_t seed, std::uint64_t place) {
  const auto block = block_of(seed, place / 4, 0);
  const std::uint32_t radius = block[place % 4 / 2 * 2];
  const std::uint32_t angle = block[place % 4 / 2 * 2 + 1];
  const float middle = static_cast<float>(radius >> 1) + 0.5f;
  return normal_of(static_cast<long double>(middle) * 0x1p-31L,
                   static_cast<long double>(static_cast<std::int32_t>(angle << 2)) * 0x1p-31L,
                   angle >> 31 != 0, (angle >> 30 & 1) != 0, place % 2 != 0);
}
inline long double wide_normal_of_place(std::uint64_t seed, std::uint64_t place) {
  const std::uint64_t radius = wide_word_of_place(seed, place / 2 * 2);
  const std::uint64_t angle = wide_word_of_place(seed, place / 2 * 2 + 1);
  return normal_of((static_cast<long double>(radius >> 12) + 0.5L) * 0x1p-52L,
                   static_cast<long double>(angle << 2 >> 12) * 0x1p-51L - 1, angle >> 63 != 0,
                   (angle >> 62 & 1) != 0, place % 2 != 0);
}

}  // namespace tenure::test
