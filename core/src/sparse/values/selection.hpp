// Numbers of rows or columns that a caller lists, and where the entries of a column go.
#pragma once

#include <cstdint>
#include <vector>

#include "sparse/entry_order.hpp"
#include "sparse/index_array.hpp"
#include "tenure/shape.hpp"
#include "tenure/tenure.h"

namespace tenure {

// Numbers in a view of rank 1; or those from one on.
class Numbers {
 public:
  Numbers(std::int64_t first, std::int64_t count) noexcept : first_(first), count_(count) {}
  explicit Numbers(const tnr_view& list) noexcept
      : list_(static_cast<const kernels::Byte*>(list.data)),
        type_(index_type(list.dtype)),
        step_(stride_of(list, 0)),
        count_(list.shape[0]) {}

  [[nodiscard]] bool is_list() const noexcept { return list_ != nullptr || first_ < 0; }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  std::int64_t operator[](std::int64_t i) const noexcept {
    return is_list() ? get_index(list_, type_, i * step_) : first_ + i;
  }

 private:
  const kernels::Byte* list_ = nullptr;
  kernels::IndexType type_ = kernels::IndexType::kI64;
  std::int64_t step_ = 1;
  std::int64_t first_ = -1;
  std::int64_t count_;
};

// The positions of each column in a list of columns, which are where its entries go. A table of all
// columns, unless that is more than a few numbers for each entry, or for very long lists.
class ColumnPositions {
 public:
  // Throws std::bad_alloc.
  ColumnPositions(const Numbers& list, std::int64_t cols, std::int64_t entries);

  // How the columns of the list follow each other.
  [[nodiscard]] EntryOrder::Columns columns() const noexcept { return columns_in_; }

  enum class Kind {
    kOnce,     // once() is a table
    kSeveral,  // begins() is one
    kSorted,   // neither is
  };
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

  // The position of each column, -1: none.
  [[nodiscard]] const std::int32_t* once() const noexcept { return once_.data(); }
  // The positions of column c are number begins()[c] to begins()[c + 1] of order(), which has one
  // more.
  [[nodiscard]] const std::int32_t* begins() const noexcept { return begins_.data(); }
  [[nodiscard]] const std::int64_t* order() const noexcept { return order_.data(); }

  // kSorted only: the position in order() from which on columns are `col` or above.
  [[nodiscard]] std::int64_t first(std::int64_t col) const noexcept;

 private:
  [[nodiscard]] bool try_once(const Numbers& list, std::int64_t cols);
  void count(const Numbers& list, std::int64_t cols);
  void sort(const Numbers& list);

  EntryOrder::Columns columns_in_ = EntryOrder::Columns::kRise;
  Kind kind_ = Kind::kOnce;
  std::vector<std::int32_t> once_;
  std::vector<std::int32_t> begins_;
  std::vector<std::int64_t> order_;    // positions by column
  std::vector<std::int64_t> columns_;  // of these, where there is no table
};

}  // namespace tenure
