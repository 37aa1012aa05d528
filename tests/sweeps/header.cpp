#include "header.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace tenure::sweeps {
namespace {

std::string content_of(const char* path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Without comments, in which functions are named too.
const std::string& header() {
  static const std::string text = [] {
    std::string all;
    for (const char* const name : {"memory", "view", "dense", "sparse", "program", "device"}) {
      all += content_of((TENURE_HEADERS + std::string(name) + ".h").c_str());
    }
    std::string bare;
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t begin = std::min(all.find("/*", at), all.size());
      bare.append(all, at, begin - at);
      const std::size_t end = all.find("*/", begin);
      at = end == std::string::npos ? all.size() : end + 2;
    }
    return bare;
  }();
  return text;
}

std::vector<Constant> read_codes(const std::string& type) {
  std::string prefix = "#define ";
  for (const char letter : type) {
    prefix += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  prefix += '_';
  std::vector<Constant> codes;
  std::istringstream lines(header());
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(prefix, 0) != 0) continue;
    std::istringstream words(line.substr(std::string("#define ").size()));
    Constant constant;
    if (words >> constant.name >> constant.value) codes.push_back(constant);
  }
  EXPECT_FALSE(codes.empty()) << type;
  return codes;
}

std::map<std::string, std::vector<Constant>>& codes_read() {
  static std::map<std::string, std::vector<Constant>> types;
  return types;
}

}  // namespace

const std::vector<Constant>& codes_of(const std::string& type) {
  auto& types = codes_read();
  const auto known = types.find(type);
  if (known != types.end()) return known->second;
  return types.emplace(type, read_codes(type)).first->second;
}

std::vector<std::string> types_asked_for() {
  std::vector<std::string> names;
  for (const auto& [name, codes] : codes_read()) names.push_back(name);
  return names;
}

bool Declaration::mentions(const std::string& word) const {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = parameters.find(word); at != std::string::npos;
       at = parameters.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_part(parameters[at - 1])) &&
        (end == parameters.size() || !is_part(parameters[end]))) {
      return true;
    }
  }
  return false;
}

std::vector<Declaration> exported_functions() {
  const std::string map = content_of(TENURE_VERSION_SCRIPT);
  std::vector<Declaration> declarations;
  std::istringstream words(map);
  for (std::string function; words >> function;) {
    if (function.rfind("tnr_", 0) != 0) continue;
    function.pop_back();  // a semicolon
    // Not where it is named as what releases another's result: there no list follows.
    std::size_t begin = std::string::npos;
    for (const char before : {' ', '*', '\n'}) {
      if (begin == std::string::npos) begin = header().find(before + function + "(");
    }
    EXPECT_NE(begin, std::string::npos) << function << " is exported but not declared";
    if (begin == std::string::npos) continue;
    const std::size_t open = header().find('(', begin);
    declarations.push_back({function, header().substr(open, header().find(';', open) - open)});
  }
  return declarations;
}

std::vector<std::string> code_types() {
  const std::string before = "typedef int32_t ";
  std::vector<std::string> names;
  std::istringstream lines(header());
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(before, 0) != 0) continue;
    names.push_back(line.substr(before.size(), line.find(';') - before.size()));
  }
  return names;
}

}  // namespace tenure::sweeps
