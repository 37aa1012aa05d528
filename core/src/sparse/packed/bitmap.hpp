// A bit for each element of a matrix, and the values of those that are set.
#pragma once

#include "sparse/packed/source.hpp"

namespace tenure {

// INT64_MAX where there are too many elements.
std::int64_t bitmap_bytes(const PackedSource& source) noexcept;

// Requires rows whose columns rise.
void pack_bitmap(const Context& context, const PackedSource& source, PackedMatrix& packed);

}  // namespace tenure
