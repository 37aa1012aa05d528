// Memory by the fake driver's entry points: of its devices, of the host that is pinned, and copies.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fake_state.hpp"

namespace fake {

Result allocate(Address* memory, std::size_t bytes, Stream handle) {
  if (bytes == 0) return Result::kInvalidValue;
  if (state().failure != Result::kSuccess) return state().failure;
  const StreamOfDriver* const stream = stream_of(handle);
  if (stream == nullptr) return kInvalidHandle;
  *memory = state().memory.allocate(bytes, stream->context->device);
  return *memory != 0 ? Result::kSuccess : Result::kOutOfMemory;
}

Result free(Address memory, Stream handle) {
  if (!state().memory.holds(memory, 1)) return Result::kInvalidValue;
  return enqueue(handle, {.step = Step::kFree, .out = memory});
}

// Memory of the host that this driver knows. Nobody frees it while work on it is to come.
Result allocate_pinned(void** memory, std::size_t bytes, unsigned flags) {
  if (bytes == 0 || flags != kPinnedPortable) return Result::kInvalidValue;
  if (current() == nullptr) return Result::kInvalidContext;
  void* const pages = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (pages == nullptr) return Result::kOutOfMemory;
  state().pinned[pages] = bytes;
  *memory = pages;
  return Result::kSuccess;
}

Result free_pinned(void* memory) {
  if (current() == nullptr) return Result::kInvalidContext;
  const auto found = state().pinned.find(memory);
  if (found == state().pinned.end()) return Result::kInvalidValue;
  const auto first = reinterpret_cast<std::uintptr_t>(memory);
  for (const auto& stream : state().streams) {
    for (const Work& work : stream->work) {
      const Address host = work.step == Step::kCopyIn    ? work.in
                           : work.step == Step::kCopyOut ? work.out
                                                         : 0;
      if (host >= first && host < first + found->second) {
        std::fprintf(stderr, "fake CUDA: pinned memory is freed that a copy has yet to use\n");
        std::abort();
      }
    }
  }
  std::free(memory);
  state().pinned.erase(found);
  return Result::kSuccess;
}

Result pool_trim(Pool pool, std::size_t) {
  return pool != nullptr ? Result::kSuccess : Result::kInvalidValue;
}

Result pool_set(Pool pool, int which, void* value) {
  const bool is_known = pool != nullptr && which == kPoolReleaseThreshold && value != nullptr;
  return is_known ? Result::kSuccess : Result::kInvalidValue;
}

// Memory of the host may be pinned, which a device reads and writes when the work runs.
Result copy_to_device(Address out, const void* in, std::size_t bytes, Stream stream) {
  const auto from = reinterpret_cast<std::uintptr_t>(in);
  return enqueue(stream, {.step = Step::kCopyIn, .out = out, .in = from, .bytes = bytes});
}

Result copy_to_host(void* out, Address in, std::size_t bytes, Stream stream) {
  const auto to = reinterpret_cast<std::uintptr_t>(out);
  return enqueue(stream, {.step = Step::kCopyOut, .out = to, .in = in, .bytes = bytes});
}

Result copy(Address out, Address in, std::size_t bytes, Stream stream) {
  return enqueue(stream, {.step = Step::kCopy, .out = out, .in = in, .bytes = bytes});
}

Result copy_between(Address out, PrimaryContext out_context, Address in, PrimaryContext in_context,
                    std::size_t bytes, Stream stream) {
  const Memory& memory = state().memory;
  if (out_context == nullptr || in_context == nullptr) return Result::kInvalidContext;
  if (memory.device_of(out) != out_context->device || memory.device_of(in) != in_context->device) {
    return Result::kInvalidValue;
  }
  return enqueue(stream, {.step = Step::kCopy, .out = out, .in = in, .bytes = bytes});
}

Result fill_bytes(Address out, unsigned char value, std::size_t bytes, Stream stream) {
  return enqueue(stream, {.step = Step::kFill, .out = out, .bytes = bytes, .value = value});
}

// The driver does not know the host's memory.
Result pointer_attribute(void* value, int which, Address memory) {
  const int device = state().memory.device_of(memory);
  if (device < 0) return Result::kInvalidValue;
  switch (which) {
    case kPointerMemoryType: std::memcpy(value, &kMemoryTypeDevice, 4); break;
    case kPointerIsManaged: std::memset(value, 0, 1); break;
    case kPointerDeviceOrdinal: std::memcpy(value, &device, 4); break;
    default: return Result::kInvalidValue;
  }
  return Result::kSuccess;
}

}  // namespace fake
