// Guard bytes behind every block of malloc, so that a write past its end shows in each build. A
// program that links guarded_allocator.cpp has every malloc, aligned_alloc and new of it and of the
// C++ runtime pass through there. A build with the address sanitizer has its own guards.
#pragma once

namespace tenure::test {

// Blocks so far whose guard bytes had been written when they were freed.
int overrun_blocks() noexcept;

}  // namespace tenure::test
