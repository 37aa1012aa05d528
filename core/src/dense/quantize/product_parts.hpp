// Parts of products of quantized factors: their own arrays, and what becomes of their sums.
#pragma once

#include <cstdint>
#include <optional>

#include "dense/product/blocked_matmul.hpp"
#include "dense/product/narrow_sums.hpp"
#include "memory/scratch.hpp"
#include "tenure/blob.hpp"
#include "tenure/context.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {

// A dense array of the call's own.
class Dense {
 public:
  Dense(tnr_dtype dtype, std::uint32_t rank, const std::int64_t* shape)
      : memory_(row_major_bytes(dtype, rank, shape)),
        view_{make_view(memory_.data(), memory_.size_bytes(), 0, dtype, rank, shape, nullptr)} {}

  [[nodiscard]] const tnr_view& view() const noexcept { return view_.view; }
  [[nodiscard]] const tnr_view_mut& out() const noexcept { return view_; }
  template <class T>
  [[nodiscard]] T* data() const noexcept {
    return reinterpret_cast<T*>(memory_.data());
  }

  // Lays images, [images, channels, height, width], with adjacent channels.
  void put_channels_last() noexcept;
  // Copies or casts a view that broadcasts.
  void take(const Context& context, const tnr_view& from) const;

 private:
  Scratch memory_;
  tnr_view_mut view_;
};

// The matrix that the last two axes and the batch before them are, where the rows of all products
// follow each other at one step.
std::optional<tnr_view> as_matrix(const tnr_view& view, std::int64_t rows) noexcept;
// The rows of [..., m, k] by [k, n] to [..., m, n], all that there are; 0 where out has no element.
// Throws INVALID_ARGUMENT for other shapes.
std::int64_t product_rows(const tnr_view& a, const tnr_view& b, const tnr_view& out);
// Numbers of floats as the rows of a matrix with adjacent elements, in their own memory or in `copy`.
tnr_view adjacent_rows(const Context& context, const tnr_view& a, std::int64_t rows,
                       std::optional<Dense>& copy);
// Quantizes each group of each row by its own scale, as RowQuantizing::groups does. `rows` are
// adjacent_rows(); all arrays are row-major.
void quantize_groups(const Context& context, const tnr_view& rows, std::int64_t group,
                     kernels::Byte* values, float* scales, std::int32_t* terms);
// Views of one shape and dtype, which are checked and pinned.
void copy_view(const Context& context, const tnr_view& from, const tnr_view_mut& out);

// A vector of numbers, one for each row or column.
using Vector = std::optional<Dense>;
template <class T>
const T* data_of(const Vector& vector) noexcept {
  return vector ? vector->data<T>() : nullptr;
}

// The last views of a call's attributes; nullptr where there are none.
struct ResultViews {
  const tnr_view* bias;
  const tnr_view* scale;
  const tnr_view* zero;

  template <class Attributes>
  explicit ResultViews(const Attributes& attributes) noexcept
      : bias(attributes.bias), scale(attributes.out_scale), zero(attributes.out_zero) {}

  // Throws what a dtype of `out`, and views that do not fit it and its `columns`, deserve. Reads no
  // element.
  void check(const tnr_view& out, std::int64_t columns, const char* columns_of) const;
};

void check_broadcast(const tnr_view& scales, const char* name, std::uint32_t rank,
                     const std::int64_t* shape);
void check_one(const tnr_view& view, const char* name);

// Pins the operands of a call, which must not share memory with its result.
class OperandPins {
 public:
  // Throws as Pins do.
  OperandPins(Pins& pins, const tnr_view_mut& out);
  // nullptr: nothing.
  void operator()(const tnr_view* view, const char* name) const;
  void operator()(const ResultViews& views) const;

 private:
  Pins& pins_;
  const tnr_view& out_;
};

// Rounds sums, which are f32 by then, to the elements of a result.
class QuantizedStore {
 public:
  // The views are checked and pinned.
  QuantizedStore(const ResultViews& views, const tnr_view& out);

  // nullptr: the sums are the elements.
  [[nodiscard]] const SumsStore* sums_store() const noexcept {
    if (narrow_) return &*narrow_;
    return integers_ ? &*integers_ : nullptr;
  }

 private:
  class Integers final : public SumsStore {
   public:
    Integers(unsigned integer, float scale, kernels::Byte zero) noexcept;
    void store(const Rows& rows) const noexcept override;

   private:
    Operation operation_;
    float scale_;
    kernels::Byte zero_;
  };

  std::optional<NarrowSums> narrow_;
  std::optional<Integers> integers_;
};

}  // namespace tenure
