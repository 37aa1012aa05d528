// The names of core/src/base/concurrency.hpp, as the explorer runs them. Outside of an exploration
// an object is just its memory.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <type_traits>
#include <utility>

#include "explorer.hpp"

namespace tenure {

inline constexpr bool kExplored = true;

template <class T>
class Atomic {
 public:
  static constexpr bool is_always_lock_free = true;

  constexpr Atomic() noexcept : Atomic(T{}) {}
  constexpr Atomic(T value) noexcept : value_(value) {
    if (!std::is_constant_evaluated()) explore::construct(this);
  }
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(std::memory_order order, const explore::Place& place = explore::Place::current()) const {
    if (!explore::is_running()) return value_;
    return from_bits(explore::load(this, to_bits(value_), order, place));
  }
  void store(T value, std::memory_order order,
             const explore::Place& place = explore::Place::current()) {
    if (!explore::is_running()) return void(value_ = value);
    explore::store(this, to_bits(value_), to_bits(value), order, place);
  }
  T exchange(T value, std::memory_order order,
             const explore::Place& place = explore::Place::current()) {
    return update([](std::uint64_t, std::uint64_t operand) { return operand; }, value, order,
                  place);
  }
  T fetch_add(T operand, std::memory_order order,
              const explore::Place& place = explore::Place::current()) {
    return update(
        [](std::uint64_t old, std::uint64_t added) {
          return to_bits(static_cast<T>(from_bits(old) + from_bits(added)));
        },
        operand, order, place);
  }
  T fetch_sub(T operand, std::memory_order order,
              const explore::Place& place = explore::Place::current()) {
    return update(
        [](std::uint64_t old, std::uint64_t taken) {
          return to_bits(static_cast<T>(from_bits(old) - from_bits(taken)));
        },
        operand, order, place);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure,
                             const explore::Place& place = explore::Place::current()) {
    if (!explore::is_running()) {
      if (value_ == expected) return value_ = desired, true;
      return expected = value_, false;
    }
    std::uint64_t bits = to_bits(expected);
    const bool exchanged = explore::compare_exchange(this, to_bits(value_), bits, to_bits(desired),
                                                     success, failure, place);
    expected = from_bits(bits);
    return exchanged;
  }

 private:
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);

  static std::uint64_t to_bits(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
  }
  static T from_bits(std::uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }
  T update(explore::Change change, T operand, std::memory_order order,
           const explore::Place& place) {
    if (explore::is_running()) {
      return from_bits(
          explore::update(this, to_bits(value_), change, to_bits(operand), order, place));
    }
    const T old = value_;
    value_ = from_bits(change(to_bits(old), to_bits(operand)));
    return old;
  }

  T value_;
};

// Plain memory. The memory orders must order any two uses if one of them writes.
template <class T>
class Handed {
 public:
  constexpr Handed() noexcept : Handed(T{}) {}
  constexpr Handed(T value) noexcept : value_(value) {
    if (!std::is_constant_evaluated()) explore::construct(this);
  }
  Handed(const Handed&) = delete;
  Handed& operator=(const Handed& other) { return *this = static_cast<const T&>(other); }
  Handed& operator=(const T& value) {
    if (explore::is_running()) explore::write_plain(&value_, sizeof(T));
    value_ = value;
    return *this;
  }
  Handed& operator+=(const T& value) { return *this = static_cast<const T&>(*this) + value; }
  operator const T&() const {
    if (explore::is_running()) explore::read_plain(&value_);
    return value_;
  }

 private:
  T value_;
};

class ConditionMutex {
 public:
  constexpr ConditionMutex() noexcept = default;
  ConditionMutex(const ConditionMutex&) = delete;
  ConditionMutex& operator=(const ConditionMutex&) = delete;

  void lock() {
    if (explore::is_running()) explore::lock(this);
  }
  void unlock() noexcept {
    if (explore::is_running()) explore::unlock(this);
  }

 private:
  [[maybe_unused]] std::uint64_t address_of_its_own_ = 0;
};

class Condition {
 public:
  Condition() noexcept = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  void wait(std::unique_lock<ConditionMutex>& lock) { explore::wait(this, lock.mutex()); }
  void notify_one() noexcept { explore::notify(this, false); }
  void notify_all() noexcept { explore::notify(this, true); }

 private:
  [[maybe_unused]] std::uint64_t address_of_its_own_ = 0;
};

class Thread {
 public:
  explicit Thread(std::function<void()> body) : number_(explore::start_thread(std::move(body))) {}
  void join() { explore::join_thread(number_); }
  static unsigned hardware_concurrency() noexcept { return explore::processor_count; }

 private:
  unsigned number_;
};

struct Clock {
  using duration = std::chrono::microseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;
  static time_point now() { return time_point(duration(explore::now_us())); }
};

}  // namespace tenure
