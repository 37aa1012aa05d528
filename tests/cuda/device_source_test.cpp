// Kernels of users by source, compiled by NVRTC: the real one where TENURE_NVRTC names it or a GPU
// exists, otherwise the one of fake_compiler.cpp. Only the latter tests the faults.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "device_child.hpp"
#include "device_floats.hpp"
#include "device_kernels.hpp"
#include "expect_status.hpp"

namespace {

using tenure::test::axpy;
using tenure::test::axpy_signature;
using tenure::test::context_on;
using tenure::test::download;
using tenure::test::expect_child_says;
using tenure::test::expect_refused;
using tenure::test::f32;
using tenure::test::Floats;
using tenure::test::grid_of;
using tenure::test::is_compiler_fake;
using tenure::test::Kernel;
using tenure::test::launch;
using tenure::test::number;
using tenure::test::out;
using tenure::test::scale_signature;
using tenure::test::Signature;
using tenure::test::source_options;
using tenure::test::Variable;

class DeviceSource : public tenure::test::OnDeviceWithCompiler {
 protected:
  void SetUp() override {
    OnDeviceWithCompiler::SetUp();
    if (context_ == nullptr) return;
    const Signature none;
    const tnr_kernel_options options = source_options("nothing", none);
    tnr_kernel* const kernel = tnr_kernel_create(context_, &options);
    if (kernel == nullptr && tnr_last_error()->status == TNR_STATUS_UNSUPPORTED) {
      GTEST_SKIP() << tnr_last_error()->message;
    }
    ASSERT_NE(kernel, nullptr) << tnr_last_error()->message;
    EXPECT_EQ(tnr_kernel_release(kernel), TNR_STATUS_OK);
  }

  // The message of a source that does not compile.
  void expect_words(const tnr_kernel_options& options, std::initializer_list<std::string> words) {
    expect_refused(tnr_kernel_create(context_, &options), TNR_STATUS_INVALID_ARGUMENT, words);
  }
};

class DeviceSourceFault : public DeviceSource {
 protected:
  void SetUp() override {
    tenure::test::use_fake_compiler();
    if (!is_compiler_fake()) GTEST_SKIP() << "the compiler cannot be made to fail";
    DeviceSource::SetUp();
  }
};

int compiled_count() {
  const char* const count = std::getenv("TENURE_FAKE_NVRTC_COUNT");
  return count == nullptr ? 0 : std::atoi(count);
}

tnr_kernel_options with_compiler_options(tnr_kernel_options options,
                                         const std::vector<const char*>& given) {
  options.compiler_options = given.data();
  options.compiler_option_count = static_cast<std::uint32_t>(given.size());
  return options;
}

TEST_F(DeviceSource, IsCompiledAndLaunched) {
  const Kernel kernel(context_, source_options("axpy", axpy_signature()));
  const Floats x(context_, {1, 2, 3});
  const Floats y(context_, {10, 20, 30});
  ASSERT_EQ(axpy(context_, kernel, 2, *x.in(), y.out), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(download(context_, *y.in()), (std::vector<float>{12, 24, 36}));
}

// By default: the bits are those of the CPU.
TEST_F(DeviceSource, ProductsAndSumsAreRoundedEach) {
  const Kernel kernel(context_, source_options("axpy", axpy_signature()));
  const float x = 1.0f + 0x1p-12f;
  const Floats a(context_, {x});
  const Floats b(context_, {-x * x});
  ASSERT_EQ(axpy(context_, kernel, x, *a.in(), b.out), TNR_STATUS_OK);
  EXPECT_EQ(download(context_, *b.in()), std::vector<float>{0.0f});
}

TEST_F(DeviceSource, TakesAnyExpressionThatNamesAKernel) {
  if (tenure::test::is_driver_fake() && !is_compiler_fake()) {
    GTEST_SKIP() << "the fake driver does not know the name that the true compiler gives it";
  }
  const Kernel kernel(context_, source_options("scale<float>", scale_signature()));
  const Floats values(context_, {1, 2, 3, 4});
  const tnr_scalar factor = f32(3);
  ASSERT_EQ(launch(context_, kernel, grid_of({}, {32}), {out(values.out), number(factor)}),
            TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(download(context_, *values.in()), (std::vector<float>{3, 6, 9, 12}));
}

TEST_F(DeviceSource, SaysWhatDoesNotCompile) {
  const Signature signature = axpy_signature();
  tnr_kernel_options options = source_options("axpy", signature);
  const std::string broken = "extern \"C\" __global__ void axpy(float* x) {\n  x[0] = 1;\n";
  options.source = broken.c_str();
  expect_words(options, {"kernel axpy does not compile: ", "error: expected a \"}\""});
  options = source_options("nope", signature);
  expect_words(options, {"kernel nope does not compile", "identifier \"nope\" is undefined"});
}

TEST_F(DeviceSource, OptionsThatAreNoneAreRefused) {
  const Signature signature = axpy_signature();
  tnr_kernel_options options = source_options("axpy", signature);
  options.image_bytes = 3;
  expect_words(options, {"image_bytes is 3"});
  options = source_options("axpy", signature);
  options.compiler_option_count = 1;
  expect_words(options, {"compiler_options is NULL"});
  options.compiler_option_count = 65;
  expect_words(options, {"compiler_option_count is 65", "64"});
  expect_words(with_compiler_options(options, {"--fmad=true", nullptr}),
               {"compiler_options[1] is NULL"});
  expect_words(with_compiler_options(options, {""}), {"compiler_options[0] is empty"});
  expect_words(with_compiler_options(options, {"--no-such-option"}),
               {"kernel axpy does not compile"});
}

// Where the architecture is one that no device has there is PTX, which the driver compiles.
TEST_F(DeviceSource, MayBeCompiledToPtx) {
  const Signature signature = axpy_signature();
  const std::vector<const char*> ptx = {"--gpu-architecture=compute_80"};
  const Kernel kernel(context_, with_compiler_options(source_options("axpy", signature), ptx));
  const Floats x(context_, {1, 2, 3});
  const Floats y(context_, {10, 20, 30});
  ASSERT_EQ(axpy(context_, kernel, 2, *x.in(), y.out), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(download(context_, *y.in()), (std::vector<float>{12, 24, 36}));
}

TEST_F(DeviceSourceFault, OptionsAreTheCallersAndOurs) {
  const Signature signature = axpy_signature();
  const auto expect = [&](std::vector<const char*> given, const std::string& all) {
    given.push_back("--no-such-option");
    expect_words(with_compiler_options(source_options("axpy", signature), given),
                 {"among the options " + all});
  };
  expect({}, "--no-such-option --gpu-architecture=sm_90 --fmad=false");
  expect({"--fmad=true"}, "--fmad=true --no-such-option --gpu-architecture=sm_90");
  expect({"--use_fast_math"}, "--use_fast_math --no-such-option --gpu-architecture=sm_90");
  expect({"-arch=sm_80"}, "-arch=sm_80 --no-such-option --fmad=false");
  expect({"--gpu-architecture", "sm_90a"},
         "--gpu-architecture sm_90a --no-such-option --fmad=false");
}

TEST_F(DeviceSourceFault, TheSameIsCompiledOnce) {
  const Variable devices("TENURE_FAKE_CUDA_DEVICES", "2");
  tnr_context* const other = context_on({TNR_DEVICE_KIND_CUDA, 1});
  ASSERT_NE(other, nullptr) << tnr_last_error()->message;
  const int before = compiled_count();
  const std::vector<const char*> given = {"--maxrregcount=32"};
  const Signature signature = axpy_signature();
  const tnr_kernel_options options =
      with_compiler_options(source_options("axpy", signature), given);
  for (int i = 0; i < 3; ++i) {
    const Kernel kernel(context_, options);
    const Kernel again(context_, options);
    EXPECT_EQ(compiled_count(), before + 1);
  }
  // Another name, other options, another source, another device.
  const Kernel named(context_, with_compiler_options(source_options("nothing", {}), given));
  EXPECT_EQ(compiled_count(), before + 2);
  const std::vector<const char*> twice = {"--maxrregcount=32", "--maxrregcount=32"};
  const Kernel differing(context_, with_compiler_options(source_options("axpy", signature), twice));
  EXPECT_EQ(compiled_count(), before + 3);
  const std::string source = std::string(tenure::test::kUserSource) + "\n";
  tnr_kernel_options longer = options;
  longer.source = source.c_str();
  const Kernel changed(context_, longer);
  EXPECT_EQ(compiled_count(), before + 4);
  const Kernel elsewhere(other, options);
  EXPECT_EQ(compiled_count(), before + 5);
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

// The cache is bounded: the oldest goes.
TEST_F(DeviceSourceFault, WhatNobodyHoldsIsKeptForAWhile) {
  const auto make = [&](int number) {
    const std::string source =
        tenure::test::kUserSource + std::string(1, '\n') + "// " + std::to_string(number);
    tnr_kernel_options options = source_options("nothing", {});
    options.source = source.c_str();
    const Kernel kernel(context_, options);
  };
  const int before = compiled_count();
  for (int i = 0; i < 40; ++i) make(i);
  EXPECT_EQ(compiled_count(), before + 40);
  make(39);
  EXPECT_EQ(compiled_count(), before + 40);
  make(0);
  EXPECT_EQ(compiled_count(), before + 41);
}

TEST_F(DeviceSourceFault, EachEntryPointMayFail) {
  const Signature signature = axpy_signature();
  const std::vector<const char*> ptx = {"-arch=compute_80", "--device-debug"};
  const tnr_kernel_options options = with_compiler_options(source_options("axpy", signature), ptx);
  for (const char* const name :
       {"nvrtcCreateProgram", "nvrtcAddNameExpression", "nvrtcCompileProgram",
        "nvrtcGetLoweredName", "nvrtcGetCUBINSize", "nvrtcGetPTXSize", "nvrtcGetPTX"}) {
    const Variable fail("TENURE_FAKE_NVRTC_FAIL", name);
    const std::string words = std::string(name).substr(0, std::string(name).find("Size"));
    expect_refused(tnr_kernel_create(context_, &options), TNR_STATUS_INTERNAL,
                   {"kernel axpy", words, "gives 11"});
  }
  const Variable memory("TENURE_FAKE_NVRTC_FAIL", "nvrtcCreateProgram:1");
  expect_refused(tnr_kernel_create(context_, &options), TNR_STATUS_OUT_OF_MEMORY,
                 {"nvrtcCreateProgram"});
  const Variable name("TENURE_FAKE_NVRTC_FAIL", "nvrtcGetLoweredName:10");
  expect_words(options, {"name is axpy, which no kernel of the source has"});
  const tnr_kernel_options cubin = source_options("masked_crop", signature);
  const Variable get("TENURE_FAKE_NVRTC_FAIL", "nvrtcGetCUBIN");
  expect_refused(tnr_kernel_create(context_, &cubin), TNR_STATUS_INTERNAL, {"nvrtcGetCUBIN"});
  // The words of the compiler, too.
  for (const char* const which : {"nvrtcGetProgramLogSize", "nvrtcGetProgramLog"}) {
    const Variable log("TENURE_FAKE_NVRTC_FAIL", which);
    tnr_kernel_options broken = options;
    broken.source = "{";
    expect_refused(tnr_kernel_create(context_, &broken), TNR_STATUS_INTERNAL,
                   {"nvrtcGetProgramLog"});
  }
}

// The first compilation of a process. The test below runs it in a process of its own.
TEST(DeviceChild, DISABLED_Run) {
  tnr_context* const context = context_on(tenure::test::kFirstDevice);
  ASSERT_NE(context, nullptr) << tnr_last_error()->message;
  const Signature signature;
  const tnr_kernel_options options = source_options("nothing", signature);
  tnr_kernel* const kernel = tnr_kernel_create(context, &options);
  std::printf("message: %s: %s\n",
              kernel == nullptr ? tnr_status_name(tnr_last_error()->status) : "none",
              kernel == nullptr ? tnr_last_error()->message : "");
  EXPECT_EQ(tnr_kernel_release(kernel), TNR_STATUS_OK);
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST_F(DeviceSourceFault, EachReasonForNoCompilerIsNamed) {
  expect_child_says("TENURE_NVRTC=/nonexistent.so",
                    "UNSUPPORTED: a source needs NVRTC, CUDA's compiler, which cannot be opened: "
                    "/nonexistent.so");
  expect_child_says("TENURE_NVRTC=libm.so.6", "UNSUPPORTED: NVRTC, CUDA's compiler, has no nvrtc");
  expect_child_says("TENURE_FAKE_NVRTC_FAIL=nvrtcVersion", "message: none");
}

// Where none is named and none is in the folders that the system searches.
TEST_F(DeviceSourceFault, TheNamesThatWereTriedAreTold) {
  const tenure::test::Child child = tenure::test::run_child("TENURE_NVRTC=");
  EXPECT_EQ(child.status, 0) << child.output;
  if (child.output.find("message: none") != std::string::npos) {
    GTEST_SKIP() << "this system has an NVRTC";
  }
  EXPECT_NE(child.output.find("libnvrtc.so.13"), std::string::npos) << child.output;
  EXPECT_NE(child.output.find("libnvrtc.so.12"), std::string::npos) << child.output;
}

}  // namespace
