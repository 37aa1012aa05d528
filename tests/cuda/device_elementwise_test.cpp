// Element-wise operations on a device have the bits of the CPU's: every operation and dtype, on
// arrays of every kind.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cpu/operations.hpp"
#include "expect_status.hpp"
#include "last_places.hpp"
#include "on_device.hpp"

namespace {

using namespace tenure::test;
using tenure::element_size;
using tenure::kernels::Binary;
using tenure::kernels::kBinaryRows;
using tenure::kernels::kCompareRows;
using tenure::kernels::kTernaryRows;
using tenure::kernels::kUnaryRows;
using tenure::kernels::OperationRow;
using tenure::kernels::Unary;

using DeviceElementwise = OnDevice;

// The shapes for all operations, and shapes at the boundaries of a launch: vectors of 2 to 16
// elements, blocks of 256 threads with four elements or a vector each.
const std::vector<Shape>& device_shapes() {
  static const std::vector<Shape> kShapes = [] {
    std::vector<Shape> result = shapes();
    for (const std::int64_t extent : {2, 3, 4, 15, 17, 31, 255, 257, 1023, 1025, 4096, 5000}) {
      result.push_back({extent});
    }
    result.push_back({3, 64});
    result.push_back({5, 7, 32});
    return result;
  }();
  return kShapes;
}

template <class T>
T any_of(const T* from, std::size_t count, Random& random) {
  return from[random() % count];
}
Arrangement any_readable(Random& random) { return any_of(kReadable, std::size(kReadable), random); }
Arrangement any_writable(Random& random) { return any_of(kWritable, std::size(kWritable), random); }

// The C library's results for signalling NaN, in powers of f64 for one, are its own.
void make_nans_quiet(Array& array) {
  if (array.view().dtype != TNR_DTYPE_F64) return;
  for (Byte* const element : array.elements()) {
    if (is_nan_element(Type::kF64, element)) element[6] |= 0x08;
  }
}

// Any bits, or numbers of moderate size of either sign, in which functions have something to do.
void fill_with_either(Array& array, Type type, Random& random, double range = 8) {
  if (random() % 2 == 0 || !is_float(type)) {
    fill_with_bits(array, random);
    return make_nans_quiet(array);
  }
  for (Byte* const element : array.elements()) {
    const double value =
        (static_cast<double>(random()) / static_cast<double>(UINT64_MAX) - 0.5) * 2 * range;
    Byte bytes[8];
    std::memcpy(bytes, &value, sizeof value);
    tenure::kernels::reference::cast(Type::kF64, bytes, type, element);
  }
}

// The allowed difference from the CPU in units in the last place: 0, except for functions, where both
// results are within the bound of the table.
double last_places_of(const OperationRow& row) {
  return row.last_places > tenure::kernels::kRounded ? 2 * row.last_places : 0;
}
double last_places_of(Unary op) {
  return last_places_of(kUnaryRows[static_cast<unsigned>(op) - 1]);
}
double last_places_of(Binary op) {
  return last_places_of(kBinaryRows[static_cast<unsigned>(op) - 1]);
}

bool takes(const OperationRow& row, Type type) {
  if (type == Type::kBool8) return (row.dtypes & tenure::kernels::kTruths) != 0;
  return (row.dtypes & (is_float(type) ? tenure::kernels::kFloats : tenure::kernels::kIntegers)) !=
         0;
}
tnr_dtype result_of(const OperationRow& row, tnr_dtype dtype) {
  return row.gives == tenure::kernels::Gives::kTruth ? TNR_DTYPE_BOOL8 : dtype;
}

ContextCall unary_call(unsigned row) {
  return [row](tnr_context* context, const auto& in, const tnr_view_mut* out) {
    return tnr_unary(context, static_cast<tnr_unary_op>(row + 1), in[0], nullptr, out);
  };
}
ContextCall binary_call(unsigned row) {
  return [row](tnr_context* context, const auto& in, const tnr_view_mut* out) {
    return tnr_binary(context, static_cast<tnr_binary_op>(row + 1), in[0], in[1], nullptr, out);
  };
}
ContextCall ternary_call(unsigned row) {
  return [row](tnr_context* context, const auto& in, const tnr_view_mut* out) {
    return tnr_ternary(context, static_cast<tnr_ternary_op>(row + 1), in[0], in[1], in[2], nullptr,
                       out);
  };
}
ContextCall compare_call(unsigned row) {
  return [row](tnr_context* context, const auto& in, const tnr_view_mut* out) {
    return tnr_compare(context, static_cast<tnr_compare_op>(row + 1), in[0], in[1], nullptr, out);
  };
}

// A shape that broadcasts to another: without some first axes, with some extents of 1.
Shape narrowed(const Shape& shape, Random& random) {
  const std::size_t dropped = shape.empty() ? 0 : random() % (shape.size() + 1);
  Shape result(shape.begin() + static_cast<std::ptrdiff_t>(dropped), shape.end());
  for (std::int64_t& extent : result) {
    if (random() % 3 == 0) extent = 1;
  }
  return result;
}

// ---- every operation ----

TEST_F(DeviceElementwise, UnaryOperations) {
  Random random(1);
  for (unsigned row = 0; row < tenure::kernels::kUnaryCount; ++row) {
    for (const NamedType& of : kTypes) {
      if (!takes(kUnaryRows[row], of.type)) continue;
      for (const Shape& shape : device_shapes()) {
        Array a(of.dtype, shape, any_readable(random), random);
        Array out(result_of(kUnaryRows[row], of.dtype), shape, any_writable(random), random);
        fill_with_either(a, of.type, random);
        expect_same_call(context_, unary_call(row), {&a}, out,
                         last_places_of(static_cast<Unary>(row + 1)), kUnaryRows[row].name);
      }
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceElementwise, BinaryOperations) {
  Random random(2);
  for (unsigned row = 0; row < tenure::kernels::kBinaryCount; ++row) {
    for (const NamedType& of : kTypes) {
      if (!takes(kBinaryRows[row], of.type)) continue;
      for (const Shape& shape : device_shapes()) {
        const bool broadcasts = random() % 3 == 0;
        Array a(of.dtype, broadcasts ? narrowed(shape, random) : shape, any_readable(random),
                random);
        Array b(of.dtype, broadcasts ? narrowed(shape, random) : shape, any_readable(random),
                random);
        Array out(of.dtype, shape, any_writable(random), random);
        fill_with_either(a, of.type, random);
        // Small numbers, so that divisors are 0 at times, shifts inside the width, powers negative.
        if (random() % 2 == 0) {
          fill_with_numbers(b, of.type, random);
        } else {
          fill_with_either(b, of.type, random);
        }
        expect_same_call(context_, binary_call(row), {&a, &b}, out,
                         last_places_of(static_cast<Binary>(row + 1)), kBinaryRows[row].name);
      }
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceElementwise, TernaryOperations) {
  Random random(3);
  for (unsigned row = 0; row < tenure::kernels::kTernaryCount; ++row) {
    for (const NamedType& of : kTypes) {
      if (!takes(kTernaryRows[row], of.type)) continue;
      for (const Shape& shape : device_shapes()) {
        const bool broadcasts = random() % 3 == 0;
        std::vector<std::unique_ptr<Array>> inputs;
        for (int i = 0; i < 3; ++i) {
          inputs.push_back(std::make_unique<Array>(of.dtype,
                                                   broadcasts ? narrowed(shape, random) : shape,
                                                   any_readable(random), random));
          fill_with_either(*inputs.back(), of.type, random);
        }
        Array out(of.dtype, shape, any_writable(random), random);
        expect_same_call(context_, ternary_call(row),
                         {inputs[0].get(), inputs[1].get(), inputs[2].get()}, out, 0,
                         kTernaryRows[row].name);
      }
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceElementwise, InterpolatesBetweenEqualAndInfiniteEnds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double numbers[] = {kInfinity, -kInfinity, std::nan(""), 0, 1, 0.5, -3, 0.1, 5e-324};
  constexpr auto kCount = static_cast<std::int64_t>(std::size(numbers));
  Random random(13);
  for (const NamedType& of : kTypes) {
    if (!takes(kTernaryRows[1], of.type)) continue;
    Array vectors[] = {{of.dtype, {kCount, 1, 1}, Arrangement::kRowMajor, random},
                       {of.dtype, {kCount, 1}, Arrangement::kRowMajor, random},
                       {of.dtype, {kCount}, Arrangement::kRowMajor, random}};
    for (Array& vector : vectors) {
      for (std::size_t i = 0; i < std::size(numbers); ++i) {
        tenure::kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&numbers[i]),
                                         of.type, vector.elements()[i]);
      }
    }
    Array out(of.dtype, {kCount, kCount, kCount}, Arrangement::kRowMajor, random);
    expect_same_call(context_, ternary_call(1), {&vectors[0], &vectors[1], &vectors[2]}, out, 0,
                     "lerp");
    if (HasFailure()) return;
  }
}

TEST_F(DeviceElementwise, Comparisons) {
  Random random(4);
  for (unsigned row = 0; row < tenure::kernels::kCompareCount; ++row) {
    for (const NamedType& of : kTypes) {
      for (const Shape& shape : device_shapes()) {
        const bool broadcasts = random() % 3 == 0;
        Array a(of.dtype, broadcasts ? narrowed(shape, random) : shape, any_readable(random),
                random);
        Array b(of.dtype, broadcasts ? narrowed(shape, random) : shape, any_readable(random),
                random);
        Array out(TNR_DTYPE_BOOL8, shape, any_writable(random), random);
        if (random() % 2 == 0) {
          fill_with_numbers(a, of.type, random, Nans::kSome);
          fill_with_numbers(b, of.type, random, Nans::kSome);
        } else {
          fill_with_bits(a, random);
          fill_with_bits(b, random);
        }
        expect_same_call(context_, compare_call(row), {&a, &b}, out, 0, kCompareRows[row].name);
      }
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceElementwise, NumbersOnEitherSide) {
  Random random(5);
  for (const NamedType& of : kTypes) {
    for (const Shape& shape : device_shapes()) {
      Array a(of.dtype, shape, any_readable(random), random);
      fill_with_either(a, of.type, random);
      const tnr_scalar number = scalar_of(TNR_DTYPE_I64, static_cast<std::int64_t>(random() % 9));
      if (of.type != Type::kBool8) {
        for (unsigned row = 0; row < tenure::kernels::kBinaryCount; ++row) {
          if (!takes(kBinaryRows[row], of.type)) continue;
          const auto op = static_cast<tnr_binary_op>(row + 1);
          const double places = last_places_of(static_cast<Binary>(row + 1));
          Array right(of.dtype, shape, any_writable(random), random);
          expect_same_call(
              context_,
              [&](tnr_context* context, const auto& in, const tnr_view_mut* out) {
                return tnr_binary_scalar(context, op, in[0], &number, nullptr, out);
              },
              {&a}, right, places, std::string(kBinaryRows[row].name) + " number");
          Array left(of.dtype, shape, any_writable(random), random);
          expect_same_call(
              context_,
              [&](tnr_context* context, const auto& in, const tnr_view_mut* out) {
                return tnr_scalar_binary(context, op, &number, in[0], nullptr, out);
              },
              {&a}, left, places, std::string("number ") + kBinaryRows[row].name);
        }
      }
      const tnr_scalar truth = scalar_of(TNR_DTYPE_I64, static_cast<std::int64_t>(random() % 2));
      for (unsigned row = 0; row < tenure::kernels::kCompareCount; ++row) {
        Array out(TNR_DTYPE_BOOL8, shape, any_writable(random), random);
        expect_same_call(
            context_,
            [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
              return tnr_compare_scalar(context, static_cast<tnr_compare_op>(row + 1), in[0],
                                        &truth, nullptr, to);
            },
            {&a}, out, 0, std::string(kCompareRows[row].name) + " number");
      }
    }
    if (HasFailure()) return;
  }
}

// ---- values ----

// All numbers of 16 bits, and f32 and f64 of all exponents.
TEST_F(DeviceElementwise, FunctionsOfTheWholeRange) {
  Random random(6);
  for (const NamedType& of : kTypes) {
    if (!is_float(of.type)) continue;
    const bool is_half = of.type == Type::kF16 || of.type == Type::kBF16;
    Array a(of.dtype, {is_half ? 65536 : 20000}, Arrangement::kRowMajor, random);
    if (is_half) {
      std::uint16_t next = 0;
      for (Byte* const element : a.elements()) {
        std::memcpy(element, &next, sizeof next);
        ++next;
      }
    } else {
      fill_with_bits(a, random);
    }
    for (unsigned row = 0; row < tenure::kernels::kUnaryCount; ++row) {
      if (!takes(kUnaryRows[row], of.type)) continue;
      Array out(result_of(kUnaryRows[row], of.dtype),
                a.view().rank == 1 ? Shape{a.view().shape[0]} : Shape{}, Arrangement::kRowMajor,
                random);
      expect_same_call(context_, unary_call(row), {&a}, out,
                       last_places_of(static_cast<Unary>(row + 1)), kUnaryRows[row].name);
    }
  }
}

TEST_F(DeviceElementwise, FunctionsAroundTheirBorders) {
  Random random(7);
  const std::vector<double> specials = {0.0,
                                        -0.0,
                                        1,
                                        -1,
                                        0.5,
                                        -0.5,
                                        2,
                                        -2,
                                        0.25,
                                        88.5,
                                        -88.5,
                                        710,
                                        -745,
                                        1e-40,
                                        -1e-310,
                                        5e-324,
                                        1e308,
                                        -1e300,
                                        3.5,
                                        1048576,
                                        1048577,
                                        131072,
                                        131073,
                                        1e6,
                                        1e9,
                                        1e15,
                                        1e20,
                                        1e-8,
                                        20,
                                        -20,
                                        HUGE_VAL,
                                        -HUGE_VAL,
                                        NAN,
                                        0.999,
                                        1.001,
                                        1.5707963267948966,
                                        3.141592653589793,
                                        6.283185307179586e5,
                                        9.02,
                                        4503599627370497.0};
  for (const NamedType& of : kTypes) {
    if (!is_float(of.type)) continue;
    const auto count = static_cast<std::int64_t>(specials.size());
    Array a(of.dtype, {count, 1}, Arrangement::kRowMajor, random);
    Array b(of.dtype, {count}, Arrangement::kRowMajor, random);
    std::size_t i = 0;
    for (Array* const array : {&a, &b}) {
      i = 0;
      for (Byte* const element : array->elements()) {
        Byte bytes[8];
        std::memcpy(bytes, &specials[i++], sizeof(double));
        tenure::kernels::reference::cast(Type::kF64, bytes, of.type, element);
      }
    }
    for (unsigned row = 0; row < tenure::kernels::kUnaryCount; ++row) {
      if (!takes(kUnaryRows[row], of.type)) continue;
      Array out(result_of(kUnaryRows[row], of.dtype), {count, 1}, Arrangement::kRowMajor, random);
      expect_same_call(context_, unary_call(row), {&a}, out,
                       last_places_of(static_cast<Unary>(row + 1)), kUnaryRows[row].name);
    }
    for (unsigned row = 0; row < tenure::kernels::kBinaryCount; ++row) {
      if (!takes(kBinaryRows[row], of.type)) continue;
      Array out(of.dtype, {count, count}, Arrangement::kRowMajor, random);
      expect_same_call(context_, binary_call(row), {&a, &b}, out,
                       last_places_of(static_cast<Binary>(row + 1)), kBinaryRows[row].name);
    }
  }
}

// Angles beyond 2^16, and powers of f64, which the CPU leaves to the C library.
TEST_F(DeviceElementwise, FarAnglesAndPowersAreWithinTheTable) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "long double is not wider";
  Random random(16);
  const auto number_of = [&](double least, double most) {  // by its logarithm
    const double part = static_cast<double>(random() >> 11) * 0x1p-53;
    return std::exp2(least + part * (most - least)) * (random() % 2 == 0 ? 1 : -1);
  };
  constexpr std::int64_t kCount = 40000;
  Array a(TNR_DTYPE_F64, {kCount}, Arrangement::kRowMajor, random);
  Array b(TNR_DTYPE_F64, {kCount}, Arrangement::kRowMajor, random);
  const auto worst = [&](const ContextCall& call, const std::vector<Array*>& inputs,
                         const auto& exact) {
    const Array out(TNR_DTYPE_F64, {kCount}, Arrangement::kRowMajor, random);
    std::vector<DeviceArray> there;
    std::vector<const tnr_view*> views;
    there.reserve(inputs.size());
    for (const Array* const input : inputs)
      views.push_back(there.emplace_back(context_, *input).in());
    const DeviceArray result(context_, out);
    EXPECT_EQ(call(context_, views, result.out()), TNR_STATUS_OK) << tnr_last_error()->message;
    const std::vector<Byte> bytes = result.bytes();
    std::vector<std::vector<Byte*>> elements;
    for (Array* const input : inputs) elements.push_back(input->elements());
    long double largest = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      double actual;
      double given[2] = {};
      std::memcpy(&actual, bytes.data() + (i + 1) * sizeof actual, sizeof actual);
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        std::memcpy(&given[k], elements[k][i], sizeof given[k]);
      }
      const long double places =
          last_places<double, long double>(actual, exact(given[0], given[1]));
      largest = std::fmax(largest, places);
    }
    return largest;
  };
  for (Byte* const element : a.elements()) {
    const double angle = number_of(16, 62);
    std::memcpy(element, &angle, sizeof angle);
  }
  EXPECT_LE(worst(unary_call(36), {&a}, [](long double x, double) { return std::sin(x); }), 1);
  EXPECT_LE(worst(unary_call(37), {&a}, [](long double x, double) { return std::cos(x); }), 1);
  EXPECT_LE(worst(unary_call(38), {&a}, [](long double x, double) { return std::tan(x); }), 2);
  const std::vector<Byte*> bases = a.elements();
  const std::vector<Byte*> powers = b.elements();
  for (std::size_t i = 0; i < kCount; ++i) {
    // Results of every size; bases near 1 too.
    const double base = i % 2 == 0 ? std::fabs(number_of(-1020, 1020)) : 1 + number_of(-30, -2);
    const double power = number_of(-3, 10) / (std::fabs(std::log2(base)) + 1e-12);
    std::memcpy(bases[i], &base, sizeof base);
    std::memcpy(powers[i], &power, sizeof power);
  }
  EXPECT_LE(
      worst(binary_call(15), {&a, &b}, [](long double x, long double y) { return std::pow(x, y); }),
      1);
}

TEST_F(DeviceElementwise, PairsOfAllBytes) {
  Random random(8);
  for (const NamedType& of : kTypes) {
    if (element_size(of.dtype) != 1) continue;
    Array a(of.dtype, {256, 1}, Arrangement::kRowMajor, random);
    Array b(of.dtype, {256}, Arrangement::kRowMajor, random);
    for (Array* const array : {&a, &b}) {
      Byte next = 0;
      for (Byte* const element : array->elements()) *element = next++;
    }
    for (unsigned row = 0; row < tenure::kernels::kBinaryCount; ++row) {
      if (!takes(kBinaryRows[row], of.type)) continue;
      Array out(of.dtype, {256, 256}, Arrangement::kRowMajor, random);
      expect_same_call(context_, binary_call(row), {&a, &b}, out, 0, kBinaryRows[row].name);
    }
  }
}

// ---- layouts ----

// From vectors to elements: addresses that a vector must not have, and tails.
TEST_F(DeviceElementwise, DenseArraysOfEveryLengthAndOffset) {
  Random random(9);
  for (const NamedType& of : {kTypes[1], kTypes[2], kTypes[4], kTypes[7]}) {
    for (std::int64_t extent = 1; extent <= 40; ++extent) {
      for (const std::int64_t offset : {0, 1, 3}) {
        Array a(of.dtype, {extent + 64}, Arrangement::kRowMajor, random);
        Array out(of.dtype, {extent + 64}, Arrangement::kRowMajor, random);
        fill_with_numbers(a, of.type, random);
        const auto part_of = [&](const tnr_view& view, std::int64_t first) {
          tnr_view part = view;
          const auto width = static_cast<std::int64_t>(element_size(view.dtype));
          part.data = static_cast<const Byte*>(view.data) + first * width;
          part.shape[0] = extent;
          return part;
        };
        expect_same_call(
            context_,
            [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
              // The arrays begin one element into their memory: from there to a multiple of 16.
              const auto width = static_cast<std::int64_t>(element_size(of.dtype));
              const tnr_view from = part_of(*in[0], 16 / width - 1 + offset);
              const tnr_view_mut part = {part_of(to->view, 16 / width - 1 + (offset & 1))};
              return tnr_binary(context, TNR_BINARY_OP_ADD, &from, &from, nullptr, &part);
            },
            {&a}, out, 0, "add");
      }
    }
  }
}

TEST_F(DeviceElementwise, RowsAndColumnsThatRepeat) {
  Random random(10);
  for (const NamedType& of : kTypes) {
    if (!takes(kBinaryRows[0], of.type)) continue;
    for (const Shape& shape : {Shape{9, 64}, Shape{3, 5, 32}, Shape{4, 63}, Shape{33, 2, 16}}) {
      const std::int64_t columns = shape.back();
      Shape column_shape = shape;
      column_shape.back() = 1;
      Array a(of.dtype, shape, Arrangement::kRowMajor, random);
      Array row(of.dtype, {columns}, Arrangement::kRowMajor, random);
      Array column(of.dtype, column_shape, Arrangement::kRowMajor, random);
      Array one(of.dtype, {}, Arrangement::kRowMajor, random);
      for (Array* const array : {&a, &row, &column, &one}) {
        fill_with_numbers(*array, of.type, random);
      }
      for (Array* const b : {&row, &column, &one}) {
        Array out(of.dtype, shape, Arrangement::kRowMajor, random);
        expect_same_call(context_, binary_call(0), {&a, b}, out, 0, "add");
        Array exchanged(of.dtype, shape, Arrangement::kRowMajor, random);
        expect_same_call(context_, binary_call(1), {b, &a}, exchanged, 0, "sub");
      }
    }
  }
}

TEST_F(DeviceElementwise, InPlace) {
  Random random(11);
  for (const NamedType& of : kTypes) {
    if (!takes(kBinaryRows[0], of.type)) continue;
    for (const Arrangement arrangement : kWritable) {
      for (const Shape& shape : {Shape{1000}, Shape{7, 33}, Shape{3, 4, 5}}) {
        Array b(of.dtype, shape, any_readable(random), random);
        Array out(of.dtype, shape, arrangement, random);
        fill_with_numbers(b, of.type, random);
        fill_with_numbers(out, of.type, random);
        expect_same_call(context_, binary_call(0), {&out, &b}, out, 0, "add");
        expect_same_call(context_, binary_call(2), {&out, &out}, out, 0, "mul");
        expect_same_call(context_, unary_call(0), {&out}, out, 0, "neg");
      }
    }
  }
}

// ---- refusals ----

// Calls that the CPU refuses too have its status and message: other dtypes, codes, shapes, overlap.
TEST_F(DeviceElementwise, RefusalsAreTheCpus) {
  Random random(12);
  Array f32(TNR_DTYPE_F32, {6}, Arrangement::kRowMajor, random);
  Array f64(TNR_DTYPE_F64, {6}, Arrangement::kRowMajor, random);
  Array u8(TNR_DTYPE_U8, {6}, Arrangement::kRowMajor, random);
  Array bool8(TNR_DTYPE_BOOL8, {6}, Arrangement::kRowMajor, random);
  Array five(TNR_DTYPE_F32, {5}, Arrangement::kRowMajor, random);
  Array table(TNR_DTYPE_F32, {2, 3}, Arrangement::kRowMajor, random);
  Array out(TNR_DTYPE_F32, {6}, Arrangement::kRowMajor, random);
  Array u8_out(TNR_DTYPE_U8, {6}, Arrangement::kRowMajor, random);
  expect_same_call(context_, unary_call(3), {&u8}, u8_out, 0, "exp of u8");
  expect_same_call(context_, unary_call(998), {&f32}, out, 0, "an unknown code");
  expect_same_call(context_, unary_call(0), {&f64}, out, 0, "another dtype");
  expect_same_call(context_, unary_call(22), {&f32}, out, 0, "a truth");
  expect_same_call(context_, unary_call(48), {&f32}, out, 0, "conj of f32");
  expect_same_call(context_, binary_call(0), {&f32, &five}, out, 0, "another extent");
  expect_same_call(context_, binary_call(0), {&f32, &table}, out, 0, "another rank");
  expect_same_call(context_, binary_call(0), {&bool8, &bool8}, bool8, 0, "add of bool8");
  expect_same_call(context_, binary_call(777), {&f32, &f32}, out, 0, "an unknown code");
  expect_same_call(context_, ternary_call(1), {&u8, &u8, &u8}, u8_out, 0, "lerp of u8");
  expect_same_call(context_, compare_call(0), {&f32, &f64}, bool8, 0, "two dtypes");
  expect_same_call(context_, compare_call(0), {&f32, &f32}, out, 0, "no truth");
  expect_same_call(context_, compare_call(99), {&f32, &f32}, bool8, 0, "an unknown code");
  const tnr_scalar zero = scalar_of(TNR_DTYPE_I64, std::int64_t{0});
  const tnr_scalar half = scalar_of(TNR_DTYPE_F64, 0.5);
  for (const tnr_scalar& number : {zero, half}) {
    expect_same_call(
        context_,
        [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
          return tnr_binary_scalar(context, TNR_BINARY_OP_DIV, in[0], &number, nullptr, to);
        },
        {&u8}, u8_out, 0, "a number");
  }
  expect_same_call(
      context_,
      [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
        tnr_view shifted = *in[0];
        shifted.shape[0] = 5;
        tnr_view_mut rest = *to;
        rest.view.shape[0] = 5;
        rest.view.data = static_cast<const Byte*>(to->view.data) + 4;
        return tnr_unary(context, TNR_UNARY_OP_NEG, &shifted, nullptr, &rest);
      },
      {&f32}, f32, 0, "overlap");
}

TEST_F(DeviceElementwise, ComplexNumbersAreTheCpus) {
  Random random(13);
  Array a(TNR_DTYPE_C64, {6}, Arrangement::kRowMajor, random);
  Array truths(TNR_DTYPE_BOOL8, {6}, Arrangement::kRowMajor, random);
  const DeviceArray on_device(context_, a);
  const DeviceArray answers(context_, truths);
  expect_refused(tnr_unary(context_, TNR_UNARY_OP_NEG, on_device.in(), nullptr, on_device.out()),
                 TNR_STATUS_UNSUPPORTED, {"neg", "c64", "CPU", "cuda:0"});
  expect_refused(tnr_binary(context_, TNR_BINARY_OP_MUL, on_device.in(), on_device.in(), nullptr,
                            on_device.out()),
                 TNR_STATUS_UNSUPPORTED, {"mul", "c64", "cuda:0"});
  expect_refused(tnr_compare(context_, TNR_COMPARE_OP_EQ, on_device.in(), on_device.in(), nullptr,
                             answers.out()),
                 TNR_STATUS_UNSUPPORTED, {"eq", "c64", "cuda:0"});
}

TEST_F(DeviceElementwise, ViewsOfOtherDevicesAreNamed) {
  Random random(14);
  Array a(TNR_DTYPE_F32, {6}, Arrangement::kRowMajor, random);
  const DeviceArray on_device(context_, a);
  const tnr_view_mut here = a.out();
  expect_refused(tnr_unary(context_, TNR_UNARY_OP_NEG, &a.view(), nullptr, on_device.out()),
                 TNR_STATUS_UNSUPPORTED, {"a.device", "the CPU", "cuda:0"});
  expect_refused(tnr_unary(context_, TNR_UNARY_OP_NEG, on_device.in(), nullptr, &here),
                 TNR_STATUS_UNSUPPORTED, {"a.device", "cuda:0", "the CPU"});
  expect_refused(tnr_unary(nullptr, TNR_UNARY_OP_NEG, on_device.in(), nullptr, on_device.out()),
                 TNR_STATUS_INVALID_ARGUMENT, {"out.device", "cuda:0"});
}

TEST_F(DeviceElementwise, IntegersThatAnOperationDoesNotTakeAreFound) {
  Random random(15);
  for (const NamedType& of : kTypes) {
    if (is_float(of.type) || of.type == Type::kBool8) continue;
    for (const std::int64_t extent : {1, 5, 64, 1000}) {
      for (const std::int64_t place : {std::int64_t{0}, extent / 2, extent - 1}) {
        Array a(of.dtype, {extent}, Arrangement::kRowMajor, random);
        Array b(of.dtype, {extent}, any_writable(random), random);
        Array out(of.dtype, {extent}, any_writable(random), random);
        fill_with_numbers(a, of.type, random);
        const auto width = element_size(of.dtype);
        for (Byte* const element : b.elements()) {
          std::memset(element, 0, width);
          element[0] = 1;
        }
        expect_same_call(context_, binary_call(3), {&a, &b}, out, 0, "div by 1");
        std::memset(b.elements()[static_cast<std::size_t>(place)], 0, width);
        expect_same_call(context_, binary_call(3), {&a, &b}, out, 0, "div by 0");
        expect_same_call(context_, binary_call(6), {&a, &b}, out, 0, "rem by 0");
        expect_same_call(context_, binary_call(15), {&a, &b}, out, 0, "pow 0");
        std::memset(b.elements()[static_cast<std::size_t>(place)], 0xff, width);
        expect_same_call(context_, binary_call(15), {&a, &b}, out, 0, "a negative power");
        expect_same_call(context_, binary_call(3), {&a, &b}, out, 0, "div by the last one");
      }
    }
  }
}

}  // namespace
