#include "cuda/compiled/texts.hpp"

#include <cstddef>
#include <string_view>

// The build says where the folder lies (CMakeLists.txt, build.rs), and the assembler reads the
// files, as it does the fat binary (kernels.cpp): each after those that it includes.
#if defined(__linux__) && defined(TENURE_CUDA_FOLDER)
#define TENURE_HAS_TEXTS
#define TENURE_TEXT(path) ".incbin \"" TENURE_CUDA_FOLDER "/" path "\"\n"
asm(".pushsection .rodata.tenure_cuda_expression_text, \"a\", @progbits\n"
    ".globl tenure_cuda_expression_text\n"
    ".hidden tenure_cuda_expression_text\n"
    ".type tenure_cuda_expression_text, @object\n"
    "tenure_cuda_expression_text:\n"
    // clang-format off
    TENURE_TEXT("kernels/arguments.hpp")
    TENURE_TEXT("../cpu/operations.hpp")
    TENURE_TEXT("kernels/device.cuh")
    TENURE_TEXT("kernels/functions/number.cuh")
    TENURE_TEXT("kernels/elementwise.cuh")
    TENURE_TEXT("kernels/floats.cuh")
    TENURE_TEXT("kernels/functions/exponential.cuh")
    TENURE_TEXT("kernels/functions/logarithm.cuh")
    TENURE_TEXT("kernels/functions/rounding.cuh")
    TENURE_TEXT("kernels/functions/power.cuh")
    TENURE_TEXT("kernels/functions/trigonometry.cuh")
    TENURE_TEXT("kernels/rules/binary.cuh")
    TENURE_TEXT("kernels/rules/cast.cuh")
    TENURE_TEXT("kernels/rules/compare.cuh")
    TENURE_TEXT("kernels/rules/functions.cuh")
    TENURE_TEXT("kernels/rules/ternary.cuh")
    TENURE_TEXT("kernels/rules/unary.cuh")
    TENURE_TEXT("kernels/expression_arguments.hpp")
    TENURE_TEXT("compiled/interpreter.cuh")
    TENURE_TEXT("kernels/expression.cu")
    TENURE_TEXT("compiled/expression.cuh")
    // clang-format on
    ".byte 0\n"
    ".size tenure_cuda_expression_text, . - tenure_cuda_expression_text\n"
    ".popsection\n");
#undef TENURE_TEXT

extern "C" [[gnu::visibility("hidden")]] const char tenure_cuda_expression_text[];
#endif

namespace tenure::cuda {
namespace {

#if defined(TENURE_HAS_TEXTS)
std::string_view all_texts() noexcept { return tenure_cuda_expression_text; }
#else
std::string_view all_texts() noexcept { return {}; }
#endif

// NVRTC has no headers: the types of <stdint.h>, and the name that it has for a compiler's own
// function.
constexpr std::string_view kBefore =
    "#define __builtin_memcpy memcpy\n"
    "using int8_t = signed char;\nusing uint8_t = unsigned char;\n"
    "using int16_t = short;\nusing uint16_t = unsigned short;\n"
    "using int32_t = int;\nusing uint32_t = unsigned;\n"
    "using int64_t = long;\nusing uint64_t = unsigned long;\n"
    "using uintptr_t = unsigned long;\n";

bool is_of_files(std::string_view line) noexcept {
  return line.starts_with("#include") || line.starts_with("#pragma once");
}

std::string make_code() {
  std::string code(kBefore);
  std::string_view left = all_texts();
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n') + 1);
    if (!is_of_files(line)) code += line;
    left.remove_prefix(line.size());
  }
  return code;
}

}  // namespace

const std::string& expression_code() {
  static const std::string* const code = new std::string(make_code());  // for good
  return *code;
}

}  // namespace tenure::cuda
