// Dense operands, made to fit a sparse one.
#pragma once

#include <initializer_list>

#include "answer.hpp"
#include "matrix.hpp"

namespace tenure::sweeps {

// More elements are not made: inputs repeat one, outputs are too small.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 23;

enum class Arrangement { kRowMajor, kColumnMajor, kApart };

// A dense matrix or vector with a few numbers in it.
class Input {
 public:
  Input(tnr_dtype dtype, std::initializer_list<std::int64_t> shape,
        Arrangement arrangement = Arrangement::kRowMajor, std::int64_t seed = 0);
  operator const tnr_view*() const { return &view_; }

 private:
  Elements elements_;
  tnr_view view_;
};

// An output; all of its memory is filled, which must stay between its elements.
class Output {
 public:
  Output(tnr_dtype dtype, std::initializer_list<std::int64_t> shape, Byte fill,
         Arrangement arrangement = Arrangement::kRowMajor);
  operator const tnr_view_mut*() const { return &view_; }
  [[nodiscard]] const tnr_view& view() const { return view_.view; }
  // Fills the output with numbers, for calls that also read it.
  Output& put_numbers();
  // Adds the elements to an answer, where the call has succeeded. Notes a fault where memory
  // outside the elements was written.
  void give(Answer& answer, const char* name = "out") const;

 private:
  Byte fill_;
  std::int64_t step_;  // from one element of memory that is an element of the output to the next
  Elements elements_;
  tnr_view_mut view_;
};

// The matrix with values of its own, to be written.
class OwnValues {
 public:
  explicit OwnValues(const tnr_sparse_view& a);
  operator const tnr_sparse_view_mut*() const { return &view_; }
  // Adds the values of the matrix's own entries; the other values must be unchanged.
  void give(Answer& answer) const;

 private:
  Elements values_;
  Bytes before_;
  tnr_sparse_view_mut view_;
};

// A list of rows or columns of an extent.
class Numbers {
 public:
  explicit Numbers(const std::vector<std::int64_t>& numbers);
  operator const tnr_view*() const { return &view_; }

 private:
  Elements elements_;
  tnr_view view_;
};

// A batch of a matrix and itself again, also of a matrix that is a range.
class Batch {
 public:
  explicit Batch(const tnr_sparse_view& a);
  operator const tnr_sparse_view*() const { return &view_; }

 private:
  Elements major_;
  Elements minor_;
  Elements values_;
  Elements offsets_;
  tnr_sparse_view view_;
};

}  // namespace tenure::sweeps
