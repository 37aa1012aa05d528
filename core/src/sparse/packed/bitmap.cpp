// Bits of rows, found through a byte for each element.
#include "sparse/packed/bitmap.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/compress.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/tables.hpp"

namespace tenure {
namespace {

using kernels::Byte;

std::int64_t row_words(const PackedSource& source) noexcept {
  return source.matrix.cols / kernels::kWordBits + (source.matrix.cols % kernels::kWordBits != 0);
}

constexpr std::int64_t kMarkedColumns = 16'384;

// Sets the bits of a row's columns, which rise: no more than there are values. Each column first
// marks a byte, and a register of bytes at a time becomes bits: bits that are set one after the
// other wait for each other, where they share a word.
template <class I>
void mark_columns(const PackedSource& source, std::int64_t row, std::uint64_t* words) noexcept {
  const kernels::Predicate is_marked = {kernels::Predicate::Kind::kMasked, 0xff, 0, 0, 0, 0};
  const auto to_bits =
      kernels::compression_kernels().predicate_mask[static_cast<unsigned>(is_marked.kind)][0];
  alignas(kLineBytes) Byte marks[kMarkedColumns];
  const Byte* index =
      source.matrix.indices + (source.first_entry + source.entry(row)) * source.index_bytes();
  const Byte* const end =
      source.matrix.indices + (source.first_entry + source.entry(row + 1)) * source.index_bytes();
  for (std::int64_t first = 0; first < source.matrix.cols; first += kMarkedColumns) {
    const std::int64_t count = std::min(kMarkedColumns, source.matrix.cols - first);
    std::memset(marks, 0, static_cast<std::size_t>(count));
    for (; index != end; index += sizeof(I)) {
      I column;
      std::memcpy(&column, index, sizeof column);
      // Where flags wrongly say that columns rise, one may be below `first` too: its bit is not
      // set.
      const auto at = static_cast<std::uint64_t>(column - first);
      if (at >= static_cast<std::uint64_t>(count)) break;
      marks[at] = 1;
    }
    to_bits({count, marks, words + first / kernels::kWordBits, 0, 0, 1, nullptr}, is_marked);
  }
}

}  // namespace

std::int64_t bitmap_bytes(const PackedSource& source) noexcept {
  std::int64_t words;
  std::int64_t bytes;
  if (__builtin_mul_overflow(row_words(source), source.matrix.rows, &words) ||
      __builtin_mul_overflow(words, 8, &bytes) ||
      __builtin_add_overflow(
          bytes, (source.matrix.rows + 1) * 8 + source.entry_count * source.value_bytes, &bytes)) {
    return INT64_MAX;
  }
  return bytes;
}

void pack_bitmap(const Context& context, const PackedSource& source, PackedMatrix& packed) {
  const std::int64_t width = row_words(source);
  const auto mark = source.matrix.index_type == kernels::IndexType::kI32
                        ? mark_columns<std::int32_t>
                        : mark_columns<std::int64_t>;
  PackedArrays arrays(context, packed, bitmap_bytes(source), 3);
  auto* const offsets = arrays.take<std::int64_t>(source.matrix.rows + 1, 8);
  auto* const words = arrays.take<std::uint64_t>(source.matrix.rows * width, 8);
  auto* const values = arrays.take<Byte>(source.entry_count, source.value_bytes);
  for_each_strip(context, source, [&](std::int64_t strip) {
    const std::int64_t first_row = source.strip_row(strip);
    const std::int64_t end_row = source.strip_row(strip + 1);
    for (std::int64_t row = first_row; row < end_row; ++row) {
      offsets[row] = source.entry(row);
      mark(source, row, words + row * width);
    }
    const std::int64_t begin = source.entry(first_row);
    const std::int64_t end = source.entry(end_row);
    if (begin == end) return;  // values may have no memory
    std::memcpy(values + begin * source.value_bytes, source.value(begin),
                static_cast<std::size_t>((end - begin) * source.value_bytes));
  });
  offsets[source.matrix.rows] = source.entry_count;
  packed.bitmap = {source.matrix.rows, source.matrix.cols, offsets, words, values};
}

}  // namespace tenure
