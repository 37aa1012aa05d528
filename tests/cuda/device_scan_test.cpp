// Scans along an axis on a device, compared with the CPU's of the same elements.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "device_child.hpp"
#include "device_floats.hpp"
#include "expect_status.hpp"
#include "on_device.hpp"

namespace {

using namespace tenure::test;
using tenure::kernels::Type;

constexpr tnr_scan_op kOps[] = {TNR_SCAN_OP_SUM, TNR_SCAN_OP_PROD, TNR_SCAN_OP_MIN,
                                TNR_SCAN_OP_MAX};

ContextCall scan_call(tnr_scan_op op, std::uint32_t axis) {
  return [=](tnr_context* context, const auto& in, const tnr_view_mut* out) {
    return tnr_scan(context, op, in[0], axis, nullptr, out);
  };
}

bool is_extreme(tnr_scan_op op) { return op == TNR_SCAN_OP_MIN || op == TNR_SCAN_OP_MAX; }
tnr_dtype result_of(tnr_scan_op op, const NamedType& type) {
  if (is_extreme(op) || is_float(type.type)) return type.dtype;
  return type.type <= Type::kI64 ? TNR_DTYPE_I64 : TNR_DTYPE_U64;
}

// Sums of eighths are exact in f64, whatever their order. A product is rounded at each of its
// factors, those of f32 in f64, and once at last.
double last_places(tnr_scan_op op, Type type, std::int64_t count) {
  if (op != TNR_SCAN_OP_PROD) return 0;
  return type == Type::kF64 ? static_cast<double>(count) : 1;
}

class DeviceScan : public OnDevice {
 protected:
  void check(tnr_scan_op op, const NamedType& type, const Shape& shape, std::uint32_t axis,
             Arrangement from, Arrangement to, Random& random) {
    if (type.type == Type::kBool8) return;
    Array a(type.dtype, shape, from, random);
    fill_with_numbers(a, type.type, random, Nans::kSome);
    const tnr_dtype result = result_of(op, type);
    Array out(result, shape, to, random);
    const bool is_in_place = result == type.dtype && random() % 3 == 0;
    if (is_in_place) fill_with_numbers(out, type.type, random, Nans::kSome);
    Array& input = is_in_place ? out : a;
    expect_same_call(context_, scan_call(op, axis), {&input}, out,
                     last_places(op, type.type, shape[axis]),
                     "op " + std::to_string(op) + " axis " + std::to_string(axis) + " of " +
                         describe(input.view()));
  }
  Arrangement readable(Random& random) { return kReadable[random() % std::size(kReadable)]; }
  Arrangement writable(Random& random) { return kWritable[random() % std::size(kWritable)]; }
};

TEST_F(DeviceScan, GivesTheCpusResultsAlongAnyAxisOfAnyLayout) {
  Random random(1);
  const unsigned sparsity = std::getenv("TENURE_TEST_QUICK") != nullptr ? 8 : 1;
  for (const Shape& shape : shapes()) {
    for (std::uint32_t axis = 0; axis < shape.size(); ++axis) {
      for (const tnr_scan_op op : kOps) {
        for (const NamedType& type : kTypes) {
          if (random() % sparsity != 0) continue;
          check(op, type, shape, axis, readable(random), writable(random), random);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Around what a thread, a warp, a block and a segment take.
TEST_F(DeviceScan, TakesRowsAroundEveryBorder) {
  Random random(2);
  for (const std::int64_t rows : {1, 3, 40}) {
    for (const std::int64_t length :
         {1,    7,    8,    9,    63,   64,   65,    255,   256,   257,
          1023, 1024, 1025, 2048, 2049, 4097, 16383, 16384, 16385, 40000}) {
      if (rows * length > 100000) continue;
      for (const tnr_scan_op op : kOps) {
        const NamedType& type = kTypes[random() % std::size(kTypes)];
        check(op, type, {rows, length}, 1, Arrangement::kRowMajor, Arrangement::kRowMajor, random);
        check(op, type, {length, rows}, 0, Arrangement::kRowMajor, Arrangement::kRowMajor, random);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(DeviceScan, KeepsZerosInfinitiesAndTheFirstNan) {
  Random random(3);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double values[] = {0.0, -0.0, kInfinity, -kInfinity, std::nan(""), 1.0, -1.0, -0.0, 0.0};
  for (const NamedType& type : kTypes) {
    if (!is_float(type.type)) continue;
    for (const tnr_scan_op op : kOps) {
      for (const std::int64_t length : {3, 9, 100, 3000}) {
        Array a(type.dtype, {5, length}, Arrangement::kRowMajor, random);
        for (Byte* const element : a.elements()) {
          // Values that end a row's history are rare, so that they occur anywhere in a row.
          const std::size_t known = random() % 50 == 0 ? random() % 5 : 5 + random() % 4;
          const double value = values[known];
          tenure::kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&value),
                                           type.type, element);
        }
        Array out(type.dtype, {5, length}, Arrangement::kRowMajor, random);
        expect_same_call(context_, scan_call(op, 1), {&a}, out, 0,
                         "op " + std::to_string(op) + " of " + describe(a.view()));
      }
    }
  }
}

// Integers wrap at the far end of a row as near its start.
TEST_F(DeviceScan, WrapsIntegers) {
  Random random(4);
  for (const NamedType& type : kTypes) {
    if (is_float(type.type) || type.type == Type::kBool8) continue;
    for (const tnr_scan_op op : kOps) {
      Array a(type.dtype, {2, 20000}, Arrangement::kRowMajor, random);
      for (Byte* const element : a.elements()) {
        const std::uint64_t bits = random() | 1;  // odd: products do not become 0
        std::memcpy(element, &bits, tenure::element_size(type.dtype));
      }
      Array out(result_of(op, type), {2, 20000}, Arrangement::kRowMajor, random);
      expect_same_call(context_, scan_call(op, 1), {&a}, out, 0, describe(a.view()));
    }
  }
}

TEST_F(DeviceScan, GivesTheSameBitsEachTime) {
  Random random(5);
  Array a(TNR_DTYPE_F64, {100000}, Arrangement::kRowMajor, random);
  for (Byte* const element : a.elements()) {
    const double value = static_cast<double>(random() % 1000000) / 7;
    std::memcpy(element, &value, sizeof value);
  }
  const DeviceArray in(context_, a);
  Array out(TNR_DTYPE_F64, {100000}, Arrangement::kRowMajor, random);
  const DeviceArray first(context_, out);
  const DeviceArray second(context_, out);
  for (const DeviceArray* const to : {&first, &second}) {
    ASSERT_EQ(tnr_scan(context_, TNR_SCAN_OP_SUM, in.in(), 0, nullptr, to->out()), TNR_STATUS_OK)
        << tnr_last_error()->message;
  }
  EXPECT_TRUE(first.bytes() == second.bytes());
}

TEST_F(DeviceScan, RefusesWhatTheCpuRefuses) {
  Random random(6);
  const auto refuse = [&](tnr_dtype dtype, const Shape& shape, tnr_scan_op op, std::uint32_t axis,
                          tnr_dtype result, const Shape& to) {
    Array a(dtype, shape, Arrangement::kRowMajor, random);
    Array out(result, to, Arrangement::kRowMajor, random);
    const tnr_view_mut out_here = out.out();
    EXPECT_NE(tnr_scan(nullptr, op, &a.view(), axis, nullptr, &out_here), TNR_STATUS_OK);
    expect_same_call(context_, scan_call(op, axis), {&a}, out, 0, describe(a.view()));
  };
  refuse(TNR_DTYPE_F32, {3}, TNR_SCAN_OP_SUM, 1, TNR_DTYPE_F32, {3});
  refuse(TNR_DTYPE_F32, {3}, TNR_SCAN_OP_SUM, 0, TNR_DTYPE_F64, {3});
  refuse(TNR_DTYPE_I32, {3}, TNR_SCAN_OP_SUM, 0, TNR_DTYPE_I32, {3});
  refuse(TNR_DTYPE_F32, {1}, TNR_SCAN_OP_SUM, 0, TNR_DTYPE_F32, {3});
  refuse(TNR_DTYPE_F32, {3}, 0, 0, TNR_DTYPE_F32, {3});
  refuse(TNR_DTYPE_F32, {3}, 99, 0, TNR_DTYPE_F32, {3});
  refuse(TNR_DTYPE_BOOL8, {3}, TNR_SCAN_OP_SUM, 0, TNR_DTYPE_I64, {3});
  refuse(TNR_DTYPE_C64, {3}, TNR_SCAN_OP_SUM, 0, TNR_DTYPE_C64, {3});
  // Operands of two places.
  Array a(TNR_DTYPE_F32, {3}, Arrangement::kRowMajor, random);
  const DeviceArray there(context_, a);
  const tnr_view_mut here = a.out();
  expect_refused(tnr_scan(context_, TNR_SCAN_OP_SUM, &a.view(), 0, nullptr, there.out()),
                 TNR_STATUS_UNSUPPORTED, {"a", "cuda:0"});
  expect_refused(tnr_scan(context_, TNR_SCAN_OP_SUM, there.in(), 0, nullptr, &here),
                 TNR_STATUS_UNSUPPORTED, {"cuda:0"});
  expect_refused(tnr_scan(nullptr, TNR_SCAN_OP_SUM, there.in(), 0, nullptr, there.out()),
                 TNR_STATUS_INVALID_ARGUMENT, {"cuda:0"});
}

TEST_F(DeviceScan, FailuresLeaveNothing) {
  if (!is_driver_fake()) GTEST_SKIP() << "no driver that can be made to fail";
  expect_failures_leave_nothing();
}

// Three launches, with memory of their own.
TEST(DeviceChild, DISABLED_Run) {
  const auto say = [](tnr_status status) {
    if (status == TNR_STATUS_OK) return;
    std::printf("message: %s\n", tnr_last_error()->message);
    EXPECT_TRUE(status == TNR_STATUS_UNSUPPORTED || status == TNR_STATUS_DEVICE_ERROR ||
                status == TNR_STATUS_OUT_OF_MEMORY)
        << status;
  };
  tnr_context* const context = context_on(kFirstDevice);
  if (context == nullptr) return say(tnr_last_error()->status);
  constexpr std::int64_t kShape[] = {20000};
  tnr_view_mut out;
  tnr_blob* const blob = tnr_blob_alloc_view(context, TNR_DTYPE_F32, 1, kShape, &out);
  if (blob == nullptr) {
    say(tnr_last_error()->status);
  } else {
    say(tnr_scan(context, TNR_SCAN_OP_SUM, &out.view, 0, nullptr, &out));
    say(tnr_context_wait(context));
    say(tnr_blob_release(blob));
  }
  say(tnr_context_release(context));
}

}  // namespace
