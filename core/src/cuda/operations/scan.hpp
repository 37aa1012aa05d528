// Prefix sums for other operations.
#pragma once

#include <cstdint>

#include "cuda/queue.hpp"

namespace tenure::cuda {

// Each word becomes the sum of those up to it; fewer than 2^31 words.
void sum_words(const Queue& queue, std::uint32_t* words, std::int64_t count);

}  // namespace tenure::cuda
