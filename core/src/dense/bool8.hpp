// bool8 as the library writes it. Any byte but 0 is read as true, and 0 or 1 is what an operation
// writes: what moves elements by their width, as most of the sparse operations do, puts its result
// right at its end.
#pragma once

#include <cstdint>

#include "cpu/kernel.hpp"

namespace tenure {

// Whether each byte is 0 or 1.
bool are_written_bools(const kernels::Byte* bytes, std::int64_t count) noexcept;
// Makes each byte that is not 0 a 1.
void write_as_bools(kernels::Byte* bytes, std::int64_t count) noexcept;

}  // namespace tenure
