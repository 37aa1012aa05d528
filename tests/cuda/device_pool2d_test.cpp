// Poolings on a device, compared with the CPU's of the same elements.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "cuda/operations/images/image_axes.hpp"
#include "device_floats.hpp"
#include "device_pools.hpp"

namespace tenure {
namespace {

using namespace test;

class DevicePool2d : public OnDevice {
 protected:
  std::int64_t one_of(std::initializer_list<std::int64_t> list) {
    return list.begin()[random_() % list.size()];
  }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }

  // Elements of any size, whose sums are rounded in the same order on both sides. A mean of whole
  // images is a reduction, whose order is its own: there they are exact.
  void fill(Array& array, const NamedType& type, bool is_exact) {
    fill_with_numbers(array, type.type, random_, is_exact ? Nans::kNone : Nans::kSome);
    if (is_exact) return;
    std::normal_distribution<double> normal(0, 1);
    for (Byte* const element : array.elements()) {
      if (random_() % 16 == 0) continue;
      const double value = normal(random_);
      kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&value), type.type,
                               element);
    }
  }
  void check(const NamedType& type, const Pool& by, bool is_exact = false) {
    Array a(type.dtype, by.a, kReadable[random_() % std::size(kReadable)], random_);
    Array out(type.dtype, by.out, kWritable[random_() % std::size(kWritable)], random_);
    fill(a, type, is_exact);
    expect_same_call(context_, by.call(), {&a}, out, 0, by.text() + " " + describe(a.view()));
  }
  void check_dense(const NamedType& type, const Pool& by, const AxisOrder& order) {
    FlatImage a(type.dtype, by.a, order, 0, random_);
    FlatImage out(type.dtype, by.out, order, 0, random_);
    fill(a.memory, type, false);
    const ContextCall call = [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
      const tnr_view image = a.over(*in[0]);
      const tnr_view_mut result = {out.over(to->view)};
      return by.call()(context, {&image}, &result);
    };
    expect_same_call(context_, call, {&a.memory}, out.memory, 0, by.text());
  }

  Random random_{1};
};

TEST_F(DevicePool2d, GivesTheCpusBitsOfAnyGeometry) {
  for (std::size_t type = 0; type < kFloatTypes; ++type) {
    for (int round = 0; round < 250; ++round) {
      Pool by;
      by.op = round % 2 == 0 ? TNR_REDUCE_OP_MAX : TNR_REDUCE_OP_MEAN;
      by.a = {one_of({1, 2, 3}), one_of({1, 2, 5, 17}), 0, 0};
      for (std::size_t axis = 0; axis < 2; ++axis) {
        by.with.kernel[axis] = one_of({1, 2, 3, 4, 9});
        by.with.strides[axis] = one_of({0, 1, 2, 3, 7});
        by.with.dilations[axis] = one_of({0, 1, 2, 3});
        // At most half of the kernel, so that each window has elements.
        by.with.padding[2 * axis] = below(by.with.kernel[axis] / 2 + 1);
        by.with.padding[2 * axis + 1] = below(by.with.kernel[axis] / 2 + 1);
        const std::int64_t dilation = std::max<std::int64_t>(by.with.dilations[axis], 1);
        by.a[2 + axis] = (by.with.kernel[axis] - 1) * dilation + 1 + one_of({0, 1, 2, 6, 13});
      }
      if (by.op == TNR_REDUCE_OP_MEAN && random_() % 3 == 0) {
        by.with.flags = TNR_POOL2D_COUNT_PADDING;
      } else if (random_() % 3 == 0) {
        by.with.flags = TNR_POOL2D_CEIL;
      }
      by.fit();
      // One window that is the whole image is a reduction, which has its own test below.
      if (by.out[2] == 1 && by.out[3] == 1) continue;
      if (round % 3 == 0) {
        check_dense(kTypes[type], by, round % 2 == 0 ? kRowsLast : kChannelsLast);
      } else {
        check(kTypes[type], by);
      }
      if (HasFailure()) return;
    }
  }
}

TEST_F(DevicePool2d, CoversImagesEvenly) {
  for (std::size_t type = 0; type < kFloatTypes; ++type) {
    for (int round = 0; round < 60; ++round) {
      Pool by;
      by.op = round % 2 == 0 ? TNR_REDUCE_OP_MAX : TNR_REDUCE_OP_MEAN;
      by.with.flags = TNR_POOL2D_ADAPTIVE;
      by.a = {1 + below(2), 1 + below(6), 1 + below(30), 1 + below(30)};
      by.out = {by.a[0], by.a[1], 1 + below(9), 2 + below(9)};
      check(kTypes[type], by);
      if (HasFailure()) return;
    }
  }
  // More windows than elements.
  Pool by;
  by.with.flags = TNR_POOL2D_ADAPTIVE;
  by.a = {1, 1, 2, 7};
  by.out = {1, 1, 5, 70000};
  check(kTypes[1], by);
}

TEST_F(DevicePool2d, TakesTheWholeImage) {
  for (std::size_t type = 0; type < kFloatTypes; ++type) {
    for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_MEAN}) {
      for (const std::uint32_t flags : {0u, static_cast<std::uint32_t>(TNR_POOL2D_ADAPTIVE)}) {
        Pool by;
        by.op = op;
        by.a = {2, 5, 8, 16};
        by.out = {2, 5, 1, 1};
        by.with.flags = flags;
        check(kTypes[type], by, true);
      }
    }
  }
}

TEST_F(DevicePool2d, KeepsSpecialNumbersApart) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (std::size_t index = 0; index < kFloatTypes; ++index) {
    const NamedType type = kTypes[index];
    for (int round = 0; round < 40; ++round) {
      Pool by;
      by.op = round % 2 == 0 ? TNR_REDUCE_OP_MAX : TNR_REDUCE_OP_MEAN;
      by.a = {1, 3, 6, 7};
      by.with.kernel[0] = by.with.kernel[1] = 2;
      by.with.strides[0] = by.with.strides[1] = 1 + round % 3;
      by.with.padding[0] = by.with.padding[2] = 1;
      by.fit();
      Array a(type.dtype, by.a, Arrangement::kRowMajor, random_);
      Array out(type.dtype, by.out, Arrangement::kRowMajor, random_);
      const double special[] = {std::nan(""), kInfinity, -kInfinity, 0.0, -0.0, 1.0};
      for (Byte* const element : a.elements()) {
        const double value = round % 4 == 0 ? -kInfinity : special[random_() % 6];
        kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&value), type.type,
                                 element);
      }
      expect_same_call(context_, by.call(), {&a}, out, 0, by.text());
    }
  }
}

TEST_F(DevicePool2d, GivesNothingForNothing) {
  for (const Shape& shape : {Shape{0, 3, 4, 4}, Shape{3, 0, 4, 4}}) {
    Pool by;
    by.a = shape;
    by.with.kernel[0] = by.with.kernel[1] = 2;
    check(kTypes[1], by.fit());
  }
}

// A kernel too large for any memory. All but one or two of its rows and columns are in the padding.
TEST_F(DevicePool2d, TakesWindowsOfAnyLength) {
  constexpr std::int64_t kLong = (std::int64_t{1} << 30) - 3;
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_MEAN}) {
    for (const std::uint32_t flags : {0u, static_cast<std::uint32_t>(TNR_POOL2D_COUNT_PADDING)}) {
      if (flags != 0 && op == TNR_REDUCE_OP_MAX) continue;
      const Floats a(context_, {1, 1, 2, 2}, {1, 2, 3, 6});
      const Floats out(context_, {1, 1, 2, 2}, std::vector<float>(4, -1.0f));
      Pool by;
      by.op = op;
      by.with.flags = flags;
      for (std::size_t axis = 0; axis < 2; ++axis) {
        by.with.kernel[axis] = kLong;
        by.with.strides[axis] = 1;
        by.with.padding[2 * axis] = kLong - 1;
      }
      ASSERT_EQ(by.call()(context_, {a.in()}, &out.out), TNR_STATUS_OK)
          << tnr_last_error()->message;
      const auto all = static_cast<float>(static_cast<double>(kLong) * static_cast<double>(kLong));
      const std::vector<float> expected =
          op == TNR_REDUCE_OP_MAX ? std::vector<float>{1, 2, 3, 6}
          : flags == 0            ? std::vector<float>{1, 1.5f, 2, 3}
                                  : std::vector<float>{1 / all, 3 / all, 4 / all, 12 / all};
      EXPECT_EQ(download(context_, out.out.view), expected);
    }
  }
}

// The last windows end beyond the padding: the part within it counts.
TEST_F(DevicePool2d, CountsThePartsOfWindows) {
  for (std::size_t type = 0; type < kFloatTypes; ++type) {
    for (const std::int64_t padding : {0, 1}) {
      Pool by;
      by.op = TNR_REDUCE_OP_MEAN;
      by.with.flags = TNR_POOL2D_COUNT_PADDING | TNR_POOL2D_CEIL;
      for (std::int64_t& around : by.with.padding) around = padding;
      by.with.kernel[0] = by.with.kernel[1] = 4;
      by.with.strides[0] = by.with.strides[1] = 3;
      by.with.dilations[1] = 2;
      by.a = {2, 3, 9, 15};
      check(kTypes[type], by.fit());
    }
  }
}

TEST_F(DevicePool2d, RefusesWhatTheCpuRefuses) {
  const auto array = [&](tnr_dtype dtype, const Shape& shape) {
    return Array(dtype, shape, Arrangement::kRowMajor, random_);
  };
  for (const tnr_dtype dtype : {TNR_DTYPE_F64, TNR_DTYPE_BF16}) {
    Array a = array(dtype, {2, 4, 5, 6});
    Array out = array(dtype, {2, 4, 3, 4});
    const auto plain = [] {
      Pool by;
      by.with.kernel[0] = by.with.kernel[1] = 3;
      by.with.strides[0] = by.with.strides[1] = 1;
      return by;
    };
    Pool by = plain();
    const auto same = [&](Array& in, Array& to) {
      expect_same_call(context_, by.call(), {&in}, to, 0, "refused");
      by = plain();
    };
    Array rows = array(dtype, {4, 5, 6});
    same(rows, out);
    same(a, rows);
    for (const Shape& shape :
         {Shape{3, 4, 3, 4}, Shape{2, 5, 3, 4}, Shape{2, 4, 5, 4}, Shape{2, 4, 3, 5}}) {
      Array other = array(dtype, shape);
      same(a, other);
    }
    Array narrow = array(TNR_DTYPE_F32, {2, 4, 3, 4});
    same(a, narrow);
    by.op = TNR_REDUCE_OP_SUM;
    same(a, out);
    by.op = 99;
    same(a, out);
    by.with.kernel[0] = -1;
    same(a, out);
    by.with.dilations[1] = 9;
    same(a, out);
    by.with.flags = TNR_POOL2D_ADAPTIVE;
    same(a, out);
    by.with.flags = 8;
    same(a, out);
    // A window without an element.
    by.with.padding[0] = 3;
    Array more = array(dtype, {2, 4, 6, 4});
    same(a, more);
    by = Pool();
    by.with.flags = TNR_POOL2D_ADAPTIVE;
    Array nothing = array(dtype, {2, 4, 0, 6});
    same(nothing, out);
    by = Pool();
    by.with.kernel[0] = by.with.kernel[1] = 1;
    expect_same_call(context_, by.call(), {&a}, a, 0, "in place");
  }
  Array integers = array(TNR_DTYPE_I32, {2, 4, 5, 6});
  Array results = array(TNR_DTYPE_I32, {2, 4, 1, 1});
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_MEAN}) {
    Pool by;
    by.op = op;
    expect_same_call(context_, by.call(), {&integers}, results, 0, "i32");
  }
}

TEST_F(DevicePool2d, LeavesToTheCpuWhatItHasNot) {
  const Floats a(context_, {1, 2, 4, 4}, std::vector<float>(32, 1.0f));
  const Floats out(context_, {1, 2, 2, 2}, std::vector<float>(8, 7.0f));
  Pool by;
  by.with.kernel[0] = by.with.kernel[1] = 2;
  const auto refused = [&](const tnr_view& in, const tnr_view_mut& to, const char* what) {
    EXPECT_EQ(by.call()(context_, {&in}, &to), TNR_STATUS_UNSUPPORTED) << what;
    EXPECT_NE(std::string(tnr_last_error()->message).find(what), std::string::npos)
        << tnr_last_error()->message;
  };
  std::vector<float> here(32, 1.0f);
  const tnr_view_mut lent = lend(here, {1, 2, 4, 4});
  const tnr_view_mut lent_out = lend(here, {1, 2, 2, 2});
  refused(lent.view, out.out, "a.device");
  refused(*a.in(), lent_out, "a.device is cuda:0");
  // More places than kernels count, in the padding of an image that repeats.
  tnr_view tall = *a.in();
  tall.shape[2] = (std::int64_t{1} << 31) + 1;
  tall.strides[2] = 0;
  by.with.strides[0] = std::int64_t{1} << 30;
  tnr_view_mut three = out.out;
  three.view.shape[1] = tall.shape[1] = 1;
  three.view.shape[2] = 2;
  refused(tall, three,
          "the height of a with its padding is 2147483649, of which cuda:0 takes 2147483647");
  EXPECT_EQ(download(context_, out.out.view), std::vector<float>(8, 7.0f));
}

TEST_F(DevicePool2d, ALaunchThatFailsIsNamed) {
  if (!is_driver_fake()) GTEST_SKIP() << "a driver that cannot be made to fail";
  const Floats a(context_, {1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Floats out(context_, {1, 1, 1, 2}, {0, 0});
  Pool by;
  by.with.kernel[0] = by.with.kernel[1] = 2;
  {
    const Variable failing("TENURE_FAKE_CUDA_FAIL", "cuLaunchKernel");
    EXPECT_EQ(by.call()(context_, {a.in()}, &out.out), TNR_STATUS_DEVICE_ERROR);
    EXPECT_NE(std::string(tnr_last_error()->message).find("tenure_pool_f32"), std::string::npos)
        << tnr_last_error()->message;
  }
  const tnr_stats before = totals();
  EXPECT_EQ(by.call()(context_, {a.in()}, &out.out), TNR_STATUS_OK);
  EXPECT_EQ(totals().device_launches - before.device_launches, 1);
  EXPECT_EQ(totals().device_waits, before.device_waits);
  EXPECT_EQ(download(context_, out.out.view), (std::vector<float>{6, 8}));
}

TEST_F(DevicePool2d, CallsThroughTwoContextsAreInOrder) {
  tnr_context* const other = context_on(kFirstDevice);
  ASSERT_NE(other, nullptr);
  {
    const Floats a(context_, {1, 1, 1, 400}, std::vector<float>(400, 1.0f));
    const Floats b(other, {1, 1, 1, 400}, std::vector<float>(400, 0.0f));
    Pool by;
    by.op = TNR_REDUCE_OP_MEAN;
    by.with.kernel[0] = by.with.kernel[1] = 1;
    for (int i = 0; i < 8; ++i) {
      ASSERT_EQ(by.call()(other, {a.in()}, &b.out), TNR_STATUS_OK);
      ASSERT_EQ(tnr_binary(context_, TNR_BINARY_OP_ADD, b.in(), a.in(), nullptr, &a.out),
                TNR_STATUS_OK);
    }
    EXPECT_EQ(download(other, *a.in()), std::vector<float>(400, 256.0f));
  }
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

// The images that one launch takes.
TEST(ImagesAtOnce, HaveFewerElementsThanKernelsCount) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
  EXPECT_EQ(cuda::images_at_once(1), kMost);
  EXPECT_EQ(cuda::images_at_once(kMost), 1);
  EXPECT_EQ(cuda::images_at_once(kMost + 1), 0);
  EXPECT_EQ(cuda::images_at_once(kMost / 2 + 1), 1);
  EXPECT_EQ(cuda::images_at_once(1000), kMost / 1000);
}

}  // namespace
}  // namespace tenure
