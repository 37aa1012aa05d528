// Engines: what TENURE_ENGINE and a context may ask for, in any build.
#include "tenure/engine.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "expect_error.hpp"
#include "strided_floats.hpp"
#include "tenure/ops.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

tnr_context_options with_engine(tnr_engine engine) {
  tnr_context_options wanted = options(1);
  wanted.engine = engine;
  return wanted;
}

bool has_onednn() { return onednn_version() != nullptr; }

// ---- a context's choice --------------------------------------------------------------------------

TEST(Engine, OfAContextIsThere) {
  for (const tnr_engine engine :
       {TNR_ENGINE_ENVIRONMENT, TNR_ENGINE_OWN, TNR_ENGINE_ONEDNN, TNR_ENGINE_AUTO}) {
    if (engine == TNR_ENGINE_ONEDNN && !has_onednn()) continue;
    const ContextToken token = context_create(with_engine(engine));
    {
      const ContextUse use(token);
      EXPECT_EQ(static_cast<const Context&>(use).engine(), engine);
    }
    context_release(token);
  }
}

TEST(Engine, ThatIsNotInTheBuildIsUnsupported) {
  if (has_onednn()) GTEST_SKIP() << "oneDNN is in this build";
  expect_error(TNR_STATUS_UNSUPPORTED, {"oneDNN", "not in this build", "TENURE_WITH_ONEDNN"},
               [] { context_create(with_engine(TNR_ENGINE_ONEDNN)); });
}

TEST(Engine, OfAVendorNeedsADevice) {
  expect_error(TNR_STATUS_UNSUPPORTED, {"engine is vendor", "the device is the CPU"},
               [] { context_create(with_engine(TNR_ENGINE_VENDOR)); });
}

TEST(Engine, NumbersThatNameNoneAreRefused) {
  for (const tnr_engine engine : {-1, 5, INT32_MAX}) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"engine is " + std::to_string(engine)},
                 [&] { context_create(with_engine(engine)); });
  }
}

// ---- the environment's, in child processes, which start with nothing chosen ----------------------

enum class Product { kMatmul, kConv2d };

// A product in this context, twice.
[[noreturn]] void multiply_twice_and_exit(const char* wanted, Product product, tnr_engine engine) {
  setenv("TENURE_ENGINE", wanted, 1);
  const ContextToken token = context_create(with_engine(engine));
  const ContextUse context(token);
  tnr_conv2d_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  std::string said;
  tnr_status status = TNR_STATUS_OK;
  for (int i = 0; i < 2; ++i) {
    const Shape shape = product == Product::kMatmul ? Shape{3, 3} : Shape{3, 3, 1, 1};
    Operand<float> a(shape, 2);
    Operand<float> b(shape, 1);
    Operand<float> out(shape);
    try {
      if (product == Product::kMatmul) {
        matmul(context, number(1.0f), a.view, b.view, number(0.0f), out.out());
      } else {
        conv2d(context, a.view, b.view, nullptr, attributes, out.out());
      }
      said += std::to_string(out.memory[4]);
    } catch (const Error& error) {
      status = error.status();
      said += error.message();
    }
    said += '\n';
  }
  std::fputs(said.c_str(), stderr);
  std::_Exit(status);
}

class Choice : public testing::TestWithParam<Product> {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

using EngineDeathTest = Choice;
INSTANTIATE_TEST_SUITE_P(Products, EngineDeathTest,
                         testing::Values(Product::kMatmul, Product::kConv2d));

TEST_P(EngineDeathTest, OfTheEnvironmentIsAskedForByName) {
  for (const std::string wanted : {"", "own", "auto", "vendor", "onednn"}) {
    if (wanted == "onednn" && !has_onednn()) continue;
    EXPECT_EXIT(multiply_twice_and_exit(wanted.c_str(), GetParam(), TNR_ENGINE_ENVIRONMENT),
                testing::ExitedWithCode(TNR_STATUS_OK), "^6.000000\n6.000000\n$");
  }
}

TEST_P(EngineDeathTest, OfAnUnknownNameIsAnErrorAtEveryCall) {
  const std::string message =
      "TENURE_ENGINE is \"mkl\" but must be one of: own, onednn, auto, vendor";
  EXPECT_EXIT(multiply_twice_and_exit("mkl", GetParam(), TNR_ENGINE_ENVIRONMENT),
              testing::ExitedWithCode(TNR_STATUS_INVALID_ARGUMENT),
              "^" + message + "\n" + message + "\n$");
}

TEST_P(EngineDeathTest, OfTheEnvironmentThatIsNotThereIsUnsupportedAtEveryCall) {
  if (has_onednn()) GTEST_SKIP() << "oneDNN is in this build";
  EXPECT_EXIT(multiply_twice_and_exit("onednn", GetParam(), TNR_ENGINE_ENVIRONMENT),
              testing::ExitedWithCode(TNR_STATUS_UNSUPPORTED),
              "oneDNN is not in this build.*\n.*oneDNN is not in this build");
}

TEST_P(EngineDeathTest, OfAContextComesBeforeTheEnvironment) {
  EXPECT_EXIT(multiply_twice_and_exit("mkl", GetParam(), TNR_ENGINE_OWN),
              testing::ExitedWithCode(TNR_STATUS_OK), "^6.000000\n6.000000\n$");
}

}  // namespace
}  // namespace tenure::test
