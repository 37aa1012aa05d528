// The loops of products of floats T, read as In, in f64: `columns` exponents, and as many products.
//
// Powers of two leave the products before they can leave the range of f64, and their exponents are
// added. So a product of finite numbers is 0 only where an element is, and only the final result
// overflows or underflows. Each multiplication is rounded once whatever the order, so that there is
// no tree: the error grows with the count.
#pragma once

#include "cpu/kernels/reduce/across.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr int64_t kProductBytes = 16;

// Numbers, or vectors of them, that give their powers of two away: those that were normal are
// between 1/2 and 8 then, those that were subnormal at least 2^-51. 0, infinities and NaN stay, and
// have any exponent.
template <class X, class Exponent>
inline void split_exponent(X& x, Exponent& exponent) {
  constexpr uint64_t kField = uint64_t{0x7ff} << 52;
  constexpr uint64_t kGreatest = uint64_t{0x7fe} << 52;
  // By these bits no power of two is 0 or infinite, not even that of 0 or an infinity.
  constexpr uint64_t kTaken = uint64_t{0x7fc} << 52;
  constexpr uint64_t kAdded = uint64_t{0x002} << 52;
  const auto power = ((kGreatest - (bit_copy<Exponent>(x) & kField)) & kTaken) | kAdded;
  x *= bit_copy<X>(power);
  exponent += 1023 - (power >> 52);
}

// Rows that are multiplied together, or half as many.
constexpr int64_t kFactorRows = 8;

// Bits above a window of exponents, of products whose bits are reduced by kLeast.
constexpr uint64_t kLeast = uint64_t{1023 - 128} << 52;
constexpr uint64_t kBeyond = uint64_t{0x700} << 52;
inline Vector<uint64_t> above_least(const Vector<double>& products) {
  return bit_copy<Vector<uint64_t>>(products) - kLeast;
}

// The product of two rows. The product of two f16 is exact in f32.
template <class T, class In>
inline Vector<double> pair_of_rows(const Byte* in, int64_t row_step) {
  if constexpr (kSame<T, F16>) {
    typedef float Narrow __attribute__((vector_size(kVectorBytes / 2)));
    return Loading<double, float>::widen(load<Narrow>(in) * load<Narrow>(in + row_step));
  } else {
    return Loading<double, In>::load(in) * Loading<double, In>::load(in + row_step);
  }
}

// The product of kRows rows.
struct RowProduct {
  Vector<double> product;
  Vector<uint64_t> window;  // has bits of kBeyond if a product might have left the range
};
// No product leaves the range if those of two f64, or of four f32, are in the window. Products of
// eight f16 never do.
template <class T, class In, int64_t kRows>
inline RowProduct row_product(const Byte* in, int64_t row_step) {
  RowProduct factor;
  factor.window = Vector<uint64_t>{};
  Vector<double> fours[kRows / 4];
#pragma GCC unroll 2
  for (int64_t half = 0; half < kRows / 4; ++half) {
    Vector<double> pairs[2];
#pragma GCC unroll 2
    for (int64_t i = 0; i < 2; ++i) {
      pairs[i] = pair_of_rows<T, In>(in + (half * 4 + i * 2) * row_step, row_step);
      if constexpr (kSame<T, double>) factor.window |= above_least(pairs[i]);
    }
    fours[half] = pairs[0] * pairs[1];
    if constexpr (kSame<In, float> && !kSame<T, F16>) factor.window |= above_least(fours[half]);
  }
  factor.product = kRows == 8 ? fours[0] * fours[kRows / 4 - 1] : fours[0];
  return factor;
}

// Multiplies by one row after the other.
template <class In>
inline void multiply_each(const Byte* in, int64_t row_step, int64_t rows, Vector<double>& product,
                          Vector<uint64_t>& exponent) {
#pragma GCC unroll 1
  for (int64_t row = 0; row < rows; ++row) {
    auto x = Loading<double, In>::load(in + row * row_step);
    split_exponent(x, exponent);
    product *= x;
  }
  split_exponent(product, exponent);
}

// The product of any numbers, in the order of row_product().
template <class In>
inline Vector<double> split_product(const Byte* in, int64_t row_step, int64_t rows,
                                    Vector<uint64_t>& exponent) {
  Vector<double> met = broadcast(1.0);
#pragma GCC unroll 1
  for (int64_t row = 0; row < rows; row += 4) {
    Vector<double> x[4];
#pragma GCC unroll 1
    for (int64_t i = 0; i < 4; ++i) {
      x[i] = Loading<double, In>::load(in + (row + i) * row_step);
      if constexpr (kSame<In, double>) split_exponent(x[i], exponent);
    }
    auto four = (x[0] * x[1]) * (x[2] * x[3]);
    if constexpr (kSame<In, float>) split_exponent(four, exponent);  // f64 has room for four f32
    met *= four;
  }
  return met;
}

// Multiplies products or factors that are not in the window. The exponents are in memory.
template <class In>
[[gnu::noinline]] void multiply_far(const Byte* in, int64_t row_step, int64_t rows,
                                    RowProduct& factor, Vector<double>& product, Byte* exponents) {
  auto exponent = load<Vector<uint64_t>>(exponents);
  split_exponent(product, exponent);
  const Vector<uint64_t> beyond = factor.window & kBeyond;
  if (is_any<uint64_t>(beyond)) {
    product *= split_product<In>(in, row_step, rows, exponent);
    split_exponent(product, exponent);
  } else {
    product *= factor.product;
  }
  store(exponents, exponent);
}

// Multiplies by a vector of each of kRows rows.
template <class T, class In, int64_t kRows>
inline void multiply_rows(const Byte* in, int64_t row_step, Vector<double>& product,
                          Byte* exponents) {
  const RowProduct factor = row_product<T, In, kRows>(in, row_step);
  const Vector<uint64_t> beyond = (factor.window | above_least(product)) & kBeyond;
  if (is_any<uint64_t>(beyond)) [[unlikely]] {
    RowProduct far = factor;  // references would keep those in memory
    Vector<double> any = product;
    multiply_far<In>(in, row_step, kRows, far, any, exponents);
    product = any;
  } else {
    product *= factor.product;
  }
}

// ---- along ----

// Lanes that read a line of f64 after the other.
constexpr int64_t kLineLanes = 8;

template <class T, class In>
void product_along(const Reduction& reduction, const Tile& tile) {
  constexpr int kParts = Lanes<double>::kParts;
  constexpr int64_t kCount = Lanes<double>::kCount;
  constexpr int64_t kTogether = kFactorRows * kCount;
  static_assert(kFetchedBytes % (kTogether * kStep<double>) == 0, "panels must not cut rows");
  auto products = every_lane<double>(1);
  Lanes<uint64_t> exponents;
#pragma GCC unroll 8  // compilers clear memory by an instruction that is slow to start
  for (Vector<uint64_t>& part : exponents.parts) part = Vector<uint64_t>{};
  const auto multiply = [&]<int64_t kRows>(const Byte* in) {
#pragma GCC unroll 8
    for (int part = 0; part < kParts; ++part) {
      const int64_t lane = part * kPerVector<double>;
      const int64_t first = lane / kLineLanes * kRows * kLineLanes + lane % kLineLanes;
      multiply_rows<T, In, kRows>(in + first * kStep<In>, kLineLanes * kStep<In>,
                                  products.parts[part],
                                  reinterpret_cast<Byte*>(&exponents.parts[part]));
    }
  };
  for_each_run(reduction, tile, tile.rows, [&](const Byte* in, int64_t, int64_t count) {
#pragma GCC unroll 1
    for (; count >= kTogether; count -= kTogether) {
      multiply.template operator()<kFactorRows>(in);
      in += kTogether * kStep<In>;
    }
#pragma GCC unroll 1
    for (; count > 0; count -= kTogether / 2) {
      In some[kTogether / 2];
      if (count < kTogether / 2) {
        for (In& x : some) x = 1;
        __builtin_memcpy(some, in, static_cast<uint64_t>(count) * sizeof(In));
      }
      multiply.template operator()<kFactorRows / 2>(
          count < kTogether / 2 ? reinterpret_cast<const Byte*>(some) : in);
      in += kTogether / 2 * kStep<In>;
    }
    return true;
  });
  for (int part = 0; part < kParts; ++part) {
    split_exponent(products.parts[part], exponents.parts[part]);
  }
  auto product = fold_lanes<Product<double>>(products);
  auto exponent = fold_lanes<Sum<uint64_t>>(exponents);
  split_exponent(product, exponent);
  store(tile.accumulators, exponent);
  store(tile.accumulators + 8, product);
}

// ---- across ----

// Multiplies by `rows` rows, at most kFactorRows.
template <class T, class In>
inline void multiply_some_rows(const Byte* in, int64_t row_step, int64_t rows, Byte* products,
                               Byte* exponents) {
  auto product = load<Vector<double>>(products);
  int64_t left = rows;
  if (left == kFactorRows) {
    multiply_rows<T, In, kFactorRows>(in, row_step, product, exponents);
    left = 0;
  } else if (left >= kFactorRows / 2) {
    multiply_rows<T, In, kFactorRows / 2>(in, row_step, product, exponents);
    left -= kFactorRows / 2;
  }
  if (left != 0) [[unlikely]] {
    auto exponent = load<Vector<uint64_t>>(exponents);
    multiply_each<In>(in + (rows - left) * row_step, row_step, left, product, exponent);
    store(exponents, exponent);
  }
  store(products, product);
}

// The products are the sweep's terms.
template <class T, class In>
void spread_products(const Reduction&, const Sweep& sweep) {
  const int64_t columns = sweep.columns;
  const int64_t row_step = sweep.row_step;
  const int64_t ahead = sweep.rows_ahead == 0 ? 0 : sweep.rows * row_step;
#pragma GCC unroll 1
  for (int64_t row = 0; row < sweep.rows; row += kFactorRows) {
    const int64_t rows = lower(kFactorRows, sweep.rows - row);
    const Byte* in = sweep.in + row * row_step;
#pragma GCC unroll 1
    for (int64_t column = 0; column < columns; column += kPerVector<double>) {
      if (ahead != 0 && column * kStep<In> % 64 == 0) {
        for (int64_t i = 0; i < rows; ++i) __builtin_prefetch(in + ahead + i * row_step, 0, 2);
      }
      multiply_some_rows<T, In>(in, row_step, rows, sweep.terms + column * 8,
                                sweep.accumulators + column * 8);
      in += kPerVector<double> * kStep<In>;
    }
  }
}

template <class T, class In>
void product_across(const Reduction& reduction, const Tile& tile) {
  const int64_t end = tile.columns * 8;
  Byte* const exponents = tile.accumulators;
  Byte* const products = exponents + end;
  const Widths widths = {.in = kStep<In>, .center = 0, .place = 8, .accumulator = 8};
  __builtin_memset(exponents, 0, static_cast<uint64_t>(end));
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < end; i += 8) store(products + i, 1.0);
  Reduction of_rows = reduction;
  of_rows.meet = Meet::kApart;  // rows are not added in halves
  of_rows.spread = spread_products<T, In>;
  Sweep like = {};
  like.terms = products;
  like.accumulators = exponents;
  sweep_rows(of_rows, tile, widths, like);
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < end; i += 8) {
    auto product = load<double>(products + i);
    auto exponent = load<uint64_t>(exponents + i);
    split_exponent(product, exponent);
    store(products + i, product);
    store(exponents + i, exponent);
  }
}

inline void merge_products(const Reduction&, const Merge& merge) {
  const int64_t end = merge.columns * 8;
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < end; i += 8) {
    double product = load<double>(merge.into + end + i) * load<double>(merge.from + end + i);
    uint64_t exponent = load<uint64_t>(merge.into + i) + load<uint64_t>(merge.from + i);
    split_exponent(product, exponent);
    store(merge.into + i, exponent);
    store(merge.into + end + i, product);
  }
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
