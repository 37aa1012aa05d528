// Memory of the fake driver's devices. The host can reach it only while a device works, so that
// code which takes a device's address for one of its own faults; a freed address is never given
// again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fake {

class Memory {
 public:
  // `limit_bytes` of each device.
  explicit Memory(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // 0: there is no room. The bytes are a pattern that no test expects.
  std::uint64_t allocate(std::size_t bytes, int device);
  // False: it is no beginning of an allocation, or bytes adjacent to it were written.
  bool free(std::uint64_t address);
  // Whether all of the bytes are of one allocation; and whose.
  bool holds(std::uint64_t address, std::size_t bytes) const;
  int device_of(std::uint64_t address) const;  // -1: of none
  std::size_t live_count() const { return count_; }
  std::size_t live_bytes() const;

  // While one is there, the host can reach the memory.
  class Open {
   public:
    explicit Open(Memory& memory) : memory_(memory) { memory_.protect(true); }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    ~Open() { memory_.protect(false); }

   private:
    Memory& memory_;
  };

 private:
  struct Allocation {
    unsigned char* pages;
    std::size_t page_bytes;
    unsigned char* data;
    std::size_t bytes;
    int device;
  };
  static constexpr std::size_t kMostAllocations = 4096;

  const Allocation* find(std::uint64_t address) const;
  void protect(bool is_open);
  bool is_intact(const Allocation& allocation) const;

  std::size_t limit_bytes_;
  unsigned char* arena_ = nullptr;
  std::size_t used_bytes_ = 0;  // of the arena
  std::size_t count_ = 0;
  unsigned depth_ = 0;  // of Open
  Allocation live_[kMostAllocations];
};

}  // namespace fake
