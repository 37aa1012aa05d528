// Row-wise access to the operands of sparse products.
#pragma once

#include "cpu/kernels/number.hpp"
#include "cpu/kernels/vectors.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// The largest number of products of a row that is listed: its columns are put at their ranks, which
// takes comparisons in the square of their number. 128 are 1024 comparisons of 16 columns each,
// about as much as the products themselves.
constexpr int64_t kListed = 128;

template <class T>
struct BitsOf;
template <>
struct BitsOf<float> {
  using type = uint32_t;
};
template <>
struct BitsOf<double> {
  using type = uint64_t;
};
template <class T>
constexpr typename BitsOf<T>::type kEmptyBits = typename BitsOf<T>::type{1} << (sizeof(T) * 8 - 1);

// A slot that nothing was added to holds -0: adding a number to it gives that number, and no sum
// of products is -0, since each product has 0 added to it.
template <class T>
constexpr T kEmpty = -T{0};
template <class T>
inline bool is_empty(T sum) {
  return bit_copy<typename BitsOf<T>::type>(sum) == kEmptyBits<T>;
}
template <class T>
inline T product_of(T a, T b) {
  return a * b + T{0};
}

template <class I>
struct Pattern {
  const I* offsets;
  const I* columns;

  explicit Pattern(const Compressed& matrix)
      : offsets(reinterpret_cast<const I*>(matrix.offsets)),
        columns(reinterpret_cast<const I*>(matrix.indices)) {}
};

// A row of b: `count` entries from `begin` on.
template <class I>
struct RowOfB {
  int64_t begin;
  int64_t count;
  const I* columns;

  RowOfB(const Pattern<I>& b, int64_t row)
      : begin(b.offsets[row]), count(b.offsets[row + 1] - begin), columns(b.columns + begin) {}

  // Whether the columns of a coalesced row with entries are consecutive.
  [[nodiscard]] bool is_run() const {
    return int64_t{columns[count - 1]} - columns[0] == count - 1;
  }
};

template <class I>
struct Patterns {
  Pattern<I> a;
  Pattern<I> b;
  bool b_is_coalesced;

  explicit Patterns(const SparseProduct& product)
      : a(product.a), b(product.b), b_is_coalesced(product.b_is_coalesced) {}

  // Calls body(entry of a, its row of b) for the entries of a row of a; not for empty rows of b.
  template <class Body>
  void for_each_row(int64_t row, const Body& body) const {
    const int64_t end = a.offsets[row + 1];
    for (int64_t k = a.offsets[row]; k < end; ++k) {
      const RowOfB<I> entries(b, a.columns[k]);
      if (entries.count != 0) body(k, entries);
    }
  }
};
template <class I, class T>
struct Operands {
  // Entries of `a` between one that is used and one whose row of b is fetched from memory; and as
  // many more to one whose row is looked up.
  static constexpr int64_t kFetched = 8;

  Patterns<I> in;
  const T* a_values;
  const T* b_values;
  int64_t a_end;

  explicit Operands(const SparseProduct& product)
      : in(product),
        a_values(reinterpret_cast<const T*>(product.a.values)),
        b_values(reinterpret_cast<const T*>(product.b.values)),
        a_end(in.a.offsets[product.a.rows]) {}

  // Calls body() as Patterns::for_each_row() does, and prefetches rows of b for later entries: they
  // are all over the memory.
  template <class Body>
  void for_each_row(int64_t row, const Body& body) const {
    const int64_t end = in.a.offsets[row + 1];
    for (int64_t k = in.a.offsets[row]; k < end; ++k) {
      if (k + 2 * kFetched < a_end) [[likely]] {
        __builtin_prefetch(in.b.offsets + in.a.columns[k + 2 * kFetched]);
        const int64_t begin = in.b.offsets[in.a.columns[k + kFetched]];
        __builtin_prefetch(in.b.columns + begin);
        __builtin_prefetch(b_values + begin);
      }
      const RowOfB<I> entries(in.b, in.a.columns[k]);
      if (entries.count != 0) body(k, entries);
    }
  }
};

// Products of a row, or some number above `limit`.
template <class I>
int64_t product_count(const Patterns<I>& in, int64_t row, int64_t limit) {
  int64_t count = 0;
  const int64_t end = in.a.offsets[row + 1];
  for (int64_t k = in.a.offsets[row]; k < end && count <= limit; ++k) {
    const I column = in.a.columns[k];
    count += in.b.offsets[column + 1] - in.b.offsets[column];
  }
  return count;
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
