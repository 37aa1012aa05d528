// Binary search for a predicate's first true index.
#pragma once

#include <cstdint>

namespace tenure {

// The first number of [begin, end) for which `holds` is true, as it is for all behind it; `end`
// where there is none.
template <class Holds>
std::int64_t first_where(std::int64_t begin, std::int64_t end, const Holds& holds) noexcept {
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    const bool is_there = holds(middle);
    begin = is_there ? begin : middle + 1;
    end = is_there ? middle : end;
  }
  return begin;
}

}  // namespace tenure
