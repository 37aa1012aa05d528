// The values that loads may find, and the order of uses of plain memory: the memory model of C++20
// without out-of-thin-air values, as RC11 defines it (O. Lahav and others, "Repairing Sequential
// Consistency in C/C++11", PLDI 2017), without fences, which the library does not use.
//
// Operationally ("timestamps and views": J. Kang and others, "A Promising Semantics for
// Relaxed-Memory Concurrency", POPL 2017, without promises):
//   - An atomic is a list of messages in modification order. A thread knows, of each atomic, the
//     latest message that it has read or that comes before it in other ways ("seen"). A load finds
//     that one or any later one.
//   - A store comes anywhere behind the message that its thread has seen, not only at the end: two
//     threads that store to two atomics may each be the last at one of them. An update comes right
//     behind the message that it reads, and nothing comes in between.
//   - A message of a release carries all that its thread knows, and acquiring it means to know
//     that. An update passes on the knowledge that its message carries, whatever its own order.
//   - Sequentially consistent operations must have a total order that agrees with RC11's psc; an
//     execution without such an order is dropped.
//   - Two uses of plain memory are a race if one of them writes, unless one thread knew of the
//     other's.
//
// A load never finds a store that is yet to run ("load buffering"). C++ allows that to relaxed
// ones, and 64-bit ARM does so; the library has no memory order with the only purpose of ruling it
// out.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "explorer.hpp"

namespace tenure::explore {

inline constexpr unsigned kMaxLocations = 64;
inline constexpr unsigned kMaxMessages = 64;
inline constexpr unsigned kMaxEvents = 512;

constexpr bool is_acquire(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
constexpr bool is_release(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

struct Knowledge {
  // Time of the latest message seen, of each location; the first message of each has time 0.
  std::array<double, kMaxLocations> seen;
  // How many operations of each thread came before.
  std::array<std::uint32_t, kMaxThreads> clock;

  void add(const Knowledge& other);
};

class Memory {
 public:
  void reset();
  void start_thread(unsigned thread, unsigned starter);
  void join_thread(unsigned thread, unsigned joined);

  // load() returns the value that it finds, and update() the value that its new one replaces.
  std::uint64_t load(unsigned thread, const void* object, std::uint64_t initial,
                     std::memory_order order);
  void store(unsigned thread, const void* object, std::uint64_t initial, std::uint64_t value,
             std::memory_order order);
  std::uint64_t update(unsigned thread, const void* object, std::uint64_t initial, Change change,
                       std::uint64_t operand, std::memory_order order);
  // `max_spurious` is the number of spurious failures that are left, and counts down.
  bool compare_exchange(unsigned thread, const void* object, std::uint64_t initial,
                        std::uint64_t& expected, std::uint64_t desired, std::memory_order success,
                        std::memory_order failure, unsigned& max_spurious);

  void construct(unsigned thread, const void* object);
  void read_plain(unsigned thread, const void* object);
  void write_plain(unsigned thread, const void* object);

  void lock(unsigned thread, const void* mutex);
  void unlock(unsigned thread, const void* mutex);

  // The message that the thread has read last, and whether there is a newer one.
  [[nodiscard]] const void* last_read(unsigned thread) const;
  [[nodiscard]] bool has_newer(unsigned thread) const;
  // From here on the thread reads no older message of it than the one behind its last.
  void pass_last_read(unsigned thread);

  // Whether there is a total order of the sequentially consistent operations.
  [[nodiscard]] bool is_consistent() const { return is_consistent_; }

 private:
  struct Message {
    double time;
    std::uint64_t value;
    bool is_updated;  // an update has read it, and comes right behind
    bool has_knowledge;
    Knowledge knowledge;
  };
  struct Location {
    unsigned message_count;
    std::array<Message, kMaxMessages> messages;      // as they came
    std::array<std::uint8_t, kMaxMessages> by_time;  // their places
  };
  static constexpr unsigned kNone = UINT32_MAX;
  struct Object {
    const void* address;
    unsigned location;  // or kNone
    // The last write of a plain object, and the construction of any: by whom, and at which
    // operation.
    unsigned writer;
    std::uint32_t written;
    std::array<std::uint32_t, kMaxThreads> read;
    Knowledge knowledge;  // of a mutex
  };
  struct Event {
    unsigned location;
    std::array<std::uint32_t, kMaxThreads> clock;
  };
  // A sequentially consistent operation.
  struct Ordered {
    unsigned thread;
    std::uint32_t number;
    unsigned location;
    double read_time;   // or -1
    double write_time;  // or -1
  };

  Object& object_at(const void* address);
  unsigned location_of(unsigned thread, const void* object, std::uint64_t initial);
  Message& message(unsigned location, unsigned place) {
    return locations_[location].messages[locations_[location].by_time[place]];
  }
  // The first message, in order of time, that the thread may read.
  unsigned first_place(unsigned thread, unsigned location);
  Message& insert(unsigned location, unsigned after_place);
  void begin(unsigned thread);
  void read(unsigned thread, unsigned location, const Message& message, std::memory_order order);
  double write(unsigned thread, unsigned location, unsigned after_place, std::uint64_t value,
               std::memory_order order, const Message* updated);
  void end(unsigned thread, unsigned location, std::memory_order order, double read_time,
           double write_time);
  void require_known(unsigned thread, const Object& object) const;

  [[nodiscard]] bool precedes(const Ordered& a, const Ordered& b) const;
  [[nodiscard]] bool can_be_ordered() const;

  unsigned location_count_ = 0;
  std::array<Location, kMaxLocations> locations_;
  unsigned object_count_ = 0;
  static constexpr unsigned kMaxObjects = 1024;
  std::array<Object, kMaxObjects> objects_;
  static constexpr unsigned kBuckets = 4096;
  std::array<std::uint16_t, kBuckets> buckets_;  // object + 1, or 0

  std::array<Knowledge, kMaxThreads> known_;
  std::array<std::array<Event, kMaxEvents>, kMaxThreads> events_;
  std::array<unsigned, kMaxThreads> last_location_;
  std::array<double, kMaxThreads> last_time_;
  std::array<const void*, kMaxThreads> last_object_;

  static constexpr unsigned kMaxOrdered = 64;
  unsigned ordered_count_ = 0;
  std::array<Ordered, kMaxOrdered> ordered_;
  bool is_consistent_ = true;
};

// By the explorer: ends the execution.
[[noreturn]] void fail_execution(const char* text);

}  // namespace tenure::explore
