// Whether the program runs under AddressSanitizer. A macro does not know: programs that are compiled
// without it are linked with an instrumented core.
#pragma once

extern "C" [[gnu::weak]] void __asan_init();

namespace tenure {

inline bool has_address_sanitizer() { return __asan_init != nullptr; }

}  // namespace tenure
