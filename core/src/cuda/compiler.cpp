#include "cuda/compiler.hpp"

#include <cstddef>
#include <cstdio>
#include <string_view>

#include "cuda/shared_library.hpp"
#include "tenure/status.hpp"

#if defined(__linux__)
#include <dlfcn.h>
#endif

namespace tenure::cuda {
namespace {

// nvrtcResult. A compiler may give others.
enum class Compiled : int {
  kSuccess = 0,
  kOutOfMemory = 1,
  kInvalidOption = 5,
  kCompilation = 6,
  kNameNotValid = 10,
};
using SourceProgram = struct ProgramOfCompiler*;  // nvrtcProgram

// X(member, the library's name, parameters)
#define TENURE_NVRTC_ENTRY_POINTS(X)                                                     \
  X(version, "nvrtcVersion", (int* major, int* minor))                                   \
  X(create, "nvrtcCreateProgram",                                                        \
    (SourceProgram * program, const char* text, const char* name, int header_count,      \
     const char* const* headers, const char* const* header_names))                       \
  X(add_name, "nvrtcAddNameExpression", (SourceProgram program, const char* expression)) \
  X(compile, "nvrtcCompileProgram",                                                      \
    (SourceProgram program, int option_count, const char* const* options))               \
  X(log_bytes, "nvrtcGetProgramLogSize", (SourceProgram program, std::size_t* bytes))    \
  X(log, "nvrtcGetProgramLog", (SourceProgram program, char* log))                       \
  X(lowered_name, "nvrtcGetLoweredName",                                                 \
    (SourceProgram program, const char* expression, const char** lowered))               \
  X(cubin_bytes, "nvrtcGetCUBINSize", (SourceProgram program, std::size_t* bytes))       \
  X(cubin, "nvrtcGetCUBIN", (SourceProgram program, char* cubin))                        \
  X(ptx_bytes, "nvrtcGetPTXSize", (SourceProgram program, std::size_t* bytes))           \
  X(ptx, "nvrtcGetPTX", (SourceProgram program, char* ptx))                              \
  X(destroy, "nvrtcDestroyProgram", (SourceProgram * program))

struct Compiler {
#define TENURE_NVRTC_MEMBER(member, name, parameters) Compiled(*member) parameters = nullptr;
  TENURE_NVRTC_ENTRY_POINTS(TENURE_NVRTC_MEMBER)
#undef TENURE_NVRTC_MEMBER
};

constexpr const char* kCompilerNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
constexpr SharedLibrary kCompilerLibrary = {"a source needs NVRTC, CUDA's compiler",
                                            "NVRTC, CUDA's compiler,", "TENURE_NVRTC",
                                            kCompilerNames};

constinit OpenedOnce<Compiler> g_compiler;

#if defined(__linux__)

// The compiler opens a second library of its own only by name, and finds it where it is open
// already. So this opens it from the compiler's folder, which the system may not search.
void open_builtins(const Compiler& table) {
  int major = 0;
  int minor = 0;
  Dl_info own = {};
  if (table.version(&major, &minor) != Compiled::kSuccess ||
      dladdr(reinterpret_cast<const void*>(table.version), &own) == 0) {
    return;
  }
  std::string path = own.dli_fname;
  path.resize(path.rfind('/') + 1);
  path += "libnvrtc-builtins.so." + std::to_string(major) + '.' + std::to_string(minor);
  // Where it is not there, compiling says so.
  static_cast<void>(dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL));
}

#else

void open_builtins(const Compiler&) {}

#endif

Compiler open_compiler() {
  void* const opened = open_shared(kCompilerLibrary);
  Compiler table;
#define TENURE_NVRTC_FIND(member, name, parameters) \
  find_entry(kCompilerLibrary, opened, table.member, name);
  TENURE_NVRTC_ENTRY_POINTS(TENURE_NVRTC_FIND)
#undef TENURE_NVRTC_FIND
  open_builtins(table);
  return table;
}

// A later call looks again where there was none.
const Compiler& compiler() { return g_compiler.get(open_compiler); }

// One source while it is compiled.
class Compilation {
 public:
  Compilation(const Compiler& table, const KernelSource& source) : table_(table), source_(source) {
    require(table.create(&program_, source.text, "source", 0, nullptr, nullptr),
            "nvrtcCreateProgram");
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;
  ~Compilation() { table_.destroy(&program_); }

  void run(const std::vector<const char*>& options) {
    require(table_.add_name(program_, source_.name), "nvrtcAddNameExpression");
    const Compiled result =
        table_.compile(program_, static_cast<int>(options.size()), options.data());
    if (result == Compiled::kCompilation || result == Compiled::kInvalidOption) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "kernel %s does not compile: %s", source_.name,
           log().c_str());
    }
    require(result, "nvrtcCompileProgram");
  }

  std::string symbol() const {
    const char* lowered = nullptr;
    const Compiled result = table_.lowered_name(program_, source_.name, &lowered);
    if (result == Compiled::kNameNotValid) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "name is %s, which no kernel of the source has",
           source_.name);
    }
    require(result, "nvrtcGetLoweredName");
    return lowered;
  }

  std::string image() const {
    std::string cubin = bytes(table_.cubin_bytes, table_.cubin, "nvrtcGetCUBIN");
    return !cubin.empty() ? cubin : bytes(table_.ptx_bytes, table_.ptx, "nvrtcGetPTX");
  }

 private:
  void require(Compiled result, const char* what) const {
    if (result == Compiled::kSuccess) return;
    fail(result == Compiled::kOutOfMemory ? TNR_STATUS_OUT_OF_MEMORY : TNR_STATUS_INTERNAL,
         "kernel %s: %s of CUDA's compiler gives %d", source_.name, what, static_cast<int>(result));
  }
  std::string bytes(Compiled (*count)(SourceProgram, std::size_t*),
                    Compiled (*get)(SourceProgram, char*), const char* what) const {
    std::size_t size_bytes = 0;
    require(count(program_, &size_bytes), what);
    std::string result(size_bytes, '\0');
    if (size_bytes != 0) require(get(program_, result.data()), what);
    return result;
  }
  // Without the space at its end.
  std::string log() const {
    std::string text = bytes(table_.log_bytes, table_.log, "nvrtcGetProgramLog");
    text.erase(text.find_last_not_of(std::string_view("\n \0", 3)) + 1);
    return text;
  }

  const Compiler& table_;
  const KernelSource& source_;
  SourceProgram program_ = nullptr;
};

bool is_about(const KernelSource& source, std::initializer_list<std::string_view> words) {
  for (const char* const option : source.options) {
    for (const std::string_view word : words) {
      if (std::string_view(option).find(word) != std::string_view::npos) return true;
    }
  }
  return false;
}

}  // namespace

std::string key_of(const KernelSource& source, const Device& device) {
  std::string key = std::to_string(device.capability());
  const auto add = [&key](const char* text) {
    key += '\0';
    key += text;
  };
  for (const char* const option : source.options) add(option);
  add("");  // no option: it is refused
  add(source.name);
  add(source.text);
  return key;
}

Code compile(const KernelSource& source, const Device& device) {
  const std::string architecture = "--gpu-architecture=sm_" + std::to_string(device.capability());
  std::vector<const char*> options = source.options;
  if (!is_about(source, {"-arch", "--gpu-architecture"})) options.push_back(architecture.c_str());
  // Each operation is rounded, as in the library's own kernels and on the CPU.
  if (!is_about(source, {"-fmad", "use_fast_math"})) options.push_back("--fmad=false");
  Compilation compilation(compiler(), source);
  compilation.run(options);
  return {compilation.image(), compilation.symbol(), key_of(source, device)};
}

}  // namespace tenure::cuda
