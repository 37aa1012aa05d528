// Columns of a row of a product, listed as they were met, in their order.
#pragma once

#include "cpu/kernels/product/product_rows.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Writes the columns of a list in order, and the result of take(column) for each. The list has
// kListed columns at most, and room for a vector more. Each column is put at its rank, the number
// of smaller ones: branch-free comparisons.
template <class I, class T, class Take>
void write_few(I* list, int64_t count, const Take& take, I* columns, T* values) {
  I ranks[kListed];
  store(reinterpret_cast<Byte*>(list + count), Vector<I>{});
  for (int64_t first = 0; first < count; first += kPerVector<I>) {
    const Vector<I> own = load<Vector<I>>(reinterpret_cast<const Byte*>(list + first));
    Vector<I> rank = {};
    for (int64_t i = 0; i < count; ++i) rank -= broadcast(list[i]) < own;
    store(reinterpret_cast<Byte*>(ranks + first), rank);
  }
  for (int64_t i = 0; i < count; ++i) {
    columns[ranks[i]] = list[i];
    values[ranks[i]] = take(list[i]);
  }
}

// Sorts a list by bytes, the lowest first, with a second list of the same length. Returns the one
// of the two that holds the result.
template <class I>
I* sort_by_bytes(I* list, I* other, int64_t count, int64_t cols) {
  for (unsigned shift = 0; shift < 64 && (cols - 1) >> shift != 0; shift += 8) {
    const auto digit = [shift](I column) { return (column >> shift) & 0xff; };
    int64_t cursors[257] = {};
    for (int64_t i = 0; i < count; ++i) ++cursors[digit(list[i]) + 1];
    for (int i = 1; i < 256; ++i) cursors[i + 1] += cursors[i];
    for (int64_t i = 0; i < count; ++i) other[cursors[digit(list[i])]++] = list[i];
    I* const sorted = other;
    other = list;
    list = sorted;
  }
  return list;
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
