#include "cuda/driver.hpp"

#include <cstdlib>

#include "cuda/shared_library.hpp"

#if defined(__linux__)
#include <dlfcn.h>
#endif

namespace tenure::cuda {
namespace {

constexpr const char* kLibraryName = "libcuda.so.1";

#if defined(__linux__)

// cuGetProcAddress of CUDA 12: the last parameter tells why there is none.
using FindEntry = Result (*)(const char* name, void** entry, int version, std::uint64_t flags,
                             int* query);

// dlerror() of the thread, which says why in words.
const char* why() {
  const char* const text = dlerror();
  return text != nullptr ? text : "no reason given";
}

// nullptr, and the refusal says why.
FindEntry open_library(Refusal& refusal) {
  const char* const asked = std::getenv("TENURE_CUDA_DRIVER");
  const char* const name = asked != nullptr && *asked != '\0' ? asked : kLibraryName;
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    refusal =
        error_of(TNR_STATUS_UNSUPPORTED, "no CUDA device: the driver cannot be opened: %s", why());
    return nullptr;
  }
  void* const find = dlsym(library, "cuGetProcAddress_v2");
  if (find == nullptr) {
    dlclose(library);
    refusal = error_of(
        TNR_STATUS_UNSUPPORTED,
        "no CUDA device: the driver %s is older than CUDA 12 but must be of %d.%d or newer", name,
        kOldestDriver / 1000, kOldestDriver % 1000 / 10);
  }
  // It stays open: contexts and memory of the driver live as long as the process.
  return reinterpret_cast<FindEntry>(find);
}

// nullptr where there is none.
template <class Entry>
void look_for_entry(FindEntry find, Entry& entry, const char* name, int version) {
  void* found = nullptr;
  int query = 0;
  const Result result = find(name, &found, version, 0, &query);
  entry = result == Result::kSuccess ? reinterpret_cast<Entry>(found) : nullptr;
}

template <class Entry>
void find_entry(FindEntry find, Entry& entry, const char* name, int version) {
  look_for_entry(find, entry, name, version);
  if (entry == nullptr) {
    fail(TNR_STATUS_UNSUPPORTED, "no CUDA device: the driver has no %s of CUDA %d.%d", name,
         version / 1000, version % 1000 / 10);
  }
}

// A library that is not there is the common case, and no exception: the first one that a process
// throws takes as long as a third of the search.
Refusal open_driver(Driver& opened) {
  Refusal refusal;
  const FindEntry find = open_library(refusal);
  if (find == nullptr) return refusal;
  Driver table;
  // The version first: a driver that is too old lacks entry points, and that is the better message.
  find_entry(find, table.driver_version, "cuDriverGetVersion", 2020);
  int version = 0;
  require(table.driver_version(&version), "cuDriverGetVersion");
  if (version < kOldestDriver) {
    fail(TNR_STATUS_UNSUPPORTED,
         "no CUDA device: the driver is of CUDA %d.%d but must be of %d.%d or newer",
         version / 1000, version % 1000 / 10, kOldestDriver / 1000, kOldestDriver % 1000 / 10);
  }
#define TENURE_CUDA_FIND(member, name, version, parameters) \
  find_entry(find, table.member, name, version);
  TENURE_CUDA_ENTRY_POINTS(TENURE_CUDA_FIND)
#undef TENURE_CUDA_FIND
#define TENURE_CUDA_LOOK_FOR(member, name, version, parameters) \
  look_for_entry(find, table.member, name, version);
  TENURE_CUDA_GRAPH_ENTRY_POINTS(TENURE_CUDA_LOOK_FOR)
#undef TENURE_CUDA_LOOK_FOR
  look_for_entry(find, table.own_kernels, kOwnKernels, kOldestDriver);
  const Result started = table.init(0);
  if (started == Result::kNoDevice) {
    fail(TNR_STATUS_UNSUPPORTED, "no CUDA device: the driver finds none");
  }
  if (started != Result::kSuccess) {
    const char* name = nullptr;
    table.error_name(started, &name);
    fail(TNR_STATUS_UNSUPPORTED, "no CUDA device: the driver does not start: %s (%d)",
         name != nullptr ? name : "an unknown error", static_cast<int>(started));
  }
  opened = table;
  return std::nullopt;
}

#else

Refusal open_driver(Driver&) {
  return error_of(TNR_STATUS_UNSUPPORTED,
                  "no CUDA device: this build of the library is for the CPU alone");
}

#endif

}  // namespace

constinit OpenedOnce<Driver> g_driver;

Refusal driver_refusal() { return g_driver.try_get(open_driver); }

const Driver& driver() {
  require_none(driver_refusal());
  return opened_driver();
}

void refuse(Result result, const char* what) {
  const Driver* const opened = g_driver.opened();
  const char* name = nullptr;
  const char* text = nullptr;
  if (opened != nullptr) {
    opened->error_name(result, &name);
    opened->error_string(result, &text);
  }
  const tnr_status status =
      result == Result::kOutOfMemory ? TNR_STATUS_OUT_OF_MEMORY : TNR_STATUS_DEVICE_ERROR;
  fail(status, "%s: %s (%d)%s%s", what, name != nullptr ? name : "an unknown error",
       static_cast<int>(result), text != nullptr ? ", " : "", text != nullptr ? text : "");
}

}  // namespace tenure::cuda
