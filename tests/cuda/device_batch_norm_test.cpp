// Batch normalization on a device, compared with the CPU's of the same elements.
#include <cmath>
#include <deque>
#include <limits>
#include <random>

#include "device_floats.hpp"
#include "device_images.hpp"

namespace tenure {
namespace {

using namespace test;

// By kTypes: f64, f32.
constexpr std::size_t kTypeCount = 2;

// a, var, and those of mean, weight and bias that are given, in that order.
struct Norm {
  bool has_mean = true;
  bool has_weight = true;
  bool has_bias = true;
  double eps = 1e-5;

  [[nodiscard]] std::size_t vector_count() const {
    return 1u + (has_mean ? 1 : 0) + (has_weight ? 1 : 0) + (has_bias ? 1 : 0);
  }
  [[nodiscard]] ContextCall call() const {
    return [by = *this](tnr_context* context, const std::vector<const tnr_view*>& in,
                        const tnr_view_mut* out) {
      std::size_t next = 2;
      const auto take = [&](bool is_given) { return is_given ? in[next++] : nullptr; };
      const tnr_view* const mean = take(by.has_mean);
      const tnr_view* const weight = take(by.has_weight);
      const tnr_view* const bias = take(by.has_bias);
      const tnr_batch_norm_attributes attributes = {sizeof attributes, by.eps};
      return tnr_batch_norm(context, in[0], mean, in[1], weight, bias, &attributes, out);
    };
  }
};

class DeviceBatchNorm : public OnDevice {
 protected:
  template <class Next>
  void fill(Array& array, const NamedType& type, const Next& next) {
    for (Byte* const element : array.elements()) {
      const double value = next();
      kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&value), type.type,
                               element);
    }
  }
  // Elements are those that `next` gives, and variances its absolute values.
  template <class Next>
  void check(const NamedType& type, const Norm& by, const Shape& shape, bool is_in_place,
             const Next& next) {
    std::deque<Array> in;
    const auto add = [&](const Shape& extents, const auto& arrangements) {
      in.emplace_back(type.dtype, extents, arrangements[random_() % std::size(arrangements)],
                      random_);
      fill(in.back(), type, next);
    };
    is_in_place ? add(shape, kWritable) : add(shape, kReadable);
    for (std::size_t i = 0; i < by.vector_count(); ++i) add({shape[1]}, kReadable);
    fill(in[1], type, [&] { return std::abs(next()); });
    std::vector<Array*> inputs;
    for (Array& array : in) inputs.push_back(&array);
    Array out(type.dtype, shape, kWritable[random_() % std::size(kWritable)], random_);
    expect_same_call(context_, by.call(), inputs, is_in_place ? in.front() : out, 0,
                     describe(in[0].view()) + (is_in_place ? " in place" : ""));
  }

  Random random_{1};
};

TEST_F(DeviceBatchNorm, GivesTheCpusBits) {
  std::normal_distribution<double> normal(0, 3);
  const Shape shapes[] = {{5, 3},     {1, 1},        {2, 7, 4},  {3, 4, 6, 5},
                          {0, 3, 2},  {2, 0, 3},     {1, 33, 1}, {2, 3, 1, 7, 2},
                          {40, 1, 9}, {2, 5, 17, 3}, {1, 600, 2}};
  for (std::size_t type = 0; type < kTypeCount; ++type) {
    for (const Shape& shape : shapes) {
      for (unsigned given = 0; given < 8; ++given) {
        const Norm by = {(given & 1) != 0, (given & 2) != 0, (given & 4) != 0,
                         given % 3 == 0 ? 0 : 0.25};
        check(kTypes[type], by, shape, given % 2 == 0, [&] { return normal(random_); });
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(DeviceBatchNorm, KeepsSpecialNumbers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double special[] = {std::nan(""), kInfinity, -kInfinity, 0.0,   -0.0,
                            1.0,          1e-320,    1e300,      1e-45, -3.4e38};
  for (std::size_t type = 0; type < kTypeCount; ++type) {
    for (unsigned given = 0; given < 40; ++given) {
      const Norm by = {(given & 1) != 0, (given & 2) != 0, (given & 4) != 0, 0};
      check(kTypes[type], by, {3, 12, 5}, false,
            [&] { return special[random_() % std::size(special)]; });
    }
  }
}

TEST_F(DeviceBatchNorm, RefusesWhatTheCpuRefuses) {
  const NamedType type = kTypes[1];
  const auto array = [&](const Shape& shape, tnr_dtype dtype = TNR_DTYPE_F32) {
    return Array(dtype, shape, Arrangement::kRowMajor, random_);
  };
  Array a = array({2, 4, 5});
  Array three = array({3});
  Array four[4] = {array({4}), array({4}), array({4}), array({4})};
  Array out = array({2, 4, 5});
  const auto same = [&](const Norm& by, std::vector<Array*> in, Array& to) {
    for (Array* const operand : in) {
      if (operand->view().dtype == type.dtype) fill(*operand, type, [] { return 1.0; });
    }
    expect_same_call(context_, by.call(), in, to, 0, "refused");
  };
  std::vector<Array*> const whole = {&a, &four[0], &four[1], &four[2], &four[3]};
  const Norm plain;
  for (const double eps : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    same({true, true, true, eps}, whole, out);
  }
  for (std::size_t i = 1; i < whole.size(); ++i) {
    std::vector<Array*> in = whole;
    in[i] = &three;
    same(plain, in, out);
    Array wide = array({4}, TNR_DTYPE_F64);
    in[i] = &wide;
    same(plain, in, out);
    Array matrix = array({1, 4});
    in[i] = &matrix;
    same(plain, in, out);
  }
  Array vector = array({4});
  same(plain, {&vector, &four[0], &four[1], &four[2], &four[3]}, vector);
  Array other = array({2, 4, 6});
  same(plain, whole, other);
  Array rows = array({2, 4});
  same(plain, whole, rows);
  Array narrow = array({2, 4, 5}, TNR_DTYPE_F16);
  Array narrow_four = array({4}, TNR_DTYPE_F16);
  Array narrow_out = array({2, 4, 5}, TNR_DTYPE_F16);
  same({false, false, false, 0}, {&narrow, &narrow_four}, narrow_out);
}

TEST_F(DeviceBatchNorm, OperandsAreOnOneDevice) {
  const Floats a(context_, {1, 2}, {1, 2});
  const Floats var(context_, {1, 1});
  const Floats out(context_, {1, 2}, {7, 7});
  std::vector<float> here(2, 1.0f);
  const tnr_view lent = lend(here).view;
  const tnr_batch_norm_attributes attributes = {sizeof attributes, 0};
  const auto refused = [&](const tnr_view* mean, const tnr_view* variance, const char* name) {
    EXPECT_EQ(
        tnr_batch_norm(context_, a.in(), mean, variance, nullptr, nullptr, &attributes, &out.out),
        TNR_STATUS_UNSUPPORTED);
    EXPECT_NE(std::string(tnr_last_error()->message).find(name), std::string::npos)
        << tnr_last_error()->message;
  };
  refused(nullptr, &lent, "var.device");
  refused(&lent, var.in(), "mean.device");
  EXPECT_EQ(download(context_, out.out.view), (std::vector<float>{7, 7}));
}

TEST_F(DeviceBatchNorm, EnqueuesTwoLaunches) {
  const Floats a(context_, {1, 2, 2}, {1, 2, 3, 4});
  const Floats mean(context_, {1, 2});
  const Floats var(context_, {4, 16});
  const Floats out(context_, {1, 2, 2}, std::vector<float>(4, 7.0f));
  const tnr_batch_norm_attributes attributes = {sizeof attributes, 0};
  const auto norm = [&] {
    return tnr_batch_norm(context_, a.in(), mean.in(), var.in(), nullptr, nullptr, &attributes,
                          &out.out);
  };
  const tnr_stats before = totals();
  ASSERT_EQ(norm(), TNR_STATUS_OK) << tnr_last_error()->message;
  const tnr_stats after = totals();
  EXPECT_EQ(after.device_launches - before.device_launches, 2);
  EXPECT_EQ(after.device_waits, before.device_waits);
  EXPECT_EQ(download(context_, out.out.view), (std::vector<float>{0, 0.5f, 0.25f, 0.5f}));

  if (!is_driver_fake()) return;
  for (const char* const failing : {"cuLaunchKernel", "cuLaunchKernel:2", "cuMemAllocAsync"}) {
    const Variable fails("TENURE_FAKE_CUDA_FAIL", failing);
    EXPECT_NE(norm(), TNR_STATUS_OK) << failing;
  }
  ASSERT_EQ(norm(), TNR_STATUS_OK) << tnr_last_error()->message;
}

}  // namespace
}  // namespace tenure
