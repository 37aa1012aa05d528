#include "sparse/values/selection.hpp"

#include <algorithm>
#include <numeric>

#include "base/bisect.hpp"

namespace tenure {

ColumnPositions::ColumnPositions(const Numbers& list, std::int64_t cols, std::int64_t entries) {
  for (std::int64_t i = 1; i < list.count(); ++i) {
    if (list[i - 1] > list[i]) {
      columns_in_ = EntryOrder::Columns::kFall;
      break;
    }
    if (list[i - 1] == list[i]) columns_in_ = EntryOrder::Columns::kNeverFall;
  }
  constexpr std::int64_t kPerEntry = 4;
  const bool is_worth_a_table =
      cols / kPerEntry <= entries + list.count() && list.count() < INT32_MAX;
  if (is_worth_a_table && try_once(list, cols)) return;
  order_.resize(static_cast<std::size_t>(list.count()) + 1);
  if (is_worth_a_table) {
    count(list, cols);
  } else {
    sort(list);
  }
}

bool ColumnPositions::try_once(const Numbers& list, std::int64_t cols) {
  once_.assign(static_cast<std::size_t>(cols), -1);
  for (std::int64_t i = 0; i < list.count(); ++i) {
    std::int32_t& position = once_[static_cast<std::size_t>(list[i])];
    if (position >= 0) return false;
    position = static_cast<std::int32_t>(i);
  }
  return true;
}

void ColumnPositions::count(const Numbers& list, std::int64_t cols) {
  kind_ = Kind::kSeveral;
  begins_.resize(static_cast<std::size_t>(cols) + 2);
  // One further on, so that the positions of a column end where those of the next begin once all
  // have been put.
  for (std::int64_t i = 0; i < list.count(); ++i) ++begins_[static_cast<std::size_t>(list[i]) + 2];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  for (std::int64_t i = 0; i < list.count(); ++i) {
    std::int32_t& next = begins_[static_cast<std::size_t>(list[i]) + 1];
    order_[static_cast<std::size_t>(next++)] = i;
  }
}

void ColumnPositions::sort(const Numbers& list) {
  kind_ = Kind::kSorted;
  std::iota(order_.begin(), order_.end(), std::int64_t{0});
  std::sort(order_.begin(), order_.end() - 1, [&](std::int64_t i, std::int64_t j) {
    return list[i] != list[j] ? list[i] < list[j] : i < j;
  });
  columns_.reserve(order_.size() - 1);
  for (std::size_t i = 0; i + 1 < order_.size(); ++i) columns_.push_back(list[order_[i]]);
}

std::int64_t ColumnPositions::first(std::int64_t col) const noexcept {
  return first_where(0, static_cast<std::int64_t>(columns_.size()),
                     [&](std::int64_t i) { return columns_[static_cast<std::size_t>(i)] >= col; });
}

}  // namespace tenure
