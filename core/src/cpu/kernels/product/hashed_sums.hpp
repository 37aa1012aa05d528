// Rows of a product summed up in a table that is as large as the row needs, where a slot for every
// column would be far more: matrices with millions of columns and short rows.
//
// A table of twice the products, addressed by the high bits of a product with a constant (D. E.
// Knuth, The Art of Computer Programming, volume 3, section 6.4) and searched from there on.
#pragma once

#include "cpu/kernels/product/column_order.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Memory for rows of `most` products and fewer.
template <class I, class T>
struct HashedSums {
  T* sums;
  I* keys;   // -1: free
  I* list;   // columns as they were met, and room for a vector more
  I* other;  // as long
  unsigned shift;
  int64_t mask;

  static unsigned bits_for(int64_t most) {
    unsigned bits = 4;
    while (int64_t{1} << bits < 2 * most) ++bits;
    return bits;
  }
  static int64_t list_length(int64_t most) { return most + kPerVector<I>; }
  static int64_t bytes(int64_t most) {
    const int64_t entry_bytes = static_cast<int64_t>(sizeof(T) + sizeof(I));
    return (entry_bytes << bits_for(most)) +
           2 * list_length(most) * static_cast<int64_t>(sizeof(I));
  }

  HashedSums(Byte* memory, int64_t most)
      : sums(reinterpret_cast<T*>(memory)),
        keys(reinterpret_cast<I*>(sums + (int64_t{1} << bits_for(most)))),
        list(keys + (int64_t{1} << bits_for(most))),
        other(list + list_length(most)) {
    begin(most);
  }

  // Begins a row of `products` products in the front of the table, which is all free.
  void begin(int64_t products) {
    const unsigned bits = bits_for(products);
    shift = 64 - bits;
    mask = (int64_t{1} << bits) - 1;
  }

  // The slot of a column, or the free one that it belongs to.
  [[nodiscard]] int64_t find(I column) const {
    auto slot =
        static_cast<int64_t>((static_cast<uint64_t>(column) * 0x9e3779b97f4a7c15u) >> shift);
    while (keys[slot] != column && keys[slot] != -1) slot = (slot + 1) & mask;
    return slot;
  }

  // Frees the slots of a row's columns, in reverse order of insertion, so that no probe chain is
  // cut. For many columns clearing the whole table is faster.
  void free(int64_t count) {
    if (count > kListed) return clear();
    for (int64_t i = count - 1; i >= 0; --i) keys[find(list[i])] = -1;
  }
  void clear() {
    for (int64_t slot = 0; slot <= mask; ++slot) keys[slot] = -1;
  }
};

// Entries of a row of the product.
template <class I, class T>
int64_t count_hashed(const Patterns<I>& in, int64_t row, int64_t products,
                     HashedSums<I, T>& table) {
  table.begin(products);
  int64_t count = 0;
  in.for_each_row(row, [&](int64_t, const RowOfB<I>& entries) {
    for (int64_t i = 0; i < entries.count; ++i) {
      const I column = entries.columns[i];
      const int64_t slot = table.find(column);
      if (table.keys[slot] == column) continue;
      table.keys[slot] = column;
      table.list[count++] = column;
    }
  });
  table.free(count);
  return count;
}

// Writes a row; returns how many entries it has.
template <class I, class T>
int64_t fill_hashed(const Operands<I, T>& from, int64_t row, int64_t products, int64_t cols,
                    HashedSums<I, T>& table, I* columns, T* values) {
  table.begin(products);
  int64_t count = 0;
  from.for_each_row(row, [&](int64_t k, const RowOfB<I>& entries) {
    const T factor = from.a_values[k];
    const T* const factors = from.b_values + entries.begin;
    for (int64_t i = 0; i < entries.count; ++i) {
      const I column = entries.columns[i];
      const int64_t slot = table.find(column);
      if (table.keys[slot] != column) {
        table.keys[slot] = column;
        table.sums[slot] = T{0};
        table.list[count++] = column;
      }
      table.sums[slot] += factor * factors[i];
    }
  });
  const auto take = [&](I column) { return table.sums[table.find(column)]; };
  if (count <= kListed) {
    write_few(table.list, count, take, columns, values);
  } else {
    const I* const sorted = sort_by_bytes(table.list, table.other, count, cols);
    for (int64_t i = 0; i < count; ++i) {
      columns[i] = sorted[i];
      values[i] = take(sorted[i]);
    }
  }
  table.free(count);
  return count;
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
