// Whether a sanitizer instruments this build. tenure::kSanitized leaves out the sanitizer of undefined
// behaviour, under which the core is the ordinary one.
#pragma once

namespace tenure::test {

#ifdef TENURE_INSTRUMENTED
inline constexpr bool kInstrumented = true;
#else
inline constexpr bool kInstrumented = false;
#endif

}  // namespace tenure::test
