// From dense to sparse on a device, compared with the CPU's results for the same bytes.
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "device_compressed.hpp"
#include "device_floats.hpp"

namespace tenure {
namespace {

using namespace test;

constexpr tnr_sparse_format kFormats[] = {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                          TNR_SPARSE_FORMAT_CSC};

tnr_sparse_from_dense_attributes attributes_of(tnr_dtype index_dtype) {
  tnr_sparse_from_dense_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.index_dtype = index_dtype;
  return attributes;
}

class DeviceFromDense : public OnDevice {
 protected:
  // Expects the CPU's matrix, or its error. The mask is that of the attributes, or nullptr.
  void check(const Array& dense, tnr_sparse_format format,
             tnr_sparse_from_dense_attributes attributes, const Array* mask,
             const std::string& what) {
    if (mask != nullptr) attributes.mask = &mask->view();
    const Made expected(tnr_sparse_from_dense(nullptr, format, &dense.view(), &attributes));
    const std::string said = expected.is_there() ? "" : tnr_last_error()->message;
    const DeviceArray there(context_, dense);
    std::optional<DeviceArray> mask_there;
    if (mask != nullptr) attributes.mask = mask_there.emplace(context_, *mask).in();
    const std::uint64_t waits = totals().device_waits;
    const Made made(tnr_sparse_from_dense(context_, format, there.in(), &attributes));
    ASSERT_EQ(made.is_there(), expected.is_there())
        << what << ": " << said << " / " << tnr_last_error()->message;
    if (!made.is_there()) {
      EXPECT_EQ(tnr_last_error()->message, said) << what;
      return;
    }
    EXPECT_LE(totals().device_waits, waits + 2) << what;
    expect_same_matrix(context_, made.view(), expected.view(), what);
  }
};

// Bytes that are mostly 0, the others of any bits: numbers of every class, and NaN.
void fill_sparsely(Array& array, std::uint64_t one_of, Random& random) {
  const std::size_t width = element_size(array.view().dtype);
  for (Byte* const element : array.elements()) {
    std::memset(element, 0, width);
    if (random() % one_of != 0) continue;
    for (std::size_t i = 0; i < width; ++i) element[i] = static_cast<Byte>(random());
    // -0.0 now and then.
    if (random() % 8 == 0) {
      std::memset(element, 0, width);
      element[width - 1] = 0x80;
    }
  }
}

TEST_F(DeviceFromDense, GivesTheCpusMatricesOfEveryType) {
  Random random(1);
  std::vector<tnr_dtype> dtypes = {TNR_DTYPE_C64};
  for (const NamedType& type : kTypes) dtypes.push_back(type.dtype);
  for (const tnr_dtype dtype : dtypes) {
    for (const Arrangement lie : kReadable) {
      Array dense(dtype, {37, 70}, lie, random);
      fill_sparsely(dense, 1 + random() % 20, random);
      for (const tnr_sparse_format format : kFormats) {
        for (const tnr_dtype index_dtype : kIndexTypes) {
          tnr_sparse_from_dense_attributes attributes = attributes_of(index_dtype);
          if (random() % 2 == 0) attributes.flags = TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO;
          check(dense, format, attributes, nullptr, describe(dense.view()));
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Around the borders of warps, of tiles and of rows.
TEST_F(DeviceFromDense, GivesTheCpusMatricesOfEveryShape) {
  Random random(2);
  const Shape some[] = {{1, 1},    {1, 31},   {1, 32},   {1, 33},   {1, 2047}, {1, 2048},
                        {1, 2049}, {1, 9000}, {2048, 1}, {2049, 1}, {5000, 1}, {3, 2048},
                        {3, 2049}, {4, 2047}, {2, 5000}, {5000, 2}, {70, 130}, {129, 64},
                        {0, 5},    {5, 0},    {0, 0},    {64, 32},  {1000, 7}, {256, 256}};
  for (const Shape& shape : some) {
    for (const std::size_t type : {0, 1, 2, 4, 12}) {
      for (const std::uint64_t one_of : {1, 3, 200, 1'000'000}) {
        Array dense(kTypes[type].dtype, shape, kReadable[random() % std::size(kReadable)], random);
        fill_sparsely(dense, one_of, random);
        check(dense, kFormats[random() % 3], attributes_of(kIndexTypes[random() % 2]), nullptr,
              describe(dense.view()));
        if (HasFailure()) return;
      }
    }
  }
}

// More entries than the first arrays have room for, enough that the arrays are kept, and few enough
// that they shrink.
TEST_F(DeviceFromDense, GivesManyEntries) {
  Random random(3);
  for (const std::uint64_t one_of : {1, 2, 9}) {
    Array dense(TNR_DTYPE_F32, {310, 300}, Arrangement::kRowMajor, random);
    fill_sparsely(dense, one_of, random);
    for (const tnr_sparse_format format : kFormats) {
      check(dense, format, attributes_of(TNR_DTYPE_I32), nullptr,
            "one of " + std::to_string(one_of));
    }
  }
}

TEST_F(DeviceFromDense, TakesEveryPredicate) {
  Random random(4);
  for (const NamedType& type : kTypes) {
    for (int i = 0; i < 6; ++i) {
      Array dense(type.dtype, {23, 41}, kReadable[random() % std::size(kReadable)], random);
      Array mask(TNR_DTYPE_BOOL8, {23, 41}, kReadable[random() % std::size(kReadable)], random);
      if (i % 2 == 0) {
        fill_sparsely(dense, 2, random);
      } else {
        fill_with_numbers(dense, type.type, random, Nans::kSome);
      }
      fill_sparsely(mask, 3, random);
      const tnr_sparse_format format = kFormats[i % 3];
      tnr_sparse_from_dense_attributes attributes = attributes_of(kIndexTypes[random() % 2]);
      attributes.predicate = TNR_SPARSE_PREDICATE_MASK;
      check(dense, format, attributes, &mask, "mask of " + describe(mask.view()));
      for (const tnr_sparse_predicate predicate :
           {TNR_SPARSE_PREDICATE_GREATER, TNR_SPARSE_PREDICATE_MAGNITUDE_GREATER}) {
        attributes.predicate = predicate;
        for (const double threshold :
             {0.0, -0.0, 1.0, 3.0, -2.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
          attributes.threshold = scalar_of(TNR_DTYPE_F64, threshold);
          check(dense, format, attributes, nullptr, "above " + std::to_string(threshold));
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_F(DeviceFromDense, WaitsOnceAndItsProductsNever) {
  Random random(5);
  Array dense(TNR_DTYPE_F32, {40, 30}, Arrangement::kRowMajor, random);
  fill_with_numbers(dense, Type::kF32, random);
  const DeviceArray there(context_, dense);
  const Floats b(context_, std::vector<float>(30, 1.0f));
  const Floats out(context_, std::vector<float>(40, 0.0f));
  std::uint64_t waits = totals().device_waits;
  const Made made(tnr_sparse_from_dense(context_, TNR_SPARSE_FORMAT_CSR, there.in(), nullptr));
  ASSERT_TRUE(made.is_there()) << tnr_last_error()->message;
  EXPECT_EQ(totals().device_waits, waits + 1);
  waits = totals().device_waits;
  const tnr_scalar one = scalar_of(TNR_DTYPE_F64, 1.0);
  const tnr_scalar zero = scalar_of(TNR_DTYPE_F64, 0.0);
  ASSERT_EQ(tnr_sparse_matmul(context_, TNR_ORIENTATION_AS_IS, &one, &made.view(), b.in(), &zero,
                              nullptr, &out.out),
            TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(totals().device_waits, waits);
  EXPECT_EQ(tnr_sparse_check(&made.view()), TNR_STATUS_OK) << tnr_last_error()->message;
}

TEST_F(DeviceFromDense, RefusesWhatTheCpuRefuses) {
  Random random(6);
  Array dense(TNR_DTYPE_F32, {4, 6}, Arrangement::kRowMajor, random);
  Array mask(TNR_DTYPE_BOOL8, {4, 5}, Arrangement::kRowMajor, random);
  Array numbers(TNR_DTYPE_U8, {4, 6}, Arrangement::kRowMajor, random);
  Array row(TNR_DTYPE_F32, {4}, Arrangement::kRowMajor, random);
  Array wide(TNR_DTYPE_C128, {4, 6}, Arrangement::kRowMajor, random);
  const tnr_sparse_format csr = TNR_SPARSE_FORMAT_CSR;
  const tnr_sparse_from_dense_attributes right = attributes_of(TNR_DTYPE_I32);
  check(row, csr, right, nullptr, "a rank of 1");
  check(wide, csr, right, nullptr, "c128");
  check(dense, 9, right, nullptr, "no format");
  check(dense, csr, attributes_of(TNR_DTYPE_U8), nullptr, "no index");
  tnr_sparse_from_dense_attributes attributes = right;
  attributes.predicate = 7;
  check(dense, csr, attributes, nullptr, "no predicate");
  attributes.predicate = TNR_SPARSE_PREDICATE_MASK;
  check(dense, csr, attributes, &mask, "a mask of another shape");
  check(dense, csr, attributes, &numbers, "a mask of another dtype");
  attributes = right;
  attributes.block_rows = 2;
  check(dense, csr, attributes, nullptr, "blocks");
  attributes = right;
  attributes.flags = 1u << 30;
  check(dense, csr, attributes, nullptr, "no flag");
  // Longer than the indices count.
  tnr_view far = dense.view();
  far.strides[0] = far.strides[1] = 0;
  const DeviceArray there(context_, dense);
  tnr_view far_there = there.view();
  far_there.strides[0] = far_there.strides[1] = 0;
  for (const std::uint32_t axis : {0, 1}) {
    far.shape[axis] = far_there.shape[axis] = std::int64_t{1} << 32;
    far.shape[1 - axis] = far_there.shape[1 - axis] = 1;
    EXPECT_EQ(tnr_sparse_from_dense(nullptr, csr, &far, &right), nullptr);
    const std::string said = tnr_last_error()->message;
    EXPECT_EQ(tnr_sparse_from_dense(context_, csr, &far_there, &right), nullptr);
    EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(tnr_last_error()->message, said);
  }
}

TEST_F(DeviceFromDense, LeavesToTheCpuWhatItHasNot) {
  Random random(7);
  Array dense(TNR_DTYPE_F32, {4, 6}, Arrangement::kRowMajor, random);
  Array batch(TNR_DTYPE_F32, {2, 4, 6}, Arrangement::kRowMajor, random);
  Array mask(TNR_DTYPE_BOOL8, {4, 6}, Arrangement::kRowMajor, random);
  const DeviceArray there(context_, dense);
  const DeviceArray batch_there(context_, batch);
  const auto refused = [&](tnr_context* context, tnr_sparse_format format, const tnr_view* from,
                           const tnr_sparse_from_dense_attributes& attributes, tnr_status status,
                           const std::string& what) {
    EXPECT_EQ(tnr_sparse_from_dense(context, format, from, &attributes), nullptr) << what;
    EXPECT_EQ(tnr_last_error()->status, status) << what;
    const std::string said = tnr_last_error()->message;
    EXPECT_NE(said.find(what), std::string::npos) << said;
    EXPECT_NE(said.find("cuda:0"), std::string::npos) << said;
  };
  const tnr_sparse_format csr = TNR_SPARSE_FORMAT_CSR;
  const tnr_sparse_from_dense_attributes plain = attributes_of(0);
  const std::string one = "from dense gives one matrix of COO, CSR or CSC";
  refused(context_, csr, batch_there.in(), plain, TNR_STATUS_UNSUPPORTED, one);
  tnr_sparse_from_dense_attributes attributes = plain;
  attributes.block_rows = attributes.block_cols = 2;
  refused(context_, TNR_SPARSE_FORMAT_BSR, there.in(), attributes, TNR_STATUS_UNSUPPORTED, one);
  attributes = plain;
  attributes.predicate = TNR_SPARSE_PREDICATE_MASK;
  attributes.mask = &mask.view();
  refused(context_, csr, there.in(), attributes, TNR_STATUS_UNSUPPORTED, "attributes->mask");
  refused(nullptr, csr, there.in(), plain, TNR_STATUS_INVALID_ARGUMENT, "has no device");
  EXPECT_EQ(tnr_sparse_from_dense_top_k(context_, TNR_SPARSE_ORDER_VALUE, there.in(), 2, nullptr),
            nullptr);
  EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_UNSUPPORTED);
  EXPECT_EQ(tnr_sparse_from_dense_dropout(context_, there.in(), 0.5, 1, nullptr), nullptr);
  EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_UNSUPPORTED);
}

TEST_F(DeviceFromDense, AFailureLeavesNothing) {
  if (!is_driver_fake()) GTEST_SKIP() << "a driver that cannot be made to fail";
  Random random(8);
  Array dense(TNR_DTYPE_F32, {310, 300}, Arrangement::kRowMajor, random);
  fill_sparsely(dense, 1, random);
  const DeviceArray there(context_, dense);
  const auto from_dense = [&] {
    return tnr_sparse_from_dense(context_, TNR_SPARSE_FORMAT_CSR, there.in(), nullptr);
  };
  const tnr_stats before = totals();
  for (const char* const entry :
       {"cuLaunchKernel", "cuLaunchKernel:2", "cuMemsetD8Async", "cuMemcpyDtoHAsync:2"}) {
    const Variable failing("TENURE_FAKE_CUDA_FAIL", entry);
    EXPECT_EQ(from_dense(), nullptr) << entry;
    EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_DEVICE_ERROR) << tnr_last_error()->message;
  }
  for (const char* const entry : {"cuMemAllocAsync:0:2"}) {
    const Variable failing("TENURE_FAKE_CUDA_FAIL", entry);
    EXPECT_EQ(from_dense(), nullptr) << entry;
    EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_OUT_OF_MEMORY) << tnr_last_error()->message;
  }
  const tnr_stats after = totals();
  EXPECT_EQ(after.blobs_made - before.blobs_made, after.blobs_finished - before.blobs_finished);
}

}  // namespace
}  // namespace tenure
