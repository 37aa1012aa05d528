#include "cuda/shared_library.hpp"

#include <cstdlib>
#include <string>

#include "tenure/status.hpp"

#if defined(__linux__)
#include <dlfcn.h>
#endif

namespace tenure::cuda {

#if defined(__linux__)

namespace {

void* open_named(const char* name, std::string& tried) {
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* const text = dlerror();
  tried += tried.empty() ? "" : "; ";
  tried += text != nullptr ? text : "no reason given";
  return nullptr;
}

void* open_asked(const SharedLibrary& library, std::string& tried) {
  const char* const asked = std::getenv(library.variable);
  if (asked != nullptr && *asked != '\0') return open_named(asked, tried);
  // A second copy would be as much again of memory, with state of its own.
  for (const char* const name : library.names) {
    if (void* const loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return loaded;
  }
  for (const char* const name : library.names) {
    if (void* const opened = open_named(name, tried)) return opened;
  }
  return nullptr;
}

}  // namespace

void* open_shared(const SharedLibrary& library) {
  std::string tried;
  void* const opened = open_asked(library, tried);
  if (opened == nullptr) {
    fail(TNR_STATUS_UNSUPPORTED, "%s, which cannot be opened: %s", library.need, tried.c_str());
  }
  return opened;
}

void* find_symbol(const SharedLibrary& library, void* opened, const char* name) {
  void* const symbol = dlsym(opened, name);
  if (symbol == nullptr) fail(TNR_STATUS_UNSUPPORTED, "%s has no %s", library.title, name);
  return symbol;
}

#else

void* open_shared(const SharedLibrary& library) {
  fail(TNR_STATUS_UNSUPPORTED, "%s, which this build of the library does not open", library.need);
}

void* find_symbol(const SharedLibrary& library, void*, const char* name) {
  fail(TNR_STATUS_UNSUPPORTED, "%s has no %s", library.title, name);
}

#endif

}  // namespace tenure::cuda
