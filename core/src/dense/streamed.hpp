// Strips whose results go past the caches.
#pragma once

#include <cstdint>

#include "cpu/kernel.hpp"
#include "dense/strip_runner.hpp"
#include "memory/traffic.hpp"

namespace tenure {

// As runner.run(strip), for a dense output (out_step is its element's width, a power of two up to
// 16) that shares no byte with an input. Nobody else may read what is streamed before the thread
// has called order_streamed_stores().
kernels::Finding run_streamed(StripRunner& runner, const kernels::Strip& strip) noexcept;

// Copies bytes to others; of those that are streamed, what is not a whole line stays in the caches.
void copy_lines(kernels::Byte* out, const kernels::Byte* from, std::int64_t bytes,
                Stores stores) noexcept;

// Streamed stores are not ordered with others, not even by a release.
void order_streamed_stores() noexcept;

}  // namespace tenure
