// Sorts and top-k selections on a device, compared with the CPU's: bits, order and refusals.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "device_child.hpp"
#include "expect_status.hpp"
#include "on_device.hpp"

namespace {

using namespace tenure::test;
using tenure::kernels::Type;

enum class Direction { kRising, kFalling };

struct Order {
  std::uint32_t axis;
  Direction direction;
  std::int64_t kept;  // -1: a sort, of all
};

tnr_status run(const Order& order, tnr_context* context, const tnr_view* a,
               const tnr_view_mut* indices, const tnr_view_mut* out) {
  const bool falls = order.direction == Direction::kFalling;
  if (order.kept < 0) {
    tnr_sort_attributes attributes{};
    attributes.struct_size = sizeof attributes;
    attributes.flags = falls ? TNR_SORT_DESCENDING : 0;
    return tnr_sort(context, a, order.axis, &attributes, indices, out);
  }
  tnr_top_k_attributes attributes{};
  attributes.struct_size = sizeof attributes;
  attributes.flags = falls ? 0 : TNR_TOP_K_SMALLEST;
  return tnr_top_k(context, a, order.axis, &attributes, indices, out);
}

std::string describe_order(const Order& order, const Array& a) {
  return "axis " + std::to_string(order.axis) +
         (order.direction == Direction::kFalling ? " falling" : " rising") + " kept " +
         std::to_string(order.kept) + " of " + describe(a.view());
}

class DeviceOrder : public OnDevice {
 protected:
  static Shape kept_shape(const Order& order, Shape shape) {
    if (order.kept >= 0) shape[order.axis] = order.kept;
    return shape;
  }
  static Arrangement readable(Random& random) { return kReadable[random() % std::size(kReadable)]; }
  static Arrangement writable(Random& random) { return kWritable[random() % std::size(kWritable)]; }

  // Checks calls that give elements, indices or both. check_both also checks an output in place.
  void check(const Order& order, Array& a, Random& random) {
    const std::string what = describe_order(order, a);
    const tnr_view& view = a.view();
    const Shape shape = kept_shape(order, Shape(view.shape, view.shape + view.rank));
    Array out(view.dtype, shape, writable(random), random);
    Array indices(TNR_DTYPE_I64, shape, writable(random), random);
    switch (random() % 3) {
      case 0: return check_both(order, a, indices, out, what);
      case 1:
        return expect_same_call(
            context_,
            [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
              return run(order, context, in[0], nullptr, to);
            },
            {&a}, out, 0, what);
      default:
        return expect_same_call(
            context_,
            [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
              return run(order, context, in[0], to, nullptr);
            },
            {&a}, indices, 0, what);
    }
  }
  void check_both(const Order& order, Array& a, Array& indices, Array& out,
                  const std::string& what) {
    const DeviceArray there(context_, a);
    const DeviceArray indices_there(context_, indices);
    const DeviceArray out_there(context_, out);
    const bool is_in_place = &a == &out;
    const tnr_view_mut indices_here = indices.out();
    const tnr_view_mut out_here = out.out();
    ASSERT_EQ(run(order, nullptr, &a.view(), &indices_here, &out_here), TNR_STATUS_OK)
        << what << tnr_last_error()->message;
    const tnr_view* const from = is_in_place ? out_there.in() : there.in();
    ASSERT_EQ(run(order, context_, from, indices_there.out(), out_there.out()), TNR_STATUS_OK)
        << what << tnr_last_error()->message;
    expect_same_memory(out, out_there, 0, what);
    expect_same_memory(indices, indices_there, 0, what + " indices");
  }
};

TEST_F(DeviceOrder, GivesTheCpusOrderAlongAnyAxisOfAnyLayout) {
  Random random(1);
  const unsigned sparsity = std::getenv("TENURE_TEST_QUICK") != nullptr ? 8 : 2;
  for (const Shape& shape : shapes()) {
    for (std::uint32_t axis = 0; axis < shape.size(); ++axis) {
      for (const NamedType& type : kTypes) {
        for (const Direction direction : {Direction::kRising, Direction::kFalling}) {
          if (random() % sparsity != 0) continue;
          Array a(type.dtype, shape, readable(random), random);
          fill_with_numbers(a, type.type, random, Nans::kSome);
          const bool is_sort = random() % 2 == 0;
          const auto most = static_cast<std::uint64_t>(shape[axis]) + 1;
          const auto kept = static_cast<std::int64_t>(random() % most);
          check({axis, direction, is_sort ? -1 : kept}, a, random);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_F(DeviceOrder, SortsAnyBits) {
  Random random(2);
  for (const NamedType& type : kTypes) {
    for (const Shape& shape : {Shape{5000}, Shape{700, 7}, Shape{3, 1500}}) {
      for (const Direction direction : {Direction::kRising, Direction::kFalling}) {
        Array a(type.dtype, shape, Arrangement::kRowMajor, random);
        fill_with_bits(a, random);
        const auto axis = static_cast<std::uint32_t>(random() % shape.size());
        check({axis, direction, -1}, a, random);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(DeviceOrder, SortsInPlace) {
  Random random(3);
  for (const NamedType& type : kTypes) {
    for (const Shape& shape : {Shape{1}, Shape{33}, Shape{19, 23}, Shape{2, 3, 40}}) {
      for (std::uint32_t axis = 0; axis < shape.size(); ++axis) {
        Array a(type.dtype, shape, writable(random), random);
        fill_with_numbers(a, type.type, random, Nans::kSome);
        Array indices(TNR_DTYPE_I64, shape, writable(random), random);
        const Order order = {axis, random() % 2 == 0 ? Direction::kRising : Direction::kFalling,
                             -1};
        check_both(order, a, indices, a, describe_order(order, a));
        if (HasFailure()) return;
      }
    }
  }
}

// Zeros of both signs are equal, and so are all NaN, which are last: they keep their order, and each
// its bits.
TEST_F(DeviceOrder, KeepsTheBitsOfEquals) {
  constexpr std::uint32_t kBits[] = {0x7fc00001, 0x80000000, 0x3f800000, 0x00000000, 0xffc00002,
                                     0xbf800000, 0x80000000, 0x7f800001, 0x7f800000, 0xff800000};
  Literal<std::uint32_t> a(TNR_DTYPE_U32, {std::begin(kBits), std::end(kBits)});
  constexpr std::size_t kRising[] = {9, 5, 1, 3, 6, 2, 8, 0, 4, 7};
  constexpr std::size_t kFalling[] = {8, 2, 1, 3, 6, 5, 9, 0, 4, 7};
  for (const Direction direction : {Direction::kRising, Direction::kFalling}) {
    constexpr std::int64_t kShape[] = {std::size(kBits)};
    tnr_view_mut out;
    tnr_blob* const blob = tnr_blob_alloc_view(context_, TNR_DTYPE_U32, 1, kShape, &out);
    ASSERT_NE(blob, nullptr);
    ASSERT_EQ(tnr_copy(context_, &a.view, nullptr, &out), TNR_STATUS_OK);
    tnr_view_mut floats = out;
    floats.view.dtype = TNR_DTYPE_F32;
    ASSERT_EQ(run({0, direction, -1}, context_, &floats.view, nullptr, &floats), TNR_STATUS_OK)
        << tnr_last_error()->message;
    Literal<std::uint32_t> result(TNR_DTYPE_U32, std::vector<std::uint32_t>(std::size(kBits)));
    const tnr_view_mut here = result.out();
    ASSERT_EQ(tnr_copy(context_, &out.view, nullptr, &here), TNR_STATUS_OK);
    for (std::size_t i = 0; i < std::size(kBits); ++i) {
      const std::size_t from = direction == Direction::kRising ? kRising[i] : kFalling[i];
      EXPECT_EQ(result.values[i], kBits[from]) << i;
    }
    EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  }
}

// More elements than are sorted at once: rows are taken in parts.
TEST_F(DeviceOrder, TakesManyRowsInParts) {
  Random random(4);
  Array a(TNR_DTYPE_BOOL8, {5, 1000000}, Arrangement::kRowMajor, random);
  for (Byte* const element : a.elements()) *element = static_cast<Byte>(random() % 2);
  Array indices(TNR_DTYPE_I64, {5, 3}, Arrangement::kRowMajor, random);
  expect_same_call(
      context_,
      [](tnr_context* context, const auto& in, const tnr_view_mut* to) {
        return run({1, Direction::kFalling, 3}, context, in[0], to, nullptr);
      },
      {&a}, indices, 0, describe(a.view()));
}

TEST_F(DeviceOrder, RefusesWhatTheCpuRefuses) {
  Random random(5);
  const auto refuse = [&](tnr_dtype dtype, const Shape& shape, const Order& order, tnr_dtype result,
                          const Shape& to) {
    Array a(dtype, shape, Arrangement::kRowMajor, random);
    Array out(result, to, Arrangement::kRowMajor, random);
    const tnr_view_mut out_here = out.out();
    EXPECT_NE(run(order, nullptr, &a.view(), nullptr, &out_here), TNR_STATUS_OK);
    expect_same_call(
        context_,
        [&](tnr_context* context, const auto& in, const tnr_view_mut* out_there) {
          return run(order, context, in[0], nullptr, out_there);
        },
        {&a}, out, 0, describe_order(order, a));
  };
  constexpr Direction kUp = Direction::kRising;
  refuse(TNR_DTYPE_F32, {3}, {1, kUp, -1}, TNR_DTYPE_F32, {3});
  refuse(TNR_DTYPE_F32, {3}, {0, kUp, -1}, TNR_DTYPE_F64, {3});
  refuse(TNR_DTYPE_F32, {3}, {0, kUp, -1}, TNR_DTYPE_F32, {4});
  refuse(TNR_DTYPE_F32, {3}, {0, kUp, 4}, TNR_DTYPE_F32, {4});
  refuse(TNR_DTYPE_C64, {3}, {0, kUp, -1}, TNR_DTYPE_C64, {3});
  Array a(TNR_DTYPE_I64, {3}, Arrangement::kRowMajor, random);
  const DeviceArray there(context_, a);
  const DeviceArray other(context_, a);
  const tnr_view_mut here = a.out();
  // Without an output no argument selects the device.
  expect_refused(run({0, kUp, -1}, context_, there.in(), nullptr, nullptr), TNR_STATUS_UNSUPPORTED,
                 {"a.device is cuda:0"});
  expect_refused(run({0, kUp, -1}, context_, there.in(), there.out(), nullptr), TNR_STATUS_ALIASED,
                 {"indices shares bytes with a"});
  expect_refused(run({0, kUp, -1}, context_, there.in(), other.out(), other.out()),
                 TNR_STATUS_ALIASED, {"indices"});
  expect_refused(run({0, kUp, -1}, context_, there.in(), &here, other.out()),
                 TNR_STATUS_UNSUPPORTED, {"indices"});
  expect_refused(run({0, kUp, -1}, context_, &a.view(), nullptr, other.out()),
                 TNR_STATUS_UNSUPPORTED, {"a", "cuda:0"});
  expect_refused(run({0, kUp, -1}, nullptr, there.in(), nullptr, other.out()),
                 TNR_STATUS_INVALID_ARGUMENT, {"cuda:0"});
  // Too long for the device; its elements are one that repeats.
  tnr_view long_view = there.view();
  long_view.shape[0] = std::int64_t{1} << 31;
  long_view.strides[0] = 0;
  tnr_view_mut first = *other.out();
  first.view.shape[0] = 1;
  expect_refused(run({0, kUp, 1}, context_, &long_view, nullptr, &first), TNR_STATUS_UNSUPPORTED,
                 {"a.shape[0] is 2147483648", "cuda:0"});
}

TEST_F(DeviceOrder, FailuresLeaveNothing) {
  if (!is_driver_fake()) GTEST_SKIP() << "no driver that can be made to fail";
  expect_failures_leave_nothing();
}

// In place, which takes memory twice.
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
  constexpr std::int64_t kShape[] = {2, 20};
  tnr_view_mut out;
  tnr_blob* const blob = tnr_blob_alloc_view(context, TNR_DTYPE_U8, 2, kShape, &out);
  if (blob == nullptr) {
    say(tnr_last_error()->status);
  } else {
    say(tnr_sort(context, &out.view, 1, nullptr, nullptr, &out));
    say(tnr_context_wait(context));
    say(tnr_blob_release(blob));
  }
  say(tnr_context_release(context));
}

}  // namespace
