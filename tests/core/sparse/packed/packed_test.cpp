// Packed matrices: compares each layout with one sum after the other, and tests how one is chosen.
#include "tenure/packed.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "context_options.hpp"
#include "expect_error.hpp"
#include "product_patterns.hpp"
#include "sparse/index_array.hpp"
#include "sparse_arrays.hpp"
#include "tenure/context.hpp"
#include "tenure/ops.hpp"
#include "tenure/sparse.hpp"

namespace tenure::test {
namespace {

constexpr tnr_packed_layout kLayouts[] = {TNR_PACKED_LAYOUT_AUTO, TNR_PACKED_LAYOUT_WIDE,
                                          TNR_PACKED_LAYOUT_NARROW, TNR_PACKED_LAYOUT_BITMAP};

class Packed {
 public:
  Packed(const tnr_sparse_view& a, tnr_packed_layout layout,
         const Context& context = kDefaultContext)
      : token_(packed_create(context, a, layout)) {}
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;
  ~Packed() { packed_release(token_); }

  PackedToken token() const { return token_; }
  tnr_packed_info info() const { return packed_describe(token_); }

 private:
  PackedToken token_;
};

// Each position once, rows after each other, columns rising.
Pattern coalesced(Pattern pattern) {
  auto& positions = pattern.positions;
  const auto key = [](const Position& p) { return std::pair(p.row, p.col); };
  std::sort(positions.begin(), positions.end(),
            [&](const Position& a, const Position& b) { return key(a) < key(b); });
  positions.erase(
      std::unique(positions.begin(), positions.end(),
                  [&](const Position& a, const Position& b) { return key(a) == key(b); }),
      positions.end());
  return pattern;
}

// Entries near each other in some rows, and all over in others; columns around each multiple of
// 2^16.
Pattern wide_pattern(std::int64_t cols, Random& random) {
  Pattern pattern{"wide", 200, cols, {}};
  for (std::int64_t row = 0; row < 200; ++row) {
    for (std::int64_t i = 0; i < row % 23; ++i) {
      const auto anywhere = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cols));
      const std::int64_t edge = (anywhere >> 16 << 16) - 1 + i % 3;
      pattern.positions.push_back(
          {row, row < 64 ? cols - 1 - i : std::clamp<std::int64_t>(edge, 0, cols - 1)});
    }
  }
  return pattern;
}

// Runs one product and compares it with the expected one. With `columns` of 0, b and out are
// vectors.
void expect_product(Matrix& a, tnr_packed_layout layout, const NamedType& type,
                    std::int64_t columns, Arrangement b_lie, Arrangement out_lie, double alpha,
                    double beta, Random& random) {
  const Packed packed(a.view(), layout);
  const auto shape = [&](std::int64_t rows) {
    return columns == 0 ? Shape{rows} : Shape{rows, columns};
  };
  Array b(type.dtype, shape(a.view().cols), b_lie, random);
  Array out(type.dtype, shape(a.view().rows), out_lie, random);
  fill_with_numbers(b, type.type, random);
  fill_with_numbers(out, type.type, random, beta == 0 ? Nans::kSome : Nans::kNone);
  const std::vector<Byte> expected =
      expected_product(a, TNR_ORIENTATION_AS_IS, type, b, out, alpha, beta);
  packed_matmul(kDefaultContext, number(alpha), packed.token(), b.view(), number(beta), out.out());
  expect_elements(out, type, expected);
}

// Numbers of the test are small, so that their sums are exact in whatever order.
TEST(Packed, EveryLayoutOfEveryPattern) {
  Random random(21);
  std::vector<Pattern> all = patterns();
  for (const std::int64_t cols : {1, 63, 64, 65, 128, 130}) {
    all.push_back(scattered(70, cols, 30 * cols, random));
  }
  for (const Pattern& pattern : all) {
    for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[2], kTypes[3]}) {
      for (const tnr_dtype index_dtype : kIndexDtypes) {
        for (const tnr_packed_layout layout : kLayouts) {
          SCOPED_TRACE(pattern.name + " of " + std::to_string(pattern.cols) + " columns, layout " +
                       std::to_string(layout));
          const bool is_bitmap = layout == TNR_PACKED_LAYOUT_BITMAP;
          Matrix a(is_bitmap ? coalesced(pattern) : pattern, TNR_SPARSE_FORMAT_CSR, index_dtype,
                   type, random);
          expect_product(a, layout, type, 0, Arrangement::kRowMajor, Arrangement::kRowMajor, 2, 0,
                         random);
        }
      }
    }
  }
}

TEST(Packed, ColumnsInSeveralRanges) {
  Random random(31);
  for (const std::int64_t cols : {65'536, 65'537, 300'000}) {
    const Pattern pattern = wide_pattern(cols, random);
    for (const tnr_packed_layout layout : {TNR_PACKED_LAYOUT_WIDE, TNR_PACKED_LAYOUT_NARROW}) {
      for (const NamedType& type : {kTypes[1], kTypes[3]}) {
        SCOPED_TRACE(std::to_string(cols) + " columns, layout " + std::to_string(layout));
        Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I64, type, random);
        expect_product(a, layout, type, 0, Arrangement::kRowMajor, Arrangement::kRowMajor, 1, 2,
                       random);
      }
    }
  }
}

TEST(Packed, StridesColumnsAndScalars) {
  Random random(22);
  const Pattern pattern = coalesced(scattered(80, 90, 2000, random));
  for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[2], kTypes[3]}) {
    Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, type, random);
    for (const tnr_packed_layout layout : kLayouts) {
      for (const std::int64_t columns : {0, 1, 3}) {
        expect_product(a, layout, type, columns, Arrangement::kGaps, Arrangement::kReversed, 3, 2,
                       random);
        expect_product(a, layout, type, columns, Arrangement::kColumnMajor, Arrangement::kShuffled,
                       1, 1, random);
      }
    }
  }
}

TEST(Packed, RowRangesHaveTheirOwnEntries) {
  Random random(23);
  Matrix a(coalesced(staircase()), TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, kTypes[1], random);
  Array b(TNR_DTYPE_F32, {43}, Arrangement::kRowMajor, random);
  fill_with_numbers(b, Type::kF32, random);
  Literal<float> all(TNR_DTYPE_F32, std::vector<float>(41));
  sparse_matmul(kDefaultContext, number(1), a.view(), TNR_ORIENTATION_AS_IS, b.view(), number(0),
                all.out());
  tnr_sparse_view range = a.view();
  range.rows = 20;
  range.major = slice(range.major, 0, 13, 34, 1);
  for (const tnr_packed_layout layout : kLayouts) {
    const Packed packed(range, layout);
    EXPECT_EQ(packed.info().nnz, index_at(range.major, 20) - index_at(range.major, 0));
    Literal<float> some(TNR_DTYPE_F32, std::vector<float>(20));
    packed_matmul(kDefaultContext, number(1), packed.token(), b.view(), number(0), some.out());
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(some.values[i], all.values[i + 13]);
  }
}

// ---- bits ----

// Values of any size.
template <class T>
std::vector<T> any_values(std::size_t count, Random& random) {
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random() % 100'003) / T(3e4) - T(1.5);
  return values;
}

template <class T>
void set_values(Matrix& a, const std::vector<T>& values) {
  ASSERT_EQ(static_cast<std::size_t>(a.view().values.shape[0]), values.size());
  std::memcpy(const_cast<void*>(a.view().values.data), values.data(), values.size() * sizeof(T));
}

template <class T>
std::vector<T> times(const Context& context, PackedToken packed, tnr_dtype dtype,
                     const std::vector<T>& x) {
  const Literal<T> b(dtype, x);
  Literal<T> out(dtype, std::vector<T>(static_cast<std::size_t>(packed_describe(packed).rows)));
  packed_matmul(context, number(1), packed, b.view, number(0), out.out());
  return out.values;
}

TEST(Packed, SameBitsForAnyNumberOfThreads) {
  Random random(24);
  Matrix a(coalesced(scattered(1000, 700, 100'000, random)), TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32,
           kTypes[1], random);
  set_values(a, any_values<float>(static_cast<std::size_t>(a.view().values.shape[0]), random));
  const std::vector<float> x = any_values<float>(700, random);
  for (const tnr_packed_layout layout : kLayouts) {
    const Packed serial(a.view(), layout);
    const std::vector<float> expected = times(kDefaultContext, serial.token(), TNR_DTYPE_F32, x);
    for (const unsigned threads : {2u, 3u, 8u}) {
      const ContextToken token = context_create(options(threads));
      {
        const ContextUse context(token);
        const Packed packed(a.view(), layout, context);
        EXPECT_EQ(times(context, packed.token(), TNR_DTYPE_F32, x), expected) << threads;
      }
      context_release(token);
    }
  }
}

// Where columns lie in one range, a packed row is the unpacked one, to the bit.
TEST(Packed, OneTileIsAddedUpAsCompressedRowsAre) {
  Random random(25);
  Pattern pattern = scattered(300, 50'000, 5000, random);
  pattern.cols = 1'000'000;
  for (Position& p : pattern.positions) p.col += p.row / 64 * 70'001;
  Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I64, kTypes[1], random);
  set_values(a, any_values<float>(5000, random));
  const std::vector<float> x = any_values<float>(1'000'000, random);
  const Literal<float> b(TNR_DTYPE_F32, x);
  Literal<float> out(TNR_DTYPE_F32, std::vector<float>(300));
  sparse_matmul(kDefaultContext, number(1), a.view(), TNR_ORIENTATION_AS_IS, b.view, number(0),
                out.out());
  for (const tnr_packed_layout layout : {TNR_PACKED_LAYOUT_WIDE, TNR_PACKED_LAYOUT_NARROW}) {
    const Packed packed(a.view(), layout);
    EXPECT_EQ(times(kDefaultContext, packed.token(), TNR_DTYPE_F32, x), out.values) << layout;
  }
}

// Values of 16 bits are as those values in f32, which are added up, and then rounded once: to the
// bit for rows of up to as many entries, or of 512 columns, as are widened at a time.
TEST(Packed, HalvesAreAddedUpAsTheirValuesInF32) {
  Random random(32);
  const Pattern pattern = coalesced(scattered(90, 512, 9000, random));
  const std::vector<float> x = any_values<float>(512, random);
  for (const NamedType& type : {kTypes[2], kTypes[3]}) {
    Matrix half(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, type, random);
    Matrix wide(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, kTypes[1], random);
    const auto count = static_cast<std::size_t>(half.view().values.shape[0]);
    Literal<float> widened(TNR_DTYPE_F32, any_values<float>(count, random));
    cast(kDefaultContext, widened.view, {half.view().values});
    cast(kDefaultContext, half.view().values, widened.out());
    set_values(wide, widened.values);
    Literal<std::uint16_t> half_x(type.dtype, std::vector<std::uint16_t>(512));
    Literal<float> wide_x(TNR_DTYPE_F32, x);
    cast(kDefaultContext, wide_x.view, half_x.out());
    cast(kDefaultContext, half_x.view, wide_x.out());
    for (const tnr_packed_layout layout : kLayouts) {
      const Packed packed(half.view(), layout);
      const Packed wide_packed(wide.view(), layout);
      Literal<float> sums(
          TNR_DTYPE_F32, times(kDefaultContext, wide_packed.token(), TNR_DTYPE_F32, wide_x.values));
      Literal<std::uint16_t> rounded(type.dtype, std::vector<std::uint16_t>(90));
      cast(kDefaultContext, sums.view, rounded.out());
      EXPECT_EQ(times(kDefaultContext, packed.token(), type.dtype, half_x.values), rounded.values)
          << type.dtype << ", layout " << layout;
    }
  }
}

// Columns take turns in 128 bytes of sums, which meet by halves and end in a row: one plain loop
// gives the same bits under every set.
template <class T>
void expect_turns(const NamedType& type, std::int64_t cols) {
  Random random(26);
  Matrix a(coalesced(scattered(40, cols, 20 * cols, random)), TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32,
           type, random);
  set_values(a, any_values<T>(static_cast<std::size_t>(a.view().values.shape[0]), random));
  const std::vector<T> x = any_values<T>(static_cast<std::size_t>(cols), random);
  const Packed packed(a.view(), TNR_PACKED_LAYOUT_BITMAP);
  const std::vector<T> result = times(kDefaultContext, packed.token(), type.dtype, x);
  constexpr std::size_t kTurns = 128 / sizeof(T);
  const std::vector<Matrix::Row> rows = a.rows(TNR_ORIENTATION_AS_IS);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    T sums[kTurns] = {};
    for (std::size_t k = 0; k < rows[row].cols.size(); ++k) {
      T value;
      std::memcpy(&value, rows[row].values[k], sizeof value);
      const auto col = static_cast<std::size_t>(rows[row].cols[k]);
      sums[col % kTurns] += value * x[col];
    }
    for (const std::size_t width : {kTurns / 2, kTurns / 4, kTurns / 8}) {
      for (std::size_t i = 0; i < width; ++i) sums[i] += sums[i + width];
    }
    T expected = 0;
    for (std::size_t i = 0; i < kTurns / 8; ++i) expected += sums[i];
    EXPECT_EQ(result[row], expected) << row;
  }
}

TEST(Packed, BitmapsTakeTurns) {
  for (const std::int64_t cols : {7, 64, 200, 1000}) {
    expect_turns<double>(kTypes[0], cols);
    expect_turns<float>(kTypes[1], cols);
  }
}

// Elements of x that no entry meets are not read: infinity times an implicit zero does not count.
TEST(Packed, ElementsWithoutEntriesDoNotCount) {
  Random random(27);
  Pattern pattern{"every third", 9, 100, {}};
  for (std::int64_t row = 0; row < 9; ++row) {
    for (std::int64_t col = row % 3; col < 100; col += 3) pattern.positions.push_back({row, col});
  }
  Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, kTypes[1], random);
  std::vector<float> x(100, 1.0f);
  for (std::size_t i = 1; i < 100; i += 3) x[i] = std::numeric_limits<float>::infinity();
  for (std::size_t i = 2; i < 100; i += 3) x[i] = std::nanf("");
  for (const tnr_packed_layout layout : kLayouts) {
    const Packed packed(a.view(), layout);
    const std::vector<float> result = times(kDefaultContext, packed.token(), TNR_DTYPE_F32, x);
    for (std::size_t row = 0; row < 9; row += 3) EXPECT_TRUE(std::isfinite(result[row])) << row;
  }
}

// ---- blocks ----

using Shape2 = std::pair<std::int64_t, std::int64_t>;
constexpr Shape2 kShapes[] = {{8, 8}, {4, 4}, {8, 1}, {1, 8}, {2, 2}, {4, 1}, {1, 4}};

// Each position as a block.
Pattern in_blocks(const Pattern& pattern, const Shape2& shape) {
  Pattern result{"blocks", pattern.rows * shape.first, pattern.cols * shape.second, {}};
  for (const Position& p : pattern.positions) {
    for (std::int64_t i = 0; i < shape.first; ++i) {
      for (std::int64_t j = 0; j < shape.second; ++j) {
        result.positions.push_back({p.row * shape.first + i, p.col * shape.second + j});
      }
    }
  }
  return result;
}

// Rows of each length from 0 to 16 blocks, in too many columns for a bitmap.
Pattern stairs_of(const Shape2& shape) {
  Pattern pattern{"stairs", 17, 200, {}};
  for (std::int64_t row = 0; row < 17; ++row) {
    for (std::int64_t i = 0; i < row; ++i) pattern.positions.push_back({row, (i * 7 + row) % 43});
  }
  return in_blocks(pattern, shape);
}

TEST(PackedBlocks, EveryShapeOfEveryType) {
  Random random(41);
  for (const Shape2& shape : kShapes) {
    SCOPED_TRACE("blocks of " + std::to_string(shape.first) + " by " +
                 std::to_string(shape.second));
    const Pattern pattern = stairs_of(shape);
    for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[2], kTypes[3]}) {
      for (const tnr_dtype index_dtype : kIndexDtypes) {
        Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, index_dtype, type, random);
        const tnr_packed_info info = Packed(a.view(), TNR_PACKED_LAYOUT_AUTO).info();
        EXPECT_EQ(info.layout, TNR_PACKED_LAYOUT_BLOCKS);
        EXPECT_EQ(Shape2(info.block_rows, info.block_cols), shape);
        for (const tnr_packed_layout layout : {TNR_PACKED_LAYOUT_AUTO, TNR_PACKED_LAYOUT_BLOCKS}) {
          expect_product(a, layout, type, 0, Arrangement::kRowMajor, Arrangement::kRowMajor, 2, 0,
                         random);
          expect_product(a, layout, type, 3, Arrangement::kGaps, Arrangement::kReversed, 3, 2,
                         random);
        }
      }
    }
  }
}

// On any number of threads.
template <class T>
void expect_bits_of_rows(const NamedType& type, const Shape2& shape) {
  Random random(42);
  Matrix a(stairs_of(shape), TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, type, random);
  set_values(a, any_values<T>(static_cast<std::size_t>(a.view().values.shape[0]), random));
  const std::vector<T> x = any_values<T>(static_cast<std::size_t>(a.view().cols), random);
  const Literal<T> b(type.dtype, x);
  Literal<T> out(type.dtype, std::vector<T>(static_cast<std::size_t>(a.view().rows)));
  sparse_matmul(kDefaultContext, number(1), a.view(), TNR_ORIENTATION_AS_IS, b.view, number(0),
                out.out());
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    const ContextToken token = context_create(options(threads));
    {
      const ContextUse context(token);
      const Packed packed(a.view(), TNR_PACKED_LAYOUT_BLOCKS, context);
      EXPECT_EQ(times(context, packed.token(), type.dtype, x), out.values) << threads;
    }
    context_release(token);
  }
}

TEST(PackedBlocks, AreAddedUpAsCompressedRowsAre) {
  for (const Shape2& shape : kShapes) {
    SCOPED_TRACE("blocks of " + std::to_string(shape.first) + " by " +
                 std::to_string(shape.second));
    expect_bits_of_rows<double>(kTypes[0], shape);
    expect_bits_of_rows<float>(kTypes[1], shape);
  }
}

// Blocks of 4 by 4, in the first two block rows and in `later_block_rows` more from row 64 on. The
// first block row has more entries than are widened at a time, in columns of several ranges of
// 2^16.
Pattern blocks_far_apart(std::int64_t later_block_rows) {
  constexpr std::int64_t kBlocks = 180;
  Pattern pattern{"blocks", 64 + 4 * later_block_rows, 200'000, {}};
  const auto add_row = [&](std::int64_t row, std::int64_t blocks) {
    for (std::int64_t k = 0; k < blocks; ++k) {
      const std::int64_t first = k * (pattern.cols / kBlocks) / 4 * 4;
      for (std::int64_t col = first; col < first + 4; ++col)
        pattern.positions.push_back({row, col});
    }
  };
  for (std::int64_t row = 0; row < 8; ++row) add_row(row, row < 4 ? kBlocks : 3);
  for (std::int64_t row = 64; row < pattern.rows; ++row) add_row(row, kBlocks);
  return pattern;
}

// Few entries read the elements of b where they lie, and many a copy of it: to the same bits.
template <class T>
void expect_bits_of_a_copy(const NamedType& type, const std::vector<T>& factors,
                           const std::vector<T>& spaced) {
  Random random(44);
  constexpr std::int64_t kFewRows = 32;
  Pattern few_rows = blocks_far_apart(0);
  few_rows.rows = kFewRows;
  Matrix few(few_rows, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, type, random);
  Matrix many(blocks_far_apart(70), TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, type, random);
  const Literal<float> numbers(
      TNR_DTYPE_F32,
      any_values<float>(static_cast<std::size_t>(many.view().values.shape[0]), random));
  cast(kDefaultContext, numbers.view, {many.view().values});
  const auto few_bytes = static_cast<std::size_t>(few.view().values.shape[0]) * sizeof(T);
  std::memcpy(const_cast<void*>(few.view().values.data), many.view().values.data, few_bytes);
  ASSERT_LT(few.view().values.shape[0], few.view().cols);
  ASSERT_GE(many.view().values.shape[0], many.view().cols);
  const Literal<T> wide(type.dtype, spaced);
  const tnr_view every_third = slice(wide.view, 0, 0, 3 * few.view().cols, 3);
  for (const tnr_packed_layout layout : {TNR_PACKED_LAYOUT_WIDE, TNR_PACKED_LAYOUT_NARROW,
                                         TNR_PACKED_LAYOUT_BITMAP, TNR_PACKED_LAYOUT_BLOCKS}) {
    SCOPED_TRACE("dtype " + std::to_string(type.dtype) + ", layout " + std::to_string(layout));
    const Packed packed_few(few.view(), layout);
    const Packed packed_many(many.view(), layout);
    std::vector<T> expected = times(kDefaultContext, packed_many.token(), type.dtype, factors);
    expected.resize(kFewRows);
    EXPECT_EQ(times(kDefaultContext, packed_few.token(), type.dtype, factors), expected);
    for (const unsigned threads : {1u, 2u, 3u}) {
      const ContextToken token = context_create(options(threads));
      {
        const ContextUse context(token);
        Literal<T> out(type.dtype, std::vector<T>(kFewRows));
        packed_matmul(context, number(1), packed_few.token(), every_third, number(0), out.out());
        EXPECT_EQ(out.values, expected) << threads;
      }
      context_release(token);
    }
    // Where all of b is one element again and again, and one reversed.
    const Literal<T> one(type.dtype, {factors[7]});
    const std::vector<T> ones(factors.size(), factors[7]);
    Literal<T> out(type.dtype, std::vector<T>(kFewRows));
    packed_matmul(kDefaultContext, number(1), packed_few.token(),
                  broadcast(one.view, 1, &few.view().cols), number(0), out.out());
    EXPECT_EQ(out.values, times(kDefaultContext, packed_few.token(), type.dtype, ones));
    const Literal<T> backwards(type.dtype, std::vector<T>(factors.rbegin(), factors.rend()));
    packed_matmul(kDefaultContext, number(1), packed_few.token(), flip(backwards.view, 0),
                  number(0), out.out());
    EXPECT_EQ(out.values, expected);
  }
}

template <class T>
void expect_bits_of_a_copy(const NamedType& type) {
  Random random(45);
  constexpr std::size_t kCols = 200'000;
  Literal<float> numbers(TNR_DTYPE_F32, any_values<float>(kCols, random));
  Literal<T> factors(type.dtype, std::vector<T>(kCols));
  cast(kDefaultContext, numbers.view, factors.out());
  std::vector<T> spaced(3 * kCols);
  for (std::size_t i = 0; i < kCols; ++i) spaced[3 * i] = factors.values[i];
  expect_bits_of_a_copy(type, factors.values, spaced);
}

TEST(Packed, FewEntriesReadInPlaceToTheSameBits) {
  expect_bits_of_a_copy<double>(kTypes[0]);
  expect_bits_of_a_copy<float>(kTypes[1]);
  expect_bits_of_a_copy<std::uint16_t>(kTypes[2]);
  expect_bits_of_a_copy<std::uint16_t>(kTypes[3]);
}

// The shape that is found, or {1, 1} where the layout is another.
Shape2 found(const Pattern& pattern) {
  Random random(43);
  Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, kTypes[1], random);
  const tnr_packed_info info = Packed(a.view(), TNR_PACKED_LAYOUT_AUTO).info();
  const Shape2 shape(info.block_rows, info.block_cols);
  EXPECT_EQ(info.layout == TNR_PACKED_LAYOUT_BLOCKS, shape != Shape2(1, 1));
  if (info.layout != TNR_PACKED_LAYOUT_BLOCKS) {
    expect_error(TNR_STATUS_UNSUPPORTED, {"a has entries that are not all in blocks", "8x8"},
                 [&] { Packed(a.view(), TNR_PACKED_LAYOUT_BLOCKS); });
  }
  return shape;
}

TEST(PackedBlocks, AreWholeAndWhereTheyBelong) {
  EXPECT_EQ(found(stairs_of({16, 16})), Shape2(8, 8));
  EXPECT_EQ(found(stairs_of({3, 3})), Shape2(1, 1));
  EXPECT_EQ(found(stairs_of({8, 4})), Shape2(4, 4));
  EXPECT_EQ(found(stairs_of({2, 8})), Shape2(1, 8));
  EXPECT_EQ(found(stairs_of({2, 1})), Shape2(1, 1));
  EXPECT_EQ(found(stairs_of({1, 2})), Shape2(1, 1));
  const Pattern blocks = stairs_of({4, 4});
  // All blocks one column, or one row, further on.
  Pattern moved = blocks;
  ++moved.cols;
  for (Position& p : moved.positions) ++p.col;
  EXPECT_EQ(found(moved), Shape2(4, 1));
  moved = blocks;
  ++moved.rows;
  for (Position& p : moved.positions) ++p.row;
  EXPECT_EQ(found(moved), Shape2(1, 4));
  // More columns than whole blocks have.
  Pattern wider = blocks;
  wider.cols += 3;
  EXPECT_EQ(found(wider), Shape2(4, 4));
  // The last entry is missing, or elsewhere, or one of a row twice.
  Pattern less = blocks;
  less.positions.pop_back();
  EXPECT_EQ(found(less), Shape2(1, 1));
  Pattern elsewhere = blocks;
  elsewhere.positions.back().col = 0;
  EXPECT_EQ(found(elsewhere), Shape2(1, 1));
  Pattern twice = blocks;
  twice.positions.push_back(twice.positions.back());
  EXPECT_EQ(found(twice), Shape2(1, 1));
  // Columns of the last block do not rise, in all of its rows.
  Pattern turned = blocks;
  for (std::size_t i = turned.positions.size() - 16; i < turned.positions.size(); ++i) {
    std::int64_t& col = turned.positions[i].col;
    col = col / 4 * 4 + 3 - col % 4;
  }
  EXPECT_EQ(found(turned), Shape2(4, 1));
}

TEST(PackedBlocks, BitmapsOfDenserMatricesTakeLess) {
  Random random(44);
  Pattern pattern = coalesced(in_blocks(coalesced(scattered(16, 64, 600, random)), {2, 2}));
  Matrix dense(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, kTypes[1], random);
  EXPECT_EQ(Packed(dense.view(), TNR_PACKED_LAYOUT_AUTO).info().layout, TNR_PACKED_LAYOUT_BITMAP);
  EXPECT_EQ(Packed(dense.view(), TNR_PACKED_LAYOUT_BLOCKS).info().block_cols, 2);
  pattern.cols *= 4;
  EXPECT_EQ(found(pattern), Shape2(2, 2));
}

TEST(PackedBlocks, SizesAreCounted) {
  Random random(45);
  Matrix a(stairs_of({4, 4}), TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I64, kTypes[0], random);
  const tnr_packed_info info = Packed(a.view(), TNR_PACKED_LAYOUT_AUTO).info();
  const auto blocks = static_cast<std::uint64_t>(info.nnz) / 16;
  EXPECT_EQ(info.size_bytes, blocks * (16 * 8 + 4) + 18 * 4u);
  EXPECT_EQ(info.source_bytes, blocks * 16 * (8 + 8) + 69 * 8u);
  const std::uint64_t saved = info.source_bytes - info.size_bytes;
  EXPECT_EQ(info.break_even, (info.source_bytes + 2 * info.size_bytes + saved - 1) / saved);
}

TEST(PackedBlocks, RowRangesHaveTheirOwnEntries) {
  Random random(46);
  Matrix a(stairs_of({4, 4}), TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, kTypes[1], random);
  Array b(TNR_DTYPE_F32, {800}, Arrangement::kRowMajor, random);
  fill_with_numbers(b, Type::kF32, random);
  Literal<float> all(TNR_DTYPE_F32, std::vector<float>(68));
  sparse_matmul(kDefaultContext, number(1), a.view(), TNR_ORIENTATION_AS_IS, b.view(), number(0),
                all.out());
  tnr_sparse_view range = a.view();
  range.rows = 40;
  range.major = slice(range.major, 0, 24, 65, 1);
  const Packed packed(range, TNR_PACKED_LAYOUT_BLOCKS);
  Literal<float> some(TNR_DTYPE_F32, std::vector<float>(40));
  packed_matmul(kDefaultContext, number(1), packed.token(), b.view(), number(0), some.out());
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(some.values[i], all.values[i + 24]);
}

// ---- the choice ----

TEST(PackedChoice, DependsOnDensityAndOrder) {
  Random random(28);
  const auto layout_of = [&](const Pattern& pattern) {
    Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, kTypes[1], random);
    return Packed(a.view(), TNR_PACKED_LAYOUT_AUTO).info().layout;
  };
  const Pattern dense = coalesced(scattered(100, 200, 5000, random));
  EXPECT_EQ(layout_of(dense), TNR_PACKED_LAYOUT_BITMAP);
  EXPECT_EQ(layout_of(scattered(100, 200, 5000, random)), TNR_PACKED_LAYOUT_NARROW);
  EXPECT_EQ(layout_of(coalesced(scattered(100, 200, 2000, random))), TNR_PACKED_LAYOUT_NARROW);
  // Rows that would be cut into pieces, of some entries and of many.
  EXPECT_EQ(layout_of(scattered(64, 200'000, 4000, random)), TNR_PACKED_LAYOUT_WIDE);
  EXPECT_EQ(layout_of(scattered(64, 200'000, 8000, random)), TNR_PACKED_LAYOUT_NARROW);
  // A tile for each entry would take more memory than it saves.
  EXPECT_EQ(layout_of(scattered(100, 1'000'000'000, 30, random)), TNR_PACKED_LAYOUT_WIDE);
}

TEST(PackedChoice, SizesAndBreakEvenAreCounted) {
  Random random(29);
  Matrix a(coalesced(scattered(640, 1000, 40'000, random)), TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32,
           kTypes[1], random);
  const auto nnz = static_cast<std::uint64_t>(a.view().values.shape[0]);
  const tnr_packed_info narrow = Packed(a.view(), TNR_PACKED_LAYOUT_AUTO).info();
  EXPECT_EQ(narrow.layout, TNR_PACKED_LAYOUT_NARROW);
  EXPECT_EQ(narrow.rows, 640);
  EXPECT_EQ(narrow.cols, 1000);
  EXPECT_EQ(narrow.dtype, TNR_DTYPE_F32);
  EXPECT_EQ(static_cast<std::uint64_t>(narrow.nnz), nnz);
  EXPECT_EQ(narrow.source_bytes, 8 * nnz + 641 * 4);
  // Ten strips of a tile each, and one that ends them.
  EXPECT_EQ(narrow.size_bytes, 6 * nnz + 11 * 8 + 11 * (16 + 64 * 4));
  const std::uint64_t saved = narrow.source_bytes - narrow.size_bytes;
  const auto products = static_cast<std::uint64_t>(narrow.break_even);
  EXPECT_GE(products * saved, narrow.source_bytes + 2 * narrow.size_bytes);
  EXPECT_LT((products - 1) * saved, narrow.source_bytes + 2 * narrow.size_bytes);
  const tnr_packed_info bitmap = Packed(a.view(), TNR_PACKED_LAYOUT_BITMAP).info();
  EXPECT_EQ(bitmap.size_bytes, 4 * nnz + 641 * 8 + 640 * 16 * 8);
  const std::uint64_t marks = 2 * 640 * 1000 + nnz;
  const std::uint64_t moved = bitmap.source_bytes + 2 * bitmap.size_bytes + marks;
  const std::uint64_t spared = bitmap.source_bytes - bitmap.size_bytes;
  EXPECT_EQ(static_cast<std::uint64_t>(bitmap.break_even), (moved + spared - 1) / spared);
  EXPECT_EQ(Packed(a.view(), TNR_PACKED_LAYOUT_WIDE).info().break_even, -1);
}

// ---- refusals ----

TEST(PackedRefusals, UnsupportedMatrices) {
  const auto refuses = [](tnr_status status, std::initializer_list<std::string> words,
                          const tnr_sparse_view& a,
                          tnr_packed_layout layout = TNR_PACKED_LAYOUT_AUTO) {
    expect_error(status, words, [&] { packed_create(kDefaultContext, a, layout); });
  };
  SparseArrays csc(csc_model(), TNR_DTYPE_I32);
  refuses(TNR_STATUS_UNSUPPORTED, {"a.format is 3", "CSR"}, csc.view());
  SparseArrays csr(csr_model(), TNR_DTYPE_I32);
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"layout", "7"}, csr.view(), 7);
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"layout", "-1"}, csr.view(), -1);
  Literal<std::int32_t> numbers(TNR_DTYPE_I32, {1, 2, 3, 4, 5});
  csr.view().values = numbers.view;
  refuses(TNR_STATUS_UNSUPPORTED, {"packing does not take i32"}, csr.view());

  SparseModel twice = csr_model();
  twice.minor[1] = 0;
  twice.flags = 0;
  SparseArrays duplicates(twice, TNR_DTYPE_I32);
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"a has rows whose columns do not rise"}, duplicates.view(),
          TNR_PACKED_LAYOUT_BITMAP);
}

TEST(PackedRefusals, ColumnsInTooManyRanges) {
  Random random(30);
  Pattern pattern{"far apart", 2, 65 << 16, {}};
  for (std::int64_t i = 0; i < 65; ++i) pattern.positions.push_back({i % 2, i << 16});
  Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I64, kTypes[1], random);
  expect_error(TNR_STATUS_UNSUPPORTED, {"a has 64 rows", "64 ranges of 2^16"},
               [&] { packed_create(kDefaultContext, a.view(), TNR_PACKED_LAYOUT_NARROW); });
  EXPECT_EQ(Packed(a.view(), TNR_PACKED_LAYOUT_AUTO).info().layout, TNR_PACKED_LAYOUT_WIDE);
}

TEST(PackedRefusals, LentIndicesAreChecked) {
  for (const bool is_major : {true, false}) {
    const std::size_t count = is_major ? 4 : 5;
    for (std::size_t at = 0; at < count; ++at) {
      for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{1000}}) {
        SparseModel spoilt = csr_model();
        (is_major ? spoilt.major : spoilt.minor)[at] = wrong;
        SparseArrays arrays(spoilt, TNR_DTYPE_I32);
        for (const tnr_packed_layout layout : kLayouts) {
          expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.", std::to_string(wrong)},
                       [&] { packed_create(kDefaultContext, arrays.view(), layout); });
        }
      }
    }
  }
}

TEST(PackedRefusals, OperandsOfProducts) {
  SparseArrays csr(csr_model(), TNR_DTYPE_I32);
  const Packed packed(csr.view(), TNR_PACKED_LAYOUT_AUTO);
  Literal<float> three(TNR_DTYPE_F32, {1, 2, 3});
  Literal<float> four(TNR_DTYPE_F32, {1, 2, 3, 4});
  Literal<double> doubles(TNR_DTYPE_F64, {1, 2, 3, 4});
  const auto refuses = [&](tnr_status status, std::initializer_list<std::string> words,
                           const tnr_view& b, const tnr_view_mut& out) {
    expect_error(status, words, [&] {
      packed_matmul(kDefaultContext, number(1), packed.token(), b, number(0), out);
    });
  };
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"b.shape[0] is 3 but must be 4, the columns of packed"},
          three.view, three.out());
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[0] is 4 but must be 3, the rows of packed"},
          four.view, four.out());
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"b.dtype is f64 but packed has f32"}, doubles.view,
          three.out());
  refuses(TNR_STATUS_ALIASED, {}, four.view, {slice(four.view, 0, 1, 4, 1)});
}

// ---- handles ----

TEST(PackedHandles, EndWithTheLastRelease) {
  SparseArrays csr(csr_model(), TNR_DTYPE_I32);
  const PackedToken token = packed_create(kDefaultContext, csr.view(), TNR_PACKED_LAYOUT_AUTO);
  packed_retain(token);
  packed_release(token);
  EXPECT_EQ(packed_describe(token).rows, 3);
  packed_release(token);
  expect_error(TNR_STATUS_STALE_HANDLE, {"has been released"}, [&] { packed_describe(token); });
  expect_error(TNR_STATUS_STALE_HANDLE, {"has been released"}, [&] { packed_retain(token); });
  expect_error(TNR_STATUS_STALE_HANDLE, {"has been released"}, [&] { packed_release(token); });
  expect_error(TNR_STATUS_STALE_HANDLE, {"no packed matrix was ever given"},
               [] { packed_release(0x1234); });
}

// The source may end, and be written, once it is packed.
TEST(PackedHandles, OwnWhatTheyHave) {
  PackedToken token;
  {
    SparseArrays csr(csr_model(), TNR_DTYPE_I32);
    token = packed_create(kDefaultContext, csr.view(), TNR_PACKED_LAYOUT_NARROW);
    std::fill_n(csr.values(), 5, -1.0f);
  }
  EXPECT_EQ(times<float>(kDefaultContext, token, TNR_DTYPE_F32, {1, 10, 100, 1000}),
            (std::vector<float>{201, 0, 5043}));
  packed_release(token);
}

}  // namespace
}  // namespace tenure::test
