// The kernels in use, family by family: copy_kernels()[width] and so on, for each of families.hpp.
//
// The instruction set is chosen once per process (instruction_set.hpp); from then on a family costs
// a load and an index. Where no set can be chosen every call throws, as instruction_set() says.
#pragma once

#include <cstdint>

#include "cpu/families.hpp"
#include "tenure/instruction_set.hpp"

namespace tenure::kernels {

template <class Table>
struct Family {
  const Table* of_base[kBaseSetCount];
  std::uint32_t needed = 0;  // capabilities, for the extension
  const Table* extension = nullptr;

  const Table& operator()() const { return of_word(chosen_word()); }
  const Table& of(const InstructionSet& set) const { return of_word(word_of(set)); }

  const Table& of_word(std::uint32_t word) const {
    if (extension != nullptr && (word >> 8 & needed) != 0) return *extension;
    return *of_base[(word & 0xff) - 1];
  }
};

template <class Table>
struct TwiceExtended {
  Family<Table> family;
  std::uint32_t needed = 0;  // for the second extension
  const Table* extension = nullptr;

  const Table& operator()() const { return of_word(chosen_word()); }
  const Table& of(const InstructionSet& set) const { return of_word(word_of(set)); }

 private:
  const Table& of_word(std::uint32_t word) const {
    if (extension != nullptr && (word >> 8 & needed) != 0) return *extension;
    return family.of_word(word);
  }
};

// The sets that the library is built with, a bit for each in the order of their bases. The core
// that is instrumented for tests has the best one of the machine only.
#if !defined(TENURE_SET_MASK)
#define TENURE_SET_MASK 7
#endif

#if defined(__x86_64__)
namespace x86_64_v2 {
TENURE_DECLARE_TABLES
}
namespace avx2 {
TENURE_DECLARE_TABLES
}
namespace avx512 {
TENURE_DECLARE_TABLES
}
#if TENURE_SET_MASK & 1
#define TENURE_X86_64_V2(table) &x86_64_v2::table
#else
#define TENURE_X86_64_V2(table) nullptr
#endif
#if TENURE_SET_MASK & 2
#define TENURE_AVX2(table) &avx2::table
#else
#define TENURE_AVX2(table) nullptr
#endif
#if TENURE_SET_MASK & 4
#define TENURE_AVX512(table) &avx512::table
#else
#define TENURE_AVX512(table) nullptr
#endif
#define TENURE_OF_EACH_BASE(table) \
  {TENURE_X86_64_V2(table), TENURE_AVX2(table), TENURE_AVX512(table)}
#define TENURE_EXTENSION(table) TENURE_AVX512(table)
#else
namespace baseline {
TENURE_DECLARE_TABLES
}
#define TENURE_OF_EACH_BASE(table) {&baseline::table}
#define TENURE_EXTENSION(table) nullptr
#endif

#define TENURE_FAMILY(name, Type, table) \
  inline constexpr Family<Type> name = {.of_base = TENURE_OF_EACH_BASE(table)};
#define TENURE_EXTENDED_FAMILY(name, Type, table, extension_table, capability) \
  inline constexpr Family<Type> name = {.of_base = TENURE_OF_EACH_BASE(table), \
                                        .needed = capability,                  \
                                        .extension = TENURE_EXTENSION(extension_table)};
#define TENURE_TWICE_EXTENDED_FAMILY(name, Type, table, first, capability, second,               \
                                     second_capability)                                          \
  inline constexpr TwiceExtended<Type> name = {.family = {.of_base = TENURE_OF_EACH_BASE(table), \
                                                          .needed = capability,                  \
                                                          .extension = TENURE_EXTENSION(first)}, \
                                               .needed = second_capability,                      \
                                               .extension = TENURE_EXTENSION(second)};
TENURE_FAMILIES(TENURE_FAMILY)
TENURE_EXTENDED_FAMILIES(TENURE_EXTENDED_FAMILY)
TENURE_TWICE_EXTENDED_FAMILIES(TENURE_TWICE_EXTENDED_FAMILY)

#undef TENURE_X86_64_V2
#undef TENURE_AVX2
#undef TENURE_AVX512
#undef TENURE_OF_EACH_BASE
#undef TENURE_EXTENSION
#undef TENURE_FAMILY
#undef TENURE_EXTENDED_FAMILY
#undef TENURE_TWICE_EXTENDED_FAMILY

}  // namespace tenure::kernels
