// Rows along an axis, and the order of elements by its definition.
#pragma once

#include <algorithm>
#include <vector>

#include "arrays.hpp"

namespace tenure::test {

// The element's value is less, and NaN is greater than all numbers.
inline bool is_less(Type type, const Byte* a, const Byte* b) {
  constexpr unsigned kLess = 2;  // of the comparisons' rows
  if (is_float(type) && is_nan_element(type, a)) return false;
  if (is_float(type) && is_nan_element(type, b)) return true;
  Byte truth = 0;
  kernels::reference::compare(kLess, type, a, b, &truth);
  return truth != 0;
}
// Whether `a` comes before `b` where the greatest are first; NaN is last even so.
inline bool is_greater(Type type, const Byte* a, const Byte* b) {
  if (is_float(type) && is_nan_element(type, a)) return false;
  if (is_float(type) && is_nan_element(type, b)) return true;
  return is_less(type, b, a);
}

// Calls visit(index) for each index whose place on the axis is 0.
template <class Visit>
void for_each_row(const tnr_view& view, std::uint32_t axis, const Visit& visit) {
  tnr_view rows = view;
  rows.shape[axis] = std::min<std::int64_t>(1, view.shape[axis]);
  for_each_index(rows, visit);
}
// The addresses of a row's elements.
inline std::vector<const Byte*> row_at(const Array& array, std::uint32_t axis, Index index) {
  std::vector<const Byte*> row;
  const tnr_view& view = array.view();
  for (std::int64_t i = 0; i < view.shape[axis]; ++i) {
    index[axis] = i;
    row.push_back(static_cast<const Byte*>(view.base) + byte_of(view, index));
  }
  return row;
}

// The element as the library writes it: bool8 is 0 or 1.
inline std::vector<Byte> written(const NamedType& type, const Byte* element) {
  std::vector<Byte> bytes(element, element + element_size(type.dtype));
  if (type.type == Type::kBool8) bytes[0] = bytes[0] != 0 ? 1 : 0;
  return bytes;
}
inline bool is_written(const NamedType& type, const Byte* expected, const Byte* found) {
  return std::memcmp(written(type, expected).data(), found, element_size(type.dtype)) == 0;
}
inline std::int64_t index_in(const Byte* element) {
  std::int64_t index;
  std::memcpy(&index, element, sizeof index);
  return index;
}

// Numbers with many equal ones, zeros of both signs and NaN of several kinds; or any bits.
enum class Numbers { kFew, kAnyBits };
inline void fill_to_sort(Array& array, Type type, Numbers numbers, Random& random) {
  if (numbers == Numbers::kAnyBits) return fill_with_bits(array, random);
  fill_with_numbers(array, type, random, Nans::kSome);
  if (!is_float(type)) return;
  const std::size_t sign = element_size(array.view().dtype) - 1;
  for (Byte* const element : array.elements()) {
    if (random() % 4 == 0) element[sign] ^= 0x80;
    if (is_nan_element(type, element)) element[0] = static_cast<Byte>(random() % 4);
  }
}

}  // namespace tenure::test
