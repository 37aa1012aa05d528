// Kernels of users for tests: user_kernels.cu, from an image or a source, and launches of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "device_fixture.hpp"
#include "tenure/tenure.h"
#include "user_kernels_text.hpp"

namespace tenure::test {

// Whether NVRTC is the one of fake_compiler.cpp.
inline bool is_compiler_fake() {
  const char* const compiler = std::getenv("TENURE_NVRTC");
  return is_driver_fake() && compiler != nullptr &&
         std::strcmp(compiler, std::getenv("TENURE_CUDA_DRIVER")) == 0;
}

// The fake driver's library is the fake compiler's. One that the environment names is used.
inline void use_fake_compiler() {
  if (is_driver_fake()) setenv("TENURE_NVRTC", std::getenv("TENURE_CUDA_DRIVER"), 0);
}

// ---- signatures ----

using Signature = std::vector<tnr_kernel_parameter>;

inline tnr_kernel_parameter input(tnr_dtype dtype, std::uint32_t least, std::uint32_t most,
                                  std::uint32_t flags = 0) {
  return {TNR_KERNEL_ARGUMENT_KIND_INPUT, dtype, least, most, flags, 0};
}
inline tnr_kernel_parameter output(tnr_dtype dtype, std::uint32_t least, std::uint32_t most,
                                   std::uint32_t flags = 0) {
  return {TNR_KERNEL_ARGUMENT_KIND_OUTPUT, dtype, least, most, flags, 0};
}
inline tnr_kernel_parameter scalar(tnr_dtype dtype) {
  return {TNR_KERNEL_ARGUMENT_KIND_SCALAR, dtype, 0, 0, 0, 0};
}

inline Signature crop_signature() {
  return {input(TNR_DTYPE_U8, 3, 3), input(TNR_DTYPE_BOOL8, 2, 2), scalar(TNR_DTYPE_I64),
          scalar(TNR_DTYPE_I64), output(TNR_DTYPE_U8, 3, 3)};
}
inline Signature axpy_signature() {
  return {scalar(TNR_DTYPE_F32), input(TNR_DTYPE_F32, 0, 8, TNR_KERNEL_POINTER),
          output(TNR_DTYPE_F32, 0, 8, TNR_KERNEL_POINTER), scalar(TNR_DTYPE_I64)};
}
inline Signature describe_signature() {
  return {input(TNR_DTYPE_F32, 0, 3), output(TNR_DTYPE_I64, 1, 1, TNR_KERNEL_POINTER)};
}
inline Signature places_signature() { return {output(TNR_DTYPE_I32, 2, 2, TNR_KERNEL_POINTER)}; }
inline Signature scale_signature() { return {output(TNR_DTYPE_F32, 1, 1), scalar(TNR_DTYPE_F32)}; }

// ---- kernels ----

inline tnr_kernel_options options_of(const char* name, const Signature& signature) {
  tnr_kernel_options options = {};
  options.struct_size = sizeof options;
  options.name = name;
  options.parameters = signature.data();
  options.parameter_count = static_cast<std::uint32_t>(signature.size());
  return options;
}
inline tnr_kernel_options image_options(const char* name, const Signature& signature) {
  tnr_kernel_options options = options_of(name, signature);
  options.image = kUserPtx;
  options.image_bytes = sizeof kUserPtx - 1;
  return options;
}
inline tnr_kernel_options source_options(const char* name, const Signature& signature) {
  tnr_kernel_options options = options_of(name, signature);
  options.source = kUserSource;
  return options;
}

class Kernel {
 public:
  Kernel(tnr_context* context, const tnr_kernel_options& options)
      : handle_(tnr_kernel_create(context, &options)) {
    EXPECT_NE(handle_, nullptr) << tnr_last_error()->message;
  }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  ~Kernel() { release(); }

  void release() { EXPECT_EQ(tnr_kernel_release(std::exchange(handle_, nullptr)), TNR_STATUS_OK); }
  [[nodiscard]] tnr_kernel* handle() const { return handle_; }

 private:
  tnr_kernel* handle_;
};

// ---- launches ----

inline tnr_kernel_argument in(const tnr_view& view) { return {&view, nullptr, nullptr}; }
inline tnr_kernel_argument out(const tnr_view_mut& view) { return {nullptr, &view, nullptr}; }
inline tnr_kernel_argument number(const tnr_scalar& value) { return {nullptr, nullptr, &value}; }
inline tnr_scalar f32(float value) {
  tnr_scalar scalar = {};
  scalar.dtype = TNR_DTYPE_F32;
  std::memcpy(scalar.bytes, &value, sizeof value);
  return scalar;
}

struct Extents {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};
inline tnr_kernel_grid grid_of(Extents blocks, Extents threads, std::uint32_t shared_bytes = 0) {
  tnr_kernel_grid grid = {};
  grid.struct_size = sizeof grid;
  const std::uint32_t extents[2][3] = {{blocks.x, blocks.y, blocks.z},
                                       {threads.x, threads.y, threads.z}};
  std::memcpy(grid.blocks, extents[0], sizeof grid.blocks);
  std::memcpy(grid.threads, extents[1], sizeof grid.threads);
  grid.shared_bytes = shared_bytes;
  return grid;
}

inline tnr_status launch(tnr_context* context, const Kernel& kernel, const tnr_kernel_grid& grid,
                         const std::vector<tnr_kernel_argument>& arguments) {
  return tnr_kernel_launch(context, kernel.handle(), &grid, arguments.data(),
                           static_cast<std::uint32_t>(arguments.size()));
}

// y = alpha x + y, all of it.
inline tnr_status axpy(tnr_context* context, const Kernel& kernel, float alpha, const tnr_view& x,
                       const tnr_view_mut& y) {
  const tnr_scalar factor = f32(alpha);
  const tnr_scalar count = tnr_scalar_i64(tnr_view_count(&x));
  return launch(context, kernel, grid_of({3}, {64}),
                {number(factor), in(x), out(y), number(count)});
}

class OnDeviceWithCompiler : public OnDevice {
 protected:
  void SetUp() override {
    use_fake_compiler();
    OnDevice::SetUp();
  }
};

}  // namespace tenure::test
