// The sets of instructions that the kernels are compiled for, and which of them is used.
#pragma once

#include <span>

namespace tenure {

namespace kernels {
struct Table;
}

struct InstructionSet {
  const char* name;  // as TENURE_ISA has it
  const kernels::Table* table;
  bool (*is_supported)() noexcept;  // by this processor and its operating system
};

// The sets that are compiled in, in rising order: each runs wherever a later one does, and the last
// that this processor runs is the best.
std::span<const InstructionSet> instruction_sets() noexcept;

// The set in use: the one that TENURE_ISA names when first asked, else the best. Throws
// INVALID_ARGUMENT where it names none, UNSUPPORTED where this processor lacks it; and so at every
// later call.
const InstructionSet& instruction_set();

}  // namespace tenure
