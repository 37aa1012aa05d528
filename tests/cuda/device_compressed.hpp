// Compressed matrices for tests of devices: their arrays on both sides, and views of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
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
// Uses the arrays of a CSR matrix as the CSC columns of its transpose.
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

// A matrix that a call has made, or none.
class Made {
 public:
  explicit Made(tnr_sparse* matrix) : matrix_(matrix) {
    if (matrix == nullptr) return;
    view_.struct_size = sizeof view_;
    EXPECT_EQ(tnr_sparse_view_of(matrix, &view_), TNR_STATUS_OK);
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  ~Made() {
    if (matrix_ != nullptr) {
      EXPECT_EQ(tnr_sparse_release(matrix_), TNR_STATUS_OK);
    }
  }

  [[nodiscard]] bool is_there() const { return matrix_ != nullptr; }
  [[nodiscard]] const tnr_sparse_view& view() const { return view_; }

 private:
  tnr_sparse* matrix_;
  tnr_sparse_view view_ = {};
};

// The bytes of a part, of whichever place.
inline std::vector<Byte> bytes_of(tnr_context* context, const tnr_view& part) {
  std::vector<Byte> bytes(static_cast<std::size_t>(part.shape[0]) * element_size(part.dtype));
  tnr_view_mut to;
  EXPECT_EQ(
      tnr_view_lend_mut(bytes.data(), bytes.size(), 0, part.dtype, 1, part.shape, nullptr, &to),
      TNR_STATUS_OK);
  EXPECT_EQ(tnr_copy(context, &part, nullptr, &to), TNR_STATUS_OK) << tnr_last_error()->message;
  return bytes;
}

// Expects a matrix of the device to be that of the CPU; of NaN any is as good as another.
inline void expect_same_matrix(tnr_context* context, const tnr_sparse_view& found,
                               const tnr_sparse_view& here, const std::string& what) {
  EXPECT_EQ(found.format, here.format) << what;
  EXPECT_EQ(found.flags, here.flags) << what;
  EXPECT_EQ(found.rows, here.rows) << what;
  EXPECT_EQ(found.cols, here.cols) << what;
  ASSERT_EQ(found.minor.shape[0], here.minor.shape[0]) << what;
  EXPECT_TRUE(bytes_of(context, found.major) == bytes_of(nullptr, here.major)) << what;
  EXPECT_TRUE(bytes_of(context, found.minor) == bytes_of(nullptr, here.minor)) << what;
  const std::vector<Byte> values = bytes_of(context, found.values);
  const std::vector<Byte> wanted = bytes_of(nullptr, here.values);
  ASSERT_EQ(values.size(), wanted.size()) << what;
  const std::size_t width = element_size(here.values.dtype);
  for (std::size_t at = 0; at < wanted.size(); at += width) {
    ASSERT_TRUE(is_same_number(here.values.dtype, &values[at], &wanted[at]))
        << what << ": value " << at / width << " is 0x" << hex_of(&values[at], width) << " but 0x"
        << hex_of(&wanted[at], width) << " on the CPU";
  }
}

// a times b by the rows of a.
inline tnr_status multiply(tnr_context* context, const tnr_sparse_view& a, const tnr_view* b,
                           const tnr_view_mut* out) {
  const tnr_scalar one = number_of(1);
  const tnr_scalar zero = number_of(0);
  return tnr_sparse_matmul(context, TNR_ORIENTATION_AS_IS, &one, &a, b, &zero, nullptr, out);
}

}  // namespace tenure::test
