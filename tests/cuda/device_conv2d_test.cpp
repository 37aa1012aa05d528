// Convolutions on a device, compared with the CPU's of the same elements.
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include "cuda/driver.hpp"
#include "device_child.hpp"
#include "device_convolutions.hpp"
#include "device_floats.hpp"

namespace tenure {
namespace {

using namespace test;

class DeviceConv2d : public OnDevice {
 protected:
  std::int64_t one_of(std::initializer_list<std::int64_t> list) {
    return list.begin()[random_() % list.size()];
  }

  Convolution any(std::initializer_list<std::int64_t> all_filters,
                  std::initializer_list<std::int64_t> all_channels) {
    Convolution by;
    by.is_transposed = random_() % 2 == 0;
    by.with.groups = one_of({1, 1, 2, 3});
    const std::int64_t filters = one_of(all_filters);
    const std::int64_t channels = one_of(all_channels);
    by.a = {one_of({1, 2, 3}), channels * by.with.groups, 0, 0};
    by.weight = by.is_transposed ? Shape{by.a[1], filters, 0, 0}
                                 : Shape{filters * by.with.groups, channels, 0, 0};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      by.with.strides[axis] = one_of({1, 1, 2, 3, 4});
      by.with.dilations[axis] = one_of({1, 1, 2, 3});
      by.weight[2 + axis] = one_of({1, 2, 3, 4});
      const std::int64_t reach = (by.weight[2 + axis] - 1) * by.with.dilations[axis] + 1;
      const std::int64_t all = (one_of({1, 2, 5, 9}) - 1) * by.with.strides[axis] + reach;
      if (by.is_transposed) {
        by.a[2 + axis] = (all - reach) / by.with.strides[axis] + 1;
        by.with.padding[2 * axis] = below(std::min<std::int64_t>(all, 4));
        by.with.padding[2 * axis + 1] =
            below(std::min<std::int64_t>(all - by.with.padding[2 * axis], 3));
      } else {
        by.with.padding[2 * axis] = below(4);
        by.with.padding[2 * axis + 1] = below(3);
        by.a[2 + axis] = std::max<std::int64_t>(
            all - by.with.padding[2 * axis] - by.with.padding[2 * axis + 1], 1);
      }
    }
    if (random_() % 3 == 0) by.with.activation = TNR_UNARY_OP_RELU;
    if (random_() % 4 == 0) {
      by.with.flags = TNR_EPILOGUE_CLAMP;
      by.with.low = -1;
      by.with.high = 2;
    }
    return by.fit(below(4));
  }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }

  // Numbers whose sums are exact, so that the CPU's order of them gives the same bits.
  void check(const NamedType& type, const Convolution& by, const Arrangement (&lie)[3]) {
    Array a(type.dtype, by.a, lie[0], random_);
    Array weight(type.dtype, by.weight, lie[1], random_);
    Array bias(type.dtype, {by.out[1]}, kReadable[random_() % std::size(kReadable)], random_);
    Array out(type.dtype, by.out, lie[2], random_);
    for (Array* const input : {&a, &weight, &bias}) fill_with_numbers(*input, type.type, random_);
    std::vector<Array*> inputs = {&a, &weight};
    if (random_() % 2 == 0) inputs.push_back(&bias);
    expect_same_call(context_, by.call(), inputs, out, 0, by.text() + " " + describe(a.view()));
  }
  void check_any(const NamedType& type, const Convolution& by) {
    check(type, by,
          {kReadable[random_() % std::size(kReadable)], kReadable[random_() % std::size(kReadable)],
           kWritable[random_() % std::size(kWritable)]});
  }

  // Dense operands with these orders of axes, each `shift` elements behind an aligned address.
  struct Lies {
    AxisOrder a;
    AxisOrder weight;
    AxisOrder out;
    std::int64_t shift = 0;
  };
  void check_dense(const NamedType& type, const Convolution& by, const Lies& lies) {
    FlatImage a(type.dtype, by.a, lies.a, lies.shift, random_);
    FlatImage weight(type.dtype, by.weight, lies.weight, lies.shift, random_);
    FlatImage out(type.dtype, by.out, lies.out, lies.shift, random_);
    Array bias(type.dtype, {by.out[1]}, Arrangement::kRowMajor, random_);
    for (Array* const input : {&a.memory, &weight.memory, &bias}) {
      fill_with_numbers(*input, type.type, random_);
    }
    const ContextCall call = [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
      const tnr_view image = a.over(*in[0]);
      const tnr_view filters = weight.over(*in[1]);
      const tnr_view_mut result = {out.over(to->view)};
      return by.call()(context, {&image, &filters, in[2]}, &result);
    };
    expect_same_call(context_, call, {&a.memory, &weight.memory, &bias}, out.memory, 0,
                     by.text() + " type " + std::to_string(static_cast<int>(type.type)));
  }

  Random random_{1};
};

TEST_F(DeviceConv2d, GivesTheCpusResultsOfAnyGeometry) {
  for (std::size_t type = 0; type < kFloatTypes; ++type) {
    for (int round = 0; round < 120; ++round) {
      // An element by each thread, and tiles.
      check_any(kTypes[type], any({1, 2, 3, 8, 9, 12, 17}, {1, 2, 3, 4, 5, 17}));
      if (HasFailure()) return;
    }
  }
}

// Around the borders of tiles, of their depth, and of groups of four.
TEST_F(DeviceConv2d, GivesTheCpusResultsAroundEveryBorder) {
  for (std::size_t type = 0; type < kFloatTypes; ++type) {
    for (const std::int64_t filters : {15, 63, 64, 65, 127, 128, 129, 200}) {
      for (const std::int64_t channels : {1, 4, 15, 16, 17, 36}) {
        Convolution by = any({filters}, {channels});
        by.with.groups = 1;
        by.a = {by.a[0], channels, by.a[2], by.a[3]};
        by.weight[0] = by.is_transposed ? channels : filters;
        check_any(kTypes[type], by.fit());
        if (HasFailure()) return;
      }
    }
  }
}

// Large tiles, several for each of the fake device's five multiprocessors.
TEST_F(DeviceConv2d, TakesLargeTiles) {
  for (std::size_t type = 1; type < kFloatTypes; ++type) {
    for (const bool is_transposed : {false, true}) {
      Convolution by;
      by.is_transposed = is_transposed;
      by.a = {2, 8, 16, 12};
      by.weight = is_transposed ? Shape{8, 132, 3, 1} : Shape{132, 8, 3, 1};
      by.with.padding[0] = by.with.padding[1] = 1;
      if (is_transposed) by.with.strides[1] = 2;
      for (const AxisOrder& order : {kRowsLast, kChannelsLast}) {
        for (const AxisOrder& of_weight : {kRowsLast, kChannelsLast, kFirstLast}) {
          check_dense(kTypes[type], by.fit(), {order, of_weight, order});
        }
      }
      by.a = {2, 5, 19, 17};
      by.weight = is_transposed ? Shape{5, 130, 3, 2} : Shape{130, 5, 3, 2};
      check_any(kTypes[type], by.fit());
      if (HasFailure()) return;
    }
  }
}

// Each way to read and to write, by vectors and one by one.
TEST_F(DeviceConv2d, TakesVectorsWhereElementsAreAligned) {
  for (std::size_t type = 0; type < kFloatTypes; ++type) {
    for (const bool is_transposed : {false, true}) {
      for (const std::int64_t channels : {6, 8}) {
        for (const std::int64_t filters : {4, 22, 24}) {
          for (const std::int64_t kernel : {1, 3}) {
            for (const AxisOrder& a : {kRowsLast, kChannelsLast}) {
              Convolution by;
              by.is_transposed = is_transposed;
              by.a = {2, channels, 6, 10};
              by.weight = is_transposed ? Shape{channels, filters, kernel, kernel}
                                        : Shape{filters, channels, kernel, kernel};
              by.with.padding[0] = by.with.padding[1] = kernel / 2;
              by.with.strides[0] = by.with.strides[1] = one_of({1, 2});
              const AxisOrder orders[] = {kRowsLast, kChannelsLast, kFirstLast};
              check_dense(kTypes[type], by.fit(1),
                          {a, orders[random_() % 3], random_() % 3 == 0 ? kRowsLast : a,
                           random_() % 3 == 0 ? 1 : 0});
              if (HasFailure()) return;
            }
          }
        }
      }
    }
  }
}

TEST_F(DeviceConv2d, TakesChannelsByThemselves) {
  for (std::size_t type = 0; type < kFloatTypes; ++type) {
    for (const AxisOrder& order : {kRowsLast, kChannelsLast}) {
      for (const std::int64_t multiplier : {1, 2, 9}) {
        for (const bool is_transposed : {false, true}) {
          Convolution by;
          by.is_transposed = is_transposed;
          by.with.groups = 12;
          by.a = {2, 12, 7, 9};
          by.weight = is_transposed ? Shape{12, multiplier, 3, 3} : Shape{12 * multiplier, 1, 3, 3};
          for (std::int64_t& padding : by.with.padding) padding = 1;
          by.with.strides[0] = one_of({1, 2});
          check_dense(kTypes[type], by.fit(1), {order, kRowsLast, order});
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Sums of nothing are the bias; results of nothing are none.
TEST_F(DeviceConv2d, TakesEmptyExtents) {
  for (const bool is_transposed : {false, true}) {
    for (const std::int64_t filters : {3, 20}) {
      Convolution by;
      by.is_transposed = is_transposed;
      by.a = {2, 0, 4, 5};
      by.weight = is_transposed ? Shape{0, filters, 2, 2} : Shape{filters, 0, 2, 2};
      check_any(kTypes[1], by.fit());
      by.a = {0, 3, 4, 5};
      by.weight = is_transposed ? Shape{3, filters, 2, 2} : Shape{filters, 3, 2, 2};
      check_any(kTypes[1], by.fit());
      by.a = {2, 3, 4, 5};
      by.weight = is_transposed ? Shape{3, 0, 2, 2} : Shape{0, 3, 2, 2};
      check_any(kTypes[1], by.fit());
    }
  }
  // An image that consists only of padding.
  for (const std::int64_t filters : {3, 20}) {
    Convolution by;
    by.a = {2, 3, 0, 5};
    by.weight = {filters, 3, 2, 2};
    by.with.padding[0] = by.with.padding[1] = 2;
    check_any(kTypes[1], by.fit());
  }
}

// Strides, dilations and paddings as long as kernels count, whose elements never meet an image.
TEST_F(DeviceConv2d, TakesStepsThatLeadNowhere) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t filters : {3, 20}) {
    Convolution by;
    by.a = {1, 3, 5, 5};
    by.weight = {filters, 3, 1, 1};
    by.with.strides[0] = kMost;
    by.with.strides[1] = std::int64_t{1} << 40;
    by.with.dilations[0] = std::int64_t{1} << 50;
    check_any(kTypes[1], by.fit());
    by.with = Convolution().with;
    by.weight = {filters, 3, 2, 1};
    by.with.dilations[0] = (std::int64_t{1} << 31) - 10;
    by.with.padding[0] = (std::int64_t{1} << 31) - 14;
    check_any(kTypes[1], by.fit());
    by = Convolution();
    by.is_transposed = true;
    by.a = {1, 3, 1, 5};
    by.weight = {3, filters, 2, 2};
    by.with.strides[0] = kMost / 2;
    check_any(kTypes[1], by.fit());
    by.with.strides[0] = 1 << 20;
    by.with.dilations[1] = 7;
    by.with.strides[1] = 5;
    check_any(kTypes[1], by.fit(3));
  }
}

// The kernels by tiles and by single elements give the same bits, in every layout.
TEST_F(DeviceConv2d, GivesTheSameBitsByEachKernelInAnyLayout) {
  std::normal_distribution<float> normal(0, 1);
  Convolution by;
  by.a = {2, 19, 8, 9};
  by.weight = {160, 19, 3, 3};
  by.with.padding[0] = by.with.padding[1] = 1;
  by.fit();
  FlatImage a(TNR_DTYPE_F32, by.a, kRowsLast, 0, random_);
  FlatImage weight(TNR_DTYPE_F32, by.weight, kRowsLast, 0, random_);
  for (Array* const array : {&a.memory, &weight.memory}) {
    for (Byte* const element : array->elements()) {
      const float number = normal(random_);
      std::memcpy(element, &number, sizeof number);
    }
  }
  const DeviceArray there_a(context_, a.memory);
  const DeviceArray there_weight(context_, weight.memory);
  const tnr_view image = a.over(there_a.view());
  const tnr_view filters = weight.over(there_weight.view());
  const std::vector<float> nothing(static_cast<std::size_t>(2 * 160 * 8 * 7));
  const Floats by_tiles(context_, by.out, nothing);
  ASSERT_EQ(by.call()(context_, {&image, &filters}, &by_tiles.out), TNR_STATUS_OK)
      << tnr_last_error()->message;
  const std::vector<float> expected = download(context_, by_tiles.out.view);

  // Filters by eights.
  const Floats by_eights(context_, by.out, nothing);
  for (std::int64_t first = 0; first < 160; first += 8) {
    tnr_view some = filters;
    some.shape[0] = 8;
    some.data = static_cast<const Byte*>(some.data) + first * some.strides[0] * 4;
    tnr_view_mut to = by_eights.out;
    to.view.shape[1] = 8;
    to.view.data = static_cast<const Byte*>(to.view.data) + first * to.view.strides[1] * 4;
    ASSERT_EQ(by.call()(context_, {&image, &some}, &to), TNR_STATUS_OK)
        << tnr_last_error()->message;
  }
  EXPECT_EQ(download(context_, by_eights.out.view), expected);

  // Channels last.
  const Floats a_last(context_, {2, 8, 9, 19}, std::vector<float>(2 * 8 * 9 * 19));
  const Floats out_last(context_, {2, 8, 7, 160}, nothing);
  const auto turned = [](tnr_view view) {
    std::rotate(view.shape + 1, view.shape + 3, view.shape + 4);
    std::rotate(view.strides + 1, view.strides + 3, view.strides + 4);
    return view;
  };
  const tnr_view_mut image_last = {turned(a_last.out.view)};
  ASSERT_EQ(tnr_copy(context_, &image, nullptr, &image_last), TNR_STATUS_OK);
  const tnr_view_mut result_last = {turned(out_last.out.view)};
  ASSERT_EQ(by.call()(context_, {&image_last.view, &filters}, &result_last), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(download(context_, result_last.view), expected);
}

// Rounded sums are within the bound of the CPU and the device: (k + 4) eps times the magnitudes.
TEST_F(DeviceConv2d, IsWithinTheBoundOfRoundedSums) {
  std::normal_distribution<double> normal(0, 1);
  for (const std::size_t index : {0, 1}) {
    for (const std::int64_t filters : {2, 12}) {
      const NamedType type = kTypes[index];
      Convolution by;
      by.a = {1, 70, 4, 5};
      by.weight = {filters, 70, 3, 3};
      by.fit();
      Array a(type.dtype, by.a, Arrangement::kRowMajor, random_);
      Array weight(type.dtype, by.weight, Arrangement::kRowMajor, random_);
      Array out(type.dtype, by.out, Arrangement::kRowMajor, random_);
      std::vector<double> values[2];
      for (Array* const array : {&a, &weight}) {
        for (Byte* const element : array->elements()) {
          const double value = normal(random_);
          kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&value), type.type,
                                   element);
          double rounded;
          kernels::reference::cast(type.type, element, Type::kF64,
                                   reinterpret_cast<Byte*>(&rounded));
          values[array == &a ? 0 : 1].push_back(rounded);
        }
      }
      const DeviceArray there_a(context_, a);
      const DeviceArray there_weight(context_, weight);
      const DeviceArray there_out(context_, out);
      ASSERT_EQ(by.call()(context_, {there_a.in(), there_weight.in()}, there_out.out()),
                TNR_STATUS_OK);
      const std::vector<Byte> bytes = there_out.bytes();
      const double eps = index == 0 ? 0x1p-52 : 0x1p-23;
      for_each_index(out.view(), [&](const Index& at) {
        long double sum = 0;
        long double magnitude = 0;
        for (std::int64_t c = 0; c < 70; ++c) {
          for (std::int64_t i = 0; i < 3; ++i) {
            for (std::int64_t j = 0; j < 3; ++j) {
              const auto from = static_cast<std::size_t>((c * 4 + at[2] + i) * 5 + at[3] + j);
              const auto by_weight = static_cast<std::size_t>(((at[1] * 70 + c) * 3 + i) * 3 + j);
              const long double product =
                  static_cast<long double>(values[0][from]) * values[1][by_weight];
              sum += product;
              magnitude += std::fabs(product);
            }
          }
        }
        double found;
        kernels::reference::cast(type.type, bytes.data() + byte_of(out.view(), at), Type::kF64,
                                 reinterpret_cast<Byte*>(&found));
        EXPECT_LE(std::fabs(found - sum), (630 + 4) * eps * magnitude);
      });
    }
  }
}

// An infinite weight makes NaN of the padding's zeros, and of those of a transposed one alike.
TEST_F(DeviceConv2d, KeepsNaNAndInfinities) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (std::size_t index = 0; index < kFloatTypes; ++index) {
    const NamedType type = kTypes[index];
    for (const bool is_transposed : {false, true}) {
      for (const double special : {kInfinity, -kInfinity, std::nan("")}) {
        for (const std::int64_t filters : {3, 18}) {
          Convolution by;
          by.is_transposed = is_transposed;
          by.a = {2, 3, 6, 7};
          by.weight = is_transposed ? Shape{3, filters, 3, 2} : Shape{filters, 3, 3, 2};
          by.with.padding[0] = by.with.padding[3] = 1;
          by.with.strides[0] = 2;
          by.with.activation = TNR_UNARY_OP_RELU;
          by.fit(1);
          Array a(type.dtype, by.a, Arrangement::kRowMajor, random_);
          Array weight(type.dtype, by.weight, Arrangement::kRowMajor, random_);
          Array out(type.dtype, by.out, Arrangement::kRowMajor, random_);
          for (Array* const input : {&a, &weight}) {
            fill_with_numbers(*input, type.type, random_);
            const std::vector<Byte*> elements = input->elements();
            kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&special), type.type,
                                     elements[random_() % elements.size()]);
          }
          expect_same_call(context_, by.call(), {&a, &weight}, out, 0,
                           by.text() + " with " + std::to_string(special));
        }
      }
    }
  }
}

TEST_F(DeviceConv2d, RefusesWhatTheCpuRefuses) {
  const auto array = [&](tnr_dtype dtype, const Shape& shape) {
    return Array(dtype, shape, Arrangement::kRowMajor, random_);
  };
  for (const tnr_dtype dtype : {TNR_DTYPE_F32, TNR_DTYPE_F16}) {
    Array a = array(dtype, {2, 4, 5, 6});
    Array weight = array(dtype, {3, 4, 2, 2});
    Array out = array(dtype, {2, 3, 4, 5});
    Array bias = array(dtype, {3});
    Convolution by;
    const auto same = [&](const std::vector<Array*>& in, Array& to) {
      for (const bool is_transposed : {false, true}) {
        by.is_transposed = is_transposed;
        expect_same_call(context_, by.call(), in, to, 0, "refused");
      }
      by = Convolution();
    };
    Array rows = array(dtype, {4, 5, 6});
    same({&rows, &weight}, out);
    same({&a, &rows}, out);
    same({&a, &weight}, rows);
    Array other = array(dtype, {2, 3, 4, 6});
    same({&a, &weight}, other);
    Array fewer = array(dtype, {2, 3, 5, 6});
    same({&fewer, &weight}, out);
    Array short_bias = array(dtype, {2});
    same({&a, &weight, &short_bias}, out);
    same({&a, &weight, &rows}, out);
    Array wide = array(TNR_DTYPE_F64, {3, 4, 2, 2});
    same({&a, &wide}, out);
    Array wide_bias = array(TNR_DTYPE_F64, {3});
    same({&a, &weight, &wide_bias}, out);
    Array wide_out = array(TNR_DTYPE_F64, {2, 3, 4, 5});
    same({&a, &weight}, wide_out);
    by.with.groups = 3;
    same({&a, &weight}, out);
    by.with.groups = -1;
    same({&a, &weight}, out);
    by.with.strides[0] = -1;
    same({&a, &weight}, out);
    by.with.padding[3] = -1;
    same({&a, &weight}, out);
    by.with.dilations[1] = 9;
    same({&a, &weight}, out);
    by.with.padding[0] = std::numeric_limits<std::int64_t>::max();
    same({&a, &weight}, out);
    by.with.activation = 99;
    same({&a, &weight}, out);
    by.with.flags = TNR_EPILOGUE_CLAMP;
    by.with.low = 2;
    same({&a, &weight}, out);
  }
  Array integers = array(TNR_DTYPE_I32, {1, 1, 3, 3});
  Array results = array(TNR_DTYPE_I32, {1, 1, 1, 1});
  Convolution by;
  expect_same_call(context_, by.call(), {&integers, &integers}, results, 0, "i32");
  Array square = array(TNR_DTYPE_F32, {1, 1, 1, 1});
  expect_same_call(context_, by.call(), {&square, &square}, square, 0, "in place");
}

TEST_F(DeviceConv2d, LeavesToTheCpuWhatItHasNot) {
  const Floats a(context_, {1, 2, 4, 4}, std::vector<float>(32, 1.0f));
  const Floats weight(context_, {3, 2, 1, 1}, std::vector<float>(6, 1.0f));
  const Floats out(context_, {1, 3, 4, 4}, std::vector<float>(48, 7.0f));
  Convolution by;
  const auto refused = [&](const std::vector<const tnr_view*>& in, const tnr_view_mut& to,
                           tnr_status status, const char* what) {
    EXPECT_EQ(by.call()(context_, in, &to), status) << what;
    EXPECT_NE(std::string(tnr_last_error()->message).find(what), std::string::npos)
        << tnr_last_error()->message;
    by = Convolution();
  };
  by.with.activation = TNR_UNARY_OP_GELU;
  refused({a.in(), weight.in()}, out.out, TNR_STATUS_UNSUPPORTED,
          "attributes->activation is gelu, which conv2d applies only on the CPU, not on cuda:0");
  std::vector<float> here(48, 1.0f);
  const tnr_view_mut lent = lend(here, {1, 2, 4, 4});
  const tnr_view_mut lent_weight = lend(here, {3, 2, 1, 1});
  const tnr_view_mut lent_bias = lend(here, {3}, {1});
  refused({&lent.view, weight.in()}, out.out, TNR_STATUS_UNSUPPORTED, "a.device");
  refused({a.in(), &lent_weight.view}, out.out, TNR_STATUS_UNSUPPORTED, "weight.device");
  refused({a.in(), weight.in(), &lent_bias.view}, out.out, TNR_STATUS_UNSUPPORTED, "bias.device");
  const tnr_view_mut lent_out = lend(here, {1, 3, 4, 4});
  refused({a.in(), weight.in()}, lent_out, TNR_STATUS_UNSUPPORTED, "a.device is cuda:0");

  // More than kernels count. Elements that repeat need no memory.
  constexpr std::int64_t kMany = std::int64_t{1} << 31;
  by.with.padding[0] = kMany;
  by.with.strides[0] = kMany + 3;
  tnr_view_mut two = out.out;
  two.view.shape[2] = 2;
  refused({a.in(), weight.in()}, two, TNR_STATUS_UNSUPPORTED,
          "the height of a with its padding is 2147483652, of which cuda:0 takes 2147483647");
  tnr_view deep = *a.in();
  deep.shape[1] = kMany;
  deep.strides[1] = 0;
  tnr_view deep_weight = *weight.in();
  deep_weight.shape[1] = kMany;
  deep_weight.strides[1] = 0;
  refused({&deep, &deep_weight}, out.out, TNR_STATUS_UNSUPPORTED,
          "sums over 2147483648 channels by 1 elements of a filter, of 1 groups, are too long");
  by.is_transposed = true;
  by.with.padding[0] = kMany;
  by.with.dilations[0] = kMany;
  tnr_view tall = *weight.in();
  tall.shape[0] = 2;
  tall.shape[1] = 3;
  tall.shape[2] = 2;
  tall.strides[2] = 0;
  refused({a.in(), &tall}, out.out, TNR_STATUS_UNSUPPORTED, "the height of out with its padding");
  EXPECT_EQ(download(context_, out.out.view), std::vector<float>(48, 7.0f));
}

TEST_F(DeviceConv2d, IsOneLaunchAndWaitsForNothing) {
  const Floats a(context_, {1, 2, 6, 6}, std::vector<float>(72, 1.0f));
  const Floats weight(context_, {2, 20, 2, 2}, std::vector<float>(160, 1.0f));
  Convolution by;
  by.is_transposed = true;
  by.a = {1, 2, 6, 6};
  by.weight = {2, 20, 2, 2};
  by.with.strides[0] = by.with.strides[1] = 3;
  by.fit(2);
  std::size_t count = 1;
  for (const std::int64_t extent : by.out) count *= static_cast<std::size_t>(extent);
  const Floats out(context_, by.out, std::vector<float>(count));
  const tnr_stats before = totals();
  ASSERT_EQ(by.call()(context_, {a.in(), weight.in()}, &out.out), TNR_STATUS_OK);
  EXPECT_EQ(totals().device_launches - before.device_launches, 1);
  EXPECT_EQ(totals().device_waits, before.device_waits);
}

TEST_F(DeviceConv2d, ALaunchThatFailsIsNamed) {
  if (!is_driver_fake()) GTEST_SKIP() << "a driver that cannot be made to fail";
  const Floats a(context_, {1, 2, 2, 2}, std::vector<float>(8, 1.0f));
  for (const std::int64_t filters : {2, 20}) {
    const auto count = static_cast<std::size_t>(filters);
    const Floats weight(context_, {filters, 2, 1, 1}, std::vector<float>(2 * count, 1.0f));
    const Floats out(context_, {1, filters, 2, 2}, std::vector<float>(4 * count, 7.0f));
    const Convolution by;
    {
      const Variable failing("TENURE_FAKE_CUDA_FAIL", "cuLaunchKernel");
      EXPECT_EQ(by.call()(context_, {a.in(), weight.in()}, &out.out), TNR_STATUS_DEVICE_ERROR);
      EXPECT_NE(std::string(tnr_last_error()->message)
                    .find(filters == 2 ? "tenure_conv_direct_f32" : "tenure_conv_f32_4"),
                std::string::npos)
          << tnr_last_error()->message;
    }
    EXPECT_EQ(download(context_, out.out.view), std::vector<float>(4 * count, 7.0f));
    EXPECT_EQ(by.call()(context_, {a.in(), weight.in()}, &out.out), TNR_STATUS_OK);
    EXPECT_EQ(download(context_, out.out.view), std::vector<float>(4 * count, 2.0f));
  }
}

// A call through another context than that of its operands, which takes their order too.
TEST_F(DeviceConv2d, EachEntryPointMayFail) {
  if (!is_driver_fake()) GTEST_SKIP() << "a driver that cannot be made to fail";
  tnr_context* const other = context_on(kFirstDevice);
  ASSERT_NE(other, nullptr);
  {
    const Floats a(context_, {1, 1, 2, 2}, {1, 2, 3, 4});
    const Floats weight(context_, {1, 1, 1, 1}, {2});
    const Floats out(context_, {1, 1, 2, 2}, {7, 7, 7, 7});
    tnr_pool2d_attributes whole = {};
    whole.struct_size = sizeof whole;
    whole.kernel[0] = whole.kernel[1] = 1;
    const auto convolve = [&] {
      return Convolution().call()(other, {a.in(), weight.in()}, &out.out);
    };
    const auto pool = [&] {
      return tnr_pool2d(other, TNR_REDUCE_OP_MAX, a.in(), &whole, &out.out);
    };
    int failures = 0;
#define TENURE_NAME(member, name, version, parameters) name,
    for (const char* const name : {TENURE_CUDA_ENTRY_POINTS(TENURE_NAME)}) {
#undef TENURE_NAME
      if (is_end_of_something(name)) continue;
      for (const char* const when : {"", ":1", ":2"}) {
        for (const bool pools : {false, true}) {
          tnr_status status;
          {
            const Variable failing("TENURE_FAKE_CUDA_FAIL", std::string(name) + when);
            status = pools ? pool() : convolve();
          }
          EXPECT_TRUE(status == TNR_STATUS_OK || status == TNR_STATUS_DEVICE_ERROR)
              << name << when << ": " << tnr_last_error()->message;
          failures += status == TNR_STATUS_OK ? 0 : 1;
          // Nothing of it is left.
          ASSERT_EQ(pools ? pool() : convolve(), TNR_STATUS_OK) << tnr_last_error()->message;
          const float by = pools ? 1 : 2;
          ASSERT_EQ(download(other, out.out.view), (std::vector<float>{by, 2 * by, 3 * by, 4 * by}))
              << name << when;
        }
      }
    }
    EXPECT_GT(failures, 4);
  }
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

TEST_F(DeviceConv2d, CallsThroughTwoContextsAreInOrder) {
  tnr_context* const other = context_on(kFirstDevice);
  ASSERT_NE(other, nullptr);
  {
    const Floats weight(context_, {1, 1, 1, 1}, {2.0f});
    const Floats bias(other, {1.0f});
    const Floats a(context_, {1, 1, 40, 40}, std::vector<float>(1600, 1.0f));
    const Floats b(other, {1, 1, 40, 40}, std::vector<float>(1600, 0.0f));
    const Convolution by;
    float x = 1;
    for (int i = 0; i < 8; ++i) {
      ASSERT_EQ(by.call()(context_, {a.in(), weight.in(), bias.in()}, &b.out), TNR_STATUS_OK);
      ASSERT_EQ(by.call()(other, {b.in(), weight.in(), bias.in()}, &a.out), TNR_STATUS_OK);
      x = 2 * (2 * x + 1) + 1;
    }
    EXPECT_EQ(download(context_, *a.in()), std::vector<float>(1600, x));
  }
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

}  // namespace
}  // namespace tenure
