// Gradients of filters on a device, compared with the CPU's of the same elements.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "device_convolutions.hpp"
#include "device_floats.hpp"

namespace tenure {
namespace {

using namespace test;

// The gradient of the filters of the convolution from `a` to `g`.
struct Filters {
  Shape a;
  Shape g;
  Shape out;
  tnr_conv2d_attributes with = Convolution().with;

  // Sets `a` to images whose windows are those of `g`, and `more` rows and columns that none has.
  Filters& fit(std::int64_t channels, std::int64_t more = 0) {
    a = {g[0], channels * with.groups, 0, 0};
    out[0] = g[1];
    out[1] = channels;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t reach = (out[2 + axis] - 1) * with.dilations[axis] + 1;
      a[2 + axis] = (g[2 + axis] - 1) * with.strides[axis] + reach - with.padding[2 * axis] -
                    with.padding[2 * axis + 1] +
                    std::min(more, std::max(with.strides[axis], with.dilations[axis]) - 1);
    }
    return *this;
  }
  [[nodiscard]] std::string text() const {
    Convolution like;
    like.a = a;
    like.weight = g;
    like.out = out;
    like.with = with;
    return "filters of " + like.text();
  }
  [[nodiscard]] ContextCall call() const {
    return [by = *this](tnr_context* context, const std::vector<const tnr_view*>& in,
                        const tnr_view_mut* to) {
      return tnr_conv2d_filters(context, in[0], in[1], &by.with, to);
    };
  }
};

class DeviceConv2dFilters : public OnDevice {
 protected:
  std::int64_t one_of(std::initializer_list<std::int64_t> list) {
    return list.begin()[random_() % list.size()];
  }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }

  // Sums of these are exact in any order: the device's parts give the bits of the CPU's.
  void fill_whole(Array& array, const NamedType& type) {
    for (Byte* const element : array.elements()) {
      const double value = static_cast<double>(below(5)) - 2;
      kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&value), type.type,
                               element);
    }
  }
  void check_any(const NamedType& type, const Filters& by) {
    Array a(type.dtype, by.a, kReadable[random_() % std::size(kReadable)], random_);
    Array g(type.dtype, by.g, kReadable[random_() % std::size(kReadable)], random_);
    Array out(type.dtype, by.out, kWritable[random_() % std::size(kWritable)], random_);
    fill_whole(a, type);
    fill_whole(g, type);
    expect_same_call(context_, by.call(), {&a, &g}, out, 0, by.text() + " " + describe(a.view()));
  }
  struct Lies {
    AxisOrder a;
    AxisOrder g;
    AxisOrder out;
    std::int64_t shift = 0;
  };
  void check_dense(const NamedType& type, const Filters& by, const Lies& lies) {
    FlatImage a(type.dtype, by.a, lies.a, lies.shift, random_);
    FlatImage g(type.dtype, by.g, lies.g, lies.shift, random_);
    FlatImage out(type.dtype, by.out, lies.out, lies.shift, random_);
    fill_whole(a.memory, type);
    fill_whole(g.memory, type);
    const ContextCall call = [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
      const tnr_view images = a.over(*in[0]);
      const tnr_view gradients = g.over(*in[1]);
      const tnr_view_mut result = {out.over(to->view)};
      return by.call()(context, {&images, &gradients}, &result);
    };
    expect_same_call(context_, call, {&a.memory, &g.memory}, out.memory, 0,
                     by.text() + " type " + std::to_string(static_cast<int>(type.type)));
  }

  Random random_{1};
};

TEST_F(DeviceConv2dFilters, GivesTheCpusResultsOfAnyGeometry) {
  for (std::size_t type = 0; type < kFloatTypes; ++type) {
    for (int round = 0; round < 150; ++round) {
      Filters by;
      by.with.groups = one_of({1, 1, 2, 3});
      // An element by each thread, and tiles.
      const std::int64_t filters = one_of({1, 2, 8, 9, 17});
      by.g = {one_of({0, 1, 1, 2, 3}), filters * by.with.groups, 0, 0};
      by.out = {0, 0, 0, 0};
      for (std::size_t axis = 0; axis < 2; ++axis) {
        by.with.strides[axis] = one_of({1, 1, 2, 3, 4});
        by.with.dilations[axis] = one_of({1, 1, 2, 3});
        by.out[2 + axis] = one_of({1, 2, 3, 4});
        by.g[2 + axis] = one_of({1, 2, 4, 5, 9});
        const std::int64_t reach = (by.out[2 + axis] - 1) * by.with.dilations[axis] + 1;
        const std::int64_t all = (by.g[2 + axis] - 1) * by.with.strides[axis] + reach;
        by.with.padding[2 * axis] = below(std::min<std::int64_t>(all, 4));
        by.with.padding[2 * axis + 1] =
            below(std::min<std::int64_t>(all - by.with.padding[2 * axis], 3));
      }
      check_any(kTypes[type], by.fit(one_of({1, 2, 3, 4, 17}), below(4)));
      if (HasFailure()) return;
    }
  }
}

// Each way to read, by vectors and one by one, around the borders of tiles; one part, parts of
// images, and parts of rows.
TEST_F(DeviceConv2dFilters, TakesTilesOfAnyLayout) {
  for (std::size_t type = 0; type < kFloatTypes; ++type) {
    for (const std::int64_t filters : {16, 65}) {
      for (const std::int64_t channels : {8, 33}) {
        for (const std::int64_t kernel : {1, 3}) {
          for (const AxisOrder& order : {kRowsLast, kChannelsLast}) {
            Filters by;
            by.g = {one_of({1, 2, 7}), filters, one_of({3, 8}), one_of({7, 8})};
            by.out = {0, 0, kernel, kernel};
            for (std::int64_t& padding : by.with.padding) padding = kernel / 2;
            by.with.strides[0] = by.with.strides[1] = one_of({1, 1, 2});
            const AxisOrder orders[] = {kRowsLast, kChannelsLast, kFirstLast};
            check_dense(kTypes[type], by.fit(channels),
                        {order, random_() % 4 == 0 ? kRowsLast : order, orders[random_() % 3],
                         random_() % 3 == 0 ? 1 : 0});
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

// Large tiles, several for each of the fake device's five multiprocessors.
TEST_F(DeviceConv2dFilters, TakesLargeTiles) {
  for (std::size_t type = 1; type < kFloatTypes; ++type) {
    for (const AxisOrder& order : {kRowsLast, kChannelsLast}) {
      Filters by;
      by.g = {2, 132, 16, 12};
      by.out = {0, 0, 3, 3};
      by.with.padding[0] = by.with.padding[1] = 1;
      check_dense(kTypes[type], by.fit(30), {order, order, kRowsLast});
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceConv2dFilters, TakesChannelsByThemselves) {
  for (std::size_t type = 0; type < kFloatTypes; ++type) {
    for (const AxisOrder& order : {kRowsLast, kChannelsLast}) {
      for (const std::int64_t multiplier : {1, 2, 9}) {
        Filters by;
        by.with.groups = 12;
        by.g = {3, 12 * multiplier, 19, 18};
        by.out = {0, 0, 3, 3};
        for (std::int64_t& padding : by.with.padding) padding = 1;
        by.with.strides[0] = one_of({1, 2});
        check_dense(kTypes[type], by.fit(1), {order, order, kRowsLast});
        if (HasFailure()) return;
      }
    }
  }
}

// The CPU leaves the padding out of sums of channels by themselves.
TEST_F(DeviceConv2dFilters, KeepsNaNAndInfinities) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (std::size_t index = 0; index < kFloatTypes; ++index) {
    const NamedType type = kTypes[index];
    for (const double special : {kInfinity, -kInfinity, std::nan("")}) {
      for (const std::int64_t filters : {3, 18}) {
        Filters by;
        by.g = {2, filters, 6, 7};
        by.out = {0, 0, 3, 2};
        by.with.padding[0] = by.with.padding[3] = 1;
        by.with.strides[0] = 2;
        by.fit(3);
        Array a(type.dtype, by.a, Arrangement::kRowMajor, random_);
        Array g(type.dtype, by.g, Arrangement::kRowMajor, random_);
        Array out(type.dtype, by.out, Arrangement::kRowMajor, random_);
        for (Array* const input : {&a, &g}) {
          fill_whole(*input, type);
          const std::vector<Byte*> elements = input->elements();
          kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&special), type.type,
                                   elements[random_() % elements.size()]);
        }
        expect_same_call(context_, by.call(), {&a, &g}, out, 0,
                         by.text() + " with " + std::to_string(special));
      }
    }
  }
}

// Sums of f32 in many parts, compared with those of f64; the bits of repeated calls are equal.
TEST_F(DeviceConv2dFilters, PartsGiveTheSameBitsAgain) {
  std::normal_distribution<double> normal(0, 1);
  for (const std::int64_t filters : {2, 20}) {
    Filters by;
    by.g = {5, filters, 33, 31};
    by.out = {0, 0, 3, 3};
    for (std::int64_t& padding : by.with.padding) padding = 1;
    by.fit(4);
    Array narrow_a(TNR_DTYPE_F32, by.a, Arrangement::kRowMajor, random_);
    Array narrow_g(TNR_DTYPE_F32, by.g, Arrangement::kRowMajor, random_);
    Array a(TNR_DTYPE_F64, by.a, Arrangement::kRowMajor, random_);
    Array g(TNR_DTYPE_F64, by.g, Arrangement::kRowMajor, random_);
    const auto fill = [&](Array& narrow, Array& wide) {
      const std::vector<Byte*> elements = narrow.elements();
      const std::vector<Byte*> wide_elements = wide.elements();
      for (std::size_t i = 0; i < elements.size(); ++i) {
        const auto value = static_cast<float>(normal(random_));
        const double same = value;
        std::memcpy(elements[i], &value, sizeof value);
        std::memcpy(wide_elements[i], &same, sizeof same);
      }
    };
    fill(narrow_a, a);
    fill(narrow_g, g);
    Array exact(TNR_DTYPE_F64, by.out, Arrangement::kRowMajor, random_);
    const tnr_view_mut exact_out = exact.out();
    ASSERT_EQ(by.call()(nullptr, {&a.view(), &g.view()}, &exact_out), TNR_STATUS_OK);
    Array out(TNR_DTYPE_F32, by.out, Arrangement::kRowMajor, random_);
    const DeviceArray there_a(context_, narrow_a);
    const DeviceArray there_g(context_, narrow_g);
    const DeviceArray there_out(context_, out);
    const tnr_stats before = totals();
    ASSERT_EQ(by.call()(context_, {there_a.in(), there_g.in()}, there_out.out()), TNR_STATUS_OK);
    EXPECT_EQ(totals().device_launches - before.device_launches, 2);
    EXPECT_EQ(totals().device_waits, before.device_waits);
    const std::vector<Byte> first = there_out.bytes();
    ASSERT_EQ(by.call()(context_, {there_a.in(), there_g.in()}, there_out.out()), TNR_STATUS_OK);
    EXPECT_EQ(there_out.bytes(), first);
    // 5,115 products of both signs in parts of some hundred, whose sums are of the size of 70.
    for_each_index(exact.view(), [&](const Index& at) {
      float found;
      double expected;
      std::memcpy(&found, first.data() + byte_of(out.view(), at), sizeof found);
      std::memcpy(&expected,
                  static_cast<const Byte*>(exact.view().base) + byte_of(exact.view(), at),
                  sizeof expected);
      EXPECT_NEAR(found, expected, 5115 * 0x1p-24 * 2);
    });
  }
}

TEST_F(DeviceConv2dFilters, RefusesWhatTheCpuRefuses) {
  for (const tnr_dtype dtype : {TNR_DTYPE_F32, TNR_DTYPE_BF16}) {
    const auto array = [&](const Shape& shape, tnr_dtype of = 0) {
      return Array(of == 0 ? dtype : of, shape, Arrangement::kRowMajor, random_);
    };
    Array a = array({2, 4, 5, 6});
    Array g = array({2, 6, 3, 4});
    Array out = array({6, 4, 3, 3});
    Filters by;
    const auto same = [&](const std::vector<Array*>& in, Array& to) {
      expect_same_call(context_, by.call(), in, to, 0, "refused");
      by = Filters();
    };
    Array rows = array({4, 5, 6});
    same({&rows, &g}, out);
    same({&a, &rows}, out);
    same({&a, &g}, rows);
    Array one = array({1, 6, 3, 4});
    same({&a, &one}, out);
    Array fewer = array({2, 5, 3, 4});
    same({&a, &fewer}, out);
    Array lower = array({2, 6, 2, 4});
    same({&a, &lower}, out);
    Array wide = array({2, 6, 3, 4}, TNR_DTYPE_F64);
    same({&a, &wide}, out);
    Array integers = array({2, 4, 5, 6}, TNR_DTYPE_I32);
    same({&integers, &g}, out);
    by.with.groups = 3;
    same({&a, &g}, out);
    by.with.activation = TNR_UNARY_OP_RELU;
    same({&a, &g}, out);
    by.with.flags = TNR_EPILOGUE_CLAMP;
    same({&a, &g}, out);
    Array square = array({2, 2, 2, 2});
    expect_same_call(context_, by.call(), {&square, &square}, square, 0, "in place");
  }
}

TEST_F(DeviceConv2dFilters, LeavesToTheCpuWhatItHasNot) {
  const Floats a(context_, {1, 2, 4, 4}, std::vector<float>(32, 1.0f));
  const Floats g(context_, {1, 3, 4, 4}, std::vector<float>(48, 1.0f));
  const Floats out(context_, {3, 2, 1, 1}, std::vector<float>(6, 7.0f));
  const Filters by;
  const auto refused = [&](const tnr_view& images, const tnr_view& gradients,
                           const tnr_view_mut& to, const char* what) {
    EXPECT_EQ(by.call()(context_, {&images, &gradients}, &to), TNR_STATUS_UNSUPPORTED) << what;
    EXPECT_NE(std::string(tnr_last_error()->message).find(what), std::string::npos)
        << tnr_last_error()->message;
  };
  std::vector<float> here(48, 1.0f);
  const tnr_view_mut lent = lend(here, {1, 2, 4, 4});
  const tnr_view_mut lent_g = lend(here, {1, 3, 4, 4});
  const tnr_view_mut lent_out = lend(here, {3, 2, 1, 1});
  refused(lent.view, *g.in(), out.out, "a.device");
  refused(*a.in(), lent_g.view, out.out, "g.device");
  refused(*a.in(), *g.in(), lent_out, "a.device is cuda:0");
  // More pixels than kernels count. Elements that repeat need no memory.
  tnr_view many = *a.in();
  tnr_view many_g = *g.in();
  many.shape[0] = many_g.shape[0] = std::int64_t{1} << 27;
  many.strides[0] = many_g.strides[0] = 0;
  refused(many, many_g, out.out,
          "g has 2147483648 pixels of all images, of which cuda:0 takes 2147483647");
  EXPECT_EQ(download(context_, out.out.view), std::vector<float>(6, 7.0f));
}

TEST_F(DeviceConv2dFilters, ALaunchThatFailsIsNamed) {
  if (!is_driver_fake()) GTEST_SKIP() << "a driver that cannot be made to fail";
  // Sums in four parts.
  const Floats a(context_, {1, 2, 24, 24}, std::vector<float>(1152, 1.0f));
  const Floats g(context_, {1, 2, 24, 24}, std::vector<float>(1152, 1.0f));
  const Floats out(context_, {2, 2, 1, 1}, std::vector<float>(4, 7.0f));
  const Filters by;
  const auto failing = [&](const char* what, const char* words) {
    const Variable variable("TENURE_FAKE_CUDA_FAIL", what);
    EXPECT_NE(by.call()(context_, {a.in(), g.in()}, &out.out), TNR_STATUS_OK) << what;
    EXPECT_NE(std::string(tnr_last_error()->message).find(words), std::string::npos)
        << tnr_last_error()->message;
  };
  failing("cuLaunchKernel", "tenure_filters_direct_f32");
  failing("cuLaunchKernel:2", "float_sum");
  failing("cuMemAllocAsync", "64 bytes could not be allocated");
  EXPECT_EQ(by.call()(context_, {a.in(), g.in()}, &out.out), TNR_STATUS_OK);
  EXPECT_EQ(download(context_, out.out.view), std::vector<float>(4, 576.0f));
}

}  // namespace
}  // namespace tenure
