// A driver that does nothing and returns at once: with it the host's time of a call is the
// library's own.
#include <cstdint>
#include <cstring>

#include "cuda/driver.hpp"

namespace {

using tenure::cuda::Address;
using tenure::cuda::Result;

int g_anything[64];  // what handles point at

template <class... Parameters>
Result succeed(Parameters...) {
  return Result::kSuccess;
}
template <class Handle, class... Parameters>
Result give_handle(Handle* handle, Parameters...) {
  *handle = reinterpret_cast<Handle>(g_anything);
  return Result::kSuccess;
}
Result driver_version(int* version) {
  *version = tenure::cuda::kOldestDriver;
  return Result::kSuccess;
}
Result one(int* count) {
  *count = 1;
  return Result::kSuccess;
}
Result attribute(int* value, int which, int) {
  const bool is_capability = which == tenure::cuda::kAttributeComputeCapabilityMajor ||
                             which == tenure::cuda::kAttributeComputeCapabilityMinor;
  *value = is_capability || which == tenure::cuda::kAttributeMultiprocessorCount ? 9 : 1024;
  return Result::kSuccess;
}
Result function_attribute(int* value, int, tenure::cuda::Function) {
  *value = 1024;
  return Result::kSuccess;
}
// The parameters of masked_crop, the kernel that device.cpp launches.
Result parameter(tenure::cuda::Function, std::size_t index, std::size_t*, std::size_t* bytes) {
  constexpr std::size_t kBytes[] = {56, 40, 8, 8, 56};
  if (index >= sizeof kBytes / sizeof kBytes[0]) return Result::kInvalidValue;
  *bytes = kBytes[index];
  return Result::kSuccess;
}
Result name(char* text, int size, int) {
  std::strncpy(text, "no device", static_cast<std::size_t>(size));
  return Result::kSuccess;
}
Result memory(std::size_t* bytes, int) {
  *bytes = 0;
  return Result::kSuccess;
}
Result allocate(Address* memory, std::size_t, tenure::cuda::Stream) {
  static Address next = Address{1} << 40;
  *memory = next;
  next += Address{1} << 32;
  return Result::kSuccess;
}

Result end_capture(tenure::cuda::Stream, tenure::cuda::Graph* graph) { return give_handle(graph); }

#define TENURE_SUCCEED(member, text, version, parameters) \
  {text, reinterpret_cast<void*>(static_cast<Result(*) parameters>(succeed))},
template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

using namespace tenure::cuda;
struct Entry {
  const char* text;
  void* function;
};
const Entry kEntries[] = {
    {"cuDriverGetVersion", address(driver_version)},
    {"cuDeviceGetCount", address(one)},
    {"cuDeviceGetAttribute", address(attribute)},
    {"cuDeviceGetName", address(name)},
    {"cuDeviceTotalMem", address(memory)},
    {"cuDeviceGetDefaultMemPool", address(give_handle<Pool, DeviceNumber>)},
    {"cuDevicePrimaryCtxRetain", address(give_handle<PrimaryContext, DeviceNumber>)},
    {"cuCtxGetCurrent", address(give_handle<PrimaryContext>)},
    {"cuStreamCreate", address(give_handle<Stream, unsigned>)},
    {"cuEventCreate", address(give_handle<Event, unsigned>)},
    {"cuMemAllocAsync", address(allocate)},
    {"cuLibraryGetKernel", address(give_handle<KernelHandle, Library, const char*>)},
    {"cuKernelGetFunction", address(give_handle<Function, KernelHandle>)},
    {"cuFuncGetAttribute", address(function_attribute)},
    {"cuFuncGetParamInfo", address(parameter)},
    {"cuStreamEndCapture", address(end_capture)},
    {"cuGraphInstantiateWithFlags", address(give_handle<GraphRun, Graph, unsigned long long>)},
    {kOwnKernels, g_anything},
    TENURE_CUDA_ALL_ENTRY_POINTS(TENURE_SUCCEED)};

}  // namespace

extern "C" [[gnu::visibility("default")]] Result cuGetProcAddress_v2(const char* text, void** found,
                                                                     int version,
                                                                     std::uint64_t flags,
                                                                     int* query);

// The first of a name counts.
extern "C" Result cuGetProcAddress_v2(const char* text, void** found, int, std::uint64_t, int*) {
  for (const Entry& entry : kEntries) {
    if (std::strcmp(entry.text, text) != 0) continue;
    *found = entry.function;
    return Result::kSuccess;
  }
  return Result::kNotFound;
}
