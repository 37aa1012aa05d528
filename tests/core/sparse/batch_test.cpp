// Compares operations on batches with the same operations on one matrix after the other, which have
// tests of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "dense_model.hpp"
#include "expect_error.hpp"
#include "sparse/batch.hpp"
#include "sparse_arrays.hpp"
#include "tenure/context.hpp"
#include "tenure/ops.hpp"
#include "tenure/sparse.hpp"
#include "test_context.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

constexpr tnr_sparse_format kFormats[] = {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                          TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR};

// Contexts of one thread, and of several.
class Contexts {
 public:
  [[nodiscard]] std::vector<const Context*> all() const {
    return {&kDefaultContext, &static_cast<const Context&>(threads_)};
  }

 private:
  TestContext threads_{3};
};

SparseOptions batch_options(tnr_sparse_format format, tnr_dtype index_dtype,
                            std::int64_t block_rows = 2, std::int64_t block_cols = 3) {
  SparseOptions options = options_of(format, 0, index_dtype);
  if (format == TNR_SPARSE_FORMAT_BSR) {
    options.block_rows = block_rows;
    options.block_cols = block_cols;
  }
  return options;
}

// Some elements that are small whole numbers, and zeros; every third matrix has none.
void fill_sparsely(Array& array, Random& random) {
  const std::size_t width = element_size(array.view().dtype);
  const std::vector<Byte*> elements = array.elements();
  const auto matrices = static_cast<std::size_t>(array.view().shape[0]);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::memset(elements[i], 0, width);
    const std::size_t matrix = i / (elements.size() / matrices);
    if (matrix % 3 == 1 || random() % (2 + matrix % 4) != 0) continue;
    const double value = static_cast<double>(1 + random() % 7);
    Byte bytes[8];
    std::memcpy(bytes, &value, sizeof value);
    for (const NamedType& type : kTypes) {
      if (type.dtype == array.view().dtype) {
        kernels::reference::cast(Type::kF64, bytes, type.type, elements[i]);
      }
    }
  }
}

std::vector<Byte> bytes_of(const tnr_view& view) {
  const auto* const data = static_cast<const Byte*>(view.data);
  return {data, data + static_cast<std::size_t>(element_count(view)) * element_size(view.dtype)};
}

// ---- from dense, and back ----

class SparseBatchOf : public testing::TestWithParam<NamedType> {};

TEST_P(SparseBatchOf, DenseIsEachMatrixOfIt) {
  const Shape shapes[] = {{0, 4, 6},  {3, 0, 6},   {3, 4, 0},   {1, 2, 3},   {5, 2, 3}, {7, 1, 3},
                          {4, 2, 66}, {9, 32, 33}, {3, 130, 9}, {2, 8, 600}, {40, 2, 3}};
  const tnr_dtype dtype = GetParam().dtype;
  Random random(7);
  for (const Shape& shape : shapes) {
    for (const tnr_sparse_format format : kFormats) {
      if (format == TNR_SPARSE_FORMAT_BSR && (shape[1] % 2 != 0 || shape[2] % 3 != 0)) continue;
      for (const Arrangement arrangement : kReadable) {
        Array dense(dtype, shape, arrangement, random);
        fill_sparsely(dense, random);
        const SparseOptions options =
            batch_options(format, random() % 2 == 0 ? TNR_DTYPE_I32 : TNR_DTYPE_I64);
        const Returned batch(sparse_from_dense(kDefaultContext, dense.view(), options));
        ASSERT_TRUE(is_batch(batch.view()));
        ASSERT_EQ(batch_count(batch.view()), shape[0]);
        for (std::int64_t i = 0; i < shape[0]; ++i) {
          const Returned one(
              sparse_from_dense(kDefaultContext, index(dense.view(), 0, i), options));
          ASSERT_EQ(content_of(batch_matrix(batch.view(), i)), one.content())
              << describe(dense.view()) << ", format " << format << ", matrix " << i;
        }
        Array out(dtype, shape,
                  arrangement == Arrangement::kRepeated ? Arrangement::kGaps : arrangement, random);
        sparse_to_dense(kDefaultContext, batch.view(), out.out());
        const std::vector<Byte*> expected = dense.elements();
        const std::vector<Byte*> found = out.elements();
        for (std::size_t k = 0; k < found.size(); ++k) {
          ASSERT_EQ(std::memcmp(found[k], expected[k], element_size(dtype)), 0) << k;
        }
        EXPECT_TRUE(out.gaps_are_intact());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, SparseBatchOf,
                         testing::Values(NamedType{Type::kF64, TNR_DTYPE_F64},
                                         NamedType{Type::kF32, TNR_DTYPE_F32},
                                         NamedType{Type::kI16, TNR_DTYPE_I16},
                                         NamedType{Type::kU8, TNR_DTYPE_U8}),
                         [](const auto& test) { return dtype_name(test.param.dtype); });

// Batches of more than kOncePassBytes, the size from which elements are read once: in matrices that
// several threads share, in matrices that one thread has for itself, and in many small ones.
TEST(SparseBatch, LargeOnesAreTheSameForAnyNumberOfThreads) {
  const Contexts contexts;
  for (const Shape& shape : {Shape{1200, 32, 30}, Shape{2, 800, 690}, Shape{28, 80, 510}}) {
    std::vector<float> dense(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
    Random random(1);
    for (std::size_t i = random() % 9; i < dense.size(); i += 1 + random() % 30) {
      dense[i] = static_cast<float>(i % 1000 + 1);
    }
    const tnr_view view = flat_view(dense.data(), TNR_DTYPE_F32, shape);
    for (const tnr_sparse_format format : kFormats) {
      std::vector<std::unique_ptr<Returned>> made;
      for (const Context* const context : contexts.all()) {
        made.push_back(std::make_unique<Returned>(
            sparse_from_dense(*context, view, batch_options(format, TNR_DTYPE_I32))));
        std::vector<float> out(dense.size(), -1.0f);
        sparse_to_dense(*context, made.back()->view(),
                        {flat_view(out.data(), TNR_DTYPE_F32, shape)});
        EXPECT_TRUE(out == dense) << shape[0] << ", format " << format;
      }
      EXPECT_EQ(made[0]->content(), made[1]->content());
      EXPECT_EQ(bytes_of(made[0]->view().batch_offsets), bytes_of(made[1]->view().batch_offsets));
    }
  }
}

TEST(SparseBatch, AMaskNamesEntriesOfEachMatrix) {
  std::vector<float> dense(2 * 2 * 3, 0.0f);
  const std::vector<std::uint8_t> mask = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  SparseOptions options = batch_options(TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32);
  options.predicate = TNR_SPARSE_PREDICATE_MASK;
  options.mask = flat_view(mask.data(), TNR_DTYPE_BOOL8, {2, 2, 3});
  const tnr_view view = flat_view(dense.data(), TNR_DTYPE_F32, {2, 2, 3});
  const Returned batch(sparse_from_dense(kDefaultContext, view, options));
  EXPECT_EQ(batch.content().major, (Indices{0, 1, 2, 0, 0, 1}));
  EXPECT_EQ(batch.content().minor, (Indices{0, 2, 1}));
  options.mask = flat_view(mask.data(), TNR_DTYPE_BOOL8, {4, 3});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"attributes->mask.rank is 2 but must be 3"},
               [&] { sparse_from_dense(kDefaultContext, view, options); });
  options.mask = flat_view(mask.data(), TNR_DTYPE_BOOL8, {1, 2, 3});
  expect_error(TNR_STATUS_INVALID_ARGUMENT,
               {"attributes->mask.shape[0] is 1 but dense.shape[0] is 2"},
               [&] { sparse_from_dense(kDefaultContext, view, options); });
}

// ---- what may be wrong ----

// A batch of three matrices with 2 rows and 3 columns, the second without entries.
struct Lent {
  explicit Lent(tnr_sparse_format format = TNR_SPARSE_FORMAT_CSR)
      : model{.format = format, .rows = 2, .cols = 3, .flags = 0} {
    if (format == TNR_SPARSE_FORMAT_COO) {
      model.major = {0, 1, 1, 0, 1};
    } else {
      model.major = {0, 1, 3, 0, 0, 0, 0, 1, 2};
    }
    model.minor = {2, 0, 1, 0, 2};
    model.values = {1, 2, 3, 4, 5};
  }
  tnr_sparse_view& view() {
    arrays = std::make_unique<SparseArrays>(model, TNR_DTYPE_I32);
    arrays->view().batch_offsets =
        flat_view(offsets.data(), TNR_DTYPE_I64, {static_cast<std::int64_t>(offsets.size())});
    return arrays->view();
  }

  SparseModel model;
  Indices offsets = {0, 3, 3, 5};
  std::unique_ptr<SparseArrays> arrays;
};

using Words = std::initializer_list<std::string>;

void refuses(const std::function<void(Lent&)>& change, Words words,
             tnr_sparse_format format = TNR_SPARSE_FORMAT_CSR) {
  Lent lent(format);
  check_matrix(lent.view(), "a");
  change(lent);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, words, [&] { check_matrix(lent.view(), "a"); });
}

TEST(SparseBatchCheck, NamesMatrixPositionValueAndBound) {
  refuses([](Lent& lent) { lent.offsets[1] = 6; },
          {"a.batch_offsets[1] is 6", "at most 5, the number of entries"});
  refuses([](Lent& lent) { lent.offsets[0] = -1; }, {"a.batch_offsets[0] is -1", "at least 0"});
  refuses([](Lent& lent) { lent.offsets[2] = 2; },
          {"a.batch_offsets[2] is 2 but the one before is 3", "must not fall"});
  refuses([](Lent& lent) { lent.offsets.clear(); },
          {"a.batch_offsets.shape[0] is 0", "at least 1"});
  refuses([](Lent& lent) { lent.offsets.pop_back(); },
          {"a.row_offsets.shape[0] is 9 but must be 6", "each matrix of the batch"});
  refuses([](Lent& lent) { lent.offsets[1] = 2; },
          {"a, matrix 0: row_offsets[2] is 3", "at most 2, the number of entries"});
  refuses([](Lent& lent) { lent.model.minor[4] = 3; },
          {"a, matrix 2: col_indices[1] is 3", "below cols, which is 3"});
  refuses([](Lent& lent) { lent.model.flags = TNR_SPARSE_SORTED, lent.model.minor[2] = -1; },
          {"a, matrix 0: col_indices[2] is -1"});
  refuses([](Lent& lent) { lent.model.major[3] = 2; }, {"a, matrix 1: row_offsets[0] is 2"});
  refuses([](Lent& lent) { lent.model.major[4] = 2; },
          {"a, matrix 2: row_indices[1] is 2", "below rows, which is 2"}, TNR_SPARSE_FORMAT_COO);
}

TEST(SparseBatchCheck, FlagsAreOfEachMatrix) {
  Lent lent(TNR_SPARSE_FORMAT_COO);
  lent.model.flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
  check_matrix(lent.view(), "a");
  lent.offsets = {0, 5};
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a, matrix 0: row_indices[3] is 0"},
               [&] { check_matrix(lent.view(), "a"); });
}

TEST(SparseBatchCheck, ShapeOfOffsets) {
  Lent lent;
  const auto refuse = [&](const std::function<void(tnr_view&)>& change, Words words) {
    tnr_sparse_view view = lent.view();
    change(view.batch_offsets);
    expect_error(TNR_STATUS_INVALID_ARGUMENT, words, [&] { check_matrix(view, "a"); });
  };
  refuse([](tnr_view& offsets) { offsets.dtype = TNR_DTYPE_U64; },
         {"a.batch_offsets.dtype is u64", "i32 or i64"});
  refuse([](tnr_view& offsets) { offsets = flat_view(offsets.data, TNR_DTYPE_I64, {2, 2}); },
         {"a.batch_offsets.rank is 2 but must be 1"});
  refuse([](tnr_view& offsets) { offsets.rank = 0; }, {"a.batch_offsets.rank is 0", "zeros"});
  refuse([](tnr_view& offsets) { offsets.shape[0] = 2, offsets.strides[0] = 2; },
         {"a.batch_offsets.strides[0] is 2"});
  refuse(
      [](tnr_view& offsets) {
        const std::int64_t extent = TNR_MAX_ELEMENTS;
        offsets.shape[0] = extent, offsets.strides[0] = 0;
      },
      {"a.batch_offsets.strides[0] is 0 but must be 1"});
}

TEST(SparseBatchCheck, NarrowOffsetsAreOffsetsToo) {
  Lent lent;
  tnr_sparse_view view = lent.view();
  const std::vector<std::int32_t> narrow = {0, 3, 3, 5};
  view.batch_offsets = flat_view(narrow.data(), TNR_DTYPE_I32, {4});
  check_matrix(view, "a");
  EXPECT_EQ(content_of(batch_matrix(view, 2)).minor, (Indices{0, 2}));
}

TEST(SparseBatchCheck, ARangeOfMatricesIsABatch) {
  Lent lent;
  const tnr_sparse_view& whole = lent.view();
  tnr_sparse_view view = whole;
  view.batch_offsets = slice(view.batch_offsets, 0, 1, 4, 1);
  view.major = slice(view.major, 0, 3, 9, 1);
  check_matrix(view, "a");
  EXPECT_EQ(content_of(batch_matrix(view, 1)).values, content_of(batch_matrix(whole, 2)).values);
}

TEST(SparseBatch, WrongEntriesAreFoundAsTheCallGoes) {
  Lent lent;
  lent.model.minor[4] = 3;
  std::vector<float> dense(18, 1.0f);
  const Contexts contexts;
  for (const Context* const context : contexts.all()) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a, matrix 2: col_indices[1] is 3"}, [&] {
      sparse_to_dense(*context, lent.view(), {flat_view(dense.data(), TNR_DTYPE_F32, {3, 2, 3})});
    });
  }
  lent.offsets[2] = 7;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.batch_offsets[2] is 7"}, [&] {
    sparse_to_dense(kDefaultContext, lent.view(),
                    {flat_view(dense.data(), TNR_DTYPE_F32, {3, 2, 3})});
  });
}

TEST(SparseBatch, OfSeveralThatAreWrongTheFirstIsNamed) {
  constexpr std::int64_t kCount = 40'000;  // enough for several slices
  SparseModel model{.rows = 1, .cols = 8};
  Indices offsets = {0};
  for (std::int64_t i = 0; i < kCount; ++i) {
    model.major.insert(model.major.end(), {0, 1});
    model.minor.push_back(i == 777 || i > 20'000 ? 8 : 0);
    model.values.push_back(1);
    offsets.push_back(i + 1);
  }
  SparseArrays arrays(model, TNR_DTYPE_I32);
  arrays.view().batch_offsets = flat_view(offsets.data(), TNR_DTYPE_I64, {kCount + 1});
  std::vector<float> dense(8 * kCount);
  const Contexts contexts;
  for (const Context* const context : contexts.all()) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a, matrix 777: col_indices[0] is 8"}, [&] {
      sparse_to_dense(*context, arrays.view(),
                      {flat_view(dense.data(), TNR_DTYPE_F32, {kCount, 1, 8})});
    });
  }
}

// ---- handles, and trusted operands ----

struct Held {
  explicit Held(tnr_sparse_format format) : lent(format) {
    parts = lent.view();
    for (tnr_view* part : {&parts.major, &parts.minor, &parts.values, &parts.batch_offsets}) {
      part->owner = blob_copy(kDefaultContext, part->base, part->size_bytes);
      part->base = part->data = blob_memory(part->owner).data;
    }
    token = sparse_create(parts);
    view = sparse_view(token);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    for (const tnr_view* part : {&parts.major, &parts.minor, &parts.values, &parts.batch_offsets}) {
      blob_release(part->owner);
    }
    sparse_release(token);
  }

  Lent lent;
  tnr_sparse_view parts;
  SparseToken token;
  tnr_sparse_view view;
};

TEST(SparseBatchHandle, HoldsAndSealsFourParts) {
  Held held(TNR_SPARSE_FORMAT_CSR);
  const BlobToken offsets = held.parts.batch_offsets.owner;
  EXPECT_EQ(blob_describe(offsets).holder_count, 2u);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"sealed"}, [&] { blob_memory_mut(offsets); });
  EXPECT_EQ(sparse_batch_offsets(held.token), offsets);
  EXPECT_EQ(blob_describe(offsets).holder_count, 3u);
  blob_release(offsets);
  tnr_sparse_view again = held.parts;
  again.batch_offsets.owner = 0;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"batch_offsets.owner is 0"},
               [&] { sparse_create(again); });
  EXPECT_EQ(blob_describe(offsets).holder_count, 2u);
  again = held.parts;
  again.values = again.batch_offsets;
  again.values.shape[0] = 5;
  again.values.dtype = TNR_DTYPE_I16;
  expect_error(TNR_STATUS_ALIASED, {"values shares bytes with batch_offsets"},
               [&] { sparse_create(again); });
}

TEST(SparseBatchHandle, HoldsAllEntriesFromTheFirstToTheLast) {
  for (const auto& [at, words] : {std::pair{0, "batch_offsets[0] is 1 but must be 0"},
                                  {3, "batch_offsets[3] is 4 but must be 5"}}) {
    Lent lent;
    lent.offsets[static_cast<std::size_t>(at)] = at == 0 ? 1 : 4;
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {words},
                 [&] { check_entries(lent.view(), RowExtent::kWhole, ""); });
  }
  Lent lent;
  lent.model.major = {0, 1, 2, 0, 0, 0, 0, 1, 2};  // the last entry of matrix 0 is in no row
  check_entries(lent.view(), RowExtent::kRange, "");
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"matrix 0: row_offsets[2] is 2 but must be 3"},
               [&] { check_entries(lent.view(), RowExtent::kWhole, ""); });
}

TEST(SparseBatchHandle, OneMatrixHasNoBatchOffsets) {
  const Returned one(sparse_from_dense(kDefaultContext, flat_view("", TNR_DTYPE_U8, {0, 0}),
                                       batch_options(TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32)));
  EXPECT_EQ(sparse_batch_offsets(one.view().owner), 0u);
}

// Parts that cannot belong together may also be refused at once.
bool is_trusted(const tnr_sparse_view& view) {
  try {
    return SparseOperand(view, "a", SparseOperand::Batches::kTaken).is_checked();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), TNR_STATUS_INVALID_ARGUMENT);
    return false;
  }
}

TEST(SparseBatchHandle, PartsOfItAreTrusted) {
  for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_COO}) {
    const Held held(format);
    EXPECT_TRUE(is_trusted(held.view));
    for (std::int64_t i = 0; i < 3; ++i) {
      const tnr_sparse_view matrix = sparse_batch_at(held.view, i);
      EXPECT_EQ(matrix.owner, held.token);
      EXPECT_TRUE(is_trusted(matrix)) << i;
    }
    tnr_sparse_view range = held.view;
    range.batch_offsets = slice(range.batch_offsets, 0, 1, 4, 1);
    if (format == TNR_SPARSE_FORMAT_CSR) range.major = slice(range.major, 0, 3, 9, 1);
    EXPECT_TRUE(is_trusted(range));
    check_matrix(range, "a");
    tnr_sparse_view more_rows = sparse_batch_at(held.view, 2);
    more_rows.cols = 4;
    EXPECT_FALSE(is_trusted(more_rows));
  }
  const Held held(TNR_SPARSE_FORMAT_CSR);
  tnr_sparse_view rows = sparse_batch_at(held.view, 0);
  rows.rows = 1;
  rows.major = slice(rows.major, 0, 1, 3, 1);
  EXPECT_TRUE(is_trusted(rows));
}

TEST(SparseBatchHandle, ForeignPartsAreNotTrusted) {
  const Held held(TNR_SPARSE_FORMAT_CSR);
  const tnr_sparse_view first = sparse_batch_at(held.view, 0);
  tnr_sparse_view other_offsets = first;
  other_offsets.major =
      sparse_batch_at(held.view, 2).major;  // of matrix 2, with entries of matrix 0
  EXPECT_FALSE(is_trusted(other_offsets));
  tnr_sparse_view across = first;
  across.major = slice(held.view.major, 0, 2, 5, 1);  // of two matrices
  EXPECT_FALSE(is_trusted(across));
  tnr_sparse_view shifted = held.view;
  shifted.batch_offsets = slice(shifted.batch_offsets, 0, 1, 4, 1);
  shifted.major = slice(shifted.major, 0, 0, 6, 1);
  EXPECT_FALSE(is_trusted(shifted));
  tnr_sparse_view all_entries = first;
  all_entries.minor = held.view.minor;
  all_entries.values = held.view.values;
  EXPECT_FALSE(is_trusted(all_entries));
  const Held coordinates(TNR_SPARSE_FORMAT_COO);
  tnr_sparse_view fewer = sparse_batch_at(coordinates.view, 0);
  for (tnr_view* part : {&fewer.major, &fewer.minor, &fewer.values}) {
    *part = slice(*part, 0, 1, 3, 1);
  }
  EXPECT_FALSE(is_trusted(fewer));
  tnr_sparse_view crossed = sparse_batch_at(coordinates.view, 0);
  crossed.minor = slice(coordinates.view.minor, 0, 1, 4, 1);
  EXPECT_FALSE(is_trusted(crossed));
}

TEST(SparseBatch, AMatrixOfItIsAViewOfTheSameArrays) {
  const Held held(TNR_SPARSE_FORMAT_CSR);
  const tnr_sparse_view matrix = sparse_batch_at(held.view, 2);
  EXPECT_EQ(matrix.values.data, static_cast<const float*>(held.view.values.data) + 3);
  EXPECT_EQ(content_of(matrix).major, (Indices{0, 1, 2}));
  EXPECT_FALSE(is_batch(matrix));
  for (const std::int64_t wrong : {-1, 3}) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT,
                 {"index is " + std::to_string(wrong), "at least 0 and below 3"},
                 [&] { sparse_batch_at(held.view, wrong); });
  }
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"batch is no batch"},
               [&] { sparse_batch_at(matrix, 0); });
}

// ---- operations ----

TEST(SparseBatch, MostOperationsTakeOneMatrixAtATime) {
  const Held held(TNR_SPARSE_FORMAT_CSR);
  const Words words = {"a is a batch of 3 matrices", "one at a time", "tnr_sparse_batch_at()"};
  expect_error(TNR_STATUS_UNSUPPORTED, words,
               [&] { sparse_coalesce(kDefaultContext, held.view, TNR_SPARSE_COMBINE_SUM); });
  expect_error(TNR_STATUS_UNSUPPORTED, words,
               [&] { sparse_product(kDefaultContext, held.view, held.view); });
  expect_error(TNR_STATUS_UNSUPPORTED, words,
               [&] { sparse_norm(kDefaultContext, TNR_SPARSE_NORM_KIND_ONE, held.view); });
  expect_error(TNR_STATUS_UNSUPPORTED, words,
               [&] { sparse_softmax(kDefaultContext, {held.lent.arrays->view()}); });
}

TEST(SparseBatch, AFunctionOfItSharesItsPattern) {
  const Held held(TNR_SPARSE_FORMAT_CSR);
  const Returned result(sparse_unary(kDefaultContext, TNR_UNARY_OP_NEG, held.view));
  EXPECT_EQ(result.view().batch_offsets.data, held.view.batch_offsets.data);
  EXPECT_EQ(result.view().major.data, held.view.major.data);
  EXPECT_EQ(static_cast<const float*>(result.view().values.data)[4], -5.0f);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"must be all of it"}, [&] {
    sparse_unary(kDefaultContext, TNR_UNARY_OP_NEG, sparse_batch_at(held.view, 0));
  });
}

// Compares conversions to each format and back with the conversions of each matrix.
TEST(SparseBatchConvert, IsTheConversionOfEachMatrix) {
  const Contexts contexts;
  Random random(11);
  for (const Shape& shape :
       {Shape{5, 4, 6}, Shape{300, 8, 9}, Shape{3, 500, 702}, Shape{0, 2, 3}, Shape{3, 0, 3}}) {
    Array dense(TNR_DTYPE_F32, shape, Arrangement::kRowMajor, random);
    if (shape[0] != 0) fill_sparsely(dense, random);
    for (const tnr_sparse_format from : kFormats) {
      const Returned batch(
          sparse_from_dense(kDefaultContext, dense.view(), batch_options(from, TNR_DTYPE_I32)));
      for (const tnr_sparse_format to : kFormats) {
        const tnr_dtype index = random() % 2 == 0 ? TNR_DTYPE_I32 : TNR_DTYPE_I64;
        SparseOptions options = batch_options(to, index, 2, 3);
        options.flags = random() % 2 == 0 ? TNR_CONVERT_SORT : 0u;
        for (const Context* const context : contexts.all()) {
          const Returned result(sparse_convert(*context, batch.view(), options));
          ASSERT_EQ(batch_count(result.view()), shape[0]);
          EXPECT_EQ(result.view().flags & TNR_SPARSE_UNIQUE, TNR_SPARSE_UNIQUE);
          for (std::int64_t i = 0; i < shape[0]; ++i) {
            const Returned one(
                sparse_convert(kDefaultContext, batch_matrix(batch.view(), i), options));
            ASSERT_EQ(content_of(batch_matrix(result.view(), i)), one.content())
                << shape[0] << ", from " << from << " to " << to << ", matrix " << i;
          }
        }
      }
    }
  }
}

// Entries outside the ranges of the offsets are no part of a matrix.
TEST(SparseBatchConvert, EntriesThatAreLeftOutAreNotInTheResult) {
  Lent lent;
  const Returned all(
      sparse_convert(kDefaultContext, lent.view(), batch_options(TNR_SPARSE_FORMAT_CSC, 0)));
  const std::int64_t own = lent.view().batch_offsets.shape[0] - 1;
  // The last offset of the last matrix: one entry less.
  --lent.model.major.back();
  lent.model.flags = 0;
  for (const tnr_sparse_format to :
       {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC}) {
    const Returned some(sparse_convert(kDefaultContext, lent.view(), batch_options(to, 0)));
    EXPECT_EQ(some.view().minor.shape[0], all.view().minor.shape[0] - 1);
    for (std::int64_t i = 0; i < own; ++i) {
      const Returned one(
          sparse_convert(kDefaultContext, batch_matrix(lent.view(), i), batch_options(to, 0)));
      EXPECT_EQ(content_of(batch_matrix(some.view(), i)), one.content()) << to << ", matrix " << i;
    }
  }
}

TEST(SparseBatchConvert, FlagsAreThoseThatAllHave) {
  Lent lent;
  lent.model.minor = {2, 1, 0, 0, 2};  // the second row of the first matrix falls
  const Returned kept(
      sparse_convert(kDefaultContext, lent.view(), batch_options(TNR_SPARSE_FORMAT_CSR, 0)));
  EXPECT_EQ(kept.view().flags, 0u);
  SparseOptions sort = batch_options(TNR_SPARSE_FORMAT_CSR, 0);
  sort.flags = TNR_CONVERT_SORT;
  const Returned sorted(sparse_convert(kDefaultContext, lent.view(), sort));
  EXPECT_EQ(sorted.view().flags, static_cast<std::uint32_t>(TNR_SPARSE_SORTED));
  EXPECT_EQ(sorted.content().minor, (Indices{2, 0, 1, 0, 2}));
}

TEST(SparseBatchConvert, TheMatrixThatIsRefusedIsNamed) {
  Lent lent;
  lent.model.minor = {2, 0, 0, 0, 2};
  expect_error(
      TNR_STATUS_INVALID_ARGUMENT, {"a, matrix 0: row 1 has two entries in column 0"}, [&] {
        sparse_convert(kDefaultContext, lent.view(), batch_options(TNR_SPARSE_FORMAT_BSR, 0, 1, 1));
      });
  lent.model.minor[4] = 9;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a, matrix 2: col_indices[1] is 9"}, [&] {
    sparse_convert(kDefaultContext, lent.view(), batch_options(TNR_SPARSE_FORMAT_CSC, 0));
  });
}

tnr_scalar scalar_of(float value) {
  tnr_scalar scalar{};
  scalar.dtype = TNR_DTYPE_F32;
  std::memcpy(scalar.bytes, &value, sizeof value);
  return scalar;
}

std::vector<float> numbers(std::size_t count, Random& random) {
  std::vector<float> result(count);
  for (float& number : result) number = static_cast<float>(random() % 1000) / 37.0f - 11.0f;
  return result;
}

// Each matrix of the batch with the same operation on its own: the same bits.
TEST(SparseBatchMatmul, IsTheProductOfEachMatrix) {
  const Contexts contexts;
  Random random(5);
  for (const auto& [count, rows, cols, columns] : {std::tuple{5, 6, 9, 3},
                                                   {2, 300, 900, 16},
                                                   {200, 32, 33, 4},
                                                   {7, 20, 12, 1},
                                                   {0, 4, 6, 2}}) {
    Array dense(TNR_DTYPE_F32, {count, rows, cols}, Arrangement::kRowMajor, random);
    if (count != 0) fill_sparsely(dense, random);
    for (const tnr_sparse_format format : kFormats) {
      const Returned batch(sparse_from_dense(kDefaultContext, dense.view(),
                                             batch_options(format, TNR_DTYPE_I32, 2, 3)));
      for (const bool is_transposed : {false, true}) {
        const std::int64_t b_rows = is_transposed ? rows : cols;
        const std::int64_t out_rows = is_transposed ? cols : rows;
        const tnr_orientation orientation =
            is_transposed ? TNR_ORIENTATION_TRANSPOSED : TNR_ORIENTATION_AS_IS;
        for (const bool is_shared : {false, true}) {
          const std::int64_t b_count = is_shared ? 1 : count;
          std::vector<float> b =
              numbers(static_cast<std::size_t>(b_count * b_rows * columns), random);
          const std::vector<float> before =
              numbers(static_cast<std::size_t>(count * out_rows * columns), random);
          const tnr_view b_view =
              is_shared ? flat_view(b.data(), TNR_DTYPE_F32, {b_rows, columns})
                        : flat_view(b.data(), TNR_DTYPE_F32, {count, b_rows, columns});
          std::vector<float> expected = before;
          const tnr_view expected_view =
              flat_view(expected.data(), TNR_DTYPE_F32, {count, out_rows, columns});
          for (std::int64_t i = 0; i < count; ++i) {
            sparse_matmul(kDefaultContext, scalar_of(2), sparse_batch_at(batch.view(), i),
                          orientation, is_shared ? b_view : index(b_view, 0, i), scalar_of(0.5f),
                          {index(expected_view, 0, i)});
          }
          for (const Context* const context : contexts.all()) {
            std::vector<float> out = before;
            sparse_matmul(*context, scalar_of(2), batch.view(), orientation, b_view,
                          scalar_of(0.5f),
                          {flat_view(out.data(), TNR_DTYPE_F32, {count, out_rows, columns})});
            EXPECT_TRUE(out == expected) << count << ", format " << format << is_transposed;
          }
        }
      }
    }
  }
}

TEST(SparseBatchMatmul, VectorsOfEachMatrixOrSharedByAll) {
  Lent lent;
  // [0 0 1; 2 3 0], nothing, [4 0 0; 0 0 5]
  std::vector<float> b = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<float> out(6, -1.0f);
  const auto multiply = [&](const tnr_view& with) {
    sparse_matmul(kDefaultContext, scalar_of(1), lent.view(), TNR_ORIENTATION_AS_IS, with,
                  scalar_of(0), {flat_view(out.data(), TNR_DTYPE_F32, {3, 2})});
    return out;
  };
  EXPECT_EQ(multiply(flat_view(b.data(), TNR_DTYPE_F32, {3, 3})),
            (std::vector<float>{3, 8, 0, 0, 28, 45}));
  EXPECT_EQ(multiply(flat_view(b.data(), TNR_DTYPE_F32, {3})),
            (std::vector<float>{3, 8, 0, 0, 4, 15}));
}

TEST(SparseBatchMatmul, ShapesAreRefused) {
  Lent lent;
  std::vector<float> b(64);
  std::vector<float> out(64);
  const auto refuse = [&](const Shape& b_shape, const Shape& out_shape, Words words) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, words, [&] {
      sparse_matmul(kDefaultContext, scalar_of(1), lent.view(), TNR_ORIENTATION_AS_IS,
                    flat_view(b.data(), TNR_DTYPE_F32, b_shape), scalar_of(0),
                    {flat_view(out.data(), TNR_DTYPE_F32, out_shape)});
    });
  };
  refuse({2, 3, 2}, {3, 2, 2}, {"b.shape[0] is 2 but must be 3, the number of matrices"});
  refuse({3, 3, 2}, {2, 2, 2}, {"out.shape[0] is 2 but must be 3, the number of matrices"});
  refuse({3, 4, 2}, {3, 2, 2}, {"b.shape[1] is 4 but must be 3, the columns of a"});
  refuse({4, 2}, {3, 2, 2}, {"b.shape[0] is 4 but must be 3, the columns of a"});
  refuse({3, 3, 2}, {3, 1, 2}, {"out.shape[1] is 1 but must be 2, the rows of a"});
  refuse({3, 3, 2}, {3, 2, 1}, {"out.shape[2] is 1 but must be 2, the columns of b"});
  refuse({3}, {3}, {"b.rank is 1"});
  refuse({3, 3, 2, 1}, {3, 2, 2, 1}, {"b.rank is 4"});
  refuse({3, 3, 2}, {3, 2}, {"out.rank is 2"});
}

}  // namespace
