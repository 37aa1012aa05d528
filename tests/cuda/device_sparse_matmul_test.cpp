// Products of sparse matrices on a device, compared with the CPU's of the same bytes.
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include "device_compressed.hpp"

namespace tenure {
namespace {

using namespace test;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Scalars {
  double alpha = 1;
  double beta = 0;
};
tnr_orientation orientation_of(const Compressed& matrix) {
  return matrix.format == TNR_SPARSE_FORMAT_CSC ? TNR_ORIENTATION_TRANSPOSED
                                                : TNR_ORIENTATION_AS_IS;
}

// Inputs: offsets, indices, values, b.
ContextCall product(const Compressed& matrix, const Scalars& by = {}) {
  return [&matrix, by](tnr_context* context, const std::vector<const tnr_view*>& in,
                       const tnr_view_mut* out) {
    const tnr_sparse_view a = view_of(matrix, *in[0], *in[1], *in[2]);
    const tnr_scalar alpha = number_of(by.alpha);
    const tnr_scalar beta = number_of(by.beta);
    return tnr_sparse_matmul(context, orientation_of(matrix), &alpha, &a, in[3], &beta, nullptr,
                             out);
  };
}
class DeviceSparseMatmul : public OnDevice {
 protected:
  // Numbers whose sums are exact, so that any order of them gives the CPU's bits. Without `columns`
  // b and out are vectors.
  void check(const Compressed& matrix, NamedType type, tnr_dtype index_dtype,
             std::optional<std::int64_t> columns, const Scalars& by, Random& random) {
    Parts parts(matrix, type, index_dtype, random);
    Shape b_shape = {matrix.format == TNR_SPARSE_FORMAT_CSC ? matrix.rows : matrix.cols};
    Shape out_shape = {matrix.majors()};
    if (columns) {
      b_shape.push_back(*columns);
      out_shape.push_back(*columns);
    }
    Array b(type.dtype, b_shape, kReadable[random() % std::size(kReadable)], random);
    Array out(type.dtype, out_shape, kWritable[random() % std::size(kWritable)], random);
    fill_with_numbers(b, type.type, random);
    // With a beta of 0 nothing is read: there are any bits.
    if (by.beta != 0) fill_with_numbers(out, type.type, random);
    expect_same_call(
        context_, product(matrix, by), {&parts.major, &parts.minor, &parts.values, &b}, out, 0,
        std::to_string(matrix.rows) + " rows of " + std::to_string(matrix.indices.size()) +
            " entries, b " + describe(b.view()) + " alpha " + std::to_string(by.alpha) + " beta " +
            std::to_string(by.beta));
  }

  // Expects the CPU's status and words for a matrix that is wrong, and nothing outside of what the
  // fake driver knows touched.
  void check_refused(const Compressed& matrix, std::optional<std::int64_t> columns,
                     Random& random) {
    for (const tnr_dtype index_dtype : kIndexTypes) {
      check(matrix, kTypes[1], index_dtype, columns, {}, random);
      check(matrix, kTypes[0], index_dtype, columns, {1, 1}, random);
    }
  }
};

// Lengths of rows for which one thread, four or a warp take a row; long ones among short ones; and
// none.
std::vector<Numbers> row_lengths(Random& random) {
  std::vector<Numbers> all = {{}, {0}, {1}, Numbers(70, 0), {3, 0, 1, 0, 0, 7}};
  for (const std::uint64_t longest : {5, 40, 120}) {
    Numbers lengths(75);
    for (std::int64_t& length : lengths) {
      length = static_cast<std::int64_t>(random() % longest);
    }
    all.push_back(lengths);
  }
  Numbers uneven(300, 1);
  for (const std::size_t row : {0, 17, 18, 255, 256, 299}) uneven[row] = 129 + 500 * (row % 2);
  uneven[100] = 5000;
  all.push_back(uneven);
  all.push_back({2000});
  all.push_back({0, 9000, 0});
  return all;
}

TEST_F(DeviceSparseMatmul, ProductsAreTheCpus) {
  Random random(1);
  for (const Numbers& lengths : row_lengths(random)) {
    const Compressed matrix = matrix_of(lengths, 90, random);
    const Compressed turned = transposed(matrix);
    for (std::size_t type = 0; type < 4; ++type) {
      for (const tnr_dtype index_dtype : kIndexTypes) {
        const double beta = random() % 2 == 0 ? 0 : -1;
        check(matrix, kTypes[type], index_dtype, std::nullopt, {2, beta}, random);
        constexpr std::int64_t kColumns[] = {0, 1, 2, 3, 5, 8, 16, 31, 32, 33, 64, 65, 128, 130};
        for (int i = 0; i < 3; ++i) {
          check(random() % 2 == 0 ? matrix : turned, kTypes[type], index_dtype,
                kColumns[random() % std::size(kColumns)], {0.5, -beta}, random);
        }
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(DeviceSparseMatmul, ProductsTakeEveryNumberOfColumns) {
  Random random(2);
  const Compressed few = matrix_of({3, 0, 150, 1, 20}, 30, random);
  const Compressed many = matrix_of({70, 300, 64, 2000}, 30, random);
  for (std::int64_t columns = 1; columns <= 140; columns += columns < 36 ? 1 : 7) {
    check(few, kTypes[1], TNR_DTYPE_I32, columns, {}, random);
    check(many, kTypes[columns % 4], TNR_DTYPE_I64, columns, {1, 1}, random);
    if (HasFailure()) return;
  }
}

// More blocks than are launched.
TEST_F(DeviceSparseMatmul, ProductsOfManyRowsGoRound) {
  Random random(3);
  check(matrix_of(Numbers(3000, 1), 50, random), kTypes[1], TNR_DTYPE_I32, 40, {}, random);
}

TEST_F(DeviceSparseMatmul, ProductsOfMatricesWithoutRowsOrColumns) {
  Random random(4);
  const Compressed nothing = {TNR_SPARSE_FORMAT_CSR, 0, 0, {0}, {}};
  const Compressed no_rows = {TNR_SPARSE_FORMAT_CSR, 0, 5, {0}, {}};
  const Compressed no_columns = {TNR_SPARSE_FORMAT_CSR, 3, 0, {0, 0, 0, 0}, {}};
  for (const Compressed& matrix : {nothing, no_rows, no_columns}) {
    for (const tnr_dtype index_dtype : kIndexTypes) {
      check(matrix, kTypes[1], index_dtype, std::nullopt, {kInfinity, 0}, random);
      check(matrix, kTypes[0], index_dtype, 3, {1, 2}, random);
      check(matrix, kTypes[2], index_dtype, 0, {}, random);
    }
  }
}

// Entries of some rows in arrays of all.
TEST_F(DeviceSparseMatmul, ProductsTakeARangeOfRows) {
  Random random(5);
  Compressed matrix = matrix_of({3, 8, 0, 150, 2, 5}, 30, random);
  matrix.offsets.erase(matrix.offsets.begin());
  matrix.offsets.pop_back();
  matrix.rows -= 2;
  check(matrix, kTypes[1], TNR_DTYPE_I32, std::nullopt, {}, random);
  check(matrix, kTypes[0], TNR_DTYPE_I64, 5, {2, 1}, random);
}

// Rounded sums are within the bound of the CPU and the device, (k + 4) eps times the magnitudes,
// and have the same bits each time.
TEST_F(DeviceSparseMatmul, SumsAreWithinTheirBound) {
  Random random(6);
  std::normal_distribution<double> normal(0, 1);
  const Numbers lengths = {1, 20, 700, 3000, 0, 90};
  const Compressed matrix = matrix_of(lengths, 500, random);
  for (const std::size_t index : {0, 1}) {
    const NamedType type = kTypes[index];
    Parts parts(matrix, type, TNR_DTYPE_I32, random);
    Array b(type.dtype, {500, 3}, Arrangement::kRowMajor, random);
    Array out(type.dtype, {6, 3}, Arrangement::kRowMajor, random);
    std::vector<double> values[2];
    for (Array* const array : {&parts.values, &b}) {
      for (Byte* const element : array->elements()) {
        const double value = normal(random);
        kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&value), type.type,
                                 element);
        double rounded;
        kernels::reference::cast(type.type, element, Type::kF64, reinterpret_cast<Byte*>(&rounded));
        values[array == &b].push_back(rounded);
      }
    }
    const DeviceParts there(context_, parts);
    const DeviceArray b_there(context_, b);
    const DeviceArray out_there(context_, out);
    ASSERT_EQ(multiply(context_, there.view(matrix), b_there.in(), out_there.out()), TNR_STATUS_OK);
    const std::vector<Byte> bytes = out_there.bytes();
    const double eps = index == 0 ? 0x1p-52 : 0x1p-23;
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      for (std::size_t j = 0; j < 3; ++j) {
        long double sum = 0;
        long double magnitude = 0;
        for (auto k = static_cast<std::size_t>(matrix.offsets[row]);
             k < static_cast<std::size_t>(matrix.offsets[row + 1]); ++k) {
          const long double term = static_cast<long double>(values[0][k]) *
                                   values[1][static_cast<std::size_t>(matrix.indices[k]) * 3 + j];
          sum += term;
          magnitude += std::fabs(term);
        }
        double found;
        const Byte* const at =
            bytes.data() + byte_of(out.view(), Index{static_cast<std::int64_t>(row),
                                                     static_cast<std::int64_t>(j)});
        kernels::reference::cast(type.type, at, Type::kF64, reinterpret_cast<Byte*>(&found));
        ASSERT_LE(std::fabs(found - sum),
                  (static_cast<long double>(lengths[row]) + 4) * eps * magnitude)
            << "row " << row << " of type " << index;
      }
    }
    ASSERT_EQ(multiply(context_, there.view(matrix), b_there.in(), out_there.out()), TNR_STATUS_OK);
    EXPECT_TRUE(out_there.bytes() == bytes);
  }
}

// One thread for a row takes its entries in their order, by fused multiplication and addition.
TEST_F(DeviceSparseMatmul, SumsOfShortRowsAreInTheOrderOfEntries) {
  Random random(7);
  std::normal_distribution<float> normal(0, 1);
  const Compressed matrix = matrix_of({4, 0, 3, 4, 6, 1}, 40, random);
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I64, random);
  Array b(TNR_DTYPE_F32, {40, 33}, Arrangement::kRowMajor, random);
  Array out(TNR_DTYPE_F32, {6, 33}, Arrangement::kRowMajor, random);
  for (Array* const array : {&parts.values, &b}) {
    for (Byte* const element : array->elements()) {
      const float value = normal(random);
      std::memcpy(element, &value, sizeof value);
    }
  }
  const auto element = [](const std::vector<Byte*>& elements, std::size_t i) {
    float value;
    std::memcpy(&value, elements[i], sizeof value);
    return value;
  };
  const std::vector<Byte*> value_of = parts.values.elements();
  const std::vector<Byte*> b_of = b.elements();
  const DeviceParts there(context_, parts);
  const DeviceArray b_there(context_, b);
  const DeviceArray out_there(context_, out);
  ASSERT_EQ(multiply(context_, there.view(matrix), b_there.in(), out_there.out()), TNR_STATUS_OK);
  const std::vector<Byte*> out_of = out.elements();
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t j = 0; j < 33; ++j) {
      float sum = 0;
      for (auto k = static_cast<std::size_t>(matrix.offsets[row]);
           k < static_cast<std::size_t>(matrix.offsets[row + 1]); ++k) {
        sum = std::fma(element(value_of, k),
                       element(b_of, static_cast<std::size_t>(matrix.indices[k]) * 33 + j), sum);
      }
      std::memcpy(out_of[row * 33 + j], &sum, sizeof sum);
    }
  }
  expect_same_memory(out, out_there, 0, "in the order of entries");
}

TEST_F(DeviceSparseMatmul, ProductsKeepNaNAndInfinities) {
  Random random(8);
  const Compressed matrix = matrix_of({3, 0, 200, 1}, 20, random);
  for (std::size_t index = 0; index < 4; ++index) {
    const NamedType type = kTypes[index];
    for (const double special : {kInfinity, -kInfinity, std::nan("")}) {
      for (const double alpha : {0.0, 1.0, kInfinity}) {
        Parts parts(matrix, type, TNR_DTYPE_I32, random);
        Array b(type.dtype, {20, 3}, Arrangement::kRowMajor, random);
        Array out(type.dtype, {4, 3}, Arrangement::kRowMajor, random);
        fill_with_numbers(b, type.type, random);
        kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&special), type.type,
                                 parts.values.elements()[1]);
        expect_same_call(context_, product(matrix, {alpha, 0}),
                         {&parts.major, &parts.minor, &parts.values, &b}, out, 0,
                         std::to_string(special) + " alpha " + std::to_string(alpha));
      }
    }
  }
}

TEST_F(DeviceSparseMatmul, WrongOffsetsAndIndicesAreTheCpusErrors) {
  Random random(9);
  const Compressed right = matrix_of({3, 2, 200, 0, 4}, 20, random);
  constexpr std::int64_t kFar = INT32_MAX;
  const auto columns_of = [&](std::size_t i) -> std::optional<std::int64_t> {
    constexpr std::int64_t kSome[] = {0, 1, 3, 40};
    return i == 4 ? std::nullopt : std::optional(kSome[i]);
  };
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t row = 0; row < right.offsets.size(); ++row) {
      for (const std::int64_t offset : {std::int64_t{-1}, std::int64_t{210}, kFar, -kFar - 1}) {
        Compressed wrong = right;
        wrong.offsets[row] = offset;
        check_refused(wrong, columns_of(i), random);
      }
    }
    Compressed falls = right;
    std::swap(falls.offsets[1], falls.offsets[2]);
    check_refused(falls, columns_of(i), random);
    for (const std::size_t entry : {0, 4, 5, 100, 204, 208}) {
      for (const std::int64_t index : {std::int64_t{-1}, std::int64_t{20}, kFar, -kFar - 1}) {
        Compressed wrong = right;
        wrong.indices[entry] = index;
        check_refused(wrong, columns_of(i), random);
      }
    }
    if (HasFailure()) return;
  }
  check_refused({TNR_SPARSE_FORMAT_CSR, 0, 3, {5}, {0, 1}}, 2, random);
  check_refused({TNR_SPARSE_FORMAT_CSR, 0, 3, {-1}, {0, 1}}, std::nullopt, random);
  check_refused({TNR_SPARSE_FORMAT_CSR, 2, 0, {0, 1, 1}, {0}}, 2, random);
  // Wrong numbers that have a valid low half.
  Compressed wide = right;
  wide.indices[7] += std::int64_t{1} << 32;
  check(wide, kTypes[1], TNR_DTYPE_I64, 3, {}, random);
  wide = right;
  wide.offsets[2] += std::int64_t{1} << 32;
  check(wide, kTypes[1], TNR_DTYPE_I64, std::nullopt, {}, random);
}

TEST_F(DeviceSparseMatmul, RefusesWhatTheCpuRefuses) {
  Random random(10);
  const Compressed matrix = matrix_of({2, 0, 1}, 4, random);
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I32, random);
  Array wide_indices(TNR_DTYPE_I64, {3}, Arrangement::kRowMajor, random);
  Array spaced(TNR_DTYPE_F32, {3}, Arrangement::kGaps, random);
  Array few(TNR_DTYPE_F32, {2}, Arrangement::kRowMajor, random);
  Array b(TNR_DTYPE_F32, {4, 5}, Arrangement::kRowMajor, random);
  Array out(TNR_DTYPE_F32, {3, 5}, Arrangement::kRowMajor, random);
  Array doubles(TNR_DTYPE_F64, {4, 5}, Arrangement::kRowMajor, random);
  Array double_sums(TNR_DTYPE_F64, {3, 5}, Arrangement::kRowMajor, random);
  Array vector(TNR_DTYPE_F32, {4}, Arrangement::kRowMajor, random);
  Array number(TNR_DTYPE_F32, {}, Arrangement::kRowMajor, random);
  Array complex(TNR_DTYPE_C64, {3}, Arrangement::kRowMajor, random);
  const auto same = [&](const Compressed& by, Array& major, Array& minor, Array& values, Array& in,
                        Array& to) {
    expect_same_call(context_, product(by), {&major, &minor, &values, &in}, to, 0, "refused");
  };
  same(matrix, parts.major, parts.minor, parts.values, out, out);
  same(matrix, parts.major, parts.minor, parts.values, doubles, out);
  same(matrix, parts.major, parts.minor, parts.values, b, double_sums);
  same(matrix, parts.major, parts.minor, parts.values, vector, out);
  same(matrix, parts.major, parts.minor, parts.values, number, out);
  same(matrix, parts.major, parts.minor, parts.values, b, b);
  same(matrix, parts.major, wide_indices, parts.values, b, out);
  same(matrix, parts.major, parts.minor, spaced, b, out);
  same(matrix, parts.major, parts.minor, few, b, out);
  same(matrix, parts.major, parts.minor, complex, b, out);
  same(matrix, parts.minor, parts.minor, parts.values, b, out);
  Compressed other = matrix;
  other.rows = 2;
  same(other, parts.major, parts.minor, parts.values, b, out);
  other = matrix;
  other.cols = -1;
  same(other, parts.major, parts.minor, parts.values, b, out);
  other.format = 9;
  same(other, parts.major, parts.minor, parts.values, b, out);
}

TEST_F(DeviceSparseMatmul, LeavesToTheCpuWhatItHasNot) {
  Random random(11);
  const Compressed matrix = matrix_of({2, 0, 1}, 3, random);
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I32, random);
  Array b(TNR_DTYPE_F32, {3, 2}, Arrangement::kRowMajor, random);
  const DeviceParts there(context_, parts);
  const DeviceArray b_there(context_, b);
  const DeviceArray out_there(context_, b);
  const auto refused = [&](const tnr_sparse_view& a, const tnr_view* in, const tnr_view_mut* out,
                           const std::string& what) {
    EXPECT_EQ(multiply(context_, a, in, out), TNR_STATUS_UNSUPPORTED) << what;
    const std::string said = tnr_last_error()->message;
    EXPECT_NE(said.find(what), std::string::npos) << said;
    EXPECT_NE(said.find("cuda:0"), std::string::npos) << said;
  };
  const tnr_sparse_view right = there.view(matrix);
  ASSERT_EQ(multiply(context_, right, b_there.in(), out_there.out()), TNR_STATUS_OK);
  // Operands in two places.
  tnr_sparse_view mixed = right;
  mixed.major = parts.major.view();
  refused(mixed, b_there.in(), out_there.out(), "a.row_offsets");
  mixed = right;
  mixed.minor = parts.minor.view();
  refused(mixed, b_there.in(), out_there.out(), "a.col_indices");
  mixed = right;
  mixed.values = parts.values.view();
  refused(mixed, b_there.in(), out_there.out(), "a.values");
  refused(right, &b.view(), out_there.out(), "b");
  const tnr_view_mut out = b.out();
  refused(right, &b.view(), &out, "a.row_offsets");
  refused(view_of(matrix, parts.major.view(), parts.minor.view(), parts.values.view()),
          b_there.in(), &out, "b");

  // Forms of matrices.
  const std::string rows = "sparse_matmul takes CSR and transposed CSC";
  tnr_sparse_view turned = right;
  turned.format = TNR_SPARSE_FORMAT_CSC;
  refused(turned, b_there.in(), out_there.out(), rows);
  const tnr_scalar one = number_of(1);
  EXPECT_EQ(tnr_sparse_matmul(context_, TNR_ORIENTATION_TRANSPOSED, &one, &right, b_there.in(),
                              &one, nullptr, out_there.out()),
            TNR_STATUS_UNSUPPORTED);
  tnr_sparse_view pairs = right;
  pairs.format = TNR_SPARSE_FORMAT_COO;
  pairs.major = right.minor;
  refused(pairs, b_there.in(), out_there.out(), rows);
  tnr_sparse_view batch = right;
  batch.batch_offsets = right.minor;
  batch.batch_offsets.shape[0] = 2;
  EXPECT_EQ(multiply(context_, batch, b_there.in(), out_there.out()), TNR_STATUS_UNSUPPORTED);
  EXPECT_NE(std::string(tnr_last_error()->message).find("a is a batch"), std::string::npos);

  Parts whole(matrix, kTypes[6], TNR_DTYPE_I32, random);
  Array numbers(TNR_DTYPE_I32, {3, 2}, Arrangement::kRowMajor, random);
  const DeviceParts whole_there(context_, whole);
  const DeviceArray numbers_there(context_, numbers);
  const DeviceArray sums_there(context_, numbers);
  refused(whole_there.view(matrix), numbers_there.in(), sums_there.out(),
          "sparse_matmul takes i32 only on the CPU");

  // A context without a device.
  EXPECT_EQ(multiply(nullptr, right, b_there.in(), out_there.out()), TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tnr_last_error()->message).find("has no device"), std::string::npos);
}

}  // namespace
}  // namespace tenure
