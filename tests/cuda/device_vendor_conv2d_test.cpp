// Convolutions by cuDNN: the CPU's results, which of them the library is given, and its failures.
// device_conv2d_test runs once more by this engine, too.
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "device_child.hpp"
#include "device_convolutions.hpp"
#include "device_floats.hpp"
#include "device_vendor.hpp"
#include "expect_status.hpp"

namespace tenure {
namespace {

using namespace test;

constexpr const char* kConvolutions = "TENURE_FAKE_CUDNN_COUNT";
constexpr const char* kQuestions = "TENURE_FAKE_CUDNN_ASKED";

enum class Bias { kNone, kThere };

// Dense operands. Each begins `shift` elements behind an aligned address.
struct Lies {
  AxisOrder a = kRowsLast;
  AxisOrder weight = kRowsLast;
  AxisOrder out = kRowsLast;
  Bias bias = Bias::kNone;
  std::int64_t shift = 0;
};

class DeviceVendorConv2d : public OnVendor {
 protected:
  DeviceVendorConv2d() : OnVendor(try_convolution) {}

  std::int64_t one_of(std::initializer_list<std::int64_t> list) {
    return list.begin()[random_() % list.size()];
  }

  Convolution any() {
    Convolution by;
    by.with.groups = one_of({1, 1, 2, 3});
    by.a = {one_of({1, 2, 3}), one_of({1, 2, 5}) * by.with.groups, one_of({4, 5, 9}),
            one_of({4, 6, 8})};
    by.weight = {one_of({1, 3, 4, 9}) * by.with.groups, by.a[1] / by.with.groups, one_of({1, 2, 3}),
                 one_of({1, 2, 3})};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      by.with.strides[axis] = one_of({1, 1, 2, 3});
      by.with.padding[2 * axis] = one_of({0, 1, 2});
      by.with.padding[2 * axis + 1] = random_() % 4 == 0 ? 0 : by.with.padding[2 * axis];
      if (by.weight[2 + axis] < 3) by.with.dilations[axis] = one_of({1, 2, 3});
    }
    if (random_() % 2 == 0) by.with.activation = TNR_UNARY_OP_RELU;
    return by.fit();
  }

  // How many convolutions the library was given for a call of this, which gives the CPU's result.
  long given(const NamedType& type, const Convolution& by, const Lies& lies) {
    FlatImage a(type.dtype, by.a, lies.a, lies.shift, random_);
    FlatImage weight(type.dtype, by.weight, lies.weight, lies.shift, random_);
    FlatImage out(type.dtype, by.out, lies.out, lies.shift, random_);
    FlatImage bias(type.dtype, {by.out[1], 1, 1, 1}, kRowsLast, lies.shift, random_);
    for (FlatImage* const image : {&a, &weight, &bias}) {
      fill_with_numbers(image->memory, type.type, random_);
    }
    const ContextCall call = [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
      const tnr_view image = a.over(*in[0]);
      const tnr_view filters = weight.over(*in[1]);
      tnr_view numbers = bias.over(*in[2]);
      numbers.rank = 1;
      const tnr_view_mut result = {out.over(to->view)};
      std::vector<const tnr_view*> operands = {&image, &filters};
      if (lies.bias == Bias::kThere) operands.push_back(&numbers);
      return by.call()(context, operands, &result);
    };
    const Calls calls(kConvolutions);
    expect_same_call(vendor_, call, {&a.memory, &weight.memory, &bias.memory}, out.memory, 0,
                     by.text() + " type " + std::to_string(static_cast<int>(type.type)));
    return calls.count();
  }
  // Calls `given`, and expects `count` with the fake driver.
  void expect_given(long count, const NamedType& type, const Convolution& by, const Lies& lies,
                    const char* what) {
    const long found = given(type, by, lies);
    if (is_driver_fake()) {
      EXPECT_EQ(found, count) << what << ": " << by.text();
    }
  }

  // A convolution with a width that no earlier call has had.
  Convolution fresh() {
    Convolution by;
    by.a = {1, 2, 3, ++width_};
    by.weight = {4, 2, 1, 1};
    return by.fit();
  }

  Random random_{17};
  std::int64_t width_ = 40;
};

class DeviceVendorConv2dFault : public DeviceVendorConv2d {
 protected:
  void SetUp() override {
    if (!is_driver_fake())
      GTEST_SKIP() << "a library that cannot be made to fail, and does not count";
    DeviceVendorConv2d::SetUp();
  }
};

TEST_F(DeviceVendorConv2d, GivesTheCpusResults) {
  long taken = 0;
  long all = 0;
  for (std::size_t type = 0; type < kFloatTypes; ++type) {
    for (int i = 0; i < 120; ++i) {
      Lies lies;
      for (AxisOrder* const order : {&lies.a, &lies.weight, &lies.out}) {
        if (random_() % 2 == 0) *order = kChannelsLast;
      }
      if (random_() % 8 == 0) lies.weight = kFirstLast;
      if (random_() % 2 == 0) lies.bias = Bias::kThere;
      taken += given(kTypes[type], any(), lies);
      ++all;
      if (HasFailure()) return;
    }
  }
  if (!is_driver_fake()) return;
  EXPECT_GT(taken, all / 4);
  EXPECT_LT(taken, all);
}

// The table of docs/engines.md.
TEST_F(DeviceVendorConv2d, TakesWhatTheTableSays) {
  Convolution by;
  by.a = {2, 4, 6, 7};
  by.weight = {6, 4, 3, 3};
  for (std::int64_t& padding : by.with.padding) padding = 1;
  by.fit();
  const Lies last = {kChannelsLast, kChannelsLast, kChannelsLast};
  Convolution relu = by;
  relu.with.activation = TNR_UNARY_OP_RELU;
  for (std::size_t type = 1; type < kFloatTypes; ++type) {
    const NamedType& of = kTypes[type];
    expect_given(1, of, by, {}, "rows last");
    expect_given(1, of, by, last, "channels last");
    expect_given(1, of, by, {kRowsLast, kRowsLast, kRowsLast, Bias::kThere}, "a bias");
    expect_given(1, of, relu, {kChannelsLast, kChannelsLast, kChannelsLast, Bias::kThere},
                 "a bias and relu");
    expect_given(0, of, relu, {}, "relu alone");
    expect_given(1, of, by, {kChannelsLast, kRowsLast, kChannelsLast}, "a filter with rows last");
    expect_given(1, of, by, {kRowsLast, kRowsLast, kChannelsLast}, "a result with channels last");
    expect_given(0, of, by, {kRowsLast, kChannelsLast}, "a filter alone with channels last");
    expect_given(0, of, by, {kRowsLast, kFirstLast}, "adjacent filters");
    expect_given(0, of, by, {kRowsLast, kRowsLast, kRowsLast, Bias::kNone, 1},
                 "elements between vectors");
    Convolution bounded = by;
    bounded.with.flags = TNR_EPILOGUE_CLAMP;
    bounded.with.high = 6;
    expect_given(0, of, bounded, {kRowsLast, kRowsLast, kRowsLast, Bias::kThere}, "other bounds");
    Convolution uneven = by;
    uneven.with.padding[1] = 0;
    expect_given(0, of, uneven.fit(), {}, "padding above alone");
    // With a stride of 3 no window reaches the padding below, so that both sides count as equal.
    uneven.with.strides[0] = 3;
    expect_given(1, of, uneven.fit(), {}, "padding that no window meets");
    Convolution grouped = by;
    grouped.with.groups = 2;
    grouped.weight = {6, 2, 3, 2};
    grouped.with.dilations[0] = 2;
    grouped.with.strides[1] = 2;
    expect_given(1, of, grouped.fit(), {}, "groups, dilations and strides");
    expect_given(1, of, grouped.fit(), last, "the same, channels last");
    Convolution points = by;
    points.weight = {6, 4, 1, 1};
    points.with = Convolution().with;
    expect_given(1, of, points.fit(), {}, "one by one, whose filter is of both orders");
    expect_given(1, of, points.fit(), last, "one by one, channels last");
  }
  expect_given(0, kTypes[0], by, {}, "f64");
  Convolution transposed;
  transposed.is_transposed = true;
  transposed.a = {1, 4, 5, 5};
  transposed.weight = {4, 3, 2, 2};
  expect_given(0, kTypes[1], transposed.fit(), {}, "transposed");
  Convolution empty;
  empty.a = {1, 0, 3, 3};
  empty.weight = {2, 0, 2, 2};
  expect_given(0, kTypes[1], empty.fit(), {}, "sums of nothing");
}

TEST_F(DeviceVendorConv2d, KeepsNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Floats a(vendor_, {1, 1, 1, 4}, {1, -2, nan, 3});
  const Floats weight(vendor_, {1, 1, 1, 1}, {2});
  const Floats bias(vendor_, {0.5f});
  const Floats out(vendor_, {1, 1, 1, 4}, {nan, nan, nan, nan});
  Convolution by;
  by.with.activation = TNR_UNARY_OP_RELU;
  ASSERT_EQ(by.call()(vendor_, {a.in(), weight.in(), bias.in()}, &out.out), TNR_STATUS_OK)
      << tnr_last_error()->message;
  const std::vector<float> result = download(vendor_, *out.in());
  EXPECT_EQ(result[0], 2.5f);
  EXPECT_EQ(result[1], 0.0f);
  EXPECT_NE(result[2], result[2]);
  EXPECT_EQ(result[3], 6.5f);
}

TEST_F(DeviceVendorConv2dFault, AsksOnceForAShape) {
  const Calls questions(kQuestions);
  Convolution by = fresh();
  for (int i = 0; i < 3; ++i) expect_given(1, kTypes[1], by, {}, "the same");
  EXPECT_EQ(questions.count(), 1);
  expect_given(1, kTypes[2], by, {}, "f16");
  expect_given(1, kTypes[1], by, {kChannelsLast, kChannelsLast, kChannelsLast}, "channels last");
  expect_given(1, kTypes[1], by, {kRowsLast, kRowsLast, kRowsLast, Bias::kThere}, "a bias");
  by.with.activation = TNR_UNARY_OP_RELU;
  expect_given(1, kTypes[1], by, {kRowsLast, kRowsLast, kRowsLast, Bias::kThere}, "relu");
  EXPECT_EQ(questions.count(), 5);
}

// Algorithms that round otherwise, or differ from run to run, or take much memory.
TEST_F(DeviceVendorConv2dFault, TakesAllowedAlgorithmsAlone) {
  for (const char* const kind : {"tensor_ops", "unsteady", "transforms", "failed"}) {
    const Variable offers("TENURE_FAKE_CUDNN_OFFERS", kind);
    expect_given(1, kTypes[1], fresh(), {}, kind);
    expect_given(1, kTypes[1], fresh(), {kRowsLast, kRowsLast, kRowsLast, Bias::kThere}, kind);
  }
  for (const char* const kind : {"large", "none"}) {
    const Variable offers("TENURE_FAKE_CUDNN_OFFERS", kind);
    const Convolution by = fresh();
    const Calls questions(kQuestions);
    for (int i = 0; i < 2; ++i) expect_given(0, kTypes[1], by, {}, kind);
    EXPECT_EQ(questions.count(), 1) << kind;
  }
}

TEST_F(DeviceVendorConv2dFault, EachDeviceHasAHandleThatServesItsStreams) {
  const Variable devices("TENURE_FAKE_CUDA_DEVICES", "2");
  tnr_context* const contexts[] = {vendor_context(1), vendor_context(0), vendor_};
  const Calls calls(kConvolutions);
  for (int i = 0; i < 2; ++i) {
    for (tnr_context* const context : contexts) {
      ASSERT_NE(context, nullptr) << tnr_last_error()->message;
      const Floats a(context, {1, 1, 2, 2}, {1, 2, 3, 4});
      const Floats weight(context, {1, 1, 1, 1}, {2});
      const Floats out(context, {1, 1, 2, 2}, {7, 7, 7, 7});
      ASSERT_EQ(Convolution().call()(context, {a.in(), weight.in()}, &out.out), TNR_STATUS_OK)
          << tnr_last_error()->message;
      EXPECT_EQ(download(context, *out.in()), (std::vector<float>{2, 4, 6, 8}));
    }
  }
  EXPECT_EQ(calls.count(), 6);
  EXPECT_EQ(tnr_context_release(contexts[0]), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_release(contexts[1]), TNR_STATUS_OK);
}

TEST_F(DeviceVendorConv2d, IsOneLaunchAndWaitsForNothing) {
  const Floats a(vendor_, {1, 2, 6, 6}, std::vector<float>(72, 1.0f));
  const Floats weight(vendor_, {2, 2, 1, 1}, std::vector<float>(4, 1.0f));
  const Floats out(vendor_, {1, 2, 6, 6}, std::vector<float>(72));
  const tnr_stats before = totals();
  ASSERT_EQ(Convolution().call()(vendor_, {a.in(), weight.in()}, &out.out), TNR_STATUS_OK);
  EXPECT_EQ(totals().device_launches - before.device_launches, 1);
  EXPECT_EQ(totals().device_waits, before.device_waits);
}

// ---- failures ----

TEST_F(DeviceVendorConv2dFault, EachEntryPointMayFail) {
  for (const std::string name :
       {"cudnnSetStream", "cudnnCreateTensorDescriptor", "cudnnSetTensor4dDescriptor",
        "cudnnCreateFilterDescriptor", "cudnnSetFilter4dDescriptor",
        "cudnnCreateConvolutionDescriptor", "cudnnSetConvolution2dDescriptor",
        "cudnnSetConvolutionGroupCount", "cudnnSetConvolutionMathType",
        "cudnnCreateActivationDescriptor", "cudnnSetActivationDescriptor",
        "cudnnGetConvolutionForwardAlgorithm_v7", "cudnnGetConvolutionForwardWorkspaceSize",
        "cudnnConvolutionForward", "cudnnConvolutionBiasActivationForward"}) {
    const Convolution by = fresh();
    const auto places = static_cast<std::size_t>(3 * by.a[3]);
    const Floats a(vendor_, by.a, std::vector<float>(2 * places, 1.0f));
    const Floats weight(vendor_, by.weight, std::vector<float>(8, 1.0f));
    const Floats bias(vendor_, std::vector<float>(4, 0.0f));
    const Floats out(vendor_, by.out, std::vector<float>(4 * places, 7.0f));
    std::vector<const tnr_view*> operands = {a.in(), weight.in(), bias.in()};
    if (name == "cudnnConvolutionForward") operands.pop_back();
    const auto convolve = [&] { return by.call()(vendor_, operands, &out.out); };
    {
      const Variable failing("TENURE_FAKE_CUDNN_FAIL", name);
      expect_refused(convolve(), TNR_STATUS_DEVICE_ERROR, {name + " of cuDNN gives 4000"});
    }
    for (const char* const code : {"4003", "4004"}) {
      const Variable failing("TENURE_FAKE_CUDNN_FAIL", name + ":" + code);
      expect_refused(convolve(), TNR_STATUS_OUT_OF_MEMORY, {name + " of cuDNN gives " + code});
    }
    EXPECT_EQ(download(vendor_, *out.in()), std::vector<float>(4 * places, 7.0f)) << name;
    ASSERT_EQ(convolve(), TNR_STATUS_OK) << tnr_last_error()->message;
    EXPECT_EQ(download(vendor_, *out.in()), std::vector<float>(4 * places, 2.0f)) << name;
  }
}

TEST_F(DeviceVendorConv2dFault, ScratchMemoryMayBeMissing) {
  const Floats a(vendor_, {1, 1, 2, 2}, {1, 2, 3, 4});
  const Floats weight(vendor_, {1, 1, 1, 1}, {2});
  const Floats bias(vendor_, {1});
  const Floats out(vendor_, {1, 1, 2, 2}, {7, 7, 7, 7});
  {
    const Variable failing("TENURE_FAKE_CUDA_FAIL", "cuMemAllocAsync");
    expect_refused(Convolution().call()(vendor_, {a.in(), weight.in(), bias.in()}, &out.out),
                   TNR_STATUS_OUT_OF_MEMORY, {"512 bytes", "cuda:0"});
  }
  EXPECT_EQ(download(vendor_, *out.in()), (std::vector<float>{7, 7, 7, 7}));
}

// The first convolution of a process. The tests below run it in a process of its own.
TEST(DeviceChild, DISABLED_Run) {
  use_fake_libraries();
  tnr_context* const context = context_on(kFirstDevice);
  ASSERT_NE(context, nullptr) << tnr_last_error()->message;
  const Calls calls(kConvolutions);
  for (int i = 0; i < 2; ++i) {
    const Floats a(context, {1, 1, 2, 2}, {1, 2, 3, 4});
    const Floats weight(context, {1, 1, 1, 1}, {2});
    const Floats bias(context, {1});
    const Floats out(context, {1, 1, 2, 2}, std::vector<float>(4));
    const tnr_status status =
        Convolution().call()(context, {a.in(), weight.in(), bias.in()}, &out.out);
    std::printf("message: %s: %s\n", tnr_status_name(status),
                status == TNR_STATUS_OK ? "" : tnr_last_error()->message);
    if (status == TNR_STATUS_OK) {
      EXPECT_EQ(download(context, *out.in()), (std::vector<float>{3, 5, 7, 9}));
    }
  }
  std::printf("convolutions: %ld\n", calls.count());
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST_F(DeviceVendorConv2dFault, IsAskedForByTheEnvironment) {
  const std::string leaks = "TENURE_FAKE_CUDA_LEAKS=1 ";
  expect_child_says(leaks + "TENURE_ENGINE=vendor", "convolutions: 2");
  expect_child_says(leaks + "TENURE_ENGINE=own", "convolutions: 0");
  expect_child_says("TENURE_ENGINE=blas", "one of: own, onednn, auto, vendor");
  // Products have another library.
  expect_child_says("TENURE_ENGINE=vendor TENURE_CUBLASLT=/nonexistent.so", "convolutions: 2");
}

TEST_F(DeviceVendorConv2dFault, EachReasonForNoLibraryIsNamed) {
  const std::string by = "TENURE_ENGINE=vendor ";
  expect_child_says(by + "TENURE_CUDNN=/nonexistent.so",
                    "UNSUPPORTED: convolutions by the engine vendor need cuDNN, which cannot be "
                    "opened: /nonexistent.so");
  expect_child_says(by + "TENURE_CUDNN=libm.so.6", "UNSUPPORTED: cuDNN has no cudnnGetVersion");
  expect_child_says(by + "TENURE_FAKE_CUDNN_VERSION=8907",
                    "UNSUPPORTED: cuDNN is of version 8.9 but must be of 9.0 or newer");
  expect_child_says(by + "TENURE_FAKE_CUDNN_FAIL=cudnnCreate:1001",
                    "DEVICE_ERROR: cudnnCreate of cuDNN gives 1001");
}

// Where none is named and none is in the folders that the system searches.
TEST_F(DeviceVendorConv2dFault, TheNameThatWasTriedIsTold) {
  const Child child = run_child("TENURE_ENGINE=vendor TENURE_CUDNN=");
  EXPECT_EQ(child.status, 0) << child.output;
  if (child.output.find("need cuDNN") == std::string::npos) {
    GTEST_SKIP() << "this system has a cuDNN";
  }
  EXPECT_NE(child.output.find("libcudnn.so.9"), std::string::npos) << child.output;
}

}  // namespace
}  // namespace tenure
