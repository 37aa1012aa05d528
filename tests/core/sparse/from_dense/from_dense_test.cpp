// Compares conversions from dense to sparse with a loop over elements; under each instruction set.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "dense_model.hpp"
#include "expect_error.hpp"
#include "sparse_arrays.hpp"
#include "tenure/sparse.hpp"
#include "test_context.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

constexpr tnr_sparse_format kFormats[] = {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_COO,
                                          TNR_SPARSE_FORMAT_CSC};
constexpr tnr_sparse_predicate kPredicates[] = {
    TNR_SPARSE_PREDICATE_NON_ZERO, TNR_SPARSE_PREDICATE_GREATER,
    TNR_SPARSE_PREDICATE_MAGNITUDE_GREATER, TNR_SPARSE_PREDICATE_MASK};

// Around words of 64, rows that share one, rows of many, and pieces of 1024 with their remainders.
const std::vector<Shape> kShapes = {
    {0, 0},   {0, 5},   {5, 0},    {1, 1},     {1, 63},   {1, 64},  {1, 65},   {3, 1},   {7, 3},
    {64, 64}, {63, 65}, {65, 63},  {5, 200},   {2, 1025}, {300, 7}, {1000, 1}, {129, 2}, {33, 130},
    {3, 64},  {2, 128}, {1, 2047}, {70, 1024}, {20, 100}, {40, 37}, {257, 31}};

// Zeros, and in between any bits, small numbers, zeros with a sign, infinities and NaN.
void fill_sparsely(Array& array, Type type, double density, Random& random) {
  const std::size_t width = element_size(array.view().dtype);
  for (Byte* const element : array.elements()) {
    std::memset(element, 0, width);
    if (static_cast<double>(random() % 1000) >= density * 1000) continue;
    double value = static_cast<double>(random() % 5) - (is_float(type) ? 2 : 0);
    switch (random() % 8) {
      case 0: value = -0.0; break;
      case 1: value = is_float(type) ? std::nan("") : 1; break;
      case 2: value = is_float(type) ? std::copysign(INFINITY, value) : 2; break;
      case 3:
        for (std::size_t i = 0; i < width; ++i) element[i] = static_cast<Byte>(random());
        continue;
      default: break;
    }
    Byte bytes[8];
    std::memcpy(bytes, &value, sizeof value);
    kernels::reference::cast(Type::kF64, bytes, type, element);
  }
}

struct Question {
  SparseOptions options;
  Byte threshold[8];  // of the elements' type
};

Question question_of(tnr_sparse_format format, tnr_sparse_predicate predicate, NamedType type,
                     Random& random) {
  Question question{options_of(format), {}};
  question.options.predicate = predicate;
  question.options.index_dtype = random() % 2 == 0 ? TNR_DTYPE_I32 : TNR_DTYPE_I64;
  if (predicate == TNR_SPARSE_PREDICATE_NON_ZERO && random() % 3 == 0) {
    question.options.flags = TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO;
  }
  double threshold = static_cast<double>(random() % 3);
  const bool may_be_negative =
      predicate == TNR_SPARSE_PREDICATE_GREATER && (type.type < Type::kU8 && random() % 3 == 0);
  if (may_be_negative) threshold = threshold == 0 && is_float(type.type) ? -0.0 : -threshold;
  Byte bytes[8];
  std::memcpy(bytes, &threshold, sizeof threshold);
  kernels::reference::cast(Type::kF64, bytes, type.type, question.threshold);
  if (predicate == TNR_SPARSE_PREDICATE_GREATER ||
      predicate == TNR_SPARSE_PREDICATE_MAGNITUDE_GREATER) {
    question.options.threshold.dtype = type.dtype;
    std::memcpy(question.options.threshold.bytes, question.threshold, 8);
  }
  return question;
}

// The expected entries of the array's elements, by a plain loop.
SparseContent expected_of(Array& dense, Array& mask, NamedType type, const Question& question) {
  const std::vector<Byte*> elements = dense.elements();
  const std::vector<Byte*> asked = mask.elements();
  const SparseOptions& options = question.options;
  std::vector<bool> kept(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    kept[i] = is_entry(options.predicate, options.flags, type.type, elements[i], question.threshold,
                       *asked[i] != 0);
  }
  const std::int64_t rows = dense.view().shape[0];
  const std::int64_t cols = dense.view().shape[1];
  const std::size_t width = element_size(type.dtype);
  SparseContent content =
      options.format == TNR_SPARSE_FORMAT_BSR
          ? block_model_of(rows, cols, options.block_rows, options.block_cols,
                           {elements.begin(), elements.end()}, kept, width)
          : model_of(options.format, rows, cols, {elements.begin(), elements.end()}, kept, width);
  if (type.type == Type::kBool8) {
    for (unsigned char& byte : content.values) byte = byte != 0 ? 1 : 0;
  }
  return content;
}

std::string describe(const Array& dense, const Question& question) {
  return test::describe(dense.view()) + ", format " + std::to_string(question.options.format) +
         ", predicate " + std::to_string(question.options.predicate) + ", threshold bits " +
         std::to_string(question.threshold[0]) + ", flags " +
         std::to_string(question.options.flags);
}

class SparseFromDense : public testing::TestWithParam<NamedType> {};

TEST_P(SparseFromDense, IsWhatALoopFinds) {
  const NamedType type = GetParam();
  Random random(5);
  for (const Shape& shape : kShapes) {
    for (const tnr_sparse_predicate predicate : kPredicates) {
      const bool has_order = type.type != Type::kBool8;
      if (!has_order && (predicate == TNR_SPARSE_PREDICATE_GREATER ||
                         predicate == TNR_SPARSE_PREDICATE_MAGNITUDE_GREATER)) {
        continue;
      }
      constexpr double kDensities[] = {0, 0.003, 0.01, 0.04, 0.15, 0.5, 1};
      const double density = kDensities[random() % std::size(kDensities)];
      const Arrangement arrangement =
          random() % 2 == 0 ? Arrangement::kRowMajor : kReadable[random() % std::size(kReadable)];
      Array dense(type.dtype, shape, arrangement, random);
      fill_sparsely(dense, type.type, density, random);
      Array mask(TNR_DTYPE_BOOL8, shape, kReadable[random() % std::size(kReadable)], random);
      fill_sparsely(mask, Type::kBool8, density, random);
      const tnr_sparse_format format = kFormats[random() % std::size(kFormats)];
      Question question = question_of(format, predicate, type, random);
      if (question.options.predicate == TNR_SPARSE_PREDICATE_MASK) {
        question.options.mask = mask.view();
      }
      const Returned matrix(sparse_from_dense(kDefaultContext, dense.view(), question.options));
      const SparseContent content = matrix.content();
      EXPECT_TRUE(content == expected_of(dense, mask, type, question)) << describe(dense, question);
      EXPECT_EQ(matrix.view().flags, TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE);
      EXPECT_EQ(matrix.view().minor.dtype, question.options.index_dtype);
    }
  }
}

TEST_P(SparseFromDense, BlocksAreWhatALoopFinds) {
  const NamedType type = GetParam();
  Random random(6);
  for (const std::int64_t block_cols : {1, 2, 3, 4, 5, 7, 8, 11, 16}) {
    for (const Shape& blocks : {Shape{0, 3}, {3, 0}, {1, 1}, {2, 9}, {3, 70}, {40, 5}}) {
      const std::int64_t block_rows = 1 + static_cast<std::int64_t>(random() % 16);
      const Shape shape = {blocks[0] * block_rows, blocks[1] * block_cols};
      constexpr double kDensities[] = {0, 0.003, 0.03, 0.2, 1};
      const double density = kDensities[random() % std::size(kDensities)];
      const Arrangement arrangement =
          random() % 2 == 0 ? Arrangement::kRowMajor : kReadable[random() % std::size(kReadable)];
      Array dense(type.dtype, shape, arrangement, random);
      fill_sparsely(dense, type.type, density, random);
      Array mask(TNR_DTYPE_BOOL8, shape, kReadable[random() % std::size(kReadable)], random);
      fill_sparsely(mask, Type::kBool8, density, random);
      const tnr_sparse_predicate predicate =
          random() % 2 == 0 ? TNR_SPARSE_PREDICATE_MASK : TNR_SPARSE_PREDICATE_NON_ZERO;
      Question question = question_of(TNR_SPARSE_FORMAT_BSR, predicate, type, random);
      if (question.options.predicate == TNR_SPARSE_PREDICATE_MASK) {
        question.options.mask = mask.view();
      }
      question.options.block_rows = block_rows;
      question.options.block_cols = block_cols;
      const Returned matrix(sparse_from_dense(kDefaultContext, dense.view(), question.options));
      EXPECT_TRUE(matrix.content() == expected_of(dense, mask, type, question))
          << describe(dense, question) << ", blocks of " << block_rows << " by " << block_cols;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryType, SparseFromDense, testing::ValuesIn(kTypes),
                         [](const auto& test) { return dtype_name(test.param.dtype); });

// So large that it is cut into chunks and, from 4 MiB on, read once; with rows that go over the
// ends of chunks, and with such that many fit into one word.
TEST(SparseFromDenseOfMany, IsTheSameForAnyNumberOfThreads) {
  struct Case {
    NamedType type;
    Shape shape;
    double density;
  };
  const Case cases[] = {
      {{Type::kF64, TNR_DTYPE_F64}, {725, 724}, 0.1},
      {{Type::kF64, TNR_DTYPE_F64}, {17, 31'003}, 1},
      {{Type::kF32, TNR_DTYPE_F32}, {30'003, 3}, 0.5},
      {{Type::kF32, TNR_DTYPE_F32}, {7, 20'001}, 0.01},
      {{Type::kI8, TNR_DTYPE_I8}, {3, 70'001}, 1},
      {{Type::kF32, TNR_DTYPE_F32}, {200, 904}, 1},
  };
  for (const Case& c : cases) {
    Random random(9);
    Array dense(c.type.dtype, c.shape, Arrangement::kRowMajor, random);
    fill_sparsely(dense, c.type.type, c.density, random);
    for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_COO,
                                           TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR}) {
      Question question = question_of(format, TNR_SPARSE_PREDICATE_NON_ZERO, c.type, random);
      if (format == TNR_SPARSE_FORMAT_BSR) {
        if (c.shape[0] % 4 != 0 || c.shape[1] % 4 != 0) continue;
        question.options.block_rows = question.options.block_cols = 4;
      }
      const Returned serial(sparse_from_dense(kDefaultContext, dense.view(), question.options));
      const SparseContent content = serial.content();
      Array mask(TNR_DTYPE_BOOL8, c.shape, Arrangement::kRepeated, random);
      EXPECT_TRUE(content == expected_of(dense, mask, c.type, question))
          << describe(dense, question);
      for (const unsigned threads : {2u, 3u}) {
        const TestContext context(threads);
        const Returned shared(sparse_from_dense(context, dense.view(), question.options));
        EXPECT_TRUE(content == shared.content()) << describe(dense, question) << threads;
      }
    }
  }
}

TEST(SparseFromDenseOfMany, TakesNoMoreThanItsEntriesNeed) {
  constexpr std::int64_t kRows = 1024;
  std::vector<float> elements(kRows * kRows);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}}) {
    elements.back() = static_cast<float>(count);
    const tnr_view view = view_of(elements.data(), elements.size() * sizeof(float), 0,
                                  TNR_DTYPE_F32, {{kRows, kRows}, {kRows, 1}});
    const Returned matrix(
        sparse_from_dense(kDefaultContext, view, options_of(TNR_SPARSE_FORMAT_COO)));
    for (const tnr_view* part :
         {&matrix.view().major, &matrix.view().minor, &matrix.view().values}) {
      EXPECT_EQ(blob_memory(part->owner).size_bytes, count * 4);
    }
  }
}

TEST(SparseFromDenseRefuses, UnknownOptions) {
  const std::vector<float> elements(12, 1.0f);
  const tnr_view dense = view_of(elements.data(), 48, 0, TNR_DTYPE_F32, {{3, 4}, {4, 1}});
  const auto refuses = [](tnr_status status, std::initializer_list<std::string> words,
                          const tnr_view& view, const SparseOptions& options) {
    expect_error(status, words, [&] { sparse_from_dense(kDefaultContext, view, options); });
  };
  const SparseOptions csr = options_of(TNR_SPARSE_FORMAT_CSR);
  SparseOptions options = csr;
  options.format = 9;
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"format is 9, which names no format"}, dense, options);
  options = csr;
  options.predicate = 7;
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"attributes->predicate is 7"}, dense, options);
  options = csr;
  options.flags = 6;
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"attributes->flags is 0x6", "0x1"}, dense, options);
  options = csr;
  options.index_dtype = TNR_DTYPE_U32;
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"attributes->index_dtype is u32", "i32 or i64"}, dense,
          options);
  options = csr;
  options.block_cols = 2;
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"attributes->block_cols is 2", "must be 0"}, dense,
          options);
  options = options_of(TNR_SPARSE_FORMAT_BSR);
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"attributes->block_rows is 0", "at least 1"}, dense,
          options);
  options.block_rows = 17;
  refuses(TNR_STATUS_UNSUPPORTED, {"attributes->block_rows is 17", "at most 16"}, dense, options);
  options.block_rows = 3;
  options.block_cols = 3;
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"attributes->block_cols is 3", "dense.shape[1]: 4"}, dense,
          options);
  tnr_view flat = dense;
  flat.rank = 1;
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"dense.rank is 1", "must be 2"}, flat, csr);
}

TEST(SparseFromDenseRefuses, ThresholdsThatNothingIsAbove) {
  const std::vector<float> elements(12, 1.0f);
  const tnr_view dense = view_of(elements.data(), 48, 0, TNR_DTYPE_F32, {{3, 4}, {4, 1}});
  const auto refuses = [&](tnr_status status, std::initializer_list<std::string> words,
                           tnr_sparse_predicate predicate, double threshold, tnr_dtype dtype) {
    SparseOptions options = options_of(TNR_SPARSE_FORMAT_CSR);
    options.predicate = predicate;
    options.threshold = scalar_of(TNR_DTYPE_F64, threshold);
    tnr_view view = dense;
    view.dtype = dtype;
    view.shape[1] = 1;
    view.strides[0] = 1;
    expect_error(status, words, [&] { sparse_from_dense(kDefaultContext, view, options); });
  };
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"attributes->threshold is NaN"},
          TNR_SPARSE_PREDICATE_GREATER, std::nan(""), TNR_DTYPE_F32);
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"attributes->threshold is -1 ", "at least 0"},
          TNR_SPARSE_PREDICATE_MAGNITUDE_GREATER, -1, TNR_DTYPE_I32);
  refuses(TNR_STATUS_INVALID_ARGUMENT, {"attributes->threshold", "300"},
          TNR_SPARSE_PREDICATE_GREATER, 300, TNR_DTYPE_U8);
  refuses(TNR_STATUS_UNSUPPORTED, {"does not take bool8"}, TNR_SPARSE_PREDICATE_GREATER, 0,
          TNR_DTYPE_BOOL8);
  refuses(TNR_STATUS_UNSUPPORTED, {"does not take c64"}, TNR_SPARSE_PREDICATE_GREATER, 0,
          TNR_DTYPE_C64);
}

TEST(SparseFromDenseRefuses, MasksOfAnotherShape) {
  const std::vector<float> elements(12, 1.0f);
  const std::vector<Byte> truths(12, Byte{1});
  const tnr_view dense = view_of(elements.data(), 48, 0, TNR_DTYPE_F32, {{3, 4}, {4, 1}});
  SparseOptions options = options_of(TNR_SPARSE_FORMAT_CSR);
  options.predicate = TNR_SPARSE_PREDICATE_MASK;
  options.mask = view_of(truths.data(), 12, 0, TNR_DTYPE_BOOL8, {{4, 3}, {3, 1}});
  const auto refused = [&](std::initializer_list<std::string> words) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, words,
                 [&] { sparse_from_dense(kDefaultContext, dense, options); });
  };
  refused({"attributes->mask.shape[0] is 4", "dense.shape[0] is 3"});
  options.mask = view_of(truths.data(), 12, 0, TNR_DTYPE_U8, {{3, 4}, {4, 1}});
  refused({"attributes->mask.dtype is u8"});
}

TEST(SparseFromDenseRefuses, ExtentsThatIndicesCannotReach) {
  const Byte zero = 0;
  const tnr_view dense = view_of(&zero, 1, 0, TNR_DTYPE_U8, {{1, 0}, {std::int64_t{1} << 32, 0}});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"4294967295", "use i64 indices"}, [&] {
    sparse_from_dense(kDefaultContext, dense, options_of(TNR_SPARSE_FORMAT_CSR));
  });
}

TEST(SparseFromDense, ComplexNumbersAreZeroWhereBothPartsAre) {
  const std::vector<float> parts = {0, 0, -0.0f, 0, 0, 2, 3, 0, -0.0f, -0.0f, 0, -0.0f};
  const tnr_view dense = view_of(parts.data(), 48, 0, TNR_DTYPE_C64, {{2, 3}, {3, 1}});
  const Returned matrix(
      sparse_from_dense(kDefaultContext, dense, options_of(TNR_SPARSE_FORMAT_COO)));
  const SparseContent content = matrix.content();
  EXPECT_EQ(content.major, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(content.minor, (std::vector<std::int64_t>{2, 0}));
}

}  // namespace
