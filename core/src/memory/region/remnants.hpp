// Mappings of our own that the system would not unmap, until it does.
//
// It may refuse (system_calls.hpp), and without a record the memory of these mappings would be lost
// for good, with each result that ends while the process has the maximum number of mappings. So
// each is entered into a list that needs only the mapping's own memory.
#pragma once

#include <cstddef>

namespace tenure {

// Unmaps whole pages of our own, now or later. Where the system refuses, all but the first piece of
// their memory is given back at once, and their addresses as soon as it unmaps another.
void unmap_own(char* data, std::size_t size_bytes) noexcept;

// Tries again.
void unmap_remnants() noexcept;

}  // namespace tenure
