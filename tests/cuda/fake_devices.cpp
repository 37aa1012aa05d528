// The fake driver's devices and their contexts, and the names of its errors.
#include <cstdio>

#include "fake_state.hpp"

namespace fake {

namespace {

bool is_device(DeviceNumber device) { return device >= 0 && device < count_of_devices(); }

}  // namespace

Result init(unsigned flags) {
  if (flags != 0) return Result::kInvalidValue;
  if (count_of_devices() == 0) return Result::kNoDevice;
  state().is_started = true;
  return Result::kSuccess;
}

Result driver_version(int* version) {
  *version = static_cast<int>(number_of("TENURE_FAKE_CUDA_VERSION", kOldestDriver));
  return Result::kSuccess;
}

namespace {

// The name of an error of a capture, for which the library has no constant.
const char* capture_error(Result result) {
  if (result == kCaptureUnsupported) return "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
  if (result == kCaptureInvalidated) return "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED";
  if (result == kCaptureIsolation) return "CUDA_ERROR_STREAM_CAPTURE_ISOLATION";
  if (result == kCaptureWrongThread) return "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD";
  return nullptr;
}

}  // namespace

Result error_name(Result result, const char** name) {
  *name = capture_error(result);
  if (*name != nullptr) return Result::kSuccess;
  switch (result) {
    case Result::kSuccess: *name = "CUDA_SUCCESS"; break;
    case Result::kInvalidValue: *name = "CUDA_ERROR_INVALID_VALUE"; break;
    case Result::kOutOfMemory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case Result::kNoDevice: *name = "CUDA_ERROR_NO_DEVICE"; break;
    case Result::kInvalidDevice: *name = "CUDA_ERROR_INVALID_DEVICE"; break;
    case Result::kInvalidContext: *name = "CUDA_ERROR_INVALID_CONTEXT"; break;
    case Result::kNotFound: *name = "CUDA_ERROR_NOT_FOUND"; break;
    case Result::kIllegalAddress: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
    case Result::kUnknown: *name = "CUDA_ERROR_UNKNOWN"; break;
    default: return Result::kInvalidValue;
  }
  return Result::kSuccess;
}

Result error_string(Result result, const char** text) {
  const Result known = error_name(result, text);
  if (known == Result::kSuccess) *text = "an error of the fake driver";
  return known;
}

Result device_count(int* count) {
  *count = count_of_devices();
  return Result::kSuccess;
}

Result device_get(DeviceNumber* device, int ordinal) {
  if (!is_device(ordinal)) return Result::kInvalidDevice;
  *device = ordinal;
  return Result::kSuccess;
}

Result device_name(char* name, int size, DeviceNumber device) {
  if (!is_device(device)) return Result::kInvalidDevice;
  std::snprintf(name, static_cast<std::size_t>(size), "Fake GPU %d", device);
  return Result::kSuccess;
}

Result device_attribute(int* value, int which, DeviceNumber device) {
  if (!is_device(device)) return Result::kInvalidDevice;
  const auto capability = static_cast<int>(number_of("TENURE_FAKE_CUDA_CAPABILITY", 90));
  switch (which) {
    case kAttributeMultiprocessorCount:
      *value = static_cast<int>(number_of("TENURE_FAKE_CUDA_MULTIPROCESSORS", 5));
      break;
    case kAttributeComputeCapabilityMajor: *value = capability / 10; break;
    case kAttributeComputeCapabilityMinor: *value = capability % 10; break;
    case kAttributeMemoryPoolsSupported: *value = 1; break;
    case kAttributeMostSharedBytes: *value = kMostSharedBytes; break;
    default:
      if (which < kAttributeMostThreadsX || which >= kAttributeMostBlocksX + 3) {
        return Result::kInvalidValue;
      }
      *value = kMostAlong[which - kAttributeMostThreadsX];
  }
  return Result::kSuccess;
}

Result device_total_memory(std::size_t* bytes, DeviceNumber device) {
  if (!is_device(device)) return Result::kInvalidDevice;
  *bytes = static_cast<std::size_t>(
      number_of("TENURE_FAKE_CUDA_MEMORY", static_cast<long>(std::size_t{8} << 30)));
  return Result::kSuccess;
}

Result device_default_pool(Pool* pool, DeviceNumber device) {
  if (!is_device(device)) return Result::kInvalidDevice;
  *pool = &state().pools[device];
  (*pool)->device = device;
  return Result::kSuccess;
}

Result primary_retain(PrimaryContext* context, DeviceNumber device) {
  if (!is_device(device)) return Result::kInvalidDevice;
  *context = &state().contexts[device];
  (*context)->device = device;
  ++(*context)->retained;
  return Result::kSuccess;
}

Result context_current(PrimaryContext* context) {
  *context = current();
  return Result::kSuccess;
}

Result context_push(PrimaryContext context) {
  if (context == nullptr || context->retained == 0) return Result::kInvalidContext;
  contexts().push_back(context);
  return Result::kSuccess;
}

Result context_pop(PrimaryContext* context) {
  if (contexts().empty()) return Result::kInvalidContext;
  *context = contexts().back();
  contexts().pop_back();
  return Result::kSuccess;
}

Result context_synchronize() {
  if (current() == nullptr) return Result::kInvalidContext;
  for (const auto& stream : state().streams) {
    if (stream->context != current()) continue;
    const Result result = run_to(*stream, nullptr);
    if (result != Result::kSuccess) return result;
  }
  return state().failure;
}

}  // namespace fake
