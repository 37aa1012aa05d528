// Whatever an engine has chosen or compiled for a shape, kept for the next call of that shape.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace tenure::engines {

// The numbers that make another entry.
class ShapeKey {
 public:
  void add(std::int64_t number) noexcept {
    numbers_[count_] = number;
    count_ += 1;
    hash_ = (hash_ ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15u;
    hash_ ^= hash_ >> 32;
  }
  void add(std::span<const std::int64_t> numbers) noexcept {
    for (const std::int64_t number : numbers) add(number);
  }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  friend bool operator==(const ShapeKey& a, const ShapeKey& b) noexcept {
    return a.hash_ == b.hash_ && a.count_ == b.count_ &&
           std::equal(a.numbers_.begin(), a.numbers_.begin() + a.count_, b.numbers_.begin());
  }

 private:
  static constexpr std::size_t kMost = 24;  // a call has 22 at most

  std::array<std::int64_t, kMost> numbers_;
  std::size_t count_ = 0;
  std::uint64_t hash_ = 0;
};

// Sets of a few slots, in which the least recently used makes room. For one thread at a time.
template <class Entry>
class ShapeCache {
 public:
  // nullptr: nothing is kept for the key.
  [[nodiscard]] const Entry* find(const ShapeKey& key) noexcept {
    for (Slot& slot : set_of(key)) {
      if (slot.last_use == 0 || !(slot.key == key)) continue;
      slot.last_use = ++uses_;
      return &slot.entry;
    }
    return nullptr;
  }
  // Stays until another one is kept.
  const Entry& keep(const ShapeKey& key, Entry entry) noexcept {
    const std::span<Slot> set = set_of(key);
    Slot& slot = *std::min_element(set.begin(), set.end(), [](const Slot& a, const Slot& b) {
      return a.last_use < b.last_use;
    });
    slot.key = key;
    slot.entry = std::move(entry);
    slot.last_use = ++uses_;
    return slot.entry;
  }
  [[nodiscard]] std::int64_t count() const noexcept {
    std::int64_t count = 0;
    for (const auto& set : sets_) {
      for (const Slot& slot : set) count += slot.last_use != 0 ? 1 : 0;
    }
    return count;
  }

 private:
  static constexpr std::size_t kSetCount = 64;
  static constexpr std::size_t kSetSize = 4;
  struct Slot {
    ShapeKey key;
    Entry entry;
    std::uint64_t last_use = 0;  // 0: nothing is here
  };

  [[nodiscard]] std::span<Slot> set_of(const ShapeKey& key) noexcept {
    return sets_[key.hash() % kSetCount];
  }

  std::array<std::array<Slot, kSetSize>, kSetCount> sets_ = {};
  std::uint64_t uses_ = 0;
};

}  // namespace tenure::engines
