// A driver with no device behind it, for machines that have none: the entry points that
// core/src/cuda/driver.hpp asks for, memory of the host, and the kernels as simt.hpp runs them. It
// is opened where TENURE_CUDA_DRIVER names it.
//
// Streams are lazy: work runs when the host waits for it, and then only the work that events
// require, or also work of other streams, as the seed decides. An order that the program did not
// request therefore does not exist. All of the environment is read at each call:
//
//   TENURE_FAKE_CUDA_FAIL=NAME[:N[:CODE]]  the N-th call of an entry point fails (none: each does);
//                                          with a CODE of 700 to 799 the device does, for good
//   TENURE_FAKE_CUDA_LACKS=NAME            there is no such entry point; tenureOwnKernels: the library
//                                          must have a fat binary, as for a GPU
//   TENURE_FAKE_CUDA_VERSION=13000
//   TENURE_FAKE_CUDA_DEVICES=1             as many as there are
//   TENURE_FAKE_CUDA_MULTIPROCESSORS=5     of each, so few that grids do not hold all elements
//   TENURE_FAKE_CUDA_CAPABILITY=90         80 for 8.0
//   TENURE_FAKE_CUDA_MEMORY=BYTES          of each; read at the first call
//   TENURE_FAKE_CUDA_LOG=FILE              kernels and copies to and from the host as they run, a
//                                          line each: the name, or the address on the device and
//                                          the bytes; named at the first of them
//   TENURE_FAKE_CUDA_LEAKS=1               exits with 86 where memory is not freed at exit
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "fake_state.hpp"

namespace fake {

long number_of(const char* variable, long otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? std::strtol(text, nullptr, 10) : otherwise;
}

int count_of_devices() {
  const long count = number_of("TENURE_FAKE_CUDA_DEVICES", 1);
  return static_cast<int>(count < kMostDevices ? count : kMostDevices);
}

// Never destroyed: streams may be waited for while the process ends.
State& state() {
  static State* const all = new State;
  return *all;
}

// The contexts of the calling thread. Not thread_local, which is where simt.cpp has shared memory.
std::vector<PrimaryContext>& contexts() { return state().pushed[std::this_thread::get_id()]; }

PrimaryContext current() { return contexts().empty() ? nullptr : contexts().back(); }

namespace {

// Whether this call of the entry point is one that fails, and how.
Result refusal_of(const char* name) {
  State& all = state();
  const char* const text = std::getenv("TENURE_FAKE_CUDA_FAIL");
  if (text == nullptr) {
    all.failing.clear();
    return Result::kSuccess;
  }
  if (all.failing != text) {
    all.failing = text;
    all.calls = 0;
  }
  const std::size_t length = std::strlen(name);
  if (std::strncmp(text, name, length) != 0 || (text[length] != ':' && text[length] != '\0')) {
    return Result::kSuccess;
  }
  char* rest = const_cast<char*>(text) + length;
  unsigned long number = 0;
  long code = std::strcmp(name, "cuMemAllocAsync") == 0 ? 2 : 999;
  if (*rest == ':') number = std::strtoul(rest + 1, &rest, 10);
  if (*rest == ':') code = std::strtol(rest + 1, &rest, 10);
  ++all.calls;
  return number == 0 || number == all.calls ? Result{static_cast<int>(code)} : Result::kSuccess;
}

// Codes that say that the device itself has failed: nothing runs on it any more.
bool is_of_device(Result result) {
  return static_cast<int>(result) >= 700 && static_cast<int>(result) < 800;
}
void end_device(Result failure) {
  state().failure = failure;
  for (const auto& stream : state().streams) stream->work.clear();
}

enum class Entry : unsigned {
#define TENURE_FAKE_ENTRY(member, name, version, parameters) member,
  TENURE_CUDA_ALL_ENTRY_POINTS(TENURE_FAKE_ENTRY)
#undef TENURE_FAKE_ENTRY
};

struct Listed {
  const char* name;
  int version;
  void* entry;
};

const char* listed_name(Entry entry);

// Whether a thread must not make the call while it captures: calls that may wait for the device or
// take its memory, and calls that load code, so that the library does not rely on them.
bool is_unsafe(Entry entry) {
  switch (entry) {
    case Entry::context_synchronize:
    case Entry::stream_synchronize:
    case Entry::event_query:
    case Entry::event_synchronize:
    case Entry::allocate:
    case Entry::free:
    case Entry::allocate_pinned:
    case Entry::free_pinned:
    case Entry::library_load:
    case Entry::library_kernel:
    case Entry::kernel_function:
    case Entry::module_load:
    case Entry::module_unload: return true;
    default: return false;
  }
}

// A failure that a wait reports has ended the work before it.
template <Entry kEntry>
constexpr bool kWaits = kEntry == Entry::stream_synchronize || kEntry == Entry::event_synchronize ||
                        kEntry == Entry::context_synchronize;

// One call at a time. Before cuInit only what says so works.
template <Entry kEntry, auto kFunction>
struct Guarded;
template <Entry kEntry, class... Arguments, Result (*kFunction)(Arguments...)>
struct Guarded<kEntry, kFunction> {
  static Result call(Arguments... arguments) {
    const std::lock_guard lock(state().mutex);
    const bool is_free = kEntry == Entry::init || kEntry == Entry::driver_version ||
                         kEntry == Entry::error_name || kEntry == Entry::error_string;
    if (!is_free && !state().is_started) return Result::kNotInitialized;
    if (is_unsafe(kEntry)) {
      if (Capture* const capture = own_capture()) {
        capture->is_invalid = true;
        return kCaptureUnsupported;
      }
    }
    const Result refusal = refusal_of(listed_name(kEntry));
    if (is_of_device(refusal)) end_device(refusal);
    if (refusal == Result::kSuccess) return kFunction(arguments...);
    if constexpr (kWaits<kEntry>) kFunction(arguments...);
    return refusal;
  }
};

const Listed kListed[] = {
#define TENURE_FAKE_LISTED(member, name, version, parameters) \
  {name, version, reinterpret_cast<void*>(&Guarded<Entry::member, &member>::call)},
    TENURE_CUDA_ALL_ENTRY_POINTS(TENURE_FAKE_LISTED)
#undef TENURE_FAKE_LISTED
};

const char* listed_name(Entry entry) { return kListed[static_cast<unsigned>(entry)].name; }

// At the end of the process.
struct LeakCheck {
  ~LeakCheck() {
    const Memory& memory = state().memory;
    const std::size_t pinned_count = state().pinned.size();
    const std::size_t graph_count = state().graph_count;
    const std::size_t descriptor_count = state().descriptor_count;
    if (memory.live_count() + pinned_count + graph_count + descriptor_count == 0) return;
    if (number_of("TENURE_FAKE_CUDA_LEAKS", 0) == 0) return;
    std::fprintf(
        stderr,
        "fake CUDA: %zu bytes in %zu allocations, %zu of pinned memory, %zu graphs and %zu "
        "descriptors of libraries are not freed\n",
        memory.live_bytes(), memory.live_count(), pinned_count, graph_count, descriptor_count);
    _exit(86);
  }
};
const LeakCheck g_leak_check;

}  // namespace
}  // namespace fake

extern "C" [[gnu::visibility("default")]] tenure::cuda::Result cuGetProcAddress_v2(
    const char* name, void** entry, int version, std::uint64_t flags, int* query);

tenure::cuda::Result cuGetProcAddress_v2(const char* name, void** entry, int version,
                                         std::uint64_t flags, int* query) {
  const char* const lacking = std::getenv("TENURE_FAKE_CUDA_LACKS");
  *entry = nullptr;
  *query = 1;  // there is no such symbol
  if (flags != 0) return tenure::cuda::Result::kInvalidValue;
  if (lacking != nullptr && std::strcmp(lacking, name) == 0) {
    return tenure::cuda::Result::kNotFound;
  }
  if (std::strcmp(tenure::cuda::kOwnKernels, name) == 0) {
    *entry = const_cast<char*>(tenure::cuda::kOwnKernels);  // not nullptr, and never called
    *query = 0;
    return tenure::cuda::Result::kSuccess;
  }
  for (const fake::Listed& listed : fake::kListed) {
    if (std::strcmp(listed.name, name) != 0) continue;
    if (version < listed.version) break;
    *entry = listed.entry;
    *query = 0;
    return tenure::cuda::Result::kSuccess;
  }
  return tenure::cuda::Result::kNotFound;
}
