// Products of dense rows and columns at the entries of a sparse matrix on a device, compared with
// the CPU's of the same bytes.
#include <cmath>
#include <cstring>
#include <limits>

#include "device_compressed.hpp"
#include "device_floats.hpp"

namespace tenure {
namespace {

using namespace test;

struct Sampled {
  double alpha = 1;
  bool is_times_values = false;
};

tnr_status sample(tnr_context* context, const tnr_sparse_view& a, const tnr_view* x,
                  const tnr_view* y, const tnr_view_mut* out, const Sampled& by = {}) {
  tnr_sparse_sddmm_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.flags = by.is_times_values ? TNR_SDDMM_TIMES_VALUES : 0;
  const tnr_scalar alpha = number_of(by.alpha);
  return tnr_sparse_sddmm(context, &alpha, &a, x, y, &attributes, out);
}
// Inputs: offsets, indices, values, x, y.
ContextCall sampling(const Compressed& matrix, const Sampled& by = {}) {
  return [&matrix, by](tnr_context* context, const std::vector<const tnr_view*>& in,
                       const tnr_view_mut* out) {
    return sample(context, view_of(matrix, *in[0], *in[1], *in[2]), in[3], in[4], out, by);
  };
}

class DeviceSddmm : public OnDevice {
 protected:
  // Numbers whose sums are exact, so that any order of them gives the CPU's bits. Results are of
  // `count` entries.
  void check(const Compressed& matrix, NamedType type, std::int64_t depth, std::int64_t count,
             const Sampled& by, Random& random) {
    Parts parts(matrix, type, kIndexTypes[random() % 2], random);
    Array x(type.dtype, {matrix.rows, depth}, kReadable[random() % std::size(kReadable)], random);
    Array y(type.dtype, {depth, matrix.cols}, kReadable[random() % std::size(kReadable)], random);
    Array out(type.dtype, {count}, Arrangement::kRowMajor, random);
    fill_with_numbers(x, type.type, random);
    fill_with_numbers(y, type.type, random);
    expect_same_call(context_, sampling(matrix, by),
                     {&parts.major, &parts.minor, &parts.values, &x, &y}, out, 0,
                     std::to_string(matrix.indices.size()) + " entries, x " + describe(x.view()) +
                         " y " + describe(y.view()));
  }
  void check(const Compressed& matrix, NamedType type, std::int64_t depth, const Sampled& by,
             Random& random) {
    check(matrix, type, depth, static_cast<std::int64_t>(matrix.indices.size()), by, random);
  }
};

TEST_F(DeviceSddmm, ProductsAreTheCpus) {
  Random random(1);
  Numbers uneven(60, 1);
  uneven[7] = 700;
  const Numbers some[] = {
      {}, {0}, {1}, {70}, Numbers(40, 0), {3, 0, 1, 0, 0, 7}, Numbers(30, 20), uneven};
  constexpr std::int64_t kDepths[] = {0, 1, 3, 4, 5, 8, 17, 31, 33, 64, 130, 300};
  for (const Numbers& lengths : some) {
    const Compressed matrix = matrix_of(lengths, 50, random);
    const Compressed turned = transposed(matrix);
    for (std::size_t type = 0; type < 4; ++type) {
      for (int i = 0; i < 4; ++i) {
        check(random() % 2 == 0 ? matrix : turned, kTypes[type],
              kDepths[random() % std::size(kDepths)],
              {random() % 2 == 0 ? 1.0 : 0.5, random() % 2 == 0}, random);
        if (HasFailure()) return;
      }
    }
  }
  for (const std::int64_t depth : kDepths) {
    check(matrix_of(Numbers(20, 5), 50, random), kTypes[1], depth, {2, true}, random);
  }
}

TEST_F(DeviceSddmm, OfMatricesWithoutRowsOrColumns) {
  Random random(2);
  for (const Compressed& matrix : {Compressed{TNR_SPARSE_FORMAT_CSR, 0, 0, {0}, {}},
                                   Compressed{TNR_SPARSE_FORMAT_CSR, 0, 5, {0}, {}},
                                   Compressed{TNR_SPARSE_FORMAT_CSR, 3, 0, {0, 0, 0, 0}, {}}}) {
    check(matrix, kTypes[1], 4, {}, random);
    check(transposed(matrix), kTypes[0], 0, {2, true}, random);
  }
}

// Some rows of a matrix: they have 160 of the 168 entries in the arrays. The result has 160, 168 or
// 0 elements.
TEST_F(DeviceSddmm, OfARangeOfRows) {
  Random random(3);
  Compressed matrix = matrix_of({3, 8, 0, 150, 2, 5}, 30, random);
  matrix.offsets.erase(matrix.offsets.begin());
  matrix.offsets.pop_back();
  matrix.rows -= 2;
  for (const std::int64_t count : {160, 168, 0}) {
    check(matrix, kTypes[1], 20, count, {1, true}, random);
  }
}

TEST_F(DeviceSddmm, InThePlaceOfTheValues) {
  Random random(4);
  const Compressed matrix = matrix_of({3, 0, 40, 1}, 20, random);
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I32, random);
  Array x(TNR_DTYPE_F32, {4, 9}, Arrangement::kRowMajor, random);
  Array y(TNR_DTYPE_F32, {9, 20}, Arrangement::kColumnMajor, random);
  fill_with_numbers(x, Type::kF32, random);
  fill_with_numbers(y, Type::kF32, random);
  expect_same_call(context_, sampling(matrix, {2, true}),
                   {&parts.major, &parts.minor, &parts.values, &x, &y}, parts.values, 0,
                   "in place");
}

// Rounded sums are within the bound of the CPU and the device: (k + 4) eps times the magnitudes.
TEST_F(DeviceSddmm, SumsAreWithinTheirBound) {
  Random random(5);
  std::normal_distribution<float> normal(0, 1);
  const Compressed matrix = matrix_of({3, 0, 40, 1}, 20, random);
  constexpr std::size_t kDepth = 1000;
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I32, random);
  Array x(TNR_DTYPE_F32, {4, kDepth}, Arrangement::kRowMajor, random);
  Array y(TNR_DTYPE_F32, {kDepth, 20}, Arrangement::kRowMajor, random);
  Array out(TNR_DTYPE_F32, {44}, Arrangement::kRowMajor, random);
  std::vector<float> values[2];
  for (Array* const array : {&x, &y}) {
    for (Byte* const element : array->elements()) {
      values[array == &y].push_back(normal(random));
      std::memcpy(element, &values[array == &y].back(), sizeof(float));
    }
  }
  const DeviceParts there(context_, parts);
  const DeviceArray x_there(context_, x);
  const DeviceArray y_there(context_, y);
  const DeviceArray out_there(context_, out);
  ASSERT_EQ(sample(context_, there.view(matrix), x_there.in(), y_there.in(), out_there.out()),
            TNR_STATUS_OK)
      << tnr_last_error()->message;
  const std::vector<Byte> bytes = out_there.bytes();
  for (std::size_t row = 0; row < 4; ++row) {
    for (auto k = static_cast<std::size_t>(matrix.offsets[row]);
         k < static_cast<std::size_t>(matrix.offsets[row + 1]); ++k) {
      double sum = 0;
      double magnitude = 0;
      for (std::size_t i = 0; i < kDepth; ++i) {
        const double product =
            static_cast<double>(values[0][row * kDepth + i]) *
            static_cast<double>(values[1][i * 20 + static_cast<std::size_t>(matrix.indices[k])]);
        sum += product;
        magnitude += std::fabs(product);
      }
      float found;
      std::memcpy(&found, bytes.data() + byte_of(out.view(), Index{static_cast<std::int64_t>(k)}),
                  sizeof found);
      ASSERT_LE(std::fabs(static_cast<double>(found) - sum), (kDepth + 4) * 0x1p-23 * magnitude);
    }
  }
}

TEST_F(DeviceSddmm, WrongOffsetsAndIndicesAreTheCpusErrors) {
  Random random(6);
  const Compressed right = matrix_of({3, 2, 70, 0, 4}, 20, random);
  constexpr std::int64_t kFar = INT32_MAX;
  const auto refused = [&](const Compressed& wrong) {
    check(wrong, kTypes[random() % 4], 1 + static_cast<std::int64_t>(random() % 40), 79, {},
          random);
  };
  for (std::size_t row = 0; row < right.offsets.size(); ++row) {
    for (const std::int64_t offset : {std::int64_t{-1}, std::int64_t{80}, kFar, -kFar - 1}) {
      Compressed wrong = right;
      wrong.offsets[row] = offset;
      refused(wrong);
    }
  }
  for (const std::size_t entry : {0, 4, 5, 40, 78}) {
    for (const std::int64_t index : {std::int64_t{-1}, std::int64_t{20}, kFar, -kFar - 1}) {
      Compressed wrong = right;
      wrong.indices[entry] = index;
      refused(wrong);
    }
  }
  // The first offset and the last are right, those between them leave that range.
  Compressed wrong = right;
  wrong.offsets[0] = 2;
  wrong.offsets[1] = 0;
  check(wrong, kTypes[1], 5, 77, {}, random);
}

TEST_F(DeviceSddmm, RefusesWhatTheCpuRefuses) {
  Random random(7);
  const Compressed matrix = matrix_of({2, 0, 1}, 4, random);
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I32, random);
  Array x(TNR_DTYPE_F32, {3, 5}, Arrangement::kRowMajor, random);
  Array y(TNR_DTYPE_F32, {5, 4}, Arrangement::kRowMajor, random);
  Array out(TNR_DTYPE_F32, {3}, Arrangement::kRowMajor, random);
  Array few(TNR_DTYPE_F32, {2}, Arrangement::kRowMajor, random);
  Array spaced(TNR_DTYPE_F32, {3}, Arrangement::kGaps, random);
  Array vector(TNR_DTYPE_F32, {5}, Arrangement::kRowMajor, random);
  Array doubles(TNR_DTYPE_F64, {5, 4}, Arrangement::kRowMajor, random);
  const auto same = [&](Array& left, Array& right, Array& to) {
    expect_same_call(context_, sampling(matrix),
                     {&parts.major, &parts.minor, &parts.values, &left, &right}, to, 0, "refused");
  };
  same(y, y, out);
  same(x, x, out);
  same(vector, y, out);
  same(x, vector, out);
  same(x, doubles, out);
  same(x, y, few);
  same(x, y, spaced);
  same(x, y, x);
}

TEST_F(DeviceSddmm, LeavesToTheCpuWhatItHasNot) {
  Random random(8);
  const Compressed matrix = matrix_of({2, 0, 1}, 3, random);
  Parts parts(matrix, kTypes[6], TNR_DTYPE_I32, random);
  Array x(TNR_DTYPE_I32, {3, 3}, Arrangement::kRowMajor, random);
  Array out(TNR_DTYPE_I32, {3}, Arrangement::kRowMajor, random);
  const DeviceParts there(context_, parts);
  const DeviceArray x_there(context_, x);
  const DeviceArray out_there(context_, out);
  const auto refused = [&](const tnr_sparse_view& a, const tnr_view* y, const std::string& what) {
    EXPECT_EQ(sample(context_, a, x_there.in(), y, out_there.out()), TNR_STATUS_UNSUPPORTED)
        << what;
    const std::string said = tnr_last_error()->message;
    EXPECT_NE(said.find(what), std::string::npos) << said;
    EXPECT_NE(said.find("cuda:0"), std::string::npos) << said;
  };
  tnr_sparse_view a = there.view(matrix);
  refused(a, x_there.in(), "sparse_sddmm takes i32 only on the CPU");
  refused(a, &x.view(), "y");
  a.format = TNR_SPARSE_FORMAT_COO;
  a.major = a.minor;
  refused(a, x_there.in(), "sparse_sddmm takes CSR and CSC");
  EXPECT_EQ(sample(nullptr, a, x_there.in(), x_there.in(), out_there.out()),
            TNR_STATUS_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace tenure
