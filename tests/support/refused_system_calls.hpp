// The system as a test wants it: calls that are refused, in the manners that kernels have, and
// other threads that map memory wherever some becomes free. A program that links
// refused_system_calls.cpp has it instead of core/src/base/system_calls_posix.cpp.
//
// It always is an old Linux in two respects. Several mappings do not move at once, and a request to
// move them loses the mapping at the target. The tiles of AMX may not be used.
#pragma once

#include <cstddef>

namespace tenure::test {

enum class Call { kNone, kMap, kUnmap, kAdvise, kMove, kExtend, kLookUp, kAtFork, kThread };
constexpr const char* kCallNames[] = {"none",   "map",     "unmap",   "advise", "move",
                                      "extend", "look up", "at fork", "thread"};

enum class Manner {
  kAtOnce,   // nothing has happened
  kHalfWay,  // half of an advice is followed; a move has unmapped its destination
};
enum class Reach { kOne, kAllFromThere };

// From now on: the calls are counted from 0, and number `first`, or all from there on, are refused.
// If `only` is not kNone, only calls of that kind are counted.
void refuse(int first, Reach reach, Manner manner, Call only = Call::kNone) noexcept;
void refuse_nothing() noexcept;
// Since refuse(): the number of refused calls, and the first of them.
int refused_count() noexcept;
Call first_refused() noexcept;

// Bytes that the library has mapped and not unmapped. Addresses that it has to leave untouched,
// because it cannot know the owner after a refusal to move, count as long as they belong to it.
std::size_t owned_bytes() noexcept;
std::size_t doubtful_bytes() noexcept;

// Pages that other threads have mapped to where something was unmapped, as soon as it was.
int neighbour_count() noexcept;
// NULL, or the harm that others have had: memory unmapped, moved, written, or thrown away.
const char* harm_to_others() noexcept;

}  // namespace tenure::test
