// Blocks of a dense matrix: which of them have an entry, and their elements.
#include "cpu/compress.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

inline bool is_power_of_two(int64_t number) { return (number & (number - 1)) == 0; }

// Folds the bits of each block into its first, which becomes the OR of all; no block crosses a
// word.
int64_t fold_words(uint64_t* bits, int64_t words, int64_t columns) {
  // The first bit of each block: all ones, divided by 2^columns - 1.
  const uint64_t firsts = ~uint64_t{0} / ((uint64_t{1} << columns) - 1);
  int64_t found = 0;
  for (int64_t i = 0; i < words; ++i) {
    uint64_t word = bits[i];
    for (int64_t shift = 1; shift < columns; shift *= 2) word |= word >> shift;
    bits[i] = word & firsts;
    found += __builtin_popcountll(bits[i]);
  }
  return found;
}

// Bits [first, first + count) of the array; `count` is at most 64.
inline uint64_t bits_at(const uint64_t* bits, int64_t first, int64_t count) {
  const int64_t word = first / 64;
  const int64_t place = first % 64;
  uint64_t found = bits[word] >> place;
  if (place + count > 64) found |= bits[word + 1] << (64 - place);
  return found & ~(~uint64_t{1} << (count - 1));
}

int64_t fold(uint64_t* bits, int64_t words, int64_t column_count, int64_t columns) {
  if (is_power_of_two(columns)) return fold_words(bits, words, columns);
  int64_t found = 0;
  for (int64_t first = 0; first < column_count; first += columns) {
    const bool is_there = bits_at(bits, first, columns) != 0;
    for (int64_t i = first; i < first + columns; ++i) bits[i / 64] &= ~(uint64_t{1} << i % 64);
    bits[first / 64] |= static_cast<uint64_t>(is_there) << first % 64;
    found += is_there;
  }
  return found;
}

// Copies the lines of a block to adjacent memory: lines of a size that the compiler knows, or of
// any.
template <int64_t kBytes>
inline void gather_lines(Byte* out, const Byte* in, int64_t in_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) __builtin_memcpy(out + i * kBytes, in + i * in_step, kBytes);
}
inline void gather_block(Byte* out, const Byte* in, int64_t in_step, int64_t count, int64_t bytes) {
  switch (bytes) {
    case 4: return gather_lines<4>(out, in, in_step, count);
    case 8: return gather_lines<8>(out, in, in_step, count);
    case 16: return gather_lines<16>(out, in, in_step, count);
    case 32: return gather_lines<32>(out, in, in_step, count);
    case 64: return gather_lines<64>(out, in, in_step, count);
    default:
      for (int64_t i = 0; i < count; ++i) {
        __builtin_memcpy(out + i * bytes, in + i * in_step, static_cast<uint64_t>(bytes));
      }
  }
}

template <class I>
int64_t take(BlockRow& row, int64_t most, Byte* values, Byte* columns) {
  const Blocks blocks = row.blocks;
  const int64_t line_bytes = blocks.columns * blocks.width_bytes;
  const int64_t block_bytes = blocks.rows * line_bytes;
  const auto lines_a_word = static_cast<unsigned>(blocks.rows * blocks.width_bytes);
  const int64_t row_step = row.row_step;
  const Byte* const in = row.in;
  const uint64_t* const bits = row.bits;
  const int64_t words = row.words;
  const bool has_shift = is_power_of_two(blocks.columns);
  const int shift = __builtin_ctzll(static_cast<uint64_t>(blocks.columns));
  PrefetchCursor ahead = *row.ahead;
  int64_t word = row.word;
  uint64_t left = row.left;
  int64_t taken = 0;
  while (taken < most) {
    if (left == 0) {
      if (++word >= words) break;
      left = bits[word];
      ahead.fetch(lines_a_word);
      continue;
    }
    const int64_t column = word * 64 + __builtin_ctzll(left);
    left &= left - 1;
    const auto block = static_cast<I>(has_shift ? column >> shift : column / blocks.columns);
    __builtin_memcpy(columns + taken * static_cast<int64_t>(sizeof(I)), &block, sizeof block);
    gather_block(values + taken * block_bytes, in + column * blocks.width_bytes, row_step,
                 blocks.rows, line_bytes);
    ++taken;
  }
  *row.ahead = ahead;
  row.word = word;
  row.left = left;
  return taken;
}

}  // namespace

const BlockTaking kBlockTaking = {fold, {take<int32_t>, take<int64_t>}};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
