// Engines: whose code computes dense products and convolutions. The library's own takes every call;
// oneDNN, where it is in the build, some of the CPU's, and the vendor's libraries some of a device's.
#pragma once

#include "tenure/context.hpp"

namespace tenure {

// Throws INVALID_ARGUMENT for a number that names no engine, UNSUPPORTED for one that is not in this
// build.
void require_engine(tnr_engine engine);

// The engine that TENURE_ENGINE asks for when first read, TNR_ENGINE_OWN without it. Throws as
// require_engine(), and so at every later call.
tnr_engine environment_engine();

// Any but TNR_ENGINE_ENVIRONMENT. For TNR_ENGINE_ENVIRONMENT throws what environment_engine() does.
inline tnr_engine chosen_engine(tnr_engine engine) {
  return engine == TNR_ENGINE_ENVIRONMENT ? environment_engine() : engine;
}
// The one of the CPU: TNR_ENGINE_OWN, _ONEDNN or _AUTO. Throws the same.
inline tnr_engine engine_of(const Context& context) {
  const tnr_engine engine = chosen_engine(context.engine());
  return engine == TNR_ENGINE_VENDOR ? TNR_ENGINE_OWN : engine;
}

// "3.2.0"; nullptr where oneDNN is not in this build.
const char* onednn_version() noexcept;

// Around fork: no thread is in an engine that is not the library's own while the process is copied,
// and in the child such an engine has no thread but the caller's. A thread that holds the lock of
// lock_engines() may allocate memory.
void lock_engines() noexcept;
void unlock_engines() noexcept;
void forget_engine_threads() noexcept;

}  // namespace tenure
