// Allocations that fail, or are full of a byte, on demand. A program that links
// failing_allocator.cpp has every malloc, aligned_alloc, mmap and new of it and of the C++ runtime
// pass through here, those for exceptions too.
#pragma once

namespace tenure::test {

// No allocation has this number.
inline constexpr int kNone = -1;

// While it lives, allocations of this thread are counted, and fail from number `first` on (the
// first has number 0): only that one, or all that follow too.
enum class Failing { kOne, kAllFromThere };

class AllocationFault {
 public:
  AllocationFault(Failing mode, int first) noexcept;
  ~AllocationFault();
  AllocationFault(const AllocationFault&) = delete;
  AllocationFault& operator=(const AllocationFault&) = delete;
};

// While it lives, memory that any thread allocates is filled with this byte, so that reads of
// unwritten memory show. Blocks and mappings of more than `most_bytes` are filled at the beginning.
class FilledAllocations {
 public:
  FilledAllocations(unsigned char fill, unsigned long most_bytes) noexcept;
  ~FilledAllocations();
  FilledAllocations(const FilledAllocations&) = delete;
  FilledAllocations& operator=(const FilledAllocations&) = delete;
};

// While it lives, no thread is given a block or a mapping of more bytes.
class LimitedAllocations {
 public:
  explicit LimitedAllocations(unsigned long most_bytes) noexcept;
  ~LimitedAllocations();
  LimitedAllocations(const LimitedAllocations&) = delete;
  LimitedAllocations& operator=(const LimitedAllocations&) = delete;
};

// Counts of the calling thread's last AllocationFault: read them after the fault has ended, since
// the report of a failed expectation allocates.
struct AllocationCounts {
  int asked;           // allocations asked for
  int failed;          // of these, made to fail
  int live_change;     // blocks allocated less blocks freed
  long mapped_change;  // bytes mapped less bytes unmapped
  // Most bytes of both kinds at the same time, over those at the beginning. A mapping that takes
  // only its written pages counts as a whole.
  long peak_bytes;
};
AllocationCounts allocation_counts() noexcept;

}  // namespace tenure::test
