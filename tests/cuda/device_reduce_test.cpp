// Reductions on a device, compared with the CPU's of the same elements.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "cpu/operations.hpp"
#include "on_device.hpp"

namespace tenure {
namespace {

using namespace test;

using kernels::Attribute;
using kernels::Gives;

const kernels::OperationRow& row_of(tnr_reduce_op op) { return kernels::kReduceRows[op - 1]; }

std::vector<tnr_reduce_op> all_reductions() {
  std::vector<tnr_reduce_op> ops(kernels::kReduceCount);
  std::iota(ops.begin(), ops.end(), 1);
  return ops;
}
const std::vector<tnr_reduce_op> kOps = all_reductions();

bool gives_place(tnr_reduce_op op) {
  return op == TNR_REDUCE_OP_ARGMIN || op == TNR_REDUCE_OP_ARGMAX;
}
bool is_truth(tnr_reduce_op op) { return (row_of(op).dtypes & kernels::kTruths) != 0; }
bool is_sum(tnr_reduce_op op) { return row_of(op).gives == Gives::kWide; }
bool takes(tnr_reduce_op op, const NamedType& type) {
  const unsigned kind = is_float(type.type)         ? kernels::kFloats
                        : type.type == Type::kBool8 ? kernels::kTruths
                                                    : kernels::kIntegers;
  return (row_of(op).dtypes & kind) != 0;
}

NamedType result_type(tnr_reduce_op op, const NamedType& type) {
  switch (row_of(op).gives) {
    case Gives::kIndex: return kTypes[7];
    case Gives::kTruth: return kTypes[12];
    case Gives::kWide:
      if (is_float(type.type)) return type;
      return type.type <= Type::kI64 ? kTypes[7] : kTypes[11];
    default: return type;
  }
}

// How far a result may be from the CPU's: both are rounded on the way, in another order. Sums of
// the numbers here are exact.
double last_places(tnr_reduce_op op, Type type, double count) {
  const bool is_f64 = type == Type::kF64;
  switch (op) {
    case TNR_REDUCE_OP_SUM:
    case TNR_REDUCE_OP_NAN_SUM: return 0;
    case TNR_REDUCE_OP_PROD: return is_float(type) ? 200 + count : 0;
    case TNR_REDUCE_OP_NORM: return is_f64 ? 64 : 2;
    case TNR_REDUCE_OP_LOGSUMEXP: return is_f64 ? 256 : 64;
    default: break;
  }
  if (row_of(op).last_places == kernels::kExact) return 0;
  if (row_of(op).attribute == Attribute::kDdof) return is_f64 ? 128 : 1;
  return is_f64 ? 4 : 1;
}

struct Reduction {
  tnr_reduce_op op;
  std::uint32_t axes;
  std::uint32_t ddof = 0;
  double power = 0;
};

ContextCall call_of(const Reduction& reduction) {
  return [reduction](tnr_context* context, const std::vector<const tnr_view*>& in,
                     const tnr_view_mut* out) {
    tnr_reduce_attributes attributes{};
    attributes.struct_size = sizeof attributes;
    attributes.ddof = reduction.ddof;
    attributes.power = reduction.power;
    return tnr_reduce(context, reduction.op, in[0], reduction.axes, &attributes, out);
  };
}

Shape result_shape(const Shape& shape, std::uint32_t axes, bool keeps) {
  Shape result;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool is_reduced = (axes >> axis & 1u) != 0;
    if (!is_reduced) result.push_back(shape[axis]);
    if (is_reduced && keeps) result.push_back(1);
  }
  return result;
}

double count_of(const Shape& shape, std::uint32_t axes) {
  double count = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if ((axes >> axis & 1u) != 0) count *= static_cast<double>(shape[axis]);
  }
  return count;
}

std::string describe_call(const Reduction& reduction, const Array& a) {
  return "op " + std::to_string(reduction.op) + " axes " + std::to_string(reduction.axes) + " of " +
         describe(a.view());
}

// Fills `a` with numbers that have exact sums and, for products, a product within the range.
void fill_for(tnr_reduce_op op, Array& a, Type type, Random& random) {
  const bool takes_nan =
      op >= TNR_REDUCE_OP_MIN && op != TNR_REDUCE_OP_NORM && op != TNR_REDUCE_OP_LOGSUMEXP;
  fill_with_numbers(a, type, random, takes_nan ? Nans::kSome : Nans::kNone);
  if (op != TNR_REDUCE_OP_PROD || !is_float(type)) return;
  const std::vector<Byte*> elements = a.elements();
  const double step = elements.size() < 600 ? 0x1p-3 : 0x1p-10;
  for (Byte* const element : elements) {
    const double near_one = 1 + step * (static_cast<double>(random() % 3) - 1);
    kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&near_one), type, element);
  }
}

// Under a tool that looks at each access, where all of them would take an hour.
unsigned scarcer(unsigned sparsity) {
  return std::getenv("TENURE_TEST_QUICK") != nullptr ? 8 * sparsity : sparsity;
}

class DeviceReduce : public OnDevice {
 protected:
  void check(const Reduction& reduction, const NamedType& type, const Shape& shape,
             Arrangement from, Arrangement to, Random& random) {
    const NamedType out_type = result_type(reduction.op, type);
    Array a(type.dtype, shape, from, random);
    fill_for(reduction.op, a, type.type, random);
    Array out(out_type.dtype, result_shape(shape, reduction.axes, random() % 2 == 0), to, random);
    const double count = count_of(shape, reduction.axes);
    expect_same_call(context_, call_of(reduction), {&a}, out,
                     last_places(reduction.op, type.type, count), describe_call(reduction, a));
  }

  // Every operation on every type that it takes, one of `sparsity` of them.
  void check_all(const Shape& shape, std::uint32_t axes, unsigned sparsity, Random& random) {
    sparsity = scarcer(sparsity);
    const auto reduced = static_cast<std::size_t>(std::popcount(axes));
    const bool has_places = reduced == 1 || reduced == shape.size();
    for (const tnr_reduce_op op : kOps) {
      if (gives_place(op) && !has_places) continue;
      for (const NamedType& type : kTypes) {
        if (!takes(op, type) || random() % sparsity != 0) continue;
        const bool has_ddof = row_of(op).attribute == Attribute::kDdof;
        constexpr double kPowers[] = {1, 2, 3, 0.5, std::numeric_limits<double>::infinity()};
        const Reduction reduction = {
            .op = op,
            .axes = axes,
            .ddof = has_ddof ? static_cast<std::uint32_t>(random() % 3) : 0,
            .power = op == TNR_REDUCE_OP_NORM ? kPowers[random() % 5] : 0};
        check(reduction, type, shape, kReadable[random() % std::size(kReadable)],
              kWritable[random() % std::size(kWritable)], random);
      }
    }
  }
};

TEST_F(DeviceReduce, GivesTheCpusResultsOverAnyAxesOfAnyLayout) {
  Random random(1);
  for (const Shape& shape : shapes()) {
    const std::uint32_t end = 1u << shape.size();
    for (std::uint32_t axes = 0; axes < end; ++axes) {
      if (end > 16 && random() % 24 != 0) continue;
      check_all(shape, axes, end > 4 ? 8 : 4, random);
    }
  }
}

TEST_F(DeviceReduce, TakesRowsAndColumnsAroundEveryBorder) {
  Random random(2);
  constexpr std::int64_t kExtents[] = {1,  2,  3,  4,   5,   8,   9,   15,  16,  17,  31,  32,
                                       33, 63, 65, 127, 128, 129, 255, 256, 257, 511, 513, 1024};
  for (const std::int64_t rows : kExtents) {
    for (const std::int64_t columns : kExtents) {
      if (rows * columns > 40000 || (rows > 5 && columns > 5 && random() % 4 != 0)) continue;
      check_all({rows, columns}, 1u << random() % 2, 40, random);
    }
  }
}

TEST_F(DeviceReduce, CutsLongResults) {
  Random random(3);
  constexpr std::int64_t kCounts[] = {2047, 2048, 2049, 4096, 8191, 8193, 20001, 65536, 100003};
  for (const std::int64_t count : kCounts) {
    check_all({count}, 1, 30, random);
    check_all({3, count}, 2, 60, random);
    check_all({count, 5}, 1, 60, random);
    check_all({2, count / 7, 7}, 2, 60, random);
    check_all({count / 7, 2, 7}, 5, 60, random);
  }
}

// Whole vectors: at multiples of 16 bytes, which arrays of the other tests are never at.
class Memory {
 public:
  Memory(const NamedType& type, std::int64_t extra, const Shape& shape, Random& random)
      : type_(type), width_(element_size(type.dtype)), offset_(static_cast<std::size_t>(extra)) {
    Array numbers(type.dtype, shape, Arrangement::kRowMajor, random);
    fill_with_numbers(numbers, type.type, random, Nans::kSome);
    shape_ = shape;
    for (const Byte* const element : numbers.elements()) {
      bytes_.insert(bytes_.end(), element, element + width_);
    }
  }

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const std::vector<Byte>& bytes() const { return bytes_; }

  // The result of the operation on elements that begin `offset_` elements behind a multiple of 256
  // bytes.
  [[nodiscard]] std::vector<Byte> reduce(tnr_context* context, const Reduction& reduction) const {
    const NamedType out_type = result_type(reduction.op, type_);
    std::vector<Byte> shifted(offset_ * width_);
    shifted.insert(shifted.end(), bytes_.begin(), bytes_.end());
    tnr_blob* const blob = tnr_blob_copy(context, shifted.data(), shifted.size());
    EXPECT_NE(blob, nullptr) << tnr_last_error()->message;
    tnr_view a;
    EXPECT_EQ(tnr_blob_view(blob, offset_ * width_, type_.dtype,
                            static_cast<std::uint32_t>(shape_.size()), shape_.data(), nullptr, &a),
              TNR_STATUS_OK);
    const Shape of_result = result_shape(shape_, reduction.axes, false);
    std::int64_t count = 1;
    for (const std::int64_t extent : of_result) count *= extent;
    std::vector<Byte> result(static_cast<std::size_t>(count) * element_size(out_type.dtype));
    tnr_blob* const out_blob = tnr_blob_copy(context, result.data(), result.size());
    tnr_view_mut out;
    EXPECT_EQ(
        tnr_blob_view_mut(out_blob, 0, out_type.dtype, static_cast<std::uint32_t>(of_result.size()),
                          of_result.data(), nullptr, &out),
        TNR_STATUS_OK);
    EXPECT_EQ(call_of(reduction)(context, {&a}, &out), TNR_STATUS_OK) << tnr_last_error()->message;
    tnr_view_mut to;
    EXPECT_EQ(tnr_view_lend_mut(result.data(), result.size(), 0, out_type.dtype,
                                static_cast<std::uint32_t>(of_result.size()), of_result.data(),
                                nullptr, &to),
              TNR_STATUS_OK);
    EXPECT_EQ(tnr_copy(context, &out.view, nullptr, &to), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
    EXPECT_EQ(tnr_blob_release(out_blob), TNR_STATUS_OK);
    return result;
  }

  Memory behind(std::int64_t elements) const {
    Memory other = *this;
    other.offset_ = static_cast<std::size_t>(elements);
    return other;
  }

 private:
  NamedType type_;
  std::size_t width_;
  std::size_t offset_;
  Shape shape_;
  std::vector<Byte> bytes_;
};

void expect_near(const NamedType& type, const std::vector<Byte>& actual,
                 const std::vector<Byte>& expected, double last_places, const std::string& what) {
  const std::size_t width = element_size(type.dtype);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); i += width) {
    ASSERT_TRUE(is_near_number(type.dtype, &actual[i], &expected[i], last_places))
        << what << " at " << i / width << ": 0x" << hex_of(&actual[i], width) << " but 0x"
        << hex_of(&expected[i], width) << " on the CPU";
  }
}

TEST_F(DeviceReduce, GivesTheSameBitsWhereverMemoryLies) {
  Random random(4);
  const Shape kShapes[] = {{64},     {4096},   {40000},  {33, 64},  {5, 2304},  {3, 20000},
                           {7, 128}, {300, 8}, {64, 36}, {1000, 4}, {3, 40, 16}};
  for (const Shape& shape : kShapes) {
    for (std::uint32_t axes = 1; axes < 1u << shape.size(); ++axes) {
      for (const tnr_reduce_op op : kOps) {
        const auto reduced = static_cast<std::size_t>(std::popcount(axes));
        if (gives_place(op) && reduced != 1 && reduced != shape.size()) continue;
        for (const NamedType& type : kTypes) {
          if (!takes(op, type) || random() % scarcer(16) != 0) continue;
          if (op == TNR_REDUCE_OP_PROD && is_float(type.type)) continue;
          const Reduction reduction = {
              .op = op, .axes = axes, .power = op == TNR_REDUCE_OP_NORM ? 2.0 : 0.0};
          const Memory memory(type, 0, shape, random);
          const std::string what =
              "op " + std::to_string(op) + " axes " + std::to_string(axes) + " of " +
              dtype_name(type.dtype) +
              shape_text(static_cast<std::uint32_t>(shape.size()), shape.data()).text;
          const std::vector<Byte> whole = memory.reduce(context_, reduction);
          EXPECT_EQ(whole, memory.behind(1).reduce(context_, reduction)) << what;
          const std::vector<Byte> expected = memory.reduce(nullptr, reduction);
          expect_near(result_type(op, type), whole, expected,
                      last_places(op, type.type, count_of(shape, axes)), what);
        }
      }
    }
  }
}

// One result of f32 or f64 elements.
template <class T>
T reduce_one(tnr_context* context, const Reduction& reduction, std::vector<T> elements) {
  const tnr_dtype dtype = sizeof(T) == 8 ? TNR_DTYPE_F64 : TNR_DTYPE_F32;
  const auto count = static_cast<std::int64_t>(elements.size());
  tnr_blob* const blob = tnr_blob_copy(context, elements.data(), elements.size() * sizeof(T));
  T result{};
  tnr_blob* const out_blob = tnr_blob_copy(context, &result, sizeof result);
  tnr_view a;
  tnr_view_mut out;
  EXPECT_EQ(tnr_blob_view(blob, 0, dtype, 1, &count, nullptr, &a), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_view_mut(out_blob, 0, dtype, 0, nullptr, nullptr, &out), TNR_STATUS_OK);
  EXPECT_EQ(call_of(reduction)(context, {&a}, &out), TNR_STATUS_OK) << tnr_last_error()->message;
  tnr_view_mut to;
  EXPECT_EQ(tnr_view_lend_mut(&result, sizeof result, 0, dtype, 0, nullptr, nullptr, &to),
            TNR_STATUS_OK);
  EXPECT_EQ(tnr_copy(context, &out.view, nullptr, &to), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(out_blob), TNR_STATUS_OK);
  return result;
}

TEST_F(DeviceReduce, AddsLongSumsInATree) {
  const std::vector<float> tenths(1000000, 0.1f);
  const float sum = reduce_one(context_, {.op = TNR_REDUCE_OP_SUM, .axes = 1}, tenths);
  EXPECT_NEAR(sum, 1e6 * static_cast<double>(0.1f), 0.1);
}

TEST_F(DeviceReduce, KeepsTheDigitsOfVariancesFarFromZero) {
  Random random(5);
  std::normal_distribution<double> normal(0, 1);
  std::vector<double> elements(50000);
  long double sum = 0;
  for (double& element : elements) sum += element = 1e8 + normal(random);
  const long double mean = sum / 50000;
  long double squares = 0;
  for (const double element : elements) squares += (element - mean) * (element - mean);
  const Reduction variance = {.op = TNR_REDUCE_OP_VAR, .axes = 1};
  const auto expected = static_cast<double>(squares / 50000);
  EXPECT_NEAR(reduce_one(context_, variance, elements), expected, 1e-13 * expected);
  // One that is far from all others, first: deviations are taken from it.
  elements[0] = 0;
  EXPECT_NEAR(
      reduce_one(context_, variance, elements) / reduce_one<double>(nullptr, variance, elements), 1,
      1e-13);
  // The first number is no element of the first block.
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i < 3000 || i % 3 == 0) elements[i] = std::nan("");
  }
  const Reduction of_numbers = {.op = TNR_REDUCE_OP_NAN_VAR, .axes = 1, .ddof = 1};
  EXPECT_NEAR(reduce_one(context_, of_numbers, elements) /
                  reduce_one<double>(nullptr, of_numbers, elements),
              1, 1e-13);
}

// A mean a little above the middle of two f16, so little that as f32 it would be the middle.
TEST_F(DeviceReduce, RoundsMeansOnce) {
  Random random(10);
  Array a(TNR_DTYPE_F16, {65536}, Arrangement::kRowMajor, random);
  std::uint16_t bits = 0x3c00;
  std::int64_t number = 0;
  for (Byte* const element : a.elements()) {
    // 1, and the two numbers after it.
    bits = ++number < 32768 ? 0x3c00 : number < 65536 ? 0x3c01 : 0x3c02;
    std::memcpy(element, &bits, sizeof bits);
  }
  Array out(TNR_DTYPE_F16, {}, Arrangement::kRowMajor, random);
  const Reduction mean = {.op = TNR_REDUCE_OP_MEAN, .axes = 1};
  expect_same_call(context_, call_of(mean), {&a}, out, 0, "mean");
  std::memcpy(&bits, out.elements()[0], sizeof bits);
  EXPECT_EQ(bits, 0x3c01);
}

TEST_F(DeviceReduce, TakesInfinitiesAndNaNAsTheCpuDoes) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  const std::vector<std::vector<double>> kCases = {
      {kInfinity},
      {-kInfinity},
      {nan},
      {nan, nan},
      {kInfinity, -kInfinity},
      {1, kInfinity},
      {1, -kInfinity},
      {-kInfinity, -kInfinity},
      {nan, kInfinity},
      {kInfinity, nan, 3},
      {1, nan, 2},
      {0.0, -0.0},
      {-0.0, 0.0},
      {-0.0},
      {1e308, 1e308, -1e308},
      {1e300, -1e300},
      {5e-324, -5e-324},
  };
  for (const std::vector<double>& elements : kCases) {
    for (const tnr_reduce_op op : kOps) {
      if (is_truth(op) || gives_place(op)) continue;
      for (const double power : {1.0, 2.0, 3.0, kInfinity}) {
        const Reduction reduction = {
            .op = op, .axes = 1, .power = op == TNR_REDUCE_OP_NORM ? power : 0.0};
        const double actual = reduce_one(context_, reduction, elements);
        const double expected = reduce_one<double>(nullptr, reduction, elements);
        const bool is_same = actual == expected || (std::isnan(actual) && std::isnan(expected));
        EXPECT_TRUE(is_same || std::fabs(actual / expected - 1) < 1e-14)
            << "op " << op << " power " << power << ": " << actual << " but " << expected << " of "
            << elements[0] << ", ...";
        std::vector<float> narrow(elements.begin(), elements.end());
        const float of_f32 = reduce_one(context_, reduction, narrow);
        const float expected_f32 = reduce_one<float>(nullptr, reduction, narrow);
        EXPECT_TRUE(of_f32 == expected_f32 || (std::isnan(of_f32) && std::isnan(expected_f32)) ||
                    std::fabs(of_f32 / expected_f32 - 1) < 1e-6f)
            << "op " << op << ": " << of_f32 << " but " << expected_f32;
      }
    }
  }
}

TEST_F(DeviceReduce, FindsTheFirstOfEquals) {
  Random random(6);
  for (const Shape& shape : {Shape{70000}, Shape{3000, 9}, Shape{9, 3000}, Shape{40, 50, 7}}) {
    for (const NamedType& type : kTypes) {
      if (type.type == Type::kBool8) continue;
      for (const Arrangement from : kReadable) {
        // Elements that are all equal, and two zeros.
        for (const int kind : {0, 1}) {
          Array a(type.dtype, shape, from, random);
          for (Byte* const element : a.elements()) {
            const double value = kind == 1 && random() % 2 == 0 ? -0.0 : 0.0;
            kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&value), type.type,
                                     element);
          }
          const auto rank = static_cast<std::uint32_t>(shape.size());
          const std::uint32_t axes = random() % 2 == 0 ? (1u << rank) - 1 : 1u << random() % rank;
          const tnr_reduce_op op = random() % 2 == 0 ? TNR_REDUCE_OP_ARGMIN : TNR_REDUCE_OP_ARGMAX;
          const Reduction reduction = {.op = op, .axes = axes};
          Array out(TNR_DTYPE_I64, result_shape(shape, axes, false), Arrangement::kRowMajor,
                    random);
          expect_same_call(context_, call_of(reduction), {&a}, out, 0, describe_call(reduction, a));
          if (shape[0] > 9 && random() % 2 == 0) break;
        }
      }
    }
  }
}

TEST_F(DeviceReduce, TakesAnyBitsOfExtremesAndCounts) {
  Random random(7);
  for (const NamedType& type : kTypes) {
    for (const tnr_reduce_op op :
         {TNR_REDUCE_OP_MIN, TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_ARGMIN, TNR_REDUCE_OP_ARGMAX,
          TNR_REDUCE_OP_ANY, TNR_REDUCE_OP_ALL, TNR_REDUCE_OP_COUNT, TNR_REDUCE_OP_SUM,
          TNR_REDUCE_OP_PROD, TNR_REDUCE_OP_NAN_MIN, TNR_REDUCE_OP_NAN_MAX}) {
      if (!takes(op, type) || (is_sum(op) && is_float(type.type))) continue;
      for (const Shape& shape : {Shape{5, 600}, Shape{600, 5}, Shape{3000}}) {
        const auto rank = static_cast<std::uint32_t>(shape.size());
        const Reduction reduction = {.op = op, .axes = rank == 1 ? 1u : 1u << random() % 2};
        Array a(type.dtype, shape, kReadable[random() % std::size(kReadable)], random);
        fill_with_bits(a, random);
        Array out(result_type(op, type).dtype, result_shape(shape, reduction.axes, false),
                  Arrangement::kRowMajor, random);
        expect_same_call(context_, call_of(reduction), {&a}, out, 0, describe_call(reduction, a));
      }
    }
  }
}

TEST_F(DeviceReduce, RefusesWhatTheCpuRefuses) {
  Random random(8);
  Array a(TNR_DTYPE_F32, {3, 4}, Arrangement::kRowMajor, random);
  Array integers(TNR_DTYPE_I16, {3, 4}, Arrangement::kRowMajor, random);
  Array nothing(TNR_DTYPE_F32, {3, 0}, Arrangement::kRowMajor, random);
  Array row(TNR_DTYPE_F32, {4}, Arrangement::kRowMajor, random);
  Array column(TNR_DTYPE_F32, {3}, Arrangement::kRowMajor, random);
  const auto same = [&](const Reduction& reduction, Array& in, Array& out) {
    expect_same_call(context_, call_of(reduction), {&in}, out, 0, "op");
  };
  same({.op = 99, .axes = 1}, a, row);
  same({.op = TNR_REDUCE_OP_SUM, .axes = 4}, a, row);
  same({.op = TNR_REDUCE_OP_SUM, .axes = 2}, a, row);
  same({.op = TNR_REDUCE_OP_SUM, .axes = 1, .ddof = 1}, a, row);
  same({.op = TNR_REDUCE_OP_SUM, .axes = 1, .power = 1}, a, row);
  same({.op = TNR_REDUCE_OP_NORM, .axes = 1}, a, row);
  same({.op = TNR_REDUCE_OP_MEAN, .axes = 1}, integers, row);
  same({.op = TNR_REDUCE_OP_SUM, .axes = 1}, integers, row);
  same({.op = TNR_REDUCE_OP_MIN, .axes = 2}, nothing, column);
  same({.op = TNR_REDUCE_OP_ARGMAX, .axes = 2}, nothing, column);
}

TEST_F(DeviceReduce, SaysThatComplexNumbersAreTheCpus) {
  Random random(9);
  Array a(TNR_DTYPE_C64, {3, 4}, Arrangement::kRowMajor, random);
  Array out(TNR_DTYPE_C64, {4}, Arrangement::kRowMajor, random);
  const DeviceArray on_device(context_, a);
  const DeviceArray to(context_, out);
  EXPECT_EQ(call_of({.op = TNR_REDUCE_OP_SUM, .axes = 1})(context_, {on_device.in()}, to.out()),
            TNR_STATUS_UNSUPPORTED);
  const std::string message = tnr_last_error()->message;
  EXPECT_NE(message.find("cuda:0"), std::string::npos) << message;
}

}  // namespace
}  // namespace tenure
