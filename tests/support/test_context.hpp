// A context for as long as a test needs it.
#pragma once

#include <cstdint>

#include "context_options.hpp"
#include "tenure/context.hpp"

namespace tenure::test {

// A context of `thread_count` threads, in use while it lives.
class TestContext {
 public:
  explicit TestContext(std::uint32_t thread_count)
      : token_(context_create(options(thread_count))), use_(token_) {}
  TestContext(const TestContext&) = delete;
  TestContext& operator=(const TestContext&) = delete;
  ~TestContext() { context_release(token_); }

  operator const Context&() const { return use_; }
  operator tnr_context*() const { return reinterpret_cast<tnr_context*>(token_); }

 private:
  ContextToken token_;
  ContextUse use_;
};

}  // namespace tenure::test
