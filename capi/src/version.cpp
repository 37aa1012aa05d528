#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "boundary.hpp"
#include "tenure/dtype.hpp"
#include "tenure/engine.hpp"
#include "tenure/instruction_set.hpp"
#include "tenure/status.hpp"

// Build facts from the compiler's own macros, so that no build system has to pass them on.
#define TENURE_VERSION_TEXT "0.1.0"
#if defined(__clang__)
#define TENURE_COMPILER_TEXT __VERSION__
#else
#define TENURE_COMPILER_TEXT "g++ " __VERSION__
#endif
#if defined(__OPTIMIZE__)
#define TENURE_OPTIMIZED_TEXT "optimized"
#else
#define TENURE_OPTIMIZED_TEXT "not optimized"
#endif
#if defined(NDEBUG)
#define TENURE_ASSERTIONS_TEXT "assertions off"
#else
#define TENURE_ASSERTIONS_TEXT "assertions on"
#endif

uint32_t tnr_abi_version() noexcept { return TNR_ABI_MAJOR << 16 | TNR_ABI_MINOR; }

namespace {

// The text, once it is known which kernels are used.
struct BuildInfo {
  char text[512];

  BuildInfo() noexcept {
    constexpr char kBuild[] = "tenure " TENURE_VERSION_TEXT ", " TENURE_COMPILER_TEXT
                              ", " TENURE_OPTIMIZED_TEXT ", " TENURE_ASSERTIONS_TEXT ", kernels:";
    append(kBuild, "");
    for (const tenure::InstructionSet& set : tenure::instruction_sets()) append(" ", set.name);
    append("; engines: own", "");
    if (const char* const version = tenure::onednn_version(); version != nullptr) {
      append(" onednn ", version);
    }
    try {
      append("; in use: ", tenure::instruction_set().name);
    } catch (const tenure::Error&) {
      append("; in use: ", "none");  // the first operation says why
    }
  }

 private:
  std::size_t length_ = 0;

  void append(const char* before, const char* name) noexcept {
    const int added = std::snprintf(text + length_, sizeof text - length_, "%s%s", before, name);
    length_ = std::min(length_ + static_cast<std::size_t>(added), sizeof text - 1);
  }
};

}  // namespace

const char* tnr_build_info() noexcept {
  static const BuildInfo info;
  return info.text;
}

const char* tnr_status_name(tnr_status status) noexcept { return tenure::status_name(status); }

const tnr_error* tnr_last_error() noexcept { return &tenure::last_error(); }

tnr_status tnr_set_last_error(tnr_status status, const char* message) noexcept {
  if (status == TNR_STATUS_OK) return status;
  return tenure::capi::record(status, message == nullptr ? "" : message);
}

size_t tnr_dtype_size_bytes(tnr_dtype dtype) noexcept { return tenure::element_size(dtype); }

const char* tnr_dtype_name(tnr_dtype dtype) noexcept { return tenure::dtype_name(dtype); }
