// Two threads write the halves of one array, split along its innermost axis, so that their elements
// interleave. Together they give what one call on the whole gives; ThreadSanitizer looks at the
// bytes in between.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "layouts.hpp"
#include "tenure/tenure.h"

using tenure::element_size;
using tenure::test::view_of;

namespace {

constexpr std::int64_t kRows = 5;
// No multiple of a vector register, for either half.
constexpr std::int64_t kColumns = 75;
constexpr std::int64_t kSplit = 34;

class Matrix {
 public:
  Matrix(tnr_dtype dtype, std::int64_t rows)
      : dtype_(dtype),
        rows_(rows),
        bytes_(static_cast<std::size_t>(rows * kColumns) * element_size(dtype)) {
    // Small numbers in every dtype: no NaN, no divisor of 0.
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      bytes_[i] = static_cast<unsigned char>(i % 5 + 1);
  }

  [[nodiscard]] tnr_view columns(std::int64_t first, std::int64_t last) const {
    const std::int64_t offset = first * static_cast<std::int64_t>(element_size(dtype_));
    return view_of(bytes_.data(), bytes_.size(), offset, dtype_,
                   {{rows_, kColumns}, {last - first, 1}});
  }
  bool operator==(const Matrix& other) const { return bytes_ == other.bytes_; }

 private:
  tnr_dtype dtype_;
  std::int64_t rows_;
  std::vector<unsigned char> bytes_;
};

using Call = std::function<tnr_status(const tnr_view& in, const tnr_view_mut& out)>;

struct Subject {
  std::string name;
  tnr_dtype input;
  tnr_dtype output;
  std::int64_t out_rows;
  Call call;
};

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  const auto add = [&](std::string name, tnr_dtype input, tnr_dtype output, Call call,
                       std::int64_t out_rows = kRows) {
    all.push_back({std::move(name), input, output, out_rows, std::move(call)});
  };
  for (const tnr_dtype dtype : {TNR_DTYPE_U8, TNR_DTYPE_BF16, TNR_DTYPE_F32, TNR_DTYPE_I64}) {
    const std::string of = std::string(" of ") + tenure::dtype_name(dtype);
    add("copy" + of, dtype, dtype, [](const tnr_view& in, const tnr_view_mut& out) {
      return tnr_copy(nullptr, &in, nullptr, &out);
    });
    add("cast" + of, dtype, TNR_DTYPE_F16, [](const tnr_view& in, const tnr_view_mut& out) {
      return tnr_cast(nullptr, &in, nullptr, &out);
    });
    add("fill" + of, dtype, dtype, [dtype](const tnr_view&, const tnr_view_mut& out) {
      const tnr_scalar zero = {dtype, 0, {}};
      return tnr_fill(nullptr, &zero, nullptr, &out);
    });
    add("neg" + of, dtype, dtype, [](const tnr_view& in, const tnr_view_mut& out) {
      return tnr_unary(nullptr, TNR_UNARY_OP_NEG, &in, nullptr, &out);
    });
    add("mul" + of, dtype, dtype, [](const tnr_view& in, const tnr_view_mut& out) {
      return tnr_binary(nullptr, TNR_BINARY_OP_MUL, &in, &in, nullptr, &out);
    });
    add("le" + of, dtype, TNR_DTYPE_BOOL8, [](const tnr_view& in, const tnr_view_mut& out) {
      return tnr_compare(nullptr, TNR_COMPARE_OP_LE, &in, &in, nullptr, &out);
    });
    add(
        "max over rows" + of, dtype, dtype,
        [](const tnr_view& in, const tnr_view_mut& out) {
          return tnr_reduce(nullptr, TNR_REDUCE_OP_MAX, &in, 1, nullptr, &out);
        },
        1);
  }
  add("select", TNR_DTYPE_BOOL8, TNR_DTYPE_BOOL8, [](const tnr_view& in, const tnr_view_mut& out) {
    return tnr_select(nullptr, &in, &in, &in, nullptr, &out);
  });
  add("exp", TNR_DTYPE_F64, TNR_DTYPE_F64, [](const tnr_view& in, const tnr_view_mut& out) {
    return tnr_unary(nullptr, TNR_UNARY_OP_EXP, &in, nullptr, &out);
  });
  return all;
}

TEST(SplitRace, HalvesThatInterleave) {
  for (const Subject& subject : subjects()) {
    SCOPED_TRACE(subject.name);
    const Matrix in(subject.input, kRows);
    const Matrix whole(subject.output, subject.out_rows);
    const Matrix halves(subject.output, subject.out_rows);
    const auto run = [&](const Matrix& out, std::int64_t first, std::int64_t last) {
      const tnr_view_mut written = {out.columns(first, last)};
      EXPECT_EQ(subject.call(in.columns(first, last), written), TNR_STATUS_OK)
          << tnr_last_error()->message;
    };
    run(whole, 0, kColumns);
    std::thread left([&] { run(halves, 0, kSplit); });
    run(halves, kSplit, kColumns);
    left.join();
    EXPECT_TRUE(whole == halves);
  }
}

}  // namespace
