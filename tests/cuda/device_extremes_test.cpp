// Reductions, scans and normalizations of a device at the ends of the range, against long double.
#include "device_child.hpp"
#include "extreme_numbers.hpp"
#include "on_device.hpp"

namespace {

using namespace tenure::test;
using tenure::kernels::Type;

class DeviceExtremes : public OnDevice {
 protected:
  // Runs a call of `a` into `out` on the device, and brings `out` back.
  void run(const ContextCall& call, const Array& a, Array& out) {
    const DeviceArray in(context_, a);
    const DeviceArray to(context_, out);
    ASSERT_EQ(call(context_, {in.in()}, to.out()), TNR_STATUS_OK) << tnr_last_error()->message;
    const std::vector<Byte> bytes = to.bytes();
    for_each_index(out.view(), [&](const Index& index) {
      const auto offset = byte_of(out.view(), index);
      std::memcpy(static_cast<Byte*>(const_cast<void*>(out.view().base)) + offset,
                  bytes.data() + offset, tenure::element_size(out.view().dtype));
    });
  }
};

TEST_F(DeviceExtremes, OfReductionsOfAnyLength) {
  Random random(1);
  Calls calls(random);
  const auto check = [&](const ReduceCall& of, const Shape& shape, std::uint32_t axes) {
    const NamedType& type = kTypes[random() % 4];
    Array a(type.dtype, shape, kReadable[random() % std::size(kReadable)], random);
    fill_with_extremes(a, type.type, random);
    Array out(type.dtype, kept_axes(shape, axes), kWritable[random() % std::size(kWritable)],
              random);
    const tnr_reduce_attributes attributes = {sizeof attributes, of.ddof, 0, of.power};
    run(
        [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
          return tnr_reduce(context, of.op, in[0], axes, &attributes, to);
        },
        a, out);
    expect_results(of, a, type.type, axes, out, "device");
  };
  for (std::int64_t length = 0; length <= 300; length += 1 + length / 16) {
    for (int i = 0; i < 8; ++i) {
      const ReduceCall call = i < 2 ? ReduceCall{TNR_REDUCE_OP_PROD} : calls.next();
      const Shape shapes[] = {{length}, {length, 3}, {2, length}, {2, length, 2}};
      const std::uint32_t axes[] = {1, 1, 2, 2};
      const std::size_t of = random() % 4;
      check(call, shapes[of], axes[of]);
      if (HasFailure()) return;
    }
  }
  for (std::size_t i = 0; i < 2 * calls.count(); ++i) {
    check(calls.next(), i % 2 == 0 ? Shape{20000} : Shape{5000, 3}, 1);
    if (HasFailure()) return;
  }
}

TEST_F(DeviceExtremes, OfScansOfAnyLength) {
  Random random(2);
  const auto check = [&](tnr_scan_op op, const Shape& shape, std::uint32_t axis) {
    const NamedType& type = kTypes[random() % 4];
    Array a(type.dtype, shape, kReadable[random() % std::size(kReadable)], random);
    fill_with_extremes(a, type.type, random);
    Array out(type.dtype, shape, kWritable[random() % std::size(kWritable)], random);
    run([&](tnr_context* context, const auto& in,
            const tnr_view_mut* to) { return tnr_scan(context, op, in[0], axis, nullptr, to); },
        a, out);
    expect_scan(op, a, type.type, axis, out);
  };
  for (const tnr_scan_op op : {TNR_SCAN_OP_SUM, TNR_SCAN_OP_PROD}) {
    for (std::int64_t length = 1; length <= 300; length += 1 + length / 32) {
      check(op, {length}, 0);
      check(op, {length, 3}, 0);
      check(op, {3, length}, 1);
      if (HasFailure()) return;
    }
    for (int round = 0; round < 6; ++round) check(op, {round < 3 ? 2500 : 40000}, 0);
  }
}

TEST_F(DeviceExtremes, OfNormalizationsOfAnyLength) {
  Random random(3);
  const auto check = [&](tnr_normalize_op op, const Shape& shape) {
    const double all_eps[] = {0, 1e-5, 1e-300, 1e-40};
    const double eps = all_eps[random() % 4];
    const NamedType& type = kTypes[random() % 4];
    Array a(type.dtype, shape, kReadable[random() % std::size(kReadable)], random);
    fill_with_extremes(a, type.type, random);
    Array out(type.dtype, shape, kWritable[random() % std::size(kWritable)], random);
    const tnr_normalize_attributes attributes = {sizeof attributes, eps, nullptr, nullptr};
    run(
        [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
          return tnr_normalize(context, op, in[0], 2, &attributes, to);
        },
        a, out);
    expect_normalization(op, a, type.type, eps, out);
  };
  for (const tnr_normalize_op op : {TNR_NORMALIZE_OP_LAYER_NORM, TNR_NORMALIZE_OP_RMS_NORM}) {
    for (std::int64_t length = 1; length <= 300; length += 1 + length / 8) {
      check(op, {5, length});
      if (HasFailure()) return;
    }
    for (int round = 0; round < 6; ++round) check(op, {2, 20000});
  }
}

}  // namespace
