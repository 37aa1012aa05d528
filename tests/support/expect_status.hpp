// Checks of a refusal by the C API: its status, and words of the thread's last error.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tenure/tenure.h"

namespace tenure::test {

// `words` are the parts the message must have, above all the value and the bound.
inline void expect_last_error(tnr_status status, std::initializer_list<std::string> words) {
  const tnr_error& error = *tnr_last_error();
  EXPECT_STREQ(tnr_status_name(error.status), tnr_status_name(status));
  EXPECT_EQ(error.reserved, 0u);
  const std::string message = error.message;
  for (const std::string& word : words) {
    EXPECT_NE(message.find(word), std::string::npos) << "no \"" << word << "\" in: " << message;
  }
}

// For functions that answer with a status.
inline void expect_refused(tnr_status answer, tnr_status status,
                           std::initializer_list<std::string> words) {
  EXPECT_STREQ(tnr_status_name(answer), tnr_status_name(status));
  expect_last_error(status, words);
}

// For functions that answer with a pointer.
inline void expect_refused(const void* answer, tnr_status status,
                           std::initializer_list<std::string> words) {
  EXPECT_EQ(answer, nullptr);
  expect_last_error(status, words);
}

}  // namespace tenure::test
