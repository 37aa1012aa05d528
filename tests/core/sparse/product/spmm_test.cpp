// Compares sparse times dense with one sum after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "context_options.hpp"
#include "expect_error.hpp"
#include "memory/memory.hpp"
#include "product_patterns.hpp"
#include "sparse/product/long_rows.hpp"
#include "sparse_arrays.hpp"
#include "tenure/context.hpp"
#include "tenure/sparse.hpp"
#include "tenure/sparse_voucher.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

namespace reference = kernels::reference;

// Runs one product and compares it with the expected one. With `columns` of 0, b and out are
// vectors.
void expect_product(Matrix& a, tnr_orientation orientation, const NamedType& type,
                    std::int64_t columns, Arrangement b_lie, Arrangement out_lie, double alpha,
                    double beta, Random& random, const Context& context = kDefaultContext) {
  const bool as_is = orientation == TNR_ORIENTATION_AS_IS;
  const std::int64_t inner = as_is ? a.view().cols : a.view().rows;
  const std::int64_t outer = as_is ? a.view().rows : a.view().cols;
  const auto shape = [&](std::int64_t rows) {
    return columns == 0 ? Shape{rows} : Shape{rows, columns};
  };
  Array b(type.dtype, shape(inner), b_lie, random);
  Array out(type.dtype, shape(outer), out_lie, random);
  fill_with_numbers(b, type.type, random);
  fill_with_numbers(out, type.type, random, beta == 0 ? Nans::kSome : Nans::kNone);
  const std::vector<Byte> expected = expected_product(a, orientation, type, b, out, alpha, beta);
  sparse_matmul(context, number(alpha), a.view(), orientation, b.view(), number(beta), out.out());
  expect_elements(out, type, expected);
}

// Numbers of the test are small, so that their sums are exact in whatever order.
TEST(SparseMatmul, EveryFormatOverEveryPattern) {
  Random random(5);
  for (const Pattern& pattern : patterns()) {
    for (const tnr_sparse_format format : kFormats) {
      for (const tnr_dtype index_dtype : kIndexDtypes) {
        Matrix a(pattern, format, index_dtype, kTypes[1], random);
        for (const tnr_orientation orientation : kOrientations) {
          SCOPED_TRACE(pattern.name + ", format " + std::to_string(format) + ", orientation " +
                       std::to_string(orientation));
          for (const std::int64_t columns : {0, 21}) {
            expect_product(a, orientation, kTypes[1], columns, Arrangement::kRowMajor,
                           Arrangement::kRowMajor, 2, 0, random);
          }
        }
      }
    }
  }
}

TEST(SparseMatmul, EveryTypeAndWidth) {
  Random random(6);
  const Pattern pattern = staircase();
  for (const NamedType& type : kTypes) {
    if (type.type == Type::kBool8) continue;
    for (const tnr_sparse_format format : kFormats) {
      Matrix a(pattern, format, TNR_DTYPE_I32, type, random);
      for (const std::int64_t columns : {0, 2, 67}) {
        SCOPED_TRACE(std::to_string(columns) + " columns");
        expect_product(a, TNR_ORIENTATION_AS_IS, type, columns, Arrangement::kRowMajor,
                       Arrangement::kRowMajor, 3, 2, random);
      }
      expect_product(a, TNR_ORIENTATION_TRANSPOSED, type, 5, Arrangement::kColumnMajor,
                     Arrangement::kGaps, 1, 1, random);
    }
  }
}

TEST(SparseMatmul, EveryLayout) {
  Random random(7);
  const Pattern pattern = scattered(20, 30, 100, random);
  for (const NamedType& type : {kTypes[0], kTypes[2]}) {
    Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I64, type, random);
    for (const tnr_orientation orientation : kOrientations) {
      for (const Arrangement b_lie : kReadable) {
        for (const Arrangement out_lie : kWritable) {
          for (const std::int64_t columns : {0, 1, 37}) {
            expect_product(a, orientation, type, columns, b_lie, out_lie, 1, 2, random);
          }
        }
      }
    }
  }
}

// Fewer entries than rows and columns: sums are added up where they belong, and b is read in place.
TEST(SparseMatmul, FewEntries) {
  Random random(8);
  const TestContext threads(3);
  const Pattern pattern = scattered(90, 70, 20, random);
  for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[2], kTypes[6]}) {
    for (const tnr_sparse_format format : kFormats) {
      Matrix a(pattern, format, TNR_DTYPE_I32, type, random);
      if (format == TNR_SPARSE_FORMAT_COO) a.view().flags = 0;
      for (const tnr_orientation orientation : kOrientations) {
        for (const Arrangement b_lie : kReadable) {
          for (const Arrangement out_lie : kWritable) {
            for (const std::int64_t columns : {0, 3}) {
              for (const double beta : {0, 2}) {
                expect_product(a, orientation, type, columns, b_lie, out_lie, 1 + beta / 2, beta,
                               random, threads);
              }
              expect_product(a, orientation, type, columns, b_lie, out_lie, 3, 0, random);
            }
          }
        }
      }
    }
  }
}

TEST(SparseMatmul, Blocks) {
  Random random(8);
  const Pattern pattern = scattered(5, 4, 9, random);
  const std::pair<std::int64_t, std::int64_t> blocks[] = {{1, 1}, {2, 2}, {2, 3}, {4, 4},  {5, 1},
                                                          {1, 8}, {8, 1}, {8, 8}, {16, 16}};
  for (const auto& [block_rows, block_cols] : blocks) {
    for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[9]}) {
      for (const tnr_dtype index_dtype : kIndexDtypes) {
        Matrix a(pattern, TNR_SPARSE_FORMAT_BSR, index_dtype, type, random, block_rows, block_cols);
        for (const tnr_orientation orientation : kOrientations) {
          SCOPED_TRACE("blocks of " + std::to_string(block_rows) + " by " +
                       std::to_string(block_cols));
          for (const std::int64_t columns : {0, 3, 70}) {
            expect_product(a, orientation, type, columns, Arrangement::kRowMajor,
                           Arrangement::kShuffled, 1, 2, random);
          }
        }
      }
    }
  }
}

// A range of rows has the arrays of the whole, and its own part of the offsets.
TEST(SparseMatmul, RowRanges) {
  Random random(9);
  const Pattern pattern = staircase();
  for (const tnr_dtype index_dtype : kIndexDtypes) {
    Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, index_dtype, kTypes[1], random);
    Array b(TNR_DTYPE_F32, {43}, Arrangement::kRowMajor, random);
    fill_with_numbers(b, Type::kF32, random);
    std::vector<float> whole(41);
    Literal<float> all(TNR_DTYPE_F32, whole);
    sparse_matmul(kDefaultContext, number(1), a.view(), TNR_ORIENTATION_AS_IS, b.view(), number(0),
                  all.out());
    tnr_sparse_view range = a.view();
    range.rows = 20;
    range.major = slice(range.major, 0, 13, 34, 1);
    Literal<float> some(TNR_DTYPE_F32, std::vector<float>(20));
    sparse_matmul(kDefaultContext, number(1), range, TNR_ORIENTATION_AS_IS, b.view(), number(0),
                  some.out());
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(some.values[i], all.values[i + 13]);
  }
}

// Values of any size: close to the exact sum, and the same bits for any number of threads and for
// an unchecked matrix.
TEST(SparseMatmul, SameBitsForAnyNumberOfThreads) {
  Random random(10);
  const Pattern pattern = scattered(400, 300, 30'000, random);
  std::vector<ContextToken> tokens;
  for (const unsigned threads : {2u, 3u, 8u}) tokens.push_back(context_create(options(threads)));
  for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[2]}) {
    for (const tnr_sparse_format format : kFormats) {
      Matrix a(pattern, format, TNR_DTYPE_I32, type, random);
      for (const tnr_orientation orientation : kOrientations) {
        for (const std::int64_t columns : {0, 3, 70}) {
          const bool as_is = orientation == TNR_ORIENTATION_AS_IS;
          const auto shape = [&](std::int64_t rows) {
            return columns == 0 ? Shape{rows} : Shape{rows, columns};
          };
          Array b(type.dtype, shape(as_is ? 300 : 400), Arrangement::kRowMajor, random);
          for (Byte* const element : b.elements()) {
            const double value = static_cast<double>(random() % 100'003) / 3e4 - 1.5;
            Byte bytes[8];
            std::memcpy(bytes, &value, sizeof value);
            reference::cast(Type::kF64, bytes, type.type, element);
          }
          const auto result = [&](const Context& context, SparseToken owner) {
            Random same(1);
            Array out(type.dtype, shape(as_is ? 400 : 300), Arrangement::kRowMajor, same);
            tnr_sparse_view view = a.view();
            view.owner = owner;
            sparse_matmul(context, number(1), view, orientation, b.view(), number(0), out.out());
            return out.snapshot();
          };
          const std::vector<Byte> serial = result(kDefaultContext, 0);
          EXPECT_EQ(serial, result(kDefaultContext, sparse_voucher()));
          for (const ContextToken token : tokens) {
            const ContextUse context(token);
            EXPECT_EQ(serial, result(context, 0));
            EXPECT_EQ(serial, result(context, sparse_voucher()));
          }
        }
      }
    }
  }
  for (const ContextToken token : tokens) context_release(token);
}

// Rows of exactly one piece of entries and of more, among short ones.
Pattern with_long_rows() {
  constexpr std::int64_t kCols = 70'000;
  Pattern pattern{"long rows", 7, kCols, {}};
  const std::pair<std::int64_t, std::int64_t> lengths[] = {
      {0, 3}, {1, 2 * kPieceEntries + 9}, {3, kPieceEntries}, {4, kPieceEntries + 1}, {5, 40}};
  for (const auto& [row, length] : lengths) {
    for (std::int64_t i = 0; i < length; ++i) pattern.positions.push_back({row, i * 7919 % kCols});
  }
  return pattern;
}

TEST(SparseMatmul, LongRows) {
  Random random(12);
  const Pattern pattern = with_long_rows();
  // In both dtypes the sums are exact.
  for (const NamedType& type : {kTypes[0], kTypes[6]}) {
    Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I64, type, random);
    // More than a panel of columns; under a sanitizer that takes minutes.
    for (const std::int64_t columns : {0, 3, kSanitized ? 17 : 70}) {
      expect_product(a, TNR_ORIENTATION_AS_IS, type, columns, Arrangement::kRowMajor,
                     Arrangement::kShuffled, 2, 3, random);
    }
  }
}

// Sums that are rounded: the same for any number of threads, and for an unchecked matrix, which has
// its indices checked nevertheless.
TEST(SparseMatmul, LongRowsHaveTheSameBitsForAnyNumberOfThreads) {
  Random random(13);
  Matrix a(with_long_rows(), TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, kTypes[1], random);
  std::vector<float> x(70'000);
  for (float& element : x) element = static_cast<float>(random() % 100'003) / 3e4f - 1.5f;
  const Literal<float> b(TNR_DTYPE_F32, x);
  const auto product = [&](const Context& context, const tnr_sparse_view& view) {
    Literal<float> out(TNR_DTYPE_F32, std::vector<float>(7));
    sparse_matmul(context, number(1), view, TNR_ORIENTATION_AS_IS, b.view, number(0), out.out());
    return out.values;
  };
  const std::vector<float> expected = product(kDefaultContext, a.view());
  tnr_sparse_view checked = a.view();
  checked.owner = sparse_voucher();
  EXPECT_EQ(product(kDefaultContext, checked), expected);
  for (const unsigned threads : {2u, 3u}) {
    const ContextToken token = context_create(options(threads));
    {
      const ContextUse context(token);
      EXPECT_EQ(product(context, a.view()), expected) << threads;
      EXPECT_EQ(product(context, checked), expected) << threads;
    }
    context_release(token);
  }
  const std::int32_t far = 70'000;
  std::memcpy(const_cast<void*>(a.view().minor.data), &far, sizeof far);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.col_indices[0] is 70000"},
               [&] { product(kDefaultContext, a.view()); });
}

TEST(SparseMatmul, CoordinatesThatSayTheyAreSorted) {
  Random random(13);
  for (const Pattern& pattern : patterns()) {
    for (const tnr_dtype index_dtype : kIndexDtypes) {
      Matrix a(pattern, TNR_SPARSE_FORMAT_COO, index_dtype, kTypes[1], random);
      a.view().flags = TNR_SPARSE_SORTED;
      a.view().owner = sparse_voucher();
      for (const tnr_orientation orientation : kOrientations) {
        SCOPED_TRACE(pattern.name + ", orientation " + std::to_string(orientation));
        for (const std::int64_t columns : {0, 5}) {
          expect_product(a, orientation, kTypes[1], columns, Arrangement::kRowMajor,
                         Arrangement::kRowMajor, 2, 3, random);
        }
      }
    }
  }
}

// They are multiplied as rows are, to the same bits as CSR, for any number of threads.
TEST(SparseMatmul, SortedCoordinatesAreRows) {
  Random random(14);
  Pattern pattern = scattered(3000, 200, 100'000, random);
  // Many rows without entries, also at the end.
  for (Position& p : pattern.positions) p.row = p.row % 1000 * 2;
  std::stable_sort(pattern.positions.begin(), pattern.positions.end(),
                   [](const Position& a, const Position& b) { return a.row < b.row; });
  std::vector<float> values(pattern.positions.size());
  for (float& value : values) value = static_cast<float>(random() % 100'003) / 3e4f - 1.5f;
  const Literal<float> b(TNR_DTYPE_F32, {values.begin(), values.begin() + 200});
  const ContextToken token = context_create(options(3));
  for (const tnr_dtype index_dtype : kIndexDtypes) {
    const auto result = [&](tnr_sparse_format format, const Context& context) {
      Matrix a(pattern, format, index_dtype, kTypes[1], random);
      a.view().flags = TNR_SPARSE_SORTED;
      a.view().owner = sparse_voucher();
      a.view().values =
          flat_view(values.data(), TNR_DTYPE_F32, {static_cast<std::int64_t>(values.size())});
      Literal<float> out(TNR_DTYPE_F32, std::vector<float>(3000));
      sparse_matmul(context, number(1), a.view(), TNR_ORIENTATION_AS_IS, b.view, number(0),
                    out.out());
      return out.values;
    };
    const std::vector<float> expected = result(TNR_SPARSE_FORMAT_CSR, kDefaultContext);
    EXPECT_EQ(result(TNR_SPARSE_FORMAT_COO, kDefaultContext), expected);
    EXPECT_EQ(result(TNR_SPARSE_FORMAT_COO, ContextUse(token)), expected);
  }
  context_release(token);
}

// The order of a row's sum is fixed: one plain loop gives the same bits under every set.
TEST(SparseMatmul, OneColumnIsEightSumsInATree) {
  Random random(11);
  const Pattern pattern = staircase();
  Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, kTypes[1], random);
  std::vector<float> x(43);
  for (float& value : x) value = static_cast<float>(random() % 100'003) / 3e4f - 1.5f;
  const Literal<float> b(TNR_DTYPE_F32, x);
  Literal<float> out(TNR_DTYPE_F32, std::vector<float>(41));
  sparse_matmul(kDefaultContext, number(1), a.view(), TNR_ORIENTATION_AS_IS, b.view, number(0),
                out.out());
  const std::vector<Matrix::Row> rows = a.rows(TNR_ORIENTATION_AS_IS);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    float lanes[8] = {};
    for (std::size_t k = 0; k < rows[row].cols.size(); ++k) {
      float value;
      std::memcpy(&value, rows[row].values[k], sizeof value);
      lanes[k % 8] += value * x[static_cast<std::size_t>(rows[row].cols[k])];
    }
    const float expected = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
                           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
    EXPECT_EQ(out.values[row], expected) << row;
  }
}

// ---- refusals ----

class Refusals : public testing::Test {
 protected:
  void expect(tnr_status status, std::initializer_list<std::string> words,
              const tnr_sparse_view& a) {
    expect_error(status, words, [&] {
      sparse_matmul(kDefaultContext, number(1), a, orientation_, b_.view, number(0), out_.out());
    });
  }

  tnr_orientation orientation_ = TNR_ORIENTATION_AS_IS;
  Literal<float> b_{TNR_DTYPE_F32, {1, 2, 3, 4}};
  Literal<float> out_{TNR_DTYPE_F32, {0, 0, 0}};
  SparseArrays a_{csr_model(), TNR_DTYPE_I32};
};

TEST_F(Refusals, Shapes) {
  Literal<float> two(TNR_DTYPE_F32, {1, 2});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.shape[0] is 2 but must be 4, the columns of a"},
               [&] {
                 sparse_matmul(kDefaultContext, number(1), a_.view(), orientation_, two.view,
                               number(0), out_.out());
               });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[0] is 2 but must be 3, the rows of a"},
               [&] {
                 sparse_matmul(kDefaultContext, number(1), a_.view(), orientation_, b_.view,
                               number(0), two.out());
               });
  orientation_ = TNR_ORIENTATION_TRANSPOSED;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"b.shape[0] is 4 but must be 3, the rows of a"}, a_.view());
  orientation_ = 3;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"orientation", "3"}, a_.view());
}

TEST_F(Refusals, RanksAndTypes) {
  tnr_view matrix = flat_view(b_.values.data(), TNR_DTYPE_F32, {4, 1});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.rank is 1 but must be 2"}, [&] {
    sparse_matmul(kDefaultContext, number(1), a_.view(), orientation_, matrix, number(0),
                  out_.out());
  });
  matrix = flat_view(b_.values.data(), TNR_DTYPE_F32, {4, 1, 1});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.rank is 3 but must be 1 or 2"}, [&] {
    sparse_matmul(kDefaultContext, number(1), a_.view(), orientation_, matrix, number(0),
                  out_.out());
  });
  Literal<double> wide(TNR_DTYPE_F64, {1, 2, 3, 4});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.dtype is f64 but a.values.dtype is f32"}, [&] {
    sparse_matmul(kDefaultContext, number(1), a_.view(), orientation_, wide.view, number(0),
                  out_.out());
  });
  Literal<std::uint8_t> truth(TNR_DTYPE_BOOL8, {1, 0, 1, 1, 1});
  a_.view().values = truth.view;
  expect(TNR_STATUS_UNSUPPORTED, {"matmul does not take bool8"}, a_.view());
}

TEST_F(Refusals, ScalarsThatDoNotFit) {
  Literal<std::int8_t> values(TNR_DTYPE_I8, {1, 2, 3, 4, 5});
  Literal<std::int8_t> b(TNR_DTYPE_I8, {1, 2, 3, 4});
  Literal<std::int8_t> out(TNR_DTYPE_I8, {0, 0, 0});
  a_.view().values = values.view;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"alpha", "300"}, [&] {
    sparse_matmul(kDefaultContext, number(300), a_.view(), orientation_, b.view, number(0),
                  out.out());
  });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"beta", "0.5"}, [&] {
    sparse_matmul(kDefaultContext, number(1), a_.view(), orientation_, b.view, number(0.5),
                  out.out());
  });
}

TEST_F(Refusals, OutputsThatShareBytes) {
  const auto into = [&](const tnr_view& out) {
    expect_error(TNR_STATUS_ALIASED, {}, [&] {
      sparse_matmul(kDefaultContext, number(1), a_.view(), orientation_, b_.view, number(0), {out});
    });
  };
  into(slice(b_.view, 0, 1, 4, 1));
  into(slice(a_.view().values, 0, 2, 5, 1));
  into(flat_view(a_.view().major.data, TNR_DTYPE_F32, {3}));
  into(flat_view(a_.view().minor.data, TNR_DTYPE_F32, {3}));
}

// Each format, as it is and transposed, with each entry and offset spoilt in turn: a message, and
// under a sanitizer nothing outside of the arrays is touched.
TEST(SparseMatmulTrust, LentIndicesAreChecked) {
  Random random(12);
  for (const tnr_dtype index_dtype : kIndexDtypes) {
    for (const SparseModel& model : {coo_model(), csr_model(), csc_model(), bsr_model()}) {
      for (const tnr_orientation orientation : kOrientations) {
        const bool as_is = orientation == TNR_ORIENTATION_AS_IS;
        for (const bool is_major : {true, false}) {
          const std::size_t count = is_major ? model.major.size() : model.minor.size();
          for (std::size_t at = 0; at < count; ++at) {
            for (const std::int64_t wrong :
                 {std::int64_t{-1}, std::int64_t{1000}, std::int64_t{INT32_MAX}}) {
              SparseModel spoilt = model;
              (is_major ? spoilt.major : spoilt.minor)[at] = wrong;
              SparseArrays arrays(spoilt, index_dtype);
              for (const std::int64_t columns : {0, 70}) {
                const auto shape = [&](std::int64_t rows) {
                  return columns == 0 ? Shape{rows} : Shape{rows, columns};
                };
                Array b(TNR_DTYPE_F32, shape(as_is ? model.cols : model.rows),
                        Arrangement::kRowMajor, random);
                Array out(TNR_DTYPE_F32, shape(as_is ? model.rows : model.cols),
                          Arrangement::kRowMajor, random);
                expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.", std::to_string(wrong)}, [&] {
                  sparse_matmul(kDefaultContext, number(1), arrays.view(), orientation, b.view(),
                                number(0), out.out());
                });
                EXPECT_TRUE(out.gaps_are_intact());
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenure::test
