// The sets of instructions that the kernels are compiled for, and which of them is used.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

namespace tenure {

namespace kernels {

// The sets that every kernel is compiled for (core/instruction_sets.txt).
#if defined(__x86_64__)
inline constexpr unsigned kBaseSetCount = 3;
#else
inline constexpr unsigned kBaseSetCount = 1;
#endif

// Bits: instructions beyond a base set, which some families of kernels have an extension for.
enum Capability : std::uint32_t {
  kVbmi2 = 1,
  kVnni = 2,  // products of bytes
  kBF16 = 4,  // products of bf16
  kAmx = 8,   // products of both, by tiles
};

}  // namespace kernels

// A base set, and what more of the processor is used.
struct InstructionSet {
  const char* name;  // as TENURE_ISA has it
  std::uint32_t base;
  std::uint32_t capabilities;
  bool (*is_supported)() noexcept;  // by this processor and its operating system
};

// The sets that are compiled in, in rising order: each runs wherever a later one does, and the last
// that this processor runs is the best.
std::span<const InstructionSet> instruction_sets() noexcept;

// The set in use: the one that TENURE_ISA names when first asked, else the best. Throws
// INVALID_ARGUMENT where it names none, UNSUPPORTED where this processor lacks it; and so at every
// later call.
const InstructionSet& instruction_set();

namespace kernels {

// An instruction set as a word that is not 0.
constexpr std::uint32_t word_of(const InstructionSet& set) {
  return (set.base + 1) | set.capabilities << 8;
}
// The word of the set in use; throws as instruction_set() does.
extern std::atomic<std::uint32_t> g_chosen_word;  // 0: not yet
std::uint32_t choose_word();
inline std::uint32_t chosen_word() {
  const std::uint32_t word = g_chosen_word.load(std::memory_order_relaxed);
  if (word == 0) [[unlikely]]
    return choose_word();
  return word;
}

}  // namespace kernels

}  // namespace tenure
