// Products by cuBLASLt: the CPU's results, which of them the library is given, and its failures.
// device_matmul_test runs once more by this engine, too.
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "device_child.hpp"
#include "device_floats.hpp"
#include "device_products.hpp"
#include "device_vendor.hpp"
#include "expect_status.hpp"

namespace tenure {
namespace {

using namespace test;

constexpr const char* kProducts = "TENURE_FAKE_CUBLASLT_COUNT";
constexpr const char* kQuestions = "TENURE_FAKE_CUBLASLT_ASKED";

constexpr Arrangement kRows = Arrangement::kRowMajor;
constexpr Arrangement kColumns = Arrangement::kColumnMajor;

class DeviceVendorMatmul : public OnVendor {
 protected:
  DeviceVendorMatmul() : OnVendor(try_product) {}

  // How many products the library was given for a call of these, which gives the CPU's result.
  long given(const Product& by, const Factors& types, const ProductShapes& shapes,
             const Arrangement (&lie)[3]) {
    const Calls calls(kProducts);
    expect_same_product(vendor_, by, types, shapes, lie, random_);
    return calls.count();
  }
  // Calls `given`, and expects `count` with the fake driver.
  void expect_given(long count, const Product& by, const Factors& types,
                    const ProductShapes& shapes, const Arrangement (&lie)[3], const char* what) {
    const long found = given(by, types, shapes, lie);
    if (is_driver_fake()) {
      EXPECT_EQ(found, count) << what;
    }
  }

  Random random_{11};
};

const Factors& kF64 = kFactors[0];
const Factors& kF32 = kFactors[1];
const Factors& kF16 = kFactors[2];
const Factors& kBF16 = kFactors[3];
const Factors& kI8 = kFactors[4];
const Factors& kI8ByU8 = kFactors[5];

const ProductShapes kPlain = {{5, 8}, {8, 12}, {5, 12}};

class DeviceVendorMatmulFault : public DeviceVendorMatmul {
 protected:
  void SetUp() override {
    if (!is_driver_fake())
      GTEST_SKIP() << "a library that cannot be made to fail, and does not count";
    DeviceVendorMatmul::SetUp();
  }
};

TEST_F(DeviceVendorMatmul, GivesTheCpusResults) {
  constexpr std::int64_t kExtents[] = {1, 2, 3, 4, 7, 8, 16, 31};
  const auto extent = [&] { return kExtents[random_() % std::size(kExtents)]; };
  const auto lies = [&] { return random_() % 2 == 0 ? kRows : kColumns; };
  long taken = 0;
  long all = 0;
  for (const Factors& types : kFactors) {
    for (int i = 0; i < 60; ++i) {
      const std::int64_t rows = extent();
      const std::int64_t depth = extent();
      const std::int64_t columns = extent();
      ProductShapes shapes = {{rows, depth}, {depth, columns}, {rows, columns}};
      if (random_() % 3 == 0) {
        const std::int64_t batch = 1 + static_cast<std::int64_t>(random_() % 3);
        shapes.out.insert(shapes.out.begin(), batch);
        const bool repeats = random_() % 2 == 0;
        shapes.a.insert(shapes.a.begin(), repeats ? 1 : batch);
        shapes.b.insert(shapes.b.begin(), batch);
      }
      Product by = any_product(random_);
      if (types.out.dtype == TNR_DTYPE_I32 && random_() % 2 == 0) by = {};
      taken += given(by, types, shapes, {lies(), lies(), lies()});
      ++all;
      if (HasFailure()) return;
    }
  }
  if (!is_driver_fake()) return;
  EXPECT_GT(taken, all / 8);
  EXPECT_LT(taken, all);
}

// The table of docs/engines.md.
TEST_F(DeviceVendorMatmul, TakesWhatTheTableSays) {
  for (const Factors* const types : {&kF64, &kF32, &kF16, &kBF16}) {
    for (const Arrangement a : {kRows, kColumns}) {
      for (const Arrangement b : {kRows, kColumns}) {
        for (const Arrangement out : {kRows, kColumns}) {
          expect_given(1, {2, -1}, *types, kPlain, {a, b, out}, "rows or columns");
        }
      }
    }
    expect_given(0, {}, *types, kPlain, {Arrangement::kGaps, kRows, kRows}, "gaps in a");
    expect_given(0, {}, *types, kPlain, {kRows, Arrangement::kReversed, kRows}, "b reversed");
    expect_given(0, {}, *types, kPlain, {kRows, kRows, Arrangement::kGaps}, "gaps in out");
    expect_given(0, {0, 1}, *types, kPlain, {kRows, kRows, kRows}, "an alpha of 0");
    expect_given(0, {}, *types, {{5, 0}, {0, 12}, {5, 12}}, {kRows, kRows, kRows}, "no depth");
    expect_given(0, {}, *types, {{0, 5}, {5, 12}, {0, 12}}, {kRows, kRows, kRows}, "no rows");
  }
  Product relu;
  relu.activation = TNR_UNARY_OP_RELU;
  Product bounds;
  bounds.flags = TNR_EPILOGUE_CLAMP;
  bounds.low = 0;
  bounds.high = 6;
  for (const Factors* const types : {&kF32, &kF16, &kBF16}) {
    expect_given(1, relu, *types, kPlain, {kRows, kColumns, kRows}, "relu");
    expect_given(1, relu, *types, kPlain, {kRows, kColumns, kColumns}, "relu, by columns");
    expect_given(0, bounds, *types, kPlain, {kRows, kColumns, kRows}, "other bounds");
  }
  expect_given(0, relu, kF64, kPlain, {kRows, kRows, kRows}, "relu of f64");
  // cuBLASLt takes bytes only as unscaled i8, with both factors adjacent along a depth in fours.
  const ProductShapes fours = {{5, 8}, {8, 12}, {5, 12}};
  expect_given(0, {}, kI8, fours, {kRows, kRows, kRows}, "bytes by rows");
  expect_given(0, {}, kI8ByU8, fours, {kRows, kColumns, kRows}, "i8 by u8");
  expect_given(0, {2}, kI8, fours, {kRows, kColumns, kRows}, "scaled bytes");
  expect_given(0, {}, kI8, {{5, 7}, {7, 12}, {5, 12}}, {kRows, kColumns, kRows}, "sevens");
}

// Elements that begin where vectors do, as those of a program of its own are.
TEST_F(DeviceVendorMatmul, TakesBytesThatLieInFours) {
  const Calls calls(kProducts);
  const std::int64_t rows = 5, depth = 8, columns = 12;
  std::vector<std::int8_t> a(static_cast<std::size_t>(rows * depth));
  std::vector<std::int8_t> b(static_cast<std::size_t>(depth * columns));
  for (std::int8_t& byte : a) byte = static_cast<std::int8_t>(random_());
  for (std::int8_t& byte : b) byte = static_cast<std::int8_t>(random_());
  const auto copied = [&](const void* data, std::size_t bytes) {
    tnr_blob* const blob = tnr_blob_copy(vendor_, data, bytes);
    EXPECT_NE(blob, nullptr) << tnr_last_error()->message;
    return blob;
  };
  tnr_blob* const blobs[] = {copied(a.data(), a.size()), copied(b.data(), b.size())};
  tnr_view views[2];
  const std::int64_t a_shape[] = {rows, depth};
  const std::int64_t b_shape[] = {depth, columns};
  const std::int64_t b_strides[] = {1, depth};
  ASSERT_EQ(tnr_blob_view(blobs[0], 0, TNR_DTYPE_I8, 2, a_shape, nullptr, &views[0]),
            TNR_STATUS_OK);
  ASSERT_EQ(tnr_blob_view(blobs[1], 0, TNR_DTYPE_I8, 2, b_shape, b_strides, &views[1]),
            TNR_STATUS_OK);
  const std::int64_t out_shape[] = {rows, columns};
  tnr_view_mut out;
  tnr_blob* const result = tnr_blob_alloc_view(vendor_, TNR_DTYPE_I32, 2, out_shape, &out);
  ASSERT_NE(result, nullptr) << tnr_last_error()->message;
  ASSERT_EQ(call_of({})(vendor_, {&views[0], &views[1]}, &out), TNR_STATUS_OK)
      << tnr_last_error()->message;
  std::vector<std::int32_t> sums(static_cast<std::size_t>(rows * columns));
  tnr_view_mut here;
  ASSERT_EQ(tnr_view_lend_mut(sums.data(), sums.size() * sizeof sums[0], 0, TNR_DTYPE_I32, 2,
                              out_shape, nullptr, &here),
            TNR_STATUS_OK);
  ASSERT_EQ(tnr_copy(vendor_, &out.view, nullptr, &here), TNR_STATUS_OK);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      std::int32_t sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) {
        sum +=
            a[static_cast<std::size_t>(i * depth + k)] * b[static_cast<std::size_t>(j * depth + k)];
      }
      EXPECT_EQ(sums[static_cast<std::size_t>(i * columns + j)], sum) << i << ' ' << j;
    }
  }
  for (tnr_blob* const blob : {blobs[0], blobs[1], result}) tnr_blob_release(blob);
  if (is_driver_fake()) {
    EXPECT_EQ(calls.count(), 1);
  }
}

TEST_F(DeviceVendorMatmul, TakesABiasOfEachColumn) {
  const Floats a(vendor_, {3, 4}, std::vector<float>(12, 1));
  const Floats b(vendor_, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Floats bias(vendor_, {-20, 0.5});
  const Floats out(vendor_, {3, 2}, std::vector<float>(6, std::numeric_limits<float>::quiet_NaN()));
  const Calls calls(kProducts);
  Product by;
  by.has_bias = true;
  ASSERT_EQ(call_of(by)(vendor_, {a.in(), b.in(), bias.in()}, &out.out), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(download(vendor_, *out.in()), (std::vector<float>{-4, 20.5, -4, 20.5, -4, 20.5}));
  by.activation = TNR_UNARY_OP_RELU;
  by.beta = 1;
  ASSERT_EQ(call_of(by)(vendor_, {a.in(), b.in(), bias.in()}, &out.out), TNR_STATUS_OK);
  EXPECT_EQ(download(vendor_, *out.in()), (std::vector<float>{0, 41, 0, 41, 0, 41}));
  if (is_driver_fake()) {
    EXPECT_EQ(calls.count(), 2);
  }
  // The library gets no bias with a stride of 0, and none for a column-major result.
  tnr_view apart = *bias.in();
  apart.strides[0] = 0;
  ASSERT_EQ(call_of(by)(vendor_, {a.in(), b.in(), &apart}, &out.out), TNR_STATUS_OK);
  tnr_view_mut turned = out.out;
  turned.view.strides[0] = 1;
  turned.view.strides[1] = 3;
  ASSERT_EQ(call_of(by)(vendor_, {a.in(), b.in(), bias.in()}, &turned), TNR_STATUS_OK);
  if (is_driver_fake()) {
    EXPECT_EQ(calls.count(), 2);
  }
}

TEST_F(DeviceVendorMatmul, TakesBatchesOfOneAxis) {
  const Arrangement lie[] = {kRows, kRows, kRows};
  expect_given(1, {}, kF32, {{3, 4, 5}, {3, 5, 6}, {3, 4, 6}}, lie, "a batch");
  expect_given(1, {}, kF32, {{1, 4, 5}, {3, 5, 6}, {3, 4, 6}}, lie, "a factor that repeats");
  expect_given(1, {}, kF32, {{3, 4, 5}, {5, 6}, {3, 4, 6}}, lie, "rows that are joined");
  expect_given(1, {}, kF32, {{2, 3, 4, 5}, {2, 3, 5, 6}, {2, 3, 4, 6}}, lie, "axes that are one");
  expect_given(0, {}, kF32, {{2, 1, 4, 5}, {1, 3, 5, 6}, {2, 3, 4, 6}}, lie, "two axes");
  expect_given(1, {}, kF32, {{5}, {5, 6}, {6}}, lie, "a vector on the left");
  expect_given(1, {}, kF32, {{4, 5}, {5}, {4}}, lie, "a vector on the right");
  expect_given(1, {}, kF32, {{5}, {5}, {}}, lie, "two vectors");
}

TEST_F(DeviceVendorMatmulFault, AsksOnceForAShape) {
  const Calls questions(kQuestions);
  const Calls products(kProducts);
  const std::vector<float> ones(4096, 1.0f);
  const Floats a(vendor_, {16, 40}, std::vector<float>(640, 1.0f));
  const Floats b(vendor_, {40, 20}, std::vector<float>(800, 1.0f));
  const Floats out(vendor_, {16, 20}, std::vector<float>(320, 1.0f));
  for (const double alpha : {1.0, 2.0, 3.0}) {
    ASSERT_EQ(call_of({alpha, 1})(vendor_, {a.in(), b.in()}, &out.out), TNR_STATUS_OK);
  }
  EXPECT_EQ(questions.count(), 1);
  EXPECT_EQ(products.count(), 3);
  // For the same shape, lower alignment and an epilogue each need another request for an algorithm.
  // Another context needs none.
  const Floats more(vendor_, {641}, std::vector<float>(641, 1.0f));
  tnr_view moved = *more.in();
  moved.rank = 2;
  moved.shape[0] = 16;
  moved.shape[1] = 40;
  moved.strides[0] = 40;
  moved.strides[1] = 1;
  moved.data = static_cast<const float*>(moved.data) + 1;
  ASSERT_EQ(call_of({})(vendor_, {&moved, b.in()}, &out.out), TNR_STATUS_OK);
  EXPECT_EQ(questions.count(), 2);
  Product relu;
  relu.activation = TNR_UNARY_OP_RELU;
  ASSERT_EQ(call_of(relu)(vendor_, {a.in(), b.in()}, &out.out), TNR_STATUS_OK);
  EXPECT_EQ(questions.count(), 3);
  tnr_context* const other = vendor_context();
  ASSERT_EQ(call_of({})(other, {a.in(), b.in()}, &out.out), TNR_STATUS_OK);
  EXPECT_EQ(questions.count(), 3);
  EXPECT_EQ(download(other, *out.in()), std::vector<float>(320, 40.0f));
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

TEST_F(DeviceVendorMatmul, IsOneLaunchAndWaitsForNothing) {
  const Floats a(vendor_, {3, 4}, std::vector<float>(12, 1.0f));
  const Floats b(vendor_, {4, 5}, std::vector<float>(20, 1.0f));
  const Floats out(vendor_, {3, 5}, std::vector<float>(15));
  const tnr_stats before = totals();
  ASSERT_EQ(call_of({})(vendor_, {a.in(), b.in()}, &out.out), TNR_STATUS_OK);
  EXPECT_EQ(totals().device_launches - before.device_launches, 1);
  EXPECT_EQ(totals().device_waits, before.device_waits);
}

TEST_F(DeviceVendorMatmulFault, LeavesToTheKernelsWhatHasNoAlgorithm) {
  const Variable declines("TENURE_FAKE_CUBLASLT_DECLINES", "1");
  const Calls questions(kQuestions);
  for (int i = 0; i < 2; ++i) {
    expect_given(0, {}, kF32, {{9, 41}, {41, 3}, {9, 3}}, {kRows, kRows, kRows}, "declined");
  }
  EXPECT_EQ(questions.count(), 1);
}

TEST_F(DeviceVendorMatmulFault, EachDeviceHasAHandle) {
  const Variable devices("TENURE_FAKE_CUDA_DEVICES", "2");
  tnr_context* const other = vendor_context(1);
  ASSERT_NE(other, nullptr) << tnr_last_error()->message;
  const Calls products(kProducts);
  for (tnr_context* const context : {vendor_, other, vendor_}) {
    expect_same_product(context, {}, kF32, kPlain, {kRows, kRows, kRows}, random_);
  }
  EXPECT_EQ(products.count(), 3);
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

TEST_F(DeviceVendorMatmul, CallsThroughTwoContextsAreInOrder) {
  const Floats a(vendor_, {2, 2}, {2, 0, 0, 2});
  const Floats x(vendor_, {2, 2}, {1, 1, 1, 1});
  const Floats y(context_, {2, 2}, {0, 0, 0, 0});
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(call_of({})(vendor_, {a.in(), x.in()}, &y.out), TNR_STATUS_OK);
    ASSERT_EQ(call_of({})(context_, {a.in(), y.in()}, &x.out), TNR_STATUS_OK);
  }
  EXPECT_EQ(download(vendor_, *x.in()), std::vector<float>(4, 4096.0f));
}

// ---- failures ----

TEST_F(DeviceVendorMatmulFault, EachEntryPointMayFail) {
  int shape = 50;
  for (const std::string name :
       {"cublasLtMatmulDescCreate", "cublasLtMatmulDescSetAttribute", "cublasLtMatrixLayoutCreate",
        "cublasLtMatrixLayoutSetAttribute", "cublasLtMatmulPreferenceCreate",
        "cublasLtMatmulPreferenceSetAttribute", "cublasLtMatmulAlgoGetHeuristic",
        "cublasLtMatmul"}) {
    // A shape that was not asked about before.
    const std::int64_t depth = ++shape;
    const auto count = static_cast<std::size_t>(2 * depth);
    const Floats a(vendor_, {2, 1, depth}, std::vector<float>(count, 1.0f));
    const Floats b(vendor_, {2, depth, 1}, std::vector<float>(count, 1.0f));
    const Floats out(vendor_, {2, 1, 1}, {7, 7});
    const auto multiply = [&] { return call_of({})(vendor_, {a.in(), b.in()}, &out.out); };
    {
      const Variable failing("TENURE_FAKE_CUBLASLT_FAIL", name);
      expect_refused(multiply(), TNR_STATUS_DEVICE_ERROR, {name + " of cuBLASLt gives 14"});
    }
    {
      const Variable failing("TENURE_FAKE_CUBLASLT_FAIL", name + ":3");
      expect_refused(multiply(), TNR_STATUS_OUT_OF_MEMORY, {name + " of cuBLASLt gives 3"});
    }
    EXPECT_EQ(download(vendor_, *out.in()), (std::vector<float>{7, 7})) << name;
    ASSERT_EQ(multiply(), TNR_STATUS_OK) << tnr_last_error()->message;
    const auto sum = static_cast<float>(depth);
    EXPECT_EQ(download(vendor_, *out.in()), (std::vector<float>{sum, sum})) << name;
  }
}

// The driver's, where the library has scratch memory.
TEST_F(DeviceVendorMatmulFault, ScratchMemoryMayBeMissing) {
  const Floats a(vendor_, {2, 3}, std::vector<float>(6, 1.0f));
  const Floats b(vendor_, {3, 2}, std::vector<float>(6, 1.0f));
  const Floats out(vendor_, {2, 2}, {7, 7, 7, 7});
  {
    const Variable failing("TENURE_FAKE_CUDA_FAIL", "cuMemAllocAsync");
    expect_refused(call_of({})(vendor_, {a.in(), b.in()}, &out.out), TNR_STATUS_OUT_OF_MEMORY,
                   {"1000 bytes", "cuda:0"});
  }
  EXPECT_EQ(download(vendor_, *out.in()), (std::vector<float>{7, 7, 7, 7}));
}

// The first product of a process. The tests below run it in a process of its own.
TEST(DeviceChild, DISABLED_Run) {
  use_fake_libraries();
  tnr_context* const context = context_on(kFirstDevice);
  if (context == nullptr) {
    std::printf("message: %s\n", tnr_last_error()->message);
    return;
  }
  const Calls calls(kProducts);
  for (int i = 0; i < 2; ++i) {
    const Floats a(context, {2, 3}, std::vector<float>(6, 1.0f));
    const Floats b(context, {3, 2}, std::vector<float>(6, 1.0f));
    const Floats out(context, {2, 2}, std::vector<float>(4));
    const tnr_status status = call_of({})(context, {a.in(), b.in()}, &out.out);
    std::printf("message: %s: %s\n", tnr_status_name(status),
                status == TNR_STATUS_OK ? "" : tnr_last_error()->message);
    if (status == TNR_STATUS_OK) {
      EXPECT_EQ(download(context, *out.in()), (std::vector<float>{3, 3, 3, 3}));
    }
  }
  std::printf("products: %ld\n", calls.count());
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST_F(DeviceVendorMatmulFault, IsAskedForByTheEnvironment) {
  const std::string leaks = "TENURE_FAKE_CUDA_LEAKS=1 ";
  expect_child_says(leaks + "TENURE_ENGINE=vendor", "products: 2");
  for (const char* const engine : {"own", "auto", ""}) {
    expect_child_says(leaks + "TENURE_ENGINE=" + engine, "products: 0");
  }
  expect_child_says("TENURE_ENGINE=blas", "one of: own, onednn, auto, vendor");
}

TEST_F(DeviceVendorMatmulFault, EachReasonForNoLibraryIsNamed) {
  const std::string by = "TENURE_ENGINE=vendor ";
  expect_child_says(by + "TENURE_CUBLASLT=/nonexistent.so",
                    "UNSUPPORTED: products by the engine vendor need cuBLASLt, which cannot be "
                    "opened: /nonexistent.so");
  expect_child_says(by + "TENURE_CUBLASLT=libm.so.6",
                    "UNSUPPORTED: cuBLASLt has no cublasLtGetVersion");
  expect_child_says(by + "TENURE_FAKE_CUBLASLT_VERSION=110903",
                    "UNSUPPORTED: cuBLASLt is of version 11.9 but must be of 12.0 or newer");
  expect_child_says(by + "TENURE_FAKE_CUBLASLT_FAIL=cublasLtCreate:1",
                    "DEVICE_ERROR: cublasLtCreate of cuBLASLt gives 1");
}

// Where none is named and none is in the folders that the system searches.
TEST_F(DeviceVendorMatmulFault, TheNamesThatWereTriedAreTold) {
  const Child child = run_child("TENURE_ENGINE=vendor TENURE_CUBLASLT=");
  EXPECT_EQ(child.status, 0) << child.output;
  if (child.output.find("need cuBLASLt") == std::string::npos) {
    GTEST_SKIP() << "this system has a cuBLASLt";
  }
  EXPECT_NE(child.output.find("libcublasLt.so.13"), std::string::npos) << child.output;
  EXPECT_NE(child.output.find("libcublasLt.so.12"), std::string::npos) << child.output;
}

}  // namespace
}  // namespace tenure
