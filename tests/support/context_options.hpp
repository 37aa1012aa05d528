// Contexts as most tests of them are made.
#pragma once

#include <cstdint>

#include "tenure/tenure.h"

namespace tenure::test {

// Options with `thread_count` threads, and nothing else.
inline tnr_context_options options(std::uint32_t thread_count) {
  tnr_context_options wanted = {};
  wanted.struct_size = sizeof(wanted);
  wanted.thread_count = thread_count;
  return wanted;
}

}  // namespace tenure::test
