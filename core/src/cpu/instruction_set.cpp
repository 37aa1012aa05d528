#include "tenure/instruction_set.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "base/system_calls.hpp"
#include "cpu/dispatch.hpp"
#include "tenure/status.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tenure {

namespace {

#if defined(__x86_64__)

// Everything that a compiler may use of x86-64-v2, v3 and v4 (System V ABI, AMD64 supplement,
// "Processor capability levels"). Read by hand: the compilers' __builtin_cpu_supports() differ in
// the names they know, and need a part of libgcc that not every linker is given.
struct Processor {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t leaf7_ecx = 0;
  std::uint32_t leaf7_edx = 0;
  std::uint32_t leaf7_1_eax = 0;
  std::uint32_t extended_ecx = 0;
  std::uint32_t saved_state = 0;  // XCR0: the registers that the operating system keeps

  Processor() noexcept {
    std::uint32_t eax = 0;
    std::uint32_t ebx = 0;
    std::uint32_t ecx = 0;
    std::uint32_t edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) leaf1_ecx = ecx;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
      leaf7_ebx = ebx;
      leaf7_ecx = ecx;
      leaf7_edx = edx;
    }
    if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0) leaf7_1_eax = eax;
    if (__get_cpuid(0x80000001u, &eax, &ebx, &ecx, &edx) != 0) extended_ecx = ecx;
    constexpr std::uint32_t kOsxsave = 1u << 27;
    if ((leaf1_ecx & kOsxsave) != 0) {
      __asm__("xgetbv" : "=a"(saved_state), "=d"(edx) : "c"(0));
    }
  }
};

constexpr std::uint32_t bits(std::initializer_list<unsigned> places) {
  std::uint32_t result = 0;
  for (const unsigned place : places) result |= 1u << place;
  return result;
}
constexpr bool has(std::uint32_t word, std::uint32_t wanted) { return (word & wanted) == wanted; }

bool has_v2() noexcept {
  const Processor cpu;
  // SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF
  return has(cpu.leaf1_ecx, bits({0, 9, 13, 19, 20, 23})) && has(cpu.extended_ecx, bits({0}));
}

bool has_avx2() noexcept {
  const Processor cpu;
  // FMA, MOVBE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT; registers xmm and ymm
  return has_v2() && has(cpu.leaf1_ecx, bits({12, 22, 28, 29})) &&
         has(cpu.leaf7_ebx, bits({3, 5, 8})) && has(cpu.extended_ecx, bits({5})) &&
         has(cpu.saved_state, bits({1, 2}));
}

bool has_avx512() noexcept {
  const Processor cpu;
  // AVX512F, DQ, CD, BW, VL; mask registers and both halves of the zmm
  return has_avx2() && has(cpu.leaf7_ebx, bits({16, 17, 28, 30, 31})) &&
         has(cpu.saved_state, bits({5, 6, 7}));
}

bool has_vbmi2() noexcept {
  const Processor cpu;
  return has_avx512() && has(cpu.leaf7_ecx, bits({6}));
}

bool has_vnni() noexcept {
  const Processor cpu;
  return has_vbmi2() && has(cpu.leaf7_ecx, bits({11}));
}

bool has_bf16() noexcept {
  const Processor cpu;
  return has_vnni() && has(cpu.leaf7_1_eax, bits({5}));
}

bool may_use_tiles() noexcept {
#if defined(__linux__)
  return system_calls::permit_tiles() == 0;
#else
  return false;
#endif
}

// A build without the sets of AVX-512 does not call it.
[[maybe_unused]] bool has_amx() noexcept {
  const Processor cpu;
  // AMX-BF16, TILE, INT8; their configuration and data
  return has_bf16() && has(cpu.leaf7_edx, bits({22, 24, 25})) &&
         has(cpu.saved_state, bits({17, 18})) && may_use_tiles();
}

constexpr InstructionSet kSets[] = {
#if TENURE_SET_MASK & 1
    {"x86-64-v2", 0, 0, has_v2},
#endif
#if TENURE_SET_MASK & 2
    {"avx2", 1, 0, has_avx2},
#endif
#if TENURE_SET_MASK & 4
    {"avx512", 2, 0, has_avx512},
    {"avx512-vbmi2", 2, kernels::kVbmi2, has_vbmi2},
    {"avx512-vnni", 2, kernels::kVbmi2 | kernels::kVnni, has_vnni},
    {"avx512-bf16", 2, kernels::kVbmi2 | kernels::kVnni | kernels::kBF16, has_bf16},
    {"avx512-amx", 2, kernels::kVbmi2 | kernels::kVnni | kernels::kBF16 | kernels::kAmx, has_amx},
#endif
};

#else

constexpr InstructionSet kSets[] = {
    {"baseline", 0, 0, []() noexcept { return true; }},
};

#endif

// The names of all sets, or of those that run here: "x86-64-v2, avx2".
struct SetNames {
  char text[96] = "";

  explicit SetNames(bool only_supported) noexcept {
    for (const InstructionSet& set : kSets) {
      if (only_supported && !set.is_supported()) continue;
      const std::size_t length = std::strlen(text);
      std::snprintf(text + length, sizeof text - length, "%s%s", length == 0 ? "" : ", ", set.name);
    }
  }
};

[[noreturn, gnu::cold]] void refuse(const char* wanted) {
  const SetNames here(true);
  for (const InstructionSet& set : kSets) {
    if (std::strcmp(set.name, wanted) != 0) continue;
    fail(TNR_STATUS_UNSUPPORTED, "TENURE_ISA is \"%.64s\" but this processor has: %s", wanted,
         here.text);
  }
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "TENURE_ISA is \"%.64s\" but must be one of: %s (this processor has: %s)", wanted,
       SetNames(false).text, here.text);
}

const InstructionSet& choose() {
  const char* const wanted = std::getenv("TENURE_ISA");
  const bool is_free = wanted == nullptr || *wanted == '\0';
  const InstructionSet* chosen = nullptr;
  for (const InstructionSet& set : kSets) {
    if ((is_free || std::strcmp(set.name, wanted) == 0) && set.is_supported()) chosen = &set;
  }
  if (chosen == nullptr && is_free) {
    fail(TNR_STATUS_UNSUPPORTED, "this processor lacks %s, which the library needs at least",
         kSets[0].name);
  }
  if (chosen == nullptr) refuse(wanted);
  return *chosen;
}

// Written once with a pointer to constants, or several times with the same one: no order is needed.
constinit std::atomic<const InstructionSet*> g_chosen{nullptr};

}  // namespace

std::span<const InstructionSet> instruction_sets() noexcept { return kSets; }

const InstructionSet& instruction_set() {
  const InstructionSet* chosen = g_chosen.load(std::memory_order_relaxed);
  if (chosen == nullptr) {
    // The first of several threads decides, should the environment change between them.
    const InstructionSet* const mine = &choose();
    if (g_chosen.compare_exchange_strong(chosen, mine, std::memory_order_relaxed)) chosen = mine;
  }
  return *chosen;
}

constinit std::atomic<std::uint32_t> kernels::g_chosen_word{0};

[[gnu::cold, gnu::noinline]] std::uint32_t kernels::choose_word() {
  const std::uint32_t word = word_of(instruction_set());
  g_chosen_word.store(word, std::memory_order_relaxed);
  return word;
}

}  // namespace tenure
