// Compressed matrices for tests of devices: their arrays on both sides, and views of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "on_device.hpp"

namespace tenure::test {

using Numbers = std::vector<std::int64_t>;
inline constexpr tnr_dtype kIndexTypes[] = {TNR_DTYPE_I32, TNR_DTYPE_I64};

inline tnr_scalar number_of(double value) { return scalar_of(TNR_DTYPE_F64, value); }

// A matrix by its rows, or by its columns.
struct Compressed {
  tnr_sparse_format format;
  std::int64_t rows;
  std::int64_t cols;
  Numbers offsets;
  Numbers indices;

  [[nodiscard]] std::int64_t majors() const {
    return format == TNR_SPARSE_FORMAT_CSC ? cols : rows;
  }
};

// Rows of these lengths, at any columns, in no order and more than once.
inline Compressed matrix_of(const Numbers& lengths, std::int64_t cols, Random& random) {
  Compressed made = {
      TNR_SPARSE_FORMAT_CSR, static_cast<std::int64_t>(lengths.size()), cols, {0}, {}};
  for (const std::int64_t length : lengths) {
    made.offsets.push_back(made.offsets.back() + length);
    for (std::int64_t i = 0; i < length; ++i) {
      made.indices.push_back(
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cols)));
    }
  }
  return made;
}
// The same arrays as the columns of the transpose.
inline Compressed transposed(Compressed matrix) {
  matrix.format = TNR_SPARSE_FORMAT_CSC;
  std::swap(matrix.rows, matrix.cols);
  return matrix;
}

inline void put_numbers(Array& array, const Numbers& numbers) {
  const std::vector<Byte*> elements = array.elements();
  ASSERT_EQ(elements.size(), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    // Little-endian: the lowest bytes are the narrow number.
    std::memcpy(elements[i], &numbers[i], element_size(array.view().dtype));
  }
}

inline tnr_sparse_view view_of(const Compressed& matrix, const tnr_view& major,
                               const tnr_view& minor, const tnr_view& values) {
  tnr_sparse_view view = {};
  view.struct_size = sizeof view;
  view.format = matrix.format;
  view.rows = matrix.rows;
  view.cols = matrix.cols;
  view.block_rows = 1;
  view.block_cols = 1;
  view.major = major;
  view.minor = minor;
  view.values = values;
  return view;
}

// The three arrays of a matrix on the CPU.
struct Parts {
  enum class Values { kNumbers, kUnset };

  Parts(const Compressed& matrix, NamedType type, tnr_dtype index_dtype, Random& random,
        Values of = Values::kNumbers)
      : major(index_dtype, {static_cast<std::int64_t>(matrix.offsets.size())},
              Arrangement::kRowMajor, random),
        minor(index_dtype, {static_cast<std::int64_t>(matrix.indices.size())},
              Arrangement::kRowMajor, random),
        values(type.dtype, {static_cast<std::int64_t>(matrix.indices.size())},
               Arrangement::kRowMajor, random) {
    put_numbers(major, matrix.offsets);
    put_numbers(minor, matrix.indices);
    if (of == Values::kNumbers) fill_with_numbers(values, type.type, random);
  }

  Array major;
  Array minor;
  Array values;
};
// And on a device.
struct DeviceParts {
  DeviceParts(tnr_context* context, const Parts& parts)
      : major(context, parts.major), minor(context, parts.minor), values(context, parts.values) {}

  [[nodiscard]] tnr_sparse_view view(const Compressed& matrix) const {
    return view_of(matrix, major.view(), minor.view(), values.view());
  }

  DeviceArray major;
  DeviceArray minor;
  DeviceArray values;
};

// a times b by the rows of a.
inline tnr_status multiply(tnr_context* context, const tnr_sparse_view& a, const tnr_view* b,
                           const tnr_view_mut* out) {
  const tnr_scalar one = number_of(1);
  const tnr_scalar zero = number_of(0);
  return tnr_sparse_matmul(context, TNR_ORIENTATION_AS_IS, &one, &a, b, &zero, nullptr, out);
}

}  // namespace tenure::test
