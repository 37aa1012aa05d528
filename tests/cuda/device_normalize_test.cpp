// Normalizations on a device, compared with the CPU's of the same elements.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "on_device.hpp"

namespace tenure {
namespace {

using namespace test;

constexpr tnr_normalize_op kOps[] = {TNR_NORMALIZE_OP_SOFTMAX, TNR_NORMALIZE_OP_LOG_SOFTMAX,
                                     TNR_NORMALIZE_OP_LAYER_NORM, TNR_NORMALIZE_OP_RMS_NORM};
constexpr NamedType kFloats[] = {kTypes[0], kTypes[1], kTypes[2], kTypes[3]};

bool is_norm(tnr_normalize_op op) {
  return op == TNR_NORMALIZE_OP_LAYER_NORM || op == TNR_NORMALIZE_OP_RMS_NORM;
}

struct Normalization {
  tnr_normalize_op op;
  std::uint32_t axes;
  double eps = 0;
  bool has_weight = false;
  bool has_bias = false;
};

// Inputs: a, the weight and the bias, where there are any.
ContextCall call_of(const Normalization& by) {
  return
      [by](tnr_context* context, const std::vector<const tnr_view*>& in, const tnr_view_mut* out) {
        tnr_normalize_attributes attributes{};
        attributes.struct_size = sizeof attributes;
        attributes.eps = by.eps;
        attributes.weight = by.has_weight ? in[1] : nullptr;
        attributes.bias = by.has_bias ? in[by.has_weight ? 2 : 1] : nullptr;
        return tnr_normalize(context, by.op, in[0], by.axes, &attributes, out);
      };
}

// How far a result may be from the CPU's: each is within 6 and the distance to the greatest, here 2
// at most, of powers; sums have another order. A mean of f64 is rounded, and the elements here are
// no closer to it than an eighth part of 1 / count.
double last_places(tnr_normalize_op op, Type type, double count) {
  if (type == Type::kF16 || type == Type::kBF16) return 1;
  if (op == TNR_NORMALIZE_OP_LAYER_NORM && type == Type::kF64) return 64 + 16 * count;
  return is_norm(op) ? 64 : 16;
}
double count_of(const Shape& shape) {
  double count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<double>(extent);
  return count;
}

std::string describe_call(const Normalization& by, const Array& a) {
  return "op " + std::to_string(by.op) + " axes " + std::to_string(by.axes) + " of " +
         describe(a.view());
}

Shape reduced_shape(const Shape& shape, std::uint32_t axes) {
  Shape result;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if ((axes >> axis & 1u) != 0) result.push_back(shape[axis]);
  }
  return result;
}

void set(Byte* element, Type type, double value) {
  kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&value), type, element);
}

// Beside which no result is near 0.
void fill_bias(Array& bias, Type type, Random& random) {
  for (Byte* const element : bias.elements()) {
    set(element, type, 8 + static_cast<double>(random() % 16) / 8);
  }
}

class DeviceNormalize : public OnDevice {
 protected:
  void check(Normalization by, const NamedType& type, const Shape& shape, Arrangement from,
             Arrangement to, Random& random) {
    if (is_norm(by.op)) by.eps = random() % 2 == 0 ? 1e-5 : 0.25;
    by.has_weight = is_norm(by.op) && random() % 2 == 0;
    // Without one an element that is the mean is compared with what the mean is rounded by.
    by.has_bias = by.op == TNR_NORMALIZE_OP_LAYER_NORM;
    Array a(type.dtype, shape, from, random);
    fill_with_numbers(a, type.type, random);
    const Shape of_factors = reduced_shape(shape, by.axes);
    Array weight(type.dtype, of_factors, kReadable[random() % std::size(kReadable)], random);
    Array bias(type.dtype, of_factors, kReadable[random() % std::size(kReadable)], random);
    fill_with_numbers(weight, type.type, random);
    fill_bias(bias, type.type, random);
    std::vector<Array*> inputs = {&a};
    if (by.has_weight) inputs.push_back(&weight);
    if (by.has_bias) inputs.push_back(&bias);
    Array out(type.dtype, shape, to, random);
    const bool is_in_place = from != Arrangement::kRepeated && random() % 3 == 0;
    if (is_in_place) inputs[0] = &out;
    if (is_in_place) fill_with_numbers(out, type.type, random);
    expect_same_call(context_, call_of(by), inputs, out,
                     last_places(by.op, type.type, count_of(of_factors)),
                     describe_call(by, is_in_place ? out : a));
  }
  void check_all(const Shape& shape, std::uint32_t axes, unsigned sparsity, Random& random) {
    if (std::getenv("TENURE_TEST_QUICK") != nullptr) sparsity *= 8;
    for (const tnr_normalize_op op : kOps) {
      for (const NamedType& type : kFloats) {
        if (random() % sparsity != 0) continue;
        check({op, axes}, type, shape, kReadable[random() % std::size(kReadable)],
              kWritable[random() % std::size(kWritable)], random);
      }
    }
  }
};

TEST_F(DeviceNormalize, GivesTheCpusResultsOverAnyAxesOfAnyLayout) {
  Random random(1);
  for (const Shape& shape : shapes()) {
    const std::uint32_t end = 1u << shape.size();
    for (std::uint32_t axes = 0; axes < end; ++axes) {
      if (end > 16 && random() % 16 != 0) continue;
      check_all(shape, axes, end > 4 ? 2 : 1, random);
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceNormalize, TakesRowsAroundEveryBorder) {
  Random random(2);
  constexpr std::int64_t kExtents[] = {1,   2,   3,   4,   5,   7,    8,    9,    15,  16,  17,
                                       31,  32,  33,  63,  64,  65,   127,  128,  129, 255, 256,
                                       257, 511, 512, 513, 768, 1023, 1024, 1025, 2049};
  for (const std::int64_t rows : {1, 2, 3, 9, 33, 70}) {
    for (const std::int64_t count : kExtents) {
      if (rows * count > 40000) continue;
      check_all({rows, count}, 2, 8, random);
      check_all({count, rows}, 1, 8, random);
      if (HasFailure()) return;
    }
  }
}

// Rows that a block cannot hold are measured first.
TEST_F(DeviceNormalize, TakesLongRows) {
  Random random(3);
  for (const std::int64_t count : {4095, 4096, 4097, 8191, 8192, 8193, 20000, 70001}) {
    check_all({count}, 1, 2, random);
    check_all({2, count}, 2, 4, random);
    check_all({count, 3}, 1, 4, random);
    if (HasFailure()) return;
  }
  check_all({70, 11, 13}, 5, 1, random);
  check_all({3, 90, 2, 50}, 10, 1, random);
  check_all({30, 300}, 3, 1, random);
}

// Rows whose elements lie where vectors do, and the same that do not.
TEST_F(DeviceNormalize, HasTheSameBitsWithAndWithoutVectors) {
  Random random(4);
  for (const NamedType& type : kFloats) {
    const auto items = static_cast<std::int64_t>(16 / element_size(type.dtype));
    for (const tnr_normalize_op op : kOps) {
      for (const std::int64_t count : {4, 16, 64, 200, 1024, 1032, 5000, 9000, 12000}) {
        const std::int64_t rows = count > 2000 ? 2 : 5;
        for (const bool has_factors : {false, true}) {
          if (has_factors && !is_norm(op)) continue;
          const Normalization by = {op, 2, is_norm(op) ? 1e-5 : 0.0, has_factors,
                                    has_factors && op == TNR_NORMALIZE_OP_LAYER_NORM};
          Array a(type.dtype, {rows * count + items}, Arrangement::kRowMajor, random);
          Array weight(type.dtype, {count + items}, Arrangement::kRowMajor, random);
          Array bias(type.dtype, {count + items}, Arrangement::kRowMajor, random);
          fill_with_numbers(a, type.type, random);
          fill_with_numbers(weight, type.type, random);
          fill_bias(bias, type.type, random);
          std::vector<Array*> inputs = {&a};
          if (by.has_weight) inputs.push_back(&weight);
          if (by.has_bias) inputs.push_back(&bias);
          // From the first element that is aligned, and from the one after it.
          const auto part = [&](tnr_view view, std::int64_t start, std::int64_t rank) {
            view.data = static_cast<const Byte*>(view.data) +
                        (items - 1 + start) * static_cast<std::int64_t>(element_size(view.dtype));
            view.rank = static_cast<std::uint32_t>(rank);
            view.shape[0] = rank == 1 ? count : rows;
            view.strides[0] = rank == 1 ? 1 : count;
            view.shape[1] = count;
            view.strides[1] = 1;
            return view;
          };
          std::vector<Byte> results[2];
          for (const std::int64_t start : {0, 1}) {
            Array out(type.dtype, {rows * count + items}, Arrangement::kRowMajor, random);
            const ContextCall call = [&](tnr_context* context, const auto& in,
                                         const tnr_view_mut* to) {
              tnr_view views[3] = {part(*in[0], 0, 2)};
              // The inputs do not depend on `start`. Only the output's alignment differs.
              std::vector<const tnr_view*> used = {&views[0]};
              for (std::size_t i = 1; i < in.size(); ++i) {
                views[i] = part(*in[i], 0, 1);
                used.push_back(&views[i]);
              }
              const tnr_view_mut target = {part(to->view, start, 2)};
              return call_of(by)(context, used, &target);
            };
            const std::string what = describe_call(by, a) + " rows of " + std::to_string(count);
            expect_same_call(context_, call, inputs, out,
                             last_places(op, type.type, static_cast<double>(count)), what);
            const DeviceArray on_device(context_, a);
            std::vector<DeviceArray> factors;
            std::vector<const tnr_view*> there = {on_device.in()};
            factors.reserve(2);
            for (std::size_t i = 1; i < inputs.size(); ++i) {
              factors.emplace_back(context_, *inputs[i]);
              there.push_back(factors.back().in());
            }
            const DeviceArray result(context_, out);
            ASSERT_EQ(call(context_, there, result.out()), TNR_STATUS_OK);
            std::vector<Byte> bytes = result.bytes();
            const auto first = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(items + start) *
                                                           element_size(type.dtype));
            const auto size = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rows * count) *
                                                          element_size(type.dtype));
            results[start].assign(bytes.begin() + first, bytes.begin() + first + size);
          }
          EXPECT_TRUE(results[0] == results[1]) << describe_call(by, a);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// A row of any length with one special element, or only such.
TEST_F(DeviceNormalize, TakesInfinitiesAndNaNAsTheCpuDoes) {
  Random random(5);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  for (const NamedType& type : kFloats) {
    for (const std::int64_t count : {1, 5, 300, 9000}) {
      for (const tnr_normalize_op op : kOps) {
        for (const double special : {kInfinity, -kInfinity, nan}) {
          for (const bool is_all : {false, true}) {
            Array a(type.dtype, {2, count}, Arrangement::kRowMajor, random);
            fill_with_numbers(a, type.type, random);
            const std::vector<Byte*> elements = a.elements();
            const auto wide = static_cast<std::size_t>(count);
            for (std::size_t i = 0; i < wide; ++i) {
              if (is_all || i == wide / 2) set(elements[i], type.type, special);
            }
            Array out(type.dtype, {2, count}, Arrangement::kRowMajor, random);
            const Normalization by = {op, 2, is_norm(op) ? 1e-5 : 0.0};
            expect_same_call(context_, call_of(by), {&a}, out,
                             last_places(op, type.type, static_cast<double>(count)),
                             describe_call(by, a) + " with " + std::to_string(special));
          }
        }
        Array same(type.dtype, {2, count}, Arrangement::kRowMajor, random);
        for (Byte* const element : same.elements()) set(element, type.type, 3);
        Array out(type.dtype, {2, count}, Arrangement::kRowMajor, random);
        expect_same_call(context_, call_of({op, 2}), {&same}, out,
                         last_places(op, type.type, static_cast<double>(count)),
                         "of equal elements, without eps");
      }
      if (HasFailure()) return;
    }
  }
}

// The sum of powers is next to 1, and its logarithm small.
TEST_F(DeviceNormalize, LosesNoPowerNextToTheGreatest) {
  Random random(7);
  constexpr double kDistance = 18.72;
  for (const NamedType& type : kFloats) {
    for (const std::int64_t count : {2, 5, 40, 300, 9000}) {
      Array a(type.dtype, {2, count}, Arrangement::kRowMajor, random);
      const std::vector<Byte*> elements = a.elements();
      for (Byte* const element : elements) set(element, type.type, -kDistance);
      set(elements[static_cast<std::size_t>(count / 2)], type.type, 0);
      set(elements.back(), type.type, 0);
      Array out(type.dtype, {2, count}, Arrangement::kRowMajor, random);
      const Normalization by = {TNR_NORMALIZE_OP_LOG_SOFTMAX, 2};
      expect_same_call(context_, call_of(by), {&a}, out,
                       last_places(by.op, type.type, static_cast<double>(count)) + kDistance,
                       describe_call(by, a));
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceNormalize, LosesNoDigitsFarFromZero) {
  Random random(6);
  std::normal_distribution<double> normal(0, 1);
  for (const std::int64_t count : {100, 3000, 50000}) {
    Array a(TNR_DTYPE_F64, {count}, Arrangement::kRowMajor, random);
    for (Byte* const element : a.elements()) set(element, Type::kF64, 1e8 + normal(random));
    Array out(TNR_DTYPE_F64, {count}, Arrangement::kRowMajor, random);
    const Normalization by = {TNR_NORMALIZE_OP_LAYER_NORM, 1};
    // A unit of the mean is 1e-8 of a deviation; a deviation near 0 is compared in those of 1.
    const DeviceArray on_device(context_, a);
    const DeviceArray result(context_, out);
    ASSERT_EQ(call_of(by)(context_, {on_device.in()}, result.out()), TNR_STATUS_OK);
    const tnr_view_mut here = out.out();
    ASSERT_EQ(call_of(by)(nullptr, {&a.view()}, &here), TNR_STATUS_OK);
    const std::vector<Byte> bytes = result.bytes();
    const std::vector<Byte> expected = out.snapshot();
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      double actual;
      double wanted;
      std::memcpy(&actual, bytes.data() + 8 * (i + 1), 8);
      std::memcpy(&wanted, expected.data() + 8 * (i + 1), 8);
      ASSERT_NEAR(actual, wanted, 1e-12) << i << " of " << count;
    }
  }
}

TEST_F(DeviceNormalize, RefusesWhatTheCpuRefuses) {
  Random random(7);
  Array a(TNR_DTYPE_F32, {3, 4}, Arrangement::kRowMajor, random);
  Array out(TNR_DTYPE_F32, {3, 4}, Arrangement::kRowMajor, random);
  Array other(TNR_DTYPE_F32, {3, 5}, Arrangement::kRowMajor, random);
  Array row(TNR_DTYPE_F32, {4}, Arrangement::kRowMajor, random);
  Array column(TNR_DTYPE_F32, {3}, Arrangement::kRowMajor, random);
  Array wide(TNR_DTYPE_F64, {4}, Arrangement::kRowMajor, random);
  Array integers(TNR_DTYPE_I32, {3, 4}, Arrangement::kRowMajor, random);
  Array complex(TNR_DTYPE_C64, {3, 4}, Arrangement::kRowMajor, random);
  const auto same = [&](const Normalization& by, const std::vector<Array*>& in, Array& to) {
    expect_same_call(context_, call_of(by), in, to, 0, "op " + std::to_string(by.op));
  };
  same({99, 1}, {&a}, out);
  same({TNR_NORMALIZE_OP_SOFTMAX, 4}, {&a}, out);
  same({TNR_NORMALIZE_OP_SOFTMAX, 2}, {&a}, other);
  same({TNR_NORMALIZE_OP_SOFTMAX, 2}, {&row}, out);
  same({TNR_NORMALIZE_OP_SOFTMAX, 2}, {&integers}, out);
  same({TNR_NORMALIZE_OP_SOFTMAX, 2}, {&integers}, integers);
  same({TNR_NORMALIZE_OP_SOFTMAX, 2}, {&complex}, complex);
  same({TNR_NORMALIZE_OP_SOFTMAX, 2, 1.0}, {&a}, out);
  same({TNR_NORMALIZE_OP_SOFTMAX, 2, 0, true}, {&a, &row}, out);
  same({TNR_NORMALIZE_OP_RMS_NORM, 2, 0, false, true}, {&a, &row}, out);
  same({TNR_NORMALIZE_OP_RMS_NORM, 2, -1.0}, {&a}, out);
  same({TNR_NORMALIZE_OP_LAYER_NORM, 2, 0, true}, {&a, &column}, out);
  same({TNR_NORMALIZE_OP_LAYER_NORM, 2, 0, true}, {&a, &wide}, out);
}

TEST_F(DeviceNormalize, TakesNoWeightOfTheHost) {
  Random random(8);
  Array a(TNR_DTYPE_F32, {3, 4}, Arrangement::kRowMajor, random);
  Array row(TNR_DTYPE_F32, {4}, Arrangement::kRowMajor, random);
  const DeviceArray on_device(context_, a);
  const DeviceArray to(context_, a);
  EXPECT_EQ(call_of({TNR_NORMALIZE_OP_RMS_NORM, 2, 0, true})(
                context_, {on_device.in(), &row.view()}, to.out()),
            TNR_STATUS_UNSUPPORTED);
  EXPECT_NE(std::string(tnr_last_error()->message).find("weight"), std::string::npos);
}

}  // namespace
}  // namespace tenure
