#include "operands.hpp"

#include <algorithm>
#include <cstring>

namespace tenure::sweeps {
namespace {

// How elements of a shape lie: strides, and the elements of memory that they need.
struct Layout {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t room = 1;
};

bool is_empty(const std::vector<std::int64_t>& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

bool is_too_large(const std::vector<std::int64_t>& shape) {
  if (is_empty(shape)) return false;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (count > kMostElements / extent) return true;
    count *= extent;
  }
  return false;
}

Layout layout_of(std::vector<std::int64_t> shape, Arrangement arrangement) {
  const std::int64_t step = arrangement == Arrangement::kApart ? 2 : 1;
  Layout layout = {std::move(shape), {}, step};
  layout.strides.resize(layout.shape.size(), step);
  if (is_empty(layout.shape)) return layout.room = 0, layout;
  for (std::size_t i = 0; i < layout.shape.size(); ++i) {
    const std::size_t axis =
        arrangement == Arrangement::kColumnMajor ? i : layout.shape.size() - 1 - i;
    layout.strides[axis] = layout.room;
    layout.room *= layout.shape[axis];
  }
  return layout;
}

// In a shape that is too large all elements are one.
Layout input_layout(std::vector<std::int64_t> shape, Arrangement arrangement) {
  if (!is_too_large(shape)) return layout_of(std::move(shape), arrangement);
  std::vector<std::int64_t> strides(shape.size(), 0);
  return {std::move(shape), std::move(strides), 1};
}

Layout output_layout(std::vector<std::int64_t> shape, Arrangement arrangement) {
  if (is_too_large(shape)) {
    for (std::int64_t& extent : shape) extent = std::min<std::int64_t>(extent, 3);
  }
  return layout_of(std::move(shape), arrangement);
}

std::int64_t value_count(const tnr_sparse_view& a) {
  return a.values.shape[0] * a.block_rows * a.block_cols;
}

// Twice the elements of an array.
Elements twice(const tnr_view& part, std::int64_t count) {
  Elements both(part.dtype, 2 * count);
  if (count == 0) return both;
  const std::size_t size_bytes = both.size_bytes() / 2;
  std::memcpy(both.at(0), part.data, size_bytes);
  std::memcpy(both.at(count), part.data, size_bytes);
  return both;
}

}  // namespace

Input::Input(tnr_dtype dtype, std::initializer_list<std::int64_t> shape, Arrangement arrangement,
             std::int64_t seed)
    : elements_(dtype, input_layout(shape, arrangement).room) {
  const Layout layout = input_layout(shape, arrangement);
  elements_.put_all({seed % 5 - 1, 2, 0, -1, 3, 1, 0});
  view_ = elements_.view(layout.shape, layout.strides);
  repeat_elements(view_);
}

Output::Output(tnr_dtype dtype, std::initializer_list<std::int64_t> shape, Byte fill,
               Arrangement arrangement)
    : fill_(fill),
      step_(arrangement == Arrangement::kApart ? 2 : 1),
      elements_(dtype, output_layout(shape, arrangement).room, fill) {
  const Layout layout = output_layout(shape, arrangement);
  view_.view = elements_.view(layout.shape, layout.strides);
}

Output& Output::put_numbers() {
  if (step_ == 1) {
    elements_.put_all({2, 0, 1, -1, 3});
  } else {
    for (std::int64_t i = 0; i < elements_.count(); i += step_) elements_.put(i, i % 5 - 1);
  }
  return *this;
}

void Output::give(Answer& answer, const char* name) const {
  if (answer.status == TNR_STATUS_OK) answer.add_elements(name, view());
  const Bytes untouched(tnr_dtype_size_bytes(elements_.dtype()), fill_);
  for (std::int64_t i = 1; step_ != 1 && i < elements_.count(); i += step_) {
    if (std::memcmp(elements_.at(i), untouched.data(), untouched.size()) == 0) continue;
    answer.fault = "written between the elements of an output";
    return;
  }
}

OwnValues::OwnValues(const tnr_sparse_view& a)
    : values_(a.values.dtype, value_count(a)), before_(elements_of(a.values)), view_{a} {
  if (!before_.empty()) std::memcpy(values_.at(0), before_.data(), before_.size());
  tnr_view& values = view_.view.values;
  values.data = values.base = values_.at(0);
  values.size_bytes = values_.size_bytes();
  values.owner = 0;
  // The library wants an owner of all parts or of none.
  view_.view.owner = view_.view.major.owner = view_.view.minor.owner = 0;
}

void OwnValues::give(Answer& answer) const {
  const EntryRange own = entries_of(view_.view);
  const std::size_t per_entry =
      values_.count() == 0
          ? 0
          : values_.size_bytes() / static_cast<std::size_t>(view_.view.values.shape[0]);
  const std::size_t begin = static_cast<std::size_t>(own.begin) * per_entry;
  const std::size_t end = static_cast<std::size_t>(own.end) * per_entry;
  const Byte* const now = values_.at(0);
  if (answer.status == TNR_STATUS_OK) answer.add("values", now + begin, end - begin);
  if (!std::equal(now, now + begin, before_.begin()) ||
      !std::equal(now + end, now + values_.size_bytes(),
                  before_.begin() + static_cast<std::ptrdiff_t>(end))) {
    answer.fault = "values of entries that are not the matrix's were written";
  }
}

Numbers::Numbers(const std::vector<std::int64_t>& numbers)
    : elements_(std::any_of(numbers.begin(), numbers.end(),
                            [](std::int64_t number) { return number > INT32_MAX; })
                    ? TNR_DTYPE_I64
                    : TNR_DTYPE_I32,
                static_cast<std::int64_t>(numbers.size())) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    elements_.put(static_cast<std::int64_t>(i), numbers[i]);
  }
  view_ = elements_.view({elements_.count()});
}

Batch::Batch(const tnr_sparse_view& a)
    : major_(twice(a.major, a.major.shape[0])),
      minor_(twice(a.minor, a.minor.shape[0])),
      values_(twice(a.values, value_count(a))),
      offsets_(TNR_DTYPE_I32, 3),
      view_(a) {
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto begin = static_cast<std::int32_t>(i * a.minor.shape[0]);
    std::memcpy(offsets_.at(i), &begin, sizeof begin);
  }
  view_.owner = 0;
  view_.major = major_.view({major_.count()});
  view_.minor = minor_.view({minor_.count()});
  view_.values = a.values.rank == 3
                     ? values_.view({2 * a.values.shape[0], a.block_rows, a.block_cols})
                     : values_.view({values_.count()});
  view_.batch_offsets = offsets_.view({3});
}

}  // namespace tenure::sweeps
