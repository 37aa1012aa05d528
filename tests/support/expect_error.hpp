// Checks of a refusal by the core: its status, and words of its message.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>

#include "tenure/status.hpp"

namespace tenure::test {

// `words` are the parts the message must have, above all the value and the bound.
inline void expect_error(tnr_status status, std::initializer_list<std::string> words,
                         const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_STREQ(status_name(error.status()), status_name(status));
    const std::string message = error.message();
    for (const std::string& word : words) {
      EXPECT_NE(message.find(word), std::string::npos) << "no \"" << word << "\" in: " << message;
    }
    return;
  }
  ADD_FAILURE() << "nothing was refused, expected " << status_name(status);
}

}  // namespace tenure::test
