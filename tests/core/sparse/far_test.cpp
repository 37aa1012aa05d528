// Entries on both sides of number 2^31. The arrays are addresses, and only touched pages become
// memory, so that nothing except the offsets says how many entries there are.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "dense_model.hpp"
#include "expect_error.hpp"
#include "sparse_arrays.hpp"
#include "tenure/packed.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

constexpr std::int64_t kFar = std::int64_t{1} << 31;
// Entries that are used, behind those.
constexpr std::int64_t kUsed = 5;

class Addresses {
 public:
  // Maps memory that is readable and writable, or addresses where any access ends the test.
  Addresses(std::int64_t bytes, bool is_memory) : bytes_(static_cast<std::size_t>(bytes)) {
    void* const data = mmap(nullptr, bytes_, is_memory ? PROT_READ | PROT_WRITE : PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data != MAP_FAILED) data_ = data;
  }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  ~Addresses() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }

  [[nodiscard]] void* data() const { return data_; }

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

// CSR of 3 by 4 whose entries are the last of very many: a range of rows of something larger.
template <class I>
class FarRows {
 public:
  static constexpr tnr_dtype kIndex = sizeof(I) == 4 ? TNR_DTYPE_I32 : TNR_DTYPE_I64;
  // i32 offsets end at 2^31 - 1.
  static constexpr std::int64_t kFirst = sizeof(I) == 4 ? kFar - 1 - kUsed : kFar;
  static constexpr std::int64_t kCount = kFirst + kUsed;

  FarRows()
      : indices_(kCount * static_cast<std::int64_t>(sizeof(I)), true), values_(kCount * 4, true) {
    if (!is_there()) return;
    const SparseModel model = csr_model();
    for (std::size_t i = 0; i < 4; ++i) offsets_[i] = static_cast<I>(kFirst + model.major[i]);
    for (std::size_t k = 0; k < kUsed; ++k) {
      static_cast<I*>(indices_.data())[kFirst + static_cast<std::int64_t>(k)] =
          static_cast<I>(model.minor[k]);
      static_cast<float*>(values_.data())[kFirst + static_cast<std::int64_t>(k)] = model.values[k];
    }
  }

  [[nodiscard]] bool is_there() const {
    return indices_.data() != nullptr && values_.data() != nullptr;
  }
  [[nodiscard]] tnr_sparse_view view() const {
    tnr_sparse_view view{};
    view.struct_size = sizeof view;
    view.format = TNR_SPARSE_FORMAT_CSR;
    view.flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
    view.rows = 3;
    view.cols = 4;
    view.block_rows = view.block_cols = 1;
    view.major = flat_view(offsets_, kIndex, {4});
    view.minor = flat_view(indices_.data(), kIndex, {kCount});
    view.values = flat_view(values_.data(), TNR_DTYPE_F32, {kCount});
    return view;
  }

 private:
  I offsets_[4] = {};
  Addresses indices_;
  Addresses values_;
};

// Dense results of the operations on the matrix.
std::vector<float> results_of(const tnr_sparse_view& a) {
  std::vector<float> all;
  const auto add = [&](std::vector<std::int64_t> shape, const auto& write) {
    std::vector<float> out(static_cast<std::size_t>(shape[0] * (shape.size() > 1 ? shape[1] : 1)));
    write(tnr_view_mut{flat_view(out.data(), TNR_DTYPE_F32, shape)});
    all.insert(all.end(), out.begin(), out.end());
  };
  const auto add_made = [&](SparseToken made) {
    add({sparse_view(made).rows, sparse_view(made).cols},
        [&](const tnr_view_mut& out) { sparse_to_dense(kDefaultContext, sparse_view(made), out); });
    sparse_release(made);
  };
  const float x[] = {1, 10, 100, 1000};
  tnr_scalar one{};
  one.dtype = TNR_DTYPE_F32;
  const float factor = 1;
  std::memcpy(one.bytes, &factor, sizeof factor);
  const tnr_scalar zero = {TNR_DTYPE_F32, 0, {}};
  add({3, 4}, [&](const tnr_view_mut& out) { sparse_to_dense(kDefaultContext, a, out); });
  add({3}, [&](const tnr_view_mut& out) {
    sparse_matmul(kDefaultContext, one, a, TNR_ORIENTATION_AS_IS, flat_view(x, TNR_DTYPE_F32, {4}),
                  zero, out);
  });
  add({4}, [&](const tnr_view_mut& out) {
    sparse_matmul(kDefaultContext, one, a, TNR_ORIENTATION_TRANSPOSED,
                  flat_view(x, TNR_DTYPE_F32, {3}), zero, out);
  });
  add({3}, [&](const tnr_view_mut& out) {
    sparse_reduce(kDefaultContext, TNR_REDUCE_OP_SUM, a, 2, out);
  });
  for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSC}) {
    add_made(sparse_convert(kDefaultContext, a, options_of(format, 0, TNR_DTYPE_I32)));
  }
  add_made(sparse_binary(kDefaultContext, TNR_BINARY_OP_ADD, a, a));
  add_made(sparse_top_k(kDefaultContext, a, 1, TNR_SPARSE_ORDER_VALUE));
  add_made(sparse_slice(kDefaultContext, a, 1, 2, 1, 3));
  for (const tnr_packed_layout layout : {TNR_PACKED_LAYOUT_NARROW, TNR_PACKED_LAYOUT_BITMAP}) {
    const PackedToken packed = packed_create(kDefaultContext, a, layout);
    add({3}, [&](const tnr_view_mut& out) {
      packed_matmul(kDefaultContext, one, packed, flat_view(x, TNR_DTYPE_F32, {4}), zero, out);
    });
    packed_release(packed);
  }
  return all;
}

template <class I>
void expect_far_rows() {
  const FarRows<I> far;
  if (!far.is_there()) GTEST_SKIP() << "the system gives out no so many addresses";
  SparseArrays near(csr_model(), FarRows<I>::kIndex);
  EXPECT_EQ(results_of(far.view()), results_of(near.view()));
}

TEST(SparseFar, RowsBehindEntry2To31) { expect_far_rows<std::int64_t>(); }
TEST(SparseFar, RowsUpToTheLastEntryOfI32) { expect_far_rows<std::int32_t>(); }

// With i32 indices each matrix may have as many entries as they count, and the batch more.
TEST(SparseFar, BatchesOfMoreEntriesThanI32Counts) {
  const std::int64_t count = kFar + kUsed;
  const Addresses indices(count * 4, true);
  const Addresses values(count * 4, true);
  if (indices.data() == nullptr || values.data() == nullptr) GTEST_SKIP();
  const SparseModel model = csr_model();
  // The first matrix leaves all of its entries out but one, as lent offsets may.
  const std::int32_t offsets[8] = {0, 0, 1, 1, 0, 2, 2, 5};
  const std::int64_t begins[] = {0, kFar, count};
  static_cast<float*>(values.data())[0] = 7;
  for (std::size_t k = 0; k < kUsed; ++k) {
    const std::int64_t at = kFar + static_cast<std::int64_t>(k);
    static_cast<std::int32_t*>(indices.data())[at] = static_cast<std::int32_t>(model.minor[k]);
    static_cast<float*>(values.data())[at] = model.values[k];
  }
  tnr_sparse_view batch{};
  batch.struct_size = sizeof batch;
  batch.format = TNR_SPARSE_FORMAT_CSR;
  batch.rows = 3;
  batch.cols = 4;
  batch.block_rows = batch.block_cols = 1;
  batch.major = flat_view(offsets, TNR_DTYPE_I32, {8});
  batch.minor = flat_view(indices.data(), TNR_DTYPE_I32, {count});
  batch.values = flat_view(values.data(), TNR_DTYPE_F32, {count});
  batch.batch_offsets = flat_view(begins, TNR_DTYPE_I64, {3});
  const std::vector<float> expected = {0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0,
                                       1, 0, 2, 0, 0, 0, 0, 0, 3, 4, 0, 5};
  std::vector<float> dense(24, -1.0f);
  const tnr_view_mut out = {flat_view(dense.data(), TNR_DTYPE_F32, {2, 3, 4})};
  sparse_to_dense(kDefaultContext, batch, out);
  EXPECT_EQ(dense, expected);
  EXPECT_EQ(sparse_batch_at(batch, 1).minor.data,
            static_cast<const std::int32_t*>(indices.data()) + kFar);
  for (const tnr_sparse_format format :
       {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC}) {
    const SparseToken made = sparse_convert(kDefaultContext, batch, options_of(format));
    EXPECT_EQ(sparse_view(made).minor.shape[0], 1 + kUsed);
    std::fill(dense.begin(), dense.end(), -1.0f);
    sparse_to_dense(kDefaultContext, sparse_view(made), out);
    EXPECT_EQ(dense, expected) << format;
    sparse_release(made);
  }
  // Narrow offsets of the matrices end at 2^31 - 1.
  const std::int32_t narrow[] = {0, INT32_MAX - 5, INT32_MAX};
  batch.batch_offsets = flat_view(narrow, TNR_DTYPE_I32, {3});
  for (std::size_t k = 0; k < kUsed; ++k) {
    const std::int64_t at = INT32_MAX - 5 + static_cast<std::int64_t>(k);
    static_cast<std::int32_t*>(indices.data())[at] = static_cast<std::int32_t>(model.minor[k]);
    static_cast<float*>(values.data())[at] = model.values[k];
  }
  sparse_to_dense(kDefaultContext, batch, out);
  EXPECT_EQ(dense, expected);
}

// Results that do not fit are refused before any entry is read: these have no memory.
TEST(SparseFar, ResultsThatDoNotFitAreRefusedUnread) {
  const Addresses memory(kFar * 8, false);
  if (memory.data() == nullptr) GTEST_SKIP();
  const auto refuses = [](std::initializer_list<std::string> words, const tnr_sparse_view& a,
                          const SparseOptions& options) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, words,
                 [&] { sparse_release(sparse_convert(kDefaultContext, a, options)); });
  };
  tnr_sparse_view a{};
  a.struct_size = sizeof a;
  a.format = TNR_SPARSE_FORMAT_COO;
  a.rows = a.cols = 4;
  a.block_rows = a.block_cols = 1;
  for (const tnr_dtype index : kIndexDtypes) {
    a.major = a.minor = flat_view(memory.data(), index, {kFar});
    a.values = flat_view(memory.data(), TNR_DTYPE_U8, {kFar});
    for (const tnr_sparse_format to : {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC}) {
      refuses({"offsets of the result reach 2147483648", "i32 ends at 2147483647", "use i64"}, a,
              options_of(to, 0, TNR_DTYPE_I32));
    }
  }
  const std::int64_t offsets[] = {0, kFar, 0, 0};
  a.format = TNR_SPARSE_FORMAT_CSR;
  a.rows = 1;
  a.major = flat_view(offsets, TNR_DTYPE_I64, {2});
  refuses({"offsets of the result reach 2147483648", "use i64"}, a,
          options_of(TNR_SPARSE_FORMAT_CSC, 0, TNR_DTYPE_I32));
  a.cols = kFar + 1;
  refuses({"cols of the result reach 2147483648", "use i64"}, a,
          options_of(TNR_SPARSE_FORMAT_COO, 0, TNR_DTYPE_I32));
  a.cols = 4;
  const std::int64_t begins[] = {0, kFar, kFar};
  a.major = flat_view(offsets, TNR_DTYPE_I64, {4});
  a.batch_offsets = flat_view(begins, TNR_DTYPE_I64, {3});
  refuses({"matrix 0: offsets of the result reach 2147483648", "use i64"}, a,
          options_of(TNR_SPARSE_FORMAT_CSC, 0, TNR_DTYPE_I32));
  // Blocks whose elements are as many.
  const std::int64_t of_blocks[] = {0, kFar / 4};
  a.batch_offsets = {};
  a.format = TNR_SPARSE_FORMAT_BSR;
  a.rows = a.block_rows = a.block_cols = 2;
  a.major = flat_view(of_blocks, TNR_DTYPE_I64, {2});
  a.minor = flat_view(memory.data(), TNR_DTYPE_I64, {kFar / 4});
  a.values = flat_view(memory.data(), TNR_DTYPE_U8, {kFar / 4, 2, 2});
  refuses({"offsets of the result reach 2147483648", "use i64"}, a,
          options_of(TNR_SPARSE_FORMAT_CSR, 0, TNR_DTYPE_I32));
}

}  // namespace
