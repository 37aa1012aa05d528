// Handles of what the library makes and nobody writes: packed matrices and packed factors.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <memory>

#include "memory/slot_table.hpp"

namespace tenure {

// Each object has a slot of a table, and ends with its last handle. All throw STALE_HANDLE for a
// token that is garbage, of another kind, or released; BUSY at kMaxRefs.
template <class Object, std::uint32_t kKind>
class Handles {
 public:
  // In messages `name` is the parameter, and `noun` says that it is, say, "packed matrix".
  constexpr Handles(SlotTable<kKind>& table, const char* name, const char* noun) noexcept
      : table_(table), name_(name), noun_(noun) {}

  // Throws std::bad_alloc.
  [[nodiscard]] Token open(std::unique_ptr<const Object> object) const {
    const Token token = table_.open({const_cast<Object*>(object.get()), sizeof(Object),
                                     TNR_TENURE_ALLOCATED, nullptr, nullptr});
    static_cast<void>(object.release());  // the table's
    return token;
  }
  void retain(Token token) const {
    retain_slot(slot_of(token), token, name_,
                [this, token](SlotWord word) { require_held(word, token); });
  }
  void release(Token token) const {
    BlobSlot& slot = slot_of(token);
    const SlotWord left = change(slot, [this, token](SlotWord word) {
      require_held(word, token);
      return without_ref(word);
    });
    if (!is_finished(left)) return;
    const std::unique_ptr<const Object> object(
        static_cast<const Object*>(slot.data.load(std::memory_order_relaxed)));
    table_.retire_or_reuse(token, slot);
  }

  // A call holds the object as a handle does.
  class Use {
   public:
    Use(const Handles& handles, Token token) : handles_(handles), token_(token) {
      handles_.retain(token);
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { handles_.release(token_); }

    [[nodiscard]] const Object& object() const {
      // Relaxed: whoever holds the object has acquired it.
      return *static_cast<const Object*>(
          handles_.slot_of(token_).data.load(std::memory_order_relaxed));
    }

   private:
    const Handles& handles_;
    Token token_;
  };

 private:
  [[nodiscard]] BlobSlot& slot_of(Token token) const {
    BlobSlot* const slot = table_.find(token);
    if (slot == nullptr) [[unlikely]] {
      fail(TNR_STATUS_STALE_HANDLE, "%s is 0x%" PRIx64 ", which no %s was ever given", name_, token,
           noun_);
    }
    return *slot;
  }
  void require_held(SlotWord word, Token token) const {
    if (!is_held(word, token)) [[unlikely]] {
      fail(TNR_STATUS_STALE_HANDLE, "%s is 0x%" PRIx64 ", a %s that has been released", name_,
           token, noun_);
    }
  }

  SlotTable<kKind>& table_;
  const char* name_;
  const char* noun_;
};

}  // namespace tenure
