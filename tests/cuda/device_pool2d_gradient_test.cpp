// Gradients of poolings on a device, compared with the CPU's of the same elements.
#include <cmath>
#include <limits>
#include <random>

#include "device_floats.hpp"
#include "device_pools.hpp"

namespace tenure {
namespace {

using namespace test;

class DevicePool2dGradient : public OnDevice {
 protected:
  std::int64_t one_of(std::initializer_list<std::int64_t> list) {
    return list.begin()[random_() % list.size()];
  }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }

  // Numbers whose sums are rounded and many of them equal, and some special ones.
  void fill(Array& array, const NamedType& type) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double special[] = {std::nan(""), kInfinity, -kInfinity, 0.0, -0.0, 1.0};
    std::normal_distribution<double> normal(0, 1);
    for (Byte* const element : array.elements()) {
      const double value = random_() % 8 == 0   ? special[random_() % std::size(special)]
                           : random_() % 3 == 0 ? static_cast<double>(below(3))
                                                : normal(random_);
      kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&value), type.type,
                               element);
    }
  }
  void check(const NamedType& type, const Pool& by) {
    Array a(type.dtype, by.a, kReadable[random_() % std::size(kReadable)], random_);
    Array g(type.dtype, by.out, kReadable[random_() % std::size(kReadable)], random_);
    Array out(type.dtype, by.a, kWritable[random_() % std::size(kWritable)], random_);
    fill(a, type);
    fill(g, type);
    expect_same_call(context_, by.gradient(), {&a, &g}, out, 0,
                     by.text() + " " + describe(a.view()));
  }
  void check_dense(const NamedType& type, const Pool& by, const AxisOrder& order) {
    FlatImage a(type.dtype, by.a, order, 0, random_);
    FlatImage g(type.dtype, by.out, order, 0, random_);
    FlatImage out(type.dtype, by.a, order, 0, random_);
    fill(a.memory, type);
    fill(g.memory, type);
    const ContextCall call = [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
      const tnr_view image = a.over(*in[0]);
      const tnr_view gradients = g.over(*in[1]);
      const tnr_view_mut result = {out.over(to->view)};
      return by.gradient()(context, {&image, &gradients}, &result);
    };
    expect_same_call(context_, call, {&a.memory, &g.memory}, out.memory, 0, by.text());
  }

  Random random_{1};
};

TEST_F(DevicePool2dGradient, GivesTheCpusBitsOfAnyGeometry) {
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
      if (random_() % 3 == 0) by.with.flags = TNR_POOL2D_CEIL;
      if (by.op == TNR_REDUCE_OP_MEAN && random_() % 2 == 0) {
        by.with.flags |= TNR_POOL2D_COUNT_PADDING;
      }
      by.fit();
      if (round % 3 == 0) {
        check_dense(kTypes[type], by, round % 2 == 0 ? kRowsLast : kChannelsLast);
      } else {
        check(kTypes[type], by);
      }
      if (HasFailure()) return;
    }
  }
}

TEST_F(DevicePool2dGradient, CoversImagesEvenly) {
  for (std::size_t type = 0; type < kFloatTypes; ++type) {
    for (int round = 0; round < 80; ++round) {
      Pool by;
      by.op = round % 2 == 0 ? TNR_REDUCE_OP_MAX : TNR_REDUCE_OP_MEAN;
      by.with.flags = TNR_POOL2D_ADAPTIVE;
      by.a = {1 + below(2), 1 + below(6), 1 + below(30), 1 + below(30)};
      by.out = {by.a[0], by.a[1], 1 + below(9), 1 + below(9)};
      check(kTypes[type], by);
      if (HasFailure()) return;
    }
  }
  // More windows than elements.
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_MEAN}) {
    Pool by;
    by.op = op;
    by.with.flags = TNR_POOL2D_ADAPTIVE;
    by.a = {1, 1, 2, 7};
    by.out = {1, 1, 5, 7000};
    check(kTypes[1], by);
  }
}

TEST_F(DevicePool2dGradient, GivesNothingForNothing) {
  for (const Shape& shape : {Shape{0, 3, 4, 4}, Shape{3, 0, 4, 4}}) {
    for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_MEAN}) {
      Pool by;
      by.op = op;
      by.a = shape;
      by.with.kernel[0] = by.with.kernel[1] = 2;
      check(kTypes[1], by.fit());
    }
  }
  // No window: zeros.
  Pool by;
  by.with.flags = TNR_POOL2D_ADAPTIVE;
  by.a = {2, 3, 4, 4};
  by.out = {2, 3, 0, 2};
  check(kTypes[1], by);
}

TEST_F(DevicePool2dGradient, RefusesWhatTheCpuRefuses) {
  const auto array = [&](tnr_dtype dtype, const Shape& shape) {
    return Array(dtype, shape, Arrangement::kRowMajor, random_);
  };
  for (const tnr_dtype dtype : {TNR_DTYPE_F64, TNR_DTYPE_BF16}) {
    Array a = array(dtype, {2, 4, 5, 6});
    Array g = array(dtype, {2, 4, 3, 4});
    Array out = array(dtype, {2, 4, 5, 6});
    const auto plain = [] {
      Pool by;
      by.with.kernel[0] = by.with.kernel[1] = 3;
      by.with.strides[0] = by.with.strides[1] = 1;
      return by;
    };
    Pool by = plain();
    const auto same = [&](Array& images, Array& gradients, Array& to) {
      expect_same_call(context_, by.gradient(), {&images, &gradients}, to, 0, "refused");
      by = plain();
    };
    Array rows = array(dtype, {4, 5, 6});
    same(rows, g, out);
    same(a, rows, out);
    same(a, g, rows);
    Array other = array(dtype, {2, 4, 3, 5});
    same(a, other, out);
    Array lower = array(dtype, {2, 4, 4, 6});
    same(a, g, lower);
    Array narrow = array(TNR_DTYPE_F32, {2, 4, 3, 4});
    same(a, narrow, out);
    by.op = TNR_REDUCE_OP_SUM;
    same(a, g, out);
    by.op = 99;
    same(a, g, out);
    by.with.flags = TNR_POOL2D_ADAPTIVE;
    same(a, g, out);
    by.with.padding[0] = 3;
    Array more = array(dtype, {2, 4, 6, 4});
    same(a, more, out);
    by = plain();
    expect_same_call(context_, by.gradient(), {&a, &g}, a, 0, "in place");
  }
}

TEST_F(DevicePool2dGradient, LeavesToTheCpuWhatItHasNot) {
  const Floats a(context_, {1, 2, 4, 4}, std::vector<float>(32, 1.0f));
  const Floats g(context_, {1, 2, 2, 2}, std::vector<float>(8, 1.0f));
  const Floats out(context_, {1, 2, 4, 4}, std::vector<float>(32, 7.0f));
  Pool by;
  by.with.kernel[0] = by.with.kernel[1] = 2;
  const auto refused = [&](const tnr_view& images, const tnr_view& gradients,
                           const tnr_view_mut& to, const char* what) {
    EXPECT_EQ(by.gradient()(context_, {&images, &gradients}, &to), TNR_STATUS_UNSUPPORTED) << what;
    EXPECT_NE(std::string(tnr_last_error()->message).find(what), std::string::npos)
        << tnr_last_error()->message;
  };
  std::vector<float> here(32, 1.0f);
  const tnr_view_mut lent = lend(here, {1, 2, 4, 4});
  const tnr_view_mut lent_g = lend(here, {1, 2, 2, 2});
  refused(lent.view, *g.in(), out.out, "a.device");
  refused(*a.in(), lent_g.view, out.out, "g.device");
  refused(*a.in(), *g.in(), lent, "a.device is cuda:0");
  EXPECT_EQ(download(context_, out.out.view), std::vector<float>(32, 7.0f));
}

// A maximum takes two launches, which wait for nothing.
TEST_F(DevicePool2dGradient, IsTwoLaunchesAtMost) {
  const Floats a(context_, {1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Floats g(context_, {1, 1, 1, 2}, {4, 8});
  const Floats out(context_, {1, 1, 2, 4}, std::vector<float>(8));
  Pool by;
  by.with.kernel[0] = by.with.kernel[1] = 2;
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_MEAN}) {
    by.op = op;
    const tnr_stats before = totals();
    ASSERT_EQ(by.gradient()(context_, {a.in(), g.in()}, &out.out), TNR_STATUS_OK);
    EXPECT_EQ(totals().device_launches - before.device_launches, op == TNR_REDUCE_OP_MAX ? 2 : 1);
    EXPECT_EQ(totals().device_waits, before.device_waits);
    EXPECT_EQ(download(context_, out.out.view), op == TNR_REDUCE_OP_MAX
                                                    ? (std::vector<float>{0, 0, 0, 0, 0, 4, 0, 8})
                                                    : (std::vector<float>{1, 1, 2, 2, 1, 1, 2, 2}));
  }
}

TEST_F(DevicePool2dGradient, ALaunchThatFailsIsNamed) {
  if (!is_driver_fake()) GTEST_SKIP() << "a driver that cannot be made to fail";
  const Floats a(context_, {1, 1, 2, 2}, {1, 2, 3, 4});
  const Floats g(context_, {1, 1, 1, 1}, {4});
  const Floats out(context_, {1, 1, 2, 2}, std::vector<float>(4, 7.0f));
  Pool by;
  by.with.kernel[0] = by.with.kernel[1] = 2;
  const auto failing = [&](const char* what, const char* name) {
    const Variable variable("TENURE_FAKE_CUDA_FAIL", what);
    EXPECT_NE(by.gradient()(context_, {a.in(), g.in()}, &out.out), TNR_STATUS_OK);
    EXPECT_NE(std::string(tnr_last_error()->message).find(name), std::string::npos)
        << tnr_last_error()->message;
  };
  failing("cuLaunchKernel", "tenure_pool_greatest_f32");
  failing("cuLaunchKernel:2", "tenure_pool_gradient_f32");
  failing("cuMemAllocAsync", "4 bytes could not be allocated");
  EXPECT_EQ(by.gradient()(context_, {a.in(), g.in()}, &out.out), TNR_STATUS_OK);
  EXPECT_EQ(download(context_, out.out.view), (std::vector<float>{0, 0, 0, 4}));
}

}  // namespace
}  // namespace tenure
