#include "cuda/compiled/compiled_expressions.hpp"

#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/mutex.hpp"
#include "cuda/compiled/expression_source.hpp"
#include "cuda/compiler.hpp"
#include "cuda/modules.hpp"

namespace tenure::cuda {
namespace {

class CompiledExpressions {
 public:
  // Never destroyed.
  static CompiledExpressions& all() {
    static CompiledExpressions* const expressions = new CompiledExpressions;
    return *expressions;
  }

  [[nodiscard]] Function find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = functions_.find(key);
    return found == functions_.end() ? nullptr : found->second;
  }

  [[nodiscard]] Function make(const std::string& key, const Device& device,
                              const ExpressionArgument& argument, const std::string& name) {
    // One compilation at a time, so that none is made twice; launches of others go on.
    const std::lock_guard making(making_mutex_);
    if (const Function known = find(key)) return known;
    if (is_full()) return nullptr;
    const std::string text = expression_source(argument, name);
    // Lambdas in functions of the device have no words for where they run.
    const KernelSource source = {
        text.c_str(), name.c_str(), {"--device-as-default-execution-space"}};
    Code code = compile(source, device);
    code.key.clear();  // found by the constants
    Module& module = Modules::all().load(device, std::move(code), name.c_str());
    Function function = nullptr;
    try {
      const Current current(device);
      require(opened_driver().module_function(&function, module.handle, module.symbol.c_str()),
              name.c_str());
      const std::lock_guard lock(mutex_);
      functions_.emplace(key, function);
    } catch (...) {
      Modules::all().leave(module);
      throw;
    }
    return function;
  }

 private:
  [[nodiscard]] bool is_full() {
    const std::lock_guard lock(mutex_);
    return functions_.size() >= kMostCompiledExpressions;
  }

  Mutex making_mutex_;
  Mutex mutex_;
  std::unordered_map<std::string, Function> functions_;
};

}  // namespace

bool compiles_expressions() noexcept {
  static const bool is_asked = [] {
    const char* const text = std::getenv("TENURE_CUDA_COMPILE");
    return text != nullptr && std::string_view(text) == "1";
  }();
  return is_asked;
}

Function compiled_expression(const Device& device, const ExpressionArgument& argument,
                             Missing missing) {
  const std::string constants = constants_of(argument);
  const std::string key = constants + static_cast<char>(device.index());
  if (const Function known = CompiledExpressions::all().find(key)) return known;
  if (missing == Missing::kSkip) return nullptr;
  return CompiledExpressions::all().make(key, device, argument, kernel_name(constants));
}

}  // namespace tenure::cuda
