// Runs one test of this program in a process of its own, because a process searches for a driver
// or a compiler only once, at the first use.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "cuda/driver.hpp"

namespace tenure::test {

struct Child {
  int status;
  std::string output;
};

inline Child run_child(const std::string& variables, const std::string& test = "Run") {
  char path[4096] = {};
  EXPECT_GT(readlink("/proc/self/exe", path, sizeof path - 1), 0);
  // Handles that cannot be given back, because that was refused, are leaked.
  const std::string command = "ASAN_OPTIONS=detect_leaks=0 " + variables + " " + path +
                              " --gtest_filter=DeviceChild.DISABLED_" + test +
                              " --gtest_also_run_disabled_tests 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  Child child = {-1, ""};
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) child.output += line;
  child.status = pclose(pipe);
  return child;
}

inline void expect_child_says(const std::string& variables, const std::string& words) {
  const Child child = run_child(variables);
  EXPECT_EQ(child.status, 0) << variables << "\n" << child.output;
  EXPECT_NE(child.output.find("message: "), std::string::npos) << variables << "\n" << child.output;
  EXPECT_NE(child.output.find(words), std::string::npos)
      << "\"" << words << "\" expected of " << variables << "\n"
      << child.output;
}

// Memory whose end the driver refuses, and handles, stay where they are.
inline bool is_end_of_something(const std::string& entry_point) {
  return entry_point.find("Free") != std::string::npos ||
         entry_point.find("Destroy") != std::string::npos;
}

// Lets each entry point of the driver fail in turn, at one of its first four calls and at every
// call. The child gets only allowed results and leaves nothing allocated. Without a failure it
// prints no message.
inline void expect_failures_leave_nothing() {
  const Child well = run_child("TENURE_FAKE_CUDA_LEAKS=1");
  EXPECT_EQ(well.status, 0) << well.output;
  EXPECT_EQ(well.output.find("message: "), std::string::npos) << well.output;
#define TENURE_NAME(member, name, version, parameters) name,
  for (const std::string name : {TENURE_CUDA_ALL_ENTRY_POINTS(TENURE_NAME)}) {
#undef TENURE_NAME
    if (is_end_of_something(name)) continue;
    for (const char* const nth : {":1", ":2", ":3", ":4", ""}) {
      const Child child = run_child("TENURE_FAKE_CUDA_LEAKS=1 TENURE_FAKE_CUDA_FAIL=" + name + nth);
      EXPECT_EQ(child.status, 0) << name << nth << "\n" << child.output;
    }
  }
}

}  // namespace tenure::test
