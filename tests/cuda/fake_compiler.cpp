// An NVRTC with no compiler behind it, in the fake driver's library: the entry points that
// core/src/cuda/compiler.cpp asks for. It is opened where TENURE_NVRTC names that library. The
// result is a cubin which names the source's kernels, for fake_images.cpp, or PTX that does. It
// finds the errors that tests make: lone braces, invalid names, and the option --no-such-option;
// and in the kernel of an expression each text that compiled_expressions.inc does not have, so that
// the kernel that runs is the one that the library requested. All of the environment is read at
// each call:
//
//   TENURE_FAKE_NVRTC_FAIL=NAME[:CODE]  an entry point fails, with 11 where there is no code
//   TENURE_FAKE_NVRTC_COUNT             (written) how many sources were compiled
//   TENURE_FAKE_NVRTC_RECORD=FILE       texts that compiled_expressions.inc has not go to the end of
//                                       the file, and the interpreter runs in their place
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "compiled_expressions_text.hpp"
#include "fake_images.hpp"
#include "fake_library.hpp"

namespace {

constexpr int kCompilation = 6;
constexpr int kInvalidOption = 5;
constexpr int kInternal = 11;

int refusal_of(const char* name) {
  return fake::refusal_of("TENURE_FAKE_NVRTC_FAIL", name, kInternal);
}

constexpr const char kExpressionName[] = "tenure_expression_";

// The kernel of an expression without what all have, or "".
std::string own_of(const std::string& text) {
  const std::size_t at = text.rfind("namespace tenure::cuda {\nstruct Of_");
  return at == std::string::npos ? "" : text.substr(at);
}

bool record(const std::string& expression) {
  const char* const path = std::getenv("TENURE_FAKE_NVRTC_RECORD");
  return path != nullptr && std::ofstream(path, std::ios::app) << '\n' << expression;
}

// As PTX has it, for the fake driver.
std::string entries(const std::vector<std::string>& names) {
  std::string text = ".version 9.0\n";
  for (const std::string& name : names) text += ".visible .entry " + name + "()\n";
  return text;
}

// An ELF file of 64 bits without sections, whose end is where they would begin.
std::string cubin_of(const std::string& text) {
  std::string cubin(64, '\0');
  std::memcpy(cubin.data(), "\177ELF\2", 5);
  cubin += text;
  const std::uint64_t end = cubin.size();
  std::memcpy(cubin.data() + 40, &end, sizeof end);
  return cubin;
}

}  // namespace

struct ProgramOfCompiler {
  std::string text;
  std::string name;
  std::string symbol;
  std::string log;
  std::string cubin;
  std::string ptx;

  int compile(const std::vector<std::string>& options) {
    std::string all;
    for (const std::string& option : options) all += " " + option;
    const auto has = [&](const char* word) { return all.find(word) != std::string::npos; };
    if (has("--no-such-option")) {
      log = "nvrtc: error: --no-such-option among the options" + all + "\n";
      return kInvalidOption;
    }
    if (const int line = fake::line_of_lone_brace(text); line != 0) {
      log = "source(" + std::to_string(line) + "): error: expected a \"}\"\n\n1 error\n";
      return kCompilation;
    }
    std::vector<std::string> names = fake::names_after(text, "__global__ void ");
    symbol = name;
    if (name.rfind(kExpressionName, 0) == 0) {
      const std::string own = own_of(text);
      if (std::string(fake::kCompiledExpressions).find(own) == std::string::npos) {
        if (!record(own)) {
          log = "tests/cuda/compiled_expressions.inc has no such text\n";
          return kCompilation;
        }
        symbol = "tenure_expression";
      }
      names.push_back(name);
      names.push_back(symbol);
    }
    const std::string plain = name.substr(0, name.find('<'));
    if (std::find(names.begin(), names.end(), plain) == names.end()) {
      log = "source(1): error: identifier \"" + plain + "\" is undefined\n";
      return kCompilation;
    }
    names.push_back(name);
    ptx = entries(names);
    if (!has("=compute_")) cubin = cubin_of(ptx);
    return 0;
  }
};

#define TENURE_FAKE_NVRTC(name, parameters)                      \
  extern "C" [[gnu::visibility("default")]] int name parameters; \
  int name parameters

namespace {

int give_bytes(const char* name, const std::string& from, std::size_t* bytes) {
  if (const int refusal = refusal_of(name); refusal != 0) return refusal;
  *bytes = from.size();
  return 0;
}
int give(const char* name, const std::string& from, char* to) {
  if (const int refusal = refusal_of(name); refusal != 0) return refusal;
  std::memcpy(to, from.data(), from.size());
  return 0;
}

}  // namespace

TENURE_FAKE_NVRTC(nvrtcVersion, (int* major, int* minor)) {
  if (const int refusal = refusal_of("nvrtcVersion"); refusal != 0) return refusal;
  *major = 13;
  *minor = 0;
  return 0;
}

TENURE_FAKE_NVRTC(nvrtcCreateProgram,
                  (ProgramOfCompiler * *program, const char* text, const char* name,
                   int header_count, const char* const* headers, const char* const* header_names)) {
  if (const int refusal = refusal_of("nvrtcCreateProgram"); refusal != 0) return refusal;
  if (name == nullptr || header_count != 0 || headers != nullptr || header_names != nullptr) {
    return kInternal;
  }
  *program = new ProgramOfCompiler{text, "", "", "", "", ""};
  return 0;
}

TENURE_FAKE_NVRTC(nvrtcAddNameExpression, (ProgramOfCompiler * program, const char* expression)) {
  if (const int refusal = refusal_of("nvrtcAddNameExpression"); refusal != 0) return refusal;
  program->name = expression;
  return 0;
}

TENURE_FAKE_NVRTC(nvrtcCompileProgram,
                  (ProgramOfCompiler * program, int option_count, const char* const* options)) {
  if (const int refusal = refusal_of("nvrtcCompileProgram"); refusal != 0) return refusal;
  fake::count_in("TENURE_FAKE_NVRTC_COUNT");
  return program->compile({options, options + option_count});
}

TENURE_FAKE_NVRTC(nvrtcGetProgramLogSize, (ProgramOfCompiler * program, std::size_t* bytes)) {
  const int result = give_bytes("nvrtcGetProgramLogSize", program->log, bytes);
  if (result == 0) ++*bytes;  // for the 0 at its end
  return result;
}
TENURE_FAKE_NVRTC(nvrtcGetProgramLog, (ProgramOfCompiler * program, char* log)) {
  const int result = give("nvrtcGetProgramLog", program->log, log);
  if (result == 0) log[program->log.size()] = '\0';
  return result;
}

TENURE_FAKE_NVRTC(nvrtcGetLoweredName,
                  (ProgramOfCompiler * program, const char* expression, const char** lowered)) {
  if (const int refusal = refusal_of("nvrtcGetLoweredName"); refusal != 0) return refusal;
  if (program->name != expression) return kInternal;
  *lowered = program->symbol.c_str();
  return 0;
}

TENURE_FAKE_NVRTC(nvrtcGetCUBINSize, (ProgramOfCompiler * program, std::size_t* bytes)) {
  return give_bytes("nvrtcGetCUBINSize", program->cubin, bytes);
}
TENURE_FAKE_NVRTC(nvrtcGetCUBIN, (ProgramOfCompiler * program, char* cubin)) {
  return give("nvrtcGetCUBIN", program->cubin, cubin);
}
TENURE_FAKE_NVRTC(nvrtcGetPTXSize, (ProgramOfCompiler * program, std::size_t* bytes)) {
  return give_bytes("nvrtcGetPTXSize", program->ptx, bytes);
}
TENURE_FAKE_NVRTC(nvrtcGetPTX, (ProgramOfCompiler * program, char* ptx)) {
  return give("nvrtcGetPTX", program->ptx, ptx);
}

TENURE_FAKE_NVRTC(nvrtcDestroyProgram, (ProgramOfCompiler * *program)) {
  delete *program;
  *program = nullptr;
  return 0;
}
