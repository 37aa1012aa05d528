#include "cuda/kernels.hpp"

// The build says where the file lies, if there is one (cmake/FatBinary.cmake, build.rs). The
// assembler reads it: the file is as large as all other read-only data of the library, which a
// compiler takes seconds for.
#if defined(__linux__) && defined(TENURE_CUDA_FAT_BINARY) && !defined(TENURE_NO_FAT_BINARY)
#define TENURE_HAS_FAT_BINARY
// A section of its own, which a linker leaves out where nothing asks for it.
asm(".pushsection .rodata.tenure_cuda_fat_binary, \"a\", @progbits\n"
    ".balign 16\n"
    ".globl tenure_cuda_fat_binary\n"
    ".hidden tenure_cuda_fat_binary\n"
    ".type tenure_cuda_fat_binary, @object\n"
    "tenure_cuda_fat_binary:\n"
    ".incbin \"" TENURE_CUDA_FAT_BINARY
    "\"\n"
    ".size tenure_cuda_fat_binary, . - tenure_cuda_fat_binary\n"
    ".globl tenure_cuda_fat_binary_end\n"
    ".hidden tenure_cuda_fat_binary_end\n"
    "tenure_cuda_fat_binary_end:\n"
    ".popsection\n");

extern "C" {
[[gnu::visibility("hidden")]] extern const unsigned char tenure_cuda_fat_binary[];
[[gnu::visibility("hidden")]] extern const unsigned char tenure_cuda_fat_binary_end[];
}
#endif

namespace tenure::cuda {
namespace {

#define TENURE_CUDA_SYMBOL(name) "tenure_" #name,
constexpr const char* kSymbols[] = {TENURE_CUDA_KERNELS(TENURE_CUDA_SYMBOL) nullptr};
#undef TENURE_CUDA_SYMBOL

}  // namespace

const char* name_of(Kernel kernel) noexcept { return kSymbols[static_cast<unsigned>(kernel)]; }

FatBinary fat_binary() noexcept {
#if defined(TENURE_HAS_FAT_BINARY)
  return {tenure_cuda_fat_binary,
          static_cast<std::size_t>(tenure_cuda_fat_binary_end - tenure_cuda_fat_binary)};
#else
  return {nullptr, 0};
#endif
}

}  // namespace tenure::cuda
