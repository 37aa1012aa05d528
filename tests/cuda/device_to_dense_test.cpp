// From sparse to dense on a device, compared with the CPU's results for the same bytes.
#include <algorithm>
#include <cstring>

#include "device_compressed.hpp"
#include "device_floats.hpp"

namespace tenure {
namespace {

using namespace test;

// Rows of these lengths, with columns that rise.
Compressed rising(const Numbers& lengths, std::int64_t cols, Random& random) {
  Compressed made = {
      TNR_SPARSE_FORMAT_CSR, static_cast<std::int64_t>(lengths.size()), cols, {0}, {}};
  for (const std::int64_t length : lengths) {
    Numbers all(static_cast<std::size_t>(cols));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    std::shuffle(all.begin(), all.end(), random);
    all.resize(static_cast<std::size_t>(length));
    std::sort(all.begin(), all.end());
    made.indices.insert(made.indices.end(), all.begin(), all.end());
    made.offsets.push_back(made.offsets.back() + length);
  }
  return made;
}

constexpr std::uint32_t kCoalesced = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;

// Inputs: offsets, indices, values.
ContextCall to_dense(const Compressed& matrix, std::uint32_t flags) {
  return [&matrix, flags](tnr_context* context, const std::vector<const tnr_view*>& in,
                          const tnr_view_mut* out) {
    tnr_sparse_view a = view_of(matrix, *in[0], *in[1], *in[2]);
    a.flags = flags;
    return tnr_sparse_to_dense(context, &a, nullptr, out);
  };
}

class DeviceToDense : public OnDevice {
 protected:
  // Values are of any bits, or numbers whose sums are exact.
  enum class Values { kBits, kNumbers };
  void check(const Compressed& matrix, tnr_dtype dtype, std::uint32_t flags, Values values,
             Random& random) {
    const tnr_dtype index_dtype = kIndexTypes[random() % 2];
    Parts parts(matrix, {Type::kU8, dtype}, index_dtype, random, Parts::Values::kUnset);
    if (values == Values::kBits) {
      fill_with_bits(parts.values, random);
    } else {
      const auto* const known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                             [=](NamedType type) { return type.dtype == dtype; });
      fill_with_numbers(parts.values, known->type, random);
      // -0.0 now and then.
      for (Byte* const element : parts.values.elements()) {
        if (!is_float(known->type) || random() % 4 != 0) continue;
        std::memset(element, 0, element_size(dtype));
        element[element_size(dtype) - 1] = 0x80;
      }
    }
    Array out(dtype, {matrix.rows, matrix.cols}, kWritable[random() % std::size(kWritable)],
              random);
    expect_same_call(
        context_, to_dense(matrix, flags), {&parts.major, &parts.minor, &parts.values}, out, 0,
        describe(out.view()) + " of " + std::to_string(matrix.indices.size()) + " entries");
  }
};

std::vector<Numbers> some_lengths() {
  Numbers uneven(300, 1);
  uneven[7] = 80;
  uneven[8] = 33;
  return {
      {},    {0}, {1}, {80}, Numbers(70, 0), {3, 0, 1, 0, 0, 7}, Numbers(40, 20), Numbers(9, 70),
      uneven};
}

TEST_F(DeviceToDense, GivesTheCpusElementsOfEveryType) {
  Random random(1);
  std::vector<tnr_dtype> dtypes = {TNR_DTYPE_C64};
  for (const NamedType& type : kTypes) dtypes.push_back(type.dtype);
  for (const Numbers& lengths : some_lengths()) {
    const Compressed matrix = rising(lengths, 80, random);
    const Compressed turned = transposed(matrix);
    for (const tnr_dtype dtype : dtypes) {
      check(random() % 2 == 0 ? matrix : turned, dtype, kCoalesced, Values::kBits, random);
      if (HasFailure()) return;
    }
  }
}

// Also where entries that meet are in different groups of a warp's threads, and many.
TEST_F(DeviceToDense, AddsUpEntriesForOneElement) {
  Random random(2);
  for (const Numbers& lengths : some_lengths()) {
    for (const std::int64_t cols : {1, 2, 5, 80}) {
      const Compressed matrix = matrix_of(lengths, cols, random);
      const Compressed turned = transposed(matrix);
      for (const NamedType& type : kTypes) {
        if (type.type == Type::kF16 || type.type == Type::kBF16) continue;
        check(random() % 2 == 0 ? matrix : turned, type.dtype, 0,
              is_float(type.type) ? Values::kNumbers : Values::kBits, random);
        if (HasFailure()) return;
      }
    }
  }
}

// Sums of floats are rounded in the order of the entries, as on the CPU.
TEST_F(DeviceToDense, AddsUpInTheOrderOfEntries) {
  Random random(3);
  const Compressed matrix = matrix_of({100, 3, 0, 45, 1, 33}, 3, random);
  for (const NamedType& type : {kTypes[0], kTypes[1]}) {
    Parts parts(matrix, type, TNR_DTYPE_I32, random);
    for (Byte* const element : parts.values.elements()) {
      const double value = static_cast<double>(random()) * 0x1p-60 - 8;
      kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&value), type.type,
                               element);
    }
    Array out(type.dtype, {6, 3}, Arrangement::kRowMajor, random);
    expect_same_call(context_, to_dense(matrix, 0), {&parts.major, &parts.minor, &parts.values},
                     out, 0, "in the order of entries");
  }
}

TEST_F(DeviceToDense, OfMatricesWithoutRowsOrColumns) {
  Random random(4);
  for (const Compressed& matrix : {Compressed{TNR_SPARSE_FORMAT_CSR, 0, 0, {0}, {}},
                                   Compressed{TNR_SPARSE_FORMAT_CSR, 0, 5, {0}, {}},
                                   Compressed{TNR_SPARSE_FORMAT_CSR, 3, 0, {0, 0, 0, 0}, {}}}) {
    for (const std::uint32_t flags : {kCoalesced, std::uint32_t{0}}) {
      check(matrix, TNR_DTYPE_F32, flags, Values::kBits, random);
      check(transposed(matrix), TNR_DTYPE_F64, flags, Values::kBits, random);
    }
  }
}

TEST_F(DeviceToDense, WrongOffsetsAndIndicesAreTheCpusErrors) {
  Random random(5);
  const Compressed right = rising({3, 2, 70, 0, 4}, 80, random);
  constexpr std::int64_t kFar = INT32_MAX;
  for (const std::uint32_t flags : {kCoalesced, std::uint32_t{0}}) {
    for (std::size_t row = 0; row < right.offsets.size(); ++row) {
      for (const std::int64_t offset : {std::int64_t{-1}, std::int64_t{80}, kFar, -kFar - 1}) {
        Compressed wrong = right;
        wrong.offsets[row] = offset;
        check(wrong, TNR_DTYPE_F32, flags, Values::kBits, random);
      }
    }
    for (const std::size_t entry : {0, 4, 50, 78}) {
      for (const std::int64_t index : {std::int64_t{-1}, std::int64_t{80}, kFar, -kFar - 1}) {
        Compressed wrong = right;
        wrong.indices[entry] = index;
        check(wrong, TNR_DTYPE_F64, flags, Values::kBits, random);
      }
    }
  }
  check({TNR_SPARSE_FORMAT_CSR, 0, 3, {5}, {0, 1}}, TNR_DTYPE_F32, 0, Values::kBits, random);
  check({TNR_SPARSE_FORMAT_CSR, 2, 0, {0, 1, 1}, {0}}, TNR_DTYPE_F32, 0, Values::kBits, random);
}

// A matrix that a device has made is known to be right.
TEST_F(DeviceToDense, OfWhatCameFromDenseWaitsForNothing) {
  Random random(6);
  Array dense(TNR_DTYPE_F64, {70, 90}, Arrangement::kGaps, random);
  fill_with_numbers(dense, Type::kF64, random);
  Array back(TNR_DTYPE_F64, {70, 90}, Arrangement::kRowMajor, random);
  const DeviceArray there(context_, dense);
  const DeviceArray back_there(context_, back);
  tnr_sparse* const matrix =
      tnr_sparse_from_dense(context_, TNR_SPARSE_FORMAT_CSC, there.in(), nullptr);
  ASSERT_NE(matrix, nullptr) << tnr_last_error()->message;
  tnr_sparse_view view = {};
  view.struct_size = sizeof view;
  ASSERT_EQ(tnr_sparse_view_of(matrix, &view), TNR_STATUS_OK);
  const std::uint64_t waits = totals().device_waits;
  ASSERT_EQ(tnr_sparse_to_dense(context_, &view, nullptr, back_there.out()), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(totals().device_waits, waits);
  const tnr_view_mut to = back.out();
  ASSERT_EQ(tnr_copy(nullptr, &dense.view(), nullptr, &to), TNR_STATUS_OK);
  expect_same_memory(back, back_there, 0, "there and back");
  EXPECT_EQ(tnr_sparse_release(matrix), TNR_STATUS_OK);
}

TEST_F(DeviceToDense, RefusesWhatTheCpuRefuses) {
  Random random(7);
  const Compressed matrix = rising({2, 0, 1}, 4, random);
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I32, random);
  Parts complex(matrix, {Type::kU8, TNR_DTYPE_C64}, TNR_DTYPE_I32, random, Parts::Values::kUnset);
  Array out(TNR_DTYPE_F32, {3, 4}, Arrangement::kRowMajor, random);
  Array other(TNR_DTYPE_F32, {4, 3}, Arrangement::kRowMajor, random);
  Array vector(TNR_DTYPE_F32, {3}, Arrangement::kRowMajor, random);
  Array doubles(TNR_DTYPE_F64, {3, 4}, Arrangement::kRowMajor, random);
  Array complex_out(TNR_DTYPE_C64, {3, 4}, Arrangement::kRowMajor, random);
  const auto same = [&](std::uint32_t flags, Parts& of, Array& to) {
    expect_same_call(context_, to_dense(matrix, flags), {&of.major, &of.minor, &of.values}, to, 0,
                     "refused");
  };
  same(0, parts, other);
  same(0, parts, vector);
  same(0, parts, doubles);
  same(0, complex, complex_out);
  same(1u << 20, parts, out);
}

TEST_F(DeviceToDense, LeavesToTheCpuWhatItHasNot) {
  Random random(8);
  const Compressed matrix = rising({2, 0, 1}, 3, random);
  const auto refused = [&](const tnr_sparse_view& a, const tnr_view_mut* out,
                           const std::string& what) {
    EXPECT_EQ(tnr_sparse_to_dense(context_, &a, nullptr, out), TNR_STATUS_UNSUPPORTED) << what;
    const std::string said = tnr_last_error()->message;
    EXPECT_NE(said.find(what), std::string::npos) << said;
    EXPECT_NE(said.find("cuda:0"), std::string::npos) << said;
  };
  Parts parts(matrix, kTypes[2], TNR_DTYPE_I32, random);
  Array out(TNR_DTYPE_F16, {3, 3}, Arrangement::kRowMajor, random);
  const DeviceParts there(context_, parts);
  const DeviceArray out_there(context_, out);
  const tnr_sparse_view halves = there.view(matrix);
  refused(halves, out_there.out(), "sparse_to_dense takes f16 that is not said to be UNIQUE");
  tnr_sparse_view pairs = halves;
  pairs.format = TNR_SPARSE_FORMAT_COO;
  pairs.major = halves.minor;
  refused(pairs, out_there.out(), "sparse_to_dense takes CSR and CSC");
  tnr_sparse_view mixed = halves;
  mixed.values = parts.values.view();
  refused(mixed, out_there.out(), "a.values");
  const tnr_view_mut out_here = out.out();
  refused(halves, &out_here, "a.row_offsets");
  Parts wide(matrix, {Type::kU8, TNR_DTYPE_C128}, TNR_DTYPE_I32, random, Parts::Values::kUnset);
  Array wide_out(TNR_DTYPE_C128, {3, 3}, Arrangement::kRowMajor, random);
  const DeviceParts wide_there(context_, wide);
  const DeviceArray wide_out_there(context_, wide_out);
  tnr_sparse_view complex = wide_there.view(matrix);
  complex.flags = kCoalesced;
  refused(complex, wide_out_there.out(), "sparse_to_dense takes c128 only on the CPU");
  EXPECT_EQ(tnr_sparse_to_dense(nullptr, &halves, nullptr, out_there.out()),
            TNR_STATUS_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace tenure
