// Handles of sparse matrices: the blobs that they hold and seal, and when they let go.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "blob_probe.hpp"
#include "expect_error.hpp"
#include "meeting.hpp"
#include "memory/slot_table.hpp"
#include "release_counter.hpp"
#include "sparse/builder.hpp"
#include "sparse_arrays.hpp"

namespace tenure::test {
namespace {

// A model's arrays in blobs that tell of their end.
struct HeldModel {
  enum class Tenure { kAdopted, kShared };

  explicit HeldModel(const SparseModel& model, Tenure tenure = Tenure::kAdopted)
      : arrays(model, TNR_DTYPE_I32) {
    for (tnr_view* part : parts()) {
      void* const data = const_cast<void*>(part->base);
      ReleaseCounter& counter = counters[blobs.size()];
      blobs.push_back(
          tenure == Tenure::kAdopted
              ? blob_adopt(data, part->size_bytes, counter.callback, counter.context())
              : blob_share(data, part->size_bytes, counter.callback, counter.context()));
      part->owner = blobs.back();
    }
  }
  std::vector<tnr_view*> parts() {
    return {&arrays.view().major, &arrays.view().minor, &arrays.view().values};
  }
  void release() {
    for (const BlobToken blob : blobs) blob_release(blob);
  }
  int finished() const { return counters[0].count() + counters[1].count() + counters[2].count(); }

  SparseArrays arrays;
  ReleaseCounter counters[3];
  std::vector<BlobToken> blobs;
};

TEST(SparseHandle, HoldsItsPartsUntilTheLastRelease) {
  for (const SparseModel& model : {coo_model(), csr_model(), csc_model(), bsr_model()}) {
    HeldModel held(model);
    const SparseToken matrix = sparse_create(held.arrays.view());
    held.release();
    EXPECT_EQ(held.finished(), 0);
    sparse_retain(matrix);
    sparse_release(matrix);
    EXPECT_EQ(held.finished(), 0);
    for (const BlobToken blob : held.blobs) EXPECT_EQ(blob_describe(blob).holder_count, 1u);
    sparse_release(matrix);
    EXPECT_EQ(held.finished(), 3);
    expect_error(TNR_STATUS_STALE_HANDLE, {hex(matrix), "released"},
                 [&] { sparse_release(matrix); });
  }
}

TEST(SparseHandle, ViewOfIsWhatWasGiven) {
  HeldModel held(bsr_model());
  const tnr_sparse_view given = held.arrays.view();
  const SparseToken matrix = sparse_create(given);
  const tnr_sparse_view view = sparse_view(matrix);
  EXPECT_EQ(view.owner, matrix);
  EXPECT_EQ(view.format, given.format);
  EXPECT_EQ(view.flags, given.flags);
  EXPECT_EQ(view.rows, given.rows);
  EXPECT_EQ(view.block_cols, given.block_cols);
  EXPECT_EQ(view.minor.data, given.minor.data);
  EXPECT_EQ(view.values.owner, given.values.owner);
  check_matrix(view, "");
  const SparseParts parts = sparse_parts(matrix);
  EXPECT_EQ(parts.major, held.blobs[0]);
  EXPECT_EQ(parts.minor, held.blobs[1]);
  EXPECT_EQ(parts.values, held.blobs[2]);
  for (const BlobToken blob : held.blobs) EXPECT_EQ(blob_describe(blob).holder_count, 3u);
  held.release();
  held.release();
  sparse_release(matrix);
  EXPECT_EQ(held.finished(), 3);
}

TEST(SparseHandle, OtherTokensAreRefused) {
  HeldModel held(csr_model());
  const SparseToken matrix = sparse_create(held.arrays.view());
  for (const SparseToken garbage : {SparseToken{0x1234}, held.blobs[0], matrix + 1'000'000}) {
    expect_error(TNR_STATUS_STALE_HANDLE, {hex(garbage), "ever given"},
                 [&] { sparse_retain(garbage); });
    expect_error(TNR_STATUS_STALE_HANDLE, {hex(garbage), "ever given"},
                 [&] { sparse_view(garbage); });
  }
  expect_error(TNR_STATUS_STALE_HANDLE, {hex(matrix)}, [&] { blob_retain(matrix); });
  sparse_release(matrix);
  expect_error(TNR_STATUS_STALE_HANDLE, {hex(matrix), "released"}, [&] { sparse_view(matrix); });
  tnr_sparse_view stale = held.arrays.view();
  stale.owner = matrix;
  expect_error(TNR_STATUS_STALE_VIEW, {"a.owner is " + hex(matrix), "released"},
               [&] { check_matrix(stale, "a"); });
  stale.owner = 7;
  expect_error(TNR_STATUS_STALE_VIEW, {"a.owner is 0x7", "ever given"},
               [&] { check_matrix(stale, "a"); });
  // A slot that is used again has another generation.
  const SparseToken next = sparse_create(held.arrays.view());
  EXPECT_NE(next, matrix);
  expect_error(TNR_STATUS_STALE_HANDLE, {"released"}, [&] { sparse_retain(matrix); });
  sparse_release(next);
  held.release();
}

TEST(SparseHandle, CreateRefusesWhatItCannotHold) {
  SparseArrays lent(csr_model(), TNR_DTYPE_I32);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"row_offsets.owner is 0", "blob"},
               [&] { sparse_create(lent.view()); });
  HeldModel held(csr_model());
  tnr_sparse_view view = held.arrays.view();
  view.owner = 5;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"owner is 0x5 but must be 0"},
               [&] { sparse_create(view); });
  view.owner = 0;
  view.values.size_bytes += 1;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"values is lent 21 bytes", "20 bytes"},
               [&] { sparse_create(view); });
  view = held.arrays.view();
  blob_release(held.blobs[1]);
  expect_error(TNR_STATUS_STALE_VIEW, {"col_indices.owner", "released"},
               [&] { sparse_create(view); });
  blob_release(held.blobs[0]);
  blob_release(held.blobs[2]);
  EXPECT_EQ(held.finished(), 3);
}

void expect_sealed(BlobToken blob) {
  tnr_view_mut view = {view_of(blob)};
  Pins pins;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out", "sealed", "nobody may write"},
               [&] { pins.add_mut(view, "out"); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {hex(blob), "sealed"}, [&] { blob_memory_mut(blob); });
  EXPECT_TRUE(blob_describe(blob).sealed);
}

void expect_writable(BlobToken blob) {
  tnr_view_mut view = {view_of(blob)};
  Pins pins;
  pins.add_mut(view, "out");
  EXPECT_NE(blob_memory_mut(blob).data, nullptr);
  EXPECT_FALSE(blob_describe(blob).sealed);
}

TEST(SparseHandle, SealsIndicesAndNotValuesWhileItLives) {
  HeldModel held(csr_model());
  for (const BlobToken blob : held.blobs) expect_writable(blob);
  const SparseToken first = sparse_create(held.arrays.view());
  const SparseToken second = sparse_create(held.arrays.view());
  for (const SparseToken matrix : {first, second}) {
    expect_sealed(held.blobs[0]);
    expect_sealed(held.blobs[1]);
    expect_writable(held.blobs[2]);
    sparse_release(matrix);
  }
  for (const BlobToken blob : held.blobs) expect_writable(blob);
  held.release();
}

TEST(SparseHandle, SharedPartsNeedNoSeal) {
  HeldModel held(csr_model(), HeldModel::Tenure::kShared);
  const SparseToken matrix = sparse_create(held.arrays.view());
  EXPECT_FALSE(blob_describe(held.blobs[0]).sealed);
  sparse_release(matrix);
  EXPECT_FALSE(blob_describe(held.blobs[0]).sealed);
  held.release();
  EXPECT_EQ(held.finished(), 3);
}

TEST(SparseHandle, UseSealsUntilItsEnd) {
  HeldModel held(csr_model());
  const SparseToken matrix = sparse_create(held.arrays.view());
  {
    const SparseUse use(matrix, "a");
    ASSERT_NE(use.whole(), nullptr);
    sparse_release(matrix);
    expect_error(TNR_STATUS_STALE_VIEW, {"b.owner"}, [&] { SparseUse(matrix, "b"); });
    expect_sealed(held.blobs[0]);
    EXPECT_EQ(use.whole()->rows, 3);
  }
  expect_writable(held.blobs[0]);
  held.release();
  EXPECT_EQ(held.finished(), 3);
}

TEST(SparseHandle, CreateIsBusyWhileAWriterUsesIndices) {
  HeldModel held(csr_model());
  {
    Pins writer;
    writer.add_mut({held.arrays.view().minor}, "out");
    expect_error(TNR_STATUS_BUSY, {hex(held.blobs[1]), "in use by 1 calls", "by 0"},
                 [&] { sparse_create(held.arrays.view()); });
  }
  for (const BlobToken blob : held.blobs) {
    expect_writable(blob);
    EXPECT_EQ(blob_describe(blob).holder_count, 1u);
  }
  // A pin of a blob that is sealed already cannot be for writing, so that a second create succeeds.
  const SparseToken first = sparse_create(held.arrays.view());
  Pins reader;
  reader.add(held.arrays.view().minor, "a");
  const SparseToken second = sparse_create(held.arrays.view());
  sparse_release(first);
  sparse_release(second);
  held.release();
}

TEST(SparseHandle, FailedCreateLeavesNothing) {
  SparseModel model = csr_model();
  model.minor[3] = 4;
  HeldModel held(model);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"col_indices[3] is 4"},
               [&] { sparse_create(held.arrays.view()); });
  for (const BlobToken blob : held.blobs) {
    expect_writable(blob);
    EXPECT_EQ(blob_describe(blob).holder_count, 1u);
    EXPECT_EQ(blob_describe(blob).pin_count, 0u);
  }
  held.release();
  EXPECT_EQ(held.finished(), 3);
}

TEST(SparseHandle, OneBlobCanHoldAllParts) {
  std::int32_t memory[16] = {0, 1, 1, 2, 0, 1};  // offsets, indices, values
  ReleaseCounter counter;
  const BlobToken blob = blob_adopt(memory, sizeof memory, counter.callback, counter.context());
  SparseArrays arrays(
      {.rows = 3, .cols = 2, .major = {0, 1, 1, 2}, .minor = {0, 1}, .values = {0, 0}},
      TNR_DTYPE_I32);
  tnr_sparse_view view = arrays.view();
  view.major = flat_view(memory, TNR_DTYPE_I32, {4}, blob);
  view.minor = flat_view(memory + 4, TNR_DTYPE_I32, {2}, blob);
  view.values = flat_view(memory + 6, TNR_DTYPE_F32, {2}, blob);
  const SparseToken matrix = sparse_create(view);
  EXPECT_EQ(blob_describe(blob).holder_count, 4u);
  expect_sealed(blob);
  sparse_release(matrix);
  expect_writable(blob);
  blob_release(blob);
  EXPECT_EQ(counter.count(), 1);
}

TEST(SparseHandle, BorrowedPartsEscapeWhileTheMatrixLives) {
  SparseArrays arrays(csr_model(), TNR_DTYPE_I32);
  tnr_sparse_view& view = arrays.view();
  BlobToken blobs[3];
  tnr_view* const parts[] = {&view.major, &view.minor, &view.values};
  for (int i = 0; i < 3; ++i) {
    blobs[i] = parts[i]->owner = blob_borrow(parts[i]->base, parts[i]->size_bytes);
  }
  const SparseToken matrix = sparse_create(view);
  expect_error(TNR_STATUS_BORROW_ESCAPED, {"has 2 handles"}, [&] { blob_end_borrow(blobs[0]); });
  sparse_release(matrix);
  for (const BlobToken blob : blobs) {
    blob_end_borrow(blob);
    blob_release(blob);
  }
}

TEST(SparseHandle, HandlesAreCounted) {
  HeldModel held(csr_model());
  const SparseToken matrix = sparse_create(held.arrays.view());
  // Adds kMaxRefs - 1 references at once: one by one they take seconds under a sanitizer.
  BlobSlot& slot = *sparse_table.find(matrix);
  slot.word.fetch_add(kMaxRefs - 1);
  expect_error(TNR_STATUS_BUSY, {"16777215"}, [&] { sparse_retain(matrix); });
  slot.word.fetch_sub(kMaxRefs - 1);
  sparse_release(matrix);
  held.release();
  EXPECT_EQ(held.finished(), 3);
}

TEST(SparseHandle, UsesAreCounted) {
  HeldModel held(csr_model());
  const SparseToken matrix = sparse_create(held.arrays.view());
  {
    std::vector<std::unique_ptr<SparseUse>> uses;
    for (std::uint32_t i = 0; i < kMaxPins; ++i) {
      uses.push_back(std::make_unique<SparseUse>(matrix, "a"));
    }
    expect_error(TNR_STATUS_BUSY, {"a.owner is in use by 32767"}, [&] { SparseUse(matrix, "a"); });
    expect_error(TNR_STATUS_BUSY, {"matrix is in use by 32767"}, [&] { sparse_view(matrix); });
  }
  sparse_release(matrix);
  held.release();
}

// ---- races: memory that is released or written too early is real memory ----

template <class Body>
void on_threads(unsigned thread_count, const Body& body) {
  Meeting start(thread_count);
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&, thread] {
      start.arrive_and_wait();
      body(thread);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(SparseHandleRace, HoldersOnSeveralThreadsEndTheMatrixOnce) {
  constexpr unsigned kThreads = 4;
  for (int round = 0; round < 200; ++round) {
    HeldModel held(csr_model());
    const SparseToken matrix = sparse_create(held.arrays.view());
    held.release();
    for (unsigned i = 1; i < kThreads; ++i) sparse_retain(matrix);
    on_threads(kThreads, [&](unsigned) {
      sparse_retain(matrix);
      const tnr_sparse_view view = sparse_view(matrix);
      EXPECT_EQ(static_cast<const std::int32_t*>(view.major.data)[3], 5);
      sparse_release(matrix);
      sparse_release(matrix);
    });
    EXPECT_EQ(held.finished(), 3);
  }
}

// Writers and makers meet: no writer changes the indices that a successful maker has checked, until
// it releases the matrix.
TEST(SparseHandleRace, NobodyWritesWhatWasChecked) {
  std::atomic<int> made = 0;
  std::atomic<int> written = 0;
  for (int round = 0; round < 300; ++round) {
    HeldModel held(csr_model());
    const tnr_sparse_view view = held.arrays.view();
    auto* const indices = reinterpret_cast<std::int32_t*>(held.arrays.minor());
    on_threads(2, [&](unsigned thread) {
      if (thread == 0) {
        try {
          const SparseToken matrix = sparse_create(view);
          made.fetch_add(1);
          check_entries_stepwise(view, RowExtent::kWhole, "a");
          sparse_release(matrix);
        } catch (const Error& error) {
          EXPECT_EQ(error.status(), TNR_STATUS_BUSY);
        }
      } else {
        try {
          Pins pins;
          pins.add_mut({view.minor}, "out");
          indices[0] = 99;
          written.fetch_add(1);
          indices[0] = 0;
        } catch (const Error& error) {
          EXPECT_EQ(error.status(), TNR_STATUS_INVALID_ARGUMENT);
        }
      }
    });
    held.release();
    EXPECT_EQ(held.finished(), 3);
  }
  EXPECT_GT(made + written, 0);
}

// ---- matrices of the library's own making ----

TEST(SparseBuilder, MakesWhatWasWritten) {
  const Stats before = stats();
  SparseBuilder builder(kDefaultContext, {.format = TNR_SPARSE_FORMAT_CSR,
                                          .rows = 2,
                                          .cols = 3,
                                          .index_dtype = TNR_DTYPE_I64,
                                          .value_dtype = TNR_DTYPE_F64});
  const std::int64_t offsets[] = {0, 1, 2};
  std::memcpy(builder.major(), offsets, sizeof offsets);
  builder.allocate_entries(2);
  const std::int64_t indices[] = {2, 0};
  const double values[] = {0.5, 1.5};
  std::memcpy(builder.minor(), indices, sizeof indices);
  std::memcpy(builder.values(), values, sizeof values);
  const SparseToken matrix = builder.finish(EntryOrder::rising());
  const tnr_sparse_view view = sparse_view(matrix);
  check_matrix(view, "");
  EXPECT_EQ(view.rows, 2);
  EXPECT_EQ(view.major.dtype, TNR_DTYPE_I64);
  EXPECT_EQ(static_cast<const double*>(view.values.data)[1], 1.5);
  expect_sealed(view.major.owner);
  expect_writable(view.values.owner);
  sparse_release(matrix);
  const Stats after = stats();
  EXPECT_EQ(after.blobs_made - before.blobs_made, 3u);
  EXPECT_EQ(after.blobs_finished - before.blobs_finished, 3u);
  EXPECT_EQ(after.copied_bytes, before.copied_bytes);
}

TEST(SparseBuilder, AllocatesForEachFormat) {
  for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                         TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR}) {
    const bool is_bsr = format == TNR_SPARSE_FORMAT_BSR;
    SparseBuilder builder(kDefaultContext, {.format = format,
                                            .rows = 4,
                                            .cols = 6,
                                            .block_rows = is_bsr ? 2 : 1,
                                            .block_cols = is_bsr ? 3 : 1,
                                            .index_dtype = TNR_DTYPE_I32,
                                            .value_dtype = TNR_DTYPE_C128});
    const std::size_t offset_count = is_bsr ? 3 : format == TNR_SPARSE_FORMAT_CSC ? 7 : 5;
    if (format != TNR_SPARSE_FORMAT_COO) std::memset(builder.major(), 0, offset_count * 4);
    builder.allocate_entries(0);
    const SparseToken matrix = builder.finish(EntryOrder::said(0));
    check_matrix(sparse_view(matrix), "");
    sparse_release(matrix);
  }
}

TEST(SparseBuilder, GivesUpWhatIsNotFinished) {
  const Stats before = stats();
  {
    SparseBuilder builder(kDefaultContext, {.format = TNR_SPARSE_FORMAT_CSR,
                                            .rows = 2,
                                            .cols = 3,
                                            .index_dtype = TNR_DTYPE_I32,
                                            .value_dtype = TNR_DTYPE_F32});
    builder.allocate_entries(5);
  }
  EXPECT_EQ(stats().blobs_finished - before.blobs_finished, 3u);
}

TEST(SparseBuilder, OverflowOfTheIndexTypeNamesTheRemedy) {
  constexpr std::int64_t kBeyond = std::int64_t{1} << 31;
  const auto build = [](std::int64_t rows, std::int64_t cols, tnr_dtype dtype) {
    return std::make_unique<SparseBuilder>(kDefaultContext,
                                           SparseShape{.format = TNR_SPARSE_FORMAT_COO,
                                                       .rows = rows,
                                                       .cols = cols,
                                                       .index_dtype = dtype,
                                                       .value_dtype = TNR_DTYPE_F32});
  };
  build(kBeyond, kBeyond, TNR_DTYPE_I32);
  build(kBeyond + 1, kBeyond + 1, TNR_DTYPE_I64);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"rows", "2147483648", "2147483647", "i64"},
               [&] { build(kBeyond + 1, 1, TNR_DTYPE_I32); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"cols", "2147483648", "i64"},
               [&] { build(1, kBeyond + 1, TNR_DTYPE_I32); });
  SparseBuilder csr(kDefaultContext, {.format = TNR_SPARSE_FORMAT_CSR,
                                      .rows = 1,
                                      .cols = 1,
                                      .index_dtype = TNR_DTYPE_I32,
                                      .value_dtype = TNR_DTYPE_F32});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"offsets", "2147483648", "i64"},
               [&] { csr.allocate_entries(kBeyond); });
  SparseBuilder wide(kDefaultContext, {.format = TNR_SPARSE_FORMAT_CSR,
                                       .rows = 1,
                                       .cols = 1,
                                       .index_dtype = TNR_DTYPE_I64,
                                       .value_dtype = TNR_DTYPE_F32});
  expect_error(TNR_STATUS_OUT_OF_MEMORY, {"4611686018427387904"},
               [&] { wide.allocate_entries(std::int64_t{1} << 62); });
}

}  // namespace
}  // namespace tenure::test
