// Products of matrices on a device, compared with the CPU's of the same elements.
#include <cmath>
#include <limits>
#include <random>

#include "cpu/operations.hpp"
#include "device_products.hpp"

namespace tenure {
namespace {

using namespace test;

class DeviceMatmul : public OnDevice {
 protected:
  void check(const Product& by, const Factors& types, const Shape& a_shape, const Shape& b_shape,
             const Shape& out_shape, const Arrangement (&lie)[3], Random& random) {
    expect_same_product(context_, by, types, {a_shape, b_shape, out_shape}, lie, random);
  }
  void check_any(const Factors& types, const Shape& a_shape, const Shape& b_shape,
                 const Shape& out_shape, Random& random) {
    check(any_product(random), types, a_shape, b_shape, out_shape,
          {kReadable[random() % std::size(kReadable)], kReadable[random() % std::size(kReadable)],
           kWritable[random() % std::size(kWritable)]},
          random);
  }
};

// Around the borders of tiles, of groups and of a tile's depth.
TEST_F(DeviceMatmul, GivesTheCpusResultsAroundEveryBorder) {
  Random random(1);
  constexpr std::int64_t kLines[] = {1, 2, 3, 4, 5, 31, 63, 64, 65, 127, 128, 129};
  constexpr std::int64_t kDepths[] = {0, 1, 2, 3, 4, 7, 15, 16, 17, 31, 32, 33, 80};
  for (const Factors& types : kFactors) {
    for (const std::int64_t rows : kLines) {
      for (const std::int64_t columns : kLines) {
        if (random() % 8 != 0) continue;
        const std::int64_t depth = kDepths[random() % std::size(kDepths)];
        check_any(types, {rows, depth}, {depth, columns}, {rows, columns}, random);
        if (HasFailure()) return;
      }
    }
    for (const std::int64_t depth : kDepths) {
      check_any(types, {5, depth}, {depth, 9}, {5, 9}, random);
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceMatmul, ReadsAndWritesAnyLayout) {
  Random random(2);
  for (const Factors& types : kFactors) {
    for (const Arrangement a : kReadable) {
      for (const Arrangement b : kReadable) {
        const Arrangement out = kWritable[random() % std::size(kWritable)];
        check({1, -1, true}, types, {18, 21}, {21, 35}, {18, 35}, {a, b, out}, random);
        if (HasFailure()) return;
      }
    }
    // Large tiles, several for each of the fake device's five multiprocessors.
    for (const Arrangement out : kWritable) {
      check({2, 0, true}, types, {260, 24}, {24, 400}, {260, 400},
            {kReadable[random() % 2], kReadable[random() % 2], out}, random);
      if (HasFailure()) return;
    }
  }
}

// Elements that lie where vectors do, along each axis of each operand.
TEST_F(DeviceMatmul, TakesVectorsWhereElementsAreAligned) {
  Random random(3);
  for (const Factors& types : kFactors) {
    for (unsigned way = 0; way < 8; ++way) {
      const std::int64_t rows = 64, depth = 32, columns = 80;
      Array a(types.a.dtype, {rows * depth + 15}, Arrangement::kRowMajor, random);
      Array b(types.b.dtype, {depth * columns + 15}, Arrangement::kRowMajor, random);
      Array out(types.out.dtype, {rows * columns + 15}, Arrangement::kRowMajor, random);
      fill_with_numbers(a, types.a.type, random);
      fill_with_numbers(b, types.b.type, random);
      const auto matrix = [](tnr_view view, std::int64_t lines, std::int64_t extent,
                             bool is_turned) {
        // The array starts one element behind an aligned address; the next is 15 elements on.
        const auto width = static_cast<std::int64_t>(element_size(view.dtype));
        view.data = static_cast<const Byte*>(view.data) + (16 / width * width - width) % 16;
        view.rank = 2;
        view.shape[0] = lines;
        view.shape[1] = extent;
        view.strides[0] = is_turned ? 1 : extent;
        view.strides[1] = is_turned ? lines : 1;
        return view;
      };
      const ContextCall call = [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
        const tnr_view left = matrix(*in[0], rows, depth, (way & 1) != 0);
        const tnr_view right = matrix(*in[1], depth, columns, (way & 2) != 0);
        const tnr_view_mut result = {matrix(to->view, rows, columns, (way & 4) != 0)};
        return call_of({})(context, {&left, &right}, &result);
      };
      expect_same_call(context_, call, {&a, &b}, out, 0, "way " + std::to_string(way));
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceMatmul, BroadcastsBatchesAndTakesVectors) {
  Random random(4);
  for (const Factors& types : kFactors) {
    check_any(types, {3, 4, 5}, {3, 5, 6}, {3, 4, 6}, random);
    check_any(types, {3, 4, 5}, {5, 6}, {3, 4, 6}, random);
    check_any(types, {4, 5}, {3, 5, 6}, {3, 4, 6}, random);
    check_any(types, {2, 1, 4, 5}, {3, 5, 6}, {2, 3, 4, 6}, random);
    check_any(types, {1, 3, 1, 70, 5}, {2, 1, 4, 5, 3}, {2, 3, 4, 70, 3}, random);
    check_any(types, {5}, {5}, {}, random);
    check_any(types, {5}, {5, 6}, {6}, random);
    check_any(types, {4, 5}, {5}, {4}, random);
    check_any(types, {7, 5}, {3, 5, 6}, {3, 7, 6}, random);
    check_any(types, {5}, {3, 5, 6}, {3, 6}, random);
    check_any(types, {3, 4, 5}, {5}, {3, 4}, random);
    check_any(types, {0, 5}, {5, 6}, {0, 6}, random);
    check_any(types, {4, 5}, {5, 0}, {4, 0}, random);
    check_any(types, {0, 4, 5}, {5, 6}, {0, 4, 6}, random);
    check_any(types, {3, 4, 0}, {0, 6}, {3, 4, 6}, random);
    if (HasFailure()) return;
  }
}

// Rows of a batch that are multiplied as those of one matrix, from the last to the first.
TEST_F(DeviceMatmul, JoinsRowsOfABatchThatGoesDown) {
  Random random(9);
  for (const Factors& types : kFactors) {
    check({}, types, {3, 1, 5}, {5, 6}, {3, 1, 6},
          {Arrangement::kReversed, Arrangement::kRowMajor, Arrangement::kReversed}, random);
    check({}, types, {3, 4, 5}, {5, 6}, {3, 4, 6},
          {Arrangement::kReversed, Arrangement::kRowMajor, Arrangement::kReversed}, random);
    check({}, types, {5}, {1, 5, 6}, {3, 6},
          {Arrangement::kReversed, Arrangement::kRowMajor, Arrangement::kReversed}, random);
    if (HasFailure()) return;
  }
}

// Rounded sums are within the bound of the CPU and the device: (k + 4) eps times the magnitudes.
TEST_F(DeviceMatmul, IsWithinTheBoundOfRoundedSums) {
  Random random(5);
  std::normal_distribution<double> normal(0, 1);
  for (const std::int64_t depth : {1, 20, 700, 3000}) {
    for (const std::size_t index : {0, 1}) {
      const NamedType type = kTypes[index];
      Array a(type.dtype, {7, depth}, Arrangement::kRowMajor, random);
      Array b(type.dtype, {depth, 9}, Arrangement::kColumnMajor, random);
      Array out(type.dtype, {7, 9}, Arrangement::kRowMajor, random);
      std::vector<double> values[2];
      for (Array* const array : {&a, &b}) {
        for (Byte* const element : array->elements()) {
          const double value = normal(random);
          kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&value), type.type,
                                   element);
          double rounded;
          kernels::reference::cast(type.type, element, Type::kF64,
                                   reinterpret_cast<Byte*>(&rounded));
          values[array == &a ? 0 : 1].push_back(rounded);
        }
      }
      const DeviceArray device_a(context_, a);
      const DeviceArray device_b(context_, b);
      const DeviceArray device_out(context_, out);
      ASSERT_EQ(call_of({})(context_, {device_a.in(), device_b.in()}, device_out.out()),
                TNR_STATUS_OK);
      const std::vector<Byte> bytes = device_out.bytes();
      const double eps = index == 0 ? 0x1p-52 : 0x1p-23;
      for (std::int64_t i = 0; i < 7; ++i) {
        for (std::int64_t j = 0; j < 9; ++j) {
          long double sum = 0;
          long double magnitude = 0;
          for (std::int64_t k = 0; k < depth; ++k) {
            const long double product =
                static_cast<long double>(values[0][static_cast<std::size_t>(i * depth + k)]) *
                values[1][static_cast<std::size_t>(k * 9 + j)];
            sum += product;
            magnitude += std::fabs(product);
          }
          double found;
          const Byte* const at = bytes.data() + byte_of(out.view(), Index{i, j});
          kernels::reference::cast(type.type, at, Type::kF64, reinterpret_cast<Byte*>(&found));
          ASSERT_LE(std::fabs(found - sum), (static_cast<long double>(depth) + 4) * eps * magnitude)
              << depth << " products of type " << index;
        }
      }
    }
  }
}

TEST_F(DeviceMatmul, KeepsNaNAndInfinities) {
  Random random(6);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (std::size_t index = 0; index < 4; ++index) {
    const Factors& types = kFactors[index];
    for (const double special : {kInfinity, -kInfinity, std::nan("")}) {
      for (const double alpha : {0.0, 1.0}) {
        Array a(types.a.dtype, {5, 20}, Arrangement::kRowMajor, random);
        Array b(types.b.dtype, {20, 6}, Arrangement::kRowMajor, random);
        Array out(types.out.dtype, {5, 6}, Arrangement::kRowMajor, random);
        fill_with_numbers(a, types.a.type, random);
        fill_with_numbers(b, types.b.type, random);
        kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&special), types.a.type,
                                 a.elements()[47]);
        Product by;
        by.alpha = alpha;
        by.activation = TNR_UNARY_OP_RELU;
        expect_same_call(context_, call_of(by), {&a, &b}, out, 0, std::to_string(special));
      }
    }
    Array a(types.a.dtype, {5, 0}, Arrangement::kRowMajor, random);
    Array b(types.b.dtype, {0, 6}, Arrangement::kRowMajor, random);
    Array out(types.out.dtype, {5, 6}, Arrangement::kRowMajor, random);
    expect_same_call(context_, call_of({kInfinity}), {&a, &b}, out, 0, "an infinite alpha");
  }
}

TEST_F(DeviceMatmul, RefusesWhatTheCpuRefuses) {
  Random random(7);
  Array a(TNR_DTYPE_F32, {3, 4}, Arrangement::kRowMajor, random);
  Array b(TNR_DTYPE_F32, {4, 5}, Arrangement::kRowMajor, random);
  Array out(TNR_DTYPE_F32, {3, 5}, Arrangement::kRowMajor, random);
  Array other(TNR_DTYPE_F32, {3, 6}, Arrangement::kRowMajor, random);
  Array number(TNR_DTYPE_F32, {}, Arrangement::kRowMajor, random);
  Array wide(TNR_DTYPE_F64, {4, 5}, Arrangement::kRowMajor, random);
  Array integers(TNR_DTYPE_I32, {4, 5}, Arrangement::kRowMajor, random);
  Array integer_rows(TNR_DTYPE_I32, {3, 4}, Arrangement::kRowMajor, random);
  Array bytes(TNR_DTYPE_I8, {3, 4}, Arrangement::kRowMajor, random);
  Array more_bytes(TNR_DTYPE_U8, {4, 5}, Arrangement::kRowMajor, random);
  Array batches(TNR_DTYPE_F32, {2, 3, 4}, Arrangement::kRowMajor, random);
  Array three(TNR_DTYPE_F32, {3, 3, 5}, Arrangement::kRowMajor, random);
  Array square(TNR_DTYPE_F32, {4, 4}, Arrangement::kRowMajor, random);
  Array row(TNR_DTYPE_F32, {4}, Arrangement::kRowMajor, random);
  const auto same = [&](const Product& by, const std::vector<Array*>& in, Array& to) {
    expect_same_call(context_, call_of(by), in, to, 0, "refused");
  };
  same({}, {&a, &a}, out);
  same({}, {&a, &b}, other);
  same({}, {&a, &number}, out);
  same({}, {&a, &wide}, out);
  same({}, {&integer_rows, &integers}, out);
  same({}, {&bytes, &more_bytes}, out);
  same({}, {&batches, &b}, out);
  same({}, {&batches, &b}, three);
  same({}, {&square, &square}, square);
  same({1, 0, true}, {&a, &b, &row}, out);
  Product by;
  by.activation = 99;
  same(by, {&a, &b}, out);
  by.activation = TNR_UNARY_OP_IS_NAN;
  same(by, {&a, &b}, out);
  by = {};
  by.flags = 2;
  same(by, {&a, &b}, out);
  by.flags = TNR_EPILOGUE_CLAMP;
  by.low = 2;
  by.high = 1;
  same(by, {&a, &b}, out);
  Array sums(TNR_DTYPE_I32, {3, 5}, Arrangement::kRowMajor, random);
  same({0.5}, {&bytes, &more_bytes}, sums);
}

TEST_F(DeviceMatmul, LeavesToTheCpuWhatItHasNot) {
  Random random(8);
  const auto refused = [&](const Product& by, const std::vector<const tnr_view*>& in,
                           const tnr_view_mut* out, const char* what) {
    EXPECT_EQ(call_of(by)(context_, in, out), TNR_STATUS_UNSUPPORTED) << what;
    EXPECT_NE(std::string(tnr_last_error()->message).find(what), std::string::npos)
        << tnr_last_error()->message;
  };
  Array a(TNR_DTYPE_F32, {3, 3}, Arrangement::kRowMajor, random);
  Array complex(TNR_DTYPE_C64, {3, 3}, Arrangement::kRowMajor, random);
  Array row(TNR_DTYPE_F32, {3}, Arrangement::kRowMajor, random);
  const DeviceArray there(context_, a);
  const DeviceArray to(context_, a);
  const DeviceArray complex_there(context_, complex);
  const DeviceArray complex_to(context_, complex);
  refused({}, {complex_there.in(), complex_there.in()}, complex_to.out(), "c64");
  Product by;
  for (by.activation = 1; by.activation <= static_cast<int>(kernels::kUnaryCount);
       ++by.activation) {
    if (by.activation == TNR_UNARY_OP_RELU) continue;
    const std::string name = kernels::kUnaryRows[by.activation - 1].name;
    refused(by, {there.in(), there.in()}, to.out(), ("activation is " + name + ",").c_str());
  }
  refused({}, {&a.view(), there.in()}, to.out(), "a");
  refused({}, {there.in(), &a.view()}, to.out(), "b");
  refused({1, 0, true}, {there.in(), there.in(), &row.view()}, to.out(), "bias");
}

}  // namespace
}  // namespace tenure
