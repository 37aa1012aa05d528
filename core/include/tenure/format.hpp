// Views as text.
#pragma once

#include <cstdint>
#include <string>

#include "tenure/tenure.h"

namespace tenure {

// The elements as NumPy's `str` has them, with at most `precision` digits after the point: one
// notation and one width for all of an array, chosen from the elements that are shown. More than
// 1000 elements are cut to the ends of their axes. The Rust crate prints the same text; its tests
// hold the two against each other.
//
// The view is checked, and its memory is not written meanwhile. Throws UNSUPPORTED for a dtype
// without a name, and std::bad_alloc.
std::string format(const tnr_view& view, std::uint32_t precision);

}  // namespace tenure
